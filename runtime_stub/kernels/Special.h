// Special.h: what the kernels outside plain tensor algebra share: attributes, strings, objects, dispatch. Above Index.h.
#pragma once
#include "runtime_stub/kernels/Hash.h"
#include "runtime_stub/kernels/Index.h"

namespace onnxc {

using Str = onnxc_string;
using Tensor = onnxc_tensor;
using Args = onnxc_args;
using Attr = onnxc_attr;

template <class T>
ONNXC_INLINE const T *in(const Args *a, int64_t i) {
  return data<T>(a->in[i]);
}
template <class T>
ONNXC_INLINE T *out(const Args *a, int64_t i) {
  return mutableData<T>(a->out[i]);
}

// Absent, or of the rank.
ONNXC_INLINE bool rankIs(const Args *a, int64_t i, int32_t rank) { return !hasIn(a, i) || a->in[i].rank == rank; }

ONNXC_INLINE const int64_t *ints(const Attr &t) { return static_cast<const int64_t *>(t.p); }
ONNXC_INLINE const float *floats(const Attr &t) { return static_cast<const float *>(t.p); }
ONNXC_INLINE const Str *strings(const Attr &t) { return static_cast<const Str *>(t.p); }
ONNXC_INLINE Str text(const Attr &t) { return {static_cast<const char *>(t.p), t.n < 0 ? 0 : t.n}; }

ONNXC_INLINE int64_t lengthOf(const char *s) {
  int64_t n = 0;
  while (s[n])
    ++n;
  return n;
}
ONNXC_INLINE bool equal(Str x, Str y) { return x.size == y.size && (x.size == 0 || memcmp(x.data, y.data, size_t(x.size)) == 0); }
ONNXC_INLINE bool is(Str x, const char *word) { return equal(x, {word, lengthOf(word)}); }
ONNXC_INLINE bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
ONNXC_INLINE char lowerAscii(char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; }
ONNXC_INLINE bool isNoCase(Str x, const char *lowerWord) {
  if (x.size != lengthOf(lowerWord))
    return false;
  for (int64_t i = 0; i < x.size; ++i)
    if (lowerAscii(x.data[i]) != lowerWord[i])
      return false;
  return true;
}
inline uint64_t hash(Str s) { return hashBytes(s.data, s.size); }

// Gives result i an object. The plan passes either room for the object itself or takes the handle from `data`.
inline int32_t giveObject(const Args *a, int64_t i, int64_t count, Tensor *items) {
  onnxc_object *object = static_cast<onnxc_object *>(a->out[i].data);
  if (!object)
    object = heap<onnxc_object>(a, 1);
  if (!object)
    return ONNXC_K_MEMORY;
  object->count = count;
  object->items = items;
  a->out[i].data = object;
  return ONNXC_K_OK;
}
ONNXC_INLINE const onnxc_object *object(const Args *a, int64_t i) { return static_cast<const onnxc_object *>(a->in[i].data); }

// Allocates the data and dims of an item of an object.
inline bool makeItem(const Args *a, Tensor &item, int32_t dtype, int32_t rank, const int64_t *dims) {
  item = {nullptr, heap<int64_t>(a, rank), rank, dtype};
  if (!item.dims)
    return false;
  int64_t bytes = elementBytes(dtype);
  for (int32_t d = 0; d < rank; ++d) {
    item.dims[d] = dims[d];
    if (dims[d] < 0 || __builtin_mul_overflow(bytes, dims[d], &bytes))
      return false;
  }
  item.data = heap<char>(a, bytes);
  return item.data != nullptr;
}
// dtype 0 marks an item that is itself an object: its items are immutable and shared, the object may lie in a buffer that is used again.
inline bool copyItem(const Args *a, Tensor &item, const Tensor &from) {
  if (from.dtype == 0) {
    onnxc_object *copy = heap<onnxc_object>(a, 1);
    if (!copy)
      return false;
    *copy = *static_cast<const onnxc_object *>(from.data);
    item = {copy, nullptr, 0, 0};
    return true;
  }
  if (!makeItem(a, item, from.dtype, from.rank, from.dims))
    return false;
  int64_t bytes = onnxc_count(from) * elementBytes(from.dtype);
  if (bytes)
    memcpy(item.data, from.data, size_t(bytes));
  return true;
}

// Calls f(T()) with the element type of a dtype.
template <class F>
ONNXC_INLINE int32_t withFloat(int32_t dtype, F f) {
  switch (dtype) {
  case ONNXC_F32:
    return f(float());
  case ONNXC_F64:
    return f(double());
  case ONNXC_F16:
    return f(f16());
  case ONNXC_BF16:
    return f(bf16());
  }
  return ONNXC_K_VALUE;
}
template <class F>
ONNXC_INLINE int32_t withNumeric(int32_t dtype, F f) {
  switch (dtype) {
#define X(CODE, T)                                                                                                                         \
  case CODE:                                                                                                                               \
    return f(T());
    ONNXC_DTYPE_CASES(X)
#undef X
  }
  return ONNXC_K_VALUE;
}

// Sum of products in eight lanes: a fixed order that vectorises.
template <class T, class U>
ONNXC_INLINE double dot(const T *x, const U *y, int64_t n) {
  double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum = 0;
  int64_t k = 0;
  for (; k + 8 <= n; k += 8)
    for (int j = 0; j < 8; ++j)
      lane[j] += toF64(x[k + j]) * toF64(y[k + j]);
  for (; k < n; ++k)
    sum += toF64(x[k]) * toF64(y[k]);
  return sum + ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}

// Row-major walk over `shape` that keeps the offsets of N operands broadcast against it.
template <int N>
struct Broadcast {
  static constexpr int32_t maxRank = 64;
  int32_t rank;
  int64_t index[maxRank], stride[N][maxRank], offset[N];
  const int64_t *dims;
  bool start(const Tensor &shape, const Tensor *const (&operands)[N]) {
    rank = shape.rank;
    dims = shape.dims;
    if (rank > maxRank)
      return false;
    for (int32_t d = 0; d < rank; ++d)
      index[d] = 0;
    for (int k = 0; k < N; ++k) {
      offset[k] = 0;
      const Tensor &t = *operands[k];
      if (t.rank > rank)
        return false;
      int64_t step = 1;
      for (int32_t d = rank - 1; d >= 0; --d) {
        int32_t own = d - (rank - t.rank);
        int64_t size = own < 0 ? 1 : t.dims[own];
        if (size != 1 && size != dims[d])
          return false;
        stride[k][d] = size == 1 ? 0 : step;
        step *= size;
      }
    }
    return true;
  }
  void next() {
    for (int32_t d = rank - 1; d >= 0; --d) {
      for (int k = 0; k < N; ++k)
        offset[k] += stride[k][d];
      if (++index[d] < dims[d])
        return;
      for (int k = 0; k < N; ++k)
        offset[k] -= stride[k][d] * dims[d];
      index[d] = 0;
    }
  }
};

ONNXC_INLINE int64_t axisOf(int64_t axis, int32_t rank) { return axis < 0 ? axis + rank : axis; }
}  // namespace onnxc
