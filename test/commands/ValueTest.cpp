// Comparing values: what counts as equal, and what a difference says.
#include "compiler/commands/Value.h"
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

using namespace onnxc;

static Value floats(std::vector<float> data) {
  Value v;
  v.dims = {(int64_t)data.size()};
  v.bytes.resize(data.size() * 4);
  memcpy(v.bytes.data(), data.data(), v.bytes.size());
  return v;
}

TEST_CASE("floats agree within the tolerance") {
  CHECK(difference(floats({1, 2}), floats({1, 2.001f}), {1e-3, 0}).empty());
  CHECK_THAT(difference(floats({1, 2}), floats({1, 2.01f}), {1e-3, 0}), Catch::Contains("1 of 2 elements differ, first at [1]"));
}

TEST_CASE("NaN agrees with NaN, infinities with themselves") {
  CHECK(difference(floats({NAN, INFINITY}), floats({NAN, INFINITY}), {}).empty());
  CHECK(!difference(floats({INFINITY}), floats({-INFINITY}), {}).empty());
  CHECK(!difference(floats({1}), floats({NAN}), {}).empty());
}

TEST_CASE("shapes and types are part of a value") {
  CHECK(difference(floats({1}), floats({1, 2}), {}) == "float32[2] instead of float32[1]");
}

TEST_CASE("integers must be equal, whatever the tolerance") {
  Value a, b;
  a.dtype = b.dtype = 7;
  a.bytes.resize(8), b.bytes.resize(8);
  b.bytes[0] = 1;
  CHECK(!difference(a, b, {10, 10}).empty());
}

TEST_CASE("narrow floats read as numbers") {
  Value v;
  v.dtype = 16;
  v.dims = {1};
  v.bytes = {char(0x80), char(0x3f)};
  CHECK(elementAsDouble(v, 0) == 1.0);
  v.dtype = 23;
  v.bytes = {char(0x7)};
  CHECK(elementAsDouble(v, 0) == 6.0);
}

TEST_CASE("what is no number reads as none") {
  Value v;
  v.dtype = kStringCode;
  v.dims = {1};
  v.strings = {"text"};
  CHECK(std::isnan(elementAsDouble(v, 0)));
  v.dtype = 0;  // of a library that is newer than this
  CHECK(std::isnan(elementAsDouble(v, 0)));
  CHECK(elementText(v, 0, 6) == "?");
  CHECK_FALSE(isInteger(0));
  CHECK_FALSE(isComplex(0));
  fillRandom(v, 1);
  CHECK(v.bytes.empty());
}

TEST_CASE("values are equal in all of their parts") {
  Value a, b;
  a.kind = b.kind = Value::Sequence;
  a.items.resize(1), b.items.resize(1);
  a.items[0].dtype = b.items[0].dtype = kStringCode;
  a.items[0].strings = {"x"}, b.items[0].strings = {"x"};
  CHECK(a == b);
  b.items[0].strings = {"y"};
  CHECK_FALSE(a == b);
}
