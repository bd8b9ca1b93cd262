// ApiFuzz.cpp: calls of an artefact's API with arguments made of the fuzzer's bytes, against the model of test/runtime/FakePlan.cpp. Every
// size is one that fits the memory behind it or one that no memory holds, so that a sanitiser's report is the stub's fault.
#include "runtime_stub/include/onnxc/onnxc.h"
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {
struct Bytes {
  const uint8_t *data;
  size_t left;
  uint8_t next() { return left ? --left, *data++ : 0; }
};

constexpr int64_t kSizes[] = {0, 1, 2, 3, 3, 2, 4, -1, INT64_MIN, INT64_MAX, INT64_MAX / 2, int64_t(1) << 62};
// Room for kSizes' small values at every rank that makes.
alignas(64) char memory[1 << 16];
onnxc_string_view strings[4096];

struct Arguments {
  int64_t shape[8][8], strides[8][8];
  onnxc_value values[8], items[8];
  int used = 0;

  void tensor(Bytes &b, onnxc_value &v, int at) {
    static const int32_t types[] = {1, 7, 8, 1, 7, 8, 0, 99, -1, 11};
    v.kind = b.next() % 16 ? 0 : b.next() % 6;
    v.dtype = types[b.next() % 10];
    v.tensor.ndim = b.next() % 32 ? b.next() % 4 : int32_t(b.next()) - 100;
    for (int i = 0; i < 8; ++i)
      shape[at][i] = kSizes[b.next() % (b.next() % 4 ? 6 : 12)], strides[at][i] = i;
    v.tensor.shape = b.next() % 16 ? shape[at] : nullptr;
    if (b.next() % 8 == 0)
      v.tensor.strides = strides[at];
    v.tensor.data = b.next() % 16 == 0 ? nullptr : v.dtype == 8 ? static_cast<void *>(strings) : memory;
    v.tensor.byte_offset = b.next() % 8 ? 0 : b.next() % 64;
    if (v.dtype == 8)
      v.tensor.byte_offset = 0;
    v.tensor.device.type = b.next() % 16 ? 1 : b.next();
    if (v.tensor.shape == nullptr && v.tensor.ndim > 8)
      v.tensor.ndim = 3;
    if (v.tensor.ndim > 8 && v.tensor.ndim < 65)
      v.tensor.ndim = 8;
  }

  void value(Bytes &b, onnxc_value &v, int at) {
    v = {};
    tensor(b, v, at);
    if (b.next() % 3)
      return;
    v.kind = b.next() % 5;
    v.count = b.next() % 8 ? b.next() % 3 : -int64_t(b.next());
    v.items = b.next() % 8 ? items : nullptr;
    for (int i = 0; i < 3; ++i) {
      items[i] = {};
      tensor(b, items[i], 5 + i);
    }
  }
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const onnxc_api *api = onnxc_get_api(ONNXC_ABI_VERSION);
  Bytes b{data, size};
  onnxc_options options = {};
  options.struct_size = b.next() % 4 ? sizeof options : b.next();
  options.num_threads = b.next() % 16 ? 1 : int32_t(b.next()) - 100;
  onnxc_error error = {};
  onnxc_model *model = nullptr;
  onnxc_context *context = nullptr;
  if (api->model_create(&options, &model, &error) == 0)
    api->context_create(model, b.next() % 2 ? &options : nullptr, &context, &error);
  for (int runs = 0; context && b.left && runs < 8; ++runs) {
    Arguments in, out;
    for (int i = 0; i < 3; ++i) {
      in.value(b, in.values[i], i);
      out.values[i] = {};
      if (b.next() % 4 == 0)
        out.tensor(b, out.values[i], i);
      if (out.values[i].dtype == 8)
        out.values[i].tensor.data = nullptr;
    }
    api->run(context, in.values, b.next() % 16 ? 3 : int32_t(b.next()) - 8, out.values, b.next() % 16 ? 3 : int32_t(b.next()) - 8, &error);
  }
  api->context_destroy(context);
  api->model_destroy(model);
  return 0;
}
