// PlanDialect.cpp: registration of the plan dialect.
#include "dialects/plan/PlanDialect.h"
#include "mlir/IR/Builders.h"

void onnxc::plan::PlanDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/Plan.cpp.inc"
      >();
}

#include "dialects/plan/PlanDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/plan/Plan.cpp.inc"
