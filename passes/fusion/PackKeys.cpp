// PackKeys.cpp: LabelEncoder, CategoryMapper, OneHotEncoder and StringNormalizer: their keys become the table of
// runtime_stub/kernels/PackedKeys.h at compile time.
#include "passes/fusion/PackKeys.h"
#include "dialects/onnx/OnnxBase.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/kernels/PackedKeys.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace mlir;
namespace onnxc {
namespace {

constexpr int64_t kMost = 1 << 28;

// Words of a table for the keys, which are of one of these types.
struct Words {
  std::vector<int64_t> words;

  void make(KeyLayout l) { words.assign(l.words(), 0); }
  void lay(ArrayRef<int64_t> keys) {
    KeyLayout l = layoutOf(keys.data(), int64_t(keys.size()));
    make(l);
    layIntegers(words.data(), l, keys.data(), int64_t(keys.size()));
  }
  void lay(ArrayRef<double> keys) {
    KeyLayout l = layoutOf(int64_t(keys.size()));
    make(l);
    layKeys(words.data(), l, int64_t(keys.size()), [&](int64_t i) { return codeOf(keys[i]); }, [](int64_t, int64_t) { return true; });
  }
  void lay(ArrayRef<StringRef> keys) {
    KeyLayout l = layoutOf(int64_t(keys.size()));
    make(l);
    auto code = [&](int64_t i) { return hashBytes(keys[i].data(), int64_t(keys[i].size())); };
    layKeys(words.data(), l, int64_t(keys.size()), code, [&](int64_t i, int64_t k) { return keys[i] == keys[k]; });
  }
};

// A list of the attribute's keys where they have the type of what is looked for.
void layAttribute(Words &words, Attribute keys, Type wanted, bool whole) {
  bool texts = isa<onnx::StringType>(wanted), reals = isa<FloatType>(wanted) && !whole;
  if (auto list = dyn_cast_if_present<ArrayAttr>(keys); list && texts)
    return words.lay(llvm::map_to_vector(list.getAsRange<StringAttr>(), [](StringAttr s) { return s.getValue(); }));
  if (auto list = dyn_cast_if_present<DenseI64ArrayAttr>(keys); list && !texts && !reals)
    return words.lay(list.asArrayRef());
  if (auto list = dyn_cast_if_present<DenseF32ArrayAttr>(keys); list && reals)
    return words.lay(std::vector<double>(list.asArrayRef().begin(), list.asArrayRef().end()));
  auto value = dyn_cast_if_present<ElementsAttr>(keys);
  if (!value || value.getElementType() != wanted)
    return;
  if (auto strings = dyn_cast<DenseStringElementsAttr>(value))
    return words.lay(llvm::to_vector(strings.getValues<StringRef>()));
  if (auto integers = onnx::integerElements(value, kMost))
    return words.lay(*integers);
  if (auto bytes = wanted.isF64() ? constantBytes(value) : std::nullopt) {
    std::vector<double> doubles(bytes->size() / sizeof(double));
    memcpy(doubles.data(), bytes->data(), bytes->size());
    return words.lay(doubles);
  }
  if (auto floats = constantFloats(value))
    return words.lay(std::vector<double>(floats->begin(), floats->end()));
}

Attribute keysOf(Operation *op, Type wanted) {
  if (onnx::opName(op) != "ml.LabelEncoder")
    return op->getAttr(isa<onnx::StringType>(wanted) ? "cats_strings" : "cats_int64s");
  Attribute keys;
  for (StringRef name : {"keys_floats", "keys_int64s", "keys_strings", "keys_tensor"})  // the last one given, as the kernel takes them
    if (Attribute given = op->getAttr(name))
      keys = given;
  return keys;
}

// Stopwords as they are compared: as they are, or folded, which here is done to ASCII. Null: they are others, or none.
Attribute foldedStopwords(Operation *op) {
  auto list = op->getAttrOfType<ArrayAttr>("stopwords");
  bool exact = onnx::intAttr(op, "is_case_sensitive");
  SmallVector<Attribute> folded;
  for (Attribute word : list ? list.getValue() : ArrayRef<Attribute>()) {
    auto s = cast<StringAttr>(word);
    if (!exact && !llvm::isASCII(s.getValue()))
      return {};
    folded.push_back(exact ? s : StringAttr::get(op->getContext(), s.getValue().lower()));
  }
  return folded.empty() ? Attribute() : ArrayAttr::get(op->getContext(), folded);
}

}  // namespace

void packKeys(Operation *op) {
  bool stops = onnx::opName(op) == "StringNormalizer";
  if (!stops && !llvm::is_contained({"ml.LabelEncoder", "ml.CategoryMapper", "ml.OneHotEncoder"}, onnx::opName(op)))
    return;
  Type wanted = onnx::elementType(op->getOperand(0));
  Attribute keys = stops ? foldedStopwords(op) : keysOf(op, wanted);
  Words table;
  layAttribute(table, keys, wanted, onnx::opName(op) == "ml.OneHotEncoder");
  if (table.words.empty() || table.words.size() > kMost)
    return;
  if (stops)
    op->setAttr("folded", keys);
  auto type = RankedTensorType::get({int64_t(table.words.size())}, IntegerType::get(op->getContext(), 64));
  op->setAttr("table", DenseElementsAttr::get(type, ArrayRef<int64_t>(table.words)));
}

}  // namespace onnxc
