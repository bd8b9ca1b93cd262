// PackKeys.h: the keys of LabelEncoder, CategoryMapper and OneHotEncoder, and the stopwords of StringNormalizer, as one table.
// KernelBuilder.cpp asks for it; runtime_stub/kernels/PackedKeys.h is the layout.
#pragma once
#include "mlir/IR/Operation.h"

namespace onnxc {

// Gives one of these ops the attribute `table`, and stopwords that are found in any case `folded`; leaves keys of other types than the
// operand's, and foreign letters to be folded, to the run. Nothing for other ops.
void packKeys(mlir::Operation *op);

}  // namespace onnxc
