// ElementTypes.cpp: the one list of element types on MLIR's side: TensorProto.DataType codes, the names of library kernels, types.
#include "dialects/onnx/ElementTypes.h"

using namespace mlir;
namespace onnxc::onnx {
namespace {

template <typename T>
Type plain(MLIRContext *c) {
  return T::get(c);
}
template <unsigned Width>
Type integer(MLIRContext *c) {
  return IntegerType::get(c, Width);
}
template <unsigned Width>
Type natural(MLIRContext *c) {
  return IntegerType::get(c, Width, IntegerType::Unsigned);
}
template <typename T>
Type pairOf(MLIRContext *c) {
  return ComplexType::get(T::get(c));
}

struct Row {
  const char *name;
  Type (*type)(MLIRContext *);
};
// The row of code 1 is the first.
constexpr Row kRows[] = {
    {"f32", plain<Float32Type>},
    {"u8", natural<8>},
    {"i8", integer<8>},
    {"u16", natural<16>},
    {"i16", integer<16>},
    {"i32", integer<32>},
    {"i64", integer<64>},
    {"str", plain<StringType>},
    {"bool", integer<1>},
    {"f16", plain<Float16Type>},
    {"f64", plain<Float64Type>},
    {"u32", natural<32>},
    {"u64", natural<64>},
    {"c64", pairOf<Float32Type>},
    {"c128", pairOf<Float64Type>},
    {"bf16", plain<BFloat16Type>},
    {"f8e4m3fn", plain<Float8E4M3FNType>},
    {"f8e4m3fnuz", plain<Float8E4M3FNUZType>},
    {"f8e5m2", plain<Float8E5M2Type>},
    {"f8e5m2fnuz", plain<Float8E5M2FNUZType>},
    {"u4", natural<4>},
    {"i4", integer<4>},
    {"f4e2m1", plain<Float4E2M1FNType>},
    {"f8e8m0", plain<Float8E8M0FNUType>},
    {"u2", natural<2>},
    {"i2", integer<2>},
    {"f6e2m3", plain<Float6E2M3FNType>},
    {"f6e3m2", plain<Float6E3M2FNType>},
};

}  // namespace

Type elementTypeOfCode(MLIRContext *context, int64_t code) {
  return code > 0 && code <= int64_t(std::size(kRows)) ? kRows[code - 1].type(context) : Type();
}

int32_t elementTypeCode(Type type) {
  const Row *row = llvm::find_if(kRows, [&](const Row &r) { return r.type(type.getContext()) == type; });
  return row == std::end(kRows) ? 0 : int32_t(row - kRows) + 1;
}

StringRef elementTypeName(Type type) {
  int32_t code = elementTypeCode(type);
  return code ? kRows[code - 1].name : "object";
}

}  // namespace onnxc::onnx
