// Wire.h: reads the protobuf wire format of a model just far enough to leave tensor payloads in the file. ModelFile.cpp parses what
// remains.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>

namespace onnxc::importer {

// A raw payload of at least this many bytes stays in the file.
constexpr uint64_t kPayloadBytes = 1024;
// The key of the external_data entry that stands for such a payload; its value is "<offset>,<size>" within the model file.
inline constexpr llvm::StringLiteral kPayloadKey = "onnxc.payload";

// Copies `model` to `skeleton` without payloads. False: `error` says what is malformed and at which byte.
bool skim(llvm::StringRef model, std::string &skeleton, std::string &error);

}  // namespace onnxc::importer
