// LinearProducts.cpp: products of dequantised values with dequantised constant matrices as onnx.packed.LinearMatMul. With
// LinearConvolutions.cpp the second step of the integer-contractions pass.
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PanelSizes.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

Value linearProduct(PatternRewriter &rewriter, LinearProduct p) {
  auto x = rankedType(p.x), w = rankedType(p.w);
  auto result = dyn_cast<RankedTensorType>(p.result);
  auto bytes = constantBytes(onnx::constantValue(p.w));
  if (!x || x.getRank() < 2 || !w || w.getRank() != 2 || !result || !bytes || bytes->empty())
    return {};
  int64_t depth = w.getDimSize(p.transposed ? 1 : 0), columns = w.getDimSize(p.transposed ? 0 : 1);
  if (depth % kQuad || depth > kByteDepth || x.getShape().back() != depth)
    return {};
  SmallVector<int64_t> panels{llvm::divideCeilSigned(columns, kByteColumns), kByteColumns},
      shape{panels[0], depth / kQuad, kByteColumns, kQuad};
  std::vector<int16_t> values(depth * columns);
  std::vector<int8_t> packed(panels[0] * kByteColumns * depth);
  std::vector<int32_t> corrections(panels[0] * kByteColumns);
  bool isSigned = w.getElementType().isSignlessInteger();
  int32_t zero = p.xZero + (x.getElementType().isSignlessInteger() ? 128 : 0);
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n)
      values[k * columns + n] = lessZero((*bytes)[p.transposed ? n * depth + k : k * columns + n], isSigned, p.wZero, n);
  if (!fitBias(corrections, p.bias, {values, columns, depth, 1, columns}, p.factors, result.getElementType()))
    return {};
  std::vector<int32_t> offsets = weightOffsets(values, p.wZero, isSigned, columns);
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n) {
      corrections[n] -= int32_t(values[k * columns + n]) * zero;
      packed[panelByte(k, n, shape[1])] = int8_t(values[k * columns + n] - (offsets.empty() ? 0 : offsets[n]));
    }
  p.factors.resize(columns, p.factors[0]);
  p.factors.resize(corrections.size());
  auto n = [&](int64_t v) { return rewriter.getI64IntegerAttr(v); };
  Location loc = p.x.getLoc();
  offsets.resize(offsets.empty() ? 0 : corrections.size());
  Value more = offsets.empty() ? Value() : GraphBuilder{rewriter, loc}.integers<int32_t>(panels, offsets);
  return onnx::PackedLinearMatMulOp::create(rewriter, loc, result, p.x, GraphBuilder{rewriter, loc}.integers<int8_t>(shape, packed),
                                            GraphBuilder{rewriter, loc}.floats(panels, p.factors),
                                            GraphBuilder{rewriter, loc}.integers<int32_t>(panels, corrections), more, n(columns), n(p.zero),
                                            n(p.least), n(p.most));
}

}  // namespace onnxc
