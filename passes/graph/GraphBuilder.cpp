// GraphBuilder.cpp: see GraphBuilder.h.
#include "passes/graph/GraphBuilder.h"
#include "dialects/onnx/ElementTypes.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/IR/Iterators.h"
#include "passes/graph/Weights.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kUnknown = ShapedType::kDynamic;

RankedTensorType rankedType(Value v) { return v ? llvm::dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType(); }

bool isView(Operation *op) { return llvm::isa_and_present<onnx::ReshapeOp, onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op); }

Operation *onlyUser(Operation *op) { return op->hasOneUse() ? *op->user_begin() : nullptr; }

LogicalResult rewriteAll(Operation *root, RewritePatternSet &&patterns) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(root, std::move(patterns), config);
}

void replaceTyped(PatternRewriter &rewriter, Operation *op, Value v) {
  v.setType(op->getResult(0).getType());
  rewriter.replaceOp(op, v);
}

void eraseDeadOps(Operation *root) {
  // Bodies last to first, so that a chain goes in one walk.
  root->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

SmallVector<int64_t> listOr(std::optional<ArrayRef<int64_t>> given, int64_t n, int64_t otherwise) {
  return given && !given->empty() ? SmallVector<int64_t>(*given) : SmallVector<int64_t>(n, otherwise);
}

std::optional<SmallVector<int64_t>> givenPads(Operation *window, int64_t axes) {
  StringRef mode = onnx::strAttr(window, "auto_pad");
  if (mode.starts_with("SAME"))
    return std::nullopt;
  return mode == "VALID" ? SmallVector<int64_t>(2 * axes, 0) : listOr(onnx::optionalInts(window, "pads"), 2 * axes, 0);
}

Value GraphBuilder::integers(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({int64_t(values.size())}, b.getI64Type());
  return onnx::ConstantOp::create(b, loc, DenseElementsAttr::get(type, values));
}
Value GraphBuilder::floats(ArrayRef<int64_t> shape, std::vector<float> values) {
  return onnx::ConstantOp::create(b, loc, makeConstant(RankedTensorType::get(shape, b.getF32Type()), std::move(values)));
}
Value GraphBuilder::constant(RankedTensorType type, std::vector<char> bytes) {
  return onnx::ConstantOp::create(b, loc, makeConstant(type, std::move(bytes)));
}
Value GraphBuilder::number(float value) { return floats({}, {value}); }

Value GraphBuilder::transpose(Value v, ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(0, perm.size())))
    return v;
  auto type = rankedType(v);
  SmallVector<int64_t> shape = llvm::map_to_vector(perm, [&](int64_t p) { return type.getDimSize(p); });
  return onnx::TransposeOp::create(b, loc, type.clone(shape), v, b.getDenseI64ArrayAttr(perm));
}

Value GraphBuilder::reshape(Value v, ArrayRef<int64_t> target) {
  auto type = rankedType(v);
  SmallVector<int64_t> shape(target);
  int64_t known = 1, inferred = -1;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0)
      size = type.getDimSize(i);
    if (size == -1)
      inferred = i, size = kUnknown;
    else
      known = ShapedType::isDynamic(size) ? 0 : known * size;
  }
  if (inferred >= 0 && known > 0 && type.hasStaticShape())
    shape[inferred] = type.getNumElements() / known;
  return onnx::ReshapeOp::create(b, loc, type.clone(shape), v, integers(target));
}

Value GraphBuilder::reshapeTo(Value v, ArrayRef<int64_t> shape, ArrayRef<Value> sizes) {
  if (llvm::count_if(shape, ShapedType::isDynamic) <= 1)
    return reshape(v, llvm::map_to_vector(shape, [](int64_t d) { return ShapedType::isDynamic(d) ? -1 : d; }));
  SmallVector<Value> parts;
  for (int64_t known : shape) {
    parts.push_back(ShapedType::isDynamic(known) ? sizes.front() : integers({known}));
    sizes = sizes.drop_front(ShapedType::isDynamic(known));
  }
  return onnx::ReshapeOp::create(b, loc, rankedType(v).clone(shape), v, concat(parts, 0), /*allowzero=*/1);
}

Value GraphBuilder::unsqueeze(Value v, ArrayRef<int64_t> axes) {
  auto type = rankedType(v);
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t a : axes)
    shape.insert(shape.begin() + a, 1);
  return axes.empty() ? v : Value(onnx::UnsqueezeOp::create(b, loc, type.clone(shape), v, integers(axes)));
}

Value GraphBuilder::sum(Value v, ArrayRef<int64_t> axes) {
  auto type = rankedType(v);
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (!llvm::is_contained(axes, i))
      shape.push_back(type.getDimSize(i));
  return axes.empty() ? v : Value(onnx::ReduceSumOp::create(b, loc, type.clone(shape), v, integers(axes), 0, 0));
}

Value GraphBuilder::slice(Value v, int64_t axis, int64_t start, int64_t end, int64_t step) {
  auto type = rankedType(v);
  SmallVector<int64_t> shape(type.getShape());
  if (!ShapedType::isDynamic(shape[axis])) {
    int64_t last = std::min(onnx::fromFront(end, shape[axis]), shape[axis]);
    shape[axis] = std::max<int64_t>(0, (last - start + step - 1) / step);
  }
  return onnx::SliceOp::create(b, loc, type.clone(shape), v, integers({start}), integers({end}), integers({axis}), integers({step}));
}

Value GraphBuilder::sizeOf(Value v, int64_t axis) {
  Type type = RankedTensorType::get({1}, b.getI64Type());
  return onnx::ShapeOp::create(b, loc, type, v, b.getI64IntegerAttr(axis + 1), b.getI64IntegerAttr(axis));
}

SmallVector<Value> GraphBuilder::unknownSizes(Value v, ArrayRef<int64_t> axes) {
  SmallVector<Value> sizes;
  for (int64_t a : axes)
    if (rankedType(v).isDynamicDim(a))
      sizes.push_back(sizeOf(v, a));
  return sizes;
}

Value GraphBuilder::concat(ArrayRef<Value> values, int64_t axis) {
  auto type = rankedType(values[0]);
  SmallVector<int64_t> shape(type.getShape());
  for (Value v : values.drop_front())
    shape[axis] =
        ShapedType::isDynamic(shape[axis]) || rankedType(v).isDynamicDim(axis) ? kUnknown : shape[axis] + rankedType(v).getDimSize(axis);
  return values.size() == 1 ? values[0] : Value(onnx::ConcatOp::create(b, loc, type.clone(shape), values, b.getI64IntegerAttr(axis)));
}

Value GraphBuilder::padEnds(Value v, ArrayRef<int64_t> more) {
  auto type = rankedType(v);
  SmallVector<int64_t> shape(type.getShape()), pads(more.size(), 0);
  for (auto [size, n] : llvm::zip(shape, more))
    size = ShapedType::isDynamic(size) ? size : size + n;
  pads.append(more.begin(), more.end());
  bool none = llvm::all_of(more, [](int64_t n) { return n == 0; });
  return none ? v : Value(onnx::PadOp::create(b, loc, type.clone(shape), v, integers(pads), Value(), Value(), "constant"));
}

Value GraphBuilder::as(Type type, Value v) {
  return onnx::CastOp::create(b, loc, type, v, "up", 1, onnx::elementTypeCode(llvm::cast<TensorType>(type).getElementType()));
}

Value GraphBuilder::cast(Value v, Type element) { return as(llvm::cast<TensorType>(v.getType()).clone(element), v); }

}  // namespace onnxc
