// FakePlan.cpp: a model written by hand for StubTest.cpp. y[n, 3] = 2 x[n, 3] in parallel, z = as many of x's first elements as are not
// negative (a size that only the run knows), s = the sequence as given.
#include "runtime_stub/include/onnxc/onnxc.h"
extern "C" {
#include "runtime_stub/plan.h"
const onnxc_api *onnxc_stub_api(uint32_t version);
}
#include <cstring>

static int32_t twice(void *const *bufs, const int64_t *, void *scratch, int64_t begin, int64_t end) {
  if (!scratch)
    return 3;
  const float *x = static_cast<const float *>(bufs[1]);
  float *y = static_cast<float *>(bufs[2]);
  for (int64_t i = begin; i < end; ++i) {
    if (x[i] == 666)
      return 1;
    y[i] = 2 * x[i];
  }
  return 0;
}

static int64_t sizes(const int64_t *symbols, int64_t *dims) {
  if (symbols[0] > (int64_t(1) << 58))
    return -1;
  dims[0] = symbols[0], dims[1] = 3, dims[2] = INT64_MIN;
  return 128;
}

static int32_t run(onnxc_rt *rt, const int64_t *symbols) {
  void *bufs[] = {rt, const_cast<void *>(rt->inputs[0]), rt->outputs[0]};
  int64_t n = symbols[0] * 3;
  rt->failed_site = 0;
  if (int32_t status = onnxc_rt_parallel(rt, twice, bufs, symbols, n, 1, 8))
    return status;
  if (rt->trace)
    onnxc_rt_trace(rt, 0, bufs, symbols);
  rt->output_dims[0][0] = symbols[0], rt->output_dims[0][1] = 3;
  const float *x = static_cast<const float *>(rt->inputs[0]);
  int64_t kept = 0;
  while (kept < n && x[kept] >= 0)
    ++kept;
  rt->failed_site = 1;
  rt->outputs[1] = onnxc_rt_slot(rt, 0, kept * 4);
  if (!rt->outputs[1])
    return 5;
  memcpy(rt->outputs[1], x, kept * 4);
  rt->output_dims[1][0] = kept;
  rt->outputs[2] = const_cast<void *>(rt->inputs[1]);
  return 0;
}

static const int64_t xDims[] = {-1, 3}, zDims[] = {INT64_MIN};
static const onnxc_io inputs[] = {{"x", 0, 1, 0, 2, xDims}, {"s", 1, 7, 0, -1, nullptr}, {"w", 0, 8, 0, 1, xDims}};
static const onnxc_io outputs[] = {{"y", 0, 1, 0, 2, xDims}, {"z", 0, 1, 0, 1, zDims}, {"t", 1, 7, 0, -1, nullptr}};
static const char *const symbols[] = {"n"};
static const int64_t flopTerms[] = {1, 3, 1, 0}, byteTerms[] = {2, 24, 1, 0, 5, 0};  // 3 n; 24 n + 5
static const onnxc_result result = {1, 2, xDims};
static const onnxc_site sites[] = {{"double_1", "Mul", "loops", -1, -1, flopTerms, byteTerms, 1, 1, &result},
                                   {"keep_2", "Compress", "library", -1, -1, nullptr, nullptr, 0, 0, nullptr}};
static const onnxc_variant variants[] = {{"x86-64", sizes, run, 0}, {"x86-64-v9", sizes, run, 0}};

extern "C" {
alignas(64) extern const char onnxc_weights[64] = {};
extern const onnxc_plan onnxc_the_plan = {"fake",  "{}",    3,     3,        1,       1,       2,       2,       inputs,
                                          outputs, symbols, sites, variants, nullptr, nullptr, nullptr, nullptr, nullptr};
extern const onnxc_model_info onnxc_the_info;
const onnxc_model_info onnxc_the_info = {sizeof(onnxc_model_info),
                                         "fake",
                                         "{}",
                                         3,
                                         3,
                                         1,
                                         2,
                                         2,
                                         reinterpret_cast<const onnxc_io_info *>(inputs),
                                         reinterpret_cast<const onnxc_io_info *>(outputs),
                                         symbols,
                                         0,
                                         nullptr,
                                         "",
                                         "",
                                         nullptr,
                                         nullptr,
                                         0,
                                         0,
                                         nullptr};
const onnxc_api *onnxc_get_api(uint32_t version) { return onnxc_stub_api(version); }
}
