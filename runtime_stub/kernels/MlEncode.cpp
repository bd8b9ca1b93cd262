// MlEncode.cpp: mappings of ai.onnx.ml between labels, categories, features and maps. Keys go through one hash table, Lookup.
#include "runtime_stub/kernels/MlScore.h"
#include "runtime_stub/kernels/PackedKeys.h"
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

// Finds positions of keys in the table that the compiler packed (PackedKeys.h) or that is built for the run; the first of equal keys
// counts.
struct Lookup {
  static constexpr int64_t block = 64;  // elements looked for at once
  List keys;
  bool reals = false;  // numbers are compared as floats
  KeyTable table;

  bool open(const Args *a, const List &list, bool asReals, const Attr &packed) {
    keys = list, reals = asReals;
    if (!given(packed))
      return build(a);
    table.open(static_cast<const int64_t *>(static_cast<const Tensor *>(packed.p)->data));
    return true;
  }
  bool build(const Args *a) {
    bool whole = !reals && !keys.isString();
    int64_t *integers = whole ? heap<int64_t>(a, keys.n) : nullptr;
    if (whole && !integers)
      return false;
    for (int64_t i = 0; whole && i < keys.n; ++i)
      integers[i] = loadI64(keys.t, i);
    KeyLayout l = whole ? layoutOf(integers, keys.n) : layoutOf(keys.n);
    int64_t *words = heap<int64_t>(a, l.words());
    if (!words)
      return false;
    if (whole)
      layIntegers(words, l, integers, keys.n);
    else if (reals)
      layKeys(words, l, keys.n, [&](int64_t i) { return codeOf(loadF64(keys.t, i)); }, [](int64_t, int64_t) { return true; });
    else
      layKeys(
          words, l, keys.n, [&](int64_t i) { return hash(keys.word(i)); },
          [&](int64_t i, int64_t k) { return equal(keys.word(i), keys.word(k)); });
    table.open(words);
    return true;
  }
  void integers(const int64_t *x, int64_t n, int64_t *at) const {
    for (int64_t i = 0; i < n; ++i)
      at[i] = table.span ? table.ofInteger(x[i]) : table.find(codeOf(x[i]), [](int64_t) { return true; });
  }
  // Positions of `n` elements of `x` from the one at `from` on, at most a block; -1 for what is no key.
  void find(const List &x, int64_t from, int64_t n, int64_t *at) const {
    if (x.isString()) {
      for (int64_t i = 0; i < n; ++i)
        at[i] = table.find(hash(x.word(from + i)), [&](int64_t k) { return equal(keys.word(k), x.word(from + i)); });
      return;
    }
    if (!reals) {
      int64_t whole[block];
      for (int64_t i = 0; i < n; ++i)
        whole[i] = x.isReal() ? truncToI64(loadF64(x.t, from + i)) : loadI64(x.t, from + i);
      return integers(whole, n, at);
    }
    double real[block];
    if (x.t.dtype == ONNXC_F32)
      for (int64_t i = 0; i < n; ++i)
        real[i] = double(static_cast<const float *>(x.t.data)[from + i]);
    else
      for (int64_t i = 0; i < n; ++i)
        real[i] = loadF64(x.t, from + i);
    for (int64_t i = 0; i < n; ++i)
      at[i] = table.find(codeOf(real[i]), [](int64_t) { return true; });
  }
  // Calls f(index, position) for each element.
  template <class F>
  void each(const List &x, F f) const {
    int64_t at[block];
    for (int64_t from = 0; from < x.n; from += block) {
      int64_t n = minOf(block, x.n - from);
      find(x, from, n, at);
      for (int64_t i = 0; i < n; ++i)
        f(from + i, at[i]);
    }
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
void giveLabels(const Args *a, const Lookup &lookup, const List &x, const List &values, const Tensor &fallback) {
  const T *from = static_cast<const T *>(values.t.data), other = *static_cast<const T *>(fallback.data);
  lookup.each(x, [&](int64_t i, int64_t k) { out<T>(a, 0)[i] = k < 0 ? other : from[k]; });
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
  enum { DefaultFloat, DefaultInt, DefaultString, DefaultTensor, Keys, Values = Keys + 4, Table = Values + 4 };
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
  if (!lookup.open(a, keys, keys.isReal() || x.isReal(), t[Table]))
    return ONNXC_K_MEMORY;
  Str room;
  Tensor other{&room, nullptr, 0, y.dtype};
  copyValue(other, 0, fallback, 0);
  int64_t bytes = values.t.dtype == y.dtype ? elementBytes(y.dtype) : 0;
  if (bytes == 4)
    giveLabels<int32_t>(a, lookup, x, values, other);
  else if (bytes == 8)
    giveLabels<int64_t>(a, lookup, x, values, other);
  else if (bytes == sizeof(Str))
    giveLabels<Str>(a, lookup, x, values, other);
  else
    lookup.each(x, [&](int64_t i, int64_t k) { k < 0 ? copyValue(y, i, operand(other), 0) : copyValue(y, i, values, k); });
  return ONNXC_K_OK;
}

int32_t categoryMapper(const Args *a) {
  enum { Ints, Strings, DefaultInt, DefaultString, Table };
  List integers = List::of(a->attr[Ints], ONNXC_I64), words = List::of(a->attr[Strings], ONNXC_STR), x = operand(a->in[0]);
  if (integers.n < 0 || integers.n != words.n)
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.open(a, x.isString() ? words : integers, false, a->attr[Table]))
    return ONNXC_K_MEMORY;
  int64_t number = a->attr[DefaultInt].i;
  Str word = text(a->attr[DefaultString]);
  if (x.isString())
    giveLabels<int64_t>(a, lookup, x, integers, {&number, nullptr, 0, ONNXC_I64});
  else
    giveLabels<Str>(a, lookup, x, words, {&word, nullptr, 0, ONNXC_STR});
  return ONNXC_K_OK;
}

int32_t oneHotEncoder(const Args *a) {
  enum { Ints, Strings, Zeros, Table };
  List x = operand(a->in[0]), categories = x.isString() ? List::of(a->attr[Strings], ONNXC_STR) : List::of(a->attr[Ints], ONNXC_I64);
  if (categories.n < 0)
    return ONNXC_K_VALUE;
  Lookup lookup;
  if (!lookup.open(a, categories, false, a->attr[Table]))
    return ONNXC_K_MEMORY;
  if (onnxc_count(a->out[0]) != x.n * categories.n)
    return ONNXC_K_SHAPE;
  bool known = true, plain = a->out[0].dtype == ONNXC_F32;
  if (plain)
    memset(out<float>(a, 0), 0, size_t(x.n * categories.n) * sizeof(float));
  lookup.each(x, [&](int64_t i, int64_t k) {
    known &= k >= 0;
    if (plain && k >= 0)
      out<float>(a, 0)[i * categories.n + k] = 1;
    for (int64_t c = 0; !plain && c < categories.n; ++c)
      storeF64(a->out[0], i * categories.n + c, c == k);
  });
  return known || a->attr[Zeros].i ? ONNXC_K_OK : ONNXC_K_VALUE;
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
  if (!lookup.open(a, keys, keys.isReal(), {0, 0, nullptr, -1}))
    return ONNXC_K_MEMORY;
  if (onnxc_count(y) != vocabulary.n)
    return ONNXC_K_SHAPE;
  lookup.each(vocabulary, [&](int64_t i, int64_t k) {
    if (k >= 0)
      copyValue(y, i, values, k);
    else if (y.dtype == ONNXC_STR)
      out<Str>(a, 0)[i] = {"", 0};
    else
      storeF64(y, i, 0);
  });
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
