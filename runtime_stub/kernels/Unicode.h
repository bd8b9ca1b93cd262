// Unicode.h: UTF-8. Used by the string kernels; case mapping: UnicodeCase.h.
#pragma once
#include "runtime_stub/kernels/UnicodeCase.h"

namespace onnxc {

// The code point at s[i], i moves past it. A malformed byte stands for itself, marked so that encodeUtf8 writes it back unchanged.
constexpr uint32_t rawByte = 0x80000000u;
inline uint32_t decodeUtf8(Str s, int64_t &i) {
  uint8_t lead = uint8_t(s.data[i++]);
  if (lead < 0x80)
    return lead;
  int more = lead >= 0xf0 && lead < 0xf8 ? 3 : lead >= 0xe0 && lead < 0xf0 ? 2 : lead >= 0xc2 && lead < 0xe0 ? 1 : 0;
  if (!more || i + more > s.size)
    return rawByte | lead;
  uint32_t c = lead & (0x3fu >> more);
  for (int k = 0; k < more; ++k) {
    uint8_t b = uint8_t(s.data[i + k]);
    if ((b & 0xc0) != 0x80)
      return rawByte | lead;
    c = c << 6 | (b & 0x3fu);
  }
  i += more;
  return c;
}

inline int64_t encodeUtf8(char *to, uint32_t c) {
  if (c & rawByte || c < 0x80)
    return *to = char(c & 0xff), 1;
  int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  *to = char((0x780u >> more & 0xff) | c >> (6 * more));  // as many leading ones as bytes
  for (int k = 1; k <= more; ++k)
    to[k] = char(0x80 | (c >> (6 * (more - k)) & 0x3f));
  return more + 1;
}

}  // namespace onnxc
