// Rows.h: products of a range of rows with packed panels: MatMul, Gemm, convolutions with 1x1 filters and the points of Winograd's.
// The Contract*.cpp say where their operands are.
#pragma once
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Schedule.h"
#include "dialects/onnx/Packed.h"

namespace onnxc {

// One product: result(row, panel) = start(panel) + sum over k of a(row, k) * b(panel, k); or of (a(row, k) - b(panel, k)) squared.
struct RowsProblem {
  using Value = mlir::Value;
  Value a, b, out;                                            // first byte of each
  const RowsProblem *stored = nullptr;                        // whose panels `b` is a widened copy of
  Value rowBytes;                                             // from one row of A to the next
  Value blockBytes;                                           // from 16 k to the next 16; null: k are side by side
  Value depth;                                                // number of k; of blocks of 16 where `blockBytes`
  int64_t lastSteps = kLanes;                                 // k of the last block that are not zero in B, at least
  Value panelBytes;                                           // from one panel of B to the next
  Value stepBytes;                                            // from one k of a panel to the next; null: they are side by side
  Value outRowBytes, outPanelBytes;                           // steps of the result
  Value outOffset;                                            // bytes of `out` behind the result's start
  Value mask;                                                 // lanes of the last panel; null: all
  Value bias;                                                 // 16 numbers a panel; null: zero
  bool distances = false;                                     // squares of differences instead of products
  Value firstStep, endStep;                                   // of `depth`, where a product goes on, in one pass; null: all
  Value nextB;                                                // what is read of B after these panels; null: the panels behind them
  Value nextPanelBytes;                                       // from one panel there to the next; null: as in B
  std::function<Code::Values(Value row, Value panel)> index;  // of the result's axes
  const RowsProblem &inMemory() const { return stored ? *stored : *this; }
};

// How rows and panels are cut; units of parallel work are (panel group, row tile) pairs, of which a task takes a chunk of rows at once.
struct RowsSchedule {
  TileShape tile;
  std::optional<int64_t> rows, panels;                      // where they are known
  PanelType type;                                           // of the panels where they are stored
  int64_t chunkTiles = 1, groupPanels = 1, depthBlock = 0;  // in tiles, panels, steps of `depth`
  bool wholeTiles = false;                                  // unknown rows are a multiple of a tile's
  bool mayRound = false;                                    // rows to bf16, which the model's are
  bool oneProblem = false;                                  // of all groups: so few rows meet the panels of several at once
  // `most`: rows of a tile.
  RowsSchedule(KernelCode &code, std::optional<int64_t> rows, std::optional<int64_t> panels, std::optional<int64_t> depth,
               int64_t depthStep, PanelType type, int64_t most = 32);
  // Replaces the cost model's units by those of the kernel's schedule (Schedule.h).
  void scheduleChunk(kernel::FuncOp kernel) { chunkTiles = scheduled(kernel, "chunk", chunkTiles); }
  void scheduleGroup(kernel::FuncOp kernel);
  void scheduleDepth(kernel::FuncOp kernel, int64_t steps);
  // Tiles of `tile.rows` rows come first; the rest of known rows is cut into tiles one row shorter.
  int64_t fullTiles() const;
  int64_t tiles() const;
  mlir::AffineExpr tiles(mlir::AffineExpr rows) const;
  mlir::Value tileOf(Code &c, mlir::Value row) const;  // of known rows
  mlir::Value tiles(Code &c, mlir::Value rows) const;
  // Units of parallel work: the tiles of `rows`, whose products have `steps` each, with one group of panels, then with the next; `alike`
  // neighbouring groups have the same rows.
  UnitLoop units(KernelCode &c, mlir::Value rows, int64_t alike, int64_t steps) const;
  // Whether tiles ask memory for the panels of the next pass.
  bool asksAhead(const Code &c) const { return c.vectorBits >= 512 && !(rows && tiles() < 2); }
  // Of a row tile and a group's panels of `depth` steps; few rows take as long as the panels need to come from memory.
  double tileFlops(int64_t depth) const { return 2.0 * double(std::max<int64_t>(tile.rows, 8) * groupPanels * kLanes * depth); }
  // Of so many rows the narrow panels of a pass are widened before its tiles, which else do it whenever they load them.
  int64_t widenRows() const { return 2 * tile.rows + 1; }
};

// How many channels of the last block of `channels` a product takes: a few more than there are, as steps are written by fours.
int64_t lastBlockSteps(int64_t channels);

class RowsEmitter {
public:
  RowsEmitter(KernelCode &code, const Epilogue &epilogue, const RowsSchedule &schedule) : c(code), epilogue(epilogue), s(schedule) {}
  using Value = mlir::Value;
  // Tiles [first, end) of `rows` and panels [from, to).
  struct Tiles {
    Value first, end;
  };
  void emit(const RowsProblem &p, Value rows, Tiles tiles, Value panels, Value from, Value to);
  // The panels [from, to) of a problem.
  struct Group {
    RowsProblem p;
    Value from, to;
  };
  // The kernel's units: all row tiles of one of `groups` groups, then of the next, whose panels have `steps` each; `alike` groups
  // have the same rows, of which those that are near meet all of them. Narrow panels are widened pass by pass where there are many rows.
  void emitGroups(llvm::function_ref<Group(Value group)> groupAt, Value groups, int64_t alike, Value rows, Value panels, int64_t steps);

private:
  bool hasFew() const;
  void emitFew(const Group &g, Value rows, Value panels);
  // On tiles of bf16 (RowTiles.cpp), which a processor may have.
  bool gainsByTiles(int64_t steps) const;
  bool isOneDigit() const { return s.mayRound && s.type.element == PanelType::BF16; }
  int64_t tilesScratch(int64_t steps) const;
  Value canTile(Value rows);
  void emitTiles(llvm::function_ref<Group(Value group)> groupAt, Value groups, int64_t alike, Value rows, Value panels, int64_t steps);
  void finishSums(const RowsProblem &p, Value sums, Value firstRow, Value endRow, Value panels, Value from, Value to);
  // The rows [begin, end) of a tile are its own; others are computed, those from `end` on as the last row, and dropped. Null: no bound.
  struct Own {
    Value begin = nullptr, end = nullptr;
    Value last(Code &c) const { return c.sub(end, 1); }
    // `row`, or the last one where it lies behind that: no operand has more.
    Value existing(Code &c, Value row) const { return end ? c.min(row, last(c)) : row; }
  };
  // Where a tile is. `ahead`: lines of B to ask for on the way; null: none.
  struct Place {
    Value row, panel, ahead;
    Own rows;
  };
  // The steps up to `to` of a group of panels: where in B they begin, and what of B is read after them.
  struct Pass {
    Value to, here, next;
  };
  // Of what `b` points to.
  PanelType typeOf(const RowsProblem &p) const { return p.stored ? PanelType{} : s.type; }
  Pass passOf(const RowsProblem &p, Value from, Value group);
  Value linesAhead(const RowsProblem &p, const Pass &pass, Value tile) const;
  RowsProblem widened(const RowsProblem &p, Value group) const;
  RowsProblem widen(const RowsProblem &wide, Value from, Value to, Value begin, Value end);
  using RowsBody = llvm::function_ref<void(Value row, int64_t height, Own rows)>;
  void rowTiles(Value rows, Tiles tiles, RowsBody body);
  void restTiles(Value from, Value to, RowsBody body);
  void restOfMany(Value from, Value to, RowsBody body);
  void panelTiles(Value panels, Value from, Value to, llvm::function_ref<void(Value panel, int64_t width)> body);
  struct Results;  // of a tile
  void tile(const RowsProblem &p, const Tile &t, Place at, Value panels, Value from, Value to);
  Tile::Values steps(const RowsProblem &p, const Tile &t, mlir::ValueRange acc, Place at, Value from, Value to);

  KernelCode &c;
  const Epilogue &epilogue;
  const RowsSchedule &s;
  Value sums;  // of a tile on the stack, for an epilogue that takes them one by one: what is stored under a mask is not loaded at once
};

// The block of input channels where those of group `group` begin, of `all`. `op`: null where there is one group.
mlir::Value firstBlock(KernelCode &code, onnx::PackedConvOp op, mlir::Value group, mlir::Value all);
// The product that group `group` of a 1x1 convolution of image `n` is; `out` is left to the caller. Rows are pixels, blocks of channels
// apart.
RowsProblem pointwiseRows(KernelCode &code, onnx::PackedConvOp op, mlir::Value n, mlir::Value group);

}  // namespace onnxc
