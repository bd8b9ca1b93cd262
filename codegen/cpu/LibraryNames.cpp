// LibraryNames.cpp: the names in the symbol table of the library's bitcode.
#include "codegen/cpu/LibraryNames.h"
#include "runtime_stub/Bitcode.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Object/IRObjectFile.h"
#include <map>
#include <set>

namespace onnxc {

using Names = std::set<std::string, std::less<>>;

static Names readNames(Arch arch) {
  constexpr llvm::StringLiteral prefix = "onnxc_k_";
  Names names;
  llvm::object::IRSymtabFile file = llvm::cantFail(llvm::object::readIRSymtab(llvm::MemoryBufferRef(libraryBitcode(arch), "library")));
  for (const auto &symbol : file.TheReader.symbols())
    if (llvm::StringRef name = symbol.getIRName(); name.consume_front(prefix))
      names.insert(name.str());
  return names;
}

static const Names &namesFor(Arch arch) {
  static std::map<Arch, Names> known;
  auto [it, isNew] = known.try_emplace(arch);
  if (isNew)
    it->second = readNames(arch);
  return it->second;
}

bool hasLibraryKernel(Arch arch, llvm::StringRef symbol) { return namesFor(arch).count(symbol) != 0; }

std::vector<std::string> typesOfKernel(Arch arch, llvm::StringRef name) {
  std::vector<std::string> types;
  const Names &names = namesFor(arch);
  std::string start = name.str() + "_";
  for (auto it = names.lower_bound(start); it != names.end() && llvm::StringRef(*it).starts_with(start); ++it)
    if (llvm::StringRef type = llvm::StringRef(*it).drop_front(start.size()); !type.contains('_'))
      types.push_back(type.str());
  return types;
}

}  // namespace onnxc
