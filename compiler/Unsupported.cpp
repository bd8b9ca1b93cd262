// Unsupported.cpp: see Unsupported.h.
#include "compiler/Unsupported.h"
#include "codegen/cpu/LibraryNames.h"
#include "dialects/kernel/Families.h"
#include "dialects/onnx/Packed.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
namespace onnxc {

// Whether code of the op is the library's, for all that is known before groups are formed.
static bool isLibrary(Operation *op, const Options &options) {
  StringRef name = onnx::opName(op);
  if (!onnx::isOnnx(op) || name == "Constant" || name == "Yield" || loweringOf(op) != Lowering::Kernel)
    return false;
  return options.optLevel == 0 || !(isPointwise(op) || isChannelwise(op) || rowAxes(op));
}

// Why the library does not compute the op; "" when it does.
static std::string whyNot(Operation *op, Arch arch) {
  StringRef name = onnx::opName(op);
  const LibraryRow *row = findLibraryRow(name);
  name = name.substr(name.rfind('.') + 1);  // without the prefix of a domain
  if (!row)
    return "no kernel computes " + name.str();
  if (isa<onnx::CustomCallOp>(op) || hasLibraryKernel(arch, librarySymbol(*row, op)))
    return "";
  std::string why = "no kernel of " + name.str() + " takes elements of " + llvm::join(libraryTypes(*row, op), " and ");
  if (std::vector<std::string> types = typesOfKernel(arch, row->name); !types.empty())
    why += ", only of " + llvm::join(types, ", ");
  return why;
}

int reportUnsupported(ModuleOp module, const Options &options) {
  int status = ExitOk;
  Arch arch = findIsa(options.cpus.front())->arch;
  module.walk([&](Operation *op) {
    if (!isLibrary(op, options))
      return;
    std::string why = whyNot(op, arch);
    if (why.empty())
      return;
    op->emitError(why) << "; cast its inputs, give the operator as a model-local function, or pass --custom-op";
    status = ExitOutOfScope;
  });
  return status;
}

}  // namespace onnxc
