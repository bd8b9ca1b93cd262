// Index.h: shapes, strides and index arithmetic shared by library kernels. Above Types.h.
#pragma once
#include "runtime_stub/kernels/Hash.h"
#include "runtime_stub/kernels/Types.h"

namespace onnxc {

constexpr int32_t kMaxRank = ONNXC_MAX_RANK;
constexpr int64_t kSizeLimit = int64_t(1) << 31;  // sizes that attributes give and that are multiplied by each other stay below it

// Leaves the function: with CODE where COND does not hold; with the code of EXPR where that is not 0.
#define ONNXC_CHECK(COND, CODE)                                                                                                            \
  do {                                                                                                                                     \
    if (!(COND))                                                                                                                           \
      return CODE;                                                                                                                         \
  } while (false)
#define ONNXC_TRY(EXPR)                                                                                                                    \
  do {                                                                                                                                     \
    if (int32_t onnxcCode = (EXPR))                                                                                                        \
      return onnxcCode;                                                                                                                    \
  } while (false)

template <class T>
ONNXC_INLINE const T *data(const onnxc_tensor &t) {
  return static_cast<const T *>(t.data);
}
template <class T>
ONNXC_INLINE T *mutableData(const onnxc_tensor &t) {
  return static_cast<T *>(t.data);
}

// Gives a result the elements of `from`, in whose place it may lie: rows with the flag I in Library.def.
ONNXC_INLINE void copyData(const onnxc_tensor &to, const onnxc_tensor &from, size_t elementBytes) {
  if (to.data != from.data)
    memcpy(to.data, from.data, size_t(onnxc_count(from)) * elementBytes);
}

// Moves `Step` bytes at a time, of which there are at least as many; the last ones overlap those before.
template <int Step>
ONNXC_INLINE void copyInSteps(char *to, const char *from, int64_t bytes) {
  for (int64_t i = 0; i + Step < bytes; i += Step)
    __builtin_memcpy_inline(to + i, from + i, Step);
  __builtin_memcpy_inline(to + bytes - Step, from + bytes - Step, Step);
}
// memcpy of one of many blocks: a call takes longer than to move up to 2 KiB.
ONNXC_INLINE void copyBlock(void *to, const void *from, int64_t bytes) {
  char *t = static_cast<char *>(to);
  const char *f = static_cast<const char *>(from);
  if (bytes > 2048 || bytes < 4)
    memcpy(to, from, size_t(bytes));
  else if (bytes >= 64)
    copyInSteps<64>(t, f, bytes);
  else if (bytes >= 16)
    copyInSteps<16>(t, f, bytes);
  else
    copyInSteps<4>(t, f, bytes);
}
ONNXC_INLINE bool hasIn(const onnxc_args *a, int64_t i) { return i < a->n_in && onnxc_present(a->in[i]); }
ONNXC_INLINE bool hasOut(const onnxc_args *a, int64_t i) { return i < a->n_out && onnxc_present(a->out[i]); }
ONNXC_INLINE bool given(const onnxc_attr &a) { return a.n >= 0; }
ONNXC_INLINE bool startsWith(const onnxc_attr &a, char c) { return a.n > 0 && *static_cast<const char *>(a.p) == c; }

template <class T>
ONNXC_INLINE T minOf(T a, T b) {
  return a < b ? a : b;
}
template <class T>
ONNXC_INLINE T maxOf(T a, T b) {
  return a > b ? a : b;
}

// a / b rounded up, of any a >= 0 and b > 0.
ONNXC_INLINE int64_t ceilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

// Product of dims [from, to).
ONNXC_INLINE int64_t product(const int64_t *dims, int64_t from, int64_t to) {
  int64_t n = 1;
  for (int64_t i = from; i < to; ++i)
    n *= dims[i];
  return n;
}

ONNXC_INLINE bool sameDims(const onnxc_tensor &a, const onnxc_tensor &b) {
  if (a.rank != b.rank)
    return false;
  for (int32_t i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i])
      return false;
  return true;
}

// Makes a negative axis positive; false when out of range.
ONNXC_INLINE bool fixAxis(int64_t &axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  return axis >= 0 && axis < rank;
}

// Counts a negative index of an axis from its end. ONNXC_K_INDEX, of which the user is told, where it is out of range.
ONNXC_INLINE int32_t fixIndex(const onnxc_args *a, int64_t &index, int64_t dim) {
  int64_t at = index < 0 ? index + dim : index;
  if (at < 0 || at >= dim)
    return onnxc_rt_blame(a->rt, ONNXC_K_INDEX, index, dim);
  index = at;
  return 0;
}

ONNXC_INLINE void contiguous(const int64_t *dims, int64_t rank, int64_t *strides) {
  int64_t n = 1;
  for (int64_t i = rank; i-- > 0;) {
    strides[i] = n;
    n *= dims[i];
  }
}

// Strides of `t` as an operand broadcast to `rank` dims `to`; false when it does not broadcast.
ONNXC_INLINE bool broadcastStrides(const onnxc_tensor &t, const int64_t *to, int64_t rank, int64_t *strides) {
  int64_t n = 1;
  if (t.rank > rank)
    return false;
  for (int64_t i = rank; i-- > 0;) {
    int64_t k = i - (rank - t.rank);
    int64_t dim = k < 0 ? 1 : t.dims[k];
    if (dim != 1 && dim != to[i])
      return false;
    strides[i] = dim == 1 ? 0 : n;
    n *= dim;
  }
  return true;
}

// Steps through all indices of dims[0..rank) in row-major order, keeping `Lanes` strided offsets. `for (Odometer<2> o(...); o.more();
// o.next())`
template <int Lanes>
struct Odometer {
  const int64_t *dims;
  int64_t rank, left;
  const int64_t *strides[Lanes];
  int64_t offset[Lanes], index[kMaxRank];

  void init(const int64_t *d, int64_t r) {
    dims = d;
    rank = r;
    left = product(d, 0, r);
    for (int64_t i = 0; i < r; ++i)
      index[i] = 0;
    for (int l = 0; l < Lanes; ++l)
      offset[l] = 0;
  }
  bool more() const { return left > 0; }
  void seek(int64_t at) {  // of the indices in order, once strides are set
    left -= at;
    for (int64_t i = rank; at > 0 && i-- > 0; at /= dims[i]) {
      index[i] = at % dims[i];
      for (int l = 0; l < Lanes; ++l)
        offset[l] += strides[l][i] * index[i];
    }
  }
  void next() {
    --left;
    for (int64_t i = rank; i-- > 0;) {
      for (int l = 0; l < Lanes; ++l)
        offset[l] += strides[l][i];
      if (++index[i] < dims[i])
        return;
      for (int l = 0; l < Lanes; ++l)
        offset[l] -= strides[l][i] * dims[i];
      index[i] = 0;
    }
  }
};

// Splits dims at `axis` into outer, dim and inner extents.
struct Axis3 {
  int64_t outer, dim, inner;
};
ONNXC_INLINE Axis3 splitAt(const onnxc_tensor &t, int64_t axis) {
  return {product(t.dims, 0, axis), t.dims[axis], product(t.dims, axis + 1, t.rank)};
}

// `v` as a float of `dtype` would hold it; f64 and i32 hold it exactly, other types count as f32.
ONNXC_INLINE double roundTo(int32_t dtype, double v) {
  switch (dtype) {
  case ONNXC_F16:
    return toF64(fromF64<f16>(v));
  case ONNXC_BF16:
    return toF64(fromF64<bf16>(v));
  case ONNXC_F64:
  case ONNXC_I32:
    return v;
  default:
    return float(v);
  }
}

// An array of the run, zeroed; null, ONNXC_K_MEMORY at the caller, when out of memory. At least one element is reserved so that null always
// means failure.
template <class T>
ONNXC_INLINE T *heap(const onnxc_args *a, int64_t n) {
  if (n < 0 || n > INT64_MAX / int64_t(sizeof(T)) - 1)
    return nullptr;
  return static_cast<T *>(onnxc_rt_heap(a->rt, (n ? n : 1) * int64_t(sizeof(T))));
}

// A key for onnxc_rt_keep: the launch's operands, and `salt`, which tells kernels and attributes apart.
ONNXC_INLINE uint64_t keyOf(const onnxc_args *a, uint64_t salt) {
  uint64_t h = mix(salt + 1);
  for (int64_t i = 0; i < a->n_in; ++i)
    h = mix(h ^ uint64_t(reinterpret_cast<uintptr_t>(a->in[i].data)));
  return h;
}

ONNXC_INLINE void copyDims(onnxc_tensor &to, const onnxc_tensor &from) {
  for (int32_t i = 0; i < from.rank; ++i)
    to.dims[i] = from.dims[i];
}

}  // namespace onnxc
