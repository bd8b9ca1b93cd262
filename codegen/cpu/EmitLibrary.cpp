// EmitLibrary.cpp: wrappers from the kernel ABI to library kernels: build onnxc_args on the stack, call, return the status. Inlined by LLVM
// afterwards.
#include "codegen/cpu/Codegen.h"
#include "dialects/onnx/CustomCall.h"
#include "dialects/onnx/ElementTypes.h"
#include "dialects/onnx/NodeLoc.h"
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
namespace onnxc {

// Straight-line code of this many operands costs LLVM's schedulers more time than it can gain.
static constexpr size_t kManyOperands = 256;

static llvm::GlobalVariable *privateGlobal(llvm::Module &m, llvm::Constant *init) {
  auto *g = new llvm::GlobalVariable(m, init->getType(), true, llvm::GlobalValue::PrivateLinkage, init);
  g->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  g->setAlignment(llvm::Align(8));
  return g;
}

llvm::GlobalVariable *stringTable(llvm::Module &m, ArrayRef<StringRef> strings) {
  llvm::LLVMContext &c = m.getContext();
  llvm::Type *i8 = llvm::Type::getInt8Ty(c), *i64 = llvm::Type::getInt64Ty(c);
  auto *pair = llvm::StructType::get(c, {llvm::PointerType::getUnqual(c), i64});
  llvm::Constant *texts = privateGlobal(m, llvm::ConstantDataArray::getString(c, llvm::join(strings, "")));
  std::vector<llvm::Constant *> items;
  int64_t at = 0;
  for (StringRef s : strings) {
    auto *start = llvm::ConstantExpr::getInBoundsGetElementPtr(i8, texts, llvm::ConstantInt::get(i64, at));
    items.push_back(llvm::ConstantStruct::get(pair, {start, llvm::ConstantInt::get(i64, s.size())}));
    at += s.size();
  }
  return privateGlobal(m, llvm::ConstantArray::get(llvm::ArrayType::get(pair, items.size()), items));
}

namespace {
struct Emitter {
  kernel::FuncOp kernel;
  Operation *op;  // the one onnx op
  const LibraryRow &row;
  llvm::Module &m;
  llvm::LLVMContext &c;
  llvm::IRBuilder<> b;
  llvm::Type *i32, *i64, *ptr;
  llvm::StructType *tensor, *attr, *args;

  Emitter(kernel::FuncOp kernel, Operation *op, const LibraryRow &row, llvm::Module &m)
      : kernel(kernel), op(op), row(row), m(m), c(m.getContext()), b(c), i32(b.getInt32Ty()), i64(b.getInt64Ty()), ptr(b.getPtrTy()),
        tensor(llvm::StructType::get(c, {ptr, ptr, i32, i32})), attr(llvm::StructType::get(c, {i64, b.getDoubleTy(), ptr, i64})),
        args(llvm::StructType::get(c, {ptr, ptr, i64, ptr, i64, ptr, ptr})) {}

  llvm::Constant *global(llvm::Constant *init) { return privateGlobal(m, init); }
  llvm::Constant *text(StringRef s) { return global(llvm::ConstantDataArray::getString(c, s)); }
  llvm::Constant *pack(llvm::Constant *i, double f, llvm::Constant *p, int64_t n) {
    return llvm::ConstantStruct::get(attr, {i, llvm::ConstantFP::get(b.getDoubleTy(), f), p, llvm::ConstantInt::getSigned(i64, n)});
  }
  llvm::Constant *integer(int64_t v) { return llvm::ConstantInt::getSigned(i64, v); }

  llvm::Constant *tensorAttr(ElementsAttr value) {
    std::string bytes;
    llvm::raw_string_ostream os(bytes);
    llvm::Constant *data;
    if (auto strings = dyn_cast<DenseStringElementsAttr>(value))
      data = stringTable(m, llvm::to_vector(strings.getValues<StringRef>()));
    else
      writeWeight(value, os), data = global(llvm::ConstantDataArray::getRaw(bytes, bytes.size(), b.getInt8Ty()));
    SmallVector<int64_t> shape(value.getShapedType().getShape());
    auto *dims = global(llvm::ConstantDataArray::get(c, ArrayRef<uint64_t>(reinterpret_cast<uint64_t *>(shape.data()), shape.size())));
    return global(llvm::ConstantStruct::get(
        tensor, {data, dims, b.getInt32(shape.size()), b.getInt32(onnx::elementTypeCode(value.getElementType()))}));
  }
  llvm::Constant *stringArray(ArrayAttr list) {
    return stringTable(m, llvm::map_to_vector(list.getAsRange<StringAttr>(), [](StringAttr s) { return s.getValue(); }));
  }

  // One attribute as the row's "name:kind[=default]" wants it.
  llvm::Constant *attribute(StringRef spec) {
    auto [head, otherwise] = spec.split('=');
    auto [name, kind] = head.split(':');
    Attribute value = op->getAttr(name);
    auto *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    int64_t n = value ? 1 : -1;
    switch (kind[0]) {
    case 'i': {
      int64_t fallback = 0;
      otherwise.getAsInteger(10, fallback);
      if (auto type = dyn_cast_if_present<TypeAttr>(value))
        return pack(integer(onnx::elementTypeCode(type.getValue())), 0, null, n);
      return pack(integer(value ? cast<IntegerAttr>(value).getValue().getSExtValue() : onnx::intAttr(op, name, fallback)), 0, null, n);
    }
    case 'f': {
      double fallback = 0;
      otherwise.getAsDouble(fallback);
      return pack(integer(0), value ? cast<FloatAttr>(value).getValueAsDouble() : double(onnx::floatAttr(op, name, float(fallback))), null,
                  n);
    }
    case 's': {
      StringRef s = onnx::strAttr(op, name, otherwise);
      return pack(integer(0), 0, text(s), value || !s.empty() ? int64_t(s.size()) : -1);
    }
    case 'I': {
      if (!value)
        return pack(integer(0), 0, null, -1);
      ArrayRef<int64_t> v = cast<DenseI64ArrayAttr>(value).asArrayRef();
      return pack(integer(0), 0,
                  global(llvm::ConstantDataArray::get(c, ArrayRef<uint64_t>(reinterpret_cast<const uint64_t *>(v.data()), v.size()))),
                  v.size());
    }
    case 'F': {
      if (!value)
        return pack(integer(0), 0, null, -1);
      ArrayRef<float> v = cast<DenseF32ArrayAttr>(value).asArrayRef();
      return pack(integer(0), 0, global(llvm::ConstantDataArray::get(c, v)), v.size());
    }
    case 'S':
      if (!value)
        return pack(integer(0), 0, null, -1);
      return pack(integer(0), 0, stringArray(cast<ArrayAttr>(value)), cast<ArrayAttr>(value).size());
    default:
      return value ? pack(integer(0), 0, tensorAttr(cast<ElementsAttr>(value)), 1) : pack(integer(0), 0, null, -1);
    }
  }

  // The attributes of a custom operator with their names, ended by a null name: onnxc_custom_attribute.
  llvm::Constant *customAttributes(DictionaryAttr given) {
    auto *type = llvm::StructType::get(c, {ptr, i64, i64, b.getDoubleTy(), ptr, i64});
    auto *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    SmallVector<llvm::Constant *> entries;
    auto add = [&](StringRef name, char kind, int64_t i, double f, llvm::Constant *data, int64_t n) {
      entries.push_back(llvm::ConstantStruct::get(
          type, {text(name), integer(kind), integer(i), llvm::ConstantFP::get(b.getDoubleTy(), f), data, integer(n)}));
    };
    for (NamedAttribute entry : given) {
      StringRef name = entry.getName();
      if (auto i = dyn_cast<IntegerAttr>(entry.getValue()))
        add(name, 'i', i.getValue().getSExtValue(), 0, null, 1);
      else if (auto f = dyn_cast<FloatAttr>(entry.getValue()))
        add(name, 'f', 0, f.getValueAsDouble(), null, 1);
      else if (auto s = dyn_cast<StringAttr>(entry.getValue()))
        add(name, 's', 0, 0, text(s.getValue()), s.getValue().size());
      else if (auto v = dyn_cast<DenseI64ArrayAttr>(entry.getValue()))
        add(name, 'I', 0, 0,
            global(llvm::ConstantDataArray::get(c, ArrayRef(reinterpret_cast<const uint64_t *>(v.asArrayRef().data()), v.size()))),
            v.size());
      else if (auto v = dyn_cast<DenseF32ArrayAttr>(entry.getValue()))
        add(name, 'F', 0, 0, global(llvm::ConstantDataArray::get(c, v.asArrayRef())), v.size());
      else if (auto list = dyn_cast<ArrayAttr>(entry.getValue()))
        add(name, 'S', 0, 0, stringArray(list), list.size());
      else if (auto value = dyn_cast<ElementsAttr>(entry.getValue()))
        add(name, 't', 0, 0, tensorAttr(value), 1);
    }
    entries.push_back(llvm::Constant::getNullValue(type));
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(type, entries.size()), entries));
  }

  // The inputs of a custom operator; null: left out.
  SmallVector<Value> customOperands(onnx::CustomCallOp call) {
    SmallVector<Value> list;
    auto next = call->operand_begin();
    for (bool present : call.getPresent())
      list.push_back(present ? *next++ : Value());
    return list;
  }

  // Its outputs, likewise.
  SmallVector<Value> customResults(onnx::CustomCallOp call) {
    SmallVector<Value> list(call->getResults());
    if (auto made = call->getAttrOfType<DenseBoolArrayAttr>(onnx::kMadeAttr))
      for (auto [i, is] : llvm::enumerate(made.asArrayRef()))
        if (!is)
          list.insert(list.begin() + i, Value());
    return list;
  }

  // One entry per declared operand or result (all values of a variadic one); null: absent.
  template <typename Range>
  SmallVector<Value> declared(StringRef spec, Range values) {
    SmallVector<Value> list;
    for (unsigned i = 0; i < spec.size(); ++i) {
      auto group = values(i);
      if (group.empty() && spec[i] == '?')
        list.push_back(Value());
      list.append(group.begin(), group.end());
    }
    return list;
  }

  llvm::Value *dimsOf(RankedTensorType type, llvm::Value *dims) {
    SmallVector<int64_t> local = kernel::localDims(type);
    llvm::Value *array = b.CreateAlloca(i64, b.getInt64(std::max<size_t>(local.size(), 1)));
    for (auto [i, d] : llvm::enumerate(local))
      b.CreateStore(d >= 0 ? integer(d) : (llvm::Value *)b.CreateLoad(i64, b.CreateConstGEP1_64(i64, dims, -d - 1)),
                    b.CreateConstGEP1_64(i64, array, i));
    return array;
  }

  void fill(llvm::Value *at, llvm::Value *data, llvm::Value *dims, int32_t rank, int32_t code) {
    b.CreateStore(data, b.CreateStructGEP(tensor, at, 0));
    b.CreateStore(dims, b.CreateStructGEP(tensor, at, 1));
    b.CreateStore(b.getInt32(rank), b.CreateStructGEP(tensor, at, 2));
    b.CreateStore(b.getInt32(code), b.CreateStructGEP(tensor, at, 3));
  }

  // Fills the descriptors of `values`; `buffer` gives the data of each, `dims` its dims.
  llvm::Value *tensors(ArrayRef<Value> values, llvm::function_ref<llvm::Value *(Value)> data,
                       llvm::function_ref<llvm::Value *(RankedTensorType)> dims) {
    llvm::Value *array = b.CreateAlloca(tensor, b.getInt64(std::max<size_t>(values.size(), 1)));
    auto *null = llvm::ConstantPointerNull::get(b.getPtrTy());
    for (auto [i, v] : llvm::enumerate(values)) {
      llvm::Value *at = b.CreateConstGEP1_64(tensor, array, i);
      auto type = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
      if (!v)
        fill(at, null, null, -1, 0);
      else if (!type)
        fill(at, data(v), null, 0, 0);
      else
        fill(at, data(v), dims(type), type.getRank(), onnx::elementTypeCode(type.getElementType()));
    }
    return array;
  }

  // The function that the plan calls: of a kernel (buffers, dims, scratch, begin, end) or of its sizes (buffers, dims, sizes).
  llvm::Function *function(bool sizeFunction) {
    SmallVector<llvm::Type *> params = {ptr, ptr, ptr, i64, i64};
    if (sizeFunction)
      params.resize(3);
    std::string name = kernel.getName().str() + (sizeFunction ? ".size" : ".code");
    auto *f = llvm::cast<llvm::Function>(m.getOrInsertFunction(name, llvm::FunctionType::get(i32, params, false)).getCallee());
    f->setLinkage(llvm::GlobalValue::InternalLinkage);
    if (kernel.getArgumentTypes().size() > kManyOperands)
      markLong(*f);
    return f;
  }

  llvm::Constant *attributeTable() {
    if (auto custom = dyn_cast<onnx::CustomCallOp>(op))
      return customAttributes(custom.getGiven());
    SmallVector<StringRef> specs;
    row.attributes.split(specs, ',', -1, false);
    SmallVector<llvm::Constant *> attributes;
    for (StringRef spec : specs)
      attributes.push_back(attribute(spec.trim()));
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(attr, attributes.size()), attributes));
  }

  // The function of the library, or of the user's.
  llvm::FunctionCallee callee(bool sizeFunction) {
    auto custom = dyn_cast<onnx::CustomCallOp>(op);
    std::string name = custom ? (sizeFunction ? "onnxc_custom_shape_" : "onnxc_custom_run_") + custom.getSymbol().str()
                              : (sizeFunction ? "onnxc_s_" : "onnxc_k_") + librarySymbol(row, op);
    llvm::FunctionCallee found = m.getOrInsertFunction(name, llvm::FunctionType::get(i32, {ptr}, false));
    if (!custom)
      llvm::cast<llvm::Function>(found.getCallee())->addFnAttr(kNodeAttr, describeLoc(op->getLoc()));
    return found;
  }

  void emit(bool sizeFunction) {
    llvm::Function *f = function(sizeFunction);
    b.SetInsertPoint(llvm::BasicBlock::Create(c, "entry", f));
    llvm::Value *bufs = f->getArg(0), *dims = f->getArg(1);
    const onnx::OpInfo *info = onnx::opInfo(op);
    auto custom = dyn_cast<onnx::CustomCallOp>(op);
    SmallVector<Value> in = custom ? customOperands(custom) : declared(info->operands, [&](unsigned i) { return onnx::operands(op, i); });
    SmallVector<Value> out = custom ? customResults(custom) : declared(info->results, [&](unsigned i) { return onnx::results(op, i); });
    auto buffer = [&](int64_t i) { return b.CreateLoad(ptr, b.CreateConstGEP1_64(ptr, bufs, i + 1)); };
    auto localDims = [&](RankedTensorType t) { return dimsOf(t, dims); };
    llvm::Value *ins = tensors(in, [&](Value v) { return buffer(cast<BlockArgument>(v).getArgNumber()); }, localDims);
    int64_t base = kernel.getArgumentTypes().size(), at = 0;
    auto results = kernel.getReturn().getOperands();
    llvm::Value *outs = tensors(
        out,
        [&](Value v) -> llvm::Value * {
          return sizeFunction ? (llvm::Value *)llvm::ConstantPointerNull::get(b.getPtrTy())
                              : buffer(base + (llvm::find(results, v) - results.begin()));
        },
        [&](RankedTensorType t) -> llvm::Value * {
          if (!sizeFunction)
            return dimsOf(t, dims);
          int64_t start = at;
          at += t.getRank();
          return b.CreateConstGEP1_64(i64, f->getArg(2), start);
        });
    llvm::Constant *table = attributeTable();
    llvm::Value *a = b.CreateAlloca(args);
    llvm::Value *rt = b.CreateLoad(ptr, bufs);
    llvm::Value *last = sizeFunction ? (llvm::Value *)llvm::ConstantPointerNull::get(b.getPtrTy()) : f->getArg(2);
    if (custom)  // onnxc_custom_call is laid out as onnxc_args, its last field is the allocator
      last = cast<llvm::Constant>(m.getOrInsertFunction("onnxc_rt_heap", llvm::FunctionType::get(ptr, {ptr, i64}, false)).getCallee());
    llvm::Value *fields[] = {rt, ins, integer(in.size()), outs, integer(out.size()), table, last};
    for (unsigned i = 0; i < 7; ++i)
      b.CreateStore(fields[i], b.CreateStructGEP(args, a, i));
    b.CreateRet(b.CreateCall(callee(sizeFunction), {a}));
  }
};
}  // namespace

LogicalResult emitLibrary(kernel::FuncOp kernel, llvm::Module &target) {
  Operation *op = &kernel.getBody().front().front();
  const LibraryRow *row = findLibraryRow((op->hasAttr("fast") ? "fast." : "") + onnx::opName(op).str());
  Emitter(kernel, op, *row, target).emit(false);
  if (row->sized)
    Emitter(kernel, op, *row, target).emit(true);
  return success();
}

}  // namespace onnxc
