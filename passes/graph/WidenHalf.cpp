// WidenHalf.cpp: f16 and bf16 arithmetic in f32, for which there is code. Values stay f32 from op to op; casts stand where the model's
// inputs, outputs and weights, or ops that are left alone, hold halves. A Cast of the model from a half that an op computed to f32 takes
// what was computed. Left out at -O0, which rounds after every op.
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphBuilder.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
namespace onnxc {
#define GEN_PASS_DEF_WIDENHALF
#include "passes/graph/Passes.h.inc"

namespace {

bool isHalf(Value v) {
  auto tensor = llvm::dyn_cast<TensorType>(v.getType());
  return tensor && (tensor.getElementType().isF16() || tensor.getElementType().isBF16());
}
Type single(Value v) { return llvm::cast<TensorType>(v.getType()).clone(Float32Type::get(v.getContext())); }

// Ops whose meaning depends on the type itself, whose attributes name one, or that carry values of their regions.
bool staysHalf(Operation *op) {
  static const llvm::StringSet<> names = {"Cast",
                                          "CastLike",
                                          "BitCast",
                                          "QuantizeLinear",
                                          "DequantizeLinear",
                                          "ConstantOfShape",
                                          "RandomNormal",
                                          "RandomNormalLike",
                                          "RandomUniform",
                                          "Bernoulli",
                                          "RandomUniformLike",
                                          "EyeLike",
                                          "Multinomial",
                                          "Constant",
                                          "If",
                                          "Loop",
                                          "Scan",
                                          "SequenceMap",
                                          "custom.Call",
                                          "ImageDecoder",
                                          "Range",
                                          "Unique"};
  StringRef name = onnx::opName(op);
  bool table = name == "Gather" && onnx::constantValue(op->getOperand(0));  // a table of halves stays as small as it is
  bool containers = !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<TensorType>) ||
                    !llvm::all_of(op->getResultTypes(), llvm::IsaPred<TensorType>);  // their elements keep their type
  return !onnx::isOnnx(op) || names.contains(name) || name.starts_with("ml.") || name.starts_with("training.") || op->getNumRegions() ||
         op->hasTrait<OpTrait::IsTerminator>() || table || containers;
}

// Ops that only move elements. They move halves unless these are f32 already.
bool moves(Operation *op) {
  static const llvm::StringSet<> names = {
      "Concat", "Split",  "Slice",          "Transpose", "Reshape",      "Squeeze",      "Unsqueeze", "Flatten", "Identity",       "Expand",
      "Tile",   "Gather", "GatherElements", "GatherND",  "DepthToSpace", "SpaceToDepth", "Compress",  "Trilu",   "ReverseSequence"};
  return names.contains(onnx::opName(op));
}

ElementsAttr widenedConstant(ElementsAttr value) {
  auto bytes = constantBytes(value);
  auto type = llvm::dyn_cast<RankedTensorType>(value.getType());
  if (!bytes || !type)
    return {};
  std::vector<float> floats(bytes->size() / 2);
  bool brain = type.getElementType().isBF16();
  for (size_t i = 0; i < floats.size(); ++i) {
    uint16_t bits;
    memcpy(&bits, bytes->data() + 2 * i, 2);
    if (brain) {
      uint32_t wide = uint32_t(bits) << 16;
      memcpy(&floats[i], &wide, 4);
    } else {
      _Float16 half;
      memcpy(&half, &bits, 2);
      floats[i] = float(half);
    }
  }
  auto wide = RankedTensorType::get(type.getShape(), Float32Type::get(type.getContext()));
  bool splat = llvm::isa<DenseElementsAttr>(value) && value.isSplat() && !floats.empty();
  return splat ? ElementsAttr(DenseElementsAttr::get(wide, floats.front())) : makeConstant(wide, floats);
}

struct Widener {
  explicit Widener(MLIRContext *context) : b(context) {}
  OpBuilder b;
  llvm::DenseMap<Value, Value> wide;  // of a half, its f32 form
  SmallVector<Operation *> replaced;

  Value widened(Value v) {
    Value &have = wide[v];
    if (have)
      return have;
    b.setInsertionPointAfterValue(v);
    if (ElementsAttr value = onnx::constantValue(v))
      if (ElementsAttr floats = widenedConstant(value))
        return have = onnx::ConstantOp::create(b, v.getLoc(), floats);
    return have = GraphBuilder{b, v.getLoc()}.cast(v, b.getF32Type());
  }

  void widen(Operation *op) {
    SmallVector<Value> operands;
    for (Value v : op->getOperands())
      operands.push_back(isHalf(v) ? widened(v) : v);
    b.setInsertionPoint(op);
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    if (isa<onnx::MatMulOp, onnx::GemmOp>(op) && llvm::cast<TensorType>(op->getOperand(0).getType()).getElementType().isBF16())
      copy->setAttr(onnx::kBF16RowsAttr, b.getUnitAttr());
    for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
      if (!isHalf(from)) {
        from.replaceAllUsesWith(to);
        continue;
      }
      to.setType(single(from));
      wide[from] = to;
    }
    replaced.push_back(op);
  }

  // A Cast to f32 of a half that was never rounded to one is that f32, as between two ops.
  static void takeUnrounded(Value half, Value floats) {
    for (Operation *user : llvm::make_early_inc_range(half.getUsers()))
      if (isa<onnx::CastOp>(user) && user->getResult(0).getType() == floats.getType()) {
        user->getResult(0).replaceAllUsesWith(floats);
        user->erase();
      }
  }

  // Where an op that stays uses a half that is f32 now.
  void narrowUses() {
    llvm::DenseSet<Operation *> gone(replaced.begin(), replaced.end());
    for (Operation *op : replaced)
      for (Value v : op->getResults()) {
        auto stays = [&](OpOperand &use) { return !gone.contains(use.getOwner()); };
        if (!isHalf(v))
          continue;
        Value floats = wide[v];
        takeUnrounded(v, floats);
        if (llvm::none_of(v.getUses(), stays))
          continue;
        b.setInsertionPointAfterValue(floats);
        v.replaceUsesWithIf(GraphBuilder{b, v.getLoc()}.as(v.getType(), floats), stays);
      }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
  }
};

struct WidenHalf : impl::WidenHalfBase<WidenHalf> {
  void runOnOperation() override {
    Widener w(&getContext());
    SmallVector<Operation *> found;
    llvm::DenseSet<Operation *> widens;
    getOperation().walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool halves = llvm::any_of(op->getOperands(), isHalf) || llvm::any_of(op->getResults(), [](Value v) { return isHalf(v); });
      bool given = llvm::any_of(op->getOperands(), [](Value v) { return isHalf(v) && !onnx::constantValue(v); });
      bool asTheyAre = given && moves(op) && llvm::none_of(op->getOperands(), [&](Value v) { return widens.contains(v.getDefiningOp()); });
      if (halves && !staysHalf(op) && !asTheyAre)
        found.push_back(op), widens.insert(op);
    });
    for (Operation *op : found)
      w.widen(op);
    w.narrowUses();
  }
};
}  // namespace
}  // namespace onnxc
