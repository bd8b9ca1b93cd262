// Ranges.h: sizes of inputs that flags fix or bound. Between Normalise.cpp and Walk.cpp.
#pragma once
#include "compiler/import/ModelFile.h"
#include "compiler/import/ShapeFlags.h"
#include "mlir/IR/Location.h"
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace onnxc::importer {

// Gives the dims of inputs and outputs with a name in `sizes` that size, and those of size -1, as some exporters write unknown ones, none.
// False, and reported, where a name is no dim's.
bool fixDims(pb::GraphProto &graph, const std::map<std::string, int64_t> &sizes, mlir::Location loc);

// For inputs with a bounded dim, `onnx.ranges` of Import.h: least, expected and greatest size of each dim.
using Ranges = std::unordered_map<std::string, std::vector<int64_t>>;
// A dim of which flags leave one size becomes static. False after diagnostics where they do not fit the model or each other.
bool takeRanges(pb::GraphProto &graph, const ShapeFlags &flags, mlir::Location loc, Ranges &ranges);

}  // namespace onnxc::importer
