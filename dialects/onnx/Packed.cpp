// Packed.cpp: definitions and registration of the ops of Packed.td.
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Blocked.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "dialects/onnx/Packed.cpp.inc"

void onnxc::onnx::OnnxDialect::registerPacked() {
  add<
#define GET_OP_LIST
#include "dialects/onnx/Packed.cpp.inc"
      >();
}

bool onnxc::onnx::isProduct(PackedConvOp op) {
  ArrayRef<int64_t> w = cast<RankedTensorType>(op.getW().getType()).getShape(), strides = op.getStrides();
  bool isPoint = w[2] == 1 && w[3] == 1 && strides[0] == 1 && strides[1] == 1;
  return !op.getPlain() && !op.getFrames() && isPoint && llvm::all_of(op.getPads(), [](int64_t v) { return v == 0; });
}

// Row j of G is (1, p_j, p_j^2, ...) / M'(p_j) with M(x) = x (x^2 - 1) (x - 1/2) (x + 2), that of infinity (0, ..., 0, 1).
SmallVector<SmallVector<double>> onnxc::onnx::WinogradAxis::filters() const {
  if (!isTransformed())
    return {{1}};
  constexpr double finite[] = {0, 1, -1, 0.5, -2};
  SmallVector<SmallVector<double>> g;
  for (double point : finite) {
    double power = 1;
    for (double other : finite)
      power /= other == point ? 1 : point - other;
    g.emplace_back();
    for (int64_t i = 0; i < segment; ++i, power *= point)
      g.back().push_back(power);
  }
  g.emplace_back(segment, 0.0).back() = 1;
  return g;
}

bool onnxc::onnx::isWindow(Operation *op) { return isa<PackedGroupedConvOp, PackedPoolOp>(op); }

std::optional<onnxc::onnx::FrameAxis> onnxc::onnx::frameAxis(Operation *op) {
  auto frames = op->getAttrOfType<DenseI64ArrayAttr>("frames");
  if (!frames)
    return std::nullopt;
  FrameAxis axis{frames[0], frames[1], frames[2], frames[3], frames[4]};
  if (auto grouped = dyn_cast<PackedGroupedConvOp>(op))
    axis.blocks = llvm::divideCeilSigned(cast<RankedTensorType>(grouped.getW().getType()).getDimSize(0), grouped.getMultiplier());
  else if (isa<PackedPoolOp>(op))
    axis.blocks = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1);
  else if (!isa<PackedFrameConvOp, PackedFramePoolOp>(op))
    axis.blocks = intAttr(op, "channels") / (intAttr(op, "plain") ? 1 : kLanes) / axis.taps;
  return axis;
}
