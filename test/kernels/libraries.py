"""Ops that library kernels compute: recurrent layers, the best of rows, samples, scattered elements. run.py beside it runs them."""
import numpy as np
from onnx import TensorProto, helper

from cases import CASES, case


def library(name, op, inputs, weights=None, results=("y",), domain="", operands=None, **attributes):
    """An op that library kernels compute; `weights` are operands behind the inputs unless `operands` says otherwise."""
    nodes = [helper.make_node(op, operands or [*inputs, *(weights or {})], list(results), domain=domain, **attributes)]
    if results[-1] != "y":  # the result that is compared
        nodes.append(helper.make_node("Cast", [results[-1]], ["y"], to=TensorProto.FLOAT))
    CASES[name] = (nodes, inputs, weights or {}, False)


def recurrent(name, op, steps, batch, inputs, hidden, directions=2, constant=True, **attributes):
    rng = np.random.default_rng(0)
    rows, inside = {"RNN": 1, "GRU": 3, "LSTM": 4}[op] * hidden, {"x": (steps, batch, inputs)}
    shapes = {"w": (directions, rows, inputs), "r": (directions, rows, hidden), "b": (directions, 2 * rows)}
    weights = {k: (rng.standard_normal(v) * 0.2).astype(np.float32) for k, v in shapes.items()} if constant else {}
    attributes["direction"] = "bidirectional" if directions == 2 else "forward"
    library(name, op, inside if constant else inside | shapes, weights, hidden_size=hidden, **attributes)


for _op in ("RNN", "GRU", "LSTM"):
    recurrent(f"{_op.lower()}_steps", _op, 9, 2, 40, 64)
    for _batch, _hidden, _known in ((2, 33, True), (2, 33, False), (13, 70, True), (13, 70, False)):
        recurrent(f"{_op.lower()}_batch_{_batch}_{_known}", _op, 3, _batch, 40, _hidden, constant=_known)
    for _hidden in (4, 8, 12, 20, 37):  # the last panel has a few columns; steps that make their own input products
        recurrent(f"{_op.lower()}_edge_{_hidden}", _op, 4, 17 if _hidden < 30 else 35, 21, _hidden)
    for _batch, _hidden in ((1, 120), (3, 72), (4, 120), (5, 120), (5, 72), (7, 72), (14, 120)):  # groups of one to six states
        recurrent(f"{_op.lower()}_group_{_batch}_{_hidden}", _op, 3, _batch, 40, _hidden)
    for _directions in (1, 2):  # rows that go their way apart
        recurrent(f"{_op.lower()}_rows_{_directions}", _op, 40, 47, 21, 40, directions=_directions)
    for _steps, _batch in ((1, 2), (3, 64)):  # steps whose panels, or rows too, are for several threads
        recurrent(f"{_op.lower()}_wide_{_steps}", _op, _steps, _batch, 300, 300, directions=1)
for _late in (0, 1):
    recurrent(f"gru_reset_{_late}", "GRU", 9, 2, 40, 70, linear_before_reset=_late)
    recurrent(f"gru_reset_{_late}_batch", "GRU", 5, 36, 40, 36, linear_before_reset=_late)
    recurrent(f"gru_reset_{_late}_wide", "GRU", 3, 9, 40, 300, directions=1, linear_before_reset=_late)
for _largest in (0, 1):
    library(f"top_k_{_largest}", "TopK", {"x": (3, 100, 5)}, {"k": np.array([37])}, ("v", "i"), axis=1, largest=_largest)
    library(f"top_k_short_rows_{_largest}", "TopK", {"x": (70, 11)}, {"k": np.array([3])}, ("v", "i"), largest=_largest)
    library(f"top_k_rows_{_largest}", "TopK", {"x": (7, 333)}, {"k": np.array([20])}, ("v", "i"), largest=_largest)
    for _length, _k in ((50, 6), (33, 33), (70, 50), (130, 129), (700, 700), (9000, 500)):  # rounded: many are equal; columns, counts, sorts
        case(f"top_k_{_length}_{_k}_{_largest}", [
            helper.make_node("Mul", ["x", "four"], ["m"]), helper.make_node("Round", ["m"], ["r"]), helper.make_node("TopK", ["r", "k"], ["v", "i"], largest=_largest),
            helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], {"x": (3, _length)}, {"k": np.array([_k]), "four": np.float32(4)})
for _op in ("ArgMax", "ArgMin"):
    library(f"{_op.lower()}_rows", _op, {"x": (7, 333)}, results=("i",), axis=1)
    library(f"{_op.lower()}_columns", _op, {"x": (3, 21, 130)}, results=("i",), axis=1)
    for _last in (0, 1):  # rounded: most rows have equal elements
        for _length in (5, 37):
            case(f"{_op.lower()}_short_rows_{_length}_{_last}", [
                helper.make_node("Round", ["x"], ["r"]), helper.make_node(_op, ["r"], ["i"], axis=1, select_last_index=_last),
                helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], {"x": (70, _length)}, {})
for _mode in ("linear", "nearest", "cubic"):
    for _padding in ("zeros", "border", "reflection"):
        library(f"grid_sample_{_mode}_{_padding}", "GridSample", {"x": (2, 5, 13, 9), "g": (2, 11, 17, 2)}, mode=_mode, padding_mode=_padding)
for _padding in ("zeros", "border", "reflection"):
    for _mode in ("linear", "nearest", "cubic"):
        library(f"grid_sample_one_plane_{_mode}_{_padding}", "GridSample", {"x": (3, 1, 1, 21), "g": (3, 7, 45, 2)}, mode=_mode, padding_mode=_padding, align_corners=1)
for _mode in ("linear", "nearest", "cubic"):
    library(f"grid_sample_corners_{_mode}", "GridSample", {"x": (1, 5, 13, 9), "g": (1, 31, 17, 2)}, mode=_mode, align_corners=1)
    library(f"grid_sample_corners_{_mode}_reflection", "GridSample", {"x": (1, 5, 3, 9), "g": (1, 31, 17, 2)}, mode=_mode, padding_mode="reflection", align_corners=1)
library("grid_sample_3d", "GridSample", {"x": (2, 3, 5, 6, 7), "g": (2, 4, 5, 9, 3)}, mode="linear")
for _group, _offsets, _mask in ((1, 1, False), (2, 3, True)):
    _deform = {"x": (2, 6, 13, 21), "o": (2, _offsets * 18, 13, 21)} | ({"m": (2, _offsets * 9, 13, 21)} if _mask else {})
    library(f"deform_conv_{_group}", "DeformConv", _deform, {"w": np.random.default_rng(0).standard_normal((10, 6 // _group, 3, 3)).astype(np.float32)},
            operands=["x", "w", "o", "", "m"] if _mask else ["x", "w", "o"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=_group, offset_group=_offsets)
# Channels of a group that several groups of offsets move, in steps.
library("deform_conv_crossing", "DeformConv", {"x": (2, 40, 15, 17), "o": (2, 90, 8, 8), "m": (2, 45, 8, 8)}, {"w": np.random.default_rng(0).standard_normal((12, 10, 3, 3)).astype(np.float32)},
        operands=["x", "w", "o", "", "m"], kernel_shape=[3, 3], pads=[1, 2, 2, 0], strides=[2, 2], dilations=[1, 2], group=4, offset_group=5)
_rois = np.array([[1, 2, 30, 25], [-4, -4, 60, 50], [10, 10, 10, 10], [5, 3, 9, 40]], np.float32)
for _ratio in (0, 2):
    library(f"roi_align_{_ratio}", "RoiAlign", {"x": (2, 5, 20, 25)}, {"r": _rois, "n": np.array([0, 1, 1, 0])}, output_height=7, output_width=6,
            spatial_scale=0.5, sampling_ratio=_ratio)
_rng = np.random.default_rng(0)
_columns = {"scatter_rows": np.repeat(_rng.permutation(50)[:30, None], 24, 1), "scatter_elements": np.stack([_rng.permutation(50)[:30] - 25 for _ in range(24)], 1)}
for _name, _indices in _columns.items():
    for _way in ("none", "add", "mul", "min", "max"):
        library(f"{_name}_{_way}", "ScatterElements", {"x": (50, 24), "u": (30, 24)}, {"i": _indices}, operands=["x", "i", "u"], reduction=_way)
for _way in ("add", "mul", "min", "max"):
    library(f"scatter_nd_{_way}", "ScatterND", {"x": (9, 7, 33), "u": (6, 33)}, {"i": np.random.default_rng(1).integers(0, 7, (6, 2))}, operands=["x", "i", "u"], reduction=_way)
