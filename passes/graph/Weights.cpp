// Weights.cpp: bytes of constants in and out of attributes.
#include "passes/graph/Weights.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
namespace onnxc {

static constexpr size_t kInlineBytes = 1024;

int64_t elementBytes(Type type) {
  if (auto complex = llvm::dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  if (!type.isIntOrFloat() || type.isInteger(1))
    return 0;
  return std::max<int64_t>(type.getIntOrFloatBitWidth() / 8, 1);
}

std::optional<std::vector<char>> constantBytes(ElementsAttr value) {
  int64_t size = value ? elementBytes(value.getElementType()) : 0;
  if (!size)
    return std::nullopt;
  size_t total = value.getNumElements() * size;
  ArrayRef<char> data;
  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    data = blob ? blob->getData() : ArrayRef<char>();
  } else if (auto dense = llvm::dyn_cast<DenseElementsAttr>(value)) {
    data = dense.getRawData();
    if (dense.isSplat() && value.getNumElements() != 1) {
      std::vector<char> spread(total);
      for (size_t i = 0; i < total; ++i)
        spread[i] = data[i % size];
      return spread;
    }
  }
  if (data.size() < total)
    return std::nullopt;
  return std::vector<char>(data.begin(), data.begin() + total);
}

std::optional<std::vector<float>> constantFloats(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  if (!value || !value.getElementType().isF32())
    return std::nullopt;
  auto bytes = constantBytes(value);
  if (!bytes)
    return std::nullopt;
  std::vector<float> values(bytes->size() / sizeof(float));
  memcpy(values.data(), bytes->data(), bytes->size());
  return values;
}

ElementsAttr makeConstant(RankedTensorType type, std::vector<char> bytes) {
  bool dense = llvm::isa<IntegerType, FloatType>(type.getElementType());
  if (dense && (bytes.size() <= kInlineBytes || type.getNumElements() == 0))
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  AsmResourceBlob blob = HeapAsmResourceBlob::allocateAndCopyWithAlign(ArrayRef<char>(bytes), 64, /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(type, "folded", std::move(blob));
}
ElementsAttr makeConstant(RankedTensorType type, const std::vector<float> &values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  memcpy(bytes.data(), values.data(), bytes.size());
  return makeConstant(type, std::move(bytes));
}

ElementsAttr reshaped(ElementsAttr value, RankedTensorType type) {
  if (auto dense = llvm::dyn_cast<DenseElementsAttr>(value))
    return dense.reshape(type);
  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

}  // namespace onnxc
