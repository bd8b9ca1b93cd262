// Data.cpp: see Data.h.
#include "compiler/commands/Data.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cstring>
#include <onnx/onnx-data.pb.h>
#include <onnx/onnx_pb.h>

namespace onnxc {

template <typename T, typename Field>
static void copyField(const Field &field, Value &v) {
  v.bytes.resize(field.size() * sizeof(T));
  for (int i = 0; i < field.size(); ++i) {
    T x = static_cast<T>(field.Get(i));
    memcpy(v.bytes.data() + i * sizeof(T), &x, sizeof(T));
  }
}

// Bits of an element of a packed type, 8 for all others.
static int packedBits(int32_t dtype) { return dtype >= 21 && dtype <= 23 ? 4 : dtype == 25 || dtype == 26 ? 2 : 8; }

static void unpack(Value &v, int64_t count) {
  int bits = packedBits(v.dtype), perByte = 8 / bits;
  bool isSigned = v.dtype == 22 || v.dtype == 26;
  std::vector<char> wide(count);
  for (int64_t i = 0; i < count && i / perByte < (int64_t)v.bytes.size(); ++i) {
    int x = (uint8_t(v.bytes[i / perByte]) >> (i % perByte * bits)) & ((1 << bits) - 1);
    wide[i] = isSigned && (x >> (bits - 1)) ? x - (1 << bits) : x;
  }
  v.bytes = std::move(wide);
}

static void readFields(const ::onnx::TensorProto &t, Value &v) {
  switch (v.dtype) {
  case 1:
    copyField<float>(t.float_data(), v);
    break;
  case 7:
    copyField<int64_t>(t.int64_data(), v);
    break;
  case 11:
    copyField<double>(t.double_data(), v);
    break;
  case 12:
    copyField<uint32_t>(t.uint64_data(), v);
    break;
  case 13:
    copyField<uint64_t>(t.uint64_data(), v);
    break;
  case 14:
    copyField<float>(t.float_data(), v);
    break;
  case 15:
    copyField<double>(t.double_data(), v);
    break;
  case 6:
    copyField<int32_t>(t.int32_data(), v);
    break;
  default:
    if (findDType(v.dtype)->size == 2)
      copyField<uint16_t>(t.int32_data(), v);
    else
      copyField<uint8_t>(t.int32_data(), v);
  }
}

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
  if (v.dtype == StringCode) {
    v.strings.assign(t.string_data().begin(), t.string_data().end());
    return (int64_t)v.strings.size() == count;
  }
  if (t.has_raw_data())
    v.bytes.assign(t.raw_data().begin(), t.raw_data().end());
  else
    readFields(t, v);
  if (int perByte = 8 / packedBits(v.dtype); perByte > 1) {
    if ((int64_t)v.bytes.size() != (count + perByte - 1) / perByte)
      return false;
    unpack(v, count);
  }
  return (int64_t)v.bytes.size() == count * type->size;
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
  if (m.string_keys_size()) {
    keys.dims = {m.string_keys_size()};
    keys.strings.assign(m.string_keys().begin(), m.string_keys().end());
  } else {
    keys.dims = {m.keys_size()};
    copyField<int64_t>(m.keys(), keys);
  }
  v.items.push_back(std::move(keys));
  // One value tensor a key in the file; one tensor for all of them here.
  Value list, values;
  if (!fromSequence(m.values(), list))
    return false;
  values.dims = {(int64_t)list.items.size()};
  for (const Value &item : list.items) {
    if (item.count() != 1)
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
