// Headers.cpp: see Headers.h.
#include "compiler/Headers.h"
#include "codegen/cpu/Codegen.h"
#include "codegen/link/ModelHeader.h"
#include "dialects/onnx/ElementTypes.h"
#include "dialects/onnx/OnnxDialect.h"

using namespace mlir;

namespace onnxc {

static std::string shapeOf(ArrayRef<int64_t> dims, ArrayAttr symbols) {
  std::string text = "[";
  for (int64_t dim : dims) {
    text += text.size() > 1 ? ", " : "";
    if (dim >= 0)
      text += std::to_string(dim);
    else if (dim == INT64_MIN || size_t(-(dim + 1)) >= symbols.size())
      text += "known after the run";
    else
      text += cast<StringAttr>(symbols[-(dim + 1)]).getValue().empty() ? "?" : cast<StringAttr>(symbols[-(dim + 1)]).getValue().str();
  }
  return text + "]";
}

static std::vector<ModelPort> ports(ModuleOp module, StringRef key) {
  std::vector<ModelPort> result;
  auto symbols = module->getAttrOfType<ArrayAttr>("onnxc.symbols");
  for (Attribute a : module->getAttrOfType<ArrayAttr>(key)) {
    auto d = cast<DictionaryAttr>(a);
    Type type = cast<TypeAttr>(d.get("type")).getValue();
    auto tensor = dyn_cast<TensorType>(type);
    bool plain = tensor || !isa<onnx::SeqType, onnx::OptType, onnx::MapType>(type);
    result.push_back({cast<StringAttr>(d.get("name")).getValue().str(),
                      plain ? onnx::elementTypeCode(tensor ? tensor.getElementType() : type) : 0, plain,
                      plain ? shapeOf(cast<DenseI64ArrayAttr>(d.get("dims")).asArrayRef(), symbols) : "not a tensor"});
  }
  return result;
}

llvm::Error emitModelHeaders(ModuleOp module, StringRef modelName, StringRef folder) {
  return writeModelHeaders({modelName.str(), ports(module, "onnxc.inputs"), ports(module, "onnxc.outputs")}, folder);
}

}  // namespace onnxc
