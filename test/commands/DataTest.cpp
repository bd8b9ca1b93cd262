// Test data in ONNX's form: elements of every width, and data that does not fit its shape.
#include "compiler/commands/Data.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <catch2/catch.hpp>
#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

using namespace onnxc;

template <class Proto>
static llvm::Expected<Value> readBack(const Proto &t, Value::Kind kind = Value::Tensor) {
  llvm::SmallString<128> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("onnxc", "pb", path));
  std::error_code error;
  llvm::raw_fd_ostream(path, error) << t.SerializeAsString();
  llvm::Expected<Value> v = readPb(path, kind);
  llvm::sys::fs::remove(path);
  return v;
}

static onnx::TensorProto tensor(int type, int64_t count, const std::string &raw) {
  onnx::TensorProto t;
  t.set_data_type(type);
  t.add_dims(count);
  t.set_raw_data(raw);
  return t;
}

TEST_CASE("packed elements become bytes") {
  using T = onnx::TensorProto;
  CHECK(llvm::cantFail(readBack(tensor(T::FLOAT6E2M3, 4, "\x41\x20\x0c"))).bytes == std::vector<char>{1, 1, 2, 3});
  CHECK(llvm::cantFail(readBack(tensor(T::INT4, 3, "\x9f\x01"))).bytes == std::vector<char>{-1, -7, 1});
  CHECK(llvm::cantFail(readBack(tensor(T::UINT2, 5, std::string("\xe4\x02", 2)))).bytes == std::vector<char>{0, 1, 2, 3, 2});
}

TEST_CASE("typed fields become bytes") {
  onnx::TensorProto t;
  t.set_data_type(onnx::TensorProto::INT16);
  t.add_dims(2);
  t.add_int32_data(-2);
  t.add_int32_data(258);
  CHECK(llvm::cantFail(readBack(t)).bytes == std::vector<char>{-2, -1, 2, 1});
  t.set_int32_data(0, 70000);
  CHECK(llvm::errorToBool(readBack(t).takeError()));
}

TEST_CASE("data that does not fit its shape is an error") {
  for (int64_t count : {int64_t(3), int64_t(5), int64_t(1) << 62, int64_t(-1)}) {
    INFO(count);
    CHECK(llvm::errorToBool(readBack(tensor(onnx::TensorProto::FLOAT, count, std::string(16, 0))).takeError()));
  }
}

static onnx::TensorProto scalar(int type, const std::string &raw) {
  onnx::TensorProto t;
  t.set_data_type(type);
  t.set_raw_data(raw);
  return t;
}

TEST_CASE("maps have keys of their type and values of one") {
  using T = onnx::TensorProto;
  onnx::MapProto m;
  m.set_key_type(T::INT64);
  m.add_keys(7);
  m.mutable_values()->set_elem_type(onnx::SequenceProto::TENSOR);
  *m.mutable_values()->add_tensor_values() = scalar(T::FLOAT, std::string(4, 0));
  CHECK(llvm::cantFail(readBack(m, Value::Map)).items[0].bytes.size() == 8);
  SECTION("integers for strings") { m.set_key_type(T::STRING); }
  SECTION("strings for integers") { m.add_string_keys("a"), m.clear_keys(); }
  SECTION("values of two types") {
    m.add_keys(8);
    *m.mutable_values()->add_tensor_values() = scalar(T::DOUBLE, std::string(8, 0));
  }
  SECTION("a sequence as value") { m.mutable_values()->add_sequence_values(), m.mutable_values()->clear_tensor_values(); }
  CHECK(llvm::errorToBool(readBack(m, Value::Map).takeError()));
}
