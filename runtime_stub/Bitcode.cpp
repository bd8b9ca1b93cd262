// Bitcode.cpp: includes the stub, the image libraries, the library's bitcode and the start of programs into the compiler's read-only data,
// for each target.
#include "runtime_stub/Bitcode.h"

#define ONNXC_FILE(NAME, PATH) #NAME "_begin: .incbin \"" PATH "\"\n" #NAME "_end:\n.balign 16\n"
#define ONNXC_FILES(ARCH, FOLDER)                                                                                                          \
  __asm__(".section .rodata\n.balign 16\n" ONNXC_FILE(onnxc_stub_##ARCH, FOLDER "/stub.o")                                                 \
              ONNXC_FILE(onnxc_library_##ARCH, FOLDER "/library.bc") ONNXC_FILE(onnxc_codecs_##ARCH, FOLDER "/codecs.o")                   \
                  ONNXC_FILE(onnxc_program_##ARCH, FOLDER "/program.o") ".previous\n");                                                    \
  extern "C" const char onnxc_stub_##ARCH##_begin[], onnxc_stub_##ARCH##_end[], onnxc_codecs_##ARCH##_begin[],                             \
      onnxc_codecs_##ARCH##_end[], onnxc_library_##ARCH##_begin[], onnxc_library_##ARCH##_end[], onnxc_program_##ARCH##_begin[],           \
      onnxc_program_##ARCH##_end[];

ONNXC_FILES(x86_64, ONNXC_RUNTIME_X86_64)
ONNXC_FILES(aarch64, ONNXC_RUNTIME_AARCH64)

using llvm::StringRef;
using llvm::Triple;
static StringRef between(const char *begin, const char *end) { return StringRef(begin, end - begin); }
#define ONNXC_PICK(NAME)                                                                                                                   \
  (arch == Triple::aarch64 ? between(onnxc_##NAME##_aarch64_begin, onnxc_##NAME##_aarch64_end)                                             \
                           : between(onnxc_##NAME##_x86_64_begin, onnxc_##NAME##_x86_64_end))

namespace onnxc {
StringRef stubObject(Triple::ArchType arch) { return ONNXC_PICK(stub); }
StringRef programObject(Triple::ArchType arch) { return ONNXC_PICK(program); }
StringRef libraryBitcode(Triple::ArchType arch) { return ONNXC_PICK(library); }
StringRef codecsObject(Triple::ArchType arch) { return ONNXC_PICK(codecs); }
}  // namespace onnxc
