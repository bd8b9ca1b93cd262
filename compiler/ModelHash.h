// ModelHash.h: the hash by which an artefact names the model that it was made from.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace onnxc {

// "blake3:<hex>": of the model's file, where it has data files followed by their sizes and pieces; "" where one cannot be read. Holes cost
// nothing, and a copy that has none gives the same hash.
std::string modelHash(llvm::StringRef model, llvm::ArrayRef<llvm::StringRef> dataFiles);

}  // namespace onnxc
