// Cost.cpp: floating-point operations and bytes of one launch of a kernel, for profiles: EmitTables.cpp writes them into the site table.
#include "codegen/cpu/Codegen.h"
#include "dialects/onnx/Packed.h"

using namespace mlir;
namespace onnxc {

namespace {
// A product of sizes; nothing: unknown.
using Product = std::optional<CostTerm>;

Product times(Product a, const Product &b) {
  if (!a || !b || llvm::MulOverflow(a->factor, b->factor, a->factor))
    return std::nullopt;
  a->dims.append(b->dims);
  return a;
}

// `dims` as kernel::localDims gives them.
Product product(ArrayRef<int64_t> dims, int64_t factor = 1) {
  Product p = CostTerm{factor, {}};
  for (int64_t d : dims)
    p = times(p, d >= 0 ? CostTerm{d, {}} : CostTerm{1, {-(d + 1)}});
  return p;
}
}  // namespace

static Product elements(Type type, int64_t each = 1) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? product(kernel::localDims(tensor), each) : std::nullopt;
}

static Product dim(Value v, int64_t fromEnd) {
  auto tensor = dyn_cast<RankedTensorType>(v.getType());
  if (!tensor || tensor.getRank() < fromEnd)
    return std::nullopt;
  return product(kernel::localDims(tensor)[tensor.getRank() - fromEnd]);
}

static bool hasPhases(StringRef name) { return name == "packed.ConvTranspose" || name == "packed.NarrowConv"; }

// Operations for one element of the result: two for each product that it sums, or one.
static Product work(Operation *op) {
  StringRef name = onnx::opName(op);
  auto twice = [](const Product &p) { return times(CostTerm{2, {}}, p); };
  if (name == "MatMul" || name == "packed.MatMul")
    return twice(dim(op->getOperand(0), 1));
  if (name == "packed.Product") {
    auto perm = op->getAttrOfType<DenseI64ArrayAttr>("permA").asArrayRef();
    return twice(product(kernel::localDims(cast<RankedTensorType>(op->getOperand(0).getType()))[perm.back()]));
  }
  if (name == "packed.GatherProduct")
    return twice(dim(op->getOperand(0), onnx::intAttr(op, "transW", 0) ? 1 : 2));
  if (name == "Gemm")
    return twice(dim(op->getOperand(0), onnx::intAttr(op, "transA", 0) ? 2 : 1));
  if (name == "packed.MatMulInteger" || name == "packed.LinearMatMul")
    return twice(dim(op->getOperand(0), 1));
  if (name == "packed.LinearConv") {
    ArrayRef<int64_t> kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape").asArrayRef();
    return twice(product({kernel[0], kernel[1], std::max<int64_t>(1, op->getAttrOfType<IntegerAttr>("channels").getInt())}));
  }
  if (name == "packed.WinogradConv") {  // of the convolution: it needs a quarter of them at best
    ArrayRef<int64_t> kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape").asArrayRef();
    return twice(product({kernel[0], kernel[1], op->getAttrOfType<IntegerAttr>("channels").getInt()}));
  }
  if (name == "packed.Pool") {
    ArrayRef<int64_t> kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape").asArrayRef();
    auto frames = onnx::frameAxis(op);
    return product({kernel[0], kernel[1], frames ? frames->taps : 1});
  }
  if (hasPhases(name)) {  // if a result met all taps: phases()
    ArrayRef<int64_t> kernel = op->getAttrOfType<DenseI64ArrayAttr>("kernel_shape").asArrayRef();
    return twice(product({kernel[0], kernel[1], op->getAttrOfType<IntegerAttr>("channels").getInt()}));
  }
  if (name != "Conv" && name != "packed.Conv" && name != "packed.GroupedConv")
    return CostTerm{1, {}};
  auto weights = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  if (!weights)
    return std::nullopt;
  SmallVector<int64_t> w = kernel::localDims(weights);
  if (name == "packed.Conv") {
    auto shared = op->getAttrOfType<DenseI64ArrayAttr>("shared");
    return twice(product({w[2], w[3], shared ? shared[1] : op->getAttrOfType<IntegerAttr>("channels").getInt()}));
  }
  if (name == "packed.GroupedConv")
    return twice(product({w[1], w[2], w[3]}));
  return twice(product(ArrayRef<int64_t>(w).drop_front()));
}

// Of so many results of a transposed convolution each tap meets one.
static int64_t phases(Operation *op) {
  if (!hasPhases(onnx::opName(op)))
    return 1;
  ArrayRef<int64_t> strides = op->getAttrOfType<DenseI64ArrayAttr>("strides").asArrayRef();
  return strides[0] * strides[1];
}

// The two products of an attention, of all its scores.
static std::pair<Product, Product> attentionWork(Operation *op) {
  auto dims = [&](unsigned operand, StringRef axes) {
    SmallVector<int64_t> own = kernel::localDims(cast<RankedTensorType>(op->getOperand(operand).getType()));
    return llvm::map_to_vector(op->getAttrOfType<DenseI64ArrayAttr>(axes).asArrayRef(), [&](int64_t axis) { return own[axis]; });
  };
  SmallVector<int64_t> q = dims(0, "axesQ"), k = dims(1, "axesK");
  Product keys = product(k[k.size() - 2], 2);
  return {times(product(q), keys), times(elements(op->getResult(0).getType()), keys)};
}

int64_t fixedCost(const Cost::Sum &sum) {
  int64_t total = 0;
  if (!sum)
    return -1;
  for (const CostTerm &term : *sum)
    if (!term.dims.empty() || llvm::AddOverflow(total, term.factor, total))
      return -1;
  return total;
}

Cost costOf(kernel::FuncOp kernel) {
  Cost cost{std::vector<CostTerm>(), std::vector<CostTerm>()};
  auto add = [](Cost::Sum &sum, const Product &p) {
    if (!p || !sum)
      return sum.reset();
    auto same = llvm::find_if(*sum, [&](const CostTerm &t) { return t.dims == p->dims; });
    if (same == sum->end())
      sum->push_back(*p);
    else if (llvm::AddOverflow(same->factor, p->factor, same->factor))
      sum.reset();
  };
  kernel.walk([&](Operation *op) {
    if (onnx::isOnnx(op) && onnx::opName(op) == "packed.Attention") {
      auto [scores, values] = attentionWork(op);
      add(cost.flops, scores), add(cost.flops, values);
    } else if (onnx::isOnnx(op) && onnx::opName(op) != "Constant" && op->getNumResults()) {
      Product flops = times(elements(op->getResult(0).getType()), work(op));
      if (flops)
        flops->factor /= phases(op);
      add(cost.flops, flops);
    }
  });
  auto memory = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    Type element = tensor ? tensor.getElementType() : Type();
    unsigned bits = element && element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : isa_and_present<ComplexType>(element) ? 64 : 0;
    add(cost.bytes, bits ? elements(type, std::max(1u, bits / 8)) : std::nullopt);
  };
  for (Type type : kernel.getArgumentTypes())
    memory(type);
  for (Value v : kernel.getReturn().getOperands())
    memory(v.getType());
  return cost;
}

}  // namespace onnxc
