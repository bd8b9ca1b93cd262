// LowerPlan.cpp: plan_run and plan_sizes to the LLVM dialect: direct calls of kernels over buffers, one exit for failures. After scf became
// cf.
#include "codegen/cpu/Code.h"
#include "codegen/cpu/Codegen.h"
#include "dialects/plan/PlanDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AffineExpr.h"
#include "runtime_stub/plan.h"
#include <cstddef>

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kTooLarge = INT64_MAX;

// Byte offsets of onnxc_rt; targets have the host's layout.
enum RtField {
  Weights = offsetof(onnxc_rt, weights),
  Arena = offsetof(onnxc_rt, arena),
  Inputs = offsetof(onnxc_rt, inputs),
  Outputs = offsetof(onnxc_rt, outputs),
  OutputDims = offsetof(onnxc_rt, output_dims),
  Trace = offsetof(onnxc_rt, trace),
  FailedSite = offsetof(onnxc_rt, failed_site),
  Blamed = offsetof(onnxc_rt, blamed)
};

struct PlanLowering {
  ModuleOp module;
  func::FuncOp func;
  OpBuilder b;
  Value rt, symbols, bufs, dims, sizes;
  int64_t mostScratch = 0;  // of a task, in runs that keep to the ranges of sizes
  Block *failure = nullptr;
  int64_t nextSite = -1;  // of the launch behind the op at hand: memory that cannot be had fails in its name
  LLVM::LLVMPointerType ptr;
  IntegerType i32, i64;

  PlanLowering(ModuleOp module, func::FuncOp func)
      : module(module), func(func), b(module.getContext()), ptr(LLVM::LLVMPointerType::get(module.getContext())), i32(b.getI32Type()),
        i64(b.getI64Type()) {}

  Value n64(int64_t v, Location loc) { return LLVM::ConstantOp::create(b, loc, i64, v); }
  Value n32(int64_t v, Location loc) { return LLVM::ConstantOp::create(b, loc, i32, v); }
  Value at(Value base, int64_t bytes, Location loc) {
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
  }
  Value element(Value base, Type type, int64_t index, Location loc) {
    return LLVM::GEPOp::create(b, loc, ptr, type, base, ArrayRef<LLVM::GEPArg>{int32_t(index)});
  }
  Value field(int64_t offset, Location loc) { return LLVM::LoadOp::create(b, loc, ptr, at(rt, offset, loc)); }

  void start() {
    b.setInsertionPointToStart(&func.getBody().front());
    Location loc = func.getLoc();
    rt = func.getArgument(0);
    symbols = func.getArgument(func.getName() == "plan_run" ? 1 : 0);
    if (func.getName() != "plan_run")
      return;
    int64_t most = 1, mostDims = 1, mostSizes = 1;
    func.walk([&](plan::LaunchOp op) {
      most = std::max<int64_t>(most, op.getBuffers().size() + 1), mostDims = std::max<int64_t>(mostDims, op.getDims().size());
    });
    func.walk([&](plan::SizeOp op) {
      most = std::max<int64_t>(most, op.getBuffers().size() + 1), mostDims = std::max<int64_t>(mostDims, op.getDims().size());
      mostSizes = std::max<int64_t>(mostSizes, op.getNumResults());
    });
    bufs = LLVM::AllocaOp::create(b, loc, ptr, ptr, n64(most, loc), 16);
    dims = LLVM::AllocaOp::create(b, loc, ptr, i64, n64(mostDims, loc), 16);
    sizes = LLVM::AllocaOp::create(b, loc, ptr, i64, n64(mostSizes, loc), 16);
    LLVM::StoreOp::create(b, loc, rt, bufs);
    failure = new Block;
    func.getBody().push_back(failure);
    failure->addArguments({i32, i32}, {loc, loc});
    OpBuilder fb = OpBuilder::atBlockBegin(failure);
    Value site = LLVM::GEPOp::create(fb, loc, ptr, fb.getI8Type(), rt, ArrayRef<LLVM::GEPArg>{int32_t(FailedSite)});
    LLVM::StoreOp::create(fb, loc, failure->getArgument(1), site);
    func::ReturnOp::create(fb, loc, ValueRange(failure->getArgument(0)));
  }

  // Leaves for the exit when `status` is not 0, and says so of the numbers `blamed`; goes on in a new block.
  void check(Operation *op, Value status, int64_t site, ValueRange blamed = {}) {
    Location loc = op->getLoc();
    Value ok = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, status, n32(0, loc));
    Value where = n32(site, loc);
    Block *here = op->getBlock(), *next = here->splitBlock(op);
    b.setInsertionPointToEnd(here);
    if (blamed.empty()) {
      cf::CondBranchOp::create(b, loc, ok, next, ValueRange(), failure, ValueRange{status, where});
    } else {
      Block *telling = b.createBlock(failure);
      for (auto [i, v] : llvm::enumerate(blamed))
        LLVM::StoreOp::create(b, loc, v, at(rt, Blamed + 8 * int64_t(i), loc));
      cf::BranchOp::create(b, loc, failure, ValueRange{status, where});
      b.setInsertionPointToEnd(here);
      cf::CondBranchOp::create(b, loc, ok, next, ValueRange(), telling, ValueRange());
    }
    b.setInsertionPoint(op);
  }

  // kTooLarge where the result has no place in 64 bits: memory of so many bytes, or an extent of so many tiles, fails.
  Value orTooLarge(bool isProduct, Value l, Value r, Location loc) {
    auto type = LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, b.getI1Type()});
    Value pair = isProduct ? Value(LLVM::SMulWithOverflowOp::create(b, loc, type, l, r))
                           : Value(LLVM::SAddWithOverflowOp::create(b, loc, type, l, r));
    Value wraps = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{1});
    return LLVM::SelectOp::create(b, loc, wraps, n64(kTooLarge, loc), LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0}));
  }
  Value isTooLarge(Value v, Location loc) { return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, v, n64(kTooLarge, loc)); }

  // Sizes are sums, products and quotients of others.
  void boundArithmetic(Operation *op) {
    Location loc = op->getLoc();
    if (!isa<arith::AddIOp, arith::MulIOp, arith::FloorDivSIOp>(op) || !op->getResult(0).getType().isInteger(64))
      return;
    Value l = op->getOperand(0), r = op->getOperand(1);
    b.setInsertionPointAfter(op);
    if (isa<arith::FloorDivSIOp>(op)) {
      Value quotient = op->getResult(0), bounded = LLVM::SelectOp::create(b, loc, isTooLarge(l, loc), n64(kTooLarge, loc), quotient);
      return quotient.replaceAllUsesExcept(bounded, bounded.getDefiningOp());
    }
    op->getResult(0).replaceAllUsesWith(orTooLarge(isa<arith::MulIOp>(op), l, r, loc));
    op->erase();
  }

  Value expand(AffineExpr e, ValueRange local, Location loc) {
    if (auto c = dyn_cast<AffineConstantExpr>(e))
      return n64(c.getValue(), loc);
    if (auto s = dyn_cast<AffineSymbolExpr>(e))
      return local[s.getPosition()];
    auto binary = cast<AffineBinaryOpExpr>(e);
    Value l = expand(binary.getLHS(), local, loc), r = expand(binary.getRHS(), local, loc);
    switch (e.getKind()) {
    case AffineExprKind::Add:
    case AffineExprKind::Mul:
      return orTooLarge(e.getKind() == AffineExprKind::Mul, l, r, loc);
    case AffineExprKind::Mod:
      return LLVM::SRemOp::create(b, loc, l, r);
    case AffineExprKind::FloorDiv:
      return LLVM::SDivOp::create(b, loc, l, r);
    default:
      return LLVM::SDivOp::create(b, loc, LLVM::SubOp::create(b, loc, LLVM::AddOp::create(b, loc, l, r), n64(1, loc)), r);
    }
  }
  Value attrExpr(kernel::FuncOp kernel, StringRef name, ValueRange local, int64_t otherwise, Location loc) {
    auto map = kernel->getAttrOfType<AffineMapAttr>(name);
    return map ? expand(map.getValue().getResult(0), local, loc) : n64(otherwise, loc);
  }

  void noteScratch(plan::LaunchOp op, kernel::FuncOp kernel) {
    auto map = kernel->getAttrOfType<AffineMapAttr>("scratch");
    DenseI64ArrayAttr sizes = op.getMostAttr();
    if (!map || !sizes)
      return;
    SmallVector<AffineExpr> most;
    for (int64_t size : sizes.asArrayRef())
      most.push_back(getAffineConstantExpr(size, b.getContext()));
    if (auto bytes = dyn_cast_if_present<AffineConstantExpr>(map.getValue().getResult(0).replaceSymbols(most)))
      mostScratch = std::max(mostScratch, bytes.getValue());
  }

  void store(Operation *op, ValueRange buffers, ValueRange local) {
    for (auto [i, v] : llvm::enumerate(buffers))
      LLVM::StoreOp::create(b, op->getLoc(), v, element(bufs, ptr, i + 1, op->getLoc()));
    for (auto [i, v] : llvm::enumerate(local))
      LLVM::StoreOp::create(b, op->getLoc(), v, element(dims, i64, i, op->getLoc()));
  }

  void launch(plan::LaunchOp op) {
    Location loc = op.getLoc();
    auto kernel = module.lookupSymbol<kernel::FuncOp>(op.getKernel());
    store(op, op.getBuffers(), op.getDims());
    noteScratch(op, kernel);
    std::string name = op.getKernel().str();
    Value extent = attrExpr(kernel, "extent", op.getDims(), 1, loc), status;
    Value scratch = attrExpr(kernel, "scratch", op.getDims(), 0, loc);
    if (!extent.getDefiningOp<LLVM::ConstantOp>())
      check(op, LLVM::SelectOp::create(b, loc, isTooLarge(extent, loc), n32(ONNXC_K_SIZE, loc), n32(0, loc)), op.getSite());
    auto grain = kernel->getAttrOfType<IntegerAttr>("grain");
    if (grain || kernel->hasAttr("scratch")) {
      auto parallel = declareFunction(module, "onnxc_rt_parallel", i32, {ptr, ptr, ptr, ptr, i64, i64, i64});
      Value address = LLVM::AddressOfOp::create(b, loc, ptr, codeName(name));
      Value least = grain ? n64(grain.getInt(), loc) : extent;
      status = LLVM::CallOp::create(b, loc, parallel, ValueRange{rt, address, bufs, dims, extent, least, scratch}).getResult();
    } else {
      Value null = LLVM::ZeroOp::create(b, loc, ptr);
      status = LLVM::CallOp::create(b, loc, TypeRange(i32), codeName(name), ValueRange{bufs, dims, null, n64(0, loc), extent}).getResult();
    }
    check(op, status, op.getSite());
    trace(op);
  }
  // kernel.func and its code share a name until the kernel.funcs are erased; code is emitted as "<name>.code" meanwhile.
  static std::string codeName(StringRef kernel) { return (kernel + ".code").str(); }

  void trace(plan::LaunchOp op) {
    Location loc = op.getLoc();
    Value hook = field(Trace, loc);
    Value on = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, hook, LLVM::ZeroOp::create(b, loc, ptr));
    Block *here = op->getBlock(), *next = here->splitBlock(op), *call = new Block;
    func.getBody().getBlocks().insert(Region::iterator(next), call);
    b.setInsertionPointToEnd(here);
    cf::CondBranchOp::create(b, loc, on, call, ValueRange(), next, ValueRange());
    b.setInsertionPointToEnd(call);
    LLVM::CallOp::create(b, loc, declareFunction(module, "onnxc_rt_trace", LLVM::LLVMVoidType::get(b.getContext()), {ptr, i32, ptr, ptr}),
                         ValueRange{rt, n32(op.getSite(), loc), bufs, dims});
    cf::BranchOp::create(b, loc, next);
    b.setInsertionPoint(op);
  }

  void size(plan::SizeOp op) {
    Location loc = op.getLoc();
    store(op, op.getBuffers(), op.getDims());
    std::string name = op.getKernel().str() + ".size";
    declareFunction(module, name, i32, {ptr, ptr, ptr});
    Value status = LLVM::CallOp::create(b, loc, TypeRange(i32), name, ValueRange{bufs, dims, sizes}).getResult();
    check(op, status, op.getSite());
    for (auto [i, r] : llvm::enumerate(op.getResults()))
      r.replaceAllUsesWith(LLVM::LoadOp::create(b, loc, i64, element(sizes, i64, i, loc)));
  }

  Value bytes(plan::BytesOp op) {
    Location loc = op.getLoc();
    Value total = n64(op.getElement(), loc), bad = LLVM::ConstantOp::create(b, loc, b.getI1Type(), 0);
    for (Value v : op.getSizes()) {
      auto pair =
          LLVM::SMulWithOverflowOp::create(b, loc, LLVM::LLVMStructType::getLiteral(b.getContext(), {i64, b.getI1Type()}), total, v);
      total = LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{0});
      bad = LLVM::OrOp::create(b, loc, bad, LLVM::ExtractValueOp::create(b, loc, pair, ArrayRef<int64_t>{1}));
      bad = LLVM::OrOp::create(b, loc, bad, LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, v, n64(0, loc)));
    }
    return LLVM::SelectOp::create(b, loc, bad, n64(-1, loc), total);
  }

  Value isNegative(Value v, Location loc) { return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, v, n64(0, loc)); }

  // What the user is told of `bytes` that are below 0: the least of the sizes.
  SmallVector<Value> blamedOf(Value bytes, Location loc) {
    auto product = bytes.getDefiningOp<plan::BytesOp>();
    if (!product || product.getSizes().empty())
      return {};
    Value least = product.getSizes().front();
    for (Value v : product.getSizes().drop_front())
      least = LLVM::SMinOp::create(b, loc, least, v);
    return {least, n64(0, loc)};
  }

  // Memory from the runtime; its last argument is the size, below 0 where that is none.
  Value memory(Operation *op, StringRef service, ValueRange arguments) {
    Location loc = op->getLoc();
    SmallVector<Type> types(arguments.getTypes());
    Value p = LLVM::CallOp::create(b, loc, declareFunction(module, service, ptr, types), arguments).getResult();
    Value none = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, p, LLVM::ZeroOp::create(b, loc, ptr));
    Value why = LLVM::SelectOp::create(b, loc, isNegative(arguments.back(), loc), n32(ONNXC_K_SIZE, loc), n32(ONNXC_K_MEMORY, loc));
    check(op, LLVM::SelectOp::create(b, loc, none, why, n32(0, loc)), nextSite, blamedOf(arguments.back(), loc));
    return p;
  }

  void checkBytes(Operation *op, Value bytes) {
    Location loc = op->getLoc();
    check(op, LLVM::SelectOp::create(b, loc, isNegative(bytes, loc), n32(ONNXC_K_SIZE, loc), n32(0, loc)), nextSite, blamedOf(bytes, loc));
  }

  Value output(plan::OutputOp op) {
    Location loc = op.getLoc();
    if (!getConstantIntValue(op.getBytes()))
      checkBytes(op, op.getBytes());
    return LLVM::LoadOp::create(b, loc, ptr, element(field(Outputs, loc), ptr, op.getIndex(), loc));
  }

  // Strings hold pointers, so they are data of the code and not of the weights segment. LLVM's own builder makes the table: an insertvalue
  // for every string would take the square of their number.
  Value strings(plan::WeightOp op, DenseStringElementsAttr value) {
    Location loc = op.getLoc();
    OpBuilder mb = OpBuilder::atBlockEnd(module.getBody());
    std::string name = "onnxc.strings." + std::to_string(std::distance(module.getBody()->begin(), module.getBody()->end()));
    auto table = LLVM::GlobalOp::create(mb, loc, ptr, true, LLVM::Linkage::External, name, Attribute());
    table->setAttr(kStringsAttr, value);
    return LLVM::AddressOfOp::create(b, loc, table);
  }

  Value integer(Value buffer, int64_t index, Type type, Location loc) {
    auto t = cast<IntegerType>(type);
    unsigned width = std::max(8u, t.getWidth());
    Type memory = b.getIntegerType(width);
    Value v = LLVM::LoadOp::create(b, loc, memory, element(buffer, memory, index, loc));
    if (width == 64)
      return v;
    return t.isUnsigned() || t.getWidth() == 1 ? Value(LLVM::ZExtOp::create(b, loc, i64, v)) : Value(LLVM::SExtOp::create(b, loc, i64, v));
  }

  // Null: the op has no result.
  Value lower(Operation *op) {
    Location loc = op->getLoc();
    if (auto o = dyn_cast<plan::InputOp>(op))
      return LLVM::LoadOp::create(b, loc, ptr, element(field(Inputs, loc), ptr, o.getIndex(), loc));
    if (auto o = dyn_cast<plan::OutputOp>(op))
      return output(o);
    if (auto o = dyn_cast<plan::WeightOp>(op)) {
      if (auto s = dyn_cast<DenseStringElementsAttr>(o.getValue()))
        return strings(o, s);
      return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), field(Weights, loc), ArrayRef<LLVM::GEPArg>{n64(o.getOffset(), loc)});
    }
    if (auto o = dyn_cast<plan::SymbolOp>(op))
      return LLVM::LoadOp::create(b, loc, i64, element(symbols, i64, o.getIndex(), loc));
    if (auto o = dyn_cast<plan::LoadOp>(op))
      return integer(o.getBuffer(), o.getIndex(), o.getType(), loc);
    if (auto o = dyn_cast<plan::ScalarOp>(op))
      return integer(o.getBuffer(), 0, o.getType(), loc);
    if (auto o = dyn_cast<plan::BytesOp>(op))
      return bytes(o);
    if (auto o = dyn_cast<plan::HeapOp>(op))
      return memory(op, "onnxc_rt_heap", {rt, o.getBytes()});
    if (auto o = dyn_cast<plan::PlaceOp>(op)) {
      checkBytes(op, o.getBytes());
      return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), o.getMemory(), ArrayRef<LLVM::GEPArg>{o.getAt()});
    }
    if (auto o = dyn_cast<plan::OffsetOp>(op))
      return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), o.getBuffer(), ArrayRef<LLVM::GEPArg>{o.getBytes()});
    if (auto o = dyn_cast<plan::AllocOp>(op)) {
      if (int64_t(o.getSlot()) >= 0)
        return memory(op, "onnxc_rt_slot", {rt, n64(o.getSlot(), loc), o.getBytes()});
      return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), field(Arena, loc), ArrayRef<LLVM::GEPArg>{n64(o.getOffset(), loc)});
    }
    if (auto o = dyn_cast<plan::CopyOp>(op))
      LLVM::MemmoveOp::create(b, loc, o.getTo(), o.getFrom(), o.getBytes(), false);
    if (auto o = dyn_cast<plan::StoreOp>(op))
      LLVM::StoreOp::create(b, loc, o.getValue(), element(o.getBuffer(), o.getValue().getType(), o.getIndex(), loc));
    if (auto o = dyn_cast<plan::LaunchOp>(op))
      launch(o);
    if (auto o = dyn_cast<plan::SizeOp>(op))
      size(o);
    if (auto o = dyn_cast<plan::CheckOp>(op))
      check(op, LLVM::SelectOp::create(b, loc, o.getHolds(), n32(0, loc), n32(o.getCode(), loc)), o.getSite(), o.getBlamed());
    if (auto o = dyn_cast<plan::SetOutputOp>(op)) {
      LLVM::StoreOp::create(b, loc, o.getBuffer(), element(field(Outputs, loc), ptr, o.getIndex(), loc));
      Value shape = LLVM::LoadOp::create(b, loc, ptr, element(field(OutputDims, loc), ptr, o.getIndex(), loc));
      for (auto [i, v] : llvm::enumerate(o.getDims()))
        LLVM::StoreOp::create(b, loc, v, element(shape, i64, i, loc));
    }
    return Value();
  }

  void run() {
    SmallVector<Operation *> ops, arithmetic;
    func.walk([&](Operation *op) { (isa<plan::PlanDialect>(op->getDialect()) ? ops : arithmetic).push_back(op); });
    for (Operation *op : arithmetic)
      boundArithmetic(op);
    start();
    // From the last to the first: a check splits its block, and what is behind it moves only once.
    for (Operation *op : llvm::reverse(ops)) {
      if (auto site = op->getAttrOfType<IntegerAttr>("site"))
        nextSite = site.getInt();
      b.setInsertionPoint(op);
      if (Value v = lower(op))
        op->getResult(0).replaceAllUsesWith(v);
      op->erase();
    }
  }
};
}  // namespace

LogicalResult lowerPlan(ModuleOp target) {
  PlanLowering run(target, target.lookupSymbol<func::FuncOp>("plan_run"));
  run.run();
  target->setAttr("onnxc.scratch", OpBuilder(target).getI64IntegerAttr(run.mostScratch));
  PlanLowering(target, target.lookupSymbol<func::FuncOp>("plan_sizes")).run();
  return success();
}

}  // namespace onnxc
