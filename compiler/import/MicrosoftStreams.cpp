// MicrosoftStreams.cpp: what ONNX Runtime has for models of several residual streams and of hashed n-grams, as bodies of other operators;
// Microsoft.cpp has the mechanism.
#include "compiler/import/Microsoft.h"

namespace onnxc::importer {
namespace {
using Call = MicrosoftCall;

// `x` [.., streams, size] in f32 of `name`, whose last two axes may be one; `split` is what else gets these axes.
std::string streams(const Call &c, const std::string &name) {
  int64_t count = c.integer("num_branches", 0);
  std::string text = intsNode("last", {-1}) + "lead = Shape <end = -1> (" + name + ")\n";
  text += count > 0 ? intsNode("count", {count}) + "split = Concat <axis = 0> (lead, count, last)\n"
                    : "split = Concat <axis = 0> (lead, last)\n";
  return text + "wide = Cast <to = 1> (" + name + ")\nx = Reshape (wide, split)\n";
}
// The result as `name` has it.
std::string like(const std::string &to, const std::string &from, const std::string &name) {
  return "whole = Shape (" + name + ")\nshaped = Reshape (" + from + ", whole)\n" + to + " = CastLike (shaped, " + name + ")\n";
}

// `to` = `from` by the root of its mean square along the last axis, times `scale` [.., size] if there is one. Reads `last` and `epsilon`.
std::string rootMeanSquare(const std::string &to, const std::string &from, const std::string &scale) {
  std::string text = to + "_q = Mul (" + from + ", " + from + ")\n" + to + "_m = ReduceMean <keepdims = 1> (" + to + "_q, last)\n" + to +
                     "_a = Add (" + to + "_m, epsilon)\n" + to + "_r = Sqrt (" + to + "_a)\n";
  if (scale.empty())
    return text + to + " = Div (" + from + ", " + to + "_r)\n";
  return text + to + "_n = Div (" + from + ", " + to + "_r)\n" + to + "_h = Shape <start = -1> (" + from + ")\n" + to +
         "_d = Concat <axis = 0> (last, " + to + "_h)\n" + to + "_w = Cast <to = 1> (" + scale + ")\n" + to + "_s = Reshape (" + to +
         "_w, " + to + "_d)\n" + to + " = Mul (" + to + "_n, " + to + "_s)\n";
}

std::string branchwiseNorm(const Call &c) {
  return streams(c, "X") + floatNode("epsilon", c.real("epsilon", 1e-5f)) + rootMeanSquare("n", "x", c.has(1) ? "scale" : "") +
         like("Y", "n", "X");
}

std::string preMix(const Call &c) {
  return streams(c, "streams") + intsNode("axis", {-2}) + floatNode("factor", c.real("reduction_scale", 1)) +
         "p = Cast <to = 1> (pre_mix)\ngate = Reshape (p, split)\nm = Mul (x, gate)\ns = ReduceSum <keepdims = 0> (m, axis)\n"
         "t = Mul (s, factor)\noutput = CastLike (t, streams)\n";
}
std::string postMix(const Call &c) {
  std::string text =
      streams(c, "streams") + intsNode("axis", {-2}) +
      "p = Cast <to = 1> (post_mix)\ngate = Reshape (p, split)\nb = Cast <to = 1> (block_output)\nrow = Unsqueeze (b, axis)\n"
      "given = Mul (gate, row)\n";
  text += c.has(3) ? "w = Cast <to = 1> (stream_mix)\nkept = Einsum <equation = \"...ck,...ch->...kh\"> (w, x)\n" : "kept = Identity (x)\n";
  return text + "y = Add (kept, given)\n" + like("output", "y", "streams");
}

std::string engramGate(const Call &c) {
  std::string text =
      intsNode("last", {-1}) + intsNode("axis", {2}) + floatNode("epsilon", c.real("epsilon", 1e-5f)) + floatNode("least", 1e-6f);
  text += "k = Cast <to = 1> (key)\nq = Cast <to = 1> (query)\nv = Cast <to = 1> (value)\n" + rootMeanSquare("kn", "k", "key_norm_scale") +
          rootMeanSquare("qn", "q", "query_norm_scale") +
          "kq = Mul (kn, qn)\nsum = ReduceSum <keepdims = 1> (kq, last)\nsize = Shape <start = -1> (k)\nf = Cast <to = 1> (size)\n"
          "root = Sqrt (f)\ndot = Div (sum, root)\nabs = Abs (dot)\nmost = Max (abs, least)\nroot2 = Sqrt (most)\nsign = Sign (dot)\n"
          "z = Mul (sign, root2)\ngate = Sigmoid (z)\nrow = Unsqueeze (v, axis)\ngated = Mul (gate, row)\noutput = CastLike (gated, key)\n";
  return c.has(5) ? text + rootMeanSquare("normed", "gated", "conv_norm_scale") + "gated_value_normed = CastLike (normed, key)\n" : text;
}

// The products of a token and of those before it with a number each, joined by XOR, for each length of n-gram; their remainders by the
// sizes of the tables of each head.
std::string ngramHashes(const Call &c) {
  int64_t most = c.integer("max_ngram_size", 0), heads = c.integer("n_head_per_ngram", 0), before = most - 1;
  constexpr int64_t longest = 64;
  if (most < 2 || most > longest || heads < 1)
    return c.fail("needs a max_ngram_size from 2 to 64 and a positive n_head_per_ngram");
  if (c.integer("reset_on_eos", 0) || c.has(6))
    return c.fail("has the attribute reset_on_eos or the input segment_ids; onnxc looks at no boundaries between tokens");
  std::string text = intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("last", {-1}) + intsNode("before", {before}) +
                     intsNode("pad", {c.integer("pad_id", 0)}) + "length = Shape <start = 1, end = 2> (input_ids)\n";
  if (c.has(3))
    text += "history = Identity (past_ids)\n";
  else
    text += std::string("batch = Shape <start = 0, end = 1> (input_ids)\nsizes = Concat <axis = 0> (batch, before)\nfill = CastLike (") +
            (c.has(5) ? "eos_token_id" : "pad") + ", input_ids)\nhistory = Expand (fill, sizes)\n";
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
    text += intsNode("a" + n, {(k - 1) * heads}) + intsNode("b" + n, {k * heads}) + "v" + n + " = Slice (vocab_sizes, a" + n + ", b" + n +
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
