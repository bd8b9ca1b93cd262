// PackedKeys.h: the keys of LabelEncoder, CategoryMapper and OneHotEncoder, and the stopwords of StringNormalizer, as a table that
// passes/fusion/PackKeys.cpp lays out at compile time; MlEncode.cpp and Strings.cpp search it. Plain C++ for both.
//
// words: integers close together: their span, the least, then for each of them the position of the first key that it is + 1, 0 for none;
//        others: 0, a mask, then `mask + 1` slots, the next one where one is taken.
#pragma once
#include "runtime_stub/kernels/Hash.h"

namespace onnxc {

struct KeySlot {
  uint64_t code;   // of a number or text; different numbers have different ones
  int64_t number;  // position of the first such key + 1; 0: empty
};

inline uint64_t codeOf(int64_t key) { return mix(uint64_t(key)); }
inline uint64_t codeOf(double key) {  // a NaN is equal to a NaN
  return mix(key != key ? 0x7ff8000000000000u : key == 0 ? 0 : __builtin_bit_cast(uint64_t, key));
}

struct KeyLayout {
  int64_t span = 0, first = 1;  // the first two words
  int64_t words() const { return 2 + (span ? span : 2 * (first + 1)); }
};

inline KeyLayout layoutOf(int64_t n) {
  KeyLayout l;
  while (l.first < 2 * n + 1)
    l.first = 2 * l.first + 1;
  return l;
}
inline KeyLayout layoutOf(const int64_t *keys, int64_t n) {
  int64_t least = n ? keys[0] : 0, most = least;
  for (int64_t i = 1; i < n; ++i)
    least = keys[i] < least ? keys[i] : least, most = keys[i] > most ? keys[i] : most;
  uint64_t range = uint64_t(most) - uint64_t(least);
  return range < uint64_t(4 * n + 1024) ? KeyLayout{int64_t(range) + 1, least} : layoutOf(n);
}

// Fills zeroed words. code(i): of key i; equal(i, k): whether keys of the same code are equal.
template <class Code, class Equal>
inline void layKeys(int64_t *words, KeyLayout l, int64_t n, Code code, Equal equal) {
  words[0] = l.span, words[1] = l.first;
  KeySlot *slots = reinterpret_cast<KeySlot *>(words + 2);
  for (int64_t i = 0; i < n; ++i) {
    uint64_t c = code(i), s = c & uint64_t(l.first);
    while (slots[s].number && (slots[s].code != c || !equal(slots[s].number - 1, i)))
      s = (s + 1) & uint64_t(l.first);
    if (!slots[s].number)
      slots[s] = {c, i + 1};
  }
}
inline void layIntegers(int64_t *words, KeyLayout l, const int64_t *keys, int64_t n) {
  if (!l.span)
    return layKeys(words, l, n, [=](int64_t i) { return codeOf(keys[i]); }, [](int64_t, int64_t) { return true; });
  words[0] = l.span, words[1] = l.first;
  for (int64_t i = n; i-- > 0;)
    words[2 + (keys[i] - l.first)] = i + 1;
}

struct KeyTable {
  int64_t span = 0, first = 0;
  const int64_t *places = nullptr;

  void open(const int64_t *words) { span = words[0], first = words[1], places = words + 2; }
  int64_t ofInteger(int64_t key) const {
    uint64_t offset = uint64_t(key) - uint64_t(first);
    return offset < uint64_t(span) ? places[offset] - 1 : -1;
  }
  // The position of a key; -1: it is none. equal(k): whether key k, which has this code, is it.
  template <class Equal>
  int64_t find(uint64_t code, Equal equal) const {
    const KeySlot *slots = reinterpret_cast<const KeySlot *>(places);
    for (uint64_t s = code;; ++s) {
      const KeySlot &slot = slots[s & uint64_t(first)];
      if (!slot.number || (slot.code == code && equal(slot.number - 1)))
        return slot.number - 1;
    }
  }
};

}  // namespace onnxc
