// SymbolicRulesMicrosoft.cpp: com.microsoft ops that differ from the standard's (the others share the standard's rules).
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

static LogicalResult likeSecond(ShapeOp &o) { return o.set(0, o.dims(1)); }

// Whether operand `i`, where it is given, has one of these numbers of axes.
static LogicalResult hasAxes(ShapeOp &o, unsigned i, StringRef name, ArrayRef<int64_t> wanted) {
  if (!o.in(i) || llvm::is_contained(wanted, o.rank(i)))
    return success();
  std::string numbers = llvm::join(llvm::map_range(wanted, [](int64_t n) { return std::to_string(n); }), " or ");
  return o.error() << name << " needs " << numbers << " axes, it has " << o.rank(i);
}

// Attention over packed weights; `past` is the operand that holds keys and values [2, batch, heads, length, size].
template <unsigned past>
static LogicalResult packedAttention(ShapeOp &o) {
  if (o.rank(0) != 3 || o.rank(1) != 2)
    return o.error() << "input and weights need 3 and 2 axes, they have " << o.rank(0) << " and " << o.rank(1);
  if (failed(hasAxes(o, past, "past", {5})))
    return failure();
  ArrayRef<int64_t> sizes = o.intsAttr("qkv_hidden_sizes");
  AffineExpr heads = o.c(o.intAttr("num_heads")), third = o.s.floorDiv(o.dim(1, 1), o.c(3));
  AffineExpr query = sizes.size() == 3 ? o.c(sizes[0]) : third, value = sizes.size() == 3 ? o.c(sizes[2]) : third;
  if (failed(o.divides("num_heads", query, "the size of a query")) || failed(o.divides("num_heads", value, "the size of a value")))
    return failure();
  AffineExpr total = o.in(past) ? o.s.add(o.dim(past, 3), o.dim(0, 1)) : o.dim(0, 1);
  if (o.in(past) && o.intAttr("past_present_share_buffer"))
    total = o.dim(past, 3);
  if (failed(o.set(0, {o.dim(0, 0), o.dim(0, 1), value})))
    return failure();
  return o.set(1, {o.c(2), o.dim(0, 0), heads, total, o.s.floorDiv(value, heads)});
}

// Keys as wide as queries, a value for each key. Keys are [batch, length, width], [batch, heads, length, size] or, with the values beside
// them, [batch, length, heads, 2, size]; values like the first two.
static LogicalResult keysFit(ShapeOp &o, AffineExpr width, AffineExpr heads) {
  if (!o.in(1))
    return success();
  auto length = [&](unsigned i) { return o.dim(i, o.rank(i) == 4 ? 2 : 1); };
  AffineExpr own = o.rank(1) == 3 ? o.dims(1).back() : o.s.mul(o.dims(1).back(), o.rank(1) == 4 ? o.dim(1, 1) : o.dim(1, 2));
  if (failed(o.same(width, own, "widths of query and key:")))
    return failure();
  if (o.rank(1) > 3 && failed(o.same(o.dim(1, o.rank(1) == 4 ? 1 : 2), heads, "heads of the key and num_heads:")))
    return failure();
  if (o.rank(1) == 5 && failed(o.same(o.dim(1, 3), o.c(2), "parts of a key that holds values too, and two:")))
    return failure();
  if (o.in(2) && failed(o.same(length(1), length(2), "lengths of key and value:")))
    return failure();
  return success(!o.in(2) || o.rank(2) == 4 || succeeded(o.divides("num_heads", o.dims(2).back(), "the last size of the value")));
}

static LogicalResult multiHeadAttention(ShapeOp &o) {
  if (failed(hasAxes(o, 0, "query", {3, 5})) || failed(hasAxes(o, 1, "key", {3, 4, 5})) || failed(hasAxes(o, 2, "value", {3, 4})) ||
      failed(hasAxes(o, 6, "past_key", {4})) || failed(hasAxes(o, 7, "past_value", {4})) || failed(o.isPositive("num_heads")))
    return failure();
  AffineExpr heads = o.c(o.intAttr("num_heads", 1)), batch = o.dim(0, 0), queries = o.dim(0, 1);
  bool packed = o.rank(0) == 5;
  if (!packed &&
      (failed(o.divides("num_heads", o.dims(0).back(), "the last size of the query")) || failed(keysFit(o, o.dims(0).back(), heads))))
    return failure();
  AffineExpr hidden = packed ? o.s.mul(o.dim(0, 2), o.dim(0, 4)) : o.dims(0).back(), keys = queries;
  if (!packed && o.in(2)) {
    bool split = o.rank(2) == 4;
    hidden = split ? o.s.mul(o.dim(2, 1), o.dim(2, 3)) : o.dims(2).back();
    keys = o.dim(2, split ? 2 : 1);
  } else if (!packed && o.in(1) && o.rank(1) == 5) {
    keys = o.dim(1, 1);
  }
  AffineExpr total = o.in(6) ? o.s.add(o.dim(6, 2), keys) : keys;
  AffineExpr keySize = packed ? o.dim(0, 4) : o.s.floorDiv(o.dims(0).back(), heads);
  return success(succeeded(o.set(0, {batch, queries, hidden})) && succeeded(o.set(1, {batch, heads, total, keySize})) &&
                 succeeded(o.set(2, {batch, heads, total, o.s.floorDiv(hidden, heads)})) &&
                 succeeded(o.set(3, {batch, heads, queries, total})));
}

static LogicalResult groupQueryAttention(ShapeOp &o) {
  if (failed(hasAxes(o, 0, "query", {3})) || failed(hasAxes(o, 1, "key", {3})) || failed(hasAxes(o, 2, "value", {3})) ||
      failed(hasAxes(o, 3, "past_key", {4})) || failed(hasAxes(o, 4, "past_value", {4})) || failed(o.isPositive("num_heads")) ||
      failed(o.divides("kv_num_heads", o.c(o.intAttr("num_heads", 1)), "num_heads")))
    return failure();
  int64_t q = o.intAttr("num_heads", 1), kv = o.intAttr("kv_num_heads", 1);
  bool packed = !o.in(1);
  if (q > INT32_MAX)
    return o.error() << "num_heads is " << q << ", more than a query holds";
  const int64_t parts = packed ? q + 2 * kv : q;
  if (auto width = known(o.dim(0, 2)); width && *width % parts)
    return o.error() << "the last size of the query, " << *width << ", is no multiple of the " << parts << " heads in it";
  AffineExpr head = o.s.floorDiv(o.dim(0, 2), o.c(parts));
  for (unsigned i : {1u, 2u})
    if (o.in(i) && failed(o.same(o.s.mul(head, o.c(kv)), o.dim(i, 2), "width of the keys' heads and of input " + Twine(i) + ":")))
      return failure();
  if (!packed && o.in(2) && failed(o.same(o.dim(1, 1), o.dim(2, 1), "lengths of key and value:")))
    return failure();
  AffineExpr total = o.element(6), past = o.in(3) ? o.dim(3, 2) : o.c(0);
  AffineExpr present = o.intAttr("sliding_window_cache", 0) ? past : o.s.max(past, total);
  Dims cache{o.dim(0, 0), o.c(kv), present, head};
  if (o.in(3))
    cache[3] = o.dim(3, 3);
  return success(succeeded(o.set(0, {o.dim(0, 0), o.dim(0, 1), o.s.mul(head, o.c(q))})) && succeeded(o.set(1, cache)) &&
                 succeeded(o.set(2, cache)) && succeeded(o.set(3, {o.dim(0, 0), o.c(q), o.dim(0, 1), total})));
}

// B, scales, zero points and bias may have any axes: their kernel counts entries.
static LogicalResult blockOperands(ShapeOp &o, int64_t k, int64_t n, int64_t bits, int64_t block) {
  if (block * bits % 8 != 0)
    return o.error() << "blocks of " << block << " values of " << bits << " bits do not fill whole bytes";
  int64_t blocks = (k + block - 1) / block;
  bool packed = o.in(3) && onnx::elementType(o.in(3)).isUnsignedInteger(8);
  std::pair<const char *, int64_t> wanted[] = {
      {"B", n * blocks * (block * bits / 8)}, {"scales", n * blocks}, {"zero_points", n * (packed ? (blocks * bits + 7) / 8 : blocks)}};
  for (auto [i, operand] : llvm::enumerate(wanted))
    if (auto given = o.in(i + 1) ? o.s.count(o.in(i + 1)) : std::nullopt; given && *given != operand.second)
      return o.error() << operand.first << " " << o.text(o.dims(i + 1)) << " has " << *given << " entries, " << operand.second
                       << " are needed for N = " << n << " and " << blocks << " blocks of " << block;
  if (auto given = o.in(4) ? o.s.count(o.in(4)) : std::nullopt; given && *given < k)
    return o.error() << "g_idx has " << *given << " entries, K = " << k << " are needed";
  return success(!o.in(5) || succeeded(o.same(o.s.product(o.dims(5)), o.c(n), "entries of the bias and N:")));
}

static LogicalResult matMulNBits(ShapeOp &o) {
  if (o.rank(0) < 1)
    return o.error() << "A needs at least one axis";
  int64_t k = o.intAttr("K"), n = o.intAttr("N"), bits = o.intAttr("bits", 4), block = o.intAttr("block_size");
  bool small = k > 0 && n > 0 && block > 0 && std::max({k, n, block}) < (int64_t(1) << 31) && llvm::is_contained({2, 4, 8}, bits);
  if (failed(o.same(o.dims(0).back(), o.c(k), "last size of A and K:")) || (small && failed(blockOperands(o, k, n, bits, block))))
    return failure();
  Dims dims(o.dims(0));
  dims.back() = o.c(o.intAttr("N"));
  return o.set(0, dims);
}

// Inputs are (tensor, scale, zero point) in turn.
static LogicalResult qlinearConcat(ShapeOp &o) {
  OperandRange ins = o.inputs(2);
  if (ins.size() < 3)
    return o.error() << "no input";
  Dims dims(o.s.dims(ins[0]));
  auto axis = o.axis(o.intAttr("axis"), dims.size());
  if (failed(axis))
    return failure();
  dims[*axis] = o.c(0);
  for (size_t i = 0; i + 2 < ins.size(); i += 3) {
    if (o.s.dims(ins[i]).size() != dims.size())
      return o.error() << "inputs need as many axes as the first, " << dims.size() << ", one has " << o.s.dims(ins[i]).size();
    for (auto [d, size] : llvm::enumerate(o.s.dims(ins[i]))) {
      auto common =
          int64_t(d) == *axis ? FailureOr<AffineExpr>(o.s.add(dims[d], size)) : o.same(dims[d], size, "sizes of axis " + Twine(d));
      if (failed(common))
        return failure();
      dims[d] = *common;
    }
  }
  return o.set(0, dims);
}

static LogicalResult tokenizer(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.push_back({});
  return o.set(0, dims);
}
static LogicalResult cropAndResize(ShapeOp &o) {
  if (o.rank(0) != 4 || o.rank(1) != 2)
    return o.error() << "X needs four axes and rois two, they have " << o.rank(0) << " and " << o.rank(1);
  auto four = o.same(o.dim(1, 1), o.c(4), "last size of rois and 4:");
  auto images = o.same(o.dim(1, 0), o.dims(2).empty() ? o.c(1) : o.dim(2, 0), "sizes of rois and batch_indices:");
  if (failed(four) || failed(images))
    return failure();
  Dims dims = {o.dim(1, 0), o.dim(0, 1), {}, {}};
  if (auto sizes = o.elements(3); sizes && sizes->size() == 2)
    dims[2] = (*sizes)[0], dims[3] = (*sizes)[1];
  return o.set(0, dims);
}
static LogicalResult timeWarping(ShapeOp &o) { return o.set(0, {o.c(2), AffineExpr()}); }
static LogicalResult bifurcation(ShapeOp &o) { return success(succeeded(o.set(0, {AffineExpr()})) && succeeded(o.set(1, {}))); }

void addMicrosoftRules(ShapeRules &rules) {
  for (const char *name : {"ms.FastGelu", "ms.QuickGelu", "ms.RotaryEmbedding", "ms.QLinearSigmoid", "ms.QLinearLeakyRelu",
                           "ms.QLinearSoftmax", "ms.Inverse", "ms.MurmurHash3"})
    rules[name] = likeFirst;
  rules["ms.BiasGelu"] = broadcastTwo<0, 1>;
  rules["ms.QLinearAdd"] = rules["ms.QLinearMul"] = broadcastTwo<0, 3>;
  rules["ms.NGramRepeatBlock"] = likeSecond;
  rules["ms.Attention"] = packedAttention<4>;
  rules["ms.QAttention"] = packedAttention<8>;
  rules["ms.MultiHeadAttention"] = multiHeadAttention;
  rules["ms.GroupQueryAttention"] = groupQueryAttention;
  rules["ms.MatMulNBits"] = matMulNBits;
  rules["ms.QLinearConcat"] = qlinearConcat;
  rules["ms.Tokenizer"] = tokenizer;
  rules["ms.CropAndResize"] = cropAndResize;
  rules["ms.DynamicTimeWarping"] = timeWarping;
  rules["ms.BifurcationDetector"] = bifurcation;
}

}  // namespace onnxc
