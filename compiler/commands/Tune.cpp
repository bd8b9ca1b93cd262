// Tune.cpp: see Tune.h. A trial is the whole model compiled with another number for many kernels at once, so that each kernel is timed
// among its neighbours, with the caches as they leave them. It takes turns with the base: what the file of schedules says already, the
// cost model's numbers for the other kernels.
#include "compiler/commands/Tune.h"
#include "codegen/TemporaryFile.h"
#include "codegen/cpu/Isa.h"
#include "codegen/cpu/Schedule.h"
#include "compiler/Files.h"
#include "compiler/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

namespace onnxc {
namespace {

using Kernels = std::map<std::string, Schedule>;

constexpr double kGain = 1.03;     // a schedule must be faster than the base's by this factor, in two measurements
constexpr double kNoticed = 2000;  // nanoseconds of a run below which a kernel's time is the clock's
constexpr int kRounds = 4;
constexpr int kChecks = 3;  // of what was faster, all at once

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A compiled model and the fastest times seen: of a run, and of each kernel's launches in a run.
struct Trial {
  std::unique_ptr<Artefact> artefact;
  double run = INFINITY;
  std::map<std::string, double> kernels;

  llvm::Error measure(double duration) {
    double end = seconds() + duration;
    do {
      double before = seconds();
      if (llvm::Error error = artefact->runOnce())
        return error;
      run = std::min(run, seconds() - before);
      std::vector<KernelTime> times;
      if (llvm::Error error = artefact->profile(times))
        return error;
      std::map<std::string, double> sums;
      for (const KernelTime &t : times)
        sums[t.kernel] += double(t.nanoseconds);
      for (const auto &[kernel, time] : sums) {
        double &best = kernels.try_emplace(kernel, INFINITY).first->second;
        best = std::min(best, time);
      }
    } while (seconds() < end);
    return llvm::Error::success();
  }
};

// Other numbers for a kernel than those it was `cut` by, over what is `said` of it: register tiles that fill the level's registers, units
// and blocks of half and twice the size, all that the cost model chose.
std::vector<Schedule> alternatives(const Schedule &cut, const Schedule &said, const Schedule &chosen, const Isa &isa) {
  std::vector<Schedule> result;
  auto add = [&](const Schedule &changes) {
    bool same = llvm::all_of(changes, [&](const auto &c) { return cut.count(c.first) && cut.at(c.first) == c.second; });
    Schedule whole = changes;
    whole.insert(said.begin(), said.end());
    bool isGood = !llvm::errorToBool(checkSchedules({{isa.name.str(), {{"", whole}}}}));
    if (isGood && !same && !llvm::is_contained(result, whole))
      result.push_back(whole);
  };
  if (!said.empty())
    add(chosen);
  for (const char *name : {"chunk", "group", "depth"})
    if (auto found = cut.find(name); found != cut.end()) {
      add({{name, std::max<int64_t>(1, found->second / 2)}});
      add({{name, found->second * 2}});
    }
  int64_t registers = isa.vectorRegisters, perPanel = std::max<int64_t>(1, 512 / isa.vectorBits);
  for (int64_t panels : {1, 2, 3, 4})
    for (int64_t ahead : {1, 2})
      if (int64_t rows = (registers - 1 - ahead * panels * perPanel) / (panels * perPanel); rows > 0 && cut.count("tile_rows"))
        add({{"tile_rows", rows}, {"tile_panels", panels}});
  return result;
}

class Tuner {
public:
  Tuner(const Options &options, const InputOptions &inputs, const Isa &isa) : inputs(inputs), trialOptions(options), isa(isa) {
    trialOptions.cpus = {isa.name.str()};
    trialOptions.schedules.clear();
    trialOptions.scheduleFile.clear();
    trialOptions.progress = trialOptions.sizeReport = trialOptions.timePhases = trialOptions.dependencies = false;
    trialOptions.emitHeader.clear();
    trialOptions.dumpPhases.clear();
  }
  // Schedules that are faster than those `said`, none where they do not make the whole faster; nothing after a message.
  std::optional<Kernels> tune(const Kernels &said, double budget, int &exit);
  double before = 0, after = 0;  // milliseconds of a run

private:
  std::optional<Trial> compileTrial(const Kernels &kernels, int &exit);
  bool compare(Trial &trial, double duration, int &exit);
  bool sameResults(Trial &trial, int &exit);
  bool tryAll(double budget, Kernels &best, int &exit);
  double gain(Trial &trial, const std::string &kernel);
  bool confirm(Kernels &best, int &exit);

  const InputOptions &inputs;
  Options trialOptions;
  const Isa &isa;
  std::vector<Value> values;
  Trial base;
  Kernels start, chosen;  // what is said of the model's kernels; the cost model's numbers
};

std::optional<Trial> Tuner::compileTrial(const Kernels &kernels, int &exit) {
  Options options = trialOptions;
  options.schedules = {{isa.name.str(), kernels}};
  auto artefact = Artefact::open(options.input, options, LoadOptions());
  if (!artefact) {
    exit = report(artefact.takeError());
    return std::nullopt;
  }
  Trial trial;
  trial.artefact = std::move(*artefact);
  bool isFirst = values.empty();
  if (isFirst) {
    llvm::Expected<std::vector<Value>> made = makeInputs(*trial.artefact, inputs);
    if (!made) {
      exit = report(made.takeError());
      return std::nullopt;
    }
    values = std::move(*made);
  }
  if (llvm::Error error = firstRun(*trial.artefact, inputs, values)) {
    exit = report(std::move(error));
    return std::nullopt;
  }
  if (isFirst)
    noteRandomInputs(*trial.artefact, inputs, values);
  return trial;
}

// `trial` and base in turns.
bool Tuner::compare(Trial &trial, double duration, int &exit) {
  for (int round = 0; round < kRounds; ++round)
    for (Trial *t : {&base, &trial})
      if (llvm::Error error = t->measure(duration / (2 * kRounds))) {
        exit = report(std::move(error));
        return false;
      }
  return true;
}

// No schedule changes a bit; a model that draws random numbers cannot be compared.
bool Tuner::sameResults(Trial &trial, int &exit) {
  std::vector<Value> before = base.artefact->results();
  if (llvm::Error error = base.artefact->runOnce()) {
    exit = report(std::move(error));
    return false;
  }
  if (!(before == base.artefact->results()) || before == trial.artefact->results())
    return true;
  exit = fail(ExitBug, "another schedule gave other results: this is a bug in onnxc, please report it with the model");
  return false;
}

// How many times as fast as in the base a kernel is; 0: too short to tell.
double Tuner::gain(Trial &trial, const std::string &kernel) {
  return base.kernels[kernel] < kNoticed ? 0 : base.kernels[kernel] / trial.kernels[kernel];
}

// `a`, and of `b` what `a` does not have.
static Kernels over(Kernels a, const Kernels &b) {
  a.insert(b.begin(), b.end());
  return a;
}

bool Tuner::tryAll(double budget, Kernels &best, int &exit) {
  double begin = seconds();
  std::map<std::string, std::vector<Schedule>> others;
  std::map<std::string, double> gains;
  size_t trials = 0;
  for (const auto &[kernel, cut] : base.artefact->schedules())
    trials = std::max(trials, (others[kernel] = alternatives(cut, start[kernel], chosen[kernel], isa)).size());
  for (size_t i = 0; i < trials && seconds() - begin < budget; ++i) {
    Kernels tried;
    for (const auto &[kernel, list] : others)
      if (i < list.size())
        tried[kernel] = list[i];
    std::optional<Trial> trial = compileTrial(over(tried, start), exit);
    if (!trial || !sameResults(*trial, exit) || !compare(*trial, std::min(2.0, budget / double(2 * trials)), exit))
      return false;
    for (const auto &[kernel, schedule] : tried)
      if (double faster = gain(*trial, kernel); faster > std::max(kGain, gains[kernel]))
        gains[kernel] = faster, best[kernel] = schedule;
  }
  return true;
}

// Measures anew, all at once, and keeps of `best` what is faster again: the fastest of many trials is in part the luckiest. A run has no
// margin: a kernel that is 3 % faster may be a hundredth of it. But it must not be slower, as where a kernel leaves the caches to the next
// otherwise.
bool Tuner::confirm(Kernels &best, int &exit) {
  for (int i = 0; i < kChecks && !best.empty(); ++i) {
    std::optional<Trial> together = compileTrial(over(best, start), exit);
    base.run = INFINITY;
    base.kernels.clear();
    if (!together || !sameResults(*together, exit) || !compare(*together, 1, exit))
      return false;
    before = 1e3 * base.run, after = 1e3 * together->run;
    size_t count = best.size();
    for (auto it = best.begin(); it != best.end();)
      it = gain(*together, it->first) < kGain ? best.erase(it) : std::next(it);
    if (best.size() == count)
      break;
  }
  if (!best.empty() && after < before)
    return true;
  best.clear();
  before = after = 1e3 * base.run;
  return true;
}

std::optional<Kernels> Tuner::tune(const Kernels &said, double budget, int &exit) {
  std::optional<Trial> first = compileTrial({}, exit);
  if (!first)
    return std::nullopt;
  chosen = first->artefact->schedules();
  for (const auto &[kernel, schedule] : said)
    if (chosen.count(kernel))
      start[kernel] = schedule;
  if (!start.empty() && !(first = compileTrial(start, exit)))
    return std::nullopt;
  base = std::move(*first);
  if (llvm::Error error = base.measure(0)) {
    exit = report(std::move(error));
    return std::nullopt;
  }
  before = after = 1e3 * base.run;
  Kernels best;
  if (!tryAll(budget, best, exit) || !confirm(best, exit))
    return std::nullopt;
  return best;
}

}  // namespace

static void printResult(const Options &options, const Tuner &tuner, const Kernels &faster) {
  if (options.json)
    llvm::outs() << llvm::json::Value(llvm::json::Object{{"tuned_kernels", int64_t(faster.size())},
                                                         {"before_ms", tuner.before},
                                                         {"after_ms", tuner.after},
                                                         {"schedules", options.scheduleFile}})
                 << "\n";
  else if (faster.empty())
    llvm::outs() << "no other schedule is faster\n";
  else
    llvm::outs() << llvm::format("%zu kernel%s with another schedule: %.4f ms instead of %.4f; ", faster.size(),
                                 faster.size() == 1 ? "" : "s", tuner.after, tuner.before)
                 << options.scheduleFile << "\n";
}

// Whether files can be made where they go: said before the search for what they would hold.
static int checkFolders(const Options &options) {
  for (const std::string &path : {options.output, options.scheduleFile}) {
    TemporaryFile probe;
    if (std::error_code code = probe.createBeside(path))
      return fail(ExitBadModel, path + ": " + code.message());
  }
  return ExitOk;
}

int tuneAndCompile(Options options, const InputOptions &inputs) {
  options.scheduleFile = schedulesPath(options);
  const Target *machine = findTarget("");
  std::optional<CpuChoice> host = machine ? chooseCpu("native", *machine) : std::nullopt;
  bool isNamed = !options.cpus.empty();
  if (int status = chooseLevels(options))
    return status;
  if (const Target *target = findTarget(options.target); target != machine)
    return fail(ExitUsage, "--tune times code on this machine, which cannot run that of --target " + options.target);
  if (!host || !llvm::is_contained(options.cpus, host->isa->name.str()))
    return fail(ExitUsage, "--tune times code for this machine, " + (host ? host->isa->name : "an unknown one") + ", but " +
                               (isNamed ? "--cpu asks for " : "without --cpu code is for ") + llvm::join(options.cpus, ",") + " only");
  if (int status = readSchedules(options, /*mayBeNew=*/true))
    return status;
  if (int status = checkFolders(options))
    return status;
  Schedules all = options.schedules;
  int exit = ExitOk;
  Tuner tuner(options, inputs, *host->isa);
  Kernels &kept = all[host->isa->name.str()];
  std::optional<Kernels> faster = tuner.tune(kept, options.tuneSeconds, exit);
  if (!faster)
    return exit;
  kept = over(*faster, kept);
  if (kept.empty())
    all.erase(host->isa->name.str());
  if (int status = writeFile(options.scheduleFile, [&](llvm::raw_ostream &os) { os << llvm::formatv("{0:2}", toJson(all)) << "\n"; }))
    return status;
  printResult(options, tuner, *faster);
  return compile(options);
}

}  // namespace onnxc
