// Microsoft.cpp: operators of com.microsoft as bodies of others: the table's mechanism, and those that are elementwise, quantised or in
// another layout. Attention and what is around it is in MicrosoftAttention.cpp.
#include "compiler/import/Microsoft.h"
#include "compiler/import/Search.h"
#include "compiler/import/Tensors.h"
#include "compiler/import/Upgrade.h"
#include "llvm/ADT/StringExtras.h"
#include <cstdio>
#include <onnx/defs/parser.h>

namespace onnxc::importer {

int64_t MicrosoftCall::integer(const char *name, int64_t otherwise) const { return intAttr(node, name, otherwise); }
bool MicrosoftCall::isPlain(const char *name, int64_t plain) const {
  error = notPlainError(node, name, plain);
  return error.empty();
}
float MicrosoftCall::real(const char *name, float otherwise) const {
  const pb::AttributeProto *attr = findAttr(node, name);
  return attr ? attr->f() : otherwise;
}
std::string MicrosoftCall::text(const char *name, const std::string &otherwise) const {
  const pb::AttributeProto *attr = findAttr(node, name);
  return attr ? attr->s() : otherwise;
}
std::vector<int64_t> MicrosoftCall::integers(const char *name) const {
  const pb::AttributeProto *attr = findAttr(node, name);
  return attr ? std::vector<int64_t>(attr->ints().begin(), attr->ints().end()) : std::vector<int64_t>();
}
std::vector<float> MicrosoftCall::reals(const char *name) const {
  const pb::AttributeProto *attr = findAttr(node, name);
  return attr ? std::vector<float>(attr->floats().begin(), attr->floats().end()) : std::vector<float>();
}
int64_t MicrosoftCall::knownSize(int input, int axis) const {
  const pb::TensorShapeProto *shape = has(input) ? scope.shape(node.input(input)) : nullptr;
  return shape && axis < shape->dim_size() && shape->dim(axis).has_dim_value() ? shape->dim(axis).dim_value() : -1;
}
int64_t MicrosoftCall::size(int input, int axis) const {
  if (int64_t known = knownSize(input, axis); known >= 0)
    return known;
  error = "needs input " + std::to_string(input) + " with a known size of axis " + std::to_string(axis);
  return 1;
}

std::string textOf(const std::vector<int64_t> &values) {
  return "[" + llvm::join(llvm::map_range(values, [](int64_t v) { return std::to_string(v); }), ", ") + "]";
}
std::string intsNode(const std::string &name, const std::vector<int64_t> &values) {
  return name + " = Constant <value_ints: ints = " + textOf(values) + "> ()\n";
}
std::string textOf(float value) {
  char buffer[32];
  snprintf(buffer, sizeof buffer, "%.9e", double(value));
  return buffer;
}
std::string floatNode(const std::string &name, float value) { return name + " = Constant <value_float = " + textOf(value) + "> ()\n"; }

std::string transposed(const std::string &to, const std::string &from, const std::vector<int64_t> &perm) {
  return to + " = Transpose <perm = " + textOf(perm) + "> (" + from + ")\n";
}
std::vector<int64_t> channelsFirst(int rank) {
  std::vector<int64_t> perm = {0, rank - 1};
  for (int i = 1; i + 1 < rank; ++i)
    perm.push_back(i);
  return perm;
}
std::vector<int64_t> channelsLast(int rank) {
  std::vector<int64_t> perm = {0};
  for (int i = 2; i < rank; ++i)
    perm.push_back(i);
  perm.push_back(1);
  return perm;
}
const char *const kWindowAttributes = "auto_pad: string = @auto_pad, dilations: ints = @dilations, group: int = @group, "
                                      "kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides";

namespace {
using Call = MicrosoftCall;

// --- other layouts ---

std::string nhwcConv(const Call &c) {
  int rank = c.rank(1);
  if (rank < 3)
    return c.fail("needs weights with a known number of axes");
  return transposed("x", "X", channelsFirst(rank)) + transposed("w", "W", channelsFirst(rank)) + "y = Conv <" + kWindowAttributes +
         "> (x, w, B)\n" + transposed("Y", "y", channelsLast(rank));
}
std::string nhwcFusedConv(const Call &c) {
  int rank = c.rank(1);
  if (rank < 3)
    return c.fail("needs weights with a known number of axes");
  return transposed("x", "X", channelsFirst(rank)) + (c.has(3) ? transposed("z", "Z", channelsFirst(rank)) : "") +
         "y = com.microsoft.FusedConv <" + kWindowAttributes +
         ", activation: string = @activation, activation_params: floats = @activation_params> " +
         (c.has(3) ? "(x, W, B, z)\n" : "(x, W, B)\n") + transposed("Y", "y", channelsLast(rank));
}
std::string linearConv(const Call &c) {
  bool last = c.integer("channels_last", 0);
  int rank = c.rank(3);
  if (rank < 3)
    return c.fail("needs weights with a known number of axes");
  std::string conv = std::string(" = QLinearConv <") + kWindowAttributes + "> (" + (last ? "t" : "x") +
                     ", x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B)\n";
  return last ? transposed("t", "x", channelsFirst(rank)) + "u" + conv + transposed("y", "u", channelsLast(rank)) : "y" + conv;
}

// Pads that only the run knows are cut off what the convolution gives without any.
std::string dynamicPads(const Call &c) {
  std::vector<int64_t> pads;
  bool isKnown = c.constant(2, pads), automatic = llvm::StringRef(c.text("auto_pad", "NOTSET")).starts_with("SAME") || !c.has(2);
  std::string conv = std::string(" = ConvTranspose <dilations: ints = @dilations, group: int = @group, "
                                 "kernel_shape: ints = @kernel_shape, output_padding: ints = @output_padding, strides: ints = @strides");
  if (automatic)
    return "Y" + conv + ", auto_pad: string = @auto_pad> (X, W, B)\n";
  int64_t rank = c.rank(0), count = c.knownSize(2, 0);
  if (rank < 3)
    return c.fail("needs an input with a known number of axes");
  if (count >= 0 && count != 2 * (rank - 2))
    return c.fail("has " + std::to_string(count) + " pads; an input of " + std::to_string(rank) + " axes needs " +
                  std::to_string(2 * (rank - 2)));
  if (isKnown)
    return "Y" + conv + ", pads = " + textOf(pads) + "> (X, W, B)\n";
  std::vector<int64_t> axes;
  for (int i = 2; i < rank; ++i)
    axes.push_back(i);
  // A negative pad becomes one that is too large, which Pad refuses.
  return "y" + conv + "> (X, W, B)\n" + intsNode("axes", axes) + intsNode("most", {INT64_MAX}) +
         "cut = BitwiseAnd (Pads, most)\npads = Neg (cut)\nY = Pad (y, pads, \"\", axes)\n";
}

// In f32, whatever the types are.
std::string groups(const Call &c, const std::string &x) {
  int rank = c.rank(0);
  bool last = c.integer("channels_last", 1);
  if (rank < 3)
    return c.fail("needs an input with a known number of axes");
  std::string text = "wide = Cast <to = 1> (" + x + ")\ng = Cast <to = 1> (gamma)\nb = Cast <to = 1> (beta)\n" +
                     (last ? transposed("first", "wide", channelsFirst(rank)) : "first = Identity (wide)\n") +
                     "n = GroupNormalization <num_groups = " + std::to_string(c.integer("groups", 1)) +
                     ", epsilon = " + textOf(c.real("epsilon", 1e-5f)) + "> (first, g, b)\n" +
                     (c.integer("activation", 0) ? "s = Sigmoid (n)\na = Mul (n, s)\n" : "a = Identity (n)\n") +
                     (last ? transposed("back", "a", channelsLast(rank)) : "back = Identity (a)\n");
  return text + "Y = CastLike (back, X)\n";
}
std::string groupNorm(const Call &c) { return groups(c, "X"); }
std::string skipGroupNorm(const Call &c) {
  int rank = c.rank(0);
  std::vector<int64_t> inner;
  bool last = c.integer("channels_last", 1);
  for (int i = 1; i + 1 < rank; ++i)
    inner.push_back(last ? i : i + 1);
  std::string text = intsNode("inner", inner);
  text += c.rank(3) == 2 ? "k = Unsqueeze (skip, inner)\n" : "k = Identity (skip)\n";
  text += "t = Add (X, k)\n";
  if (!c.has(4))
    return text + "S = Identity (t)\n" + groups(c, "S");
  std::vector<int64_t> behind;
  for (int i = 1; i + 1 < rank; ++i)
    behind.push_back(i);
  text += last ? "c = Identity (bias)\n" : intsNode("behind", behind) + "c = Unsqueeze (bias, behind)\n";
  return text + "S = Add (t, c)\n" + groups(c, "S");
}

// --- elementwise ---

std::string biasAdd(const Call &) { return "t = Add (X, bias)\nY = Add (t, skip)\n"; }
std::string biasSplitGelu(const Call &) {
  return "t = Add (X, bias)\nl, r = Split <axis = -1, num_outputs = 2> (t)\ng = Gelu (r)\nY = Mul (l, g)\n";
}
std::string gemmFastGelu(const Call &) { return "m = MatMul (X, W)\nY = com.microsoft.FastGelu (m, bias)\n"; }
std::string biasSoftmax(const Call &c) {
  return "t = Add (data, bias)\nf = Flatten <axis = " + std::to_string(c.integer("axis", 1)) +
         "> (t)\ns = Softmax <axis = 1> (f)\nd = Shape (t)\noutput = Reshape <allowzero = 1> (s, d)\n";
}
template <bool conjugate>
std::string complexMul(const Call &) {
  return std::string("a, b = Split <axis = -1, num_outputs = 2> (A)\nc, e = Split <axis = -1, num_outputs = 2> (B)\n") +
         (conjugate ? "d = Neg (e)\n" : "d = Identity (e)\n") +
         "ac = Mul (a, c)\nbd = Mul (b, d)\nad = Mul (a, d)\nbc = Mul (b, c)\nr = Sub (ac, bd)\ni = Add (ad, bc)\n"
         "C = Concat <axis = -1> (r, i)\n";
}
std::string gatedAdd(const Call &) { return "t = Mul (Y, gate)\noutput = Add (X, t)\n"; }
std::string scaledSiLU(const Call &c) {
  return floatNode("alpha", c.real("alpha", 1)) + "k = CastLike (" + (c.has(1) ? "scale" : "alpha") +
         ", X)\nz = Mul (X, k)\ns = Sigmoid (z)\nY = Mul (z, s)\n";
}
std::string gateOf(const std::string &activation) {
  return activation == "sigmoid" ? "g = Sigmoid (z)\n" : "s = Sigmoid (z)\ng = Mul (z, s)\n";
}
std::string gatedRMSNorm(const Call &c) {
  return intsNode("all", {-1}) + "size = Shape (scale)\nrows = Concat <axis = 0> (all, size)\nwide = Cast <to = 1> (X)\n" +
         "x = Reshape (wide, rows)\nk = Cast <to = 1> (scale)\nn = RMSNormalization <axis = -1, epsilon = " +
         textOf(c.real("epsilon", 1e-5f)) + "> (x, k)\nshape = Shape (X)\nm = Reshape (n, shape)\nz = Cast <to = 1> (gate)\n" +
         gateOf(c.text("activation", "silu")) + "p = Mul (m, g)\nY = CastLike (p, X)\n";
}
std::string linearAttentionGate(const Call &c) {
  return std::string("w = Cast <to = 1> (a)\ns = Add (w, dt_bias)\nt = Softplus (s)\nd = Mul (t, decay_scale)\ndecay = CastLike (d, a)\n") +
         (c.has(3) ? "v = Cast <to = 1> (b)\ng = Sigmoid (v)\nbeta = CastLike (g, a)\n" : "");
}

// --- products and places ---

// Differences, not products: nothing cancels.
std::string distances(const Call &c) {
  std::string metric = c.text("metric", "sqeuclidean");
  if (metric != "sqeuclidean" && metric != "euclidean")
    return c.fail("has metric '" + metric + "'; onnxc knows sqeuclidean and euclidean, as ONNX Runtime does");
  return intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("two", {2}) +
         "a = Unsqueeze (A, one)\nb = Unsqueeze (B, zero)\nd = Sub (a, b)\n" +
         (metric == "euclidean" ? "C = ReduceL2 <keepdims = 0> (d, two)\n" : "C = ReduceSumSquare <keepdims = 0> (d, two)\n");
}
std::string integer16(const Call &c) {
  bool isUnsigned = c.elementType(0) == pb::TensorProto::UINT16 && c.elementType(1) == pb::TensorProto::UINT16;
  std::string to = std::to_string(int(isUnsigned ? pb::TensorProto::UINT32 : pb::TensorProto::INT32));
  return "a = Cast <to = " + to + "> (A)\nb = Cast <to = " + to + "> (B)\nY = MatMul (a, b)\n";
}
std::string copy(const Call &) { return "Y = Identity (X)\n"; }

// Each word's characters by a convolution, of which the greatest result counts: of as many as the word has characters that are not 0. A
// word that begins with 0 has none.
std::string wordEmbedding(const Call &) {
  return intsNode("one", {1}) + intsNode("zero", {0}) + intsNode("inner", {1, 3}) + intsNode("plane", {2, 3}) + floatNode("low", -2) +
         floatNode("nothing", 0) +
         "e = Gather (C, Sequence)\nx = Unsqueeze (e, one)\nf = Conv (x, W, B)\nt = Tanh (f)\nwide = Cast <to = 7> (Sequence)\n"
         "isCharacter = Greater (wide, zero)\nc = Cast <to = 7> (isCharacter)\ncount = ReduceSum <keepdims = 1> (c, one)\n"
         "window = Shape <start = 2, end = 3> (W)\nd = Sub (count, window)\np = Add (d, one)\nused = Max (p, one)\n"
         "positions = Shape <start = 2, end = 3> (f)\nn = Squeeze (positions)\nnone = Constant <value_int = 0> ()\n"
         "unit = Constant <value_int = 1> ()\nr = Range (none, n, unit)\nreal = Less (r, used)\nreal4 = Unsqueeze (real, inner)\n"
         "m = Where (real4, t, low)\nbest = ReduceMax <keepdims = 0> (m, plane)\nfirst = Slice (c, zero, one, one)\n"
         "isEmpty = Equal (first, zero)\nY = Where (isEmpty, nothing, best)\n";
}
std::string gatherND(const Call &) { return "i = Cast <to = 7> (indices)\noutput = GatherND (data, i)\n"; }

// [.., n, ..] -> [.., windows, .., size]
std::string unfold(const Call &c) {
  int64_t rank = c.rank(0), axis = c.integer("dim", -1), size = c.integer("size", 1), step = c.integer("step", 1);
  axis += axis < 0 ? rank : 0;
  if (rank < 1 || axis < 0 || axis >= rank || size < 1 || step < 1)
    return c.fail("needs an input with a known number of axes, and dim, size and step that fit it");
  std::vector<int64_t> perm;
  for (int64_t i = 0; i <= rank; ++i)
    if (i != axis + 1)
      perm.push_back(i);
  perm.push_back(axis + 1);
  return intsNode("size", {size}) + intsNode("step", {step}) + intsNode("one", {1}) + "n = Shape <start = " + std::to_string(axis) +
         ", end = " + std::to_string(axis + 1) + "> (input)\nm = Sub (n, size)\nq = Div (m, step)\nw = Add (q, one)\n" +
         "zero = Constant <value_int = 0> ()\nunit = Constant <value_int = 1> ()\nws = Squeeze (w)\nss = Squeeze (size)\n"
         "r = Range (zero, ws, unit)\ns = Mul (r, step)\nc = Unsqueeze (s, one)\nk = Range (zero, ss, unit)\ni = Add (c, k)\n" +
         "g = Gather <axis = " + std::to_string(axis) + "> (input, i)\n" + transposed("output", "g", perm);
}

// The standard's operator, but for taps that are apart and for channels behind the sequence, of which there may be several axes.
std::string causalConv(const Call &c) {
  if (!c.isPlain("state_window", 0) || !c.isPlain("ndim", 1))
    return "";
  int64_t dilation = c.integer("dilation", 1), taps = c.knownSize(1, 2), channels = c.knownSize(1, 0);
  bool last = c.integer("channels_last", 0), isEmpty = c.knownSize(0, last ? 1 : 2) == 0, hasPast = c.has(3);
  bool isStandard = dilation == 1 && taps != 1 && !isEmpty;
  if (!isStandard && (dilation < 1 || taps < 1 || channels < 1))
    return c.fail("needs a positive dilation, and weights with known sizes");
  if (taps > 1 && dilation > kMaxElements / (taps - 1))
    return c.fail("has kernel size " + std::to_string(taps) + " and dilation " + std::to_string(dilation) + ", which reach too far back");
  int64_t reach = (taps - 1) * dilation, past = c.knownSize(3, last ? 1 : 2);
  if (taps > 0 && past >= 0 && past != reach)
    return c.fail("has a past_state of " + std::to_string(past) + " entries; kernel size " + std::to_string(taps) + " and dilation " +
                  std::to_string(dilation) + " need " + std::to_string(reach));
  auto first = [&](const std::string &to, const std::string &from) {
    return last ? to + "_p = Shape <end = 2> (" + from + ")\n" + to + "_j = Concat <axis = 0> (" + to + "_p, channels)\n" + to +
                      "_3 = Reshape <allowzero = 1> (" + from + ", " + to + "_j)\n" + transposed(to, to + "_3", {0, 2, 1})
                : to + " = Identity (" + from + ")\n";
  };
  std::string text = "channels = Shape <end = 1> (weight)\n" + first("x", "input") + (hasPast ? first("p", "past_state") : "");
  if (isStandard) {
    text += std::string("y, s = CausalConvWithState <activation: string = @activation> (x, weight, bias") + (hasPast ? ", p)\n" : ")\n");
  } else {
    text += intsNode("reach", {reach});
    if (!hasPast)
      text += intsNode("pads", {0, 0, reach, 0, 0, 0}) + "all = Pad (x, pads)\n";
    else  // a past of another length than `reach` fits no Reshape
      text += std::string("rows = Shape <end = 2> (p)\nstate = Concat <axis = 0> (rows, reach)\n") +
              (past < 0 ? "before = Reshape <allowzero = 1> (p, state)\n" : "before = Identity (p)\n") +
              "all = Concat <axis = 2> (before, x)\n";
    text += isEmpty ? "c = Identity (x)\n"
                    : "c = Conv <group = " + std::to_string(channels) + ", dilations = [" + std::to_string(dilation) +
                          "]> (all, weight, bias)\n";
    text += std::string(c.text("activation", "none") == "none" ? "y = Identity (c)\n" : "g = Sigmoid (c)\ny = Mul (c, g)\n") +
            "end = Shape <start = 2, end = 3> (all)\n" + intsNode("axis", {2}) +
            "from = Sub (end, reach)\ns = Slice (all, from, end, axis)\n";
  }
  if (!last)
    return text + "output = Identity (y)\npresent_state = Identity (s)\n";
  return text + transposed("yl", "y", {0, 2, 1}) + "whole = Shape (input)\noutput = Reshape <allowzero = 1> (yl, whole)\n" +
         transposed("sl", "s", {0, 2, 1}) +
         "plane = Shape <end = 2> (sl)\nwidths = Shape <start = 2> (input)\nshape = Concat <axis = 0> (plane, widths)\n"
         "present_state = Reshape <allowzero = 1> (sl, shape)\n";
}

// --- quantised ---

std::string linearWhere(const Call &) {
  return "x = DequantizeLinear (X, x_scale, x_zero_point)\ny = DequantizeLinear (Y, y_scale, y_zero_point)\n"
         "w = Where (condition, x, y)\nZ = QuantizeLinear (w, z_scale, z_zero_point)\n";
}

// Rows are gathered before they are dequantised.
std::string embedding(const Call &c) {
  bool segments = c.has(1);
  std::string text = intsNode("zero", {0}) + intsNode("last", {-1}) +
                     "wq = Gather (word_embedding_quant, input_ids)\n"
                     "w = DequantizeLinear (wq, word_embedding_scale, word_embedding_zero_point)\n"
                     "length = Shape <start = 1, end = 2> (input_ids)\npq = Slice (position_embedding_quant, zero, length, zero)\n"
                     "p = DequantizeLinear (pq, position_embedding_scale, position_embedding_zero_point)\nwp = Add (w, p)\n";
  text += segments ? "sq = Gather (segment_embedding, segment_ids)\n"
                     "s = DequantizeLinear (sq, segment_embedding_scale, segment_embedding_zero_point)\nsum = Add (wp, s)\n"
                   : "sum = Identity (wp)\n";
  text +=
      "g = DequantizeLinear (gamma_quant, gamma_scale, gamma_zero_point)\nb = DequantizeLinear (beta_quant, beta_scale, beta_zero_point)\n"
      "layernorm_out = LayerNormalization <axis = -1, epsilon = " +
      textOf(c.real("epsilon", 1e-12f)) + "> (sum, g, b)\n";
  return text + (c.has(7) ? "mask_index_out = ReduceSum <keepdims = 0> (mask, last)\n"
                          : "batch = Shape <start = 0, end = 1> (input_ids)\n"
                            "mask_index_out = ConstantOfShape <value = int32[1] {0}> (batch)\n");
}

// The numbers of the two formats of four bits.
constexpr const char *kFP4 =
    "0.0, 0.005208333333333333, 0.6666666666666666, 1.0, 0.3333333333333333, 0.5, 0.16666666666666666, 0.25, "
    "-0.0, -0.005208333333333333, -0.6666666666666666, -1.0, -0.3333333333333333, -0.5, -0.16666666666666666, -0.25";
constexpr const char *kNF4 = "-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, "
                             "-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, "
                             "0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0";

// B is [N, K] in a row, high nibble first, in blocks that share a greatest value.
std::string bnb4(const Call &c) {
  int64_t n = c.integer("N", 0), k = c.integer("K", 0), block = c.integer("block_size", 0), most = int64_t(1) << 40;
  if (n < 1 || k < 1 || block < 1 || n > most / k || block > most)
    return c.fail("needs positive attributes N, K and block_size");
  int64_t blocks = (n * k + block - 1) / block, extra = blocks * block - n * k;
  std::string text = intsNode("last", {-1}) + intsNode("row", {1, -1}) + intsNode("flat", {-1}) + intsNode("blocks", {blocks, block}) +
                     intsNode("column", {blocks, 1}) + intsNode("zero", {0}) + intsNode("count", {n * k}) + intsNode("matrix", {n, k}) +
                     intsNode("rest", {0, extra});
  text += std::string("table = Constant <value_floats = [") + (c.integer("quant_type", 1) ? kNF4 : kFP4) + "]> ()\n";
  text += "four = Constant <value = uint8 {4}> ()\nmask = Constant <value = uint8 {15}> ()\n"
          "high = BitShift <direction = \"RIGHT\"> (B, four)\nlow = BitwiseAnd (B, mask)\nh = Unsqueeze (high, last)\n"
          "l = Unsqueeze (low, last)\npairs = Concat <axis = -1> (h, l)\nall = Reshape (pairs, flat)\n"
          "codes = Slice (all, zero, count, zero)\nindex = Cast <to = 7> (codes)\nv = Gather (table, index)\n"
          "padded = Pad (v, rest)\nvb = Reshape (padded, blocks)\nwide = Cast <to = 1> (absmax)\ns = Reshape (wide, column)\n"
          "scaled = Mul (vb, s)\nrowed = Reshape (scaled, flat)\nused = Slice (rowed, zero, count, zero)\nw = Reshape (used, matrix)\n"
          "b = CastLike (w, A)\n";
  return text + (c.integer("transB", 1) ? "t = Transpose <perm = [1, 0]> (b)\nY = MatMul (A, t)\n" : "Y = MatMul (A, b)\n");
}
}  // namespace

const std::vector<MicrosoftBody> kMicrosoftBodies = {
    {"BiasAdd", "X, bias, skip", "Y", biasAdd},
    {"BiasSoftmax", "data, bias", "output", biasSoftmax},
    {"BiasSplitGelu", "X, bias", "Y", biasSplitGelu},
    {"CDist", "A, B", "C", distances},
    {"CausalConvWithState", "input, weight, bias?, past_state?", "output, present_state", causalConv},
    {"ComplexMul", "A, B", "C", complexMul<false>},
    {"ComplexMulConj", "A, B", "C", complexMul<true>},
    {"ConvTransposeWithDynamicPads", "X, W, Pads?, B?", "Y", dynamicPads},
    {"GatedAdd", "X, Y, gate", "output", gatedAdd},
    {"GatedRMSNorm", "X, scale, gate", "Y", gatedRMSNorm},
    {"GatherND", "data, indices", "output", gatherND},
    {"GemmFastGelu", "X, W, bias?", "Y", gemmFastGelu},
    {"GroupNorm", "X, gamma, beta", "Y", groupNorm},
    {"LinearAttentionGate", "a, dt_bias, decay_scale, b?", "decay, beta?", linearAttentionGate},
    {"MatMulBnb4", "A, B, absmax", "Y", bnb4},
    {"MatMulInteger16", "A, B", "Y", integer16},
    {"NhwcConv", "X, W, B?", "Y", nhwcConv},
    {"NhwcFusedConv", "X, W, B?, Z?", "Y", nhwcFusedConv},
    {"QEmbedLayerNormalization",
     "input_ids, segment_ids?, word_embedding_quant, position_embedding_quant, segment_embedding?, gamma_quant, beta_quant, mask?, "
     "word_embedding_scale, position_embedding_scale, segment_embedding_scale?, gamma_scale, beta_scale, word_embedding_zero_point, "
     "position_embedding_zero_point, segment_embedding_zero_point?, gamma_zero_point, beta_zero_point",
     "layernorm_out, mask_index_out?", embedding},
    {"QLinearConv", "x, x_scale, x_zero_point, w, w_scale, w_zero_point, y_scale, y_zero_point, B?", "y", linearConv},
    {"QLinearWhere", "condition, X, x_scale, x_zero_point, Y, y_scale, y_zero_point, z_scale, z_zero_point", "Z", linearWhere},
    {"SampleOp", "X", "Y", copy},
    {"ScaledSiLU", "X, scale?", "Y", scaledSiLU},
    {"SkipGroupNorm", "X, gamma, beta, skip, bias?", "Y, S?", skipGroupNorm},
    {"UnfoldTensor", "input", "output", unfold},
    {"WordConvEmbedding", "Sequence, W, B, C", "Y", wordEmbedding},
};

static const std::initializer_list<const std::vector<MicrosoftBody> *> kTables = {&kMicrosoftBodies, &kMicrosoftAttentions,
                                                                                  &kMicrosoftStreams, &kNchwcBodies};

const MicrosoftBody *findMicrosoftBody(const std::string &domain, const std::string &op) {
  for (const auto *table : kTables)
    for (const MicrosoftBody &body : *table)
      if (op == body.op && domain == body.domain)
        return &body;
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> expandedOps() {
  std::vector<std::pair<std::string, std::string>> names;
  for (llvm::StringRef search : kSearches)
    names.emplace_back("com.microsoft", search);
  for (const auto *table : kTables)
    for (const MicrosoftBody &body : *table)
      names.emplace_back(body.domain, body.op);
  return names;
}

// The list without marks; `missing` is the first operand that the call needs and lacks.
static std::string formals(llvm::StringRef list, const MicrosoftCall &c, std::string &missing) {
  llvm::SmallVector<llvm::StringRef> names;
  list.split(names, ", ");
  std::vector<std::string> plain;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (!name.consume_back("?") && !c.has(int(i)) && missing.empty())
      missing = name.str();
    plain.push_back(name.str());
  }
  return llvm::join(plain, ", ");
}

pb::FunctionProto microsoftFunction(const MicrosoftBody &body, const pb::NodeProto &node, const Scope &scope, bool gatherMatrices,
                                    std::string &error) {
  MicrosoftCall call(node, scope, gatherMatrices);
  std::string missing, ignored;
  std::string operands = formals(body.operands, call, missing), results = formals(body.results, call, ignored);
  pb::FunctionProto function;
  if (!missing.empty()) {
    error = "needs input '" + missing + "'";
    return function;
  }
  std::string nodes = body.nodes(call);
  error = call.error;
  if (!error.empty())
    return function;
  std::string text = "<domain: \"onnxc.microsoft\", opset_import: [\"\" : " + std::to_string(newestOpset()) +
                     ", \"com.microsoft\" : 1]>\n" + body.op + " (" + operands + ") => (" + results + ") {\n" + nodes + "}\n";
  auto status = pb::OnnxParser(text.c_str()).Parse(function);
  if (!status.IsOK())
    error = "has a body that does not parse: " + status.ErrorMessage();
  return function;
}

}  // namespace onnxc::importer
