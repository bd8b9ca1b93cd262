// BuildAttrs.cpp: the conversions of BuildAttrs.h.
#include "compiler/import/BuildAttrs.h"
#include "dialects/onnx/OnnxBase.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using llvm::StringRef;
namespace onnxc::importer {

// Models of the first IR version leave the type out: the field that is set tells.
static pb::AttributeProto::AttributeType typeOf(const pb::AttributeProto &attr) {
  using A = pb::AttributeProto;
  if (attr.type() != A::UNDEFINED)
    return attr.type();
  return attr.has_i()          ? A::INT
         : attr.has_f()        ? A::FLOAT
         : attr.has_s()        ? A::STRING
         : attr.has_t()        ? A::TENSOR
         : attr.ints_size()    ? A::INTS
         : attr.floats_size()  ? A::FLOATS
         : attr.strings_size() ? A::STRINGS
                               : A::UNDEFINED;
}

Attribute toAttribute(const pb::AttributeProto &attr, ModelFile &file, MLIRContext *context, StringRef name, std::string &error) {
  using A = pb::AttributeProto;
  mlir::Builder b(context);
  switch (typeOf(attr)) {
  case A::INT:
    return b.getI64IntegerAttr(attr.i());
  case A::FLOAT:
    return b.getF32FloatAttr(attr.f());
  case A::STRING:
    return b.getStringAttr(attr.s());
  case A::INTS:
    return b.getDenseI64ArrayAttr(llvm::SmallVector<int64_t>(attr.ints().begin(), attr.ints().end()));
  case A::FLOATS:
    return b.getDenseF32ArrayAttr(llvm::SmallVector<float>(attr.floats().begin(), attr.floats().end()));
  case A::STRINGS: {
    llvm::SmallVector<Attribute> strings;
    for (const std::string &s : attr.strings())
      strings.push_back(b.getStringAttr(s));
    return b.getArrayAttr(strings);
  }
  case A::TENSOR:
    return tensorToAttr(attr.t(), file, context, name, error);
  case A::SPARSE_TENSOR:
    return sparseToAttr(attr.sparse_tensor(), file, context, name, error);
  case A::TYPE_PROTO: {
    Type type = toType(attr.tp(), context);
    if (type)
      return TypeAttr::get(type);
    error = "is not a valid type";
    return {};
  }
  default:
    error = "has a kind that no operator uses (" + std::to_string(int(attr.type())) + ")";
    return {};
  }
}

static ElementsAttr strings(llvm::ArrayRef<StringRef> values, llvm::ArrayRef<int64_t> shape, MLIRContext *context) {
  return DenseElementsAttr::get(RankedTensorType::get(shape, onnx::StringType::get(context)), values);
}

ElementsAttr constantValue(const pb::NodeProto &node, ModelFile &file, MLIRContext *context, std::string &error) {
  mlir::Builder b(context);
  for (const pb::AttributeProto &attr : node.attribute()) {
    StringRef name = attr.name();
    if (name == "value")
      return tensorToAttr(attr.t(), file, context, node.output(0), error);
    if (name == "sparse_value")
      return sparseToAttr(attr.sparse_tensor(), file, context, node.output(0), error);
    if (name == "value_int")
      return DenseElementsAttr::get(RankedTensorType::get({}, b.getI64Type()), attr.i());
    if (name == "value_float")
      return DenseElementsAttr::get(RankedTensorType::get({}, b.getF32Type()), attr.f());
    if (name == "value_string")
      return strings({StringRef(attr.s())}, {}, context);
    if (name == "value_ints") {
      llvm::SmallVector<int64_t> values(attr.ints().begin(), attr.ints().end());
      return DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, b.getI64Type()), llvm::ArrayRef<int64_t>(values));
    }
    if (name == "value_floats") {
      llvm::SmallVector<float> values(attr.floats().begin(), attr.floats().end());
      return DenseElementsAttr::get(RankedTensorType::get({int64_t(values.size())}, b.getF32Type()), llvm::ArrayRef<float>(values));
    }
    if (name == "value_strings") {
      llvm::SmallVector<StringRef> values(llvm::map_range(attr.strings(), [](const std::string &s) { return StringRef(s); }));
      return strings(values, {int64_t(values.size())}, context);
    }
  }
  error = "is missing";
  return {};
}

ArrayAttr declaredSizes(const pb::GraphProto &graph, ValueRange results, MLIRContext *context) {
  SmallVector<Attribute> declared;
  bool more = false;
  for (auto [output, value] : llvm::zip(graph.output(), results)) {
    auto promised = dyn_cast_if_present<RankedTensorType>(toType(output.type(), context));
    auto actual = dyn_cast<RankedTensorType>(value.getType());
    bool fits = promised && actual && promised.getRank() == actual.getRank();
    for (int64_t d = 0; fits && d < actual.getRank(); ++d)
      more |= actual.isDynamicDim(d) && !promised.isDynamicDim(d);
    declared.push_back(DenseI64ArrayAttr::get(context, fits ? promised.getShape() : ArrayRef<int64_t>()));
  }
  return more ? ArrayAttr::get(context, declared) : ArrayAttr();
}

}  // namespace onnxc::importer
