// PlanBuilder.h: turns blocks of onnx ops into plan ops and kernels. FormKernels.cpp drives it, PlanControl.cpp does If, Loop and Scan.
//
// buffer   the pointer that holds an onnx value in the plan
// group    the ops of one kernel in order; the last is the root
#pragma once
#include "dialects/kernel/KernelDialect.h"
#include "dialects/plan/PlanDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "dialects/kernel/Families.h"
#include "passes/fusion/Groups.h"
#include "passes/fusion/Parts.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace onnxc {

// A kernel and what a launch passes to it.
struct KernelCall {
  kernel::FuncOp func;
  llvm::SmallVector<mlir::Value> inputs, results;  // onnx values, in the kernel's order
  llvm::SmallVector<mlir::AffineExpr> dims;        // local dims
};

class PlanBuilder {
public:
  PlanBuilder(mlir::ModuleOp module, SymbolicShapes &shapes, bool fast, bool alone)
      : module(module), shapes(shapes), fast(fast), alone(alone), reserve(module->hasAttr("onnx.reserve")), b(module.getContext()) {}
  // Replaces `graph` by kernels, plan_run and plan_sizes.
  mlir::LogicalResult build(mlir::func::FuncOp graph);

private:
  mlir::ModuleOp module;
  SymbolicShapes &shapes;
  bool fast, alone, reserve;
  mlir::OpBuilder b;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
  // What a region has computed: values of symbols, and of the expressions made of them.
  struct Scope {
    llvm::DenseMap<unsigned, mlir::Value> symbols;
    llvm::DenseMap<mlir::AffineExpr, mlir::Value> sizes;
  };
  llvm::SmallVector<Scope> scopes;                   // innermost region last
  llvm::MapVector<unsigned, unsigned> entrySymbols;  // symbol -> position in the interface
  llvm::StringMap<kernel::FuncOp> kernels;           // by printed body
  llvm::DenseMap<mlir::Value, int64_t> outputOf;     // value computed straight into model output
  const Parts *parts = nullptr;                      // of the block that is being built; null where every op has a launch of its own
  llvm::SmallVector<mlir::Attribute> sites;

  // PlanBuilder.cpp
  mlir::LogicalResult buildBlock(mlir::Block &block);
  mlir::LogicalResult buildOp(mlir::Operation *op);
  mlir::LogicalResult buildFused(const Group &group);
  mlir::Value holdsOf(const ShapeCheck &c, mlir::Location loc);
  void buildChecks(mlir::Operation *op);
  void buildChecksOf(mlir::Operation *op, bool windows);
  void failUnless(mlir::Value holds, mlir::Operation *op, int32_t code, mlir::ValueRange blamed = {});
  mlir::LogicalResult buildGroup(llvm::ArrayRef<mlir::Operation *> group, llvm::StringRef family);
  std::optional<unsigned> sizeSymbol(mlir::AffineExpr e, mlir::Operation *op) const;
  bool needsSizesOf(mlir::AffineExpr e, mlir::Operation *op) const;
  void bindSizes(mlir::Operation *root, KernelCall &call, mlir::ValueRange inputs, int64_t site);
  mlir::LogicalResult buildView(mlir::Operation *op);
  mlir::LogicalResult buildParts(mlir::Operation *op);
  mlir::Value addressOf(const Part &part, mlir::Location loc);
  mlir::Value allocatePart(mlir::Value v, const Part &part, mlir::Location loc);
  mlir::Value bufferOf(mlir::Value v);
  mlir::Value allocate(mlir::Value v, mlir::Location loc);
  mlir::Value bufferInPlace(mlir::Value v) const;
  mlir::Value bytesOf(mlir::Value v, mlir::Location loc);
  int64_t mostBytes(mlir::Value v);
  mlir::Value constant(int64_t v, mlir::Location loc);
  mlir::Value size(mlir::AffineExpr e, mlir::Location loc);
  mlir::Value symbolValue(unsigned index, mlir::Location loc);
  llvm::SmallVector<mlir::Value> sizes(mlir::Value v, mlir::Location loc);
  mlir::Value computeSize(mlir::AffineExpr e, mlir::Location loc);
  mlir::Value boundSymbol(unsigned index) const;
  void bind(unsigned symbol, mlir::Value value);
  bool knownAtEntry(mlir::AffineExpr e) const;
  int64_t addSite(mlir::Operation *op, llvm::StringRef kernel);
  mlir::Type pointer() { return mlir::LLVM::LLVMPointerType::get(b.getContext()); }

  // KernelBuilder.cpp
  KernelCall makeKernel(llvm::ArrayRef<mlir::Operation *> group, llvm::StringRef family);
  void writeBody(llvm::ArrayRef<mlir::Operation *> group, KernelCall &call);
  void chooseLibraryKernel(mlir::Operation *op, mlir::Operation *copy);
  mlir::Type localType(mlir::Value v, KernelCall &call);

  // FormKernels.cpp
  void chooseOutputs(mlir::Operation *terminator);
  void finishOutputs(mlir::Operation *terminator);
  void buildSizes(mlir::func::FuncOp graph);
  void describeInterface(mlir::func::FuncOp graph);
  void describeSymbols();

  // PlanControl.cpp
  struct Iteration;
  llvm::SmallVector<unsigned> ownDims(mlir::Value v) const;
  void bindDim(mlir::Value v, unsigned d, mlir::Value size);
  mlir::Value truth(mlir::Value condition, mlir::Location loc);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> buildBranch(mlir::Block &block, mlir::ResultRange results);
  void bindResults(mlir::ResultRange results, mlir::ValueRange values);
  std::pair<mlir::Value, mlir::Value> pieces(mlir::Value v, int64_t axis, mlir::Location loc);
  void copyItem(mlir::Value whole, mlir::Value item, mlir::Value itemBuffer, int64_t axis, mlir::Value at, mlir::Value count, bool gather,
                mlir::Location loc);
  mlir::Value keep(mlir::Value v, mlir::Value iteration, mlir::Location loc);
  std::pair<mlir::Value, mlir::Value> grow(mlir::Value memory, mlir::Value capacity, mlir::Value used, mlir::Value need, bool exact,
                                           mlir::Location loc);
  llvm::SmallVector<mlir::Value> stackGrowing(mlir::Value result, mlir::Value item, mlir::ValueRange values, int64_t axis,
                                              mlir::Value iteration, mlir::Value at, mlir::Value total);
  llvm::SmallVector<mlir::Value> startValues(Iteration &it, mlir::Location loc);
  llvm::SmallVector<mlir::Value> nextValues(Iteration &it, mlir::ValueRange values, mlir::Location loc);
  void bindLoopResults(Iteration &it, mlir::ValueRange values);
  mlir::LogicalResult iterate(Iteration &it, llvm::function_ref<void(mlir::Value iteration)> prologue);
  mlir::LogicalResult buildIf(mlir::Operation *op);
  mlir::LogicalResult buildLoop(mlir::Operation *op);
  mlir::LogicalResult buildScan(mlir::Operation *op);
};

}  // namespace onnxc
