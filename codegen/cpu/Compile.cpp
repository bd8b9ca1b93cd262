// Compile.cpp: drives code generation for CPUs: per level kernels and plan to LLVM IR, library bitcode linked in, optimised, ELF.
// compiler/Pipeline.cpp calls it.
#include "codegen/cpu/Code.h"
#include "codegen/cpu/Codegen.h"
#include "codegen/cpu/LibraryParts.h"
#include "codegen/cpu/LoopHints.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "runtime_stub/Bitcode.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Passes/StandardInstrumentations.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include <mutex>

using namespace mlir;
namespace onnxc {

static std::unique_ptr<llvm::TargetMachine> targetMachine(const Isa &isa) {
  initializeTargets();
  llvm::Triple triple(targetOf(isa).triple);
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
  llvm::TargetOptions options;
  options.FunctionSections = options.DataSections = true;
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(triple, isa.cpu, isa.features, options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

// A library function that asks for one of these, more than the level has, keeps it: it is only called on processors that have it.
static constexpr std::pair<StringLiteral, StringLiteral> kExtras[] = {
    {"+avx512vnni", "+avx512f,+avx512bw,+avx512vl,+avx512vnni"},
    {"+avxvnni", "+avx2,+avxvnni"},
    {"+amx-tile", "+amx-tile,+amx-int8,+amx-bf16"},
    {"+avx512vbmi", "+avx512f,+avx512bw,+avx512vl,+avx512vbmi"},
    {"+dotprod", "+dotprod"},
};

static void setCpu(llvm::Module &m, const Isa &isa, StringRef tune) {
  for (llvm::Function &f : m) {
    if (f.isDeclaration())
      continue;
    f.addFnAttr("target-cpu", isa.cpu);
    if (!tune.empty())
      f.addFnAttr("tune-cpu", tune);
    std::string all = isa.features.str();
    for (auto [asked, features] : kExtras)
      if (f.getFnAttribute("target-features").getValueAsString().contains(asked))
        all += (all.empty() ? "" : ",") + features.str();
    if (!all.empty())
      f.addFnAttr("target-features", all);
    if (isa.vectorBits == 512)
      f.addFnAttr("prefer-vector-width", "512");
    f.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

void markLong(llvm::Function &f) {
  f.addFnAttr(llvm::Attribute::NoInline);
  f.addFnAttr(llvm::Attribute::OptimizeNone);
}

static bool isKernel(const llvm::Function &f) { return f.getName().ends_with(".code"); }

namespace {
// Adds the kernels of one level to a KernelCount as they pass, and at the end those that never did: inlined, or found in the cache.
class Counter {
public:
  Counter(const llvm::Module &m, KernelCount *count) : count(count), left(count ? llvm::count_if(m, isKernel) : 0) {}
  void pass(const llvm::Function &f) {
    if (left && isKernel(f))
      --left, ++count->halves;
  }
  void end() {
    if (count)
      count->halves += left;
    left = 0;
  }
  ~Counter() { end(); }

private:
  KernelCount *count;
  size_t left;
};

// Behind the passes that emit code, which take function by function.
struct CountEmitted : llvm::FunctionPass {
  static char ID;
  explicit CountEmitted(Counter &counter) : FunctionPass(ID), counter(counter) {}
  bool runOnFunction(llvm::Function &f) override { return counter.pass(f), false; }
  void getAnalysisUsage(llvm::AnalysisUsage &usage) const override { usage.setPreservesAll(); }
  Counter &counter;
};
char CountEmitted::ID = 0;
}  // namespace

// Of the kernel, a call of a library's entry that nothing else calls.
static llvm::CallInst *onlyCall(llvm::Function &kernel, const llvm::TargetTransformInfo &costs) {
  for (llvm::Instruction &i : llvm::instructions(kernel)) {
    auto *call = dyn_cast<llvm::CallInst>(&i);
    llvm::Function *callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee->hasLocalLinkage() && callee->hasOneUse() && callee->getName().starts_with("onnxc_k_") &&
        costs.areInlineCompatible(&kernel, callee))
      return call;
  }
  return nullptr;
}

namespace {
// LLVM's passes with the analyses that they share.
struct Passes {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation skipLong{false};  // what markLong says holds for these passes too
  llvm::PassBuilder builder;

  explicit Passes(llvm::TargetMachine &tm) : builder(&tm, tuning(), std::nullopt, &callbacks) {
    skipLong.registerCallbacks(callbacks);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

private:
  static llvm::PipelineTuningOptions tuning() {
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = true;
    tuning.SLPVectorization = false;
    return tuning;
  }
};
}  // namespace

// Attributes of an op choose among a library function's code. LLVM's passes go from callees to callers and would optimise all of it before
// it is known what is not called: that goes first, of entries that one kernel calls. LLVM inlines these calls anyway.
static void dropUnchosen(llvm::Module &m, Passes &passes) {
  llvm::FunctionPassManager fold;
  fold.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  fold.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  fold.addPass(llvm::SCCPPass());
  fold.addPass(llvm::SimplifyCFGPass());
  for (llvm::Function &f : m) {
    if (!isKernel(f) || f.isDeclaration() || f.hasOptNone())
      continue;
    while (llvm::CallInst *call = onlyCall(f, passes.functions.getResult<llvm::TargetIRAnalysis>(f))) {
      llvm::Function *entry = call->getCalledFunction();
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*call, info).isSuccess())
        break;
      passes.functions.clear(*entry, entry->getName());
      entry->eraseFromParent();
      passes.functions.invalidate(f, llvm::PreservedAnalyses::none());
      passes.functions.invalidate(f, fold.run(f, passes.functions));
    }
  }
}

// At level 0 the library's kernels stay as they were built, which is what compiles fastest and what the optimised code is compared with.
static void optimise(llvm::Module &m, llvm::TargetMachine &tm, unsigned level, Counter &counter) {
  Passes passes(tm);
  passes.callbacks.registerAfterPassCallback([&](StringRef pass, llvm::Any ir, const llvm::PreservedAnalyses &) {
    auto *f = llvm::any_cast<const llvm::Function *>(&ir);
    if (f && pass == "DSEPass")  // runs once, when little is left to do
      counter.pass(**f);
  });
  if (level > 0)
    passes.builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(m, passes.modules);
}

static std::string emitCode(llvm::Module &m, llvm::TargetMachine &tm, const CodegenOptions &options, Counter &counter) {
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream os(bytes);
  if (options.emit == CodegenOptions::Ir) {
    m.print(os, nullptr);
    return os.str().str();
  }
  llvm::legacy::PassManager pm;
  tm.addPassesToEmitFile(
      pm, os, nullptr, options.emit == CodegenOptions::Assembly ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile);
  pm.add(new CountEmitted(counter));
  pm.run(m);
  return std::string(bytes.begin(), bytes.end());
}

// MLIR of one level: kernels emitted, plan lowered, everything in the LLVM dialect.
static FailureOr<OwningOpRef<ModuleOp>> lowerLevel(ModuleOp module, const Isa &isa, std::map<std::string, Schedule> &schedules) {
  OwningOpRef<ModuleOp> target = module.clone();
  applySchedules(*target, schedules);
  for (kernel::FuncOp kernel : llvm::to_vector(target->getOps<kernel::FuncOp>())) {
    if (kernel.getFamily() == "library")
      declareKernel(*target, kernel);
    else if (failed(emitKernel(*target, kernel, isa)))
      return failure();
  }
  schedules = notedSchedules(*target);
  PassManager control(module.getContext());
  control.enableVerifier(false);  // LLVM's verifier sees the result
  control.addPass(createSCFToControlFlowPass());
  if (failed(control.run(*target)) || failed(lowerPlan(*target)))
    return failure();
  for (kernel::FuncOp kernel : llvm::to_vector(target->getOps<kernel::FuncOp>()))
    kernel.erase();
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(arith::createArithExpandOpsPass(arith::ArithExpandOpsPassOptions{/*includeBf16=*/true}));
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(*target)))
    return failure();
  return target;
}

// Reading the library's list of functions alone is a sixth of a small compile.
static bool callsLibrary(const llvm::Module &m) {
  return llvm::any_of(m, [](const llvm::Function &f) {
    return f.isDeclaration() && !f.isIntrinsic() && !f.use_empty() && !f.getName().starts_with("onnxc_rt_");
  });
}

static llvm::Error linkLibrary(llvm::Module &m) {
  auto library =
      llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(libraryBitcode(m.getTargetTriple().getArch()), "library"), m.getContext());
  if (!library)
    return library.takeError();
  (*library)->setTargetTriple(m.getTargetTriple());
  (*library)->setDataLayout(m.getDataLayout());
  llvm::Linker linker(m);
  if (linker.linkInModule(std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("linking the library's bitcode failed");
  for (llvm::Function &f : m)
    if (f.isDeclaration() && (f.getName().starts_with("onnxc_k_") || f.getName().starts_with("onnxc_s_")) && !f.use_empty())
      return llvm::createStringError(f.getFnAttribute(kNodeAttr).getValueAsString() +
                                     ": the library has no kernel for these types: " + f.getName());
  return llvm::Error::success();
}

// About 2,000 launches: a plan is calls in a row, optimising them gains nothing that a run of so many launches could show.
static constexpr unsigned kLongPlan = 30000;
// A launch of a thousand buffers: LLVM's scheduler takes the square of a block's stores.
static constexpr unsigned kLongBlock = 4000;

static bool isLong(const llvm::Function &f) {
  return f.getInstructionCount() > kLongPlan || llvm::any_of(f, [](const llvm::BasicBlock &b) { return b.size() > kLongBlock; });
}

namespace {
// Code of one CPU level on its way: `begin` needs the model's MLIR context and so runs level after level, `split` and `finish` only LLVM
// contexts of their own, so that levels, and the parts of one, run side by side.
struct Level {
  const Isa &isa;
  std::string tune;  // CPU to schedule for; empty: the level's own
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> m;
  std::vector<LibraryPart> parts;
  std::vector<std::string> code;  // of the module, then of its parts
  std::string error;
  bool decodesImages = false;
  int64_t scratch = 0;  // see lowerPlan

  Level(const Isa &isa, StringRef tune) : isa(isa), tune(tune) {}

  // `schedules`: what is given for the level's kernels; then all that they were made with.
  LogicalResult begin(ModuleOp module, std::map<std::string, Schedule> &schedules);
  void split(const CodegenOptions &options);
  void finish(size_t i, const CodegenOptions &options);  // code[i]

private:
  void seal();
  std::unique_ptr<llvm::TargetMachine> takeMachine();
  void giveBack(std::unique_ptr<llvm::TargetMachine> tm);

  // What LLVM knows of the level, for one thread at a time: to find it out takes longer than to compile a short part.
  SmallVector<std::unique_ptr<llvm::TargetMachine>> machines;
  std::mutex machinesLock;
};
}  // namespace

std::unique_ptr<llvm::TargetMachine> Level::takeMachine() {
  std::lock_guard<std::mutex> locked(machinesLock);
  return machines.empty() ? targetMachine(isa) : machines.pop_back_val();
}

void Level::giveBack(std::unique_ptr<llvm::TargetMachine> tm) {
  std::lock_guard<std::mutex> locked(machinesLock);
  machines.push_back(std::move(tm));
}

static void fillStrings(ModuleOp lowered, llvm::Module &m) {
  for (LLVM::GlobalOp declared : lowered.getOps<LLVM::GlobalOp>())
    if (auto value = declared->getAttrOfType<DenseStringElementsAttr>(kStringsAttr)) {
      llvm::GlobalVariable *place = m.getNamedGlobal(declared.getSymName());
      place->replaceAllUsesWith(stringTable(m, llvm::to_vector(value.getValues<StringRef>())));
      place->eraseFromParent();
    }
}

LogicalResult Level::begin(ModuleOp module, std::map<std::string, Schedule> &schedules) {
  FailureOr<OwningOpRef<ModuleOp>> target = lowerLevel(module, isa, schedules);
  if (failed(target))
    return failure();
  scratch = (**target)->getAttrOfType<IntegerAttr>("onnxc.scratch").getInt();
  m = translateModuleToLLVMIR(**target, context, "model");
  if (!m)
    return failure();
  std::unique_ptr<llvm::TargetMachine> tm = takeMachine();
  m->setTargetTriple(tm->getTargetTriple());
  m->setDataLayout(tm->createDataLayout());
  giveBack(std::move(tm));
  fillStrings(**target, *m);
  for (kernel::FuncOp kernel : module.getOps<kernel::FuncOp>())
    if (kernel.getFamily() == "library" && failed(emitLibrary(kernel, *m)))
      return failure();
  return success();
}

// Names what the tables refer to and hides the rest.
void Level::seal() {
  if (llvm::GlobalVariable *bits = m->getNamedGlobal("onnxc_vector_bits")) {
    bits->setInitializer(llvm::ConstantInt::get(bits->getValueType(), isa.vectorBits));
    bits->setConstant(true);
  }
  for (StringRef name : {"plan_run", "plan_sizes"}) {
    llvm::Function *f = m->getFunction(name);
    if (isLong(*f))
      markLong(*f);
    f->setName(name + "_" + isa.suffix);
    f->setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  llvm::internalizeModule(
      *m, [](const llvm::GlobalValue &g) { return g.getName().starts_with("plan_run_") || g.getName().starts_with("plan_sizes_"); });
  for (llvm::Function &f : *m)
    if (f.isDeclaration() && f.getName().starts_with("onnxc_") && !f.getName().starts_with("onnxc_custom_"))
      f.setVisibility(llvm::GlobalValue::HiddenVisibility);
  for (llvm::Function &f : *m)
    if (f.getName().ends_with(".code"))
      hintLoops(f);
  setCpu(*m, isa, tune);
}

// Everything that code is made from: the program, what is asked for, and this compiler, told by its file's size and time. Levels above
// -O0 optimise alike.
static std::string cacheKey(StringRef program, const CodegenOptions &options) {
  llvm::sys::fs::file_status self;
  (void)llvm::sys::fs::status("/proc/self/exe", self);
  return llvm::formatv("{0} {1} {2} {3} {4}\n{5}", self.getSize(), self.getLastModificationTime().time_since_epoch().count(),
                       LLVM_VERSION_STRING, int(options.optLevel > 0), int(options.emit), program);
}

void Level::split(const CodegenOptions &options) {
  llvm::SmallPtrSet<llvm::GlobalObject *, 32> own;
  for (llvm::GlobalObject &g : m->global_objects())
    if (!g.isDeclaration())
      own.insert(&g);
  if (llvm::Error failed = callsLibrary(*m) ? linkLibrary(*m) : llvm::Error::success()) {
    error = llvm::toString(std::move(failed));
    return;
  }
  decodesImages = m->getFunction(kCodecsSymbol);
  seal();
  if (llvm::verifyModule(*m, &llvm::errs())) {
    error = "generated code is malformed";
    return;
  }
  std::unique_ptr<llvm::TargetMachine> tm = takeMachine();
  {
    Passes passes(*tm);
    if (options.optLevel > 0)
      dropUnchosen(*m, passes);
    llvm::GlobalDCEPass().run(*m, passes.modules);
  }
  if (options.emit == CodegenOptions::Object) {  // text is one file, undivided
    parts = takeLibraryParts(*m, own, isa.suffix);
    Passes passes(*tm);
    llvm::GlobalDCEPass().run(*m, passes.modules);
  }
  giveBack(std::move(tm));
  code.resize(1 + parts.size());
}

void Level::finish(size_t i, const CodegenOptions &options) {
  KernelCount *count = i > 0 ? nullptr : options.count;
  Counter optimised(*m, count), emitted(*m, count);
  std::string key;
  if (!options.cache.empty()) {
    if (i > 0) {
      key = parts[i - 1].name;
    } else {
      llvm::raw_string_ostream os(key);
      llvm::WriteBitcodeToFile(*m, os);
    }
    key = cacheKey(key, options);
    if (std::optional<std::string> found = cached(options.cache, key)) {
      code[i] = std::move(*found);
      return;
    }
  }
  llvm::LLVMContext partContext;
  std::unique_ptr<llvm::Module> part;
  if (i > 0) {
    part = llvm::cantFail(llvm::parseBitcodeFile(llvm::MemoryBufferRef(parts[i - 1].bitcode, "part"), partContext));
    part->getNamedValue("part")->setName(parts[i - 1].name);
  }
  llvm::Module &module = part ? *part : *m;
  std::unique_ptr<llvm::TargetMachine> tm = takeMachine();
  optimise(module, *tm, options.optLevel, optimised);
  optimised.end();
  code[i] = emitCode(module, *tm, options, emitted);
  giveBack(std::move(tm));
  if (!options.cache.empty())
    keep(options.cache, key, code[i]);
}

// `schedules`: of all levels; they go into the artefact's description.
static std::string compileTables(ModuleOp module, CodegenOptions options, const Schedules &schedules, ArrayRef<int64_t> scratch) {
  llvm::json::Value description = llvm::cantFail(llvm::json::parse(options.self.json));
  (*description.getAsObject())["schedules"] = toJson(schedules);
  options.self.json = llvm::formatv("{0}", description);
  llvm::LLVMContext context;
  llvm::Module m("tables", context);
  auto tm = targetMachine(*findIsa(targetOf(*findIsa(options.cpus.front())).plain));
  m.setTargetTriple(tm->getTargetTriple());
  m.setDataLayout(tm->createDataLayout());
  m.setPICLevel(llvm::PICLevel::BigPIC);
  emitTables(module, options, scratch, m);
  Counter none(m, nullptr);
  return emitCode(m, *tm, options, none);
}

FailureOr<std::vector<std::string>> compileForCpu(ModuleOp module, const CodegenOptions &options) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::vector<std::unique_ptr<Level>> levels;
  Schedules schedules;
  for (const std::string &cpu : options.cpus) {
    auto tune = options.tune.find(cpu);
    if (auto given = options.schedules.find(cpu); given != options.schedules.end())
      schedules[cpu] = given->second;
    levels.push_back(std::make_unique<Level>(*findIsa(cpu), tune == options.tune.end() ? "" : tune->second));
    if (failed(levels.back()->begin(module, schedules[cpu])))
      return failure();
    options.phase("lowering for " + cpu);
  }
  llvm::DefaultThreadPool threads(llvm::hardware_concurrency());  // lld, run in this process, sets LLVM's own to one
  for (std::unique_ptr<Level> &level : levels)
    threads.async([&] { level->split(options); });
  threads.wait();
  for (std::unique_ptr<Level> &level : levels)  // the longest first
    if (level->error.empty())
      threads.async([&] { level->finish(0, options); });
  for (std::unique_ptr<Level> &level : levels)
    for (size_t i = 1; i < level->code.size(); ++i)
      threads.async([&, i] { level->finish(i, options); });
  threads.wait();
  std::vector<std::string> objects;
  SmallVector<int64_t> scratch;
  for (std::unique_ptr<Level> &level : levels) {
    if (!level->error.empty())
      return module.emitError() << level->isa.name << ": " << level->error, failure();
    llvm::append_range(objects, std::move(level->code));
    scratch.push_back(level->scratch);
  }
  options.phase("optimising and emitting");
  objects.push_back(compileTables(module, options, schedules, scratch));
  Arch arch = levels[0]->isa.arch;
  objects.push_back(stubObject(arch).str());
  if (llvm::any_of(levels, [](const auto &level) { return level->decodesImages; }))
    objects.push_back(codecsObject(arch).str());
  options.phase("tables");
  return objects;
}

}  // namespace onnxc
