// FoldShapes.cpp: turns what SymbolicShapes proves into constants and plainer ops. First pass over an imported graph; runs again after
// rewrites that expose more.
#include "dialects/onnx/ControlFlow.h"
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/graph/BoxUpdates.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/SymbolicShapes.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_FOLDSHAPES
#include "passes/graph/Passes.h.inc"

namespace {

// The constant that `v` always is, as far as it is small shape arithmetic; null otherwise.
DenseElementsAttr constantOf(const SymbolicShapes &s, Value v) {
  auto type = rankedType(v);
  if (!type || !type.hasStaticShape() || !s.hasRank(v))
    return {};
  if (auto integer = llvm::dyn_cast<IntegerType>(type.getElementType())) {
    auto elements = s.constantElements(v);
    if (!elements || int64_t(elements->size()) != type.getNumElements())
      return {};
    SmallVector<APInt> values;
    for (int64_t e : *elements)
      values.push_back(APInt(integer.getWidth(), uint64_t(e), false, true));
    return DenseElementsAttr::get(type, values);
  }
  auto reals = s.realElements(v);
  auto real = llvm::dyn_cast<FloatType>(type.getElementType());
  if (!real || reals.empty() || int64_t(reals.size()) != type.getNumElements())
    return {};
  SmallVector<APFloat> values;
  for (const RealValue &r : reals) {
    if ((r.numerator && !known(r.numerator)) || (!r.numerator && std::isnan(r.value)))
      return {};
    APFloat value(r.numerator ? double(*known(r.numerator)) / r.denominator : r.value);
    bool loses;
    value.convert(real.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    values.push_back(value);
  }
  return DenseElementsAttr::get(type, values);
}

bool sameDims(const SymbolicShapes &s, Value a, Value b) {
  return s.hasRank(a) && s.hasRank(b) && s.dims(a) == s.dims(b) && a.getType() == b.getType();
}

bool all(const SymbolicShapes &s, Value v, int64_t wanted) {
  auto elements = v ? s.constantElements(v) : std::nullopt;
  return elements && llvm::all_of(*elements, [&](int64_t e) { return e == wanted; });
}

// The operand that `op` gives back unchanged; null when it does something.
Value unchanged(const SymbolicShapes &s, Operation *op) {
  StringRef name = onnx::opName(op);
  Value first = op->getNumOperands() ? op->getOperand(0) : Value();
  if (!first || op->getNumResults() != 1)
    return {};
  // A size that the run has to check keeps its op.
  if (!s.checks(op).empty())
    return {};
  bool keeps = sameDims(s, first, op->getResult(0));
  if (name == "Where" && all(s, first, 1) && sameDims(s, op->getOperand(1), op->getResult(0)))
    return op->getOperand(1);
  if (name == "Where" && all(s, first, 0) && sameDims(s, op->getOperand(2), op->getResult(0)))
    return op->getOperand(2);
  if (!keeps)
    return {};
  if (name == "Reshape" || name == "Expand" || name == "Squeeze" || name == "Unsqueeze" || name == "Flatten" || name == "CenterCropPad")
    return first;
  if (name == "Slice" && (!onnx::operand(op, 4) || all(s, onnx::operand(op, 4), 1)))
    return first;
  if ((name == "Pad" && all(s, onnx::operand(op, 1), 0)) || (name == "Tile" && all(s, onnx::operand(op, 1), 1)))
    return first;
  bool single = op->getNumOperands() == 1;
  return single && (name == "Concat" || name == "Sum" || name == "Max" || name == "Min" || name == "Mean") ? first : Value();
}

// The target of a view with sizes copied (0) and one inferred (-1); nothing when that cannot say it.
std::optional<SmallVector<int64_t>> plainTarget(const SymbolicShapes &s, Value source, Value view) {
  if (!s.hasRank(view))
    return std::nullopt;
  ArrayRef<AffineExpr> from = s.dims(source), to = s.dims(view);
  SmallVector<int64_t> target;
  bool inferred = false;
  for (auto [i, d] : llvm::enumerate(to)) {
    auto n = known(d);
    bool copied = i < from.size() && from[i] == d;
    if (n ? *n == 0 && !copied : inferred && !copied)
      return std::nullopt;
    inferred |= !n && !copied;
    target.push_back(n ? *n : copied ? 0 : -1);
  }
  return target;
}

// The auto_pad of a Conv of what `pad` gives, where its amounts are those of SAME and the run decides them; empty otherwise. TensorFlow's
// networks in PyTorch compute them so.
StringRef paddingOf(SymbolicShapes &s, onnx::ConvOp conv, onnx::PadOp pad) {
  auto filters = rankedType(conv.getW());
  Value data = pad.getData();
  bool zeros = pad.getMode() == "constant" && (!pad.getConstantValue() || constantNumber(pad.getConstantValue()) == 0.0);
  if (!zeros || pad.getAxes() || !filters || !s.hasRank(data) || int64_t(s.dims(data).size()) != filters.getRank() ||
      llvm::any_of(filters.getShape().drop_front(2), ShapedType::isDynamic))
    return {};
  int64_t rank = filters.getRank(), axes = rank - 2;
  ArrayRef<AffineExpr> amounts = s.partialElements(pad.getPads());
  auto own = givenPads(conv, axes);
  if (int64_t(amounts.size()) != 2 * rank || !own || llvm::any_of(*own, [](int64_t p) { return p != 0; }))
    return {};
  auto strides = listOr(onnx::optionalInts(conv, "strides"), axes, 1), dilations = listOr(onnx::optionalInts(conv, "dilations"), axes, 1);
  bool upper = true, lower = true, varies = false;
  for (int64_t axis = 0; axis < rank; ++axis) {
    AffineExpr before = amounts[axis], after = amounts[rank + axis], total = s.constant(0);
    if (axis >= 2) {
      AffineExpr size = s.dims(data)[axis], stride = s.constant(strides[axis - 2]);
      int64_t extent = (filters.getDimSize(axis) - 1) * dilations[axis - 2] + 1;
      AffineExpr reach = s.add(s.mul(s.sub(s.ceilDiv(size, stride), s.constant(1)), stride), s.constant(extent));
      total = s.max(s.sub(reach, size), s.constant(0));
    }
    AffineExpr less = s.floorDiv(total, s.constant(2)), more = s.sub(total, less);
    upper &= less && before == less && after == more;
    lower &= less && before == more && after == less;
    varies |= !known(total);
  }
  return !varies ? "" : upper ? "SAME_UPPER" : lower ? "SAME_LOWER" : "";
}

// A result dim that only the op's size function says, which refuses what does not fit.
bool isSizedBy(const SymbolicShapes &s, Operation *op) {
  Value result = op->getResult(0);
  bool sized = false;
  for (AffineExpr d : s.hasRank(result) ? s.dims(result) : ArrayRef<AffineExpr>())
    s.walkSymbols(d, [&](const SymbolDef &def) { sized |= def.kind == SymbolDef::SizeOf && def.value == result; });
  return sized;
}

// Replaces `op`, an If with a known condition, by the branch it takes.
void inlineBranch(onnx::IfOp op, bool condition) {
  Block &branch = (condition ? op.getThenBranch() : op.getElseBranch()).front();
  Operation *yield = branch.getTerminator();
  op->getBlock()->getOperations().splice(op->getIterator(), branch.getOperations(), branch.begin(), yield->getIterator());
  for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
    result.replaceAllUsesWith(value);
  op->erase();
}

// Sizes as arithmetic on those of the function's inputs, at its start: a value that is asked for its size alone is not computed, and one
// that others read may lie in any layout, or nowhere.
class InputSizes {
public:
  InputSizes(SymbolicShapes &s, func::FuncOp function) : s(s), b(OpBuilder::atBlockBegin(&function.front())) {}

  // i64[1]; null where `size` is none of a few sums, products and quotients of sizes of inputs.
  Value make(AffineExpr size, Location loc) { return size && isOfInputs(size) ? step(size, loc) : Value(); }

private:
  // Sizes are rounded down, Div rounds towards 0.
  bool isOfInputs(AffineExpr size) {
    constexpr int64_t kMostParts = 64;
    int64_t parts = 0;
    bool fits = true;
    size.walk([&](AffineExpr e) {
      const SymbolDef *def = s.definition(e);
      auto binary = llvm::dyn_cast<AffineBinaryOpExpr>(e);
      fits &= def      ? def->kind == SymbolDef::Input
              : binary ? e.getKind() == AffineExprKind::Add || e.getKind() == AffineExprKind::Mul ||
                             (e.getKind() == AffineExprKind::FloorDiv && s.isNonNegative(binary.getLHS()) &&
                              known(binary.getRHS()).value_or(0) > 0)
                       : known(e).has_value();
      ++parts;
    });
    return fits && parts <= kMostParts;
  }

  Value step(AffineExpr e, Location loc) {
    if (Value made = values.lookup(e))
      return made;
    GraphBuilder g{b, loc};
    Value v;
    if (auto n = known(e)) {
      v = g.integers({*n});
    } else if (const SymbolDef *def = s.definition(e)) {
      v = g.sizeOf(def->value, def->index);
    } else {
      auto binary = llvm::cast<AffineBinaryOpExpr>(e);
      Value lhs = step(binary.getLHS(), loc), rhs = step(binary.getRHS(), loc);
      Type type = lhs.getType();
      v = e.getKind() == AffineExprKind::Add   ? Value(onnx::AddOp::create(b, loc, type, lhs, rhs))
          : e.getKind() == AffineExprKind::Mul ? Value(onnx::MulOp::create(b, loc, type, lhs, rhs))
                                               : Value(onnx::DivOp::create(b, loc, type, lhs, rhs));
    }
    return values[e] = v;
  }

  SymbolicShapes &s;
  OpBuilder b;
  llvm::DenseMap<AffineExpr, Value> values;
};

// --- Squeeze without axes ---

// Of sizes that are known there is nothing to decide.
SmallVector<onnx::SqueezeOp> withoutAxes(func::FuncOp function) {
  SmallVector<onnx::SqueezeOp> found;
  function.walk([&](onnx::SqueezeOp op) {
    auto type = llvm::cast<TensorType>(op.getData().getType());
    if (!op.getAxes() && !type.hasStaticShape())
      found.push_back(op);
  });
  return found;
}

// The results of the function that have another rank than the model declares.
SmallVector<Value> contradictDeclared(func::FuncOp function, const SymbolicShapes &s) {
  SmallVector<Value> found;
  for (auto [i, v] : llvm::enumerate(function.front().getTerminator()->getOperands()))
    if (auto rank = function.getResultAttrOfType<IntegerAttr>(i, onnx::kRankAttr);
        rank && s.hasRank(v) && int64_t(s.dims(v).size()) != rank.getInt())
      found.push_back(v);
  return found;
}

// The first Squeeze without axes that a value is made of, of a size that is not known.
onnx::SqueezeOp firstWithoutAxes(func::FuncOp function, const SymbolicShapes &s, ArrayRef<Value> values) {
  llvm::SetVector<Operation *> makers;
  BackwardSliceOptions options;
  options.omitUsesFromAbove = false;
  options.inclusive = true;
  for (Value v : values)
    if (v.getDefiningOp())
      (void)getBackwardSlice(v.getDefiningOp(), &makers, options);
  for (onnx::SqueezeOp op : withoutAxes(function)) {
    bool open = s.hasRank(op.getData()) && llvm::any_of(s.dims(op.getData()), [](AffineExpr d) { return !known(d); });
    if (open && makers.contains(op))
      return op;
  }
  return {};
}

void writeAxes(onnx::SqueezeOp op, ArrayRef<int64_t> axes) {
  OpBuilder b(op);
  op->insertOperands(1, {GraphBuilder{b, op.getLoc()}.integers(axes)});
}

// A size that only the run knows stays when it is squeezed without axes, unless the ranks that the model declares say that it is 1: then
// the axes are written down, one Squeeze after the other, and a run in which it is another number fails.
FailureOr<SymbolicShapes> computeWithAxes(func::FuncOp function) {
  OwningOpRef<func::FuncOp> source(withoutAxes(function).empty() ? func::FuncOp() : function.clone());
  auto shapes = computeWithVersions(function);
  if (failed(shapes) || !source || contradictDeclared(function, *shapes).empty())
    return shapes;
  OwningOpRef<func::FuncOp> trial;
  {
    ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
    for (SmallVector<std::pair<Location, SmallVector<int64_t>>> written;;) {
      trial = source->clone();
      for (onnx::SqueezeOp op : withoutAxes(*trial))
        for (auto &[place, axes] : written)
          if (op.getLoc() == place)
            writeAxes(op, axes);
      auto now = computeWithVersions(*trial);
      auto wrong = succeeded(now) ? contradictDeclared(*trial, *now) : SmallVector<Value>();
      if (succeeded(now) && wrong.empty())
        break;
      onnx::SqueezeOp op = succeeded(now) ? firstWithoutAxes(*trial, *now, wrong) : onnx::SqueezeOp();
      if (!op || llvm::any_of(written, [&](auto &w) { return w.first == op.getLoc(); }))
        return shapes;
      written.emplace_back(op.getLoc(), SmallVector<int64_t>());
      for (auto [i, d] : llvm::enumerate(now->dims(op.getData())))
        if (known(d).value_or(1) == 1)
          written.back().second.push_back(i);
    }
  }
  function.setFunctionType(trial->getFunctionType());
  function.getBody().takeBody(trial->getBody());
  return computeWithVersions(function);
}

struct FoldShapes : impl::FoldShapesBase<FoldShapes> {
  void foldBranches(SymbolicShapes &s) {
    SmallVector<onnx::IfOp> ifs;
    getOperation().walk([&](onnx::IfOp op) { ifs.push_back(op); });
    for (onnx::IfOp op : ifs) {
      auto condition = s.constantElements(op.getCond());
      auto taken = op->getAttrOfType<BoolAttr>(kTakenAttr);  // the other branch is gone: taking it fails when it runs
      if (condition && condition->size() == 1 && (!taken || taken.getValue() == (condition->front() != 0)))
        inlineBranch(op, condition->front() != 0);
    }
  }

  // A new value for an old one has the same sizes and elements.
  static void replace(SymbolicShapes &s, Value old, Value value) {
    s.setDims(value, s.dims(old));
    s.setElements(value, s.partialElements(old));
    old.replaceAllUsesWith(value);
  }

  // Views become reshapes to a constant target where one says it.
  void foldView(SymbolicShapes &s, Operation *op) {
    auto reshape = llvm::dyn_cast<onnx::ReshapeOp>(op);
    if (reshape ? reshape.getAllowzero() || onnx::constantValue(reshape.getShape())
                : !llvm::isa<onnx::FlattenOp, onnx::SqueezeOp, onnx::UnsqueezeOp>(op))
      return;
    Value source = op->getOperand(0), view = op->getResult(0);
    if (view.use_empty() || !s.hasRank(source) || !s.checks(op).empty() || isSizedBy(s, op))
      return;
    auto target = plainTarget(s, source, view);
    if (!target)
      return;
    OpBuilder b(op);
    Value shape = GraphBuilder{b, op->getLoc()}.integers(*target);
    if (reshape)
      op->setOperand(1, shape);
    else
      replace(s, view, onnx::ReshapeOp::create(b, op->getLoc(), view.getType(), source, shape));
  }

  void foldConstants(SymbolicShapes &s) {
    InputSizes sizes(s, getOperation());
    getOperation().walk([&](Operation *op) {
      if (!onnx::isOnnx(op) || llvm::isa<onnx::ConstantOp>(op) || op->getNumRegions())
        return;
      if (Value same = unchanged(s, op)) {
        op->getResult(0).replaceAllUsesWith(same);
        return;
      }
      if (auto conv = llvm::dyn_cast<onnx::ConvOp>(op))
        if (auto pad = conv.getX().getDefiningOp<onnx::PadOp>())
          if (StringRef mode = paddingOf(s, conv, pad); !mode.empty()) {
            conv.getXMutable().assign(pad.getData());
            conv.setAutoPad(mode);
            conv.removePadsAttr();
          }
      OpBuilder b(op);
      if (auto scatter = llvm::dyn_cast<onnx::ScatterNDOp>(op))
        if (Value same = boxUpdate(s, b, scatter))
          scatter.getOutput().replaceAllUsesWith(same);
      for (Value result : op->getResults())
        if (DenseElementsAttr value = result.use_empty() ? DenseElementsAttr() : constantOf(s, result))
          replace(s, result, onnx::ConstantOp::create(b, op->getLoc(), value));
      if (auto shape = llvm::dyn_cast<onnx::ShapeOp>(op); shape && shape.getData().getDefiningOp() && !shape->use_empty())
        if (ArrayRef<AffineExpr> size = s.partialElements(shape.getShape()); size.size() == 1)
          if (Value same = sizes.make(size.front(), op->getLoc()))
            replace(s, shape.getShape(), same);
      foldView(s, op);
    });
  }

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    auto shapes = computeWithAxes(getOperation());
    if (failed(shapes))
      return signalPassFailure();
    foldBranches(*shapes);
    foldConstants(*shapes);
    eraseDeadOps(getOperation());
  }
};

}  // namespace
}  // namespace onnxc
