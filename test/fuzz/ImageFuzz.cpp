// ImageFuzz.cpp: any bytes as an image for ImageDecoder, its size first and then its pixels, as an artefact asks for them. Our readers are
// compiled with the sanitisers; openjpeg and libwebp are the object that artefacts get. Run by run.py beside it.
#include "runtime_stub/kernels/Kernel.h"
#include <cstdlib>
#include <vector>

extern "C" int32_t onnxc_s_ImageDecoder(const onnxc_args *a);
extern "C" int32_t onnxc_k_ImageDecoder(const onnxc_args *a);

namespace {
constexpr int64_t kMostBytes = 64 << 20;  // a header may ask for more than a fuzzer should touch
std::vector<void *> blocks;
}  // namespace

extern "C" void *onnxc_rt_heap(onnxc_rt *, int64_t bytes) {
  if (bytes < 0 || bytes > kMostBytes)
    return nullptr;
  return blocks.emplace_back(std::calloc(1, size_t(bytes)));
}
extern "C" void *onnxc_rt_scratch(onnxc_rt *rt, int64_t bytes) { return onnxc_rt_heap(rt, bytes); }

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const formats[] = {"RGB", "BGR", "Grayscale"};
  static const int64_t lengths[] = {3, 3, 9};
  int chosen = size ? data[size - 1] % 3 : 0;
  int64_t length = int64_t(size), dims[3] = {};
  onnxc_tensor in = {const_cast<uint8_t *>(data), &length, 1, ONNXC_U8}, out = {nullptr, dims, 3, ONNXC_U8};
  onnxc_attr format = {0, 0, formats[chosen], lengths[chosen]};
  onnxc_args args = {nullptr, &in, 1, &out, 1, &format, nullptr};
  if (onnxc_s_ImageDecoder(&args) == ONNXC_K_OK && dims[0] * dims[1] * dims[2] <= kMostBytes) {
    std::vector<uint8_t> pixels(size_t(dims[0] * dims[1] * dims[2]));
    out.data = pixels.data();
    onnxc_k_ImageDecoder(&args);
  }
  for (void *block : blocks)
    std::free(block);
  blocks.clear();
  return 0;
}
