// Bitcode.h: the runtime stub and the library kernels that onnxc carries; see runtime_stub/CMakeLists.txt for how they are made.
#pragma once
#include "llvm/ADT/StringRef.h"

namespace onnxc {
llvm::StringRef stubObject();    // ELF object of the runtime stub
llvm::StringRef codecsObject();  // ELF object of the image libraries, for code that refers to CodecsSymbol
inline constexpr const char *CodecsSymbol = "onnxc_codec_read";
llvm::StringRef libraryBitcode();
llvm::StringRef programObject();  // ELF object with _start, linked into programs
}  // namespace onnxc
