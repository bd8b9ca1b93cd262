// Vision.td: images, boxes and regions.
#ifndef ONNX_VISION_TD
#define ONNX_VISION_TD
include "dialects/onnx/Onnx.td"

def Onnx_ResizeOp : Onnx_Op<"Resize", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$X, OptTensor:$roi, OptTensor:$scales, OptTensor:$sizes, Int<"0">:$antialias, Ints:$axes,
                     Str<"half_pixel">:$coordinate_transformation_mode, Float<"-0.75f">:$cubic_coeff_a, Int<"0">:$exclude_outside,
                     Float<"0.f">:$extrapolation_value, Str<"stretch">:$keep_aspect_ratio_policy, Str<"nearest">:$mode,
                     Str<"round_prefer_floor">:$nearest_mode);
  let results = (outs AnyTensor:$Y);
}
def Onnx_Col2ImOp : Onnx_Op<"Col2Im"> {
  let arguments = (ins AnyTensor:$input, AnyTensor:$image_shape, AnyTensor:$block_shape, Ints:$dilations, Ints:$pads, Ints:$strides);
  let results = (outs AnyTensor:$output);
}
def Onnx_AffineGridOp : Onnx_Op<"AffineGrid"> {
  let arguments = (ins AnyTensor:$theta, AnyTensor:$size, Int<"0">:$align_corners);
  let results = (outs AnyTensor:$grid);
}
def Onnx_GridSampleOp : Onnx_Op<"GridSample"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$grid, Int<"0">:$align_corners, Str<"linear">:$mode, Str<"zeros">:$padding_mode);
  let results = (outs AnyTensor:$Y);
}
def Onnx_RoiAlignOp : Onnx_Op<"RoiAlign"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$rois, AnyTensor:$batch_indices, Str<"half_pixel">:$coordinate_transformation_mode,
                     Str<"avg">:$mode, Int<"1">:$output_height, Int<"1">:$output_width, Int<"0">:$sampling_ratio,
                     Float<"1.f">:$spatial_scale);
  let results = (outs AnyTensor:$Y);
}
def Onnx_MaxRoiPoolOp : Onnx_Op<"MaxRoiPool"> {
  let arguments = (ins AnyTensor:$X, AnyTensor:$rois, DenseI64ArrayAttr:$pooled_shape, Float<"1.f">:$spatial_scale);
  let results = (outs AnyTensor:$Y);
}
def Onnx_NonMaxSuppressionOp : Onnx_Op<"NonMaxSuppression", [Pure, AttrSizedOperandSegments]> {
  let arguments = (ins AnyTensor:$boxes, AnyTensor:$scores, OptTensor:$max_output_boxes_per_class, OptTensor:$iou_threshold,
                     OptTensor:$score_threshold, Int<"0">:$center_point_box);
  let results = (outs AnyTensor:$selected_indices);
}
def Onnx_ImageDecoderOp : Onnx_Op<"ImageDecoder"> {
  let arguments = (ins AnyTensor:$encoded_stream, Str<"RGB">:$pixel_format);
  let results = (outs AnyTensor:$image);
}
#endif
