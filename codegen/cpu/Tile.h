// Tile.h: the register tile of contractions: rows x panels accumulators of 16 lanes, and how a row range is cut into tiles.
//
// row     one row of A, or one output pixel: its elements are broadcast
// panel   16 columns of B, or output channels: its elements are loaded side by side
#pragma once
#include "codegen/cpu/Code.h"
#include "dialects/onnx/Blocked.h"

namespace onnxc {

constexpr int64_t kPanelBytes = kLanes * 4;  // a step of a panel of f32

struct TileShape {
  int64_t rows, panels;
};

// What the lanes of a panel are in memory: f32 or f64, which multiply as they are, or narrow numbers, halves and signed bytes, that are
// widened to f32 when they are loaded.
struct PanelType {
  enum { F32, BF16, F16, I8, F64 } element = F32;
  static PanelType of(mlir::Type element) {
    return {element.isInteger(8) ? I8 : element.isBF16() ? BF16 : element.isF16() ? F16 : element.isF64() ? F64 : F32};
  }
  bool isNarrow() const { return element != F32 && element != F64; }
  // Of what is multiplied, which rows and results are, too.
  mlir::Type number(Code &c) const { return element == F64 ? mlir::Type(c.b.getF64Type()) : mlir::Type(c.f32); }
  int64_t numberBytes() const { return element == F64 ? 8 : 4; }
  int64_t resultBytes() const { return kLanes * numberBytes(); }                                      // of 16 of them
  int64_t bytes() const { return element == I8 ? kLanes : isNarrow() ? kLanes * 2 : resultBytes(); }  // of a step
  mlir::Value load(Code &c, mlir::Value address) const;                                               // a step's lanes as numbers
};

// The tile that takes the fewest cycles for `rows` (nothing: unknown) x `panels` under the register budget of `c`: accumulators and,
// whichever are fewer, the panels that are loaded and one broadcast or all broadcasts and one panel stay in registers. The latter reads
// more panels than rows: only where `near` of them, of the steps that tiles share, lie in the first-level cache.
TileShape chooseTile(std::optional<int64_t> rows, int64_t panels, const Code &c, int64_t near = 0, int64_t mostRows = 32,
                     PanelType type = {});

struct Tile {
  Code &c;
  int64_t rows, panels;
  PanelType b = {}, ahead = {};  // of what is multiplied, and of what is asked for
  mlir::Value stepBytes = {};    // from one step of a panel to the next; null: b.bytes()
  mlir::Value lanes = {};        // of the last panel that may be read; null: all
  bool distances = false;        // squares of differences instead of products
  using Value = mlir::Value;
  using Values = Code::Values;

  Value stepsBehind(Value address, Value steps) const { return c.at(address, c.mul(steps, stepBytes ? stepBytes : c.n(b.bytes()))); }
  mlir::VectorType type() const { return c.vec(b.number(c), kLanes); }
  Values fill(llvm::function_ref<Value(int64_t row, int64_t panel)> start) const;
  // acc + `count` products: step i reads the scalar at row(r) + i * rowStep and the vector i steps behind panel(p), and asks for the
  // panel line at `next` + i * ahead.bytes() for the second-level cache. A null row address leaves the row alone.
  Values products(mlir::ValueRange acc, llvm::function_ref<Value(int64_t)> row, llvm::function_ref<Value(int64_t)> panel, int64_t count,
                  int64_t rowStep = 4, Value next = nullptr) const;

private:
  Value added(Value scalar, Value column, Value to) const;
  Value column(llvm::ArrayRef<Value> bases, int64_t panel, int64_t i) const;
  Value scalar(Value row, int64_t i, int64_t count, int64_t rowStep, Value &four) const;
  void broadcastFirst(Values &acc, llvm::ArrayRef<Value> scalars, llvm::ArrayRef<Value> panel, int64_t i) const;
};

}  // namespace onnxc
