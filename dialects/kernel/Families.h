// Families.h: how an op becomes code, which of them generated loops compute, and the table of library kernels. FormKernels makes kernels of
// the families "loops", "contract" and "library" by it (Kernel.td).
#pragma once
#include "dialects/onnx/OnnxBase.h"

namespace onnxc {

enum class Lowering {
  Kernel,    // a kernel of family "library", or of "loops" where Groups says so
  Contract,  // a kernel of family "contract": packed products and windows, with the pointwise ops behind them
  View,      // same bytes, other shape: no kernel at all
  Control    // If, Loop, Scan: becomes scf in the plan
};
Lowering loweringOf(mlir::Operation *op);
Lowering loweringOf(llvm::StringRef op);  // by its name in the dialect

// True where one result element depends on the elements of the operands at one place (after broadcasting) and codegen/cpu/Pointwise.cpp
// writes this op for these element types.
bool isPointwise(mlir::Operation *op);
// The constant exponent of a Pow of which code is products, a quotient or a root; of doubles, no other is pointwise.
std::optional<double> smallExponent(mlir::Operation *op);
// Whether a pointwise op takes tens of instructions.
bool isTranscendental(mlir::Operation *op);
// As isPointwise, with the other operands along dim 1 of the first: BatchNormalization of f32 with given statistics.
bool isChannelwise(mlir::Operation *op);
// Whether the op is one of ONNX's Reduce operators, whose operand 1 says over which axes.
bool isReduction(mlir::Operation *op);
// The neighbouring dims of operand 0 that an op of rows joins: a reduction over constant axes, a softmax or a normalisation of f32 that
// codegen/cpu/RowLoops.cpp writes. Nothing for other ops.
struct RowAxes {
  int64_t begin, end;
  bool reduces;  // one result for each row
};
std::optional<RowAxes> rowAxes(mlir::Operation *op);
// Whether code of the operator is generated for some of its types and shapes, and not only the library has it.
bool hasGeneratedCode(llvm::StringRef op);
// Whether generated loops read and write this type.
bool hasLoopType(mlir::Value v);

// One row of runtime_stub/kernels/Library.def. Null when the library has no such op.
struct LibraryRow {
  llvm::StringRef op, name, types, attributes, flags;
  bool sized;    // has a size function
  bool inPlace;  // the result may lie where operand 0 does
};
const LibraryRow *findLibraryRow(llvm::StringRef op);
// Whether the table has a row "fast.<op>" for the element type of the op's first operand (runtime_stub/kernels/LibraryFast.def).
bool hasFastKernel(mlir::Operation *op);
// The types of an op's values that choose among the kernels of its row, named as there: {"f32"}.
llvm::SmallVector<std::string> libraryTypes(const LibraryRow &row, mlir::Operation *op);
// "TopK_f32": the row's name and those types.
std::string librarySymbol(const LibraryRow &row, mlir::Operation *op);

}  // namespace onnxc
