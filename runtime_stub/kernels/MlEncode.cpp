// MlEncode.cpp: mappings of ai.onnx.ml between labels, categories, features and maps. Keys go through one hash table, Lookup.
#include "runtime_stub/kernels/MlScore.h"
extern "C" int32_t onnxc_k_CastString(const onnxc_args *a);  // StringCast.cpp

namespace onnxc {
namespace {

// A list of keys or values: an attribute of integers, floats or strings, or a tensor of any type.
struct List {
  Tensor t{nullptr, nullptr, 0, 0};
  int64_t n = -1;
  static List of(const Attr &values, int32_t dtype) {
    List l;
    l.t = {const_cast<void *>(values.p), nullptr, 0, dtype};
    l.n = values.n;
    return l;
  }
  static List tensor(const Attr &values) {
    List l;
    if (values.n < 0)
      return l;
    l.t = *static_cast<const Tensor *>(values.p);
    l.n = onnxc_count(l.t);
    return l;
  }
  bool isString() const { return t.dtype == ONNXC_STR; }
  bool isReal() const { return t.dtype == ONNXC_F32 || t.dtype == ONNXC_F64 || t.dtype == ONNXC_F16 || t.dtype == ONNXC_BF16; }
  Str word(int64_t i) const { return static_cast<const Str *>(t.data)[i]; }
};

uint64_t realBits(double v) { return v != v ? 0x7ff8000000000000u : v == 0 ? 0 : bitcast<uint64_t>(v); }

// Finds positions of keys; the first of equal keys counts. A NaN equals a NaN. Integers close together are indices of a table, a few
// lookups are not worth one.
struct Lookup {
  static constexpr int64_t few = 8;
  List keys;
  int64_t *slot = nullptr, mask = 0;
  int64_t *table = nullptr, least = 0, span = 0;  // table[key - least]: position + 1
  bool scans = false;

  bool close() {
    if (keys.t.dtype != ONNXC_I64 || keys.n < 1)
      return false;
    const int64_t *k = static_cast<const int64_t *>(keys.t.data);
    int64_t most = least = k[0];
    for (int64_t i = 1; i < keys.n; ++i)
      least = minOf(least, k[i]), most = maxOf(most, k[i]);
    uint64_t range = uint64_t(most) - uint64_t(least);
    span = range < uint64_t(4 * keys.n + 1024) ? int64_t(range) + 1 : 0;
    return span > 0;
  }
  bool build(const Args *a, const List &list, int64_t lookups) {
    keys = list;
    scans = lookups <= few;
    if (scans)
      return true;
    if (close()) {
      if (!(table = heap<int64_t>(a, span)))
        return false;
      for (int64_t i = keys.n; i-- > 0;)
        table[static_cast<const int64_t *>(keys.t.data)[i] - least] = i + 1;
      return true;
    }
    for (mask = 1; mask < 2 * keys.n + 2;)
      mask *= 2;
    if (!(slot = heap<int64_t>(a, mask--)))
      return false;
    for (int64_t i = 0; i < keys.n; ++i) {
      int64_t s = place(keys, i);
      if (!slot[s])
        slot[s] = i + 1;
    }
    return true;
  }
  uint64_t bits(const List &l, int64_t i) const {
    return keys.isReal() || l.isReal() ? realBits(loadF64(l.t, i)) : uint64_t(loadI64(l.t, i));
  }
  int64_t place(const List &l, int64_t i) const {
    uint64_t b = l.isString() ? hash(l.word(i)) : bits(l, i);
    int64_t s = int64_t(l.isString() ? b : mix(b)) & mask;
    for (; slot[s]; s = (s + 1) & mask)
      if (l.isString() ? equal(keys.word(slot[s] - 1), l.word(i)) : bits(keys, slot[s] - 1) == b)
        return s;
    return s;
  }
  int64_t scan(const List &l, int64_t i) const {
    uint64_t wanted = l.isString() ? 0 : bits(l, i);
    for (int64_t k = 0; k < keys.n; ++k)
      if (l.isString() ? equal(keys.word(k), l.word(i)) : bits(keys, k) == wanted)
        return k;
    return -1;
  }
  int64_t findInteger(int64_t v) const {
    uint64_t at = uint64_t(v) - uint64_t(least);
    return at < uint64_t(span) ? table[at] - 1 : -1;
  }
  int64_t find(const List &l, int64_t i) const {
    if (scans)
      return scan(l, i);
    if (!table)
      return slot[place(l, i)] - 1;
    return l.isReal() ? -1 : findInteger(loadI64(l.t, i));
  }
};

List operand(const Tensor &t) {
  List l;
  l.t = t;
  l.n = onnxc_count(t);
  return l;
}

void copyValue(Tensor &to, int64_t i, const List &from, int64_t k) {
  if (to.dtype == ONNXC_STR)
    static_cast<Str *>(to.data)[i] = from.word(k);
  else if (to.dtype == ONNXC_I64 && !from.isReal())
    static_cast<int64_t *>(to.data)[i] = loadI64(from.t, k);
  else
    storeF64(to, i, loadF64(from.t, k));
}

template <class T>
int32_t encodeIntegers(const Args *a, const Lookup &lookup, const List &values, const List &fallback) {
  const T *from = static_cast<const T *>(values.t.data), other = *static_cast<const T *>(fallback.t.data);
  for (int64_t i = 0, n = onnxc_count(a->in[0]); i < n; ++i) {
    int64_t k = lookup.findInteger(in<int64_t>(a, 0)[i]);
    out<T>(a, 0)[i] = k < 0 ? other : from[k];
  }
  return ONNXC_K_OK;
}

// What of a LabelEncoder's four attributes, floats, integers, strings and a tensor, is given.
List labels(const Attr *t) {
  enum { Floats, Ints, Strings, Tensor };
  return given(t[Tensor])    ? List::tensor(t[Tensor])
         : given(t[Strings]) ? List::of(t[Strings], ONNXC_STR)
         : given(t[Ints])    ? List::of(t[Ints], ONNXC_I64)
                             : List::of(t[Floats], ONNXC_F32);
}

int32_t labelEncoder(const Args *a) {
  enum { DefaultFloat, DefaultInt, DefaultString, DefaultTensor, Keys, Values = Keys + 4 };
  const Attr *t = a->attr;
  List keys = labels(t + Keys), values = labels(t + Values);
  Tensor &y = a->out[0];
  List x = operand(a->in[0]);
  if (keys.n < 0 || values.n < keys.n || keys.isString() != x.isString() || values.isString() != (y.dtype == ONNXC_STR))
    return ONNXC_K_VALUE;
  float real = float(t[DefaultFloat].f);
  Str word = text(t[DefaultString]);
  List fallback = List::tensor(t[DefaultTensor]);
  if (fallback.n < 1)
    fallback.t = y.dtype == ONNXC_STR                           ? Tensor{&word, nullptr, 0, ONNXC_STR}
                 : y.dtype == ONNXC_F32 || y.dtype == ONNXC_F64 ? Tensor{&real, nullptr, 0, ONNXC_F32}
                                                                : Tensor{const_cast<int64_t *>(&t[DefaultInt].i), nullptr, 0, ONNXC_I64};
  if (fallback.isString() != values.isString())
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.build(a, keys, x.n))
    return ONNXC_K_MEMORY;
  if (lookup.table && x.t.dtype == ONNXC_I64 && values.t.dtype == y.dtype && fallback.t.dtype == y.dtype) {
    if (y.dtype == ONNXC_I64)
      return encodeIntegers<int64_t>(a, lookup, values, fallback);
    if (y.dtype == ONNXC_F32)
      return encodeIntegers<float>(a, lookup, values, fallback);
  }
  for (int64_t i = 0; i < x.n; ++i) {
    int64_t k = lookup.find(x, i);
    copyValue(y, i, k < 0 ? fallback : values, k < 0 ? 0 : k);
  }
  return ONNXC_K_OK;
}

int32_t categoryMapper(const Args *a) {
  enum { Ints, Strings, DefaultInt, DefaultString };
  List integers = List::of(a->attr[Ints], ONNXC_I64), words = List::of(a->attr[Strings], ONNXC_STR), x = operand(a->in[0]);
  if (integers.n < 0 || integers.n != words.n)
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.build(a, x.isString() ? words : integers, x.n))
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < x.n; ++i) {
    int64_t k = lookup.find(x, i);
    if (x.isString())
      out<int64_t>(a, 0)[i] = k < 0 ? a->attr[DefaultInt].i : loadI64(integers.t, k);
    else
      out<Str>(a, 0)[i] = k < 0 ? text(a->attr[DefaultString]) : words.word(k);
  }
  return ONNXC_K_OK;
}

int32_t oneHotEncoder(const Args *a) {
  enum { Ints, Strings, Zeros };
  List x = operand(a->in[0]), categories = x.isString() ? List::of(a->attr[Strings], ONNXC_STR) : List::of(a->attr[Ints], ONNXC_I64);
  if (categories.n < 0)
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.build(a, categories, x.n))
    return ONNXC_K_MEMORY;
  if (onnxc_count(a->out[0]) != x.n * categories.n)
    return ONNXC_K_SHAPE;
  for (int64_t i = 0; i < x.n; ++i) {
    int64_t whole = x.isString() ? 0 : x.isReal() ? truncToI64(loadF64(x.t, i)) : loadI64(x.t, i), k;
    List number;
    number.t = {&whole, nullptr, 0, ONNXC_I64};
    k = x.isString() ? lookup.find(x, i) : lookup.find(number, 0);
    if (k < 0 && !a->attr[Zeros].i)
      return ONNXC_K_VALUE;
    if (a->out[0].dtype == ONNXC_F32) {
      memset(out<float>(a, 0) + i * categories.n, 0, size_t(categories.n) * sizeof(float));
      if (k >= 0)
        out<float>(a, 0)[i * categories.n + k] = 1;
      continue;
    }
    for (int64_t c = 0; c < categories.n; ++c)
      storeF64(a->out[0], i * categories.n + c, c == k);
  }
  return ONNXC_K_OK;
}

int32_t dictVectorizer(const Args *a) {
  enum { Ints, Strings };
  const onnxc_object *map = object(a, 0);
  if (map->count != 2)
    return ONNXC_K_VALUE;
  List keys = operand(map->items[0]), values = operand(map->items[1]);
  List vocabulary = keys.isString() ? List::of(a->attr[Strings], ONNXC_STR) : List::of(a->attr[Ints], ONNXC_I64);
  Tensor &y = a->out[0];
  if (vocabulary.n < 0 || values.n < keys.n || values.isString() != (y.dtype == ONNXC_STR))
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.build(a, keys, vocabulary.n))
    return ONNXC_K_MEMORY;
  if (onnxc_count(y) != vocabulary.n)
    return ONNXC_K_SHAPE;
  for (int64_t i = 0; i < vocabulary.n; ++i) {
    int64_t k = lookup.find(vocabulary, i);
    if (k >= 0)
      copyValue(y, i, values, k);
    else if (y.dtype == ONNXC_STR)
      out<Str>(a, 0)[i] = {"", 0};
    else
      storeF64(y, i, 0);
  }
  return ONNXC_K_OK;
}

// DENSE lists the values by rising key; SPARSE puts each at its key, in max_map columns.
int32_t castMap(const Args *a, bool size) {
  enum { CastTo, Form, MaxMap };
  const onnxc_object *map = object(a, 0);
  if (map->count != 2)
    return ONNXC_K_VALUE;
  bool sparse = is(text(a->attr[Form]), "SPARSE");
  List keys = operand(map->items[0]), values = operand(map->items[1]);
  int64_t width = sparse ? a->attr[MaxMap].i : keys.n;
  Tensor &y = a->out[0];
  if (width < 0)
    return ONNXC_K_SIZE;
  if (size) {
    y.dims[0] = 1;
    y.dims[1] = width;
    return ONNXC_K_OK;
  }
  Tensor sorted;
  int64_t dims[] = {1, width};
  if (!makeItem(a, sorted, values.t.dtype, 2, dims))
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; values.isString() && i < width; ++i)
    static_cast<Str *>(sorted.data)[i] = values.isString() && y.dtype != ONNXC_STR ? Str{"0", 1} : Str{"", 0};
  for (int64_t i = 0; i < keys.n; ++i) {
    int64_t key = loadI64(keys.t, i), at = sparse ? key : 0;
    for (int64_t j = 0; !sparse && j < keys.n; ++j)
      at += loadI64(keys.t, j) < key;
    if (at < 0)
      return ONNXC_K_INDEX;
    if (at < width)
      copyValue(sorted, at, values, i);
  }
  if (values.isString() == (y.dtype == ONNXC_STR)) {
    for (int64_t i = 0; i < width; ++i)
      copyValue(y, i, operand(sorted), i);
    return ONNXC_K_OK;
  }
  Args inner = *a;
  inner.in = &sorted;
  return onnxc_k_CastString(&inner);
}

int32_t zipMap(const Args *a) {
  enum { Ints, Strings };
  bool words = a->attr[Strings].n > 0;
  List keys = words ? List::of(a->attr[Strings], ONNXC_STR) : List::of(a->attr[Ints], ONNXC_I64);
  int64_t rows = rowsOf(a->in[0]), columns = columnsOf(a->in[0]);
  if (keys.n != columns)
    return ONNXC_K_SHAPE;
  // All maps lie side by side, their values as rows of one matrix: the stub and callers that find `keys` in the artefact's JSON
  // (compiler/Describe.cpp) take them at once.
  const int64_t shape[2] = {rows, columns};
  Tensor *maps = heap<Tensor>(a, rows), *pairs = heap<Tensor>(a, 2 * rows), names, values;
  onnxc_object *objects = heap<onnxc_object>(a, rows);
  if (!maps || !pairs || !objects || !makeItem(a, names, keys.t.dtype, 1, &columns) || !makeItem(a, values, ONNXC_F32, 2, shape))
    return ONNXC_K_MEMORY;
  if (columns)
    memcpy(names.data, keys.t.data, size_t(columns * elementBytes(keys.t.dtype)));
  for (int64_t i = 0; i < rows * columns; ++i)
    storeF64(values, i, loadF64(a->in[0], i));
  for (int64_t r = 0; r < rows; ++r) {
    pairs[2 * r] = names;
    pairs[2 * r + 1] = {static_cast<float *>(values.data) + r * columns, values.dims + 1, 1, ONNXC_F32};
    objects[r] = {2, pairs + 2 * r};
    maps[r] = {objects + r, nullptr, 0, 0};
  }
  return giveObject(a, 0, rows, maps);
}

int32_t featureVectorizer(const Args *a) {
  const Attr &sizes = a->attr[0];
  if (sizes.n > 0 && sizes.n < a->n_in)
    return ONNXC_K_SHAPE;
  Tensor &y = a->out[0];
  int64_t rows = rowsOf(y), width = columnsOf(y), at = 0;
  for (int64_t k = 0; k < a->n_in; ++k) {
    const Tensor &x = a->in[k];
    int64_t columns = columnsOf(x), size = sizes.n > 0 ? ints(sizes)[k] : columns;
    if (rowsOf(x) != rows || size < 0 || at + size > width)
      return ONNXC_K_SHAPE;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < size; ++c)
        storeF64(y, r * width + at + c, c < columns ? loadF64(x, r * columns + c) : 0);
    at += size;
  }
  return at == width ? ONNXC_K_OK : ONNXC_K_SHAPE;
}

int32_t arrayFeatureExtractor(const Args *a) {
  const Tensor &x = a->in[0];
  int64_t columns = x.rank ? x.dims[x.rank - 1] : 1, rows = product(x.dims, 0, x.rank - 1), n = onnxc_count(a->in[1]),
          bytes = elementBytes(x.dtype);
  for (int64_t i = 0; i < n; ++i)
    if (loadI64(a->in[1], i) < 0 || loadI64(a->in[1], i) >= columns)
      return ONNXC_K_INDEX;
  int64_t *index = heap<int64_t>(a, n);
  if (!index)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < n; ++i)
    index[i] = loadI64(a->in[1], i);
  auto copy = [=](auto type) {
    using T = decltype(type);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i)
        out<T>(a, 0)[r * n + i] = in<T>(a, 0)[r * columns + index[i]];
    return int32_t(ONNXC_K_OK);
  };
  return bytes == 4 ? copy(int32_t()) : bytes == 8 ? copy(int64_t()) : copy(Str());
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_MlLabelEncoder(const onnxc_args *a) { return labelEncoder(a); }
extern "C" int32_t onnxc_k_MlCategoryMapper(const onnxc_args *a) { return categoryMapper(a); }
extern "C" int32_t onnxc_k_MlOneHotEncoder(const onnxc_args *a) { return oneHotEncoder(a); }
extern "C" int32_t onnxc_k_MlDictVectorizer(const onnxc_args *a) { return dictVectorizer(a); }
extern "C" int32_t onnxc_s_MlCastMap(const onnxc_args *a) { return castMap(a, true); }
extern "C" int32_t onnxc_k_MlCastMap(const onnxc_args *a) { return castMap(a, false); }
extern "C" int32_t onnxc_k_MlZipMap(const onnxc_args *a) { return zipMap(a); }
extern "C" int32_t onnxc_k_MlFeatureVectorizer(const onnxc_args *a) { return featureVectorizer(a); }
extern "C" int32_t onnxc_k_MlArrayFeatureExtractor(const onnxc_args *a) { return arrayFeatureExtractor(a); }
