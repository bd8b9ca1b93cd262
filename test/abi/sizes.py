"""Sizes that no 64 bits hold, made from those of inputs; run.py runs these."""
import numpy as np
from onnx import helper, numpy_helper

from caller import load, refusal
from common import info, make

COPIES = ((1 << 64) + 2) // 3  # three times as many are 2 in 64 bits


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def wrapping_sizes_are_refused(s, folder):
    """A result of as many elements as the product has in 64 bits would be written past its end."""
    node = helper.make_node
    models = {
        "tiled": make([node("Tile", ["x", "r"], ["y"])], [info("x", "n")], [info("y", None)], [ints("r", COPIES)]),
        "joined": make([node("Tile", ["x", "r"], ["t"]), node("Concat", ["t", "x"], ["y"], axis=0)], [info("x", "n")], [info("y", None)], [ints("r", COPIES)]),
        "filled": make([node("Shape", ["x"], ["s"]), node("Mul", ["s", "r"], ["c"]), node("ConstantOfShape", ["c"], ["y"])], [info("x", "n")], [info("y", None)],
                       [ints("r", COPIES)]),
    }
    for name, proto in models.items():
        model = load(s.compile(proto, folder, name=name))
        if model.run({"x": np.ones(0, np.float32)})[0].shape[0]:
            return f"{name}: a result of nothing"
        if wrong := refusal(model, {"x": np.ones(3, np.float32)}, "'y'"):
            return f"{name}: {wrong}"
    return None


CHECKS = [wrapping_sizes_are_refused]
