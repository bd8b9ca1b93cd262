// RecognizeSpectrum.cpp: convolutions over time whose filters are windowed cosines and sines, as exporters write spectrograms, become STFT,
// which is a fast transform. One of the groups of Recognize.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Signal.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

// Filters of one channel over N steps: N / 2 + 1 of a part of the spectrum, or as many of the imaginary part behind those of the real one.
struct Filters {
  std::vector<float> values;
  int64_t count, length, step;

  int64_t bins() const { return length / 2 + 1; }
  // Filters from `first` on are scale * window[n] * cos(2 pi k n / N), or sin; the window is the first filter of the real part.
  bool isPart(const Filters &real, int64_t first, bool sine, double scale) const {
    constexpr double tolerance = 1e-5;  // of the window's largest
    constexpr double tau = 6.283185307179586477;
    double most = 0;
    for (int64_t n = 0; n < length; ++n)
      most = std::max(most, std::fabs(double(real.values[n])));
    for (int64_t k = 0; k < bins(); ++k)
      for (int64_t n = 0; n < length; ++n) {
        double phase = tau * double(k * n % length) / double(length);
        double wanted = scale * real.values[n] * (sine ? std::sin(phase) : std::cos(phase));
        if (!(std::fabs(values[(first + k) * length + n] - wanted) <= tolerance * most))
          return false;
      }
    return most > 0;
  }
  // Of the imaginary part that starts with filter `first`; the transform's own is -1.
  std::optional<double> sign(const Filters &real, int64_t first) const {
    for (double scale : {-1.0, 1.0})
      if (isPart(real, first, true, scale))
        return scale;
    return std::nullopt;
  }
};

// Lengths that a fast transform takes, and gains by.
bool isFast(int64_t length) {
  constexpr int64_t least = 64;
  if (length < least || length % 2 != 0)
    return false;
  for (int64_t p : {2, 3, 5})
    while (length % p == 0)
      length /= p;
  return length == 1;
}

std::optional<Filters> filters(onnx::ConvOp op) {
  auto weights = rankedType(op.getW());
  auto ones = [&](StringRef name) { return llvm::all_of(onnx::intsAttr(op, name), [](int64_t v) { return v == 1; }); };
  bool padded = llvm::any_of(onnx::intsAttr(op, "pads"), [](int64_t v) { return v != 0; }) || op.getAutoPad().starts_with("SAME");
  if (!weights || weights.getRank() != 3 || !weights.hasStaticShape() || weights.getDimSize(1) != 1 || op.getB() || op.getGroup() != 1 ||
      !ones("dilations") || padded || !weights.getElementType().isF32())
    return std::nullopt;
  Filters f{{}, weights.getDimSize(0), weights.getDimSize(2), 1};
  if (!isFast(f.length) || (f.count != f.bins() && f.count != 2 * f.bins()))
    return std::nullopt;
  auto values = constantFloats(op.getW());
  if (!values)
    return std::nullopt;
  if (ArrayRef<int64_t> strides = onnx::intsAttr(op, "strides"); !strides.empty())
    f.step = strides[0];
  f.values = std::move(*values);
  return f;
}

// [batch, frames, bins, 2] of the signal [batch, 1, steps] that `op` reads.
Value spectrum(GraphBuilder g, onnx::ConvOp op, const Filters &f) {
  auto result = rankedType(op.getY());
  Value signal = g.reshape(op.getX(), {0, -1});
  Value step = g.integers<int64_t>({}, {f.step});
  Value window = g.floats({f.length}, std::vector<float>(f.values.begin(), f.values.begin() + f.length));
  return onnx::STFTOp::create(g.b, g.loc, result.clone({result.getDimSize(0), result.getDimSize(2), f.bins(), 2}), signal, step, window,
                              Value(), 1);
}

Value scaled(GraphBuilder g, Value v, Value factor) { return onnx::MulOp::create(g.b, g.loc, v.getType(), v, factor); }

// One part as the convolution gives it, [batch, bins, frames].
Value part(GraphBuilder g, Value spectrum, int64_t index, const Filters &f, double scale) {
  Value one = g.transpose(g.reshape(g.slice(spectrum, 3, index, index + 1), {0, 0, f.bins()}), {0, 2, 1});
  return scale == 1 ? one : scaled(g, one, g.number(float(scale)));
}

// The real part, with the imaginary one of the same filters or of another convolution of the same signal.
LogicalResult spectrumOfFilters(onnx::ConvOp op, PatternRewriter &rewriter) {
  auto f = filters(op);
  if (!f || !rankedType(op.getY()) || !f->isPart(*f, 0, false, 1))
    return rewriter.notifyMatchFailure(op, "filters are no windowed cosines");
  GraphBuilder g{rewriter, op.getLoc()};
  if (f->count == 2 * f->bins()) {
    auto sign = f->sign(*f, f->bins());
    if (!sign)
      return rewriter.notifyMatchFailure(op, "the second filters are no windowed sines");
    Value both = g.transpose(spectrum(g, op, *f), {0, 3, 2, 1});
    if (*sign > 0)
      both = scaled(g, both, g.floats({1, 2, 1, 1}, {1, -1}));
    rewriter.replaceOp(op, g.reshape(both, {0, f->count, -1}));
    return success();
  }
  SmallVector<std::pair<onnx::ConvOp, double>> imaginary;
  Operation *first = op;
  for (Operation *user : op.getX().getUsers()) {
    auto other = llvm::dyn_cast<onnx::ConvOp>(user);
    auto sines = other && other != op && other->getBlock() == op->getBlock() ? filters(other) : std::nullopt;
    bool alike = sines && sines->count == f->count && sines->length == f->length && sines->step == f->step;
    if (auto sign = alike ? sines->sign(*f, 0) : std::nullopt) {
      imaginary.push_back({other, *sign});
      first = other->isBeforeInBlock(first) ? other : first;
    }
  }
  rewriter.setInsertionPoint(first);
  Value both = spectrum(g, op, *f);
  for (auto [other, sign] : imaginary) {
    rewriter.setInsertionPoint(other);
    rewriter.replaceOp(other, part({rewriter, other.getLoc()}, both, 1, *f, -sign));
  }
  rewriter.setInsertionPoint(op);
  rewriter.replaceOp(op, part(g, both, 0, *f, 1));
  return success();
}

}  // namespace

void populateSpectrumPatterns(RewritePatternSet &patterns) { patterns.add(spectrumOfFilters); }

}  // namespace onnxc
