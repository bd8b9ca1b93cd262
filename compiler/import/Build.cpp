// Build.cpp: the function, its blocks and its ops, by what the dialect declares of each op. BuildAttrs.cpp converts attributes.
#include "compiler/import/Build.h"
#include "compiler/import/BuildAttrs.h"
#include "compiler/import/Import.h"
#include "compiler/import/Microsoft.h"
#include "compiler/import/Schemas.h"
#include "compiler/import/Upgrade.h"
#include "dialects/onnx/CustomCall.h"
#include "dialects/onnx/OnnxDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using llvm::StringRef;
namespace onnxc::importer {
namespace {

StringRef dialectPrefix(StringRef domain) {
  return domain.empty()                                                         ? ""
         : domain == "ai.onnx.ml"                                               ? "ml."
         : domain == "com.microsoft"                                            ? "ms."
         : domain == "ai.onnx.preview.training" || domain == "ai.onnx.training" ? "training."
         : domain == "ai.onnx.preview"                                          ? "preview."
                                                                                : "?";
}
std::string dialectName(const pb::NodeProto &node) { return ("onnx." + dialectPrefix(node.domain()) + node.op_type()).str(); }

using Graph = pb::GraphProto;
using Scopes = std::vector<std::unordered_map<std::string, Value>>;

class Builder {
public:
  Builder(ModelFile &file, Walker &walker, MLIRContext *context)
      : file(file), walker(walker), context(context), b(context), unusedCustomOps(walker.customOps) {}

  OwningOpRef<ModuleOp> module() {
    const Graph &graph = file.model.graph();
    OwningOpRef<ModuleOp> module = ModuleOp::create(NameLoc::get(b.getStringAttr(file.path)));
    moduleAttrs(*module);
    b.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(b, module->getLoc(), "main", b.getFunctionType({}, {}));
    b.setInsertionPointToStart(function.addEntryBlock());
    llvm::SmallVector<Value> results;
    if (!block(graph, results))
      return {};
    func::ReturnOp::create(b, module->getLoc(), results);
    function.setFunctionType(b.getFunctionType(function.getBody().front().getArgumentTypes(), ValueRange(results).getTypes()));
    for (int i = 0; i < graph.input_size(); ++i)
      function.setArgAttrs(i, valueAttrs(graph.input(i)));
    if (!defaults(graph, function))
      return {};
    for (int i = 0; i < graph.output_size(); ++i) {
      function.setResultAttrs(i, valueAttrs(graph.output(i)));
      if (const pb::TypeProto &type = graph.output(i).type(); type.tensor_type().has_shape())
        function.setResultAttr(i, onnx::kRankAttr, b.getIndexAttr(type.tensor_type().shape().dim_size()));
    }
    for (const std::string &name : unusedCustomOps)
      emitWarning(module->getLoc()) << "--custom-op " << name << ": no node of the model has this operator";
    return module;
  }

private:
  Location locOf(const pb::NodeProto &node) {
    Origin from = origin(node);
    return nodeLoc(context, from.name, from.op, from.opset);
  }
  Location locOf(const std::string &name) { return NameLoc::get(b.getStringAttr(name)); }
  bool fail(Location loc, const llvm::Twine &message) {
    InFlightDiagnostic diag = emitError(loc) << message;
    if (!enclosing.empty())
      diag << ", inside node '" << enclosing.back() << "'";
    return false;
  }

  void moduleAttrs(ModuleOp module) {
    const pb::ModelProto &m = file.model;
    module->setAttr("onnx.opset", b.getI64IntegerAttr(opsetOf(m)));
    module->setAttr("onnx.opsets", opsets(m));
    module->setAttr("onnx.ir_version", b.getI64IntegerAttr(m.ir_version()));
    module->setAttr("onnx.model_version", b.getI64IntegerAttr(m.model_version()));
    module->setAttr("onnx.producer", b.getStringAttr(m.producer_name()));
    module->setAttr("onnx.producer_version", b.getStringAttr(m.producer_version()));
    module->setAttr("onnx.model_name", b.getStringAttr(m.graph().name()));
    module->setAttr("onnx.domain", b.getStringAttr(m.domain()));
    module->setAttr("onnx.doc", b.getStringAttr(m.doc_string()));
    std::map<std::string, std::string> entries;
    for (const pb::StringStringEntryProto &entry : m.metadata_props())
      if (!entry.key().empty())
        entries[entry.key()] = entry.value();
    llvm::SmallVector<NamedAttribute> metadata;
    for (const auto &[key, value] : entries)
      metadata.push_back(b.getNamedAttr(key, b.getStringAttr(value)));
    module->setAttr("onnx.metadata", b.getDictionaryAttr(metadata));
  }

  // Of ai.onnx; 0 where the model imports other domains alone.
  static int64_t opsetOf(const pb::ModelProto &m) {
    for (const pb::OperatorSetIdProto &import : m.opset_import())
      if (plainName(import.domain()) == "ai.onnx")
        return import.version();
    return 0;
  }

  DictionaryAttr opsets(const pb::ModelProto &m) {
    NamedAttrList versions;
    for (const pb::OperatorSetIdProto &import : m.opset_import())
      versions.set(plainName(import.domain()), b.getI64IntegerAttr(import.version()));
    return versions.getDictionary(context);
  }

  DictionaryAttr valueAttrs(const pb::ValueInfoProto &value) {
    llvm::SmallVector<Attribute> dims;
    if (value.type().has_tensor_type())
      for (const auto &dim : value.type().tensor_type().shape().dim())
        dims.push_back(b.getStringAttr(dim.has_dim_param() ? dim.dim_param() : std::string()));
    NamedAttrList attrs;
    attrs.set("onnx.name", b.getStringAttr(value.name()));
    attrs.set("onnx.dims", b.getArrayAttr(dims));
    if (auto it = walker.sameShape.find(value.name()); it != walker.sameShape.end())
      attrs.set("onnx.like", b.getI64IntegerAttr(it->second));
    if (auto it = walker.ranges.find(value.name()); it != walker.ranges.end())
      attrs.set("onnx.ranges", b.getDenseI64ArrayAttr(it->second));
    return attrs.getDictionary(context);
  }

  // Gives the arguments of inputs with an initializer their `onnx.default`.
  bool defaults(const Graph &graph, func::FuncOp function) {
    std::unordered_map<std::string, int> inputs;
    for (int i = 0; i < graph.input_size(); ++i)
      inputs[graph.input(i).name()] = i;
    std::string error;
    for (const pb::TensorProto &t : graph.initializer())
      if (auto it = inputs.find(t.name()); it != inputs.end()) {
        ElementsAttr value = tensorToAttr(t, file, context, t.name(), error);
        if (!value)
          return fail(locOf(t.name()), "initializer '" + t.name() + "' " + error);
        function.setArgAttr(it->second, "onnx.default", value);
      }
    return true;
  }

  Value lookup(const std::string &name) {
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
      if (auto it = scope->find(name); it != scope->end())
        return it->second;
    return {};
  }

  // Fills the block at the insertion point: arguments, constants, ops; `results` are the graph's outputs.
  bool block(const Graph &graph, llvm::SmallVectorImpl<Value> &results) {
    scopes.emplace_back();
    bool ok = arguments(graph) && constants(graph);
    for (int i = 0, count = ok ? graph.node_size() : 0; i < count; ++i)
      ok &= build(graph, graph.node(i));
    for (int i = 0; ok && i < graph.output_size(); ++i) {
      Value value = lookup(graph.output(i).name());
      ok = value ? sameElement(graph.output(i), value)
                 : fail(locOf(file.path),
                        "output '" + graph.output(i).name() + "' of graph '" + graph.name() + "' is not defined by any node");
      results.push_back(value);
    }
    scopes.pop_back();
    return ok;
  }

  // Sizes that are declared otherwise than inferred are an exporter's mistake, mostly of a fixed batch: the run gives what is computed.
  void warnOfSizes(const pb::ValueInfoProto &declared, TensorType promised, TensorType actual) {
    if (!promised || !actual || !promised.hasRank() || !actual.hasRank() || succeeded(verifyCompatibleShape(promised, actual)))
      return;
    auto sizes = [](TensorType t) {
      auto shown = llvm::map_range(t.getShape(), [](int64_t d) { return ShapedType::isDynamic(d) ? std::string("?") : std::to_string(d); });
      return "[" + llvm::join(shown, ", ") + "]";
    };
    emitWarning(locOf(file.path)) << "output '" << declared.name() << "' is declared with sizes " << sizes(promised)
                                  << " but computed with " << sizes(actual);
  }

  // A declared element type is a promise to users.
  bool sameElement(const pb::ValueInfoProto &declared, Value value) {
    auto promised = llvm::dyn_cast_if_present<TensorType>(toType(declared.type(), context));
    auto actual = llvm::dyn_cast<TensorType>(value.getType());
    if (!promised || !actual || promised.getElementType() == actual.getElementType()) {
      warnOfSizes(declared, promised, actual);
      return true;
    }
    emitError(value.getLoc()) << "output '" << declared.name() << "' is declared with elements " << promised.getElementType()
                              << " but computed as " << actual.getElementType();
    return false;
  }

  bool arguments(const Graph &graph) {
    for (const pb::ValueInfoProto &input : graph.input()) {
      Type type = toType(walker.types[&graph][input.name()], context);
      if (!type)
        return fail(locOf(file.path), "input '" + input.name() + "' of graph '" + graph.name() + "' has no valid type");
      scopes.back()[input.name()] = b.getInsertionBlock()->addArgument(type, locOf(input.name()));
    }
    return true;
  }

  static void collectReads(const Graph &graph, std::unordered_set<std::string> &names) {
    for (const pb::NodeProto &node : graph.node()) {
      names.insert(node.input().begin(), node.input().end());
      for (const pb::AttributeProto &attr : node.attribute())
        if (attr.has_g())
          collectReads(attr.g(), names);
    }
    for (const pb::ValueInfoProto &output : graph.output())
      names.insert(output.name());
  }

  bool constant(Location loc, const std::string &name, ElementsAttr value, const std::string &error) {
    if (!value)
      return fail(loc, "initializer '" + name + "' " + error);
    OperationState state(loc, "onnx.Constant");
    state.addTypes(value.getType());
    state.addAttribute("value", value);
    scopes.back()[name] = b.create(state)->getResult(0);
    return true;
  }

  bool constants(const Graph &graph) {
    std::unordered_set<std::string> read;
    collectReads(graph, read);
    std::string error;
    for (const pb::TensorProto &t : graph.initializer())
      if (read.count(t.name()) && !scopes.back().count(t.name()) &&
          !constant(locOf(t.name()), t.name(), tensorToAttr(t, file, context, t.name(), error), error))
        return false;
    for (const pb::SparseTensorProto &t : graph.sparse_initializer()) {
      const std::string &name = t.values().name();
      if (read.count(name) && !constant(locOf(name), name, sparseToAttr(t, file, context, name, error), error))
        return false;
    }
    return true;
  }

  // Values for a declared list of kinds ("1", "?", "*"); `sizes` gets the number for each declared one.
  bool distribute(Location loc, StringRef kinds, int given, StringRef what, llvm::SmallVectorImpl<int32_t> &sizes,
                  llvm::function_ref<int(int)> take) {
    int next = 0;
    for (size_t i = 0; i < kinds.size(); ++i) {
      int wanted = kinds[i] == '*' ? std::max<int>(0, given - next - int(kinds.size() - i - 1)) : 1, taken = 0;
      for (int k = 0; k < wanted; ++k, ++next) {
        int got = next < given ? take(next) : 0;
        if (got < 0)
          return false;
        if (got == 0 && kinds[i] == '1' && what == "input")
          return fail(loc, what + " " + llvm::Twine(next) + " is missing");
        taken += got;
      }
      sizes.push_back(taken);
    }
    for (; next < given; ++next)
      if (int got = take(next); got != 0)
        return got < 0 ? false : fail(loc, "has " + llvm::Twine(given) + " " + what + "s, more than the operator takes");
    return true;
  }

  bool operands(const pb::NodeProto &node, StringRef kinds, OperationState &state, llvm::SmallVectorImpl<int32_t> &sizes) {
    return distribute(state.location, kinds, node.input_size(), "input", sizes, [&](int i) {
      if (node.input(i).empty())
        return 0;
      Value value = lookup(node.input(i));
      if (!value)
        return fail(state.location, "reads '" + node.input(i) + "', which nothing defines") ? 0 : -1;
      state.addOperands(value);
      return 1;
    });
  }

  // The type of result `i`; for one that nobody named, what is known of its element type.
  Type resultType(const Graph &graph, const pb::NodeProto &node, int i, const OperationState &state) {
    const Types &types = walker.types[&graph];
    if (i < node.output_size())
      if (auto it = types.find(node.output(i)); it != types.end())
        return toType(it->second, context);
    if (!state.operands.empty())
      if (auto tensor = llvm::dyn_cast<TensorType>(state.operands.front().getType()))
        return UnrankedTensorType::get(tensor.getElementType());
    return {};
  }

  bool results(const Graph &graph, const pb::NodeProto &node, StringRef kinds, OperationState &state, llvm::SmallVectorImpl<int32_t> &sizes,
               llvm::SmallVectorImpl<int> &positions) {
    int declared = std::max<int>(node.output_size(), int(kinds.take_while([](char c) { return c == '1'; }).size()));
    return distribute(state.location, kinds, declared, "output", sizes, [&](int i) {
      bool named = i < node.output_size() && !node.output(i).empty();
      bool needed = i < int(kinds.size()) ? kinds[i] != '?' : i < node.output_size();
      if (!named && !needed)
        return 0;
      Type type = resultType(graph, node, i, state);
      if (!type)
        return fail(state.location, "the type of output " + llvm::Twine(i) + (named ? " '" + node.output(i) + "'" : std::string()) +
                                        " cannot be determined")
                   ? 0
                   : -1;
      state.addTypes(type);
      positions.push_back(named ? i : -1);
      return 1;
    });
  }

  bool regions(const pb::NodeProto &node, OperationState &state) {
    for (const char *name : {"then_branch", "else_branch", "body"}) {
      const pb::AttributeProto *attr = findAttr(node, name);
      if (!attr || !attr->has_g())
        continue;
      Region *region = state.addRegion();
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&region->emplaceBlock());
      llvm::SmallVector<Value> results;
      enclosing.push_back(origin(node).name);
      bool ok = block(attr->g(), results);
      enclosing.pop_back();
      if (!ok)
        return false;
      OperationState yield(state.location, "onnx.Yield");
      yield.addOperands(results);
      if (ArrayAttr sizes = declaredSizes(attr->g(), yield.operands, context); sizes && attr->name() == "body")
        yield.addAttribute(onnx::kDeclaredAttr, sizes);
      b.create(yield);
    }
    return true;
  }

  bool attributes(const pb::NodeProto &node, OperationState &state) {
    for (const pb::AttributeProto &attr : node.attribute()) {
      if (attr.has_g())
        continue;
      std::string error;
      Attribute value = toAttribute(attr, file, context, origin(node).name + "." + attr.name(), error);
      if (!value)
        return fail(state.location, "attribute '" + attr.name() + "' " + error);
      if (!attr.name().empty())
        state.addAttribute(attr.name(), value);
    }
    return true;
  }

  // A call of the user's operator; its attributes are kept apart from those of the op.
  bool customCall(const Graph &graph, const pb::NodeProto &node, Location loc) {
    OperationState state(loc, onnx::CustomCallOp::getOperationName()), own(loc, "onnx.custom");
    llvm::SmallVector<int32_t> sizes;
    auto named = [](const std::string &name) { return !name.empty(); };
    auto present = llvm::map_to_vector(node.input(), named), made = llvm::map_to_vector(node.output(), named);
    if (!operands(node, "*", state, sizes))
      return false;
    for (auto [i, name] : llvm::enumerate(node.output())) {
      if (name.empty())
        continue;
      state.addTypes(resultType(graph, node, int(i), state));
      if (!llvm::isa_and_present<RankedTensorType>(state.types.back()))
        return fail(loc, "the model does not say the rank of output '" + name + "' of a custom operator (value_info)");
    }
    for (const pb::AttributeProto &attr : node.attribute())
      if (attr.has_g() || attr.graphs_size() || attr.has_tp())
        return fail(loc, "attribute '" + attr.name() + "' is a graph or a type, which a custom operator cannot have");
    if (!attributes(node, own))
      return false;
    unusedCustomOps.erase(plainName(node.domain()) + "::" + node.op_type());
    std::string symbol = plainName(node.domain()) + "_" + node.op_type();
    std::replace_if(symbol.begin(), symbol.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
    state.addAttribute("symbol", b.getStringAttr(symbol));
    state.addAttribute("present", b.getDenseBoolArrayAttr(present));
    state.addAttribute("given", own.attributes.getDictionary(context));
    if (llvm::is_contained(made, false))
      state.addAttribute(onnx::kMadeAttr, b.getDenseBoolArrayAttr(made));
    ResultRange results = b.create(state)->getResults();
    for (const std::string &name : llvm::make_filter_range(node.output(), named))
      scopes.back()[name] = results.front(), results = results.drop_front();
    return true;
  }

  // A node that reads what an earlier one could not give says nothing more.
  bool build(const Graph &graph, const pb::NodeProto &node) {
    bool ok = llvm::none_of(node.input(), [&](const std::string &name) { return missing.count(name) != 0; }) && op(graph, node);
    if (!ok)
      missing.insert(node.output().begin(), node.output().end());
    missing.erase("");
    return ok;
  }

  bool op(const Graph &graph, const pb::NodeProto &node) {
    Location loc = locOf(node);
    if (isCustom(node, walker.customOps))
      return customCall(graph, node, loc);
    if (node.op_type() == "Constant" && node.domain().empty() && node.output_size() == 1) {
      std::string error;
      ElementsAttr value = constantValue(node, file, context, error);
      return value ? constant(loc, node.output(0), value, error) : fail(loc, "its value " + error);
    }
    OperationName name(dialectName(node), context);
    const onnx::OpInfo *info = onnx::opInfo(name);
    if (!info)
      return fail(loc, "the dialect does not describe " + name.getStringRef());
    OperationState state(loc, name);
    llvm::SmallVector<int32_t> operandSizes, resultSizes;
    llvm::SmallVector<int> positions;
    if (!operands(node, info->operands, state, operandSizes) || !results(graph, node, info->results, state, resultSizes, positions) ||
        !attributes(node, state) || !regions(node, state))
      return false;
    if (name.hasTrait<OpTrait::AttrSizedOperandSegments>())
      state.addAttribute("operandSegmentSizes", b.getDenseI32ArrayAttr(operandSizes));
    if (name.hasTrait<OpTrait::AttrSizedResultSegments>())
      state.addAttribute("resultSegmentSizes", b.getDenseI32ArrayAttr(resultSizes));
    Operation *created = b.create(state);
    for (auto [result, position] : llvm::zip_equal(created->getResults(), positions))
      if (position >= 0)
        scopes.back()[node.output(position)] = result;
    return true;
  }

  ModelFile &file;
  Walker &walker;
  MLIRContext *context;
  OpBuilder b;
  Scopes scopes;
  std::unordered_set<std::string> missing;  // results of nodes that failed
  std::vector<std::string> enclosing;       // the nodes whose bodies are being built
  std::set<std::string> unusedCustomOps;    // so far
};
}  // namespace

// Names with a dot are the dialect's own, a yield ends bodies.
static bool isOwn(StringRef op) { return op.contains('.') || op == "Yield"; }

bool isKnown(const pb::NodeProto &node, MLIRContext *context, const std::set<std::string> &customOps) {
  return isCustom(node, customOps) || (!isOwn(node.op_type()) && OperationName(dialectName(node), context).isRegistered());
}

std::vector<std::string> knownNames(const std::string &domain, MLIRContext *context, const std::set<std::string> &customOps) {
  std::set<std::string> names = Schemas::instance().names(domain);
  for (RegisteredOperationName op : context->getRegisteredOperationsByDialect("onnx"))
    if (StringRef name = op.getStringRef(); name.consume_front(("onnx." + dialectPrefix(domain)).str()) && !isOwn(name))
      names.insert(name.str());
  for (StringRef name : customOps)
    if (name.consume_front(plainName(domain) + "::"))
      names.insert(name.str());
  for (const auto &[of, name] : expandedOps())
    if (of == domain)
      names.insert(name);
  if (domain == "com.microsoft") {
    for (const Upgrade &upgrade : kUpgradesML)
      if (StringRef name = upgrade.op; name.consume_front("com.microsoft."))
        names.insert(name.str());
  }
  return {names.begin(), names.end()};
}

OwningOpRef<ModuleOp> buildModule(ModelFile &file, Walker &walker, MLIRContext *context) { return Builder(file, walker, context).module(); }

}  // namespace onnxc::importer
