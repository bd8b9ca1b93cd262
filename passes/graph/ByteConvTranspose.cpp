// ByteConvTranspose.cpp: transposed convolutions of dequantised values with dequantised constant filters as convolutions of bytes, one for
// the phases of the strides that read the same pixels, whose results interleave in blocks: so phases are the outer part of an axis of
// channels, each with whole blocks, where DecomposeConv.cpp, which interleaves single channels, has them innermost. With ByteMoves.cpp the
// first step of the integer-contractions pass.
#include "dialects/onnx/Blocked.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/DecomposeConv.h"
#include "passes/graph/IntegerSteps.h"
#include "passes/graph/Weights.h"
#include "llvm/Support/MathExtras.h"
#include "runtime_stub/kernels/PhaseAxis.h"

using namespace mlir;
namespace onnxc {
namespace {

struct Phase {
  int64_t number, taps, pad;  // `number`: its first tap
};
// An axis: its phases in the order of their first results, `together` of them with as many taps of the same pixels.
struct Phases {
  SmallVector<Phase> phases;
  int64_t kernel, stride, together;
  int64_t more;              // results of a phase than pixels
  int64_t cutBegin, cutEnd;  // of the results of all phases
  int64_t groups() const { return stride / together; }
  int64_t padEnd(const Phase &p) const { return more + p.taps - 1 - p.pad; }
};

struct ByteTransposed {
  onnx::DequantizeLinearOp x, w;
  Transposed t;
  SmallVector<Phases> axes;
  int64_t room;  // channels of a phase: whole blocks where these interleave
  bool blocks() const { return room % kLanes == 0; }
};

// Each phase with its own taps; nothing where one has none, or does not read what a convolution reads first or last.
std::optional<Phases> phasesOf(const TransposedAxis &a) {
  int64_t more = a.kernel - a.stride - a.begin - a.end;  // results than `stride` times the pixels
  if (a.kernel < a.stride)
    return std::nullopt;
  Phases p{{}, a.kernel, a.stride, a.stride, int64_t(llvm::divideCeilSigned(more, a.stride)), 0, 0};
  p.cutEnd = p.more * a.stride - more;
  for (int64_t first = 0; first < a.stride; ++first) {
    int64_t number = (first + a.begin) % a.stride;
    PhaseAxis axis(number, a.kernel, a.stride, a.begin);
    p.phases.push_back({number, axis.taps, axis.pad});
    if (axis.pad < 0 || p.padEnd(p.phases.back()) < 0)
      return std::nullopt;
  }
  auto isAlike = [&](int64_t i) {
    const Phase &one = p.phases[i], &of = p.phases[i / p.together * p.together];
    return one.taps == of.taps && one.pad == of.pad;
  };
  while (a.stride % p.together || !llvm::all_of(llvm::seq<int64_t>(0, a.stride), isAlike))
    --p.together;
  return p;
}
// All phases with as many taps, zeros among them, of the same pixels.
Phases joinedPhases(const TransposedAxis &a) {
  Phases p{{}, a.kernel, a.stride, a.stride, a.padBegin + a.padEnd - a.taps + 1, a.cropBegin, a.cropEnd};
  for (int64_t number = 0; number < a.stride; ++number)
    p.phases.push_back({number, a.taps, a.padBegin});
  return p;
}

// Convolutions, and products of a pixel and a channel, in blocks of results.
struct Cost {
  int64_t convs, products;
};
Cost costOf(ArrayRef<Phases> axes, int64_t outputs) {
  Cost cost{1, 1};
  int64_t together = outputs;
  for (const Phases &a : axes) {
    int64_t taps = 0;
    for (int64_t i = 0; i < a.stride; i += a.together)
      taps += a.phases[i].taps;
    cost.convs *= a.groups(), cost.products *= taps, together *= a.together;
  }
  cost.products *= llvm::divideCeil(together, kLanes);
  return cost;
}

// Few results of each phase share a block with those of others, though some of the results are cut off then.
SmallVector<Phases> axesOf(const Transposed &t) {
  constexpr int64_t mostConvs = 16;
  SmallVector<Phases> apart, joined;
  for (const TransposedAxis &a : t.axes) {
    joined.push_back(joinedPhases(a));
    if (auto own = phasesOf(a))
      apart.push_back(*own);
  }
  if (apart.size() < joined.size())
    return joined;
  Cost cost = costOf(apart, t.outputs);
  return cost.convs > mostConvs || 2 * costOf(joined, t.outputs).products <= cost.products ? joined : apart;
}

// Whether `v` is dequantised from a constant with one scale and zero point, or one for each index of `axis`.
bool isDequantisedConstant(Value v, int64_t axis) {
  auto dq = v.getDefiningOp<onnx::DequantizeLinearOp>();
  auto type = dq ? rankedType(dq.getX()) : RankedTensorType();
  auto scales = dq ? constantFloats(dq.getXScale()) : std::nullopt;
  auto zeros = dq && dq.getXZeroPoint() ? constantIntegers(dq.getXZeroPoint()) : std::vector<float>{0.f};
  auto fits = [&](const auto &list) {
    return list && (list->size() == 1 || (onnx::axisAttr(dq, type.getRank()) == axis && int64_t(list->size()) == type.getDimSize(axis)));
  };
  return type && type.hasStaticShape() && dq.getBlockSize() == 0 && onnx::constantValue(dq.getX()) && fits(scales) && fits(zeros);
}

std::optional<ByteTransposed> byteTransposed(onnx::ConvTransposeOp op) {
  auto x = op.getX().getDefiningOp<onnx::DequantizeLinearOp>(), w = op.getW().getDefiningOp<onnx::DequantizeLinearOp>();
  auto t =
      x && w && scalingOf(x) && isByte(onnx::elementType(w.getX())) && isDequantisedConstant(op.getW(), 1) ? transposed(op) : std::nullopt;
  Value bias = op.getB();
  if (!t || t->axes.size() > 2 || t->group != 1 || rankedType(op.getX()).isDynamicDim(1) ||
      (bias &&
       (rankedType(bias).getShape() != ArrayRef<int64_t>{t->outputs} || (!constantFloats(bias) && !isDequantisedConstant(bias, 0)))))
    return std::nullopt;
  int64_t room = onnx::fillsBlocks(t->outputs) ? llvm::alignTo(t->outputs, kLanes) : t->outputs;
  return ByteTransposed{x, w, *t, axesOf(*t), room};
}

// --- constants ---

// A dequantisation of `values`, whose axis 0 has the channels of `like` once for each of `count` phases, `room` for each phase.
Value dequantisedAs(GraphBuilder g, onnx::DequantizeLinearOp like, Value values, int64_t count, int64_t room) {
  auto perPhase = [&](Value v) -> Value {
    auto type = v ? rankedType(v) : RankedTensorType();
    if (!type)
      return v;
    std::vector<char> bytes = *constantBytes(onnx::constantValue(v)), all;
    if (type.getNumElements() == 1)
      return g.constant(RankedTensorType::get({}, type.getElementType()), std::move(bytes));
    int64_t each = bytes.size() / type.getNumElements();
    std::vector<char> last(bytes.end() - each, bytes.end());
    for (int64_t i = 0; i < count; ++i) {
      all.insert(all.end(), bytes.begin(), bytes.end());
      for (int64_t j = type.getNumElements(); j < room; ++j)
        all.insert(all.end(), last.begin(), last.end());
    }
    return g.constant(RankedTensorType::get({count * room}, type.getElementType()), std::move(all));
  };
  return onnx::DequantizeLinearOp::create(g.b, g.loc, rankedType(values).clone(g.b.getF32Type()), values, perPhase(like.getXScale()),
                                          perPhase(like.getXZeroPoint()), g.b.getI64IntegerAttr(0), like.getBlockSizeAttr(),
                                          like.getOutputDtypeAttr());
}

// The phases [y, y + together) and [x, ...) of both axes, of one axis y is null.
struct Group {
  const Phases *y;
  const Phases &x;
  int64_t firstY, firstX;
  int64_t rows() const { return y ? y->together : 1; }
  int64_t count() const { return rows() * x.together; }
};

// [phases * room, channels, taps...]; what no phase has is zero.
Value phaseFilters(GraphBuilder g, const ByteTransposed &b, const Group &group) {
  onnx::DequantizeLinearOp w = b.w;
  auto type = rankedType(w.getX());
  std::vector<char> from = *constantBytes(onnx::constantValue(w.getX())), to;
  auto zeros = w.getXZeroPoint() ? *constantIntegers(w.getXZeroPoint()) : std::vector<float>{0.f};
  int64_t outputs = b.t.outputs, height = group.y ? group.y->kernel : 1, width = group.x.kernel;
  int64_t down = group.y ? group.y->phases[group.firstY].taps : 1, right = group.x.phases[group.firstX].taps;
  for (int64_t py = 0; py < group.rows(); ++py)
    for (int64_t px = 0; px < group.x.together; ++px)
      for (int64_t o = 0; o < b.room; ++o)
        for (int64_t c = 0; c < b.t.channels; ++c)
          for (int64_t i = down; i-- > 0;)
            for (int64_t j = right; j-- > 0;) {
              int64_t ky = group.y ? group.y->phases[group.firstY + py].number + group.y->stride * i : 0;
              int64_t kx = group.x.phases[group.firstX + px].number + group.x.stride * j;
              int64_t channel = std::min(o, outputs - 1);
              bool isThere = o < outputs && ky < height && kx < width;
              to.push_back(isThere ? from[((c * outputs + o) * height + ky) * width + kx] : char(int(ofChannel(zeros, channel))));
            }
  SmallVector<int64_t> shape{group.count() * b.room, b.t.channels};
  if (group.y)
    shape.push_back(down);
  shape.push_back(right);
  Value filters = g.constant(type.clone(shape), std::move(to));
  return dequantisedAs(g, w, filters, group.count(), b.room);
}

Value blockBias(GraphBuilder g, const ByteTransposed &b, const Group &group, Value bias) {
  if (!bias)
    return bias;
  auto dq = bias.getDefiningOp<onnx::DequantizeLinearOp>();
  Value given = dq ? dq.getX() : bias;
  auto type = rankedType(given);
  std::vector<char> from = *constantBytes(onnx::constantValue(given)), to;
  int64_t each = from.size() / b.t.outputs;
  for (int64_t i = 0; i < group.count(); ++i) {
    to.insert(to.end(), from.begin(), from.end());
    to.insert(to.end(), (b.room - b.t.outputs) * each, 0);
  }
  Value values = g.constant(type.clone({group.count() * b.room}), std::move(to));
  return dq ? dequantisedAs(g, dq, values, group.count(), b.room) : values;
}

// --- results ---

// The op behind `op` that quantises its results, perhaps behind bounds; null where there is none.
onnx::QuantizeLinearOp quantisationOf(Operation *op) {
  Operation *user = onlyUser(op);
  if (user && boundsOf(user))
    user = onlyUser(user);
  auto q = llvm::dyn_cast_if_present<onnx::QuantizeLinearOp>(user);
  return q && scalingOf(q) ? q : onnx::QuantizeLinearOp();
}

Value phaseConv(GraphBuilder g, onnx::ConvTransposeOp op, const ByteTransposed &b, const Group &group, onnx::QuantizeLinearOp q) {
  auto x = rankedType(op.getX());
  SmallVector<int64_t> shape{x.getDimSize(0), group.count() * b.room}, pads, ends;
  for (int64_t i = 0, n = b.axes.size(); i < n; ++i) {
    const Phase &phase = b.axes[i].phases[i + 1 < n ? group.firstY : group.firstX];
    int64_t size = x.getDimSize(i + 2);
    shape.push_back(ShapedType::isDynamic(size) ? size : size + b.axes[i].more);
    pads.push_back(phase.pad), ends.push_back(b.axes[i].padEnd(phase));
  }
  pads.append(ends);
  Value v = onnx::ConvOp::create(g.b, g.loc, x.clone(shape), op.getX(), phaseFilters(g, b, group), blockBias(g, b, group, op.getB()),
                                 g.b.getStringAttr("NOTSET"), {}, g.b.getI64IntegerAttr(1), {}, g.b.getDenseI64ArrayAttr(pads), {});
  if (!q)
    return v;
  if (Operation *bounds = onlyUser(op); bounds != q) {
    Operation *same = g.b.clone(*bounds);
    same->setOperand(0, v);
    same->getResult(0).setType(v.getType());
    v = same->getResult(0);
  }
  return onnx::QuantizeLinearOp::create(g.b, q.getLoc(), x.clone(shape).clone(onnx::elementType(q.getY())), v, q.getYScale(),
                                        q.getYZeroPoint());
}

// [N, groups * phases * C, Q...] to [N, C, Q stride...], C and lanes being blocks of channels where `v` has them.
Value interleavedBlocks(GraphBuilder g, const ByteTransposed &b, Value v) {
  auto type = rankedType(v);
  int64_t channels = b.blocks() ? b.room / kLanes : b.room, rows = b.blocks() && b.axes.size() == 1, n = b.axes.size();
  SmallVector<int64_t> shape{type.getDimSize(0)}, perm{0, 1 + 2 * n}, whole{type.getDimSize(0), channels}, unknown{0};
  SmallVector<Value> sizes = g.unknownSizes(v, {0}), wholeSizes = sizes;
  if (rows)
    perm.push_back(2 + 2 * n), whole.push_back(1);
  for (const Phases &a : b.axes)
    shape.push_back(a.groups());
  for (const Phases &a : b.axes)
    shape.push_back(a.together);
  shape.push_back(channels);
  if (rows)
    shape.push_back(1);
  for (int64_t i = 0; i < n; ++i) {
    int64_t axis = 2 + rows + i, size = type.getDimSize(axis), stride = b.axes[i].stride;
    perm.append({2 + 2 * n + rows + i, 1 + i, 1 + n + i});
    shape.push_back(size);
    whole.push_back(ShapedType::isDynamic(size) ? size : size * stride);
    if (ShapedType::isDynamic(size)) {
      sizes.push_back(g.sizeOf(v, axis));
      wholeSizes.push_back(onnx::MulOp::create(g.b, g.loc, sizes.back().getType(), sizes.back(), g.integers({stride})));
    }
  }
  if (b.blocks())
    perm.push_back(2 + 3 * n + rows), shape.push_back(kLanes), whole.push_back(kLanes);
  return g.reshapeTo(g.transpose(g.reshapeTo(v, shape, sizes), perm), whole, wholeSizes);
}

LogicalResult convTransposeOfBytes(onnx::ConvTransposeOp op, PatternRewriter &rewriter) {
  auto b = byteTransposed(op);
  if (!b)
    return rewriter.notifyMatchFailure(op, "not of bytes with constant filters, or borders that a convolution has not");
  GraphBuilder g{rewriter, op.getLoc()};
  onnx::QuantizeLinearOp q = quantisationOf(op);
  if (q)
    rewriter.setInsertionPoint(q);
  const Phases &x = b->axes.back(), *y = b->axes.size() == 2 ? &b->axes.front() : nullptr;
  SmallVector<Value> parts;
  for (int64_t i = 0; i < (y ? y->stride : 1); i += y ? y->together : 1)
    for (int64_t j = 0; j < x.stride; j += x.together) {
      Value part = phaseConv(g, op, *b, {y, x, i, j}, q);
      parts.push_back(b->blocks() ? onnx::PackedBlockOp::create(rewriter, g.loc, onnx::blockedType(rankedType(part)), part).getResult()
                                  : part);
    }
  Value v = interleavedBlocks(g, *b, g.concat(parts, 1));
  if (b->blocks()) {
    ArrayRef<int64_t> s = rankedType(v).getShape();
    SmallVector<int64_t> shape{s[0], b->t.outputs};
    if (y)
      shape.push_back(s[2]);
    shape.push_back(s[3]);
    v = onnx::PackedUnblockOp::create(rewriter, g.loc, rankedType(v).clone(shape), v, rewriter.getI64IntegerAttr(b->t.outputs));
  }
  v = cropped(g, v, llvm::to_vector(llvm::map_range(b->axes, [](const Phases &a) { return std::pair(a.cutBegin, a.cutEnd); })));
  replaceTyped(rewriter, q ? q.getOperation() : op.getOperation(), v);
  return success();
}

}  // namespace

bool isTransposedOfBytes(onnx::ConvTransposeOp op) { return byteTransposed(op).has_value(); }

void populateByteConvTransposePatterns(RewritePatternSet &patterns) { patterns.add(convTransposeOfBytes); }

}  // namespace onnxc
