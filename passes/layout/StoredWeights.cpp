// StoredWeights.cpp: see StoredWeights.h.
#include "passes/layout/StoredWeights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

static constexpr size_t kFewWeights = 4096;

FloatType weightType(MLIRContext *context, StringRef precision) {
  if (precision == "bf16")
    return BFloat16Type::get(context);
  if (precision == "f16")
    return Float16Type::get(context);
  return Float32Type::get(context);
}

FloatType storedType(FloatType wanted, ArrayRef<float> values, float scale) {
  auto single = Float32Type::get(wanted.getContext());
  if (wanted == single || values.size() < kFewWeights)
    return single;
  float largest = 0;
  for (float v : values)
    largest = std::max(largest, std::fabs(v * scale));
  APFloat rounded(largest);
  bool inexact;
  rounded.convert(wanted.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
  return rounded.isNormal() || rounded.isZero() ? wanted : single;
}

// NaN keeps its upper bits: the rest of the code makes none of them an infinity.
static uint16_t toBrain(float v) {
  uint32_t bits;
  memcpy(&bits, &v, 4);
  if (std::isnan(v))
    return uint16_t(bits >> 16 | 0x40);
  return uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t toHalf(float v) {
  _Float16 half = _Float16(v);
  uint16_t bits;
  memcpy(&bits, &half, 2);
  return bits;
}

// Whether `to` holds all of `values` times `scale` as they are.
static bool holds(Type to, ArrayRef<float> values, float scale) {
  auto isSame = [](float v, float stored) { return llvm::bit_cast<uint32_t>(v) == llvm::bit_cast<uint32_t>(stored); };
  auto asByte = [&](float v) { return v >= -128 && v <= 127 && isSame(v, float(int8_t(v))); };
  auto asBrain = [&](float v) { return isSame(v, llvm::bit_cast<float>(uint32_t(toBrain(v)) << 16)); };
  auto asHalf = [&](float v) { return isSame(v, float(_Float16(v))); };
  return llvm::all_of(values, [&](float v) {
    v *= scale;
    return to.isInteger(8) ? asByte(v) : to.isBF16() ? asBrain(v) : asHalf(v);
  });
}

Type exactType(MLIRContext *context, ArrayRef<float> values, float scale) {
  if (values.size() >= kFewWeights)
    for (Type type : {Type(IntegerType::get(context, 8)), Type(BFloat16Type::get(context)), Type(Float16Type::get(context))})
      if (holds(type, values, scale))
        return type;
  return Float32Type::get(context);
}

ElementsAttr storedConstant(RankedTensorType type, std::vector<float> values) {
  if (type.getElementType().isF32())
    return makeConstant(type, std::move(values));
  if (type.getElementType().isInteger(8))
    return makeConstant(type, std::vector<char>(values.begin(), values.end()));
  bool brain = type.getElementType().isBF16();
  std::vector<char> bytes(values.size() * 2);
  for (size_t i = 0; i < values.size(); ++i) {
    uint16_t bits = brain ? toBrain(values[i]) : toHalf(values[i]);
    memcpy(bytes.data() + 2 * i, &bits, 2);
  }
  return makeConstant(type, std::move(bytes));
}

}  // namespace onnxc
