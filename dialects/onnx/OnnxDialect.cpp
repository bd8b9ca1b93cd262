// OnnxDialect.cpp: registration of the dialect and its types; generic access to onnx ops.
#include "dialects/onnx/NodeLoc.h"
#include "dialects/onnx/OnnxBase.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
namespace onnxc::onnx {

void OnnxDialect::initialize() {
  registerTypes();
  registerElementwise();
  registerReduce();
  registerNN();
  registerTensor();
  registerQuant();
  registerControlFlow();
  registerSequence();
  registerString();
  registerSignal();
  registerVision();
  registerRandom();
  registerTraining();
  registerML();
  registerMicrosoft();
  registerPacked();
}

Operation *OnnxDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = llvm::dyn_cast<ElementsAttr>(value);
  return elements && elements.getType() == type ? ConstantOp::create(builder, loc, elements).getOperation() : nullptr;
}

bool isOnnx(Operation *op) { return llvm::isa_and_nonnull<OnnxDialect>(op->getDialect()); }

StringRef opName(Operation *op) {
  StringRef name = op->getName().getStringRef();
  return name.consume_front("onnx.") ? name : StringRef();
}

InFlightDiagnostic emitNodeError(Operation *op) {
  InFlightDiagnostic error = op->emitError();
  if (StringRef name = opName(op); nodeOpType(op->getLoc()) != name.substr(name.rfind('.') + 1))
    error << name << ": ";
  return error;
}

const OpInfo *opInfo(OperationName name) {
  auto *dialect = llvm::dyn_cast_if_present<OnnxDialect>(name.getDialect());
  return dialect ? dialect->info(name) : nullptr;
}

// First value and number of values of the declared operand or result `index` of `total` given ones.
static std::pair<unsigned, unsigned> segment(Operation *op, StringRef kinds, StringRef sizesAttr, unsigned index, unsigned total) {
  if (index >= kinds.size())
    return {total, 0};
  if (auto sizes = op->getAttrOfType<DenseI32ArrayAttr>(sizesAttr)) {
    unsigned start = 0;
    for (unsigned i = 0; i < index; ++i)
      start += sizes[i];
    return {start, sizes[index]};
  }
  size_t flexible = kinds.find_first_of("?*");
  unsigned flexibleSize = total - (kinds.size() - 1);
  if (flexible == StringRef::npos || index < flexible)
    return {index, 1};
  return index == flexible ? std::make_pair(index, flexibleSize) : std::make_pair(index - 1 + flexibleSize, 1u);
}

OperandRange operands(Operation *op, unsigned index) {
  auto [start, size] = segment(op, opInfo(op)->operands, "operandSegmentSizes", index, op->getNumOperands());
  return op->getOperands().slice(start, size);
}
ResultRange results(Operation *op, unsigned index) {
  auto [start, size] = segment(op, opInfo(op)->results, "resultSegmentSizes", index, op->getNumResults());
  return op->getResults().slice(start, size);
}
Value operand(Operation *op, unsigned index) {
  OperandRange range = operands(op, index);
  return range.empty() ? Value() : range.front();
}
Value result(Operation *op, unsigned index) {
  ResultRange range = results(op, index);
  return range.empty() ? Value() : Value(range.front());
}

// The text of the default of attribute `name`; nothing when it has none.
static std::optional<StringRef> defaultText(Operation *op, StringRef name) {
  const OpInfo *info = opInfo(op);
  StringRef rest = info ? info->defaults : StringRef();
  while (!rest.empty()) {
    auto [entry, tail] = rest.split(';');
    if (entry.consume_front(name) && entry.consume_front("="))
      return entry;
    rest = tail;
  }
  return std::nullopt;
}

int64_t intAttr(Operation *op, StringRef name, int64_t otherwise) {
  if (auto attr = op->getAttrOfType<IntegerAttr>(name))
    return attr.getInt();
  if (auto text = defaultText(op, name))
    text->getAsInteger(10, otherwise);
  return otherwise;
}
float floatAttr(Operation *op, StringRef name, float otherwise) {
  if (auto attr = op->getAttrOfType<FloatAttr>(name))
    return attr.getValueAsDouble();
  auto text = defaultText(op, name);
  double value = otherwise;
  if (text)
    text->drop_back().getAsDouble(value);
  return value;
}
StringRef strAttr(Operation *op, StringRef name, StringRef otherwise) {
  if (auto attr = op->getAttrOfType<StringAttr>(name))
    return attr.getValue();
  return defaultText(op, name).value_or(otherwise);
}
ArrayRef<int64_t> intsAttr(Operation *op, StringRef name) { return optionalInts(op, name).value_or(ArrayRef<int64_t>()); }
std::optional<ArrayRef<int64_t>> optionalInts(Operation *op, StringRef name) {
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>(name))
    return attr.asArrayRef();
  return std::nullopt;
}

ElementsAttr constantValue(Value v) {
  ElementsAttr value;
  return v && matchPattern(v, m_Constant(&value)) ? value : ElementsAttr();
}

// Elements of a blob of native integers of `width` bits, little endian; types below a byte take one byte an element.
static std::optional<SmallVector<int64_t>> blobElements(ArrayRef<char> data, int64_t count, unsigned width, bool isSigned) {
  unsigned bytes = std::max(1u, width / 8);
  if (int64_t(data.size()) < count * bytes)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, data.data() + i * bytes, bytes);
    unsigned unused = 64 - 8 * bytes;
    if (!isSigned && bits > INT64_MAX)
      return std::nullopt;
    values.push_back(isSigned ? int64_t(bits << unused) >> unused : int64_t(bits));
  }
  return values;
}

StringRef leftOut(ElementsAttr value) {
  auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value);
  return resource && !resource.getRawHandle().getBlob() ? resource.getRawHandle().getKey() : StringRef();
}

std::optional<SmallVector<int64_t>> integerElements(ElementsAttr value, int64_t limit) {
  if (!value || value.getNumElements() > limit)
    return std::nullopt;
  auto type = llvm::dyn_cast<IntegerType>(value.getElementType());
  if (!type)
    return std::nullopt;
  bool isSigned = type.isSignless() && type.getWidth() > 1;
  if (auto resource = llvm::dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blobElements(blob->getData(), value.getNumElements(), type.getWidth(), isSigned) : std::nullopt;
  }
  auto range = value.tryGetValues<APInt>();
  if (!range)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &element : *range) {
    if (!isSigned && element.getActiveBits() > 63)
      return std::nullopt;
    values.push_back(isSigned ? element.getSExtValue() : int64_t(element.getZExtValue()));
  }
  return values;
}

Type elementType(Value v) {
  auto tensor = v ? llvm::dyn_cast<TensorType>(v.getType()) : TensorType();
  return tensor ? tensor.getElementType() : Type();
}

LogicalResult verifyAxisInRange(Operation *op) {
  auto type = op->getNumOperands() ? llvm::dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  if (!type)
    return success();
  int64_t axis = intAttr(op, "axis"), rank = std::max<int64_t>(type.getRank(), 1);
  if (axis >= -rank && axis < rank)
    return success();
  return op->emitOpError("axis ") << axis << " is outside [" << -rank << ", " << rank - 1 << "] for an input of rank " << type.getRank();
}

}  // namespace onnxc::onnx

#include "dialects/onnx/OnnxDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.cpp.inc"

void onnxc::onnx::OnnxDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/onnx/OnnxTypes.cpp.inc"
      >();
}
