// main.cpp: the onnxc program. Compiling is the default; a first argument that names a subcommand goes to compiler/commands/.
#include "compiler/CommandLine.h"
#include "compiler/Pipeline.h"
#include "compiler/Progress.h"
#include "compiler/Suggest.h"
#include "compiler/commands/Commands.h"
#include "compiler/commands/Tune.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/PrettyStackTrace.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <csignal>
#include <exception>
#include <new>
#include <system_error>
#include <unistd.h>

using namespace onnxc;

namespace {

struct Command {
  const char *name, *summary;
  int (*main)(int argc, const char *const *argv);
};

constexpr Command commands[] = {
    {"run", "run a model or an artefact on .npy files", runMain},
    {"verify", "compare a model's results with reference data", verifyMain},
    {"bench", "time a model or an artefact, kernel by kernel", benchMain},
    {"check", "list every node that onnxc cannot compile", checkMain},
    {"inspect", "print inputs, outputs and facts of a model or an artefact", inspectMain},
    {"ops", "list the supported operators", opsMain},
    {"targets", "list targets and CPU levels", targetsMain},
};

}  // namespace

static std::string footer() {
  std::string text = "Commands (each has --help):\n";
  for (const Command &c : commands)
    text += "  onnxc " + std::string(c.name) + std::string(24 - std::string(c.name).size(), ' ') + c.summary + "\n";
  return text +
         "\nExamples:\n"
         "  onnxc resnet50.onnx -o resnet50.so           a library; use it through onnxc.h, onnxc.hpp or Python's onnxc\n"
         "  onnxc resnet50.onnx -o resnet50              a program; ./resnet50 --input data=image.npy\n"
         "  onnxc bert.onnx -o bert.so --define-dim batch=1\n"
         "\nExit codes: 0 done, 1 a model or another file is bad, missing or cannot be written, 2 usage (also a name or a size that the "
         "model does not have), 3 out of scope for the target, 4 a bug in onnxc.";
}

static int compileMain(int argc, const char *const *argv) {
  CLI::App app("onnxc compiles an ONNX model ahead of time into a native library, archive, object or program that needs nothing but libc.",
               "onnxc");
  app.set_version_flag("--version", "onnxc " ONNXC_VERSION);
  app.footer(footer());
  Options options;
  bindCompileOptions(app, options);
  InputOptions tuned;
  bindInputOptions(app, tuned, "With --tune");
  if (argc == 1) {
    llvm::errs() << app.help();
    return ExitUsage;
  }
  for (const char *flag : {"--input", "--symbol-size"})
    app.get_option(flag)->needs("--tune");
  if (auto code = parseCommandLine(app, argc, argv))
    return *code;
  if (auto code = checkOptions(options))
    return *code;
  options.progress = !options.json && llvm::sys::Process::StandardErrIsDisplayed();
  return options.tuneSeconds > 0 ? tuneAndCompile(options, tuned) : compile(options);
}

// Neither a flag nor a path: perhaps a command that does not exist.
static bool isWord(llvm::StringRef text) {
  return !text.empty() && text[0] != '-' && llvm::all_of(text, [](char c) { return llvm::isAlpha(c) || c == '-'; });
}

#if !ONNXC_SANITIZED
// A crash is our bug, whatever the model: say so, with the exit code users' scripts look for. LLVM has removed temporary files by now.
static void reportBug(void *) {
  constexpr llvm::StringLiteral text = "onnxc: internal error: this is a bug in onnxc, please report it with the model\n";
  eraseProgress();
  (void)!write(2, text.data(), text.size());
  _exit(ExitBug);
}
#else
// No exit code of ours: what a sanitiser finds, a leak too, fails any test. A short quarantine: a long one is half of the run time.
// A thread that writes the first temporary file of a run gets a signal stack from LLVM, which the sanitiser would unmap as its own.
extern "C" const char *__asan_default_options() {
  return "exitcode=86:quarantine_size_mb=16:allocator_may_return_null=1:use_sigaltstack=0";
}
extern "C" const char *__ubsan_default_options() { return "halt_on_error=1:print_stacktrace=1:exitcode=86"; }
#endif

// Several threads may come here; the first says so and ends them all.
static void outOfMemory() {
  static std::atomic_flag said;
  static thread_local bool here;  // again, for want of memory to end with
  if (said.test_and_set()) {
    while (!here)
      pause();
    _exit(ExitBadModel);
  }
  here = true;
  constexpr llvm::StringLiteral plain = "onnxc: error: out of memory\n";
  constexpr llvm::StringLiteral json = "{\"message\":\"out of memory\",\"severity\":\"error\",\"where\":\"\"}\n";
  llvm::StringRef text = messagesAreJson() ? json : plain;
  eraseProgress();
  (void)!write(2, text.data(), text.size());
  llvm::sys::RunInterruptHandlers();
  _exit(ExitBadModel);
}

// LLVM makes its threads without a word for the case that there are no more, be it for want of memory: those of its pools end in a fatal
// error of this text, std::thread ends in an exception that nobody catches.
static void fatalError(void *, const char *reason, bool) {
  if (llvm::StringRef(reason).starts_with("pthread_create failed"))
    outOfMemory();
  llvm::errs() << "LLVM ERROR: " << reason << '\n';
}

[[noreturn]] static void outOfThreads() {
  if (std::exception_ptr thrown = std::current_exception())
    try {
      std::rethrow_exception(thrown);
    } catch (const std::system_error &) {
      outOfMemory();
    } catch (...) {
    }
  std::abort();
}

int main(int argc, char **argv) {
#if !ONNXC_SANITIZED
  llvm::sys::AddSignalHandler(reportBug, nullptr);
#endif
  std::set_new_handler(outOfMemory);
  std::set_terminate(outOfThreads);
  llvm::install_fatal_error_handler(fatalError);
  llvm::install_bad_alloc_error_handler([](void *, const char *, bool) { outOfMemory(); });
  signal(SIGXFSZ, SIG_IGN);  // a file over the user's limit is an error of the write
  if (llvm::is_contained(llvm::ArrayRef(argv, argc), llvm::StringRef("--json")))
    messagesAsJson();  // also what is wrong with the other words
  llvm::StringRef first = argc > 1 ? argv[1] : "";
  for (const Command &c : commands)
    if (first == c.name)
      return c.main(argc - 1, argv + 1);
  if (isWord(first) && !llvm::sys::fs::exists(first)) {
    std::vector<std::string> names;
    for (const Command &c : commands)
      names.push_back(c.name);
    return fail(ExitUsage, "no command and no file '" + first + "'" +
                               (first == "help" ? " (did you mean --help?)" : didYouMean(first, names)) + "; see 'onnxc --help'");
  }
  return compileMain(argc, argv);
}
