// DecomposeConv.h: what DecomposeConv.cpp, DecomposeFrames.cpp and ByteConvTranspose.cpp share.
#pragma once
#include "dialects/onnx/NN.h"
#include "passes/graph/Decompose.h"

namespace onnxc {

// An axis of a transposed convolution. Position o of the result before cropping has phase o mod stride and reads input q - j,
// q = o / stride, with tap phase + stride j. So all phases are one convolution over q with ceil(kernel / stride) taps and stride as many
// outputs, whose results then interleave.
struct TransposedAxis {
  int64_t kernel, stride, taps;  // `taps`: of a phase, at most
  int64_t begin, end;            // results that are dropped, of all that the input makes; end < 0: zeros are added
  int64_t padBegin, padEnd;      // of the convolution over q
  int64_t cropBegin, cropEnd;    // of the interleaved result
};
struct Transposed {
  int64_t channels, outputs, group;  // `outputs` of one group
  llvm::SmallVector<TransposedAxis> axes;
  int64_t phases() const {
    int64_t n = 1;
    for (const TransposedAxis &a : axes)
      n *= a.stride;
    return n;
  }
};
// Of f32 over one to three axes, all sizes of the filters known and without dilations; nothing else.
std::optional<Transposed> transposed(onnx::ConvTransposeOp op);
// `v` without so many positions at the begin and end of each spatial axis.
mlir::Value cropped(GraphBuilder g, mlir::Value v, llvm::ArrayRef<std::pair<int64_t, int64_t>> crops);
// Whether integer-contractions makes convolutions of bytes of it (ByteConvTranspose.cpp).
bool isTransposedOfBytes(onnx::ConvTransposeOp op);

}  // namespace onnxc
