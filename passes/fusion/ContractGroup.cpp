// ContractGroup.cpp: which ops a contraction's kernel computes besides it: pointwise ones on its accumulators and those that make their
// other operands, a convolution of its result in groups within blocks, most often depthwise, or a pool of whole images.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Packed.h"
#include "passes/fusion/Groups.h"

using namespace mlir;
namespace onnxc {

// Every operand but the chain's value is a scalar, or lies along the result's last axes with sizes equal or 1.
static bool readable(SymbolicShapes &shapes, Value v, ArrayRef<AffineExpr> result, Type number) {
  Type element = shapes.hasRank(v) ? onnx::elementType(v) : Type();
  if (!element || !(element == number || element.isInteger(1)) || shapes.dims(v).size() > result.size())
    return false;
  ArrayRef<AffineExpr> own = shapes.dims(v), last = result.take_back(own.size());
  return llvm::all_of(llvm::zip(own, last), [&](auto pair) {
    auto [d, r] = pair;
    return d == r || d == shapes.constant(1);
  });
}

static bool isPixel(ArrayRef<AffineExpr> sizes) {
  return llvm::all_of(sizes, [](AffineExpr e) { return e == getAffineConstantExpr(1, e.getContext()); });
}

// Whether the kernel of `root` goes on with `next`, a grouped convolution of its result `v` or a pool of whole images:
// codegen/cpu/ContractExpand.cpp. It pays where that result, of one image, is larger than a second-level cache and a panel of it is not
// much: small results cost up to 2 %. Of fewer than four panels tasks would share the rows, whose neighbours they compute twice.
static bool expands(SymbolicShapes &shapes, Operation *root, Value v, Operation *next) {
  constexpr int64_t least = 1 << 20, mostPanel = 2 << 20;
  auto conv = dyn_cast<onnx::PackedConvOp>(root);
  auto window = dyn_cast<onnx::PackedGroupedConvOp>(next);
  if (!conv || !onnx::isProduct(conv) || conv.getGroup() != 1 || !onnx::isWindow(next) || onnx::frameAxis(next) || next->getOperand(0) != v)
    return false;
  if (window ? window.getMultiplier() != 1 : !isPixel(shapes.dims(next->getResult(0)).slice(2, 2)))
    return false;
  SmallVector<double> sizes;
  for (AffineExpr e : shapes.dims(v).slice(1, 3)) {
    auto size = dyn_cast<AffineConstantExpr>(e);
    if (!size)
      return false;
    sizes.push_back(double(size.getValue()));
  }
  double panel = sizes[1] * sizes[2] * 64;
  return sizes[0] >= 4 && panel <= mostPanel && panel * sizes[0] >= least;
}

SmallVector<Operation *> Groups::contraction(Operation *root) const {
  SmallVector<Operation *> group{root};
  SmallVector<AffineExpr> dims(shapes->dims(root->getResult(0)));
  Type number = onnx::elementType(root->getResult(0));
  // Chains of quantised values are long and cheap: their operands are numbers. Others gain nothing from being longer, and each operand of
  // the result's size takes registers from the accumulators.
  constexpr size_t many = 8, most = 20;
  auto isSmall = [&](Operation *op, Value through) {
    return !isTranscendental(op) &&
           llvm::all_of(op->getOperands(), [&](Value o) { return o == through || shapes->dims(o) != ArrayRef(dims); });
  };
  while (group.size() < most) {
    Value v = group.back()->getResult(0);
    if (v.use_empty() || !llvm::all_equal(v.getUsers()))
      break;
    Operation *next = *v.getUsers().begin();
    if (groupOf.count(next) || next->getBlock() != root->getBlock())
      break;
    if (llvm::none_of(group, onnx::isWindow) && expands(*shapes, root, v, next)) {
      group.push_back(next);
      dims = llvm::to_vector(shapes->dims(next->getResult(0)));
      continue;
    }
    if (!isPointwise(next) || next->getNumResults() != 1 || onnx::elementType(next->getResult(0)) != number ||
        ArrayRef<AffineExpr>(dims) != shapes->dims(next->getResult(0)))
      break;
    auto others = llvm::make_filter_range(next->getOperands(), [&](Value o) { return o != v; });
    if (!llvm::all_of(others, [&](Value o) { return readable(*shapes, o, dims, number); }) || (group.size() >= many && !isSmall(next, v)))
      break;
    auto lanes = dims.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(dims.back());
    if (lanes && fillsVectors(next, lanes.getValue()))
      break;
    for (Value o : others)
      if (Operation *op = o.getDefiningOp(); op && isAside(op, next) && group.size() + 1 < many)
        group.push_back(op);
    group.push_back(next);
  }
  return group;
}

// Whether a contraction's kernel whose accumulators `next` takes may compute its other operand, the result of `op`, too: nothing else reads
// that, and no contraction makes what it is computed of.
bool Groups::isAside(Operation *op, Operation *next) const {
  if (!isPointwise(op) || op->getNumResults() != 1 || groupOf.count(op) || op->getBlock() != next->getBlock())
    return false;
  Value v = op->getResult(0);
  ArrayRef<AffineExpr> dims = shapes->dims(next->getResult(0));
  Type number = onnx::elementType(next->getResult(0));
  auto mayRead = [&](Value o) {
    Operation *by = o.getDefiningOp();
    return readable(*shapes, o, dims, number) && !(by && loweringOf(by) == Lowering::Contract);
  };
  auto lanes = dims.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(dims.back());
  return v.hasOneUse() && !read.contains(v) && onnx::elementType(v) == number && shapes->dims(v) == dims &&
         llvm::all_of(op->getOperands(), mayRead) && !(lanes && fillsVectors(op, lanes.getValue()));
}

}  // namespace onnxc
