// Weights.cpp: bytes of constants in and out of attributes.
#include "passes/graph/Weights.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/Reduce.h"
#include <cmath>
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
namespace onnxc {

static constexpr size_t kInlineBytes = 1024;

// Whether constants are kept as their elements' bytes: not strings, and not bool, whose elements may be bits.
static bool hasBytes(Type type) { return llvm::isa<ComplexType>(type) || (type.isIntOrFloat() && !type.isInteger(1)); }

// The bytes a constant is kept as: all elements, or the one of a splat.
static ArrayRef<char> keptBytes(ElementsAttr value) {
  if (auto dense = llvm::dyn_cast<DenseElementsAttr>(value))
    return dense.getRawData();
  auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? blob->getData() : ArrayRef<char>();
}

// The elements as T's, which need no alignment where they lie (the model's file).
template <typename T>
static std::optional<std::vector<T>> elements(ElementsAttr value) {
  if (!value || !hasBytes(value.getElementType()))
    return std::nullopt;
  size_t size = storageBytes(value.getElementType()), total = weightBytes(value);
  ArrayRef<char> data = keptBytes(value);
  auto dense = llvm::dyn_cast<DenseElementsAttr>(value);
  bool splat = dense && dense.isSplat() && value.getNumElements() != 1;
  if (data.size() < (splat ? size : total))
    return std::nullopt;
  std::vector<T> values(total / sizeof(T));
  if (!splat && total)
    memcpy(values.data(), data.data(), total);
  for (size_t at = 0; splat && at < total; at += size)
    memcpy(reinterpret_cast<char *>(values.data()) + at, data.data(), size);
  return values;
}

std::optional<std::vector<char>> constantBytes(ElementsAttr value) { return elements<char>(value); }

std::optional<std::vector<float>> constantFloats(Value v) { return constantFloats(onnx::constantValue(v)); }

std::optional<std::vector<float>> constantFloats(ElementsAttr value) {
  if (!value || !value.getElementType().isF32())
    return std::nullopt;
  return elements<float>(value);
}

std::optional<std::vector<double>> constantDoubles(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  return value && value.getElementType().isF64() ? elements<double>(value) : std::nullopt;
}

std::optional<double> constantNumber(Value v) {
  auto dense = llvm::dyn_cast_if_present<DenseElementsAttr>(onnx::constantValue(v));
  if (!dense || !dense.isSplat() || !llvm::isa<FloatType>(dense.getElementType()))
    return std::nullopt;
  APFloat value = dense.getSplatValue<APFloat>();
  bool loses;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

bool isByte(Type type) { return type && (type.isSignlessInteger(8) || type.isUnsignedInteger(8)); }

std::optional<std::vector<float>> constantIntegers(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  auto bytes = value ? constantBytes(value) : std::nullopt;
  if (!bytes)
    return std::nullopt;
  Type type = value.getElementType();
  std::vector<float> result;
  if (type.isSignlessInteger(32))
    for (size_t i = 0; i < bytes->size(); i += 4) {
      int32_t n;
      memcpy(&n, bytes->data() + i, 4);
      result.push_back(float(n));
    }
  else if (type.isSignlessInteger(16) || type.isUnsignedInteger(16))
    for (size_t i = 0; i < bytes->size(); i += 2) {
      uint16_t n;
      memcpy(&n, bytes->data() + i, 2);
      result.push_back(type.isSignlessInteger(16) ? float(int16_t(n)) : float(n));
    }
  else if (isByte(type))
    for (char c : *bytes)
      result.push_back(type.isSignlessInteger(8) ? float(int8_t(c)) : float(uint8_t(c)));
  else if (type.isInteger(4))  // one a byte
    for (char c : *bytes)
      result.push_back(float((c & 15) - (type.isSignlessInteger() ? (c & 8) * 2 : 0)));
  else
    return std::nullopt;
  return result;
}

bool isInference(onnx::BatchNormalizationOp op) {
  return op.getTrainingMode() == 0 && (!op.getRunningMean() || op.getRunningMean().use_empty()) &&
         (!op.getRunningVar() || op.getRunningVar().use_empty());
}

std::optional<ChannelAffine> channelAffine(Operation *normalization) {
  auto op = llvm::dyn_cast<onnx::BatchNormalizationOp>(normalization);
  if (!op)
    return std::nullopt;
  auto scale = constantFloats(op.getScale()), bias = constantFloats(op.getB());
  auto mean = constantFloats(op.getInputMean()), variance = constantFloats(op.getInputVar());
  if (!isInference(op) || !scale || !bias || !mean || !variance)
    return std::nullopt;
  size_t n = scale->size();
  if (bias->size() != n || mean->size() != n || variance->size() != n)
    return std::nullopt;
  ChannelAffine a;
  double epsilon = op.getEpsilon().convertToDouble();
  for (size_t i = 0; i < n; ++i) {
    double factor = (*scale)[i] / std::sqrt(double((*variance)[i]) + epsilon);
    a.scale.push_back(float(factor));
    a.offset.push_back(float((*bias)[i] - (*mean)[i] * factor));
  }
  return a;
}

// A large constant takes the vector over: no second copy of what may be the greater part of a model.
template <typename T>
static ElementsAttr constantOf(RankedTensorType type, std::vector<T> values) {
  ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  bool dense = llvm::isa<IntegerType, FloatType>(type.getElementType());
  if (dense && (bytes.size() <= kInlineBytes || type.getNumElements() == 0))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  auto kept = std::make_shared<std::vector<T>>(std::move(values));
  return DenseResourceElementsAttr::get(type, "folded", AsmResourceBlob(bytes, alignof(T), [kept](void *, size_t, size_t) {}, false));
}

ElementsAttr makeConstant(RankedTensorType type, std::vector<char> bytes) { return constantOf(type, std::move(bytes)); }
ElementsAttr makeConstant(RankedTensorType type, std::vector<float> values) { return constantOf(type, std::move(values)); }
ElementsAttr makeConstant(RankedTensorType type, std::vector<double> values) { return constantOf(type, std::move(values)); }

// Strings are kept otherwise than other elements; one of them stands for all of a splat.
ElementsAttr reshaped(ElementsAttr value, RankedTensorType type) {
  if (auto strings = llvm::dyn_cast<DenseStringElementsAttr>(value))
    return DenseElementsAttr::get(type, strings.getRawStringData());
  if (auto dense = llvm::dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

}  // namespace onnxc
