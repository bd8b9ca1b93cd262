// Artefact.cpp: see Artefact.h.
#include "compiler/commands/Artefact.h"
#include "codegen/TemporaryFile.h"
#include "codegen/cpu/Isa.h"
#include "codegen/cpu/Schedule.h"
#include "compiler/CommandLine.h"
#include "compiler/Pipeline.h"
#include "compiler/commands/LibraryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime_stub/include/onnxc/onnxc.h"
#include <dlfcn.h>
#include <thread>

namespace onnxc {

namespace {
// An error that carries the exit code which belongs to it.
struct CommandError : llvm::ErrorInfo<CommandError> {
  static char ID;
  int code;
  std::string text;
  CommandError(int code, std::string text) : code(code), text(std::move(text)) {}
  void log(llvm::raw_ostream &out) const override { out << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
};
char CommandError::ID = 0;
}  // namespace

llvm::Error failure(int code, const llvm::Twine &text) { return llvm::make_error<CommandError>(code, text.str()); }

int report(llvm::Error error) {
  int code = ExitBadModel;
  llvm::handleAllErrors(
      std::move(error),
      [&](const CommandError &e) {
        code = e.code;
        if (!e.text.empty())
          fail(ExitCode(code), e.text);
      },
      [&](const llvm::ErrorInfoBase &e) { fail(ExitBadModel, e.message()); });
  return code;
}

struct Artefact::Impl {
  std::string path;        // of the library
  TemporaryFile compiled;  // the library of a model given as such
  void *library = nullptr;
  const onnxc_api *api = nullptr;
  onnxc_model *model = nullptr;
  onnxc_context *context = nullptr;
  std::vector<Port> inputs, outputs;
  int64_t reserved = -1;
  std::vector<onnxc_value> in, out;
  // Side arrays of `in`; a list keeps their addresses.
  std::vector<std::unique_ptr<std::vector<onnxc_value>>> items;
  std::vector<std::unique_ptr<std::vector<onnxc_string_view>>> strings;

  ~Impl() {
    if (context)
      api->context_destroy(context);
    if (model)
      api->model_destroy(model);
    if (library)
      dlclose(library);
  }
  void fill(onnxc_value &to, const Value &from);
  llvm::Error load(llvm::StringRef name);
  void describe();
  // Makes a model and a context of it; none with a note where `load` lets the weights be missing.
  llvm::Error start(const LoadOptions &load);
};

Artefact::Artefact() : impl(std::make_unique<Impl>()) {}
Artefact::~Artefact() = default;
const std::string &Artefact::path() const { return impl->path; }
const std::vector<Port> &Artefact::inputs() const { return impl->inputs; }
const std::vector<Port> &Artefact::outputs() const { return impl->outputs; }
unsigned Artefact::vectorBits() const {
  const Isa *isa = findIsa(impl->api->isa(impl->model));
  return isa ? isa->vectorBits : 0;
}
llvm::json::Object Artefact::description() const {
  llvm::Expected<llvm::json::Value> description = llvm::json::parse(impl->api->info()->json);
  llvm::json::Object *object = description ? description->getAsObject() : nullptr;
  llvm::json::Object result = object ? std::move(*object) : llvm::json::Object();
  llvm::consumeError(description.takeError());
  return result;
}
std::map<std::string, Schedule> Artefact::schedules() const {
  const llvm::json::Object object = description();
  const llvm::json::Value *all = object.get("schedules");
  llvm::Expected<Schedules> schedules = all ? fromJson(*all) : Schedules();
  const Isa *isa = findIsa(impl->api->isa(impl->model));
  if (schedules)
    return isa ? (*schedules)[isa->name.str()] : std::map<std::string, Schedule>();
  llvm::consumeError(schedules.takeError());
  return {};
}
bool Artefact::hasFlag(llvm::StringRef flag) const {
  const llvm::json::Object object = description();
  const llvm::json::Array *flags = object.getArray("flags");
  return flags && llvm::is_contained(*flags, llvm::json::Value(flag));
}
int64_t Artefact::weightBytes() const { return impl->api->info()->weights_bytes; }
bool Artefact::canRun() const { return impl->context; }
int64_t Artefact::arenaBytes() const { return canRun() ? impl->api->arena_bytes(impl->context) : -1; }
int64_t Artefact::reservedBytes() const { return impl->reserved; }

std::string portType(Value::Kind kind, llvm::StringRef element, const std::optional<std::vector<std::string>> &sizes) {
  const char *wrap[] = {"", "sequence of ", "optional ", "map to "};
  if (kind == Value::Sequence && element == "?")
    return "sequence of maps";
  return (wrap[kind] + element + "[" + (sizes ? llvm::join(*sizes, ",") : "...") + "]").str();
}

std::string Port::type() const {
  std::optional<std::vector<std::string>> sizes;
  if (rank >= 0)
    sizes.emplace();
  for (size_t d = 0; d < dims.size(); ++d)
    sizes->push_back(dims[d] >= 0 ? std::to_string(dims[d]) : symbols[d].empty() ? "?" : symbols[d]);
  const DType *t = findDType(dtype);
  return portType(kind, t ? t->name : "?", sizes);
}

// `ranges`: three numbers a symbol, or null.
static std::vector<Port> readPorts(const onnxc_io_info *io, int32_t count, const char *const *symbols, const int64_t *ranges) {
  std::vector<Port> ports;
  for (int32_t i = 0; i < count; ++i) {
    Port &p = ports.emplace_back();
    p.name = io[i].name;
    p.kind = Value::Kind(io[i].kind);
    p.dtype = io[i].dtype;
    p.keyDtype = io[i].key_dtype;
    p.rank = io[i].rank;
    for (int32_t d = 0; d < io[i].rank; ++d) {
      int64_t dim = io[i].dims[d];
      p.dims.push_back(dim >= 0 ? dim : -1);
      bool isSymbol = dim < 0 && dim != INT64_MIN;
      p.symbols.push_back(isSymbol ? symbols[-(dim + 1)] : "");
      const int64_t *range = isSymbol && ranges ? ranges - 3 * (dim + 1) : nullptr;
      p.ranges.push_back(range ? SizeRange{range[0], range[1], range[2]} : SizeRange());
    }
  }
  return ports;
}

// Compiles a model to a library in the temporary folder.
static llvm::Error compileTemporary(const std::string &model, const Options &code, TemporaryFile &library) {
  if (std::error_code error = library.create("onnxc", ".so"))
    return failure(ExitBadModel, "a temporary file: " + error.message());
  Options options = code;
  if (const Target *target = findTarget(code.target); target && target != findTarget(""))
    return failure(ExitUsage, "--target " + code.target + ": this machine cannot run that");
  options.input = model;
  options.output = library.path();
  options.externalWeights = false;
  int exit = compile(options);
  return exit == ExitOk ? llvm::Error::success() : failure(exit, "");
}

static llvm::Error runError(const onnxc_error &error) { return failure(ExitBadModel, llvm::StringRef(error.message)); }

// Maps the library and asks for its functions; `name`: what the user calls it.
llvm::Error Artefact::Impl::load(llvm::StringRef name) {
  if (llvm::Error error = checkLibraryFile(name, path))
    return error;
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failure(ExitBadModel, llvm::StringRef(dlerror()));
  auto getter = reinterpret_cast<const onnxc_api *(*)(uint32_t)>(dlsym(library, "onnxc_get_api"));
  api = getter ? getter(ONNXC_ABI_VERSION) : nullptr;
  if (!api || api->struct_size < sizeof(onnxc_api))
    return failure(ExitBadModel, "'" + name + "' is not a library made by this version of onnxc");
  return llvm::Error::success();
}

void Artefact::Impl::describe() {
  const onnxc_model_info *info = api->info();
  const int64_t *ranges = info->struct_size > offsetof(onnxc_model_info, ranges) ? info->ranges : nullptr;
  inputs = readPorts(info->inputs, info->num_inputs, info->symbols, ranges);
  for (size_t i = 0; info->struct_size > offsetof(onnxc_model_info, defaults) && info->defaults && i < inputs.size(); ++i)
    inputs[i].hasDefault = info->defaults[i] >= 0;
  outputs = readPorts(info->outputs, info->num_outputs, info->symbols, ranges);
  out.resize(outputs.size());
}

llvm::Error Artefact::Impl::start(const LoadOptions &load) {
  onnxc_error error = {};
  onnxc_options options = {};
  options.struct_size = sizeof options;
  int processors = std::max(1u, std::thread::hardware_concurrency());
  if (load.threads > processors)
    say("note", "",
        "--threads " + llvm::Twine(load.threads) + ": this machine has " + llvm::Twine(processors) +
            (processors == 1 ? " processor" : " processors"));
  options.num_threads = load.threads > 0 ? load.threads : processors;
  options.weights_path = load.weights.empty() ? nullptr : load.weights.c_str();
  if (int32_t status = api->model_create(&options, &model, &error)) {
    if (status != ONNXC_E_WEIGHTS || !load.mayLackWeights)
      return runError(error);
    say("note", "", "memory is not known without the weights: " + llvm::StringRef(error.message).split("; ").first);
    return llvm::Error::success();
  }
  if (api->context_create(model, &options, &context, &error))
    return runError(error);
  reserved = api->arena_bytes(context);
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Artefact>> Artefact::open(const std::string &path, const Options &code, const LoadOptions &load) {
  std::unique_ptr<Artefact> artefact(new Artefact);
  Impl &a = *artefact->impl;
  if (int exit = checkSupported(code))
    return failure(exit, "");
  llvm::SmallString<128> library(path);
  if (!isLibrary(path)) {
    if (!load.weights.empty())
      return failure(ExitUsage, "--weights is for a library; '" + path + "' is a model");
    if (std::string what = otherArtefact(path); !what.empty())
      return failure(ExitBadModel, "'" + path + "' is " + what + ". Give the .onnx model, or a .so that was made of it");
    if (llvm::Error error = compileTemporary(path, code, a.compiled))
      return std::move(error);
    library = a.compiled.path();
  } else if (!llvm::sys::fs::exists(path)) {
    return failure(ExitBadModel, "'" + path + "': no such file");
  }
  llvm::sys::fs::make_absolute(library);  // a bare name would be searched for in the system's folders
  a.path = library.str().str();
  if (llvm::Error error = a.load(path))
    return std::move(error);
  if (!load.weights.empty() && artefact->description().getString("weights") != "external")
    return failure(ExitUsage, "--weights is for weights in a file; '" + path + "' holds its own");
  a.describe();
  if (llvm::Error error = a.start(load))
    return std::move(error);
  return std::move(artefact);
}

void Artefact::Impl::fill(onnxc_value &to, const Value &from) {
  to = {};
  to.kind = from.kind;
  to.dtype = from.dtype;
  if (from.absent)
    return;
  if (from.kind != Value::Tensor) {
    auto &list = *items.emplace_back(std::make_unique<std::vector<onnxc_value>>(from.items.size()));
    for (size_t i = 0; i < from.items.size(); ++i)
      fill(list[i], from.items[i]);
    to.items = list.data();
    to.count = list.size();
    return;
  }
  static char nothing[16];  // an empty tensor still has a pointer
  to.tensor.data = from.bytes.empty() ? nothing : const_cast<char *>(from.bytes.data());
  if (from.dtype == kStringCode && !from.strings.empty()) {
    auto &views = *strings.emplace_back(std::make_unique<std::vector<onnxc_string_view>>());
    for (const std::string &s : from.strings)
      views.push_back({s.data(), int64_t(s.size())});
    to.tensor.data = views.data();
  }
  to.tensor.device.type = 1;
  to.tensor.ndim = from.dims.size();
  to.tensor.shape = const_cast<int64_t *>(from.dims.data());
}

void Artefact::bind(const std::vector<Value> &values) {
  impl->items.clear();
  impl->strings.clear();
  impl->in.resize(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    impl->fill(impl->in[i], values[i]);
}

llvm::Error Artefact::runOnce() {
  onnxc_error error = {};
  for (onnxc_value &v : impl->out)
    v = {};
  return impl->api->run(impl->context, impl->in.data(), impl->in.size(), impl->out.data(), impl->out.size(), &error)
             ? runError(error)
             : llvm::Error::success();
}

static Value copyOf(const onnxc_value &from) {
  Value to;
  to.kind = Value::Kind(from.kind);
  to.dtype = from.dtype;
  for (int64_t i = 0; from.kind != ONNXC_TENSOR && i < from.count; ++i)
    to.items.push_back(copyOf(from.items[i]));
  if (from.kind != ONNXC_TENSOR)
    return to;
  to.dims.assign(from.tensor.shape, from.tensor.shape + from.tensor.ndim);
  const DType *type = findDType(from.dtype);
  const char *data = static_cast<const char *>(from.tensor.data) + from.tensor.byte_offset;
  int64_t count = to.count();
  if (from.dtype == kStringCode) {
    auto *views = reinterpret_cast<const onnxc_string_view *>(data);
    for (int64_t i = 0; i < count; ++i)
      to.strings.emplace_back(views[i].data, views[i].size);
  } else if (type && count) {
    to.bytes.assign(data, data + count * type->size);
  }
  return to;
}

std::vector<Value> Artefact::results() const {
  std::vector<Value> values;
  for (const onnxc_value &v : impl->out)
    values.push_back(copyOf(v));
  return values;
}

namespace {
struct Profiler {
  const onnxc_api *api;
  std::vector<KernelTime> &rows;
  size_t next = 0;
};
struct Tracer {
  const onnxc_api *api;
  std::vector<NodeResult> &results;
};
}  // namespace

static void addKnown(int64_t &total, int64_t amount) { total = total < 0 || amount < 0 ? -1 : total + amount; }

// Launches of a run come in the order of the plan; the same number of them unless control flow differs between runs.
static void countLaunch(void *user, const onnxc_launch *launch) {
  Profiler &p = *static_cast<Profiler *>(user);
  if (p.next == p.rows.size() || p.rows[p.next].site != launch->site) {
    auto it = std::find_if(p.rows.begin(), p.rows.end(), [&](const KernelTime &row) { return row.site == launch->site; });
    p.next = it - p.rows.begin();
    onnxc_profile_row row;
    if (it == p.rows.end() && !p.api->site(launch->site, &row))
      p.rows.push_back({launch->site, row.node, row.op, row.kernel});
  }
  KernelTime &row = p.rows[p.next++];
  row.calls += 1;
  row.nanoseconds += launch->nanoseconds;
  addKnown(row.flops, launch->flops);
  addKnown(row.bytes, launch->bytes);
}

llvm::Error Artefact::profile(std::vector<KernelTime> &times) {
  Profiler profiler{impl->api, times};
  impl->api->set_launch_tap(impl->context, countLaunch, &profiler);
  llvm::Error error = runOnce();
  impl->api->set_launch_tap(impl->context, nullptr, nullptr);
  return error;
}

static void keepResults(void *user, const onnxc_launch *launch) {
  Tracer &t = *static_cast<Tracer *>(user);
  onnxc_profile_row row;
  for (int i = 0; i < launch->num_results && !t.api->site(launch->site, &row); ++i)
    if (launch->results[i].tensor.data)
      t.results.push_back({row.node, row.op, row.kernel, i, copyOf(launch->results[i])});
}

llvm::Error Artefact::trace(std::vector<NodeResult> &results) {
  Tracer tracer{impl->api, results};
  impl->api->set_launch_tap(impl->context, keepResults, &tracer);
  llvm::Error error = runOnce();
  impl->api->set_launch_tap(impl->context, nullptr, nullptr);
  return error;
}

}  // namespace onnxc
