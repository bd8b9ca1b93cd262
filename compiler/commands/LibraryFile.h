// LibraryFile.h: what is looked at in a library's file before the system maps it; neighbour of Artefact.h.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/Path.h"

namespace onnxc {

// What is no library is a model.
inline bool isLibrary(llvm::StringRef path) { return llvm::sys::path::extension(path) == ".so"; }

// What keeps the library at `path`, which messages call `name`, from being loaded: that it is made for another machine, or that its file
// ends before what its headers speak of. What is no ELF file at all is left to the dynamic linker.
llvm::Error checkLibraryFile(llvm::StringRef name, llvm::StringRef path);

}  // namespace onnxc
