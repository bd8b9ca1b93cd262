// KernelDialect.cpp: registration, printing and local dims of kernel.func.
#include "dialects/kernel/KernelDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
namespace onnxc::kernel {

void KernelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/Kernel.cpp.inc"
      >();
}

SmallVector<int64_t> localDims(RankedTensorType type) {
  if (auto encoding = llvm::dyn_cast_if_present<ArrayAttr>(type.getEncoding()))
    return llvm::map_to_vector(encoding.getAsValueRange<IntegerAttr>(), [](const APInt &d) { return d.getSExtValue(); });
  return SmallVector<int64_t>(type.getShape());
}

RankedTensorType withLocalDims(Type elementType, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape(dims);
  Attribute encoding;
  for (int64_t &d : shape)
    if (d < 0) {
      d = ShapedType::kDynamic;
      encoding = Builder(elementType.getContext()).getI64ArrayAttr(dims);
    }
  return RankedTensorType::get(shape, elementType, encoding);
}

void FuncOp::build(OpBuilder &b, OperationState &state, StringRef name, FunctionType type, StringRef family, int64_t numDims) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), b.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttribute("family", b.getStringAttr(family));
  state.addAttribute("num_dims", b.getI64IntegerAttr(numDims));
  Region *body = state.addRegion();
  Block *entry = new Block;
  body->push_back(entry);
  entry->addArguments(type.getInputs(), SmallVector<Location>(type.getNumInputs(), state.location));
}

StringRef FuncOp::getFamily() { return (*this)->getAttrOfType<StringAttr>("family").getValue(); }
int64_t FuncOp::getNumDims() { return (*this)->getAttrOfType<IntegerAttr>("num_dims").getInt(); }
ReturnOp FuncOp::getReturn() { return llvm::cast<ReturnOp>(getBody().front().getTerminator()); }

LogicalResult FuncOp::verify() {
  auto family = (*this)->getAttrOfType<StringAttr>("family");
  if (!family || !llvm::is_contained({"loops", "contract", "library"}, family.getValue()))
    return emitOpError("family ") << (*this)->getAttr("family") << " is not \"loops\", \"contract\" or \"library\"";
  auto numDims = (*this)->getAttrOfType<IntegerAttr>("num_dims");
  if (!numDims || numDims.getInt() < 0)
    return emitOpError("num_dims is not a number of local dims");
  if (!getBody().hasOneBlock())
    return emitOpError("has ") << getBody().getBlocks().size() << " blocks, a kernel is one";
  for (Type type : llvm::concat<const Type>(getArgumentTypes(), getResultTypes()))
    if (auto tensor = llvm::dyn_cast<RankedTensorType>(type))
      for (int64_t d : localDims(tensor))
        if (d < 0 && -(d + 1) >= numDims.getInt())
          return emitOpError() << "type " << type << " has local dim " << -(d + 1) << ", num_dims is " << numDims.getInt();
  return success();
}

LogicalResult ReturnOp::verify() {
  auto results = llvm::cast<FuncOp>((*this)->getParentOp()).getResultTypes();
  if (TypeRange(getOperandTypes()) != TypeRange(results))
    return emitOpError("returns (") << getOperandTypes() << "), the kernel's results are (" << results << ")";
  return success();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto build = [](Builder &b, ArrayRef<Type> in, ArrayRef<Type> out, function_interface_impl::VariadicFlag, std::string &) {
    return b.getFunctionType(in, out);
  };
  return function_interface_impl::parseFunctionOp(parser, result, false, getFunctionTypeAttrName(result.name), build,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}
void FuncOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, false, getFunctionTypeAttrName(), getArgAttrsAttrName(), getResAttrsAttrName());
}

}  // namespace onnxc::kernel

#include "dialects/kernel/KernelDialect.cpp.inc"
#define GET_OP_CLASSES
#include "dialects/kernel/Kernel.cpp.inc"
