// ConvTiles.h: windows of direct convolutions on processors that multiply tiles of bf16 (AMX), as RowTiles.cpp multiplies rows: the library
// adds up products of the digits of floats (runtime_stub/kernels/FloatWindows.cpp). For ContractConv.cpp.
#pragma once
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Tile.h"
#include "codegen/cpu/Strips.h"
#include "runtime_stub/kernels/FloatWindows.h"

namespace onnxc {

// A convolution of blocks of 16 channels, with filters in the order of FloatWindows.
struct WindowsProblem {
  using Value = mlir::Value;
  WindowShape w;
  int64_t blocks, panels, groups;  // of input channels and results of a group
  mlir::ValueRange x, y;           // sizes, of which the last two are those that windows move along
  Value lineBytes, pixelBytes;     // of the image
  Value filters, bias, out;        // memory; the bias may be null
  int64_t panelBytes;              // of the filters
  std::function<Value(Value n, Value group)> imageOf;
  std::function<Code::Values(Value n, Value panel, Value row, Value column)> index;  // of the result's axes
};

class ConvTiles {
public:
  ConvTiles(KernelCode &code, const Epilogue &epilogue, const WindowsProblem &problem);
  // Whether that is faster than vectors.
  bool gains() const;
  // Bytes that a task needs.
  int64_t scratch() const;
  // Whether the processor has such tiles and there are enough windows.
  mlir::Value canRun() const;
  // What the task's share of `units`, which are all products of all images, comes to.
  void emit(mlir::Value units) const;

private:
  using Value = mlir::Value;
  struct Rectangle {
    Value row, column, rows, columns;
  };
  bool isKnown() const { return size[0] && size[1]; }
  bool isShort() const;  // windows are
  void finish(Value sums, Value room, const Rectangle &part, Value n, Value first, Value count) const;

  KernelCode &c;
  const Epilogue &epilogue;
  const WindowsProblem &p;
  std::optional<int64_t> size[2];  // of a result
  FloatWindows shape;              // as far as it is known
  // Of a strip at most: windows, where sizes are unknown kWindows of these; pixels that windows read.
  int64_t lines = 16, columns = kWindowColumns, pixels = 0;
};

}  // namespace onnxc
