// Space.cpp: accesses, merging of dims, and the values of a kernel's body at a point. See Space.h.
#include "codegen/cpu/Space.h"
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"

using namespace mlir;
namespace onnxc {

Space::Space(KernelCode &c, ArrayRef<int64_t> localDims) : c(c), localDims(localDims) {
  for (int64_t d : localDims)
    sizes.push_back(sizeExpr(d));
}

AffineExpr Space::sizeExpr(int64_t d) {
  return d >= 0 ? getAffineConstantExpr(d, c.b.getContext()) : getAffineSymbolExpr(-d - 1, c.b.getContext());
}

DimMap Space::identity() const {
  DimMap map;
  for (size_t i = 0; i < localDims.size(); ++i)
    map.push_back(i);
  return map;
}

// Right-aligned: dims in front of the operand's are broadcast.
static DimMap broadcastMap(Value operand, Value result, const DimMap &map) {
  SmallVector<int64_t> own = kernel::localDims(cast<RankedTensorType>(operand.getType()));
  SmallVector<int64_t> all = kernel::localDims(cast<RankedTensorType>(result.getType()));
  DimMap result2;
  for (size_t i = 0; i < own.size(); ++i) {
    size_t at = all.size() - own.size() + i;
    result2.push_back(own[i] == 1 && all[at] != 1 ? -1 : map[at]);
  }
  return result2;
}

DimMap Space::operandMap(Operation *op, unsigned i, const DimMap &map) {
  StringRef name = onnx::opName(op);
  Value operand = op->getOperand(i);
  if (name == "Transpose") {
    DimMap from(map.size(), -1);
    std::optional<ArrayRef<int64_t>> perm = onnx::optionalInts(op, "perm");
    for (size_t k = 0; k < map.size(); ++k)
      from[perm ? (*perm)[k] : int64_t(map.size() - 1 - k)] = map[k];
    return from;
  }
  if ((name == "InstanceNormalization" || name == "BatchNormalization") && i > 0)
    return {map[1]};
  return broadcastMap(operand, op->getResult(0), map);
}

Access *Space::find(Value v, const DimMap &map) {
  auto it = index.find({v.getAsOpaquePointer(), key(map)});
  return it == index.end() ? nullptr : &accesses[it->second];
}

Access &Space::access(Value v, const DimMap &map) {
  auto [it, fresh] = index.try_emplace({v.getAsOpaquePointer(), key(map)}, accesses.size());
  if (!fresh)
    return accesses[it->second];
  auto type = cast<RankedTensorType>(v.getType());
  AffineExpr zero = getAffineConstantExpr(0, c.b.getContext()), stride = getAffineConstantExpr(1, c.b.getContext());
  Access a{v, 0, type.getElementType(), SmallVector<AffineExpr>(localDims.size(), zero), SmallVector<AffineExpr>(localDims.size()), {}, {}};
  SmallVector<int64_t> own = kernel::localDims(type);
  for (size_t i = own.size(); i-- > 0;) {
    if (map[i] >= 0 && own[i] != 1) {
      a.strides[map[i]] = stride;
      a.maybe[map[i]] = own[i] != localDims[map[i]] ? sizeExpr(own[i]) : AffineExpr();
    }
    stride = sizeExpr(own[i]) * stride;
  }
  accesses.push_back(std::move(a));
  return accesses.back();
}

void Space::addInputs(Value v, const DimMap &map) {
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    access(v, map).buffer = arg.getArgNumber();
    return;
  }
  Operation *op = v.getDefiningOp();
  if (onnx::constantValue(v) || op == row || !visited.insert({v.getAsOpaquePointer(), key(map)}).second)
    return;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    addInputs(op->getOperand(i), operandMap(op, i, map));
}

void Space::addResult(Value v, const DimMap &map) {
  Operation::operand_range results = c.kernel.getReturn()->getOperands();
  access(v, map).buffer = c.kernel.getArgumentTypes().size() + (llvm::find(results, v) - results.begin());
}

void Space::merge(ArrayRef<int64_t> borders) {
  SmallVector<AffineExpr> merged;
  SmallVector<SmallVector<AffineExpr>> strides(accesses.size());
  SmallVector<SmallVector<AffineExpr>> maybe(accesses.size());
  unsigned segment = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    segment += llvm::count(borders, int64_t(d));
    auto one = dyn_cast<AffineConstantExpr>(sizes[d]);
    if (one && one.getValue() == 1)
      continue;
    bool joins = !merged.empty() && segments.back() == segment;
    for (size_t i = 0; joins && i < accesses.size(); ++i)
      joins = !maybe[i].back() && !accesses[i].maybe[d] && strides[i].back() == sizes[d] * accesses[i].strides[d];
    for (size_t i = 0; i < accesses.size(); ++i) {
      if (joins) {
        strides[i].back() = accesses[i].strides[d];
      } else {
        strides[i].push_back(accesses[i].strides[d]);
        maybe[i].push_back(accesses[i].maybe[d]);
      }
    }
    if (joins)
      merged.back() = merged.back() * sizes[d];
    else
      merged.push_back(sizes[d]), segments.push_back(segment);
  }
  if (merged.empty()) {  // one element
    merged.push_back(getAffineConstantExpr(1, c.b.getContext())), segments.push_back(segment);
    for (size_t i = 0; i < accesses.size(); ++i)
      strides[i].push_back(getAffineConstantExpr(0, c.b.getContext())), maybe[i].push_back({});
  }
  sizes = std::move(merged);
  for (size_t i = 0; i < accesses.size(); ++i)
    accesses[i].strides = strides[i], accesses[i].maybe = maybe[i];
}

Value Space::value(AffineExpr e) {
  Value &known = values[e];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(c.b);
  if (auto k = dyn_cast<AffineConstantExpr>(e)) {
    c.b.setInsertionPointToStart(&c.func.getBody().front());
    return known = c.n(k.getValue());
  }
  if (auto s = dyn_cast<AffineSymbolExpr>(e))
    return known = c.sizes(kernel::withLocalDims(c.f32, {-int64_t(s.getPosition()) - 1}))[0];
  auto binary = cast<AffineBinaryOpExpr>(e);
  assert(e.getKind() == AffineExprKind::Mul && "sizes and strides are products");
  Value l = value(binary.getLHS()), r = value(binary.getRHS());
  // All of this is written where the function starts, behind what it needs.
  Block &entry = c.func.getBody().front();
  Operation *after = nullptr;
  for (Value v : {l, r})
    if (Operation *op = v.getDefiningOp(); op && op->getBlock() == &entry && (!after || after->isBeforeInBlock(op)))
      after = op;
  if (after)
    c.b.setInsertionPointAfter(after);
  else
    c.b.setInsertionPointToStart(&entry);
  return values[e] = c.mul(l, r);
}

static bool isConstant(AffineExpr e, int64_t v) {
  auto k = dyn_cast<AffineConstantExpr>(e);
  return k && k.getValue() == v;
}

bool Space::canVectorise() const {
  return llvm::all_of(accesses, [](const Access &a) { return isConstant(a.strides.back(), 0) || isConstant(a.strides.back(), 1); });
}

Value Space::vectorCondition() {
  Value holds = c.flag(true);
  for (Access &a : accesses)
    if (a.maybe.back())
      holds = c.both(holds, c.equal(value(a.maybe.back()), value(sizes.back())));
  return holds;
}

bool Space::masksWell(unsigned vectorBits) const {
  return vectorBits >= 512 ||
         (vectorBits >= 256 && llvm::all_of(accesses, [](const Access &a) { return a.element.getIntOrFloatBitWidth() >= 32; }));
}

void Space::beginRow(ValueRange outer) {
  newPoint();
  for (Access &a : accesses) {
    int64_t bytes = storageBytes(a.element);
    a.row = c.buffer(a.buffer);
    for (size_t d = 0; d + 1 < sizes.size(); ++d)
      if (!isConstant(a.strides[d], 0))
        a.row = c.at(a.row, c.mul(c.mul(outer[d], stride(a, d)), bytes));
    bool isResult = a.buffer >= c.kernel.getArgumentTypes().size();
    a.scalar = !isResult && isConstant(a.strides.back(), 0) ? loadElements(c, a.element, a.row, 1) : Value();
  }
}

Value Space::stride(Access &a, size_t d) {
  Value s = value(a.strides[d]);
  return a.maybe[d] ? c.select(c.equal(value(a.maybe[d]), c.n(1)), c.n(0), s) : s;
}

// `unit`: strides that may be 0 are known to be what they say.
Value Space::address(Access &a, Value at, bool unit) {
  size_t last = sizes.size() - 1;
  if (isConstant(a.strides[last], 0))
    return a.row;
  Value step = unit ? value(a.strides[last]) : stride(a, last);
  return c.at(a.row, c.mul(c.mul(at, step), storageBytes(a.element)));
}

Value Space::load(Access &a, Value at, int64_t lanes, Value mask) {
  if (a.scalar)
    return lanes > 1 ? c.splat(a.scalar, lanes) : a.scalar;
  return loadElements(c, a.element, address(a, at, lanes > 1), lanes, mask);
}

Value Space::eval(Value v, const DimMap &map, Value at, int64_t lanes, Value mask) {
  Key k{v.getAsOpaquePointer(), key(map), lanes};
  if (auto it = known.find(k); it != known.end())
    return it->second;
  if (ElementsAttr value = onnx::constantValue(v))
    return known[k] = constantRegister(c, value, lanes);
  if (isa<BlockArgument>(v))
    return known[k] = load(*find(v, map), at, lanes, mask);
  Operation *op = v.getDefiningOp();
  SmallVector<Value> operands;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    operands.push_back(eval(op->getOperand(i), operandMap(op, i, map), at, lanes, mask));
  return known[k] = onnx::opName(op) == "Transpose" ? operands[0] : emitPointwise(c, op, operands);
}

void Space::store(Value v, const DimMap &map, Value computed, Value at, int64_t lanes, Value mask) {
  Access &a = *find(v, map);
  storeElements(c, a.element, computed, address(a, at, lanes > 1), mask);
}

int64_t pointCost(kernel::FuncOp kernel) {
  int64_t cost = 1;
  for (Operation &op : kernel.getBody().front())
    cost += isTranscendental(&op) || onnx::opName(&op).ends_with("Softmax") ? 8 : 1;
  return cost;
}

bool isDear(kernel::FuncOp kernel) { return pointCost(kernel) > 8; }

}  // namespace onnxc
