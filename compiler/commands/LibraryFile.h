// LibraryFile.h: what is looked at in a library's file before the system maps it; neighbour of Artefact.h.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

namespace onnxc {

// What is no library is a model.
inline bool isLibrary(llvm::StringRef path) { return llvm::sys::path::extension(path) == ".so"; }

// What the file at `path` is, and what to do with it, where it is an archive, an object file, a program or a library of another name: "a
// program: run it itself; --help tells how"; "" where it is none of these.
std::string otherArtefact(llvm::StringRef path);

// The target that the library at `path` is made for, where this machine is another; empty: it is none, or this machine's.
llvm::StringRef otherTarget(llvm::StringRef path);

// What the library at `path`, of any machine, says of itself as Describe.h makes it. `name`: what messages call it.
llvm::Expected<llvm::json::Object> readDescription(llvm::StringRef name, llvm::StringRef path);

// What keeps the library at `path`, which messages call `name`, from being loaded: that it is made for another machine, or that its file
// ends before what its headers speak of. What is no ELF file at all is left to the dynamic linker.
llvm::Error checkLibraryFile(llvm::StringRef name, llvm::StringRef path);

}  // namespace onnxc
