// SymbolicRulesOther.cpp: quantisation, signal, text, image decoding, random and training ops.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

// Scales: one, one for each entry of an axis, or one for each block of it.
static LogicalResult quantize(ShapeOp &o) {
  int64_t block = o.intAttr("block_size"), rank = o.rank(0);
  if (block < 0)
    return o.error() << "block_size " << block << " is negative";
  bool one = o.rank(1) == 0 || (o.rank(1) == 1 && known(o.dim(1, 0)) == 1);
  if (o.in(2) && (one ? o.s.count(o.in(2)).value_or(1) != 1 : o.rank(2) != o.rank(1)))
    return o.error() << "scale " << o.text(o.dims(1)) << " and zero point " << o.text(o.dims(2)) << " differ in shape";
  for (int64_t d = 0; o.in(2) && !one && d < o.rank(1); ++d)
    if (failed(o.same(o.dim(1, d), o.dim(2, d), "sizes of scale and of zero point:")))
      return failure();
  if (one && block == 0)
    return likeFirst(o);
  if (o.rank(1) != (block ? rank : 1))
    return o.error() << "scale " << o.text(o.dims(1)) << " needs " << (block ? rank : 1) << " axes";
  auto axis = o.axis(o.intAttr("axis", 1), rank);
  if (failed(axis))
    return failure();
  for (int64_t d = block ? 0 : *axis; d < (block ? rank : *axis + 1); ++d) {
    AffineExpr size = block && d == *axis ? o.s.ceilDiv(o.dim(0, d), o.c(block)) : o.dim(0, d);
    StringRef part = block && d == *axis ? "the blocks of axis " : "axis ";
    if (failed(o.same(o.dim(1, block ? d : 0), size, "sizes of scale and of " + part + Twine(d) + ":")))
      return failure();
  }
  return likeFirst(o);
}
static LogicalResult dynamicQuantize(ShapeOp &o) {
  return success(succeeded(o.set(0, o.dims(0))) && succeeded(o.set(1, {})) && succeeded(o.set(2, {})));
}

// --- signal ---

static LogicalResult dft(ShapeOp &o) {
  int64_t rank = o.rank(0);
  auto given = o.in(2) ? o.constantScalar(2) : std::optional<int64_t>(-2);
  if (!given)
    return o.setRank(0, rank);
  auto axis = o.axis(*given, rank);
  if (failed(axis))
    return failure();
  bool inverse = o.intAttr("inverse"), oneSided = o.intAttr("onesided");
  Dims dims(o.dims(0));
  AffineExpr &n = dims[*axis];
  if (o.in(1)) {
    auto length = o.elements(1);
    n = length && length->size() == 1 ? length->front() : AffineExpr();
  } else if (inverse && oneSided) {
    n = o.s.mul(o.s.sub(n, o.c(1)), o.c(2));
  }
  if (oneSided && !inverse)
    n = o.s.add(o.s.floorDiv(n, o.c(2)), o.c(1));
  dims.back() = o.c(oneSided && inverse ? 1 : 2);
  return o.set(0, dims);
}

static LogicalResult stft(ShapeOp &o) {
  auto step = o.elements(1), length = o.in(3) ? o.elements(3) : std::nullopt;
  AffineExpr frame = length && length->size() == 1 ? length->front() : o.in(3) ? AffineExpr() : o.in(2) ? o.dim(2, 0) : o.dim(0, 1);
  AffineExpr bins = o.intAttr("onesided", 1) ? o.s.add(o.s.floorDiv(frame, o.c(2)), o.c(1)) : frame;
  AffineExpr frames = step && step->size() == 1 ? o.s.add(o.s.floorDiv(o.s.sub(o.dim(0, 1), frame), step->front()), o.c(1)) : AffineExpr();
  return o.set(0, {o.dim(0, 0), frames, bins, o.c(2)});
}

static LogicalResult melWeightMatrix(ShapeOp &o) { return o.set(0, {o.s.add(o.s.floorDiv(o.element(1), o.c(2)), o.c(1)), o.element(0)}); }
static LogicalResult windowFunction(ShapeOp &o) { return o.set(0, {o.element(0)}); }

// --- text and images ---

static LogicalResult stringSplit(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.push_back({});
  return success(succeeded(o.set(0, dims)) && succeeded(o.set(1, o.dims(0))));
}
// Stop words drop out; what is left empty becomes one empty string.
static LogicalResult stringNormalizer(ShapeOp &o) {
  Dims dims(o.dims(0));
  if (dims.empty())
    return o.error() << "needs at least one axis";
  auto stop = o.op->getAttrOfType<ArrayAttr>("stopwords");
  dims.back() = stop && !stop.empty() ? AffineExpr() : o.s.max(dims.back(), o.c(1));
  return o.set(0, dims);
}
static LogicalResult tfIdf(ShapeOp &o) {
  int64_t columns = 0;
  for (int64_t i : o.intsAttr("ngram_indexes"))
    columns = std::max(columns, i + 1);
  Dims dims(o.dims(0).drop_back(o.rank(0) ? 1 : 0));
  dims.push_back(o.c(columns));
  return o.set(0, dims);
}
static LogicalResult imageDecoder(ShapeOp &o) {
  return o.set(0, {AffineExpr(), AffineExpr(), o.c(o.strAttr("pixel_format") == "Grayscale" ? 1 : 3)});
}

// --- random and training ---

static LogicalResult randomShape(ShapeOp &o) {
  Dims dims;
  for (int64_t d : o.intsAttr("shape"))
    dims.push_back(o.c(d));
  return o.set(0, dims);
}
static LogicalResult multinomial(ShapeOp &o) { return o.set(0, {o.dim(0, 0), o.c(o.intAttr("sample_size", 1))}); }

// The operands after R and T come in groups of one tensor for each trained one; results are groups of them.
template <int groups>
static LogicalResult optimizer(ShapeOp &o) {
  int64_t results = o.op->getNumResults(), n = std::max<int64_t>(results / groups, 1);
  for (int64_t i = 0; i < results; ++i)
    o.s.setDims(o.op->getResult(i), Dims(o.s.dims(o.op->getOperand(2 + i % n))));
  return success();
}

void addOtherRules(ShapeRules &rules) {
  rules["QuantizeLinear"] = rules["DequantizeLinear"] = quantize;
  rules["DynamicQuantizeLinear"] = dynamicQuantize;
  rules["DFT"] = dft;
  rules["STFT"] = stft;
  rules["MelWeightMatrix"] = melWeightMatrix;
  rules["HannWindow"] = rules["HammingWindow"] = rules["BlackmanWindow"] = windowFunction;
  rules["StringSplit"] = stringSplit;
  rules["StringNormalizer"] = stringNormalizer;
  rules["RegexFullMatch"] = likeFirst;
  rules["TfIdfVectorizer"] = tfIdf;
  rules["ImageDecoder"] = imageDecoder;
  rules["RandomNormal"] = rules["RandomUniform"] = randomShape;
  rules["RandomNormalLike"] = rules["RandomUniformLike"] = rules["Bernoulli"] = likeFirst;
  rules["Multinomial"] = multinomial;
  rules["training.Adagrad"] = rules["training.Momentum"] = optimizer<2>;
  rules["training.Adam"] = optimizer<3>;
}

}  // namespace onnxc
