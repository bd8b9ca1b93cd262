// SelectKeys.h: elements as integers of the same order, and where results along an axis lie: what FastSelect.cpp and FastArgBest.cpp share.
#pragma once
#include "runtime_stub/kernels/Lanes.h"
#include "runtime_stub/kernels/Sort.h"

namespace onnxc {
namespace {

// An element's order as that of an integer, its key.
template <class T>
using Key = typename Choose<sizeof(T) == 8, int64_t, int32_t>::type;
template <class T>
constexpr Key<T> kMost = Key<T>(~uint64_t(0) >> (65 - 8 * sizeof(Key<T>)));
template <class T>
constexpr Key<T> kLeast = ~kMost<T>;

// What memory holds of an element, as C has it.
template <class T>
struct Held {
  using type = T;
};
template <>
struct Held<f16> {
  using type = int16_t;
};
template <>
struct Held<bf16> {
  using type = int16_t;
};
template <class T>
using Keys = Sixteen<Key<T>>;
template <class T>
using Elements = Sixteen<typename Held<T>::type>;

enum class Nans { Most, Best };  // the greatest of all; or before all, whichever way round the order is

// Keys of one element or of 16: -0 equals 0, every NaN is one number. `flip` (0 or -1) turns the order round.
template <class T, Nans N, class K, class V>
ONNXC_INLINE K keysAs(V x, Key<T> flip) {
  constexpr int last = sizeof(Key<T>) * 8 - 1;
  const K none = K(N == Nans::Most ? kMost<T> ^ flip : kMost<T>);
  if constexpr (sizeof(T) >= 4 && IsFloat<T>::value) {
    K bits = __builtin_bit_cast(K, x + V(T(0)));
    return x == x ? bits ^ ((bits >> last) & K(kMost<T>)) ^ K(flip) : none;
  } else {
    K key;
    if constexpr (sizeof(V) <= 8)
      key = K(x);
    else
      key = __builtin_convertvector(x, K);
    if constexpr (IsFloat<T>::value) {
      K magnitude = key & K(0x7fff);
      return magnitude > K(FloatLayout<T>::inf) ? none : (key < K(0) ? K(0) - magnitude : magnitude) ^ K(flip);
    } else {
      return key ^ K(T(-1) > T(0) && sizeof(T) >= 4 ? kLeast<T> ^ flip : flip);
    }
  }
}
template <class T, Nans N>
ONNXC_INLINE Keys<T> keysOf(const T *x, Key<T> flip) {
  return keysAs<T, N, Keys<T>>(*reinterpret_cast<const Elements<T> *>(x), flip);
}
template <class T, Nans N>
ONNXC_INLINE Key<T> keyOf(T x, Key<T> flip) {
  return keysAs<T, N, Key<T>>(bitcast<typename Held<T>::type>(x), flip);
}

// Up to 64 neighbouring results along an axis of which `kept` elements are left: where the first element of each lies in the operand and in
// the result. Those past `count` repeat the first.
struct Results {
  int64_t count, at[64], to[64];

  Results(const Axis3 &s, int64_t first, int64_t kept) : count(minOf<int64_t>(64, s.outer * s.inner - first)) {
    int64_t o = first / s.inner, i = first % s.inner;
    for (int64_t r = 0; r < 64; ++r) {
      at[r] = r < count ? o * s.dim * s.inner + i : at[0];
      to[r] = o * kept * s.inner + i;
      o += i + 1 == s.inner;
      i = i + 1 == s.inner ? 0 : i + 1;
    }
  }
  bool areNeighbours() const { return at[63] == at[0] + 63; }
};

}  // namespace
}  // namespace onnxc
