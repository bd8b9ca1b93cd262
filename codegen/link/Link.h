// Link.h: objects and weights become the artefact, in process with lld; the last step of compiler/Pipeline.cpp.
//
// Weights never pass through the linker. A shared library or program gets a last read-only segment of the weights' size without content;
// after linking the file is extended and the segment pointed at the appended bytes. An object or archive holds them in a large read-only
// section. Where they go into a file of their own, their stamp takes their place.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace onnxc {

struct LinkInputs {
  llvm::Triple::ArchType arch = llvm::Triple::x86_64;
  enum Kind { SharedLibrary, Executable, Object, Archive } kind = SharedLibrary;
  llvm::ArrayRef<std::string> objects;                    // ELF objects (their bytes): generated code and the stub
  std::set<std::string> customSymbols;                    // of the user's operators that the code calls
  std::set<std::string> customArchives, customLibraries;  // paths of .a and .so that define them
  std::string output;
  std::string weightsFile;  // where the weights go; "": into the artefact
  std::string soname;       // of a shared library; "": none
  std::string modelName;    // a C identifier: the exported getter is onnxc_get_api_<modelName>
  uint64_t weightsSize = 0;
  std::function<llvm::Error(llvm::raw_ostream &)> writeWeights;  // writes exactly weightsSize bytes
  // Writes what belongs beside the artefact, before that takes the place of an earlier one.
  std::function<llvm::Error()> writeCompanions = [] { return llvm::Error::success(); };
};

// Writes the artefact, and the file of its weights, through temporary files beside them: on failure nothing is left and earlier ones are
// untouched.
llvm::Error linkArtefact(const LinkInputs &inputs);

}  // namespace onnxc
