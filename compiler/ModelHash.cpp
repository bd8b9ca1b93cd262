// ModelHash.cpp: see ModelHash.h. Files are read in pieces, so that they take no memory.
#include "compiler/ModelHash.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <vector>

using namespace llvm;
namespace onnxc {

constexpr size_t kPieceBytes = 1 << 20;

// Where a file's data go on from `at`, on a boundary of pieces; the file's end where only a hole is left.
static uint64_t behindHole(int file, uint64_t at, uint64_t end) {
  off_t data = lseek(file, off_t(at), SEEK_DATA);
  if (data < 0)
    return errno == ENXIO ? end : at;  // a file system may know nothing of holes
  return uint64_t(data) / kPieceBytes * kPieceBytes;
}

static bool readAt(int file, uint64_t at, MutableArrayRef<char> piece) {
  while (!piece.empty()) {
    Expected<size_t> count = sys::fs::readNativeFileSlice(file, piece, at);
    if (!count || *count == 0) {
      consumeError(count.takeError());
      return false;
    }
    piece = piece.drop_front(*count);
    at += *count;
  }
  return true;
}

// Calls `add` with each piece and where it begins; with `skipHoles` not with those that have only zeros.
static bool readPieces(StringRef path, bool skipHoles, function_ref<void(uint64_t at, StringRef piece)> add) {
  Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
  if (!file) {
    consumeError(file.takeError());
    return false;
  }
  auto close = make_scope_exit([&] { (void)sys::fs::closeFile(*file); });
  sys::fs::file_status status;
  if (sys::fs::status(*file, status))
    return false;
  std::vector<char> room(kPieceBytes);
  const uint64_t end = status.getSize();
  for (uint64_t at = 0; at < end; at += kPieceBytes) {
    if (skipHoles && (at = behindHole(*file, at, end)) >= end)
      break;
    StringRef piece(room.data(), std::min<uint64_t>(kPieceBytes, end - at));
    if (!readAt(*file, at, MutableArrayRef<char>(room).take_front(piece.size())))
      return false;
    bool zeros = skipHoles && piece[0] == 0 && !memcmp(piece.data(), piece.data() + 1, piece.size() - 1);
    if (!zeros)
      add(at, piece);
  }
  add(end, "");
  return true;
}

std::string modelHash(StringRef model, ArrayRef<StringRef> dataFiles) {
  BLAKE3 hash;
  if (!readPieces(model, /*skipHoles=*/false, [&](uint64_t, StringRef piece) { hash.update(piece); }))
    return "";
  auto addData = [&](uint64_t at, StringRef piece) {
    hash.update(ArrayRef(reinterpret_cast<const uint8_t *>(&at), sizeof at));
    hash.update(piece);
  };
  for (StringRef file : dataFiles)
    if (!readPieces(file, /*skipHoles=*/true, addData))
      return "";
  return "blake3:" + toHex(hash.final(), /*LowerCase=*/true);
}

}  // namespace onnxc
