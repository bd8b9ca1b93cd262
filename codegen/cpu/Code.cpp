// Code.cpp: what Code.h does not define in place.
#include "codegen/cpu/Contract.h"
#include "codegen/cpu/Loops.h"
#include "dialects/onnx/OnnxBase.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
namespace onnxc {

Code::Code(MLIRContext *context, Location loc)
    : b(context), loc(loc), i1(b.getI1Type()), i32(b.getI32Type()), i64(b.getI64Type()), f32(b.getF32Type()),
      ptr(LLVM::LLVMPointerType::get(context)) {}

Value Code::product(ValueRange factors) {
  Value p = n(1);
  for (Value f : factors)
    p = mul(p, f);
  return p;
}

std::optional<int64_t> Code::constant(Value v) {
  APInt value;
  return matchPattern(v, m_ConstantInt(&value)) ? std::optional<int64_t>(value.getSExtValue()) : std::nullopt;
}

Value Code::integer(int64_t v, Type type) {
  return integer(APInt(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), v, /*isSigned=*/true, /*implicitTrunc=*/true), type);
}

Value Code::integer(const APInt &v, Type type) {
  IntegerAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), v);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, attr));
  return arith::ConstantOp::create(b, loc, attr);
}

Value Code::real(double v, Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, b.getFloatAttr(vector.getElementType(), v)));
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, v));
}

Value Code::at(Value base, Value bytes) {
  if (auto c = constant(bytes))
    return at(base, *c);
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
}

Value Code::at(Value base, int64_t bytes) {
  if (bytes == 0)
    return base;
  if (!llvm::isInt<31>(bytes))
    return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{n(bytes)});
  return LLVM::GEPOp::create(b, loc, ptr, b.getI8Type(), base, ArrayRef<LLVM::GEPArg>{int32_t(bytes)});
}

Value Code::lanesBelow(Value count, int64_t lanes) {
  SmallVector<int32_t> order(lanes);
  for (int64_t i = 0; i < lanes; ++i)
    order[i] = i;
  Value step = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vec(i32, lanes), ArrayRef<int32_t>(order)));
  Value limit = splat(arith::TruncIOp::create(b, loc, i32, min(count, n(lanes))), lanes);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, step, limit);
}

Value Code::loadMasked(VectorType type, Value address, Value mask, unsigned align) {
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  return LLVM::MaskedLoadOp::create(b, loc, type, address, mask, zero, align);
}

void Code::storeMasked(Value v, Value address, Value mask, unsigned align) { LLVM::MaskedStoreOp::create(b, loc, v, address, mask, align); }

void Code::loop(Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return Values();
  });
}

Code::Values Code::loop(Value from, Value to, Value step, ValueRange start, llvm::function_ref<Values(Value, ValueRange)> body) {
  auto lo = constant(from), hi = constant(to), by = constant(step);
  if (lo && hi && by && *lo < *hi && *lo + *by >= *hi)
    return body(from, start);
  auto op = scf::ForOp::create(b, loc, from, to, step, start);
  OpBuilder::InsertionGuard guard(b);
  if (start.empty())
    b.setInsertionPoint(op.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(op.getBody());
  Values next = body(op.getInductionVar(), op.getRegionIterArgs());
  if (!start.empty())
    scf::YieldOp::create(b, loc, next);
  return Values(op.getResults());
}

void Code::when(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
  if (auto known = constant(condition)) {
    if (*known)
      yes();
    else if (no)
      no();
    return;
  }
  auto op = scf::IfOp::create(b, loc, condition, bool(no));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.thenYield());
  yes();
  if (!no)
    return;
  b.setInsertionPoint(op.elseYield());
  no();
}

Code::Values Code::choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no) {
  if (auto known = constant(condition))
    return *known ? yes() : no();
  auto op = scf::IfOp::create(
      b, loc, condition,
      [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        Values v = yes();
        scf::YieldOp::create(b, loc, v);
      },
      [&](OpBuilder &nested, Location) {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        Values v = no();
        scf::YieldOp::create(b, loc, v);
      });
  return Values(op.getResults());
}

KernelCode::KernelCode(ModuleOp target, kernel::FuncOp kernel, const Isa &isa)
    : Code(target.getContext(), kernel.getLoc()), kernel(kernel) {
  vectorBits = isa.vectorBits, vectorRegisters = isa.vectorRegisters;
  convertsHalves = isa.convertsHalves, fusesProducts = isa.fusesProducts, multipliesByLane = isa.multipliesByLane,
  extremesGiveNan = isa.extremesGiveNan;
  mayHaveTiles = isa.mayHaveTiles;
  b.setInsertionPointToEnd(target.getBody());
  func = LLVM::LLVMFuncOp::create(b, loc, (kernel.getName() + ".code").str(), kernelType(b.getContext()));
  b.setInsertionPointToStart(func.addEntryBlock(b));
  bufs = func.getArgument(0), dims = func.getArgument(1), scratch = func.getArgument(2), begin = func.getArgument(3),
  end = func.getArgument(4);
}

Value KernelCode::buffer(unsigned i) {
  Value &v = loadedBuffers[i];
  if (!v) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&func.getBody().front());
    v = load(ptr, at(bufs, int64_t(i + 1) * 8), 8);
  }
  return v;
}

Value KernelCode::local(int64_t bytes) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&func.getBody().front());
  return LLVM::AllocaOp::create(b, loc, ptr, b.getI8Type(), n(bytes), 64);
}

Code::Values KernelCode::sizes(RankedTensorType type) {
  Values result;
  for (int64_t d : kernel::localDims(type)) {
    if (d >= 0) {
      result.push_back(n(d));
      continue;
    }
    Value &v = loadedDims[unsigned(-d - 1)];
    if (!v) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&func.getBody().front());
      v = load(i64, at(dims, (-d - 1) * 8), 8);
    }
    result.push_back(v);
  }
  return result;
}

LLVM::CallOp KernelCode::callLibrary(StringRef name, ArrayRef<Value> arguments, Type result) {
  auto types = llvm::map_to_vector(arguments, [](Value v) { return v.getType(); });
  return LLVM::CallOp::create(b, loc, declareFunction(func->getParentOfType<ModuleOp>(), name, result, types), arguments);
}

void KernelCode::finish(int32_t status) {
  Value s = LLVM::ConstantOp::create(b, loc, i32, status);
  LLVM::ReturnOp::create(b, loc, s);
}

LLVM::LLVMFunctionType kernelType(MLIRContext *context) {
  auto ptr = LLVM::LLVMPointerType::get(context);
  auto i64 = IntegerType::get(context, 64);
  return LLVM::LLVMFunctionType::get(IntegerType::get(context, 32), {ptr, ptr, ptr, i64, i64});
}

LLVM::LLVMFuncOp declareFunction(ModuleOp module, StringRef name, Type result, ArrayRef<Type> parameters) {
  if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return function;
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, parameters));
}

void declareKernel(ModuleOp target, kernel::FuncOp kernel) {
  OpBuilder b = OpBuilder::atBlockEnd(target.getBody());
  LLVM::LLVMFuncOp::create(b, kernel.getLoc(), (kernel.getName() + ".code").str(), kernelType(b.getContext()));
}

LogicalResult emitKernel(ModuleOp target, kernel::FuncOp kernel, const Isa &isa) {
  if (kernel.getFamily() == "loops")
    return emitLoops(target, kernel, isa);
  if (kernel.getFamily() != "contract")
    return kernel.emitError("no emitter for kernels of family ") << kernel.getFamily();
  KernelCode code(target, kernel, isa);
  Operation *op = &kernel.getBody().front().front();
  while (onnx::constantValue(op->getResult(0)))
    op = op->getNextNode();
  StringRef name = onnx::opName(op);
  using Emit = LogicalResult (*)(KernelCode &, Operation *);
  Emit emit = name == "packed.MatMul"           ? emitPackedMatMul
              : name == "packed.Product"        ? emitPackedProduct
              : name == "packed.Conv"           ? emitPackedConv
              : name == "packed.ConvTranspose"  ? emitPackedTransposed
              : name == "packed.WinogradConv"   ? emitPackedWinograd
              : name == "packed.Resize"         ? emitPackedResize
              : name == "packed.ChannelSquares" ? emitPackedSquares
              : name == "packed.GroupedConv"    ? emitPackedWindow
              : name == "packed.Pool"           ? emitPackedWindow
                                                : Emit();
  if (!emit)
    return op->emitError("no emitter for ") << name;
  if (failed(emit(code, op)))
    return failure();
  code.finish();
  return success();
}

}  // namespace onnxc
