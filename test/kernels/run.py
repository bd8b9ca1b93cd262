"""Generated kernels against ONNX Runtime, contractions above all: shapes that take every path of codegen/cpu's tiles: rests of rows, panels and depth, padding at
both ends, strides, dilations, groups, depth blocks, known and run-time sizes, epilogues, one and several threads, one of two x86-64 levels a case. Casts of
halves meet every value of theirs; functions.py beside it measures the functions.

usage: run.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `kernels: N passed, N failed, N skipped`
"""
import ctypes
import os
import sys
import zlib
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
import hide_cpu
from common import CACHE, WIDEST, Suite
import assignments
import attentions
import channels  # adds to cases.CASES
import convolutions  # adds to cases.CASES
import dequantised  # adds to cases.CASES
import experts  # adds to cases.CASES
import four_bits  # adds to cases.CASES
import functions
import halves
import tiles
import keras  # adds to cases.CASES
import libraries  # adds to cases.CASES
import norms
import operators
import orders
import pieces
import rests
import resizes  # adds to cases.CASES
import samples  # adds to operators.CASES
import schedules
import semantics  # adds to operators.CASES
import shares  # adds to operators.CASES
import signals  # adds to operators.CASES
import spectra
from cases import CASES, case
from values import peer


def matmul(name, a, n, epilogue=False):
    rng = np.random.default_rng(0)
    weights = {"w": (rng.standard_normal((a[-1], n)) / np.sqrt(a[-1])).astype(np.float32)}
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    inputs = {"x": a}
    if epilogue:
        weights["b"] = rng.standard_normal(n).astype(np.float32)
        inputs["r"] = a[:-1] + (n,)
        nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Add", ["t", "b"], ["u"]), helper.make_node("Add", ["u", "r"], ["v"]),
                 helper.make_node("Relu", ["v"], ["y"])]
    case(name, nodes, inputs, weights)


def product(name, a, b, perm_a=None, perm_b=None, scaled=False):
    nodes, left, right = [], "a", "b"
    if perm_a:
        nodes.append(helper.make_node("Transpose", ["a"], ["ta"], perm=perm_a))
        left = "ta"
    if perm_b:
        nodes.append(helper.make_node("Transpose", ["b"], ["tb"], perm=perm_b))
        right = "tb"
    nodes.append(helper.make_node("MatMul", [left, right], ["s" if scaled else "y"]))
    if scaled:
        nodes.append(helper.make_node("Mul", ["s", "k"], ["y"]))
    case(name, nodes, {"a": a, "b": b}, {"k": np.array(0.125, np.float32)} if scaled else {})


def einsum(name, equation, *shapes):
    case(name, [helper.make_node("Einsum", list("abc"[:len(shapes)]), ["y"], equation=equation)], dict(zip("abc", shapes)))


def attention(name, q, k, v, keep=None, bias=None, width=1, swapped=True, zero=False):
    """Heads between the axes of batch and length (`swapped`) or before them; `keep` and `bias`: shapes of masks, `keep` made from one greater 0."""
    node = helper.make_node
    perm = [0, 2, 1, 3] if swapped else [0, 1, 2, 3]
    nodes = [node("Transpose", ["q"], ["qt"], perm=perm), node("Transpose", ["k"], ["kt"], perm=[perm[i] for i in (0, 1, 3, 2)]),
             node("Transpose", ["v"], ["vt"], perm=perm), node("MatMul", ["qt", "kt"], ["s"]), node("Mul", ["s", "scale"], ["masked"])]
    inputs, weights = {"q": q, "k": k, "v": v}, {"scale": np.array(width, np.float32)}
    if keep:
        inputs["keep"] = keep
        weights |= {"zero": np.array(0, np.float32), "low": np.array(-np.inf if zero else -1e4, np.float32)}
        nodes += [node("Greater", ["keep", "zero"], ["kept"]), node("Where", ["kept", "masked", "low"], ["where"])]
    if bias:
        inputs["bias"] = bias
        nodes.append(node("Add", [nodes[-1].output[0], "bias"], ["added"]))
    nodes.append(node("Softmax", [nodes[-1].output[0]], ["p"], axis=-1))
    if zero:
        nodes += [node("IsNaN", ["p"], ["nan"]), node("Where", ["nan", "zero", "p"], ["pz"])]
    nodes += [node("MatMul", [nodes[-1].output[0], "vt"], ["o"]), node("Transpose", ["o"], ["y"], perm=perm)]
    case(name, nodes, inputs, weights)


attention("attention_plain", (2, 37, 3, 64), (2, 37, 3, 64), (2, 37, 3, 64), width=0.125)
attention("attention_key_blocks", (1, 29, 2, 40), (1, 1100, 2, 40), (1, 1100, 2, 24), width=0.2)
attention("attention_bias", (1, 50, 4, 32), (1, 50, 4, 32), (1, 50, 4, 32), bias=(1, 4, 50, 50), width=0.2)
attention("attention_row_bias", (2, 20, 2, 16), (2, 33, 2, 16), (2, 33, 2, 80), bias=(2, 1, 1, 33), width=0.3)
attention("attention_keep", (1, 3, 40, 20), (1, 3, 700, 20), (1, 3, 700, 20), keep=(40, 700), bias=(40, 1), swapped=False, width=0.3)
attention("attention_one_query", (2, 1, 3, 72), (2, 133, 3, 72), (2, 133, 3, 90), bias=(2, 1, 1, 133), width=0.2)
attention("attention_one_query_heads_first", (1, 3, 2, 64), (1, 3, 51, 64), (1, 3, 51, 64), keep=(2, 51), swapped=False, width=0.2)
attention("attention_dead_rows", (1, 9, 2, 8), (1, 2, 2, 8), (1, 2, 2, 8), keep=(9, 2), zero=True)
attention("attention_shared_keys", (3, 5, 26, 33), (1, 5, 26, 33), (1, 5, 26, 33), swapped=False, width=0.25)


def multihead(name, batch, length, heads, width):
    """torch.nn.MultiheadAttention: one projection, batch and heads in one axis."""
    node, wide = helper.make_node, heads * width
    lists = {"split": [length, batch, 3, wide], "together": [length, batch * heads, width], "heads": [batch, heads, length, width],
             "keys": [batch, heads, width, length], "rows": [length * batch, wide]}
    weights = {n: np.array(v, np.int64) for n, v in lists.items()} | {str(i): np.array(i, np.int64) for i in range(3)}
    weights |= {"w": np.random.default_rng(3).standard_normal((wide, 3 * wide)).astype(np.float32) / np.float32(wide ** 0.5), "number": np.array(width ** -0.5, np.float32)}
    nodes = [node("Transpose", ["x"], ["xt"], perm=[1, 0, 2]), node("MatMul", ["xt", "w"], ["qkv"]), node("Reshape", ["qkv", "split"], ["parts"]),
             node("Transpose", ["parts"], ["front"], perm=[2, 0, 1, 3])]
    for i, n in enumerate("qkv"):
        nodes += [node("Gather", ["front", str(i)], [f"{n}0"], axis=0), node("Mul", [f"{n}0", "number"], [f"{n}s"]) if n == "q" else node("Identity", [f"{n}0"], [f"{n}s"]),
                  node("Reshape", [f"{n}s", "together"], [f"{n}1"]), node("Transpose", [f"{n}1"], [f"{n}2"], perm=[1, 2, 0] if n == "k" else [1, 0, 2]),
                  node("Reshape", [f"{n}2", "keys" if n == "k" else "heads"], [f"{n}3"])]
    nodes += [node("MatMul", ["q3", "k3"], ["s"]), node("Softmax", ["s"], ["p"], axis=-1), node("MatMul", ["p", "v3"], ["o"]),
              node("Transpose", ["o"], ["ot"], perm=[2, 0, 1, 3]), node("Reshape", ["ot", "rows"], ["y"])]
    case(name, nodes, {"x": (batch, length, wide)}, weights)


multihead("attention_multihead", 3, 21, 4, 16)
multihead("attention_multihead_many_keys", 2, 130, 3, 24)


for _name, _case in [*norms.CASES.items(), *pieces.CASES.items()]:
    case(_name, *_case)

for _kernel in ([2, 2], [3, 3], [5, 3]):
    for _stride in (1, 2, 3):
        for _op in ("MaxPool", "AveragePool"):
            case(f"{_op.lower()}_{_kernel[0]}_{_stride}", [helper.make_node(_op, ["x"], ["y"], kernel_shape=_kernel, strides=[_stride] * 2, pads=[1, 1, 1, 0])],
                 {"x": (2, 5, 23, 45)})
case("max_pool_many_rows", [helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])], {"x": (1, 2, 150, 33)})
case("average_pool_wide", [helper.make_node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2])], {"x": (1, 1, 9, 2500)})
case("space_to_depth", [helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2)], {"x": (2, 3, 10, 38)})
case("space_to_depth_3", [helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=3)], {"x": (2, 3, 6, 15)})
matmul("matmul_37x300x77", (37, 300), 77)
matmul("matmul_1x130x250", (1, 130), 250, epilogue=True)
case("exp_factors", [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Mul", ["a", "wide"], ["m"]), helper.make_node("Exp", ["m"], ["e"]), helper.make_node("MatMul", ["e", "w"], ["y"])],  # many subnormal
     {"x": (9, 50)}, {"wide": np.float32(-60), "w": np.eye(50, dtype=np.float32)})
matmul("matmul_depth_blocks", (2, 30, 1500), 100, epilogue=True)
matmul("matmul_strips", (1100, 300), 200)  # of rows that a cache holds


def cut_borders(name, op, x, weights, ends, begins=0, rank=1, **attributes):
    """What is cut off behind a convolution, an activation and a second convolution of blocks, whose rows are cut too."""
    rng, node = np.random.default_rng(0), helper.make_node
    channels = weights[1 if op == "ConvTranspose" else 0]
    constants = {"w": rng.standard_normal(weights).astype(np.float32), "v": rng.standard_normal((20, channels, *[1] * rank)).astype(np.float32),
                 "u": rng.standard_normal((5, 20, *[1] * rank)).astype(np.float32), "starts": np.array([begins]), "ends": np.array([ends]), "axis": np.array([-1]),
                 "all": np.array([2**62]), "two": np.array([2])}
    nodes = [node(op, ["x", "w"], ["c"], **attributes), node("Slice", ["c", "starts", "ends", "axis"], ["s"]), node("Relu", ["s"], ["r"]), node("Conv", ["r", "v"], ["d"]),
             node("Slice", ["d", "starts", "all", "axis", "two"], ["t"]), node("Conv", ["t", "u"], ["y"])]
    case(name, nodes, {"x": x}, constants)


cut_borders("cut_behind", "Conv", (2, 6, 23), (24, 6, 3), -4, dilations=[2], pads=[4, 4])
cut_borders("cut_around", "Conv", (1, 6, 23), (24, 6, 5), -2, 1, pads=[2, 2])
cut_borders("cut_strided", "Conv", (1, 16, 7, 23), (16, 16, 3, 3), -1, 1, 2, strides=[2, 2], pads=[1, 2, 1, 2])
cut_borders("cut_more", "Conv", (1, 16, 7, 23), (16, 16, 3, 3), -3, 2, 2, pads=[1] * 4)
cut_borders("cut_transposed", "ConvTranspose", (1, 16, 11), (16, 24, 8), -2, 2, strides=[4])
cut_borders("cut_transposed_padded", "ConvTranspose", (1, 16, 5, 11), (16, 24, 4, 4), -3, 1, 2, strides=[2, 2], pads=[1] * 4)
for _rows in (2, 3, 5, 7, 8, 11, 17, 24, 115):  # fewer rows than a small tile, or than one; the last tile begins among those of the one before, at 115 in another unit of work
    matmul(f"matmul_rest_{_rows}", (_rows, 700), 40, epilogue=True)
for _rows in (1, 2, 3, 6):  # panels by eights, fours, twos, and one
    matmul(f"matmul_few_{_rows}", (_rows, 130), 250, epilogue=True)
for _rows in (9, 14, 27):  # fewer than a tile of one panel
    matmul(f"matmul_narrow_{_rows}", (_rows, 130), 10, epilogue=True)
product("product", (2, 3, 37, 64), (2, 3, 64, 50))
product("product_broadcast", (2, 1, 37, 65), (3, 65, 48))
product("product_scores", (1, 40, 4, 32), (1, 50, 4, 32), [0, 2, 1, 3], [0, 2, 3, 1], scaled=True)
product("product_values", (1, 4, 40, 50), (1, 50, 4, 32), None, [0, 2, 1, 3])
product("product_one_row", (4, 1, 33), (4, 33, 130))
product("product_one_column", (3, 37, 133), (3, 133, 1))


def conv_transpose(name, x, outputs, kernel, epilogue=(), **attributes):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((x[1], outputs // attributes.get("group", 1), *kernel)).astype(np.float32) / np.sqrt(x[1]).astype(np.float32)
    nodes = [helper.make_node("ConvTranspose", ["x", "w", "b"], ["t0"], **attributes)]
    for i, op in enumerate(epilogue):
        nodes.append(helper.make_node(op, [f"t{i}"], [f"t{i + 1}"]))
    nodes[-1].output[0] = "y"
    case(name, nodes, {"x": x}, {"w": w, "b": rng.standard_normal(outputs).astype(np.float32)})


conv_transpose("conv_transpose_2x2", (2, 24, 7, 9), 20, (2, 2), strides=[2, 2])
conv_transpose("conv_transpose_cropped", (1, 16, 5, 6), 32, (4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
conv_transpose("conv_transpose_padded", (1, 8, 5, 6), 12, (5, 3), strides=[3, 2], pads=[1, 0, 2, 1], output_padding=[2, 0])
conv_transpose("conv_transpose_groups", (1, 32, 5, 6), 64, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1], group=2)
conv_transpose("conv_transpose_1d", (2, 16, 19), 8, (4,), strides=[2], pads=[1, 1])
# A kernel for each phase: of different taps, of results that others have more of, cropped beyond a tap, enlarged, along one axis, longer than a tile.
for _name, _x, _outputs, _kernel, _attributes in (
        ("2x2", (2, 24, 7, 9), 32, (2, 2), {"strides": [2, 2]}), ("3x3", (2, 20, 7, 18), 24, (3, 3), {"strides": [2, 2]}),
        ("enlarged", (1, 40, 9, 7), 16, (3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        ("4x4", (1, 16, 5, 36), 30, (4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}), ("cropped", (2, 17, 6, 7), 13, (3, 4), {"strides": [2, 2], "pads": [2, 3, 0, 1]}),
        ("rows", (1, 32, 9, 33), 48, (3, 2), {"strides": [2, 1], "pads": [0, 1, 1, 0]}), ("columns", (1, 32, 9, 33), 48, (1, 6), {"strides": [1, 4], "pads": [0, 1, 0, 4]}),
        ("1d", (2, 64, 70), 40, (4,), {"strides": [2], "pads": [1, 1]}), ("1d_4", (1, 64, 30), 40, (7,), {"strides": [4], "pads": [3, 1], "output_padding": [3]}),
        ("one_pixel", (3, 16, 1, 1), 32, (4, 3), {"strides": [2, 2], "pads": [1, 1, 2, 1]}), ("larger", (1, 16, 5, 6), 32, (3, 3), {"strides": [2, 2], "auto_pad": "VALID", "output_shape": [12, 14]}), ("wide", (1, 16, 3, 900), 16, (2, 2), {"strides": [2, 2]}),
        ("few_results", (1, 16, 2, 1), 16, (2, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1]})):
    conv_transpose(f"conv_transpose_phases_{_name}", _x, _outputs, _kernel, **_attributes)
    conv_transpose(f"conv_transpose_phases_{_name}_epilogue", _x, _outputs, _kernel, ["Relu", "Sigmoid", "Neg"][len(_x) == 4:], **_attributes)
# To few results, whose channels are added up: phases of different taps, cropped and enlarged, along one axis, narrower than a tile, of one pixel.
for _name, _x, _outputs, _kernel, _attributes in (
        ("4x4", (2, 64, 9, 41), 1, (4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}), ("3x3", (1, 72, 7, 6), 2, (3, 3), {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
        ("stride_1", (1, 40, 6, 150), 3, (5, 4), {"pads": [0, 1, 2, 0]}), ("1d", (2, 100, 133), 1, (9,), {"strides": [4], "pads": [4, 2], "output_padding": [1]}),
        ("cropped", (1, 130, 5, 7), 1, (5, 6), {"strides": [2, 3], "pads": [3, 5, 1, 0]}), ("one_pixel", (3, 96, 1, 1), 4, (4, 4), {}), ("wide", (1, 64, 2, 700), 1, (2, 2), {"strides": [2, 2]})):
    conv_transpose(f"conv_transpose_few_{_name}", _x, _outputs, _kernel, ["Sigmoid"][len(_x) == 4:], **_attributes)
# Over frames: of one tap each, of several and not as many results of all phases, cropped and enlarged, a convolution, of several videos, whole blocks and others.
for _name, _x, _outputs, _kernel, _attributes in (
        ("2", (1, 32, 3, 5, 4), 48, (2, 2, 2), {"strides": [2, 2, 2]}), ("3", (2, 20, 4, 3, 5), 32, (3, 3, 3), {"strides": [2, 2, 2], "pads": [1] * 6, "output_padding": [1, 1, 1]}),
        ("4", (1, 16, 3, 4, 7), 16, (4, 4, 4), {"strides": [2, 2, 2], "pads": [1] * 6}), ("few", (1, 24, 4, 5, 6), 3, (3, 2, 4), {"strides": [2, 1, 2], "pads": [0, 1, 1, 1, 0, 1]}),
        ("odd", (1, 16, 4, 5, 3), 16, (3, 3, 3), {"strides": [2, 2, 2], "pads": [1] * 6}), ("stride_1", (2, 18, 5, 4, 6), 20, (3, 3, 3), {"pads": [1, 1, 0, 1, 1, 2]}),
        ("cropped", (1, 16, 5, 3, 3), 32, (5, 2, 3), {"strides": [2, 3, 1], "pads": [3, 0, 1, 2, 1, 1], "output_padding": [1, 0, 0]}), ("same", (1, 12, 3, 4, 5), 16, (3, 3, 3), {"strides": [2, 2, 2], "auto_pad": "SAME_UPPER"}),
        ("short", (1, 16, 3, 4, 5), 16, (2, 2, 2), {"strides": [3, 2, 2]}), ("groups", (1, 16, 3, 4, 5), 32, (2, 2, 2), {"strides": [2, 2, 2], "group": 2})):
    conv_transpose(f"conv_transpose_frames_{_name}", _x, _outputs, _kernel, ["Relu"], **_attributes)


def quantised(name, x, node, weights=None, negative=False, before=()):
    """x in 8 bits, `node` from q to p, y in f32 again; `negative`: no element is above 0, so that padding with 0 would show; `before`: nodes that make more of its operands."""
    scales = {"xs": np.float32(0.02), "xz": np.array(3, np.int8), "ys": np.float32(0.037), "yz": np.array(-5, np.int8)}
    if negative:
        scales = {"xs": np.float32(0.02), "xz": np.array(0, np.int8), "ys": np.float32(0.02), "yz": np.array(0, np.int8)}
    first = [helper.make_node("Abs", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["r"])] if negative else [helper.make_node("Identity", ["x"], ["r"])]
    if not any("q" in n.output for n in before):
        before = [*before, helper.make_node("QuantizeLinear", ["r", "xs", "xz"], ["q"])]
    nodes = [*first, *before, node, helper.make_node("DequantizeLinear", ["p", "ys", "yz"], ["y"])]
    case(name, nodes, {"x": x}, {**scales, **(weights or {})})


def quantised_conv(name, x, outputs, kernel, at_run_time=False, **attributes):
    """`at_run_time`: the scales of the weights are no constants."""
    rng = np.random.default_rng(0)
    w = rng.integers(-127, 128, (outputs, x[1] // attributes.get("group", 1), *kernel), dtype=np.int8)
    weights = {"w": w, "ws": (rng.random(outputs, np.float32) + np.float32(0.5)) / 1000, "wz": np.zeros(outputs, np.int8), "b": rng.integers(-3000, 3000, outputs, dtype=np.int32)}
    node = helper.make_node("QLinearConv", ["q", "xs", "xz", "w", "one_ws" if at_run_time else "ws", "wz", "ys", "yz", "b"], ["p"], **attributes)
    one = [helper.make_node("Abs", ["x"], ["abs"]), helper.make_node("ReduceMax", ["abs"], ["most"], keepdims=0), helper.make_node("Sign", ["most"], ["one"])]
    quantised(name, x, node, weights, before=[*one, helper.make_node("Mul", ["one", "ws"], ["one_ws"])] if at_run_time else ())


def dequantised_conv(name, x, outputs, kernel, zeros, **attributes):
    """Conv between dequantised values, quantised again. `zeros`: the zero points of the weights, repeated over the outputs."""
    rng = np.random.default_rng(0)
    shape = outputs, x[1] // attributes.get("group", 1), *kernel
    w = rng.integers(-127, 128, shape, dtype=np.int8) if zeros.dtype == np.int8 else rng.integers(0, 256, shape, dtype=np.uint8)
    weights = {"w": w, "ws": (rng.random(outputs, np.float32) + np.float32(0.5)) / 1000, "wz": np.resize(zeros, outputs)}
    before = [helper.make_node("QuantizeLinear", ["r", "xs", "xz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
              helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0), helper.make_node("Conv", ["d", "wd"], ["c"], **attributes)]
    quantised(name, x, helper.make_node("QuantizeLinear", ["c", "ys", "yz"], ["p"]), weights, before=before)


def large_bias_conv(name, x, outputs, kernel, **attributes):
    """A channel whose bias is nearly all that 32 bits hold, as tools write it where its weights are nearly zero."""
    rng = np.random.default_rng(0)
    ws = np.full(outputs, 0.001, np.float32)
    ws[1] = 3.5e-8
    bias = rng.integers(-3000, 3000, outputs, dtype=np.int32)
    bias[1] = 2_000_000 - (1 << 31)
    weights = {"w": rng.integers(-127, 128, (outputs, x[1], *kernel), dtype=np.int8), "ws": ws, "wz": np.zeros(outputs, np.int8), "b": bias}
    quantised(name, x, helper.make_node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"], ["p"], **attributes), weights)


def quantised_product(name, x, columns, to_float=False, unsigned=False, zero=None):
    """MatMul with a bias between dequantised values, quantised again unless `to_float`. `zero`: the zero point of the weights."""
    rng = np.random.default_rng(0)
    w = rng.integers(0, 256, (x[-1], columns), dtype=np.uint8) if unsigned else rng.integers(-127, 128, (x[-1], columns), dtype=np.int8)
    ws = (rng.random(columns, np.float32) + np.float32(0.5)) / 1000
    weights = {"w": w, "ws": ws, "wz": np.full(columns, (128 if unsigned else 0) if zero is None else zero, w.dtype), "b": (rng.integers(-3000, 3000, columns) * ws * np.float32(0.02)).astype(np.float32)}
    before = [helper.make_node("QuantizeLinear", ["r", "xs", "xz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["d"]),
              helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=1), helper.make_node("MatMul", ["d", "wd"], ["m"]), helper.make_node("Add", ["m", "b"], ["a"])]
    if to_float:
        before.append(helper.make_node("Tanh", ["a"], ["t"]))
    quantised(name, x, helper.make_node("QuantizeLinear", ["t" if to_float else "a", "ys", "yz"], ["p"]), weights, before=before)


quantised_product("qlinear_product", (2, 7, 64), 77)
quantised_product("qlinear_product_unsigned", (13, 132), 128, unsigned=True)
quantised_product("qlinear_product_offset", (13, 132), 70, unsigned=True, zero=115)
quantised_product("qlinear_product_offset_signed", (2, 7, 64), 128, zero=9, to_float=True)
quantised_product("qlinear_product_float", (1, 5, 36), 40, to_float=True)
quantised_product("qlinear_product_rest", (3, 35), 24)
quantised_product("qlinear_product_parts", (3, 67, 260), 203)
quantised_conv("qlinear_conv", (2, 19, 9, 11), 21, (3, 3), pads=[1, 1, 1, 1])
quantised_conv("qlinear_conv_1x1", (1, 40, 7, 7), 33, (1, 1))
quantised_conv("qlinear_conv_narrow", (2, 8, 9, 11), 48, (1, 1))
quantised_conv("qlinear_conv_narrow_3x3", (1, 13, 9, 11), 20, (3, 3), pads=[1, 1, 1, 1])
quantised_conv("qlinear_conv_bytes", (2, 20, 9, 11), 64, (3, 3), pads=[1, 1, 1, 1])
quantised_conv("qlinear_conv_run_time_scales", (2, 20, 9, 11), 64, (3, 3), at_run_time=True, pads=[1, 1, 1, 1])
large_bias_conv("qlinear_conv_large_bias", (1, 20, 9, 11), 24, (3, 3), pads=[1, 1, 1, 1])
quantised_conv("qlinear_conv_parts", (2, 80, 17, 19), 130, (3, 3), pads=[1, 1, 1, 1])
quantised_conv("qlinear_conv_bytes_1x1", (1, 64, 14, 14), 128, (1, 1), strides=[2, 2])
quantised_conv("qlinear_conv_bytes_5x3", (1, 16, 17, 15), 64, (5, 3), pads=[2, 0, 1, 2], strides=[2, 1])
quantised_conv("qlinear_conv_first", (1, 3, 33, 30), 24, (7, 7), pads=[3, 3, 3, 3], strides=[2, 2])
quantised_conv("qlinear_conv_few_outputs", (2, 37, 9, 11), 16, (3, 3), pads=[2, 1, 0, 2], dilations=[2, 2])
for _zeros in np.array([117, 140], np.uint8), np.array([-7], np.int8):
    dequantised_conv(f"qlinear_conv_offset_{_zeros.dtype}", (2, 37, 9, 11), 70, (3, 3), _zeros, pads=[2, 1, 0, 2], dilations=[2, 1])
    dequantised_conv(f"qlinear_conv_offset_first_{_zeros.dtype}", (1, 3, 19, 13), 24, (3, 3), _zeros, pads=[1, 1, 1, 1])
    dequantised_conv(f"qlinear_conv_offset_groups_{_zeros.dtype}", (1, 64, 9, 9), 96, (1, 1), _zeros, group=2, strides=[2, 2])
    dequantised_conv(f"qlinear_conv_offset_depthwise_{_zeros.dtype}", (1, 48, 10, 21), 48, (3, 3), _zeros, pads=[1, 1, 1, 1], group=48)
quantised_conv("qlinear_conv_groups", (1, 64, 9, 9), 96, (3, 3), pads=[1, 1, 1, 1], group=2)
quantised_conv("qlinear_conv_frames", (2, 6, 5, 7, 6), 20, (3, 3, 3), pads=[1] * 6)
quantised_conv("qlinear_conv_frames_strides", (1, 16, 7, 8, 9), 24, (3, 2, 3), pads=[2, 0, 1, 1, 1, 1], strides=[2, 1, 2], dilations=[2, 1, 1])
quantised_conv("qlinear_conv_frames_points", (1, 32, 3, 5, 6), 32, (1, 1, 1))
dequantised_conv("qlinear_conv_frames_offset", (1, 5, 6, 5, 7), 9, (2, 3, 3), np.array([117, 140], np.uint8), pads=[0, 1, 1, 1, 1, 1])
for _group, _channels, _each in (7, 24, 24), (3, 40, 24), (32, 4, 4), (6, 8, 16), (2, 12, 20), (3, 4, 12), (20, 1, 2), (5, 18, 18), (9, 24, 56):  # of a group
    quantised_conv(f"qlinear_conv_groups_{_group}x{_channels}x{_each}", (2, _group * _channels, 9, 11), _group * _each, (3, 3), pads=[1, 1, 1, 1], group=_group)
dequantised_conv("qlinear_conv_offset_groups_together", (1, 120, 8, 9), 120, (3, 3), np.array([117, 140], np.uint8), pads=[1, 1, 1, 1], group=5)
quantised_conv("qlinear_conv_depthwise_rows", (2, 40, 19, 13), 40, (3, 5), pads=[2, 2, 2, 2], dilations=[2, 1], group=40)
quantised_conv("qlinear_conv_depthwise_3x3", (1, 48, 10, 21), 48, (3, 3), pads=[1, 1, 1, 1], group=48)
quantised_conv("qlinear_conv_depthwise_wide", (2, 32, 11, 37), 32, (5, 5), pads=[2, 2, 2, 2], group=32, strides=[2, 2])
quantised_conv("qlinear_conv_depthwise", (1, 24, 9, 9), 24, (3, 3), pads=[1, 1, 1, 1], group=24, strides=[2, 2])
def quantised_silu(name, x, kernel, outputs):
    """Sigmoid and Mul behind a convolution, each quantised: a table of bytes; then a mean over all pixels."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.integers(-127, 128, (outputs, x[1], *kernel), dtype=np.int8), "ws": np.float32(0.002), "wz": np.array(0, np.int8), "cs": np.float32(0.05),
               "cz": np.array(7, np.int8), "ss": np.float32(1 / 256), "sz": np.array(-128, np.int8), "b": rng.integers(-3000, 3000, outputs, dtype=np.int32)}
    nodes = [("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "cs", "cz", "b"], "c"), ("DequantizeLinear", ["c", "cs", "cz"], "d"), ("Sigmoid", ["d"], "s"),
             ("QuantizeLinear", ["s", "ss", "sz"], "sq"), ("DequantizeLinear", ["sq", "ss", "sz"], "sd"), ("Mul", ["d", "sd"], "m"), ("QuantizeLinear", ["m", "cs", "cz"], "mq"),
             ("DequantizeLinear", ["mq", "cs", "cz"], "md"), ("GlobalAveragePool", ["md"], "g"), ("Add", ["md", "g"], "a")]
    before = [helper.make_node(op, inputs, [result]) for op, inputs, result in nodes]
    before.insert(0, helper.make_node("QuantizeLinear", ["r", "xs", "xz"], ["q"]))
    quantised(name, x, helper.make_node("QuantizeLinear", ["a", "ys", "yz"], ["p"]), weights, before=before)


def quantised_residual(name, x, kernel, both=False, relu=False, scale=0.05, zero=-8, **attributes):
    """The sum of a convolution and its data, or of two convolutions, each quantised, quantised again."""
    rng = np.random.default_rng(0)
    w = lambda: rng.integers(-127, 128, (x[1], x[1], *kernel), dtype=np.int8)
    weights = {"w": w(), "v": w(), "ws": np.float32(0.002), "wz": np.array(0, np.int8), "cs": np.float32(scale), "cz": np.array(zero, np.int8),
               "b": rng.integers(-3000, 3000, x[1], dtype=np.int32)}
    nodes = [("QuantizeLinear", ["r", "xs", "xz"], "q"), ("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "cs", "cz", "b"], "c"), ("DequantizeLinear", ["c", "cs", "cz"], "d")]
    if both:
        nodes += [("QLinearConv", ["q", "xs", "xz", "v", "ws", "wz", "ys", "yz", "b"], "e"), ("DequantizeLinear", ["e", "ys", "yz"], "f")]
    else:
        nodes += [("DequantizeLinear", ["q", "xs", "xz"], "f")]
    nodes += [("Add", ["d", "f"], "a")] + ([("Relu", ["a"], "u")] if relu else [])
    before = [helper.make_node(op, inputs, [result], **(attributes if op == "QLinearConv" else {})) for op, inputs, result in nodes]
    quantised(name, x, helper.make_node("QuantizeLinear", ["u" if relu else "a", "ys", "yz"], ["p"]), weights, before=before)


quantised_residual("qlinear_residual", (2, 40, 9, 11), (3, 3), pads=[1, 1, 1, 1])
quantised_residual("qlinear_residual_relu", (1, 64, 7, 7), (1, 1), relu=True)
quantised_residual("qlinear_residual_of_two", (2, 17, 9, 11), (1, 1), both=True)
for _name, _scale in (("of_ties", 0.0555), ("of_small_steps", 3e37)):  # no numbers join these scales
    quantised_residual(f"qlinear_residual_{_name}", (2, 40, 9, 11), (1, 1), scale=_scale)
quantised_residual("qlinear_residual_symmetric", (2, 40, 9, 11), (1, 1), scale=0.0371, zero=0)
quantised_conv("qlinear_conv_deep", (1, 80, 9, 9), 40, (3, 3), pads=[1, 1, 1, 1])
for _name, _x, _outputs, _kernel, _more in (("", (2, 33, 70), 40, (3,), {"pads": [4, 1], "dilations": [2]}), ("_depth", (2, 40, 70), 40, (5,), {"group": 40, "strides": [2], "pads": [2, 1]}),
                                            ("_few", (2, 3, 70), 20, (7,), {"strides": [3]}), ("_frames", (1, 5, 6, 7, 9), 12, (3, 3, 3), {"pads": [1] * 6})):
    quantised_conv(f"quantised_conv_row{_name}", _x, _outputs, _kernel, **_more)
    dequantised_conv(f"dequantised_conv_row{_name}", _x, _outputs, _kernel, np.zeros(1, np.int8), **_more)


def dynamic_conv(name, x, outputs, kernel, zero=np.int8(0), **attributes):
    """A convolution of bytes whose zero point the run finds, then one of its sums as signed bytes, with the zero point 7 of the run."""
    rng, node = np.random.default_rng(0), helper.make_node
    w = rng.integers(0, 256, (outputs, x[1] // attributes.get("group", 1), *kernel)).astype(np.uint8).view(zero.dtype)
    v = rng.integers(-127, 128, (5, outputs, *[1] * len(kernel)), dtype=np.int8)
    nodes = [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("ConvInteger", ["q", "w", "z", "wz"], ["c"], **attributes), node("Cast", ["c"], ["f"], to=1), node("Mul", ["f", "s"], ["m"]),
             node("Mul", ["m", "less"], ["l"]), node("Cast", ["l"], ["i"], to=6), node("Clip", ["i", "least", "most"], ["b"]), node("Cast", ["b"], ["sb"], to=3), node("Cast", ["z"], ["zi"], to=6),
             node("Mul", ["zi", "none"], ["zn"]), node("Add", ["zn", "seven"], ["z7"]), node("Cast", ["z7"], ["sz"], to=3), node("ConvInteger", ["sb", "v", "sz"], ["d"]), node("Cast", ["d"], ["y"], to=1)]
    case(name, nodes, {"x": x}, {"w": w, "wz": zero, "v": v, "less": np.float32(1e-2), "none": np.int32(0), "seven": np.int32(7), "least": np.int32(-128), "most": np.int32(127)})


dynamic_conv("dynamic_conv_first", (2, 3, 15, 13), 20, (3, 3), pads=[1, 1, 1, 1], strides=[2, 2])
dynamic_conv("dynamic_conv", (1, 40, 9, 11), 70, (3, 3), pads=[1, 0, 2, 1])
dynamic_conv("dynamic_conv_offsets", (2, 20, 9, 11), 24, (3, 3), np.uint8(117), pads=[2, 2, 2, 2], dilations=[2, 2])
dynamic_conv("dynamic_conv_groups", (1, 64, 7, 7), 32, (3, 3), group=2, pads=[1] * 4)
dynamic_conv("dynamic_conv_depth", (2, 40, 9, 11), 40, (3, 3), group=40, pads=[1] * 4)
dynamic_conv("dynamic_conv_row", (1, 33, 70), 40, (5,), pads=[2, 1])
for _kind in (np.uint16, np.int16):  # a part of the numbers is beyond what 16 bits hold
    _name = np.dtype(_kind).name
    case(f"quantised_{_name}", [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("QuantizeLinear", ["c", "s", "z"], ["q"]),
                                helper.make_node("DequantizeLinear", ["q", "s", "z"], ["d"]), helper.make_node("Conv", ["d", "v"], ["y"])], {"x": (1, 5, 9, 7)},
         {"w": np.random.default_rng(0).standard_normal((20, 5, 1, 1)).astype(np.float32), "v": np.random.default_rng(1).standard_normal((9, 20, 1, 1)).astype(np.float32),
          "s": np.float32(1 / 16384), "z": np.array(300, _kind)})
quantised_product("qlinear_product_deep", (9, 1340), 70)
quantised_silu("qlinear_silu", (2, 19, 9, 11), (3, 3), 21)
quantised_silu("qlinear_silu_1x1", (1, 40, 17, 17), (1, 1), 80)
quantised("max_pool_i8", (1, 18, 9, 9), helper.make_node("MaxPool", ["q"], ["p"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]), negative=True)
quantised("max_pool_i8_1d", (2, 5, 13), helper.make_node("MaxPool", ["q"], ["p"], kernel_shape=[4], pads=[2, 1]), negative=True)


_rng = np.random.default_rng(0)


def matmul_integer(name, rows, depth, columns, signed=False):
    weights = {"w": _rng.integers(-127, 128, (depth, columns), dtype=np.int8) if signed else _rng.integers(0, 256, (depth, columns), dtype=np.uint8),
               "wz": np.array(0, np.int8) if signed else np.array(117, np.uint8)}
    nodes = [helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), helper.make_node("MatMulInteger", ["q", "w", "z", "wz"], ["i"]),
             helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)]
    case(name, nodes, {"x": (rows, depth)}, weights)


def matmul_integers(name, left, right):
    """Two matrices of bytes with batches, of which none is a constant."""
    nodes = [helper.make_node("DynamicQuantizeLinear", [v], [f"{v}{p}" for p in "qsz"]) for v in "xw"]
    nodes += [helper.make_node("MatMulInteger", ["xq", "wq", "xz", "wz"], ["i"]), helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)]
    case(name, nodes, {"x": left, "w": right}, {})


def matmul_integers_columns(name, rows, depth, columns):
    """Signed bytes, a zero point for each column, which ONNX Runtime takes of one right matrix only: more axes than the left has make it a batch."""
    weights = {"s": np.float32(0.02), "xz": np.array(-7, np.int8), "z": np.array(0, np.int8), "wz": np.random.default_rng(0).integers(-128, 128, (1, 1, columns), dtype=np.int8)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s", "xz"], ["xq"]), helper.make_node("QuantizeLinear", ["r", "s", "z"], ["rq"]),
             helper.make_node("MatMulInteger", ["xq", "rq", "xz", "wz"], ["i"]), helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)]
    case(name, nodes, {"x": (rows, depth), "r": (1, depth, columns)}, weights)


def matmul_integers_largest(name, depth):
    """The largest sums of so many products, of 255 with 255 and with 0 less 255, which a float may not hold; what they differ by from a number one nearer to zero."""
    large = np.resize([1, -1], (1, 1, 17))
    weights = {"k": np.float32(1e8), "n": (large * 1e8).astype(np.float32), "s": np.float32(1), "z": np.uint8(0), "wz": np.where(large > 0, 0, 255).astype(np.uint8),
               "m": (large * (255 * 255 * depth - 1)).astype(np.int32)}
    nodes = []
    for v, k in ("xk", "rn"):
        nodes += [helper.make_node("Abs", [v], [v + "a"]), helper.make_node("Mul", [v + "a", k], [v + "b"]), helper.make_node("QuantizeLinear", [v + "b", "s", "z"], [v + "q"])]
    nodes += [helper.make_node("MatMulInteger", ["xq", "rq", "z", "wz"], ["i"]), helper.make_node("Sub", ["i", "m"], ["d"]), helper.make_node("Cast", ["d"], ["y"], to=TensorProto.FLOAT)]
    case(name, nodes, {"x": (3, depth), "r": (1, depth, 17)}, weights)


def lstm(name, steps, batch, inputs, hidden):
    """Both directions; the sequences they give."""
    rng = np.random.default_rng(0)
    weights = {k: (rng.standard_normal((2, 4 * hidden, n)) / np.sqrt(n)).astype(np.float32) for k, n in (("w", inputs), ("r", hidden))}
    case(name, [helper.make_node("LSTM", ["x", "w", "r"], ["y"], direction="bidirectional", hidden_size=hidden)], {"x": (steps, batch, inputs)}, weights)


lstm("lstm_directions", 11, 5, 24, 96)

matmul_integer("matmul_integer_row", 1, 132, 128, signed=True)
matmul_integer("matmul_integer_rows", 37, 132, 128, signed=True)
matmul_integer("matmul_integer_unsigned", 13, 64, 64)
matmul_integer("matmul_integer_rest", 13, 67, 77)
matmul_integer("matmul_integer_parts", 201, 260, 203)
matmul_integer("matmul_integer_parts_signed", 130, 64, 24, signed=True)
matmul_integers("matmul_integer_batches", (2, 3, 37, 64), (2, 3, 64, 50))
matmul_integers("matmul_integer_batches_broadcast", (3, 1, 5, 67), (2, 67, 33))
matmul_integers("matmul_integer_batches_of_row", (67,), (2, 67, 90))
matmul_integers("matmul_integer_batches_small", (2, 21, 8), (2, 8, 21))
matmul_integers("matmul_integer_batches_few_rows", (3, 2, 7), (3, 7, 70))
matmul_integers_columns("matmul_integer_batches_columns", 9, 12, 18)
for _depth in (258, 259):
    matmul_integers_largest(f"matmul_integer_batches_largest_{_depth}", _depth)


# Symbolic forms leave several sizes of one reshape to the run.
einsum("einsum_relative", "bhld,lrd->bhlr", (2, 3, 5, 8), (5, 7, 8))
einsum("einsum_depths", "abcd,cdef->abef", (2, 3, 4, 5), (4, 5, 3, 2))
einsum("einsum_heads", "bshd,hde->bse", (2, 6, 3, 4), (3, 4, 7))
einsum("einsum_spread", "nckv,bkvw->nckv", (2, 3, 4, 5), (3, 1, 5, 6))
einsum("einsum_diagonal", "ii->i", (5, 5))
einsum("einsum_trace", "bii", (3, 4, 4))
einsum("einsum_diagonals", "i...ji,jk...k->...j", (4, 2, 3, 4), (3, 5, 2, 5))
einsum("einsum_thrice", "aiibi->bia", (2, 3, 3, 4, 3))
einsum("einsum_three", "bij,bjk,bkl->bil", (2, 3, 4), (2, 4, 5), (2, 5, 6))


def sizes(name, shape, weights, dynamic):
    """The model's dims of an input: under `dynamic` symbols, but for those that weights fix. Equal sizes of an attention are one symbol."""
    if not dynamic:
        return list(shape)
    if dynamic in ("batch", "height"):
        return [dim if axis != ("batch", None, "height").index(dynamic) else "n" for axis, dim in enumerate(shape)]
    if "scale" in weights:
        return [f"n{d}" for d in shape]
    fixed = set()
    if "w" in weights:
        fixed = {len(shape) - 1} if weights["w"].ndim == 2 or "r" in weights else {1}
    return [d if i in fixed else f"{name}{i}" for i, d in enumerate(shape)]


SINCE = {"GridSample": 20, "DeformConv": 19}


def build(nodes, inputs, weights, dynamic):
    infos = [helper.make_tensor_value_info(k, TensorProto.FLOAT, sizes(k, s, weights, dynamic)) for k, s in inputs.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    blocks = any(n.op_type == "DequantizeLinear" and a.name == "block_size" for n in nodes for a in n.attribute)
    opset = max(21 if blocks or any(w.dtype.kind in "iu" and w.dtype.itemsize == 2 or "int4" in w.dtype.name for w in weights.values()) else SINCE.get(n.op_type, 18) for n in nodes)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)], ir_version=9)


def reference(nodes, model, weights, feed, optimized):
    if nodes[0].op_type == "MatMulNBits":
        return four_bits.reference(nodes[0], weights, feed["x"])
    rounds = nodes[0].op_type == "DequantizeLinear"  # the rows to 8 bits, optimised
    return peer(model, optimized and not rounds).run(None, feed)[0]


BYTES = ("Integer", "QLinear", "QuantizeLinear", "MatMulNBits")


def hide_dots():
    """From here on models that this process loads see a processor without AVX-VNNI; False where it cannot be hidden."""
    arch_prctl, set_cpuid = 158, 0x1012
    if ctypes.CDLL(None).syscall(arch_prctl, set_cpuid, 1):
        return False
    os.environ["ONNXC_HIDE"] = "3"
    ctypes.CDLL(str(hide_cpu.library(CACHE)))
    return True


def check(s, folder, name):
    import onnxc
    nodes, inputs, weights, dynamic = CASES[name]
    model = build(nodes, inputs, weights, dynamic)
    rng = np.random.default_rng(1)
    feed = {k: rng.standard_normal(s).astype(np.float32) for k, s in inputs.items()}
    want = reference(nodes, model, weights, feed, "_dead" not in name)  # optimised, ONNX Runtime clips the bias of a channel without weights
    most = 1e-2 if "may_round" in name else 3e-4 if "of_8_bits" in name else 2e-5  # 8 bits, 14, and those of f32
    # Known sizes have one level, unknown ones the other: which, hangs on the name. Bytes of known sizes have both, whose instructions differ most.
    bytes_known = not dynamic and any(b in n.op_type for n in nodes for b in BYTES)
    turn = zlib.crc32(name.removesuffix("_dynamic").encode()) % 2 ^ bool(dynamic)
    for cpu in (WIDEST, "x86-64-v3") if bytes_known else [(WIDEST, "x86-64-v3")[turn]]:
        library = s.compile(model, folder, "--cpu", cpu, name=cpu)
        got = onnxc.load(str(library), num_threads=3).run(feed)[0]
        if got.shape != want.shape:
            return f"shape {got.shape}, want {want.shape}"
        error = np.abs(got - want).max() / np.abs(want).max()
        if not error <= most:
            return f"{cpu}, 3 threads: off by {error:.1e}"
        again = onnxc.load(str(library), num_threads=1).run(feed)[0]
        if not np.array_equal(got, again):
            return f"{cpu}: 3 threads and one differ"
    if bytes_known and hide_dots():
        plain = onnxc.load(str(library), num_threads=1).run(feed)[0]
        if name not in four_bits.DOTS_ONLY and not np.array_equal(got, plain):
            return f"{cpu}: off by {np.abs(got - plain).max()} without AVX-VNNI"
    return None


def every_half(to_half, half):
    """Every f16 or bf16 as f32; for casts to it also the middle between two of them and its neighbours."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(half)
    if not to_half:
        return halves
    values = halves[np.isfinite(halves)].astype(np.float64)
    values.sort()
    middles = ((values[1:] + values[:-1]) / 2).astype(np.float32)
    return np.concatenate([halves.astype(np.float32), middles, np.nextafter(middles, np.float32(np.inf)), np.nextafter(middles, np.float32(-np.inf))])


def check_cast(s, folder, name):
    import ml_dtypes
    import onnxc
    half, code = (ml_dtypes.bfloat16, TensorProto.BFLOAT16) if "bf16" in name else (np.float16, TensorProto.FLOAT16)
    to_half = name.startswith("cast_to")
    with np.errstate(invalid="ignore"):
        x = every_half(to_half, half)
        want = x.astype(half if to_half else np.float32)
    kinds = (TensorProto.FLOAT, code) if to_half else (code, TensorProto.FLOAT)
    infos = [helper.make_tensor_value_info(n, k, [x.size]) for n, k in zip("xy", kinds)]
    graph = helper.make_graph([helper.make_node("Cast", ["x"], ["y"], to=kinds[1])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    for cpu in ("x86-64", "x86-64-v3"):
        library = s.compile(model, folder, "--cpu", cpu, name=f"{name}_{cpu}")
        got = np.asarray(onnxc.load(str(library)).run({"x": x})[0]).view(want.dtype)
        bits = np.uint16 if to_half else np.uint32
        wrong = (got.view(bits) != want.view(bits)) & ~(np.isnan(got) & np.isnan(want))
        if wrong.any():
            return f"{cpu}: {wrong.sum()} wrong, first {x[wrong][0]!r}: {got[wrong][0]!r}"
    return None


SUITE = Suite("kernels", __doc__, reuse=True)
SUITE.cases(CASES, check)
SUITE.cases(attentions.CASES, attentions.check)
SUITE.cases(orders.CASES, orders.check)
SUITE.cases(pieces.SPECIAL, pieces.check)
SUITE.cases(spectra.CASES, spectra.check)
SUITE.cases(operators.CASES, operators.check)
SUITE.cases(halves.CASES, halves.check)
SUITE.cases(halves.CONVS, halves.check_conv)
SUITE.cases(halves.ROWS, halves.check_rows)
SUITE.cases(halves.KEPT, halves.check_kept)
SUITE.cases(halves.EXACT, halves.check_exact)
SUITE.cases(tiles.PRODUCTS, tiles.check)
SUITE.cases(tiles.CONVS, tiles.check_conv)
SUITE.cases(functions.NAMES, functions.check)
SUITE.cases(assignments.NAMES, assignments.check)
SUITE.cases(rests.NAMES, rests.check)
SUITE.cases(schedules.NAMES, schedules.check)
SUITE.cases(["cast_to_f16", "cast_to_bf16", "cast_from_f16", "cast_from_bf16"], check_cast)

if __name__ == "__main__":
    SUITE.main()
