// PackVectors.cpp: SVMRegressor and SVMClassifier: their support vectors become panels at compile time.
#include "passes/fusion/PackVectors.h"
#include "dialects/onnx/OnnxBase.h"
#include "runtime_stub/kernels/PanelSizes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
namespace onnxc {

// How many vectors the op says that it has; those of its classes where it classifies. `most`, and one more, where they are more.
static int64_t countVectors(Operation *op, int64_t most) {
  if (onnx::opName(op) == "ml.SVMRegressor")
    return onnx::intAttr(op, "n_supports");
  int64_t count = 0;
  auto classes = op->getAttrOfType<DenseI64ArrayAttr>("vectors_per_class");
  for (int64_t each : classes ? classes.asArrayRef() : ArrayRef<int64_t>()) {
    if (each < 0 || each > most - count)
      return most + 1;
    count += each;
  }
  return count;
}

bool packVectors(Operation *op) {
  auto given = op->getAttrOfType<DenseF32ArrayAttr>("support_vectors");
  int64_t numbers = given ? given.size() : 0, count = countVectors(op, numbers);
  if (count < 1 || count > numbers || numbers % count)
    return false;
  int64_t columns = numbers / count, panels = llvm::divideCeil(count, kVectorPanel);
  std::vector<float> packed(panels * columns * kVectorPanel);
  const float *from = given.asArrayRef().data();
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < columns; ++k)
      packed[(i / kVectorPanel * columns + k) * kVectorPanel + i % kVectorPanel] = *from++;
  op->removeAttr("support_vectors");
  auto type = RankedTensorType::get({panels, columns, kVectorPanel}, Float32Type::get(op->getContext()));
  op->setAttr("panels", DenseElementsAttr::get(type, ArrayRef<float>(packed)));
  return true;
}

}  // namespace onnxc
