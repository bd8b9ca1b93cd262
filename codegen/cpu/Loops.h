// Loops.h: emitters of the family "loops". Code.cpp dispatches to emitLoops.
#pragma once
#include "codegen/cpu/Code.h"
#include "mlir/IR/AffineExpr.h"

namespace onnxc {

mlir::LogicalResult emitLoops(mlir::ModuleOp target, kernel::FuncOp kernel, const Isa &isa);
// RowLoops.cpp: a group with one op of rows, `row`.
mlir::LogicalResult emitRows(mlir::ModuleOp target, kernel::FuncOp kernel, mlir::Operation *row, const Isa &isa);

// Permute.cpp: writes the kernel when it is one transposition that moves the last dim.
class Space;
bool emitPermute(KernelCode &c, Space &space);

// The kernel's units of parallel work, and how many of them are worth a task.
void setExtent(kernel::FuncOp kernel, mlir::AffineExpr extent, int64_t grain);

}  // namespace onnxc
