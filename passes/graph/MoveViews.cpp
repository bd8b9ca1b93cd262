// MoveViews.cpp: what computes element by element on views of images as frames of videos computes on the images, which stay in their
// layout: convolutions over frames are written as those of images, between views. Behind move-transpositions, before simplify, which
// composes the views.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Tensor.h"
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
  void move(Operation *op);
};

void Mover::move(Operation *op) {
  Value result = op->getResult(0);
  SmallVector<AffineExpr> frames(s.dims(result));  // not where setDims() moves them
  auto isWhole = [&](Value v) { return s.hasRank(v) && s.dims(v) == ArrayRef(frames); };
  Operation *view = nullptr;
  for (Value v : op->getOperands())
    if (Operation *of = viewOfImages(v); !view && of && isWhole(v) && s.hasRank(of->getOperand(0)) &&
                                         s.dims(of->getOperand(0)).drop_front() == ArrayRef(frames).drop_front(2))
      view = of;
  if (!view || !hasElements(result) || !llvm::all_of(op->getOperands(), [&](Value v) { return isWhole(v) || isOfAnyFrame(v); }))
    return;
  Value images = view->getOperand(0);
  auto shape = rankedType(images);
  OpBuilder b(op);
  GraphBuilder g{b, op->getLoc()};
  Value sizes;
  auto imagesOf = [&](Value v) -> Value {
    if (!isWhole(v))
      return v;
    Operation *of = viewOfImages(v);
    if (of && s.hasRank(of->getOperand(0)) && s.dims(of->getOperand(0)) == s.dims(images))
      return of->getOperand(0);
    auto type = shape.clone(rankedType(v).getElementType());
    if (!sizes)
      sizes = shape.hasStaticShape()
                  ? g.integers(shape.getShape())
                  : onnx::ShapeOp::create(b, op->getLoc(), RankedTensorType::get({shape.getRank()}, b.getI64Type()), images);
    Value made = onnx::ReshapeOp::create(b, op->getLoc(), type, v, sizes, /*allowzero=*/1);
    s.setDims(made, SmallVector<AffineExpr>(s.dims(images)));
    return made;
  };
  auto operands = llvm::map_to_vector(op->getOperands(), imagesOf);
  Operation *same = b.clone(*op);
  same->setOperands(operands);
  same->getResult(0).setType(shape.clone(rankedType(result).getElementType()));
  s.setDims(same->getResult(0), SmallVector<AffineExpr>(s.dims(images)));
  Operation *again = b.clone(*view);
  again->setOperand(0, same->getResult(0));
  again->getResult(0).setType(result.getType());
  s.setDims(again->getResult(0), frames);
  result.replaceAllUsesWith(again->getResult(0));
  op->erase();
}

struct MoveViews : impl::MoveViewsBase<MoveViews> {
  void runOnOperation() override {
    if (!getOperation()
             .walk([](Operation *op) { return isCandidate(op) ? WalkResult::interrupt() : WalkResult::advance(); })
             .wasInterrupted())
      return;
    FailureOr<SymbolicShapes> shapes = SymbolicShapes::compute(getOperation());
    if (failed(shapes))
      return signalPassFailure();
    getOperation().walk([&](Operation *op) {
      if (isCandidate(op))
        Mover{*shapes}.move(op);
    });
  }
};
}  // namespace
}  // namespace onnxc
