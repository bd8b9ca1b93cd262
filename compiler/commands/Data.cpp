// Data.cpp: see Data.h.
#include "compiler/commands/Data.h"
#include "compiler/import/TypedData.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

namespace onnxc {

static bool fromTensor(const ::onnx::TensorProto &t, Value &v) {
  const DType *type = findDType(t.data_type());
  if (!type)
    return false;
  v.dtype = type->code;
  v.dims.assign(t.dims().begin(), t.dims().end());
  int64_t count = 1;
  for (int64_t d : v.dims)
    if (d < 0 || __builtin_mul_overflow(count, d, &count))
      return false;
  if (v.dtype == kStringCode) {
    v.strings.assign(t.string_data().begin(), t.string_data().end());
    return (int64_t)v.strings.size() == count;
  }
  std::string error;
  if (t.has_raw_data())
    v.bytes.assign(t.raw_data().begin(), t.raw_data().end());
  else if (!importer::typedBytes(t, v.bytes, error))
    return false;
  int64_t bits;
  if (__builtin_mul_overflow(count, int64_t(type->bits), &bits) || int64_t(v.bytes.size()) != bits / 8 + (bits % 8 != 0))
    return false;
  if (type->bits < 8)
    v.bytes = importer::unpackElements(v.bytes, count, *type);
  return true;
}

static bool fromSequence(const ::onnx::SequenceProto &s, Value &v);
static bool fromMap(const ::onnx::MapProto &m, Value &v);

static bool fromOptional(const ::onnx::OptionalProto &o, Value &v) {
  v.kind = Value::Optional;
  if (o.has_tensor_value())
    return fromTensor(o.tensor_value(), v.items.emplace_back());
  if (o.has_sequence_value())
    return fromSequence(o.sequence_value(), v.items.emplace_back());
  if (o.has_map_value())
    return fromMap(o.map_value(), v.items.emplace_back());
  return true;
}

static bool fromSequence(const ::onnx::SequenceProto &s, Value &v) {
  v.kind = Value::Sequence;
  bool good = true;
  for (const auto &t : s.tensor_values())
    good &= fromTensor(t, v.items.emplace_back());
  for (const auto &t : s.sequence_values())
    good &= fromSequence(t, v.items.emplace_back());
  for (const auto &t : s.map_values())
    good &= fromMap(t, v.items.emplace_back());
  for (const auto &t : s.optional_values())
    good &= fromOptional(t, v.items.emplace_back());
  return good;
}

static bool fromMap(const ::onnx::MapProto &m, Value &v) {
  v.kind = Value::Map;
  Value keys;
  keys.dtype = m.key_type();
  if (keys.dtype != kStringCode && keys.dtype != ::onnx::TensorProto::INT64)
    return false;
  if (keys.dtype == kStringCode ? m.keys_size() : m.string_keys_size())
    return false;
  if (keys.dtype == kStringCode) {
    keys.dims = {m.string_keys_size()};
    keys.strings.assign(m.string_keys().begin(), m.string_keys().end());
  } else {
    keys.dims = {m.keys_size()};
    for (int64_t key : m.keys())
      keys.bytes.insert(keys.bytes.end(), reinterpret_cast<const char *>(&key), reinterpret_cast<const char *>(&key + 1));
  }
  v.items.push_back(std::move(keys));
  // One value tensor a key in the file; one tensor for all of them here.
  Value list, values;
  if (!fromSequence(m.values(), list))
    return false;
  values.dims = {(int64_t)list.items.size()};
  for (const Value &item : list.items) {
    if (item.kind != Value::Tensor || item.count() != 1 || item.dtype != list.items[0].dtype)
      return false;
    values.dtype = item.dtype;
    values.bytes.insert(values.bytes.end(), item.bytes.begin(), item.bytes.end());
    values.strings.insert(values.strings.end(), item.strings.begin(), item.strings.end());
  }
  v.items.push_back(std::move(values));
  return true;
}

llvm::Expected<Value> readPb(llvm::StringRef path, Value::Kind kind) {
  auto bad = [&](const llvm::Twine &what) { return llvm::createStringError(llvm::inconvertibleErrorCode(), "'" + path + "': " + what); };
  auto file = llvm::MemoryBuffer::getFile(path, false, false);
  if (!file)
    return bad(file.getError().message());
  llvm::StringRef bytes = (*file)->getBuffer();
  Value v;
  auto parse = [&](auto proto, auto convert) {
    return bytes.size() < (1u << 31) && proto.ParseFromArray(bytes.data(), bytes.size()) && convert(proto, v);
  };
  bool good = kind == Value::Sequence   ? parse(::onnx::SequenceProto(), fromSequence)
              : kind == Value::Optional ? parse(::onnx::OptionalProto(), fromOptional)
              : kind == Value::Map      ? parse(::onnx::MapProto(), fromMap)
                                        : parse(::onnx::TensorProto(), fromTensor);
  if (!good)
    return bad("not the ONNX value expected here");
  return v;
}

}  // namespace onnxc
