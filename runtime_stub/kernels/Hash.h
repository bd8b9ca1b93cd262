// Hash.h: hashes of numbers and bytes, the same in kernels (Special.h) and in the compiler, which lays out tables for them (PackedPool.h).
#pragma once
#include <stdint.h>

namespace onnxc {

inline uint64_t mix(uint64_t h) {  // a bijection that spreads all bits
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9u;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebu;
  return h ^ (h >> 31);
}
inline uint64_t hashBytes(const char *data, int64_t size) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < size; ++i)
    h = (h ^ uint8_t(data[i])) * 0x100000001b3u;
  return mix(h);
}

}  // namespace onnxc
