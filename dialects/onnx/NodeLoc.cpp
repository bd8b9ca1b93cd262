// NodeLoc.cpp: a named location fused with the op type and opset that the file gave.
#include "dialects/onnx/NodeLoc.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
namespace onnxc {

Location nodeLoc(MLIRContext *context, StringRef name, StringRef opType, int64_t opset) {
  mlir::Builder b(context);
  auto info = b.getDictionaryAttr({b.getNamedAttr("op", b.getStringAttr(opType)), b.getNamedAttr("opset", b.getI64IntegerAttr(opset))});
  return FusedLoc::get(context, {NameLoc::get(b.getStringAttr(name))}, info);
}

// The innermost named location and, where there is one, the dictionary that nodeLoc gave it.
static std::pair<NameLoc, DictionaryAttr> findName(Location loc) {
  if (auto name = llvm::dyn_cast<NameLoc>(loc))
    return {name, {}};
  if (auto call = llvm::dyn_cast<CallSiteLoc>(loc))
    return findName(call.getCallee());
  auto fused = llvm::dyn_cast<FusedLoc>(loc);
  if (!fused)
    return {};
  for (Location inner : fused.getLocations())
    if (auto found = findName(inner); found.first)
      return {found.first, found.second ? found.second : llvm::dyn_cast_if_present<DictionaryAttr>(fused.getMetadata())};
  return {};
}

std::string nodeName(Location loc) {
  NameLoc name = findName(loc).first;
  return name ? name.getName().str() : std::string();
}

StringRef nodeOpType(Location loc) {
  DictionaryAttr info = findName(loc).second;
  auto op = info ? info.getAs<StringAttr>("op") : StringAttr();
  return op ? op.getValue() : StringRef();
}

std::string describeLoc(Location loc) {
  auto [name, info] = findName(loc);
  if (!name) {
    std::string text;
    llvm::raw_string_ostream(text) << loc;
    return text;
  }
  StringRef op = nodeOpType(loc);
  auto opset = info ? info.getAs<IntegerAttr>("opset") : IntegerAttr();
  if (op.empty())
    return name.getName().str();
  std::string text = name.getName().str() + " (" + op.str();
  if (opset && opset.getInt() > 0)
    text += ", opset " + std::to_string(opset.getInt());
  return text + ")";
}

}  // namespace onnxc
