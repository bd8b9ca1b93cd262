// EmitTables.cpp: the static description that the runtime stub reads (runtime_stub/plan.h, onnxc.h) and the exported getters.
#include "codegen/cpu/Codegen.h"
#include "dialects/onnx/ElementTypes.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
namespace onnxc {

// The tensor (or the element of strings and numbers) inside sequences and optionals.
static Type innermost(Type type) {
  while (true)
    if (auto seq = dyn_cast<onnx::SeqType>(type))
      type = seq.getElement();
    else if (auto opt = dyn_cast<onnx::OptType>(type))
      type = opt.getElement();
    else
      return type;
}

PortFacts portFacts(DictionaryAttr port, bool shown, bool input) {
  Type type = cast<TypeAttr>(port.get("type")).getValue();
  bool anyRank = shown && port.get("like");
  PortFacts facts{cast<StringAttr>(port.get("name")).getValue(), 0, 0, 0, -1, {}};
  facts.kind = isa<onnx::SeqType>(type) ? 1 : isa<onnx::OptType>(type) ? 2 : isa<onnx::MapType>(type) ? 3 : 0;
  if (!anyRank)
    facts.dims.assign(cast<DenseI64ArrayAttr>(port.get("dims")).asArrayRef());
  if (!facts.kind && !anyRank)
    facts.rank = int32_t(facts.dims.size());
  if (auto map = dyn_cast<onnx::MapType>(type))
    facts.keyDtype = onnx::elementTypeCode(map.getKey()), type = map.getValue();
  type = innermost(type);
  // An input object has the shape of the tensors inside, which the stub checks.
  if (auto item = dyn_cast<RankedTensorType>(type); item && input && (facts.kind == 1 || facts.kind == 2)) {
    facts.dims.clear();
    for (int64_t size : item.getShape())
      facts.dims.push_back(ShapedType::isDynamic(size) ? INT64_MIN : size);
    facts.rank = int32_t(facts.dims.size());
  }
  facts.dtype = onnx::elementTypeCode(isa<TensorType>(type) ? cast<TensorType>(type).getElementType() : type);
  return facts;
}

namespace {
struct Tables {
  ModuleOp module;
  const CodegenOptions &options;
  llvm::Module &m;
  llvm::LLVMContext &c;
  llvm::IRBuilder<> b;
  llvm::PointerType *ptr;
  llvm::Type *i32, *i64;
  DenseMap<Operation *, SmallVector<llvm::Constant *>> described;

  Tables(ModuleOp module, const CodegenOptions &options, llvm::Module &m)
      : module(module), options(options), m(m), c(m.getContext()), b(c), ptr(b.getPtrTy()), i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  llvm::GlobalVariable *global(llvm::Constant *init) {
    return new llvm::GlobalVariable(m, init->getType(), true, llvm::GlobalValue::PrivateLinkage, init, "onnxc.table");
  }
  llvm::Constant *text(StringRef s) { return global(llvm::ConstantDataArray::getString(c, s)); }
  llvm::Constant *description() {
    llvm::GlobalVariable *json = global(llvm::ConstantDataArray::getString(c, options.self.json));
    json->setSection(kDescriptionSection);
    return json;
  }
  llvm::Constant *structure(ArrayRef<llvm::Constant *> fields) { return llvm::ConstantStruct::getAnon(c, fields); }
  llvm::Constant *array(ArrayRef<llvm::Constant *> items) {
    if (items.empty())
      return llvm::ConstantPointerNull::get(ptr);
    return global(llvm::ConstantArray::get(llvm::ArrayType::get(items[0]->getType(), items.size()), items));
  }
  llvm::Constant *n32(int64_t v) { return llvm::ConstantInt::getSigned(i32, v); }
  llvm::Constant *n64(int64_t v) { return llvm::ConstantInt::getSigned(i64, v); }
  ArrayRef<Attribute> list(StringRef name) { return cast<ArrayAttr>(module->getAttr(name)).getValue(); }
  int64_t number(StringRef name) {
    auto a = module->getAttrOfType<IntegerAttr>(name);
    return a ? a.getInt() : 0;
  }

  llvm::Constant *io(Attribute attr, bool shown, bool input) {
    PortFacts p = portFacts(cast<DictionaryAttr>(attr), shown, input);
    return structure({text(p.name), n32(p.kind), n32(p.dtype), n32(p.keyDtype), n32(p.rank), numbers(p.dims)});
  }

  llvm::Constant *texts(ArrayRef<std::string> list) {
    SmallVector<llvm::Constant *> items;
    for (const std::string &s : list)
      items.push_back(text(s));
    return array(items);
  }
  llvm::Constant *numbers(ArrayRef<int64_t> values) {
    SmallVector<llvm::Constant *> list;
    for (int64_t v : values)
      list.push_back(n64(v));
    return array(list);
  }
  // As onnxc_site's flop_terms.
  llvm::Constant *terms(const Cost::Sum &sum) {
    if (!sum)
      return llvm::ConstantPointerNull::get(ptr);
    SmallVector<int64_t> flat{int64_t(sum->size())};
    for (const CostTerm &term : *sum) {
      flat.append({term.factor, int64_t(term.dims.size())});
      flat.append(term.dims);
    }
    return numbers(flat);
  }
  llvm::Constant *result(Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || isa<onnx::StringType>(tensor.getElementType()))
      return structure({n32(0), n32(0), array({})});
    SmallVector<int64_t> dims = kernel::localDims(tensor);
    return structure({n32(onnx::elementTypeCode(tensor.getElementType())), n32(dims.size()), numbers(dims)});
  }

  // What a site knows of its kernel: flops, bytes, their terms, inputs, results. The same for all launches of the kernel.
  ArrayRef<llvm::Constant *> describe(kernel::FuncOp kernel) {
    SmallVector<llvm::Constant *> &fields = described[kernel];
    if (!fields.empty())
      return fields;
    Cost cost = kernel ? costOf(kernel) : Cost();
    SmallVector<llvm::Constant *> results;
    if (kernel)
      for (Value v : kernel.getReturn().getOperands())
        results.push_back(result(v.getType()));
    fields = {n64(fixedCost(cost.flops)),
              n64(fixedCost(cost.bytes)),
              terms(cost.flops),
              terms(cost.bytes),
              n32(kernel ? kernel.getArgumentTypes().size() : 0),
              n32(results.size()),
              array(results)};
    return fields;
  }
  llvm::Constant *site(ArrayAttr names) {
    SmallVector<llvm::Constant *> fields;
    for (Attribute name : names)
      fields.push_back(text(cast<StringAttr>(name).getValue()));
    fields.append(SmallVector<llvm::Constant *>(describe(module.lookupSymbol<kernel::FuncOp>(cast<StringAttr>(names[2]).getValue()))));
    return structure(fields);
  }

  // For each input where in the weights its default begins, or -1.
  llvm::Constant *defaults() {
    SmallVector<int64_t> offsets;
    for (Attribute a : list("onnxc.inputs")) {
      auto offset = cast<DictionaryAttr>(a).getAs<IntegerAttr>("offset");
      offsets.push_back(offset ? offset.getInt() : -1);
    }
    return llvm::all_of(offsets, [](int64_t o) { return o < 0; }) ? array({}) : numbers(offsets);
  }

  // For each input and then each output the input whose shape it has, or -1.
  llvm::Constant *likes() {
    SmallVector<int64_t> inputs;
    for (StringRef key : {"onnxc.inputs", "onnxc.outputs"})
      for (Attribute a : list(key)) {
        auto like = cast<DictionaryAttr>(a).getAs<IntegerAttr>("like");
        inputs.push_back(like ? like.getInt() : -1);
      }
    return llvm::all_of(inputs, [](int64_t i) { return i < 0; }) ? array({}) : numbers(inputs);
  }
  llvm::Constant *ports(StringRef key, bool shown) {
    SmallVector<llvm::Constant *> all;
    for (Attribute a : list(key))
      all.push_back(io(a, shown, key == "onnxc.inputs"));
    return array(all);
  }

  // Towards the end of onnxc_model_info.
  SmallVector<llvm::Constant *> origin() {
    const SelfDescription &self = options.self;
    return {text(self.compiler), text(self.modelHash),   texts(self.flags),
            texts(options.cpus), n32(self.flags.size()), n32(number("onnx.opset"))};
  }

  // As onnxc_plan's reserve.
  llvm::Constant *reserved() {
    auto slots = module->getAttrOfType<DenseI64ArrayAttr>("onnxc.slot_bytes");
    if (!slots)
      return array({});
    SmallVector<int64_t> bytes(slots.asArrayRef());
    for (Attribute a : list("onnxc.outputs")) {
      auto most = cast<DictionaryAttr>(a).getAs<IntegerAttr>("most");
      bytes.push_back(most ? most.getInt() : 0);
    }
    return numbers(bytes);
  }

  void emit(ArrayRef<int64_t> scratch) {
    SmallVector<llvm::Constant *> symbols, sites, variants;
    for (Attribute a : list("onnxc.symbols"))
      symbols.push_back(text(cast<StringAttr>(a).getValue()));
    for (Attribute a : list("onnxc.sites"))
      sites.push_back(site(cast<ArrayAttr>(a)));
    for (auto [cpu, bytes] : llvm::zip(options.cpus, scratch)) {
      std::string suffix = "_" + findIsa(cpu)->suffix.str();
      auto declare = [&](std::string name, llvm::Type *result) {
        auto *f = llvm::cast<llvm::Function>(m.getOrInsertFunction(name, llvm::FunctionType::get(result, {ptr, ptr}, false)).getCallee());
        f->setVisibility(llvm::GlobalValue::HiddenVisibility);
        return f;
      };
      variants.push_back(structure({text(cpu), declare("plan_sizes" + suffix, i64), declare("plan_run" + suffix, i32), n64(bytes)}));
    }
    llvm::Constant *file = options.weightsFile ? text(*options.weightsFile) : llvm::ConstantPointerNull::get(ptr);
    llvm::Constant *name = text(options.modelName), *json = description(), *syms = array(symbols), *given = defaults(), *like = likes(),
                   *ranges = array({});
    if (auto all = module->getAttrOfType<DenseI64ArrayAttr>("onnxc.ranges"))
      ranges = numbers(all);
    auto in = [&](bool shown) { return ports("onnxc.inputs", shown); };
    auto out = [&](bool shown) { return ports("onnxc.outputs", shown); };
    int64_t ins = list("onnxc.inputs").size(), outs = list("onnxc.outputs").size();
    define("onnxc_the_plan", structure({name, json, n32(ins), n32(outs), n32(symbols.size()), n32(number("onnxc.num_slots")),
                                        n32(sites.size()), n32(variants.size()), in(false), out(false), syms, array(sites), array(variants),
                                        given, like, file, ranges, reserved()}));
    SmallVector<llvm::Constant *> about{n64(136), name, json, n32(ins), n32(outs), n32(symbols.size()), n32(sites.size())};
    about.append({n32(variants.size()), n32(0), in(true), out(true), syms, n64(number("onnxc.weights_bytes")), given});
    about.append(origin());
    about.push_back(ranges);
    define("onnxc_the_info", structure(about));
    getter("onnxc_get_api");
    getter("onnxc_get_api_" + options.modelName);
  }

  void define(StringRef name, llvm::Constant *init) {
    auto *g = new llvm::GlobalVariable(m, init->getType(), true, llvm::GlobalValue::ExternalLinkage, init, name);
    g->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }

  void getter(const std::string &name) {
    auto *type = llvm::FunctionType::get(ptr, {i32}, false);
    auto *f = llvm::cast<llvm::Function>(m.getOrInsertFunction(name, type).getCallee());
    f->setVisibility(llvm::GlobalValue::DefaultVisibility);
    b.SetInsertPoint(llvm::BasicBlock::Create(c, "entry", f));
    auto *stub = llvm::cast<llvm::Function>(m.getOrInsertFunction("onnxc_stub_api", type).getCallee());
    stub->setVisibility(llvm::GlobalValue::HiddenVisibility);
    b.CreateRet(b.CreateCall(stub, {f->getArg(0)}));
  }
};
}  // namespace

void emitTables(ModuleOp module, const CodegenOptions &options, ArrayRef<int64_t> scratch, llvm::Module &tables) {
  Tables(module, options, tables).emit(scratch);
}

}  // namespace onnxc
