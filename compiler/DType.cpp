// DType.cpp: see DType.h.
#include "compiler/DType.h"

namespace onnxc {

static constexpr DType types[] = {
    {1, "float32", 4, "f4"},        {2, "uint8", 1, "u1"},
    {3, "int8", 1, "i1"},           {4, "uint16", 2, "u2"},
    {5, "int16", 2, "i2"},          {6, "int32", 4, "i4"},
    {7, "int64", 8, "i8"},          {8, "string", 16, "U"},
    {9, "bool", 1, "b1"},           {10, "float16", 2, "f2"},
    {11, "float64", 8, "f8"},       {12, "uint32", 4, "u4"},
    {13, "uint64", 8, "u8"},        {14, "complex64", 8, "c8"},
    {15, "complex128", 16, "c16"},  {16, "bfloat16", 2, "V2"},
    {17, "float8_e4m3fn", 1, "V1"}, {18, "float8_e4m3fnuz", 1, "V1"},
    {19, "float8_e5m2", 1, "V1"},   {20, "float8_e5m2fnuz", 1, "V1"},
    {21, "uint4", 1, "V1"},         {22, "int4", 1, "V1"},
    {23, "float4_e2m1fn", 1, "V1"}, {24, "float8_e8m0fnu", 1, "V1"},
    {25, "uint2", 1, "V1"},         {26, "int2", 1, "V1"},
    {27, "float6_e2m3fn", 1, "V1"}, {28, "float6_e3m2fn", 1, "V1"},
};

const DType *findDType(int32_t code) {
  for (const DType &t : types)
    if (t.code == code)
      return &t;
  return nullptr;
}

}  // namespace onnxc
