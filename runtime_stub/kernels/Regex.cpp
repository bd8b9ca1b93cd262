// Regex.cpp: RegexFullMatch, and com.microsoft's Tokenizer: cutting at separators, by characters or by a token expression. Automaton:
// Regex.h.
#include "runtime_stub/kernels/Regex.h"

namespace onnxc {
namespace {

int32_t fullMatch(const Args *a) {
  Regex regex;
  ONNXC_TRY(regex.compile(a, text(a->attr[0])));
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; i < n; ++i)
    out<uint8_t>(a, 0)[i] = regex.match(in<Str>(a, 0)[i], 0, true) >= 0;
  return ONNXC_K_OK;
}

enum { Mark, MinChars, PadValue, Separators, TokenExp };

int64_t characters(Str s) {
  int64_t n = 0;
  for (int64_t i = 0; i < s.size; ++n)
    decodeUtf8(s, i);
  return n;
}

// The tokens of one string. `each` gets every token that is long enough.
struct Tokens {
  enum Kind { Characters, Cut, Find } kind = Characters;
  Regex *regexes = nullptr;
  int64_t count = 0, least = 1;

  int32_t prepare(const Args *a) {
    least = a->attr[MinChars].i;
    bool find = a->attr[TokenExp].n > 0;
    const Attr &separators = a->attr[Separators];
    if (least < 1 || (!find && separators.n <= 0))
      return ONNXC_K_VALUE;
    if (!find && separators.n == 1 && strings(separators)[0].size == 0)
      return ONNXC_K_OK;
    kind = find ? Find : Cut;
    count = find ? 1 : separators.n;
    if (!(regexes = heap<Regex>(a, count)))
      return ONNXC_K_MEMORY;
    for (int64_t i = 0; i < count; ++i)
      ONNXC_TRY(regexes[i].compile(a, find ? text(a->attr[TokenExp]) : strings(separators)[i]));
    return ONNXC_K_OK;
  }

  // The first match of regexes [which, …) at or after `from`; false: none that is not empty.
  bool search(int64_t which, Str s, int64_t from, int64_t &begin, int64_t &end) const {
    for (begin = from; begin < s.size;) {
      end = regexes[which].match(s, begin, false);
      if (end > begin)
        return true;
      decodeUtf8(s, begin);
    }
    return false;
  }

  template <class F>
  void each(Str s, F give) const {
    if (kind == Cut)
      return cut(s, 0, give);
    for (int64_t i = 0, end = 0, begin; i < s.size; i = end) {
      begin = end = i;
      if (kind == Characters)
        decodeUtf8(s, end);
      else if (!search(0, s, i, begin, end))
        return;
      Str token = {s.data + begin, end - begin};
      if (kind == Characters ? least <= 1 : characters(token) >= least)
        give(token);
    }
  }
  // Separators apply in order: pieces of one are cut by the next.
  template <class F>
  void cut(Str s, int64_t which, F give) const {
    if (which == count) {
      if (characters(s) >= least)
        give(s);
      return;
    }
    int64_t from = 0, begin, end;
    while (search(which, s, from, begin, end)) {
      if (begin > from)
        cut({s.data + from, begin - from}, which + 1, give);
      from = end;
    }
    if (from < s.size)
      cut({s.data + from, s.size - from}, which + 1, give);
  }
};

int32_t tokenSizes(const Args *a) {
  Tokens tokens;
  ONNXC_TRY(tokens.prepare(a));
  const Tensor &x = a->in[0];
  int64_t widest = 0, n = onnxc_count(x);
  for (int64_t i = 0; i < n; ++i) {
    int64_t count = 0;
    tokens.each(in<Str>(a, 0)[i], [&](Str) { ++count; });
    if (count > widest)
      widest = count;
  }
  for (int32_t d = 0; d < x.rank; ++d)
    a->out[0].dims[d] = x.dims[d];
  a->out[0].dims[x.rank] = widest || !n ? widest + (a->attr[Mark].i && widest ? 2 : 0) : a->attr[Mark].i ? 2 : 0;
  return ONNXC_K_OK;
}

int32_t tokenise(const Args *a) {
  Tokens tokens;
  ONNXC_TRY(tokens.prepare(a));
  int64_t n = onnxc_count(a->in[0]), width = a->out[0].dims[a->in[0].rank];
  for (int64_t i = 0; i < n; ++i) {
    Str *row = out<Str>(a, 0) + i * width;
    int64_t k = 0;
    if (a->attr[Mark].i && width)
      row[k++] = {"\x02", 1};
    tokens.each(in<Str>(a, 0)[i], [&](Str token) { row[k++] = token; });
    if (a->attr[Mark].i && width)
      row[k++] = {"\x03", 1};
    while (k < width)
      row[k++] = text(a->attr[PadValue]);
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_RegexFullMatch(const onnxc_args *a) { return onnxc::fullMatch(a); }
extern "C" int32_t onnxc_s_MsTokenizer(const onnxc_args *a) { return onnxc::tokenSizes(a); }
extern "C" int32_t onnxc_k_MsTokenizer(const onnxc_args *a) { return onnxc::tokenise(a); }
