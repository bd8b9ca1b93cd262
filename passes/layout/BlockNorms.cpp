// BlockNorms.cpp: normalisations on blocks. Part of the block-channels pass (Blocker.h).
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Weights.h"
#include "passes/layout/Blocker.h"
#include "passes/layout/ConvWeights.h"

using namespace mlir;
namespace onnxc::blocks {

// A normalisation that no convolution before it could take up is a product and a sum.
bool Blocker::normalization(Operation *op) {
  auto norm = cast<onnx::BatchNormalizationOp>(op);
  if (!isImage(norm.getX()) || !isSingle(norm.getX()) || !blocked.count(norm.getX()))
    return false;
  auto affine = channelAffine(norm);
  if (!affine || int64_t(affine->scale.size()) != channelsOf(norm.getX()))
    return false;
  Location loc = op->getLoc();
  Value x = blocked[norm.getX()], scale = packChannels(b, loc, affine->scale, true), offset = packChannels(b, loc, affine->offset, true);
  done(op, onnx::AddOp::create(b, loc, x.getType(), onnx::MulOp::create(b, loc, x.getType(), x, scale), offset));
  return true;
}

// LRN: x (bias + alpha / size * squares)^-beta, where beta is 3/4 by two square roots. The power stays finite in lanes past the last
// channel, whose squares are left out. Moving to blocks and back costs less than what the plain form computes.
bool Blocker::response(Operation *op) {
  auto lrn = cast<onnx::LRNOp>(op);
  if (!isImage(lrn.getX()) || !isSingle(lrn.getX()))
    return false;
  constexpr int64_t mostSize = 2 * kLanes + 1;
  float bias = lrn.getBias().convertToFloat(), alpha = lrn.getAlpha().convertToFloat(), beta = lrn.getBeta().convertToFloat();
  if (int64_t(lrn.getSize()) > mostSize || !(bias > 0) || !(alpha >= 0) || !std::isfinite(beta))
    return false;
  Location loc = op->getLoc();
  Value x = block(lrn.getX(), loc);
  Type type = x.getType();
  GraphBuilder g{b, loc};
  Value squares = onnx::PackedChannelSquaresOp::create(b, loc, type, x, b.getI64IntegerAttr(channelsOf(lrn.getX())), lrn.getSizeAttr());
  Value scaled = onnx::MulOp::create(b, loc, type, squares, g.number(alpha / float(lrn.getSize())));
  Value base = onnx::AddOp::create(b, loc, type, scaled, g.number(bias));
  if (beta == 0.75f) {
    Value root = onnx::SqrtOp::create(b, loc, type, base);
    Value power = onnx::MulOp::create(b, loc, type, root, onnx::SqrtOp::create(b, loc, type, root));
    done(op, onnx::DivOp::create(b, loc, type, x, power));
  } else {
    done(op, onnx::MulOp::create(b, loc, type, x, onnx::PowOp::create(b, loc, type, base, g.number(-beta))));
  }
  return true;
}

namespace {
// A normalisation of `x` over groups of its channels and all their pixels; an element of scale and bias for each channel.
struct GroupedNorm {
  Value x;
  int64_t groups;
  FloatAttr epsilon;
  std::vector<float> scale, bias;
  onnx::ReshapeOp rows, image;  // of x as rows [N, groups, ...] and back, where the op takes rows
};
}  // namespace

// The elements of a constant, each as often as it takes to have one for each channel; nothing where it is none, or of another size.
static std::optional<std::vector<float>> forChannels(Value v, int64_t channels) {
  auto given = onnx::constantValue(v) ? constantFloats(v) : std::nullopt;
  if (!given || given->empty() || channels % int64_t(given->size()))
    return std::nullopt;
  std::vector<float> all(channels);
  for (int64_t c = 0; c < channels; ++c)
    all[c] = (*given)[c / (channels / int64_t(given->size()))];
  return all;
}

// Whether `y`, which has as many elements as `x`, has its sizes: the only one that is not known follows from the others.
static bool hasSizesOf(onnx::ReshapeOp y, Value x) {
  auto shape = y.getShape().getDefiningOp<onnx::ShapeOp>();
  if (shape && shape.getData() == x && !shape.getEnd() && shape.getStart() == 0)
    return true;
  ArrayRef<int64_t> sizes = rankedType(x).getShape();
  return rankedType(y.getReshaped()) == rankedType(x) && llvm::count_if(sizes, ShapedType::isDynamic) <= 1 && !llvm::is_contained(sizes, 0);
}

// Whether `rows` has the batch of `x`: by the sizes, or since the first one is copied.
static bool hasBatchOf(onnx::ReshapeOp rows, Value x) {
  ArrayRef<int64_t> from = rankedType(x).getShape(), to = rankedType(rows.getReshaped()).getShape();
  if (!ShapedType::isDynamic(from[0]) && !ShapedType::isDynamic(to[0]))
    return from[0] == to[0];
  auto known = [](ArrayRef<int64_t> sizes) { return llvm::none_of(sizes, [](int64_t d) { return ShapedType::isDynamic(d) || d == 0; }); };
  if (known(from.drop_front()) && known(to.drop_front()))
    return ShapedType::getNumElements(from.drop_front()) == ShapedType::getNumElements(to.drop_front());
  auto sizes = onnx::integerElements(rows.getShape());
  return sizes && !sizes->empty() && sizes->front() == 0 && !rows.getAllowzero();
}

// Whether a normalisation over the rows [N, groups, channels / groups, pixels] has a scale and a bias for each channel.
static bool isOfGroups(onnx::LayerNormalizationOp op, int64_t groups, int64_t channels) {
  ArrayRef<int64_t> rows = rankedType(op.getX()).getShape();
  SmallVector<int64_t> each = {groups, channels / groups, 1};
  return rows.size() == 4 && rows[2] == each[1] && int64_t(op.getAxis()) == 2 && op->getNumResults() == 1 && op.getB() &&
         rankedType(op.getScale()).getShape().equals(each) && rankedType(op.getB()).getShape().equals(each);
}

// InstanceNormalization of an image, or between two views, as exporters write GroupNormalization; LayerNormalization between two views,
// as passes/graph/DecomposeNorm.cpp does.
static std::optional<GroupedNorm> groupedNorm(Operation *op) {
  auto layer = dyn_cast<onnx::LayerNormalizationOp>(op);
  auto instance = dyn_cast<onnx::InstanceNormalizationOp>(op);
  GroupedNorm norm{op->getOperand(0), 0, layer ? layer.getEpsilonAttr() : instance.getEpsilonAttr(), {}, {}, nullptr, nullptr};
  auto rows = op->getOperand(0).getDefiningOp<onnx::ReshapeOp>();
  auto image = dyn_cast_if_present<onnx::ReshapeOp>(onlyUser(op));
  if (rows && image && rows->hasOneUse() && image.getData() == op->getResult(0)) {
    norm.x = rows.getData(), norm.rows = rows, norm.image = image;
    auto type = rankedType(rows.getReshaped());
    bool same = isImage(norm.x) && type && type.getRank() >= 3 && hasSizesOf(image, norm.x) && hasBatchOf(rows, norm.x);
    norm.groups = same && !type.isDynamicDim(1) ? type.getDimSize(1) : 0;
  } else if (instance && isImage(norm.x)) {
    norm.groups = channelsOf(norm.x);
  }
  int64_t channels = norm.groups > 0 ? channelsOf(norm.x) : 0;
  if (channels <= 0 || channels % norm.groups || !isSingle(norm.x) || (layer && !isOfGroups(layer, norm.groups, channels)))
    return std::nullopt;
  auto scale = forChannels(op->getOperand(1), channels), bias = forChannels(op->getOperand(2), channels);
  if (!scale || !bias)
    return std::nullopt;
  norm.scale = std::move(*scale), norm.bias = std::move(*bias);
  return norm;
}

bool isReadByGroups(Value image) {
  return llvm::any_of(image.getUsers(), [](Operation *rows) {
    Operation *norm = isa<onnx::ReshapeOp>(rows) ? onlyUser(rows) : nullptr;
    return isa_and_present<onnx::LayerNormalizationOp, onnx::InstanceNormalizationOp>(norm) && groupedNorm(norm);
  });
}

// (x - mean) * factor + bias, where it is not zero.
bool Blocker::groups(Operation *op) {
  auto norm = groupedNorm(op);
  if (!norm || !blocked.count(norm->x))
    return false;
  Location loc = op->getLoc();
  Value x = blocked[norm->x], scale = packChannels(b, loc, norm->scale, true);
  auto type = rankedType(x);
  auto each = type.clone({type.getDimSize(0), type.getDimSize(1), 1, 1, kLanes});
  auto moments = onnx::PackedGroupMomentsOp::create(b, loc, each, each, x, scale, b.getI64IntegerAttr(channelsOf(norm->x)),
                                                    b.getI64IntegerAttr(norm->groups), norm->epsilon);
  Value y = onnx::MulOp::create(b, loc, type, onnx::SubOp::create(b, loc, type, x, moments.getMean()), moments.getFactor());
  if (llvm::any_of(norm->bias, [](float v) { return v != 0; }))
    y = onnx::AddOp::create(b, loc, type, y, packChannels(b, loc, norm->bias, true));
  if (norm->image) {
    replaced.insert(norm->rows), replaced.insert(op);
    done(norm->image, y);
  } else {
    done(op, y);
  }
  return true;
}

}  // namespace onnxc::blocks
