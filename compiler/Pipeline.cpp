// Pipeline.cpp: the way of a model, one function per phase: import, graph, kernels, memory, code, link. docs/Architecture.md section 1.
#include "compiler/Pipeline.h"
#include "codegen/cpu/Codegen.h"
#include "codegen/link/Link.h"
#include "compiler/ConstantIslands.h"
#include "compiler/Describe.h"
#include "compiler/Diagnostics.h"
#include "compiler/Files.h"
#include "compiler/Messages.h"
#include "compiler/Phases.h"
#include "compiler/Unsupported.h"
#include "compiler/import/Import.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Packed.h"
#include "dialects/plan/PlanDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "dialects/kernel/Weights.h"
#include "passes/fusion/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/memory/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
namespace onnxc {
namespace {

constexpr size_t kMostErrors = 30;  // of a compile; `check` lists all

void loadDialects(MLIRContext &context) {
  DialectRegistry registry;
  registerAllExtensions(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<onnx::OnnxDialect, kernel::KernelDialect, plan::PlanDialect, arith::ArithDialect, cf::ControlFlowDialect,
                      func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

SimplifyOptions simplifyOptions(const Options &options) {
  SimplifyOptions result;
  result.weights = options.optLevel > 0;
  result.fillBytes = std::min(options.maxConstantSize, result.fillBytes);
  return result;
}

void shapePhase(OpPassManager &pm, const Options &options) {
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createFoldShapes());
  f.addPass(createSimplify(simplifyOptions(options)));
  f.addPass(createCSEPass());
}

void graphPhase(OpPassManager &pm, const Options &options) {
  auto &f = pm.nest<func::FuncOp>();
  if (options.optLevel > 0) {
    f.addPass(createWidenHalf());
    f.addPass(createDecompose(DecomposeOptions{options.precision}));
    f.addPass(createRecognize());
    f.addPass(createMoveProducts());  // activations are one op each now, and transpositions where the model has them
    f.addPass(createMoveTranspositions());
    f.addPass(createMoveViews());
    f.addPass(createSimplify(simplifyOptions(options)));
    f.addPass(createMoveConvolutions());
    f.addPass(createIntegerContractions(IntegerContractionsOptions{options.maxConstantSize}));
    f.addPass(createCSEPass());
  }
  f.addPass(createFoldShapes());
  if (options.optLevel > 0)
    f.addPass(createFuseAttention());
}

void layoutPhase(OpPassManager &pm, const Options &options) {
  if (options.optLevel == 0)
    return;
  auto &f = pm.nest<func::FuncOp>();
  f.addPass(createBlockChannels(BlockChannelsOptions{options.winograd, options.precision}));
  f.addPass(createTurnRows());
  f.addPass(createPackWeights(PackWeightsOptions{options.precision}));
  f.addPass(createCSEPass());
}

void planPhase(OpPassManager &pm, const Options &options) {
  pm.addPass(createFormKernels(FormKernelsOptions{options.optLevel > 0, options.taps}));
  pm.addPass(createPlanMemory());
}

using Phase = void (*)(OpPassManager &, const Options &);

LogicalResult runPhase(Phase phase, ModuleOp module, const Options &options) {
  PassManager pm(module.getContext());
  phase(pm, options);
  return pm.run(module);
}

int printPipeline(MLIRContext &context, const Options &options) {
  for (auto [name, phase] :
       {std::pair<StringRef, Phase>{"shapes", shapePhase}, {"graph", graphPhase}, {"layout", layoutPhase}, {"plan", planPhase}}) {
    PassManager pm(&context);
    phase(pm, options);
    llvm::outs() << name << ": ";
    pm.printAsTextualPipeline(llvm::outs());
    llvm::outs() << "\n";
  }
  return ExitOk;
}

// A C identifier for the exported getter, from the output's name.
std::string identifier(StringRef path) {
  std::string name;
  for (char c : llvm::sys::path::stem(path).take_front(200))
    name += llvm::isAlnum(c) ? c : '_';
  if (name.empty() || llvm::isDigit(name[0]))
    name = "m" + name;
  return name;
}

// Weights in the order of their offsets, as PlanMemory placed them.
llvm::Error writeWeights(ModuleOp module, llvm::raw_ostream &os) {
  SmallVector<std::pair<int64_t, ElementsAttr>> weights;
  module.walk([&](plan::WeightOp op) {
    if (int64_t(op.getOffset()) >= 0)
      weights.push_back({op.getOffset(), op.getValue()});
  });
  for (DictionaryAttr input : module->getAttrOfType<ArrayAttr>("onnxc.inputs").getAsRange<DictionaryAttr>())
    if (auto offset = input.getAs<IntegerAttr>("offset"))
      weights.push_back({offset.getInt(), input.getAs<ElementsAttr>("default")});
  llvm::stable_sort(weights, llvm::less_first());
  int64_t at = 0;
  for (auto [offset, value] : weights) {
    if (offset < at)
      continue;  // an equal constant stands there already
    os.write_zeros(offset - at);
    writeWeight(value, os);
    at = offset + weightBytes(value);
  }
  os.write_zeros(module->getAttrOfType<IntegerAttr>("onnxc.weights_bytes").getInt() - at);
  return llvm::Error::success();
}

int writeText(ModuleOp module, const Options &options) {
  return writeFile(options.output, [&](llvm::raw_ostream &os) {
    module.print(os, OpPrintingFlags().elideLargeElementsAttrs(16).elideLargeResourceString(16));
  });
}
int writeText(StringRef text, const Options &options) {
  return writeFile(options.output, [&](llvm::raw_ostream &os) { os << text; });
}

int linkPhase(ModuleOp module, const Options &options, const CodegenOptions &code, ArrayRef<std::string> objects) {
  LinkInputs link;
  StringRef suffix = llvm::sys::path::extension(options.output);
  link.kind = suffix == ".so"  ? LinkInputs::SharedLibrary
              : suffix == ".a" ? LinkInputs::Archive
              : suffix == ".o" ? LinkInputs::Object
                               : LinkInputs::Executable;
  link.arch = findIsa(code.cpus.front())->arch;
  link.objects = objects;
  module.walk([&](onnx::CustomCallOp op) { link.customSymbols.insert(op.getSymbol().str()); });
  for (const auto &[name, library] : options.customOps)
    (llvm::sys::path::extension(library) == ".a" ? link.customArchives : link.customLibraries).insert(library);
  link.output = options.output;
  link.weightsFile = options.externalWeights ? weightsPath(options) : "";
  link.soname = llvm::sys::path::filename(options.output).str();
  link.modelName = code.modelName;
  link.weightsSize = module->getAttrOfType<IntegerAttr>("onnxc.weights_bytes").getInt();
  link.writeWeights = [module](llvm::raw_ostream &os) { return writeWeights(module, os); };
  int status = ExitOk;  // said already when it is another
  link.writeCompanions = [&] {
    status = writeCompanions(module, options, code.modelName);
    return status == ExitOk ? llvm::Error::success() : llvm::createStringError("");
  };
  if (auto error = linkArtefact(link)) {
    std::string text = llvm::toString(std::move(error));
    return status == ExitOk ? fail(ExitBadModel, options.output + ": " + text) : status;
  }
  return ExitOk;
}

}  // namespace

// What depends on constants alone is computed now, by the plain kernels of the level that every machine like this one has.
static bool foldConstants(ModuleOp module, const Options &given) {
  const Target *host = findTarget("");
  if (!host)
    return false;
  return foldConstantIslands(module, given.maxConstantSize, [&](ModuleOp island, StringRef path) {
    ScopedDiagnosticHandler silent(module.getContext(), [](Diagnostic &) { return success(); });
    Options options;
    options.optLevel = 0;
    options.cpus = {host->plain.str()};
    options.output = path.str();
    if (failed(runPhase(planPhase, island, options)))
      return false;
    CodegenOptions code{options.cpus, options.optLevel, "constants", {}};
    code.cache = given.cache;
    FailureOr<std::vector<std::string>> objects = compileForCpu(island, code);
    return succeeded(objects) && linkPhase(island, options, code, *objects) == ExitOk;
  });
}

// The graph's phases, up to what `check` and a .mlir file show.
static bool simplify(ModuleOp module, const Options &options, Phases &phases) {
  phases.begin("working out shapes");
  if (failed(runPhase(shapePhase, module, options)) || !phases.done("shapes", module))
    return false;
  phases.begin("computing constants");
  if (options.optLevel > 0 && foldConstants(module, options)) {
    if (failed(runPhase(shapePhase, module, options)) || !phases.done("constants", module))
      return false;
  }
  phases.begin("simplifying the graph");
  return succeeded(runPhase(graphPhase, module, options)) && phases.done("graph", module);
}

static ImportOptions importOptions(const Options &options) {
  ImportOptions result{options.defineDims,      options.shapes,      {}, options.defaultInputs, options.allowExternalOutside,
                       options.maxConstantSize, options.optLevel > 0};
  for (const auto &[name, library] : options.customOps)
    result.customOps.insert((StringRef(name).starts_with("::") ? "ai.onnx" : "") + name);
  return result;
}

// The file of the weights must not take the place of one that the model reads them from.
static int checkDataFiles(ModuleOp module, const Options &options) {
  auto files = module->getAttrOfType<ArrayAttr>("onnx.data_files");
  if (!options.externalWeights || !files)
    return ExitOk;
  for (StringRef file : files.getAsValueRange<StringAttr>())
    if (bool same = false; !llvm::sys::fs::equivalent(file, weightsPath(options), same) && same)
      return fail(ExitUsage, "the output '" + weightsPath(options) + "' is a data file of the model");
  return ExitOk;
}

static void checkPrecision(ModuleOp module, const Options &options) {
  bool isBrain = options.precision == "bf16", isAsked = options.optLevel > 0 && (isBrain || options.precision == "f16"), changes = false;
  if (!isAsked)
    return;
  module.walk([&](plan::WeightOp op) {
    Type type = op.getValue().getElementType();
    changes |= isBrain ? type.isBF16() : type.isF16();
  });
  if (!changes)
    warnOnce("--precision " + options.precision +
             " changes nothing: no f32 product of this model has a constant matrix of 4,096 elements or more that can be stored so");
}

// --tune adds to the file what it lacks.
static void checkSchedules(ModuleOp module, const Options &options, ArrayRef<std::string> levels) {
  if (options.tuneSeconds > 0)
    return;
  size_t entries = 0;
  for (const auto &[level, kernels] : options.schedules)
    for (const auto &[kernel, numbers] : kernels) {
      ++entries;
      if (llvm::is_contained(levels, level) && module.lookupSymbol<kernel::FuncOp>(kernel))
        return;
    }
  if (entries != 0)
    warnOnce("--schedules '" + options.scheduleFile + "' changes nothing: it has no kernel of this model for " + llvm::join(levels, ", ") +
             "; --tune adds them");
}

// The phases between the graph and code.
static bool formPlan(ModuleOp module, const Options &options, Phases &phases) {
  phases.begin("planning kernels");
  if (failed(runPhase(layoutPhase, module, options)) || !phases.done("layout", module) || failed(runPhase(planPhase, module, options)) ||
      !phases.done("plan", module))
    return false;
  checkPrecision(module, options);
  return true;
}

// Code of the plan for each level, linked; a .ll or .s file shows that of the newest level.
static int generate(ModuleOp module, const Options &options, Phases &phases) {
  StringRef suffix = llvm::sys::path::extension(options.output);
  bool isText = suffix == ".ll" || suffix == ".s";
  CodegenOptions code{options.cpus, options.optLevel, identifier(options.output), describeModel(module, options)};
  if (isText) {
    code.cpus = {options.cpus.back()};
    code.emit = suffix == ".ll" ? CodegenOptions::Ir : CodegenOptions::Assembly;
  }
  if (options.externalWeights)  // an archive or object becomes part of something of another name
    code.weightsFile = suffix == ".a" || suffix == ".o" ? llvm::sys::path::filename(weightsPath(options)).str() : "";
  code.tune = options.tune;
  code.schedules = options.schedules;
  checkSchedules(module, options, code.cpus);
  code.cache = options.cache;
  code.phase = [&](StringRef name) { phases.done(name); };
  KernelCount count;
  count.total = code.cpus.size() * llvm::range_size(module.getOps<kernel::FuncOp>());
  code.count = &count;
  phases.begin("compiling kernels", &count);
  FailureOr<std::vector<std::string>> objects = compileForCpu(module, code);
  if (failed(objects))
    return ExitBug;
  phases.begin("linking");
  int status = ExitOk;
  if (!isText)
    status = linkPhase(module, options, code, *objects);
  else if ((status = writeCompanions(module, options, code.modelName)) == ExitOk)
    status = writeText(objects->front(), options);
  phases.done("link");
  if (status == ExitOk && options.sizeReport && !isText)
    printSizeReport(options);
  return status;
}

static void checkCache(StringRef folder) {
  if (std::string problem = folder.empty() ? "" : cacheProblem(folder); !problem.empty())
    warnOnce("--cache '" + folder + "': " + problem + "; no code is kept");
}

int compile(const Options &given) {
  Options options = given;
  if (int status = chooseLevels(options))
    return status;
  if (int status = readSchedules(options, /*mayBeNew=*/false))
    return status;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  context.printOpOnDiagnostic(false);  // users know nodes, not ops
  if (options.printPipeline)
    return printPipeline(context, options);
  checkCache(options.cache);
  Diagnostics diagnostics(context, kMostErrors);
  Phases phases(options);
  phases.begin("reading the model");
  bool misfit = false;
  OwningOpRef<ModuleOp> module = importModel(options.input, context, importOptions(options), &misfit);
  if (!module || !phases.done("import", *module))
    return misfit ? ExitUsage : ExitBadModel;
  if (int status = checkDataFiles(*module, options))
    return status;
  if (!simplify(*module, options, phases))
    return ExitBadModel;
  if (StringRef(options.output).ends_with(".mlir"))
    return writeText(*module, options);
  if (reportUnsupported(*module, options) != ExitOk)
    return ExitOutOfScope;
  if (!formPlan(*module, options, phases))
    return ExitBadModel;
  return generate(*module, options, phases);
}

int check(const Options &given) {
  Options options = given;
  if (int status = chooseLevels(options))
    return status;
  if (int status = readSchedules(options, /*mayBeNew=*/false))
    return status;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  loadDialects(context);
  context.printOpOnDiagnostic(false);
  Diagnostics diagnostics(context, SIZE_MAX);
  bool misfit = false;
  OwningOpRef<ModuleOp> module = importModel(options.input, context, importOptions(options), &misfit);
  Phases phases(options);
  if (!module || !simplify(*module, options, phases))
    return misfit ? ExitUsage : ExitBadModel;
  return reportUnsupported(*module, options);
}

}  // namespace onnxc
