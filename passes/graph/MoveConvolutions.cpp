// MoveConvolutions.cpp: 1x1 convolutions of what a Resize has enlarged are computed of what it enlarges. Both are linear, the weights of
// a position of the Resize sum to 1, so they change places; a Concat between them becomes a sum. Decoders of segmentation (SegFormer) and
// necks of detectors (YOLO) are written so. After simplify, which puts scales into the weights.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "dialects/onnx/Vision.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_MOVECONVOLUTIONS
#include "passes/graph/Passes.h.inc"

namespace {

bool isImage(Value v) {
  auto type = rankedType(v);
  return type && type.getRank() >= 3 && type.getElementType().isF32() && !type.isDynamicDim(1);
}

std::optional<double> pixels(Value v) {
  double count = 1;
  for (int64_t size : rankedType(v).getShape().drop_front(2)) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    count *= double(size);
  }
  return count;
}

// Whether pixels are rows of a product with constant weights.
bool isProduct(onnx::ConvOp op) {
  auto none = [&](StringRef name, int64_t neutral) {
    return llvm::all_of(onnx::intsAttr(op, name), [&](int64_t v) { return v == neutral; });
  };
  auto w = rankedType(op.getW());
  return isImage(op.getX()) && isImage(op.getY()) && !op->hasAttr(onnx::kExactAttr) && op.getGroup() == 1 && w && w.hasStaticShape() &&
         llvm::all_of(w.getShape().drop_front(2), [](int64_t size) { return size == 1; }) && none("strides", 1) && none("pads", 0) &&
         constantFloats(op.getW()).has_value();
}

// Whether channels stay what they are.
bool keepsChannels(onnx::ResizeOp op) {
  auto in = rankedType(op.getX()), out = rankedType(op.getY());
  if (op.getAxes())
    return llvm::none_of(*op.getAxes(), [&](int64_t axis) { return axis == 1 || axis + in.getRank() == 1; });
  auto scales = op.getScales() ? constantFloats(op.getScales()) : std::nullopt;
  return in.getDimSize(1) == out.getDimSize(1) && (op.getSizes() || (scales && scales->size() > 1 && (*scales)[1] == 1));
}

// What makes more pixels of the same channels of something, `v`, by weights that sum to 1; null: something else.
onnx::ResizeOp enlargement(Value v) {
  auto op = v.getDefiningOp<onnx::ResizeOp>();
  if (!op || !isImage(op.getX()) || !isImage(v) || op.getCoordinateTransformationMode() == "tf_crop_and_resize" ||
      op.getKeepAspectRatioPolicy() != "stretch" || !keepsChannels(op))
    return {};
  auto from = pixels(op.getX()), to = pixels(v);
  return from && to && *from < *to ? op : onnx::ResizeOp();
}

// The operands side by side in channels that make up `x`.
SmallVector<Value> pieces(Value x) {
  auto concat = x.getDefiningOp<onnx::ConcatOp>();
  int64_t rank = rankedType(x).getRank();
  if (!concat || onnx::axisAttr(concat, rank) != 1 || !llvm::all_of(concat.getInputs(), isImage))
    return {x};
  return llvm::to_vector(concat.getInputs());
}

// Products that are saved against channels that are resized besides and sums: measured on x86-64, one element of a Resize takes as long as
// 64 operations of a convolution, one of a sum from memory as 24.
bool gains(onnx::ResizeOp resize, int64_t results) {
  constexpr double resized = 64, added = 24, margin = 2;
  int64_t channels = rankedType(resize.getY()).getDimSize(1);
  double smaller = *pixels(resize.getX()) / *pixels(resize.getY());
  double saved = 2 * double(channels) * double(results) * (1 - smaller);
  double paid = resized * double(std::max<int64_t>(0, results - channels)) + added * double(results);
  return saved > margin * paid;
}

struct Mover {
  OpBuilder b;
  // Channels [first, first + count) of a convolution's operand.
  struct Part {
    Value x;
    int64_t first, count;
  };

  Value convolution(onnx::ConvOp op, ArrayRef<Part> parts, Value bias) {
    GraphBuilder g{b, op.getLoc()};
    ArrayRef<int64_t> shape = rankedType(op.getW()).getShape();
    std::vector<float> all = *constantFloats(op.getW()), some;
    for (int64_t o = 0; o < shape[0]; ++o)
      for (const Part &part : parts) {
        auto from = all.begin() + o * shape[1] + part.first;
        some.insert(some.end(), from, from + part.count);
      }
    SmallVector<int64_t> own(shape);
    own[1] = int64_t(some.size()) / shape[0];
    Value w = g.floats(own, some), x = g.concat(llvm::map_to_vector(parts, [](const Part &part) { return part.x; }), 1);
    SmallVector<int64_t> result(rankedType(x).getShape());
    result[1] = shape[0];
    auto made = cast<onnx::ConvOp>(b.clone(*op));
    made->setOperands(bias ? ValueRange{x, w, bias} : ValueRange{x, w});
    made.getY().setType(rankedType(x).clone(result));
    return made.getY();
  }

  // `x` as `like` resizes its operand. Sizes of all axes speak of other channels.
  Value resized(onnx::ResizeOp like, Value x) {
    auto type = rankedType(like.getY());
    SmallVector<int64_t> shape(type.getShape());
    shape[1] = rankedType(x).getDimSize(1);
    Value sizes;
    if (like.getSizes() && !like.getAxes()) {
      GraphBuilder g{b, like.getLoc()};
      sizes = g.concat({g.slice(like.getSizes(), 0, 0, 1), g.integers(ArrayRef(shape).drop_front())}, 0);
    }
    auto made = cast<onnx::ResizeOp>(b.clone(*like));
    made.getXMutable().assign(x);
    if (sizes)
      made.getSizesMutable().assign(sizes);
    made.getY().setType(type.clone(shape));
    return made.getY();
  }

  void move(onnx::ConvOp op, ArrayRef<Value> operands, const llvm::SetVector<Value> &moved) {
    b.setInsertionPoint(op);
    SmallVector<Part> stay, before;
    int64_t first = 0;
    for (Value v : operands) {
      int64_t count = rankedType(v).getDimSize(1);
      (moved.contains(v) ? before : stay).push_back({v, first, count});
      first += count;
    }
    Value bias = op.getB(), sum;
    SmallVector<Value> terms;
    for (const Part &part : before) {
      auto resize = part.x.getDefiningOp<onnx::ResizeOp>();
      bool alone = stay.empty() && terms.empty();  // weights that sum to 1 leave the bias as it is
      terms.push_back(resized(resize, convolution(op, Part{resize.getX(), part.first, part.count}, alone ? bias : Value())));
    }
    if (!stay.empty())
      sum = convolution(op, stay, bias);
    for (Value term : terms)
      sum = sum ? Value(onnx::AddOp::create(b, op.getLoc(), op.getY().getType(), sum, term)) : term;
    op.getY().replaceAllUsesWith(sum);
    op.erase();
  }
};

struct MoveConvolutions : impl::MoveConvolutionsBase<MoveConvolutions> {
  using MoveConvolutionsBase::MoveConvolutionsBase;

  // All readers of `x` are such convolutions, as often computed as it is: nothing needs the large value then.
  void move(Value x, llvm::SmallPtrSetImpl<Operation *> &gone) {
    SmallVector<Value> operands = pieces(x);
    if (llvm::none_of(operands, enlargement))
      return;
    int64_t results = 0;
    for (Operation *user : x.getUsers()) {
      auto conv = dyn_cast<onnx::ConvOp>(user);
      if (!conv || conv.getX() != x || conv->getBlock() != x.getParentBlock() || !isProduct(conv))
        return;
      results += rankedType(conv.getY()).getDimSize(1);
    }
    llvm::SetVector<Value> moved;
    for (Value v : operands) {
      onnx::ResizeOp resize = enlargement(v);
      if (resize && resize->getBlock() == x.getParentBlock() && (v == x || llvm::all_equal(v.getUsers())) && gains(resize, results))
        moved.insert(v);
    }
    if (moved.empty())
      return;
    for (Operation *user : llvm::to_vector(x.getUsers())) {
      gone.insert(user);
      Mover{OpBuilder(user)}.move(cast<onnx::ConvOp>(user), operands, moved);
    }
  }

  void runOnOperation() override {
    SmallVector<onnx::ConvOp> convs;
    llvm::SmallPtrSet<Operation *, 8> gone;
    getOperation().walk([&](onnx::ConvOp op) { convs.push_back(op); });
    for (onnx::ConvOp op : convs)
      if (!gone.contains(op) && isImage(op.getX()))
        move(op.getX(), gone);
  }
};
}  // namespace

}  // namespace onnxc
