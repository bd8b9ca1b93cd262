// MicrosoftAttention.cpp: what ONNX Runtime's tools write into transformers, as bodies of other operators: attention of one token, rows
// without padding, relative positions, mixtures of experts. Microsoft.cpp beside it has the mechanism.
#include "compiler/import/Microsoft.h"
#include <cmath>

namespace onnxc::importer {
namespace {
using Call = MicrosoftCall;

std::string headsOf(const std::string &to, const std::string &from) {
  return to + "_r = Reshape (" + from + ", split)\n" + to + " = Transpose <perm = [0, 2, 1, 3]> (" + to + "_r)\n";
}

// --- attention of one token ---

// `name` [batch, heads, 1, size] behind `past` as `present`; `all` is what attention reads.
std::string appended(const Call &c, const std::string &name, const std::string &past, const std::string &present, const std::string &all) {
  if (!c.has(5))
    return present + " = Identity (" + name + ")\n" + all + " = Identity (" + name + ")\n";
  if (!c.integer("past_present_share_buffer", 0))
    return present + " = Concat <axis = 2> (" + past + ", " + name + ")\n" + all + " = Identity (" + present + ")\n";
  return present + " = Where (here, " + name + ", " + past + ")\n" + all + " = Slice (" + present + ", zero, total, two)\n";
}

// Each position's row of the batch, from the beam it came from; the last position's is its own.
std::string beams(const std::string &to, const std::string &from) {
  return to + "_t = Transpose <perm = [0, 2, 1, 3]> (" + from + ")\n" + to + "_g = GatherND (" + to + "_t, places)\n" + to +
         " = Transpose <perm = [0, 2, 1, 3]> (" + to + "_g)\n";
}
std::string beamPlaces() {
  return "extent = Shape <start = 2, end = 3> (allK)\nlength = Squeeze (extent)\nt = Range (none, length, unit)\n"
         "rows = Shape <start = 0, end = 1> (allK)\nrowCount = Squeeze (rows)\nr = Range (none, rowCount, unit)\nrow = Unsqueeze (r, one)\n"
         "beamCount = Shape <start = 1, end = 2> (cache_indirection)\nentry = Div (row, beamCount)\nbase = Mul (entry, beamCount)\n"
         "wideC = Cast <to = 7> (cache_indirection)\nshapeC = Concat <axis = 0> (rows, last)\nflatC = Reshape (wideC, shapeC)\n"
         "cutC = Slice (flatC, zero, extent, one)\nfrom = Add (base, cutC)\nnewest = Sub (length, unit)\nisNewest = Equal (t, newest)\n"
         "source = Where (isNewest, row, from)\nshapeS = Shape (source)\ntime = Expand (t, shapeS)\n"
         "s1 = Unsqueeze (source, last)\nt1 = Unsqueeze (time, last)\nplaces = Concat <axis = -1> (s1, t1)\n";
}

// The heads `q`, and `k0` and `v0` as the model gives them, of a node with the bias (input 10) of all three or without.
std::string queriesOfHeads(const Call &c) {
  std::string text = c.has(1) ? "q0 = Identity (query)\nk0 = Identity (key)\nv0 = Identity (value)\n"
                              : "q0, k0, v0 = Split <axis = -1, num_outputs = 3> (query)\n";
  text += c.has(10) ? "d = Shape <start = -1> (q0)\ndd = Add (d, d)\nbq = Slice (bias, zero, d, zero)\nq1 = Add (q0, bq)\n"
                    : "q1 = Identity (q0)\n";
  return text + headsOf("q", "q1");
}

// `allK` and `allV`, what attention reads: the tokens before, and this one's heads behind them.
std::string keysAndValues(const Call &c, bool shared) {
  std::string text = c.has(10) ? "bk = Slice (bias, d, dd, zero)\nbv = Slice (bias, dd, far, zero)\nk1 = Add (k0, bk)\nv1 = Add (v0, bv)\n"
                               : "k1 = Identity (k0)\nv1 = Identity (v0)\n";
  text += headsOf("k", "k1") + headsOf("v", "v1");
  if (shared)
    text += "wideP = Cast <to = 7> (past_sequence_length)\np = Reshape (wideP, one)\ntotal = Add (p, one)\n"
            "most = Shape <start = 2, end = 3> (past_key)\nmostS = Squeeze (most)\npos = Range (none, mostS, unit)\n"
            "at = Equal (pos, p)\nhere = Unsqueeze (at, last)\n";
  return text + appended(c, "k", "past_key", "present_key", "allK") + appended(c, "v", "past_value", "present_value", "allV");
}

// Appends the scores of `q` with `keys`, scaled, with what the mask and the bias of attention add; gives their name.
std::string maskedScores(const Call &c, const std::string &keys, std::string &text) {
  text += "kt = Transpose <perm = [0, 1, 3, 2]> (" + keys + ")\ns0 = MatMul (q, kt)\n";
  if (c.real("scale", 0) != 0)
    text += floatNode("f", c.real("scale", 0)) + "factor = CastLike (f, query)\ns1s = Mul (s0, factor)\n";
  else
    text += "hd = Shape <start = 3, end = 4> (q)\nhf = Cast <to = 1> (hd)\nroot = Sqrt (hf)\nrootT = CastLike (root, query)\n"
            "s1s = Div (s0, rootT)\n";
  std::string scores = "s1s";
  if (c.has(3)) {
    text += "off = Constant <value = int32 {0}> ()\nhidden = Equal (mask_index, off)\n" +
            floatNode("low", c.real("mask_filter_value", -10000.0f)) + floatNode("nothing", 0) +
            "maskF = Where (hidden, low, nothing)\nmaskT = CastLike (maskF, query)\n" + intsNode("inner", {1, 2}) +
            "mask4 = Unsqueeze (maskT, inner)\ns2s = Add (s1s, mask4)\n";
    scores = "s2s";
  }
  if (c.has(4)) {
    text += "s3s = Add (" + scores + ", attention_bias)\n";
    scores = "s3s";
  }
  return scores;
}

std::string maskedHeads(const Call &c) {
  int64_t heads = c.integer("num_heads", 0);
  bool cross = c.rank(1) == 4, shared = c.integer("past_present_share_buffer", 0) && c.has(5), indirect = c.has(9) && !cross;
  if (heads < 1 || (shared && !c.has(7)))
    return c.fail("needs a positive attribute num_heads, and past_sequence_length where past and present share a buffer");
  std::string text = intsNode("split", {0, 0, heads, -1}) + intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("two", {2}) +
                     intsNode("last", {-1}) + intsNode("join", {0, 0, -1}) + intsNode("far", {INT64_MAX}) +
                     "none = Constant <value_int = 0> ()\nunit = Constant <value_int = 1> ()\n" + queriesOfHeads(c);
  text += cross ? "allK = Identity (k0)\nallV = Identity (v0)\npresent_key = Identity (k0)\npresent_value = Identity (v0)\n"
                : keysAndValues(c, shared);
  if (indirect)
    text += beamPlaces() + beams("beamK", "allK") + beams("beamV", "allV");
  std::string scores = maskedScores(c, indirect ? "beamK" : "allK", text);
  return text + "qk = Softmax <axis = -1> (" + scores + ")\nmixed = MatMul (qk, " + (indirect ? "beamV" : "allV") +
         ")\nback = Transpose <perm = [0, 2, 1, 3]> (mixed)\noutput = Reshape (back, join)\n";
}

// --- attention between some blocks of tokens ---

// `hits` [layouts, blocks, blocks]: how often each block of keys is listed for each block of queries.
std::string listedBlocks() {
  return "edges = Cast <to = 7> (block_row_indices)\nends = Slice (edges, one, far, one)\nends3 = Unsqueeze (ends, two)\n"
         "entries = Shape <start = 1, end = 2> (block_col_indices)\nentryCount = Squeeze (entries)\nj = Range (none, entryCount, unit)\n"
         "isBehind = LessOrEqual (ends3, j)\nbehind = Cast <to = 7> (isBehind)\nrowOf = ReduceSum <keepdims = 0> (behind, one)\n"
         "blocks = Shape <start = 1, end = 2> (ends)\nblockCount = Squeeze (blocks)\nb = Range (none, blockCount, unit)\n"
         "bColumn = Unsqueeze (b, one)\nrow3 = Unsqueeze (rowOf, one)\nisRow = Equal (row3, bColumn)\nrowF = Cast <to = 1> (isRow)\n"
         "columns = Cast <to = 7> (block_col_indices)\ncolumn3 = Unsqueeze (columns, two)\nisColumn = Equal (column3, b)\n"
         "columnF = Cast <to = 1> (isColumn)\nhits = MatMul (rowF, columnF)\n";
}

// The list of blocks as a bias of grouped-query attention; heads have the layouts in turn. Of keys beyond the blocks one is looked up,
// which Gather refuses.
std::string sparseAttention(const Call &c) {
  int64_t size = c.integer("sparse_block_size", 0), heads = c.integer("num_heads", 0);
  if (size < 1 || size > INT32_MAX || heads < 1)
    return c.fail("needs positive attributes sparse_block_size, of at most 31 bits, and num_heads");
  return intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("two", {2}) + intsNode("far", {INT64_MAX}) + intsNode("size", {size}) +
         "none = Constant <value_int = 0> ()\nunit = Constant <value_int = 1> ()\nheadCount = Constant <value_int = " +
         std::to_string(heads) + "> ()\n" + listedBlocks() +
         "layouts = Shape <start = 0, end = 1> (hits)\nhead = Range (none, headCount, unit)\nlayout = Mod (head, layouts)\n"
         "ofHeads = Gather <axis = 0> (hits, layout)\nwideT = Cast <to = 7> (total_sequence_length)\ntotal = Reshape (wideT, one)\n"
         "totalS = Squeeze (total)\nlengths = Cast <to = 7> (key_total_sequence_lengths)\nsteps = Shape <start = 1, end = 2> (query)\n"
         "stepCount = Squeeze (steps)\npast0 = Sub (lengths, steps)\nisPrompt = Equal (total, steps)\n"
         "past = Where (isPrompt, zero, past0)\npastColumn = Unsqueeze (past, one)\ns = Range (none, stepCount, unit)\n"
         "q = Add (pastColumn, s)\nqBlock = Div (q, size)\nwithin = Mul (blocks, size)\nbeyond = Add (within, one)\n"
         "least = Min (total, beyond)\nlookedUp = Squeeze (least)\nt = Range (none, lookedUp, unit)\nkBlock = Div (t, size)\n"
         "ofQueries = Gather <axis = 1> (ofHeads, qBlock)\nofKeys = Gather <axis = 3> (ofQueries, kBlock)\n"
         "byBatch = Transpose <perm = [1, 0, 2, 3]> (ofKeys)\nisListed = Cast <to = 9> (byBatch)\n" +
         floatNode("seen", 0) + floatNode("hidden", -1e30f) +
         "biasF = Where (isListed, seen, hidden)\nbias = CastLike (biasF, query)\nbefore = Sub (lengths, one)\n"
         "seqlens = Cast <to = 6> (before)\ntotal32 = Cast <to = 6> (totalS)\n"
         "output, present_key, present_value = com.microsoft.GroupQueryAttention <num_heads: int = @num_heads, "
         "kv_num_heads: int = @kv_num_heads, scale: float = @scale, do_rotary: int = @do_rotary, "
         "rotary_interleaved: int = @rotary_interleaved> (query, key, value, past_key, past_value, seqlens, total32, cos_cache, sin_cache, "
         "\"\", bias)\n";
}

// --- rows without padding ---

constexpr const char *kNumbers = "none = Constant <value_int = 0> ()\nunit = Constant <value_int = 1> ()\n";

std::string removePadding(const Call &) {
  return std::string(kNumbers) + intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("flat", {-1}) +
         "length = Shape <start = 1, end = 2> (input)\nlengthS = Squeeze (length)\nt = Range (none, lengthS, unit)\n"
         "count = Cast <to = 7> (sequence_token_count)\ncolumn = Unsqueeze (count, one)\nreal = Less (t, column)\nkept = Reshape (real, "
         "flat)\n"
         "pad = Not (kept)\nk = NonZero (kept)\nkeep = Squeeze (k, zero)\np = NonZero (pad)\npads = Squeeze (p, zero)\n"
         "order = Concat <axis = 0> (keep, pads)\norder32 = Cast <to = 6> (order)\nplane = Shape <start = 0, end = 2> (input)\n"
         "token_offset = Reshape (order32, plane)\nhidden = Shape <start = 2> (input)\nrows = Concat <axis = 0> (flat, hidden)\n"
         "table = Reshape (input, rows)\noutput = Gather (table, keep)\nsums = CumSum (count, none)\nall = Concat <axis = 0> (zero, sums)\n"
         "cumulated_seq_len = Cast <to = 6> (all)\nmost = ReduceMax (count)\nmax_seq_len = Cast <to = 6> (most)\n";
}

// `to` [batch, length, …] of rows `from`, zeros between them; needs restoreStart.
std::string restoreStart(const std::string &rows) {
  return intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("flat", {-1}) + "count = Shape <start = 0, end = 1> (" + rows +
         ")\nwide = Cast <to = 7> (token_offset)\norder = Reshape (wide, flat)\nkept = Slice (order, zero, count, zero)\n"
         "place = Unsqueeze (kept, one)\nplane = Shape (token_offset)\nall = Shape (order)\n";
}
std::string restored(const std::string &to, const std::string &from) {
  return to + "_h = Shape <start = 1> (" + from + ")\n" + to + "_s = Concat <axis = 0> (all, " + to + "_h)\n" + to +
         "_z = ConstantOfShape (" + to + "_s)\n" + to + "_t = CastLike (" + to + "_z, " + from + ")\n" + to + "_f = ScatterND (" + to +
         "_t, place, " + from + ")\n" + to + "_o = Concat <axis = 0> (plane, " + to + "_h)\n" + to + " = Reshape (" + to + "_f, " + to +
         "_o)\n";
}
std::string restorePadding(const Call &) { return restoreStart("input") + restored("output", "input"); }

// Attention of q, k and v [tokens, …] within their sequences.
std::string packedHeads(const Call &c, const std::string &bias, bool hasAttentionBias) {
  std::string scale = c.real("scale", 0) != 0 ? ", scale: float = @scale" : "";
  return restoreStart("q") + restored("q3", "q") + restored("k3", "k") + restored("v3", "v") + intsNode("end", {INT64_MAX}) +
         intsNode("before", {-1}) +
         "tails = Slice (cumulative_sequence_length, one, end, zero)\nheads = Slice (cumulative_sequence_length, zero, before, zero)\n"
         "lengths = Sub (tails, heads)\nmixed = com.microsoft.MultiHeadAttention <num_heads: int = @num_heads" +
         scale + "> (q3, k3, v3, " + bias + ", lengths" + (hasAttentionBias ? ", attention_bias" : "") +
         ")\nhidden = Shape <start = 2> (mixed)\nrows = Concat <axis = 0> (flat, hidden)\ntable = Reshape (mixed, rows)\n"
         "output = Gather (table, kept)\n";
}
std::string packedAttention(const Call &c) {
  std::vector<int64_t> sizes = c.integers("qkv_hidden_sizes");
  std::string text = "m = MatMul (input, weights)\nt = Add (m, bias)\n";
  text += sizes.size() == 3 ? intsNode("sizes", sizes) + "q, k, v = Split <axis = -1> (t, sizes)\n"
                            : "q, k, v = Split <axis = -1, num_outputs = 3> (t)\n";
  return text + packedHeads(c, "\"\"", c.has(5));
}
std::string packedMultiHeadAttention(const Call &c) {
  std::string text;
  if (c.has(1)) {
    text = "q = Identity (query)\nk = Identity (key)\nv = Identity (value)\n";
  } else {
    text = intsNode("joined", {0, -1}) + "q0, k0, v0 = Split <axis = 2, num_outputs = 3> (query)\nq = Reshape (q0, joined)\n"
                                         "k = Reshape (k0, joined)\nv = Reshape (v0, joined)\n";
  }
  return text + packedHeads(c, c.has(3) ? "bias" : "\"\"", c.has(6));
}

// --- relative positions ---

// T5's: near distances have a bucket each, far ones share them by their logarithm. The table is stored by heads.
std::string relativePositions(const Call &c) {
  int64_t buckets = c.size(0, 0), heads = c.size(0, 1);
  bool both = c.integer("is_bidirectional", 0);
  int64_t half = both ? buckets / 2 : buckets, exact = half / 2;
  int64_t most = c.integer("max_distance", 0);
  if (exact < 1 || most <= exact)
    return c.fail("needs at least two buckets for each direction, and a max_distance beyond those that are exact");
  std::string text = std::string(kNumbers) + intsNode("one", {1}) + intsNode("zero", {0}) + intsNode("byHead", {heads, buckets}) +
                     "ql = Reshape (query_length, one)\nqs = Squeeze (ql)\nkl = Reshape (key_length, one)\nks = Squeeze (kl)\n"
                     "qr = Range (none, qs, unit)\nqc = Unsqueeze (qr, one)\nkr = Range (none, ks, unit)\nd = Sub (kr, qc)\n";
  text += both ? intsNode("half", {half}) + "isAfter = Greater (d, zero)\nshift = Where (isAfter, half, zero)\nn = Abs (d)\n"
               : "back = Min (d, zero)\nn = Neg (back)\nshift = Identity (zero)\n";
  text += intsNode("exact", {exact}) + intsNode("limit", {half - 1}) + floatNode("exactF", float(exact)) +
          floatNode("factor", float(half - exact)) + floatNode("range", std::log(float(most) / float(exact))) +
          "isNear = Less (n, exact)\nfar = Max (n, exact)\nnf = Cast <to = 1> (far)\nratio = Div (nf, exactF)\nlog = Log (ratio)\n"
          "part = Div (log, range)\nstep = Mul (part, factor)\nwhole = Cast <to = 7> (step)\nlarge = Add (exact, whole)\n"
          "capped = Min (large, limit)\nsmall = Where (isNear, n, capped)\nbucket = Add (small, shift)\n"
          "table = Reshape (bias_table, byHead)\nvalues = Gather <axis = 1> (table, bucket)\noutput = Unsqueeze (values, zero)\n";
  return text;
}

std::string gatedPositions(const Call &c) {
  std::string query = c.has(6) ? "q3" : "query_layer";
  return (c.has(6) ? restoreStart("query_layer") + restored("q3", "query_layer") : std::string()) +
         intsNode("split", {0, 0, c.integer("num_heads", 1), -1}) + intsNode("pairs", {0, 0, 0, 2, -1}) + intsNode("last", {-1}) +
         floatNode("oneF", 1) + floatNode("twoF", 2) + "qb = Add (" + query + ", query_bias)\n" + headsOf("q", "qb") +
         "m = MatMul (q, weight)\ng = Add (m, bias)\ngp = Reshape (g, pairs)\ngs = ReduceSum <keepdims = 0> (gp, last)\nsg = Sigmoid (gs)\n"
         "u, r = Split <axis = -1, num_outputs = 2> (sg)\nunit = CastLike (oneF, sg)\ntwice = CastLike (twoF, sg)\n"
         "e = Mul (r, eco_a)\nf = Sub (e, unit)\nh = Mul (u, f)\nk = Add (h, twice)\noutput = Mul (k, rel_pos)\n";
}

// Each place of the cache's width reads the angle of its own stream of positions: time, height or width. One row of cosines a token is
// the cache of an ordinary RotaryEmbedding then.
std::string rotary(const Call &c) {
  std::vector<int64_t> section = c.integers("mrope_section");
  int64_t half = c.size(2, 1);
  if (section.size() != 3 || llvm::any_of(section, [&](int64_t n) { return n < 0 || n > half; }) || half > 1 << 16)
    return c.fail("needs three sections within the cosines' width, which must be known");
  std::vector<int64_t> streams;
  for (int64_t i = 0; i < half; ++i)
    if (c.integer("mrope_layout", 0))
      streams.push_back(i % 3 != 0 && i < 3 * section[i % 3] ? i % 3 : 0);
    else
      streams.push_back(i < section[0] ? 0 : i < section[0] + section[1] ? 1 : 2);
  std::string text = std::string(kNumbers) + intsNode("streams", streams) + intsNode("width", {-1, half}) + intsNode("first", {0}) +
                     "two = Constant <value_int = 2> ()\nisHeight = Equal (streams, unit)\nisWidth = Equal (streams, two)\n";
  for (std::string n : {"cos", "sin"})
    text += n + "3 = Gather (" + n + "_cache, position_ids)\n" + n + "T, " + n + "H, " + n + "W = Split <axis = 0, num_outputs = 3> (" + n +
            "3)\n" + n + "A = Where (isHeight, " + n + "H, " + n + "T)\n" + n + "B = Where (isWidth, " + n + "W, " + n + "A)\n" + n +
            "2 = Reshape (" + n + "B, width)\n";
  return text +
         "plane = Shape <start = 1> (position_ids)\ncount = ReduceProd <keepdims = 0> (plane, first)\nr = Range (none, count, unit)\n"
         "tokens = Reshape (r, plane)\noutput = com.microsoft.RotaryEmbedding <interleaved: int = @interleaved, num_heads: int = "
         "@num_heads, rotary_embedding_dim: int = @rotary_embedding_dim, scale: float = @scale> (input, tokens, cos2, sin2)\n";
}

// --- mixtures of experts ---

// `to` = the activation of `h` (and of `third`, where the gate is a product of its own).
std::string activated(const Call &c, bool hasThird) {
  std::string kind = c.text("activation_type", "relu");
  int64_t fusion = c.integer("swiglu_fusion", 0);
  float limit = c.real("swiglu_limit", INFINITY);
  if (kind == "swiglu") {
    std::string text;
    if (fusion == 1)
      text = intsNode("two", {0, 0, -1, 2}) + intsNode("end", {-1}) +
             "pairs = Reshape (h, two)\np, q = Split <axis = -1, num_outputs = 2> (pairs)\ng0 = Squeeze (p, end)\nl0 = Squeeze (q, end)\n";
    else if (fusion == 2)
      text = "g0, l0 = Split <axis = -1, num_outputs = 2> (h)\n";
    else if (hasThird)
      text = "g0 = Identity (h)\nl0 = Identity (third)\n";
    else
      return c.fail("has SwiGLU without a third product, and its first is not fused");
    if (std::isfinite(limit))
      text += floatNode("most", limit) + floatNode("least", -limit) +
              "mostT = CastLike (most, h)\nleastT = CastLike (least, h)\ng = Min (g0, mostT)\nl1 = Min (l0, mostT)\nl = Max (l1, leastT)\n";
    else
      text += "g = Identity (g0)\nl = Identity (l0)\n";
    return text + floatNode("alpha", c.real("activation_alpha", 1)) + floatNode("beta", c.real("activation_beta", 0)) +
           "alphaT = CastLike (alpha, h)\nbetaT = CastLike (beta, h)\nz = Mul (g, alphaT)\ns = Sigmoid (z)\ngs = Mul (g, s)\n"
           "lb = Add (l, betaT)\na = Mul (gs, lb)\n";
  }
  std::string text = kind == "relu"       ? "a0 = Relu (h)\n"
                     : kind == "gelu"     ? "a0 = Gelu <approximate = \"tanh\"> (h)\n"
                     : kind == "silu"     ? "s = Sigmoid (h)\na0 = Mul (h, s)\n"
                     : kind == "identity" ? "a0 = Identity (h)\n"
                                          : "";
  if (text.empty())
    return c.fail("has activation '" + kind + "'");
  return text + (hasThird ? "a = Mul (a0, third)\n" : "a = Identity (a0)\n");
}

// `to` = rows `from` times the weights of every expert, or of those that `picked` names for each row, plus their biases.
std::string product(const std::string &to, const std::string &from, const std::string &weights, const std::string &bias, bool sparse) {
  std::string text =
      sparse ? to + "_w = Gather <axis = 0> (" + weights + ", picked)\n" + to + "_c = Transpose <perm = [0, 2, 1]> (" + from + ")\n" + to +
                   "_r = MatMul (" + to + "_w, " + to + "_c)\n" + to + "_m = Transpose <perm = [0, 2, 1]> (" + to + "_r)\n"
             : to + "_w = Transpose <perm = [0, 2, 1]> (" + weights + ")\n" + to + "_m = MatMul (" + from + ", " + to + "_w)\n";
  if (bias.empty())
    return text + to + " = Identity (" + to + "_m)\n";
  return text + to + "_p = " + (sparse ? "Gather <axis = 0> (" + bias + ", picked)\n" : "Identity (" + bias + ")\n") + to +
         "_b = Unsqueeze (" + to + "_p, one)\n" + to + " = Add (" + to + "_m, " + to + "_b)\n";
}

std::string expertNumbers() { return intsNode("zero", {0}) + intsNode("one", {1}) + intsNode("last", {-1}); }

// Whether an expert works on the tokens that chose it alone: matrices are read where they lie then, not from panels.
bool isSparse(const Call &c, int weights) {
  constexpr int64_t leastShare = 2;  // of the experts, one that makes up for that
  return c.gatherMatrices && c.elementType(0) == pb::TensorProto::FLOAT && c.rank(weights) == 3 &&
         c.knownSize(weights, 0) >= leastShare * c.integer("k", 1);
}

// Reads expertNumbers. Otherwise every expert works on every token; those that the router does not choose count nothing.
std::string experts(const Call &c, const std::vector<std::string> &weights, const std::vector<int> &biases, bool hasThird, bool hasMixing,
                    bool normalised, bool sparse) {
  if (c.integer("use_sparse_mixer", 0))
    return c.fail("has the attribute use_sparse_mixer; onnxc chooses the experts by TopK");
  std::string text = intsNode("chosen", {c.integer("k", 1)}) +
                     "size = Shape <start = -1> (input)\nrows = Concat <axis = 0> (last, size)\nx2 = Reshape (input, rows)\n"
                     "probs = Softmax <axis = -1> (router_probs)\nbest, index = TopK <axis = -1> (";
  text += hasMixing ? "router_probs, chosen)\nmixing = GatherElements <axis = 1> (router_weights, index)\n"
                    : "probs, chosen)\nmixing = Identity (best)\n";
  text += normalised ? "sum = ReduceSum <keepdims = 1> (mixing, last)\ngate0 = Div (mixing, sum)\n" : "gate0 = Identity (mixing)\n";
  text += sparse ? "picked = Reshape (index, last)\ncopies = Concat <axis = 0> (one, chosen, one)\nx3 = Unsqueeze (x2, one)\n"
                   "x4 = Expand (x3, copies)\nsingle = Concat <axis = 0> (last, one, size)\nx = Reshape (x4, single)\n"
                 : "x = Unsqueeze (x2, zero)\n";
  auto times = [&](const char *to, const char *from, int layer) {
    return product(to, from, weights[layer], c.has(biases[layer]) ? "fc" + std::to_string(layer + 1) + "_experts_bias" : "", sparse);
  };
  text += times("h", "x", 0) + (hasThird ? times("third", "x", 2) : "") + activated(c, hasThird) + times("y", "a", 1);
  text += sparse ? "units = Concat <axis = 0> (last, one, one)\ngate = Reshape (gate0, units)\nscaled = Mul (y, gate)\n"
                   "groups = Concat <axis = 0> (last, chosen, size)\nshare = Reshape (scaled, groups)\n"
                   "total = ReduceSum <keepdims = 0> (share, one)\n"
                 : "shape = Shape (probs)\nempty = ConstantOfShape (shape)\nemptyT = CastLike (empty, gate0)\n"
                   "gates = ScatterElements <axis = 1> (emptyT, index, gate0)\nturned = Transpose <perm = [1, 0]> (gates)\n"
                   "gate = Unsqueeze (turned, last)\nshare = Mul (y, gate)\ntotal = ReduceSum <keepdims = 0> (share, zero)\n";
  return text + "whole = Shape (input)\noutput = Reshape (total, whole)\n";
}
std::string mixture(const Call &c) {
  return expertNumbers() + experts(c, {"fc1_experts_weights", "fc2_experts_weights", "fc3_experts_weights"}, {3, 5, 7}, c.has(6), false,
                                   c.integer("normalize_routing_weights", 0), isSparse(c, 2));
}

// `to` [.., n · 8 / bits] of `from` [.., n] bytes; the low bits come first. `shape` is the result's.
std::string unpacked(const std::string &to, const std::string &from, int64_t bits, const std::vector<int64_t> &shape) {
  std::string text, parts;
  for (int64_t at = 0; at < 8; at += bits) {
    std::string n = to + "_" + std::to_string(at);
    text += n + "_s = Constant <value = uint8 {" + std::to_string(at) + "}> ()\n" + n + "_h = BitShift <direction = \"RIGHT\"> (" + from +
            ", " + n + "_s)\n" + n + "_m = Constant <value = uint8 {" + std::to_string((1 << bits) - 1) + "}> ()\n" + n +
            "_p = BitwiseAnd (" + n + "_h, " + n + "_m)\n" + n + " = Unsqueeze (" + n + "_p, last)\n";
    parts += (at ? ", " : "") + n;
  }
  return text + to + "_c = Concat <axis = -1> (" + parts + ")\n" + intsNode(to + "_shape", shape) + to + "_i = Reshape (" + to + "_c, " +
         to + "_shape)\n" + to + " = Cast <to = 1> (" + to + "_i)\n";
}

struct Layer {
  const char *name;
  int weights, scales, zeros;
};
std::string dequantised(const Call &c, const Layer &l) {
  std::string n = l.name, bitsName = n + "_expert_weight_bits";
  int64_t bits = c.integer(bitsName.c_str(), c.integer("expert_weight_bits", 4));
  bool blocks = c.rank(l.scales) == 3;
  if ((bits != 2 && bits != 4 && bits != 8) || c.rank(l.scales) < 2)
    return c.fail("needs weights of 2, 4 or 8 bits and " + n + "_scales with two or three axes");
  std::string text = unpacked(n + "_v", n + "_experts_weights", bits, {0, 0, -1});
  text += n + "_sw = Cast <to = 1> (" + n + "_scales)\n" + n + "_s = Unsqueeze (" + n + "_sw, last)\n";
  if (blocks)
    text += intsNode(n + "_grid", {0, 0, c.size(l.scales, 2), -1}) + n + "_x = Reshape (" + n + "_v, " + n + "_grid)\n";
  else
    text += n + "_x = Identity (" + n + "_v)\n";
  if (c.has(l.zeros))  // padded to whole bytes
    text += unpacked(n + "_zu", n + "_zero_points", bits, blocks ? std::vector<int64_t>{0, 0, -1} : std::vector<int64_t>{0, -1}) +
            intsNode(n + "_axis", {blocks ? 2 : 1}) + n + "_used = Shape <start = " + (blocks ? "2" : "1") + "> (" + n + "_scales)\n" + n +
            "_zc = Slice (" + n + "_zu, zero, " + n + "_used, " + n + "_axis)\n" + n + "_z = Unsqueeze (" + n + "_zc, last)\n";
  else
    text += floatNode(n + "_z", float(1 << (bits - 1)));
  return text + n + "_d = Sub (" + n + "_x, " + n + "_z)\n" + n + "_m = Mul (" + n + "_d, " + n + "_s)\n" +
         intsNode(n + "_rows", {0, 0, -1}) + n + "_r = Reshape (" + n + "_m, " + n + "_rows)\n" + n + "_w = CastLike (" + n +
         "_r, input)\n";
}
std::string quantisedMixture(const Call &c) {
  if (c.text("quant_type", "int") != "int" || c.integer("weights_prepacked", 0) > 0)
    return c.fail("needs integer weights that are not packed for one processor");
  std::string text = expertNumbers();
  for (const Layer &l : {Layer{"fc1", 2, 3, 11}, Layer{"fc2", 5, 6, 12}, Layer{"fc3", 8, 9, 13}})
    text += c.has(l.weights) ? dequantised(c, l) : "";
  // What the router gives for the chosen experts is always divided by its sum, as ONNX Runtime's kernel does.
  bool normalised = !c.has(14) || c.integer("normalize_routing_weights", 0);
  return text + experts(c, {"fc1_w", "fc2_w", "fc3_w"}, {4, 7, 10}, c.has(8), c.has(14), normalised, isSparse(c, 2));
}
}  // namespace

const std::vector<MicrosoftBody> kMicrosoftAttentions = {
    {"DecoderMaskedMultiHeadAttention",
     "query, key?, value?, mask_index?, attention_bias?, past_key?, past_value?, past_sequence_length?, beam_width?, cache_indirection?, "
     "bias?",
     "output, present_key?, present_value?, qk?", maskedHeads},
    {"GatedRelativePositionBias", "query_layer, query_bias, rel_pos, weight, bias, eco_a, token_offset?", "output", gatedPositions},
    {"MRotaryEmbedding", "input, position_ids, cos_cache, sin_cache", "output", rotary},
    {"MoE",
     "input, router_probs, fc1_experts_weights, fc1_experts_bias?, fc2_experts_weights, fc2_experts_bias?, fc3_experts_weights?, "
     "fc3_experts_bias?",
     "output", mixture},
    {"PackedAttention", "input, weights, bias, token_offset, cumulative_sequence_length, attention_bias?", "output", packedAttention},
    {"PackedMultiHeadAttention", "query, key?, value?, bias?, token_offset, cumulative_sequence_length, attention_bias?", "output",
     packedMultiHeadAttention},
    {"QMoE",
     "input, router_probs, fc1_experts_weights, fc1_scales?, fc1_experts_bias?, fc2_experts_weights, fc2_scales?, fc2_experts_bias?, "
     "fc3_experts_weights?, fc3_scales?, fc3_experts_bias?, fc1_zero_points?, fc2_zero_points?, fc3_zero_points?, router_weights?",
     "output", quantisedMixture},
    {"RelativePositionBias", "bias_table, query_length, key_length", "output", relativePositions},
    {"RemovePadding", "input, sequence_token_count", "output, token_offset, cumulated_seq_len, max_seq_len", removePadding},
    {"RestorePadding", "input, token_offset", "output", restorePadding},
    {"SparseAttention",
     "query, key?, value?, past_key, past_value, block_row_indices, block_col_indices, total_sequence_length, key_total_sequence_lengths, "
     "cos_cache?, sin_cache?",
     "output, present_key, present_value", sparseAttention},
};

}  // namespace onnxc::importer
