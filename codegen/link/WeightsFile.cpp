// WeightsFile.cpp: see WeightsFile.h. The stamp is known when the weights have been written: they are read once and held nowhere.
#include "codegen/link/WeightsFile.h"
#include "codegen/link/Elf.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Endian.h"

using namespace llvm;

namespace onnxc {

namespace {
// Passes on what it gets and takes its hash.
class HashingStream : public raw_ostream {
public:
  explicit HashingStream(raw_ostream &to) : to(to) { SetBufferSize(1 << 16); }
  ~HashingStream() override { flush(); }
  uint64_t id() {
    flush();
    std::array<uint8_t, 8> bytes = hash.result<8>();
    return support::endian::read64be(bytes.data());
  }

private:
  void write_impl(const char *data, size_t size) override {
    hash.update(StringRef(data, size));
    to.write(data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  raw_ostream &to;
  BLAKE3 hash;
  uint64_t written = 0;
};
}  // namespace

Expected<onnxc_weights_stamp> writeWeightsFile(StringRef path, uint64_t size, const std::function<Error(raw_ostream &)> &write) {
  std::error_code code;
  raw_fd_ostream out(path, code);
  if (code)
    return fileError(path, code);
  onnxc_weights_stamp stamp = {ONNXC_WEIGHTS_MAGIC, int64_t(size), 0, {}};
  StringRef bytes(reinterpret_cast<const char *>(&stamp), sizeof stamp);
  out << bytes;
  HashingStream weights(out);
  if (Error error = write(weights))
    return std::move(error);
  stamp.id = weights.id();
  if (weights.tell() != size)
    return createStringError("weights of another size than announced");
  if (!out.has_error())
    out.pwrite(bytes.data(), bytes.size(), 0);
  out.close();
  if (Error error = finishWriting(out, path))
    return std::move(error);
  return stamp;
}

}  // namespace onnxc
