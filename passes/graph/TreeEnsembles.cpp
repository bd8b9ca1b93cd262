// TreeEnsembles.cpp: ensembles of trees in the one form that passes/fusion/PackForest.cpp packs: TreeEnsemble (ai.onnx.ml 5) becomes
// TreeEnsembleRegressor, and regressors of one input whose results are joined (AdaBoost, bagging) become one. For simplify.
#include "dialects/onnx/ML.h"
#include "dialects/onnx/Tensor.h"
#include "passes/graph/Passes.h"
#include "passes/graph/Weights.h"
#include <cmath>

using namespace mlir;
namespace onnxc {
namespace {

// The lists of a TreeEnsembleRegressor.
struct Trees {
  explicit Trees(MLIRContext *context) : b(context) {}
  Builder b;
  std::vector<int64_t> tree, node, feature, yes, no, missingYes, targetTree, targetNode, target;
  std::vector<float> split, weight;
  std::vector<Attribute> mode;

  void addTest(int64_t t, int64_t id, StringRef test, int64_t column, float at, int64_t first, int64_t second, bool missing) {
    tree.push_back(t), node.push_back(id), mode.push_back(b.getStringAttr(test)), feature.push_back(column), split.push_back(at);
    yes.push_back(first), no.push_back(second), missingYes.push_back(missing);
  }
  void addLeaf(int64_t t, int64_t id) { addTest(t, id, "LEAF", 0, 0, 0, 0, false); }
  void addWeight(int64_t t, int64_t id, int64_t to, float value) {
    targetTree.push_back(t), targetNode.push_back(id), target.push_back(to), weight.push_back(value);
  }
  void setOn(onnx::MLTreeEnsembleRegressorOp op) {
    op.setNodesTreeids(tree), op.setNodesNodeids(node), op.setNodesFeatureids(feature), op.setNodesTruenodeids(yes);
    op.setNodesFalsenodeids(no), op.setNodesMissingValueTracksTrue(missingYes), op.setNodesValues(split);
    op.setNodesModesAttr(b.getArrayAttr(mode));
    op.setTargetTreeids(targetTree), op.setTargetNodeids(targetNode), op.setTargetIds(target), op.setTargetWeights(weight);
  }
};

// Inner nodes and leaves are numbered apart, and trees share no numbers.
struct FromTreeEnsemble {
  explicit FromTreeEnsemble(onnx::MLTreeEnsembleOp op) : op(op), trees(op.getContext()) {}
  onnx::MLTreeEnsembleOp op;
  Trees trees;
  int64_t inner = op.getNodesFeatureids().size(), leaves = op.getLeafTargetids().size();
  int64_t more = inner + leaves;  // ids of what a test of a set becomes
  std::vector<float> splits, weights, members;
  std::vector<char> modes;
  std::vector<bool> wanted = std::vector<bool>(inner + leaves);  // by a node
  size_t set = 0;

  bool read() {
    auto s = constantFloats(op.getNodesSplits()), w = constantFloats(op.getLeafWeights());
    std::optional<std::vector<char>> m = constantBytes(op.getNodesModes());
    auto sets = op.getMembershipValues() ? constantFloats(*op.getMembershipValues()) : std::vector<float>();
    if (!s || !w || !m || !sets)
      return false;
    splits = *s, weights = *w, modes = *m, members = *sets;
    for (size_t n : {op.getNodesTruenodeids().size(), op.getNodesFalsenodeids().size(), op.getNodesTrueleafs().size(),
                     op.getNodesFalseleafs().size(), splits.size(), modes.size()})
      if (n != size_t(inner))
        return false;
    return weights.size() == size_t(leaves);
  }
  // The id of a child; none where there is no such node.
  std::optional<int64_t> child(int64_t id, bool leaf) {
    if (id < 0 || id >= (leaf ? leaves : inner))
      return std::nullopt;
    return leaf ? inner + id : id;
  }
  bool addWeightOf(int64_t leaf, int64_t id) {
    int64_t to = op.getLeafTargetids()[leaf];
    trees.addWeight(0, id, to, weights[leaf]);
    return to >= 0 && to < op.getNTargets();
  }
  // The next set of members; NaN ends it.
  ArrayRef<float> takeSet() {
    ArrayRef<float> left = ArrayRef(members).drop_front(std::min(set, members.size()));
    ArrayRef<float> taken = left.take_until([](float v) { return std::isnan(v); });
    set += taken.size() + 1;
    return taken;
  }
  // One number of a set after the other.
  void addSet(int64_t i, ArrayRef<float> numbers, int64_t yes, int64_t no, bool missing) {
    for (int64_t id = i; !numbers.empty(); numbers = numbers.drop_front()) {
      int64_t next = numbers.size() == 1 ? no : more++;
      trees.addTest(0, id, "BRANCH_EQ", op.getNodesFeatureids()[i], numbers[0], yes, next, missing);
      id = next;
    }
  }
  bool addNode(int64_t i, bool root) {
    constexpr StringRef names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"};
    constexpr int member = 6;
    bool yesLeaf = op.getNodesTrueleafs()[i], noLeaf = op.getNodesFalseleafs()[i];
    std::optional<int64_t> yes = child(op.getNodesTruenodeids()[i], yesLeaf), no = child(op.getNodesFalsenodeids()[i], noLeaf);
    if (!yes || !no || modes[i] < 0 || modes[i] > member)
      return false;
    ArrayRef<float> numbers = modes[i] == member ? takeSet() : ArrayRef<float>();
    if (modes[i] == member && numbers.empty())
      return false;
    if (root && yesLeaf && yes == no) {  // a tree of one leaf
      trees.addLeaf(0, i);
      return addWeightOf(*yes - inner, i);
    }
    wanted[*yes] = wanted[*no] = true;
    ArrayRef<int64_t> tracks = op.getNodesMissingValueTracksTrue().value_or(ArrayRef<int64_t>());
    bool missing = i < int64_t(tracks.size()) && tracks[i];
    if (modes[i] == member)
      addSet(i, numbers, *yes, *no, missing);
    else
      trees.addTest(0, i, names[int(modes[i])], op.getNodesFeatureids()[i], splits[i], *yes, *no, missing);
    return true;
  }
  // A regressor takes the nodes without parents as its roots, and adds up in their order; sets are read in the order of the nodes.
  bool convert() {
    if (!read() || !llvm::is_sorted(op.getTreeRoots()))
      return false;
    std::vector<bool> isRoot(inner);
    for (int64_t r : op.getTreeRoots()) {
      if (r < 0 || r >= inner || isRoot[r])
        return false;
      isRoot[r] = true;
    }
    for (int64_t i = 0; i < inner; ++i)
      if (!addNode(i, isRoot[i]))
        return false;
    for (int64_t i = 0; i < inner; ++i)
      if (wanted[i] == isRoot[i])
        return false;
    for (int64_t i = 0; i < leaves; ++i)
      if (wanted[inner + i]) {
        trees.addLeaf(0, inner + i);
        if (!addWeightOf(i, inner + i))
          return false;
      }
    return true;
  }
};

LogicalResult asRegressor(onnx::MLTreeEnsembleOp op, PatternRewriter &rewriter) {
  constexpr StringRef folds[] = {"AVERAGE", "SUM", "MIN", "MAX"}, posts[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  int64_t fold = op.getAggregateFunction(), post = op.getPostTransform();
  if (!onnx::elementType(op.getX()).isF32() || !op.getNTargets() || fold < 0 || fold > 3 || post < 0 || post > 4)
    return rewriter.notifyMatchFailure(op, "not of floats, without a number of targets, or of an unknown sum or transform");
  FromTreeEnsemble from(op);
  if (!from.convert())
    return rewriter.notifyMatchFailure(op, "nodes that a regressor has no form for");
  OperationState state(op.getLoc(), onnx::MLTreeEnsembleRegressorOp::getOperationName());
  state.addOperands(op.getX());
  state.addTypes(op.getY().getType());
  auto regressor = cast<onnx::MLTreeEnsembleRegressorOp>(rewriter.create(state));
  from.trees.setOn(regressor);
  regressor.setNTargets(*op.getNTargets());
  regressor.setAggregateFunction(folds[fold]);
  regressor.setPostTransform(posts[post]);
  rewriter.replaceOp(op, regressor);
  return success();
}

// A regressor whose result is nothing but sums, for this use alone.
onnx::MLTreeEnsembleRegressorOp sumOfTrees(Value v) {
  auto op = v.getDefiningOp<onnx::MLTreeEnsembleRegressorOp>();
  bool plain = op && v.hasOneUse() && op.getAggregateFunction() == "SUM" && op.getPostTransform() == "NONE" && op.getNodesValues() &&
               op.getTargetWeights() && !op.getBaseValuesAsTensor() && !op.getNodesValuesAsTensor() && !op.getTargetWeightsAsTensor();
  return plain && op.getNTargets().value_or(1) > 0 && op.getBaseValues().value_or(ArrayRef<float>()).empty() ? op : nullptr;
}

// The trees and targets of `op` behind the others; false where its lists do not fit one another.
bool append(onnx::MLTreeEnsembleRegressorOp op, Trees &trees, int64_t firstTree, int64_t firstTarget, int64_t &nextTree) {
  auto list = [](std::optional<ArrayRef<int64_t>> l) { return l.value_or(ArrayRef<int64_t>()); };
  ArrayRef<int64_t> tree = list(op.getNodesTreeids()), node = list(op.getNodesNodeids()), feature = list(op.getNodesFeatureids()),
                    yes = list(op.getNodesTruenodeids()), no = list(op.getNodesFalsenodeids()),
                    missing = list(op.getNodesMissingValueTracksTrue()), targetTree = list(op.getTargetTreeids()),
                    targetNode = list(op.getTargetNodeids()), target = list(op.getTargetIds());
  ArrayRef<float> split = *op.getNodesValues(), weight = *op.getTargetWeights();
  size_t n = node.size(), entries = target.size();
  if (tree.size() != n || feature.size() != n || yes.size() != n || no.size() != n || split.size() != n || !op.getNodesModes() ||
      op.getNodesModes()->size() != n || targetTree.size() != entries || targetNode.size() != entries || weight.size() < entries ||
      llvm::any_of(tree, [](int64_t t) { return t < 0 || t >= (1 << 30); }))
    return false;
  int64_t targets = op.getNTargets().value_or(1);
  llvm::DenseSet<std::pair<int64_t, int64_t>> named, seen;
  for (size_t i = 0; i < n; ++i)
    named.insert({tree[i], node[i]});
  for (size_t i = 0; i < entries; ++i)
    if (target[i] < 0 || target[i] >= targets || !named.contains({targetTree[i], targetNode[i]}))
      return false;
  for (size_t i = 0; i < n; ++i) {
    nextTree = std::max(nextTree, firstTree + tree[i] + 1);
    trees.addTest(firstTree + tree[i], node[i], cast<StringAttr>((*op.getNodesModes())[i]).getValue(), feature[i], split[i], yes[i], no[i],
                  i < missing.size() && missing[i]);
  }
  for (size_t i = 0; i < entries; ++i)
    if (targets > 1 || seen.insert({targetTree[i], targetNode[i]}).second)  // of several weights for the one target the first counts
      trees.addWeight(firstTree + targetTree[i], targetNode[i], firstTarget + target[i], weight[i]);
  return true;
}

// Neighbours among what is joined.
LogicalResult joinRegressors(onnx::ConcatOp concat, PatternRewriter &rewriter) {
  auto type = dyn_cast<RankedTensorType>(concat.getType());
  if (!type || type.getRank() != 2 || onnx::axisAttr(concat, 2) != 1)
    return rewriter.notifyMatchFailure(concat, "not of columns");
  OperandRange values = concat->getOperands();
  for (size_t first = 0, end; first < values.size(); first = end) {
    auto leader = sumOfTrees(values[first]);
    Trees trees(concat.getContext());
    int64_t nextTree = 0, targets = 0;
    for (end = first; leader && end < values.size(); ++end) {
      auto op = sumOfTrees(values[end]);
      if (!op || op.getX() != leader.getX() || !append(op, trees, nextTree, targets, nextTree))
        break;
      targets += op.getNTargets().value_or(1);
    }
    if (end < first + 2) {
      end = first + 1;
      continue;
    }
    auto one = cast<onnx::MLTreeEnsembleRegressorOp>(rewriter.clone(*leader));
    trees.setOn(one);
    one.removeNodesHitratesAttr(), one.removeNodesHitratesAsTensorAttr();
    one.setNTargets(targets);
    one.getY().setType(end - first == values.size() ? type : type.clone({type.getDimSize(0), targets}));
    SmallVector<Value> left(values.begin(), values.begin() + first);
    left.push_back(one.getY());
    left.append(values.begin() + end, values.end());
    if (left.size() == 1)
      rewriter.replaceOp(concat, one);
    else
      rewriter.modifyOpInPlace(concat, [&] { concat->setOperands(left); });
    return success();
  }
  return rewriter.notifyMatchFailure(concat, "no regressors of one input side by side");
}

}  // namespace

void populateTreeEnsemblePatterns(RewritePatternSet &patterns) { patterns.add(asRegressor).add(joinRegressors); }

}  // namespace onnxc
