// Winograd.cpp: when F(4x4, 3x3) pays for a convolution, and its weights. codegen/cpu/ContractWinograd.cpp has the other two transforms.
//
// The algorithm is Toom and Cook's with the points 0, 1, -1, 1/2, -2 and infinity: with M(x) = x (x^2 - 1) (x - 1/2) (x + 2),
// row j of G is (1, p_j, p_j^2) / M'(p_j), that of infinity (0, 0, 1); U = G g G^T for each pair of channels. With these points the
// greatest relative error is about 5e-6 for 512 channels, half of that of the points 0, +-1, +-2.
#include "passes/graph/Weights.h"
#include "passes/layout/ConvWeights.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kPoints = 6;

// G, rows by points.
static void filterTransform(double g[kPoints][3]) {
  constexpr double points[] = {0, 1, -1, 0.5, -2};
  for (int64_t j = 0; j < kPoints - 1; ++j) {
    double slope = 1;
    for (int64_t i = 0; i < kPoints - 1; ++i)
      slope *= i == j ? 1 : points[j] - points[i];
    g[j][0] = 1 / slope, g[j][1] = points[j] / slope, g[j][2] = points[j] * points[j] / slope;
  }
  g[kPoints - 1][0] = g[kPoints - 1][1] = 0, g[kPoints - 1][2] = 1;
}

bool gainsByWinograd(const BlockedConv &conv, int64_t height, int64_t width) {
  auto all = [](ArrayRef<int64_t> values, int64_t wanted) { return llvm::all_of(values, [&](int64_t v) { return v == wanted; }); };
  if (conv.group != 1 || !all(conv.kernel, 3) || !all(conv.strides, 1) || !all(conv.dilations, 1) || conv.channels < kLanes)
    return false;
  constexpr int64_t unknown = 28;  // of a size: a middle layer
  double h = ShapedType::isDynamic(height) ? unknown : height, w = ShapedType::isDynamic(width) ? unknown : width;
  auto whole = [](int64_t channels) { return double(llvm::divideCeil(channels, kLanes) * kLanes); };
  double tiles = std::ceil(h / 4) * std::ceil(w / 4);
  // In multiply-adds per pair of channels, of which there are whole lanes. A weight that comes from memory costs as much as 24;
  // transforming a tile about 480 per input channel and 350 per output channel.
  constexpr double load = 24, margin = 1.15;
  double direct = 9 * (h * w + load);
  double transformed = tiles * (36 + 480.0 / whole(conv.outputs) + 350.0 / whole(conv.channels)) + 36 * load;
  return transformed * margin < direct;
}

Value packWinogradWeights(OpBuilder &b, Location loc, const BlockedConv &conv, Value weights) {
  std::vector<float> w = *constantFloats(weights);
  int64_t panels = llvm::divideCeil(conv.outputs, kLanes), depth = llvm::divideCeil(conv.channels, kLanes) * kLanes;
  std::vector<float> packed(kPoints * kPoints * panels * depth * kLanes);
  double g[kPoints][3];
  filterTransform(g);
  for (int64_t o = 0; o < conv.outputs; ++o)
    for (int64_t c = 0; c < conv.channels; ++c) {
      const float *filter = &w[(o * conv.channels + c) * 9];
      double rows[kPoints][3];
      for (int64_t i = 0; i < kPoints; ++i)
        for (int64_t x = 0; x < 3; ++x)
          rows[i][x] = g[i][0] * filter[x] + g[i][1] * filter[3 + x] + g[i][2] * filter[6 + x];
      for (int64_t i = 0; i < kPoints; ++i)
        for (int64_t j = 0; j < kPoints; ++j) {
          double u = rows[i][0] * g[j][0] + rows[i][1] * g[j][1] + rows[i][2] * g[j][2];
          packed[(((i * kPoints + j) * panels + o / kLanes) * depth + c) * kLanes + o % kLanes] = float(u);
        }
    }
  auto type = RankedTensorType::get({kPoints * kPoints, panels, depth, kLanes}, b.getF32Type());
  return onnx::ConstantOp::create(b, loc, makeConstant(type, std::move(packed)));
}

}  // namespace onnxc
