// PanelSizes.h: sizes of the panels that the compiler packs and the kernels read. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

constexpr int64_t kByteColumns = 64;     // columns of a panel of bytes (IntegerTile.h)
constexpr int64_t kQuad = 4;             // steps of the depth that lie side by side in it
constexpr int64_t kByteDepth = 1 << 15;  // steps of the depth, at most, whose products 32 bits sum: 255 * 255 * 2^15 < 2^31
constexpr int64_t kGateRows = 64;        // rows of recurrent weights side by side in a panel (RecurrentPanels.h)
constexpr int64_t kVectorPanel = 16;     // support vectors side by side in a panel (FastSvm.cpp)
constexpr int64_t kNarrowResults = 8;    // results of a group, at most, that FastConvNarrow.cpp computes
constexpr int64_t kFewResults = 4;       // results, at most, that FastConvBlocks.cpp computes

// Where a matrix of bytes in panels of `columns` columns and `quads` quads has step `k` of the depth of column `n`. Panels follow each
// other:
//
//            column 0      column 1           column 63
//   quad 0   k 0 1 2 3     k 0 1 2 3    ...   k 0 1 2 3
//   quad 1   k 4 5 6 7     k 4 5 6 7    ...   k 4 5 6 7
//   ...
constexpr int64_t panelByte(int64_t k, int64_t n, int64_t quads, int64_t columns = kByteColumns) {
  return ((n / columns * quads + k / kQuad) * columns + n % columns) * kQuad + k % kQuad;
}

// The groups of a convolution of blocked bytes that are computed as one: `together` of them, the fewest that fill their blocks, the
// channels of the others being multiplied by zero. There are `count` of these, each of `channels` channels in `blocks` blocks and with
// `outBlocks` of results; the last one reads the last blocks that there are, from `lastBlock` on, and may have fewer results.
struct ByteGroups {
  static constexpr int64_t kBlock = 16;  // channels
  int64_t together = 1, count = 0, channels = 0, blocks = 0, outBlocks = 0, lastBlock = 0;

  // `inputs`, `outputs`: channels of one group.
  constexpr ByteGroups(int64_t groups, int64_t inputs, int64_t outputs) {
    while (groups > 1 && together < kBlock && (together * inputs % kBlock || together * outputs % kBlock))
      together *= 2;
    count = (groups + together - 1) / together;
    int64_t most = together < groups ? together : groups;
    channels = most * inputs, blocks = blocksOf(channels), outBlocks = blocksOf(most * outputs);
    lastBlock = blocksOf(groups * inputs) - blocks;
  }
  constexpr int64_t firstBlock(int64_t group) const { return group * blocks < lastBlock ? group * blocks : lastBlock; }

private:
  static constexpr int64_t blocksOf(int64_t channels) { return (channels + kBlock - 1) / kBlock; }
};

}  // namespace onnxc
