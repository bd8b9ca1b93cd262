// LibraryParts.cpp: what of the library becomes modules of its own, and how they are named; Compile.cpp calls it.
#include "codegen/cpu/LibraryParts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;
namespace onnxc {

// Shorter functions are copied to their callers' parts: an object of their own costs more than compiling them.
static constexpr unsigned kLongFunction = 100;
static constexpr uint64_t kLongTable = 512;

namespace {
class Splitter {
public:
  Splitter(Module &m, const SmallPtrSetImpl<GlobalObject *> &own, StringRef level) : m(m), own(own), level(level) {}
  std::vector<LibraryPart> run();

private:
  // What a part consists of beside its root, and the other roots that it refers to.
  struct Reach {
    SmallSetVector<GlobalObject *, 8> content, roots;
    bool isWhole = true;  // has no part in what only the module may have: its kernels, variables
  };

  bool mayBeRoot(GlobalObject &g) const;
  Reach reach(ArrayRef<GlobalObject *> from) const;
  bool order(GlobalObject *root);
  void orderAll();
  void joinOnlyUsers();
  LibraryPart part(GlobalObject &root) const;

  Module &m;
  const SmallPtrSetImpl<GlobalObject *> &own;
  StringRef level;
  SetVector<GlobalObject *> roots, ordered;
  SmallPtrSet<GlobalObject *, 8> open;
};
}  // namespace

bool Splitter::mayBeRoot(GlobalObject &g) const {
  if (g.isDeclaration() || !g.hasLocalLinkage() || own.contains(&g))
    return false;
  if (auto *table = dyn_cast<GlobalVariable>(&g))
    return table->isConstant() && m.getDataLayout().getTypeAllocSize(table->getValueType()) >= kLongTable;
  auto *f = dyn_cast<Function>(&g);
  if (!f || f->hasFnAttribute(Attribute::AlwaysInline) || f->getInstructionCount() < kLongFunction)
    return false;
  return f->hasFnAttribute(Attribute::NoInline) || f->hasAddressTaken() || f->hasNUsesOrMore(2);
}

static void collectGlobals(const Value *v, SmallPtrSetImpl<const Constant *> &seen, SmallVectorImpl<GlobalObject *> &found) {
  auto *c = dyn_cast<Constant>(v);
  if (!c || !seen.insert(c).second)
    return;
  if (auto *g = dyn_cast<GlobalObject>(c))
    return found.push_back(const_cast<GlobalObject *>(g));
  for (const Use &operand : c->operands())
    collectGlobals(operand, seen, found);
}

static SmallVector<GlobalObject *> referred(const GlobalObject &g) {
  SmallPtrSet<const Constant *, 16> seen;
  SmallVector<GlobalObject *> found;
  if (auto *table = dyn_cast<GlobalVariable>(&g))
    collectGlobals(table->getInitializer(), seen, found);
  else
    for (const Instruction &i : instructions(cast<Function>(g)))
      for (const Use &operand : i.operands())
        collectGlobals(operand, seen, found);
  return found;
}

Splitter::Reach Splitter::reach(ArrayRef<GlobalObject *> from) const {
  Reach result;
  SmallVector<GlobalObject *> waiting(from);
  while (!waiting.empty())
    for (GlobalObject *g : referred(*waiting.pop_back_val())) {
      if (g->isDeclaration() || g == from.front())
        continue;
      if (roots.contains(g)) {
        result.roots.insert(g);
        continue;
      }
      auto *table = dyn_cast<GlobalVariable>(g);
      if (!g->hasLocalLinkage() || (table && !table->isConstant()) || own.contains(g))
        result.isWhole = false;
      else if (result.content.insert(g))
        waiting.push_back(g);
    }
  return result;
}

// Orders a root behind those that it refers to; false where that leads back to one, which is none from now on.
bool Splitter::order(GlobalObject *root) {
  if (ordered.contains(root))
    return true;
  Reach found = reach(root);
  if (!found.isWhole || !open.insert(root).second) {
    roots.remove(root);
    return false;
  }
  for (GlobalObject *next : found.roots)
    if (!order(next))
      return false;
  open.erase(root);
  ordered.insert(root);
  return true;
}

// Without the number that the linker of modules adds where a name is taken: it differs from model to model.
static StringRef plainName(StringRef name) {
  StringRef plain = name.rtrim("0123456789");
  return plain.size() < name.size() && plain.consume_back(".") ? plain : name;
}

static void normalise(Module &part) {
  for (GlobalObject &g : part.global_objects()) {
    std::string plain = plainName(g.getName()).str();
    if (g.hasLocalLinkage() && !part.getNamedValue(plain))
      g.setName(plain);
  }
  SmallVector<Function *> functions(llvm::make_pointer_range(part));
  llvm::sort(functions, [](const Function *a, const Function *b) { return a->getName() < b->getName(); });
  for (Function *f : functions)
    part.getFunctionList().splice(part.end(), part.getFunctionList(), f->getIterator());
}

LibraryPart Splitter::part(GlobalObject &root) const {
  Reach found = reach(&root);
  ValueToValueMapTy copies;
  std::unique_ptr<Module> part = CloneModule(m, copies, [&](const GlobalValue *g) {
    auto *object = dyn_cast<GlobalObject>(g);
    return object && (object == &root || found.content.contains(const_cast<GlobalObject *>(object)));
  });
  for (GlobalObject &g : llvm::make_early_inc_range(part->global_objects()))
    if (g.isDeclaration() && g.use_empty())
      g.eraseFromParent();
  part->setModuleIdentifier("part");
  part->setSourceFileName("part");
  auto &copy = cast<GlobalObject>(*copies[&root]);
  copy.setLinkage(GlobalValue::ExternalLinkage);
  copy.setVisibility(GlobalValue::HiddenVisibility);
  copy.setName("part");
  normalise(*part);
  LibraryPart result;
  raw_string_ostream os(result.bitcode);
  WriteBitcodeToFile(*part, os);
  std::string hash = toHex(SHA256::hash(arrayRefFromStringRef(result.bitcode)), /*LowerCase=*/true).substr(0, 32);
  result.name = formatv("{0}.{1}.{2}", plainName(root.getName()), hash, level);
  return result;
}

void Splitter::orderAll() {
  do {
    ordered.clear();
    open.clear();
  } while (!llvm::all_of(llvm::to_vector(roots), [&](GlobalObject *root) { return order(root); }));
}

// What one part alone calls belongs to it: a part of its own would only take longer.
void Splitter::joinOnlyUsers() {
  SmallVector<GlobalObject *> kernels;
  for (GlobalObject &g : m.global_objects())
    if (own.contains(&g) && !g.isDeclaration())
      kernels.push_back(&g);
  Reach called = reach(kernels);
  DenseMap<GlobalObject *, unsigned> users;
  for (GlobalObject *root : ordered)
    for (GlobalObject *next : reach(root).roots)
      ++users[next];
  roots.remove_if([&](GlobalObject *root) { return users.lookup(root) == 1 && !called.roots.contains(root); });
}

std::vector<LibraryPart> Splitter::run() {
  for (GlobalObject &g : m.global_objects())
    if (mayBeRoot(g))
      roots.insert(&g);
  orderAll();
  joinOnlyUsers();
  orderAll();
  std::vector<LibraryPart> parts;
  SmallVector<GlobalObject *> taken;
  for (GlobalObject *root : ordered) {
    LibraryPart part = this->part(*root);
    if (GlobalValue *same = m.getNamedValue(part.name)) {  // two files of the library have it from one header
      root->replaceAllUsesWith(same);
      root->eraseFromParent();
      continue;
    }
    root->setLinkage(GlobalValue::ExternalLinkage);
    root->setVisibility(GlobalValue::HiddenVisibility);
    root->setName(part.name);
    taken.push_back(root);
    parts.push_back(std::move(part));
  }
  for (GlobalObject *root : taken)
    if (auto *f = dyn_cast<Function>(root))
      f->deleteBody();
    else
      cast<GlobalVariable>(root)->setInitializer(nullptr);
  return parts;
}

std::vector<LibraryPart> takeLibraryParts(Module &m, const SmallPtrSetImpl<GlobalObject *> &own, StringRef level) {
  return Splitter(m, own, level).run();
}

}  // namespace onnxc
