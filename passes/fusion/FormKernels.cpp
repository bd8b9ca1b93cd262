// FormKernels.cpp: the graph's function becomes kernels, plan_run and plan_sizes. After the graph passes, before PlanMemory.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/ML.h"
#include "passes/fusion/Passes.h"
#include "passes/fusion/PlanBuilder.h"
#include "llvm/ADT/StringSet.h"

namespace onnxc {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/fusion/Passes.h.inc"

using namespace mlir;

// A result whose size is known at entry is computed straight into the caller's buffer, through views too.
void PlanBuilder::chooseOutputs(Operation *terminator) {
  for (OpOperand &use : terminator->getOpOperands()) {
    Value v = use.get();
    auto tensor = dyn_cast<TensorType>(v.getType());
    if (!tensor || !llvm::all_of(shapes.dims(v), [&](AffineExpr e) { return knownAtEntry(e); }))
      continue;
    while (Operation *op = v.getDefiningOp()) {
      if (loweringOf(op) != Lowering::View)
        break;
      v = op->getOperand(0);
    }
    Operation *op = v.getDefiningOp();
    bool computed = op && !onnx::constantValue(v) && loweringOf(op) != Lowering::Control;
    if (computed && !outputOf.count(v))
      outputOf[v] = use.getOperandNumber();
  }
}

void PlanBuilder::finishOutputs(Operation *terminator) {
  for (OpOperand &use : terminator->getOpOperands()) {
    Value v = use.get();
    Location loc = terminator->getLoc();
    Value buffer = bufferOf(v);
    bool known = isa<TensorType>(v.getType()) && llvm::all_of(shapes.dims(v), [&](AffineExpr e) { return knownAtEntry(e); });
    auto placed = buffer.getDefiningOp<plan::OutputOp>();
    if (known && !(placed && placed.getIndex() == use.getOperandNumber())) {
      Value bytes = bytesOf(v, loc), to = plan::OutputOp::create(b, loc, pointer(), bytes, use.getOperandNumber());
      plan::CopyOp::create(b, loc, to, buffer, bytes);
      buffer = to;
    }
    plan::SetOutputOp::create(b, loc, buffer, sizes(v, loc), use.getOperandNumber());
  }
}

// plan_sizes(symbols, output dims) stores what is known at entry, INT64_MIN elsewhere.
void PlanBuilder::buildSizes(func::FuncOp graph) {
  Location loc = graph.getLoc();
  b.setInsertionPointToEnd(module.getBody());
  auto func = func::FuncOp::create(b, loc, "plan_sizes", b.getFunctionType({pointer(), pointer()}, {b.getI64Type()}));
  b.setInsertionPointToStart(func.addEntryBlock());
  scopes.clear();
  scopes.emplace_back();
  int64_t index = 0;
  for (Value v : graph.getBody().front().getTerminator()->getOperands()) {
    if (!isa<TensorType>(v.getType()))
      continue;
    ArrayRef<AffineExpr> dims = shapes.dims(v);
    bool known = llvm::all_of(dims, [&](AffineExpr e) { return knownAtEntry(e); });
    for (AffineExpr e : dims)
      plan::StoreOp::create(b, loc, known ? size(e, loc) : constant(INT64_MIN, loc), func.getArgument(1), index++);
  }
  func::ReturnOp::create(b, loc, ValueRange(constant(0, loc)));  // PlanMemory puts the arena's size here
}

// `onnxc.inputs` and `onnxc.outputs`: {name, type, dims, default, like, most} for each value of the interface, as onnxc_io in
// runtime_stub/plan.h wants it; `keys` of maps where constants are all of them.
void PlanBuilder::describeInterface(func::FuncOp graph) {
  auto describe = [&](Value v, DictionaryAttr attrs, bool isResult) -> Attribute {
    SmallVector<int64_t> dims;
    if (isa<TensorType>(v.getType()))
      for (AffineExpr e : shapes.dims(v)) {
        auto c = dyn_cast<AffineConstantExpr>(e);
        auto s = dyn_cast<AffineSymbolExpr>(e);
        bool entry = s && shapes.symbols()[s.getPosition()].kind == SymbolDef::Input;
        dims.push_back(c       ? c.getValue()
                       : entry ? -int64_t(entrySymbols.insert({s.getPosition(), entrySymbols.size()}).first->second) - 1
                               : INT64_MIN);
      }
    Attribute name = attrs ? attrs.get("onnx.name") : Attribute();
    NamedAttrList result;
    result.set("name", name ? name : b.getStringAttr(""));
    result.set("type", TypeAttr::get(v.getType()));
    result.set("dims", b.getDenseI64ArrayAttr(dims));
    for (StringRef extra : {"default", "like"})
      if (Attribute value = attrs ? attrs.get(("onnx." + extra).str()) : Attribute())
        result.set(extra, value);
    if (auto zip = v.getDefiningOp<onnx::MLZipMapOp>()) {
      bool words = zip.getClasslabelsStrings() && !zip.getClasslabelsStrings()->empty();
      result.set("keys", words ? Attribute(zip.getClasslabelsStringsAttr()) : Attribute(zip.getClasslabelsInt64sAttr()));
    }
    bool known = isResult && isa<TensorType>(v.getType()) && llvm::all_of(shapes.dims(v), [&](AffineExpr e) { return knownAtEntry(e); });
    if (int64_t most = known ? mostBytes(v) : -1; most >= 0)
      result.set("most", b.getI64IntegerAttr(most));
    return result.getDictionary(b.getContext());
  };
  SmallVector<Attribute> inputs, outputs;
  for (auto [i, arg] : llvm::enumerate(graph.getArguments()))
    inputs.push_back(describe(arg, graph.getArgAttrDict(i), false));
  for (auto [i, v] : llvm::enumerate(graph.getBody().front().getTerminator()->getOperands()))
    outputs.push_back(describe(v, graph.getResultAttrDict(i), true));
  module->setAttr("onnxc.inputs", b.getArrayAttr(inputs));
  module->setAttr("onnxc.outputs", b.getArrayAttr(outputs));
  describeSymbols();
  module->setAttr("onnxc.sites", b.getArrayAttr(sites));
}

// `onnxc.symbols`: names; `onnxc.ranges`: least, expected and greatest size of each, where one has a range.
void PlanBuilder::describeSymbols() {
  SmallVector<Attribute> names;
  SmallVector<int64_t> ranges;
  bool hasRange = false;
  for (auto [symbol, position] : entrySymbols) {
    const SymbolDef &def = shapes.symbols()[symbol];
    names.push_back(b.getStringAttr(def.name));
    ranges.append({def.least, def.expected, def.most});
    hasRange |= def.least > 0 || def.expected >= 0 || def.most < INT64_MAX;
  }
  module->setAttr("onnxc.symbols", b.getArrayAttr(names));
  if (hasRange)
    module->setAttr("onnxc.ranges", b.getDenseI64ArrayAttr(ranges));
}

LogicalResult PlanBuilder::build(func::FuncOp graph) {
  Location loc = graph.getLoc();
  Block &body = graph.getBody().front();
  b.setInsertionPointToEnd(module.getBody());
  auto func = func::FuncOp::create(b, loc, "plan_run", b.getFunctionType({pointer(), pointer()}, {b.getI32Type()}));
  b.setInsertionPointToStart(func.addEntryBlock());
  scopes.clear();
  scopes.emplace_back();
  for (BlockArgument arg : graph.getArguments()) {
    buffers[arg] = plan::InputOp::create(b, arg.getLoc(), pointer(), arg.getArgNumber());
    if (isa<TensorType>(arg.getType()))
      sizes(arg, arg.getLoc());  // entry symbols take their positions from the inputs' order
  }
  chooseOutputs(body.getTerminator());
  if (failed(buildBlock(body)))
    return failure();
  finishOutputs(body.getTerminator());
  func::ReturnOp::create(b, loc, ValueRange(arith::ConstantIntOp::create(b, loc, 0, 32)));
  buildSizes(graph);
  describeInterface(graph);
  graph.erase();
  return success();
}

// Whether all that reads `v`, or a view of it, are products: what is subnormal changes their sums by nothing that these keep.
static bool isFactor(Value v) {
  static const llvm::StringSet<> products = {"MatMul", "Gemm", "Conv", "packed.MatMul", "packed.Product", "packed.Conv"};
  return !v.use_empty() && llvm::all_of(v.getUsers(), [](Operation *user) {
    return products.contains(onnx::opName(user)) || (loweringOf(user) == Lowering::View && isFactor(user->getResult(0)));
  });
}

namespace {
struct FormKernels : impl::FormKernelsBase<FormKernels> {
  using FormKernelsBase::FormKernelsBase;
  void runOnOperation() override {
    auto graph = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!graph)
      return;
    if (fast)
      graph.walk([](onnx::ExpOp exp) {
        if (onnx::elementType(exp).isF32() && isFactor(exp))
          exp->setAttr(onnx::kFlushAttr, UnitAttr::get(exp.getContext()));
      });
    FailureOr<SymbolicShapes> shapes = SymbolicShapes::compute(graph);
    if (failed(shapes) || failed(PlanBuilder(getOperation(), *shapes, fast, alone).build(graph)))
      signalPassFailure();
  }
};
}  // namespace
}  // namespace onnxc
