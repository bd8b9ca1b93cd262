// Window.h: windows over blocked activations whose lanes read lanes of one block. For ContractWindow.cpp, and ContractExpand.cpp, whose
// input is computed on the way.
#pragma once
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Strips.h"
#include "codegen/cpu/Tile.h"

namespace onnxc {

class WindowEmitter {
public:
  using Value = mlir::Value;
  // `op`: packed.GroupedConv or packed.Pool.
  WindowEmitter(KernelCode &code, mlir::Operation *op);
  // Row `oh` of block `block` of image `n` of the result. `plane`: where the block of the input that it reads begins, in the first frame of
  // a video.
  void row(Value n, Value block, Value oh, Value plane);
  // Units of parallel work, a row each.
  void emit();
  const WindowShape &shape() const { return w; }

private:
  int64_t registers() const { return c.vectorRegisters * c.vectorBits / (8 * kPanelBytes); }  // of 16 lanes
  int64_t columnReach() const { return (w.kw - 1) * w.dilations[1] + 1; }                     // of a window
  int64_t mostColumns() const { return registers() * 7 / 8; }                                 // that a tile joins first
  bool joinsColumns() const;
  int64_t chainsOf(const StripTile &strip) const;
  Value nothing();
  Code::Values starts(const StripTile &strip, Value block);
  Code::Values line(const StripTile &strip, mlir::ValueRange start, Value line, Value weights, Value column);
  Code::Values results(const StripTile &strip, Code::Values acc);
  Value load(Value at, int64_t channel);
  Value combine(Value acc, Value v, Value weight);
  Value pixel(const StripTile &strip, Value line, Value at);
  Code::Values columns(const StripTile &strip, mlir::ValueRange start, Value line, Value weights, Value left);
  Code::Values taps(const StripTile &strip, mlir::ValueRange start, Value line, Value weights, Value left);
  Value divisor(Value top, Value column, Value depth);
  void tile(const StripTile &strip, Value n, Value block, Value oh, Value column, Value plane);

  KernelCode &c;
  mlir::Operation *op;
  Epilogue epilogue;
  Code::Values x, y;
  llvm::SmallVector<int64_t> pads;
  WindowShape w;
  std::optional<onnx::FrameAxis> frames;
  int64_t channels = 1, multiplier = 1;  // of a group; its results for each of them
  bool convolves, average = false, includePad = false;
  mlir::VectorType type;
};

}  // namespace onnxc
