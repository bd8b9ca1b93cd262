// ModelFile.cpp: mapping and parsing of Wire.h's skeleton; external data files, which must lie in the model's folder.
#include "compiler/import/ModelFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <google/protobuf/io/coded_stream.h>

using llvm::StringRef;
namespace onnxc::importer {

static bool mapFile(StringRef path, Buffer &buffer, std::string &error) {
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status)) {
    error = "cannot be read: " + code.message();
    return false;
  }
  if (!llvm::sys::fs::is_regular_file(status)) {
    error = llvm::sys::fs::is_directory(status) ? "is a folder, not a file" : "is not a regular file";
    return false;
  }
  auto mapped = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!mapped) {
    error = "cannot be read: " + mapped.getError().message();
    return false;
  }
  buffer = std::move(*mapped);
  return true;
}

// What a file is that people take for a model, and what to do with it.
static std::string foreignFormat(StringRef data) {
  static const struct {
    size_t at;
    StringRef mark, advice;
  } formats[] = {{0, "version https://git-lfs", "it is a pointer of Git LFS; get the file with git lfs pull"},
                 {0, "PK\3\4", "it is a ZIP archive; unpack it, or if PyTorch made it, export the model with torch.onnx.export"},
                 {0, "\x80\2", "it is a Python pickle; export the model with torch.onnx.export"},
                 {0, "\x80\4", "it is a Python pickle; export the model with torch.onnx.export"},
                 {4, "TFL3", "it is a TensorFlow Lite model; convert it with tf2onnx"},
                 {4, "ORTM", "it is in ONNX Runtime's own format; give the .onnx file that it was made from"},
                 {0, "\x89HDF", "it is an HDF5 file; if Keras made it, convert the model with tf2onnx"},
                 {0, "\x1f\x8b", "it is compressed by gzip; unpack it"},
                 {0,
                  "\x7f"
                  "ELF",
                  "it is a program or library"},
                 {0, "!<arch>\n", "it is a static library"},
                 {0, "GGUF", "it is in the GGUF format; give an ONNX export of the model"},
                 {0, "<!DOCTYPE", "it is a web page; the download failed"},
                 {0, "<html", "it is a web page; the download failed"}};
  for (const auto &format : formats)
    if (data.substr(format.at).starts_with(format.mark))
      return format.advice.str();
  StringRef head = data.take_front(512);
  if (llvm::all_of(head, [](char c) { return llvm::isPrint(c) || llvm::isSpace(c); }))
    return "it is text; models are binary protobuf files";
  return {};
}

static bool parse(const std::string &skeleton, pb::ModelProto &model, std::string &error) {
  if (skeleton.size() > INT32_MAX) {
    error = "holds more than 2 GiB besides its tensors' raw data; store weights as raw or external data";
    return false;
  }
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(skeleton.data()), int(skeleton.size()));
  stream.SetRecursionLimit(450);
  stream.SetTotalBytesLimit(INT32_MAX);
  if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    error = "is not an ONNX model: the protobuf data is malformed or nested too deeply";
    return false;
  }
  return true;
}

bool ModelFile::open(StringRef file_path, std::string &error) {
  path = file_path.str();
  if (!mapFile(path, file, error))
    return false;
  if (file->getBufferSize() == 0) {
    error = "is empty";
    return false;
  }
  std::string skeleton, what;
  if (!skim(file->getBuffer(), skeleton, what)) {
    std::string foreign = foreignFormat(file->getBuffer());
    error = "is not an ONNX model: " + (foreign.empty() ? what : foreign);
    return false;
  }
  if (!parse(skeleton, model, error))
    return false;
  if (!model.has_graph()) {
    error = "is not an ONNX model: it has no graph";
    return false;
  }
  return true;
}

static bool slice(const Buffer &buffer, uint64_t offset, uint64_t size, Bytes &bytes) {
  if (offset > buffer->getBufferSize() || size > buffer->getBufferSize() - offset)
    return false;
  bytes = {llvm::ArrayRef<char>(buffer->getBufferStart() + offset, size), buffer};
  return true;
}

bool ModelFile::payload(StringRef place, Bytes &bytes, std::string &error) const {
  auto [offsetText, sizeText] = place.split(',');
  uint64_t offset, size;
  if (!offsetText.getAsInteger(10, offset) && !sizeText.getAsInteger(10, size) && slice(file, offset, size, bytes))
    return true;
  error = "its external_data entry '" + kPayloadKey.str() + "' is not for files";
  return false;
}

// Where a data file of the model at `path` lies; `error`: what is wrong with `location`. Folders of both are compared after links are
// resolved, so a link cannot lead out.
static bool findExternal(StringRef path, StringRef location, bool allowOutside, llvm::SmallString<256> &found, std::string &error) {
  namespace fs = llvm::sys::fs;
  namespace paths = llvm::sys::path;
  bool plain = !paths::is_absolute(location) && !llvm::is_contained(llvm::make_range(paths::begin(location), paths::end(location)), "..");
  if (location.empty() || location.contains('\0') || location.contains('\\') || (!plain && !allowOutside)) {
    error = "is not a plain path inside the model's folder; --allow-external-outside lets trusted models read elsewhere";
    return false;
  }
  llvm::SmallString<256> folder(paths::parent_path(path)), expected, realFolder;
  if (folder.empty())
    folder = ".";
  expected = folder;
  if (paths::is_absolute(location))
    expected = location;
  else
    paths::append(expected, location);
  std::error_code code = fs::real_path(folder, realFolder);
  if (!code)
    code = fs::real_path(expected, found);
  if (code) {
    error = "cannot be read: " + code.message() + " (expected at " + expected.str().str() + ")";
    return false;
  }
  if (!realFolder.ends_with("/"))
    realFolder += "/";
  if (!StringRef(found).starts_with(realFolder) && !allowOutside) {
    error = "leads out of the model's folder; --allow-external-outside lets trusted models read elsewhere";
    return false;
  }
  return true;
}

bool ModelFile::openExternal(StringRef location, Buffer &buffer, std::string &error) {
  auto known = externals.find(location);
  if (known != externals.end()) {
    buffer = known->second;
    return true;
  }
  llvm::SmallString<256> file;
  if (!findExternal(path, location, allowOutside, file, error) || !mapFile(file, buffer, error)) {
    error = "external data file '" + location.str() + "' " + error;
    return false;
  }
  externals[location] = buffer;
  return true;
}

std::vector<std::string> ModelFile::dataFiles() const {
  std::vector<std::string> files;
  for (const auto &known : externals) {
    llvm::SmallString<256> place(llvm::sys::path::is_absolute(known.first()) ? "" : llvm::sys::path::parent_path(path));
    llvm::sys::path::append(place, known.first());
    files.push_back(place.str().str());
  }
  llvm::sort(files);
  return files;
}

bool ModelFile::external(const pb::TensorProto &tensor, uint64_t expected, Bytes &bytes, std::string &error) {
  std::string location;
  uint64_t offset = 0, length = expected;
  for (const pb::StringStringEntryProto &entry : tensor.external_data()) {
    bool bad = false;
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      bad = StringRef(entry.value()).getAsInteger(10, offset);
    else if (entry.key() == "length")
      bad = StringRef(entry.value()).getAsInteger(10, length);
    if (bad) {
      error = "its external_data " + entry.key() + " '" + entry.value() + "' is not a number of bytes";
      return false;
    }
  }
  Buffer buffer;
  if (!openExternal(location, buffer, error))
    return false;
  if (slice(buffer, offset, length, bytes))
    return true;
  error = "external data file '" + location + "' holds " + llvm::utostr(buffer->getBufferSize()) + " bytes, the tensor needs " +
          llvm::utostr(length) + " at offset " + llvm::utostr(offset);
  return false;
}

}  // namespace onnxc::importer
