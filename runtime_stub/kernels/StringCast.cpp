// StringCast.cpp: Cast and CastLike between strings and numbers. Floats print with the fewest digits that read back as the same value.
#include "runtime_stub/kernels/Special.h"
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

namespace onnxc {
namespace {

template <class T>
ONNXC_INLINE uint64_t bitsOf(T v) {
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &v, sizeof(T));
  return bits;
}

template <class T>
constexpr bool isU64 = false;
template <>
constexpr bool isU64<u64> = true;

struct Printed {
  char text[40];
  int size = 0;
};

void put(Printed &p, const char *word) {
  while (*word)
    p.text[p.size++] = *word++;
}

// Digits of the shortest "%.*e" that reads back, then laid out plainly for exponents in [-4, 16).
template <class T>
void printFloat(Printed &p, T value) {
  double v = toF64(value);
  if (v != v)
    return put(p, "nan");
  if (v - v != 0)
    return put(p, v > 0 ? "inf" : "-inf");
  char e[40];
  for (int digits = 0; digits < 17; ++digits) {
    snprintf(e, sizeof(e), "%.*e", digits, v);
    if (bitsOf(fromF64<T>(sizeof(T) == 4 ? double(strtof(e, nullptr)) : strtod(e, nullptr))) == bitsOf(value))
      break;
  }
  const char *s = e;
  if (*s == '-')
    p.text[p.size++] = *s++;
  char digit[20];
  int n = 0;
  for (; *s != 'e'; ++s)
    if (*s != '.')
      digit[n++] = *s;
  int exponent = int(strtol(s + 1, nullptr, 10));
  if (exponent < -4 || exponent >= 16) {
    p.text[p.size++] = digit[0];
    if (n > 1)
      p.text[p.size++] = '.';
    for (int i = 1; i < n; ++i)
      p.text[p.size++] = digit[i];
    return put(p, s);
  }
  if (exponent < 0)
    put(p, "0.");
  for (int i = exponent + 1; i < 0; ++i)
    p.text[p.size++] = '0';
  for (int i = 0; i < n || i <= exponent; ++i) {
    p.text[p.size++] = i < n ? digit[i] : '0';
    if (i == exponent)
      p.text[p.size++] = '.';
  }
  if (p.text[p.size - 1] == '.')
    p.text[p.size++] = '0';
}

void printInteger(Printed &p, uint64_t magnitude, bool negative) {
  char digit[24];
  int n = 0;
  do
    digit[n++] = char('0' + magnitude % 10);
  while (magnitude /= 10);
  if (negative)
    p.text[p.size++] = '-';
  while (n)
    p.text[p.size++] = digit[--n];
}

template <class T>
Printed print(const T *x, int64_t i) {
  Printed p;
  if constexpr (IsFloat<T>::value)
    printFloat(p, x[i]);
  else if constexpr (isU64<T>)
    printInteger(p, x[i], false);
  else {
    int64_t v;
    if constexpr (sizeof(T) == 8)
      v = int64_t(x[i]);
    else
      v = int64_t(toF64(x[i]));
    printInteger(p, v < 0 ? 0 - uint64_t(v) : uint64_t(v), v < 0);
  }
  return p;
}

int32_t toStrings(const Args *a) {
  const Tensor &x = a->in[0];
  int64_t n = onnxc_count(x);
  for (int64_t i = 0; i < n; ++i) {
    Printed p;
    if (x.dtype == ONNXC_BOOL)
      put(p, in<uint8_t>(a, 0)[i] ? "True" : "False");
    else
      withNumeric(x.dtype, [&](auto tag) { return p = print(in<decltype(tag)>(a, 0), i), 0; });
    char *to = heap<char>(a, p.size);
    if (!to)
      return ONNXC_K_MEMORY;
    memcpy(to, p.text, size_t(p.size));
    out<Str>(a, 0)[i] = {to, p.size};
  }
  return ONNXC_K_OK;
}

// A number as text, without surrounding blanks, zero terminated.
struct Numeral {
  char text[400];
  int32_t read(Str s) {
    while (s.size && isSpace(*s.data))
      ++s.data, --s.size;
    while (s.size && isSpace(s.data[s.size - 1]))
      --s.size;
    if (s.size == 0 || s.size >= int64_t(sizeof(text)))
      return ONNXC_K_DECODE;
    for (int64_t i = 0; i < s.size; ++i) {
      if (!s.data[i] || lowerAscii(s.data[i]) == 'x')
        return ONNXC_K_DECODE;
      text[i] = s.data[i];
    }
    text[s.size] = 0;
    return ONNXC_K_OK;
  }
};

template <class T>
int32_t parse(const Numeral &n, T &value) {
  char *end = nullptr;
  if constexpr (IsFloat<T>::value) {
    value = fromF64<T>(sizeof(T) == 4 ? double(strtof(n.text, &end)) : strtod(n.text, &end));
  } else {
    uint64_t whole = isU64<T> ? strtoull(n.text, &end, 10) : uint64_t(strtoll(n.text, &end, 10));
    if constexpr (sizeof(T) == 8)
      value = T(whole);
    else
      value = fromF64<T>(double(int64_t(whole)));
    if (*end)
      value = fromF64<T>(strtod(n.text, &end));
  }
  return *end || end == n.text ? ONNXC_K_DECODE : ONNXC_K_OK;
}

int32_t parseBool(Str s, const Numeral &n, uint8_t &value) {
  if (isNoCase(s, "true") || isNoCase(s, "false"))
    return value = s.size == 4, ONNXC_K_OK;
  double v = 0;
  int32_t code = parse(n, v);
  value = v != 0;
  return code;
}

int32_t fromStrings(const Args *a) {
  int64_t n = onnxc_count(a->in[0]);
  for (int64_t i = 0; i < n; ++i) {
    Numeral numeral;
    Str s = in<Str>(a, 0)[i];
    int32_t code = numeral.read(s);
    if (code)
      return code;
    if (a->out[0].dtype == ONNXC_BOOL)
      code = parseBool(s, numeral, out<uint8_t>(a, 0)[i]);
    else
      code = withNumeric(a->out[0].dtype, [&](auto tag) {
        if constexpr (sizeof(tag) == 1 && !IsFloat<decltype(tag)>::value) {
          double v = 0;
          int32_t bad = parse(numeral, v);
          return out<decltype(tag)>(a, 0)[i] = fromF64<decltype(tag)>(v), bad;
        } else {
          return parse(numeral, out<decltype(tag)>(a, 0)[i]);
        }
      });
    if (code)
      return code;
  }
  return ONNXC_K_OK;
}

// The caller's locale must not change what numbers look like.
int32_t cast(const Args *a) {
  if (a->in[0].dtype == ONNXC_STR && a->out[0].dtype == ONNXC_STR) {
    memmove(a->out[0].data, a->in[0].data, size_t(onnxc_count(a->in[0])) * sizeof(Str));
    return ONNXC_K_OK;
  }
  locale_t c = newlocale(LC_ALL_MASK, "C", nullptr);
  if (!c)
    return ONNXC_K_MEMORY;
  locale_t before = uselocale(c);
  int32_t code = a->in[0].dtype == ONNXC_STR ? fromStrings(a) : toStrings(a);
  uselocale(before);
  freelocale(c);
  return code;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_CastString(const onnxc_args *a) { return onnxc::cast(a); }
