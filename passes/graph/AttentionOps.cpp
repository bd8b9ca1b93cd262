// AttentionOps.cpp: Attention of the standard and com.microsoft's Attention and MultiHeadAttention of f32 as onnx.packed.Attention. Part of
// FuseAttention.cpp's pass. What shows its scores, writes into its cache or rotates stays with the library's oracle.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/Microsoft.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/AttentionOperand.h"
#include "passes/graph/GraphBuilder.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

struct Writer {
  GraphBuilder g;
  SymbolicShapes &s;

  bool hasAxes(Value v, size_t n) { return v && s.hasRank(v) && s.dims(v).size() == n && rankedType(v); }
  // The size of an axis when it is constant, else -1.
  int64_t size(Value v, int64_t axis) { return known(s.dims(v)[axis]).value_or(-1); }
  bool divides(int64_t heads, Value v) { return heads > 0 && size(v, 2) > 0 && size(v, 2) % heads == 0; }
  Type typed(ArrayRef<int64_t> shape, Type element) { return RankedTensorType::get(shape, element); }
  bool isShown(Value result) { return result && !result.use_empty(); }
  // `all` for `present`, whose type may know more of it or less.
  void show(Value present, Value all) {
    if (!isShown(present))
      return;
    if (all.getType() != present.getType())
      all = onnx::IdentityOp::create(g.b, g.loc, present.getType(), all);
    present.replaceAllUsesWith(all);
  }

  // [batch, length, heads * width] with its heads apart.
  Value apart(Value v, int64_t heads) {
    SmallVector<AffineExpr> dims(s.dims(v).take_front(2));
    int64_t width = size(v, 2) / heads;
    dims.append({s.constant(heads), s.constant(width)});
    Value r = g.reshape(v, {0, 0, heads, width});
    s.setDims(r, dims);
    return r;
  }
  // [batch, heads, length, width]
  Value headsFirst(Value v, int64_t heads) { return s.dims(v).size() == 4 ? v : g.transpose(apart(v, heads), {0, 2, 1, 3}); }
  AttentionOperand operand(Value v, int64_t heads) {
    bool apartAlready = rankedType(v).getRank() == 4;
    AttentionOperand o(apartAlready ? v : apart(v, heads), 4);
    if (!apartAlready)
      o.axes = {0, 2, 1, 3};
    return o;
  }
  // One of several in [batch, length, …, width]: `part` of the axis `along`.
  AttentionOperand partOf(Value v, int64_t headAxis, int64_t along, int64_t part) {
    AttentionOperand o(v, 4);
    o.axes = {0, headAxis, 1, 4};
    o.at.assign(5, 0);
    o.at[along] = part;
    return o;
  }

  // 0, 1, … for each place of an axis.
  Value numbers(Value of, int64_t axis) {
    if (int64_t n = size(of, axis); n >= 0)
      return g.integers(llvm::to_vector(llvm::seq<int64_t>(0, n)));
    Type i64 = g.b.getI64Type();
    Value n = g.sizeOf(of, axis);
    auto scalar = [&](int64_t v) { return g.integers<int64_t>({}, v); };
    return onnx::RangeOp::create(g.b, g.loc, typed({ShapedType::kDynamic}, i64), scalar(0), g.reshape(n, {}), scalar(1),
                                 g.b.getI64IntegerAttr(1));
  }

  // Where key j < lengths[batch entry], [batch, 1, 1, keys]; `causal`: and j <= query + lengths - queries, [batch, 1, queries, keys].
  Value within(Value lengths, Value keysOf, int64_t keyAxis, Value queriesOf, int64_t queryAxis, bool causal) {
    Type boolean = g.b.getI1Type(), i64 = g.b.getI64Type();
    Value end = g.unsqueeze(g.cast(lengths, i64), {1, 2, 3}), keys = numbers(keysOf, keyAxis);
    int64_t batch = rankedType(end).getDimSize(0), n = rankedType(keys).getDimSize(0);
    Value known = onnx::LessOp::create(g.b, g.loc, typed({batch, 1, 1, n}, boolean), keys, end);
    if (!causal)
      return known;
    Value queries = g.unsqueeze(numbers(queriesOf, queryAxis), {1});
    int64_t m = rankedType(queries).getDimSize(0);
    Value first = onnx::SubOp::create(g.b, g.loc, end.getType(), end, g.sizeOf(queriesOf, queryAxis));
    Value last = onnx::AddOp::create(g.b, g.loc, typed({batch, 1, m, 1}, i64), queries, first);
    Value seen = onnx::LessOrEqualOp::create(g.b, g.loc, typed({batch, 1, m, n}, boolean), keys, last);
    return onnx::AndOp::create(g.b, g.loc, seen.getType(), seen, known);
  }
};

bool allSingle(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value v) {
    Type t = onnx::elementType(v);
    return t && (!isa<FloatType>(t) || t.isF32());
  });
}

// Reads the tensors that the operands are made of where those of keys and values agree.
void lookThrough(SymbolicShapes &s, PackedAttention &p) {
  AttentionOperand k = p.k, v = p.v;
  double scale = 1;
  p.q.lookThrough(s, &p.scale), k.lookThrough(s, &scale), v.lookThrough(s, nullptr);
  for (int64_t axis : {0, 1})
    if (k.repeats.count(axis) != v.repeats.count(axis))
      return;
  p.scale *= scale, p.k = k, p.v = v;
}

// [batch, heads, length, width] or [batch, length, width] with the heads in the last axis, as `y` is.
void give(Writer &w, const PackedAttention &p, Value y, int64_t width) {
  if (rankedType(y).getRank() == 4)
    return p.replace(w.s, y);
  auto size = [](const AttentionOperand &o, int64_t logical) { return rankedType(o.base).getDimSize(o.axes[logical]); };
  Type type = w.typed({size(p.q, 0), size(p.q, 2), size(p.q, 1), size(p.v, 3)}, w.g.b.getF32Type());
  Value merged = w.g.reshape(p.create(w.g.b, w.g.loc, type, {0, 2, 1, 3}), {0, 0, width});
  merged.setType(y.getType());
  y.replaceAllUsesWith(merged);
}

double scaleFor(std::optional<APFloat> given, int64_t width) { return given ? given->convertToFloat() : 1 / std::sqrt(double(width)); }
// That of com.microsoft's ops, where 0 means that none is given.
double scaleUnlessZero(std::optional<APFloat> given, int64_t width) {
  return scaleFor(given && !given->isZero() ? given : std::nullopt, width);
}

// --- the standard's Attention ---

// The masks: `attn_mask`, and the lengths of `nonpad_kv_seqlen` with `is_causal` from their end.
bool standardMasks(onnx::AttentionOp op, Writer &w, PackedAttention &p, int64_t lengthAxis) {
  Value mask = op.getAttnMask(), lengths = op.getNonpadKvSeqlen();
  bool flags = mask && onnx::elementType(mask).isInteger(1), floats = mask && onnx::elementType(mask).isF32();
  if (mask && (w.s.dims(mask).empty() || w.s.dims(mask).size() > 4 || flags == floats))
    return false;
  (flags ? p.keep : p.bias) = mask;
  p.masked = mask ? PackedAttention::Cuts : PackedAttention::Broadcasts;
  p.fill = -INFINITY;
  if (!lengths)
    return true;
  AffineExpr keys = w.s.dims(op.getK())[lengthAxis];
  if (flags || op.getPastKey() || (mask && w.s.dims(mask).back() != keys) || p.before >= 0 || (p.after >= 0 && !op.getIsCausal()) ||
      !w.hasAxes(lengths, 1))
    return false;
  p.keep = w.within(lengths, op.getK(), lengthAxis, op.getQ(), lengthAxis, op.getIsCausal());
  p.after = -1, p.masked = PackedAttention::Broadcasts;
  return true;
}

bool standard(onnx::AttentionOp op, Writer &w) {
  SymbolicShapes &s = w.s;
  Value q = op.getQ(), k = op.getK(), v = op.getV();
  bool packed = s.dims(q).size() == 3, cached = bool(op.getPastKey()),
       shown = w.isShown(op.getPresentKey()) || w.isShown(op.getPresentValue());
  int64_t rank = packed ? 3 : 4, lengthAxis = packed ? 1 : 2, heads = op.getQNumHeads().value_or(0),
          kHeads = op.getKvNumHeads().value_or(0);
  if (w.isShown(op.getQkMatmulOutput()) || op.getSoftmaxPrecision().value_or(1) != 1 || cached != bool(op.getPastValue()))
    return false;
  if (!w.hasAxes(q, rank) || !w.hasAxes(k, rank) || !w.hasAxes(v, rank) || w.size(q, rank - 1) <= 0 || w.size(v, rank - 1) <= 0)
    return false;
  if (packed && (!w.divides(heads, q) || !w.divides(kHeads, k) || !w.divides(kHeads, v)))
    return false;
  PackedAttention p{w.operand(q, heads), AttentionOperand(k, rank), AttentionOperand(v, rank)};
  p.before = op.getLeftWindowSize(), p.after = op.getIsCausal() ? 0 : int64_t(op.getRightWindowSize());
  if (cached && (p.before >= 0 || p.after >= 0) && s.dims(q)[lengthAxis] != s.dims(k)[lengthAxis])
    return false;  // the keys do not tell where a query stands
  if (!standardMasks(op, w, p, lengthAxis))
    return false;
  p.zero = 2, p.atEnd = cached, p.softcap = op.getSoftcap().convertToFloat();
  p.scale = scaleFor(op.getScale(), packed ? w.size(q, 2) / heads : w.size(q, 3));
  if (cached || shown)
    k = w.headsFirst(k, kHeads), v = w.headsFirst(v, kHeads);
  if (cached)
    k = w.g.concat({op.getPastKey(), k}, 2), v = w.g.concat({op.getPastValue(), v}, 2);
  p.k = w.operand(k, kHeads), p.v = w.operand(v, kHeads);
  w.show(op.getPresentKey(), k), w.show(op.getPresentValue(), v);
  if (!cached && !shown)
    lookThrough(s, p);
  give(w, p, op.getY(), packed ? w.size(op.getV(), 2) / kHeads * heads : 0);
  return true;
}

// --- com.microsoft ---

// What com.microsoft's operators share: a mask that adds `filter`, a bias, keys up to the query; `cached`: keys before the given ones.
struct Masks {
  Value index, bias;
  double filter;
  bool causal, cached;
};

double filterOf(std::optional<APFloat> given) { return given ? given->convertToFloat() : -10000; }

// `scores`: [batch, heads, queries, keys].
bool addMasks(Writer &w, const Masks &m, PackedAttention &p, ArrayRef<AffineExpr> scores, Value keysOf, int64_t keyAxis) {
  SymbolicShapes &s = w.s;
  GraphBuilder &g = w.g;
  p.bias = m.bias, p.after = m.causal ? 0 : -1;
  if (m.bias && (!w.hasAxes(m.bias, 4) || s.dims(m.bias).back() != scores[3]))
    return false;
  if (!m.index)
    return true;
  if (!rankedType(m.index) || !s.hasRank(m.index))
    return false;
  ArrayRef<AffineExpr> dims = s.dims(m.index);
  bool raw = dims.size() == 2 || dims.size() == 3, known = !raw || dims.back() == scores[3];
  if (!known && m.bias)
    return false;
  Value kept;
  if (dims == ArrayRef<AffineExpr>{scores[0]} && !m.cached)
    kept = w.within(m.index, keysOf, keyAxis, Value(), 0, false);
  else if (raw && dims.drop_back() == ArrayRef<AffineExpr>{scores[0]})
    kept = g.unsqueeze(g.cast(m.index, g.b.getI1Type()), {1, 2});
  else if (raw && dims.drop_back() == ArrayRef<AffineExpr>{scores[0], scores[2]})
    kept = g.unsqueeze(g.cast(m.index, g.b.getI1Type()), {1});
  else
    return false;
  p.masked = known ? PackedAttention::Broadcasts : PackedAttention::HasAllKeys;
  auto type = rankedType(kept).clone(g.b.getF32Type());
  Value added = onnx::WhereOp::create(g.b, g.loc, type, kept, g.number(0), g.number(float(m.filter)));
  if (m.bias) {
    SmallVector<int64_t> shape(4, ShapedType::kDynamic);
    added = onnx::AddOp::create(g.b, g.loc, w.typed(shape, g.b.getF32Type()), added, m.bias);
  }
  p.bias = added;
  return true;
}

// Keys or values [batch, heads, length, width] with what was there before.
Value behind(Writer &w, Value past, const AttentionOperand &fresh) {
  Value first = w.g.transpose(fresh.base, fresh.axes);
  return past ? w.g.concat({past, first}, 2) : first;
}

// `past` [2, batch, heads, length, width]: one of both.
Value half(Writer &w, Value past, int64_t index) {
  auto type = rankedType(past);
  Value at = w.g.integers<int64_t>({}, index);
  return onnx::GatherOp::create(w.g.b, w.g.loc, w.typed(type.getShape().drop_front(), type.getElementType()), past, at,
                                w.g.b.getI64IntegerAttr(0));
}

// The rows `x` [batch, length, depth] times `weights` [depth, columns]; `bias` may be null.
Value projected(GraphBuilder &g, Value x, Value weights, Value bias) {
  auto type = rankedType(x);
  Type result = type.clone({type.getDimSize(0), type.getDimSize(1), rankedType(weights).getDimSize(1)});
  Value all = onnx::MatMulOp::create(g.b, g.loc, result, x, weights);
  return bias ? onnx::AddOp::create(g.b, g.loc, result, all, bias).getResult() : all;
}

// Parts of so many columns each of `all` [rows…, columns].
SmallVector<Value> columnsOf(Writer &w, Value all, ArrayRef<int64_t> sizes, ArrayRef<AffineExpr> rows) {
  SmallVector<Value> parts;
  int64_t at = 0;
  for (int64_t n : sizes) {
    Value part = w.g.slice(all, rows.size(), at, at + n);
    SmallVector<AffineExpr> dims(rows);
    dims.push_back(w.s.constant(n));
    w.s.setDims(part, dims);
    parts.push_back(part), at += n;
  }
  return parts;
}

bool microsoft(onnx::MSAttentionOp op, Writer &w) {
  SymbolicShapes &s = w.s;
  GraphBuilder &g = w.g;
  Value x = op.getInput(), past = op.getPast(), weights = op.getWeights();
  int64_t heads = op.getNumHeads();
  if (!w.hasAxes(x, 3) || !w.hasAxes(weights, 2) || op.getPastSequenceLength() || op.getDoRotary().value_or(0) ||
      op.getPastPresentShareBuffer().value_or(0) || (past && !w.hasAxes(past, 5)))
    return false;
  int64_t columns = w.size(weights, 1), third = columns / 3;
  SmallVector<int64_t> sizes(op.getQkvHiddenSizes().value_or(ArrayRef<int64_t>{third, third, third}));
  if (heads <= 0 || sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != columns || sizes[0] != sizes[1] ||
      llvm::any_of(sizes, [&](int64_t n) { return n <= 0 || n % heads; }))
    return false;
  AffineExpr batch = s.dims(x)[0], queries = s.dims(x)[1], keys = past ? s.add(s.dims(past)[3], queries) : queries;
  PackedAttention p{AttentionOperand(x, 3), AttentionOperand(x, 3), AttentionOperand(x, 3)};
  p.scale = scaleUnlessZero(op.getScale(), sizes[0] / heads), p.atEnd = bool(past);
  Masks masks{op.getMaskIndex(), op.getAttentionBias(), filterOf(op.getMaskFilterValue()), op.getUnidirectional() != 0, bool(past)};
  if (!addMasks(w, masks, p, {batch, s.constant(heads), queries, keys}, x, 1))
    return false;
  Value all = projected(g, x, weights, op.getBias());
  Value present = op->getNumResults() > 1 && w.isShown(op->getResult(1)) ? op->getResult(1) : Value();
  if (!past && !present && llvm::all_equal(sizes)) {
    Value parts = g.reshape(all, {0, 0, 3, heads, third / heads});
    p.q = w.partOf(parts, 3, 2, 0), p.k = w.partOf(parts, 3, 2, 1), p.v = w.partOf(parts, 3, 2, 2);
  } else {
    SmallVector<Value> parts = columnsOf(w, all, sizes, {batch, queries});
    Value k = behind(w, past ? half(w, past, 0) : Value(), w.operand(parts[1], heads));
    Value v = behind(w, past ? half(w, past, 1) : Value(), w.operand(parts[2], heads));
    p.q = w.operand(parts[0], heads), p.k = AttentionOperand(k, 4), p.v = AttentionOperand(v, 4);
    if (present)
      w.show(present, g.concat({g.unsqueeze(k, {0}), g.unsqueeze(v, {0})}, 0));
  }
  give(w, p, op->getResult(0), sizes[2]);
  return true;
}

// Q, K and V of MultiHeadAttention, with their bias; null where the form is not one of [batch, length, heads * width] (or keys and values
// with heads first), all three in one tensor, or keys and values in one.
std::optional<PackedAttention> headsOf(onnx::MSMultiHeadAttentionOp op, Writer &w, int64_t heads) {
  Value q = op.getQuery(), k = op.getKey(), v = op.getValue(), bias = op.getBias();
  if (w.hasAxes(q, 5) && !k && !v && !bias)
    return PackedAttention{w.partOf(q, 2, 3, 0), w.partOf(q, 2, 3, 1), w.partOf(q, 2, 3, 2)};
  if (!w.hasAxes(q, 3) || !w.divides(heads, q))
    return std::nullopt;
  if (w.hasAxes(k, 5) && !v && !bias)
    return PackedAttention{w.operand(q, heads), w.partOf(k, 2, 3, 0), w.partOf(k, 2, 3, 1)};
  bool first = w.hasAxes(k, 4) && w.hasAxes(v, 4);
  if (!first && (!w.hasAxes(k, 3) || !w.hasAxes(v, 3) || !w.divides(heads, k) || !w.divides(heads, v)))
    return std::nullopt;
  int64_t at = 0;
  for (Value *part : {&q, &k, &v}) {
    int64_t last = first && part != &q ? 3 : 2, width = w.size(*part, last) * (last == 3 ? heads : 1);
    if (width <= 0)
      return std::nullopt;
    if (bias && last == 2) {
      SmallVector<AffineExpr> dims(w.s.dims(*part));
      *part = onnx::AddOp::create(w.g.b, w.g.loc, part->getType(), *part, w.g.slice(bias, 0, at, at + width));
      w.s.setDims(*part, dims);
    }
    at += width;
  }
  return PackedAttention{w.operand(q, heads), w.operand(k, heads), w.operand(v, heads)};
}

bool multiHead(onnx::MSMultiHeadAttentionOp op, Writer &w) {
  SymbolicShapes &s = w.s;
  int64_t heads = op.getNumHeads();
  Value past = op.getPastKey(), pastV = op.getPastValue(), presents[] = {op.getPresentKey(), op.getPresentValue()};
  bool cached = bool(past), shown = w.isShown(presents[0]) || w.isShown(presents[1]);
  if (heads <= 0 || op.getPastSequenceLength() || op.getCacheIndirection() || w.isShown(op.getQk()) || cached != bool(pastV) ||
      (cached && (!w.hasAxes(past, 4) || !w.hasAxes(pastV, 4))))
    return false;
  std::optional<PackedAttention> p = headsOf(op, w, heads);
  if (!p || ((cached || shown) && (!op.getKey() || !op.getValue())))
    return false;
  int64_t keyAxis = p->k.axes[2], valueWidth = known(p->v.dim(s, 3)).value_or(0);
  if (valueWidth <= 0)
    return false;
  AffineExpr fresh = p->k.dim(s, 2), keys = cached ? s.add(s.dims(past)[2], fresh) : fresh, queries = s.dims(op.getQuery())[1];
  Masks masks{op.getKeyPaddingMask(), op.getAttentionBias(), filterOf(op.getMaskFilterValue()), op.getUnidirectional() != 0, cached};
  if (cached && masks.causal && fresh != queries)
    return false;
  p->scale = scaleUnlessZero(op.getScale(), known(p->q.dim(s, 3)).value_or(-1)), p->atEnd = cached;
  if (!addMasks(w, masks, *p, {s.dims(op.getQuery())[0], s.constant(heads), queries, keys}, p->k.base, keyAxis))
    return false;
  if (cached || shown) {
    Value k = behind(w, past, p->k), v = behind(w, pastV, p->v);
    p->k = AttentionOperand(k, 4), p->v = AttentionOperand(v, 4);
    w.show(presents[0], k), w.show(presents[1], v);
  } else {
    lookThrough(s, *p);
  }
  give(w, *p, op->getResult(0), heads * valueWidth);
  return true;
}
}  // namespace

bool packAttention(SymbolicShapes &shapes, Operation *op) {
  if (!allSingle(op) || !llvm::all_of(op->getOperands(), [&](Value v) { return shapes.hasRank(v) && rankedType(v); }))
    return false;
  PatternRewriter rewriter(op->getContext());
  rewriter.setInsertionPoint(op);
  Writer w{{rewriter, op->getLoc()}, shapes};
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](onnx::AttentionOp a) { return standard(a, w); })
      .Case([&](onnx::MSAttentionOp a) { return microsoft(a, w); })
      .Case([&](onnx::MSMultiHeadAttentionOp a) { return multiHead(a, w); })
      .Default([](Operation *) { return false; });
}

}  // namespace onnxc
