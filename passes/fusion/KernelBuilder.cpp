// KernelBuilder.cpp: closed kernels out of groups of onnx ops. Equal bodies give one kernel.
#include "mlir/IR/IRMapping.h"
#include "passes/fusion/PackForest.h"
#include "passes/fusion/PackKeys.h"
#include "passes/fusion/PackPool.h"
#include "passes/fusion/PackVectors.h"
#include "passes/fusion/PlanBuilder.h"
#include "llvm/Support/MD5.h"

using namespace mlir;
namespace onnxc {

// The type of `v` inside a kernel: dynamic dims become local dims, equal expressions the same one.
Type PlanBuilder::localType(Value v, KernelCall &call) {
  auto tensor = dyn_cast<TensorType>(v.getType());
  if (!tensor || !shapes.hasRank(v))
    return v.getType();
  SmallVector<int64_t> dims;
  for (AffineExpr e : shapes.dims(v)) {
    if (auto c = dyn_cast<AffineConstantExpr>(e)) {
      dims.push_back(c.getValue());
      continue;
    }
    auto it = llvm::find(call.dims, e);
    if (it == call.dims.end())
      it = call.dims.insert(call.dims.end(), e);
    dims.push_back(-(it - call.dims.begin()) - 1);
  }
  return kernel::withLocalDims(tensor.getElementType(), dims);
}

// Scalars and splats stay in the code.
static bool isImmediate(Value v) {
  ElementsAttr value = onnx::constantValue(v);
  return value && value.getElementType().isIntOrFloat() &&
         (value.getNumElements() == 1 || (isa<DenseElementsAttr>(value) && value.isSplat()));
}

// Axes choose code, too.
static bool isAxes(Operation *op, Value v) { return onnx::opName(op).starts_with("Reduce") && v != op->getOperand(0); }

static std::string bodyText(kernel::FuncOp func) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Type t : func.getArgumentTypes())
    os << t << ",";
  for (Operation &op : func.getBody().front())
    op.print(os, OpPrintingFlags().printGenericOpForm().useLocalScope().assumeVerified()), os << "\n";
  return os.str();
}

static std::string kernelName(ArrayRef<Operation *> group, StringRef text) {
  std::string name;
  for (Operation *op : group.take_front(3)) {
    if (!name.empty())
      name += "_";
    for (char c : onnx::opName(op).lower())
      name += llvm::isAlnum(c) ? c : '_';
  }
  if (auto t = dyn_cast<TensorType>(group.back()->getResultTypes().empty() ? Type() : group.back()->getResult(0).getType()))
    if (t.getElementType().isIntOrFloat()) {
      llvm::raw_string_ostream os(name);
      os << "_" << t.getElementType();
    }
  llvm::MD5::MD5Result hash = llvm::MD5::hash(ArrayRef<uint8_t>(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  return name + "_" + hash.digest().str().substr(0, 8).str();
}

// What the group takes and gives. A library kernel takes every operand of its op in its place; others take each value once, and none that
// stays in the code.
static void findInterface(ArrayRef<Operation *> group, StringRef family, KernelCall &call) {
  DenseSet<Operation *> inside(group.begin(), group.end());
  bool isLibrary = family == "library";
  for (Operation *op : group)
    for (Value v : op->getOperands()) {
      bool isWeight = family == "contract" && loweringOf(op) == Lowering::Contract;  // read by address
      bool isLocal = inside.contains(v.getDefiningOp()) || (!isLibrary && !isWeight && (isImmediate(v) || isAxes(op, v)));
      if (!isLocal && (isLibrary || !llvm::is_contained(call.inputs, v)))
        call.inputs.push_back(v);
    }
  for (Operation *op : group)
    for (Value v : op->getResults())
      if (op == group.back() || llvm::any_of(v.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        call.results.push_back(v);
}

// Whether what the fast kernel of `copy` reads instead of some attributes is there now.
static bool packAttributes(Operation *copy) {
  StringRef name = onnx::opName(copy);
  return name.starts_with("ml.TreeEnsemble") ? packForest(copy) : name.starts_with("ml.SVM") ? packVectors(copy) : true;
}

// Marks `copy`, the body of a library kernel for `op`, where a faster kernel than the plain one computes it; some want tables packed.
void PlanBuilder::chooseLibraryKernel(Operation *op, Operation *copy) {
  if (!fast)
    return;
  if (hasFastKernel(op) && packAttributes(copy))
    copy->setAttr("fast", b.getUnitAttr());
  if (onnx::opName(op) == "TfIdfVectorizer")
    packPool(copy);
  packKeys(copy);
}

// The group as the body of `call.func`, whose arguments are the call's inputs.
void PlanBuilder::writeBody(ArrayRef<Operation *> group, KernelCall &call) {
  Block &body = call.func.getBody().front();
  OpBuilder kb = OpBuilder::atBlockEnd(&body);
  bool isLibrary = call.func.getFamily() == "library";
  IRMapping map;
  for (auto [v, arg] : llvm::zip(call.inputs, body.getArguments()))
    map.map(v, arg);
  for (Operation *op : group) {
    SmallVector<Value> operands(body.args_begin(), body.args_end());
    if (!isLibrary)
      operands = llvm::map_to_vector(op->getOperands(), [&](Value v) {
        if (!map.contains(v))
          map.map(v, kb.clone(*v.getDefiningOp())->getResult(0));
        return map.lookup(v);
      });
    Operation *copy = op->cloneWithoutRegions();
    kb.insert(copy);
    copy->setOperands(operands);
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
      to.setType(localType(from, call));
      map.map(from, to);
    }
    if (isLibrary)
      chooseLibraryKernel(op, copy);
  }
  Location loc = call.func.getLoc();
  for (Operation &op : body)
    op.setLoc(loc);  // equal kernels of different nodes are one
  kernel::ReturnOp::create(kb, loc, llvm::map_to_vector(call.results, [&](Value v) { return map.lookup(v); }));
}

KernelCall PlanBuilder::makeKernel(ArrayRef<Operation *> group, StringRef family) {
  KernelCall call;
  findInterface(group, family, call);
  SmallVector<Type> in, out;
  for (Value v : call.inputs)
    in.push_back(localType(v, call));
  for (Value v : call.results)
    out.push_back(localType(v, call));
  OpBuilder detached(b.getContext());  // an equal kernel may be in the module already
  call.func = kernel::FuncOp::create(detached, detached.getUnknownLoc(), "pending", b.getFunctionType(in, out), family, 0);
  writeBody(group, call);
  call.func->setAttr("num_dims", b.getI64IntegerAttr(call.dims.size()));

  std::string text = bodyText(call.func);
  auto [it, isNew] = kernels.try_emplace(text, call.func);
  if (isNew) {
    call.func.setName(kernelName(group, text));
    module.push_back(call.func);
  } else {
    call.func.erase();
    call.func = it->second;
  }
  return call;
}

}  // namespace onnxc
