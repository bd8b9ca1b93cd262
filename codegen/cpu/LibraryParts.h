// LibraryParts.h: long code of the library that kernels call as it is, in modules of its own; neighbour of Compile.cpp.
#pragma once
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Module.h"
#include <string>
#include <vector>

namespace onnxc {

struct LibraryPart {
  std::string name;     // the hidden symbol that it defines: the function's or table's, a hash of the part and the level
  std::string bitcode;  // names it "part"
};

// Moves long functions of the library that no caller could take inline (tasks of a parallel loop, what several callers share or what asks
// not to be), and tables, out of `m`, which then declares them. Equal code is an equal part in every model: parts are compiled side by side
// with the module, and found in a cache whatever else a model has. `own`: what of `m` is not the library's. `level`: the suffix of symbols
// of `m`'s level, as an artefact has one part of that name for each.
std::vector<LibraryPart> takeLibraryParts(llvm::Module &m, const llvm::SmallPtrSetImpl<llvm::GlobalObject *> &own, llvm::StringRef level);

}  // namespace onnxc
