// MlTree.cpp: TreeEnsemble, TreeEnsembleRegressor and TreeEnsembleClassifier. All read their attributes into one Forest, then walk rows.
#include "runtime_stub/kernels/MlTree.h"

namespace onnxc {
namespace {

enum Mode : int8_t { Leq, Less, Geq, Greater, Equal, NotEqual, Member, Leaf };
struct Node {
  double split;
  int64_t feature, yes, no;
  int32_t mode;
  bool missingYes;
};  // Leaf: `yes` heads its list of weights
struct Weight {
  double value;
  int64_t target, next;
};

struct Forest {
  Node *nodes = nullptr;
  Weight *weights = nullptr;
  int64_t *roots = nullptr, trees = 0, targets = 0, features = 0;
  const double *members = nullptr;  // sets of Member nodes; `split` is the first element, a NaN ends a set
  Fold fold = Fold::Sum;

  bool holds(const Node &n, double x) const {
    switch (n.mode) {
    case Leq:
      return x <= n.split;
    case Less:
      return x < n.split;
    case Geq:
      return x >= n.split;
    case Greater:
      return x > n.split;
    case Equal:
      return x == n.split;
    case NotEqual:
      return x != n.split;
    }
    for (const double *m = members + int64_t(n.split); *m == *m; ++m)
      if (*m == x)
        return true;
    return false;
  }
  template <class Get>
  int64_t leaf(int64_t n, Get get) const {
    while (nodes[n].mode != Leaf) {
      double x = get(nodes[n].feature);
      n = (x != x && nodes[n].missingYes) || holds(nodes[n], x) ? nodes[n].yes : nodes[n].no;
    }
    return nodes[n].yes;
  }
  // score and hit hold one element a target.
  template <class Get>
  void scoreRow(Get get, double *score, bool *hit) const {
    for (int64_t t = 0; t < targets; ++t)
      score[t] = 0, hit[t] = false;
    for (int64_t t = 0; t < trees; ++t)
      for (int64_t w = leaf(roots[t], get); w >= 0; w = weights[w].next) {
        foldIn(fold, weights[w].value, score[weights[w].target], hit[weights[w].target]);
      }
    for (int64_t t = 0; fold == Fold::Average && t < targets; ++t)
      score[t] /= double(trees);
  }
};

// Every path must end: a node may have several parents (LightGBM's splits by category share what follows them), but none is its own
// descendant.
bool everyPathEnds(const Args *a, const Forest &f, int64_t count, bool &memory) {
  enum : char { Unseen, Open, Done };
  char *state = heap<char>(a, count);  // zeros
  int64_t *stack = heap<int64_t>(a, 2 * count + 1), depth = 0;
  memory = state && stack;
  for (int64_t t = 0; memory && t < f.trees; ++t)
    for (stack[depth++] = f.roots[t]; depth;) {
      int64_t n = stack[depth - 1];
      if (n < 0 || n >= count)
        return false;
      const Node &node = f.nodes[n];
      if (state[n] != Unseen || node.mode == Leaf) {
        state[n] = Done, --depth;
        continue;
      }
      if (node.feature < 0 || node.feature >= f.features)
        return false;
      state[n] = Open;
      const int64_t children[] = {node.yes, node.no};
      for (int64_t child : children) {
        if (child < 0 || child >= count || state[child] == Open)
          return false;
        if (state[child] == Unseen)
          stack[depth++] = child;
      }
    }
  return memory;
}

// ---- TreeEnsemble (ai.onnx.ml 5): interior nodes and leaves are numbered apart
namespace v5 {
enum {
  Aggregate,
  LeafTargets,
  LeafWeights,
  Membership,
  Targets,
  FalseLeafs,
  FalseIds,
  Features,
  HitRates,
  MissingTrue,
  Modes,
  Splits,
  TrueLeafs,
  TrueIds,
  PostTransform,
  Roots
};

int32_t readNodes(const Args *a, Forest &f, int64_t n, int64_t leaves) {
  const Attr *t = a->attr;
  const Tensor &modes = *static_cast<const Tensor *>(t[Modes].p), &splits = *static_cast<const Tensor *>(t[Splits].p);
  int64_t set = 0, setCount = 0;
  if (t[Membership].n > 0) {
    const Tensor &values = *static_cast<const Tensor *>(t[Membership].p);
    setCount = onnxc_count(values);
    double *members = heap<double>(a, setCount + 1);
    if (!members)
      return ONNXC_K_MEMORY;
    for (int64_t i = 0; i < setCount; ++i)
      members[i] = loadF64(values, i);
    members[setCount] = __builtin_nan("");
    f.members = members;
  }
  for (int64_t i = 0; i < n; ++i) {
    int64_t yes = ints(t[TrueIds])[i], no = ints(t[FalseIds])[i], yesLeaf = ints(t[TrueLeafs])[i], noLeaf = ints(t[FalseLeafs])[i];
    if (yes < 0 || yes >= (yesLeaf ? leaves : n) || no < 0 || no >= (noLeaf ? leaves : n))
      return ONNXC_K_INDEX;
    bool missing = i < t[MissingTrue].n && ints(t[MissingTrue])[i] != 0;
    f.nodes[i] = {loadF64(splits, i),   ints(t[Features])[i],       yesLeaf ? n + yes : yes,
                  noLeaf ? n + no : no, int32_t(loadI64(modes, i)), missing};
    if (f.nodes[i].mode < 0 || f.nodes[i].mode > Member || (f.nodes[i].mode == Member && set >= setCount))
      return ONNXC_K_VALUE;
    if (f.nodes[i].mode != Member)
      continue;
    f.nodes[i].split = double(set);
    while (f.members[set] == f.members[set])
      ++set;
    ++set;
  }
  return ONNXC_K_OK;
}

int32_t readForest(const Args *a, Forest &f) {
  const Attr *t = a->attr;
  int64_t n = t[Features].n, leaves = t[LeafTargets].n;
  const Tensor &weights = *static_cast<const Tensor *>(t[LeafWeights].p);
  const Tensor &modes = *static_cast<const Tensor *>(t[Modes].p), &splits = *static_cast<const Tensor *>(t[Splits].p);
  const int parallel[] = {TrueIds, FalseIds, TrueLeafs, FalseLeafs};
  for (int k : parallel)
    if (t[k].n != n)
      return ONNXC_K_SHAPE;
  if (onnxc_count(modes) != n || onnxc_count(splits) != n || onnxc_count(weights) != leaves)
    return ONNXC_K_SHAPE;
  f.targets = a->out[0].dims[a->out[0].rank - 1], f.features = columnsOf(a->in[0]), f.trees = t[Roots].n, f.fold = Fold(t[Aggregate].i);
  f.nodes = heap<Node>(a, n + leaves), f.weights = heap<Weight>(a, leaves), f.roots = heap<int64_t>(a, f.trees);
  if (!f.nodes || !f.weights || !f.roots)
    return ONNXC_K_MEMORY;
  ONNXC_TRY(readNodes(a, f, n, leaves));
  for (int64_t i = 0; i < leaves; ++i) {
    f.nodes[n + i] = {0, 0, i, 0, Leaf, false};
    f.weights[i] = {loadF64(weights, i), ints(t[LeafTargets])[i], -1};
    if (f.weights[i].target < 0 || f.weights[i].target >= f.targets)
      return ONNXC_K_INDEX;
  }
  for (int64_t i = 0; i < f.trees; ++i) {
    int64_t r = ints(t[Roots])[i];
    bool single = r >= 0 && r < n && ints(t[TrueLeafs])[r] && ints(t[FalseLeafs])[r] && f.nodes[r].yes == f.nodes[r].no;
    f.roots[i] = single ? f.nodes[r].yes : r;
  }
  bool memory;
  return everyPathEnds(a, f, n + leaves, memory) ? ONNXC_K_OK : memory ? ONNXC_K_VALUE : ONNXC_K_MEMORY;
}

int32_t run(const Args *a) {
  Forest f;
  ONNXC_TRY(readForest(a, f));
  double *score = heap<double>(a, f.targets);
  bool *hit = heap<bool>(a, f.targets);
  if (!score || !hit)
    return ONNXC_K_MEMORY;
  Post post = Post(a->attr[PostTransform].i);
  int64_t rows = rowsOf(a->in[0]);
  for (int64_t r = 0; r < rows; ++r) {
    f.scoreRow([&](int64_t c) { return loadF64(a->in[0], r * f.features + c); }, score, hit);
    transform(score, f.targets, post);
    for (int64_t t = 0; t < f.targets; ++t)
      storeF64(a->out[0], r * f.targets + t, score[t]);
  }
  return ONNXC_K_OK;
}
}  // namespace v5

// ---- TreeEnsembleClassifier and TreeEnsembleRegressor: nodes are named by (tree, node)
// Attributes of both in one order; names in comments are those of the regressor where they differ.
enum {
  Base,
  BaseTensor,
  Ids,
  NodeIds,
  TreeIds,
  Values,
  ValuesTensor,
  FalseIds,
  Features,
  HitRates,
  HitTensor,
  MissingTrue,
  Modes,
  NodeNumbers,
  NodeTrees,
  TrueIds,
  Splits,
  SplitsTensor,
  PostTransform,
  Extra,
  Extra2
};

// Numbers of nodes by (tree, node).
struct NodeIndex {
  int64_t *slot = nullptr, mask = 0;
  const int64_t *tree, *node;
  bool build(const Args *a, int64_t n) {
    tree = ints(a->attr[NodeTrees]), node = ints(a->attr[NodeNumbers]);
    for (mask = 1; mask < 2 * n + 2;)
      mask *= 2;
    if (!(slot = heap<int64_t>(a, mask--)))
      return false;
    for (int64_t i = 0; i < n; ++i) {
      int64_t s = place(tree[i], node[i]);
      if (!slot[s])
        slot[s] = i + 1;
    }
    return true;
  }
  int64_t place(int64_t t, int64_t k) const {
    int64_t s = int64_t(mix(uint64_t(t) * 0x9e3779b97f4a7c15u + uint64_t(k))) & mask;
    while (slot[s] && (tree[slot[s] - 1] != t || node[slot[s] - 1] != k))
      s = (s + 1) & mask;
    return s;
  }
  int64_t find(int64_t t, int64_t k) const { return slot[place(t, k)] - 1; }
};

bool readMode(Str word, int32_t &mode) {
  const char *names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "", "LEAF"};
  for (int i = 0; i < 8; ++i)
    if (is(word, names[i]))
      return mode = i, true;
  return false;
}

int32_t readNodes(const Args *a, Forest &f, const NodeIndex &index, int64_t n) {
  const Attr *t = a->attr;
  Reals splits{t[Splits], t[SplitsTensor]};
  const int parallel[] = {NodeTrees, TrueIds, FalseIds, Features, Modes};
  for (int k : parallel)
    if (t[k].n != n)
      return ONNXC_K_SHAPE;
  char *child = heap<char>(a, n);
  if (!child)
    return ONNXC_K_MEMORY;
  for (int64_t i = 0; i < n; ++i) {
    Node &node = f.nodes[i];
    if (!readMode(strings(t[Modes])[i], node.mode) || (node.mode != Leaf && i >= splits.count()))
      return ONNXC_K_VALUE;
    if (node.mode == Leaf) {
      node.yes = -1;
      continue;
    }
    int64_t tree = index.tree[i];
    node = {splits[i],
            ints(t[Features])[i],
            index.find(tree, ints(t[TrueIds])[i]),
            index.find(tree, ints(t[FalseIds])[i]),
            node.mode,
            i < t[MissingTrue].n && ints(t[MissingTrue])[i] != 0};
    if (node.yes < 0 || node.no < 0)
      return ONNXC_K_INDEX;
    child[node.yes] = child[node.no] = 1;
  }
  for (int64_t i = 0; i < n; ++i)
    if (!child[i])
      f.roots[f.trees++] = i;
  return ONNXC_K_OK;
}

// oneWeight: a leaf that names the only target several times counts once, with its first weight, as in ONNX Runtime (scikit-learn's
// decision paths are written so).
int32_t readForest(const Args *a, Forest &f, bool oneWeight) {
  const Attr *t = a->attr;
  int64_t n = t[NodeNumbers].n, entries = t[Ids].n;
  Reals values{t[Values], t[ValuesTensor]};
  if (n <= 0 || t[TreeIds].n != entries || t[NodeIds].n != entries || values.count() < entries)
    return ONNXC_K_SHAPE;
  NodeIndex index;
  f.features = columnsOf(a->in[0]);
  f.nodes = heap<Node>(a, n), f.weights = heap<Weight>(a, entries), f.roots = heap<int64_t>(a, n);
  if (!f.nodes || !f.weights || !f.roots || !index.build(a, n))
    return ONNXC_K_MEMORY;
  ONNXC_TRY(readNodes(a, f, index, n));
  for (int64_t i = entries - 1; i >= 0; --i) {  // from the end, so that lists run in order
    int64_t node = index.find(ints(t[TreeIds])[i], ints(t[NodeIds])[i]), target = ints(t[Ids])[i];
    if (node < 0 || f.nodes[node].mode != Leaf || target < 0 || target >= f.targets)
      return ONNXC_K_INDEX;
    f.weights[i] = {values[i], target, oneWeight ? -1 : f.nodes[node].yes};
    f.nodes[node].yes = i;
  }
  bool memory;
  return everyPathEnds(a, f, n, memory) ? ONNXC_K_OK : memory ? ONNXC_K_VALUE : ONNXC_K_MEMORY;
}

int32_t regress(const Args *a) {
  Forest f;
  Post post;
  f.targets = a->attr[Extra2].i > 0 ? a->attr[Extra2].i : 1;
  f.fold = readFold(text(a->attr[Extra]));
  if (!readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(readForest(a, f, f.targets == 1));
  double *score = heap<double>(a, f.targets);
  bool *hit = heap<bool>(a, f.targets);
  if (!score || !hit)
    return ONNXC_K_MEMORY;
  Reals base{a->attr[Base], a->attr[BaseTensor]};
  int64_t rows = rowsOf(a->in[0]);
  if (onnxc_count(a->out[0]) != rows * f.targets)
    return ONNXC_K_SHAPE;
  for (int64_t r = 0; r < rows; ++r) {
    f.scoreRow([&](int64_t c) { return loadF64(a->in[0], r * f.features + c); }, score, hit);
    for (int64_t t = 0; t < f.targets && t < base.count(); ++t)
      score[t] += base[t];
    transform(score, f.targets, post);
    for (int64_t t = 0; t < f.targets; ++t)
      storeF64(a->out[0], r * f.targets + t, score[t]);
  }
  return ONNXC_K_OK;
}

Binary binaryOf(const Args *a, int64_t classes) {
  Binary b;
  Reals values{a->attr[Values], a->attr[ValuesTensor]};
  const Attr &ids = a->attr[Ids];
  for (int64_t i = 0; i < ids.n; ++i) {
    b.single &= ints(ids)[i] == ints(ids)[0];
    b.positive &= values[i] >= 0;
  }
  b.single &= classes == 2;
  return b;
}

int32_t classify(const Args *a) {
  Labels labels{a->attr[Extra], a->attr[Extra2]};
  Forest f;
  Post post;
  f.targets = labels.count();
  if (f.targets < 1 || !readPost(text(a->attr[PostTransform]), post))
    return ONNXC_K_VALUE;
  ONNXC_TRY(readForest(a, f, false));
  double *score = heap<double>(a, f.targets + 2);
  bool *hit = heap<bool>(a, f.targets + 2);
  if (!score || !hit)
    return ONNXC_K_MEMORY;
  Binary binary = binaryOf(a, f.targets);
  Reals base{a->attr[Base], a->attr[BaseTensor]};
  int64_t rows = rowsOf(a->in[0]), width = onnxc_count(a->out[1]) / (rows ? rows : 1);
  for (int64_t r = 0; r < rows; ++r) {
    f.scoreRow([&](int64_t c) { return loadF64(a->in[0], r * f.features + c); }, score, hit);
    Decision d = decide(score, hit, f.targets, base, binary);
    labels.give(a, r, d.label);
    int64_t n = finishScores(score, d.scores, post, d.second);
    for (int64_t t = 0; t < width; ++t)
      storeF64(a->out[1], r * width + t, t < n ? score[t] : 0);
  }
  return ONNXC_K_OK;
}

}  // namespace
}  // namespace onnxc

extern "C" int32_t onnxc_k_MlTreeEnsemble(const onnxc_args *a) { return onnxc::v5::run(a); }
extern "C" int32_t onnxc_k_MlTreeEnsembleRegressor(const onnxc_args *a) { return onnxc::regress(a); }
extern "C" int32_t onnxc_k_MlTreeEnsembleClassifier(const onnxc_args *a) { return onnxc::classify(a); }
