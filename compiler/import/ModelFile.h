// ModelFile.h: the bytes behind a model: the mapped .onnx file, its external data files, and the parsed skeleton. Tensors.cpp reads weights
// through it.
#pragma once
#include "compiler/import/Wire.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <onnx/onnx_pb.h>

namespace onnxc::importer {
namespace pb = ::onnx;

using Buffer = std::shared_ptr<llvm::MemoryBuffer>;

// Bytes and what keeps them mapped.
struct Bytes {
  llvm::ArrayRef<char> data;
  Buffer owner;
};

class ModelFile {
public:
  // Maps and parses `path`. False: `error` is a full sentence without the path.
  bool open(llvm::StringRef path, std::string &error);
  // The payload that the skimmer left in the file; `place` is the value of kPayloadKey.
  bool payload(llvm::StringRef place, Bytes &bytes, std::string &error) const;
  // The bytes of a tensor with data_location EXTERNAL; `expected` is its size by shape and type, used where the entry gives no length.
  bool external(const pb::TensorProto &tensor, uint64_t expected, Bytes &bytes, std::string &error);

  // Paths of the data files that were read, sorted.
  std::vector<std::string> dataFiles() const;

  pb::ModelProto model;
  std::string path;
  bool allowOutside = false;               // see ImportOptions
  int64_t maxConstant = int64_t(1) << 30;  // bytes

private:
  bool openExternal(llvm::StringRef location, Buffer &buffer, std::string &error);

  Buffer file;
  llvm::StringMap<Buffer> externals;
};

}  // namespace onnxc::importer
