"""Operators of com.microsoft that exporters and ONNX Runtime's tools write into files, each alone against ONNX Runtime: with weights as constants and, where
`weights` names some, with all operands given at run time too.

usage: microsoft.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `microsoft: N passed, N failed, N skipped`
"""
import re
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import ROOT, Suite, save
from values import peer
import microsoft_blocks
import microsoft_more

CASES = {}
RNG = np.random.default_rng(0)


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def u8(*shape):
    return RNG.integers(0, 256, shape).astype(np.uint8)


def i8(*shape):
    return RNG.integers(-127, 128, shape).astype(np.int8)


def ids(high, *shape, dtype=np.int32):
    return RNG.integers(0, high, shape).astype(dtype)


def number(value, dtype=np.float32):
    return np.array(value, dtype)


def case(name, op, operands, outputs=1, weights=(), want=None, **attributes):
    """`operands`: arrays or None; `outputs`: how many, or a list in which 0 leaves one out; `weights`: places of those that are constants; `want`: the results, where
    ONNX Runtime has none."""
    CASES[name] = op, operands, [1] * outputs if isinstance(outputs, int) else outputs, set(weights), want, attributes


one, zero = number(0.02), number(128, np.uint8)
case("fused_conv", "FusedConv", [f32(1, 3, 9, 9), f32(5, 3, 3, 3), f32(5)], weights=(1, 2), activation="LeakyRelu", activation_params=[0.1])
case("fused_conv_sum", "FusedConv", [f32(1, 4, 7, 7), f32(4, 4, 3, 3), f32(4), f32(1, 4, 7, 7)], weights=(1, 2), activation="Relu", pads=[1, 1, 1, 1])
case("fused_conv_clip", "FusedConv", [f32(1, 4, 7, 7), f32(4, 4, 3, 3)], weights=(1,), activation="Clip", activation_params=[-0.5, 0.5])
case("fused_conv_hard_swish", "FusedConv", [f32(1, 4, 7, 7), f32(4, 4, 3, 3), f32(4), f32(1, 4, 5, 5)], weights=(1, 2), activation="HardSwish")
for name in ("Celu", "ParametricSoftplus", "Selu"):
    case(f"fused_gemm_{name}", "FusedGemm", [f32(4, 6), f32(6, 5), f32(5)], weights=(1, 2), activation=name, activation_alpha=1.5, activation_beta=0.3, activation_gamma=1.1)
case("fused_gemm", "FusedGemm", [f32(4, 6), f32(6, 5), f32(5)], weights=(1, 2), activation="Relu", alpha=0.5)
case("fused_gemm_leaky", "FusedGemm", [f32(4, 6), f32(5, 6), f32(5)], weights=(1, 2), activation="LeakyRelu", activation_alpha=0.2, transB=1)
case("fused_matmul", "FusedMatMul", [f32(2, 3, 4, 6), f32(2, 3, 5, 6)], transB=1, alpha=0.25)
case("fused_matmul_batch", "FusedMatMul", [f32(4, 3, 6), f32(3, 6, 5)], transBatchA=1, alpha=2.0)
case("fused_matmul_batches", "FusedMatMul", [f32(4, 2, 3, 6), f32(5, 2, 3, 6)], transBatchA=1, transBatchB=1, transB=1)
case("fused_matmul_batch_swapped", "FusedMatMul", [f32(6, 3, 4), f32(3, 6, 5)], transBatchA=1, transA=1)
case("gelu", "Gelu", [f32(3, 7)])
case("fast_gelu", "FastGelu", [f32(3, 7)])
case("fast_gelu_bias", "FastGelu", [f32(3, 7), f32(7)])
case("bias_gelu", "BiasGelu", [f32(3, 7), f32(7)], weights=(1,))
case("quick_gelu", "QuickGelu", [f32(3, 7)], alpha=1.3)
case("skip_layer_norm", "SkipLayerNormalization", [f32(2, 4, 8), f32(2, 4, 8), f32(8), f32(8), f32(8)], [1, 0, 0, 1], weights=(2, 3, 4), epsilon=1e-5)
case("skip_layer_norm_broadcast", "SkipLayerNormalization", [f32(2, 4, 8), f32(4, 8), f32(8)], weights=(2,))
case("skip_rms_norm", "SkipSimplifiedLayerNormalization", [f32(2, 4, 8), f32(2, 4, 8), f32(8)], [1, 0, 0, 1], weights=(2,), epsilon=1e-6)
case("embed_layer_norm", "EmbedLayerNormalization", [ids(20, 2, 5), ids(2, 2, 5), f32(20, 8), f32(16, 8), f32(2, 8), f32(8), f32(8), ids(2, 2, 5)], 2,
     weights=(2, 3, 4, 5, 6), epsilon=1e-12)
case("embed_layer_norm_sum", "EmbedLayerNormalization", [ids(20, 2, 5), None, f32(20, 8), f32(16, 8), None, f32(8), f32(8)], 3, weights=(2, 3, 5, 6))
case("embed_layer_norm_positions", "EmbedLayerNormalization",
     [ids(20, 2, 5), None, f32(20, 8), f32(16, 8), None, f32(8), f32(8), None, ids(16, 2, 5)], 2, weights=(2, 3, 5, 6))
case("attention", "Attention", [f32(2, 6, 16), f32(16, 48), f32(48)], weights=(1, 2), num_heads=4)
case("attention_lengths", "Attention", [f32(2, 6, 16), f32(16, 48), f32(48), number([4, 6], np.int32)], weights=(1, 2), num_heads=4)
case("attention_causal_past", "Attention", [f32(2, 3, 16), f32(16, 48), f32(48), None, f32(2, 2, 4, 5, 4)], 2, weights=(1, 2), num_heads=4, unidirectional=1)
case("attention_mask", "Attention", [f32(2, 6, 16), f32(16, 48), f32(48), ids(2, 2, 6)], weights=(1, 2), num_heads=2)
case("multi_head_attention", "MultiHeadAttention", [f32(2, 5, 16), f32(2, 7, 16), f32(2, 7, 16)], num_heads=4)
case("multi_head_attention_bias", "MultiHeadAttention", [f32(2, 5, 16), f32(2, 7, 16), f32(2, 7, 16), f32(48), None, f32(2, 4, 5, 7)], num_heads=4)
case("multi_head_attention_past", "MultiHeadAttention", [f32(2, 1, 16), f32(2, 1, 16), f32(2, 1, 16), None, None, None, f32(2, 4, 6, 4), f32(2, 4, 6, 4)], 3,
     num_heads=4)
for name, rows, s, full, beams, more in (("one", 2, 1, 3, [], {}), ("three", 2, 3, 2, [], {"unidirectional": 1}), ("first", 2, 3, 0, [], {"unidirectional": 1}), ("beams", 4, 1, 5, [ids(2, 2, 2, 8)], {})):
    step, mask = [f32(rows, s, 8) for _ in range(3)], ids(2, rows, full + s)  # caches of 8, of which `full` are taken
    mask[:, 0] = 1  # a row without a key would be rounding alone
    case(f"multi_head_attention_shared_{name}", "MultiHeadAttention", [*step, f32(24), mask, None, f32(rows, 2, 8, 4), f32(rows, 2, 8, 4), number([full], np.int32), *beams], 3,
         num_heads=2, **more)
for heads in (2, 4, 8):  # 200 rows of a cache come in blocks, the first 51 unseen
    case(f"group_query_attention_{heads}", "GroupQueryAttention",
         [f32(2, 1, heads * 16), f32(2, 1, 32), f32(2, 1, 32), f32(2, 2, 200, 16), f32(2, 2, 200, 16), number([200, 200], np.int32), number(201, np.int32)], 3, num_heads=heads,
         kv_num_heads=2, local_window_size=150)
for b, s, past, outputs in ((2, 1, 40, 3), (1, 3, 40, 3), (1, 3, 9, 1)):  # keys and values of no length: the cache has those of all tokens
    case(f"group_query_shared_{s}_{past}", "GroupQueryAttention", [f32(b, s, 64), f32(b, 0, 32), f32(b, 0, 32), f32(b, 2, past, 16), f32(b, 2, past, 16), number([past - 1] * b, np.int32), number(past, np.int32), f32(50, 8), f32(50, 8)],
         outputs, weights=(7, 8), num_heads=4, kv_num_heads=2, do_rotary=1)
for s, past in ((1, 5), (3, 0)):
    gq = [f32(2, s, 32), f32(2, s, 16), f32(2, s, 16), f32(2, 2, past, 8), f32(2, 2, past, 8), number([past + s - 1] * 2, np.int32), number(past + s, np.int32)]
    case(f"group_query_scores_{s}", "GroupQueryAttention", gq, 4, num_heads=4, kv_num_heads=2, qk_output=1, softcap=2.0, local_window_size=2)
    case(f"group_query_weights_{s}", "GroupQueryAttention", gq, 4, num_heads=4, kv_num_heads=2, qk_output=2, smooth_softmax=1)
    for bits, kind in ((8, i8), (4, u8)):
        for per, scales in (("PER_TENSOR", (1,)), ("PER_CHANNEL", (1, 2, 1, 8))):
            caches, steps = [kind(2, 2, past, bits), kind(2, 2, past, bits)], [np.abs(f32(*scales)) * 0.02 + 0.01 for _ in range(2)]  # 4 bits: half as many bytes as elements
            case(f"group_query_cache_{bits}_{per}_{s}", "GroupQueryAttention", [*gq[:3], *caches, *gq[5:], *[None] * 5, *steps], 3, weights=(12, 13), num_heads=4, kv_num_heads=2,
                 k_quant_type=per, v_quant_type=per, kv_cache_bit_width=bits)
case("rotary", "RotaryEmbedding", [f32(2, 5, 16), ids(9, 2, 5, dtype=np.int64), f32(10, 4), f32(10, 4)], weights=(2, 3), num_heads=2)
case("rotary_interleaved", "RotaryEmbedding", [f32(2, 3, 5, 8), number([2], np.int64), f32(10, 4), f32(10, 4)], weights=(2, 3), interleaved=1)
case("matmul_4_bits", "MatMulNBits", [f32(3, 64), u8(10, 2, 16), np.abs(f32(20)) * 0.1], weights=(1, 2), K=64, N=10, bits=4, block_size=32)
case("matmul_4_bits_zeros", "MatMulNBits", [f32(3, 64), u8(10, 4, 8), np.abs(f32(40)) * 0.1, u8(20)], weights=(1, 2, 3), K=64, N=10, bits=4, block_size=16)
case("matmul_8_bits", "MatMulNBits", [f32(3, 64), u8(10, 2, 32), np.abs(f32(20)) * 0.1], weights=(1, 2), K=64, N=10, bits=8, block_size=32)
case("gather_blocks_u8", "GatherBlockQuantized", [u8(12, 16), ids(12, 2, 3), np.abs(f32(12, 2))], weights=(0, 2), block_size=16, quantize_axis=1, gather_axis=0, bits=4)
case("gather_blocks_u8_zeros", "GatherBlockQuantized", [u8(12, 16), ids(12, 4, dtype=np.int64), np.abs(f32(12, 2)), u8(12, 1)], weights=(0, 2, 3), block_size=16,
     quantize_axis=1, gather_axis=0, bits=4)
case("qlinear_add", "QLinearAdd", [u8(3, 4), one, zero, u8(4), number(0.03), number(120, np.uint8), number(0.05), zero], weights=(1, 2, 4, 5, 6, 7))
case("qlinear_add_signed", "QLinearAdd", [i8(3, 4), one, number(3, np.int8), i8(3, 1), one, number(0, np.int8), number(0.05), number(-4, np.int8)])
case("qlinear_mul", "QLinearMul", [u8(3, 4), one, zero, u8(4), number(0.03), number(120, np.uint8), number(0.05), zero], weights=(1, 2, 4, 5, 6, 7))
case("qlinear_concat", "QLinearConcat", [number(0.04), zero, u8(2, 3), one, zero, u8(2, 5), number(0.08), number(100, np.uint8)], weights=(0, 1, 3, 4, 6, 7), axis=1)
case("qlinear_sigmoid", "QLinearSigmoid", [u8(3, 9), number(0.05), zero, number(1 / 256), number(0, np.uint8)], weights=(1, 2, 3, 4))
case("qlinear_leaky_relu", "QLinearLeakyRelu", [i8(3, 9), number(0.05), number(2, np.int8), number(0.04), number(-3, np.int8)], weights=(1, 2, 3, 4), alpha=0.1)
case("qlinear_average_pool", "QLinearAveragePool", [u8(1, 3, 8, 8), one, zero, number(0.03), zero], weights=(1, 2, 3, 4), kernel_shape=[3, 3], strides=[2, 2],
     pads=[1, 1, 1, 1])
case("qlinear_average_pool_last", "QLinearAveragePool", [u8(1, 8, 8, 3), one, zero, number(0.03), zero], weights=(1, 2, 3, 4), kernel_shape=[2, 2], channels_last=1)
case("qlinear_average_pool_last_padded", "QLinearAveragePool", [i8(2, 9, 7, 20), one, number(3, np.int8), number(0.013), number(-9, np.int8)], weights=(1, 2, 3, 4),
     kernel_shape=[3, 3], strides=[2, 1], pads=[1, 1, 1, 1], count_include_pad=1, channels_last=1)
case("qlinear_global_average_pool", "QLinearGlobalAveragePool", [u8(2, 3, 5, 5), one, zero, number(0.01), zero], weights=(1, 2, 3, 4), channels_last=0)
case("qlinear_global_average_pool_last", "QLinearGlobalAveragePool", [u8(2, 5, 5, 3), one, zero, number(0.01), zero], weights=(1, 2, 3, 4), channels_last=1)
case("qlinear_softmax", "QLinearSoftmax", [u8(3, 9), number(0.05), zero, number(1 / 256), number(0, np.uint8)], weights=(1, 2, 3, 4), axis=-1, opset=13)
case("qlinear_softmax_old", "QLinearSoftmax", [i8(2, 3, 4), number(0.05), number(0, np.int8), number(1 / 256), number(-128, np.int8)], weights=(1, 2, 3, 4), axis=1, opset=12)
case("qattention", "QAttention", [u8(2, 5, 16), i8(16, 48), f32(48), one, number(0.01), None, zero, number(0, np.int8)], weights=(1, 2, 3, 4, 6, 7), num_heads=4)
case("qattention_lengths", "QAttention", [u8(2, 5, 16), u8(16, 48), f32(48), one, number(0.01), number([3, 5], np.int32), zero, zero], weights=(1, 2, 3, 4, 6, 7), num_heads=4)
case("qattention_mask", "QAttention", [u8(2, 5, 16), i8(16, 48), f32(48), one, number(0.01), number([[1, 1, 1, 0, 0], [1] * 5], np.int32), zero, number(3, np.int8)], weights=(1, 2, 3, 4, 6, 7), num_heads=4)
case("qattention_causal", "QAttention", [u8(2, 5, 16), i8(16, 48), f32(48), one, number(np.linspace(0.01, 0.02, 48)), None, zero, number(np.zeros(48), np.int8)], weights=(1, 2, 3, 4, 6, 7), num_heads=2, unidirectional=1)
case("qattention_past", "QAttention", [u8(2, 3, 16), i8(16, 48), f32(48), one, number(0.01), None, zero, number(0, np.int8), f32(2, 2, 4, 5, 4)], 2,
     weights=(1, 2, 3, 4, 6, 7), num_heads=4, unidirectional=1)
case("qgemm", "QGemm", [u8(4, 6), one, zero, i8(6, 5), number(0.01), number(0, np.int8), ids(99, 5), number(0.05), zero], weights=(1, 2, 3, 4, 5, 6, 7, 8))
case("qgemm_one_bias", "QGemm", [u8(4, 6), one, zero, i8(6, 3), number([0.01, 0.02, 0.03]), number([0, 0, 0], np.int8), ids(99, 1), number(0.05), zero], weights=(1, 2, 3, 4, 5, 6, 7, 8))
case("qgemm_float", "QGemm", [u8(4, 6), one, zero, i8(5, 6), number(0.01), number(0, np.int8)], weights=(1, 2, 3, 4, 5), transB=1, alpha=0.5)
case("dynamic_quantize_matmul", "DynamicQuantizeMatMul", [f32(4, 16), i8(16, 6), number(0.02), number(0, np.int8), f32(6)], weights=(1, 2, 3, 4))
case("matmul_integer_to_float", "MatMulIntegerToFloat", [u8(4, 16), i8(16, 6), one, number(0.01), zero, number(0, np.int8), f32(6)], weights=(1, 2, 3, 4, 5, 6))
case("dynamic_quantize_lstm", "DynamicQuantizeLSTM",
     [f32(7, 2, 12), i8(1, 12, 80), i8(1, 20, 80), f32(1, 160), None, None, None, None, number([0.004]), number([0], np.int8), number([0.003]), number([0], np.int8)], 3,
     weights=(1, 2, 3, 8, 9, 10, 11), hidden_size=20)
case("dynamic_quantize_lstm_both", "DynamicQuantizeLSTM",
     [f32(5, 3, 9), u8(2, 9, 28), u8(2, 7, 28), f32(2, 56), None, f32(2, 3, 7), f32(2, 3, 7), f32(2, 21), np.abs(f32(2, 28)) * 0.005,
      np.full((2, 28), 123, np.uint8), np.abs(f32(2, 28)) * 0.005, np.full((2, 28), 123, np.uint8)], 3,
     weights=(1, 2, 3, 7, 8, 9, 10, 11), hidden_size=7, direction="bidirectional")
case("dynamic_quantize_lstm_panels", "DynamicQuantizeLSTM",
     [f32(3, 8, 12), u8(2, 12, 128), u8(2, 32, 128), f32(2, 256), None, None, None, None, number([0.004, 0.005]), number([128, 128], np.uint8), number([0.003, 0.002]),
      number([120, 120], np.uint8)], 3, weights=(1, 2, 3, 8, 9, 10, 11), hidden_size=32, direction="bidirectional")
for way, directions in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
    for start in (None, f32(directions, 3, 7)):
        case(f"dynamic_quantize_lstm_lengths_{way}{'' if start is None else '_start'}", "DynamicQuantizeLSTM",
             [f32(5, 3, 9), u8(directions, 9, 28), u8(directions, 7, 28), f32(directions, 56), number([2, 4, 1], np.int32), start, start, None,
              np.full(directions, 0.005, np.float32), np.full(directions, 120, np.uint8), np.full(directions, 0.004, np.float32), np.full(directions, 125, np.uint8)], 3,
             weights=(1, 2, 3, 8, 9, 10, 11), hidden_size=7, direction=way)
case("nhwc_max_pool", "NhwcMaxPool", [u8(1, 8, 8, 3)], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
case("pad", "Pad", [f32(2, 3), number([0, 1, 2, 0], np.int64), number([1.5])])
case("pad_reflect", "Pad", [f32(4, 5), number([1, 1, 2, 0], np.int64)], mode="reflect")
case("range", "Range", [number(1, np.int32), number(12, np.int32), number(3, np.int32)])
case("range_float", "Range", [number(0.5), number(4), None])
case("unique", "Unique", [number([2, 1, 1, 3, 4, 3, 2])], 3)
case("inverse", "Inverse", [f32(3, 4, 4)])
case("inverse_large", "Inverse", [f32(2, 3, 37, 37) + 6 * np.eye(37, dtype=np.float32)])
case("trilu", "Trilu", [f32(2, 4, 5), number(1, np.int64)], upper=0)
for mode in ("bilinear", "nearest", "bicubic"):
    case(f"grid_sample_{mode}", "GridSample", [f32(1, 2, 5, 6), f32(1, 3, 4, 2)], mode=mode, align_corners=1)
case("bifurcation", "BifurcationDetector",
     [number([1, 5, 3, 4, 2, 9, 7], np.int64), number([1, 5, 3], np.int64), number(0, np.int64), number([1, 5, 3, 4, 7, 2, 9, 7], np.int64)], 2, min_ngram_size=1, max_ngram_size=3)
case("bifurcation_start", "BifurcationDetector", [number([1, 5, 3, 4, 2, 9, 7], np.int64), number([1, 5], np.int64), number(0, np.int64)], 2)
regions = number([[0, 0, 1, 1], [-0.2, 0.1, 1.2, 0.8], [0.9, 0.9, 0.1, 0.1], [0.5, 0.25, 0.5, 0.75]])
for mode in ("bilinear", "nearest"):
    for size in ([3, 2], [1, 1], [7, 9]):
        case(f"crop_and_resize_{mode}_{size[0]}", "CropAndResize", [f32(2, 3, 6, 5), regions, number([0, 1, 1, 0], np.int32), number(size, np.int32)], weights=(3,), mode=mode, extrapolation_value=-7.0)
for rows, columns in ((1, 1), (1, 6), (5, 1), (6, 9)):
    case(f"time_warping_{rows}_{columns}", "DynamicTimeWarping", [ids(3, rows, columns).astype(np.float32)])
case("time_warping_infinite", "DynamicTimeWarping", [np.full((3, 4), np.inf, np.float32)])
case("time_warping_batch", "DynamicTimeWarping", [f32(1, 7, 12)])
for kind in (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64):
    case(f"murmur_{kind.__name__}", "MurmurHash3", [ids(1 << 30, 3, 4).astype(kind)], seed=5)
    case(f"murmur_signed_{kind.__name__}", "MurmurHash3", [ids(1 << 30, 3, 4).astype(kind)], positive=0)
case("murmur_text", "MurmurHash3", [np.array([["", "a", "ab"], ["abc", "abcd", "hello, wörld"]], object)], seed=-3)
KERNELS = set(CASES)  # the others have none of their own: one level of the processor is enough
microsoft_more.add(case, f32, u8, i8, ids, number)
case("ngram_block", "NGramRepeatBlock", [number([[1, 2, 3, 1, 2], [4, 4, 4, 4, 4]], np.int64), f32(2, 6)], ngram_size=3)


def build(op, operands, outputs, weights, attributes, constant):
    infos, initializers, names = [], [], []
    for i, array in enumerate(operands):
        names.append("" if array is None else f"x{i}")
        if array is None:
            continue
        if constant and i in weights:
            initializers.append(numpy_helper.from_array(array, f"x{i}"))
        else:
            infos.append(helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
    results = [f"y{i}" if wanted else "" for i, wanted in enumerate(outputs)]
    node = helper.make_node(op, names, results, domain="com.microsoft", name="op", **attributes)
    graph = helper.make_graph([node], "g", infos, [helper.make_empty_tensor_value_info(r) for r in results if r], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def declare(model, want):
    """The types of the results go into the model, whose outputs have none."""
    for info, array in zip(model.graph.output, want):
        info.CopyFrom(helper.make_tensor_value_info(info.name, helper.np_dtype_to_tensor_dtype(array.dtype), [None] * array.ndim))
    return want


def reference(model, feed):
    """ONNX Runtime's results."""
    return declare(model, peer(model, optimized=False).run(None, feed))


def differs(want, got):
    if want.shape != got.shape or want.dtype != got.dtype:
        return f"{got.dtype}{list(got.shape)}, want {want.dtype}{list(want.shape)}"
    a, b = want.astype(np.float64), got.astype(np.float64)
    finite = np.isfinite(a)
    if (finite != np.isfinite(b)).any() or (a[~finite] != b[~finite]).any():
        return "other values are not finite"
    step = 1 if want.dtype in (np.uint8, np.int8) else 0 if want.dtype.kind in "iu" else 2e-5 * np.abs(a[finite]).max(initial=0) + 1e-7
    error = np.abs(a[finite] - b[finite]).max(initial=0)
    return None if error <= step else f"off by {error:.3g}"


def check(s, folder, name):
    import onnxc
    op, operands, outputs, weights, known, attributes = CASES[name]
    for constant in [True, False] if weights else [False]:
        feed = {f"x{i}": a for i, a in enumerate(operands) if a is not None and not (constant and i in weights)}
        model = build(op, operands, outputs, weights, attributes, constant)
        try:
            want = reference(model, feed) if known is None else declare(model, [w.astype(np.float32) if w.dtype == np.float64 else w for w in known])
        except Exception as e:
            if not constant and weights:
                continue  # ONNX Runtime takes some operands as constants only
            return f"ONNX Runtime: {str(e)[:200]}"
        for flags in ([], ["-O0"]) if name in KERNELS else (["--cpu", "x86-64-v3"], ["--cpu", "x86-64-v3", "-O0"])[: 1 + (constant or not weights)]:
            library = s.compile(model, folder, *flags, name=f"{name}{constant}{len(flags)}")
            for k, (w, g) in enumerate(zip(want, onnxc.load(str(library)).run(feed))):
                problem = differs(w, np.asarray(g))
                if problem:
                    return f"{'constant weights' if constant else 'all operands'} {flags}: result {k}: {problem}"
    return None


def attention_shares(s, folder):
    """Attention that writes into its past, which ONNX Runtime's CPU kernel does not: what the part of it that is full gives, put there."""
    import onnxc
    x, w, b, past, full = f32(2, 3, 16), f32(16, 48), f32(48), f32(2, 2, 4, 8, 4), 2
    plain = build("Attention", [x, w, b, None, past[:, :, :, :full]], [1, 1], {1, 2}, {"num_heads": 4, "unidirectional": 1}, True)
    y, present = reference(plain, {"x0": x, "x4": past[:, :, :, :full]})
    shared = build("Attention", [x, w, b, None, past, None, number([full], np.int32)], [1, 1], {1, 2}, {"num_heads": 4, "unidirectional": 1, "past_present_share_buffer": 1}, True)
    want = declare(shared, [y, np.concatenate([present, past[:, :, :, full + 3 :]], 3)])
    for flags in ([], ["-O0"]):
        got = onnxc.load(str(s.compile(shared, folder, *flags, name=f"shared{len(flags)}"))).run({"x0": x, "x4": past, "x6": number([full], np.int32)})
        wrong = [differs(a, np.asarray(g)) for a, g in zip(want, got)]
        if any(wrong):
            return f"{flags}: {wrong}"
    return None


def attention_past_mask(s, folder):
    """A raw mask whose length only the run knows to be that of all keys; a mask of one column does not stand for them."""
    import onnxc
    x, w, b, past, mask = f32(2, 3, 16), f32(16, 48), f32(48), f32(2, 2, 4, 5, 4), ids(2, 2, 8)
    model = build("Attention", [x, w, b, mask, past], [1, 1], {1, 2}, {"num_heads": 4, "unidirectional": 1}, True)
    want = reference(model, {"x0": x, "x3": mask, "x4": past})
    known, unknown = [2, "batch", 4, "past", 4], ["two", "entries", "heads", "past", "width"]
    for flags, names in (([], known), (["-O0"], known), (["-g"], unknown)):
        for info, dims in zip(model.graph.input, (["batch", "sequence", 16], ["batch", "total"], names)):
            info.CopyFrom(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, dims))
        loaded = onnxc.load(str(s.compile(model, folder, *flags, name=f"masked{''.join(flags)}")))
        wrong = [differs(a, np.asarray(g)) for a, g in zip(want, loaded.run({"x0": x, "x3": mask, "x4": past}))]
        if any(wrong):
            return f"{flags}: {wrong}"
        try:
            loaded.run({"x0": x, "x3": mask[:, :1], "x4": past})
            return f"{flags}: a mask of one column for eight keys was taken"
        except onnxc.Error:
            pass
    return None


def softmax_of_odd_scale(s, folder):
    """1 / scale is no whole number, and ONNX Runtime takes its whole part: most of the differences from that are below what `differs` lets pass."""
    import onnxc
    rows = u8(400, 6)
    for scale, zero in ((0.0035, 0), (1 / 255, 3)):
        model = build("QLinearSoftmax", [rows, one, number(7, np.uint8), number(scale), number(zero, np.uint8)], [1], {1, 2, 3, 4}, {"axis": -1, "opset": 13}, True)
        want = reference(model, {"x0": rows})[0]
        for flags in ([], ["-O0"]):
            got = np.asarray(onnxc.load(str(s.compile(model, folder, *flags, name=f"scale{zero}{len(flags)}"))).run({"x0": rows})[0])
            if (want != got).mean() > 0.002:
                return f"{flags} {scale}: {(want != got).mean():.2%} differ"
    return None


# Steps, rows of the cache, window, tokens of each batch entry after the step: not yet full, just full, and after some were dropped; more steps than rows.
SLIDING = {f"sliding_{s}_{rows}_{window}_{max(tokens)}": (s, rows, window, tokens) for s, rows, window, tokens in
           ((1, 5, 5, [4, 5]), (1, 5, 5, [9, 3]), (1, 7, 4, [12, 8]), (3, 7, 4, [11]), (9, 5, 3, [9]), (4, 6, 4, [7]))}


def sliding_cache(s, folder, name):
    """The rows of the new cache that its contract does not specify are not compared."""
    import onnxc
    steps, rows, window, tokens = SLIDING[name]
    batch, dropped = len(tokens), rows - window + 1
    kept = [t if t <= rows else t - dropped * -((rows - t) // dropped) for t in tokens]
    operands = [f32(batch, steps, 64), f32(batch, steps, 32), f32(batch, steps, 32), f32(batch, 2, rows, 16), f32(batch, 2, rows, 16), number(tokens, np.int32) - 1, number(max(tokens), np.int32)]
    rotated = [*operands, f32(16, 8), f32(16, 8), None, f32(1, 4, steps, max(tokens)), f32(4)]
    stored = [*operands[:3], i8(batch, 2, rows, 16), i8(batch, 2, rows, 16), *operands[5:], *[None] * 5, number([0.03]), number([0.02])]
    form = {"num_heads": 4, "kv_num_heads": 2, "local_window_size": window, "sliding_window_cache": 1}
    for given, more in ((rotated, {"do_rotary": 1}), (stored, {"k_quant_type": "PER_TENSOR", "v_quant_type": "PER_TENSOR", "kv_cache_bit_width": 8})):
        model, feed = build("GroupQueryAttention", given, [1, 1, 1], set(), form | more, False), {f"x{i}": a for i, a in enumerate(given) if a is not None}
        want = reference(model, feed)
        for flags in ([], ["-O0"]):
            got = [np.asarray(g) for g in onnxc.load(str(s.compile(model, folder, *flags, name=f"{more.get('do_rotary')}{len(flags)}"))).run(feed)]
            wrong = [differs(want[0], got[0])] + [differs(want[k][b, :, :n], got[k][b, :, :n]) for k in (1, 2) for b, n in enumerate(kept)]
            if any(wrong) or want[1].shape != got[1].shape:
                return f"{flags} {more}: {wrong}"
    return None


def without_results(s, folder, op):
    """Nodes whose results nobody names, of operators that others come behind."""
    _, operands, _, weights, _, attributes = next(c for c in CASES.values() if c[0] == op)
    for results in ([], [""]):
        model = build(op, operands, [1], weights, attributes | ({"positive": 0} if op == "MurmurHash3" else {"activation": "HardSwish"}), constant=True)
        model.graph.node.append(helper.make_node("Constant", [], ["other"], value_float=1.0))
        model.graph.output[0].name = "other"
        model.graph.output[0].ClearField("type")
        model.graph.node[0].output[:] = results
        s.compile(model, folder, name=f"without{len(results)}")
    return None


CONVOLVED, TOKENS, LAYOUT = {"strides": [2, 2], "kernel_shape": [3, 3]}, {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}, [number([[0, 1, 3]], np.int32), number([[0, 0, 1]], np.int32)]
REFUSED = {  # operator, operands with sizes that only the run knows, places of those that are constants, attributes
    "refused_past": ("CausalConvWithState", [f32(2, 4, 7), f32(4, 1, 3), f32(4), f32(2, 4, 3)], {1, 2}, {"dilation": 2}),
    "refused_past_of_one_tap": ("CausalConvWithState", [f32(2, 4, 7), f32(4, 1, 1), f32(4), f32(2, 4, 3)], {1, 2}, {}),
    **{f"refused_pads_{name}": ("ConvTransposeWithDynamicPads", [f32(1, 3, 5, 6), f32(3, 4, 3, 3), number(pads, np.int64)], {1}, CONVOLVED)
       for name, pads in (("negative", [-1, 0, 0, 0]), ("negative_behind", [0, 0, -1, 0]), ("large", [20, 0, 0, 0]), ("large_behind", [0, 0, 20, 0]), ("together", [6, 0, 6, 0]), ("three", [1, 1, 1]))},
    "refused_tables": ("NGramHashMapping", [ids(9, 2, 5), number([3, 5, 7], np.int32), number([3, 4, 5, 6, 7], np.int32)], set(), TOKENS),
    "refused_tokens_before": ("NGramHashMapping", [ids(9, 2, 5), number([3, 5, 7], np.int32), number([3, 4, 5, 6], np.int32), ids(9, 2, 3)], set(), TOKENS),
    "refused_total": ("SparseAttention", [f32(1, 4, 64), f32(1, 4, 32), f32(1, 4, 32), f32(1, 2, 32, 16), f32(1, 2, 32, 16), *LAYOUT, number([2**31 - 1], np.int32), number([4], np.int32)], {5, 6},
                      {"num_heads": 4, "kv_num_heads": 2, "sparse_block_size": 16}),
}


def refused(s, folder, name):
    """Sizes and values that ONNX Runtime refuses too, and of which the error names the node."""
    import onnxc
    op, operands, weights, attributes = REFUSED[name]
    model, feed = build(op, operands, [1], weights, attributes, constant=True), {f"x{i}": a for i, a in enumerate(operands) if i not in weights}
    try:
        reference(model, feed)
        return "ONNX Runtime has a result"
    except Exception:
        pass
    for info in model.graph.input:
        info.CopyFrom(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, [f"{info.name}_{i}" for i in range(feed[info.name].ndim)]))
    for flags in ([], ["-O0"]):
        loaded = onnxc.load(str(s.compile(model, folder, *flags, name=f"refused{len(flags)}")))
        try:
            return f"{flags}: a result {loaded.run(feed)[0].shape}"
        except onnxc.Error as e:
            if not str(e).startswith("op ("):
                return f"{flags}: {e}"
    return None


def refuses_texts(s, folder, op):
    """Kernels look at no type that the import lets through."""
    _, operands, outputs, weights, _, attributes = next(c for c in CASES.values() if c[0] == op)
    for i, array in enumerate(operands):
        if array is None:
            continue
        model = build(op, operands, outputs, weights, attributes, constant=False)
        next(x for x in model.graph.input if x.name == f"x{i}").type.tensor_type.elem_type = TensorProto.STRING if op not in ("MurmurHash3", "Tokenizer") else TensorProto.INT8
        said = s.onnxc("check", save(model, folder / "m.onnx"), code=1).stderr
        if not re.search(rf"op \({op}, opset 1\): input '\w+' has elements of (string|int8|.*of string; they must be the same)", said):
            return f"operand {i}: {said}"
    return None


# Operators that the dialect has of its own, but for those that the import makes the standard's.
OWN = set(re.findall(r'"ms\.(\w+)"', (ROOT / "dialects" / "onnx" / "Microsoft.td").read_text())) - {"Gelu", "Pad", "Range", "Trilu"}

SUITE = Suite("microsoft", __doc__, reuse=True)
SUITE.cases(CASES, check)
SUITE.check(attention_shares)
SUITE.check(attention_past_mask)
SUITE.check(softmax_of_odd_scale)
SUITE.cases(SLIDING, sliding_cache)
SUITE.cases(microsoft_blocks.CASES, microsoft_blocks.check)
SUITE.check(microsoft_blocks.all_operators)
SUITE.check(microsoft_blocks.unknown_blocks)
SUITE.check(microsoft_blocks.unnamed_result)
SUITE.check(microsoft_blocks.sparse_attention)
SUITE.cases({f"without_results_{op}": op for op in ("MurmurHash3", "FusedConv", "FusedGemm")}, lambda s, folder, name: without_results(s, folder, name.removeprefix("without_results_")))
SUITE.cases(REFUSED, refused)
SUITE.cases({f"types_{op}": op for op in sorted(OWN & {c[0] for c in CASES.values()})}, lambda s, folder, name: refuses_texts(s, folder, name.removeprefix("types_")))

if __name__ == "__main__":
    SUITE.main()
