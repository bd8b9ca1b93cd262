// RowWalk.h: walks the rows of a loop kernel, and joins what is computed at their points. RowLoops.cpp uses it.
//
// along      lanes run along the row and are joined at its end
// across     the row is not the innermost dim: each lane is a row of its own
// Sums are taken in lanes in a fixed order, in doubles where a lane adds many elements.
#pragma once
#include "codegen/cpu/Space.h"

namespace onnxc {

// Most: the largest of what is not NaN. Nan: whether there is one.
enum class Join { Sum, Prod, Max, Min, Most, Nan };

struct RowWalk {
  KernelCode &c;
  mlir::Type number;  // f32 or f64, of the row's elements
  Space space;
  int64_t lanes;                                     // of a whole vector
  bool across = false, masks = false, wide = false;  // masks: they cover what is left over of a row; wide: sums are doubles
  size_t firstRow = 0, endRow = 0;                   // merged dims of the row
  mlir::Value length;                                // of a row

  // Of the rows that are written now.
  llvm::SmallVector<mlir::Value> indices;  // of all merged dims
  int64_t width = 1;                       // lanes of a vector
  bool few = false;                        // across: fewer columns at a time than hide the latency of their sums

  RowWalk(KernelCode &c, mlir::Type number, llvm::ArrayRef<int64_t> localDims)
      : c(c), number(number), space(c, localDims), lanes(std::clamp<int64_t>(c.vectorBits / 16, 8, 16)) {}

  // Takes the dims of the merged space's segment 1 as the row. The row's length, for the kernel's description.
  mlir::AffineExpr layOut();

  // An index of the last dim, and how many elements from there; those that the mask has, where it is not null.
  struct At {
    mlir::Value index;
    int64_t lanes;
    mlir::Value mask;
  };
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(At)>;

  // Runs `body` at every point of the row, and joins what it gives. `cheap`: a step takes few instructions.
  llvm::SmallVector<mlir::Value> overRow(llvm::ArrayRef<Join> joins, Body body, bool cheap = false);

  mlir::Value sizeOf(size_t d) { return space.value(space.sizes[d]); }
  mlir::Type floats(mlir::Type element, int64_t n) { return n > 1 ? mlir::Type(mlir::VectorType::get({n}, element)) : element; }

private:
  using Values = llvm::SmallVector<mlir::Value>;
  using Step = llvm::function_ref<Values(mlir::Value, mlir::ValueRange)>;

  Values walk(llvm::ArrayRef<Join> joins, Body body, bool cheap);
  // What joins `lanes` lanes.
  mlir::Type accumulator(Join join, int64_t lanes);
  mlir::Value start(Join join, mlir::Type t);
  mlir::Value combine(Join join, mlir::Value acc, mlir::Value v);
  mlir::Value joinLanes(Join join, mlir::Value v);
  // The accumulators of the vectors, then those of what is left over where no mask covers it (of the lanes themselves, across).
  Values nest(size_t d, llvm::ArrayRef<Join> joins, mlir::ValueRange accs, Body body, int64_t ways);
  Values step(llvm::ArrayRef<Join> joins, mlir::ValueRange accs, Body body, At at);
  Values innermost(llvm::ArrayRef<Join> joins, mlir::ValueRange accs, Body body, int64_t ways);
  // Vectors of half the lanes, a quarter and so on, joined into the first lanes of the accumulators; and where what is left then begins.
  std::pair<Values, mlir::Value> halves(llvm::ArrayRef<Join> joins, mlir::ValueRange accs, Body body, mlir::Value from, mlir::Value size);
  // A shorter vector, with what changes no result in the lanes behind it.
  mlir::Value padded(Join join, mlir::Value v, int64_t lanes);
  // Points [0, end) of the row, `ways` of those that a step of `each` takes in accumulators of their own.
  Values sideBySide(llvm::ArrayRef<Join> joins, mlir::ValueRange accs, mlir::Value end, int64_t each, int64_t ways, Step step);
  // The same across, along the row's last dim.
  Values rowsSideBySide(llvm::ArrayRef<Join> joins, mlir::ValueRange accs, Body body, int64_t ways);
};

}  // namespace onnxc
