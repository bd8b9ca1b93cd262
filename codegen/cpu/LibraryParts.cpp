// LibraryParts.cpp: what of the library becomes modules of its own, and how they are named; Compile.cpp calls it.
#include "codegen/cpu/LibraryParts.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
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
  Splitter(Module &m, const SmallPtrSetImpl<Function *> &own) : m(m), own(own) {}
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
  LibraryPart take(GlobalObject &root);

  Module &m;
  const SmallPtrSetImpl<Function *> &own;
  SetVector<GlobalObject *> roots, ordered;
  SmallPtrSet<GlobalObject *, 8> open;
};
}  // namespace

bool Splitter::mayBeRoot(GlobalObject &g) const {
  if (g.isDeclaration() || !g.hasLocalLinkage())
    return false;
  if (auto *table = dyn_cast<GlobalVariable>(&g))
    return table->isConstant() && m.getDataLayout().getTypeAllocSize(table->getValueType()) >= kLongTable;
  auto *f = dyn_cast<Function>(&g);
  if (!f || own.contains(f) || f->hasFnAttribute(Attribute::AlwaysInline) || f->getInstructionCount() < kLongFunction)
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
      if (llvm::is_contained(from, g) || g->isDeclaration())
        continue;
      if (roots.contains(g)) {
        result.roots.insert(g);
        continue;
      }
      auto *table = dyn_cast<GlobalVariable>(g);
      auto *f = dyn_cast<Function>(g);
      if (!g->hasLocalLinkage() || (table && !table->isConstant()) || (f && own.contains(f)))
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

// Names that the linker of modules made its own differ from model to model.
static void normalise(Module &part) {
  for (GlobalObject &g : part.global_objects()) {
    StringRef name = g.getName();
    StringRef plain = name.substr(0, name.rtrim("0123456789").size());
    if (g.hasLocalLinkage() && plain.size() < name.size() && plain.consume_back(".") && !part.getNamedValue(plain))
      g.setName(plain.str());
  }
  SmallVector<Function *> functions(llvm::make_pointer_range(part));
  llvm::sort(functions, [](const Function *a, const Function *b) { return a->getName() < b->getName(); });
  for (Function *f : functions)
    part.getFunctionList().splice(part.end(), part.getFunctionList(), f->getIterator());
}

LibraryPart Splitter::take(GlobalObject &root) {
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
  result.name = "onnxc_part_" + toHex(SHA256::hash(arrayRefFromStringRef(result.bitcode)), /*LowerCase=*/true).substr(0, 32);
  root.setLinkage(GlobalValue::ExternalLinkage);
  root.setVisibility(GlobalValue::HiddenVisibility);
  root.setName(result.name);
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
  SmallVector<GlobalObject *> kernels(llvm::make_filter_range(llvm::make_pointer_range(m), [&](Function *f) { return own.contains(f); }));
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
  for (GlobalObject *root : ordered)
    parts.push_back(take(*root));
  for (GlobalObject *root : ordered)
    if (auto *f = dyn_cast<Function>(root))
      f->deleteBody();
    else
      cast<GlobalVariable>(root)->setInitializer(nullptr);
  return parts;
}

std::vector<LibraryPart> takeLibraryParts(Module &m, const SmallPtrSetImpl<Function *> &own) { return Splitter(m, own).run(); }

}  // namespace onnxc
