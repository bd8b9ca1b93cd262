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
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_FUSEATTENTION
#include "passes/graph/Passes.h.inc"

namespace {

using Dims = SmallVector<AffineExpr>;

// A tensor that broadcasts to the scores as they are at a place between the product and the softmax.
struct Operand {
  Value value;
  size_t form = 0;  // index in Scores::forms
  // Adds of the scores and another tensor of the same form and sizes, which is to be added to `value`: (the Add, that tensor).
  SmallVector<std::pair<Operation *, Value>> more = {};
  explicit operator bool() const { return bool(value); }
};

// What lies between the product of queries and keys and the softmax, from the inside out.
struct Scores {
  onnx::MatMulOp product;
  SmallVector<Dims> forms;  // the product's, and what views make of its batch axes
  double scale = 1, fill = 0, softcap = 0;
  // Times `factor`, or divided by it, one number for all keys; `fill` where `keep` is not `keepIf`; plus `bias` and `mask`.
  Operand factor, keep, bias, mask;
  bool divides = false, keepIf = true;
  // No more than a scale and such a factor lies between the product and this place.
  bool plain() const { return !keep && !bias && softcap == 0; }
  bool zero = false;  // NaN behind the softmax counts as 0
};

// The forms of scores as views of one that has all their batch axes apart.
class Forms {
  SmallVector<Dims> all;
  size_t widest = 0;
  SmallVector<SmallVector<Dims>> factors;  // of each form's batch axes; empty where there is one form

public:
  static std::optional<Forms> of(SymbolicShapes &shapes, ArrayRef<Dims> all) {
    Forms forms;
    forms.all.assign(all.begin(), all.end());
    if (all.size() == 1)
      return forms;
    for (size_t i = 1; i < all.size(); ++i)
      if (all[i].size() > all[forms.widest].size())
        forms.widest = i;
    for (const Dims &form : all) {
      auto factors = factorsOf(shapes, ArrayRef(form).drop_back(2), ArrayRef(forms.finest()).drop_back(2));
      if (!factors || !canReshape(form, forms.finest()) || !canReshape(forms.finest(), form))
        return std::nullopt;
      forms.factors.push_back(std::move(*factors));
    }
    return forms;
  }
  const Dims &finest() const { return all[widest]; }
  // Of the last form, as PackedAttention::replace takes them.
  SmallVector<int64_t> groups() const {
    SmallVector<int64_t> counts;
    if (factors.empty())
      return counts;
    for (const Dims &parts : factors.back())
      counts.push_back(parts.size());
    counts.append(2, 1);
    return counts;
  }
  // `v`, which broadcasts to scores of the form `form`, as it broadcasts to the finest. Null where a batch axis is neither the form's
  // nor 1.
  Value view(SymbolicShapes &shapes, OpBuilder &b, Location loc, Value v, size_t form) const {
    ArrayRef<AffineExpr> own = shapes.dims(v);
    Dims dims;
    const size_t missing = all[form].size() - own.size();
    for (size_t i = 0; i + 2 < own.size() && !factors.empty(); ++i) {
      AffineExpr size = all[form][missing + i], one = shapes.constant(1);
      if (own[i] != size && own[i] != one)
        return {};
      for (AffineExpr part : factors[form][missing + i])
        dims.push_back(own[i] == size ? part : one);
    }
    if (factors.empty() || own.size() < 3 || all[form] == finest())
      return v;
    llvm::append_range(dims, own.take_back(2));
    return viewAs(shapes, b, loc, v, dims);
  }
};

// Whether `own` are the sizes of the last axes of `to`, or 1.
bool broadcasts(const SymbolicShapes &shapes, ArrayRef<AffineExpr> own, ArrayRef<AffineExpr> to) {
  return own.size() <= to.size() && llvm::all_of(llvm::zip(own, to.take_back(own.size())), [&](auto pair) {
           return std::get<0>(pair) == std::get<1>(pair) || std::get<0>(pair) == shapes.constant(1);
         });
}
bool broadcasts(const SymbolicShapes &shapes, Value v, Value to) {
  return shapes.hasRank(v) && shapes.hasRank(to) && broadcasts(shapes, shapes.dims(v), shapes.dims(to));
}
// The same for a mask of scores, whose last axis only the run may know to be the keys or 1: the kernel asks.
bool masks(const SymbolicShapes &shapes, Value v, ArrayRef<AffineExpr> scores) {
  return shapes.hasRank(v) && (shapes.dims(v).empty() || broadcasts(shapes, shapes.dims(v).drop_back(), scores.drop_back()));
}

// What computes an attention: the product with the values, and the scores before it.
struct Match {
  onnx::MatMulOp product;
  Scores scores;
  Forms forms;
};

// Finds attentions and writes nothing.
struct Matcher {
  SymbolicShapes &shapes;

  // Whether a view leaves the last two axes as they are.
  bool keepsMatrices(Operation *view) {
    Value from = view->getOperand(0), to = view->getResult(0);
    if (!shapes.hasRank(from) || !shapes.hasRank(to) || !shapes.checks(view).empty())
      return false;
    ArrayRef<AffineExpr> before = shapes.dims(from), after = shapes.dims(to);
    return before.size() >= 2 && after.size() >= 2 && before.take_back(2) == after.take_back(2);
  }

  // The sizes of scores of a place: those of `v`, with as many keys as the product gives. A mask of a size that only the run knows may
  // make more of one key, but match() takes no product with more values than keys.
  Dims formOf(Value v, const Scores &s) {
    Dims form(shapes.dims(v));
    form.back() = s.forms.front().back();
    return form;
  }

  // Takes in one operator around the scores, which are its operand `i`. False, and `s` as it was, where the kernel has no such step.
  bool around(Operation *op, unsigned i, Scores &s) {
    Value v = op->getResult(0);
    const Dims &scores = s.forms.back();
    if (shapes.dims(v).size() != scores.size() || formOf(v, s) != scores)
      return false;
    const size_t form = s.forms.size() - 1;
    if (auto where = dyn_cast<onnx::WhereOp>(op)) {
      auto fill = constantNumber(op->getOperand(3 - i));
      if (s.keep || s.bias || !fill || !masks(shapes, op->getOperand(0), scores))
        return false;
      s.keep = {op->getOperand(0), form}, s.keepIf = i == 1, s.fill = *fill;
      return true;
    }
    Value other = op->getOperand(1 - i);
    if (isa<onnx::AddOp>(op)) {
      if (!masks(shapes, other, scores))
        return false;
      if (!s.mask) {
        (s.bias ? s.mask : s.bias) = {other, form};
        return true;
      }
      for (Operand *own : {&s.bias, &s.mask})
        if (own->form == form && shapes.dims(own->value) == shapes.dims(other)) {
          own->more.push_back({op, other});
          return true;
        }
      return false;
    }
    auto factor = constantNumber(other);
    if (!s.plain() || factor == 0.0)
      return false;
    if (factor) {
      s.scale *= isa<onnx::MulOp>(op) ? *factor : 1 / *factor;
      return true;
    }
    if (s.factor || !broadcasts(shapes, other, v) || (!shapes.dims(other).empty() && shapes.dims(other).back() != shapes.constant(1)))
      return false;
    s.factor = {other, form}, s.divides = isa<onnx::DivOp>(op);
    return true;
  }

  // The scores x of c tanh(x); nothing where that is not what `mul` computes.
  std::optional<Scores> cappedBy(onnx::MulOp mul) {
    for (unsigned i : {0, 1}) {
      auto tanh = mul->getOperand(i).getDefiningOp<onnx::TanhOp>();
      auto cap = constantNumber(mul->getOperand(1 - i));
      if (!tanh || !tanh->hasOneUse() || !cap || !(*cap > 0) || std::isinf(*cap) || !shapes.hasRank(tanh->getResult(0)))
        continue;
      auto s = scoresOf(tanh->getOperand(0));
      if (!s || !s->plain() || shapes.dims(mul->getResult(0)) != shapes.dims(tanh->getResult(0)))
        continue;
      s->softcap = *cap, s->scale *= *cap;
      return s;
    }
    return std::nullopt;
  }

  // The scores that `v` is made of by one use each; nothing where it is made in another way.
  std::optional<Scores> scoresOf(Value v) {
    Operation *op = v.getDefiningOp();
    if (!op || !v.hasOneUse() || !shapes.hasRank(v) || !onnx::elementType(v).isF32())
      return std::nullopt;
    if (auto product = dyn_cast<onnx::MatMulOp>(op)) {
      Scores s;
      s.product = product;
      s.forms.emplace_back(shapes.dims(v));
      return s;
    }
    if (isView(op)) {
      auto s = keepsMatrices(op) ? scoresOf(op->getOperand(0)) : std::nullopt;
      if (s)
        s->forms.push_back(formOf(v, *s));
      return s;
    }
    if (!isa<onnx::AddOp, onnx::MulOp, onnx::DivOp, onnx::WhereOp>(op))
      return std::nullopt;
    if (auto mul = dyn_cast<onnx::MulOp>(op))
      if (auto capped = cappedBy(mul))
        return capped;
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

  // Whether a Softmax is along the last axis.
  bool isOverKeys(onnx::SoftmaxOp softmax) {
    int64_t rank = shapes.dims(softmax.getInput()).size();
    return onnx::axisAttr(softmax, rank, -1) == rank - 1;
  }

  // The scores whose Softmax along the keys, or a view of it, is the left operand of `op`. Nothing for few keys.
  std::optional<Scores> scoresBefore(onnx::MatMulOp op) {
    bool zero = false;
    Operation *view = op.getA().getDefiningOp();
    view = isView(view) && op.getA().hasOneUse() && keepsMatrices(view) ? view : nullptr;
    onnx::SoftmaxOp softmax = softmaxOf(view ? view->getOperand(0) : op.getA(), zero);
    if (!softmax || !shapes.hasRank(op.getY()) || !shapes.hasRank(softmax.getInput()))
      return std::nullopt;
    auto s = scoresOf(softmax.getInput());
    if (s && view)
      s->forms.push_back(formOf(op.getA(), *s));
    const size_t rank = shapes.dims(op.getY()).size();
    if (!s || s->forms.back().size() != rank || rank < 2 || !isOverKeys(softmax))
      return std::nullopt;
    constexpr int64_t fewKeys = 32;  // packing them takes longer than storing their scores
    if (auto keys = known(s->forms.front().back()); keys && *keys < fewKeys)
      return std::nullopt;
    s->zero = zero;
    return s;
  }

  // The attention that ends with the product `op`.
  std::optional<Match> match(onnx::MatMulOp op) {
    auto s = scoresBefore(op);
    if (!s)
      return std::nullopt;
    const size_t inner = s->forms.front().size(), outer = s->forms.back().size();
    for (auto [v, rank] : {std::pair(s->product.getA(), inner), {s->product.getB(), inner}, {op.getB(), outer}})
      if (!shapes.hasRank(v) || shapes.dims(v).size() != rank || !onnx::elementType(v).isF32())
        return std::nullopt;
    auto forms = Forms::of(shapes, s->forms);
    ArrayRef<AffineExpr> result = shapes.dims(op.getY());
    if (shapes.dims(op.getA()).back() != s->forms.back().back() && shapes.dims(op.getB())[outer - 2] != s->forms.back().back())
      return std::nullopt;
    constexpr size_t mostAxes = 6;  // of the kernel
    if (!forms || forms->finest().size() > mostAxes || result.drop_back(2) != ArrayRef(s->forms.back()).drop_back(2))
      return std::nullopt;
    Dims made(ArrayRef(forms->finest()).drop_back());
    made.push_back(result.back());
    if (!forms->groups().empty() && !canReshape(made, result))
      return std::nullopt;
    return Match{op, std::move(*s), std::move(*forms)};
  }
};

// Writes the attention of a match. Only views of the operands show whether their axes fit: what was written before that turns out not to be
// so is dead, and goes at the end of the pass.
struct Writer {
  SymbolicShapes &shapes;
  Match &m;
  OpBuilder b{m.product};

  // Of two tensors of the same sizes, a constant where both are.
  Value sum(Operation *before, Value left, Value right) {
    OpBuilder at(before);
    auto first = constantFloats(left), second = constantFloats(right);
    Value total;
    if (first && second) {
      for (auto [x, y] : llvm::zip(*first, *second))
        x += y;
      total = GraphBuilder{at, before->getLoc()}.floats(rankedType(left).getShape(), std::move(*first));
    } else {
      total = onnx::AddOp::create(at, before->getLoc(), left.getType(), left, right);
    }
    shapes.setDims(total, Dims(shapes.dims(left)));
    return total;
  }

  // Queries times what has one number for all keys, or divided by it.
  Value scaled(Value queries, Value factor) {
    Location loc = m.product.getLoc();
    Value result = m.scores.divides ? onnx::DivOp::create(b, loc, queries.getType(), queries, factor).getResult()
                                    : onnx::MulOp::create(b, loc, queries.getType(), queries, factor).getResult();
    shapes.setDims(result, Dims(shapes.dims(queries)));
    return result;
  }

  // An operand of the scores as it broadcasts to their finest form; null where there is none.
  Value finest(const Operand &o) {
    Value v = o.value;
    for (auto [add, other] : o.more)
      v = sum(add, v, other);
    return v ? m.forms.view(shapes, b, m.product.getLoc(), v, o.form) : v;
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

  // False where the operands do not fit together.
  bool write() {
    Scores &s = m.scores;
    Value queries = finest({s.product.getA(), 0}), keys = finest({s.product.getB(), 0}),
          values = finest({m.product.getB(), s.forms.size() - 1});
    Value factor = finest(s.factor), keep = finest(s.keep), bias = finest(s.bias), mask = finest(s.mask);
    if (!queries || !keys || !values || (s.factor && !factor) || (s.keep && !keep) || (s.bias && !bias) || (s.mask && !mask))
      return false;
    if (factor && !broadcasts(shapes, factor, queries))
      return false;
    if (factor)
      queries = scaled(queries, factor);
    const int64_t rank = m.forms.finest().size();
    AttentionOperand q(queries, rank), k(keys, rank), v(values, rank);
    std::swap(k.axes[rank - 2], k.axes[rank - 1]);
    q.lookThrough(shapes, &s.scale), k.lookThrough(shapes, &s.scale), v.lookThrough(shapes, nullptr);
    if (!batchesFit(m.forms.finest(), q, k, v))
      return false;
    PackedAttention attention{q, k, v, keep, bias, mask, s.scale, s.fill, s.keepIf, s.zero, s.softcap};
    attention.replace(shapes, m.product.getY(), m.forms.groups());
    return true;
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
    for (onnx::MatMulOp op : products)
      if (auto match = Matcher{*shapes}.match(op))
        Writer{*shapes, *match}.write();
    for (Operation *op : attentions)
      packAttention(*shapes, op);
    eraseDeadOps(getOperation());
  }
};
}  // namespace
}  // namespace onnxc
