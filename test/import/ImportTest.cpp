// ImportTest.cpp: names, places, functions, subgraphs, types of values, and what broken models are told.
#include "Models.h"
#include <catch2/catch.hpp>

using namespace onnxc;
using namespace onnxc::test;
using Catch::Contains;

TEST_CASE("names and sizes of inputs and outputs are kept") {
  std::string module = importText(R"(<ir_version: 8, opset_import: ["" : 17], producer_name: "tool">
    g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) })");
  CHECK_THAT(module, Contains("onnx.dims = [\"batch\", \"\"], onnx.name = \"x\"") && Contains("tensor<?x3xf32>"));
  CHECK_THAT(module, Contains("onnx.opset = 17") && Contains("onnx.producer = \"tool\"") && Contains("onnx.model_name = \"g\""));
}

TEST_CASE("a named size is no size of 0") {
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 19]>
    g (float[1, 2, 4, 4] x, int64[n] s) => (float[a, b, c, d] y) { y = Resize(x, , , s) })"),
             Contains("onnx.Resize"));
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 19]>
    g (float[1, 2, 4, 4] x, int64[3] s) => (float[a, b, c, d] y) { y = Resize(x, , , s) })"),
             Contains("Number of elements of input 'sizes' (3)"));
}

TEST_CASE("a placeholder names no size") {
  auto model = parse(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[n,m,k] x) => (float[n,m,k] y) { y = Relu(x) })");
  auto names = [&](const char *first, const char *second, const char *third) {
    auto *shape = model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_param(first), shape->mutable_dim(1)->set_dim_param(second), shape->mutable_dim(2)->set_dim_param(third);
    return importProto(model);
  };
  CHECK_THAT(names("?", "*", "None"), Contains(R"(onnx.dims = ["", "", ""])"));
  CHECK_THAT(names("n?", "größe", "ö"), Contains(R"(onnx.dims = ["n?", "gr\C3\B6\C3\9Fe", "\C3\B6"])"));
}

TEST_CASE("an input that is only expanded shares no size by name") {
  auto names = [](const std::string &op, const std::string &read) {
    return importText(
        R"(<ir_version: 8, opset_import: ["" : 17, "f" : 1]> g (float[n] x, float[n,m] state) => (float[k,l] y, float[i,j] z) {
      shape = Shape(x)
      y = )" +
        op + R"((state, shape)
      z = Relu()" +
        read + R"()
    }
    <domain: "f", opset_import: ["" : 17]> Expand (a, b) => (c) { c = Identity(a) })");
  };
  const char *shared = R"(onnx.dims = ["n", "m"])", *apart = R"(onnx.dims = ["", "m"])";
  CHECK_THAT(names("Expand", "x"), Contains(R"(onnx.dims = ["n"])") && Contains(apart) && !Contains(shared));
  CHECK_THAT(names("Expand", "state"), Contains(shared) && !Contains(apart));
  CHECK_THAT(names("f.Expand", "x"), Contains(shared) && !Contains(apart));
}

TEST_CASE("a named size can be fixed") {
  ImportOptions options;
  options.defineDims["batch"] = 8;
  CHECK_THAT(
      importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[batch, 3] x) => (float[batch, 3] y) { y = Relu(x) })", options),
      Contains("tensor<8x3xf32>") && !Contains("?"));
}

TEST_CASE("sizes can be bounded") {
  const char *model =
      R"(<ir_version: 8, opset_import: ["" : 17]> g (float[batch, 3] x, float[batch, n] z) => (float[batch, 3] y) { y = Relu(x) })";
  ImportOptions options;
  options.shapes[MinShapes]["x"] = {2, 3};
  options.shapes[OptShapes]["z"] = {4, 5};
  CHECK_THAT(importText(model, options), Contains("onnx.ranges = array<i64: 2, 4, 9223372036854775807, 0, -1, 9223372036854775807>") &&
                                             Contains("onnx.ranges = array<i64: 2, 4, 9223372036854775807, 0, 5, 9223372036854775807>") &&
                                             !Contains("onnx.reserve"));
  options.shapes[MaxShapes]["z"] = {8, 5};
  CHECK_THAT(importText(model, options), Contains("array<i64: 2, 4, 8, 0, 5, 5>") && Contains("onnx.reserve"));
  options.shapes[MinShapes]["z"] = {2, 5};
  CHECK_THAT(importText(model, options),
             Contains("tensor<?x5xf32>") && Contains("onnx.ranges = array<i64: 2, 4, 8, 0, -1, 9223372036854775807>"));
}

TEST_CASE("an input with an initializer may keep it as its default") {
  const char *model = R"(<ir_version: 8, opset_import: ["" : 17]>
    g (float[2] x, float[2] w = {1, 2}, float[2] v = {3, 4}) => (float[2] y) { a = Add(x, w)  b = Softmax(v)  y = Mul(a, b) })";
  CHECK_THAT(importText(model),
             Contains("onnx.default = dense<[1.000000e+00, 2.0") && Contains("onnx.Constant") && Contains("%arg1") && !Contains("%arg2"));
  ImportOptions options;
  options.defaultInputs = DefaultInputs::None;
  CHECK_THAT(importText(model, options), !Contains("onnx.default") && !Contains("%arg1"));
  options.defaultInputs = DefaultInputs::All;
  CHECK_THAT(importText(model, options), Contains("%arg2") && !Contains("onnx.Constant"));
  std::string old = model;
  old.replace(old.find("8,"), 2, "3,");
  CHECK_THAT(importText(old, options), !Contains("onnx.default"));
}

TEST_CASE("elementwise operators need no rank") {
  ::onnx::ModelProto model =
      parse(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1] z) => (float[1] y) { t = Add(z, z)  y = Tanh(t) })");
  for (auto *value : {model.mutable_graph()->mutable_input(0), model.mutable_graph()->mutable_output(0)})
    value->mutable_type()->mutable_tensor_type()->clear_shape();
  CHECK_THAT(importProto(model), Contains("onnx.like = 0") && Contains("tensor<?xf32>"));
  model.mutable_graph()->mutable_node(0)->set_op_type("MatMul");
  CHECK_THAT(importProto(model), !Contains("onnx.like") && Contains("tensor<*xf32>"));
}

TEST_CASE("nodes may come in any order") {
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Relu(t)  t = Abs(x) })"),
             Contains("\"onnx.Relu\"(%0)"));
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Add(x, t)  t = Abs(y) })"),
             Contains("reads its own result"));
}

TEST_CASE("model-local functions are replaced by their bodies") {
  std::string module = importText(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]>
    g (float[3] x) => (float[3] y) { y = local.twice<slope = 0.5>(x) }
    <domain: "local", opset_import: ["" : 11]>
    twice <slope> (a) => (b) { c = LeakyRelu<alpha : float = @slope>(a)  b = Add(c, c) })");
  CHECK_THAT(module, Contains("alpha = 5.000000e-01") && Contains("onnx.Add") && !Contains("twice"));
}

TEST_CASE("a function may not call itself") {
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 17, "local" : 1]> g (float[3] x) => (float[3] y) { y = local.f(x) }
    <domain: "local", opset_import: ["" : 17, "local" : 1]> f (a) => (b) { b = local.f(a) })"),
             Contains("calls itself"));
}

TEST_CASE("standard functions are replaced where no kernel exists") {
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (int64[3] x, float z) => (float[3] y) { y = CastLike(x, z) })"),
             Contains("onnx.Cast\"") && !Contains("CastLike"));
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Celu(x) })"),
             Contains("onnx.Celu"));
}

TEST_CASE("branches capture outer values") {
  std::string module = importText(R"(<ir_version: 8, opset_import: ["" : 17]> g (bool c, float[3] x) => (float[3] y) {
      y = If(c) <then_branch = t () => (float[3] a) { a = Relu(x) }, else_branch = e () => (float[3] b) { b = Neg(x) }>
    })");
  CHECK_THAT(module, Contains("\"onnx.If\"(%arg0)") && Contains("\"onnx.Relu\"(%arg1)") && Contains("onnx.Yield"));
}

TEST_CASE("nodes without a name get one, and say where they are") {
  CHECK_THAT(
      importText(
          R"(<ir_version: 8, opset_import: ["" : 17]> g (float[2,3] x, float[4,5] w) => (float[] y) { t = Relu(x)  y = MatMul(t, w) })"),
      Contains("error: MatMul_1 (MatMul, opset 17): "));
}

TEST_CASE("every unknown operator is listed at once") {
  std::string text = importText(R"(<ir_version: 8, opset_import: ["" : 17, "acme" : 1]>
    g (float[3] x) => (float[3] y) { t = acme.Foo(x)  y = acme.Bar(t) })");
  CHECK_THAT(text, Contains("Foo_0 (Foo, opset 1): onnxc does not know operator Foo of acme; pass --custom-op acme::Foo=LIBRARY, or give "
                            "it as a function of the model"));
  CHECK_THAT(text, Contains("Bar_1 (Bar, opset 1): onnxc does not know operator Bar of acme"));
}

TEST_CASE("broken models are refused with a reason") {
  auto graph = [](const std::string &text) { return importText("<ir_version: 8, opset_import: [\"\" : 17]> " + text); };
  CHECK_THAT(graph("g (float[3] x) => (float[3] y) { y = Relu(z) }"),
             Contains("Relu_0 (Relu, opset 17): reads 'z', which nothing defines"));
  CHECK_THAT(graph("g (float[3] x) => (float[3] y) { y = Relu(x, x) }"), Contains("Relu_0"));
  CHECK_THAT(graph("g (float[3] x) => (float[3] y) { y = Gelu(x) }"), Contains("does not exist in opset 17"));
  CHECK_THAT(graph("g (float[3] x) => (int64[3] y) { y = Relu(x) }"), Contains("output 'y' is declared with elements"));
  CHECK_THAT(graph("g (float[3] x) => (float[3] y) { y = Relu(x)  y = Abs(x) }"), Contains("value 'y' is defined twice"));
  CHECK_THAT(importText("<ir_version: 8, opset_import: [\"\" : 900]> g (float[3] x) => (float[3] y) { y = Relu(x) }"),
             Contains("opset 900"));
}

TEST_CASE("files that are no models are refused") {
  TemporaryFolder folder;
  CHECK_THAT(importFile(folder.path.str().str()), Contains("is a folder"));
  CHECK_THAT(importFile(folder.write("empty.onnx", "")), Contains("is empty"));
  CHECK_THAT(importFile(folder.write("text.onnx", "this is not a model")), Contains("is not an ONNX model"));
  CHECK_THAT(importFile((folder.path + "/absent.onnx").str()), Contains("cannot be read"));
  std::string bytes =
      parse(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Relu(x) })").SerializeAsString();
  for (size_t size = 1; size < bytes.size(); ++size)
    CHECK_THAT(importFile(folder.write("cut.onnx", bytes.substr(0, size))), Contains("error: "));
}

TEST_CASE("names are data") {
  auto model = parse(R"(<ir_version: 8, opset_import: ["" : 17]> g (float[3] x) => (float[3] y) { y = Relu(x) })");
  model.mutable_graph()->mutable_node(0)->set_name("odd \"name\"\n%s\x01");
  model.mutable_graph()->mutable_input(0)->set_name("a b\"c");
  model.mutable_graph()->mutable_node(0)->set_input(0, "a b\"c");
  CHECK_THAT(importProto(model), Contains("onnx.name = \"a b\\22c\""));
}
