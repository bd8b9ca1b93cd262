// PackRecurrent.cpp: the constant weights of RNN, GRU and LSTM in the panels that runtime_stub/kernels/FastRecurrent.cpp streams. Part of
// PackWeights.
#include "passes/layout/PackRecurrent.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Weights.h"

using namespace mlir;
namespace onnxc {

static constexpr int64_t kWide = 64;  // rows of the weights side by side in a panel, as FastRecurrent.cpp has it

// [directions, rows, depth] as [directions, rows / 64, depth, 64] under the old type.
static Value panels(OpBuilder &b, Value v, ArrayRef<float> values) {
  auto type = cast<RankedTensorType>(v.getType());
  int64_t rows = type.getDimSize(0) * type.getDimSize(1), depth = type.getDimSize(2);
  std::vector<float> packed(values.size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; ++k)
      packed[(r / kWide * depth + k) * kWide + r % kWide] = values[r * depth + k];
  return onnx::ConstantOp::create(b, v.getLoc(), makeConstant(type, packed));
}

void packRecurrent(Operation *op) {
  Value w = op->getOperand(1), r = op->getOperand(2);
  auto x = dyn_cast<TensorType>(op->getOperand(0).getType());
  auto weights = dyn_cast<RankedTensorType>(w.getType()), shape = dyn_cast<RankedTensorType>(r.getType());
  if (!x || !x.getElementType().isF32() || !shape || shape.getRank() != 3 || !weights || weights.getRank() != 3)
    return;
  int64_t whole = isa<onnx::GRUOp>(op) ? shape.getDimSize(2) : shape.getDimSize(1);  // GRU's last gate has panels of its own
  auto values = constantFloats(w), recurrent = constantFloats(r);
  if (!values || !recurrent || values->empty() || whole % kWide || shape.getDimSize(1) != weights.getDimSize(1))
    return;
  OpBuilder b(op);
  op->setOperand(1, panels(b, w, *values));
  op->setOperand(2, panels(b, r, *recurrent));
  op->setAttr("packed", b.getI64IntegerAttr(1));
}

}  // namespace onnxc
