// SymbolicRulesML.cpp: ai.onnx.ml: one row of results for each row of the input.
#include "passes/graph/SymbolicRules.h"

using namespace mlir;
namespace onnxc {

static AffineExpr rows(ShapeOp &o) { return o.rank(0) < 2 ? o.c(1) : o.dim(0, 0); }

// Number of entries of the first of the list attributes that is there.
static int64_t entries(ShapeOp &o, ArrayRef<StringRef> names) {
  for (StringRef name : names) {
    if (auto strings = o.op->getAttrOfType<ArrayAttr>(name); strings && !strings.empty())
      return strings.size();
    if (auto ints = o.op->getAttrOfType<DenseI64ArrayAttr>(name); ints && !ints.empty())
      return ints.size();
    if (auto floats = o.op->getAttrOfType<DenseF32ArrayAttr>(name); floats && !floats.empty())
      return floats.size();
  }
  return 0;
}

static AffineExpr columnsOf(ShapeOp &o) { return o.s.product(o.dims(0).drop_front(o.rank(0) > 1)); }

// A list attribute has one entry, or none, or one for each column of the input, where the number of these is known.
static LogicalResult oneForEachColumn(ShapeOp &o, StringRef attribute) {
  int64_t given = entries(o, {attribute});
  if (auto n = known(columnsOf(o)); n && given > 1 && given != *n)
    return o.error() << attribute << " has " << given << " entries, 1 or one for each of the " << *n << " columns is needed";
  return success();
}

// List attributes that run side by side.
static LogicalResult equalLists(ShapeOp &o, ArrayRef<StringRef> names) {
  int64_t wanted = entries(o, {names[0]});
  for (StringRef name : names.drop_front())
    if (int64_t given = entries(o, {name}); given != wanted)
      return o.error() << name << " has " << given << " entries, " << names[0] << " has " << wanted;
  return success();
}

static LogicalResult scaler(ShapeOp &o) {
  return success(succeeded(oneForEachColumn(o, "offset")) && succeeded(oneForEachColumn(o, "scale")) && succeeded(likeFirst(o)));
}
static LogicalResult imputer(ShapeOp &o) {
  StringRef values = isa<FloatType>(onnx::elementType(o.in(0))) ? "imputed_value_floats" : "imputed_value_int64s";
  if (!entries(o, {values}))
    return o.error() << values << " has 0 entries, 1 or one for each column is needed";
  return failed(oneForEachColumn(o, values)) ? failure() : likeFirst(o);
}
static LogicalResult arrayFeatureExtractor(ShapeOp &o) {
  Dims dims(o.dims(0).drop_back(o.rank(0) ? 1 : 0));
  if (dims.empty())
    dims.push_back(o.c(1));
  dims.push_back(o.s.product(o.dims(1)));
  return o.set(0, dims);
}
static LogicalResult castMap(ShapeOp &o) {
  return o.set(0, {o.c(1), o.strAttr("map_form") == "SPARSE" ? o.c(o.intAttr("max_map", 1)) : AffineExpr()});
}
static LogicalResult dictVectorizer(ShapeOp &o) { return o.set(0, {o.c(1), o.c(entries(o, {"string_vocabulary", "int64_vocabulary"}))}); }

// Without sizes all of every input.
static LogicalResult featureVectorizer(ShapeOp &o) {
  AffineExpr columns = o.c(0);
  ArrayRef<int64_t> sizes = o.intsAttr("inputdimensions");
  for (int64_t n : sizes)
    columns = o.s.add(columns, o.c(n));
  if (sizes.empty())
    for (Value x : o.inputs(0))
      columns = o.s.add(columns, o.s.product(o.s.dims(x).drop_front(o.s.dims(x).size() > 1)));
  return o.set(0, {rows(o), columns});
}

static LogicalResult classes(ShapeOp &o, int64_t columns) {
  return success(succeeded(o.set(0, {rows(o)})) && succeeded(o.set(1, {rows(o), o.c(columns)})));
}
static LogicalResult linearClassifier(ShapeOp &o) {
  int64_t given = entries(o, {"coefficients"}), intercepts = entries(o, {"intercepts"});
  auto each = known(columnsOf(o));
  if (each && *each && intercepts && given / *each < intercepts)
    return o.error() << "coefficients has " << given << " entries, " << *each << " for each of the " << intercepts
                     << " intercepts are needed, one for each column";
  if (each && *each && !intercepts && given % *each)
    return o.error() << "coefficients has " << given << " entries, a multiple of the " << *each << " columns is needed";
  int64_t n = entries(o, {"classlabels_strings", "classlabels_ints", "intercepts"});
  return classes(o, n ? n : 1);
}
// Without probabilities there is a score for each pair of classes; one pair gives two columns.
static LogicalResult svmClassifier(ShapeOp &o) {
  int64_t n = entries(o, {"classlabels_strings", "classlabels_ints"});
  bool pairs = entries(o, {"vectors_per_class"}) && !entries(o, {"prob_a"});
  int64_t columns = pairs ? n * (n - 1) / 2 : n;
  return classes(o, pairs && columns == 1 ? 2 : columns);
}
// The lists of nodes, and those of what leaves give, whose names begin with `prefix`.
static LogicalResult treeLists(ShapeOp &o, const std::string &prefix) {
  return success(succeeded(equalLists(o, {"nodes_nodeids", "nodes_treeids", "nodes_featureids", "nodes_modes", "nodes_truenodeids",
                                          "nodes_falsenodeids"})) &&
                 succeeded(equalLists(o, {prefix + "ids", prefix + "nodeids", prefix + "treeids"})));
}
static LogicalResult treeClassifier(ShapeOp &o) {
  if (failed(treeLists(o, "class_")))
    return failure();
  return classes(o, std::max<int64_t>(entries(o, {"classlabels_strings", "classlabels_int64s"}), 1));
}
static LogicalResult linearRegressor(ShapeOp &o) {
  int64_t given = entries(o, {"coefficients"}), n = o.intAttr("targets", 1);
  if (auto each = known(columnsOf(o)); each && (*each ? given % *each != 0 || given / *each != n : given != 0))
    return o.error() << "coefficients has " << given << " entries, " << *each << " for each of targets = " << n
                     << " are needed, one for each column";
  return o.set(0, {rows(o), o.c(n)});
}
static LogicalResult classScores(ShapeOp &o) { return classes(o, o.intAttr("columns")); }
static LogicalResult targets(ShapeOp &o) { return o.set(0, {rows(o), o.c(o.intAttr("n_targets", 1))}); }
static LogicalResult treeRegressor(ShapeOp &o) { return failed(treeLists(o, "target_")) ? failure() : targets(o); }
static LogicalResult svmRegressor(ShapeOp &o) { return o.set(0, {rows(o), o.c(1)}); }

static LogicalResult oneHotEncoder(ShapeOp &o) {
  Dims dims(o.dims(0));
  dims.push_back(o.c(entries(o, {"cats_strings", "cats_int64s"})));
  return o.set(0, dims);
}
static LogicalResult nothing(ShapeOp &) { return success(); }

void addMLRules(ShapeRules &rules) {
  for (const char *name : {"ml.Binarizer", "ml.CategoryMapper", "ml.LabelEncoder", "ml.Normalizer"})
    rules[name] = likeFirst;
  rules["ml.ArrayFeatureExtractor"] = arrayFeatureExtractor;
  rules["ml.CastMap"] = castMap;
  rules["ml.DictVectorizer"] = dictVectorizer;
  rules["ml.Imputer"] = imputer;
  rules["ml.FeatureVectorizer"] = featureVectorizer;
  rules["ml.LinearClassifier"] = linearClassifier;
  rules["ml.SVMClassifier"] = svmClassifier;
  rules["ml.TreeEnsembleClassifier"] = treeClassifier;
  rules["ml.LinearRegressor"] = linearRegressor;
  rules["ml.Scaler"] = scaler;
  rules["ml.TreeEnsembleRegressor"] = treeRegressor;
  rules["ml.TreeEnsemble"] = targets;
  rules["ml.SVMRegressor"] = svmRegressor;
  rules["packed.ClassScores"] = classScores;
  rules["ml.OneHotEncoder"] = oneHotEncoder;
  rules["ml.ZipMap"] = nothing;
}

}  // namespace onnxc
