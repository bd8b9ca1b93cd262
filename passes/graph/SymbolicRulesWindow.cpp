// SymbolicRulesWindow.cpp: convolutions, pooling, resizing and other ops that slide a window over spatial axes.
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Packed.h"
#include "passes/graph/SymbolicRules.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

namespace {
// Spatial parameters with the schema's defaults.
struct Window {
  Dims kernel;
  SmallVector<int64_t> strides, dilations, pads;
  StringRef autoPad;
  bool ceil;

  // Entries of spatial axis `i` from the window's first tap to its last, and those that pads say around the input's.
  AffineExpr extent(ShapeOp &o, int64_t i) const { return o.s.add(o.s.mul(o.s.sub(kernel[i], o.c(1)), o.c(dilations[i])), o.c(1)); }
  AffineExpr padding(ShapeOp &o, int64_t i) const {
    return autoPad == "VALID" ? o.c(0) : o.s.add(o.c(pads[i]), o.c(pads[i + kernel.size()]));
  }
};
}  // namespace

static FailureOr<Window> window(ShapeOp &o, DimsRef kernel) {
  int64_t n = kernel.size();
  Window w{Dims(kernel),
           SmallVector<int64_t>(o.intsAttr("strides")),
           SmallVector<int64_t>(o.intsAttr("dilations")),
           SmallVector<int64_t>(o.intsAttr("pads")),
           o.strAttr("auto_pad"),
           o.intAttr("ceil_mode") != 0};
  if (w.strides.empty())
    w.strides.assign(n, 1);
  if (w.dilations.empty())
    w.dilations.assign(n, 1);
  if (w.pads.empty())
    w.pads.assign(2 * n, 0);
  for (auto [name, size, needed] :
       {std::make_tuple("strides", int64_t(w.strides.size()), n), std::make_tuple("dilations", int64_t(w.dilations.size()), n),
        std::make_tuple("pads", int64_t(w.pads.size()), 2 * n)})
    if (size != needed)
      return o.error() << name << " has " << size << " entries, " << needed << " are needed";
  for (int64_t stride : w.strides)
    if (stride < 1)
      return o.error() << "stride " << stride << " is not positive";
  return w;
}

// Number of window positions along spatial axis `i` of size `d`.
static AffineExpr positions(ShapeOp &o, const Window &w, int64_t i, AffineExpr d) {
  SymbolicShapes &s = o.s;
  AffineExpr stride = o.c(w.strides[i]);
  if (w.autoPad.starts_with("SAME"))
    return s.ceilDiv(d, stride);
  AffineExpr room = s.sub(s.add(d, w.padding(o, i)), w.extent(o, i));
  // VALID means the same with ceil_mode: ceil((d - extent + 1) / stride).
  if (!w.ceil || w.autoPad == "VALID")
    return s.add(s.floorDiv(room, stride), o.c(1));
  // The last window starts inside the input or the padding before it.
  AffineExpr rounded = s.add(s.ceilDiv(room, stride), o.c(1));
  return w.strides[i] == 1 ? rounded : s.min(rounded, s.ceilDiv(s.add(d, o.c(w.pads[i])), stride));
}

// A window has one position at least along an axis that is not empty: `n` of them, over the `d` entries of spatial axis `i`.
static LogicalResult hasPosition(ShapeOp &o, const Window &w, int64_t i, AffineExpr d, AffineExpr n) {
  SymbolicShapes &s = o.s;
  if (w.autoPad.starts_with("SAME"))
    return success();
  AffineExpr extent = w.extent(o, i), padding = w.padding(o, i);
  if (auto fixed = known(n); fixed && (*fixed < 0 || (*fixed == 0 && known(d) != 0)))
    return o.error() << "a window of " << o.text(extent) << " does not fit the " << o.text(d) << " entries of spatial axis " << i;
  bool fitsInPadding = s.isNonNegative(s.add(s.sub(padding, extent), o.c(1)));
  if (n && !known(n) && !fitsInPadding && s.bounds(n).first < 1)
    s.check({o.op, extent, s.add(d, padding), ShapeCheck::Window, s.sub(n, s.min(d, o.c(1)))});
  return success();
}

static FailureOr<Dims> slide(ShapeOp &o, const Window &w, DimsRef spatial) {
  Dims result;
  for (auto [i, d] : llvm::enumerate(spatial)) {
    result.push_back(positions(o, w, i, d));
    if (failed(hasPosition(o, w, i, d, result.back())))
      return failure();
  }
  return result;
}

static Dims constants(ShapeOp &o, ArrayRef<int64_t> values) {
  Dims result;
  for (int64_t v : values)
    result.push_back(o.c(v));
  return result;
}

// One number for each channel of the result, where there is a bias; operand 0 stands for none.
static LogicalResult checkBias(ShapeOp &o, unsigned bias, AffineExpr channels) {
  if (bias == 0 || !o.in(bias))
    return success();
  if (o.rank(bias) != 1)
    return o.error() << "bias " << o.text(o.dims(bias)) << " needs one axis";
  return success(succeeded(o.same(o.dim(bias, 0), channels, "entries of the bias and channels of the result:")));
}

// Convolutions with data operand `x`, weight operand `w`, bias operand `bias` and scales or zero points of weights.
static LogicalResult convolution(ShapeOp &o, unsigned x, unsigned w, unsigned bias, ArrayRef<unsigned> quantisation = {}) {
  int64_t rank = o.rank(x);
  if (rank < 3 || o.rank(w) != rank)
    return o.error() << "data " << o.text(o.dims(x)) << " and weights " << o.text(o.dims(w)) << " need the same number of axes, at least 3";
  int64_t group = o.intAttr("group", 1);
  if (failed(o.same(o.dim(x, 1), o.s.mul(o.dim(w, 1), o.c(group)), "channels of data and weights:")) ||
      failed(checkBias(o, bias, o.dim(w, 0))) || failed(o.oneForEach(quantisation, o.dim(w, 0), "channels of the result")))
    return failure();
  if (auto channels = known(o.dim(w, 0)); channels && group > 0 && *channels % group != 0)
    return o.error() << "group " << group << " does not divide the " << *channels << " channels of the result";
  DimsRef kernel = o.dims(w).drop_front(2);
  if (auto given = o.intsAttr("kernel_shape"); !given.empty()) {
    if (int64_t(given.size()) != rank - 2)
      return o.error() << "kernel_shape has " << given.size() << " entries, " << rank - 2 << " are needed";
    for (auto [i, k] : llvm::enumerate(given))
      if (failed(o.same(kernel[i], o.c(k), "size of the weights and kernel_shape of spatial axis " + Twine(i) + ":")))
        return failure();
  }
  auto parameters = window(o, kernel);
  auto spatial = failed(parameters) ? FailureOr<Dims>(failure()) : slide(o, *parameters, o.dims(x).drop_front(2));
  if (failed(spatial))
    return failure();
  Dims dims{o.dim(x, 0), o.dim(w, 0)};
  dims.append(*spatial);
  return o.set(0, dims);
}
static LogicalResult conv(ShapeOp &o) { return convolution(o, 0, 1, 2); }
static LogicalResult convInteger(ShapeOp &o) { return convolution(o, 0, 1, 0, {3}); }
static LogicalResult deformConv(ShapeOp &o) { return convolution(o, 0, 1, 3); }
static LogicalResult qlinearConv(ShapeOp &o) { return convolution(o, 0, 3, 8, {4, 5}); }

static LogicalResult convTranspose(ShapeOp &o) {
  int64_t rank = o.rank(0), n = rank - 2;
  if (rank < 3 || o.rank(1) != rank)
    return o.error() << "data " << o.text(o.dims(0)) << " and weights " << o.text(o.dims(1)) << " need the same number of axes, at least 3";
  auto w = window(o, o.dims(1).drop_front(2));
  if (failed(w) || failed(o.same(o.dim(0, 1), o.dim(1, 0), "channels of data and weights:")))
    return failure();
  ArrayRef<int64_t> given = o.intsAttr("output_shape"), extra = o.intsAttr("output_padding");
  Dims dims{o.dim(0, 0), o.s.mul(o.dim(1, 1), o.c(o.intAttr("group", 1)))};
  if (failed(checkBias(o, 2, dims[1])))
    return failure();
  for (int64_t i = 0; i < n; ++i) {
    AffineExpr d = o.dim(0, i + 2), stride = o.c(w->strides[i]);
    AffineExpr more = o.c(extra.empty() ? 0 : extra[i]);
    int64_t pads = w->autoPad == "VALID" ? 0 : w->pads[i] + w->pads[i + n];
    if (!given.empty())
      dims.push_back(o.c(given[given.size() - n + i]));
    else if (w->autoPad.starts_with("SAME"))
      dims.push_back(o.s.mul(d, stride));
    else
      dims.push_back(o.s.sum({o.s.mul(o.s.sub(d, o.c(1)), stride), more, w->extent(o, i), o.c(-pads)}));
  }
  return o.set(0, dims);
}

// A pooling window that lies in the padding alone has no value.
static LogicalResult padsInsideWindow(ShapeOp &o, const Window &w) {
  int64_t n = w.kernel.size();
  for (int64_t i = 0; i < 2 * n; ++i)
    if (int64_t extent = (*known(w.kernel[i % n]) - 1) * w.dilations[i % n] + 1; w.pads[i] < 0 || w.pads[i] >= extent)
      return o.error() << "pad " << w.pads[i] << " is not inside the window of " << extent << " entries of spatial axis " << i % n;
  return success();
}

static LogicalResult pool(ShapeOp &o) {
  ArrayRef<int64_t> kernel = o.intsAttr("kernel_shape");
  if (o.rank(0) != int64_t(kernel.size()) + 2)
    return o.error() << "kernel_shape has " << kernel.size() << " entries for data " << o.text(o.dims(0));
  auto w = window(o, constants(o, kernel));
  if (succeeded(w) && failed(padsInsideWindow(o, *w)))
    return failure();
  bool last = o.intAttr("channels_last") || onnx::opName(o.op) == "ms.NhwcMaxPool";
  DimsRef spatial = last ? o.dims(0).drop_front().drop_back() : o.dims(0).drop_front(2);
  auto sizes = failed(w) ? FailureOr<Dims>(failure()) : slide(o, *w, spatial);
  if (failed(sizes))
    return failure();
  Dims dims{o.dim(0, 0)};
  if (!last)
    dims.push_back(o.dim(0, 1));
  dims.append(*sizes);
  if (last)
    dims.push_back(o.dims(0).back());
  return success(succeeded(o.set(0, dims)) && succeeded(o.set(1, dims)));
}

static LogicalResult globalPool(ShapeOp &o) {
  if (o.rank(0) < 2)
    return o.error() << "needs at least 2 axes, the input has " << o.rank(0);
  Dims dims(o.rank(0), o.c(1));
  bool last = o.intAttr("channels_last");
  dims[0] = o.dim(0, 0);
  dims[last ? o.rank(0) - 1 : 1] = o.dims(0)[last ? o.rank(0) - 1 : 1];
  return o.set(0, dims);
}

static LogicalResult maxUnpool(ShapeOp &o) {
  if (o.rank(1) != o.rank(0))
    return o.error() << "data has " << o.rank(0) << " axes, indices " << o.rank(1);
  for (int64_t i = 0; i < o.rank(0); ++i)
    if (failed(o.same(o.dim(0, i), o.dim(1, i), "sizes of axis " + Twine(i) + " of data and of indices:")))
      return failure();
  if (o.in(2)) {
    auto given = o.elements(2);
    return given && int64_t(given->size()) == o.rank(0) ? o.set(0, *given) : o.setRank(0, o.rank(0));
  }
  auto w = window(o, constants(o, o.intsAttr("kernel_shape")));
  if (failed(w) || o.rank(0) != int64_t(w->kernel.size()) + 2)
    return failed(w) ? failure()
                     : LogicalResult(o.error() << "kernel_shape has " << w->kernel.size() << " entries for data " << o.text(o.dims(0)));
  Dims dims(o.dims(0).take_front(2));
  for (auto [i, k] : llvm::enumerate(w->kernel)) {
    int64_t pads = w->pads[i] + w->pads[i + w->kernel.size()];
    dims.push_back(o.s.sum({o.s.mul(o.s.sub(o.dim(0, i + 2), o.c(1)), o.c(w->strides[i])), k, o.c(-pads)}));
  }
  return o.set(0, dims);
}

static LogicalResult col2Im(ShapeOp &o) {
  if (isa<onnx::StringType>(onnx::elementType(o.op->getOperand(0))))
    return o.error() << "strings have no sum";
  auto image = o.elements(1), block = o.elements(2);
  if (!image || !block || o.rank(0) < 2)
    return o.setFromType(0);
  auto rows = known(o.dim(0, 1)), taps = known(o.s.product(*block));
  if (rows && taps && (*taps < 1 || *rows % *taps))
    return o.error() << "the " << *rows << " rows of columns are no multiple of the " << *taps << " elements of a block";
  Dims dims{o.dim(0, 0), o.s.floorDiv(o.dim(0, 1), o.s.product(*block))};
  dims.append(*image);
  return o.set(0, dims);
}

// --- resizing ---

// A size times a scale, rounded down: in single precision as the kernel does it, a fraction of sizes that only the run knows exactly.
static AffineExpr scaled(ShapeOp &o, AffineExpr d, const RealValue &scale) {
  auto n = known(d), numerator = known(scale.numerator);
  if (scale.numerator && !(n && numerator))
    return (numerator || o.s.isNonNegative(scale.numerator)) && scale.isExact()
               ? o.s.floorDiv(o.s.mul(d, scale.numerator), o.c(scale.denominator))
               : AffineExpr();
  float value = float(numerator ? double(*numerator) / double(scale.denominator) : scale.value);
  if (n)
    return std::fabs(float(*n) * value) < 0x1p62f ? o.c(int64_t(std::floor(float(*n) * value))) : AffineExpr();
  for (int64_t below = 1; below <= 1 << 10; below *= 2)
    if (double above = double(value) * below; above == std::floor(above) && above < 1e6)
      return o.s.floorDiv(o.s.mul(d, o.c(int64_t(above))), o.c(below));
  return {};
}

// Constant sizes under keep_aspect_ratio_policy: one scale for all axes.
static void keepAspect(ShapeOp &o, DimsRef old, Dims &sizes) {
  StringRef policy = o.strAttr("keep_aspect_ratio_policy");
  if (policy == "stretch")
    return;
  double scale = policy == "not_larger" ? INFINITY : 0;
  for (auto [d, size] : llvm::zip(old, sizes)) {
    auto n = known(d), m = known(size);
    if (!n || !m || *n == 0) {
      sizes.assign(sizes.size(), AffineExpr());
      return;
    }
    double ratio = double(*m) / double(*n);
    scale = policy == "not_larger" ? std::min(scale, ratio) : std::max(scale, ratio);
  }
  for (auto [d, size] : llvm::zip(old, sizes))
    size = o.c(int64_t(std::floor(scale * double(*known(d)) + 0.5)));
}

// Factors and sizes of a resize are positive; an empty axis may stay empty.
static LogicalResult positiveTargets(ShapeOp &o, DimsRef old) {
  auto sizes = o.in(3) ? o.constants(3) : std::nullopt;
  for (auto [i, size] : llvm::enumerate(sizes.value_or(SmallVector<int64_t>())))
    if (size < 0 || (size == 0 && i < old.size() && known(old[i]) != 0))
      return o.error() << "size " << size << " of entry " << i << " is not positive";
  auto scales = o.in(2) ? o.constantReals(2) : std::nullopt;
  for (auto [i, scale] : llvm::enumerate(scales.value_or(SmallVector<double>())))
    if (!(scale > 0) || std::isinf(scale))
      return o.error() << "scale " << scale << " of entry " << i << " is not a positive number";
  return success();
}

static LogicalResult resize(ShapeOp &o) {
  int64_t rank = o.rank(0);
  SmallVector<int64_t> axes(o.intsAttr("axes"));
  if (!o.op->hasAttr("axes"))
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  Dims old, dims(o.dims(0));
  for (int64_t &a : axes) {
    auto axis = o.axis(a, rank);
    if (failed(axis))
      return failure();
    a = *axis;
    old.push_back(o.dim(0, a));
  }
  if (failed(positiveTargets(o, old)))
    return failure();
  Dims sizes(axes.size());
  auto given = o.in(3) ? o.elements(3) : std::nullopt;
  bool bySizes = given && !given->empty();
  if (bySizes && given->size() == axes.size()) {
    sizes = *given;
    keepAspect(o, old, sizes);
  } else if (!bySizes && o.in(2)) {
    if (auto scales = o.s.realElements(o.in(2)); scales.size() == axes.size())
      for (auto [i, scale] : llvm::enumerate(scales))
        sizes[i] = scaled(o, old[i], scale);
  }
  for (auto [a, size] : llvm::zip(axes, sizes))
    dims[a] = size;
  return o.set(0, dims);
}

static LogicalResult gridSample(ShapeOp &o) {
  if (o.rank(0) != o.rank(1) || o.rank(0) < 3)
    return o.error() << "data " << o.text(o.dims(0)) << " and grid " << o.text(o.dims(1)) << " need the same number of axes, at least 3";
  Dims dims(o.dims(0).take_front(2));
  dims.append(o.dims(1).begin() + 1, o.dims(1).end() - 1);
  return o.set(0, dims);
}

static LogicalResult affineGrid(ShapeOp &o) {
  auto size = o.elements(1);
  if (!size || size->size() < 3)
    return o.setFromType(0);
  int64_t axes = int64_t(size->size()) - 2;
  if (o.rank(0) != 3)
    return o.error() << "theta needs 3 axes, it has " << o.rank(0);
  if (failed(o.same(o.dim(0, 0), size->front(), "batches of theta and of size:")) ||
      failed(o.same(o.dim(0, 1), o.c(axes), "rows of theta and axes of an image:")) ||
      failed(o.same(o.dim(0, 2), o.c(axes + 1), "columns of theta and axes of an image and one:")))
    return failure();
  Dims dims{size->front()};
  dims.append(size->begin() + 2, size->end());
  dims.push_back(o.c(axes));
  return o.set(0, dims);
}

static LogicalResult roiAlign(ShapeOp &o) {
  return o.set(0, {o.dim(1, 0), o.dim(0, 1), o.c(o.intAttr("output_height", 1)), o.c(o.intAttr("output_width", 1))});
}
static LogicalResult maxRoiPool(ShapeOp &o) {
  Dims dims{o.dim(1, 0), o.dim(0, 1)};
  dims.append(constants(o, o.intsAttr("pooled_shape")));
  return o.set(0, dims);
}
static LogicalResult causalConv(ShapeOp &o) {
  if (o.rank(0) != 3 || o.rank(1) != 3)
    return o.error() << "data and weights need 3 axes, they have " << o.rank(0) << " and " << o.rank(1);
  if (failed(o.set(0, o.dims(0))))
    return failure();
  return o.set(1, {o.dim(0, 0), o.dim(0, 1), o.s.sub(o.dim(1, 2), o.c(1))});
}

// --- blocked activations (onnx::blockedType) ---

// How many images become of `videos` of `frames` frames.
static AffineExpr framesMade(ShapeOp &o, const onnx::FrameAxis &axis, AffineExpr videos, AffineExpr frames) {
  return o.s.mul(videos, o.s.floorDiv(o.s.add(frames, o.c(axis.more())), o.c(axis.stride)));
}
// How many images the result has: those of the input, or the frames that are made of them.
static AffineExpr imagesOf(ShapeOp &o) {
  auto axis = onnx::frameAxis(o.op);
  return axis ? framesMade(o, *axis, o.dim(0, 0), o.s.floorDiv(o.dim(0, 1), o.c(axis->blocks))) : o.dim(0, 0);
}
static LogicalResult setBlocked(ShapeOp &o, AffineExpr blocks, AffineExpr height, AffineExpr width) {
  return o.set(0, {imagesOf(o), blocks, height, width, o.c(kLanes)});
}
static LogicalResult slideBlocked(ShapeOp &o, AffineExpr blocks, DimsRef kernel) {
  auto w = window(o, kernel);
  auto sizes = failed(w) ? FailureOr<Dims>(failure()) : slide(o, *w, o.dims(0).slice(2, 2));
  return failed(sizes) ? failure() : setBlocked(o, blocks, sizes->front(), sizes->back());
}
static LogicalResult packedConv(ShapeOp &o) { return slideBlocked(o, o.dim(1, 0), o.dims(1).slice(2, 2)); }
static Dims transposedSizes(ShapeOp &o) {
  ArrayRef<int64_t> kernel = o.intsAttr("kernel_shape"), strides = o.intsAttr("strides"), crops = o.intsAttr("crops");
  auto size = [&](int64_t axis) {
    AffineExpr starts = o.s.mul(o.s.sub(o.dim(0, axis + 2), o.c(1)), o.c(strides[axis]));
    return o.s.add(starts, o.c(kernel[axis] - crops[axis] - crops[axis + 2]));
  };
  return {size(0), size(1)};
}
static LogicalResult packedTransposed(ShapeOp &o) {
  Dims sizes = transposedSizes(o);
  return setBlocked(o, o.c(llvm::divideCeil(o.intAttr("outputs"), kLanes)), sizes[0], sizes[1]);
}
static LogicalResult setImage(ShapeOp &o, int64_t channels, AffineExpr height, AffineExpr width) {
  Dims image{o.dim(0, 0), o.c(channels), height, width};
  if (cast<RankedTensorType>(o.out(0).getType()).getRank() == 3)
    image.erase(image.begin() + 2);
  return o.set(0, image);
}
static LogicalResult packedNarrow(ShapeOp &o) {
  Dims sizes = transposedSizes(o);
  return setImage(o, o.intAttr("outputs"), sizes[0], sizes[1]);
}
static LogicalResult packedGrouped(ShapeOp &o) {
  auto frames = onnx::frameAxis(o.op);
  Dims kernel(o.dims(1).slice(1, 2));
  if (frames)
    kernel[0] = o.s.floorDiv(kernel[0], o.c(frames->taps));
  return slideBlocked(o, o.dim(1, 0), kernel);
}
// `countAt`: the operand that says how many videos there are, before that which says how many frames each has.
static LogicalResult slideFrames(ShapeOp &o, unsigned countAt, AffineExpr channels, DimsRef kernel) {
  auto w = window(o, kernel);
  auto sizes = failed(w) ? FailureOr<Dims>(failure()) : slide(o, *w, o.dims(0).slice(2, 2));
  AffineExpr videos = o.element(countAt), frames = o.element(countAt + 1);
  AffineExpr images = videos && frames ? framesMade(o, *onnx::frameAxis(o.op), videos, frames) : AffineExpr();
  return failed(sizes) ? failure() : o.set(0, {images, channels, sizes->front(), sizes->back()});
}
static LogicalResult frameConv(ShapeOp &o) { return slideFrames(o, 3, o.dim(1, 0), o.dims(1).slice(3, 2)); }
static LogicalResult framePool(ShapeOp &o) { return slideFrames(o, 1, o.dim(0, 1), constants(o, o.intsAttr("kernel_shape"))); }
static LogicalResult packedWinograd(ShapeOp &o) {
  const bool areTaps = o.rank(1) == 5;
  return slideBlocked(o, o.dim(1, areTaps ? 0 : 1), constants(o, o.intsAttr("kernel_shape")));
}
static LogicalResult packedLinear(ShapeOp &o) { return slideBlocked(o, o.dim(2, 0), constants(o, o.intsAttr("kernel_shape"))); }
static LogicalResult packedMean(ShapeOp &o) { return setBlocked(o, o.dim(0, 1), o.c(1), o.c(1)); }
static LogicalResult packedMoments(ShapeOp &o) {
  Dims each = {o.dim(0, 0), o.dim(0, 1), o.c(1), o.c(1), o.c(kLanes)};
  return success(succeeded(o.set(0, each)) && succeeded(o.set(1, each)));
}
static LogicalResult packedPool(ShapeOp &o) {
  auto frames = onnx::frameAxis(o.op);
  return slideBlocked(o, frames ? o.c(frames->blocks) : o.dim(0, 1), constants(o, o.intsAttr("kernel_shape")));
}
static LogicalResult packedSquares(ShapeOp &o) { return o.set(0, o.dims(0)); }
static LogicalResult packedResize(ShapeOp &o) { return setBlocked(o, o.dim(0, 1), o.dim(1, 0), o.dim(3, 0)); }
static LogicalResult block(ShapeOp &o) {
  AffineExpr height = o.rank(0) == 3 ? o.c(1) : o.dim(0, 2);
  return setBlocked(o, o.s.ceilDiv(o.dim(0, 1), o.c(kLanes)), height, o.dims(0).back());
}
static LogicalResult unblock(ShapeOp &o) { return setImage(o, o.intAttr("channels"), o.dim(0, 2), o.dim(0, 3)); }
static LogicalResult channels(ShapeOp &o) {
  int64_t count = 0;
  for (int64_t n : o.intsAttr("counts"))
    count += n;
  return setBlocked(o, o.c(llvm::divideCeilSigned(count, kLanes)), o.dim(0, 2), o.dim(0, 3));
}

void addWindowRules(ShapeRules &rules) {
  rules["packed.Conv"] = packedConv;
  rules["packed.FrameConv"] = frameConv;
  rules["packed.FramePool"] = framePool;
  rules["packed.WinogradConv"] = packedWinograd;
  rules["packed.ConvTranspose"] = packedTransposed;
  rules["packed.NarrowConv"] = packedNarrow;
  rules["packed.GroupedConv"] = packedGrouped;
  rules["packed.Resize"] = packedResize;
  rules["packed.ChannelSquares"] = packedSquares;
  rules["packed.GroupMoments"] = packedMoments;
  rules["packed.ByteMean"] = packedMean;
  rules["packed.LinearConv"] = packedLinear;
  rules["packed.Pool"] = rules["packed.BytePool"] = packedPool;
  rules["packed.Block"] = block;
  rules["packed.Unblock"] = unblock;
  rules["packed.Channels"] = channels;
  rules["Conv"] = rules["ms.FusedConv"] = conv;
  rules["ConvInteger"] = convInteger;
  rules["DeformConv"] = deformConv;
  rules["QLinearConv"] = qlinearConv;
  rules["ConvTranspose"] = convTranspose;
  for (const char *name : {"AveragePool", "MaxPool", "LpPool", "ms.NhwcMaxPool", "ms.QLinearAveragePool"})
    rules[name] = pool;
  for (const char *name : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "ms.QLinearGlobalAveragePool"})
    rules[name] = globalPool;
  rules["MaxUnpool"] = maxUnpool;
  rules["Col2Im"] = col2Im;
  rules["Resize"] = resize;
  rules["GridSample"] = gridSample;
  rules["AffineGrid"] = affineGrid;
  rules["RoiAlign"] = roiAlign;
  rules["MaxRoiPool"] = maxRoiPool;
  rules["CausalConvWithState"] = causalConv;
}

}  // namespace onnxc
