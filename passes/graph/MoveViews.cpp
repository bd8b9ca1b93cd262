// MoveViews.cpp: what computes element by element on views of images as frames of videos, or reduces them, computes on the images, which
// stay in their layout: convolutions over frames are written as those of images, between views. Behind move-transpositions, before
// simplify, which composes the views.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/SymbolicShapes.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_MOVEVIEWS
#include "passes/graph/Passes.h.inc"

namespace {
constexpr int64_t kFramesRank = 5;  // [videos, frames, C, H, W] of [videos * frames, C, H, W]

bool hasFramesRank(Value v) { return rankedType(v) && rankedType(v).getRank() == kFramesRank; }

// The view that makes frames of images.
Operation *viewOfImages(Value v) {
  Operation *view = v.getDefiningOp();
  return isView(view) && hasFramesRank(v) && rankedType(view->getOperand(0)) && rankedType(view->getOperand(0)).getRank() == kFramesRank - 1
             ? view
             : nullptr;
}

// Whether `op` gives one number for each channel of a video, and gives it too from those of its frames: no mean of integers, which is
// rounded, no sum of halves, which may overflow.
bool joinsFrames(Operation *op) {
  auto axes = isa<onnx::ReduceMeanOp, onnx::ReduceSumOp, onnx::ReduceMaxOp, onnx::ReduceMinOp>(op)
                  ? onnx::integerElements(onnx::operand(op, 1))
                  : std::nullopt;
  if (!axes || !viewOfImages(op->getOperand(0)) || !onnx::elementType(op->getOperand(0)).isF32())
    return false;
  for (int64_t &axis : *axes)
    axis = onnx::fromFront(axis, kFramesRank);
  llvm::sort(*axes);
  return *axes == ArrayRef<int64_t>{1, 3, 4};
}

bool isCandidate(Operation *op) {
  return isPointwise(op) && op->getNumResults() == 1 && hasFramesRank(op->getResult(0)) && llvm::any_of(op->getOperands(), viewOfImages);
}

struct Mover {
  SymbolicShapes &s;

  // Sizes of 0 do not tell how many images there are.
  bool hasElements(Value v) const {
    return llvm::none_of(rankedType(v).getShape(), [](int64_t size) { return size == 0; });
  }
  // A constant that images are combined with as frames are: it does not tell them apart.
  static bool isOfAnyFrame(Value v) {
    auto type = rankedType(v);
    return type && onnx::constantValue(v) &&
           llvm::all_of(type.getShape().drop_back(std::min<int64_t>(type.getRank(), kFramesRank - 2)),
                        [](int64_t size) { return size == 1; }) &&
           type.getRank() < kFramesRank;
  }
  // Numbers of each video of `frames`, or of all of them, the same for all frames and pixels of a video.
  bool isOfVideos(Value v, ArrayRef<AffineExpr> frames) const {
    ArrayRef<int64_t> shape = hasFramesRank(v) && s.hasRank(v) ? rankedType(v).getShape() : ArrayRef<int64_t>();
    return !shape.empty() && (shape[0] == 1 || s.dims(v).front() == frames.front()) && !ShapedType::isDynamic(shape[2]) && shape[1] == 1 &&
           shape[3] == 1 && shape[4] == 1;
  }
  // Whether the images that `frames` is a view of have its channels and pixels.
  bool isOfImages(Value frames) const {
    Operation *view = viewOfImages(frames);
    return view && s.hasRank(frames) && s.hasRank(view->getOperand(0)) &&
           s.dims(view->getOperand(0)).drop_front() == s.dims(frames).drop_front(2);
  }
  Value with(ArrayRef<AffineExpr> dims, Value v) {
    s.setDims(v, SmallVector<AffineExpr>(dims));
    return v;
  }
  Value repeatedVideos(Value v, Value frames, Value images, GraphBuilder g);
  void move(Operation *op);
  void reduce(Operation *op);
};

// The numbers of each video in `v` as images of one pixel, for each of `frames`.
Value Mover::repeatedVideos(Value v, Value frames, Value images, GraphBuilder g) {
  int64_t channels = rankedType(v).getDimSize(2);
  AffineExpr one = s.constant(1), all = s.constant(channels);
  if (rankedType(v).getDimSize(0) == 1)
    return with({one, all, one, one}, g.reshape(v, {1, channels, 1, 1}));
  SmallVector<int64_t> shape(rankedType(v).getShape());
  shape[1] = rankedType(frames).getDimSize(1);
  Value count = ShapedType::isDynamic(shape[1]) ? g.sizeOf(frames, 1) : g.integers({shape[1]});
  Value sizes = g.concat({g.integers({1}), count, g.integers({1, 1, 1})}, 0);
  Value repeated = onnx::ExpandOp::create(g.b, g.loc, rankedType(v).clone(shape), v, sizes);
  return with({s.dims(images).front(), all, one, one}, g.reshape(repeated, {-1, channels, 1, 1}));
}

void Mover::move(Operation *op) {
  Value result = op->getResult(0);
  SmallVector<AffineExpr> frames(s.dims(result));  // not where setDims() moves them
  auto isWhole = [&](Value v) { return s.hasRank(v) && s.dims(v) == ArrayRef(frames); };
  Value whole;
  for (Value v : op->getOperands())
    if (!whole && isWhole(v) && isOfImages(v))
      whole = v;
  auto isMoved = [&](Value v) { return isWhole(v) || isOfAnyFrame(v) || isOfVideos(v, frames); };
  if (!whole || !hasElements(result) || !llvm::all_of(op->getOperands(), isMoved))
    return;
  Operation *view = whole.getDefiningOp();
  Value images = view->getOperand(0);
  auto shape = rankedType(images);
  OpBuilder b(op);
  GraphBuilder g{b, op->getLoc()};
  Value sizes;
  auto imagesOf = [&](Value v) -> Value {
    if (!isWhole(v))
      return isOfAnyFrame(v) ? v : repeatedVideos(v, whole, images, g);
    Operation *of = viewOfImages(v);
    if (of && s.hasRank(of->getOperand(0)) && s.dims(of->getOperand(0)) == s.dims(images))
      return of->getOperand(0);
    auto type = shape.clone(rankedType(v).getElementType());
    if (!sizes)
      sizes = shape.hasStaticShape()
                  ? g.integers(shape.getShape())
                  : onnx::ShapeOp::create(b, op->getLoc(), RankedTensorType::get({shape.getRank()}, b.getI64Type()), images);
    return with(s.dims(images), onnx::ReshapeOp::create(b, op->getLoc(), type, v, sizes, /*allowzero=*/1));
  };
  auto operands = llvm::map_to_vector(op->getOperands(), imagesOf);
  Operation *same = b.clone(*op);
  same->setOperands(operands);
  same->getResult(0).setType(shape.clone(rankedType(result).getElementType()));
  Operation *again = b.clone(*view);
  again->setOperand(0, with(s.dims(images), same->getResult(0)));
  again->getResult(0).setType(result.getType());
  result.replaceAllUsesWith(with(frames, again->getResult(0)));
  op->erase();
}

// Over the pixels of images, then over the frames that these are.
void Mover::reduce(Operation *op) {
  Value frames = op->getOperand(0), images = viewOfImages(frames)->getOperand(0), result = op->getResult(0);
  if (!isOfImages(frames) || !hasElements(frames) || rankedType(images).isDynamicDim(1))
    return;
  OpBuilder b(op);
  GraphBuilder g{b, op->getLoc()};
  ArrayRef<int64_t> shape = rankedType(frames).getShape();
  Value each = reducedLike(op, images, {2, 3}, g);
  Value v = reducedLike(op, g.reshapeTo(each, {shape[0], shape[1], shape[2], 1, 1}, g.unknownSizes(frames, {0, 1})), {1}, g);
  if (!onnx::intAttr(op, "keepdims", 1))
    v = onnx::SqueezeOp::create(b, op->getLoc(), result.getType(), v, g.integers({1, 3, 4}));
  v.setType(result.getType());
  result.replaceAllUsesWith(with(SmallVector<AffineExpr>(s.dims(result)), v));
  op->erase();
}

struct MoveViews : impl::MoveViewsBase<MoveViews> {
  void runOnOperation() override {
    if (!getOperation()
             .walk([](Operation *op) { return isCandidate(op) || joinsFrames(op) ? WalkResult::interrupt() : WalkResult::advance(); })
             .wasInterrupted())
      return;
    FailureOr<SymbolicShapes> shapes = SymbolicShapes::compute(getOperation());
    if (failed(shapes))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (isCandidate(op))
        Mover{*shapes}.move(op);
      else if (joinsFrames(op))
        Mover{*shapes}.reduce(op);
    });
  }
};
}  // namespace
}  // namespace onnxc
