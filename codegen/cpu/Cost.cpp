// Cost.cpp: floating-point operations and bytes of one launch of a kernel, for profiles: EmitTables.cpp writes them into the site table.
#include "codegen/cpu/Codegen.h"
#include "dialects/onnx/OnnxBase.h"

using namespace mlir;
namespace onnxc {

// Elements of a static tensor; -1: not known before a run.
static int64_t elements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return -1;
  int64_t n = 1;
  for (int64_t d : kernel::localDims(tensor))
    if (d < 0 || llvm::MulOverflow(n, d, n))
      return -1;
  return n;
}

static int64_t dim(Value v, int64_t fromEnd) {
  SmallVector<int64_t> dims = kernel::localDims(cast<RankedTensorType>(v.getType()));
  return int64_t(dims.size()) < fromEnd ? -1 : dims[dims.size() - fromEnd];
}

// Products that one element of the result sums; 0: the op is no contraction, -1: not known.
static int64_t depth(Operation *op) {
  StringRef name = onnx::opName(op);
  if (name == "MatMul" || name == "packed.MatMul")
    return dim(op->getOperand(0), 1);
  if (name == "packed.Product") {
    auto perm = op->getAttrOfType<DenseI64ArrayAttr>("permA").asArrayRef();
    return kernel::localDims(cast<RankedTensorType>(op->getOperand(0).getType()))[perm.back()];
  }
  if (name == "Gemm")
    return dim(op->getOperand(0), onnx::intAttr(op, "transA", 0) ? 2 : 1);
  if (name != "Conv" && name != "packed.Conv" && name != "packed.DepthwiseConv")
    return 0;
  SmallVector<int64_t> w = kernel::localDims(cast<RankedTensorType>(op->getOperand(1).getType()));
  if (name == "packed.Conv")
    return w[2] * w[3] * op->getAttrOfType<IntegerAttr>("channels").getInt();
  if (name == "packed.DepthwiseConv")
    return w[1] * w[2];
  int64_t products = 1;
  for (int64_t d : ArrayRef<int64_t>(w).drop_front())
    products = d < 0 || products < 0 ? -1 : products * d;
  return products;
}

Cost costOf(kernel::FuncOp kernel) {
  Cost cost{0, 0};
  auto add = [](int64_t &total, int64_t n, int64_t each) {
    int64_t product;
    if (total < 0 || n < 0 || each < 0 || llvm::MulOverflow(n, each, product) || llvm::AddOverflow(total, product, total))
      total = -1;
  };
  kernel.walk([&](Operation *op) {
    if (!onnx::isOnnx(op) || onnx::opName(op) == "Constant" || op->getNumResults() == 0)
      return;
    int64_t inner = depth(op);
    add(cost.flops, elements(op->getResult(0).getType()), inner ? (inner < 0 ? -1 : 2 * inner) : 1);
  });
  auto memory = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = tensor ? tensor.getElementType() : Type();
    unsigned bits = element && element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : isa_and_present<ComplexType>(element) ? 64 : 0;
    add(cost.bytes, bits ? elements(type) : -1, std::max(1u, bits / 8));
  };
  for (Type type : kernel.getArgumentTypes())
    memory(type);
  for (Value v : kernel.getReturn().getOperands())
    memory(v.getType());
  return cost;
}

}  // namespace onnxc
