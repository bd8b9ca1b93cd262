// ResizeTables.cpp: positions and weights of ONNX's Resize, as in the operator's specification (and in runtime_stub/kernels/Resize.cpp,
// which computes them at run time).
#include "passes/layout/ResizeTables.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

struct Axis {
  double scale;
  int64_t in, out;
  double width;  // the length of the result before it is rounded: `out` where sizes are given
};

// The position in the operand of position y of the result.
std::optional<double> sourceOf(StringRef mode, const Axis &x, double y) {
  double in = double(x.in), half = (y + 0.5) / x.scale - 0.5;
  if (mode == "half_pixel")
    return half;
  if (mode == "half_pixel_symmetric")
    return in / 2 * (1 - double(x.out) / x.width) + half;
  if (mode == "pytorch_half_pixel")
    return x.out == 1 ? 0 : half;
  if (mode == "align_corners")
    return x.out == 1 ? 0 : y * (in - 1) / (x.width - 1);
  if (mode == "asymmetric")
    return y / x.scale;
  if (mode == "tf_half_pixel_for_nn")
    return (y + 0.5) / x.scale;
  return std::nullopt;
}

// The same for the nearest element, in single precision (runtime_stub/kernels/ResizeAxes.h says why).
std::optional<double> nearestSource(StringRef mode, const Axis &x, int64_t y) {
  float at = float(y), scale = float(x.scale);
  if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && x.out != 1))
    return (at + 0.5f) / scale - 0.5f;
  if (mode == "asymmetric")
    return at / scale;
  if (mode == "tf_half_pixel_for_nn")
    return (at + 0.5f) / scale;
  return sourceOf(mode, x, double(y));
}

int64_t nearestOf(double x, StringRef mode, double scale) {
  double low = std::floor(x), ratio = x - low;
  bool byScale = mode == "ceil_if_smaller";
  if (ratio == 0 || mode == "floor" || (byScale && scale >= 1))
    return int64_t(low);
  if (mode == "ceil" || byScale)
    return int64_t(low) + 1;
  return int64_t(low) + (mode == "round_prefer_ceil" ? ratio >= 0.5 : ratio > 0.5);
}

double cubic(double x, double a) {
  if (x <= 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// The taps of one position, an integer position being ratio 1 of its left neighbour.
void addSmooth(ResizeAxis &to, onnx::ResizeOp op, const Axis &x, double at, double shrink, int64_t first) {
  double low = std::floor(at), ratio = at - low, sum = 0;
  if (ratio == 0)
    low -= 1, ratio = 1;
  bool isCubic = op.getMode() == "cubic", exclude = op.getExcludeOutside();
  SmallVector<double> weights;
  for (int64_t k = 0; k < to.taps; ++k) {
    int64_t from = int64_t(low) + first + k;
    double distance = std::fabs((double(first + k) - ratio) * shrink);
    double w = isCubic ? cubic(distance, op.getCubicCoeffA().convertToFloat()) : std::max(0.0, 1 - distance);
    if (exclude && (from < 0 || from >= x.in))
      w = 0;
    sum += w;
    weights.push_back(w);
    to.index.push_back(int32_t(std::clamp<int64_t>(from, 0, x.in - 1)));
  }
  bool normalise = (exclude || shrink < 1) && sum != 0;
  for (double w : weights)
    to.weight.push_back(float(normalise ? w / sum : w));
}

std::optional<ResizeAxis> tableOf(onnx::ResizeOp op, const Axis &x) {
  constexpr int64_t mostTaps = 64, mostPositions = 1 << 16;
  ResizeAxis table;
  double shrink = op.getAntialias() && x.scale < 1 ? x.scale : 1, reach = op.getMode() == "cubic" ? 2 : 1;
  int64_t first = int64_t(std::floor(-reach / shrink)) + 1;
  bool nearest = op.getMode() == "nearest";
  table.taps = nearest || (x.in == x.out && x.scale == 1) ? 1 : 2 - 2 * first;
  if (x.in < 1 || x.out > mostPositions || !(x.scale > 0) || table.taps > mostTaps)
    return std::nullopt;
  for (int64_t y = 0; y < x.out; ++y) {
    auto at =
        nearest ? nearestSource(op.getCoordinateTransformationMode(), x, y) : sourceOf(op.getCoordinateTransformationMode(), x, double(y));
    if (!at || !(std::fabs(*at) < double(INT32_MAX)))
      return std::nullopt;
    if (table.taps > 1) {
      addSmooth(table, op, x, *at, shrink, first);
      continue;
    }
    int64_t from = nearest ? nearestOf(*at, op.getNearestMode(), x.scale) : y;
    table.index.push_back(int32_t(std::clamp<int64_t>(from, 0, x.in - 1)));
    table.weight.push_back(1);
  }
  return table;
}

// The scale of each axis; nothing when it is not known.
std::optional<SmallVector<double>> scalesOf(onnx::ResizeOp op, RankedTensorType in, RankedTensorType out) {
  SmallVector<double> scales(in.getRank(), 1.0);
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, in.getRank()));
  if (op.getAxes())
    axes.assign(op.getAxes()->begin(), op.getAxes()->end());
  auto given = op.getScales() ? constantFloats(op.getScales()) : std::nullopt;
  bool bySizes = op.getSizes() != Value();
  if (op.getKeepAspectRatioPolicy() != "stretch" || (!bySizes && (!given || given->size() != axes.size())))
    return std::nullopt;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    int64_t k = axis < 0 ? axis + in.getRank() : axis;
    bool known = !in.isDynamicDim(k) && !out.isDynamicDim(k);
    if (bySizes && !known && k >= 2)
      return std::nullopt;
    scales[k] = bySizes ? (known ? double(out.getDimSize(k)) / double(in.getDimSize(k)) : 1) : (*given)[i];
  }
  return scales;
}
}  // namespace

std::optional<ResizeTables> resizeTables(Operation *operation) {
  auto op = dyn_cast<onnx::ResizeOp>(operation);
  auto in = op ? dyn_cast<RankedTensorType>(op.getX().getType()) : RankedTensorType();
  auto out = op ? dyn_cast<RankedTensorType>(op.getY().getType()) : RankedTensorType();
  if (!in || !out || in.getRank() != 4 || out.getRank() != 4 || in.getDimSize(1) != out.getDimSize(1))
    return std::nullopt;
  for (int64_t k : {2, 3})
    if (in.isDynamicDim(k) || out.isDynamicDim(k))
      return std::nullopt;
  auto scales = scalesOf(op, in, out);
  if (!scales || (*scales)[0] != 1 || (*scales)[1] != 1)
    return std::nullopt;
  auto axis = [&](int64_t k) -> Axis {
    double scale = (*scales)[k], width = scale * double(in.getDimSize(k));
    return {scale, in.getDimSize(k), out.getDimSize(k), op.getSizes() ? double(out.getDimSize(k)) : width};
  };
  auto rows = tableOf(op, axis(2)), columns = tableOf(op, axis(3));
  return rows && columns ? std::optional(ResizeTables{*rows, *columns}) : std::nullopt;
}

}  // namespace onnxc
