/* values.h: what inputs.c, outputs.c and run.c ask of the values that a caller gives. */
#ifndef ONNXC_VALUES_H
#define ONNXC_VALUES_H
#include "runtime_stub/elements.h"
#include "runtime_stub/internal.h"

/* The elements of a tensor of these sizes; -1: a size is negative, or there are more than 64 bits count. */
static inline int64_t count_of(const int64_t *dims, int32_t rank) {
  int64_t n = 1;
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] < 0 || __builtin_mul_overflow(n, dims[i], &n))
      return -1;
  return n;
}

/* Where the elements begin; an offset of no memory is no pointer arithmetic. */
static inline char *start_of(const onnxc_dltensor *t) { return (char *)((uintptr_t)t->data + t->byte_offset); }

/* Whether the elements lie in row-major order without gaps. Of a shape whose count is known to fit 64 bits: then so does each product of
 * its last dims, unless one is 0. */
static inline bool is_packed(const onnxc_dltensor *t) {
  if (!t->strides || count_of(t->shape, t->ndim) == 0)
    return true;
  int64_t expect = 1;
  for (int32_t i = t->ndim - 1; i >= 0; --i) {
    if (t->shape[i] != 1 && t->strides[i] != expect)
      return false;
    expect *= t->shape[i];
  }
  return true;
}

/* Whether the elements are aligned as C aligns them, to 8 bytes at most. */
static inline bool is_aligned(const onnxc_dltensor *t, int32_t dtype) {
  const int64_t size = element_of(dtype)->size;
  return ((uintptr_t)start_of(t) & (uintptr_t)((size > 8 ? 8 : size) - 1)) == 0;
}

/* Whether a tensor is DLPack's CPU memory; a device type of 0 is one that nobody has set. */
static inline bool is_in_host_memory(const onnxc_dltensor *t) { return t->device.type == 0 || t->device.type == 1; }

/* Whether `p` points into this memory. */
static inline bool holds(const void *memory, int64_t bytes, const void *p) {
  return memory && (uintptr_t)p - (uintptr_t)memory < (uintptr_t)bytes;
}

/* Whether a caller leaves out input `index`, which has a default. */
static inline bool is_default(int32_t index, const onnxc_value *v) {
  return v->kind == ONNXC_TENSOR && !v->tensor.data && onnxc_the_plan.defaults && onnxc_the_plan.defaults[index] >= 0;
}

/* Of an output: the input of any rank whose shape it has, or -1. */
static inline int64_t like(int32_t output) { return onnxc_the_plan.like ? onnxc_the_plan.like[onnxc_the_plan.num_inputs + output] : -1; }
#endif
