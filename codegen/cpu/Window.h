// Window.h: windows over blocked activations that keep each channel in its lane. For ContractWindow.cpp, and ContractExpand.cpp, whose
// input is computed on the way.
#pragma once
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Strips.h"

namespace onnxc {

class WindowEmitter {
public:
  using Value = mlir::Value;
  // `op`: packed.DepthwiseConv or packed.Pool.
  WindowEmitter(KernelCode &code, mlir::Operation *op);
  // Row `oh` of block `block` of image `n` of the result. `plane`: where the block of the input that it reads begins.
  void row(Value n, Value block, Value oh, Value plane);
  // Units of parallel work, a row each.
  void emit();

private:
  Value load(Value at);
  Value combine(Value acc, Value v, Value weight);
  Code::Values taps(const StripTile &strip, mlir::ValueRange start, Value line, Value weights, Value column);
  Value divisor(Value top, Value column);
  void tile(const StripTile &strip, Value n, Value block, Value oh, Value column, Value plane);

  KernelCode &c;
  mlir::Operation *op;
  Epilogue epilogue;
  Code::Values x, y;
  WindowShape w;
  int64_t multiplier = 1;  // outputs of one input channel
  bool depthwise, average = false, includePad = false;
  mlir::VectorType type;
};

}  // namespace onnxc
