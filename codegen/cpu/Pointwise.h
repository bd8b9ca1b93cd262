// Pointwise.h: one elementwise op as code on registers, for loop kernels and the epilogues of contractions.
//
// An element lives in a register as its own type, with unsigned integers signless and booleans i1; a vector register holds some of them.
#pragma once
#include "codegen/cpu/Code.h"

namespace onnxc {

// The register type of `element`, a vector of `lanes` where that is more than 1.
mlir::Type registerType(mlir::Type element, int64_t lanes);
// A splat constant in a register.
mlir::Value constantRegister(Code &c, mlir::ElementsAttr value, int64_t lanes);
// Elements at an address, as they stand in memory. `mask`: the lanes that exist, the others are 0; null: all.
mlir::Value loadElements(Code &c, mlir::Type element, mlir::Value address, int64_t lanes, mlir::Value mask = {});
void storeElements(Code &c, mlir::Type element, mlir::Value v, mlir::Value address, mlir::Value mask = {});

// The result of `op`, for which isPointwise or isChannelwise (dialects/kernel/Families.h) holds. `operands` are registers in the order of
// the op's operands, all scalars or all of one number of lanes.
mlir::Value emitPointwise(Code &c, mlir::Operation *op, mlir::ValueRange operands);

}  // namespace onnxc
