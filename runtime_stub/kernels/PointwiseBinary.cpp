// PointwiseBinary.cpp: operators of two or more tensors, broadcast as numpy does: arithmetic (Div and Mod:
// PointwiseDivide.cpp), comparisons, logic, bits, Clip, Cast between numbers. Integers wrap. Row format: LibraryPointwise.def.
#include "runtime_stub/kernels/Pointwise.h"

namespace onnxc {

struct AddOp {
  template <class C>
  static C of(C x, C y) {
    return C(x + y);
  }
  static int64_t of(int64_t x, int64_t y) { return int64_t(uint64_t(x) + uint64_t(y)); }
};
struct SubOp {
  template <class C>
  static C of(C x, C y) {
    return C(x - y);
  }
  static int64_t of(int64_t x, int64_t y) { return int64_t(uint64_t(x) - uint64_t(y)); }
};
struct MulOp {
  template <class C>
  static C of(C x, C y) {
    return C(x * y);
  }
  static int64_t of(int64_t x, int64_t y) { return int64_t(uint64_t(x) * uint64_t(y)); }
};
struct MaxOp {  // NaN wins
  template <class C>
  static C of(C x, C y) {
    return x != x || x > y ? x : y;
  }
};
struct MinOp {
  template <class C>
  static C of(C x, C y) {
    return x != x || x < y ? x : y;
  }
};
struct PReluOp {
  template <class C>
  static C of(C x, C y) {
    return x < C(0) ? C(x * y) : x;
  }
};
struct AndOp {
  template <class C>
  static C of(C x, C y) {
    return x & y;
  }
};
struct OrOp {
  template <class C>
  static C of(C x, C y) {
    return x | y;
  }
};
struct XorOp {
  template <class C>
  static C of(C x, C y) {
    return x ^ y;
  }
};
struct EqualOp {
  template <class C>
  static bool of(C x, C y) {
    return x == y;
  }
};
struct LessOp {
  template <class C>
  static bool of(C x, C y) {
    return x < y;
  }
};
struct LessOrEqualOp {
  template <class C>
  static bool of(C x, C y) {
    return x <= y;
  }
};
struct GreaterOp {
  template <class C>
  static bool of(C x, C y) {
    return x > y;
  }
};
struct GreaterOrEqualOp {
  template <class C>
  static bool of(C x, C y) {
    return x >= y;
  }
};

template <class T, class Op>
static int32_t binary(const onnxc_args *a) {
  return mapBinary<T, T, T>(a, a->in[0], a->in[1], a->out[0],
                            [](T x, T y) { return Wide<T>::out(Op::of(Wide<T>::in(x), Wide<T>::in(y))); });
}

template <class T, class Op>
static int32_t compare(const onnxc_args *a) {
  return mapBinary<T, T, uint8_t>(a, a->in[0], a->in[1], a->out[0],
                                  [](T x, T y) { return uint8_t(Op::of(Wide<T>::in(x), Wide<T>::in(y))); });
}

// The result accumulates in place: first operand broadcast, then each further one.
template <class T, class Op>
static int32_t variadic(const onnxc_args *a) {
  onnxc_tensor &out = a->out[0];
  ONNXC_TRY((mapBinary<T, T, T>(a, a->in[0], a->in[0], out, [](T x, T) { return x; })));
  for (int64_t i = 1; i < a->n_in; ++i)
    ONNXC_TRY((mapBinary<T, T, T>(a, out, a->in[i], out, [](T x, T y) { return Wide<T>::out(Op::of(Wide<T>::in(x), Wide<T>::in(y))); })));
  return 0;
}

template <class T>
static int32_t mean(const onnxc_args *a) {
  ONNXC_TRY((variadic<T, AddOp>(a)));
  double n = double(a->n_in);
  return mapBinary<T, T, T>(a, a->out[0], a->out[0], a->out[0], [=](T x, T) { return fromF64<T>(toF64(x) / n); });
}

template <class T>
static int32_t clip(const onnxc_args *a) {
  bool low = hasIn(a, 1), high = hasIn(a, 2);
  auto lo = low ? Wide<T>::in(*data<T>(a->in[1])) : 0, hi = high ? Wide<T>::in(*data<T>(a->in[2])) : 0;
  return mapUnary<T, T>(a, [=](T v) {
    auto x = Wide<T>::in(v);
    if (low && x < lo)
      x = lo;
    if (high && x > hi)
      x = hi;
    return Wide<T>::out(x);
  });
}

static uint64_t integerPower(uint64_t x, uint64_t n) {
  uint64_t y = 1;
  for (; n; n >>= 1, x *= x)
    if (n & 1)
      y *= x;
  return y;
}

// The exponent has a type of its own. Integers to integer powers are exact modulo 2^64; a negative power of an integer is its truncated
// reciprocal.
template <class T>
static int32_t power(const onnxc_args *a) {
  const onnxc_tensor &x = a->in[0], &y = a->in[1];
  int64_t xs[kMaxRank], ys[kMaxRank];
  onnxc_tensor &out = a->out[0];
  ONNXC_CHECK(out.rank <= kMaxRank && broadcastStrides(x, out.dims, out.rank, xs) && broadcastStrides(y, out.dims, out.rank, ys),
              ONNXC_K_SHAPE);
  bool integers = !IsFloat<T>::value && y.dtype != ONNXC_F32 && y.dtype != ONNXC_F64 && y.dtype != ONNXC_F16 && y.dtype != ONNXC_BF16;
  Odometer<2> o;
  o.init(out.dims, out.rank);
  o.strides[0] = xs;
  o.strides[1] = ys;
  T *to = mutableData<T>(out);
  for (; o.more(); o.next(), ++to) {
    T base = data<T>(x)[o.offset[0]];
    int64_t n = integers ? loadI64(y, o.offset[1]) : -1;
    *to = n >= 0 ? Wide<T>::out(typename Wide<T>::type(integerPower(uint64_t(Wide<T>::in(base)), uint64_t(n))))
                 : fromF64<T>(pow(toF64(base), loadF64(y, o.offset[1])));
  }
  return 0;
}

template <class T>
static int32_t bitShift(const onnxc_args *a) {  // attributes: direction
  bool left = startsWith(a->attr[0], 'L');
  return mapBinary<T, T, T>(a, a->in[0], a->in[1], a->out[0], [=](T x, T n) {
    bool all = uint64_t(n) >= sizeof(T) * 8;  // also negative: every bit leaves
    if (left)
      return all ? T(0) : T(uint64_t(x) << uint64_t(n));
    return T(x >> (all ? int64_t(sizeof(T)) * 8 - 1 : int64_t(n)) >> (all && T(-1) > T(0)));
  });
}

static bool isInteger(int32_t dtype) {
  bool narrow = dtype == ONNXC_U4 || dtype == ONNXC_I4 || dtype == ONNXC_U2 || dtype == ONNXC_I2;
  return (dtype >= ONNXC_U8 && dtype <= ONNXC_I64) || dtype == ONNXC_U32 || dtype == ONNXC_U64 || narrow;
}

// Casts go by blocks through double or int64, so that n types need 2 n loops and not n * n.
static constexpr int64_t kCastBlock = 128;
#define ONNXC_SHARED __attribute__((noinline)) static

ONNXC_SHARED void loadReals(const onnxc_tensor &x, int64_t first, int64_t n, double *to) {
  switch (x.dtype) {
#define X(CODE, T)                                                                                                                         \
  case CODE:                                                                                                                               \
    for (int64_t i = 0; i < n; ++i)                                                                                                        \
      to[i] = toF64(static_cast<const T *>(x.data)[first + i]);                                                                            \
    break;
    ONNXC_DTYPE_CASES(X)
#undef X
  }
}

ONNXC_SHARED void loadIntegers(const onnxc_tensor &x, int64_t first, int64_t n, int64_t *to) {
  for (int64_t i = 0; i < n; ++i)
    to[i] = loadI64(x, first + i);
}

// Which real numbers a type keeps: fp8 saturates unless the attribute saturate is 0, round_mode says to which power of two others go; of
// these 0 is saturated to the least.
template <class To>
static To castReal(double v, bool, char) {
  return fromF64<To>(v);
}
#define ONNXC_CAST_F8(S, T)                                                                                                                \
  template <>                                                                                                                              \
  T castReal<T>(double v, bool saturate, char) {                                                                                           \
    return From<T>::f64(v, saturate);                                                                                                      \
  }
ONNXC_F8(ONNXC_CAST_F8)
#undef ONNXC_CAST_F8
template <>
f8e8m0 castReal<f8e8m0>(double v, bool saturate, char mode) {
  uint64_t bits = bitcast<uint64_t>(v), fraction = bits & ((uint64_t(1) << 52) - 1);
  bool more = mode == 'u' ? fraction != 0 : mode == 'n' ? fraction >= uint64_t(1) << 51 : false;
  int64_t exponent = int64_t(bits >> 52) - 1023 + 127 + more;
  if (!saturate && (v < 0x1p-127 || exponent > 254))
    return {255};
  return {!(v >= 0) ? uint8_t(255) : uint8_t(exponent < 0 ? 0 : exponent > 254 ? 254 : exponent)};
}

// Between integers: the low bits.
template <class To>
static To castInteger(int64_t v) {
  if constexpr (IntWidth<To>::value < 8)
    return fromF64<To>(double(int8_t(v)));
  else
    return To(v);
}

// Between numbers: truncation towards zero and wrapping into integers, nearest even into floats.
template <class To>
static int32_t castNumbers(const onnxc_args *a) {  // attributes: saturate, round_mode
  const onnxc_tensor &x = a->in[0];
  To *to = mutableData<To>(a->out[0]);
  int64_t count = onnxc_count(x);
  ONNXC_CHECK(count == onnxc_count(a->out[0]), ONNXC_K_SHAPE);
  bool saturate = a->attr[0].i != 0;
  char mode = a->attr[1].n > 0 ? *static_cast<const char *>(a->attr[1].p) : 'u';
  for (int64_t first = 0; first < count; first += kCastBlock) {
    int64_t n = count - first < kCastBlock ? count - first : kCastBlock;
    if constexpr (IntWidth<To>::value != 0) {
      if (isInteger(x.dtype)) {
        int64_t block[kCastBlock];
        loadIntegers(x, first, n, block);
        for (int64_t i = 0; i < n; ++i)
          to[first + i] = castInteger<To>(block[i]);
        continue;
      }
    }
    double block[kCastBlock];
    loadReals(x, first, n, block);
    for (int64_t i = 0; i < n; ++i)
      to[first + i] = castReal<To>(block[i], saturate, mode);
  }
  return 0;
}
#undef ONNXC_SHARED

}  // namespace onnxc

extern "C" int32_t onnxc_k_CastString(const onnxc_args *a);
extern "C" int32_t onnxc_k_PwCast_str(const onnxc_args *a) { return onnxc_k_CastString(a); }
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_PwCast_##S(const onnxc_args *a) { return onnxc::castNumbers<T>(a); }
ONNXC_NUMERIC(X)
ONNXC_F8(X)
ONNXC_SUBBYTE(X)
X(f8e8m0, onnxc::f8e8m0)
X(bool, onnxc::boolean)
#undef X

#define ONNXC_BINARY(NAME, S, T, FUNCTION)                                                                                                 \
  extern "C" int32_t onnxc_k_Pw##NAME##_##S(const onnxc_args *a) { return onnxc::FUNCTION(a); }
#define X(S, T)                                                                                                                            \
  ONNXC_BINARY(Add, S, T, binary<T COMMA onnxc::AddOp>)                                                                                    \
  ONNXC_BINARY(Sub, S, T, binary<T COMMA onnxc::SubOp>)                                                                                    \
  ONNXC_BINARY(Mul, S, T, binary<T COMMA onnxc::MulOp>)                                                                                    \
  ONNXC_BINARY(Max, S, T, variadic<T COMMA onnxc::MaxOp>)                                                                                  \
  ONNXC_BINARY(Min, S, T, variadic<T COMMA onnxc::MinOp>)                                                                                  \
  ONNXC_BINARY(Sum, S, T, variadic<T COMMA onnxc::AddOp>)                                                                                  \
  ONNXC_BINARY(PRelu, S, T, binary<T COMMA onnxc::PReluOp>)                                                                                \
  ONNXC_BINARY(Mean, S, T, mean<T>)                                                                                                        \
  ONNXC_BINARY(Clip, S, T, clip<T>)                                                                                                        \
  ONNXC_BINARY(Pow, S, T, power<T>)                                                                                                        \
  ONNXC_BINARY(Less, S, T, compare<T COMMA onnxc::LessOp>)                                                                                 \
  ONNXC_BINARY(LessOrEqual, S, T, compare<T COMMA onnxc::LessOrEqualOp>)                                                                   \
  ONNXC_BINARY(Greater, S, T, compare<T COMMA onnxc::GreaterOp>)                                                                           \
  ONNXC_BINARY(GreaterOrEqual, S, T, compare<T COMMA onnxc::GreaterOrEqualOp>)                                                             \
  extern "C" int32_t onnxc_k_Equal_##S(const onnxc_args *a) { return onnxc::compare<T, onnxc::EqualOp>(a); }
#define COMMA ,
ONNXC_NUMERIC(X)
#undef X
extern "C" int32_t onnxc_k_Equal_bool(const onnxc_args *a) { return onnxc::compare<onnxc::boolean, onnxc::EqualOp>(a); }
#define X(S, T)                                                                                                                            \
  ONNXC_BINARY(BitwiseAnd, S, T, binary<T COMMA onnxc::AndOp>)                                                                             \
  ONNXC_BINARY(BitwiseOr, S, T, binary<T COMMA onnxc::OrOp>)                                                                               \
  ONNXC_BINARY(BitwiseXor, S, T, binary<T COMMA onnxc::XorOp>)
ONNXC_INTS(X)
#undef X
#define X(S, T) ONNXC_BINARY(BitShift, S, T, bitShift<T>)
ONNXC_INTS(X)
#undef X
extern "C" int32_t onnxc_k_PwAnd(const onnxc_args *a) { return onnxc::binary<onnxc::boolean, onnxc::AndOp>(a); }
extern "C" int32_t onnxc_k_PwOr(const onnxc_args *a) { return onnxc::binary<onnxc::boolean, onnxc::OrOp>(a); }
extern "C" int32_t onnxc_k_PwXor(const onnxc_args *a) { return onnxc::binary<onnxc::boolean, onnxc::XorOp>(a); }
