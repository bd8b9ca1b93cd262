"""Normalisations over channels of images between convolutions, which lanes past the last channel must not reach, and whose values come in blocks of 16
channels; cases of run.py."""
import numpy as np
from onnx import helper

CASES = {}  # name -> (nodes, inputs, weights), as run.py's case takes them


def between(name, x, channels, nodes, **weights):
    """`nodes`: from s, what a convolution and a Sigmoid give, to u, which a convolution reads."""
    rng, node = np.random.default_rng(0), helper.make_node
    ones = [1] * (len(x) - 2)
    weights["w"] = rng.standard_normal((channels, x[1], *ones)).astype(np.float32)
    weights["v"] = rng.standard_normal((8, channels, *ones)).astype(np.float32)
    CASES[name] = ([node("Conv", ["x", "w"], ["t"]), node("Sigmoid", ["t"], ["s"]), *nodes, node("Conv", ["u", "v"], ["y"])], {"x": x}, weights)


def response(name, x, channels, **attributes):
    between(name, x, channels, [helper.make_node("LRN", ["s"], ["u"], **attributes)])


response("lrn", (2, 24, 7, 9), 72, size=5, alpha=0.5, beta=0.75, bias=2.0)
response("lrn_odd_channels", (1, 20, 5, 6), 44, size=3, alpha=0.3, beta=0.6)
response("lrn_wide", (1, 16, 4, 5), 40, size=33, alpha=1.0, beta=0.75)
response("lrn_wider", (1, 16, 4, 5), 70, size=35, alpha=1.0, beta=0.75)


def affine(channels):
    rng = np.random.default_rng(2)
    return {"scale": rng.uniform(0.5, 2, channels).astype(np.float32), "bias": rng.uniform(-1, 1, channels).astype(np.float32)}


for _name, _x, _channels in (("", (2, 24, 9, 31), 48), ("_odd_channels", (1, 20, 5, 6), 44), ("_1d", (2, 18, 200), 24), ("_large", (1, 16, 47, 61), 40)):
    between(f"instance_norm{_name}", _x, _channels, [helper.make_node("InstanceNormalization", ["s", "scale", "bias"], ["u"], epsilon=1e-3)], **affine(_channels))


def groups(name, x, channels, count, from_shape=False):
    """GroupNormalization of opset 18, and PyTorch's form of it, whose sizes are constants or those of its operand."""
    each = {k: v.reshape(channels, *[1] * (len(x) - 2)) for k, v in affine(channels).items()}
    if not from_shape:
        between(f"group_norm{name}", x, channels, [helper.make_node("GroupNormalization", ["s", "scale", "bias"], ["u"], num_groups=count)], **affine(count))
    back = [helper.make_node("Shape", ["s"], ["back"])] if from_shape else []
    nodes = [helper.make_node("Reshape", ["s", "rows"], ["r"]), helper.make_node("InstanceNormalization", ["r", "ones", "zeros"], ["i"]), *back,
             helper.make_node("Reshape", ["i", "back"], ["g"]), helper.make_node("Mul", ["g", "scale"], ["m"]), helper.make_node("Add", ["m", "bias"], ["u"])]
    sizes = {} if from_shape else {"back": np.int64([0, channels, *x[2:]])}
    between(f"group_norm_as_rows{name}{'_of_shape' if from_shape else ''}", x, channels, nodes, rows=np.int64([0, count, -1]), ones=np.ones(count, np.float32),
            zeros=np.zeros(count, np.float32), **sizes, **each)


for _case in (("", (2, 24, 9, 31), 48, 4), ("_of_blocks", (1, 20, 5, 6), 64, 2), ("_odd_channels", (2, 20, 5, 6), 44, 4), ("_of_one", (1, 18, 200), 24, 1)):
    groups(*_case)
    groups(*_case, from_shape=True)
