// DType.cpp: see DType.h.
#include "compiler/DType.h"
#include "llvm/ADT/APFloat.h"
#include <iterator>

using llvm::APFloat;
namespace onnxc {

// The row of a code is at its place.
static constexpr DType types[] = {
    {1, "float32", DType::Float, 4, 32, "f4", APFloat::IEEEsingle},
    {2, "uint8", DType::Unsigned, 1, 8, "u1", nullptr},
    {3, "int8", DType::Signed, 1, 8, "i1", nullptr},
    {4, "uint16", DType::Unsigned, 2, 16, "u2", nullptr},
    {5, "int16", DType::Signed, 2, 16, "i2", nullptr},
    {6, "int32", DType::Signed, 4, 32, "i4", nullptr},
    {7, "int64", DType::Signed, 8, 64, "i8", nullptr},
    {8, "string", DType::String, 16, 0, "U", nullptr},
    {9, "bool", DType::Bool, 1, 8, "b1", nullptr},
    {10, "float16", DType::Float, 2, 16, "f2", APFloat::IEEEhalf},
    {11, "float64", DType::Float, 8, 64, "f8", APFloat::IEEEdouble},
    {12, "uint32", DType::Unsigned, 4, 32, "u4", nullptr},
    {13, "uint64", DType::Unsigned, 8, 64, "u8", nullptr},
    {14, "complex64", DType::Complex, 8, 64, "c8", nullptr},
    {15, "complex128", DType::Complex, 16, 128, "c16", nullptr},
    {16, "bfloat16", DType::Float, 2, 16, "V2", APFloat::BFloat},
    {17, "float8_e4m3fn", DType::Float, 1, 8, "V1", APFloat::Float8E4M3FN},
    {18, "float8_e4m3fnuz", DType::Float, 1, 8, "V1", APFloat::Float8E4M3FNUZ},
    {19, "float8_e5m2", DType::Float, 1, 8, "V1", APFloat::Float8E5M2},
    {20, "float8_e5m2fnuz", DType::Float, 1, 8, "V1", APFloat::Float8E5M2FNUZ},
    {21, "uint4", DType::Unsigned, 1, 4, "V1", nullptr},
    {22, "int4", DType::Signed, 1, 4, "V1", nullptr},
    {23, "float4_e2m1fn", DType::Float, 1, 4, "V1", APFloat::Float4E2M1FN},
    {24, "float8_e8m0fnu", DType::Float, 1, 8, "V1", APFloat::Float8E8M0FNU},
    {25, "uint2", DType::Unsigned, 1, 2, "V1", nullptr},
    {26, "int2", DType::Signed, 1, 2, "V1", nullptr},
    {27, "float6_e2m3fn", DType::Float, 1, 6, "V1", APFloat::Float6E2M3FN},
    {28, "float6_e3m2fn", DType::Float, 1, 6, "V1", APFloat::Float6E3M2FN},
};

const DType *findDType(int32_t code) { return code > 0 && code <= int32_t(std::size(types)) ? &types[code - 1] : nullptr; }

}  // namespace onnxc
