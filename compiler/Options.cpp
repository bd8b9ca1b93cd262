// Options.cpp: every flag of compiling, in the order --help shows them; see CommandLine.h.
#include "compiler/CommandLine.h"
#include "codegen/cpu/Isa.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>

namespace onnxc {

// "batch=8" into `dims`; CLI11 turns the text we throw into a usage error.
static void addDim(const std::string &text, std::map<std::string, int64_t> &dims) {
  auto [name, size] = llvm::StringRef(text).rsplit('=');
  int64_t value = 0;
  if (name.empty() || size.getAsInteger(10, value) || value < 0)
    throw CLI::ValidationError("--define-dim", "expected NAME=SIZE with a size of at least 0, got '" + text + "'");
  if (int64_t before = dims.try_emplace(name.str(), value).first->second; before != value)
    throw CLI::ValidationError("--define-dim", "'" + name.str() + "' cannot be both " + std::to_string(before) + " and " + size.str());
}

// "image=1x3x224x224,mask=1x224" into what `flag` says.
static void addShapes(ShapeFlag flag, const std::string &text, ShapeFlags &shapes) {
  for (llvm::StringRef each : llvm::split(text, ',')) {
    auto [name, sizes] = each.rsplit('=');
    if (!each.contains('='))
      throw CLI::ValidationError(kShapeFlags[flag], "expected INPUT=SIZExSIZE…, got '" + each.str() + "'");
    std::vector<int64_t> numbers;
    for (llvm::StringRef size : llvm::split(sizes, 'x'))
      if (name.empty() || size.getAsInteger(10, numbers.emplace_back()) || numbers.back() < 0)
        throw CLI::ValidationError(kShapeFlags[flag], "expected INPUT=SIZExSIZE… with sizes of at least 0, got '" + each.str() + "'");
    if (const std::vector<int64_t> &before = shapes[flag].try_emplace(name.str(), numbers).first->second; before != numbers)
      throw CLI::ValidationError(kShapeFlags[flag],
                                 "input '" + name.str() + "' cannot be both " + shapeText(before) + " and " + shapeText(numbers));
  }
}

// "domain::Name=library.a" into `ops`.
static void addCustomOp(const std::string &text, std::map<std::string, std::string> &ops) {
  auto [name, library] = llvm::StringRef(text).split('=');
  llvm::StringRef suffix = llvm::sys::path::extension(library);
  if (!name.contains("::") || name.ends_with("::") || (suffix != ".a" && suffix != ".so"))
    throw CLI::ValidationError("--custom-op", "expected DOMAIN::NAME=LIBRARY with a library .a or .so, got '" + text + "'");
  if (const std::string &before = ops.try_emplace(name.str(), library.str()).first->second; before != library)
    throw CLI::ValidationError("--custom-op", "'" + name.str() + "' cannot come from both '" + before + "' and '" + library.str() + "'");
}

// `text`, which must be one of the words that `flag` takes.
static const std::string &oneOf(const char *flag, llvm::ArrayRef<llvm::StringRef> words, const std::string &text) {
  if (!llvm::is_contained(words, text))
    throw CLI::ValidationError(flag,
                               "expected " + llvm::join(words.drop_back(), ", ") + " or " + words.back().str() + ", got '" + text + "'");
  return text;
}

static DefaultInputs defaultInputs(const std::string &text) {
  oneOf("--default-inputs", {"none", "data", "all"}, text);
  return text == "none" ? DefaultInputs::None : text == "data" ? DefaultInputs::Data : DefaultInputs::All;
}

CLI::Option *addRepeatable(CLI::App &app, const char *name, std::function<void(const std::string &)> add, const char *help) {
  auto addAll = [add](const std::vector<std::string> &values) {
    for (const std::string &value : values)
      add(value);
  };
  return app.add_option_function<std::vector<std::string>>(name, addAll, help)->take_all()->allow_extra_args(false);
}

// "a,b, or c": of each target.
static std::string defaultLevels() {
  std::string text;
  for (const Target &target : targets()) {
    std::vector<std::string> levels;
    for (const Isa &isa : isas())
      if (isa.isDefault && isa.arch == target.arch)
        levels.push_back(isa.name.str());
    text += (text.empty() ? "" : ", or ") + llvm::join(llvm::reverse(levels), ",");
  }
  return text;
}

// What the code is for and how it computes.
static void bindTargetOptions(CLI::App &app, Options &options) {
  app.add_option("-O", options.optLevel,
                 "optimisation level; 0 is the slow, literal reference used to find wrong results, 1 to 3 give the same code")
      ->check(CLI::Range(0, 3))
      ->type_name("LEVEL")
      ->default_str("3")
      ->group(kCodeGroup);
  app.add_option("--cpu", options.cpus,
                 "CPU level or name; several make one artefact that picks when it loads; 'native' tunes for this machine (default: " +
                     defaultLevels() + ")")
      ->delimiter(',')
      ->type_name("NAME[,NAME]")
      ->group(kCodeGroup);
  app.add_flag_callback(
         "--no-winograd", [&options] { options.winograd = false; },
         "compute every convolution directly: slower, rounding errors a little smaller")
      ->group(kCodeGroup);
  app.add_option("--target", options.target, "target, e.g. aarch64-linux-gnu (default: this machine)")
      ->type_name("TRIPLE")
      ->group(kCodeGroup);
  app.add_option_function<std::string>(
         "--device", [&options](const std::string &text) { options.device = oneOf("--device", {"cpu", "cuda"}, text); },
         "what runs the model")
      ->type_name("cpu|cuda")
      ->default_str("cpu")
      ->group(kCodeGroup);
  app.add_option_function<std::string>(
         "--precision",
         [&options](const std::string &text) { options.precision = oneOf("--precision", {"f32", "bf16", "f16", "int8"}, text); },
         "what large weights of f32 products are stored in; inputs, sums and results stay f32 (int8: quantise the model instead)")
      ->type_name("f32|bf16|f16|int8")
      ->default_str("f32")
      ->group(kCodeGroup);
}

// What the model's inputs and operators are.
static void bindModelOptions(CLI::App &app, Options &options) {
  addRepeatable(
      app, "--define-dim", [&options](const std::string &text) { addDim(text, options.defineDims); },
      "fix a symbolic dimension, e.g. batch=8 (repeatable)")
      ->type_name("NAME=SIZE")
      ->group(kCodeGroup);
  for (auto [flag, help] :
       {std::pair(MinShapes, "the smallest sizes of an input that runs may give, e.g. image=1x3x224x224 (repeatable)"),
        std::pair(OptShapes,
                  "the sizes of an input that runs mostly give: those of random inputs of bench, --tune and programs (repeatable)"),
        std::pair(MaxShapes,
                  "the largest sizes of an input that runs may give; contexts take memory for them when they are made (repeatable)")})
    addRepeatable(
        app, kShapeFlags[flag], [&options, flag = flag](const std::string &text) { addShapes(flag, text, options.shapes); }, help)
        ->type_name("INPUT=SIZExSIZE")
        ->group(kCodeGroup);
  addRepeatable(
      app, "--custom-op", [&options](const std::string &text) { addCustomOp(text, options.customOps); },
      "take an operator from a library .a or .so of your own, see onnxc_custom.h (repeatable)")
      ->type_name("DOMAIN::NAME=LIBRARY")
      ->group(kCodeGroup);
  app.add_option_function<std::string>(
         "--default-inputs", [&options](const std::string &text) { options.defaultInputs = defaultInputs(text); },
         "which inputs with an initializer a run may leave out or replace: none, data (floating-point ones that only elementwise "
         "arithmetic reads), all; the others are constants")
      ->type_name("none|data|all")
      ->default_str("data")
      ->group(kCodeGroup);
}

void bindCodeOptions(CLI::App &app, Options &options) {
  bindTargetOptions(app, options);
  bindModelOptions(app, options);
  app.add_option("--cache", options.cache, "keep finished code in this folder and reuse it when the same code is compiled again")
      ->type_name("DIR")
      ->group(kCodeGroup);
  app.add_option("--schedules", options.scheduleFile, "take the schedules of kernels from this file, which --tune writes")
      ->type_name("FILE")
      ->group(kCodeGroup);
  app.add_flag("--allow-external-outside", options.allowExternalOutside, "let external data of a trusted model lie outside its folder")
      ->group(kCodeGroup);
  app.add_option("--max-constant-size", options.maxConstantSize,
                 "bytes of constants that are made and not stored: a sparse tensor, what depends on constants alone")
      ->check(wholeNumber())
      ->type_name("BYTES")
      ->default_str("1073741824")
      ->group(kCodeGroup);
  app.add_flag("-g", options.taps, "one launch per node: times, profiles and errors are each node's own")->group(kCodeGroup);
}

// What is written beside the artefact, and what is said.
static void bindReportOptions(CLI::App &app, Options &options) {
  app.add_option_function<std::string>(
         "--weights",
         [&options](const std::string &text) {
           options.externalWeights = oneOf("--weights", {"embedded", "external"}, text) == "external";
         },
         "where the weights go: into the artefact, or into FILE.weights beside it, which is mapped when the model is loaded")
      ->type_name("embedded|external")
      ->default_str("embedded")
      ->group("Output");
  app.add_option("--emit-header", options.emitHeader, "also write typed C and C++ headers of the model to this folder")
      ->type_name("DIR")
      ->group("Output");
  app.add_flag("--MD", options.dependencies, "also write FILE.d, the files the output depends on, for make and ninja (-MD works too)")
      ->group("Output");
  app.add_flag("--json", options.json, "print diagnostics and reports as JSON lines")->group("Output");
  app.add_option("--progress", options.progressAfter,
                 "on a terminal, show how far the compile is when it takes longer than so many seconds (not with --json)")
      ->check(notNegative())
      ->type_name("SECONDS")
      ->default_str("1")
      ->group("Output");
  app.add_flag("--size-report", options.sizeReport, "print what the bytes of the artefact are")->group("Output");
}

void bindCompileOptions(CLI::App &app, Options &options) {
  CLI::Option *model = app.add_option("model", options.input, "the ONNX model")->required()->type_name("MODEL.onnx");
  CLI::Option *output =
      app.add_option("-o,--output", options.output,
                     "what to write; the suffix says what: .so .a .o .mlir, .ll or .s (the code of the newest level), none = an executable")
          ->required()
          ->type_name("FILE");
  bindCodeOptions(app, options);
  app.add_flag(
         "--tune", options.tuneSeconds,
         "time other schedules of kernels on this machine, on one thread; none is begun after so many seconds (60) of trials, to which "
         "the compiles before and behind and the last checks come; adds what is faster to the file of --schedules (default: "
         "FILE.schedules beside the output), to be kept under version control")
      ->option_text("[=SECONDS]")
      ->transform(CLI::Validator([](std::string &text) { return text == "true" ? (text = "60", "") : ""; }, ""))
      ->check(CLI::Range(1, 86400))
      ->group(kCodeGroup);
  bindReportOptions(app, options);
  auto printPipeline = [&options, model, output] {
    options.printPipeline = true;
    model->required(false), output->required(false);
  };
  app.add_flag_callback("--print-pipeline", printPipeline, "print the passes in their order and stop")->group("Looking inside");
  app.add_option("--dump-phases", options.dumpPhases, "write the program after each phase to this folder")
      ->type_name("DIR")
      ->group("Looking inside");
  app.add_flag("--time-phases", options.timePhases, "print how long each phase takes")->group("Looking inside");
}

CLI::Validator notNegative() {
  return CLI::Validator(
      [](std::string &text) {
        double number;
        bool good = !llvm::StringRef(text).getAsDouble(number) && number >= 0 && number < INFINITY;
        return good ? std::string() : "expected a number of at least 0, got '" + text + "'";
      },
      "");
}

CLI::Validator wholeNumber(int64_t most) {
  return CLI::Validator(
      [most](std::string &text) {
        int64_t number;
        bool good = !llvm::StringRef(text).getAsInteger(10, number) && number >= 0 && number <= most;
        return good ? std::string() : "expected a whole number from 0 to " + std::to_string(most) + ", got '" + text + "'";
      },
      "");
}

// C11's headers, without `.h`. A folder that has one of them hides the system's from whoever includes from it.
static bool isHeaderOfC(llvm::StringRef name) {
  static const llvm::StringSet<> names = {"assert",  "complex", "ctype",  "errno",  "fenv",   "float",  "inttypes",    "iso646",
                                          "limits",  "locale",  "math",   "setjmp", "signal", "stdarg", "stdalign",    "stdatomic",
                                          "stdbool", "stddef",  "stdint", "stdio",  "stdlib", "string", "stdnoreturn", "tgmath",
                                          "threads", "time",    "uchar",  "wchar",  "wctype"};
  return names.contains(name);
}

// Whether `path`, or what it is a link to, is an entry of /dev or /proc, e.g. /dev/stdout, whose place a file would take. /dev/shm has
// files.
static bool isOfSystem(llvm::StringRef path) {
  constexpr int mostLinks = 40;  // as many as the system follows
  std::error_code none;
  std::filesystem::path name = path.str();
  for (int i = 0; i < mostLinks; ++i) {
    std::filesystem::path folder = std::filesystem::canonical(std::filesystem::absolute(name, none).parent_path(), none);
    llvm::StringRef text = folder.native();
    if (none)
      return false;  // there is no such folder
    if (text == "/dev" || text == "/proc" || text.starts_with("/proc/"))
      return true;
    std::filesystem::path target = std::filesystem::read_symlink(folder / name.filename(), none);
    if (none)
      return false;          // no link
    name = folder / target;  // `target` where it is absolute
  }
  return false;
}

// Whether a file that a compile writes would take the place of the model or of what is no file.
static std::optional<int> checkOutput(const Options &options, const std::string &output) {
  bool same = false;
  if (options.input == output || (!llvm::sys::fs::equivalent(options.input, output, same) && same))
    return fail(ExitUsage, "the output '" + output + "' is the input model");
  llvm::sys::fs::file_status old;
  (void)llvm::sys::fs::status(output, old);
  if (llvm::sys::fs::is_directory(old))
    return fail(ExitUsage, "the output '" + output + "' is a folder");
  if (llvm::sys::fs::exists(old) && !llvm::sys::fs::is_regular_file(old))
    return fail(ExitUsage, "the output '" + output + "' is a device, a pipe or a socket");
  if (isOfSystem(output))
    return fail(ExitUsage, "the output '" + output + "' is an entry of /dev or /proc; onnxc writes a file: name one, it cannot be piped");
  return std::nullopt;
}

// What is wrong with the folder of the output, or with what is there already: nothing, or an ExitCode after a message.
static std::optional<int> checkPlaces(const Options &options) {
  llvm::StringRef folder = llvm::sys::path::parent_path(options.output);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(ExitBadModel, "there is no folder '" + folder + "' for the output");
  std::string schedules = schedulesPath(options);
  folder = llvm::sys::path::parent_path(schedules);
  if (options.tuneSeconds > 0 && !folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(ExitBadModel, "there is no folder '" + folder + "' for --schedules, which --tune writes");
  std::vector<std::string> files = {options.output};
  if (options.externalWeights)
    files.push_back(weightsPath(options));
  if (options.dependencies)
    files.push_back(options.output + ".d");
  if (options.tuneSeconds > 0)
    files.push_back(schedules);
  for (const std::string &file : files)
    if (std::optional<int> status = checkOutput(options, file))
      return status;
  return std::nullopt;
}

std::optional<int> checkOptions(const Options &options) {
  if (options.printPipeline)
    return std::nullopt;
  if (options.output == "-")
    return fail(ExitUsage, "-o '-' names no file: onnxc writes a file, e.g. -o model.so");
  llvm::StringRef suffix = llvm::sys::path::extension(options.output);
  bool known = llvm::StringSwitch<bool>(suffix).Cases({"", ".so", ".a", ".o", ".mlir", ".ll", ".s"}, true).Default(false);
  if (!known)
    return fail(ExitUsage, "cannot tell what '" + options.output + "' should be from its suffix '" + suffix +
                               "'; use .so .a .o .mlir .ll .s, or none for an executable");
  llvm::StringRef stem = llvm::sys::path::stem(options.output);
  if (!options.emitHeader.empty() && isHeaderOfC(stem))
    return fail(ExitUsage, "--emit-header would write " + stem + ".h, a header of C: give the output another name");
  if (options.externalWeights && llvm::is_contained({".mlir", ".ll", ".s"}, suffix))
    return fail(ExitUsage,
                "--weights external needs an artefact, which '" + options.output + "' is not; use .so .a .o, or none for an executable");
  if (options.tuneSeconds > 0 && (options.optLevel == 0 || suffix == ".mlir"))
    return fail(ExitUsage, options.optLevel == 0 ? "--tune has nothing to time at -O0, whose kernels are not cut by schedules"
                                                 : "--tune has nothing to write into '" + options.output + "', which holds no code");
  if (options.optLevel == 0 && (options.precision == "bf16" || options.precision == "f16"))
    say("warning", "", "--precision " + options.precision + " changes nothing at -O0: weights stay as the model has them");
  return checkPlaces(options);
}

}  // namespace onnxc
