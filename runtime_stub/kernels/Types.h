// Types.h: the numeric types of library kernels, exact conversions, and the type lists that instantiate kernels. Next to Kernel.h.
//
// Narrow floats are structs around their bits. Types of less than 8 bits hold one element a byte. Each type T has
//   toF64(T) -> double          exact
//   fromF64<T>(double)          nearest even for floats (narrow floats saturate), wrapping truncation for integers
//   quantize<T>(double, sat)    nearest even and saturating for integers
//   Acc<T>                      what sums of T accumulate in: double, int64_t/uint64_t, or complex<double>
#pragma once
#include "runtime_stub/kernels/Kernel.h"

extern "C" {
void *memcpy(void *, const void *, size_t) noexcept;
void *memmove(void *, const void *, size_t) noexcept;
void *memset(void *, int, size_t) noexcept;
int memcmp(const void *, const void *, size_t) noexcept;
double exp(double) noexcept;
double log(double) noexcept;
double sqrt(double) noexcept;
double tanh(double) noexcept;
double pow(double, double) noexcept;
double sin(double) noexcept;
double cos(double) noexcept;
double floor(double) noexcept;
double ceil(double) noexcept;
double nearbyint(double) noexcept;
double fabs(double) noexcept;
double fmod(double, double) noexcept;
}

namespace onnxc {

struct f16 {
  uint16_t bits;
};
struct bf16 {
  uint16_t bits;
};
struct f8e4m3fn {
  uint8_t bits;
};
struct f8e4m3fnuz {
  uint8_t bits;
};
struct f8e5m2 {
  uint8_t bits;
};
struct f8e5m2fnuz {
  uint8_t bits;
};
struct f8e8m0 {
  uint8_t bits;
};
struct f6e2m3 {
  uint8_t bits;
};
struct f6e3m2 {
  uint8_t bits;
};
struct f4e2m1 {
  uint8_t bits;
};
struct i4 {
  int8_t v;
};
struct u4 {
  uint8_t v;
};
struct i2 {
  int8_t v;
};
struct u2 {
  uint8_t v;
};
struct b16 {
  uint64_t lo, hi;
};
template <class T>
struct complex {
  T re, im;
};
template <class T>
ONNXC_INLINE complex<T> operator+(complex<T> x, complex<T> y) {
  return {x.re + y.re, x.im + y.im};
}
template <class T>
ONNXC_INLINE complex<T> operator*(T x, complex<T> y) {
  return {x * y.re, x * y.im};
}
using c64 = complex<float>;
using c128 = complex<double>;
using f32 = float;
using f64 = double;
using i8 = int8_t;
using i16 = int16_t;
using i32 = int32_t;
using i64 = int64_t;
using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
struct boolean {
  uint8_t v;
};

template <class To, class From>
ONNXC_INLINE To bitcast(From from) {
  static_assert(sizeof(To) == sizeof(From), "equal sizes");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// How a narrow float is laid out. `special`: what the top of the exponent range means.
enum class Special { IEEE, NanOnly, NegativeZeroNan, None };
template <int Exp, int Man, int Bias, Special Kind>
struct Layout {
  static constexpr int exp = Exp, man = Man, bias = Bias;
  static constexpr Special kind = Kind;
  static constexpr uint32_t sign = 1u << (Exp + Man), expMask = ((1u << Exp) - 1) << Man;
  static constexpr uint32_t magnitude = sign - 1;
  static constexpr uint32_t nan = Kind == Special::IEEE ? expMask | (1u << (Man - 1)) : Kind == Special::NanOnly ? magnitude : sign;
  static constexpr uint32_t inf = expMask;
  static constexpr uint32_t max = Kind == Special::IEEE ? expMask - 1 : Kind == Special::NanOnly ? magnitude - 1 : magnitude;
};

template <class T>
struct FloatLayout;
template <>
struct FloatLayout<f16> : Layout<5, 10, 15, Special::IEEE> {};
template <>
struct FloatLayout<bf16> : Layout<8, 7, 127, Special::IEEE> {};
template <>
struct FloatLayout<f8e4m3fn> : Layout<4, 3, 7, Special::NanOnly> {};
template <>
struct FloatLayout<f8e4m3fnuz> : Layout<4, 3, 8, Special::NegativeZeroNan> {};
template <>
struct FloatLayout<f8e5m2> : Layout<5, 2, 15, Special::IEEE> {};
template <>
struct FloatLayout<f8e5m2fnuz> : Layout<5, 2, 16, Special::NegativeZeroNan> {};
template <>
struct FloatLayout<f6e2m3> : Layout<2, 3, 1, Special::None> {};
template <>
struct FloatLayout<f6e3m2> : Layout<3, 2, 3, Special::None> {};
template <>
struct FloatLayout<f4e2m1> : Layout<2, 1, 1, Special::None> {};

template <class L>
ONNXC_INLINE double decodeFloat(uint32_t bits) {
  uint32_t magnitude = bits & L::magnitude;
  double sign = bits & L::sign ? -1.0 : 1.0;
  if (L::kind == Special::NegativeZeroNan && bits == L::sign)
    return __builtin_nan("");
  if (L::kind == Special::NanOnly && magnitude == L::magnitude)
    return __builtin_nan("");
  if (L::kind == Special::IEEE && magnitude >= L::expMask)
    return magnitude == L::expMask ? sign * __builtin_inf() : __builtin_nan("");
  int exponent = int(magnitude >> L::man);
  double mantissa = double(magnitude & ((1u << L::man) - 1));
  int scale = (exponent ? exponent : 1) - L::bias - L::man;
  if (exponent)
    mantissa += double(1u << L::man);
  return sign * mantissa * bitcast<double>(uint64_t(scale + 1023) << 52);
}

// Nearest even. Above the largest finite value: saturate, or infinity (NaN where the type has none). Negative zero stands for NaN in types
// without one.
template <class L>
ONNXC_INLINE uint32_t encodeFloat(double value, bool saturate) {
  uint64_t bits = bitcast<uint64_t>(value);
  uint32_t sign = bits >> 63 ? L::sign : 0;
  uint64_t magnitude = bits & ~(uint64_t(1) << 63);
  constexpr uint64_t infinity = uint64_t(2047) << 52;
  if (magnitude > infinity)
    return L::kind == Special::None || L::kind == Special::NegativeZeroNan ? L::nan : sign | L::nan;
  uint32_t overflow = L::kind == Special::IEEE ? sign | L::inf : L::kind == Special::NanOnly ? sign | L::nan : L::nan;
  if (saturate || L::kind == Special::None)
    overflow = sign | L::max;
  if (magnitude == infinity)
    return overflow;
  int exponent = int(magnitude >> 52) - 1023;
  uint64_t mantissa = (magnitude & ((uint64_t(1) << 52) - 1)) | (uint64_t(1) << 52);
  int drop = 52 - L::man, lowest = 1 - L::bias;
  if (exponent < lowest)
    drop += lowest - exponent;
  uint64_t kept = 0;
  if (drop < 64 && magnitude >> 52) {
    uint64_t half = uint64_t(1) << (drop - 1), rest = mantissa & ((half << 1) - 1);
    kept = drop == 63 ? 0 : mantissa >> drop;
    kept += rest > half || (rest == half && (kept & 1));
  }
  uint64_t result = exponent < lowest ? kept : kept + (uint64_t(exponent - lowest) << L::man);
  if (result > L::max)
    return overflow;
  if (L::kind == Special::NegativeZeroNan && result == 0)
    return 0;
  return sign | uint32_t(result);
}

ONNXC_INLINE float f16ToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16, rest = uint32_t(h & 0x7fff) << 13;
  if (rest >= 0x0f800000u)
    return bitcast<float>(sign | 0x7f800000u | (rest & 0x007fffffu));
  return bitcast<float>(sign | bitcast<uint32_t>(bitcast<float>(rest) * 0x1p112f));
}

ONNXC_INLINE double toF64(float v) { return v; }
ONNXC_INLINE double toF64(double v) { return v; }
ONNXC_INLINE double toF64(f16 v) { return f16ToFloat(v.bits); }
ONNXC_INLINE double toF64(bf16 v) { return bitcast<float>(uint32_t(v.bits) << 16); }
ONNXC_INLINE double toF64(f8e4m3fn v) { return decodeFloat<FloatLayout<f8e4m3fn>>(v.bits); }
ONNXC_INLINE double toF64(f8e4m3fnuz v) { return decodeFloat<FloatLayout<f8e4m3fnuz>>(v.bits); }
ONNXC_INLINE double toF64(f8e5m2 v) { return decodeFloat<FloatLayout<f8e5m2>>(v.bits); }
ONNXC_INLINE double toF64(f8e5m2fnuz v) { return decodeFloat<FloatLayout<f8e5m2fnuz>>(v.bits); }
ONNXC_INLINE double toF64(f6e2m3 v) { return decodeFloat<FloatLayout<f6e2m3>>(v.bits); }
ONNXC_INLINE double toF64(f6e3m2 v) { return decodeFloat<FloatLayout<f6e3m2>>(v.bits); }
ONNXC_INLINE double toF64(f4e2m1 v) { return decodeFloat<FloatLayout<f4e2m1>>(v.bits); }
ONNXC_INLINE double toF64(f8e8m0 v) { return v.bits == 255 ? __builtin_nan("") : bitcast<double>(uint64_t(v.bits + 1023 - 127) << 52); }
ONNXC_INLINE double toF64(i4 v) { return v.v; }
ONNXC_INLINE double toF64(u4 v) { return v.v; }
ONNXC_INLINE double toF64(i2 v) { return v.v; }
ONNXC_INLINE double toF64(u2 v) { return v.v; }
ONNXC_INLINE double toF64(boolean v) { return v.v; }
ONNXC_INLINE double toF64(i8 v) { return v; }
ONNXC_INLINE double toF64(u8 v) { return v; }
ONNXC_INLINE double toF64(i16 v) { return v; }
ONNXC_INLINE double toF64(u16 v) { return v; }
ONNXC_INLINE double toF64(i32 v) { return v; }
ONNXC_INLINE double toF64(u32 v) { return v; }
ONNXC_INLINE double toF64(i64 v) { return double(v); }
ONNXC_INLINE double toF64(u64 v) { return double(v); }

// Truncation of any double to 64 bits without undefined behaviour: out of range gives the least int64.
ONNXC_INLINE int64_t truncToI64(double v) {
  if (v >= -0x1p63 && v < 0x1p63)
    return int64_t(v);
  if (v >= 0x1p63 && v < 0x1p64)
    return int64_t(uint64_t(v));
  return INT64_MIN;
}

template <class T>
struct From {
  static T f64(double v) { return T(truncToI64(v)); }
};
template <>
struct From<float> {
  static float f64(double v) { return float(v); }
};
template <>
struct From<double> {
  static double f64(double v) { return v; }
};
template <>
struct From<boolean> {
  static boolean f64(double v) { return {uint8_t(v != 0)}; }
};
template <>
struct From<f16> {
  static f16 f64(double v) { return {uint16_t(encodeFloat<FloatLayout<f16>>(v, false))}; }
};
template <>
struct From<bf16> {
  static bf16 f64(double v) { return {uint16_t(encodeFloat<FloatLayout<bf16>>(v, false))}; }
};
#define ONNXC_FROM_F8(T)                                                                                                                   \
  template <>                                                                                                                              \
  struct From<T> {                                                                                                                         \
    static T f64(double v, bool saturate = true) { return {uint8_t(encodeFloat<FloatLayout<T>>(v, saturate))}; }                           \
  };
ONNXC_FROM_F8(f8e4m3fn)
ONNXC_FROM_F8(f8e4m3fnuz)
ONNXC_FROM_F8(f8e5m2)
ONNXC_FROM_F8(f8e5m2fnuz)
ONNXC_FROM_F8(f6e2m3)
ONNXC_FROM_F8(f6e3m2)
ONNXC_FROM_F8(f4e2m1)
#undef ONNXC_FROM_F8
template <>
struct From<f8e8m0> {  // nearest power of two, ties up; saturates; negative and NaN are NaN
  static f8e8m0 f64(double v) {
    if (!(v >= 0))
      return {255};
    int64_t exponent = int64_t((bitcast<uint64_t>(v) + (uint64_t(1) << 51)) >> 52) - 1023 + 127;
    return {uint8_t(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent)};
  }
};
template <>
struct From<i4> {
  static i4 f64(double v) { return {int8_t(int8_t(uint8_t(truncToI64(v)) << 4) >> 4)}; }
};
template <>
struct From<u4> {
  static u4 f64(double v) { return {uint8_t(truncToI64(v) & 15)}; }
};
template <>
struct From<i2> {
  static i2 f64(double v) { return {int8_t(int8_t(uint8_t(truncToI64(v)) << 6) >> 6)}; }
};
template <>
struct From<u2> {
  static u2 f64(double v) { return {uint8_t(truncToI64(v) & 3)}; }
};
template <class T>
ONNXC_INLINE T fromF64(double v) {
  return From<T>::f64(v);
}

// Ranges of integers, and which types are floats.
template <class T>
struct IntRange;
#define ONNXC_RANGE(T, LO, HI)                                                                                                             \
  template <>                                                                                                                              \
  struct IntRange<T> {                                                                                                                     \
    static constexpr double lo = LO, hi = HI;                                                                                              \
  };
ONNXC_RANGE(i8, -128, 127)
ONNXC_RANGE(u8, 0, 255)
ONNXC_RANGE(i16, -32768, 32767)
ONNXC_RANGE(u16, 0, 65535)
ONNXC_RANGE(i32, -2147483648.0, 2147483647.0)
ONNXC_RANGE(u32, 0, 4294967295.0)
ONNXC_RANGE(i64, -0x1p63, 0x1.fffffffffffffp62)
ONNXC_RANGE(u64, 0, 0x1.fffffffffffffp63)
ONNXC_RANGE(i4, -8, 7)
ONNXC_RANGE(u4, 0, 15)
ONNXC_RANGE(i2, -2, 1)
ONNXC_RANGE(u2, 0, 3)
#undef ONNXC_RANGE

// Bits of an integer type; 0 for other types.
template <class T>
struct IntWidth {
  static constexpr int value = 0;
};
#define ONNXC_WIDTH(T, BITS)                                                                                                               \
  template <>                                                                                                                              \
  struct IntWidth<T> {                                                                                                                     \
    static constexpr int value = BITS;                                                                                                     \
  };
ONNXC_WIDTH(i8, 8)
ONNXC_WIDTH(u8, 8)
ONNXC_WIDTH(i16, 16)
ONNXC_WIDTH(u16, 16)
ONNXC_WIDTH(i32, 32)
ONNXC_WIDTH(u32, 32)
ONNXC_WIDTH(i64, 64)
ONNXC_WIDTH(u64, 64)
ONNXC_WIDTH(i4, 4)
ONNXC_WIDTH(u4, 4)
ONNXC_WIDTH(i2, 2)
ONNXC_WIDTH(u2, 2)
#undef ONNXC_WIDTH

template <class T>
struct IsFloat {
  static constexpr bool value = false;
};
#define ONNXC_FLOAT(T)                                                                                                                     \
  template <>                                                                                                                              \
  struct IsFloat<T> {                                                                                                                      \
    static constexpr bool value = true;                                                                                                    \
  };
ONNXC_FLOAT(f32)
ONNXC_FLOAT(f64)
ONNXC_FLOAT(f16)
ONNXC_FLOAT(bf16)
ONNXC_FLOAT(f8e4m3fn)
ONNXC_FLOAT(f8e4m3fnuz)
ONNXC_FLOAT(f8e5m2)
ONNXC_FLOAT(f8e5m2fnuz)
ONNXC_FLOAT(f8e8m0)
ONNXC_FLOAT(f6e2m3)
ONNXC_FLOAT(f6e3m2)
ONNXC_FLOAT(f4e2m1)
#undef ONNXC_FLOAT

template <class T>
ONNXC_INLINE T saturateTo(double v) {  // v is already rounded; NaN gives 0
  double within = v != v ? 0.0 : v < IntRange<T>::lo ? IntRange<T>::lo : v > IntRange<T>::hi ? IntRange<T>::hi : v;
  if constexpr (IntWidth<T>::value == 8 || IntWidth<T>::value == 16)
    return T(int32_t(within));
  else
    return fromF64<T>(within);
}

// Accumulators.
template <class T, bool Float>
struct AccOf {
  using type = double;
};
template <class T>
struct AccOf<T, false> {
  using type = int64_t;
};
template <>
struct AccOf<u64, false> {
  using type = uint64_t;
};
template <>
struct AccOf<c64, false> {
  using type = c128;
};
template <>
struct AccOf<c128, false> {
  using type = c128;
};
template <class T>
using Acc = typename AccOf<T, IsFloat<T>::value>::type;

// toAcc/fromAcc: integers stay exact modulo 2^64 and wrap on the way back.
template <class T>
struct Via {
  static int64_t in(T v) { return int64_t(v); }
  static T out(int64_t v) { return T(v); }
};
template <>
struct Via<u64> {
  static uint64_t in(u64 v) { return v; }
  static u64 out(uint64_t v) { return v; }
};
#define ONNXC_VIA_DOUBLE(T)                                                                                                                \
  template <>                                                                                                                              \
  struct Via<T> {                                                                                                                          \
    static double in(T v) { return toF64(v); }                                                                                             \
    static T out(double v) { return fromF64<T>(v); }                                                                                       \
  };
ONNXC_VIA_DOUBLE(f32)
ONNXC_VIA_DOUBLE(f64)
ONNXC_VIA_DOUBLE(f16)
ONNXC_VIA_DOUBLE(bf16)
#undef ONNXC_VIA_DOUBLE
template <>
struct Via<boolean> {
  static int64_t in(boolean v) { return v.v; }
  static boolean out(int64_t v) { return {uint8_t(v != 0)}; }
};
template <class T>
struct Via<complex<T>> {
  static c128 in(complex<T> v) { return {v.re, v.im}; }
  static complex<T> out(c128 v) { return {T(v.re), T(v.im)}; }
};
template <class T>
ONNXC_INLINE Acc<T> toAcc(T v) {
  return Via<T>::in(v);
}
template <class T>
ONNXC_INLINE T fromAcc(Acc<T> v) {
  return Via<T>::out(v);
}

// One element of a tensor whose dtype is known at run time only.
ONNXC_INLINE int64_t loadI64(const onnxc_tensor &t, int64_t i) {
  switch (t.dtype) {
  case ONNXC_I32:
    return static_cast<const int32_t *>(t.data)[i];
  case ONNXC_I64:
    return static_cast<const int64_t *>(t.data)[i];
  case ONNXC_U64:
    return int64_t(static_cast<const uint64_t *>(t.data)[i]);
  case ONNXC_U32:
    return static_cast<const uint32_t *>(t.data)[i];
  case ONNXC_I16:
    return static_cast<const int16_t *>(t.data)[i];
  case ONNXC_U16:
    return static_cast<const uint16_t *>(t.data)[i];
  case ONNXC_I8:
  case ONNXC_I4:
  case ONNXC_I2:
    return static_cast<const int8_t *>(t.data)[i];
  default:
    return static_cast<const uint8_t *>(t.data)[i];
  }
}
double loadF64(const onnxc_tensor &t, int64_t i);  // any numeric dtype; defined inline below
void storeF64(onnxc_tensor &t, int64_t i, double v);

// clang-format off
#define ONNXC_DTYPE_CASES(X) \
  X(ONNXC_F32, f32) \
  X(ONNXC_F64, f64) \
  X(ONNXC_F16, f16) \
  X(ONNXC_BF16, bf16) \
  X(ONNXC_I8, i8) \
  X(ONNXC_U8, u8) \
  X(ONNXC_I16, i16) \
  X(ONNXC_U16, u16) \
  X(ONNXC_I32, i32) \
  X(ONNXC_U32, u32) \
  X(ONNXC_I64, i64) \
  X(ONNXC_U64, u64) \
  X(ONNXC_BOOL, boolean) \
  X(ONNXC_F8E4M3FN, f8e4m3fn) \
  X(ONNXC_F8E4M3FNUZ, f8e4m3fnuz) \
  X(ONNXC_F8E5M2, f8e5m2) \
  X(ONNXC_F8E5M2FNUZ, f8e5m2fnuz) \
  X(ONNXC_F8E8M0, f8e8m0) \
  X(ONNXC_F6E2M3, f6e2m3) \
  X(ONNXC_F6E3M2, f6e3m2) \
  X(ONNXC_F4E2M1, f4e2m1) \
  X(ONNXC_I4, i4) \
  X(ONNXC_U4, u4) \
  X(ONNXC_I2, i2) \
  X(ONNXC_U2, u2)
// clang-format on

inline double loadF64(const onnxc_tensor &t, int64_t i) {
  switch (t.dtype) {
#define X(CODE, T)                                                                                                                         \
  case CODE:                                                                                                                               \
    return toF64(static_cast<const T *>(t.data)[i]);
    ONNXC_DTYPE_CASES(X)
#undef X
  }
  return 0;
}

inline void storeF64(onnxc_tensor &t, int64_t i, double v) {
  switch (t.dtype) {
#define X(CODE, T)                                                                                                                         \
  case CODE:                                                                                                                               \
    static_cast<T *>(t.data)[i] = fromF64<T>(v);                                                                                           \
    break;
    ONNXC_DTYPE_CASES(X)
#undef X
  }
}

ONNXC_INLINE int64_t elementBytes(int32_t dtype) {
  switch (dtype) {
#define X(CODE, T)                                                                                                                         \
  case CODE:                                                                                                                               \
    return sizeof(T);
    ONNXC_DTYPE_CASES(X)
#undef X
  case ONNXC_C64:
    return 8;
  case ONNXC_C128:
  case ONNXC_STR:
    return 16;
  }
  return 0;
}

}  // namespace onnxc

// Type lists: X(suffix, C++ type). A kernel family ends with
//   #define X(S, T) extern "C" int32_t onnxc_k_Name_##S(const onnxc_args *a) { return name<T>(a); }
//   ONNXC_FLOATS(X)
//   #undef X
#define ONNXC_FLOATS(X) X(f32, onnxc::f32) X(f64, onnxc::f64) X(f16, onnxc::f16) X(bf16, onnxc::bf16)
#define ONNXC_SIGNED(X) X(i8, onnxc::i8) X(i16, onnxc::i16) X(i32, onnxc::i32) X(i64, onnxc::i64)
#define ONNXC_UNSIGNED(X) X(u8, onnxc::u8) X(u16, onnxc::u16) X(u32, onnxc::u32) X(u64, onnxc::u64)
#define ONNXC_INTS(X) ONNXC_SIGNED(X) ONNXC_UNSIGNED(X)
#define ONNXC_NUMERIC(X) ONNXC_FLOATS(X) ONNXC_INTS(X)
#define ONNXC_OTHERS(X) X(bool, onnxc::boolean) X(c64, onnxc::c64) X(c128, onnxc::c128)
#define ONNXC_F8(X) X(f8e4m3fn, onnxc::f8e4m3fn) X(f8e4m3fnuz, onnxc::f8e4m3fnuz) X(f8e5m2, onnxc::f8e5m2) X(f8e5m2fnuz, onnxc::f8e5m2fnuz)
#define ONNXC_SUBBYTE(X)                                                                                                                   \
  X(i4, onnxc::i4)                                                                                                                         \
  X(u4, onnxc::u4) X(i2, onnxc::i2) X(u2, onnxc::u2) X(f4e2m1, onnxc::f4e2m1) X(f6e2m3, onnxc::f6e2m3) X(f6e3m2, onnxc::f6e3m2)
// Data movement looks at the size only; strings are b16.
#define ONNXC_SIZES(X) X(b1, uint8_t) X(b2, uint16_t) X(b4, uint32_t) X(b8, uint64_t) X(b16, onnxc::b16)
