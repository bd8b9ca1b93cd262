// PackedForest.h: decision trees as passes/fusion/PackForest.cpp lays them out at compile time; FastTree.cpp walks them. Plain C++ for
// both.
//
// words: header, then (root, depth) of each tree, then nodes, then entries, then masks. The children of a node lie side by side; one that
// has a second parent is reached from there by a node whose test always holds. A leaf is its own first child and its test always holds, so
// that a walk of `depth` steps needs no look at what it meets. masks: where no tree has more than kMostMasked leaves (header.masks), what
// finds the leaves of many rows without walks (QuickScorer, Lucchese et al., SIGIR 2015): of each tree the number of its leaves, for each
// 32 of them the number of tests that take some of these away, all these tests in turn, the leaves. The leaves of a node's first child lie
// before those of its second; a test that fails takes the former away, and the first leaf that is left is where a walk ends.
#pragma once
#include <stdint.h>

namespace onnxc {

constexpr int32_t kMostMasked = 128;

struct PackedHeader {
  int32_t trees, nodes, entries, targets, features;  // targets and features: one more than the largest number used
  int32_t single, positive;                          // all entries are of one target; no entry is negative
  int32_t masks, plain;                              // there are masks; each leaf has one entry, of the same target in the whole tree
  int32_t tests;                                     // of all masks
};
struct PackedNode {
  float split;           // the first child's test is x <= split
  int32_t feature;       // 2 * column, + 1 where NaN goes to the first child
  int32_t child, entry;  // entry: of a leaf, the first one, or -1

  static PackedNode forward(int32_t to) { return {__builtin_inff(), 1, to, -1}; }
  bool isForward() const { return split == __builtin_inff() && feature == 1; }
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
struct PackedLeaf {
  int32_t node;
  float value;  // of its first entry
};

}  // namespace onnxc
