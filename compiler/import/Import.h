// Import.h: a .onnx file becomes a module with one func.func @main over onnx ops at the newest opset. Only entry of compiler/import;
// Pipeline.cpp calls it.
//
// Form of the result:
// - arguments carry `onnx.name` and `onnx.dims` (one string per dim, "" for a static or anonymous one), results the same and `onnx.rank`
//   where the model declares their shape; an argument that a run may leave out carries `onnx.default`; an input of any rank, a list of
//   elements, and each result of its shape carry its index as `onnx.like`; one with a bounded dim carries `onnx.ranges`: least, expected
//   (-1: not said) and greatest size of each dim;
// - the module carries `onnx.opset` (of ai.onnx; 0: none), `onnx.opsets` (by domain), `onnx.ir_version`, `onnx.producer`,
// `onnx.producer_version`, `onnx.model_name`, `onnx.domain`, `onnx.doc`,
//   `onnx.model_version` and the dictionary `onnx.metadata`; `onnx.reserve` where contexts take memory for the greatest sizes at once;
// - every op's location is made by nodeLoc: describeLoc reads it back;
// - a weight is an `onnx.Constant` with `value`. Up to 1 KiB: a DenseElementsAttr (strings: DenseStringElementsAttr of any size). Above: a
//   DenseResourceElementsAttr whose blob is the mapped file itself where bytes allow, one element after the other as docs/Architecture.md
//   section 2 says (bool and every 4- and 2-bit type one byte an element, signed ones sign-extended). A blob's bytes may be unaligned.
//   Dense attributes of 1-, 2- and 4-bit types are in MLIR's own storage: read them through value iterators, not as raw bytes.
#pragma once
#include "compiler/import/DefaultInputs.h"
#include "compiler/import/ShapeFlags.h"
#include "dialects/onnx/NodeLoc.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace onnxc {

struct ImportOptions {
  std::map<std::string, int64_t> defineDims;
  ShapeFlags shapes;
  std::set<std::string> customOps;  // "domain::Name" of operators that the user supplies
  DefaultInputs defaultInputs = DefaultInputs::Data;
  bool allowExternalOutside = false;           // external data may lie outside the model's folder
  int64_t maxConstantSize = int64_t(1) << 30;  // bytes of a constant that the model does not store, such as a sparse one made dense
  bool gatherMatrices = true;                  // experts' by products with gathered ones, of which -O0 makes copies
};

// Null when the model cannot be imported; diagnostics went to the context's engine and name the file or the node. `*misfit` becomes true
// where the model is good and sizes in `options` do not fit it.
mlir::OwningOpRef<mlir::ModuleOp> importModel(llvm::StringRef path, mlir::MLIRContext &context, const ImportOptions &options,
                                              bool *misfit = nullptr);

}  // namespace onnxc
