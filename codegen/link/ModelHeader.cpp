// ModelHeader.cpp: see ModelHeader.h.
#include "codegen/link/ModelHeader.h"
#include "codegen/TemporaryFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <array>

using namespace llvm;

namespace onnxc {

// The C++ type of an element; half and the small types are their bits.
static const char *cppType(int dtype) {
  static const char *const types[] = {nullptr,
                                      "float",
                                      "uint8_t",
                                      "int8_t",
                                      "uint16_t",
                                      "int16_t",
                                      "int32_t",
                                      "int64_t",
                                      "onnxc_string_view",
                                      "bool",
                                      "uint16_t",
                                      "double",
                                      "uint32_t",
                                      "uint64_t",
                                      "std::complex<float>",
                                      "std::complex<double>",
                                      "uint16_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "int8_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "uint8_t",
                                      "int8_t",
                                      "uint8_t",
                                      "uint8_t"};
  return dtype > 0 && dtype < int(std::size(types)) ? types[dtype] : nullptr;
}

// Whether a C++ header cannot use the name for its own: keywords and alternative tokens of C and C++ (and of GNU's), macros that systems
// and the standard headers define, and what the generated code itself names.
static bool isTaken(StringRef name) {
  static const StringSet<> taken = [] {
    const char text[] =
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const "
        "consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else "
        "enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr "
        "operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static "
        "static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename typeof union unsigned "
        "using virtual void volatile wchar_t while xor xor_eq "
        "_Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local "
        "BUFSIZ EOF INFINITY NAN NDEBUG NULL errno i386 linux stderr stdin stdout unix "
        "Inputs Outputs given onnxc onnxc_string_view std int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t";
    SmallVector<StringRef> words;
    StringRef(text).split(words, ' ');
    StringSet<> set;
    set.insert(words.begin(), words.end());
    return set;
  }();
  return taken.contains(name);
}

// Distinct C++ identifiers for the names of `ports`.
static std::vector<std::string> identifiers(const std::vector<ModelPort> &ports) {
  std::vector<std::string> names;
  StringSet<> used;
  for (const ModelPort &port : ports) {
    std::string name;
    for (char c : port.name)
      name += isAlnum(c) ? c : '_';
    if (name.empty() || isDigit(name[0]))
      name = "v" + name;
    while (isTaken(name) || !used.insert(name).second)
      name += '_';
    names.push_back(name);
  }
  return names;
}

// A name inside a comment of one line.
static std::string spoken(StringRef text) {
  std::string out;
  for (char c : text)
    out += isPrint(c) && c != '*' && c != '\\' ? c : '?';
  return out;
}

std::string modelHeaderC(const ModelInterface &model) {
  std::string text, upper = StringRef(model.name).upper();
  raw_string_ostream os(text);
  os << "/* " << model.name << ".h: a model compiled by onnxc; see onnxc/onnxc.h. */\n#ifndef ONNXC_MODEL_" << upper
     << "_H\n#define ONNXC_MODEL_" << upper
     << "_H\n#include <onnxc/onnxc.h>\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\nconst onnxc_api *onnxc_get_api_" << model.name
     << "(uint32_t abi_version); /* NULL: not this version */\n\nenum {\n";
  auto list = [&](const char *word, const std::vector<ModelPort> &ports) {
    std::vector<std::string> names = identifiers(ports);
    for (size_t i = 0; i < ports.size(); ++i)
      os << "  " << upper << "_" << word << "_" << names[i] << " = " << i << ", /* " << spoken(ports[i].name) << ": "
         << spoken(ports[i].shape) << " */\n";
  };
  list("INPUT", model.inputs);
  list("OUTPUT", model.outputs);
  os << "  " << upper << "_NUM_INPUTS = " << model.inputs.size() << ",\n  " << upper << "_NUM_OUTPUTS = " << model.outputs.size()
     << "\n};\n\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

// The typed call, where every value is a tensor.
static void typedRun(raw_ostream &os, const ModelInterface &model) {
  std::vector<std::string> in = identifiers(model.inputs), out = identifiers(model.outputs);
  auto fields = [&](const char *name, const std::vector<ModelPort> &ports, const std::vector<std::string> &names) {
    os << "  struct " << name << " {\n";
    for (size_t i = 0; i < ports.size(); ++i)
      os << "    onnxc::View<const " << cppType(ports[i].dtype) << "> " << names[i] << ";  // " << spoken(ports[i].shape) << "\n";
    os << "  };\n";
  };
  fields("Inputs", model.inputs, in);
  fields("Outputs", model.outputs, out);
  os << "  using onnxc::Session::run;\n  // The results live until the session's next run.\n  Outputs run(const Inputs &given) {\n";
  for (size_t i = 0; i < in.size(); ++i)
    os << "    set(" << i << ", " << model.inputs[i].dtype << ", given." << in[i] << ".data, given." << in[i] << ".shape);\n";
  if (in.empty())
    os << "    (void)given;\n";
  os << "    onnxc::Session::run();\n    return {";
  for (size_t i = 0; i < out.size(); ++i)
    os << (i ? ",\n            " : "") << "outputAt<" << cppType(model.outputs[i].dtype) << ">(" << i << ", " << model.outputs[i].dtype
       << ")";
  os << "};\n  }\n";
}

std::string modelHeaderCpp(const ModelInterface &model) {
  std::string text, upper = StringRef(model.name).upper(), space = "onnxc_models::" + model.name + (isTaken(model.name) ? "_" : "");
  raw_string_ostream os(text);
  os << "// " << model.name << ".hpp: a model compiled by onnxc; see onnxc/onnxc.hpp.\n#ifndef ONNXC_MODEL_" << upper
     << "_HPP\n#define ONNXC_MODEL_" << upper << "_HPP\n#include \"" << model.name << ".h\"\n#include <onnxc/onnxc.hpp>\n\nnamespace "
     << space
     << " {\n\nclass Session : public onnxc::Session {\npublic:\n  explicit Session(const onnxc::Options &options = onnxc::Options())\n    "
        "  : "
        "onnxc::Session(onnxc_get_api_"
     << model.name << "(ONNXC_ABI_VERSION), options) {}\n  Session clone() const { return Session(onnxc::Session::clone()); }\n";
  auto typed = [](const ModelPort &p) { return p.tensor && cppType(p.dtype); };
  if (all_of(model.inputs, typed) && all_of(model.outputs, typed))
    typedRun(os, model);
  os << "\nprivate:\n  explicit Session(onnxc::Session &&base) : onnxc::Session(std::move(base)) {}\n};\n\n}  // namespace " << space
     << "\n#endif\n";
  return text;
}

Error writeModelHeaders(const ModelInterface &model, StringRef folder) {
  if (std::error_code code = sys::fs::create_directories(folder, true, sys::fs::all_all))
    return createStringError(code, "'" + folder + "': " + code.message());
  const std::array<std::pair<std::string, std::string>, 2> headers = {
      {{model.name + ".h", modelHeaderC(model)}, {model.name + ".hpp", modelHeaderCpp(model)}}};
  std::array<TemporaryFile, 2> files;
  std::array<SmallString<128>, 2> paths = {folder, folder};
  std::error_code code;
  size_t failed = 0;
  for (size_t i = 0; i < files.size() && !code; failed = i++) {
    sys::path::append(paths[i], headers[i].first);
    code = files[i].createBeside(paths[i], [&](raw_ostream &os) { os << headers[i].second; });
  }
  for (size_t i = 0; i < files.size() && !code; failed = i++)
    code = files[i].keepAs(paths[i], /*executable=*/false);
  return code ? createStringError(code, "'" + paths[failed] + "': " + code.message()) : Error::success();
}

}  // namespace onnxc
