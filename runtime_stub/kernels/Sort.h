// Sort.h: total orders of elements and a stable index sort for TopK, Unique, NonMaxSuppression. Beside Index.h.
#pragma once
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

// A total order: NaN is greater than any number and equal to NaN; false before true; complex numbers by their
// real parts first; strings by bytes.
template <class T>
ONNXC_INLINE int compare(const T &x, const T &y) {
  if constexpr (IsFloat<T>::value) {
    double a = toF64(x), b = toF64(y);
    if (a != a || b != b)
      return int(a != a) - int(b != b);
    return int(a > b) - int(a < b);
  } else {
    return int(x > y) - int(x < y);
  }
}
template <class T>
ONNXC_INLINE int compare(const complex<T> &x, const complex<T> &y) {
  int order = compare(x.re, y.re);
  return order ? order : compare(x.im, y.im);
}
ONNXC_INLINE int compare(const onnxc_string &x, const onnxc_string &y) {
  int64_t shorter = minOf(x.size, y.size);
  int order = shorter ? memcmp(x.data, y.data, size_t(shorter)) : 0;
  return order ? order : int(x.size > y.size) - int(x.size < y.size);
}

template <bool, class Yes, class>
struct Choose {
  using type = Yes;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
  using type = No;
};

// Whether orderBits has a form for the type.
template <class T>
struct IsNumber {
  static constexpr bool value = true;
};
template <class T>
struct IsNumber<complex<T>> {
  static constexpr bool value = false;
};
template <>
struct IsNumber<onnxc_string> {
  static constexpr bool value = false;
};

// Bits of an element that compare as unsigned numbers as `compare` has it.
template <class T>
ONNXC_INLINE uint64_t orderBits(T v) {
  if constexpr (IsFloat<T>::value) {
    using Wide = typename Choose<sizeof(T) == 8, double, float>::type;
    using Bits = typename Choose<sizeof(T) == 8, uint64_t, uint32_t>::type;
    Wide w = Wide(toF64(v));
    constexpr int last = sizeof(Bits) * 8 - 1;
    Bits bits = bitcast<Bits>(w == 0 ? Wide(0) : w), negative = Bits(0) - (bits >> last), none = Bits(0) - Bits(w != w);
    return Bits((bits ^ (negative | Bits(1) << last)) | none);  // without a branch: signs are as they come
  } else {
    using Bits = typename Choose<sizeof(T) == 8, uint64_t, uint32_t>::type;
    return T(-1) < T(0) ? Bits(v) ^ (Bits(1) << (sizeof(Bits) * 8 - 1)) : Bits(v);
  }
}

struct Keyed {
  uint64_t key;
  int64_t index;
};

// Sorts by key, equal ones staying in order; returns `items` or `other` (room for n), where the result is. Byte by byte, but those that all
// keys share.
inline Keyed *sortKeyed(Keyed *items, Keyed *other, int64_t n) {
  if (n <= 48) {
    for (int64_t i = 1; i < n; ++i) {
      Keyed v = items[i];
      int64_t j = i;
      for (; j > 0 && items[j - 1].key > v.key; --j)
        items[j] = items[j - 1];
      items[j] = v;
    }
    return items;
  }
  uint64_t differ = 0;
  for (int64_t i = 1; i < n; ++i)
    differ |= items[i].key ^ items[0].key;
  for (int b = 0; b < 8; ++b) {
    if (!(differ >> (8 * b) & 255))
      continue;
    int64_t count[256] = {}, at = 0;
    for (int64_t i = 0; i < n; ++i)
      ++count[items[i].key >> (8 * b) & 255];
    for (int d = 0; d < 256; ++d) {
      int64_t have = count[d];
      count[d] = at;
      at += have;
    }
    for (int64_t i = 0; i < n; ++i)
      other[count[items[i].key >> (8 * b) & 255]++] = items[i];
    Keyed *swap = items;
    items = other;
    other = swap;
  }
  return items;
}

// Moves the items of about the `want` least keys, more rather than fewer, before the others, both in their order; returns how many, the
// items then being in `other`, or 0, where nothing moved.
inline int64_t selectKeyed(const Keyed *items, Keyed *other, int64_t n, int64_t want) {
  constexpr int64_t kSamples = 48;
  if (n < 16 * kSamples || want > n / 8)
    return 0;
  Keyed sample[kSamples];
  for (int64_t i = 0; i < kSamples; ++i)
    sample[i] = items[i * (n / kSamples)];
  uint64_t most = sortKeyed(sample, nullptr, kSamples)[want * kSamples / n + 2].key;
  int64_t head = 0, at = 0;
  for (int64_t i = 0; i < n; ++i)
    head += items[i].key <= most;
  for (int64_t i = 0, tail = head; i < n; ++i) {
    bool first = items[i].key <= most;
    other[first ? at : tail] = items[i];
    at += first, tail += !first;
  }
  return head;
}

// Bottom-up merge sort of `index`; `other` has room for n. less(i, j): i goes before j.
template <class Less>
static void stableSort(int64_t *index, int64_t *other, int64_t n, const Less &less) {
  int64_t *from = index, *to = other;
  for (int64_t width = 1; width < n; width *= 2) {
    for (int64_t low = 0; low < n; low += 2 * width) {
      int64_t middle = minOf(low + width, n), high = minOf(low + 2 * width, n), i = low, j = middle;
      for (int64_t k = low; k < high; ++k)
        to[k] = i < middle && (j >= high || !less(from[j], from[i])) ? from[i++] : from[j++];
    }
    int64_t *swap = from;
    from = to;
    to = swap;
  }
  if (from != index)
    memcpy(index, from, size_t(n) * sizeof(int64_t));
}

}  // namespace onnxc
