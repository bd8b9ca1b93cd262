// OnnxBase.h: the dialect, its types, and access to operands, results and attributes of any onnx op by schema position or name.
// Op classes: the family headers beside this one (onnx::ConvOp, onnx::MLScalerOp, onnx::MSFusedConvOp).
#pragma once
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseMap.h"

namespace onnxc::onnx {
// What the schema says of an op. `operands` and `results`: one character per declared value, "1" once, "?" optional, "*" variadic.
// `defaults`: "name=value;" for each integer, float and string attribute that has a default.
struct OpInfo {
  llvm::StringRef operands, results, defaults;
};

mlir::LogicalResult verifyAxisInRange(mlir::Operation *op);
template <typename ConcreteType>
class AxisInRange : public mlir::OpTrait::TraitBase<ConcreteType, AxisInRange> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifyAxisInRange(op); }
};
}  // namespace onnxc::onnx

#include "dialects/onnx/OnnxDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.h.inc"

namespace onnxc::onnx {
bool isOnnx(mlir::Operation *op);
// "Conv", "ml.Scaler": the name without the dialect. Empty for an op of another dialect.
llvm::StringRef opName(mlir::Operation *op);
// An error at an op. It begins with the op's name where the location, which diagnostics print, does not say the same.
mlir::InFlightDiagnostic emitNodeError(mlir::Operation *op);
// Null for an op that is not registered in the onnx dialect.
const OpInfo *opInfo(mlir::OperationName name);
inline const OpInfo *opInfo(mlir::Operation *op) { return opInfo(op->getName()); }

// The declared operand or result `index`: all values of it, or the one value (null when an optional is absent or past the declared ones).
mlir::OperandRange operands(mlir::Operation *op, unsigned index);
mlir::ResultRange results(mlir::Operation *op, unsigned index);
mlir::Value operand(mlir::Operation *op, unsigned index);
mlir::Value result(mlir::Operation *op, unsigned index);

// Attributes by name, else the schema's default, else `otherwise`.
int64_t intAttr(mlir::Operation *op, llvm::StringRef name, int64_t otherwise = 0);
float floatAttr(mlir::Operation *op, llvm::StringRef name, float otherwise = 0);
llvm::StringRef strAttr(mlir::Operation *op, llvm::StringRef name, llvm::StringRef otherwise = "");
llvm::ArrayRef<int64_t> intsAttr(mlir::Operation *op, llvm::StringRef name);
std::optional<llvm::ArrayRef<int64_t>> optionalInts(mlir::Operation *op, llvm::StringRef name);

// An axis of `size` ones, or an index of `size` elements, counted from the front, where negative ones count from the end. Out of range
// stays so.
inline int64_t fromFront(int64_t index, int64_t size) { return index < 0 ? index + size : index; }
// The attribute `axis` of an op, counted from the front of a tensor of `rank` axes; else the schema's default, else `otherwise`.
inline int64_t axisAttr(mlir::Operation *op, int64_t rank, int64_t otherwise = 0) {
  return fromFront(intAttr(op, "axis", otherwise), rank);
}

// On a contraction whose sums are integers that f32 holds: algorithms that round on the way must not compute it.
inline constexpr llvm::StringLiteral kExactAttr = "onnxc.exact";
// On a Mul of blocked activations, and an Exp of f32 that only products read: what would be subnormal is zero.
inline constexpr llvm::StringLiteral kFlushAttr = "onnxc.flush";
// On a MatMul, Gemm or packed.MatMul of f32 whose first operand is bf16 in the model: a kernel may round it to that.
inline constexpr llvm::StringLiteral kBF16RowsAttr = "onnxc.bf16_rows";
// On a Div of f32 by a constant: whole numbers are made of its quotients, and those of two products are proven to be the same ones
// (codegen/cpu/Pointwise.cpp: quotientByProducts).
inline constexpr llvm::StringLiteral kByProductsAttr = "onnxc.by_products";

// On the end of a loop's body: the sizes that the model declares for its results. Of no use but where no iteration computes them.
inline constexpr llvm::StringLiteral kDeclaredAttr = "onnx.declared";
// Of a function's result: the number of axes that the model declares.
inline constexpr llvm::StringLiteral kRankAttr = "onnx.rank";

// The name of a constant whose bytes a text does not hold; empty for one that is there. What to say of it, behind the name.
llvm::StringRef leftOut(mlir::ElementsAttr value);
inline constexpr llvm::StringLiteral kLeftOut = "' was left out of this text: --dump-phases writes programs whole into .mlirbc files";

// The value of an onnx.Constant (or any constant-like producer), null otherwise.
mlir::ElementsAttr constantValue(mlir::Value v);
// Integer and bool elements in signed or zero-extended 64 bits, whatever the storage; nothing for other types or more than `limit`.
std::optional<llvm::SmallVector<int64_t>> integerElements(mlir::ElementsAttr value, int64_t limit = 1024);
// Those of a constant; nothing for other values and for null.
inline std::optional<llvm::SmallVector<int64_t>> integerElements(mlir::Value v, int64_t limit = 1024) {
  return integerElements(constantValue(v), limit);
}
// A ranked tensor's or unranked tensor's element type; null for other types.
mlir::Type elementType(mlir::Value v);
// The element type of TensorProto.DataType `code` (see docs/Architecture.md section 2); null for an unknown code.
mlir::Type elementTypeOfCode(mlir::MLIRContext *context, int64_t code);
}  // namespace onnxc::onnx
