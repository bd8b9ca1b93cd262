// BlockChannels.cpp: the graph's convolutions move to blocks of 16 channels, and values stay blocked as long as every op on the way can
// work on blocks. After the graph passes, before PackWeights.
//
// blocked value  [N, ceil(C/16), H, W, 16] beside the op's own value [N, C, H, W] (or [N, C, W], with H = 1)
#include "dialects/onnx/Elementwise.h"
#include "dialects/onnx/NN.h"
#include "dialects/onnx/Packed.h"
#include "dialects/onnx/Reduce.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Decompose.h"
#include "passes/graph/Weights.h"
#include "passes/layout/ConvWeights.h"
#include "passes/layout/Passes.h"
#include "passes/layout/ResizeTables.h"
#include "passes/layout/StoredWeights.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace onnxc {
#define GEN_PASS_DEF_BLOCKCHANNELS
#include "passes/layout/Passes.h.inc"

using namespace mlir;
namespace {
constexpr int64_t kLanes = 16;

RankedTensorType typeOf(Value v) { return dyn_cast<RankedTensorType>(v.getType()); }
bool isSingle(Value v) { return typeOf(v) && typeOf(v).getElementType().isF32(); }
bool isBytes(Value v) { return typeOf(v) && typeOf(v).getElementType().isInteger(8); }
bool isImage(Value v) {
  auto t = typeOf(v);
  return (isSingle(v) || isBytes(v)) && (t.getRank() == 3 || t.getRank() == 4) && !t.isDynamicDim(1);
}
int64_t channelsOf(Value v) { return typeOf(v).getDimSize(1); }

// Finite for finite operands, so that lanes past the last channel stay finite.
bool staysFinite(Operation *op) {
  static const llvm::StringSet<> names = {
      "Relu", "LeakyRelu",       "Clip", "Sigmoid", "Tanh",         "HardSigmoid", "HardSwish", "Gelu", "Swish", "Elu", "Selu",  "Mish",
      "Erf",  "Softsign",        "Neg",  "Abs",     "ms.QuickGelu", "Add",         "Sub",       "Mul",  "Max",   "Min", "PRelu", "Round",
      "Cast", "packed.ByteTable"};
  if (onnx::opName(op) == "Div") {
    auto divisor = onnx::constantValue(op->getOperand(1)) ? constantFloats(op->getOperand(1)) : std::nullopt;
    return divisor && divisor->size() == 1 && divisor->front() != 0;
  }
  return names.contains(onnx::opName(op)) && op->getNumResults() == 1;
}

// Some neighbouring channels of a blocked value that has `all`. Lanes past the last channel of a blocked value are finite where its
// channels are: convolutions multiply them by zero. So a range that ends inside a block, before other channels, is no blocked value by
// itself.
struct Channels {
  Value value;
  int64_t begin, count, all;
  bool isBlocks() const { return begin % kLanes == 0 && (count % kLanes == 0 || begin + count == all); }
};

struct Blocker {
  func::FuncOp func;
  OpBuilder b;
  llvm::MapVector<Value, Value> blocked;
  llvm::DenseSet<Operation *> replaced;
  llvm::DenseMap<Value, Channels> pieces;  // blocked values that are channels of another

  bool winograd;
  FloatType stored;  // of weights, where there are many

  Blocker(func::FuncOp func, bool winograd, FloatType stored) : func(func), b(func.getContext()), winograd(winograd), stored(stored) {}

  RankedTensorType blockedType(RankedTensorType plain) {
    SmallVector<int64_t> s(plain.getShape());
    if (s.size() == 3)
      s.insert(s.begin() + 2, 1);
    return RankedTensorType::get({s[0], llvm::divideCeilSigned(s[1], kLanes), s[2], s[3], kLanes}, plain.getElementType());
  }
  // `v` with four axes.
  Value image(Value v, Location loc) {
    auto t = typeOf(v);
    if (t.getRank() == 4)
      return v;
    auto wide = RankedTensorType::get({t.getDimSize(0), t.getDimSize(1), 1, t.getDimSize(2)}, t.getElementType());
    return onnx::UnsqueezeOp::create(b, loc, wide, v, GraphBuilder{b, loc}.integers({2}));
  }
  Value block(Value v, Location loc) {
    Value &have = blocked[v];
    if (!have)
      have = onnx::PackedBlockOp::create(b, loc, blockedType(typeOf(v)), image(v, loc));
    return have;
  }
  void done(Operation *op, Value result) {
    blocked[op->getResult(0)] = result;
    replaced.insert(op);
  }

  bool converted(Operation *op);
  bool conv(Operation *op);
  bool pool(Operation *op);
  bool resize(Operation *op);
  bool globalPool(Operation *op);
  bool pad(Operation *op);
  bool normalization(Operation *op);
  bool response(Operation *op);
  bool pointwise(Operation *op);
  bool concat(Operation *op);
  bool split(Operation *op);
  bool slice(Operation *op);
  bool isPiece(Value v, int64_t axis) const;
  void take(Value result, Channels channels);
  Value join(ArrayRef<Channels> ranges, RankedTensorType plain, Location loc);
  std::optional<Value> operand(Value v, Value result);
  Value unblock(Value original, Value value);
  void run();
};

// Conversions that earlier passes wrote are like this pass's own.
bool Blocker::converted(Operation *op) {
  if (auto unblock = dyn_cast<onnx::PackedUnblockOp>(op)) {
    done(op, unblock.getX());
    return true;
  }
  auto block = dyn_cast<onnx::PackedBlockOp>(op);
  if (!block)
    return false;
  Value &have = blocked[block.getX()];
  if (!have) {
    have = block.getY();
    return true;
  }
  block.getY().replaceAllUsesWith(have);
  block.erase();
  return true;
}

// Whether pixels are rows of a product, as onnx::isProduct says of what becomes of it.
static bool isProduct(const BlockedConv &c) {
  auto ones = [](ArrayRef<int64_t> sizes) { return llvm::all_of(sizes, [](int64_t v) { return v == 1; }); };
  return ones(c.kernel) && ones(c.strides) && llvm::all_of(c.pads, [](int64_t v) { return v == 0; });
}

bool Blocker::conv(Operation *op) {
  auto c = onnx::opName(op) == "Conv" && isImage(op->getOperand(0)) ? blockedConv(op) : std::nullopt;
  if (!c)
    return false;
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  Type type = blockedType(typeOf(op->getResult(0)));
  ArrayRef<int64_t> size = typeOf(op->getResult(0)).getShape().take_back(2);
  if (winograd && c->constant && !op->hasAttr(onnx::kExactAttr) && gainsByWinograd(*c, size[0], size[1])) {
    Value bias = packConvBias(b, loc, op);
    Value weights = packWinogradWeights(b, loc, *c, op->getOperand(1));
    done(op, onnx::PackedWinogradConvOp::create(b, loc, type, block(x, loc), weights, bias, b.getI64IntegerAttr(c->channels),
                                                b.getDenseI64ArrayAttr(c->pads)));
    return true;
  }
  bool dense = c->form == BlockedConv::Dense, plain = dense && c->group == 1 && c->channels < kLanes && !blocked.count(x);
  bool rounds = isProduct(*c) && !op->hasAttr(onnx::kExactAttr);
  Value weights = packConvWeights(b, loc, *c, op->getOperand(1), plain, rounds ? stored : b.getF32Type());
  Value bias = packConvBias(b, loc, op);
  if (!dense) {
    done(op, onnx::PackedDepthwiseConvOp::create(b, loc, type, block(x, loc), weights, bias, b.getI64IntegerAttr(c->outputs / c->group),
                                                 b.getDenseI64ArrayAttr(c->strides), b.getDenseI64ArrayAttr(c->pads),
                                                 b.getDenseI64ArrayAttr(c->dilations)));
    return true;
  }
  int64_t group = c->span ? llvm::divideCeil(c->outputs, kLanes) : c->group, channels = c->span ? c->span * kLanes : c->channels;
  auto shared = c->span ? b.getDenseI64ArrayAttr({c->outputs / c->group, c->channels}) : nullptr;
  Value data = plain ? image(x, loc) : block(x, loc);
  done(op, onnx::PackedConvOp::create(b, loc, type, data, weights, bias, b.getI64IntegerAttr(group), b.getI64IntegerAttr(channels), shared,
                                      b.getI64IntegerAttr(plain), b.getDenseI64ArrayAttr(c->strides), b.getDenseI64ArrayAttr(c->pads),
                                      b.getDenseI64ArrayAttr(c->dilations)));
  return true;
}

bool Blocker::pool(Operation *op) {
  bool average = onnx::opName(op) == "AveragePool", ceil = onnx::intAttr(op, "ceil_mode");
  if (!(average || onnx::opName(op) == "MaxPool") || !blocked.count(op->getOperand(0)) || (average && ceil) || op->getNumResults() != 1)
    return false;
  int64_t rank = typeOf(op->getOperand(0)).getRank() - 2;
  auto kernel = twoAxes(op, "kernel_shape", rank, 1), strides = twoAxes(op, "strides", rank, 1),
       dilations = twoAxes(op, "dilations", rank, 1);
  auto pads = explicitPads(op, kernel, strides, dilations);
  if (!pads || (isBytes(op->getOperand(0)) && average))
    return false;
  if (isBytes(op->getOperand(0))) {
    done(op, onnx::PackedBytePoolOp::create(b, op->getLoc(), blockedType(typeOf(op->getResult(0))), blocked[op->getOperand(0)],
                                            b.getDenseI64ArrayAttr(kernel), b.getDenseI64ArrayAttr(strides), b.getDenseI64ArrayAttr(*pads),
                                            b.getDenseI64ArrayAttr(dilations), b.getI64IntegerAttr(ceil)));
    return true;
  }
  done(op, onnx::PackedPoolOp::create(b, op->getLoc(), blockedType(typeOf(op->getResult(0))), blocked[op->getOperand(0)],
                                      b.getI64IntegerAttr(average), b.getI64IntegerAttr(onnx::intAttr(op, "count_include_pad")),
                                      b.getI64IntegerAttr(ceil), b.getDenseI64ArrayAttr(kernel), b.getDenseI64ArrayAttr(strides),
                                      b.getDenseI64ArrayAttr(*pads), b.getDenseI64ArrayAttr(dilations)));
  return true;
}

bool Blocker::resize(Operation *op) {
  auto tables =
      onnx::opName(op) == "Resize" && isSingle(op->getOperand(0)) && blocked.count(op->getOperand(0)) ? resizeTables(op) : std::nullopt;
  if (!tables)
    return false;
  Location loc = op->getLoc();
  auto positions = [&](const ResizeAxis &axis) -> Value {
    std::vector<char> bytes(axis.index.size() * sizeof(int32_t));
    memcpy(bytes.data(), axis.index.data(), bytes.size());
    auto type = RankedTensorType::get({int64_t(axis.index.size()) / axis.taps, axis.taps}, b.getI32Type());
    return onnx::ConstantOp::create(b, loc, makeConstant(type, std::move(bytes)));
  };
  auto weights = [&](const ResizeAxis &axis) -> Value {
    auto type = RankedTensorType::get({int64_t(axis.weight.size()) / axis.taps, axis.taps}, b.getF32Type());
    return onnx::ConstantOp::create(b, loc, makeConstant(type, axis.weight));
  };
  done(op, onnx::PackedResizeOp::create(b, loc, blockedType(typeOf(op->getResult(0))), blocked[op->getOperand(0)], positions(tables->rows),
                                        weights(tables->rows), positions(tables->columns), weights(tables->columns)));
  return true;
}

// GlobalAveragePool and ReduceMean over all spatial axes of a known size are one window.
bool Blocker::globalPool(Operation *op) {
  Value x = op->getNumOperands() ? op->getOperand(0) : Value();
  bool mean = onnx::opName(op) == "ReduceMean" && onnx::intAttr(op, "keepdims", 1);
  if (!x || !isSingle(x) || !blocked.count(x) || typeOf(x).getRank() != 4 || typeOf(x).isDynamicDim(2) || typeOf(x).isDynamicDim(3))
    return false;
  if (mean) {
    auto axes = op->getNumOperands() > 1 ? onnx::integerElements(onnx::constantValue(op->getOperand(1))) : std::nullopt;
    mean = axes && axes->size() == 2 && (((*axes)[0] + 4) % 4) + (((*axes)[1] + 4) % 4) == 5 && ((*axes)[0] + 4) % 4 >= 2;
  }
  bool maximum = onnx::opName(op) == "GlobalMaxPool";
  if (!mean && !maximum && onnx::opName(op) != "GlobalAveragePool")
    return false;
  ArrayRef<int64_t> shape = typeOf(x).getShape();
  done(op,
       onnx::PackedPoolOp::create(b, op->getLoc(), blockedType(typeOf(op->getResult(0))), blocked[x], b.getI64IntegerAttr(!maximum),
                                  b.getI64IntegerAttr(0), b.getI64IntegerAttr(0), b.getDenseI64ArrayAttr({shape[2], shape[3]}),
                                  b.getDenseI64ArrayAttr({1, 1}), b.getDenseI64ArrayAttr({0, 0, 0, 0}), b.getDenseI64ArrayAttr({1, 1})));
  return true;
}

// The blocked form of an operand of a pointwise op with result `result`; nothing when it has none.
std::optional<Value> Blocker::operand(Value v, Value result) {
  auto type = typeOf(v);
  int64_t rank = typeOf(result).getRank(), channels = channelsOf(result);
  if (ElementsAttr constant = onnx::constantValue(v)) {
    if (!type || !type.getElementType().isF32())
      return std::nullopt;
    if (constant.getNumElements() == 1)
      return type.getRank() == 0
                 ? v
                 : onnx::ConstantOp::create(b, v.getLoc(), reshaped(constant, RankedTensorType::get({}, type.getElementType())));
    // Only the channel axis may be longer than 1.
    int64_t axis = type.getRank() - (rank - 1);
    if (axis < 0 || type.getDimSize(axis) != channels || type.getNumElements() != channels)
      return std::nullopt;
    return packChannels(b, v.getLoc(), *constantFloats(v), true);
  }
  if (!isImage(v) || type.getRank() != rank || channelsOf(v) != channels)
    return std::nullopt;
  return block(v, v.getLoc());
}

// Images with a border of one finite number.
bool Blocker::pad(Operation *op) {
  auto pad = dyn_cast<onnx::PadOp>(op);
  if (!pad || !isImage(op->getResult(0)) || !isSingle(pad.getData()) || typeOf(pad.getData()).getRank() != 4 || pad.getAxes() ||
      !blocked.count(pad.getData()) || pad.getMode() != "constant")
    return false;
  ElementsAttr amounts = onnx::constantValue(pad.getPads());
  auto given = amounts ? onnx::integerElements(amounts) : std::nullopt;
  auto value = pad.getConstantValue() ? constantFloats(pad.getConstantValue()) : std::vector<float>{0.f};
  if (!given || given->size() != 8 || (*given)[0] || (*given)[1] || (*given)[4] || (*given)[5] || !value || value->size() != 1 ||
      !std::isfinite(value->front()))
    return false;
  given->insert(given->begin() + 4, 0);
  given->push_back(0);
  Location loc = op->getLoc();
  Value pads = GraphBuilder{b, loc}.integers(*given);
  done(op, onnx::PadOp::create(b, loc, blockedType(typeOf(op->getResult(0))), blocked[pad.getData()], pads, pad.getConstantValue(), Value(),
                               pad.getModeAttr()));
  return true;
}

// A normalisation that no convolution before it could take up is a product and a sum.
bool Blocker::normalization(Operation *op) {
  auto norm = dyn_cast<onnx::BatchNormalizationOp>(op);
  if (!norm || !isImage(norm.getX()) || !isSingle(norm.getX()) || !blocked.count(norm.getX()))
    return false;
  auto affine = channelAffine(norm);
  if (!affine || int64_t(affine->scale.size()) != channelsOf(norm.getX()))
    return false;
  Location loc = op->getLoc();
  Value x = blocked[norm.getX()], scale = packChannels(b, loc, affine->scale, true), offset = packChannels(b, loc, affine->offset, true);
  done(op, onnx::AddOp::create(b, loc, x.getType(), onnx::MulOp::create(b, loc, x.getType(), x, scale), offset));
  return true;
}

// LRN: x (bias + alpha / size * squares)^-beta, where beta is 3/4 by two square roots. The power stays finite in lanes past the last
// channel, whose squares are left out.
bool Blocker::response(Operation *op) {
  auto lrn = dyn_cast<onnx::LRNOp>(op);
  if (!lrn || !isImage(lrn.getX()) || !isSingle(lrn.getX()) || !blocked.count(lrn.getX()))
    return false;
  constexpr int64_t mostSize = 2 * kLanes + 1;
  float bias = lrn.getBias().convertToFloat(), alpha = lrn.getAlpha().convertToFloat(), beta = lrn.getBeta().convertToFloat();
  if (int64_t(lrn.getSize()) > mostSize || !(bias > 0) || !(alpha >= 0) || !std::isfinite(beta))
    return false;
  Location loc = op->getLoc();
  Value x = blocked[lrn.getX()];
  Type type = x.getType();
  GraphBuilder g{b, loc};
  Value squares = onnx::PackedChannelSquaresOp::create(b, loc, type, x, b.getI64IntegerAttr(channelsOf(lrn.getX())), lrn.getSizeAttr());
  Value scaled = onnx::MulOp::create(b, loc, type, squares, g.number(alpha / float(lrn.getSize())));
  Value base = onnx::AddOp::create(b, loc, type, scaled, g.number(bias));
  if (beta == 0.75f) {
    Value root = onnx::SqrtOp::create(b, loc, type, base);
    Value power = onnx::MulOp::create(b, loc, type, root, onnx::SqrtOp::create(b, loc, type, root));
    done(op, onnx::DivOp::create(b, loc, type, x, power));
  } else {
    done(op, onnx::MulOp::create(b, loc, type, x, onnx::PowOp::create(b, loc, type, base, g.number(-beta))));
  }
  return true;
}

bool Blocker::pointwise(Operation *op) {
  if (!staysFinite(op) || !isImage(op->getResult(0)) || llvm::none_of(op->getOperands(), [&](Value v) { return blocked.count(v); }))
    return false;
  Value result = op->getResult(0);
  SmallVector<Value> operands;
  for (Value v : op->getOperands()) {
    auto o = isa<onnx::PackedByteTableOp>(op) && v == op->getOperand(1) ? std::optional(v) : operand(v, result);
    if (!o)
      return false;
    operands.push_back(*o);
  }
  Operation *copy = b.clone(*op);
  copy->setOperands(operands);
  copy->getResult(0).setType(blockedType(typeOf(result)));
  done(op, copy->getResult(0));
  return true;
}

// Whether an op that can work on blocks reads `v`.
static bool isReadInBlocks(Value v) {
  static const llvm::StringSet<> names = {"Conv",
                                          "MaxPool",
                                          "AveragePool",
                                          "GlobalAveragePool",
                                          "GlobalMaxPool",
                                          "ReduceMean",
                                          "BatchNormalization",
                                          "Resize",
                                          "Pad",
                                          "Concat",
                                          "Split",
                                          "Slice",
                                          "LRN",
                                          "packed.Block"};
  return llvm::any_of(v.getUsers(), [](Operation *user) { return names.contains(onnx::opName(user)) || staysFinite(user); });
}

// The ranges one after the other. Whole blocks are slices and a concatenation, which may need no kernel.
Value Blocker::join(ArrayRef<Channels> ranges, RankedTensorType plain, Location loc) {
  auto type = blockedType(plain);
  auto blocksOf = [&](const Channels &c) -> Value {
    SmallVector<int64_t> shape(typeOf(c.value).getShape());
    int64_t first = c.begin / kLanes, blocks = llvm::divideCeilSigned(c.count, kLanes);
    if (blocks == shape[1])
      return c.value;
    shape[1] = blocks;
    auto type = RankedTensorType::get(shape, plain.getElementType());
    GraphBuilder g{b, loc};
    Value one = g.integers({1});
    return onnx::SliceOp::create(b, loc, type, c.value, g.integers({first}), g.integers({first + blocks}), one, one);
  };
  auto isFull = [](const Channels &c) { return c.count % kLanes == 0; };
  if (llvm::all_of(ranges, [](const Channels &c) { return c.isBlocks(); }) && llvm::all_of(ranges.drop_back(), isFull)) {
    auto values = llvm::map_to_vector(ranges, blocksOf);
    return values.size() == 1 ? values[0] : onnx::ConcatOp::create(b, loc, type, values, b.getI64IntegerAttr(1));
  }
  SmallVector<Value> values;
  SmallVector<int64_t> begins, counts;
  for (const Channels &c : ranges)
    values.push_back(c.value), begins.push_back(c.begin), counts.push_back(c.count);
  return onnx::PackedChannelsOp::create(b, loc, type, values, b.getDenseI64ArrayAttr(begins), b.getDenseI64ArrayAttr(counts));
}

// Concatenated channels that something reads in blocks. Neighbouring pieces of one value are one range of it.
bool Blocker::concat(Operation *op) {
  auto concat = dyn_cast<onnx::ConcatOp>(op);
  Value result = op->getResult(0);
  if (!concat || !isImage(result) || (int64_t(concat.getAxis()) != 1 && int64_t(concat.getAxis()) != 1 - typeOf(result).getRank()))
    return false;
  if (!llvm::all_of(concat.getInputs(), isImage) || llvm::none_of(concat.getInputs(), [&](Value v) { return blocked.count(v); }) ||
      !isReadInBlocks(result))
    return false;
  SmallVector<Channels> ranges;
  for (Value v : concat.getInputs()) {
    Value value = block(v, op->getLoc());
    auto piece = pieces.find(value);
    Channels c = piece == pieces.end() ? Channels{value, 0, channelsOf(v), channelsOf(v)} : piece->second;
    if (!ranges.empty() && ranges.back().value == c.value && ranges.back().begin + ranges.back().count == c.begin)
      ranges.back().count += c.count;
    else
      ranges.push_back(c);
  }
  done(op, join(ranges, typeOf(result), op->getLoc()));
  return true;
}

// Whether the result `v` of a Split or Slice along `axis` may be a part of a blocked value.
bool Blocker::isPiece(Value v, int64_t axis) const {
  Value x = v.getDefiningOp()->getOperand(0);
  int64_t rank = isImage(x) ? typeOf(x).getRank() : 0;
  return rank && blocked.count(x) && (axis == 1 || axis == 1 - rank) && isImage(v) && isReadInBlocks(v);
}

void Blocker::take(Value result, Channels channels) {
  auto from = pieces.find(channels.value);
  if (from != pieces.end())
    channels = {from->second.value, from->second.begin + channels.begin, channels.count, from->second.all};
  Value piece = join(channels, typeOf(result), result.getLoc());
  blocked[result] = piece;
  if (piece != channels.value)
    pieces[piece] = channels;
}

bool Blocker::split(Operation *op) {
  int64_t axis = onnx::intAttr(op, "axis"), begin = 0;
  if (onnx::opName(op) != "Split" || !llvm::all_of(op->getResults(), [&](Value v) { return isPiece(v, axis); }))
    return false;
  Value x = blocked[op->getOperand(0)];
  for (Value v : op->getResults()) {
    take(v, {x, begin, channelsOf(v), channelsOf(op->getOperand(0))});
    begin += channelsOf(v);
  }
  replaced.insert(op);
  return true;
}

bool Blocker::slice(Operation *op) {
  if (onnx::opName(op) != "Slice")
    return false;
  auto number = [&](unsigned index, int64_t otherwise) -> std::optional<int64_t> {
    Value v = onnx::operand(op, index);
    if (!v)
      return otherwise;
    ElementsAttr value = onnx::constantValue(v);
    auto numbers = value ? onnx::integerElements(value) : std::nullopt;
    return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
  };
  auto start = number(1, 0), axis = number(3, 0), step = number(4, 1);
  Value result = op->getResult(0);
  if (!start || !axis || step != 1 || !isPiece(result, *axis))
    return false;
  int64_t channels = channelsOf(op->getOperand(0)), begin = std::clamp<int64_t>(*start + (*start < 0 ? channels : 0), 0, channels);
  take(result, {blocked[op->getOperand(0)], begin, channelsOf(result), channels});
  replaced.insert(op);
  return true;
}

// The plain form of a blocked value: a view where there is one pixel and no lane is left over.
Value Blocker::unblock(Value original, Value value) {
  auto type = typeOf(original);
  Location loc = value.getLoc();
  ArrayRef<int64_t> s = typeOf(value).getShape();
  if (s[2] == 1 && s[3] == 1 && type.getDimSize(1) % kLanes == 0) {
    SmallVector<int64_t> shape(type.getRank(), 1);
    shape[0] = 0, shape[1] = type.getDimSize(1);
    return onnx::ReshapeOp::create(b, loc, type, value, GraphBuilder{b, loc}.integers(shape));
  }
  auto wide = RankedTensorType::get({s[0], type.getDimSize(1), s[2], s[3]}, type.getElementType());
  Value plain = onnx::PackedUnblockOp::create(b, loc, wide, value, b.getI64IntegerAttr(type.getDimSize(1)));
  return type.getRank() == 4 ? plain : onnx::SqueezeOp::create(b, loc, type, plain, GraphBuilder{b, loc}.integers({2}));
}

void Blocker::run() {
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front().without_terminator())) {
    if (op.getNumResults() == 0 || onnx::constantValue(op.getResult(0)))
      continue;
    b.setInsertionPoint(&op);
    if (!converted(&op) && !conv(&op) && !pool(&op) && !resize(&op) && !globalPool(&op) && !pad(&op) && !normalization(&op) &&
        !response(&op) && !pointwise(&op) && !split(&op) && !slice(&op))
      concat(&op);
  }
  for (auto [original, value] : blocked) {
    Operation *op = original.getDefiningOp();
    if (!op || !replaced.contains(op))
      continue;
    bool used = llvm::any_of(original.getUsers(), [&](Operation *user) { return !replaced.contains(user); });
    if (!used)
      continue;
    b.setInsertionPointAfterValue(value);
    Value plain = unblock(original, value);
    original.replaceUsesWithIf(plain, [&](OpOperand &use) { return !replaced.contains(use.getOwner()); });
  }
  auto ops = llvm::map_to_vector(func.getBody().front(), [](Operation &op) { return &op; });
  for (Operation *op : llvm::reverse(ops))
    if (replaced.contains(op))
      op->erase();
}

struct BlockChannels : impl::BlockChannelsBase<BlockChannels> {
  using BlockChannelsBase::BlockChannelsBase;
  void runOnOperation() override { Blocker(getOperation(), winograd, weightType(&getContext(), precision)).run(); }
};
}  // namespace
}  // namespace onnxc
