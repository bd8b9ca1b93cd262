// SymbolicRulesContraction.cpp: matrix products, einsum, attention and recurrent ops of the standard.
#include "passes/graph/SymbolicRules.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {

// A product of operands `a` and `b` with numpy's rules: one axis is a vector, leading axes broadcast.
static FailureOr<Dims> productDims(ShapeOp &o, Dims a, Dims b) {
  if (a.empty() || b.empty())
    return o.error() << "operands " << o.text(a) << " and " << o.text(b) << " need at least one axis";
  bool vectorA = a.size() == 1, vectorB = b.size() == 1;
  if (vectorA)
    a.insert(a.begin(), o.c(1));
  if (vectorB)
    b.push_back(o.c(1));
  auto inner = o.same(a.back(), b[b.size() - 2], "operands " + o.text(a) + " and " + o.text(b) + ": inner sizes");
  if (failed(inner))
    return failure();
  auto dims = o.broadcast(DimsRef(a).drop_back(2), DimsRef(b).drop_back(2));
  if (failed(dims))
    return failure();
  if (!vectorA)
    dims->push_back(a[a.size() - 2]);
  if (!vectorB)
    dims->push_back(b.back());
  return dims;
}
template <unsigned a, unsigned b>
static LogicalResult product(ShapeOp &o) {
  auto dims = productDims(o, Dims(o.dims(a)), Dims(o.dims(b)));
  return failed(dims) ? failure() : o.set(0, *dims);
}

// With numbers of the rows in operands `rows`, of the columns in operands `columns`: one for all, or one for each.
template <unsigned a, unsigned b>
static LogicalResult quantisedProduct(ShapeOp &o, ArrayRef<unsigned> rows, ArrayRef<unsigned> columns) {
  if (failed(product<a, b>(o)))
    return failure();
  AffineExpr height = o.rank(a) > 1 ? o.dim(a, o.rank(a) - 2) : o.c(1), width = o.rank(b) > 1 ? o.dims(b).back() : o.c(1);
  return success(succeeded(o.oneForEach(rows, height, "rows", true)) && succeeded(o.oneForEach(columns, width, "columns", true)));
}
static LogicalResult matMulInteger(ShapeOp &o) { return quantisedProduct<0, 1>(o, {2}, {3}); }
static LogicalResult qlinearMatMul(ShapeOp &o) { return quantisedProduct<0, 3>(o, {1, 2, 6, 7}, {4, 5}); }

// With a number for each column in operand `bias`.
template <unsigned a, unsigned b, unsigned bias>
static LogicalResult biasedProduct(ShapeOp &o) {
  auto dims = productDims(o, Dims(o.dims(a)), Dims(o.dims(b)));
  if (failed(dims))
    return failure();
  if (o.in(bias) && o.rank(bias) != 1)
    return o.error() << "bias " << o.text(o.dims(bias)) << " needs one axis";
  if (o.in(bias) && !dims->empty() && failed(o.same(o.dim(bias, 0), dims->back(), "entries of the bias and columns of the product:")))
    return failure();
  return o.set(0, *dims);
}

static LogicalResult packedColumns(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.back() = o.c(o.intAttr("N"));
  return o.set(0, dims);
}
// Its kernel reads as many values of each row as the panels [panels, depth, 16] are deep.
static LogicalResult packedMatMul(ShapeOp &o) {
  auto inner = o.same(o.dims(0).back(), o.dim(1, 1), "inner sizes");
  return failed(inner) ? failure() : packedColumns(o);
}
static LogicalResult packedMatMulInteger(ShapeOp &o) {
  auto inner = o.same(o.dims(0).back(), o.c(o.intAttr("K")), "inner sizes");
  return failed(inner) ? failure() : packedColumns(o);
}

static LogicalResult packedProduct(ShapeOp &o) {
  Dims operands[2];
  for (unsigned i = 0; i < 2; ++i)
    for (int64_t axis : o.intsAttr(i ? "permB" : "permA"))
      operands[i].push_back(o.dim(i, axis));
  auto dims = productDims(o, operands[0], operands[1]);
  return failed(dims) ? failure() : o.set(0, *dims);
}

static LogicalResult gatherProduct(ShapeOp &o) {
  unsigned inner = o.intAttr("transW") ? 2 : 1;
  auto rows = o.broadcast({o.dim(1, 0)}, {o.dim(2, 0)});
  if (failed(rows) || failed(o.same(o.dim(0, inner), o.dim(2, inner == 2 ? 1 : 2), "inner sizes")))
    return failure();
  return o.set(0, inner == 2 ? Dims{rows->front(), o.dim(0, 1), o.c(1)} : Dims{rows->front(), o.c(1), o.dim(0, 2)});
}

static LogicalResult fusedMatMul(ShapeOp &o) {
  Dims operands[2] = {Dims(o.dims(0)), Dims(o.dims(1))};
  StringRef trans[2] = {"transA", "transB"}, batch[2] = {"transBatchA", "transBatchB"};
  for (int i = 0; i < 2; ++i) {
    Dims &d = operands[i];
    if (d.size() > 2 && o.intAttr(batch[i]))
      std::rotate(d.begin(), d.begin() + 1, d.end() - 1);
    if (d.size() > 1 && o.intAttr(trans[i]))
      std::swap(d[d.size() - 1], d[d.size() - 2]);
  }
  auto dims = productDims(o, operands[0], operands[1]);
  return failed(dims) ? failure() : o.set(0, *dims);
}

template <unsigned a, unsigned b, unsigned c>
static LogicalResult gemm(ShapeOp &o) {
  if (o.rank(a) != 2 || o.rank(b) != 2)
    return o.error() << "operands " << o.text(o.dims(a)) << " and " << o.text(o.dims(b)) << " need two axes";
  bool ta = o.intAttr("transA"), tb = o.intAttr("transB");
  if (failed(o.same(o.dim(a, !ta), o.dim(b, tb), "operands " + o.text(o.dims(a)) + " and " + o.text(o.dims(b)) + ": inner sizes")))
    return failure();
  Dims dims{o.dim(a, ta), o.dim(b, !tb)};
  if (o.in(c)) {
    auto both = o.broadcast(dims, o.dims(c));
    if (failed(both))
      return failure();
    if (both->size() != 2)
      return o.error() << "bias " << o.text(o.dims(c)) << " has more axes than the product " << o.text(dims);
    for (int axis = 0; axis < 2; ++axis)
      if (failed(o.same(dims[axis], (*both)[axis], "sizes of axis " + Twine(axis) + " of the product and of it with the bias:")))
        return failure();
  }
  return o.set(0, dims);
}

// Operands 4 and 5: scales and zero points of B.
static LogicalResult quantisedGemm(ShapeOp &o) {
  return failed(gemm<0, 3, 6>(o)) ? failure() : o.oneForEach({4, 5}, o.dim(3, !o.intAttr("transB")), "columns");
}

static LogicalResult det(ShapeOp &o) {
  if (o.rank(0) < 2)
    return o.error() << "needs at least 2 axes, the input has " << o.rank(0);
  if (failed(o.same(o.dim(0, o.rank(0) - 1), o.dim(0, o.rank(0) - 2), "rows and columns")))
    return failure();
  return o.set(0, o.dims(0).drop_back(2));
}

// --- einsum ---

namespace {
struct Einsum {
  ShapeOp &o;
  std::map<char, AffineExpr> sizes;
  std::map<char, int> uses;
  Dims ellipsis;
};
}  // namespace

// Reads one operand's labels; "." stands for the axes of an ellipsis.
static LogicalResult readTerm(Einsum &e, StringRef term, DimsRef dims) {
  int64_t letters = term.size() - term.count('.'), at = 0, free = int64_t(dims.size()) - letters;
  if (free < 0 || (free > 0 && !term.contains('.')))
    return e.o.error() << "term '" << term << "' does not fit an operand of " << dims.size() << " axes";
  for (auto [k, label] : llvm::enumerate(term)) {
    if (label == '.') {
      auto both = e.o.broadcast(e.ellipsis, dims.slice(at, free));
      if (failed(both))
        return failure();
      e.ellipsis = *both;
      at += free;
      continue;
    }
    AffineExpr d = dims[at++], &slot = e.sizes[label];
    ++e.uses[label];
    bool diagonal = term.take_front(k).contains(label);
    if (!slot || (!diagonal && known(slot) == 1))
      slot = d;
    else if (diagonal || known(d) != 1) {
      auto both = e.o.same(slot, d, "sizes of label '" + Twine(label) + "'");
      if (failed(both))
        return failure();
      slot = *both;
    }
  }
  return success();
}

static LogicalResult einsum(ShapeOp &o) {
  std::string equation;
  for (char c : o.strAttr("equation"))
    if (c != ' ' && !(c == '.' && !equation.empty() && equation.back() == '.'))
      equation += c;
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != o.op->getNumOperands())
    return o.error() << "equation '" << o.strAttr("equation") << "' has " << terms.size() << " terms for " << o.op->getNumOperands()
                     << " operands";
  Einsum e{o, {}, {}, {}};
  for (auto [term, v] : llvm::zip(terms, o.op->getOperands()))
    if (failed(readTerm(e, term, o.s.dims(v))))
      return failure();
  std::string implicit;
  if (equation.find("->") == std::string::npos) {
    implicit = ".";
    for (auto [label, uses] : e.uses)
      if (uses == 1)
        implicit += label;
    right = implicit;
  }
  Dims dims;
  for (char label : right) {
    if (label == '.')
      dims.append(e.ellipsis);
    else if (!e.sizes.count(label))
      return o.error() << "label '" << Twine(label) << "' of the result is not in an operand";
    else
      dims.push_back(e.sizes[label]);
  }
  return o.set(0, dims);
}

// --- attention ---

static LogicalResult attention(ShapeOp &o) {
  if (o.rank(0) < 3 || o.rank(1) != o.rank(0) || o.rank(2) != o.rank(0))
    return o.error() << "Q, K and V have " << o.rank(0) << ", " << o.rank(1) << " and " << o.rank(2) << " axes; 3 or 4 each are needed";
  bool packed = o.rank(0) == 3;
  AffineExpr qHeads = packed ? o.c(o.intAttr("q_num_heads", 1)) : o.dim(0, 1);
  AffineExpr kvHeads = packed ? o.c(o.intAttr("kv_num_heads", 1)) : o.dim(1, 1);
  int64_t seq = packed ? 1 : 2, last = packed ? 2 : 3;
  if (packed && (failed(o.divides("q_num_heads", o.dim(0, last), "the last size of Q")) ||
                 failed(o.divides("kv_num_heads", o.dim(1, last), "the last size of K")) ||
                 failed(o.divides("kv_num_heads", o.dim(2, last), "the last size of V"))))
    return failure();
  if (auto q = known(qHeads), kv = known(kvHeads); q && kv && *kv && *q % *kv)
    return o.error() << "the " << *q << " heads of Q are no multiple of the " << *kv << " of K";
  AffineExpr headK = packed ? o.s.floorDiv(o.dim(1, last), kvHeads) : o.dim(1, last);
  AffineExpr headV = packed ? o.s.floorDiv(o.dim(2, last), kvHeads) : o.dim(2, last);
  AffineExpr total = o.in(4) ? o.s.add(o.dim(4, 2), o.dim(1, seq)) : o.dim(1, seq);
  AffineExpr batch = o.dim(0, 0);
  Dims y = packed ? Dims{batch, o.dim(0, 1), o.s.mul(qHeads, headV)} : Dims{batch, qHeads, o.dim(0, 2), headV};
  return success(succeeded(o.set(0, y)) && succeeded(o.set(1, {batch, kvHeads, total, headK})) &&
                 succeeded(o.set(2, {batch, kvHeads, total, headV})) && succeeded(o.set(3, {batch, qHeads, o.dim(0, seq), total})));
}

static LogicalResult packedAttention(ShapeOp &o) {
  ArrayRef<int64_t> q = o.intsAttr("axesQ"), v = o.intsAttr("axesV"), y = o.intsAttr("axesY");
  Dims dims(y.size());
  for (size_t i = 0; i + 1 < y.size(); ++i)
    dims[y[i]] = o.dim(0, q[i]);
  dims[y.back()] = o.dim(2, v.back());
  return o.set(0, dims);
}

static LogicalResult linearAttention(ShapeOp &o) {
  AffineExpr q = o.c(o.intAttr("q_num_heads", 1)), kv = o.c(o.intAttr("kv_num_heads", 1));
  if (o.rank(0) != 3 || o.rank(1) != 3 || o.rank(2) != 3)
    return o.error() << "query, key and value need 3 axes";
  if (failed(o.divides("q_num_heads", o.dim(0, 2), "the last size of the query")) ||
      failed(o.divides("kv_num_heads", o.dim(1, 2), "the last size of the key")) ||
      failed(o.divides("kv_num_heads", o.dim(2, 2), "the last size of the value")) || failed(o.divides("kv_num_heads", q, "q_num_heads")))
    return failure();
  AffineExpr dk = o.s.floorDiv(o.dim(1, 2), kv), dv = o.s.floorDiv(o.dim(2, 2), kv);
  if (failed(o.set(0, {o.dim(0, 0), o.dim(0, 1), o.s.mul(q, dv)})))
    return failure();
  return o.set(1, {o.dim(0, 0), kv, dk, dv});
}

static LogicalResult rotaryEmbedding(ShapeOp &o) {
  if (o.rank(0) == 3 && failed(o.divides("num_heads", o.dim(0, 2), "the last size of X")))
    return failure();
  return likeFirst(o);
}

static LogicalResult flexAttention(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.back() = o.dims(2).back();
  return o.set(0, dims);
}

// --- recurrent ---

// Operand `i` has these dims, where it is present; null ones are not looked at.
static LogicalResult operandDims(ShapeOp &o, unsigned i, StringRef name, DimsRef wanted) {
  if (!o.in(i))
    return success();
  if (o.rank(i) != int64_t(wanted.size()))
    return o.error() << name << " needs " << wanted.size() << " axes, it has " << o.rank(i);
  for (auto [axis, d] : llvm::enumerate(wanted))
    if (d && failed(o.same(o.dim(i, axis), d, "size of axis " + Twine(axis) + " of " + name + ":")))
      return failure();
  return success();
}

static LogicalResult recurrentAttributes(ShapeOp &o, int64_t directions, int64_t perDirection) {
  static const llvm::StringSet<> functions = {"affine",  "elu",      "hardsigmoid", "leakyrelu", "relu",           "scaledtanh",
                                              "sigmoid", "softplus", "softsign",    "tanh",      "thresholdedrelu"};
  if (!llvm::is_contained({"forward", "reverse", "bidirectional"}, o.strAttr("direction")))
    return o.error() << "direction '" << o.strAttr("direction") << "' is not forward, reverse or bidirectional";
  auto given = o.op->getAttrOfType<ArrayAttr>("activations");
  if (given && int64_t(given.size()) != directions * perDirection)
    return o.error() << given.size() << " activations, " << directions * perDirection << " are needed";
  for (Attribute a : given ? given.getValue() : ArrayRef<Attribute>())
    if (auto text = llvm::dyn_cast<StringAttr>(a); !text || !functions.contains(text.getValue().lower()))
      return o.error() << "the activation function " << a << " is not known";
  return success();
}

// RNN, GRU, LSTM: X, W, R, B, sequence_lens, initial_h, initial_c, P.
static LogicalResult recurrentOperands(ShapeOp &o, AffineExpr hidden, AffineExpr directions, AffineExpr batch) {
  StringRef name = onnx::opName(o.op);
  int64_t gates = name == "LSTM" ? 4 : name == "GRU" ? 3 : 1;
  AffineExpr rows = o.s.mul(hidden, o.c(gates));
  Dims state = o.intAttr("layout") ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  bool packed = o.op->hasAttr("packed");  // rows of W and R are padded
  bool good = (packed || (succeeded(operandDims(o, 1, "W", {directions, rows, o.dim(0, 2)})) &&
                          succeeded(operandDims(o, 2, "R", {directions, rows, hidden})))) &&
              succeeded(operandDims(o, 3, "B", {directions, o.s.mul(rows, o.c(2))})) &&
              succeeded(operandDims(o, 4, "sequence_lens", {batch})) && succeeded(operandDims(o, 5, "initial_h", state));
  if (good && gates == 4)
    good = succeeded(operandDims(o, 6, "initial_c", state)) && succeeded(operandDims(o, 7, "P", {directions, o.s.mul(hidden, o.c(3))}));
  return success(good && succeeded(recurrentAttributes(o, *known(directions), gates == 4 ? 3 : gates == 3 ? 2 : 1)));
}

static LogicalResult recurrent(ShapeOp &o) {
  if (o.rank(0) != 3 || o.rank(2) != 3)
    return o.error() << "X and R need 3 axes, they have " << o.rank(0) << " and " << o.rank(2);
  AffineExpr hidden = o.op->hasAttr("hidden_size") ? o.c(o.intAttr("hidden_size")) : o.dim(2, 2);
  AffineExpr directions = o.c(o.strAttr("direction") == "bidirectional" ? 2 : 1);
  bool batchFirst = o.intAttr("layout");
  AffineExpr batch = o.dim(0, batchFirst ? 0 : 1), steps = o.dim(0, batchFirst ? 1 : 0);
  if (auto size = known(hidden); size && *size < 1)
    return o.error() << "hidden_size " << *size << " is not positive";
  if (onnx::opName(o.op) != "ms.DynamicQuantizeLSTM" && failed(recurrentOperands(o, hidden, directions, batch)))
    return failure();
  Dims all = batchFirst ? Dims{batch, steps, directions, hidden} : Dims{steps, directions, batch, hidden};
  Dims last = batchFirst ? Dims{batch, directions, hidden} : Dims{directions, batch, hidden};
  return success(succeeded(o.set(0, all)) && succeeded(o.set(1, last)) && succeeded(o.set(2, last)));
}

void addContractionRules(ShapeRules &rules) {
  rules["packed.MatMul"] = packedMatMul;
  rules["packed.MatMulInteger"] = packedMatMulInteger;
  rules["packed.LinearMatMul"] = packedColumns;
  rules["packed.Product"] = packedProduct;
  rules["packed.GatherProduct"] = gatherProduct;
  rules["packed.Attention"] = packedAttention;
  rules["MatMul"] = product<0, 1>;
  rules["MatMulInteger"] = matMulInteger;
  rules["ms.DynamicQuantizeMatMul"] = biasedProduct<0, 1, 4>;
  rules["ms.MatMulIntegerToFloat"] = biasedProduct<0, 1, 6>;
  rules["QLinearMatMul"] = qlinearMatMul;
  rules["ms.FusedMatMul"] = fusedMatMul;
  rules["Gemm"] = rules["ms.FusedGemm"] = gemm<0, 1, 2>;
  rules["ms.QGemm"] = quantisedGemm;
  rules["Det"] = det;
  rules["Einsum"] = einsum;
  rules["Attention"] = attention;
  rules["LinearAttention"] = linearAttention;
  rules["RotaryEmbedding"] = rotaryEmbedding;
  rules["preview.FlexAttention"] = flexAttention;
  rules["RNN"] = rules["GRU"] = rules["LSTM"] = rules["ms.DynamicQuantizeLSTM"] = recurrent;
}

}  // namespace onnxc
