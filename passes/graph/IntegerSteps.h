// IntegerSteps.h: the last steps of the integer-contractions pass (IntegerContractions.cpp).
#pragma once
#include "mlir/IR/PatternMatch.h"

namespace onnxc {

void populateQuantisationPatterns(mlir::RewritePatternSet &patterns);  // QuantiseAsPointwise.cpp
void populatePackIntegerPatterns(mlir::RewritePatternSet &patterns);   // PackIntegers.cpp

}  // namespace onnxc
