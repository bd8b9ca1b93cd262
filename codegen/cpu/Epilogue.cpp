// Epilogue.cpp: pointwise ops on 16 lanes, their other operands read with broadcasting.
#include "codegen/cpu/Epilogue.h"
#include "codegen/cpu/Pointwise.h"
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Blocked.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
namespace onnxc {

Epilogue::Epilogue(KernelCode &code, Operation *root) : c(code), root(root) {}

// The op behind `op` in its kernel, if it is computed on the same accumulators.
static Operation *following(Operation *op) {
  op = op->getNextNode();
  return op && onnx::isOnnx(op) && loweringOf(op) != Lowering::Contract ? op : nullptr;
}

// A kernel's argument at `place`: its axes are the last ones of the result's, of the same size or of size 1.
Value Epilogue::operand(Value v, const LanePlace &place, Value mask) const {
  auto type = cast<RankedTensorType>(v.getType());
  Type element = type.getElementType();
  if (ElementsAttr constant = onnx::constantValue(v))
    return constantRegister(c, constant, kLanes);
  Value base = c.address(v);
  SmallVector<int64_t> dims = kernel::localDims(type);
  Code::Values sizes = c.sizes(type);
  Value offset = place.offset;
  if (element.isInteger(1) || dims != kernel::localDims(cast<RankedTensorType>(root->getResult(0).getType()))) {
    Code::Values index = place.index();
    Value stride = c.n(element.isInteger(1) ? 1 : element.getIntOrFloatBitWidth() / 8);
    offset = c.n(0);
    for (size_t i = dims.size(), skip = index.size() - dims.size(); i-- > 0;) {
      if (dims[i] != 1)
        offset = c.add(offset, c.mul(index[skip + i], stride));
      stride = c.mul(stride, sizes[i]);
    }
  }
  Value address = c.at(base, offset);
  if (dims.empty() || dims.back() == 1)
    return c.splat(loadElements(c, element, address, 1), kLanes);
  return loadElements(c, element, address, kLanes, mask);
}

void Epilogue::prefetch(const LanePlace &place) const {
  for (Operation *op = root ? following(root) : nullptr; op; op = following(op))
    for (Value v : op->getOperands())
      if (isa<BlockArgument>(v) && v.getType() == root->getResult(0).getType())
        c.prefetch(c.at(c.address(v), place.offset), 2);
}

bool Epilogue::isLong() const {
  for (Operation *op = root ? following(root) : nullptr; op; op = following(op))
    if (isTranscendental(op))
      return true;
  return false;
}

Value Epilogue::apply(Value lanes, const LanePlace &place, Value mask) const {
  if (!root)
    return lanes;
  llvm::DenseMap<Value, Value> values{{root->getResult(0), lanes}};
  Value last = lanes;
  for (Operation *op = following(root); op; op = following(op)) {
    if (onnx::constantValue(op->getResult(0)))
      continue;
    SmallVector<Value> operands;
    for (Value v : op->getOperands()) {
      Value &have = values[v];
      if (!have)
        have = operand(v, place, mask);
      operands.push_back(have);
    }
    last = values[op->getResult(0)] = emitPointwise(c, op, operands);
  }
  return last;
}

}  // namespace onnxc
