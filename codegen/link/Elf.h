// Elf.h: the small ELF files that linking needs and no compiler writes; neighbour of Link.cpp.
#pragma once
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace onnxc {

constexpr const char *WeightsSection = ".onnxc.weights";
constexpr const char *WeightsSymbol = "onnxc_weights";

// What files of a target have in common.
struct ElfTarget {
  uint16_t machine;
  const char *emulation;  // as ld's -m takes it
  const char *loader;     // of programs, as a path
  uint64_t pageBytes;     // the largest pages of its systems
  uint64_t weightsFlags;  // of the section that an object holds the weights in
};
ElfTarget elfTarget(llvm::Triple::ArchType arch);

// What the system says of a file.
llvm::Error fileError(llvm::StringRef path, std::error_code code);
// What went wrong while `out` was written (a full disk, a limit on file sizes).
llvm::Error finishWriting(llvm::raw_fd_ostream &out, llvm::StringRef path);

// An object that defines the hidden symbol onnxc_weights in a section of `size` bytes: without content when `write` is null, else with what
// it writes.
llvm::Error writeWeightsObject(const ElfTarget &target, llvm::StringRef path, uint64_t size,
                               const std::function<llvm::Error(llvm::raw_ostream &)> *write);

// Undefined symbols of the objects that none of them defines, nor, for the user's operators, the shared `libraries`.
llvm::Expected<std::vector<std::string>> undefinedSymbols(const std::vector<std::string> &objects, const std::set<std::string> &libraries);

// Writes shared libraries libc.so.6 and libm.so.6 of nothing but the names in `symbols` to `paths`, so that linking needs no sysroot.
llvm::Error writeLibraryStubs(const ElfTarget &target, const std::array<std::string, 2> &paths, const std::vector<std::string> &symbols);

// Extends a linked file by the weights and points the segment of the weights section at them.
llvm::Error appendWeights(const ElfTarget &target, llvm::StringRef path, uint64_t size,
                          const std::function<llvm::Error(llvm::raw_ostream &)> &write);

}  // namespace onnxc
