// PlanDialect.cpp: registration of the plan dialect.
#include "dialects/plan/PlanDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

// A launch names a kernel of its module and gives all its inputs and results.
LogicalResult onnxc::plan::LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << getKernelAttr() << " is no kernel of this module";
  size_t wanted = kernel.getNumArguments() + kernel.getNumResults();
  if (getBuffers().size() != wanted)
    return emitOpError() << "has " << getBuffers().size() << " buffers, " << getKernelAttr() << " has " << kernel.getNumArguments()
                         << " inputs and " << kernel.getNumResults() << " results";
  auto numDims = kernel->getAttrOfType<IntegerAttr>("num_dims");
  if (numDims && getDims().size() != size_t(numDims.getInt()))
    return emitOpError() << "has " << getDims().size() << " dims, " << getKernelAttr() << " has " << numDims.getInt();
  return success();
}

void onnxc::plan::PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/Plan.cpp.inc"
      >();
}

#include "dialects/plan/PlanDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/plan/Plan.cpp.inc"
