// PanelSizes.h: sizes of the panels that the compiler packs and the kernels read. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

constexpr int64_t kByteColumns = 64;   // columns of a panel of bytes (IntegerTile.h)
constexpr int64_t kQuad = 4;           // steps of the depth that lie side by side in it
constexpr int64_t kGateRows = 64;      // rows of recurrent weights side by side in a panel (RecurrentPanels.h)
constexpr int64_t kNarrowResults = 8;  // results of a group, at most, that FastConvNarrow.cpp computes
constexpr int64_t kFewResults = 4;     // results, at most, that FastConvBlocks.cpp computes

// The groups of a convolution of blocked bytes that are computed as one: `together` of them, the fewest that fill their blocks of 16
// channels, those of the others being multiplied by zero. `channels`, `outputs`: of a group. The last of `count` of these
// reads the last `blocks` blocks that there are, and may compute fewer than `outBlocks`.
struct ByteGroups {
  int64_t together = 1, count = 0, channels = 0, blocks = 0, outBlocks = 0, last = 0;

  constexpr ByteGroups(int64_t groups, int64_t channelsOfOne, int64_t outputs) {
    while (groups > 1 && together < 16 && (together * channelsOfOne % 16 || together * outputs % 16))
      together *= 2;
    count = (groups + together - 1) / together;
    int64_t most = together < groups ? together : groups;
    channels = most * channelsOfOne, blocks = (channels + 15) / 16, outBlocks = (most * outputs + 15) / 16;
    last = (groups * channelsOfOne + 15) / 16 - blocks;
  }
  constexpr int64_t firstBlock(int64_t group) const { return group * blocks < last ? group * blocks : last; }
};

}  // namespace onnxc
