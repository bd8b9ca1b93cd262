// PanelSizes.h: sizes of the panels that the compiler packs and the kernels read. Plain C++ for both.
#pragma once
#include <stdint.h>

namespace onnxc {

constexpr int64_t kByteColumns = 64;   // columns of a panel of bytes (IntegerTile.h)
constexpr int64_t kQuad = 4;           // steps of the depth that lie side by side in it
constexpr int64_t kGateRows = 64;      // rows of recurrent weights side by side in a panel (RecurrentPanels.h)
constexpr int64_t kNarrowResults = 8;  // results of a group, at most, that FastConvNarrow.cpp computes
constexpr int64_t kFewResults = 4;     // results, at most, that FastConvBlocks.cpp computes

}  // namespace onnxc
