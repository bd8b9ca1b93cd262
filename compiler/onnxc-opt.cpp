// onnxc-opt: runs any pass of onnxc, and MLIR's own, on MLIR text; for tests and for looking at one step of the pipeline.
#include "dialects/kernel/KernelDialect.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/plan/PlanDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "passes/fusion/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/memory/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  registry.insert<onnxc::onnx::OnnxDialect, onnxc::kernel::KernelDialect, onnxc::plan::PlanDialect>();
  onnxc::registerGraphPasses();
  onnxc::registerLayoutPasses();
  onnxc::registerFusionPasses();
  onnxc::registerMemoryPasses();
  mlir::registerTransformsPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "onnxc's passes\n", registry));
}
