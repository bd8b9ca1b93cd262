// Packed.td: ops that no file names. First contractions, windows and moves over packed operands, made by passes/layout and passes/graph; panels
// and blocks of f32 have 16 lanes on every target. Those with a row in Library.def are library kernels, the rest generated. Last the calls of the operators that users supply.
//
// blocked activations  [N, ceil(C/16), H, W, 16]; the lanes past C hold finite numbers that nothing reads
// packed weights       [ceil(O/16), …, 16]: 16 output channels side by side, zero past the last
#ifndef ONNX_PACKED_TD
#define ONNX_PACKED_TD
include "dialects/onnx/Onnx.td"

def Onnx_PackedBlockOp : Onnx_Op<"packed.Block"> {
  let summary = "[N, C, H, W], or [N, C, W] as one row, to blocked; lanes past C are zero";
  let arguments = (ins AnyTensor:$X);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedUnblockOp : Onnx_Op<"packed.Unblock"> {
  let summary = "blocked to [N, channels, H, W], or [N, channels, W] of one row";
  let arguments = (ins AnyTensor:$X, I64Attr:$channels);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedChannelsOp : Onnx_Op<"packed.Channels"> {
  let summary = "channels [begins[i], begins[i] + counts[i]) of the blocked images X[i], zeros where begins[i] is -1, one range after the other; lanes past the last are zero";
  let arguments = (ins Tensors:$X, DenseI64ArrayAttr:$begins, DenseI64ArrayAttr:$counts);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedMatMulOp : Onnx_Op<"packed.MatMul"> {
  let summary = "A [..., K] times packed B [ceil(N/16), K, 16], plus a bias of ceil(N/16) * 16 entries";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, OptTensor:$bias, I64Attr:$N);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedProductOp : Onnx_Op<"packed.Product"> {
  let summary = "MatMul of two run-time operands of at least two axes, given under permutations of their axes; the kernel packs B where many rows read it. With `distances`, squares of differences are added up instead of products";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, DenseI64ArrayAttr:$permA, DenseI64ArrayAttr:$permB, Int<"0">:$distances);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedGatherProductOp : Onnx_Op<"packed.GatherProduct"> {
  let summary = "rows X [rows, 1, K] of f32 times the matrix W[indices[i]] of W [matrices, K, N] each, or with `transW` matrices of W [matrices, N, K] times columns [rows, K, 1]; one row or index serves all";
  let arguments = (ins AnyTensor:$W, AnyTensor:$indices, AnyTensor:$X, Int<"0">:$transW);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedAttentionOp : Onnx_Op<"packed.Attention", [Pure, AttrSizedOperandSegments]> {
  let summary = "softmax(scale Q K^T) V of f32 as one library kernel";
  let description = [{
    Logical axes: batch axes, query (key for K and V), width. `axesQ` says which axis of Q each is, and `atQ` where the other axes of Q stand
    (0 for those that are listed). A batch axis of K and V divides that of Q. `axesY`: the axis of Y that each logical axis is.
    A score x becomes softcap tanh(x / softcap) where `softcap` > 0; where `keep` (bool) is not `keepIf`, `fill`; then `bias` and `mask` are added. Query i stands at
    key i, with `atEnd` at key i + keys - queries: of the keys, those more than `before` or `after` places from it are masked where these are not
    negative. The last axis of `keep`, `bias` and `mask` broadcasts; with `masked` 1 keys past it are masked, with 2 it has to have all keys. NaN becomes 0 where `zero` is 1; rows
    without any key are 0 where `zero` is not 0, else NaN.
  }];
  let arguments = (ins AnyTensor:$Q, AnyTensor:$K, AnyTensor:$V, OptTensor:$keep, OptTensor:$bias, OptTensor:$mask, DenseI64ArrayAttr:$axesQ,
                     DenseI64ArrayAttr:$atQ, DenseI64ArrayAttr:$axesK, DenseI64ArrayAttr:$atK, DenseI64ArrayAttr:$axesV,
                     DenseI64ArrayAttr:$atV, DenseI64ArrayAttr:$axesY, Float<"1">:$scale, Float<"0">:$fill, Int<"1">:$keepIf,
                     Int<"0">:$zero, Float<"0">:$softcap, Int<"0">:$atEnd, Int<"-1">:$before, Int<"-1">:$after, Int<"0">:$masked);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedClassScoresOp : Onnx_Op<"packed.ClassScores"> {
  let summary = "labels of the greatest of the f32 scores [N, classes] of a linear model, and [N, columns] transformed scores, as ml.LinearClassifier makes them of its own";
  let arguments = (ins AnyTensor:$X, Ints:$classlabels_ints, Strs:$classlabels_strings, Str<"NONE">:$post_transform, I64Attr:$columns);
  let results = (outs AnyTensor:$Y, AnyTensor:$Z);
}
def Onnx_PackedMatMulIntegerOp : Onnx_Op<"packed.MatMulInteger", [Pure, AttrSizedOperandSegments]> {
  let summary = "MatMulInteger with constant weights of K rows and N columns [ceil(N/64), ceil(K/4), 64, 4], top bits flipped where they are unsigned";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, OptTensor:$a_zero_point, OptTensor:$b_zero_point, I64Attr:$K, I64Attr:$N);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedLinearMatMulOp : Onnx_Op<"packed.LinearMatMul"> {
  let summary = "products of bytes as packed.LinearConv has them; A [..., K] times B as packed.MatMulInteger has it, signed; factors, corrections, offsets: [ceil(N/64), 64]";
  let arguments = (ins AnyTensor:$A, AnyTensor:$B, AnyTensor:$factors, AnyTensor:$corrections, OptTensor:$offsets, I64Attr:$N, I64Attr:$zero, I64Attr:$least,
                     I64Attr:$most);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedLinearConvOp : Onnx_Op<"packed.LinearConv", [Pure, AttrSizedOperandSegments]> {
  let summary = "2-D convolution of bytes to a blocked result of bytes or f32, as one library kernel";
  let description = [{
    X is blocked, or [N, C, H, W] where `plain`; its signed bytes count 128 more than they are, `border` is the byte that pads it. With s the sum
    of products, Y = clip(round((s + corrections) factors) + zero, least, most), of f32 (s + corrections) factors. `other`: blocked bytes like
    these, which then make room for clip(round(((Y - zero) own + (other - from) scale) / step) + to, low, high), `sum` being own, from, scale, step, to,
    low, high. `joined`: p, q, r for which fma(Y - zero, p, fma(other, q, r)), rounded and clipped, are the same steps above `to` for all bytes; not
    there where none were found. `table`: what stands for each result, by its bits. `channels`, `outputs`: of a group. W: signed, [groups * ceil(O/64) * 4, quads, 16, 4] of
    the groups that are computed together (ByteGroups in runtime_stub/kernels/PanelSizes.h), the quads (four steps of the depth) in the order KH, KW,
    C / 4, each C/16 filled up with zeros, or KH, KW * C / 4 where `plain`, each KW * C filled up; 16-bit numbers [ceil(O/16), KH * KW, 16] where
    `channels` is 0: there each channel has its own filter. `offsets`: what the weights of a channel, also those that fill up, are more than W says.
    `zeroPoint`: one byte like X's that only the run knows; it is the border, and corrections are minus it, counted as X's bytes are, times those
    given. factors, corrections, offsets: [ceil(O/16), 16].
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, AnyTensor:$factors, AnyTensor:$corrections, OptTensor:$table, OptTensor:$other, OptTensor:$offsets,
                     OptTensor:$zeroPoint, Int<"1">:$group, Int<"0">:$plain, I64Attr:$channels, I64Attr:$outputs, DenseI64ArrayAttr:$kernel_shape, DenseI64ArrayAttr:$strides,
                     DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, I64Attr:$border, I64Attr:$zero, I64Attr:$least, I64Attr:$most, Floats:$sum, Floats:$joined);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedByteTableOp : Onnx_Op<"packed.ByteTable"> {
  let summary = "the entry of a table of 256 bytes for each byte, by its bits";
  let arguments = (ins AnyTensor:$X, AnyTensor:$table);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedByteMeanOp : Onnx_Op<"packed.ByteMean"> {
  let summary = "the mean over all pixels of blocked bytes, blocked f32 with one pixel";
  let arguments = (ins AnyTensor:$X);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedBytePoolOp : Onnx_Op<"packed.BytePool"> {
  let summary = "MaxPool of blocked bytes as one library kernel";
  let arguments = (ins AnyTensor:$X, DenseI64ArrayAttr:$kernel_shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads,
                     DenseI64ArrayAttr:$dilations, Int<"0">:$ceil_mode);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedFrameConvOp : Onnx_Op<"packed.FrameConv"> {
  let summary = "3-D convolution of frames that are images, before they are blocked: BlockChannels makes a packed one of it";
  let description = [{
    X: [videos * frames, C, H, W], all frames of a video one after the other. W: as Conv has it, of one group or (`depthwise`) of C.
    video_count, frame_count (of each video): i64[1]. `frames`: taps of W along frames, stride, dilation (1 but for `depthwise`), and frames
    of zeros before and behind (onnx::FrameAxis). `pads`: top, left, bottom, right.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, AnyTensor:$video_count, AnyTensor:$frame_count, BoolAttr:$depthwise,
                     DenseI64ArrayAttr:$frames, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyTensor:$Y);
}
// `frames` of packed.Conv, packed.WinogradConv, packed.GroupedConv and packed.Pool: as packed.FrameConv has them. X is
// [videos, frames * ceil(C/16), H, W, 16] then. Input block b of result image n is block b % ceil(C/16) of frame b / ceil(C/16) of those
// that n reads, so that W and `channels` have the blocks of all taps; those of frames before the first and behind the last are skipped.
// Of a `plain` packed.Conv X is [videos, frames * C, H, W], and a channel is such a block.
def Onnx_PackedConvOp : Onnx_Op<"packed.Conv"> {
  let summary = "2-D convolution to a blocked result";
  let description = [{
    X is blocked, or [N, C, H, W] where `plain`. W: [groups * ceil(O/16), C/16, KH, KW, 16, 16] (input blocks and output panels of one group),
    [ceil(O/16), C, KH, KW, 16] where `plain`. `channels`: input channels of one group. `pads`: top, left, bottom, right;
    with `auto_pad` SAME_UPPER or SAME_LOWER, the sizes that only the run knows decide, and they are the most that it can be.
    `shared`: outputs and input channels of a group where groups share blocks; each panel is a `group` by itself then and reads as many blocks
    as W has from the one where its first group's channels begin, or the last ones; of those only the channels of its groups are multiplied.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, Int<"1">:$group, I64Attr:$channels,
                     OptionalAttr<DenseI64ArrayAttr>:$shared, Int<"0">:$plain, Str<"NOTSET">:$auto_pad,
                     DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                     OptionalAttr<DenseI64ArrayAttr>:$frames);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedWinogradConvOp : Onnx_Op<"packed.WinogradConv"> {
  let summary = "2-D convolution of blocked activations with stride 1 as F(4x4, 3x3) and the like";
  let description = [{
    W: [points, ceil(O/16), segments * ceil(C/16) * 16, 16], the filters under G g G^T of passes/layout/Winograd.cpp, or, for the kernel to
    transform, [ceil(O/16), segments * ceil(C/16) * 16, taps of a segment down, right, 16]. `channels` and C are those of one group; more
    than one fill blocks. `pads`: top, left, bottom, right. onnx::WinogradAxis tells the points and segments of an axis of `kernel_shape`.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, Int<"1">:$group, I64Attr:$channels, DenseI64ArrayAttr:$kernel_shape,
                     DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, OptionalAttr<DenseI64ArrayAttr>:$frames);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedConvTransposeOp : Onnx_Op<"packed.ConvTranspose"> {
  let summary = "2-D transposed convolution of blocked activations";
  let description = [{
    Each phase, row by row, is a convolution of stride 1 with some of the taps (runtime_stub/kernels/PhaseAxis.h). W: their filters one behind the other as
    packed.Conv has them, the taps in reverse. `crops`: what the result lacks at the top, left, bottom and right of all pixels that are
    reached, or, negative, has more. `outputs`: its channels.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, I64Attr:$channels, I64Attr:$outputs, DenseI64ArrayAttr:$kernel_shape,
                     DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$crops);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedNarrowConvOp : Onnx_Op<"packed.NarrowConv"> {
  let summary = "2-D transposed convolution of blocked activations to at most four results [N, O, H, W] or, of one row, [N, O, W]";
  let description = [{
    With `strides` of 1 a convolution, whose filters are in reverse. Attributes as packed.ConvTranspose has them. W: the filters of its phases
    one behind the other, [KH, ceil(C/16), KW, O, 16] each, the taps in reverse; zeros past the last channel. bias: [O].
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, I64Attr:$channels, I64Attr:$outputs, DenseI64ArrayAttr:$kernel_shape,
                     DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$crops);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedGroupedConvOp : Onnx_Op<"packed.GroupedConv"> {
  let summary = "2-D convolution of blocked activations in groups that lie within blocks; depthwise where they have one channel";
  let description = [{
    W: [ceil(O/16), KH, KW, C, 16], C the channels of a group, which has C * `multiplier` results, a divisor of 16. With `frames` KH counts the
    rows of all taps.
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$W, OptTensor:$bias, Int<"1">:$multiplier, Str<"NOTSET">:$auto_pad,
                     DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations, OptionalAttr<DenseI64ArrayAttr>:$frames);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedFramePoolOp : Onnx_Op<"packed.FramePool"> {
  let summary = "MaxPool or (where `average`) AveragePool of frames that are images, before they are blocked, as packed.FrameConv has them";
  let arguments = (ins AnyTensor:$X, AnyTensor:$video_count, AnyTensor:$frame_count, Int<"0">:$average, Int<"0">:$count_include_pad,
                     DenseI64ArrayAttr:$frames, DenseI64ArrayAttr:$kernel_shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedPoolOp : Onnx_Op<"packed.Pool"> {
  let summary = "MaxPool or (where `average`) AveragePool of blocked activations";
  let arguments = (ins AnyTensor:$X, Int<"0">:$average, Int<"0">:$count_include_pad, Int<"0">:$ceil_mode, Str<"NOTSET">:$auto_pad,
                     DenseI64ArrayAttr:$kernel_shape, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads, DenseI64ArrayAttr:$dilations,
                     OptionalAttr<DenseI64ArrayAttr>:$frames);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedChannelSquaresOp : Onnx_Op<"packed.ChannelSquares"> {
  let summary = "sums of squares of blocked activations over `size` neighbouring channels, (size - 1) / 2 of them before; at most 33";
  let arguments = (ins AnyTensor:$X, I64Attr:$channels, I64Attr:$size);
  let results = (outs AnyTensor:$Y);
}
def Onnx_PackedGroupMomentsOp : Onnx_Op<"packed.GroupMoments"> {
  let summary = "what normalises blocked activations over groups of channels and all pixels, as one library kernel";
  let description = [{
    Y = (X - mean) factor, where factor = scale / sqrt(variance + epsilon), has mean 0 and deviation `scale` in each group of an image. scale:
    [ceil(channels / 16), 1, 1, 16], zero past the last channel, as factor is then. mean, factor: [N, ceil(channels / 16), 1, 1, 16].
  }];
  let arguments = (ins AnyTensor:$X, AnyTensor:$scale, I64Attr:$channels, I64Attr:$groups, Float<"1e-05f">:$epsilon);
  let results = (outs AnyTensor:$mean, AnyTensor:$factor);
}
def Onnx_PackedResizeOp : Onnx_Op<"packed.Resize"> {
  let summary = "blocked activations resized by tables: positions (i32) and weights (f32) of the taps, [size of the result, taps] an axis";
  let arguments = (ins AnyTensor:$X, AnyTensor:$rows, AnyTensor:$rowWeights, AnyTensor:$columns, AnyTensor:$columnWeights);
  let results = (outs AnyTensor:$Y);
}

// The user's operator (--custom-op), made by compiler/import. `symbol`: what its functions are named after. `present`: one entry per input of
// the node, operands are those present. `given`: the attributes of the node. Its effects are unknown: nothing folds or drops it.
def Onnx_CustomCallOp : Onnx_Op<"custom.Call", []> {
  let arguments = (ins Values:$operands, StrAttr:$symbol, DenseBoolArrayAttr:$present, DictionaryAttr:$given);
  let results = (outs Values:$outputs);
}
#endif
