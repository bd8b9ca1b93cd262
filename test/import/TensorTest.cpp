// TensorTest.cpp: weights of every storage: raw, typed, packed, sparse, in the model file, in files beside it.
#include "Models.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include <catch2/catch.hpp>

using namespace onnxc::test;
using Catch::Contains;
using Tensor = ::onnx::TensorProto;

namespace {
// A model whose output is made of the initializer `w` by `op`, of element type `type`.
::onnx::ModelProto modelOf(const Tensor &w, const std::string &type, const std::string &op = "Identity") {
  auto model = parse("<ir_version: 10, opset_import: [\"\" : 28]> g (float[1] x) => (" + type + "[] y) { y = " + op + "(w) }");
  model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  *model.mutable_graph()->add_initializer() = w;
  return model;
}
Tensor tensor(int type, std::initializer_list<int64_t> dims, const std::string &raw = "") {
  Tensor t;
  t.set_name("w");
  t.set_data_type(type);
  for (int64_t dim : dims)
    t.add_dims(dim);
  if (!raw.empty())
    t.set_raw_data(raw);
  return t;
}
void place(Tensor &t, const std::string &location, const std::string &offset = "") {
  t.set_data_location(Tensor::EXTERNAL);
  auto *entry = t.add_external_data();
  entry->set_key("location");
  entry->set_value(location);
  if (offset.empty())
    return;
  entry = t.add_external_data();
  entry->set_key("offset");
  entry->set_value(offset);
}
}  // namespace

TEST_CASE("small weights are dense attributes") {
  CHECK_THAT(importProto(modelOf(tensor(Tensor::INT32, {2}, std::string("\1\0\0\0\2\0\0\0", 8)), "int32")),
             Contains("dense<[1, 2]> : tensor<2xi32>"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::BOOL, {3}, std::string("\0\1\7", 3)), "bool")), Contains("dense<[false, true, true]>"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::INT4, {3}, "\xf1\x07"), "int4")), Contains("dense<[1, -1, 7]> : tensor<3xi4>"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::UINT2, {3}, "\x1b"), "uint2")), Contains("dense<[3, 2, 1]> : tensor<3xui2>"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::FLOAT6E2M3, {3}, "\x08\xf2\x01"), "float", "Cast<to = 1>")),
             Contains("dense<[1.000000e+00, 1.000000e+00, 7.500000e+00]> : tensor<3xf6E2M3FN>"));
  Tensor six = tensor(Tensor::FLOAT6E3M2, {5});
  for (int bits : {12, 31, 44, 63, -1})
    six.add_int32_data(bits);
  CHECK_THAT(importProto(modelOf(six, "float", "Cast<to = 1>")),
             Contains("1.000000e+00, 2.800000e+01, -1.000000e+00, -2.800000e+01, -2.800000e+01]"));
  Tensor half = tensor(Tensor::FLOAT16, {1});
  half.add_int32_data(0x3c00);
  CHECK_THAT(importProto(modelOf(half, "float16")), Contains("dense<1.000000e+00> : tensor<1xf16>"));
  Tensor signs = tensor(Tensor::BFLOAT16, {2});  // bits extended by zeros and by the sign
  signs.add_int32_data(0xbf80);
  signs.add_int32_data(-0x4080);
  CHECK_THAT(importProto(modelOf(signs, "bfloat16")), Contains("dense<-1.000000e+00> : tensor<2xbf16>"));
  Tensor flags = tensor(Tensor::BOOL, {3});
  for (int flag : {0, 256, -1})
    flags.add_int32_data(flag);
  CHECK_THAT(importProto(modelOf(flags, "bool")), Contains("dense<[false, true, true]>"));
  Tensor text = tensor(Tensor::STRING, {2});
  text.add_string_data("a");
  text.add_string_data("b c");
  CHECK_THAT(importProto(modelOf(text, "string")), Contains("dense<[\"a\", \"b c\"]> : tensor<2x!onnx.string>"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::FLOAT, {0, 3}), "float")), Contains("tensor<0x3xf32>"));
}

TEST_CASE("large weights stay in the file") {
  std::string raw(4096, '\0');
  raw[4] = 1;
  std::string module = importProto(modelOf(tensor(Tensor::INT32, {1024}, raw), "int32"));
  CHECK_THAT(module, Contains("dense_resource<w> : tensor<1024xi32>") && Contains("0000000001000000"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::UINT4, {4096}, std::string(2048, '\x21')), "uint4")), Contains("01020102"));
}

TEST_CASE("sparse weights become dense") {
  auto model = parse("<ir_version: 10, opset_import: [\"\" : 17]> g (float[1] x) => (float[2,3] y) { y = Identity(w) }");
  auto *sparse = model.mutable_graph()->add_sparse_initializer();
  sparse->add_dims(2);
  sparse->add_dims(3);
  *sparse->mutable_values() = tensor(Tensor::FLOAT, {1});
  sparse->mutable_values()->add_float_data(5);
  *sparse->mutable_indices() = tensor(Tensor::INT64, {1});
  sparse->mutable_indices()->add_int64_data(4);
  CHECK_THAT(importProto(model), Contains("[0.000000e+00, 5.000000e+00, 0.000000e+00]"));
  sparse->mutable_indices()->set_int64_data(0, 6);
  CHECK_THAT(importProto(model), Contains("sparse initializer 'w' has an index out of range"));
}

TEST_CASE("data files beside the model are read, others are not") {
  TemporaryFolder folder;
  folder.write("w.bin", std::string("\0\0\0\0\3\0\0\0", 8));
  auto import = [&](const std::string &location, const std::string &offset) {
    Tensor w = tensor(Tensor::INT32, {1});
    place(w, location, offset);
    return importFile(folder.write("model.onnx", modelOf(w, "int32").SerializeAsString()));
  };
  CHECK_THAT(import("w.bin", "4"), Contains("dense<3> : tensor<1xi32>"));
  CHECK_THAT(import("w.bin", "6"), Contains("initializer 'w' external data file 'w.bin' holds 8 bytes"));
  CHECK_THAT(import("w.bin", "x"), Contains("is not a number"));
  CHECK_THAT(import("../w.bin", ""), Contains("is not a plain path"));
  CHECK_THAT(import("/etc/passwd", ""), Contains("is not a plain path"));
  CHECK_THAT(import("none.bin", ""), Contains("cannot be read"));
}

TEST_CASE("weights that contradict their shape are named") {
  CHECK_THAT(importProto(modelOf(tensor(Tensor::FLOAT, {3}, "abcd"), "float")),
             Contains("initializer 'w' holds 4 bytes of data, its shape and type need 12"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::FLOAT, {-3}), "float")), Contains("initializer 'w' has an impossible size -3"));
  CHECK_THAT(importProto(modelOf(tensor(99, {3}), "float")), Contains("unknown data type 99"));
  CHECK_THAT(importProto(modelOf(tensor(Tensor::FLOAT, {INT64_MAX, INT64_MAX}), "float")), Contains("impossible size"));
}
