// MicrosoftStreams.cpp: what ONNX Runtime has for models of several residual streams and of hashed n-grams, as bodies of other operators;
// Microsoft.cpp has the mechanism.
#include "compiler/import/Microsoft.h"

namespace onnxc::importer {
namespace {
using Call = MicrosoftCall;

// `to` = `from` [.., streams, size], whose last two axes may be one. Reads `count`.
std::string apart(const Call &c, const std::string &to, const std::string &from) {
  if (c.integer("num_branches", 0) <= 0)
    return to + " = Identity (" + from + ")\n";
  return to + "_l = Shape <end = -1> (" + from + ")\n" + to + "_j = Shape <start = -1> (" + from + ")\n" + to + "_w = Div (" + to +
         "_j, count)\n" + to + "_s = Concat <axis = 0> (" + to + "_l, count, " + to + "_w)\n" + to + " = Reshape <allowzero = 1> (" + from +
         ", " + to + "_s)\n";
}
// `x` [.., streams, size] in f32 of `name`.
std::string streams(const Call &c, const std::string &name) {
  return intsNode("last", {-1}) + intsNode("count", {c.integer("num_branches", 0)}) + "wide = Cast <to = 1> (" + name + ")\n" +
         apart(c, "x", "wide");
}
// `gate` [.., streams, size or 1] in f32 of operand `place`.
std::string gateOf(const Call &c, int place, const std::string &name) {
  int rank = c.rank(place), all = c.rank(0) + (c.integer("num_branches", 0) > 0);
  if (c.rank(0) < 1 || rank < 1)
    return c.fail("needs inputs with known numbers of axes");
  std::string text = "p = Cast <to = 1> (" + name + ")\n";
  if (rank == all)
    return text + "gate = Identity (p)\n";
  return text + (c.integer("num_branches", 0) > 0 ? apart(c, "gate", "p") : "gate = Unsqueeze (p, last)\n");
}
// The result as `name` has it.
std::string like(const std::string &to, const std::string &from, const std::string &name) {
  return "whole = Shape (" + name + ")\nshaped = Reshape <allowzero = 1> (" + from + ", whole)\n" + to + " = CastLike (shaped, " + name +
         ")\n";
}

// `to` = `from` by the root of its mean square along the last axis, times `scale` [.., size] if there is one. Reads `last`.
std::string rootMeanSquare(const Call &c, const std::string &to, const std::string &from, const std::string &scale) {
  std::string text = to + "_h = Shape <start = -1> (" + from + ")\n" + to + "_o = ConstantOfShape <value = float[1] {1}> (" + to + "_h)\n" +
                     (scale.empty() ? to : to + "_n") + " = RMSNormalization <axis = -1, epsilon = " + textOf(c.real("epsilon", 1e-5f)) +
                     "> (" + from + ", " + to + "_o)\n";
  if (scale.empty())
    return text;
  return text + to + "_d = Concat <axis = 0> (last, " + to + "_h)\n" + to + "_w = Cast <to = 1> (" + scale + ")\n" + to + "_s = Reshape (" +
         to + "_w, " + to + "_d)\n" + to + " = Mul (" + to + "_n, " + to + "_s)\n";
}

std::string branchwiseNorm(const Call &c) {
  return streams(c, "X") + rootMeanSquare(c, "n", "x", c.has(1) ? "scale" : "") + like("Y", "n", "X");
}

std::string preMix(const Call &c) {
  return streams(c, "streams") + intsNode("axis", {-2}) + floatNode("factor", c.real("reduction_scale", 1)) + gateOf(c, 1, "pre_mix") +
         "m = Mul (x, gate)\ns = ReduceSum <keepdims = 0> (m, axis)\n"
         "t = Mul (s, factor)\noutput = CastLike (t, streams)\n";
}
std::string postMix(const Call &c) {
  std::string text = streams(c, "streams") + intsNode("axis", {-2}) + gateOf(c, 2, "post_mix") +
                     "b = Cast <to = 1> (block_output)\nrow = Unsqueeze (b, axis)\n"
                     "given = Mul (gate, row)\n";
  text += c.has(3) ? "w = Cast <to = 1> (stream_mix)\nkept = Einsum <equation = \"...ck,...ch->...kh\"> (w, x)\n" : "kept = Identity (x)\n";
  return text + "y = Add (kept, given)\n" + like("output", "y", "streams");
}

std::string engramGate(const Call &c) {
  std::string text = intsNode("last", {-1}) + intsNode("axis", {2}) + floatNode("least", 1e-6f);
  text += "k = Cast <to = 1> (key)\nq = Cast <to = 1> (query)\nv = Cast <to = 1> (value)\n" +
          rootMeanSquare(c, "kn", "k", "key_norm_scale") + rootMeanSquare(c, "qn", "q", "query_norm_scale") +
          "kq = Mul (kn, qn)\nsum = ReduceSum <keepdims = 1> (kq, last)\nsize = Shape <start = -1> (k)\nf = Cast <to = 1> (size)\n"
          "root = Sqrt (f)\ndot = Div (sum, root)\nabs = Abs (dot)\nmost = Max (abs, least)\nroot2 = Sqrt (most)\nsign = Sign (dot)\n"
          "z = Mul (sign, root2)\ngate = Sigmoid (z)\nrow = Unsqueeze (v, axis)\ngated = Mul (gate, row)\noutput = CastLike (gated, key)\n";
  return c.has(5) ? text + rootMeanSquare(c, "normed", "gated", "conv_norm_scale") + "gated_value_normed = CastLike (normed, key)\n" : text;
}

// The products of a token and of those before it with a number each, joined by XOR, for each length of n-gram; their remainders by the
// sizes of the tables of each head.
std::string ngramHashes(const Call &c) {
  int64_t most = c.integer("max_ngram_size", 0), heads = c.integer("n_head_per_ngram", 0), before = most - 1;
  constexpr int64_t longest = 64;
  if (most < 2 || most > longest || heads < 1 || heads > INT32_MAX)
    return c.fail("needs a max_ngram_size from 2 to 64 and a positive n_head_per_ngram of at most 31 bits");
  if (c.integer("reset_on_eos", 0) || c.has(6))
    return c.fail("has the attribute reset_on_eos or the input segment_ids; onnxc looks at no boundaries between tokens");
  int64_t tables = before * heads, given = c.knownSize(2, 0), past = c.knownSize(3, 1);
  if (given >= 0 && given != tables)
    return c.fail("has " + std::to_string(given) + " vocab_sizes; n-grams of up to " + std::to_string(most) + " tokens with " +
                  std::to_string(heads) + " heads each need " + std::to_string(tables));
  if (past >= 0 && past != before)
    return c.fail("has past_ids of " + std::to_string(past) + " tokens; n-grams of up to " + std::to_string(most) + " need " +
                  std::to_string(before));
  std::vector<int64_t> sizes;
  if (c.constant(2, sizes))
    for (int64_t size : sizes)
      if (size < 1)
        return c.fail("has " + std::to_string(size) + " among its vocab_sizes, which must be positive");
  std::string text = intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("last", {-1}) + intsNode("before", {before}) +
                     intsNode("tables", {tables}) + "vocab = Reshape (vocab_sizes, tables)\n" + intsNode("pad", {c.integer("pad_id", 0)}) +
                     "length = Shape <start = 1, end = 2> (input_ids)\n"
                     "batch = Shape <start = 0, end = 1> (input_ids)\nsizes = Concat <axis = 0> (batch, before)\n";
  if (c.has(3))
    text += "history = Reshape <allowzero = 1> (past_ids, sizes)\n";
  else
    text += std::string("fill = CastLike (") + (c.has(5) ? "eos_token_id" : "pad") + ", input_ids)\nhistory = Expand (fill, sizes)\n";
  text += "all = Concat <axis = 1> (history, input_ids)\nend = Shape <start = 1, end = 2> (all)\nfrom = Sub (end, before)\n"
          "present_ids = Slice (all, from, end, one)\n";
  std::string parts;
  for (int64_t k = 0; k < most; ++k) {
    std::string n = std::to_string(k), earlier = std::to_string(k - 1);
    text += intsNode("s" + n, {before - k}) + "e" + n + " = Add (s" + n + ", length)\nt" + n + " = Slice (all, s" + n + ", e" + n +
            ", one)\n" + intsNode("i" + n, {k}) + "f" + n + " = Gather (multipliers, i" + n + ")\np" + n + " = Mul (t" + n + ", f" + n +
            ")\n";
    text += k == 0 ? "m0 = Identity (p0)\n" : "m" + n + " = BitwiseXor (m" + earlier + ", p" + n + ")\n";
    if (k == 0)
      continue;
    text += intsNode("a" + n, {(k - 1) * heads}) + intsNode("b" + n, {k * heads}) + "v" + n + " = Slice (vocab, a" + n + ", b" + n +
            ", zero)\nc" + n + " = Unsqueeze (m" + n + ", last)\nr" + n + " = Mod (c" + n + ", v" + n + ")\n";
    parts += (k > 1 ? ", r" : "r") + n;
  }
  return text + "hashes = Concat <axis = -1> (" + parts +
         ")\nhash_ids = " + (c.has(4) ? "Add (hashes, head_offsets)\n" : "Identity (hashes)\n");
}
}  // namespace

const std::vector<MicrosoftBody> kMicrosoftStreams = {
    {"BranchwiseRMSNorm", "X, scale?", "Y", branchwiseNorm},
    {"EngramGate", "key, query, value, key_norm_scale, query_norm_scale, conv_norm_scale?", "output, gated_value_normed?", engramGate},
    {"HyperConnectionPostMix", "streams, block_output, post_mix, stream_mix?", "output", postMix},
    {"HyperConnectionPreMix", "streams, pre_mix", "output", preMix},
    {"NGramHashMapping", "input_ids, multipliers, vocab_sizes, past_ids?, head_offsets?, eos_token_id?, segment_ids?",
     "hash_ids, present_ids?", ngramHashes},
};

}  // namespace onnxc::importer
