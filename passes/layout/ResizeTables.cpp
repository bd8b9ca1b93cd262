// ResizeTables.cpp: positions and weights of ONNX's Resize (runtime_stub/kernels/ResizePositions.h), computed at compile time.
#include "passes/layout/ResizeTables.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/kernels/ResizePositions.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

// The taps of one position.
void addSmooth(ResizeAxis &to, const Filter &filter, const ResizedAxis &x, double at, bool excludeOutside) {
  SmallVector<double> weights(filter.taps);
  int64_t start = weigh(filter, at, x.in, excludeOutside, weights.data());
  for (auto [k, weight] : llvm::enumerate(weights)) {
    to.index.push_back(int32_t(std::clamp<int64_t>(start + int64_t(k), 0, x.in - 1)));
    to.weight.push_back(float(weight));
  }
}

std::optional<ResizeAxis> tableOf(onnx::ResizeOp op, const ResizedAxis &x) {
  constexpr int64_t mostTaps = 64, mostPositions = 1 << 16;
  StringRef coordinates = op.getCoordinateTransformationMode(), rounding = op.getNearestMode();
  auto mode = modeNamed<Coordinates>(kCoordinateNames, coordinates.data(), int64_t(coordinates.size()));
  auto nearestMode = modeNamed<Nearest>(kNearestNames, rounding.data(), int64_t(rounding.size()));
  Filter filter = makeFilter(op.getAntialias(), op.getCubicCoeffA().convertToDouble(), x.scale, op.getMode() == "cubic");
  bool nearest = op.getMode() == "nearest";
  ResizeAxis table;
  bool unchanged = x.in == x.out && x.scale == 1;
  table.taps = nearest || unchanged ? 1 : filter.taps;
  if (mode == Coordinates::Crop || mode == Coordinates::Count || nearestMode == Nearest::Count || x.in < 1 || x.out > mostPositions ||
      !(x.scale > 0) || table.taps > mostTaps)
    return std::nullopt;
  for (int64_t y = 0; y < x.out; ++y) {
    double at = nearest ? nearestSource(x, mode, y) : sourceOf(x, mode, double(y));
    if (!(std::fabs(at) < double(INT32_MAX)))
      return std::nullopt;
    if (table.taps > 1) {
      addSmooth(table, filter, x, at, op.getExcludeOutside());
      continue;
    }
    int64_t from = unchanged ? y : nearestOf(at, nearestMode, x.scale);
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
    int64_t k = onnx::fromFront(axis, in.getRank());
    bool known = !in.isDynamicDim(k) && !out.isDynamicDim(k);
    if (bySizes && !known && (k >= 2 || in.isDynamicDim(k) != out.isDynamicDim(k)))
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
  auto axis = [&](int64_t k) -> ResizedAxis {
    double scale = (*scales)[k], width = scale * double(in.getDimSize(k));
    return {scale, 0, 1, in.getDimSize(k), out.getDimSize(k), op.getSizes() ? double(out.getDimSize(k)) : width};
  };
  auto rows = tableOf(op, axis(2)), columns = tableOf(op, axis(3));
  return rows && columns ? std::optional(ResizeTables{*rows, *columns}) : std::nullopt;
}

}  // namespace onnxc
