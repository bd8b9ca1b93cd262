// SymbolicNumbers.cpp: operands that kernels read one number from. An operand of any other size is a diagnostic, or a check that the run
// does before the op; SymbolicShapes.cpp asks for it before each rule.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

// By the name that onnx::opName gives: which declared operands.
static const llvm::StringMap<SmallVector<unsigned, 6>> &numberOperands() {
  static const llvm::StringMap<SmallVector<unsigned, 6>> table = {
      {"BlackmanWindow", {0}},
      {"Clip", {1, 2}},
      {"ConvInteger", {2}},
      {"CumSum", {1}},
      {"DFT", {1, 2}},
      {"Dropout", {1, 2}},
      {"HammingWindow", {0}},
      {"HannWindow", {0}},
      {"OneHot", {1}},
      {"Range", {0, 1, 2}},
      {"MelWeightMatrix", {0, 1, 2, 3, 4}},
      {"NonMaxSuppression", {2, 3, 4}},
      {"SequenceAt", {1}},
      {"SequenceErase", {1}},
      {"SequenceInsert", {2}},
      {"QLinearConv", {1, 2, 6, 7}},
      {"STFT", {1, 3}},
      {"TopK", {1}},
      {"Trilu", {1}},
      {"ms.BifurcationDetector", {2}},
      {"ms.GroupQueryAttention", {6}},
      {"ms.MatMulIntegerToFloat", {2, 4}},
      {"ms.QAttention", {3, 6}},
      {"ms.QGemm", {1, 2, 7, 8}},
      {"ms.QLinearAdd", {1, 2, 4, 5, 6, 7}},
      {"ms.QLinearAveragePool", {1, 2, 3, 4}},
      {"ms.QLinearConcat", {0, 1}},
      {"ms.QLinearGlobalAveragePool", {1, 2, 3, 4}},
      {"ms.QLinearLeakyRelu", {1, 2, 3, 4}},
      {"ms.QLinearMul", {1, 2, 4, 5, 6, 7}},
      {"ms.QLinearSigmoid", {1, 2, 3, 4}},
      {"ms.QLinearSoftmax", {1, 2, 3, 4}},
      {"training.Adagrad", {0, 1}},
      {"training.Adam", {0, 1}},
      {"training.Momentum", {0, 1}},
  };
  return table;
}

LogicalResult ShapeOp::oneNumber(Value v, const Twine &what, Operation *before) {
  if (!s.hasRank(v))
    return success();
  auto n = s.count(v);
  if (n && *n != 1)
    return error() << what << " has " << *n << " elements, one is needed";
  if (!n)
    s.check({before ? before : op, s.product(s.dims(v)), s.constant(1)});
  return success();
}

LogicalResult ShapeOp::checkNumbers(StringRef name) {
  auto row = numberOperands().find(name);
  if (row == numberOperands().end())
    return success();
  for (unsigned i : row->second)
    if (Value v = i < numDeclaredInputs() ? in(i) : Value())
      if (failed(oneNumber(v, "input " + Twine(i))))
        return failure();
  return success();
}

}  // namespace onnxc
