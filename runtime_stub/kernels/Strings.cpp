// Strings.cpp: concatenation, splitting, normalisation and comparison of strings, and Where for every element size. Casts: StringCast.cpp.
#include "runtime_stub/kernels/PackedKeys.h"
#include "runtime_stub/kernels/Special.h"
#include "runtime_stub/kernels/Unicode.h"

namespace onnxc {
namespace {

int32_t concat(const Args *a) {
  Broadcast<2> walk;
  if (!walk.start(a->out[0], {&a->in[0], &a->in[1]}))
    return ONNXC_K_SHAPE;
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i, walk.next()) {
    Str x = in<Str>(a, 0)[walk.offset[0]], y = in<Str>(a, 1)[walk.offset[1]];
    char *to = heap<char>(a, x.size + y.size);
    if (!to)
      return ONNXC_K_MEMORY;
    if (x.size)
      memcpy(to, x.data, size_t(x.size));
    if (y.size)
      memcpy(to + x.size, y.data, size_t(y.size));
    out<Str>(a, 0)[i] = {to, x.size + y.size};
  }
  return ONNXC_K_OK;
}

int32_t equalStrings(const Args *a) {
  Broadcast<2> walk;
  if (!walk.start(a->out[0], {&a->in[0], &a->in[1]}))
    return ONNXC_K_SHAPE;
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i, walk.next())
    out<uint8_t>(a, 0)[i] = equal(in<Str>(a, 0)[walk.offset[0]], in<Str>(a, 1)[walk.offset[1]]);
  return ONNXC_K_OK;
}

template <class T>
int32_t where(const Args *a) {
  Broadcast<3> walk;
  if (!walk.start(a->out[0], {&a->in[0], &a->in[1], &a->in[2]}))
    return ONNXC_K_SHAPE;
  int64_t n = onnxc_count(a->out[0]);
  for (int64_t i = 0; i < n; ++i, walk.next())
    out<T>(a, 0)[i] = in<uint8_t>(a, 0)[walk.offset[0]] ? in<T>(a, 1)[walk.offset[1]] : in<T>(a, 2)[walk.offset[2]];
  return ONNXC_K_OK;
}

// The next part of `rest`, at most `limit` cuts to come. False: no part is left.
struct Splitter {
  Str rest, delimiter;
  int64_t cuts;
  bool done = false;
  bool next(Str &part) { return delimiter.size ? byDelimiter(part) : bySpace(part); }

  bool byDelimiter(Str &part) {
    if (done)
      return false;
    for (int64_t i = 0; cuts > 0 && i + delimiter.size <= rest.size; ++i)
      if (memcmp(rest.data + i, delimiter.data, size_t(delimiter.size)) == 0) {
        part = {rest.data, i};
        rest = {rest.data + i + delimiter.size, rest.size - i - delimiter.size};
        --cuts;
        return true;
      }
    part = rest;
    return done = true;
  }
  bool bySpace(Str &part) {
    while (rest.size && isSpace(*rest.data))
      ++rest.data, --rest.size;
    if (!rest.size)
      return false;
    int64_t n = 0;
    while (n < rest.size && (cuts <= 0 || !isSpace(rest.data[n])))
      ++n;
    part = {rest.data, n};
    rest = {rest.data + n, rest.size - n};
    --cuts;
    return true;
  }
};

Splitter splitter(const Args *a, int64_t i) {
  return {in<Str>(a, 0)[i], text(a->attr[0]), given(a->attr[1]) && a->attr[1].i >= 0 ? a->attr[1].i : INT64_MAX};
}

int32_t splitSizes(const Args *a) {
  const Tensor &x = a->in[0];
  int64_t widest = 0, n = onnxc_count(x);
  for (int64_t i = 0; i < n; ++i) {
    Splitter s = splitter(a, i);
    int64_t parts = 0;
    for (Str part; s.next(part);)
      ++parts;
    if (parts > widest)
      widest = parts;
  }
  for (int k = 0; k < 2; ++k)
    for (int32_t d = 0; hasOut(a, k) && d < x.rank; ++d)
      a->out[k].dims[d] = x.dims[d];
  if (hasOut(a, 0))
    a->out[0].dims[x.rank] = widest;
  return ONNXC_K_OK;
}

int32_t split(const Args *a) {
  int64_t n = onnxc_count(a->in[0]), width = hasOut(a, 0) ? a->out[0].dims[a->in[0].rank] : 0;
  for (int64_t i = 0; i < n; ++i) {
    Splitter s = splitter(a, i);
    int64_t parts = 0;
    for (Str part; s.next(part); ++parts)
      if (hasOut(a, 0))
        out<Str>(a, 0)[i * width + parts] = part;
    for (int64_t k = parts; k < width; ++k)
      out<Str>(a, 0)[i * width + k] = {"", 0};
    if (hasOut(a, 1))
      out<int64_t>(a, 1)[i] = parts;
  }
  return ONNXC_K_OK;
}

int64_t foldedRoom(int64_t size) { return size * 2 + 4; }  // a simple mapping is at most one byte longer than its source

// `s` in the memory at `to`, which has foldedRoom().
Str foldInto(char *to, Str s, bool upper) {
  int64_t n = 0;
  for (int64_t i = 0; i < s.size;)
    n += encodeUtf8(to + n, upper ? upperCase(decodeUtf8(s, i)) : lowerCase(decodeUtf8(s, i)));
  return {to, n};
}

bool foldCase(const Args *a, Str &s, bool upper) {
  char *to = heap<char>(a, foldedRoom(s.size));
  if (to)
    s = foldInto(to, s, upper);
  return to != nullptr;
}

enum { Action, CaseSensitive, Locale, Stopwords, Folded, Table };

// The stopwords, folded where case does not count, in a table that the compiler packed or that is built for the run, and one buffer to fold
// words in.
struct StopwordSet {
  bool exact = false;
  const Str *words = nullptr;
  KeyTable table;
  char *buffer = nullptr;

  int32_t open(const Args *a) {
    const Tensor &x = a->in[0];
    int64_t n = a->attr[Stopwords].n, longest = 0, count = onnxc_count(x);
    exact = a->attr[CaseSensitive].i != 0;
    if (n <= 0)
      return ONNXC_K_OK;
    for (int64_t i = 0; i < count; ++i)
      longest = in<Str>(a, 0)[i].size > longest ? in<Str>(a, 0)[i].size : longest;
    buffer = heap<char>(a, exact ? 0 : foldedRoom(longest));
    if (!buffer)
      return ONNXC_K_MEMORY;
    if (!given(a->attr[Table]))
      return build(a, n);
    words = strings(a->attr[Folded]);
    table.open(static_cast<const int64_t *>(static_cast<const Tensor *>(a->attr[Table].p)->data));
    return ONNXC_K_OK;
  }
  int32_t build(const Args *a, int64_t n) {
    KeyLayout l = layoutOf(n);
    Str *folded = heap<Str>(a, n);
    int64_t *memory = heap<int64_t>(a, l.words());
    if (!folded || !memory)
      return ONNXC_K_MEMORY;
    for (int64_t i = 0; i < n; ++i) {
      folded[i] = strings(a->attr[Stopwords])[i];
      if (!exact && !foldCase(a, folded[i], false))
        return ONNXC_K_MEMORY;
    }
    layKeys(memory, l, n, [=](int64_t i) { return hash(folded[i]); }, [=](int64_t i, int64_t k) { return equal(folded[i], folded[k]); });
    words = folded, table.open(memory);
    return ONNXC_K_OK;
  }
  bool contains(Str word) const {
    if (!words)
      return false;
    Str wanted = exact ? word : foldInto(buffer, word, false);
    return table.find(hash(wanted), [&](int64_t k) { return equal(words[k], wanted); }) >= 0;
  }
};

bool isOneRow(const Tensor &x) { return x.rank == 1 || (x.rank == 2 && x.dims[0] == 1); }

int32_t normaliseSizes(const Args *a) {
  const Tensor &x = a->in[0];
  if (!isOneRow(x))
    return ONNXC_K_SHAPE;
  int64_t kept = 0;
  StopwordSet stops;
  ONNXC_TRY(stops.open(a));
  for (int64_t i = 0; i < x.dims[x.rank - 1]; ++i)
    kept += !stops.contains(in<Str>(a, 0)[i]);
  a->out[0].dims[0] = 1;
  a->out[0].dims[x.rank - 1] = kept ? kept : 1;
  return ONNXC_K_OK;
}

int32_t normalise(const Args *a) {
  const Tensor &x = a->in[0];
  Str action = text(a->attr[Action]), *to = out<Str>(a, 0);
  int64_t kept = 0;
  if (!isOneRow(x))
    return ONNXC_K_SHAPE;
  StopwordSet stops;
  ONNXC_TRY(stops.open(a));
  for (int64_t i = 0; i < x.dims[x.rank - 1]; ++i) {
    Str word = in<Str>(a, 0)[i];
    if (stops.contains(word))
      continue;
    if ((is(action, "UPPER") || is(action, "LOWER")) && !foldCase(a, word, is(action, "UPPER")))
      return ONNXC_K_MEMORY;
    to[kept++] = word;
  }
  if (!kept)
    to[0] = {"", 0};
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

using namespace onnxc;
extern "C" int32_t onnxc_k_StringConcat(const onnxc_args *a) { return concat(a); }
extern "C" int32_t onnxc_k_Equal_str(const onnxc_args *a) { return equalStrings(a); }
extern "C" int32_t onnxc_s_StringSplit(const onnxc_args *a) { return splitSizes(a); }
extern "C" int32_t onnxc_k_StringSplit(const onnxc_args *a) { return split(a); }
extern "C" int32_t onnxc_s_StringNormalizer(const onnxc_args *a) { return normaliseSizes(a); }
extern "C" int32_t onnxc_k_StringNormalizer(const onnxc_args *a) { return normalise(a); }
#define X(S, T)                                                                                                                            \
  extern "C" int32_t onnxc_k_Where_##S(const onnxc_args *a) { return onnxc::where<T>(a); }
ONNXC_SIZES(X)
#undef X
