// PackRecurrent.cpp: the constant weights of RNN, GRU and LSTM in the panels that runtime_stub/kernels/FastRecurrent.cpp streams. Part of
// PackWeights.
#include "passes/layout/PackRecurrent.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/kernels/PanelSizes.h"

using namespace mlir;
namespace onnxc {

static int64_t padded(int64_t rows) { return llvm::alignTo(rows, kGateRows); }

// [directions, rows, depth], whose rows are those of `groups`, as [directions, rows / 64, depth, 64] under the type
// [directions, rows, depth]; each group's rows padded with zeros.
static Value panels(OpBuilder &b, Value v, ArrayRef<float> values, ArrayRef<int64_t> groups) {
  auto type = cast<RankedTensorType>(v.getType());
  int64_t directions = type.getDimSize(0), depth = type.getDimSize(2), rows = 0;
  for (int64_t group : groups)
    rows += padded(group);
  std::vector<float> packed(directions * rows * depth);
  float *to = packed.data();
  const float *from = values.data();
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t group : groups) {
      for (int64_t r = 0; r < group; ++r)
        for (int64_t k = 0; k < depth; ++k)
          to[(r / kGateRows * depth + k) * kGateRows + r % kGateRows] = *from++;
      to += padded(group) * depth;
    }
  return onnx::ConstantOp::create(b, v.getLoc(), makeConstant(type.clone({directions, rows, depth}), packed));
}

void packRecurrent(Operation *op) {
  Value w = op->getOperand(1), r = op->getOperand(2);
  auto x = dyn_cast<TensorType>(op->getOperand(0).getType());
  auto weights = dyn_cast<RankedTensorType>(w.getType()), shape = dyn_cast<RankedTensorType>(r.getType());
  if (!x || !x.getElementType().isF32() || !shape || shape.getRank() != 3 || !weights || weights.getRank() != 3)
    return;
  auto values = constantFloats(w), recurrent = constantFloats(r);
  if (!values || !recurrent || values->empty())
    return;
  int64_t rows = shape.getDimSize(1), hidden = shape.getDimSize(2);
  SmallVector<int64_t> groups{rows};
  if (isa<onnx::GRUOp>(op))  // the last gate has panels of its own
    groups = {2 * hidden, hidden};
  int64_t most = padded(groups.front()) + (groups.size() > 1 ? padded(groups.back()) : 0);
  bool fits = rows == weights.getDimSize(1) && (groups.size() == 1 || rows == 3 * hidden);
  if (!fits || most > 2 * rows)
    return;
  OpBuilder b(op);
  op->setOperand(1, panels(b, w, *values, rows));
  op->setOperand(2, panels(b, r, *recurrent, groups));
  op->setAttr("packed", b.getI64IntegerAttr(1));
}

}  // namespace onnxc
