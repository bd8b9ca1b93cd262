// Bitcode.h: the runtime stub and the library kernels that onnxc carries for each target; see runtime_stub/CMakeLists.txt for how they are
// made.
#pragma once
#include "llvm/ADT/StringRef.h"
#include "llvm/TargetParser/Triple.h"

namespace onnxc {
llvm::StringRef stubObject(llvm::Triple::ArchType arch);     // ELF object of the runtime stub
llvm::StringRef programObject(llvm::Triple::ArchType arch);  // ELF object with _start, linked into programs
llvm::StringRef libraryBitcode(llvm::Triple::ArchType arch);
// ELF object of the image libraries, for code that refers to kCodecsSymbol.
llvm::StringRef codecsObject(llvm::Triple::ArchType arch);
inline constexpr const char *kCodecsSymbol = "onnxc_codec_read";
}  // namespace onnxc
