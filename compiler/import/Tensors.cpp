// Tensors.cpp: the conversions of Tensors.h. All bytes are little endian, as on the hosts onnxc runs on.
#include "compiler/import/Tensors.h"
#include "compiler/import/TypedData.h"
#include "dialects/onnx/OnnxBase.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;
namespace onnxc::importer {

static constexpr uint64_t kSmallBytes = 1024;

bool isRemote(const pb::TensorProto &t) {
  return t.data_location() == pb::TensorProto::EXTERNAL || (t.external_data_size() != 0 && t.raw_data().empty());
}

static bool elementCount(const pb::TensorProto &t, int64_t &count, std::string &error) {
  count = 1;
  if (t.dims_size() > kMaxRank) {
    error = "has " + std::to_string(t.dims_size()) + " dims; at most " + std::to_string(kMaxRank) + " are supported";
    return false;
  }
  bool empty = llvm::is_contained(t.dims(), 0);
  for (int64_t dim : t.dims()) {
    if (dim < 0 || (dim != 0 && count > kMaxElements / dim && !empty)) {
      error = "has an impossible size " + std::to_string(dim);
      return false;
    }
    count = empty ? 0 : count * dim;
  }
  return true;
}

// Finds the bytes of `t`, wherever they are. `scratch` holds them when they had to be converted.
static bool findBytes(const pb::TensorProto &t, ModelFile &file, uint64_t expected, Bytes &bytes, std::vector<char> &scratch,
                      std::string &error) {
  if (t.data_location() == pb::TensorProto::EXTERNAL)
    return file.external(t, expected, bytes, error);
  for (const auto &entry : t.external_data())
    if (entry.key() == kPayloadKey)
      return file.payload(entry.value(), bytes, error);
  if (t.has_raw_data() && !t.raw_data().empty()) {
    bytes.data = llvm::ArrayRef<char>(t.raw_data().data(), t.raw_data().size());
    return true;
  }
  if (!typedBytes(t, scratch, error))
    return false;
  bytes.data = scratch;
  return true;
}

static void normaliseBools(Bytes &bytes, std::vector<char> &scratch) {
  if (llvm::all_of(bytes.data, [](char c) { return c == 0 || c == 1; }))
    return;
  std::vector<char> out(bytes.data.begin(), bytes.data.end());
  for (char &c : out)
    c = c != 0;
  scratch = std::move(out);
  bytes = {scratch, nullptr};
}

static ElementsAttr denseAttr(RankedTensorType type, llvm::ArrayRef<char> data) {
  Type element = type.getElementType();
  if (type.getNumElements() == 0)
    return DenseElementsAttr::get(type, llvm::ArrayRef<Attribute>());
  if (element.isInteger(1)) {
    llvm::SmallVector<bool> values(llvm::map_range(data, [](char c) { return c != 0; }));
    return DenseElementsAttr::get(type, values);
  }
  if (element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8) {
    unsigned width = element.getIntOrFloatBitWidth();
    llvm::SmallVector<llvm::APInt> bits(llvm::map_range(data, [&](char c) { return llvm::APInt(8, uint8_t(c)).trunc(width); }));
    if (auto floats = llvm::dyn_cast<FloatType>(element)) {
      llvm::SmallVector<llvm::APFloat> values(
          llvm::map_range(bits, [&](const llvm::APInt &b) { return llvm::APFloat(floats.getFloatSemantics(), b); }));
      return DenseElementsAttr::get(type, values);
    }
    return DenseElementsAttr::get(type, bits);
  }
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

static ElementsAttr resourceAttr(RankedTensorType type, const Bytes &bytes, StringRef name) {
  if (!bytes.owner)
    return DenseResourceElementsAttr::get(type, name, HeapAsmResourceBlob::allocateAndCopyWithAlign(bytes.data, 64));
  Buffer owner = bytes.owner;
  return DenseResourceElementsAttr::get(type, name, AsmResourceBlob(bytes.data, 1, [owner](void *, size_t, size_t) {}, false));
}

// The blob's name in the module: file names may hold any byte, the printed form may not.
static std::string resourceName(StringRef name) {
  std::string out;
  for (char c : name)
    out.push_back(llvm::isAlnum(c) || c == '_' || c == '.' || c == '/' ? c : '_');
  return out.empty() || !llvm::isAlpha(out[0]) ? "w" + out : out;
}

// The bytes of a tensor of any type but string, as the file packs them. False: `error` is set.
static bool packedBytes(const pb::TensorProto &t, ModelFile &file, int64_t &count, Bytes &bytes, std::vector<char> &scratch,
                        std::string &error) {
  if (!findDType(t.data_type())) {
    error = "has the unknown data type " + std::to_string(t.data_type());
    return false;
  }
  if (t.has_segment()) {
    error = "is a segment of a tensor, which is not supported";
    return false;
  }
  if (!elementCount(t, count, error))
    return false;
  if (t.data_type() == pb::TensorProto::STRING) {
    if (t.string_data_size() == count)
      return true;
    error = "holds " + std::to_string(t.string_data_size()) + " strings, its shape has " + std::to_string(count);
    return false;
  }
  uint64_t expected = (uint64_t(count) * findDType(t.data_type())->bits + 7) / 8;
  if (!findBytes(t, file, expected, bytes, scratch, error))
    return false;
  if (bytes.data.size() == expected)
    return true;
  error = "holds " + llvm::utostr(bytes.data.size()) + " bytes of data, its shape and type need " + llvm::utostr(expected);
  return false;
}

std::string checkTensor(const pb::TensorProto &t, ModelFile &file) {
  Bytes bytes;
  std::vector<char> scratch;
  std::string error;
  int64_t count = 0;
  packedBytes(t, file, count, bytes, scratch, error);
  return error;
}

ElementsAttr tensorToAttr(const pb::TensorProto &t, ModelFile &file, MLIRContext *context, StringRef name, std::string &error) {
  int64_t count = 0;
  Bytes bytes;
  std::vector<char> scratch;
  if (!packedBytes(t, file, count, bytes, scratch, error))
    return {};
  Type element = onnx::elementTypeOfCode(context, t.data_type());
  auto type = RankedTensorType::get(llvm::SmallVector<int64_t>(t.dims().begin(), t.dims().end()), element);
  if (t.data_type() == pb::TensorProto::STRING) {
    llvm::SmallVector<StringRef> values(llvm::map_range(t.string_data(), [](const std::string &s) { return StringRef(s); }));
    return DenseElementsAttr::get(type, values);
  }
  if (const DType *stored = findDType(t.data_type()); stored->bits < 8) {
    scratch = unpackElements(bytes.data, count, *stored);
    bytes = {scratch, nullptr};
  }
  if (t.data_type() == pb::TensorProto::BOOL)
    normaliseBools(bytes, scratch);
  if (bytes.data.size() <= kSmallBytes)
    return denseAttr(type, bytes.data);
  return resourceAttr(type, bytes, resourceName(name));
}

// The bytes that a tensor of the model file itself holds; false where they are wrong, which tensorToAttr reports.
static bool smallBytes(const pb::TensorProto &t, std::vector<char> &bytes) {
  std::string error;
  if (t.raw_data().empty())
    return typedBytes(t, bytes, error);
  bytes.assign(t.raw_data().begin(), t.raw_data().end());
  return true;
}

bool smallInts(const pb::TensorProto &t, std::vector<int64_t> &values) {
  if (isRemote(t))
    return false;
  std::vector<char> bytes;
  if (!smallBytes(t, bytes))
    return false;
  auto read = [&](auto zero) {
    values.resize(bytes.size() / sizeof(zero));
    for (size_t i = 0; i < values.size(); ++i, values[i - 1] = int64_t(zero))
      std::memcpy(&zero, bytes.data() + i * sizeof(zero), sizeof(zero));
    return true;
  };
  switch (t.data_type()) {
  case pb::TensorProto::INT64:
  case pb::TensorProto::UINT64:
    return read(int64_t());
  case pb::TensorProto::INT32:
    return read(int32_t());
  case pb::TensorProto::UINT8:
  case pb::TensorProto::BOOL:
    return read(uint8_t());
  case pb::TensorProto::INT8:
    return read(int8_t());
  default:
    return false;
  }
}

bool smallFloats(const pb::TensorProto &t, std::vector<double> &values) {
  if (isRemote(t) || (t.data_type() != pb::TensorProto::FLOAT && t.data_type() != pb::TensorProto::DOUBLE))
    return false;
  std::vector<char> bytes;
  if (!smallBytes(t, bytes))
    return false;
  bool single = t.data_type() == pb::TensorProto::FLOAT;
  values.resize(bytes.size() / (single ? 4 : 8));
  for (size_t i = 0; i < values.size(); ++i) {
    float narrow = 0;
    double wide = 0;
    std::memcpy(single ? static_cast<void *>(&narrow) : &wide, bytes.data() + i * (single ? 4 : 8), single ? 4 : 8);
    values[i] = single ? narrow : wide;
  }
  return true;
}

// Where the values of a sparse tensor go, as offsets into the dense one.
static bool sparseOffsets(const pb::SparseTensorProto &t, ModelFile &file, int64_t stored, int64_t total, std::vector<int64_t> &offsets,
                          std::string &error) {
  Bytes bytes;
  std::vector<char> scratch;
  if (t.indices().data_type() != pb::TensorProto::INT64) {
    error = "has indices that are not int64";
    return false;
  }
  if (!findBytes(t.indices(), file, stored * 8 * (t.indices().dims_size() == 1 ? 1 : t.dims_size()), bytes, scratch, error))
    return false;
  std::vector<int64_t> indices(bytes.data.size() / 8);
  std::memcpy(indices.data(), bytes.data.data(), indices.size() * 8);
  int64_t rank = t.dims_size();
  bool linear = t.indices().dims_size() == 1;
  if (int64_t(indices.size()) != (linear ? stored : stored * rank)) {
    error = "has " + std::to_string(indices.size()) + " indices for " + std::to_string(stored) + " values";
    return false;
  }
  for (int64_t i = 0; i < stored; ++i) {
    int64_t offset = linear ? indices[i] : 0;
    bool inside = true;
    for (int64_t d = 0; d < rank && !linear; ++d) {
      int64_t at = indices[i * rank + d];
      inside &= at >= 0 && at < t.dims(d);
      offset = offset * t.dims(d) + at;
    }
    if (!inside || offset < 0 || offset >= total) {
      error = "has an index out of range";
      return false;
    }
    if (i > 0 && offset <= offsets.back()) {
      error = "has indices that are not unique and in ascending order: element " + std::to_string(offset) + " comes after element " +
              std::to_string(offsets.back());
      return false;
    }
    offsets.push_back(offset);
  }
  return true;
}

ElementsAttr sparseToAttr(const pb::SparseTensorProto &t, ModelFile &file, MLIRContext *context, StringRef name, std::string &error) {
  pb::TensorProto dense;
  *dense.mutable_dims() = t.dims();
  dense.set_data_type(t.values().data_type());
  const DType *element = findDType(dense.data_type());
  int64_t width = element ? element->bits / 8 : 0;
  int64_t total = 0, stored = 0;
  if (!elementCount(dense, total, error) || !elementCount(t.values(), stored, error))
    return {};
  if (width == 0) {
    error = "is a sparse tensor of an unsupported type";
    return {};
  }
  if (total > file.maxConstant / width) {
    error = "is a sparse tensor of " + llvm::utostr(total) + " elements, more than --max-constant-size " + llvm::utostr(file.maxConstant) +
            " bytes allow";
    return {};
  }
  Bytes bytes;
  std::vector<char> scratch;
  std::vector<int64_t> offsets;
  if (!findBytes(t.values(), file, stored * width, bytes, scratch, error) || !sparseOffsets(t, file, stored, total, offsets, error))
    return {};
  if (int64_t(bytes.data.size()) != stored * width) {
    error = "holds " + llvm::utostr(bytes.data.size()) + " bytes of values, their shape and type need " + llvm::utostr(stored * width);
    return {};
  }
  std::string out(total * width, '\0');
  for (int64_t i = 0; i < stored; ++i)
    std::memcpy(&out[offsets[i] * width], bytes.data.data() + i * width, width);
  dense.set_raw_data(std::move(out));
  return tensorToAttr(dense, file, context, name, error);
}

static Type tensorType(int elementCode, bool hasShape, const pb::TensorShapeProto &shape, MLIRContext *context) {
  Type element = onnx::elementTypeOfCode(context, elementCode);
  if (!element)
    return {};
  if (!hasShape || shape.dim_size() > kMaxRank)
    return UnrankedTensorType::get(element);
  llvm::SmallVector<int64_t> dims;
  for (const auto &dim : shape.dim())
    dims.push_back(dim.has_dim_value() && dim.dim_value() >= 0 ? dim.dim_value() : ShapedType::kDynamic);
  return RankedTensorType::get(dims, element);
}

Type toType(const pb::TypeProto &type, MLIRContext *context) {
  switch (type.value_case()) {
  case pb::TypeProto::kTensorType:
    return tensorType(type.tensor_type().elem_type(), type.tensor_type().has_shape(), type.tensor_type().shape(), context);
  case pb::TypeProto::kSparseTensorType:
    return tensorType(type.sparse_tensor_type().elem_type(), type.sparse_tensor_type().has_shape(), type.sparse_tensor_type().shape(),
                      context);
  case pb::TypeProto::kSequenceType: {
    Type inner = toType(type.sequence_type().elem_type(), context);
    return inner ? onnx::SeqType::get(context, inner) : Type();
  }
  case pb::TypeProto::kOptionalType: {
    Type inner = toType(type.optional_type().elem_type(), context);
    return inner ? onnx::OptType::get(context, inner) : Type();
  }
  case pb::TypeProto::kMapType: {
    Type key = onnx::elementTypeOfCode(context, type.map_type().key_type());
    Type value = toType(type.map_type().value_type(), context);
    if (auto tensor = llvm::dyn_cast_if_present<TensorType>(value))
      value = tensor.getElementType();
    return key && value ? onnx::MapType::get(context, key, value) : Type();
  }
  default:
    return {};
  }
}

}  // namespace onnxc::importer
