// MoveProducts.cpp: a product of rows next to a transposition into an image or out of one, as a 1x1 convolution on its other side, where
// fewer channels are transposed then. Feed-forward networks with a convolution between their products (SegFormer, PVT v2) are written so,
// and activations behind the convolution are computed with it. After recognize, which makes activations one op each.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_MOVEPRODUCTS
#include "passes/graph/Passes.h.inc"

namespace {

// x W + b of the rows of `x`, [..., channels], with constant weights; `bias` may be null.
struct Linear {
  Value x, weights, bias;
  int64_t channels, results;
};

std::optional<Linear> linearOf(Value v) {
  Linear linear;
  if (auto add = v.getDefiningOp<onnx::AddOp>())
    for (unsigned i : {0, 1})
      if (auto type = rankedType(add->getOperand(i)); type && type.getRank() == 1 && onnx::constantValue(add->getOperand(i)) &&
                                                      add->getOperand(1 - i).getDefiningOp<onnx::MatMulOp>() &&
                                                      add->getOperand(1 - i).hasOneUse() && type.getDimSize(0) > 1) {
        linear.bias = add->getOperand(i), v = add->getOperand(1 - i);
        break;
      }
  auto product = v.getDefiningOp<onnx::MatMulOp>();
  auto x = product ? rankedType(product.getA()) : RankedTensorType(), w = product ? rankedType(product.getB()) : RankedTensorType();
  if (!x || !w || (x.getRank() != 3 && x.getRank() != 4) || w.getRank() != 2 || !x.getElementType().isF32() ||
      !onnx::constantValue(product.getB()))
    return std::nullopt;
  linear.x = product.getA(), linear.weights = product.getB();
  linear.channels = w.getDimSize(0), linear.results = w.getDimSize(1);
  if (linear.bias && rankedType(linear.bias).getDimSize(0) != linear.results)
    return std::nullopt;
  return linear;
}

// The order of axes that makes images of rows, or rows of images.
SmallVector<int64_t> imagesOfRows(int64_t rank) { return rank == 3 ? SmallVector<int64_t>{0, 2, 1} : SmallVector<int64_t>{0, 3, 1, 2}; }
SmallVector<int64_t> rowsOfImages(int64_t rank) { return rank == 3 ? SmallVector<int64_t>{0, 2, 1} : SmallVector<int64_t>{0, 2, 3, 1}; }

onnx::TransposeOp transposition(Value v, llvm::function_ref<SmallVector<int64_t>(int64_t)> order) {
  auto op = v.getDefiningOp<onnx::TransposeOp>();
  return op && op.getPerm() && rankedType(v) && *op.getPerm() == ArrayRef(order(rankedType(v).getRank())) ? op : onnx::TransposeOp();
}

// The product as a 1x1 convolution of `image`; `weights`: the elements of those of `linear`.
Value convolution(GraphBuilder g, const Linear &linear, const std::vector<float> &weights, Value image) {
  std::vector<float> w = transposedMatrix(weights, linear.channels, linear.results);
  SmallVector<int64_t> shape(rankedType(image).getShape()), filters(shape.size(), 1);
  shape[1] = filters[0] = linear.results, filters[1] = linear.channels;
  return onnx::ConvOp::create(g.b, g.loc, rankedType(image).clone(shape), image, g.floats(filters, std::move(w)), linear.bias,
                              g.b.getStringAttr("NOTSET"), {}, g.b.getI64IntegerAttr(1), {}, {}, {});
}

// The list of a view that keeps images and channels, of `channels` of them; nothing where the run decides whether it does.
std::optional<SmallVector<int64_t>> viewOf(Operation *view, int64_t channels) {
  auto reshape = dyn_cast_if_present<onnx::ReshapeOp>(view);
  auto from = reshape ? rankedType(reshape.getData()) : RankedTensorType(),
       to = reshape ? rankedType(reshape.getReshaped()) : RankedTensorType();
  if (!from || !to || from.getRank() < 3 || to.getRank() < 3 || from.isDynamicDim(1) || from.getDimSize(1) != to.getDimSize(1))
    return std::nullopt;
  auto list = onnx::integerElements(reshape.getShape());
  if (!list || (reshape.getAllowzero() && llvm::is_contained(*list, 0)))
    return std::nullopt;
  bool sameImages = list->front() == 0 || (!from.isDynamicDim(0) && from.getDimSize(0) == to.getDimSize(0));
  if (!sameImages)
    return std::nullopt;
  (*list)[1] = channels;
  return list;
}

void replace(Value old, Value same) {
  same.setType(old.getType());
  old.replaceAllUsesWith(same);
}

// Whether convolutions alone read an image or a view of it.
bool isConvolved(Value image) {
  return !image.use_empty() && llvm::all_of(image.getUsers(), [&](Operation *user) {
    if (isView(user))
      return isConvolved(user->getResult(0));
    auto conv = dyn_cast<onnx::ConvOp>(user);
    return conv && conv.getX() == image;
  });
}

// Transpose (x W + b), read by convolutions.
bool beforeImage(onnx::TransposeOp op) {
  if (!transposition(op.getTransposed(), imagesOfRows) || !op.getData().hasOneUse() || !isConvolved(op.getTransposed()))
    return false;
  auto linear = linearOf(op.getData());
  auto weights = linear && linear->channels < linear->results ? constantFloats(linear->weights) : std::nullopt;
  if (!weights)
    return false;
  OpBuilder b(op);
  GraphBuilder g{b, op.getLoc()};
  Value image = g.transpose(linear->x, imagesOfRows(rankedType(op.getTransposed()).getRank())), old = op.getTransposed();
  Operation *view = onlyUser(op);
  if (auto list = viewOf(view, linear->channels)) {
    b.setInsertionPoint(view);
    image = g.reshape(image, *list), old = view->getResult(0);
  }
  replace(old, convolution(g, *linear, *weights, image));
  return true;
}

// A W + b where A is made, element by element, of the transposition of a convolution's result. `last`: the result of the product with its
// bias.
bool behindImage(Value last, const Linear &linear) {
  if (linear.results >= linear.channels)
    return false;
  SmallVector<Operation *> between;
  Value v = linear.x;
  while (Operation *op = v.getDefiningOp()) {
    if (!isPointwise(op) || op->getNumOperands() != 1 || !v.hasOneUse())
      break;
    between.push_back(op), v = op->getOperand(0);
  }
  onnx::TransposeOp transpose = v.hasOneUse() ? transposition(v, rowsOfImages) : onnx::TransposeOp();
  Value image = transpose ? transpose.getData() : Value(), source = image;
  while (source && source.hasOneUse() && isView(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  auto conv = source ? source.getDefiningOp<onnx::ConvOp>() : onnx::ConvOp();
  if (!conv || !source.hasOneUse() || !rankedType(image) || !rankedType(source) ||
      rankedType(source).getDimSize(1) != rankedType(image).getDimSize(1))
    return false;
  auto weights = constantFloats(linear.weights);
  if (!weights)
    return false;
  OpBuilder b(last.getDefiningOp());
  GraphBuilder g{b, last.getLoc()};
  auto list = viewOf(image.getDefiningOp(), linear.results);
  image = list ? image.getDefiningOp()->getOperand(0) : image;
  for (Operation *op : llvm::reverse(between)) {
    Operation *same = b.clone(*op);
    same->setOperand(0, image);
    same->getResult(0).setType(rankedType(image).clone(onnx::elementType(op->getResult(0))));
    image = same->getResult(0);
  }
  Value sums = convolution(g, linear, *weights, image);
  sums = list ? g.reshape(sums, *list) : sums;
  replace(last, g.transpose(sums, rowsOfImages(rankedType(sums).getRank())));
  return true;
}

struct MoveProducts : impl::MoveProductsBase<MoveProducts> {
  void runOnOperation() override {
    SmallVector<Operation *> transpositions, products;
    getOperation().walk([&](Operation *op) {
      if (isa<onnx::TransposeOp>(op))
        transpositions.push_back(op);
      if (isa<onnx::MatMulOp>(op))
        products.push_back(op);
    });
    bool any = false;
    for (Operation *op : products) {
      Value y = op->getResult(0);
      auto add = dyn_cast_if_present<onnx::AddOp>(onlyUser(op));
      auto linear = add ? linearOf(add.getResult()) : std::nullopt;
      if (linear && linear->bias)
        y = add.getResult();
      else
        linear = linearOf(y);
      any |= linear && behindImage(y, *linear);
    }
    for (Operation *op : transpositions)
      any |= beforeImage(cast<onnx::TransposeOp>(op));
    if (any)
      eraseDeadOps(getOperation());
  }
};
}  // namespace
}  // namespace onnxc
