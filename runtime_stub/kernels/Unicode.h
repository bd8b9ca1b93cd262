// Unicode.h: UTF-8 and simple case mapping of the Latin, Greek, Cyrillic and Armenian blocks. Used by the string kernels.
#pragma once
#include "runtime_stub/kernels/Special.h"

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
  *to = char((0xf00u >> more & 0xff) | c >> (6 * more));
  for (int k = 1; k <= more; ++k)
    to[k] = char(0x80 | (c >> (6 * (more - k)) & 0x3f));
  return more + 1;
}

ONNXC_INLINE bool within(uint32_t c, uint32_t lo, uint32_t hi) { return c >= lo && c <= hi; }

// Blocks whose capitals are the even (or odd) code points, each followed by its small letter.
ONNXC_INLINE int pairParity(uint32_t c) {
  if (within(c, 0x100, 0x137) || within(c, 0x14a, 0x177) || within(c, 0x1e00, 0x1e95) || within(c, 0x1ea0, 0x1eff) ||
      within(c, 0x460, 0x481) || within(c, 0x48a, 0x4bf) || within(c, 0x4d0, 0x52f))
    return c == 0x130 || c == 0x131 ? -1 : 0;
  if (within(c, 0x139, 0x148) || within(c, 0x179, 0x17e) || within(c, 0x4c1, 0x4ce))
    return 1;
  return -1;
}

inline uint32_t lowerCase(uint32_t c) {
  if (within(c, 'A', 'Z') || (within(c, 0xc0, 0xde) && c != 0xd7) || (within(c, 0x391, 0x3ab) && c != 0x3a2) || within(c, 0x410, 0x42f))
    return c + 32;
  if (c == 0x178)
    return 0xff;
  if (c == 0x386)
    return 0x3ac;
  if (within(c, 0x388, 0x38a))
    return c + 37;
  if (c == 0x38c)
    return 0x3cc;
  if (within(c, 0x38e, 0x38f))
    return c + 63;
  if (within(c, 0x400, 0x40f))
    return c + 80;
  if (within(c, 0x531, 0x556))
    return c + 48;
  int parity = pairParity(c);
  return parity >= 0 && int(c & 1) == parity ? c + 1 : c;
}

inline uint32_t upperCase(uint32_t c) {
  if (within(c, 'a', 'z') || (within(c, 0xe0, 0xfe) && c != 0xf7) || (within(c, 0x3b1, 0x3cb) && c != 0x3c2) || within(c, 0x430, 0x44f))
    return c - 32;
  if (c == 0xff)
    return 0x178;
  if (c == 0xb5)
    return 0x39c;
  if (c == 0x3c2)
    return 0x3a3;
  if (c == 0x3ac)
    return 0x386;
  if (within(c, 0x3ad, 0x3af))
    return c - 37;
  if (c == 0x3cc)
    return 0x38c;
  if (within(c, 0x3cd, 0x3ce))
    return c - 63;
  if (within(c, 0x450, 0x45f))
    return c - 80;
  if (within(c, 0x561, 0x586))
    return c - 48;
  int parity = pairParity(c);
  return parity >= 0 && int(c & 1) != parity ? c - 1 : c;
}

}  // namespace onnxc
