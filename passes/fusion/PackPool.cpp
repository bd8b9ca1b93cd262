// PackPool.cpp: TfIdfVectorizer: its pool of n-grams becomes the hash table of runtime_stub/kernels/PackedPool.h at compile time.
#include "passes/fusion/PackPool.h"
#include "dialects/onnx/OnnxBase.h"
#include "runtime_stub/kernels/PackedPool.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <cstring>

using namespace mlir;
namespace onnxc {

static ArrayRef<int64_t> ints(Operation *op, StringRef name) {
  auto list = op->getAttrOfType<DenseI64ArrayAttr>(name);
  return list ? list.asArrayRef() : ArrayRef<int64_t>();
}

// The hash of each item of the pool.
static std::vector<uint64_t> itemHashes(Operation *op) {
  std::vector<uint64_t> hashes;
  if (isa<onnx::StringType>(onnx::elementType(op->getOperand(0)))) {
    auto strings = op->getAttrOfType<ArrayAttr>("pool_strings");
    for (Attribute a : strings ? strings.getValue() : ArrayRef<Attribute>()) {
      StringRef text = cast<StringAttr>(a).getValue();
      hashes.push_back(hashBytes(text.data(), int64_t(text.size())));
    }
    return hashes;
  }
  for (int64_t v : ints(op, "pool_int64s"))
    hashes.push_back(mix(uint64_t(v)));
  return hashes;
}

// Grams of one length follow each other; ngram_counts says where each length starts.
static bool listGrams(Operation *op, int64_t size, SmallVectorImpl<Gram> &grams) {
  ArrayRef<int64_t> counts = ints(op, "ngram_counts"), columns = ints(op, "ngram_indexes");
  for (size_t l = 0; l < counts.size(); ++l) {
    int64_t from = counts[l], to = l + 1 < counts.size() ? counts[l + 1] : size, length = int64_t(l) + 1;
    if (from < 0 || to < from || to > size || (to - from) % length)
      return false;
    for (; from < to; from += length) {
      int64_t column = grams.size() < columns.size() ? columns[grams.size()] : -1;
      if (column < 0 || column > INT32_MAX)
        return false;
      grams.push_back({int32_t(from), int32_t(length), int32_t(column)});
    }
  }
  return true;
}

void packPool(Operation *op) {
  std::vector<uint64_t> items = itemHashes(op);
  SmallVector<Gram> grams;
  if (items.size() > (1u << 28) || !listGrams(op, int64_t(items.size()), grams))
    return;
  PoolHeader header = {int32_t(grams.size()), 1};
  while (header.mask < 2 * header.grams + 2)
    header.mask *= 2;
  std::vector<int32_t> slots(header.mask--), words(2 + slots.size() + 3 * grams.size());
  for (auto [number, g] : llvm::enumerate(grams)) {
    uint64_t h = gramSeed(g.length);
    for (int32_t i = 0; i < g.length; ++i)
      h = gramExtend(h, items[g.start + i]);
    int64_t s = int64_t(h) & header.mask;
    while (slots[s])
      s = (s + 1) & header.mask;
    slots[s] = int32_t(number) + 1;
  }
  words[0] = header.grams, words[1] = header.mask;
  std::copy(slots.begin(), slots.end(), words.begin() + 2);
  if (!grams.empty())
    memcpy(words.data() + 2 + slots.size(), grams.data(), grams.size() * sizeof(Gram));
  auto type = RankedTensorType::get({int64_t(words.size())}, IntegerType::get(op->getContext(), 32));
  op->setAttr("pool", DenseElementsAttr::get(type, ArrayRef<int32_t>(words)));
}

}  // namespace onnxc
