// Parse.cpp: reads a command line by the options of its command, and says what does not fit them; see CommandLine.h.
#include "compiler/CommandLine.h"
#include "compiler/Suggest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace onnxc {

namespace {
// An option whose value is optional is shown as it is written: --tune[=SECONDS]; one that is repeated, with its one value.
struct HelpText : CLI::Formatter {
  std::string make_option_opts(const CLI::Option *option) const override {
    if (isOptional(*option))
      return option->get_option_text();
    std::string text = CLI::Formatter::make_option_opts(option);
    size_t more = option->get_allow_extra_args() ? std::string::npos : text.find(" ...");
    return more == std::string::npos ? text : text.erase(more, 4);
  }
  static bool isOptional(const CLI::Option &option) { return llvm::StringRef(option.get_option_text()).starts_with("[="); }
};
}  // namespace

// " (did you mean --weights embedded|external?)" for a flag that is almost one of the command's, else nothing.
static std::string suggestion(const CLI::App &app, llvm::StringRef flag) {
  llvm::StringRef word = flag.split('=').first;
  if (!word.consume_front("--"))
    return "";
  std::vector<std::string> names;
  for (const CLI::Option *option : app.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  std::string best = nearest(word, names);
  if (best.empty())
    return "";
  std::string type = app.get_option("--" + best)->get_type_name();
  return " (did you mean --" + best + (llvm::StringRef(type).contains('|') ? " " + type : "") + "?)";
}

// " (write --max-shapes x2=8x3)" where the first word that belongs to no option is a value NAME=… and the only flags given that take such
// are of one name, else nothing.
static std::string repeated(const CLI::App &app) {
  std::string word = app.remaining().front(), flag;
  for (const CLI::Option *option : app.get_options())
    if (option->count() && llvm::StringRef(option->get_type_name()).contains('=')) {
      if (!flag.empty() || option->get_multi_option_policy() != CLI::MultiOptionPolicy::TakeAll)
        return "";
      flag = option->get_name();
    }
  return flag.empty() || llvm::StringRef(word).starts_with("-") || !llvm::StringRef(word).contains('=')
             ? ""
             : " (write " + flag + " " + word + ")";
}

// Of the words that belong to no option.
static std::string unexpected(const CLI::App &app) {
  std::vector<std::string> words = app.remaining();
  std::string text = "not expected: " + llvm::join(words, " ");
  for (const std::string &word : words)
    if (std::string likely = suggestion(app, word); !likely.empty())
      return text + likely;
  if (std::string again = repeated(app); !again.empty())
    return text + again;
  for (const CLI::Option *option : app.get_options())
    if (option->get_positional() && option->count())
      words.push_back(option->results().front());
  auto number = llvm::find_if(words, [](llvm::StringRef word) { return !word.empty() && llvm::all_of(word, llvm::isDigit); });
  for (const CLI::Option *option : app.get_options())
    if (number != words.end() && option->count() && HelpText::isOptional(*option))
      return text + " (write " + option->get_name() + "=" + *number + ")";
  return text;
}

// What CLI11 does not find wrong, or says in words of its own: a value that is empty, a flag that is given twice. "" when nothing is.
static std::string misused(const CLI::App &app) {
  for (const CLI::Option *option : app.get_options()) {
    bool takesOne = option->get_items_expected_min() == 1 && option->get_items_expected_max() == 1;
    if (takesOne && option->count() > 1)
      return option->get_name() + " is given " + (option->count() == 2 ? "twice" : std::to_string(option->count()) + " times");
    if (option->get_items_expected_min() > 0 && llvm::is_contained(option->results(), ""))
      return option->get_name() + ": expected " + option->get_type_name() + ", got ''";
  }
  return "";
}

// CLI11 takes --tune= for --tune.
static std::string emptied(const CLI::App &app, llvm::ArrayRef<std::string> words) {
  for (const CLI::Option *option : app.get_options())
    if (HelpText::isOptional(*option) && llvm::is_contained(words, option->get_name() + "="))
      return option->get_name() + ": expected a value, got ''";
  return "";
}

std::optional<int> parseCommandLine(CLI::App &app, int argc, const char *const *argv) {
  // GCC's spelling -MD would read as the flags -M and -D.
  std::vector<std::string> args;
  for (int i = argc - 1; i > 0; --i)
    args.push_back(llvm::StringRef(argv[i]) == "-MD" ? "--MD" : argv[i]);
  std::string wrong = emptied(app, args);
  if (!wrong.empty())
    return fail(ExitUsage, wrong + "; see '" + app.get_name() + " --help'");
  app.formatter(std::make_shared<HelpText>());
  app.allow_extras();
  try {
    app.parse(args);
    wrong = app.remaining().empty() ? misused(app) : unexpected(app);
    if (wrong.empty())
      return std::nullopt;
  } catch (const CLI::CallForHelp &) {
    llvm::outs() << app.help();
    return ExitOk;
  } catch (const CLI::CallForVersion &e) {
    llvm::outs() << e.what() << "\n";
    return ExitOk;
  } catch (const CLI::ArgumentMismatch &e) {
    wrong = misused(app);
    wrong = wrong.empty() ? e.what() : wrong;
  } catch (const CLI::ParseError &e) {
    wrong = (app.remaining().empty() ? "" : unexpected(app) + "; ") + e.what();
  }
  return fail(ExitUsage, wrong + "; see '" + app.get_name() + " --help'");
}

}  // namespace onnxc
