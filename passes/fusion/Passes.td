// Passes.td: the pass that makes kernels and a plan.
#ifndef FUSION_PASSES_TD
#define FUSION_PASSES_TD
include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "The graph becomes kernels and a plan";
  let description = [{
    `func.func @main` over onnx ops is replaced by closed `kernel.func`s and `func.func @plan_run`, which launches them, and `@plan_sizes`, which computes
    output dims. Ops that one pass over the data computes are one kernel; equal kernels are one.
  }];
  let dependentDialects = ["::onnxc::kernel::KernelDialect", "::onnxc::plan::PlanDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
  let options = [Option<"fast", "fast", "bool", "true", "prefer generated loops, parts of other buffers and the kernels of LibraryFast.def to the oracle's">,
    Option<"alone", "alone", "bool", "false", "each op is a launch of its own, so that its time and its errors are its own">];
}
#endif
