// Files.h: the small files that a compile reads and writes beside the model and the artefact. Each function returns an ExitCode after a
// message.
#pragma once
#include "compiler/Options.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir {
class ModuleOp;
}

namespace onnxc {

// Writes a file whole or not at all.
int writeFile(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> write);
// Reads options.scheduleFile, where one is named, into options.schedules. `mayBeNew`: that there is no such file is no error.
int readSchedules(Options &options, bool mayBeNew);
// What options ask for beside the artefact: headers of the model `modelName`, a rule for build systems.
int writeCompanions(mlir::ModuleOp module, const Options &options, llvm::StringRef modelName);

}  // namespace onnxc
