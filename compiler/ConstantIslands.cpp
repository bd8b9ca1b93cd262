// ConstantIslands.cpp: see ConstantIslands.h. The island runs in a child with limited time: whatever it does, the compiler goes on.
//
// member  an op whose operands are constants or results of members
// root    a result of a member that something else reads
#include "compiler/ConstantIslands.h"
#include "codegen/TemporaryFile.h"
#include "dialects/kernel/Families.h"
#include "dialects/kernel/Weights.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/onnx/Quant.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"
#include "runtime_stub/include/onnxc/onnxc.h"
#include "llvm/ADT/ScopeExit.h"
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
namespace onnxc {

namespace {

constexpr int64_t kAlwaysBytes = 4 << 20;  // a root of this size is folded whatever it is made of
constexpr rlim_t kSeconds = 60;            // of the child

struct Island {
  SmallVector<Operation *> members;
  SmallVector<Value> roots;
  DenseMap<Value, int64_t> sources;  // bytes of the constants that a value is made of

  void collect(func::FuncOp graph, int64_t maxBytes);
  bool take(Operation *op, int64_t &left);
  bool isRoot(Value v) const;
  OwningOpRef<ModuleOp> module(MLIRContext *context) const;
};

}  // namespace

// Bytes of a static tensor of plain numbers; 0 for other types.
static int64_t plainBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return 0;
  unsigned bits = tensor.getElementType().getIntOrFloatBitWidth();
  int64_t n = 1;
  for (int64_t d : tensor.getShape())
    if (llvm::MulOverflow(n, d, n))
      return 0;
  return bits == 1 || bits >= 8 ? n * storageBytes(tensor.getElementType()) : 0;
}

// Random numbers are not the same in each run; an op with regions may read anything.
static bool mayFold(Operation *op) {
  StringRef name = onnx::opName(op);
  bool random = name.starts_with("Random") || name == "Multinomial" || name == "Bernoulli" || name == "Dropout";
  return onnx::isOnnx(op) && name != "Constant" && name != "Yield" && name != "custom.Call" && !random && op->getNumRegions() == 0 &&
         (loweringOf(op) != Lowering::Kernel || findLibraryRow(name)) && op->getNumResults() > 0;
}

bool Island::take(Operation *op, int64_t &left) {
  int64_t made = 0, source = 0;
  bool stays = staysQuantised(op);  // and does not grow to four or eight times its bytes
  for (Value v : op->getOperands()) {
    ElementsAttr value = onnx::constantValue(v);
    if (!value && !sources.count(v))
      return false;
    auto dense = dyn_cast_if_present<DenseElementsAttr>(value);
    source += !value ? sources[v] : dense && dense.isSplat() ? storageBytes(value.getElementType()) : weightBytes(value);
  }
  for (Value v : op->getResults()) {
    int64_t bytes = plainBytes(v.getType());
    if (!bytes || (!stays && bytes > left - made))
      return false;
    made += bytes;
  }
  left -= stays ? 0 : made;
  for (Value v : op->getResults())
    sources[v] = isa<onnx::DequantizeLinearOp>(op) ? made : source;
  return true;
}

// Whether a product or a layer reads `v` as its weights, which would be made at every run.
static bool areWeights(Value v) {
  return llvm::any_of(v.getUses(), [](OpOperand &use) {
    StringRef name = onnx::opName(use.getOwner());
    bool isLayer = llvm::is_contained({"Gemm", "Conv", "ConvTranspose", "RNN", "GRU", "LSTM"}, name);
    return name == "MatMul" || (isLayer && use.getOperandNumber() > 0) || (name == "Gather" && use.getOperandNumber() == 0);
  });
}

// A view of a constant costs nothing as it is, and a filled tensor is cheaper made than loaded.
bool Island::isRoot(Value v) const {
  Operation *op = v.getDefiningOp();
  if (staysQuantised(op))
    return false;
  while (loweringOf(op) == Lowering::View)
    op = op->getOperand(0).getDefiningOp();
  if (onnx::constantValue(op->getResult(0)) || onnx::opName(op) == "ConstantOfShape" ||
      (plainBytes(v.getType()) > std::max(kAlwaysBytes, 2 * sources.lookup(v)) && !areWeights(v)))
    return false;
  return llvm::any_of(
      v.getUsers(), [&](Operation *user) { return !user->getNumResults() || !sources.count(user->getResult(0)) || staysQuantised(user); });
}

// Bodies of control flow too: what they read of constants does not change from turn to turn.
void Island::collect(func::FuncOp graph, int64_t maxBytes) {
  SmallVector<Operation *> candidates;
  graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (mayFold(op) && take(op, maxBytes))
      candidates.push_back(op);
  });
  DenseSet<Operation *> needed;
  for (Operation *op : llvm::reverse(candidates)) {
    bool has = false;
    for (Value v : op->getResults())
      if (isRoot(v)) {
        roots.push_back(v);
        has = true;
      }
    if (!has && !needed.count(op))
      continue;
    members.push_back(op);
    for (Value v : op->getOperands())
      needed.insert(v.getDefiningOp());
  }
  std::reverse(members.begin(), members.end());
}

// main() -> roots.
OwningOpRef<ModuleOp> Island::module(MLIRContext *context) const {
  Location loc = UnknownLoc::get(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  SmallVector<Type> types;
  for (Value v : roots)
    types.push_back(v.getType());
  auto function = func::FuncOp::create(b, loc, "main", b.getFunctionType({}, types));
  b.setInsertionPointToStart(function.addEntryBlock());
  IRMapping map;
  for (Operation *op : members) {
    for (Value v : op->getOperands())
      if (!map.contains(v))
        b.clone(*v.getDefiningOp(), map);
    b.clone(*op, map);
  }
  SmallVector<Value> results;
  for (Value v : roots)
    results.push_back(map.lookup(v));
  func::ReturnOp::create(b, loc, results);
  return module;
}

// In the child: runs the library and copies its results to `to`, one after the other. An exit status.
static int runLibrary(const char *path, ArrayRef<Value> roots, char *to) {
  rlimit limit = {kSeconds, kSeconds};
  setrlimit(RLIMIT_CPU, &limit);
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  auto getter = library ? reinterpret_cast<const onnxc_api *(*)(uint32_t)>(dlsym(library, "onnxc_get_api")) : nullptr;
  const onnxc_api *api = getter ? getter(ONNXC_ABI_VERSION) : nullptr;
  onnxc_model *model = nullptr;
  onnxc_context *context = nullptr;
  if (!api || api->model_create(nullptr, &model, nullptr) || api->context_create(model, nullptr, &context, nullptr))
    return 1;
  std::vector<onnxc_value> values(roots.size());
  if (api->run(context, nullptr, 0, values.data(), values.size(), nullptr))
    return 1;
  for (auto [v, value] : llvm::zip(roots, values)) {
    int64_t bytes = plainBytes(v.getType());
    memcpy(to, value.tensor.data, bytes);
    to += bytes;
  }
  return 0;
}

static bool runInChild(const std::string &path, ArrayRef<Value> roots, char *to) {
  pid_t child = fork();
  if (child == 0)
    _exit(runLibrary(path.c_str(), roots, to));
  int status = 1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static ElementsAttr constantOf(RankedTensorType type, const char *bytes, int64_t count) {
  if (!type.getElementType().isInteger(1))
    return makeConstant(type, std::vector<char>(bytes, bytes + count));
  SmallVector<bool> flags(bytes, bytes + count);
  return DenseElementsAttr::get(type, flags);
}

static void replace(const Island &island, const char *bytes) {
  for (Value v : island.roots) {
    int64_t count = plainBytes(v.getType());
    OpBuilder b(v.getDefiningOp());
    Value constant = onnx::ConstantOp::create(b, v.getLoc(), constantOf(cast<RankedTensorType>(v.getType()), bytes, count));
    v.replaceAllUsesWith(constant);
    bytes += count;
  }
  for (Operation *op : llvm::reverse(island.members))
    if (op->use_empty())
      op->erase();
}

bool foldConstantIslands(ModuleOp module, int64_t maxBytes, BuildIsland build) {
  auto graph = module.lookupSymbol<func::FuncOp>("main");
  Island island;
  island.collect(graph, maxBytes);
  if (island.roots.empty())
    return false;
  int64_t total = 0;
  for (Value v : island.roots)
    total += plainBytes(v.getType());
  TemporaryFile library;
  if (library.create("onnxc-constants", ".so"))
    return false;
  void *shared = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return false;
  auto unmap = llvm::make_scope_exit([&] { munmap(shared, total); });
  if (!build(*island.module(module.getContext()), library.path()) || !runInChild(library.path(), island.roots, static_cast<char *>(shared)))
    return false;
  replace(island, static_cast<const char *>(shared));
  return true;
}

}  // namespace onnxc
