// Weights.cpp: constants as bytes. Resource blobs already hold one element after the other; dense attributes are read through their
// iterators.
#include "dialects/kernel/Weights.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
namespace onnxc {

int64_t storageBytes(Type t) {
  if (auto c = dyn_cast<ComplexType>(t))
    return 2 * storageBytes(c.getElementType());
  if (!t.isIntOrFloat())
    return 16;
  unsigned bits = t.getIntOrFloatBitWidth();
  return bits <= 8 ? 1 : bits / 8;
}

int64_t weightBytes(ElementsAttr value) { return value.getNumElements() * storageBytes(value.getElementType()); }

static void put(llvm::APInt bits, Type t, llvm::raw_ostream &os) {
  int64_t size = storageBytes(t);
  auto i = dyn_cast<IntegerType>(t);
  bool extendSign = i && i.isSignless() && i.getWidth() > 1;
  llvm::APInt wide = extendSign ? bits.sextOrTrunc(size * 8) : bits.zextOrTrunc(size * 8);
  os.write(reinterpret_cast<const char *>(wide.getRawData()), size);
}

static void writeDense(DenseElementsAttr value, llvm::raw_ostream &os) {
  Type t = value.getElementType();
  bool whole = t.isIntOrFloat() && t.getIntOrFloatBitWidth() >= 8;
  if (whole && !value.isSplat()) {
    os.write(value.getRawData().data(), value.getRawData().size());
    return;
  }
  if (isa<ComplexType>(t)) {
    auto raw = value.getRawData();
    for (int64_t i = 0, n = value.isSplat() ? value.getNumElements() : 1; i < n; ++i)
      os.write(raw.data(), raw.size());
    return;
  }
  if (isa<FloatType>(t)) {
    for (llvm::APFloat v : value.getValues<llvm::APFloat>())
      put(v.bitcastToAPInt(), t, os);
    return;
  }
  for (llvm::APInt v : value.getValues<llvm::APInt>())
    put(v, t, os);
}

void writeWeight(ElementsAttr value, llvm::raw_ostream &os) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    ArrayRef<char> data = resource.getData();
    os.write(data.data(), data.size());
    return;
  }
  writeDense(cast<DenseElementsAttr>(value), os);
}

}  // namespace onnxc
