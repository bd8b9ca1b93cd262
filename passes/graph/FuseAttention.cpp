// FuseAttention.cpp: softmax between two products becomes onnx.packed.Attention, a library kernel (runtime_stub/kernels/FastAttention.cpp).
// Last of the graph passes: it needs the products and transpositions that passes/layout packs. What its operands look through is in
// AttentionOperand.cpp, ops that are an attention in AttentionOps.cpp.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/AttentionOperand.h"
#include "mlir/IR/Iterators.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/graph/Passes.h.inc"

namespace {

// What lies between the product of queries and keys and the softmax, from the inside out.
struct Scores {
  onnx::MatMulOp product;
  double scale = 1, fill = 0;
  Value keep, bias;
  bool keepIf = true;
};

struct Fuser {
  SymbolicShapes &shapes;

  bool broadcasts(Value v, Value to) {
    if (!shapes.hasRank(v) || !shapes.hasRank(to) || shapes.dims(v).size() > shapes.dims(to).size())
      return false;
    ArrayRef<AffineExpr> own = shapes.dims(v), last = shapes.dims(to).take_back(own.size());
    return llvm::all_of(llvm::zip(own, last),
                        [&](auto pair) { return std::get<0>(pair) == std::get<1>(pair) || std::get<0>(pair) == shapes.constant(1); });
  }

  // One operator around the scores `inner`, which operand `i` of it is.
  bool around(Operation *op, unsigned i, Scores &s) {
    Value v = op->getResult(0), inner = op->getOperand(i);
    if (shapes.dims(v) != shapes.dims(inner))
      return false;
    bool plain = !s.keep && !s.bias;
    if (auto where = dyn_cast<onnx::WhereOp>(op)) {
      auto fill = constantNumber(op->getOperand(3 - i));
      if (!plain || !fill || !broadcasts(op->getOperand(0), v))
        return false;
      s.keep = op->getOperand(0), s.keepIf = i == 1, s.fill = *fill;
      return true;
    }
    Value other = op->getOperand(1 - i);
    if (isa<onnx::AddOp>(op)) {
      if (s.bias || !broadcasts(other, v))
        return false;
      s.bias = other;
      return true;
    }
    auto factor = constantNumber(other);
    if (!plain || !factor || *factor == 0)
      return false;
    s.scale *= isa<onnx::MulOp>(op) ? *factor : 1 / *factor;
    return true;
  }

  std::optional<Scores> scoresOf(Value v) {
    Operation *op = v.getDefiningOp();
    if (!op || !v.hasOneUse() || !shapes.hasRank(v) || !onnx::elementType(v).isF32())
      return std::nullopt;
    if (auto product = dyn_cast<onnx::MatMulOp>(op)) {
      Scores s;
      s.product = product;
      return s;
    }
    if (!isa<onnx::AddOp, onnx::MulOp, onnx::DivOp, onnx::WhereOp>(op))
      return std::nullopt;
    for (unsigned i = isa<onnx::WhereOp>(op), e = isa<onnx::DivOp>(op) ? 1 : op->getNumOperands(); i < e; ++i)
      if (auto s = scoresOf(op->getOperand(i)); s && around(op, i, *s))
        return s;
    return std::nullopt;
  }

  // The softmax whose result the values are multiplied with; `zero`: through Where(IsNaN(p), 0, p).
  onnx::SoftmaxOp softmaxOf(Value v, bool &zero) {
    auto where = v.getDefiningOp<onnx::WhereOp>();
    if (where && v.hasOneUse()) {
      auto test = where->getOperand(0).getDefiningOp<onnx::IsNaNOp>();
      Value p = where->getOperand(2);
      if (!test || test->getOperand(0) != p || constantNumber(where->getOperand(1)) != 0.0 || !p.hasNUses(2) || !test->hasOneUse())
        return {};
      zero = true;
      return p.getDefiningOp<onnx::SoftmaxOp>();
    }
    return v.hasOneUse() ? v.getDefiningOp<onnx::SoftmaxOp>() : onnx::SoftmaxOp();
  }

  // Whether the batch axes are those of the product: Q has them all; K and V agree, and have each or one for several.
  bool batchesFit(ArrayRef<AffineExpr> result, const AttentionOperand &q, const AttentionOperand &k, const AttentionOperand &v) {
    for (size_t i = 0; i + 2 < result.size(); ++i) {
      AffineExpr own = k.dim(shapes, i), one = shapes.constant(1);
      if (q.dim(shapes, i) != result[i] || own != v.dim(shapes, i) || (own != result[i] && own != one && !k.repeats.count(i)))
        return false;
      if (k.repeats.count(i) != v.repeats.count(i))
        return false;
    }
    return true;
  }

  bool fuse(onnx::MatMulOp op) {
    bool zero = false;
    onnx::SoftmaxOp softmax = softmaxOf(op.getA(), zero);
    if (!softmax || !shapes.hasRank(op.getY()) || !shapes.hasRank(op.getB()) || !shapes.hasRank(softmax.getInput()))
      return false;
    SmallVector<AffineExpr> dims(shapes.dims(op.getY()));
    int64_t rank = dims.size(), axis = onnx::intAttr(softmax, "axis", -1);
    auto s = scoresOf(softmax.getInput());
    if (!s || rank < 2 || rank > 6 || (axis != -1 && axis != rank - 1) || int64_t(shapes.dims(softmax.getInput()).size()) != rank)
      return false;
    for (Value v : {s->product.getA(), s->product.getB(), op.getB()})
      if (!shapes.hasRank(v) || int64_t(shapes.dims(v).size()) != rank || !onnx::elementType(v).isF32())
        return false;
    AttentionOperand q(s->product.getA(), rank), k(s->product.getB(), rank), v(op.getB(), rank);
    std::swap(k.axes[rank - 2], k.axes[rank - 1]);
    q.lookThrough(shapes, &s->scale), k.lookThrough(shapes, &s->scale), v.lookThrough(shapes, nullptr);
    if (!batchesFit(dims, q, k, v))
      return false;
    replace(op, *s, q, k, v, zero);
    return true;
  }

  void replace(onnx::MatMulOp op, const Scores &s, const AttentionOperand &q, const AttentionOperand &k, const AttentionOperand &v,
               bool zero) {
    PackedAttention attention{q, k, v, s.keep, s.bias, s.scale, s.fill, s.keepIf, zero};
    attention.replace(shapes, op.getY());
  }
};

struct FuseAttention : impl::FuseAttentionBase<FuseAttention> {
  void runOnOperation() override {
    SmallVector<onnx::MatMulOp> products;
    SmallVector<Operation *> attentions;
    getOperation().walk([&](Operation *op) {
      auto product = dyn_cast<onnx::MatMulOp>(op);
      if (product && onnx::elementType(product.getY()).isF32() && !onnx::constantValue(product.getB()))
        products.push_back(product);
      if (isa<onnx::AttentionOp, onnx::MSAttentionOp, onnx::MSMultiHeadAttentionOp>(op))
        attentions.push_back(op);
    });
    if (products.empty() && attentions.empty())
      return;
    auto shapes = SymbolicShapes::compute(getOperation());
    if (failed(shapes))
      return signalPassFailure();
    Fuser fuser{*shapes};
    bool any = false;
    for (onnx::MatMulOp op : products)
      any |= fuser.fuse(op);
    for (Operation *op : attentions)
      any |= packAttention(*shapes, op);
    if (any)
      getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
        if (isOpTriviallyDead(op))
          op->erase();
      });
  }
};
}  // namespace
}  // namespace onnxc
