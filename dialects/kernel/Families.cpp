// Families.cpp: views, control flow and the library table.
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/ElementTypes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {

Lowering loweringOf(Operation *op) { return loweringOf(onnx::opName(op)); }

Lowering loweringOf(StringRef name) {
  if (name == "If" || name == "Loop" || name == "Scan" || name == "SequenceMap")
    return Lowering::Control;
  if (name == "Reshape" || name == "Squeeze" || name == "Unsqueeze" || name == "Flatten" || name == "Identity")
    return Lowering::View;
  return name.starts_with("packed.") && !findLibraryRow(name) ? Lowering::Contract : Lowering::Kernel;
}

namespace {
// Which element types an operator has generated code for.
enum Domain : uint8_t {
  None = 0,
  Single = 1,
  Double = 2,
  Int = 4,
  Bool = 8,
  Half = 16,    // f16 and bf16: loads and stores with conversion
  Costly = 32,  // takes tens of instructions (isTranscendental)
  Float = Single | Double,
  Number = Float | Int,
  Any = Number | Bool | Half
};
}  // namespace

static Domain domainOf(Type t) {
  if (!t || t.isF32())
    return t ? Single : None;
  if (t.isF64())
    return Double;
  if (t.isF16() || t.isBF16())
    return Half;
  if (auto i = dyn_cast<IntegerType>(t))
    return i.getWidth() == 1 ? Bool : i.getWidth() >= 8 ? Int : None;
  return None;
}

static const llvm::StringMap<Domain> &pointwiseDomains() {
  static const llvm::StringMap<Domain> map = [] {
    llvm::StringMap<Domain> m;
    auto all = [&](Domain domain, std::initializer_list<StringRef> names) {
      for (StringRef name : names)
        m[name] = domain;
    };
    all(Number, {"Add", "Sub", "Mul", "Max", "Min", "Sum", "Abs", "Neg", "Sign", "Relu", "PRelu", "Clip"});
    all(Number, {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"});
    all(Float, {"Div", "Mean", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Softsign", "LeakyRelu", "ThresholdedRelu", "HardSigmoid",
                "HardSwish", "Shrink", "IsNaN", "IsInf"});
    all(Domain(Float | Costly), {"Exp", "Log", "Sigmoid", "Tanh", "Softplus", "Elu", "Celu", "Selu", "Swish", "Sin", "Cos", "Pow"});
    all(Domain(Single | Costly), {"Erf", "Mish", "Gelu", "SwiGLU", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Acosh", "Atanh",
                                  "ms.FastGelu", "ms.BiasGelu", "ms.QuickGelu"});
    all(Int, {"BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"});
    all(Bool, {"And", "Or", "Xor", "Not"});
    all(Any, {"Cast", "CastLike"});
    all(Domain(Any & ~Half), {"Where"});
    return m;
  }();
  return map;
}

bool hasLoopType(Value v) { return domainOf(onnx::elementType(v)) != None; }

std::optional<double> smallExponent(Operation *op) {
  ElementsAttr value = onnx::constantValue(op->getOperand(1));
  if (!value || !isa<Float32Type, Float64Type>(value.getElementType()) || !value.isSplat())
    return std::nullopt;
  double n = (*value.value_begin<APFloat>()).convertToDouble();
  return llvm::is_contained({1.0, 2.0, 3.0, 4.0, -1.0, 0.5}, n) ? std::optional(n) : std::nullopt;
}

bool isPointwise(Operation *op) {
  Domain domain = pointwiseDomains().lookup(onnx::opName(op));
  if (domain == None || op->getNumResults() != 1)
    return false;
  for (Value v : op->getOperands())
    if (domainOf(onnx::elementType(v)) == None)
      return false;
  if (domainOf(onnx::elementType(op->getResult(0))) == None)
    return false;
  bool halves = (domainOf(onnx::elementType(op->getOperand(0))) | domainOf(onnx::elementType(op->getResult(0)))) & Half;
  Type from = onnx::elementType(op->getOperand(0)), to = onnx::elementType(op->getResult(0));
  if (halves && !from.isF32() && !to.isF32() && !(from.isF64() && to.isF16()))
    return false;
  Value first = op->getOperand(op->getNumOperands() > 1 && onnx::opName(op) == "Where" ? 1 : 0);
  if (onnx::opName(op) == "Pow" &&
      (from.isF64() ? onnx::elementType(op->getOperand(1)) != from || !smallExponent(op) : !onnx::elementType(op->getOperand(1)).isF32()))
    return false;
  return domainOf(onnx::elementType(first)) & domain;
}

bool isChannelwise(Operation *op) {
  Type number = op->getNumOperands() ? onnx::elementType(op->getOperand(0)) : Type();
  auto same = [&](Value v) { return onnx::elementType(v) == number; };
  auto type = op->getNumOperands() ? dyn_cast<RankedTensorType>(op->getOperand(0).getType()) : RankedTensorType();
  return onnx::opName(op) == "BatchNormalization" && op->getNumResults() == 1 && !onnx::intAttr(op, "training_mode") && type &&
         type.getRank() >= 2 && (number.isF32() || number.isF64()) && llvm::all_of(op->getOperands(), same);
}

static bool isReduction(StringRef op) {
  static const llvm::StringSet<> names = {"ReduceSum",       "ReduceMean", "ReduceMax", "ReduceMin",    "ReduceProd",
                                          "ReduceSumSquare", "ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp"};
  return names.contains(op);
}

bool isReduction(Operation *op) { return isReduction(onnx::opName(op)); }

// The axes of a reduction when they are constant and neighbours.
static std::optional<RowAxes> reducedAxes(Operation *op, int64_t rank) {
  if (!isReduction(op))
    return std::nullopt;
  Value axes = onnx::operand(op, 1);
  auto given = axes ? onnx::integerElements(axes) : SmallVector<int64_t>();
  if (!given || (given->empty() && onnx::intAttr(op, "noop_with_empty_axes")))
    return std::nullopt;
  if (given->empty())
    return RowAxes{0, rank, true};
  for (int64_t &a : *given)
    a = onnx::fromFront(a, rank);
  llvm::sort(*given);
  for (size_t i = 0; i < given->size(); ++i)
    if ((*given)[i] != (*given)[0] + int64_t(i))
      return std::nullopt;
  return RowAxes{given->front(), given->back() + 1, true};
}

// Softmaxes, normalisations and pooling that may be rows.
static bool isRows(StringRef name) {
  static const llvm::StringSet<> names = {"Softmax",
                                          "LogSoftmax",
                                          "LayerNormalization",
                                          "RMSNormalization",
                                          "InstanceNormalization",
                                          "GlobalAveragePool",
                                          "GlobalMaxPool",
                                          "ms.LayerNormalization",
                                          "ms.SimplifiedLayerNormalization",
                                          "ms.SkipLayerNormalization",
                                          "ms.SkipSimplifiedLayerNormalization"};
  return names.contains(name);
}

bool isTranscendental(Operation *op) { return pointwiseDomains().lookup(onnx::opName(op)) & Costly; }

bool hasGeneratedCode(StringRef op) {
  static const llvm::StringSet<> packed = {"Conv", "ConvTranspose", "MatMul", "Gemm", "MaxPool", "AveragePool", "Resize", "LRN"};
  return pointwiseDomains().contains(op) || isReduction(op) || isRows(op) || packed.contains(op) || op == "Transpose" ||
         op == "BatchNormalization";
}

static std::optional<RowAxes> rowAxesOfRank(Operation *op, int64_t rank) {
  StringRef name = onnx::opName(op);
  if (!isRows(name))
    return reducedAxes(op, rank);
  int64_t axis = onnx::axisAttr(op, rank, -1);
  if (name == "Softmax" || name == "LogSoftmax")
    return RowAxes{axis, axis + 1, false};
  if (name == "LayerNormalization" || name == "RMSNormalization" || name == "ms.LayerNormalization")
    return RowAxes{axis, rank, false};
  if (name == "ms.SimplifiedLayerNormalization" && op->getNumResults() == 1)
    return RowAxes{axis, rank, false};
  bool skips = name == "ms.SkipLayerNormalization" || name == "ms.SkipSimplifiedLayerNormalization";
  if (skips && onnx::results(op, 1).empty() && onnx::results(op, 2).empty())
    return RowAxes{rank - 1, rank, false};
  if (name == "InstanceNormalization" && rank > 2)
    return RowAxes{2, rank, false};
  if ((name == "GlobalAveragePool" || name == "GlobalMaxPool") && rank > 2)
    return RowAxes{2, rank, true};
  return std::nullopt;
}

std::optional<RowAxes> rowAxes(Operation *op) {
  if (!op->getNumOperands() || !op->getNumResults())
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  Type number = type ? type.getElementType() : Type();
  if (!number || !(number.isF32() || number.isF64()) || onnx::elementType(op->getResult(0)) != number)
    return std::nullopt;
  if (number.isF64() && op->getNumResults() > 1)  // statistics, whose type may be another
    return std::nullopt;
  std::optional<RowAxes> axes = rowAxesOfRank(op, type.getRank());
  if (!axes || axes->begin < 0 || axes->begin >= axes->end || axes->end > type.getRank())
    return std::nullopt;
  for (Value v : op->getOperands().drop_front())
    if (!axes->reduces && onnx::elementType(v) != number)
      return std::nullopt;
  for (int64_t d : type.getShape().slice(axes->begin, axes->end - axes->begin))
    if (d != 1)
      return axes;
  return std::nullopt;
}

static constexpr bool hasFlag(std::string_view flags, char flag) { return flags.find(flag) != std::string_view::npos; }

static const LibraryRow rows[] = {
#define ONNXC_LIBRARY(op, name, types, attributes, flags) {op, name, types, attributes, flags, hasFlag(flags, 'D'), hasFlag(flags, 'I')},
#include "runtime_stub/kernels/Library.def"
};

const LibraryRow *findLibraryRow(StringRef op) {
  static const llvm::StringMap<const LibraryRow *> byName = [] {
    llvm::StringMap<const LibraryRow *> map;
    for (const LibraryRow &row : rows)
      map.try_emplace(row.op, &row);
    return map;
  }();
  return byName.lookup(op);
}

static Type innerElement(Type t) {
  if (auto tensor = dyn_cast<TensorType>(t))
    return tensor.getElementType();
  if (auto seq = dyn_cast<onnx::SeqType>(t))
    return innerElement(seq.getElement());
  if (auto opt = dyn_cast<onnx::OptType>(t))
    return innerElement(opt.getElement());
  return t;
}

bool hasFastKernel(Operation *op) {
  const LibraryRow *row = findLibraryRow(("fast." + onnx::opName(op)).str());
  if (!row || !op->getNumOperands() || !onnx::elementType(op->getOperand(0)))
    return false;
  SmallVector<StringRef> types;
  row->flags.split(types, ',');
  return llvm::is_contained(types, onnx::elementTypeName(onnx::elementType(op->getOperand(0))));
}

static std::string sizeName(Type t) {
  bool isObject = !t.isIntOrFloat() && !isa<onnx::StringType, ComplexType>(t);
  return "b" + std::to_string(isObject ? 8 : storageBytes(t));
}

SmallVector<std::string> libraryTypes(const LibraryRow &row, Operation *op) {
  SmallVector<std::string> types;
  SmallVector<StringRef> specs;
  row.types.split(specs, ',', -1, false);
  for (StringRef spec : specs) {
    spec = spec.trim();
    unsigned index = 0;
    spec.drop_front().getAsInteger(10, index);
    auto operands = onnx::operands(op, index);
    auto results = onnx::results(op, index);
    bool result = spec[0] == 'R' || spec[0] == 'C';
    Value v = result ? (results.empty() ? Value() : results.front()) : operands.empty() ? Value() : operands.front();
    if (!v)
      continue;
    Type t = innerElement(v.getType());
    if (Type from = spec[0] == 'C' ? innerElement(operands.front().getType()) : Type(); from && isa<onnx::StringType>(from))
      t = from;
    types.push_back(spec[0] == 'S' ? sizeName(t) : onnx::elementTypeName(t).str());
  }
  return types;
}

std::string librarySymbol(const LibraryRow &row, Operation *op) {
  std::string symbol = row.name.str();
  for (const std::string &type : libraryTypes(row, op))
    symbol += "_" + type;
  return symbol;
}

}  // namespace onnxc
