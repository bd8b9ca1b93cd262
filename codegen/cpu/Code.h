// Code.h: short names for the ops that kernel emitters write (arith, scf, vector, LLVM memory ops), and the frame of a kernel function.
// Sizes and indices are i64, addresses !llvm.ptr, offsets bytes. Constants fold while they are written.
#pragma once
#include "codegen/cpu/Isa.h"
#include "dialects/kernel/KernelDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"

namespace onnxc {

struct Code {
  using Value = mlir::Value;
  using Values = llvm::SmallVector<mlir::Value>;
  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::IntegerType i1, i32, i64;
  mlir::FloatType f32;
  mlir::Type ptr;
  // Of the level that is compiled, see Isa.h.
  unsigned vectorBits = 128, vectorRegisters = 16;
  bool convertsHalves = false, fusesProducts = false, multipliesByLane = false, extremesGiveNan = false, mayHaveTiles = false;

  Code(mlir::MLIRContext *context, mlir::Location loc);

  // Integers of one type, i64 unless the operands say otherwise.
  Value n(int64_t v) { return mlir::arith::ConstantIntOp::create(b, loc, v, 64); }
  Value flag(bool v) { return mlir::arith::ConstantIntOp::create(b, loc, v, 1); }
  Value add(Value l, Value r) { return b.createOrFold<mlir::arith::AddIOp>(loc, l, r); }
  Value sub(Value l, Value r) { return b.createOrFold<mlir::arith::SubIOp>(loc, l, r); }
  Value mul(Value l, Value r) { return b.createOrFold<mlir::arith::MulIOp>(loc, l, r); }
  Value div(Value l, Value r) { return b.createOrFold<mlir::arith::DivSIOp>(loc, l, r); }  // both >= 0
  Value rem(Value l, Value r) { return b.createOrFold<mlir::arith::RemSIOp>(loc, l, r); }  // both >= 0
  Value ceilDiv(Value l, Value r) { return div(add(l, sub(r, n(1))), r); }                 // both >= 0
  Value min(Value l, Value r) { return b.createOrFold<mlir::arith::MinSIOp>(loc, l, r); }
  Value max(Value l, Value r) { return b.createOrFold<mlir::arith::MaxSIOp>(loc, l, r); }
  Value add(Value l, int64_t r) { return add(l, n(r)); }
  Value sub(Value l, int64_t r) { return sub(l, n(r)); }
  Value mul(Value l, int64_t r) { return mul(l, n(r)); }
  Value div(Value l, int64_t r) { return div(l, n(r)); }
  Value rem(Value l, int64_t r) { return rem(l, n(r)); }
  Value ceilDiv(Value l, int64_t r) { return ceilDiv(l, n(r)); }
  Value product(mlir::ValueRange factors);
  Value less(Value l, Value r) { return b.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::slt, l, r); }
  Value equal(Value l, Value r) { return b.createOrFold<mlir::arith::CmpIOp>(loc, mlir::arith::CmpIPredicate::eq, l, r); }
  Value both(Value l, Value r) { return b.createOrFold<mlir::arith::AndIOp>(loc, l, r); }
  Value select(Value condition, Value yes, Value no) { return b.createOrFold<mlir::arith::SelectOp>(loc, condition, yes, no); }
  // The value of a constant integer.
  static std::optional<int64_t> constant(Value v);

  // A scalar, or a splat where `type` is a vector. Bits beyond the type's are dropped.
  Value integer(int64_t v, mlir::Type type);
  Value integer(const llvm::APInt &v, mlir::Type type);

  // Floats and vectors of them.
  mlir::VectorType vec(mlir::Type element, int64_t lanes) { return mlir::VectorType::get({lanes}, element); }
  Value real(double v, mlir::Type type);  // a scalar, or a splat where `type` is a vector
  Value splat(Value scalar, int64_t lanes) { return mlir::vector::BroadcastOp::create(b, loc, vec(scalar.getType(), lanes), scalar); }
  // Asks for the line at `address`, which need not exist. `locality`: LLVM's, 3 for the first-level cache, 2 for the second.
  void prefetch(Value address, int locality = 3) { mlir::LLVM::Prefetch::create(b, loc, address, /*rw=*/0, locality, /*cache=*/1); }
  // Of a product and a sum where the processor has no instruction for both, which a call of fmaf for each element would stand for.
  Value fma(Value l, Value r, Value to) { return mlir::LLVM::FMulAddOp::create(b, loc, l, r, to); }
  Value addf(Value l, Value r) { return mlir::arith::AddFOp::create(b, loc, l, r); }
  Value subf(Value l, Value r) { return mlir::arith::SubFOp::create(b, loc, l, r); }
  Value mulf(Value l, Value r) { return mlir::arith::MulFOp::create(b, loc, l, r); }

  // Memory. `align` in bytes; elements of user buffers are aligned to themselves only.
  Value at(Value base, Value bytes);
  Value at(Value base, int64_t bytes);
  Value load(mlir::Type type, Value address, unsigned align = 4) { return mlir::LLVM::LoadOp::create(b, loc, type, address, align); }
  void store(Value v, Value address, unsigned align = 4) { mlir::LLVM::StoreOp::create(b, loc, v, address, align); }
  // The first `count` lanes of a vector; the others load as zero and are not stored.
  Value lanesBelow(Value count, int64_t lanes);
  Value loadMasked(mlir::VectorType type, Value address, Value mask, unsigned align = 4);
  void storeMasked(Value v, Value address, Value mask, unsigned align = 4);

  // Control.
  void loop(Value from, Value to, Value step, llvm::function_ref<void(Value)> body);
  Values loop(Value from, Value to, Value step, mlir::ValueRange start, llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  Values choose(Value condition, llvm::function_ref<Values()> yes, llvm::function_ref<Values()> no);
  void when(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no = nullptr);
};

// The function `<kernel>.code` under the kernel ABI (docs/Architecture.md section 4), open for writing. The caller writes the body and then
// `finish`es it.
struct KernelCode : Code {
  kernel::FuncOp kernel;
  mlir::LLVM::LLVMFuncOp func;
  Value bufs, dims, scratch, begin, end;

  KernelCode(mlir::ModuleOp target, kernel::FuncOp kernel, const Isa &isa);
  // Buffer `i`: of the arguments, then of the results.
  Value buffer(unsigned i);
  // Of an argument of the kernel.
  Value address(Value argument) { return buffer(llvm::cast<mlir::BlockArgument>(argument).getArgNumber()); }
  Value result(unsigned i) { return buffer(kernel.getArgumentTypes().size() + i); }
  // So many bytes on the stack, aligned to a line of the cache.
  Value local(int64_t bytes);
  // Sizes of a tensor of the kernel: constants, or local dims loaded at the start of the function.
  Values sizes(mlir::RankedTensorType type);
  // Calls a function of the library.
  mlir::LLVM::CallOp callLibrary(llvm::StringRef name, llvm::ArrayRef<Value> arguments, mlir::Type result);
  void finish(int32_t status = 0);

private:
  llvm::DenseMap<unsigned, Value> loadedBuffers, loadedDims;
};

// The type of every kernel's function.
mlir::LLVM::LLVMFunctionType kernelType(mlir::MLIRContext *context);
// The function `name` of `module`, declared where it is not yet.
mlir::LLVM::LLVMFuncOp declareFunction(mlir::ModuleOp module, llvm::StringRef name, mlir::Type result,
                                       llvm::ArrayRef<mlir::Type> parameters);
// Declares `<kernel>.code`, which is defined in LLVM IR (EmitLibrary.cpp).
void declareKernel(mlir::ModuleOp target, kernel::FuncOp kernel);
// Defines `<kernel>.code` of a generated family in `target`, and sets the kernel's `extent`, `grain` and `scratch`. `isa`: the level
// that is compiled.
mlir::LogicalResult emitKernel(mlir::ModuleOp target, kernel::FuncOp kernel, const Isa &isa);

}  // namespace onnxc
