// Nchwc.cpp: com.microsoft.nchwc, what ONNX Runtime makes of convolutions when it saves a model at its highest level: tensors [N, C, H, W]
// whose elements lie in blocks of channels, [N, C / block, H, W, block], C a multiple of the block. Here they are ordinary tensors of as
// many channels, so the operators become the standard's and the filters are put back into order; what else reads such a tensor may not care
// where its elements lie. plainChannels runs before the walk, the bodies are spliced in by it.
#include "compiler/import/Microsoft.h"
#include "compiler/import/Tensors.h"
#include "compiler/import/Upgrade.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

namespace onnxc::importer {
namespace {
using Call = MicrosoftCall;

constexpr const char *kDomain = "com.microsoft.nchwc";
// What plainChannels tells the bodies: the channels of a block, and how many results of a convolution are read, where fewer are.
constexpr const char *kBlock = "block", *kUsed = "used";

bool isBlocked(const pb::NodeProto &node) { return node.domain() == kDomain; }
bool isBlocked(const pb::NodeProto &node, llvm::StringRef op) { return isBlocked(node) && node.op_type() == op; }

using Constants = std::unordered_map<std::string, const pb::TensorProto *>;
Constants constantsOf(const pb::GraphProto &graph) {
  Constants constants;
  for (const pb::TensorProto &t : graph.initializer())
    constants[t.name()] = &t;
  return constants;
}

// Of a tensor in blocks to the five axes that it has, or back: ONNX Runtime adds tensors so of which it does not know that they have one
// shape.
bool isOrtReshape(const pb::NodeProto &node, const Constants &constants, std::vector<int64_t> &sizes) {
  if (node.op_type() != "Reshape" || !node.domain().empty() || node.input_size() != 2)
    return false;
  auto shape = constants.find(node.input(1));
  if (shape == constants.end() || !smallInts(*shape->second, sizes))
    return false;
  bool splits = sizes.size() == 5;
  return llvm::ArrayRef(sizes).take_front(4) == llvm::ArrayRef<int64_t>{0, -1, 0, 0} && (splits || sizes.size() == 4);
}

// --- how wide the blocks are ---

// What convolutions and reorders of a graph say about the sizes of blocks that it can have.
class BlockSize {
  using Channels = std::unordered_map<std::string, int64_t>;  // of values in blocks, 0: unknown

public:
  explicit BlockSize(const pb::GraphProto &graph) { read(graph); }

  bool fits(int64_t block) const {
    return llvm::all_of(claims, [&](const Claim &claim) { return claim.fits(block); });
  }
  // The first node that does not let the graph have either.
  const pb::NodeProto &culprit(int64_t block, int64_t other) const {
    auto neither = llvm::find_if(claims, [&](const Claim &claim) { return !claim.fits(block) && !claim.fits(other); });
    return *(neither != claims.end() ? neither : llvm::find_if(claims, [&](const Claim &claim) { return !claim.fits(other); }))->node;
  }
  bool isInBlocks = false;  // whether the graph has a node of the domain

private:
  struct Claim {
    const pb::NodeProto *node;
    std::function<bool(int64_t block)> fits;
  };
  void read(const pb::GraphProto &graph) {
    Constants constants = constantsOf(graph);
    Channels channels;
    for (const pb::NodeProto &node : graph.node()) {
      for (const pb::AttributeProto &attr : node.attribute())
        if (attr.has_g())
          read(attr.g());
      auto read = llvm::find_if(node.input(), [&](const std::string &input) { return channels.count(input) != 0; });
      if (isBlocked(node)) {
        isInBlocks = true;
        blockedNode(node, channels, constants);
        continue;
      }
      if (read == node.input().end())
        continue;
      if (std::vector<int64_t> sizes; node.op_type() == "Reshape" && isOrtReshape(node, constants, sizes) && sizes.size() == 5)
        claims.push_back({&node, [told = sizes[4]](int64_t block) { return told == block; }});
      int64_t known = node.op_type() == "Concat" ? 0 : channels[*read];
      for (const std::string &output : node.output())
        if (!output.empty())
          channels[output] = known;
    }
  }
  void blockedNode(const pb::NodeProto &node, Channels &channels, const Constants &constants) {
    if (node.input_size() == 0 || node.output_size() == 0 || node.output(0).empty())
      return;
    if (node.op_type() == "ReorderOutput") {
      if (int64_t all = channels[node.input(0)])
        claims.push_back({&node, [all, cut = intAttr(node, "channels", 0)](int64_t block) {
                            return cut < 1 || cut > all || int64_t(llvm::alignTo(cut, block)) == all;
                          }});
      return;
    }
    auto filter = node.op_type() == "Conv" && node.input_size() > 1 ? constants.find(node.input(1)) : constants.end();
    if (filter != constants.end() && filter->second->dims_size() == 4) {
      const pb::TensorProto &f = *filter->second;
      int64_t results = f.dims(0), inputs = f.dims(1), group = intAttr(node, "group", 1);
      claims.push_back({&node, [=, isPlain = !channels.count(node.input(0))](int64_t block) {  // reads a tensor that lies as others do
                          bool direct = group == 1 && inputs < block, single = group > 1 && inputs == 1;
                          return results % block == 0 && (direct || single || inputs % block == 0) && (!isPlain || direct);
                        }});
      channels[node.output(0)] = results;
    } else {
      channels[node.output(0)] = channels.count(node.input(0)) ? channels[node.input(0)] : 0;
    }
  }
  std::vector<Claim> claims;
};

// --- who reads them ---

// Whether each element of the result depends on one of each operand at the same place.
bool isElementwise(const pb::NodeProto &node) {
  static const llvm::StringSet<> ops = {"Add",       "Gelu", "HardSigmoid", "HardSwish", "Identity", "Mul",
                                        "QuickGelu", "Relu", "Sigmoid",     "Sum",       "Tanh"};
  return ops.contains(node.op_type()) && (node.domain().empty() || node.domain() == "com.microsoft");
}

class Readers {
public:
  Readers(int64_t block, const Report &report) : block(block), report(report) {}

  void graph(pb::GraphProto &graph) {
    std::unordered_set<std::string> blocked;
    std::unordered_map<std::string, int64_t> used = usedChannels(graph);
    Constants constants = constantsOf(graph);
    auto isInBlocks = [&](const std::string &name) { return blocked.count(name) != 0; };
    for (pb::NodeProto &node : *graph.mutable_node()) {
      for (pb::AttributeProto &attr : *node.mutable_attribute())
        if (attr.has_g()) {
          for (const std::string &name : capturedNames(attr.g()))
            if (isInBlocks(name))
              fail(node, name);
          this->graph(*attr.mutable_g());
        }
      auto read = llvm::find_if(node.input(), isInBlocks);
      if (isBlocked(node))
        prepare(node, used);
      else if (read == node.input().end())
        continue;
      else if (std::vector<int64_t> sizes; isOrtReshape(node, constants, sizes))
        copy(node);
      else if (bool channels = node.op_type() == "Concat" && node.domain().empty() && intAttr(node, "axis", 0) == 1;
               !(channels || isElementwise(node)) || !llvm::all_of(node.input(), isInBlocks))
        fail(node, *read);
      if (!isBlocked(node, "ReorderOutput"))
        llvm::copy_if(node.output(), std::inserter(blocked, blocked.end()), [](const std::string &output) { return !output.empty(); });
    }
    for (const pb::ValueInfoProto &output : graph.output())
      if (isInBlocks(output.name())) {
        ok = false;
        report({output.name(), "output", 0}, "lies in blocks of channels; a ReorderOutput has to come before it");
      }
  }
  bool ok = true;

private:
  // The channels of the values that only ReorderOutputs read.
  static std::unordered_map<std::string, int64_t> usedChannels(const pb::GraphProto &graph) {
    std::unordered_map<std::string, int64_t> used;
    for (const pb::NodeProto &node : graph.node())
      for (const std::string &input : node.input()) {
        int64_t channels = isBlocked(node, "ReorderOutput") ? intAttr(node, "channels", 0) : 0;
        auto [known, isNew] = used.try_emplace(input, channels);
        if (!isNew && known->second != channels)
          known->second = 0;
      }
    return used;
  }
  static void copy(pb::NodeProto &node) {
    node.set_op_type("Identity");
    node.mutable_input()->DeleteSubrange(1, 1);
    node.clear_attribute();
  }
  void prepare(pb::NodeProto &node, const std::unordered_map<std::string, int64_t> &used) const {
    auto channels = node.output_size() ? used.find(node.output(0)) : used.end();
    setInt(node, kBlock, block);
    setInt(node, kUsed, channels == used.end() ? 0 : channels->second);
  }
  void fail(const pb::NodeProto &node, const std::string &value) {
    ok = false;
    report({node.name(), node.op_type(), 0},
           "reads '" + value + "', which " + kDomain + " leaves in blocks of channels; save the model at ONNX Runtime's level 'extended'");
  }
  const int64_t block;
  const Report &report;
};

// --- bodies ---

constexpr const char *kInFunction = "is in a function of the model; onnxc knows blocks of channels in graphs alone";

std::string activated(const Call &c) {
  std::string name = c.text("activation", "");
  std::vector<float> values = c.reals("activation_params");
  auto value = [&](size_t i, float otherwise) { return i < values.size() ? values[i] : otherwise; };
  if (name == "Clip")
    return floatNode("low", value(0, -std::numeric_limits<float>::max())) + floatNode("high", value(1, std::numeric_limits<float>::max())) +
           "Y = Clip (s, low, high)\n";
  if (name == "LeakyRelu")
    return "Y = LeakyRelu <alpha = " + textOf(value(0, 0.01f)) + "> (s)\n";
  if (name == "HardSigmoid")
    return "Y = HardSigmoid <alpha = " + textOf(value(0, 0.2f)) + ", beta = " + textOf(value(1, 0.5f)) + "> (s)\n";
  if (!llvm::is_contained({"", "Relu", "Tanh", "Sigmoid", "HardSwish"}, name))
    return c.fail("has activation '" + name + "'");
  return "Y = " + (name.empty() ? "Identity" : name) + " (s)\n";
}

std::string conv(const Call &c) {
  if (c.rank(1) >= 0 && c.rank(1) != 4)
    return c.fail("has a filter of " + std::to_string(c.rank(1)) + " axes; onnxc knows blocks of images alone");
  int64_t block = c.integer(kBlock, 0), group = c.integer("group", 1), used = c.integer(kUsed, 0);
  int64_t m = c.size(1, 0), k = c.size(1, 1), h = c.size(1, 2), w = c.size(1, 3);
  bool inputsInBlocks = k >= block && !(group > 1 && k == 1);
  if (block < 1)
    return c.fail(kInFunction);
  if (!c.error.empty())
    return "";
  if (m % block || (inputsInBlocks && k % block))
    return c.fail("has a filter whose sizes are no blocks of " + std::to_string(block) + " channels");
  std::string text =
      inputsInBlocks ? intsNode("stored", {m / block, k / block, h, w, block, block}) : intsNode("stored", {m / block, k, h, w, block});
  text += "v = Reshape (W, stored)\n" +
          (inputsInBlocks ? transposed("t", "v", {0, 5, 1, 4, 2, 3}) : transposed("t", "v", {0, 4, 1, 2, 3})) +
          intsNode("whole", {m, k, h, w}) + "all = Reshape (t, whole)\n";
  if (used > 0 && used < m && group == 1 && !c.has(3))
    text += intsNode("none", {0}) + intsNode("used", {used}) + "w = Slice (all, none, used, none)\n" +
            (c.has(2) ? "b = Slice (B, none, used, none)\n" : "");
  else
    text += std::string("w = Identity (all)\n") + (c.has(2) ? "b = Identity (B)\n" : "");
  text += std::string("c = Conv <") + kWindowAttributes + "> (X, w, " + (c.has(2) ? "b" : "\"\"") + ")\n";
  return text + (c.has(3) ? "s = Add (c, Sum)\n" : "s = Identity (c)\n") + activated(c);
}

constexpr const char *kPool = "auto_pad: string = @auto_pad, ceil_mode: int = @ceil_mode, dilations: ints = @dilations, "
                              "kernel_shape: ints = @kernel_shape, pads: ints = @pads, strides: ints = @strides";
std::string maxPool(const Call &) { return std::string("Y = MaxPool <") + kPool + "> (X)\n"; }
std::string averagePool(const Call &) {
  return std::string("Y = AveragePool <") + kPool + ", count_include_pad: int = @count_include_pad> (X)\n";
}
std::string globalMaxPool(const Call &) { return "Y = GlobalMaxPool (X)\n"; }
std::string globalAveragePool(const Call &) { return "Y = GlobalAveragePool (X)\n"; }

// The size may be unknown: what other operators of com.microsoft give has none here.
std::string reorderInput(const Call &c) {
  bool last = c.integer("channels_last", 0);
  int64_t block = c.integer(kBlock, 0), channels = c.knownSize(0, last ? 3 : 1);
  if (block < 1)
    return c.fail(kInFunction);
  std::string text = last ? transposed("x", "X", channelsFirst(4)) : "x = Identity (X)\n";
  if (channels >= 0 && channels % block == 0)
    return text + "Y = Identity (x)\n";
  return text + intsNode("block", {block}) + intsNode("before", {0, 0, 0, 0, 0}) + intsNode("behind", {0, 0}) +
         "n = Shape <start = 1, end = 2> (x)\nm = Neg (n)\nextra = Mod (m, block)\npads = Concat <axis = 0> (before, extra, behind)\n"
         "Y = Pad (x, pads)\n";
}
std::string reorderOutput(const Call &c) {
  int64_t channels = c.integer("channels", 0), all = c.knownSize(0, 1);
  if (channels < 1 || (all >= 0 && channels > all))
    return c.fail("takes " + std::to_string(channels) + " channels" +
                  (all >= 0 ? " of " + std::to_string(all) : "; there must be one at least"));
  std::string text = all == channels ? "x = Identity (X)\n"
                                     : intsNode("none", {0}) + intsNode("channels", {channels}) + intsNode("axis", {1}) +
                                           "x = Slice (X, none, channels, axis)\n";
  return text + (c.integer("channels_last", 0) ? transposed("Y", "x", channelsLast(4)) : "Y = Identity (x)\n");
}

std::string upsample(const Call &c) {
  std::string scales;
  for (int64_t scale : c.integers("scales"))
    scales += (scales.empty() ? "" : ", ") + std::to_string(scale) + ".0";
  return "scales = Constant <value_floats = [" + scales + "]> ()\nY = Resize <mode = \"" + c.text("mode", "nearest") +
         "\", coordinate_transformation_mode = \"" + c.text("coordinate_transformation_mode", "asymmetric") +
         "\", nearest_mode = \"floor\"> (X, \"\", scales)\n";
}
}  // namespace

const std::vector<MicrosoftBody> kNchwcBodies = {
    {"AveragePool", "X", "Y", averagePool, kDomain},
    {"Conv", "X, W, B?, Sum?", "Y", conv, kDomain},
    {"GlobalAveragePool", "X", "Y", globalAveragePool, kDomain},
    {"GlobalMaxPool", "X", "Y", globalMaxPool, kDomain},
    {"MaxPool", "X", "Y", maxPool, kDomain},
    {"ReorderInput", "X", "Y", reorderInput, kDomain},
    {"ReorderOutput", "X", "Y", reorderOutput, kDomain},
    {"Upsample", "X", "Y", upsample, kDomain},
};

// Attributes of these names in the functions of a model are none of plainChannels.
template <typename Nodes>
static void forget(Nodes &nodes) {
  for (pb::NodeProto &node : nodes) {
    llvm::erase_if(*node.mutable_attribute(),
                   [&](const pb::AttributeProto &attr) { return isBlocked(node) && (attr.name() == kBlock || attr.name() == kUsed); });
    for (pb::AttributeProto &attr : *node.mutable_attribute())
      if (attr.has_g())
        forget(*attr.mutable_g()->mutable_node());
  }
}

bool plainChannels(pb::ModelProto &model, const Report &report, const std::function<void(const std::string &)> &warn) {
  for (pb::FunctionProto &function : *model.mutable_functions())
    forget(*function.mutable_node());
  BlockSize sizes(model.graph());
  if (!sizes.isInBlocks)
    return true;
  constexpr int64_t wide = 16, narrow = 8;  // of AVX-512 and AArch64; of other x86-64
  bool isWide = sizes.fits(wide), isNarrow = sizes.fits(narrow);
  if (!isWide && !isNarrow) {
    const pb::NodeProto &node = sizes.culprit(wide, narrow);
    report({node.name(), node.op_type(), 1}, "has or reads sizes that are neither in blocks of 16 nor of 8 channels");
    return false;
  }
  if (isWide && isNarrow)
    warn(
        "does not say whether its filters are in blocks of 16 or 8 channels; onnxc takes 16, as ONNX Runtime saves them on processors with "
        "AVX-512 or of AArch64");
  Readers readers(isWide ? wide : narrow, report);
  readers.graph(*model.mutable_graph());
  return readers.ok;
}

}  // namespace onnxc::importer
