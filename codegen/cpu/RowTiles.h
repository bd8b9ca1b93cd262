// RowTiles.h: what products on tiles of bf16 (AMX) share, of rows in RowTiles.cpp and of windows in ConvTiles.cpp.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// Whether `enough` and the processor multiplies such tiles.
mlir::Value haveTiles(KernelCode &c, mlir::Value enough);

}  // namespace onnxc
