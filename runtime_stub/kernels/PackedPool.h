// PackedPool.h: the n-grams of TfIdfVectorizer as a hash table that passes/fusion/PackPool.cpp lays out at compile time; TfIdf.cpp searches
// it. Plain C++ for both.
//
// words: header, then `mask + 1` slots (number of a gram + 1, 0 empty; the next slot where one is taken), then grams.
#pragma once
#include "runtime_stub/kernels/Hash.h"

namespace onnxc {

struct PoolHeader {
  int32_t grams, mask;
};
struct Gram {
  int32_t start, length, column;  // items [start, start + length) of the pool
};

inline uint64_t gramSeed(int64_t length) { return uint64_t(length); }
inline uint64_t gramExtend(uint64_t h, uint64_t item) { return mix(h * 31 + item); }

}  // namespace onnxc
