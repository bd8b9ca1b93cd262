// PackedForest.h: decision trees as passes/fusion/PackForest.cpp lays them out at compile time; FastTree.cpp walks them. Plain C++ for
// both.
//
// words: header, then the trees, then their numbers by depth, so that those that are walked side by side end together, then nodes, then
// entries, then masks. A row is walked as the ordered keys of its columns. The children of a node lie side by side; one that has a second
// parent is reached from there by a node whose test always holds. A leaf is its own first child and its test always holds, so that a walk
// needs no look at what it meets. masks: where no tree has more than kMostMasked leaves (header.masks), what finds the leaves of many rows
// without walks (QuickScorer, Lucchese et al., SIGIR 2015): of each tree the number of its leaves, for each 32 of them the number of tests
// that take some of these away, all these tests in turn, the words of the leaves. The leaves of a node's first child lie before those of
// its second; a test that fails takes the former away, and the first leaf that is left is where a walk ends.
#pragma once
#include <stdint.h>

namespace onnxc {

constexpr int32_t kMostMasked = 128;

struct PackedHeader {
  int32_t trees, nodes, entries, targets, features;  // targets and features: one more than the largest number used
  int32_t single, positive;                          // all entries are of one target; no entry is negative
  int32_t masks, plain;                              // there are masks; each leaf has one entry, of the same target in the whole tree
  int32_t tests;                                     // of all masks
  int32_t columns, columnBits;                       // of the keys of a row; of a link
};
struct PackedTree {
  int32_t root, depth, target;  // target: where the forest is plain
};
// Word of a leaf: where the forest is plain its value's bits, else its first entry's number, or -1.
struct PackedNode {
  uint32_t key;  // the first child's test is: the row's key <= this one; of a leaf its word
  int32_t link;  // the column of the row's keys, from the lowest bit on, and above it how far the first child lies behind this node
};
struct PackedEntry {
  float value;
  int32_t target;  // 2 * target, + 1 for the last entry of a leaf
};

struct PackedTest {
  float split;
  int32_t column;
  uint32_t keep;  // of its 32 leaves those that stay where x > split, from the lowest bit on
};

// The keys of a row: its numbers, NaN as more than all others; where header.columns has room for them, its numbers again, NaN as less; 0,
// which holds in any test. In the order of floats, -0 and 0 alike.
template <class Bits>  // int32_t, or a vector of them
__attribute__((always_inline)) inline Bits keysOf(Bits bits) {
  bits = bits == INT32_MIN ? Bits(0) : bits;
  return bits ^ (bits >> 31 | INT32_MIN);
}
inline uint32_t keyOf(uint32_t bits) { return uint32_t(keysOf(int32_t(bits))); }

}  // namespace onnxc
