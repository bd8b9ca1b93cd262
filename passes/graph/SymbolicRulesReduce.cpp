// SymbolicRulesReduce.cpp: reductions, scans, normalisations and losses.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

// A reduction of all of a small integer tensor is shape arithmetic: the product of a shape, the largest of two sizes.
static void foldReduction(ShapeOp &o) {
  DimsRef elements = o.s.partialElements(o.in(0));
  if (elements.empty() || o.s.count(o.out(0)) != 1)
    return;
  StringRef name = onnx::opName(o.op);
  AffineExpr result = elements.front();
  for (AffineExpr e : elements.drop_front())
    result = name == "ReduceProd"  ? o.s.mul(result, e)
             : name == "ReduceSum" ? o.s.add(result, e)
             : name == "ReduceMax" ? o.s.max(result, e)
             : name == "ReduceMin" ? o.s.min(result, e)
                                   : AffineExpr();
  bool first = name == "ReduceProd" || name == "ReduceSum" || name == "ReduceMax" || name == "ReduceMin";
  auto constant = known(result);
  bool fits =
      !constant || onnx::elementType(o.out(0)).isInteger(64) || (onnx::elementType(o.out(0)).isInteger(32) && llvm::isInt<32>(*constant));
  if (result && first && fits)
    o.setElements(0, {result});
}

static LogicalResult reduce(ShapeOp &o) {
  int64_t rank = o.rank(0);
  bool keep = o.intAttr("keepdims", 1);
  auto axes = o.in(1) ? o.constants(1) : std::optional<SmallVector<int64_t>>(SmallVector<int64_t>());
  if (!axes) {
    auto n = o.s.count(o.in(1));
    return keep ? o.setRank(0, rank) : n && *n > 0 ? o.setRank(0, std::max<int64_t>(rank - *n, 0)) : o.setFromType(0);
  }
  if (axes->empty() && o.intAttr("noop_with_empty_axes"))
    return o.set(0, o.dims(0));
  SmallVector<bool> reduced(rank, axes->empty());
  for (int64_t a : *axes) {
    auto axis = o.axis(a, rank);
    if (failed(axis))
      return failure();
    reduced[*axis] = true;
  }
  Dims dims;
  for (int64_t i = 0; i < rank; ++i)
    if (!reduced[i] || keep)
      dims.push_back(reduced[i] ? o.c(1) : o.dim(0, i));
  if (failed(o.set(0, dims)))
    return failure();
  foldReduction(o);
  return success();
}

static LogicalResult argReduce(ShapeOp &o) {
  auto axis = o.axis(o.intAttr("axis"), o.rank(0));
  if (failed(axis))
    return failure();
  Dims dims(o.dims(0));
  if (o.intAttr("keepdims", 1))
    dims[*axis] = o.c(1);
  else
    dims.erase(dims.begin() + *axis);
  return o.set(0, dims);
}

static LogicalResult likeFirstTwice(ShapeOp &o) { return success(succeeded(o.set(0, o.dims(0))) && succeeded(o.set(1, o.dims(0)))); }

// Operand `i`, where present, stretches to the input and never the other way round.
static LogicalResult stretchesToInput(ShapeOp &o, unsigned i) {
  if (i >= o.numDeclaredInputs() || !o.in(i))
    return success();
  auto both = o.broadcast(o.dims(0), o.dims(i));
  if (failed(both))
    return failure();
  for (auto [axis, d] : llvm::enumerate(o.rank(i) <= o.rank(0) ? Dims() : Dims(o.dims(i).drop_back(o.rank(0)))))
    if (known(d) != 1)
      return o.error() << "operand " << i << " " << o.text(o.dims(i)) << " has more axes than the input " << o.text(o.dims(0));
  for (auto [d, whole] : llvm::zip(llvm::reverse(o.dims(0)), llvm::reverse(*both)))
    if (known(d) == 1 && known(whole).value_or(1) != 1)
      return o.error() << "operand " << i << " " << o.text(o.dims(i)) << " does not stretch to the input " << o.text(o.dims(0));
  return success();
}

// Statistics of a layer normalisation keep the axes before `axis`.
static LogicalResult layerNormalization(ShapeOp &o) {
  int64_t rank = o.rank(0);
  auto axis = o.axis(o.intAttr("axis", -1), rank);
  if (failed(axis) || failed(o.set(0, o.dims(0))) || failed(stretchesToInput(o, 1)) || failed(stretchesToInput(o, 2)))
    return failure();
  Dims statistics(o.dims(0));
  std::fill(statistics.begin() + *axis, statistics.end(), o.c(1));
  return success(succeeded(o.set(1, statistics)) && succeeded(o.set(2, statistics)));
}

static LogicalResult rmsNormalization(ShapeOp &o) {
  return success(succeeded(o.axis(o.intAttr("axis", -1), o.rank(0))) && succeeded(stretchesToInput(o, 1)) && succeeded(likeFirst(o)));
}

// One scale and one bias for each channel.
static LogicalResult perChannel(ShapeOp &o) {
  if (o.rank(0) < 2 || o.rank(1) != 1 || o.rank(2) != 1)
    return o.error() << "needs data of at least 2 axes, scale and bias of one; got " << o.text(o.dims(0)) << ", " << o.text(o.dims(1))
                     << " and " << o.text(o.dims(2));
  return success(succeeded(o.same(o.dim(1, 0), o.dim(0, 1), "sizes of scale and channels:")) &&
                 succeeded(o.same(o.dim(2, 0), o.dim(0, 1), "sizes of bias and channels:")) && succeeded(likeFirst(o)));
}
static LogicalResult groupNormalization(ShapeOp &o) {
  int64_t groups = o.intAttr("num_groups");
  auto channels = o.rank(0) > 1 ? known(o.dim(0, 1)) : std::nullopt;
  if (groups < 1 || (channels && *channels % groups != 0))
    return o.error() << "num_groups " << groups << " does not divide the channels of " << o.text(o.dims(0));
  return perChannel(o);
}

static LogicalResult batchNormalization(ShapeOp &o) {
  if (o.rank(0) < 1 || o.rank(1) != 1)
    return o.error() << "scale " << o.text(o.dims(1)) << " needs one axis";
  if (o.rank(0) > 1 && failed(o.same(o.dim(0, 1), o.dim(1, 0), "channels of data and scale:")))
    return failure();
  for (unsigned i = 2; i < 5; ++i) {
    if (o.rank(i) != 1)
      return o.error() << "input " << i << " " << o.text(o.dims(i)) << " needs one axis";
    if (failed(o.same(o.dim(1, 0), o.dim(i, 0), "channels of scale and input " + Twine(i) + ":")))
      return failure();
  }
  return success(succeeded(o.set(0, o.dims(0))) && succeeded(o.set(1, o.dims(1))) && succeeded(o.set(2, o.dims(1))));
}

static LogicalResult negativeLogLikelihood(ShapeOp &o) { return o.set(0, o.strAttr("reduction") == "none" ? o.dims(1) : DimsRef()); }
static LogicalResult softmaxCrossEntropy(ShapeOp &o) {
  return success(succeeded(negativeLogLikelihood(o)) && succeeded(o.set(1, o.dims(0))));
}

// Skip, LayerNormalization: sums like the input, statistics over the last axis.
static LogicalResult skipNormalization(ShapeOp &o) {
  if (o.rank(0) < 1 || o.rank(1) < 1)
    return o.error() << "needs at least one axis";
  if (failed(o.same(o.dims(0).back(), o.dims(1).back(), "inner sizes")) || failed(o.broadcast(o.dims(0), o.dims(1))))
    return failure();
  for (unsigned i = 2; i < o.numDeclaredInputs(); ++i) {
    if (o.in(i) && o.rank(i) != 1)
      return o.error() << "input " << i << " " << o.text(o.dims(i)) << " needs one axis";
    if (o.in(i) && failed(o.same(o.dim(i, 0), o.dims(0).back(), "size of input " + Twine(i) + " and of the last axis:")))
      return failure();
  }
  Dims statistics(o.dims(0));
  statistics.back() = o.c(1);
  return success(succeeded(o.set(0, o.dims(0))) && succeeded(o.set(1, statistics)) && succeeded(o.set(2, statistics)) &&
                 succeeded(o.set(3, o.dims(0))));
}

static LogicalResult embedNormalization(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.push_back(o.dims(2).back());
  return success(succeeded(o.set(0, dims)) && succeeded(o.set(1, {o.dim(0, 0)})) && succeeded(o.set(2, dims)));
}

void addReduceRules(ShapeRules &rules) {
  for (const char *name : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                           "ReduceSum", "ReduceSumSquare"})
    rules[name] = reduce;
  rules["ArgMax"] = rules["ArgMin"] = argReduce;
  for (const char *name : {"CumSum", "CumProd", "Softmax", "LogSoftmax", "Hardmax", "LpNormalization", "MeanVarianceNormalization", "LRN"})
    rules[name] = likeFirst;
  rules["RMSNormalization"] = rmsNormalization;
  rules["InstanceNormalization"] = perChannel;
  rules["GroupNormalization"] = groupNormalization;
  rules["Dropout"] = likeFirstTwice;
  rules["LayerNormalization"] = rules["ms.LayerNormalization"] = rules["ms.SimplifiedLayerNormalization"] = layerNormalization;
  rules["BatchNormalization"] = batchNormalization;
  rules["NegativeLogLikelihoodLoss"] = negativeLogLikelihood;
  rules["SoftmaxCrossEntropyLoss"] = softmaxCrossEntropy;
  rules["ms.SkipLayerNormalization"] = rules["ms.SkipSimplifiedLayerNormalization"] = skipNormalization;
  rules["ms.EmbedLayerNormalization"] = embedNormalization;
}

}  // namespace onnxc
