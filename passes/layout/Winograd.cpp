// Winograd.cpp: when F(4x4, 3x3) and the like pay for a convolution, and its weights. codegen/cpu/ContractWinograd.cpp has the other
// transforms, and that of filters which are four times as large under it: to read them takes longer than to transform them.
//
// The algorithm is Toom and Cook's with the points 0, 1, -1, 1/2, -2 and infinity (WinogradAxis::filters); U = G g G^T for each pair of
// channels, or G g where one axis has one tap. Six points give 7 - r results for r taps; filters of more than five are cut into segments.
// With these points the greatest relative error is about 5e-6 for 512 channels, half of that of the points 0, +-1, +-2.
#include "passes/graph/Weights.h"
#include "passes/layout/ConvWeights.h"
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kMostTaps = 15;  // of an axis

// Pairs of a result and a tap that meet no padding.
static int64_t meetings(int64_t size, int64_t taps, int64_t dilation, int64_t pad, int64_t padEnd) {
  int64_t count = 0, input = size - pad - padEnd + (taps - 1) * dilation;
  for (int64_t t = 0; t < taps; ++t)
    count += std::max<int64_t>(0, std::min(size, input + pad - t * dilation) - std::max<int64_t>(0, pad - t * dilation));
  return count;
}

static bool canTransform(const BlockedConv &conv) {
  auto is = [](int64_t value) { return [=](int64_t v) { return v == value; }; };
  return conv.form == BlockedConv::Dense && conv.group % groupsTogether(conv) == 0 && conv.channels >= kLanes &&
         llvm::all_of(conv.strides, is(1)) && !llvm::all_of(conv.kernel, is(1)) &&
         llvm::all_of(conv.kernel, [](int64_t k) { return k == 1 || (k >= 3 && k <= kMostTaps); });
}

// What share of the products of groups that are multiplied together the direct convolution has: a panel meets the channels of its groups.
static double directShare(const BlockedConv &conv) {
  const int64_t together = groupsTogether(conv), each = conv.outputs / conv.group, panels = llvm::divideCeil(each * together, kLanes);
  if (together == 1)
    return 1;
  int64_t met = 0;
  for (int64_t o = 0; o < each * together; o += kLanes)
    met += (o + kLanes - 1) / each - o / each + 1;
  return double(met) / double(panels * together);
}

namespace {
// Sizes of packed filters, and where they have the numbers of one point or of a filter's taps.
struct Packing {
  onnx::WinogradAxis down, right;
  int64_t channels, together, each;  // of a group, groups, outputs of a group
  int64_t panels, segments, depth;

  explicit Packing(const BlockedConv &conv)
      : down(conv.kernel[0]), right(conv.kernel[1]), channels(conv.channels), together(groupsTogether(conv)),
        each(conv.outputs / conv.group), panels(llvm::divideCeil(conv.outputs, kLanes)), segments(down.segments * right.segments),
        depth(llvm::alignTo(conv.channels * together, kLanes)) {}
  int64_t weights() const { return panels * segments * depth * kLanes; }  // of a point
  // Whether the kernel transforms the filters.
  bool keepsTaps() const {
    return down.segment == 3 && right.segment == 3 && onnx::areLargeFilters(down.points() * right.points() * weights());
  }
  int64_t step(int64_t output, int64_t segment, int64_t channel) const {
    return (output / kLanes * segments + segment) * depth + output / each % together * channels + channel;
  }
};
}  // namespace

// How many times as long the direct convolution takes for a result of this size.
static double gainOf(const BlockedConv &conv, const ImageSizes &result) {
  const int64_t sizes[2] = {result.height, result.width};
  const onnx::WinogradAxis axes[2] = {onnx::WinogradAxis(conv.kernel[0]), onnx::WinogradAxis(conv.kernel[1])};
  const int64_t together = groupsTogether(conv);
  auto whole = [&](int64_t channels) { return double(llvm::divideCeil(channels * together, kLanes) * kLanes); };
  // Additions, loads and stores of a tile's transformations; an axis of six points takes 11 for the input, about 3 for each result.
  double points = 1, results = 1, segments = 1, tiles = 1, taps = 1, direct = directShare(conv);
  for (int i = 0; i < 2; ++i) {
    points *= axes[i].points(), results *= axes[i].results(), segments *= axes[i].segments, taps *= axes[i].taps;
    tiles *= axes[i].tiles(sizes[i], conv.dilations[i]);
    direct *= meetings(sizes[i], axes[i].taps, conv.dilations[i], conv.pads[i], conv.pads[i + 2]);
  }
  auto rows = [&](int64_t down, int64_t right) { return (axes[0].isTransformed() ? right : 0) + (axes[1].isTransformed() ? down : 0); };
  const double input = 2 * points + 11 * rows(axes[0].points(), axes[1].points());
  const double output = points + results + 10 * rows(axes[0].results(), axes[1].points());
  // In multiply-adds per pair of channels, of which there are whole lanes. A weight that comes from memory costs as much as 24, a
  // transformation's operation somewhat over two, that of a filter of 3x3 taps as much as 280.
  constexpr double load = 24, margin = 1.15, operation = 2.35, filter = 280;
  double tile = segments * (points + operation * input / whole(conv.outputs / conv.group)) + operation * output / whole(conv.channels);
  double sharing = std::clamp(double(onnx::kMostWinogradTiles) / tiles, 1.0,
                              double(std::max<int64_t>(result.images, 1)));  // images that share a chunk's weights
  const double chunks = std::ceil(tiles / double(onnx::kMostWinogradTiles));
  double filters = segments * (Packing(conv).keepsTaps() ? 9 * load + filter * chunks : points * load);
  double transformed = tiles * tile + filters / sharing;
  return (direct + taps * load) / (transformed * margin);
}

bool gainsByWinograd(const BlockedConv &conv, ArrayRef<ImageSizes> results) {
  double product = 1;  // more than 1: the geometric mean is as well
  if (canTransform(conv))
    for (const ImageSizes &result : results)
      product *= gainOf(conv, result);
  return product > 1;
}

// [ceil(O/16), segments * ceil(C/16) * 16, a segment's taps down and right, 16], zeros past the last taps.
static Value packTaps(OpBuilder &b, Location loc, const BlockedConv &conv, const Packing &p, const float *w) {
  std::vector<float> packed(p.weights() * p.down.segment * p.right.segment);
  for (int64_t o = 0; o < conv.outputs; ++o)
    for (int64_t c = 0; c < conv.channels; ++c)
      for (int64_t y = 0; y < p.down.taps; ++y)
        for (int64_t x = 0; x < p.right.taps; ++x) {
          int64_t at = p.step(o, y / p.down.segment * p.right.segments + x / p.right.segment, c);
          at = (at * p.down.segment + y % p.down.segment) * p.right.segment + x % p.right.segment;
          packed[at * kLanes + o % kLanes] = *w++;
        }
  auto type = RankedTensorType::get({p.panels, p.segments * p.depth, p.down.segment, p.right.segment, kLanes}, b.getF32Type());
  return onnx::ConstantOp::create(b, loc, makeConstant(type, std::move(packed)));
}

Value packWinogradWeights(OpBuilder &b, Location loc, const BlockedConv &conv, Value weights) {
  std::vector<float> w = *constantFloats(weights);
  const Packing p(conv);
  if (p.keepsTaps())
    return packTaps(b, loc, conv, p, w.data());
  const onnx::WinogradAxis &down = p.down, &right = p.right;
  const auto g = down.filters(), h = right.filters();
  std::vector<float> packed(g.size() * h.size() * p.weights());
  SmallVector<double> row(right.segment);
  for (int64_t o = 0; o < conv.outputs; ++o)
    for (int64_t c = 0; c < conv.channels; ++c)
      for (int64_t s = 0; s < p.segments; ++s) {
        const int64_t top = s / right.segments * down.segment, left = s % right.segments * right.segment;
        const int64_t height = std::min(down.segment, down.taps - top), width = std::min(right.segment, right.taps - left);
        const float *filter = &w[((o * conv.channels + c) * down.taps + top) * right.taps + left];
        for (size_t i = 0; i < g.size(); ++i) {
          for (int64_t x = 0; x < width; ++x) {
            row[x] = 0;
            for (int64_t y = 0; y < height; ++y)
              row[x] += g[i][y] * filter[y * right.taps + x];
          }
          for (size_t j = 0; j < h.size(); ++j) {
            double u = 0;
            for (int64_t x = 0; x < width; ++x)
              u += h[j][x] * row[x];
            packed[int64_t(i * h.size() + j) * p.weights() + p.step(o, s, c) * kLanes + o % kLanes] = float(u);
          }
        }
      }
  auto type = RankedTensorType::get({int64_t(g.size() * h.size()), p.panels, p.segments * p.depth, kLanes}, b.getF32Type());
  return onnx::ConstantOp::create(b, loc, makeConstant(type, std::move(packed)));
}

}  // namespace onnxc
