// LinearMachines.cpp: support vector machines with a linear kernel: products with sums of vectors are sums of products, so a class needs
// one vector for each of its opponents. For simplify.
#include "dialects/onnx/ML.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include <cmath>

using namespace mlir;
namespace onnxc {

// The sum of the vectors [begin, end), each times its coefficient, appended to `to`. False: it is not finite.
static bool appendSum(ArrayRef<float> vectors, ArrayRef<float> coefficients, int64_t begin, int64_t end, int64_t columns,
                      std::vector<float> &to) {
  std::vector<double> sum(columns);
  for (int64_t v = begin; v < end; ++v)
    for (int64_t k = 0; k < columns; ++k)
      sum[k] += double(coefficients[v]) * double(vectors[v * columns + k]);
  to.insert(to.end(), sum.begin(), sum.end());
  return llvm::all_of(ArrayRef(to).take_back(columns), [](float v) { return std::isfinite(v); });
}

static LogicalResult classifier(onnx::MLSVMClassifierOp op, PatternRewriter &rewriter) {
  ArrayRef<int64_t> perClass = op.getVectorsPerClass().value_or(ArrayRef<int64_t>());
  ArrayRef<float> vectors = op.getSupportVectors().value_or(ArrayRef<float>()), given = op.getCoefficients().value_or(ArrayRef<float>());
  int64_t classes = perClass.size(), each = classes - 1, count = 0;
  for (int64_t n : perClass)
    count = n < 0 || n > int64_t(vectors.size()) ? INT64_MIN / 2 : count + n;
  if (op.getKernelType() != "LINEAR" || each < 1 || count <= classes * each || vectors.size() % count ||
      int64_t(given.size()) < each * count)
    return rewriter.notifyMatchFailure(op, "not linear, or of few vectors");
  int64_t columns = vectors.size() / count, begin = 0;
  std::vector<float> sums, coefficients(each * classes * each);
  for (int64_t k = 0; k < classes; begin += perClass[k++])
    for (int64_t row = 0; row < each; ++row) {  // of the coefficients: the opponent
      if (!appendSum(vectors, given.slice(row * count, count), begin, begin + perClass[k], columns, sums))
        return rewriter.notifyMatchFailure(op, "a sum is not finite");
      coefficients[(row * classes + k) * each + row] = 1;
    }
  rewriter.modifyOpInPlace(op, [&] {
    op.setSupportVectors(sums);
    op.setCoefficients(coefficients);
    op.setVectorsPerClass(SmallVector<int64_t>(classes, each));
  });
  return success();
}

static LogicalResult regressor(onnx::MLSVMRegressorOp op, PatternRewriter &rewriter) {
  ArrayRef<float> vectors = op.getSupportVectors().value_or(ArrayRef<float>()), given = op.getCoefficients().value_or(ArrayRef<float>());
  int64_t count = op.getNSupports();
  if (op.getKernelType() != "LINEAR" || count < 2 || vectors.empty() || vectors.size() % count || int64_t(given.size()) < count)
    return rewriter.notifyMatchFailure(op, "not linear, or of one vector");
  std::vector<float> sum;
  if (!appendSum(vectors, given, 0, count, vectors.size() / count, sum))
    return rewriter.notifyMatchFailure(op, "the sum is not finite");
  rewriter.modifyOpInPlace(op, [&] {
    op.setSupportVectors(sum);
    op.setCoefficients(ArrayRef<float>{1});
    op.setNSupports(1);
  });
  return success();
}

void populateLinearMachinePatterns(RewritePatternSet &patterns) { patterns.add(classifier).add(regressor); }

}  // namespace onnxc
