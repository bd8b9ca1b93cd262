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
