// DecomposeEinsum.cpp: Einsum of floats as transpositions, sums, products and matrix products, two operands at a time from the left, a
// label that a term has twice as a slice, and without the axes of one entry that others' spread. One of the groups of Decompose.cpp;
// equations whose ellipsis is spread, or with a diagonal of a size that is not known, stay with the library kernel. A size that only the
// run knows is that of its label elsewhere, never 1 beside more.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "llvm/ADT/StringExtras.h"
#include <map>

using namespace mlir;
namespace onnxc {
namespace {

using Labels = std::string;  // one character an axis; the axes of an ellipsis are digits

struct Term {
  Value value;
  Labels labels;
  int64_t size(char label) const { return rankedType(value).getDimSize(labels.find(label)); }
};

bool has(const Labels &labels, char c) { return labels.find(c) != Labels::npos; }

// Labels of `text` for a value with `rank` axes; nothing when they do not fit or repeat. `ellipsis`: the number of axes it stands for.
std::optional<Labels> labelsOf(StringRef text, int64_t rank, int64_t &ellipsis) {
  size_t dots = text.find("...");
  int64_t named = int64_t(text.size()) - (dots == StringRef::npos ? 0 : 3), more = rank - named;
  if (dots == StringRef::npos)
    return more == 0 ? std::optional(text.str()) : std::nullopt;
  if (more < 0 || more > 10 || (ellipsis >= 0 && ellipsis != more))
    return std::nullopt;
  ellipsis = more;
  Labels labels = text.take_front(dots).str();
  for (int64_t i = 0; i < more; ++i)
    labels += char('0' + i);
  return labels + text.drop_front(dots + 3).str();
}

bool plainLabels(const Labels &labels) {
  for (char c : labels)
    if (!llvm::isAlnum(c) || llvm::count(labels, c) != 1)
      return false;
  return true;
}

struct Equation {
  SmallVector<Term> terms;
  Labels result;
};

// Without "->": the ellipsis, then the labels that occur once, sorted.
Labels impliedResult(ArrayRef<Term> terms, int64_t ellipsis) {
  Labels all, result;
  for (int64_t i = 0; i < ellipsis; ++i)
    result += char('0' + i);
  for (const Term &t : terms)
    all += t.labels;
  llvm::sort(all);
  for (char c : all)
    if (llvm::isAlpha(c) && llvm::count(all, c) == 1)
      result += c;
  return result;
}

// What an equation says, without spaces, and the labels of its terms, which are empty where they do not fit the operands.
struct Text {
  std::string all;
  SmallVector<StringRef> parts;
  StringRef result;
  bool given;  // a result
  SmallVector<Term> terms;
  int64_t ellipsis = -1;  // the axes that it stands for

  explicit Text(onnx::EinsumOp op) : all(op.getEquation().str()) {
    llvm::erase(all, ' ');
    auto [left, right] = StringRef(all).split("->");
    left.split(parts, ',');
    result = right, given = StringRef(all).contains("->");
    for (auto [part, v] : llvm::zip(parts, op.getInputs())) {
      auto type = rankedType(v);
      auto labels = type ? labelsOf(part, type.getRank(), ellipsis) : std::nullopt;
      if (labels)
        terms.push_back({v, *labels});
    }
    if (parts.size() != op.getInputs().size() || terms.size() != parts.size())
      terms.clear();
  }
};

std::optional<Equation> parse(onnx::EinsumOp op) {
  Text text(op);
  Equation e{text.terms, {}};
  for (const Term &t : e.terms)
    if (auto type = rankedType(t.value);
        !isa<FloatType>(type.getElementType()) || llvm::is_contained(type.getShape(), 0) || !plainLabels(t.labels))
      return std::nullopt;
  if (e.terms.empty())
    return std::nullopt;
  StringRef right = text.result;
  int64_t ellipsis = text.ellipsis, dots = std::max<int64_t>(ellipsis, 0);
  bool spread = right.contains("...");
  auto result = text.given ? labelsOf(right, int64_t(right.size()) - (spread ? 3 : 0) + (spread ? dots : 0), ellipsis)
                           : std::optional(impliedResult(e.terms, dots));
  if (!result || !plainLabels(*result))
    return std::nullopt;
  e.result = *result;
  for (const Term &t : e.terms)  // equal labels are equal sizes: nothing broadcasts
    for (const Term &u : e.terms)
      for (char c : t.labels)
        if (has(u.labels, c) && t.size(c) != u.size(c) && (t.size(c) == 1 || u.size(c) == 1))
          return std::nullopt;
  return e;
}

// --- building ---

Term arranged(GraphBuilder g, const Term &t, const Labels &order) {
  SmallVector<int64_t> perm = llvm::map_to_vector(order, [&](char c) { return int64_t(t.labels.find(c)); });
  return {g.transpose(t.value, perm), order};
}

// Sums over the labels that nobody needs any more.
Term reduced(GraphBuilder g, const Term &t, const Labels &needed) {
  SmallVector<int64_t> axes;
  Labels rest;
  for (auto [i, c] : llvm::enumerate(t.labels))
    if (has(needed, c))
      rest += c;
    else
      axes.push_back(i);
  return {g.sum(t.value, axes), rest};
}

using Sizes = std::map<char, int64_t>;

// The product of the labels' sizes; -1 when one is not known.
int64_t product(const Sizes &sizes, const Labels &labels) {
  int64_t n = 1;
  for (char c : labels)
    n = n < 0 || ShapedType::isDynamic(sizes.at(c)) ? -1 : n * sizes.at(c);
  return n;
}

// How two operands meet in one matrix product: [batch, rows…, depth] times [batch, depth, columns…]. Without batch labels the rows need
// not be joined. left and right are empty where nothing is joined.
struct Meeting {
  Labels batch, rows, depth, columns;
  struct Target {  // of Reshape: by sizes where at most one is not known, else by the labels whose product each size is
    SmallVector<int64_t> sizes;
    SmallVector<Labels> labels;
    bool empty() const { return sizes.empty(); }
    bool bySizes() const { return llvm::count(sizes, -1) <= 1; }
  } left, right, result;
  bool splits = false;  // the product has other axes than `result`
};

Meeting meeting(const Labels &a, const Labels &b, const Labels &needed, const Sizes &sizes) {
  Meeting m;
  for (char c : a)
    (!has(b, c) ? m.rows : has(needed, c) ? m.batch : m.depth) += c;
  for (char c : b)
    if (!has(a, c))
      m.columns += c;
  if (m.depth.empty())
    return m;
  bool open = m.batch.empty() && !m.rows.empty(), one = m.depth.size() == 1;
  auto copy = [](Meeting::Target &target, const Labels &labels) {
    for (char c : labels)
      target.sizes.push_back(0), target.labels.push_back(Labels(1, c));
  };
  auto join = [&](Meeting::Target &target, ArrayRef<Labels> groups) {
    copy(target, open ? (&target == &m.left ? m.rows : Labels()) : m.batch);
    const size_t copied = target.sizes.size();
    for (const Labels &group : groups) {
      target.sizes.push_back(group.size() == 1 && target.sizes.size() == copied ? 0 : product(sizes, group));
      target.labels.push_back(group);
    }
  };
  if (open ? !one : !(one && m.rows.size() == 1))
    open ? join(m.left, m.depth) : join(m.left, {m.rows, m.depth});
  if (!(one && m.columns.size() == 1))
    join(m.right, {m.depth, m.columns});
  m.splits = m.columns.size() != 1 || (!open && m.rows.size() != 1);
  if (m.splits) {
    const bool rowsStay = open || m.rows.size() == 1;
    copy(m.result, m.batch + (rowsStay ? m.rows : Labels()));
    for (char c : (rowsStay ? Labels() : m.rows) + m.columns) {
      m.result.sizes.push_back(ShapedType::isDynamic(sizes.at(c)) ? -1 : sizes.at(c));
      m.result.labels.push_back(Labels(1, c));
    }
  }
  return m;
}

// Elementwise where nothing is summed: both operands with every axis of the result.
Term multiplied(GraphBuilder g, const Term &a, const Term &b, const Labels &order) {
  SmallVector<Value> operands;
  for (const Term *t : {&a, &b}) {
    Labels mine;
    SmallVector<int64_t> ones;
    for (auto [i, c] : llvm::enumerate(order))
      if (has(t->labels, c))
        mine += c;
      else
        ones.push_back(i);
    operands.push_back(g.unsqueeze(arranged(g, *t, mine).value, ones));
  }
  auto size = [&](char c) {
    const int64_t one = has(a.labels, c) ? a.size(c) : ShapedType::kDynamic;
    return ShapedType::isDynamic(one) && has(b.labels, c) ? b.size(c) : one;
  };
  SmallVector<int64_t> shape = llvm::map_to_vector(order, size);
  return {onnx::MulOp::create(g.b, g.loc, rankedType(a.value).clone(shape), operands[0], operands[1]), order};
}

// `v` under a target; a size by labels is made of the sizes of the operands' axes.
Value shaped(GraphBuilder g, Value v, const Meeting::Target &target, const Term &a, const Term &b) {
  if (target.bySizes())
    return g.reshape(v, target.sizes);
  auto type = RankedTensorType::get({1}, g.b.getI64Type());
  SmallVector<Value> parts;
  SmallVector<int64_t> shape;
  for (auto [size, labels] : llvm::zip(target.sizes, target.labels)) {
    int64_t known = 1;
    Value part;
    for (char c : labels) {
      const Term &t = has(a.labels, c) ? a : b;
      if (!ShapedType::isDynamic(t.size(c))) {
        known *= t.size(c);
        continue;
      }
      Value n = g.sizeOf(t.value, int64_t(t.labels.find(c)));
      part = part ? Value(onnx::MulOp::create(g.b, g.loc, type, part, n)) : n;
    }
    shape.push_back(part ? ShapedType::kDynamic : known);
    if (!part || known != 1)
      part = part ? Value(onnx::MulOp::create(g.b, g.loc, type, part, g.integers({known}))) : g.integers({known});
    parts.push_back(part);
  }
  return onnx::ReshapeOp::create(g.b, g.loc, rankedType(v).clone(shape), v, g.concat(parts, 0));
}

Term contracted(GraphBuilder g, Term a, Term b, const Meeting &m) {
  if (m.depth.empty())
    return multiplied(g, a, b, m.batch + m.rows + m.columns);
  Value x = arranged(g, a, m.batch + m.rows + m.depth).value, y = arranged(g, b, m.batch + m.depth + m.columns).value;
  x = m.left.empty() ? x : shaped(g, x, m.left, a, b);
  y = m.right.empty() ? y : shaped(g, y, m.right, a, b);
  SmallVector<int64_t> shape(rankedType(x).getShape());
  shape.back() = rankedType(y).getShape().back();
  Value v = onnx::MatMulOp::create(g.b, g.loc, rankedType(x).clone(shape), x, y);
  return {m.splits ? shaped(g, v, m.result, a, b) : v, m.batch + m.rows + m.columns};
}

// The labels that the result and the terms from `first` on have.
Labels neededFrom(const Equation &e, size_t first) {
  Labels needed = e.result;
  for (const Term &t : ArrayRef(e.terms).drop_front(first))
    needed += t.labels;
  return needed;
}

Labels kept(const Labels &labels, const Labels &needed) {
  Labels rest;
  llvm::copy_if(labels, std::back_inserter(rest), [&](char c) { return has(needed, c); });
  return rest;
}

// One meeting for each operand but the first; nothing when the result has other labels.
std::optional<std::vector<Meeting>> meetings(const Equation &e) {
  Sizes sizes;
  for (const Term &t : e.terms)
    for (char c : t.labels)
      if (!sizes.count(c) || ShapedType::isDynamic(sizes[c]))
        sizes[c] = t.size(c);
  std::vector<Meeting> found;
  Labels sum = kept(e.terms[0].labels, neededFrom(e, 1));
  for (size_t i = 1; i < e.terms.size(); ++i) {
    Labels after = neededFrom(e, i + 1), next = kept(e.terms[i].labels, after + sum);
    found.push_back(meeting(sum, next, after, sizes));
    const Meeting &m = found.back();
    sum = kept(m.batch + m.rows + m.columns, after);
  }
  return sum.size() == e.result.size() ? std::optional(found) : std::nullopt;
}

// Gives term `i` another value, whose labels are `part`.
void replaceTerm(onnx::EinsumOp op, const Text &text, size_t i, Value value, StringRef part, PatternRewriter &rewriter) {
  std::string parts;
  for (auto [k, other] : llvm::enumerate(text.parts))
    parts += (k ? "," : "") + (k == i ? part : other).str();
  Labels result = impliedResult(text.terms, 0);
  if (text.given)
    result = text.result.str();
  else if (text.ellipsis > 0)
    result.insert(0, "...");
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(i, value);
    op.setEquation(parts + "->" + result);
  });
}

// An axis of one entry is no axis where another term's, of the same label, says how long it is.
LogicalResult spreadOnes(onnx::EinsumOp op, PatternRewriter &rewriter) {
  Text text(op);
  for (auto [i, t] : llvm::enumerate(text.terms))
    for (auto [axis, c] : llvm::enumerate(t.labels)) {
      auto isLonger = [&, c = c](const Term &u) { return has(u.labels, c) && u.size(c) != 1; };
      if (!llvm::isAlpha(c) || llvm::count(t.labels, c) != 1 || t.size(c) != 1 || llvm::none_of(text.terms, isLonger))
        continue;
      GraphBuilder g{rewriter, op.getLoc()};
      SmallVector<int64_t> shape(rankedType(t.value).getShape());
      shape.erase(shape.begin() + axis);
      auto type = rankedType(t.value).clone(shape);
      Value value = onnx::SqueezeOp::create(rewriter, op.getLoc(), type, t.value, g.integers({int64_t(axis)}));
      std::string part = text.parts[i].str();
      part.erase(part.find(c), 1);
      replaceTerm(op, text, i, value, part, rewriter);
      return success();
    }
  return failure();
}

// A label that a term has twice is its diagonal: of the two axes as one, each element that comes `size` + 1 behind another.
LogicalResult diagonal(onnx::EinsumOp op, PatternRewriter &rewriter) {
  Text text(op);
  for (size_t i = 0; i < text.terms.size(); ++i)
    for (char c : text.terms[i].labels) {
      const Term &t = text.terms[i];
      size_t first = t.labels.find(c), second = t.labels.find(c, first + 1);
      int64_t n = t.size(c);
      if (second == Labels::npos || n <= 0 || rankedType(t.value).getDimSize(second) != n || n > (1 << 24))
        continue;
      GraphBuilder g{rewriter, op.getLoc()};
      SmallVector<int64_t> perm, flat;
      for (size_t axis = 0; axis < t.labels.size(); ++axis)
        if (axis != first && axis != second)
          perm.push_back(axis), flat.push_back(0);
      perm.append({int64_t(first), int64_t(second)});
      flat.push_back(n * n);
      Value square = g.reshape(g.transpose(t.value, perm), flat);
      std::string part = text.parts[i].str();
      part.erase(part.find(c), 1).erase(part.find(c), 1) += c;
      replaceTerm(op, text, i, g.slice(square, int64_t(perm.size()) - 2, 0, INT64_MAX, n + 1), part, rewriter);
      return success();
    }
  return failure();
}

// Vectors times the matrices that indices choose for them, as those of experts: one term is matrices[indices], of one matrix for each
// `rows`, and the other has vectors for these labels or some of them.
struct ChosenProduct {
  onnx::GatherOp matrices;
  Term vectors;
  Labels rows;
  char depth, column;
  bool turned;  // a matrix has the depth behind its columns
};

std::optional<ChosenProduct> chosenProduct(const Equation &e, size_t at) {
  const Term &chosen = e.terms[at], &vectors = e.terms[1 - at];
  onnx::GatherOp gather = chosenMatrices(chosen.value);
  int64_t axes = gather ? rankedType(gather.getIndices()).getRank() : 0;
  if (axes == 0 || !rankedType(gather.getData()).hasStaticShape())
    return std::nullopt;
  Labels rows = chosen.labels.substr(0, axes);
  char first = chosen.labels[rows.size()], second = chosen.labels[rows.size() + 1];
  bool turned = has(e.result, first);
  ChosenProduct p{gather, vectors, rows, turned ? second : first, turned ? first : second, turned};
  bool isProduct = has(vectors.labels, p.depth) && !has(vectors.labels, p.column) && kept(vectors.labels, rows + p.depth) == vectors.labels;
  bool hasAll = has(e.result, p.column) && kept(e.result, rows + p.column) == e.result && e.result.size() == rows.size() + 1;
  return isProduct && hasAll ? std::optional(p) : std::nullopt;
}

Value sizeOfAxis(GraphBuilder g, Value v, int64_t axis) {
  int64_t size = rankedType(v).getDimSize(axis);
  return ShapedType::isDynamic(size) ? g.sizeOf(v, axis) : g.integers({size});
}

// `v` broadcast to the sizes of another value, which gives the shape `shape`.
Value expanded(GraphBuilder g, Value v, ArrayRef<int64_t> shape, ArrayRef<Value> sizes) {
  auto type = rankedType(v);
  if (type.hasStaticShape() && type.getShape() == shape)
    return v;
  return onnx::ExpandOp::create(g.b, g.loc, type.clone(shape), v, g.concat(sizes, 0));
}

// The matrices are read where they lie.
LogicalResult einsumWithChosen(onnx::EinsumOp op, PatternRewriter &rewriter) {
  auto e = parse(op);
  auto p = e && e->terms.size() == 2 ? chosenProduct(*e, 0) : std::nullopt;
  p = p || !e || e->terms.size() != 2 ? p : chosenProduct(*e, 1);
  if (!p)
    return rewriter.notifyMatchFailure(op, "no vectors times chosen matrices");
  GraphBuilder g{rewriter, op.getLoc()};
  Value indices = p->matrices.getIndices();
  auto matrices = rankedType(p->matrices.getData()), chosen = rankedType(indices);
  Labels mine = kept(p->rows, p->vectors.labels);
  Value x = arranged(g, p->vectors, mine + p->depth).value;
  SmallVector<int64_t> shape(chosen.getShape());
  if (!mine.empty()) {  // a vector for each index, and an index for each vector: one of the run may serve several
    SmallVector<int64_t> missing;
    SmallVector<Value> ofIndices, ofVectors;
    for (auto [i, label] : llvm::enumerate(p->rows)) {
      bool isMissing = !has(mine, label);
      int64_t there = chosen.getDimSize(i), here = isMissing ? 1 : p->vectors.size(label);
      if (isMissing)
        missing.push_back(i);
      ofIndices.push_back(sizeOfAxis(g, indices, i));
      ofVectors.push_back(isMissing ? g.integers({1}) : sizeOfAxis(g, p->vectors.value, p->vectors.labels.find(label)));
      shape[i] = there == 1 || (ShapedType::isDynamic(there) && here != 1) ? here : there;
    }
    indices = expanded(g, indices, shape, ofVectors);
    shape.push_back(p->vectors.size(p->depth));
    ofIndices.push_back(g.integers({1}));
    x = expanded(g, g.unsqueeze(x, missing), shape, ofIndices);
    shape.pop_back();
  }
  int64_t depth = matrices.getDimSize(p->turned ? 2 : 1), columns = matrices.getDimSize(p->turned ? 1 : 2);
  auto each = rankedType(indices);
  int64_t count = each.hasStaticShape() ? each.getNumElements() : ShapedType::kDynamic;
  int64_t vectors = mine.empty() ? 1 : -1;  // one of another size than `depth` is not several
  x = p->turned ? g.reshape(x, {vectors, depth, 1}) : g.reshape(x, {vectors, 1, depth});
  SmallVector<int64_t> product{count, p->turned ? columns : 1, p->turned ? 1 : columns};
  Value v = onnx::PackedGatherProductOp::create(rewriter, p->matrices.getLoc(), matrices.clone(product), p->matrices.getData(),
                                                g.reshape(indices, {-1}), x, rewriter.getI64IntegerAttr(p->turned));
  shape.push_back(columns);
  v = g.reshapeTo(v, shape, g.unknownSizes(indices, llvm::to_vector(llvm::seq<int64_t>(0, each.getRank()))));
  replaceTyped(rewriter, op, arranged(g, {v, p->rows + p->column}, e->result).value);
  return success();
}

LogicalResult einsum(onnx::EinsumOp op, PatternRewriter &rewriter) {
  auto e = parse(op);
  auto steps = e ? meetings(*e) : std::nullopt;
  if (!steps)
    return rewriter.notifyMatchFailure(op, "not floats, a diagonal or a broadcast");
  GraphBuilder g{rewriter, op.getLoc()};
  Term sum = reduced(g, e->terms[0], neededFrom(*e, 1));
  for (auto [i, m] : llvm::enumerate(*steps)) {
    Labels after = neededFrom(*e, i + 2);
    sum = reduced(g, contracted(g, sum, reduced(g, e->terms[i + 1], after + sum.labels), m), after);
  }
  Value v = arranged(g, sum, e->result).value;
  if (v.getType() != op.getType() && !llvm::is_contained(op.getInputs(), v))
    v.setType(op.getType());
  rewriter.replaceOp(op, v);
  return success();
}

}  // namespace

void populateDecomposeEinsumPatterns(RewritePatternSet &patterns) {
  patterns.add(diagonal).add(spreadOnes).add(einsum);
  patterns.add(einsumWithChosen, /*benefit=*/2);
}

}  // namespace onnxc
