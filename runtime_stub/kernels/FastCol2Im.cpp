// FastCol2Im.cpp: Col2Im of f32. Oracle: Vision.cpp.
#include "runtime_stub/kernels/Fold.h"
#include "runtime_stub/kernels/Parallel.h"

extern "C" int32_t onnxc_k_Col2Im_f32(const onnxc_args *a);
extern "C" int32_t onnxc_s_Col2Im_f32(const onnxc_args *a);

namespace onnxc {

static int32_t fastCol2Im(const onnxc_args *a) {
  const onnxc_tensor &columns = a->in[0], &out = a->out[0];
  Window w;
  ONNXC_TRY(columnWindow(a, w));
  if (!Fold::takes(w))
    return onnxc_k_Col2Im_f32(a);
  int64_t taps = w.kernelSize(), points = w.outPlane(), plane = w.inPlane(), planes = out.dims[0] * out.dims[1];
  ONNXC_CHECK(columns.dims[2] == points && columns.dims[0] * columns.dims[1] == planes * taps, ONNXC_K_SHAPE);
  Fold f;
  ONNXC_CHECK(f.start(a, w), ONNXC_K_MEMORY);
  const Fold *fold = &f;
  const float *x = data<float>(columns);
  float *y = mutableData<float>(out);
  return parallelScratchFor(a, planes, grainOf(taps * points / 4), f.scratchFloats() * int64_t(sizeof(float)),
                            [=](void *scratch, int64_t begin, int64_t end) {
                              for (int64_t p = begin; p < end; ++p)
                                fold->run(x + p * taps * points, 0, y + p * plane, static_cast<float *>(scratch));
                              return int32_t(ONNXC_K_OK);
                            });
}

}  // namespace onnxc

extern "C" int32_t onnxc_k_FastCol2Im(const onnxc_args *a) { return onnxc::fastCol2Im(a); }
extern "C" int32_t onnxc_s_FastCol2Im(const onnxc_args *a) { return onnxc_s_Col2Im_f32(a); }
