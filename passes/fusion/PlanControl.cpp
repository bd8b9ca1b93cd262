// PlanControl.cpp: If, Loop and Scan as scf ops over buffers and sizes.
#include "passes/fusion/PlanBuilder.h"

using namespace mlir;
namespace onnxc {

LogicalResult PlanBuilder::buildIf(Operation *op) { return op->emitError("control flow is out of scope"); }
LogicalResult PlanBuilder::buildLoop(Operation *op) { return op->emitError("control flow is out of scope"); }
LogicalResult PlanBuilder::buildScan(Operation *op) { return op->emitError("control flow is out of scope"); }

}  // namespace onnxc
