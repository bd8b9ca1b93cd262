// UpgradeTest.cpp: models of old opsets arrive in today's form with the meaning they had.
#include "Models.h"
#include <catch2/catch.hpp>

using namespace onnxc::test;
using Catch::Contains;

namespace {
// One node from float x (and more inputs) to y in the given opset.
std::string node(int opset, const std::string &inputs, const std::string &body, const std::string &output = "float[] y") {
  return importText("<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> g (" + inputs + ") => (" + output + ") { " +
                    body + " }");
}
}  // namespace

TEST_CASE("axes attributes become operands") {
  CHECK_THAT(node(11, "float[1,3,1] x", "y = Squeeze<axes = [0]>(x)", "float[3,1] y"),
             Contains("dense<0> : tensor<1xi64>") && Contains("tensor<3x1xf32>"));
  CHECK_THAT(node(11, "float[3] x", "y = Unsqueeze<axes = [0, 2]>(x)", "float[1,3,1] y"), Contains("dense<[0, 2]>"));
  CHECK_THAT(node(11, "float[3,4] x", "y = ReduceMean<axes = [1], keepdims = 0>(x)", "float[3] y"),
             Contains("keepdims = 0") && Contains("tensor<3xf32>"));
  CHECK_THAT(node(11, "float[3,4] x", "y = ReduceSum<keepdims = 0>(x)", "float y"), Contains("\"onnx.ReduceSum\"(%arg0)"));
}

TEST_CASE("slice, pad, clip, split and top-k take operands") {
  CHECK_THAT(node(9, "float[4,5] x", "y = Slice<starts = [1], ends = [3], axes = [0]>(x)", "float[2,5] y"), Contains("tensor<2x5xf32>"));
  CHECK_THAT(node(10, "float[2,3] x", "y = Pad<pads = [1,0,2,1], value = 3.5>(x)", "float[5,4] y"),
             Contains("dense<3.5") && Contains("tensor<5x4xf32>"));
  CHECK_THAT(node(6, "float[2] x", "y = Clip<min = -1.0>(x)", "float[2] y"), Contains("operandSegmentSizes = array<i32: 1, 1, 0>"));
  CHECK_THAT(node(11, "float[4,6] x", "y, z = Split<axis = 1, split = [2,4]>(x)", "float[4,2] y, float[4,4] z"), Contains("dense<[2, 4]>"));
  CHECK_THAT(node(13, "float[4,6] x", "y, z = Split<axis = 1>(x)", "float[4,3] y, float[4,3] z"), Contains("num_outputs = 2"));
  CHECK_THAT(node(9, "float[3,7] x", "y, i = TopK<k = 3>(x)", "float[3,3] y, int64[3,3] i"), Contains("tensor<3x3xf32>"));
}

TEST_CASE("softmax before opset 13 normalises a flattened matrix") {
  std::string inner = node(11, "float[2,3,4] x", "y = Softmax<axis = 1>(x)", "float[2,3,4] y");
  CHECK_THAT(inner, Contains("onnx.Flatten") && Contains("tensor<2x12xf32>") && Contains("onnx.Reshape"));
  std::string last = node(11, "float[2,3,4] x", "y = Softmax<axis = 2>(x)", "float[2,3,4] y");
  CHECK_THAT(last, !Contains("onnx.Flatten") && Contains("axis = -1"));
  CHECK_THAT(node(13, "float[2,3,4] x", "y = Softmax<axis = 1>(x)", "float[2,3,4] y"), !Contains("onnx.Flatten") && Contains("axis = 1"));
}

TEST_CASE("broadcasting with an axis aligns the second operand") {
  CHECK_THAT(node(6, "float[2,3,4] x, float[3] b", "y = Add<axis = 1, broadcast = 1>(x, b)", "float[2,3,4] y"),
             Contains("onnx.Unsqueeze") && Contains("tensor<3x1xf32>"));
  CHECK_THAT(node(6, "float[2,3,4] x, float[3] s", "y = PRelu(x, s)", "float[2,3,4] y"), Contains("tensor<3x1xf32>"));
  CHECK_THAT(node(6, "float[2,3] x, float[2,3] b", "y = Add<axis = 5, broadcast = 1>(x, b)", "float[2,3] y"),
             Contains("error: Add_0 (Add, opset 6): broadcast axis 5 does not fit"));
}

TEST_CASE("upsampling becomes resizing") {
  std::string grown = node(8, "float[1,1,2,2] x", "y = Upsample<scales = [1.0, 1.0, 2.0, 2.0], mode = \"nearest\">(x)", "float[1,1,4,4] y");
  CHECK_THAT(grown, Contains("onnx.Resize") && Contains("asymmetric") && Contains("nearest_mode = \"ceil_if_smaller\"") &&
                        Contains("tensor<1x1x4x4xf32>"));
}

TEST_CASE("normalisations keep their meaning") {
  std::string spatial = node(7, "float[2,3,4] x, float[3,4] s", "y = BatchNormalization<spatial = 0>(x, s, s, s, s)", "float[2,3,4] y");
  CHECK_THAT(spatial, Contains("onnx.Flatten") && Contains("tensor<12xf32>") && Contains("onnx.BatchNormalization"));
  std::string groups = node(18, "float[2,6,4] x, float[3] s", "y = GroupNormalization<num_groups = 3>(x, s, s)", "float[2,6,4] y");
  CHECK_THAT(groups, Contains("onnx.Expand") && Contains("onnx.GroupNormalization"));
}

TEST_CASE("defaults that changed are written out") {
  CHECK_THAT(node(10, "float[1,1,8,8] x, float[1,4] r, int64[1] i", "y = RoiAlign<output_height = 2, output_width = 2>(x, r, i)",
                  "float[1,1,2,2] y"),
             Contains("output_half_pixel"));
  CHECK_THAT(node(16, "float[1,1,8,8] x, float[1,2,2,2] g", "y = GridSample<mode = \"bicubic\">(x, g)", "float[1,1,2,2] y"),
             Contains("mode = \"cubic\""));
  CHECK_THAT(node(17, "float[2,8,1] x", "y = DFT<axis = 1>(x)", "float[2,8,2] y"), Contains("dense<1> : tensor<i64>"));
}

TEST_CASE("operators of the first opset are written in today's") {
  CHECK_THAT(node(1, "float[2,3] x", "y = ScaledTanh<alpha = 2.0, beta = 3.0>(x)", "float[2,3] y"), Contains("onnx.Tanh"));
  CHECK_THAT(node(1, "float[1,3,8,8] x", "y = Crop<border = [1, 2, 3, 4]>(x)", "float[1,3,2,4] y"), Contains("tensor<1x3x2x4xf32>"));
  CHECK_THAT(node(1, "float[1,3,2,2] x", "y = ImageScaler<scale = 2.0, bias = [1.0, 2.0, 3.0]>(x)", "float[1,3,2,2] y"),
             Contains("tensor<1x3x1x1xf32>"));
}

TEST_CASE("scan with a batch axis becomes a scan of scans") {
  CHECK_THAT(importText(R"(<ir_version: 8, opset_import: ["" : 8]>
    g (float[1,2] s, float[1,3,2] x) => (float[1,2] t, float[1,3,2] y) {
      t, y = Scan<num_scan_inputs = 1, body = b (float[2] si, float[2] xi) => (float[2] so, float[2] yo) { so = Add(si, xi)  yo = Identity(so) }>(, s, x)
    })"),
             Contains("onnx.Scan"));
}
