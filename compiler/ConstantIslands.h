// ConstantIslands.h: folds ops that depend on constants alone by compiling and running them. compiler/Pipeline.cpp runs it between the
// first simplifications and the recognisers, so that these see plain weights; no op has a second implementation for folding.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace onnxc {

// Compiles a module whose `main` has no inputs to a shared library at `path`; false: it cannot be done.
using BuildIsland = llvm::function_ref<bool(mlir::ModuleOp island, llvm::StringRef path)>;

// Replaces what such ops of `main` give to others by constants; an island that fails is left for the run, which names the node. Results
// beyond `maxBytes` together, and those much larger than what they are made of, stay computed. True: something was folded.
bool foldConstantIslands(mlir::ModuleOp module, int64_t maxBytes, BuildIsland build);

}  // namespace onnxc
