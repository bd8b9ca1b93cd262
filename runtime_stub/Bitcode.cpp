// Bitcode.cpp: includes the stub, the image libraries, the library's bitcode and the start of programs into the compiler's read-only data.
#include "runtime_stub/Bitcode.h"

__asm__(".section .rodata\n.balign 16\n"
        "onnxc_stub_begin: .incbin \"" ONNXC_STUB_O "\"\nonnxc_stub_end:\n.balign 16\n"
        "onnxc_library_begin: .incbin \"" ONNXC_LIBRARY_BC "\"\nonnxc_library_end:\n.balign 16\n"
        "onnxc_codecs_begin: .incbin \"" ONNXC_CODECS_O "\"\nonnxc_codecs_end:\n.balign 16\n"
        "onnxc_program_begin: .incbin \"" ONNXC_PROGRAM_O "\"\nonnxc_program_end:\n.previous\n");
extern "C" const char onnxc_stub_begin[], onnxc_stub_end[], onnxc_codecs_begin[], onnxc_codecs_end[], onnxc_library_begin[],
    onnxc_library_end[], onnxc_program_begin[], onnxc_program_end[];

namespace onnxc {
llvm::StringRef stubObject() { return llvm::StringRef(onnxc_stub_begin, onnxc_stub_end - onnxc_stub_begin); }
llvm::StringRef codecsObject() { return llvm::StringRef(onnxc_codecs_begin, onnxc_codecs_end - onnxc_codecs_begin); }
llvm::StringRef libraryBitcode() { return llvm::StringRef(onnxc_library_begin, onnxc_library_end - onnxc_library_begin); }
llvm::StringRef programObject() { return llvm::StringRef(onnxc_program_begin, onnxc_program_end - onnxc_program_begin); }
}  // namespace onnxc
