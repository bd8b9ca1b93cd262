// Sequence.cpp: sequences and optionals. An operand that is an object has dtype 0; items are shared, tensors that enter an object are
// copied.
#include "runtime_stub/kernels/Special.h"

namespace onnxc {
namespace {

int32_t construct(const Args *a) {
  Tensor *items = heap<Tensor>(a, a->n_in);
  if (!items)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < a->n_in; ++i)
    if (!copyItem(a, items[i], a->in[i]))
      return ONNXC_K_MEMORY;
  return giveObject(a, 0, a->n_in, items);
}

// An item that the caller gave may be an object where the model wants a tensor.
int32_t sizesOf(const Tensor &item, Tensor &result) {
  if (item.dtype != result.dtype)
    return ONNXC_K_VALUE;
  if (item.dtype == 0 || item.rank != result.rank)
    return item.dtype == 0 ? ONNXC_K_OK : ONNXC_K_SHAPE;
  for (int32_t d = 0; d < item.rank; ++d)
    result.dims[d] = item.dims[d];
  return ONNXC_K_OK;
}

// Result 0 becomes the item: a copy of a tensor, the handle of an object.
int32_t yield(const Args *a, const Tensor &item) {
  if (item.dtype != a->out[0].dtype)
    return ONNXC_K_VALUE;
  if (item.dtype == 0) {
    const onnxc_object *o = static_cast<const onnxc_object *>(item.data);
    return giveObject(a, 0, o->count, o->items);
  }
  int64_t bytes = onnxc_count(item) * elementBytes(item.dtype);
  if (bytes)
    memmove(a->out[0].data, item.data, size_t(bytes));
  return ONNXC_K_OK;
}

int32_t itemAt(const Args *a, const Tensor *&item) {
  const onnxc_object *s = object(a, 0);
  int64_t position = loadI64(a->in[1], 0);
  if (position < 0)
    position += s->count;
  if (position < 0 || position >= s->count)
    return ONNXC_K_INDEX;
  item = s->items + position;
  return ONNXC_K_OK;
}

int32_t at(const Args *a, bool size) {
  const Tensor *item = nullptr;
  ONNXC_TRY(itemAt(a, item));
  return size ? sizesOf(*item, a->out[0]) : yield(a, *item);
}

int32_t insert(const Args *a) {
  const onnxc_object *s = object(a, 0);
  int64_t position = hasIn(a, 2) ? loadI64(a->in[2], 0) : s->count;
  if (position < 0)
    position += s->count;
  if (position < 0 || position > s->count)
    return ONNXC_K_INDEX;
  Tensor *items = heap<Tensor>(a, s->count + 1);
  if (!items || !copyItem(a, items[position], a->in[1]))
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < s->count; ++i)
    items[i + (i >= position)] = s->items[i];
  return giveObject(a, 0, s->count + 1, items);
}

int32_t erase(const Args *a) {
  const onnxc_object *s = object(a, 0);
  int64_t position = hasIn(a, 1) ? loadI64(a->in[1], 0) : s->count - 1;
  if (position < 0)
    position += s->count;
  if (position < 0 || position >= s->count)
    return ONNXC_K_INDEX;
  Tensor *items = heap<Tensor>(a, s->count - 1);
  if (!items)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0, n = 0; i < s->count; ++i)
    if (i != position)
      items[n++] = s->items[i];
  return giveObject(a, 0, s->count - 1, items);
}

// One part of in[0]: `size` indices of `axis` from `start`. Without keepdims the axis disappears.
bool slicePart(const Args *a, Tensor &part, int64_t axis, int64_t start, int64_t size, bool keepdims) {
  const Tensor &x = a->in[0];
  int64_t *dims = heap<int64_t>(a, x.rank);
  if (!dims)
    return false;
  int32_t rank = 0;
  for (int32_t d = 0; d < x.rank; ++d)
    if (d != axis || keepdims)
      dims[rank++] = d == axis ? size : x.dims[d];
  if (!makeItem(a, part, x.dtype, rank, dims))
    return false;
  int64_t outer = product(x.dims, 0, axis), inner = product(x.dims, axis + 1, x.rank) * elementBytes(x.dtype);
  const char *from = static_cast<const char *>(x.data) + start * inner;
  char *to = static_cast<char *>(part.data);
  for (int64_t i = 0; i < outer && size * inner; ++i)
    memcpy(to + i * size * inner, from + i * x.dims[axis] * inner, size_t(size * inner));
  return true;
}

int32_t splitToSequence(const Args *a) {
  const Tensor &x = a->in[0];
  int64_t axis = axisOf(a->attr[0].i, x.rank);
  if (axis < 0 || axis >= x.rank)
    return ONNXC_K_VALUE;
  bool listed = hasIn(a, 1), uneven = listed && a->in[1].rank == 1, keepdims = listed || a->attr[1].i != 0;
  int64_t total = x.dims[axis], chunk = listed && !uneven ? loadI64(a->in[1], 0) : 1;
  if (chunk <= 0)
    return ONNXC_K_VALUE;
  int64_t parts = uneven ? a->in[1].dims[0] : ceilDiv(total, chunk), start = 0;
  Tensor *items = heap<Tensor>(a, parts);
  if (!items)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < parts; ++i) {
    int64_t size = uneven ? loadI64(a->in[1], i) : chunk < total - start ? chunk : total - start;
    if (size < 0 || size > total - start)
      return ONNXC_K_SHAPE;
    if (!slicePart(a, items[i], axis, start, size, keepdims))
      return ONNXC_K_MEMORY;
    start += size;
  }
  return start == total ? giveObject(a, 0, parts, items) : int32_t(ONNXC_K_SHAPE);
}

int32_t concatSizes(const Args *a) {
  const onnxc_object *s = object(a, 0);
  bool stack = a->attr[1].i != 0;
  Tensor &y = a->out[0];
  int64_t axis = axisOf(a->attr[0].i, y.rank);
  if (s->count == 0 || axis < 0 || axis >= y.rank)
    return ONNXC_K_VALUE;
  for (int64_t i = 0; i < s->count; ++i) {
    const Tensor &t = s->items[i];
    if (t.rank + (stack ? 1 : 0) != y.rank || t.dtype != y.dtype)
      return ONNXC_K_SHAPE;
    for (int32_t d = 0, own = 0; d < y.rank; ++d) {
      if (d == axis) {
        y.dims[d] = (i ? y.dims[d] : 0) + (stack ? 1 : t.dims[own]);
        own += !stack;
        continue;
      }
      if (i && y.dims[d] != t.dims[own])
        return ONNXC_K_SHAPE;
      y.dims[d] = t.dims[own++];
    }
  }
  return ONNXC_K_OK;
}

int32_t concat(const Args *a) {
  const onnxc_object *s = object(a, 0);
  Tensor &y = a->out[0];
  int64_t axis = axisOf(a->attr[0].i, y.rank), bytes = elementBytes(y.dtype);
  int64_t outer = product(y.dims, 0, axis), row = product(y.dims, axis, y.rank) * bytes, inner = product(y.dims, axis + 1, y.rank) * bytes;
  char *to = static_cast<char *>(y.data);
  for (int64_t i = 0; i < s->count; ++i) {
    int64_t part = (a->attr[1].i ? 1 : s->items[i].dims[axis]) * inner;
    for (int64_t o = 0; o < outer && part; ++o)
      memcpy(to + o * row, static_cast<const char *>(s->items[i].data) + o * part, size_t(part));
    to += part;
  }
  return ONNXC_K_OK;
}

int32_t makeOptional(const Args *a) {
  if (!hasIn(a, 0))
    return giveObject(a, 0, 0, nullptr);
  return construct(a);
}

// The operand may be the element itself. An object is taken for an optional when it holds what the result is: a tensor, or one object.
int32_t element(const Args *a, bool size) {
  const Tensor *item = &a->in[0];
  if (item->dtype == 0) {
    const onnxc_object *o = object(a, 0);
    bool wantsObject = a->out[0].dtype == 0;
    if (!wantsObject && o->count != 1)
      return ONNXC_K_VALUE;
    if (!wantsObject || (o->count == 1 && o->items[0].dtype == 0))
      item = o->items;
  }
  return size ? sizesOf(*item, a->out[0]) : yield(a, *item);
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_SequenceEmpty(const onnxc_args *a) { return giveObject(a, 0, 0, nullptr); }
extern "C" int32_t onnxc_k_SequenceConstruct(const onnxc_args *a) { return construct(a); }
extern "C" int32_t onnxc_s_SequenceAt(const onnxc_args *a) { return at(a, true); }
extern "C" int32_t onnxc_k_SequenceAt(const onnxc_args *a) { return at(a, false); }
extern "C" int32_t onnxc_k_SequenceInsert(const onnxc_args *a) { return insert(a); }
extern "C" int32_t onnxc_k_SequenceErase(const onnxc_args *a) { return erase(a); }
extern "C" int32_t onnxc_k_SequenceLength(const onnxc_args *a) {
  *out<int64_t>(a, 0) = object(a, 0)->count;
  return ONNXC_K_OK;
}
extern "C" int32_t onnxc_k_SplitToSequence(const onnxc_args *a) { return splitToSequence(a); }
extern "C" int32_t onnxc_s_ConcatFromSequence(const onnxc_args *a) { return concatSizes(a); }
extern "C" int32_t onnxc_k_ConcatFromSequence(const onnxc_args *a) { return concat(a); }
extern "C" int32_t onnxc_k_Optional(const onnxc_args *a) { return makeOptional(a); }
extern "C" int32_t onnxc_s_OptionalGetElement(const onnxc_args *a) { return element(a, true); }
extern "C" int32_t onnxc_k_OptionalGetElement(const onnxc_args *a) { return element(a, false); }
extern "C" int32_t onnxc_k_OptionalHasElement(const onnxc_args *a) {
  *out<uint8_t>(a, 0) = hasIn(a, 0) && (a->in[0].dtype != 0 || object(a, 0)->count > 0);
  return ONNXC_K_OK;
}
