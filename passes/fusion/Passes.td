#ifndef FUSION_PASSES_TD
#define FUSION_PASSES_TD
include "mlir/Pass/PassBase.td"

def FormKernels : Pass<"form-kernels", "::mlir::ModuleOp"> {
  let summary = "The graph becomes kernels and a plan";
  let description = [{
    `func.func @main` over onnx ops is replaced by closed `kernel.func`s and `func.func @plan_run`, which launches them, and `@plan_sizes`, which computes
    output dims. Groups end here and nowhere else: elementwise producers join their only consumer.
  }];
  let dependentDialects = ["::onnxc::kernel::KernelDialect", "::onnxc::plan::PlanDialect", "::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::func::FuncDialect"];
  let options = [Option<"fuse", "fuse", "bool", "true", "put elementwise chains into one kernel">];
}
#endif
