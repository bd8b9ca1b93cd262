// PackForest.cpp: TreeEnsembleRegressor and TreeEnsembleClassifier: node lists become runtime_stub/kernels/PackedForest.h at compile time.
#include "passes/fusion/PackForest.h"
#include "dialects/onnx/OnnxBase.h"
#include "runtime_stub/kernels/PackedForest.h"
#include "llvm/ADT/DenseMap.h"
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

using namespace mlir;
namespace onnxc {
namespace {

struct Node {
  float split = 0;
  int64_t feature = 0, yes = -1, no = -1;
  bool missingYes = false, leaf = false;
  SmallVector<PackedEntry, 1> entries = {};
};

struct Packer {
  explicit Packer(Operation *op) : op(op) {}
  Operation *op;
  std::vector<Node> nodes;
  SmallVector<int64_t> roots;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> index;
  PackedHeader header = {0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0};
  struct Place {
    int64_t node, child;  // child: of a leaf its own place; where the node lies elsewhere that place
    bool elsewhere;
  };
  std::vector<Place> places;
  std::vector<PackedTree> trees;
  bool anyMissingYes = false;

  ArrayRef<int64_t> ints(const Twine &name) {
    auto list = op->getAttrOfType<DenseI64ArrayAttr>(name.str());
    return list ? list.asArrayRef() : ArrayRef<int64_t>();
  }
  ArrayRef<float> floats(const Twine &name) {
    auto list = op->getAttrOfType<DenseF32ArrayAttr>(name.str());
    return list ? list.asArrayRef() : ArrayRef<float>();
  }

  // Every order test as x <= split: for floats x < s is x <= the float before s; the other two swap the children, and so does a test that
  // never holds. For doubles no float says x < s.
  bool setTest(Node &n, StringRef mode, float split) {
    bool below = mode == "BRANCH_LT" || mode == "BRANCH_GTE", swap = mode == "BRANCH_GT" || mode == "BRANCH_GTE";
    if ((!below && !swap && mode != "BRANCH_LEQ") || (below && !onnx::elementType(op->getOperand(0)).isF32()))
      return false;
    bool never = below && split == -std::numeric_limits<float>::infinity();
    n.split = never ? INFINITY : below ? std::nextafterf(split, -INFINITY) : split;
    if (swap != never)
      std::swap(n.yes, n.no), n.missingYes = !n.missingYes;
    return !std::isnan(split);
  }

  // x == s as two order tests: among x <= s those that are not x <= the float before s. NaN goes to `no`, or through both to `yes`; it
  // differs from every number.
  bool splitEquality(size_t i, bool negated, float split) {
    Node &n = nodes[i];
    if (!onnx::elementType(op->getOperand(0)).isF32() || !(split > -std::numeric_limits<float>::infinity()))
      return false;
    if (negated)
      std::swap(n.yes, n.no), n.missingYes = false;
    Node below = n;
    below.split = std::nextafterf(split, -INFINITY), below.yes = n.no, below.no = n.yes, below.missingYes = false;
    n.split = split, n.yes = nodes.size();
    nodes.push_back(below);
    return true;
  }

  // Of the search for x among the sorted points the part that tells the ranges [begin, end) apart, as the tests of node `at`. Range 2k + 1
  // is point k, which leads to `found`, those between them lead to `other`; NaN comes behind the last one.
  void search(size_t at, ArrayRef<float> points, size_t begin, size_t end, int64_t found, int64_t other) {
    auto part = [&](size_t first, size_t last) -> int64_t {
      if (last - first == 1)
        return first % 2 ? found : other;
      size_t node = nodes.size();
      nodes.push_back({0, nodes[at].feature});
      search(node, points, first, last, found, other);
      return node;
    };
    size_t middle = (begin + end) / 2, last = middle - 1;
    float split = last % 2 ? points[last / 2] : std::nextafterf(points[last / 2], -INFINITY);
    int64_t yes = part(begin, middle), no = part(middle, end);
    nodes[at].split = split, nodes[at].yes = yes, nodes[at].no = no;
  }

  // Tests x == s of one column that follow each other where they do not hold, and lead to one node where one holds, as categories are
  // written: a search, whose depth is the logarithm of their number.
  bool splitSet(size_t first, const std::vector<bool> &follows, ArrayRef<float> splits) {
    std::vector<float> points;
    size_t last = first;
    for (points.push_back(splits[first]); follows[nodes[last].no]; points.push_back(splits[last]))
      last = nodes[last].no;
    if (points.size() == 1)
      return splitEquality(first, false, points[0]);
    auto isNumber = [](float s) { return s > -std::numeric_limits<float>::infinity(); };
    if (!onnx::elementType(op->getOperand(0)).isF32() || !llvm::all_of(points, isNumber))
      return false;
    llvm::sort(points);
    points.erase(llvm::unique(points), points.end());
    search(first, points, 0, 2 * points.size() + 1, nodes[first].yes, nodes[last].no);
    return true;
  }

  // The nodes that are the next test of a set (splitSet).
  std::vector<bool> setTests(ArrayRef<Attribute> modes) {
    std::vector<int32_t> parents(nodes.size());
    std::vector<bool> follows(nodes.size());
    auto tests = [&](size_t i) { return cast<StringAttr>(modes[i]).getValue() == "BRANCH_EQ" && !nodes[i].missingYes; };
    for (const Node &n : nodes)
      if (!n.leaf)
        ++parents[n.yes], ++parents[n.no];
    for (auto [i, n] : llvm::enumerate(nodes))
      if (!n.leaf && tests(i) && tests(n.no) && parents[n.no] == 1)
        follows[n.no] = nodes[n.no].yes == n.yes && nodes[n.no].feature == n.feature;
    return follows;
  }

  bool setAnyTest(size_t i, StringRef mode, float split) {
    bool negated = mode == "BRANCH_NEQ";
    return mode == "BRANCH_EQ" || negated ? splitEquality(i, negated, split) : setTest(nodes[i], mode, split);
  }

  bool readNodes() {
    ArrayRef<int64_t> tree = ints("nodes_treeids"), id = ints("nodes_nodeids"), yes = ints("nodes_truenodeids"),
                      no = ints("nodes_falsenodeids"), feature = ints("nodes_featureids"),
                      missing = ints("nodes_missing_value_tracks_true");
    ArrayRef<float> splits = floats("nodes_values");
    auto modes = op->getAttrOfType<ArrayAttr>("nodes_modes");
    size_t n = id.size();
    if (!n || n > (1u << 28) || tree.size() != n || yes.size() != n || no.size() != n || feature.size() != n || !modes || modes.size() != n)
      return false;
    for (size_t i = 0; i < n; ++i)
      index.try_emplace({tree[i], id[i]}, i);
    nodes.resize(n);
    std::vector<bool> child(n);
    for (size_t i = 0; i < n; ++i) {
      StringRef mode = cast<StringAttr>(modes[i]).getValue();
      if ((nodes[i].leaf = mode == "LEAF"))
        continue;
      auto a = index.find({tree[i], yes[i]}), b = index.find({tree[i], no[i]});
      if (i >= splits.size() || a == index.end() || b == index.end() || feature[i] < 0 || feature[i] >= (1 << 30))
        return false;
      child[a->second] = child[b->second] = true;
      nodes[i].feature = feature[i], nodes[i].yes = a->second, nodes[i].no = b->second;
      nodes[i].missingYes = i < missing.size() && missing[i] != 0;
    }
    const std::vector<bool> follows = setTests(modes.getValue());
    for (size_t i = 0; i < n; ++i) {
      StringRef mode = cast<StringAttr>(modes[i]).getValue();
      bool set = mode == "BRANCH_EQ" && !nodes[i].missingYes;
      if (!nodes[i].leaf && !follows[i] && !(set ? splitSet(i, follows, splits) : setAnyTest(i, mode, splits[i])))
        return false;
    }
    for (size_t i = 0; i < n; ++i)
      if (!child[i])
        roots.push_back(i);
    return true;
  }

  bool readEntries(StringRef prefix) {
    ArrayRef<int64_t> target = ints(prefix + "ids"), node = ints(prefix + "nodeids"), tree = ints(prefix + "treeids");
    ArrayRef<float> weights = floats(prefix + "weights");
    bool oneTarget = prefix == "target_" && onnx::intAttr(op, "n_targets", 1) == 1;
    if (node.size() != target.size() || tree.size() != target.size() || weights.size() < target.size())
      return false;
    for (size_t i = 0; i < target.size(); ++i) {
      auto at = index.find({tree[i], node[i]});
      if (at == index.end() || !nodes[at->second].leaf || target[i] < 0 || target[i] >= (1 << 30))
        return false;
      auto &list = nodes[at->second].entries;
      if (oneTarget && !list.empty())
        continue;  // as MlTree.cpp
      list.push_back({weights[i], int32_t(target[i] * 2)});
      header.targets = std::max<int32_t>(header.targets, target[i] + 1);
      header.single &= target[i] == target[0];
      header.positive &= weights[i] >= 0;
    }
    return true;
  }

  bool isLeaf(int64_t place) { return places[place].child == place; }

  // The most steps from `root` to a leaf; none where a node is its own descendant.
  std::optional<int32_t> depthOf(int64_t root, std::vector<int32_t> &depths) {
    constexpr int32_t unseen = -1, open = -2;
    depths.resize(places.size(), unseen);
    std::vector<int64_t> stack = {root};
    while (!stack.empty()) {
      int64_t i = stack.back(), first = places[i].child, end = first + (isLeaf(i) ? 0 : places[i].elsewhere ? 1 : 2);
      if (depths[i] != unseen) {
        int32_t most = 0;
        for (int64_t c = first; depths[i] == open && c < end; ++c)
          most = std::max(most, depths[c] + 1);
        if (depths[i] == open)
          depths[i] = most;
        stack.pop_back();
        continue;
      }
      depths[i] = open;
      for (int64_t c = first; c < end; ++c)
        if (depths[c] == open)
          return std::nullopt;
        else if (depths[c] == unseen)
          stack.push_back(c);
    }
    return depths[root];
  }

  // Lays out one tree breadth first. `placeOf`: of nodes that lie somewhere, others -1.
  void layOut(int64_t root, std::vector<int64_t> &placeOf) {
    PackedTree tree = {int32_t(places.size()), 0, -1};
    places.push_back({root, 0, false});
    for (size_t at = tree.root; at < places.size(); ++at) {
      int64_t i = places[at].node;
      const Node &n = nodes[i];
      if (placeOf[i] >= 0) {
        places[at].child = placeOf[i], places[at].elsewhere = true;
        header.plain &= placeOf[i] >= tree.root;
        continue;
      }
      placeOf[i] = at;
      if (n.leaf) {
        places[at].child = at;
        int32_t target = n.entries.size() == 1 ? n.entries[0].target >> 1 : -1;
        header.plain &= target >= 0 && (tree.target < 0 || target == tree.target);
        tree.target = target;
        continue;
      }
      places[at].child = places.size();
      header.features = std::max<int32_t>(header.features, n.feature + 1);
      anyMissingYes |= n.missingYes;
      places.push_back({n.yes, 0, false});
      places.push_back({n.no, 0, false});
    }
    trees.push_back(tree);
  }

  bool layOutAll() {
    std::vector<int64_t> placeOf(nodes.size(), -1);
    std::vector<int32_t> depths;
    for (int64_t root : roots) {
      layOut(root, placeOf);
      std::optional<int32_t> depth = depthOf(trees.back().root, depths);
      if (!depth)
        return false;
      trees.back().depth = *depth;
    }
    constexpr int32_t mostFeatures = 1 << 24;
    if (header.features > mostFeatures)
      return false;
    header.columns = (anyMissingYes ? 2 : 1) * header.features + 1;       // NaN has two keys
    header.columnBits = llvm::Log2_32_Ceil(std::max(header.columns, 2));  // at least one
    return true;
  }

  // Of leaves; makes the entries.
  int32_t wordOf(const Node &leaf, std::vector<PackedEntry> &entries) {
    if (leaf.entries.empty())
      return -1;
    if (header.plain)
      return llvm::bit_cast<int32_t>(leaf.entries[0].value);
    int32_t first = entries.size();
    entries.insert(entries.end(), leaf.entries.begin(), leaf.entries.end());
    entries.back().target |= 1;
    return first;
  }

  // False where the children of a node lie too far away for its link.
  bool pack(std::vector<PackedNode> &packed, std::vector<PackedEntry> &entries) {
    for (auto [at, place] : llvm::enumerate(places)) {
      const Node &n = nodes[place.node];
      int64_t distance = place.child - int64_t(at), column = header.columns - 1;
      uint32_t key = 0;
      if (isLeaf(at))
        key = wordOf(n, entries);
      else if (!place.elsewhere)
        key = keyOf(llvm::bit_cast<uint32_t>(n.split)), column = n.feature + (n.missingYes ? header.features : 0);
      if (!llvm::isIntN(32 - header.columnBits, distance))
        return false;
      packed.push_back({key, int32_t(uint32_t(distance) << header.columnBits | uint32_t(column))});
    }
    return true;
  }

  struct MaskedTest {
    PackedTest test;
    size_t first, end;  // the leaves that it takes away
  };

  // The leaves below a place from the first on, and the tests on the way to them; false where there are more than masks are made for, or
  // where a node lies elsewhere.
  bool masksOf(int64_t at, std::vector<MaskedTest> &tests, std::vector<int64_t> &leaves) {
    const Place &place = places[at];
    if (isLeaf(at))
      leaves.push_back(at);
    if (isLeaf(at) || place.elsewhere)
      return !place.elsewhere && leaves.size() <= kMostMasked;
    size_t test = tests.size();
    if (test == kMostMasked - 1)
      return false;
    const Node &n = nodes[place.node];
    tests.push_back({{n.split, int32_t(n.feature), 0}, leaves.size(), 0});
    if (!masksOf(place.child, tests, leaves))
      return false;
    tests[test].end = leaves.size();
    return masksOf(place.child + 1, tests, leaves);
  }

  // For each 32 leaves the number of tests that take some of them away, then all these tests.
  void appendTests(std::vector<int32_t> &words, ArrayRef<MaskedTest> tests, size_t leaves) {
    std::vector<PackedTest> parts;
    for (size_t from = 0; from < leaves; from += 32) {
      size_t before = parts.size();
      for (const MaskedTest &t : tests)
        if (size_t first = std::max(t.first, from), end = std::min(t.end, from + 32); first < end) {
          parts.push_back(t.test);
          parts.back().keep = uint32_t(~((uint64_t(1) << (end - from)) - (uint64_t(1) << (first - from))));
        }
      words.push_back(parts.size() - before);
    }
    append(words, parts);
    header.tests += parts.size();
  }

  // The masks of all trees; none where one tree has none.
  std::vector<int32_t> masks(ArrayRef<PackedNode> packed) {
    std::vector<int32_t> all;
    constexpr int32_t mostColumns = 1024;  // of the rows that the kernel turns at once
    for (const PackedTree &tree : trees) {
      std::vector<MaskedTest> tests;
      std::vector<int64_t> leaves;
      header.masks &= header.features <= mostColumns && masksOf(tree.root, tests, leaves);
      if (!header.masks) {
        header.tests = 0;
        return {};
      }
      all.push_back(leaves.size());
      appendTests(all, tests, leaves.size());
      for (int64_t leaf : leaves)
        all.push_back(int32_t(packed[leaf].key));
    }
    return all;
  }

  template <class List>
  static void append(std::vector<int32_t> &words, const List &list) {
    size_t at = words.size(), bytes = list.size() * sizeof(list[0]);
    words.resize(at + bytes / 4);
    if (bytes)
      memcpy(words.data() + at, list.data(), bytes);
  }

  std::optional<std::vector<int32_t>> words() {
    std::vector<PackedNode> packed;
    std::vector<PackedEntry> entries;
    if (!pack(packed, entries))
      return std::nullopt;
    header.trees = trees.size(), header.nodes = packed.size(), header.entries = entries.size();
    std::vector<int32_t> all, last = masks(packed), byDepth(trees.size());
    std::iota(byDepth.begin(), byDepth.end(), 0);
    llvm::stable_sort(byDepth, [&](int32_t a, int32_t b) { return trees[a].depth < trees[b].depth; });
    append(all, ArrayRef(header));
    append(all, trees);
    append(all, byDepth);
    append(all, packed);
    append(all, entries);
    append(all, last);
    return all;
  }
};

}  // namespace

bool packForest(Operation *op) {
  StringRef prefix = onnx::opName(op) == "ml.TreeEnsembleClassifier" ? "class_" : "target_";
  for (StringRef name : {"nodes_values_as_tensor", "class_weights_as_tensor", "target_weights_as_tensor"})
    if (op->getAttr(name))
      return false;
  Packer p(op);
  if (!p.readNodes() || !p.readEntries(prefix) || !p.layOutAll())
    return false;
  std::optional<std::vector<int32_t>> words = p.words();
  if (!words)
    return false;
  for (StringRef name : {"treeids", "nodeids", "truenodeids", "falsenodeids", "featureids", "missing_value_tracks_true", "values", "modes",
                         "hitrates", "hitrates_as_tensor"})
    op->removeAttr(("nodes_" + name).str());
  for (StringRef name : {"ids", "nodeids", "treeids", "weights"})
    op->removeAttr((prefix + name).str());
  auto type = RankedTensorType::get({int64_t(words->size())}, IntegerType::get(op->getContext(), 32));
  op->setAttr("forest", DenseElementsAttr::get(type, ArrayRef<int32_t>(*words)));
  return true;
}

}  // namespace onnxc
