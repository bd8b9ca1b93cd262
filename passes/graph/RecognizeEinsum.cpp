// RecognizeEinsum.cpp: einsum of two operands = MatMul of transposed operands. Beside Recognize.cpp, whose pass drives it.
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"

using namespace mlir;
namespace onnxc {
namespace {

using Letters = SmallVector<char>;

// The letters of both operands and the result, sorted by what a matrix product does with them.
struct Equation {
  Letters a, b, out;
  Letters batch, rows, inner, columns;
};

bool has(ArrayRef<char> letters, char l) { return llvm::is_contained(letters, l); }

// Nothing for ellipses, diagonals, sums over a letter of one operand only and results that repeat or invent letters.
std::optional<Equation> parse(StringRef text) {
  std::string plain;
  for (char c : text)
    if (c != ' ')
      plain += c;
  auto [inputs, output] = StringRef(plain).split("->");
  auto [left, right] = inputs.split(',');
  if (!StringRef(plain).contains("->") || right.contains(',') || left.empty() || right.empty())
    return std::nullopt;
  Equation e;
  e.a.append(left.begin(), left.end());
  e.b.append(right.begin(), right.end());
  e.out.append(output.begin(), output.end());
  for (ArrayRef<char> list : {ArrayRef<char>(e.a), ArrayRef<char>(e.b), ArrayRef<char>(e.out)})
    for (auto [i, l] : llvm::enumerate(list))
      if (!llvm::isAlpha(l) || has(list.take_front(i), l))
        return std::nullopt;
  for (char l : e.a) {
    if (!has(e.b, l) && !has(e.out, l))
      return std::nullopt;
    (has(e.b, l) ? (has(e.out, l) ? e.batch : e.inner) : e.rows).push_back(l);
  }
  for (char l : e.b)
    if (!has(e.a, l)) {
      if (!has(e.out, l))
        return std::nullopt;
      e.columns.push_back(l);
    }
  bool known = llvm::all_of(e.out, [&](char l) { return has(e.a, l) || has(e.b, l); });
  return known && !e.inner.empty() ? std::optional<Equation>(e) : std::nullopt;
}

// Builds the product; every size is that of a letter, unknown ones at most once in a reshape.
struct Product {
  PatternRewriter &rewriter;
  onnx::EinsumOp op;
  llvm::SmallDenseMap<char, int64_t> sizes;

  Product(PatternRewriter &rewriter, onnx::EinsumOp op) : rewriter(rewriter), op(op) {}

  bool measure(ArrayRef<char> letters, Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (!type || type.getRank() != int64_t(letters.size()))
      return false;
    for (auto [l, d] : llvm::zip(letters, type.getShape())) {
      if (d == 0)
        return false;  // a zero in a reshape is another thing
      auto [it, isNew] = sizes.try_emplace(l, d);
      if (!isNew && ShapedType::isDynamic(it->second))
        it->second = d;
      if (!isNew && it->second != d && !ShapedType::isDynamic(d))
        return false;  // broadcasting
    }
    return true;
  }
  RankedTensorType typeOf(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, onnx::elementType(op.getOutput())); }
  SmallVector<int64_t> shapeOf(ArrayRef<char> letters) {
    return llvm::map_to_vector(letters, [&](char l) { return sizes.lookup(l); });
  }
  int64_t merged(ArrayRef<char> letters) {
    int64_t n = 1;
    for (char l : letters) {
      int64_t d = sizes.lookup(l);
      if (ShapedType::isDynamic(d))
        return d;
      n *= d;
    }
    return n;
  }

  Value transposed(Value v, ArrayRef<char> from, ArrayRef<char> to) {
    if (from == to)
      return v;
    SmallVector<int64_t> perm = llvm::map_to_vector(to, [&](char l) { return int64_t(llvm::find(from, l) - from.begin()); });
    return onnx::TransposeOp::create(rewriter, op.getLoc(), typeOf(shapeOf(to)), v, rewriter.getDenseI64ArrayAttr(perm));
  }
  // The first `same` sizes stay.
  Value reshaped(Value v, ArrayRef<int64_t> shape, int64_t same) {
    SmallVector<int64_t> target;
    for (auto [i, d] : llvm::enumerate(shape))
      target.push_back(!ShapedType::isDynamic(d) ? d : int64_t(i) < same ? 0 : -1);
    auto type = RankedTensorType::get({int64_t(target.size())}, rewriter.getI64Type());
    Value constant = onnx::ConstantOp::create(rewriter, op.getLoc(), DenseElementsAttr::get(type, ArrayRef<int64_t>(target)));
    return onnx::ReshapeOp::create(rewriter, op.getLoc(), typeOf(shape), v, constant);
  }
  // `v` over the letters batch, first, second, each of the last two lists merged to one axis.
  Value matrix(Value v, ArrayRef<char> letters, ArrayRef<char> batch, ArrayRef<char> first, ArrayRef<char> second) {
    Letters order(batch);
    order.append(first.begin(), first.end());
    order.append(second.begin(), second.end());
    Value moved = transposed(v, letters, order);
    if (first.size() == 1 && second.size() == 1)
      return moved;
    SmallVector<int64_t> shape = shapeOf(batch);
    shape.push_back(merged(first));
    shape.push_back(merged(second));
    return reshaped(moved, shape, batch.size());
  }
};

bool oneUnknown(const Product &p, ArrayRef<char> letters) {
  return llvm::count_if(letters, [&](char l) { return ShapedType::isDynamic(p.sizes.lookup(l)); }) <= 1;
}

// Einsum(a, b) = MatMul over shared letters, transposed to the result's order.
LogicalResult einsumToMatMul(onnx::EinsumOp op, PatternRewriter &rewriter) {
  auto e = op.getNumOperands() == 2 ? parse(op.getEquation()) : std::nullopt;
  Product p(rewriter, op);
  if (!e || !isa<FloatType>(onnx::elementType(op.getOutput())) || !p.measure(e->a, op.getOperand(0)) || !p.measure(e->b, op.getOperand(1)))
    return rewriter.notifyMatchFailure(op, "not a product of two matrices");
  bool stacked = e->batch.empty() && e->inner.size() == 1 && !e->rows.empty();  // MatMul takes any axes before the rows
  auto merges = [&](ArrayRef<char> x, ArrayRef<char> y) { return x.size() != 1 || y.size() != 1; };
  Letters left(e->rows), all(e->rows);
  left.append(e->inner.begin(), e->inner.end());
  all.append(e->columns.begin(), e->columns.end());
  Letters right(e->inner);
  right.append(e->columns.begin(), e->columns.end());
  if ((!stacked && merges(e->rows, e->inner) && !oneUnknown(p, left)) || (merges(e->inner, e->columns) && !oneUnknown(p, right)) ||
      (merges(e->rows, e->columns) && !oneUnknown(p, all) && !(stacked && e->columns.size() == 1)))
    return rewriter.notifyMatchFailure(op, "several unknown sizes would merge");
  Value a = stacked ? p.transposed(op.getOperand(0), e->a, left) : p.matrix(op.getOperand(0), e->a, e->batch, e->rows, e->inner);
  Value b = p.matrix(op.getOperand(1), e->b, e->batch, e->inner, e->columns);
  SmallVector<int64_t> shape = p.shapeOf(stacked ? e->rows : e->batch);
  if (!stacked)
    shape.push_back(p.merged(e->rows));
  shape.push_back(p.merged(e->columns));
  Value product = onnx::MatMulOp::create(rewriter, op.getLoc(), p.typeOf(shape), a, b);
  Letters order(e->batch);
  order.append(all.begin(), all.end());
  if (stacked ? e->columns.size() != 1 : merges(e->rows, e->columns))
    product = p.reshaped(product, p.shapeOf(order), stacked ? e->rows.size() : e->batch.size());
  rewriter.replaceOp(op, p.transposed(product, order, e->out));
  return success();
}
}  // namespace

void populateEinsumPatterns(RewritePatternSet &patterns) { patterns.add(einsumToMatMul); }

}  // namespace onnxc
