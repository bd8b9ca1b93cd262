// SchemasTest.cpp: schemas made one at a time are those of the onnx library's registry, which makes all.
#include "compiler/import/Schemas.h"
#include <catch2/catch.hpp>

using onnxc::importer::Schemas;

TEST_CASE("every schema of the library is found in its own opset") {
  const Schemas &schemas = Schemas::instance();
  auto all = onnx::OpSchemaRegistry::get_all_schemas_with_history();
  CHECK(all.size() > 600);
  for (const onnx::OpSchema &expected : all) {
    INFO(expected.domain() << "." << expected.Name() << " " << expected.SinceVersion());
    const onnx::OpSchema *found = schemas.GetSchema(expected.Name(), expected.SinceVersion(), expected.domain());
    REQUIRE(found);
    CHECK(found->Name() == expected.Name());
    CHECK(found->domain() == expected.domain());
    CHECK(found->SinceVersion() == expected.SinceVersion());
    CHECK(found->min_input() == expected.min_input());
    CHECK(found->max_output() == expected.max_output());
    CHECK(found == schemas.GetSchema(expected.Name(), expected.SinceVersion(), expected.domain()));
  }
}

TEST_CASE("an opset between two versions has the older schema") {
  const Schemas &schemas = Schemas::instance();
  for (int version = 1; version <= 30; ++version)
    for (const char *op : {"Relu", "Upsample", "Gelu", "Scatter"}) {
      INFO(op << " " << version);
      const onnx::OpSchema *expected = onnx::OpSchemaRegistry::Schema(op, version), *found = schemas.GetSchema(op, version);
      REQUIRE(bool(found) == bool(expected));
      if (found)
        CHECK(found->SinceVersion() == expected->SinceVersion());
    }
}

TEST_CASE("names and domains that do not exist have no schema") {
  const Schemas &schemas = Schemas::instance();
  CHECK_FALSE(schemas.GetSchema("Reluu", 28));
  CHECK_FALSE(schemas.GetSchema("Relu", 28, "ai.onnx"));
  CHECK_FALSE(schemas.GetSchema("Relu", 5, "ai.onnx.ml"));
  CHECK_FALSE(schemas.GetSchema("Relu", 28, "com.microsoft"));
  CHECK_FALSE(schemas.GetSchema("Adam", 1, "ai.onnx.preview"));
  CHECK(schemas.GetSchema("Adam", 1, "ai.onnx.preview.training"));
  CHECK_FALSE(schemas.GetSchema("Relu", 0));
}
