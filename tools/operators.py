"""Models of one operator each, at sizes that networks have; `./dev bench --operators` times them, since a network hides its slow operators.

Each model lies in the folder that write() is given, its inputs beside it (NAME.npz, as the comparing script reads them).
"""
import re

import numpy as np
import onnx
from onnx import helper

OPSET = 23
rng = np.random.default_rng(0)


def f32(*shape):
    return rng.standard_normal(shape, np.float32)


def f64(*shape):
    return rng.standard_normal(shape)


def f16(*shape):
    return f32(*shape).astype(np.float16)


def unit(*shape):
    """Values in [0.05, 0.95]: arguments of logarithms, of atanh, probabilities."""
    return rng.uniform(0.05, 0.95, shape).astype(np.float32)


def ints(dtype, low, high, *shape):
    return rng.integers(low, high, shape, dtype, endpoint=True)


def i32(*shape):
    return ints(np.int32, 1, 100, *shape)


def i64(*shape):
    return ints(np.int64, 1, 100, *shape)


def u8(*shape):
    return ints(np.uint8, 0, 255, *shape)


def i8(*shape):
    return ints(np.int8, -128, 127, *shape)


def flags(*shape):
    return rng.random(shape) < 0.5


def const(*values):
    return np.array(values, np.int64)


class Stored(np.ndarray):
    """An operand that the model stores; others are inputs."""


def stored(array):
    return np.asarray(array).view(Stored)


def axes(*values):
    return stored(const(*values))


def elementwise():
    for op in ("Abs Neg Ceil Floor Round Sign Exp Erf Sigmoid Tanh Relu LeakyRelu Elu Selu Celu Softplus Softsign HardSigmoid HardSwish Mish Gelu Sin Cos Tan Atan "
               "Sinh Cosh Asinh Reciprocal IsNaN IsInf ThresholdedRelu Swish").split():
        yield op, op, [f32(256, 1024)], {}, 24 if op == "Swish" else OPSET
    for op in ("Log", "Sqrt", "Asin", "Acos", "Atanh"):
        yield op, op, [unit(256, 1024)], {}
    yield "Acosh", "Acosh", [1 + unit(256, 1024)], {}
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu", "Less", "Equal", "GreaterOrEqual"):
        yield op, op, [f32(256, 1024), f32(256, 1024)], {}
        yield f"{op}_row", op, [f32(256, 1024), f32(1024)], {}
    for op in ("Add", "Mul", "Div"):
        yield f"{op}_column", op, [f32(256, 1024), f32(256, 1)], {}
        yield f"{op}_channel", op, [f32(1, 64, 56, 56), f32(64, 1, 1)], {}
        for dtype, name in ((i32, "i32"), (i64, "i64"), (f64, "f64")):
            yield f"{op}_{name}", op, [dtype(256, 1024), dtype(256, 1024)], {}
    for op in ("Less", "Equal", "Max"):
        yield f"{op}_i64", op, [i64(256, 1024), i64(256, 1024)], {}
    yield "Pow", "Pow", [unit(256, 1024), f32(256, 1024)], {}
    yield "Pow_2", "Pow", [f32(256, 1024), stored(np.float32(2))], {}
    yield "Pow_half", "Pow", [unit(256, 1024), stored(np.float32(0.5))], {}
    yield "Mod_i32", "Mod", [i32(256, 1024), i32(256, 1024)], {}
    yield "Mod_i64_by_7", "Mod", [i64(256, 1024), stored(np.int64(7))], {}
    yield "Div_i64_by_7", "Div", [i64(256, 1024), stored(np.int64(7))], {}
    yield "Mod_f32", "Mod", [f32(256, 1024), unit(256, 1024)], {"fmod": 1}
    for op in ("And", "Or", "Xor"):
        yield op, op, [flags(256, 1024), flags(256, 1024)], {}
    yield "Not", "Not", [flags(256, 1024)], {}
    for op in ("BitwiseAnd", "BitwiseXor"):
        yield op, op, [i32(256, 1024), i32(256, 1024)], {}
    yield "BitShift", "BitShift", [u8(256, 1024), u8(256, 1024) % 8], {"direction": "LEFT"}
    yield "Where", "Where", [flags(256, 1024), f32(256, 1024), f32(256, 1024)], {}
    yield "Where_row_mask", "Where", [flags(1, 1, 128, 128), f32(1, 12, 128, 128), stored(np.float32(-1e9))], {}
    yield "Clip", "Clip", [f32(256, 1024), stored(np.float32(0)), stored(np.float32(6))], {}
    yield "Sum_3", "Sum", [f32(256, 1024) for _ in range(3)], {}
    yield "Mean_3", "Mean", [f32(256, 1024) for _ in range(3)], {}
    yield "BatchNormalization_rows", "BatchNormalization", [f32(256, 512), *(stored(unit(512)) for _ in range(4))], {}
    yield "BatchNormalization_image", "BatchNormalization", [f32(1, 64, 56, 56), *(stored(unit(64)) for _ in range(4))], {}
    yield "Dropout", "Dropout", [f32(256, 1024)], {}
    pairs = [(f32, "f32"), (f64, "f64"), (f16, "f16"), (i32, "i32"), (i64, "i64"), (u8, "u8"), (i8, "i8"), (flags, "bool")]
    for source, a in pairs:
        for target, b in pairs:
            if a != b:
                yield f"Cast_{a}_{b}", "Cast", [source(256, 1024)], {"to": helper.np_dtype_to_tensor_dtype(target(1).dtype)}


def reductions():
    for op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSumExp", "ReduceSumSquare", "ReduceLogSum"):
        yield f"{op}_last", op, [unit(512, 512), axes(1)], {}
        yield f"{op}_first", op, [unit(512, 512), axes(0)], {}
    for op in ("ReduceSum", "ReduceMean", "ReduceMax"):
        yield f"{op}_all", op, [f32(256, 1024)], {}
        yield f"{op}_image", op, [f32(1, 64, 56, 56), axes(2, 3)], {}
        yield f"{op}_channels", op, [f32(1, 64, 56, 56), axes(1)], {}
        yield f"{op}_middle", op, [f32(8, 128, 256), axes(1)], {}
        yield f"{op}_apart", op, [f32(32, 32, 32, 16), axes(0, 2)], {}
        yield f"{op}_short", op, [f32(4096, 5), axes(1)], {}
        yield f"{op}_i32", op, [i32(512, 512), axes(1)], {}
    for op in ("ArgMax", "ArgMin"):
        yield f"{op}_last", op, [f32(512, 1000)], {"axis": 1}
        yield f"{op}_first", op, [f32(512, 1000)], {"axis": 0}
        yield f"{op}_channels", op, [f32(1, 21, 64, 64)], {"axis": 1}
        yield f"{op}_classes", op, [f32(8400, 8)], {"axis": 1}
        yield f"{op}_columns", op, [f32(4000, 3)], {"axis": 0}
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield f"{op}_two", op, [f32(1, 4420, 2)], {"axis": -1}
        yield f"{op}_columns", op, [f32(2000, 7)], {"axis": 0}
        yield f"{op}_last", op, [f32(512, 512)], {"axis": -1}
        yield f"{op}_short", op, [f32(4096, 10)], {"axis": -1}
        yield f"{op}_channels", op, [f32(1, 21, 64, 64)], {"axis": 1}
    yield "Softmax_attention", "Softmax", [f32(12, 128, 128)], {"axis": -1}
    yield "LayerNormalization", "LayerNormalization", [f32(128, 768), stored(unit(768)), stored(f32(768))], {}
    yield "RMSNormalization", "RMSNormalization", [f32(128, 768), stored(unit(768))], {}
    yield "InstanceNormalization", "InstanceNormalization", [f32(1, 64, 56, 56), stored(unit(64)), stored(f32(64))], {}
    yield "GroupNormalization", "GroupNormalization", [f32(1, 64, 56, 56), stored(unit(64)), stored(f32(64))], {"num_groups": 8}
    yield "MeanVarianceNormalization", "MeanVarianceNormalization", [f32(1, 64, 56, 56)], {}
    yield "LpNormalization_last", "LpNormalization", [f32(512, 512)], {"axis": -1, "p": 2}
    yield "LpNormalization_first", "LpNormalization", [f32(512, 512)], {"axis": 0, "p": 1}
    yield "LRN", "LRN", [f32(1, 64, 56, 56)], {"size": 5}
    for axis in (0, 1, 2):
        yield f"CumSum_{axis}", "CumSum", [f32(32, 64, 128), stored(np.int64(axis))], {}
    yield "CumSum_i64", "CumSum", [i64(128, 512), stored(np.int64(1))], {}
    yield "TopK_short", "TopK", [f32(512, 100), axes(5)], {}
    yield "TopK_best", "TopK", [f32(4096, 8), axes(1)], {}
    yield "TopK_columns", "TopK", [f32(64, 33, 129), axes(5)], {"axis": 0}
    yield "TopK_long", "TopK", [f32(1, 50000), axes(50)], {}
    yield "TopK_all", "TopK", [f32(64, 1000), axes(1000)], {}
    yield "CumProd", "CumProd", [unit(32, 1000), stored(np.int64(1))], {}, 26


def movement():
    yield "Transpose_2d", "Transpose", [f32(512, 512)], {"perm": [1, 0]}
    yield "Transpose_odd", "Transpose", [f32(2000, 300)], {"perm": [1, 0]}
    yield "Transpose_thin", "Transpose", [f32(10000, 3)], {"perm": [1, 0]}
    yield "Transpose_heads", "Transpose", [f32(1, 128, 12, 64)], {"perm": [0, 2, 1, 3]}
    yield "Transpose_keys", "Transpose", [f32(1, 128, 12, 64)], {"perm": [0, 2, 3, 1]}
    yield "Transpose_nhwc", "Transpose", [f32(1, 64, 56, 56)], {"perm": [0, 2, 3, 1]}
    yield "Transpose_nchw", "Transpose", [f32(1, 56, 56, 64)], {"perm": [0, 3, 1, 2]}
    yield "Transpose_u8_nchw", "Transpose", [u8(1, 224, 224, 3)], {"perm": [0, 3, 1, 2]}
    yield "Transpose_f16", "Transpose", [f16(512, 768)], {"perm": [1, 0]}
    yield "Transpose_5d", "Transpose", [f32(4, 8, 16, 8, 32)], {"perm": [0, 3, 2, 1, 4]}
    yield "Concat_channels", "Concat", [f32(1, 64, 56, 56), f32(1, 64, 56, 56)], {"axis": 1}
    yield "Concat_last", "Concat", [f32(1000, 60), f32(1000, 4)], {"axis": 1}
    yield "Concat_columns", "Concat", [f32(4096, 1), f32(4096, 1), f32(4096, 1)], {"axis": 1}
    yield "Split_last", "Split", [f32(1000, 96)], {"axis": 1, "num_outputs": 3}
    yield "Split_channels", "Split", [f32(1, 64, 56, 56)], {"axis": 1, "num_outputs": 2}
    yield "Slice_rows", "Slice", [f32(1000, 256), axes(100), axes(900), axes(0)], {}
    yield "Slice_columns", "Slice", [f32(1000, 256), axes(16), axes(200), axes(1)], {}
    yield "Slice_even", "Slice", [f32(1000, 256), axes(0), axes(256), axes(1), axes(2)], {}
    yield "Slice_reversed", "Slice", [f32(1000, 256), axes(-1), axes(-1000), axes(1), axes(-1)], {}
    yield "Gather_rows", "Gather", [stored(f32(30000, 256)), ints(np.int64, 0, 29999, 1, 128)], {}
    yield "Gather_columns", "Gather", [f32(512, 512), ints(np.int64, 0, 511, 64)], {"axis": 1}
    yield "GatherElements", "GatherElements", [f32(256, 512), ints(np.int64, 0, 511, 256, 512)], {"axis": 1}
    yield "GatherElements_first", "GatherElements", [f32(256, 512), ints(np.int64, 0, 255, 256, 512)], {"axis": 0}
    yield "GatherND", "GatherND", [f32(64, 64, 32), ints(np.int64, 0, 63, 1000, 2)], {}
    yield "ScatterElements", "ScatterElements", [f32(256, 512), ints(np.int64, 0, 511, 256, 128), f32(256, 128)], {"axis": 1}
    yield "ScatterElements_add", "ScatterElements", [f32(1000, 64), ints(np.int64, 0, 999, 4000, 64), f32(4000, 64)], {"axis": 0, "reduction": "add"}
    yield "ScatterND", "ScatterND", [f32(1000, 64), ints(np.int64, 0, 999, 200, 1), f32(200, 64)], {}
    yield "Pad_constant", "Pad", [f32(1, 64, 56, 56), axes(0, 0, 1, 1, 0, 0, 1, 1)], {}
    yield "Pad_reflect", "Pad", [f32(1, 64, 56, 56), axes(0, 0, 3, 3, 0, 0, 3, 3)], {"mode": "reflect"}
    yield "Pad_edge", "Pad", [f32(1, 64, 56, 56), axes(0, 0, 3, 3, 0, 0, 3, 3)], {"mode": "edge"}
    yield "Pad_wave", "Pad", [f32(1, 1, 16000), axes(0, 0, 256, 0, 0, 256)], {"mode": "reflect"}
    yield "Tile", "Tile", [f32(64, 128), axes(4, 4)], {}
    yield "Tile_rows", "Tile", [f32(680, 40), axes(1, 3)], {}
    yield "Tile_columns", "Tile", [f32(4096, 1), axes(1, 16)], {}
    yield "Expand_rows", "Expand", [f32(1, 1024), axes(256, 1024)], {}
    yield "Expand_columns", "Expand", [f32(256, 1), axes(256, 1024)], {}
    yield "DepthToSpace", "DepthToSpace", [f32(1, 64, 64, 64)], {"blocksize": 2}
    yield "DepthToSpace_crd", "DepthToSpace", [f32(1, 27, 64, 64)], {"blocksize": 3, "mode": "CRD"}
    yield "SpaceToDepth", "SpaceToDepth", [f32(1, 16, 128, 128)], {"blocksize": 2}
    yield "Trilu", "Trilu", [f32(512, 512)], {"upper": 0}
    yield "ReverseSequence", "ReverseSequence", [f32(64, 16, 64), ints(np.int64, 1, 64, 16)], {}
    yield "Compress", "Compress", [f32(1024, 64), flags(1024)], {"axis": 0}
    yield "Compress_flat", "Compress", [f32(65536), flags(65536)], {}
    yield "NonZero", "NonZero", [f32(256, 256) * flags(256, 256)], {}
    yield "Unique", "Unique", [ints(np.int64, 0, 1000, 10000)], {}
    yield "OneHot", "OneHot", [ints(np.int64, 0, 99, 1024), axes(100)[0], stored(np.array([0, 1], np.float32))], {}
    yield "EyeLike", "EyeLike", [f32(512, 512)], {}
    yield "Range", "Range", [np.float32(0), np.float32(10000), np.float32(1)], {}
    yield "Range_i64", "Range", [np.int64(0), np.int64(10000), np.int64(1)], {}
    yield "ConstantOfShape", "ConstantOfShape", [const(256, 1024)], {}
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield op, op, [np.int64(1024)], {}
    yield "Identity", "Identity", [f32(256, 1024)], {}
    yield "Reshape", "Reshape", [f32(256, 1024), axes(1024, 256)], {}


def products():
    for m, k, n in ((1, 1024, 1024), (1, 4096, 4096), (8, 1024, 1024), (16, 768, 3072), (128, 768, 768), (128, 768, 3072), (512, 512, 512), (1000, 64, 10), (1000, 20, 1), (256, 256, 1000),
                    (3136, 64, 64), (49, 1024, 256)):
        yield f"MatMul_{m}_{k}_{n}", "MatMul", [f32(m, k), stored(f32(k, n))], {}
        yield f"MatMul_run_{m}_{k}_{n}", "MatMul", [f32(m, k), f32(k, n)], {}
    yield "MatMul_vector", "MatMul", [f32(1024), f32(1024)], {}
    yield "MatMul_by_vector", "MatMul", [f32(512, 1024), f32(1024)], {}
    yield "MatMul_scores", "MatMul", [f32(12, 128, 64), f32(12, 64, 128)], {}
    yield "MatMul_context", "MatMul", [f32(12, 128, 128), f32(12, 128, 64)], {}
    yield "MatMul_batch_tiny", "MatMul", [f32(1000, 4, 4), f32(1000, 4, 4)], {}
    yield "MatMul_batch_3x3", "MatMul", [f32(2000, 3, 3), f32(3, 3)], {}
    yield "MatMul_f64", "MatMul", [f64(128, 256), f64(256, 256)], {}
    yield "MatMul_f16", "MatMul", [f16(128, 256), f16(256, 256)], {}
    yield "MatMul_i32", "MatMul", [i32(128, 256), i32(256, 256)], {}
    yield "Gemm", "Gemm", [f32(64, 512), stored(f32(512, 512)), stored(f32(512))], {}
    yield "Gemm_transposed", "Gemm", [f32(64, 512), stored(f32(512, 512)), stored(f32(512))], {"transB": 1}
    yield "Gemm_run_transposed", "Gemm", [f32(512, 64), f32(512, 512), f32(512)], {"transA": 1, "transB": 1}
    yield "Gemm_scaled", "Gemm", [f32(64, 256), f32(256, 256), f32(64, 256)], {"alpha": 0.5, "beta": 0.25}
    for name, equation, shapes in (("heads", "bqhd,bkhd->bhqk", [(1, 128, 12, 64)] * 2), ("outer", "i,j->ij", [(512,), (512,)]), ("trace", "ii->i", [(512, 512)]),
                                   ("batch", "bij,bjk->bik", [(16, 64, 64)] * 2), ("sum", "ijk->j", [(64, 64, 64)]), ("hadamard", "ij,ij->i", [(512, 512)] * 2)):
        yield f"Einsum_{name}", "Einsum", [f32(*s) for s in shapes], {"equation": equation}
    yield "MatMulInteger", "MatMulInteger", [u8(128, 768), stored(i8(768, 768)), stored(np.uint8(128)), stored(np.int8(0))], {}
    yield "MatMulInteger_1", "MatMulInteger", [u8(1, 768), stored(i8(768, 768)), stored(np.uint8(128)), stored(np.int8(0))], {}
    scale, zero = stored(np.float32(0.02)), stored(np.uint8(128))
    yield "QLinearMatMul", "QLinearMatMul", [u8(128, 768), scale, zero, stored(u8(768, 768)), scale, zero, scale, zero], {}
    yield "QuantizeLinear", "QuantizeLinear", [f32(256, 1024), scale, zero], {}
    yield "QuantizeLinear_axis", "QuantizeLinear", [f32(1, 64, 56, 56), stored(unit(64)), stored(u8(64))], {"axis": 1}
    yield "QuantizeLinear_run", "QuantizeLinear", [f32(256, 1024), np.float32(0.02), np.uint8(128)], {}
    yield "QuantizeLinear_blocks", "QuantizeLinear", [f32(256, 1024), stored(unit(256, 32)), stored(u8(256, 32))], {"axis": 1, "block_size": 32}
    yield "QuantizeLinear_f16", "QuantizeLinear", [f16(256, 1024), stored(np.float16(0.02)), zero], {}
    yield "DequantizeLinear", "DequantizeLinear", [u8(256, 1024), scale, zero], {}
    yield "DequantizeLinear_blocks", "DequantizeLinear", [u8(256, 1024), stored(unit(256, 32)), stored(u8(256, 32))], {"axis": 1, "block_size": 32}
    yield "DequantizeLinear_f16", "DequantizeLinear", [u8(256, 1024), stored(np.float16(0.02)), zero], {}
    yield "DequantizeLinear_axis", "DequantizeLinear", [i8(256, 1024), stored(unit(256)), stored(i8(256))], {"axis": 0}
    yield "DynamicQuantizeLinear", "DynamicQuantizeLinear", [f32(256, 1024)], {}
    yield "Det", "Det", [f32(64, 8, 8)], {}
    yield "Attention", "Attention", [f32(1, 12, 128, 64) for _ in range(3)], {}
    yield "Attention_causal", "Attention", [f32(1, 12, 128, 64) for _ in range(3)], {"is_causal": 1}
    yield "Attention_gqa", "Attention", [f32(1, 16, 1, 64), f32(1, 4, 512, 64), f32(1, 4, 512, 64)], {}


def windows():
    for name, x, w, attributes in (
            ("first", (1, 3, 224, 224), (64, 3, 7, 7), {"strides": [2, 2], "pads": [3] * 4}), ("3x3", (1, 64, 56, 56), (64, 64, 3, 3), {"pads": [1] * 4}),
            ("3x3_deep", (1, 512, 7, 7), (512, 512, 3, 3), {"pads": [1] * 4}), ("1x1", (1, 256, 28, 28), (128, 256, 1, 1), {}),
            ("strided", (1, 128, 28, 28), (256, 128, 3, 3), {"pads": [1] * 4, "strides": [2, 2]}), ("5x5", (1, 32, 28, 28), (64, 32, 5, 5), {"pads": [2] * 4}),
            ("dilated", (1, 64, 28, 28), (64, 64, 3, 3), {"pads": [2] * 4, "dilations": [2, 2]}), ("grouped", (1, 128, 28, 28), (128, 4, 3, 3), {"pads": [1] * 4, "group": 32}),
            ("depthwise", (1, 128, 56, 56), (128, 1, 3, 3), {"pads": [1] * 4, "group": 128}), ("depthwise_7x7", (1, 96, 56, 56), (96, 1, 7, 7), {"pads": [3] * 4, "group": 96}),
            ("odd_channels", (1, 30, 40, 40), (50, 30, 3, 3), {"pads": [1] * 4}), ("to_one", (1, 64, 64, 64), (1, 64, 3, 3), {"pads": [1] * 4}),
            ("one_to_one", (1, 1, 128, 128), (1, 1, 3, 3), {"pads": [1] * 4}), ("patches", (1, 3, 224, 224), (192, 3, 16, 16), {"strides": [16, 16]}),
            ("tiny_image", (1, 256, 2, 2), (256, 256, 3, 3), {"pads": [1] * 4}), ("batch", (8, 32, 28, 28), (64, 32, 3, 3), {"pads": [1] * 4}),
            ("1d", (1, 64, 1000), (64, 64, 3), {"pads": [1] * 2}), ("1d_one", (1, 1, 16000), (1, 1, 31), {"pads": [15] * 2}), ("1d_bank", (1, 1, 16000), (128, 1, 400), {"strides": [160]}),
            ("1d_depthwise", (1, 128, 500), (128, 1, 15), {"pads": [7] * 2, "group": 128}), ("1d_dilated", (1, 64, 1000), (64, 64, 3), {"pads": [4] * 2, "dilations": [4]}),
            ("3d", (1, 16, 16, 28, 28), (32, 16, 3, 3, 3), {"pads": [1] * 6}), ("3d_one", (1, 1, 16, 32, 32), (1, 1, 3, 3, 3), {"pads": [1] * 6}), ("3d_first", (1, 3, 16, 56, 56), (16, 3, 3, 3, 3), {"pads": [1] * 6})):
        yield f"Conv_{name}", "Conv", [f32(*x), stored(f32(*w)), stored(f32(w[0]))], attributes
    yield "Conv_run_weights", "Conv", [f32(1, 64, 28, 28), f32(64, 64, 3, 3)], {"pads": [1] * 4}
    for name, x, w, attributes in (("2x", (1, 64, 28, 28), (64, 32, 2, 2), {"strides": [2, 2]}), ("4x4", (1, 64, 16, 16), (64, 32, 4, 4), {"strides": [2, 2], "pads": [1] * 4}),
                                   ("3x3", (1, 64, 28, 28), (64, 64, 3, 3), {"pads": [1] * 4}), ("1d", (1, 64, 250), (64, 32, 8), {"strides": [4], "pads": [2] * 2}),
                                   ("1d_one", (1, 1, 1000), (1, 1, 31), {}), ("depthwise", (1, 64, 28, 28), (64, 1, 4, 4), {"strides": [2, 2], "pads": [1] * 4, "group": 64})):
        yield f"ConvTranspose_{name}", "ConvTranspose", [f32(*x), stored(f32(*w))], attributes
    for op in ("MaxPool", "AveragePool"):
        yield f"{op}_2x2", op, [f32(1, 64, 56, 56)], {"kernel_shape": [2, 2], "strides": [2, 2]}
        yield f"{op}_3x3", op, [f32(1, 64, 56, 56)], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
        yield f"{op}_same", op, [f32(1, 64, 28, 28)], {"kernel_shape": [3, 3], "pads": [1] * 4}
        yield f"{op}_1d", op, [f32(1, 64, 1000)], {"kernel_shape": [3], "strides": [2]}
        yield f"{op}_3d", op, [f32(1, 16, 16, 28, 28)], {"kernel_shape": [2, 2, 2], "strides": [2, 2, 2]}
    yield "MaxPool_5x5", "MaxPool", [f32(1, 128, 20, 20)], {"kernel_shape": [5, 5], "pads": [2] * 4}
    yield "MaxPool_u8", "MaxPool", [u8(1, 64, 56, 56)], {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield "LpPool", "LpPool", [f32(1, 64, 56, 56)], {"kernel_shape": [2, 2], "strides": [2, 2]}
    for op in ("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"):
        yield op, op, [f32(1, 256, 14, 14)], {}
    none = stored(np.zeros(0, np.float32))
    for name, attributes in (("nearest", {"mode": "nearest", "nearest_mode": "floor", "coordinate_transformation_mode": "asymmetric"}), ("linear", {"mode": "linear"}),
                             ("corners", {"mode": "linear", "coordinate_transformation_mode": "align_corners"}), ("cubic", {"mode": "cubic"})):
        yield f"Resize_{name}_up", "Resize", [f32(1, 32, 32, 32), none, stored(np.array([1, 1, 2, 2], np.float32))], attributes
        yield f"Resize_{name}_odd", "Resize", [f32(1, 3, 100, 100), none, none, axes(1, 3, 224, 224)], attributes
        yield f"Resize_{name}_down", "Resize", [f32(1, 3, 448, 448), none, none, axes(1, 3, 224, 224)], attributes
    yield "Resize_u8", "Resize", [u8(1, 3, 256, 256), none, none, axes(1, 3, 224, 224)], {"mode": "linear"}
    yield "Resize_nhwc", "Resize", [f32(1, 100, 100, 16), none, none, axes(1, 200, 200, 16)], {"mode": "linear"}
    yield "Resize_1d", "Resize", [f32(1, 64, 500), none, stored(np.array([1, 1, 2], np.float32))], {"mode": "nearest"}
    yield "GridSample", "GridSample", [f32(1, 32, 32, 32), np.tanh(f32(1, 32, 32, 2))], {}
    yield "GridSample_nearest", "GridSample", [f32(1, 32, 32, 32), np.tanh(f32(1, 32, 32, 2))], {"mode": "nearest"}
    yield "AffineGrid", "AffineGrid", [f32(1, 2, 3), axes(1, 3, 128, 128)], {}
    boxes = np.sort(rng.uniform(0, 200, (100, 2, 2)).astype(np.float32), axis=1).reshape(100, 4)
    yield "RoiAlign", "RoiAlign", [f32(1, 64, 50, 50), boxes, np.zeros(100, np.int64)], {"output_height": 7, "output_width": 7, "spatial_scale": 0.25, "sampling_ratio": 2}
    yield "MaxRoiPool", "MaxRoiPool", [f32(1, 64, 50, 50), np.hstack([np.zeros((50, 1), np.float32), boxes[:50]])], {"pooled_shape": [7, 7], "spatial_scale": 0.25}
    corners = np.sort(rng.random((1, 1000, 2, 2), np.float32), axis=2).reshape(1, 1000, 4)
    yield "NonMaxSuppression", "NonMaxSuppression", [corners, unit(1, 4, 1000), stored(np.int64(100)), stored(np.float32(0.5)), stored(np.float32(0.3))], {}
    yield "DeformConv", "DeformConv", [f32(1, 32, 28, 28), stored(f32(32, 32, 3, 3)), f32(1, 18, 28, 28)], {"pads": [1] * 4}
    yield "Col2Im", "Col2Im", [f32(1, 64 * 9, 784), axes(28, 28), axes(3, 3)], {"pads": [1] * 4}
    yield "MaxUnpool", "MaxUnpool", [f32(1, 16, 28, 28), ints(np.int64, 0, 16 * 56 * 56 - 1, 1, 16, 28, 28)], {"kernel_shape": [2, 2], "strides": [2, 2]}
    scale, zero = stored(np.float32(0.02)), stored(np.uint8(128))
    yield "QLinearConv", "QLinearConv", [u8(1, 64, 28, 28), scale, zero, stored(u8(64, 64, 3, 3)), scale, zero, scale, zero], {"pads": [1] * 4}
    yield "ConvInteger", "ConvInteger", [u8(1, 64, 28, 28), stored(u8(64, 64, 3, 3)), stored(np.uint8(128)), stored(np.uint8(128))], {"pads": [1] * 4}


def sequences():
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for steps, batch, size in ((50, 1, 128), (50, 8, 64), (1, 1, 256)):
            operands = [f32(steps, batch, size), stored(f32(1, gates * size, size) * 0.05), stored(f32(1, gates * size, size) * 0.05)]
            yield f"{op}_{steps}x{batch}x{size}", op, operands, {"hidden_size": size}
    yield "DFT", "DFT", [f32(32, 512, 1), stored(np.int64(512)), stored(np.int64(1))], {"onesided": 1}
    yield "DFT_odd", "DFT", [f32(32, 400, 1), stored(np.int64(400)), stored(np.int64(1))], {"onesided": 1}
    yield "STFT", "STFT", [f32(1, 16000, 1), stored(np.int64(160)), stored(unit(400))], {"onesided": 1}
    yield "MelWeightMatrix", "MelWeightMatrix", [np.int64(80), np.int64(512), np.int64(16000), np.float32(0), np.float32(8000)], {}
    yield "RotaryEmbedding", "RotaryEmbedding", [f32(1, 12, 128, 64), stored(f32(128, 32)), stored(f32(128, 32)), np.arange(128, dtype=np.int64)[None]], {}
    yield "SoftmaxCrossEntropyLoss", "SoftmaxCrossEntropyLoss", [f32(512, 100), ints(np.int64, 0, 99, 512)], {}
    yield "TensorScatter", "TensorScatter", [f32(2, 8, 128, 64), f32(2, 8, 1, 64), const(5, 9)], {}, 24


def outputs_of(op, opset):
    schema = onnx.defs.get_schema(op, opset)
    return max(schema.min_output, 2 if op == "TopK" else 1)


def model(op, operands, attributes, opset=OPSET):
    """ModelProto and the values of its inputs."""
    names = [f"x{i}" for i in range(len(operands))]
    keep = [isinstance(a, Stored) for a in operands]
    arrays = [np.asarray(a) for a in operands]
    inputs = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a, k in zip(names, arrays, keep) if not k]
    initializers = [onnx.numpy_helper.from_array(a, n) for n, a, k in zip(names, arrays, keep) if k]
    parts = attributes.get("num_outputs", 1) if op == "Split" else outputs_of(op, opset)
    results = [f"y{i}" for i in range(parts)]
    node = helper.make_node(op, names, results, **attributes)
    outputs = [onnx.ValueInfoProto(name=r) for r in results]
    graph = helper.make_graph([node], op, inputs, outputs, initializers)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11 if opset <= 23 else 13)
    inferred = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    types = {o.name: o.type for o in inferred.graph.output}
    for o in proto.graph.output:
        o.type.CopyFrom(types[o.name])
    return proto, [a for a, k in zip(arrays, keep) if not k]


def write(folder, only=""):
    """Writes each model whose name has the regular expression `only`; their paths."""
    paths = []
    for family in (elementwise, reductions, movement, products, windows, sequences):
        for name, op, operands, attributes, *opset in family():
            if re.search(only, name):
                proto, values = model(op, operands, attributes, *opset)
                path = folder / f"{name}.onnx"
                onnx.save(proto, path)
                np.savez(path.with_suffix(".npz"), **{f"in{i}": v for i, v in enumerate(values)})
                paths.append(path)
    return paths
