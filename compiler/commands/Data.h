// Data.h: test data in ONNX's own form (test_data_set_*/input_N.pb, output_N.pb) as Values; used by `onnxc verify` and `onnxc run`.
#pragma once
#include "compiler/commands/Value.h"
#include "llvm/Support/Error.h"

namespace onnxc {

// Reads a TensorProto, SequenceProto, OptionalProto or MapProto; `kind` (Value::Kind of the model's input or output) says which.
llvm::Expected<Value> readPb(llvm::StringRef path, Value::Kind kind);

}  // namespace onnxc
