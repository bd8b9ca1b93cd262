// SymbolicShapes.cpp: what is known of each value, the walk over a function, and the refinement of its types.
#include "passes/graph/SymbolicShapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kMaxElements = 1024;
static constexpr int64_t kMaxLoads = 16;

ArrayRef<AffineExpr> SymbolicShapes::dims(Value v) const {
  auto it = shapes.find(v);
  assert(it != shapes.end() && "value without a rank");
  return it->second;
}
ArrayRef<AffineExpr> SymbolicShapes::partialElements(Value v) const {
  auto it = values.find(v);
  return it == values.end() ? ArrayRef<AffineExpr>() : ArrayRef<AffineExpr>(it->second);
}
std::optional<ArrayRef<AffineExpr>> SymbolicShapes::elements(Value v) const {
  auto it = values.find(v);
  if (it == values.end() || llvm::is_contained(it->second, AffineExpr()))
    return std::nullopt;
  return ArrayRef<AffineExpr>(it->second);
}
std::optional<SmallVector<int64_t>> SymbolicShapes::constantElements(Value v) const {
  auto known = elements(v);
  if (!known)
    return std::nullopt;
  SmallVector<int64_t> result;
  for (AffineExpr e : *known) {
    auto c = constantOf(e);
    if (!c)
      return std::nullopt;
    result.push_back(*c);
  }
  return result;
}
ArrayRef<RealValue> SymbolicShapes::realElements(Value v) const {
  auto it = reals.find(v);
  return it == reals.end() ? ArrayRef<RealValue>() : ArrayRef<RealValue>(it->second);
}
const ItemShape *SymbolicShapes::items(Value v) const {
  auto it = sequences.find(v);
  return it == sequences.end() ? nullptr : &it->second;
}
std::optional<int64_t> SymbolicShapes::count(Value v) const {
  auto it = shapes.find(v);
  if (it == shapes.end())
    return std::nullopt;
  int64_t n = 1;
  for (AffineExpr d : it->second) {
    auto c = constantOf(d);
    if (!c || *c < 0 || llvm::MulOverflow(n, *c, n))
      return std::nullopt;
  }
  return n;
}
// The arguments may point into the maps that grow here: copied first.
void SymbolicShapes::setDims(Value v, ArrayRef<AffineExpr> dims) {
  SmallVector<AffineExpr> copy(dims);
  for (AffineExpr d : copy)
    assumeSize(d);
  shapes[v] = std::move(copy);
}
void SymbolicShapes::setElements(Value v, ArrayRef<AffineExpr> elements) {
  SmallVector<AffineExpr> copy(elements);
  if (int64_t(elements.size()) <= kMaxElements && llvm::any_of(elements, [](AffineExpr e) { return bool(e); }))
    values[v] = std::move(copy);
  else if (elements.empty() && count(v) == 0)
    values[v].clear();
  else
    values.erase(v);
}
void SymbolicShapes::forget(Value v) {
  shapes.erase(v);
  values.erase(v);
  reals.erase(v);
  sequences.erase(v);
}
ArrayRef<ShapeCheck> SymbolicShapes::checks(Operation *op) const {
  auto it = runtimeChecks.find(op);
  return it == runtimeChecks.end() ? ArrayRef<ShapeCheck>() : ArrayRef<ShapeCheck>(it->second);
}

std::optional<bool> SymbolicShapes::takenBranch(Operation *op) const {
  if (auto it = assumed.find(op); it != assumed.end())
    return it->second;
  auto condition = constantElements(op->getOperand(0));
  return condition && !condition->empty() ? std::optional<bool>(condition->front() != 0) : std::nullopt;
}

// --- evaluation ---

// A value of which no rank is known while ranks are in doubt, or after an error, follows from what is.
bool ShapeEvaluator::inDoubt(ValueRange values) {
  auto unknown = [&](Value v) { return llvm::isa<TensorType>(v.getType()) ? !s.hasRank(v) : !s.items(v); };
  return (hasErrors || !doubts.empty()) && llvm::any_of(values, unknown);
}

// Goes on after an op that is wrong, so that all are reported.
LogicalResult ShapeEvaluator::evaluate(Block &block) {
  bool ok = true;
  for (Operation &op : block) {
    if (succeeded(evaluate(&op)))
      continue;
    ok = false;
    hasErrors = true;
    for (Value result : op.getResults())
      s.forget(result);
  }
  return success(ok);
}

LogicalResult ShapeEvaluator::setArgument(BlockArgument arg, ArrayAttr names, DenseI64ArrayAttr ranges, SymbolDef::Kind kind) {
  auto type = llvm::dyn_cast<RankedTensorType>(arg.getType());
  if (!type) {
    if (llvm::isa<UnrankedTensorType>(arg.getType()))
      return emitError(arg.getLoc(), "the model gives input ")
             << arg.getArgNumber() << " no shape, and what reads it needs its rank; give it one (sizes may be names)";
    return success();
  }
  auto local = llvm::dyn_cast_if_present<ArrayAttr>(type.getEncoding());
  Dims dims;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d)) {
      dims.push_back(s.constant(type.getDimSize(d)));
      continue;
    }
    std::string name = local ? "local" + std::to_string(-llvm::cast<IntegerAttr>(local[d]).getInt() - 1) : "";
    if (names && d < int64_t(names.size()))
      if (auto text = llvm::dyn_cast<StringAttr>(names[d]))
        name = text.str();
    SymbolDef def{kind, name, arg, d, {}, {}};
    if (ranges)
      def.least = ranges[3 * d], def.expected = ranges[3 * d + 1], def.most = ranges[3 * d + 2];
    dims.push_back(s.symbol(def));
  }
  s.setDims(arg, dims);
  return success();
}

// Elements of small run-time integer tensors are symbols, so that equal sizes made from them are seen to be equal.
void loadSmallIntegers(SymbolicShapes &s, Value v) {
  auto type = llvm::dyn_cast_if_present<IntegerType>(onnx::elementType(v));
  if (!type || !type.isSignless() || type.getWidth() < 32 || !s.hasRank(v) || s.dims(v).size() > 1)
    return;
  auto n = s.count(v);
  if (!n || *n > kMaxLoads || *n == 0)
    return;
  Dims known(s.partialElements(v));
  known.resize(*n);
  for (int64_t i = 0; i < *n; ++i)
    if (!known[i])
      known[i] = s.symbol({SymbolDef::Load, "", v, i, {}, {}});
  s.setElements(v, known);
}

static LogicalResult operandsHaveRanks(SymbolicShapes &s, Operation *op) {
  for (auto [i, v] : llvm::enumerate(op->getOperands()))
    if (llvm::isa<TensorType>(v.getType()) && !s.hasRank(v))
      return onnx::emitNodeError(op) << "rank of operand " << i << " depends on run-time data; " << kDeclareRank;
  return success();
}

// Ops without a rule keep what their types say.
static LogicalResult evaluateByType(SymbolicShapes &s, Operation *op) {
  for (Value result : op->getResults()) {
    auto type = llvm::dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    Dims dims;
    for (int64_t d = 0; d < type.getRank(); ++d)
      dims.push_back(type.isDynamicDim(d) ? s.symbol({SymbolDef::SizeOf, "", result, d, {}, {}}) : s.constant(type.getDimSize(d)));
    s.setDims(result, dims);
  }
  return success();
}

// Kernels count elements in 64 bits, also those of values that are never in memory as a whole.
static LogicalResult fitsAddresses(SymbolicShapes &s, Operation *op, Value result) {
  constexpr int64_t kAddresses = int64_t(1) << 48;
  int64_t count = 1;
  bool isEmpty = false, isTooLarge = false;
  for (AffineExpr size : s.hasRank(result) ? s.dims(result) : ArrayRef<AffineExpr>()) {
    int64_t n = known(size).value_or(1);
    isEmpty |= n == 0;
    isTooLarge |= llvm::MulOverflow(count, n, count) || count > kAddresses;
  }
  if (isTooLarge && !isEmpty)
    return onnx::emitNodeError(op) << "result " << llvm::cast<OpResult>(result).getResultNumber()
                                   << " has more than 2^48 elements, which no memory holds";
  return success();
}

LogicalResult ShapeEvaluator::evaluate(Operation *op) {
  for (Value result : op->getResults())
    s.forget(result);
  s.dropChecks(op);
  StringRef name = onnx::isOnnx(op) ? onnx::opName(op) : op->getName().getStringRef();
  if (inDoubt(op->getOperands()))
    return success();
  if (name == "If")
    return evaluateIf(op);
  if (failed(operandsHaveRanks(s, op)))
    return failure();
  if (name == "Loop")
    return evaluateLoop(op);
  if (name == "Scan")
    return evaluateScan(op);
  if (name == "SequenceMap")
    return evaluateSequenceMap(op);
  auto rule = shapeRules().find(name);
  if (rule == shapeRules().end() || (onnx::isOnnx(op) && !onnx::opInfo(op)))
    return evaluateByType(s, op);
  ShapeOp context(s, op);
  if (failed(context.checkNumbers(name)) || failed(rule->second(context)))
    return failure();
  for (Value result : op->getResults()) {
    if (llvm::isa<TensorType>(result.getType()) && !s.hasRank(result) && failed(context.setValueFromType(result)))
      return failure();
    if (failed(fitsAddresses(s, op, result)))
      return failure();
    loadSmallIntegers(s, result);
  }
  return success();
}

// --- types ---

static Type refined(const SymbolicShapes &s, Value v) {
  Type type = v.getType();
  if (auto tensor = llvm::dyn_cast<TensorType>(type)) {
    auto ranked = llvm::dyn_cast<RankedTensorType>(type);
    if (!s.hasRank(v) || (ranked && ranked.getEncoding()))
      return type;
    return SymbolicArithmetic::tensorType(s.dims(v), tensor.getElementType());
  }
  const ItemShape *items = s.items(v);
  auto sequence = llvm::dyn_cast<onnx::SeqType>(type);
  auto optional = llvm::dyn_cast<onnx::OptType>(type);
  Type element = sequence ? sequence.getElement() : optional ? optional.getElement() : Type();
  auto tensor = llvm::dyn_cast_if_present<TensorType>(element);
  if (!items || items->empty || !tensor)
    return type;
  element = SymbolicArithmetic::tensorType(items->dims, tensor.getElementType());
  return sequence ? Type(onnx::SeqType::get(type.getContext(), element)) : Type(onnx::OptType::get(type.getContext(), element));
}

static void refineTypes(const SymbolicShapes &s, Operation *root) {
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(refined(s, result));
    if (op == root)
      return;
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        arg.setType(refined(s, arg));
  });
  auto function = llvm::dyn_cast<func::FuncOp>(root);
  if (!function || function.isExternal())
    return;
  Operation *terminator = function.getBody().front().getTerminator();
  function.setFunctionType(FunctionType::get(root->getContext(), function.getArgumentTypes(), terminator->getOperandTypes()));
}

FailureOr<SymbolicShapes> SymbolicShapes::compute(Operation *root, RankDoubts *doubts) {
  SymbolicShapes s(root->getContext());
  ShapeEvaluator evaluator(s);
  auto function = llvm::dyn_cast<FunctionOpInterface>(root);
  for (Region &region : root->getRegions())
    for (Block &block : region) {
      for (BlockArgument arg : block.getArguments()) {
        auto names = function ? function.getArgAttrOfType<ArrayAttr>(arg.getArgNumber(), "onnx.dims") : ArrayAttr();
        auto ranges = function ? function.getArgAttrOfType<DenseI64ArrayAttr>(arg.getArgNumber(), "onnx.ranges") : DenseI64ArrayAttr();
        if (failed(evaluator.setArgument(arg, names, ranges, SymbolDef::Input)))
          return failure();
        loadSmallIntegers(s, arg);
      }
      if (failed(evaluator.evaluate(block)))
        return failure();
    }
  if (!evaluator.doubts.empty()) {
    if (doubts)
      *doubts = std::move(evaluator.doubts);
    else if (!evaluator.doubts.impossible.empty())
      evaluator.doubts.impossible.front().emit();
    else if (!evaluator.doubts.mixed.empty())
      evaluator.doubts.mixed.front().emit();
    else
      evaluator.doubts.carried.front().emit();
    return failure();
  }
  refineTypes(s, root);
  return s;
}

}  // namespace onnxc
