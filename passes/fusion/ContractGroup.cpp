// ContractGroup.cpp: which ops a contraction's kernel computes besides it: pointwise ones on its accumulators, a convolution of its
// result in groups within blocks, most often depthwise.
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Packed.h"
#include "passes/fusion/Groups.h"

using namespace mlir;
namespace onnxc {

// Every operand but the chain's value is a scalar, or lies along the result's last axes with sizes equal or 1.
static bool readable(SymbolicShapes &shapes, Value v, ArrayRef<AffineExpr> result) {
  if (!shapes.hasRank(v) || !onnx::elementType(v).isF32() || shapes.dims(v).size() > result.size())
    return false;
  ArrayRef<AffineExpr> own = shapes.dims(v), last = result.take_back(own.size());
  return llvm::all_of(llvm::zip(own, last), [&](auto pair) {
    auto [d, r] = pair;
    return d == r || d == shapes.constant(1);
  });
}

// Whether the kernel of `root` goes on with the grouped convolution `next` of its result `v`: codegen/cpu/ContractExpand.cpp. It pays
// where that result, of one image, is larger than a second-level cache and a panel of it is not much: small results cost up to 2 %.
// Fewer than four panels are too few units of parallel work.
static bool expands(SymbolicShapes &shapes, Operation *root, Value v, Operation *next) {
  constexpr int64_t least = 1 << 20, mostPanel = 2 << 20;
  auto conv = dyn_cast<onnx::PackedConvOp>(root);
  auto window = dyn_cast<onnx::PackedGroupedConvOp>(next);
  if (!conv || !window || !onnx::isProduct(conv) || conv.getGroup() != 1 || window.getMultiplier() != 1 || window.getX() != v)
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
  constexpr size_t most = 8;
  while (group.size() < most) {
    Value v = group.back()->getResult(0);
    if (v.use_empty() || !llvm::all_equal(v.getUsers()))
      break;
    Operation *next = *v.getUsers().begin();
    if (groupOf.count(next) || next->getBlock() != root->getBlock())
      break;
    if (llvm::none_of(group, llvm::IsaPred<onnx::PackedGroupedConvOp>) && expands(*shapes, root, v, next)) {
      group.push_back(next);
      dims = llvm::to_vector(shapes->dims(next->getResult(0)));
      continue;
    }
    if (!isPointwise(next) || next->getNumResults() != 1 || !onnx::elementType(next->getResult(0)).isF32() ||
        ArrayRef<AffineExpr>(dims) != shapes->dims(next->getResult(0)))
      break;
    if (!llvm::all_of(next->getOperands(), [&](Value o) { return o == v || readable(*shapes, o, dims); }))
      break;
    auto lanes = dims.empty() ? AffineConstantExpr() : dyn_cast<AffineConstantExpr>(dims.back());
    if (lanes && fillsVectors(next, lanes.getValue()))
      break;
    group.push_back(next);
  }
  return group;
}

}  // namespace onnxc
