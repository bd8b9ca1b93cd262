// SymbolicRules.cpp: the table of shape rules and the helpers that all rules share.
#include "passes/graph/SymbolicRules.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

const ShapeRules &shapeRules() {
  static const ShapeRules rules = [] {
    ShapeRules all;
    addElementwiseRules(all);
    addTensorRules(all);
    addIndexRules(all);
    addWindowRules(all);
    addContractionRules(all);
    addReduceRules(all);
    addSequenceRules(all);
    addMLRules(all);
    addMicrosoftRules(all);
    addOtherRules(all);
    return all;
  }();
  return rules;
}

LogicalResult likeFirst(ShapeOp &o) { return o.set(0, o.dims(0)); }

// Start and size of each declared operand or result.
static void segments(Operation *op, StringRef kinds, StringRef sizesAttr, unsigned total, SmallVector<unsigned> &start,
                     SmallVector<unsigned> &size) {
  auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(sizesAttr);
  unsigned next = 0;
  for (size_t i = 0; i < kinds.size(); ++i) {
    unsigned n = sizes ? sizes[i] : kinds[i] == '1' ? 1 : total - (kinds.size() - 1);
    start.push_back(next);
    size.push_back(n);
    next += n;
  }
}

ShapeOp::ShapeOp(SymbolicShapes &shapes, Operation *op) : s(shapes), op(op) {
  const onnx::OpInfo *info = onnx::opInfo(op);
  std::string each(op->getNumOperands(), '1'), eachResult(op->getNumResults(), '1');
  segments(op, info ? info->operands : StringRef(each), "operandSegmentSizes", op->getNumOperands(), inStart, inSize);
  segments(op, info ? info->results : StringRef(eachResult), "resultSegmentSizes", op->getNumResults(), outStart, outSize);
}

Value ShapeOp::in(unsigned i) const { return i < inSize.size() && inSize[i] ? op->getOperand(inStart[i]) : Value(); }
Value ShapeOp::out(unsigned i) const {
  if (i < outSize.size() && outSize[i])
    return op->getResult(outStart[i]);
  return Value();
}

std::optional<Dims> ShapeOp::elements(unsigned i) {
  Value v = in(i);
  auto n = v ? s.count(v) : std::nullopt;
  if (!n || *n > 1024)
    return std::nullopt;
  Dims known(s.partialElements(v));
  known.resize(*n);
  for (int64_t k = 0; k < *n; ++k)
    if (!known[k])
      known[k] = s.symbol({SymbolDef::Load, "", v, k, {}, {}});
  return known;
}

AffineExpr ShapeOp::element(unsigned i) {
  auto all = elements(i);
  return all && all->size() == 1 ? all->front() : AffineExpr();
}
std::optional<SmallVector<int64_t>> ShapeOp::constants(unsigned i) const {
  Value v = in(i);
  return v ? s.constantElements(v) : std::nullopt;
}
std::optional<int64_t> ShapeOp::constantScalar(unsigned i) const {
  auto all = constants(i);
  return all && all->size() == 1 ? std::optional<int64_t>(all->front()) : std::nullopt;
}
std::optional<SmallVector<double>> ShapeOp::constantReals(unsigned i) const {
  Value v = in(i);
  if (!v || !s.count(v) || int64_t(s.realElements(v).size()) != *s.count(v))
    return std::nullopt;
  SmallVector<double> result;
  for (const RealValue &r : s.realElements(v)) {
    auto numerator = known(r.numerator);
    if (r.numerator ? !numerator : std::isnan(r.value))  // not a number: not known
      return std::nullopt;
    result.push_back(numerator ? double(*numerator) / r.denominator : r.value);
  }
  return result;
}

LogicalResult ShapeOp::set(unsigned i, DimsRef dims) {
  Value v = out(i);
  if (!v)
    return success();
  auto type = llvm::dyn_cast<RankedTensorType>(v.getType());
  bool ranked = type && type.getRank() == int64_t(dims.size());
  Dims sizes(dims);
  for (auto [d, size] : llvm::enumerate(sizes)) {
    if (!size)
      size = ranked && !type.isDynamicDim(d) ? c(type.getDimSize(d)) : s.symbol({SymbolDef::SizeOf, "", v, int64_t(d), {}, {}});
    if (auto n = known(size); n && *n < 0)
      return error() << "size " << *n << " of axis " << d << " of the result is negative";
  }
  s.setDims(v, sizes);
  return success();
}
void ShapeOp::setElements(unsigned i, DimsRef elements) {
  Value v = out(i);
  if (v && llvm::isa_and_nonnull<IntegerType>(onnx::elementType(v)))
    s.setElements(v, elements);
}

LogicalResult ShapeOp::setFromType(unsigned i) { return out(i) ? setValueFromType(out(i)) : success(); }
LogicalResult ShapeOp::setValueFromType(Value v) {
  auto type = llvm::dyn_cast<RankedTensorType>(v.getType());
  if (!type)
    return llvm::isa<TensorType>(v.getType()) ? unknownRank() : success();
  Dims dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims.push_back(type.isDynamicDim(d) ? s.symbol({SymbolDef::SizeOf, "", v, d, {}, {}}) : c(type.getDimSize(d)));
  s.setDims(v, dims);
  return success();
}
LogicalResult ShapeOp::unknownRank() { return error() << "rank of result depends on run-time data; " << kDeclareRank; }

FailureOr<int64_t> ShapeOp::axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return error() << "axis " << axis << " is outside the " << rank << " axes of the input";
  return onnx::fromFront(axis, rank);
}

FailureOr<AffineExpr> ShapeOp::same(AffineExpr a, AffineExpr b, const Twine &what) {
  if (!a || !b || a == b)
    return a ? a : b;
  auto ca = known(a), cb = known(b);
  if (ca && cb)
    return error() << what << " " << *ca << " and " << *cb << " differ";
  s.check({op, a, b});
  return cb ? b : a;
}

LogicalResult ShapeOp::isPositive(StringRef attribute) {
  int64_t value = intAttr(attribute);
  return value > 0 ? success() : LogicalResult(error() << attribute << " is " << value << ", it must be positive");
}

LogicalResult ShapeOp::divides(StringRef attribute, AffineExpr size, StringRef what) {
  if (failed(isPositive(attribute)))
    return failure();
  int64_t parts = intAttr(attribute);
  if (auto n = known(size); n && *n % parts)
    return error() << attribute << " " << parts << " does not divide " << what << ", which is " << *n;
  return success();
}

LogicalResult ShapeOp::oneForEach(ArrayRef<unsigned> operands, AffineExpr count, StringRef what, bool batched) {
  auto wanted = known(count);
  for (unsigned i : operands) {
    auto given = in(i) ? s.count(in(i)) : std::nullopt;
    if (!wanted || !given || *given == 1 || *given == *wanted || (batched && *wanted > 0 && *given > 0 && *given % *wanted == 0))
      continue;
    return error() << "input " << i << " has " << *given << " entries, 1 or one for each of the " << *wanted << " " << what << " is needed";
  }
  return success();
}

FailureOr<Dims> ShapeOp::broadcast(DimsRef a, DimsRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Dims result(a);
  for (size_t i = 0; i < b.size(); ++i) {
    AffineExpr &slot = result[a.size() - b.size() + i], other = b[i];
    if (!slot || !other) {
      slot = {};
      continue;
    }
    AffineExpr both = s.broadcast(slot, other);
    if (!both)
      return error() << "shapes " << text(a) << " and " << text(b) << " do not broadcast: " << text(slot) << " and " << text(other);
    auto one = [](AffineExpr e) { return known(e) == 1; };
    if (slot != other && !one(slot) && !one(other))
      s.check({op, slot, other, ShapeCheck::Broadcast});
    slot = both;
  }
  return result;
}
FailureOr<Dims> ShapeOp::broadcastAll(ArrayRef<unsigned> declaredInputs) {
  Dims result;
  for (unsigned i : declaredInputs)
    for (Value v : inputs(i)) {
      auto next = broadcast(result, s.dims(v));
      if (failed(next))
        return failure();
      result = *next;
    }
  return result;
}

std::string ShapeOp::text(DimsRef dims) const {
  std::string result = "[";
  for (auto [i, d] : llvm::enumerate(dims))
    result += (i ? ", " : "") + s.text(d);
  return result + "]";
}

}  // namespace onnxc
