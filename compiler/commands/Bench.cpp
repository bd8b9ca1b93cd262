// Bench.cpp: `onnxc bench`: latency percentiles of a model or an artefact, and its kernels against the machine's measured roof.
#include "compiler/commands/Commands.h"
#include "compiler/commands/Inputs.h"
#include "compiler/commands/Roof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace onnxc {

namespace {
struct BenchOptions {
  std::string path, profile;
  LoadOptions load;
  double warmUp = 200, duration = 3;  // milliseconds, seconds
  size_t rows = 20;
  InputOptions inputs;
  Options code;
};

struct Report {
  std::vector<double> milliseconds;                         // sorted
  std::vector<std::pair<std::string, std::string>> inputs;  // their names and types, with the sizes of the runs
  std::string random;                                       // of them, and sizes that nobody gave
  std::vector<KernelTime> kernels;                          // all launches that a run makes of each, as profile() says
  Roof roof;
  std::map<std::string, std::map<std::string, int64_t>> schedules;  // by kernel
  int64_t modelBytes = 0;                                           // weights, inputs, outputs: what a run moves at least, caches apart
  double quantile(double q) const { return milliseconds[std::min(milliseconds.size() - 1, size_t(q * milliseconds.size()))]; }
};
}  // namespace

static double now() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Of all launches that a run makes of each kernel: the median time over `runs` runs, and, where control flow changes them, the mean of
// calls, operations and bytes.
static llvm::Error profile(Artefact &artefact, int runs, std::vector<KernelTime> &kernels) {
  std::vector<std::vector<int64_t>> times;
  for (int i = 0; i < runs; ++i) {
    std::vector<int64_t> before;
    for (const KernelTime &k : kernels)
      before.push_back(k.nanoseconds);
    if (llvm::Error error = artefact.profile(kernels))
      return error;
    before.resize(kernels.size());
    times.resize(kernels.size(), std::vector<int64_t>(runs));
    for (size_t k = 0; k < kernels.size(); ++k)
      times[k][i] = kernels[k].nanoseconds - before[k];
  }
  for (auto [k, time] : llvm::zip(kernels, times)) {
    std::sort(time.begin(), time.end());
    k.nanoseconds = time[time.size() / 2];
    for (int64_t *sum : {&k.calls, &k.flops, &k.bytes})
      *sum = *sum < 0 ? -1 : llvm::divideNearest(uint64_t(*sum), uint64_t(runs));
  }
  return llvm::Error::success();
}

static llvm::Error measure(Artefact &artefact, double warmUp, double duration, Report &report) {
  for (double start = now(); now() - start < warmUp;)
    if (llvm::Error error = artefact.runOnce())
      return error;
  for (double start = now(); now() - start < duration || report.milliseconds.size() < 3;) {
    double before = now();
    if (llvm::Error error = artefact.runOnce())
      return error;
    report.milliseconds.push_back(now() - before);
  }
  std::sort(report.milliseconds.begin(), report.milliseconds.end());
  return profile(artefact, std::clamp<int>(duration / 4 / std::max(report.quantile(0.5), 1e-3), 1, 100), report.kernels);
}

// GFLOP/s or GB/s; 0 when unknown.
static double rate(int64_t amount, const KernelTime &k) { return amount > 0 && k.nanoseconds > 0 ? double(amount) / k.nanoseconds : 0; }

static int64_t modelBytes(const Artefact &artefact, const std::vector<Value> &inputs) {
  int64_t bytes = artefact.weightBytes();
  for (const Value &v : inputs)
    bytes += v.bytes.size();
  for (const Value &v : artefact.results())
    bytes += v.bytes.size();
  return bytes;
}

static std::map<std::string, int64_t> scheduleOf(const Report &report, const KernelTime &k) {
  auto found = report.schedules.find(k.kernel);
  return found == report.schedules.end() ? std::map<std::string, int64_t>() : found->second;
}

// "tile 14x2, chunk 8, group 4, depth 36", or nothing.
static std::string scheduleText(std::map<std::string, int64_t> schedule) {
  std::string text;
  if (schedule.count("tile_rows"))
    text = "  tile " + std::to_string(schedule["tile_rows"]) + "x" + std::to_string(schedule["tile_panels"]);
  for (const char *name : {"chunk", "group", "depth"})
    if (schedule.count(name))
      text += std::string(", ") + name + " " + std::to_string(schedule[name]);
  return text;
}

static void printJson(const Report &report, int threads) {
  llvm::json::OStream json(llvm::outs(), 1);
  json.object([&] {
    json.attribute("runs", int64_t(report.milliseconds.size()));
    json.attribute("threads", threads);
    json.attribute("min_ms", report.milliseconds.front());
    json.attribute("median_ms", report.quantile(0.5));
    json.attribute("p90_ms", report.quantile(0.9));
    json.attribute("p99_ms", report.quantile(0.99));
    json.attribute("model_bytes", report.modelBytes);
    json.attributeArray("inputs", [&] {
      for (const auto &[name, type] : report.inputs)
        json.object([&, &name = name, &type = type] {
          json.attribute("name", llvm::json::fixUTF8(name));
          json.attribute("type", type);
        });
    });
    json.attributeObject("roof", [&] {
      json.attribute("isa", report.roof.isa);
      json.attribute("gflops", report.roof.gflops);
      json.attribute("gigabytes_per_s", report.roof.gigabytes);
    });
    json.attributeArray("kernels", [&] {
      for (const KernelTime &k : report.kernels)
        json.object([&] {
          json.attribute("node", k.node);
          json.attribute("op", k.op);
          json.attribute("kernel", k.kernel);
          json.attributeObject("schedule", [&] {
            for (const auto &[name, number] : scheduleOf(report, k))
              json.attribute(name, number);
          });
          json.attribute("calls", k.calls);
          json.attribute("us", double(k.nanoseconds) / 1e3);
          json.attribute("flops", k.flops);
          json.attribute("bytes", k.bytes);
          json.attribute("gflops", rate(k.flops, k));
          json.attribute("gigabytes_per_s", rate(k.bytes, k));
        });
    });
  });
  llvm::outs() << "\n";
}

// Whether a launch multiplies bytes: the roof is that of f32, which such products pass.
static bool multipliesBytes(llvm::StringRef op) {
  return op.contains("Integer") || op.contains("QLinear") || op == "ms.QAttention" || op == "ms.DynamicQuantizeLSTM" ||
         op.starts_with("packed.Linear");
}

// "     87%", or blanks where the roof is another.
static std::string roofText(const KernelTime &k, const Roof &roof) {
  if (multipliesBytes(k.op) || roof.gflops <= 0)
    return "        ";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%7.0f%%", 100 * rate(k.flops, k) / roof.gflops);
  return text;
}

static void printTable(const Report &report, size_t rows) {
  llvm::outs() << llvm::format("median %.4f ms   p90 %.4f   p99 %.4f   fastest %.4f   (%zu runs)\n", report.quantile(0.5),
                               report.quantile(0.9), report.quantile(0.99), report.milliseconds.front(), report.milliseconds.size());
  if (!report.random.empty())
    llvm::outs() << "random inputs: " << report.random << "\n";
  llvm::outs() << llvm::format("machine: %.0f GFLOP/s f32 (%s), %.1f GB/s memory\n\n", report.roof.gflops, report.roof.isa,
                               report.roof.gigabytes);
  std::vector<KernelTime> kernels = report.kernels;
  int64_t total = 1;
  for (const KernelTime &k : kernels)
    total += k.nanoseconds;
  std::stable_sort(kernels.begin(), kernels.end(), [](const KernelTime &a, const KernelTime &b) { return a.nanoseconds > b.nanoseconds; });
  llvm::outs() << "        us      %   GFLOP/s  of roof     GB/s  node\n";
  for (size_t i = 0; i < kernels.size() && i < rows; ++i) {
    const KernelTime &k = kernels[i];
    llvm::outs() << llvm::format("%10.2f %6.1f %9.1f ", double(k.nanoseconds) / 1e3, 100.0 * k.nanoseconds / total, rate(k.flops, k))
                 << roofText(k, report.roof) << llvm::format(" %8.1f  ", rate(k.bytes, k)) << k.node << " (" << k.op << ") " << k.kernel
                 << scheduleText(scheduleOf(report, k)) << "\n";
  }
  if (kernels.size() > rows)
    llvm::outs() << "and " << kernels.size() - rows << " more (--rows)\n";
}

// A field of CSV, as RFC 4180 has it: a name may have quotes and line breaks.
static std::string csvField(llvm::StringRef text) {
  std::string field = "\"";
  for (char c : text)
    field += c == '"' ? "\"\"" : std::string(1, c);
  return field + "\"";
}

// CSV, a record for each launch of the plan, for spreadsheets and scripts.
static void writeCsv(llvm::raw_ostream &out, const Report &report) {
  out << "node,op,kernel,calls,us,flops,bytes\n";
  for (const KernelTime &k : report.kernels)
    out << csvField(k.node) << "," << csvField(k.op) << "," << csvField(k.kernel) << "," << k.calls << ","
        << llvm::format("%.3f", double(k.nanoseconds) / 1e3) << "," << k.flops << "," << k.bytes << "\n";
}

// Chrome's trace events: the same one after the other, a bar for all launches of one place.
static void writeTrace(llvm::raw_ostream &out, const Report &report) {
  llvm::json::OStream json(out, 1);
  double at = 0;
  json.object([&] {
    json.attribute("displayTimeUnit", "ms");
    json.attributeArray("traceEvents", [&] {
      for (const KernelTime &k : report.kernels) {
        double us = double(k.nanoseconds) / 1e3;
        json.object([&] {
          json.attribute("name", llvm::json::fixUTF8(k.node));
          json.attribute("cat", k.op);
          json.attribute("ph", "X");
          json.attribute("pid", 1);
          json.attribute("tid", 1);
          json.attribute("ts", at);
          json.attribute("dur", us);
          json.attributeObject("args", [&] {
            json.attribute("op", k.op);
            json.attribute("kernel", k.kernel);
            json.attribute("calls", k.calls);
            json.attribute("flops", k.flops);
            json.attribute("bytes", k.bytes);
            json.attribute("gflops", rate(k.flops, k));
            json.attribute("gigabytes_per_s", rate(k.bytes, k));
          });
        });
        at += us;
      }
    });
  });
}

static llvm::Error writeProfile(llvm::StringRef path, const Report &report) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return llvm::createStringError(error, "'" + path + "': " + error.message());
  path.ends_with_insensitive(".json") ? writeTrace(out, report) : writeCsv(out, report);
  out.close();
  error = out.error();
  out.clear_error();  // said here; the stream would end the program
  return error ? llvm::createStringError(error, "'" + path + "': " + error.message()) : llvm::Error::success();
}

static void bindBenchOptions(CLI::App &app, BenchOptions &options) {
  bindArtefact(app, options.path, options.code);
  bindLoadOptions(app, options.load);
  app.add_option("--warmup,--warmUp", options.warmUp, "milliseconds before timing starts")
      ->type_name("MS")
      ->check(notNegative())
      ->capture_default_str();
  app.add_option("--duration", options.duration, "seconds of timing; at least three runs")
      ->type_name("S")
      ->check(notNegative())
      ->capture_default_str();
  bindInputOptions(app, options.inputs);
  app.add_option("--rows", options.rows, "kernels to list")->type_name("N")->check(wholeNumber())->capture_default_str();
  app.add_option("--profile", options.profile,
                 "write what a run spends in each launch of the plan, all its calls, to this file: .json for chrome://tracing, else CSV")
      ->type_name("FILE");
  app.add_flag("--json", options.code.json, "as JSON");
}

// The report of an open artefact, but for the machine's roof.
static llvm::Expected<Report> timed(Artefact &artefact, const BenchOptions &options) {
  llvm::Expected<std::vector<Value>> values = makeInputs(artefact, options.inputs);
  if (!values)
    return values.takeError();
  if (llvm::Error error = firstRun(artefact, options.inputs, *values))
    return std::move(error);
  Report report;
  if (llvm::Error error = measure(artefact, options.warmUp, options.duration * 1e3, report))
    return std::move(error);
  report.schedules = artefact.schedules();
  for (auto [port, value] : llvm::zip(artefact.inputs(), *values))
    report.inputs.emplace_back(port.name, value.type());
  report.random = randomInputs(artefact, options.inputs, *values);
  report.modelBytes = modelBytes(artefact, *values);
  return report;
}

// Whether a profile cannot be at `path`: an ExitCode after a message, before anything is compiled or timed.
static std::optional<int> checkProfile(llvm::StringRef path) {
  if (path.empty())
    return std::nullopt;
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (!folder.empty() && !llvm::sys::fs::is_directory(folder))
    return fail(ExitBadModel, "there is no folder '" + folder + "' for --profile");
  if (llvm::sys::fs::is_directory(path))
    return fail(ExitBadModel, "--profile '" + path + "' is a folder");
  llvm::sys::fs::file_status status;
  bool isNew = llvm::sys::fs::status(path, status, /*follow=*/false) == std::errc::no_such_file_or_directory;
  std::error_code error;
  if (isNew || llvm::sys::fs::is_regular_file(status))  // others notice: pipes end, links get a target
    llvm::raw_fd_ostream probe(path, error, llvm::sys::fs::OF_Append);
  if (error)
    return fail(ExitBadModel, "--profile '" + path + "': " + error.message());
  if (isNew)
    (void)llvm::sys::fs::remove(path);
  return std::nullopt;
}

int benchMain(int argc, const char *const *argv) {
  CLI::App app("Times a model, or a library made by onnxc: percentiles over whole runs, then each kernel against the "
               "machine's roof.",
               "onnxc bench");
  BenchOptions options;
  bindBenchOptions(app, options);
  if (auto exit = parseCommandLine(app, argc, argv))
    return *exit;
  if (auto exit = checkProfile(options.profile))
    return *exit;
  int processors = std::max(1u, std::thread::hardware_concurrency());
  if (options.load.threads == 0)
    options.load.threads = processors;
  auto artefact = Artefact::open(options.path, options.code, options.load);
  if (!artefact)
    return onnxc::report(artefact.takeError());
  Roof roof;
  int threads = std::min(options.load.threads, processors);
  measureUnits(roof, threads, (*artefact)->vectorBits());
  llvm::Expected<Report> report = timed(**artefact, options);
  if (!report)
    return onnxc::report(report.takeError());
  measureUnits(roof, threads, (*artefact)->vectorBits());
  measureMemory(roof, threads);
  report->roof = roof;
  options.code.json ? printJson(*report, options.load.threads) : printTable(*report, options.rows);
  if (!options.profile.empty())
    if (llvm::Error error = writeProfile(options.profile, *report))
      return onnxc::report(std::move(error));
  return ExitOk;
}

}  // namespace onnxc
