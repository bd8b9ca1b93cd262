// Epilogue.h: what a contraction kernel computes on its accumulators before it stores them: the ops of the kernel behind the contraction.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// The place of 16 lanes in the result.
struct LanePlace {
  mlir::Value offset;                   // bytes from its start
  std::function<Code::Values()> index;  // of its axes, the lanes' axis last (index of its first lane)
};

class Epilogue {
public:
  // `root`: the contraction, the kernel's first op; null: nothing is computed.
  Epilogue(KernelCode &code, mlir::Operation *root);
  // The last op's value of 16 lanes of the contraction's result. `mask`: lanes that exist; null: all.
  mlir::Value apply(mlir::Value lanes, const LanePlace &place, mlir::Value mask) const;
  // Asks for what apply() will read of operands of the result's size.
  void prefetch(const LanePlace &place) const;

  // Whether it takes tens of instructions: computed on the accumulators of a whole tile at once it would spill all of them, so a tile is
  // stored first and taken up again row by row.
  bool isLong() const;

private:
  mlir::Value operand(mlir::Value v, const LanePlace &place, mlir::Value mask) const;
  KernelCode &c;
  mlir::Operation *root;
};

}  // namespace onnxc
