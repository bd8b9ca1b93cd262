// TypedData.cpp: the conversion of TypedData.h. All bytes are little endian, as on the hosts onnxc runs on.
#include "compiler/import/TypedData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>
#include <limits>

namespace onnxc::importer {

template <typename To, typename Field>
static bool copyField(const Field &field, std::vector<char> &out) {
  out.resize(field.size() * sizeof(To));
  for (int i = 0; i < field.size(); ++i) {
    To value = static_cast<To>(field.Get(i));
    std::memcpy(out.data() + i * sizeof(To), &value, sizeof(To));
  }
  return true;
}

// The same for values that must lie in [low, high].
template <typename To, typename Field>
static bool copyWithin(const pb::TensorProto &t, const Field &field, int64_t low, int64_t high, std::vector<char> &out,
                       std::string &error) {
  auto wrong = llvm::find_if(field, [&](auto v) { return v > decltype(v)(high) || (low < 0 ? v < decltype(v)(low) : v < 0); });
  if (wrong == field.end())
    return copyField<To>(field, out);
  std::string type = llvm::StringRef(pb::TensorProto_DataType_Name(t.data_type())).lower();
  error = "holds " + std::to_string(*wrong) + " as element " + std::to_string(wrong - field.begin()) + ", which " + type + " cannot hold";
  return false;
}

// Integers narrower than their field.
template <typename To, typename Field>
static bool copyNarrow(const pb::TensorProto &t, const Field &field, std::vector<char> &out, std::string &error) {
  return copyWithin<To>(t, field, std::numeric_limits<To>::min(), std::numeric_limits<To>::max(), out, error);
}

// Patterns of bits, which writers extend by zeros or by their highest bit.
template <typename To>
static bool copyBits(const pb::TensorProto &t, std::vector<char> &out, std::string &error) {
  return copyWithin<To>(t, t.int32_data(), std::numeric_limits<std::make_signed_t<To>>::min(), std::numeric_limits<To>::max(), out, error);
}

// 6-bit elements, one a byte, as raw_data packs them: from the low bits up.
static void packSixBits(std::vector<char> &data) {
  std::vector<char> out((data.size() * 6 + 7) / 8);
  for (size_t i = 0; i < data.size(); ++i) {
    size_t at = i * 6 / 8;
    unsigned value = unsigned(data[i] & 63) << i * 6 % 8;
    out[at] |= char(value);
    if (value >> 8)
      out[at + 1] |= char(value >> 8);
  }
  data = std::move(out);
}

// What int32_data holds besides int32 itself.
static bool fromInts(const pb::TensorProto &t, std::vector<char> &out, std::string &error) {
  using T = pb::TensorProto;
  switch (t.data_type()) {
  case T::INT8:
    return copyNarrow<int8_t>(t, t.int32_data(), out, error);
  case T::UINT8:
    return copyNarrow<uint8_t>(t, t.int32_data(), out, error);
  case T::INT16:
    return copyNarrow<int16_t>(t, t.int32_data(), out, error);
  case T::UINT16:
    return copyNarrow<uint16_t>(t, t.int32_data(), out, error);
  case T::BOOL:
    out.resize(t.int32_data_size());
    llvm::transform(t.int32_data(), out.begin(), [](int32_t value) { return char(value != 0); });
    return true;
  case T::FLOAT16:
  case T::BFLOAT16:
    return copyBits<uint16_t>(t, out, error);
  case T::FLOAT6E2M3:
  case T::FLOAT6E3M2:
    if (!copyBits<uint8_t>(t, out, error))
      return false;
    packSixBits(out);
    return true;
  default:
    return copyBits<uint8_t>(t, out, error);
  }
}

bool typedBytes(const pb::TensorProto &t, std::vector<char> &out, std::string &error) {
  using T = pb::TensorProto;
  switch (t.data_type()) {
  case T::FLOAT:
  case T::COMPLEX64:
    return copyField<float>(t.float_data(), out);
  case T::DOUBLE:
  case T::COMPLEX128:
    return copyField<double>(t.double_data(), out);
  case T::INT64:
    return copyField<int64_t>(t.int64_data(), out);
  case T::UINT64:
    return copyField<uint64_t>(t.uint64_data(), out);
  case T::UINT32:
    return copyNarrow<uint32_t>(t, t.uint64_data(), out, error);
  case T::INT32:
    return copyField<int32_t>(t.int32_data(), out);
  default:
    return fromInts(t, out, error);
  }
}

std::vector<char> unpackElements(llvm::ArrayRef<char> bytes, int64_t count, const DType &type) {
  unsigned bits = type.bits;
  std::vector<char> out(count);
  for (int64_t i = 0; i < count; ++i) {
    size_t at = size_t(i) * bits / 8, shift = size_t(i) * bits % 8;
    unsigned both = uint8_t(bytes[at]) | (shift + bits > 8 ? uint8_t(bytes[at + 1]) << 8 : 0);
    unsigned value = (both >> shift) & ((1u << bits) - 1);
    out[i] = type.kind == DType::Signed && (value >> (bits - 1)) ? char(value | (0xff << bits)) : char(value);
  }
  return out;
}

}  // namespace onnxc::importer
