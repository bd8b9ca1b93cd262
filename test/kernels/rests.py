"""What is left of a row behind its whole vectors, in kernels of costly functions: with conditions of a byte and halves beside floats, masks of every vector size are not there."""
import numpy as np
from onnx import TensorProto, helper

from common import WIDEST, info, make
from values import compare

NAMES = [f"rests_{kind}_{columns}" for kind in ("f32", "f16") for columns in (1, 3, 5, 12, 15, 29)]
NODES = [helper.make_node("Greater", ["x", "b"], ["above"]), helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Log", ["y"], ["l"]), helper.make_node("Pow", ["y", "b"], ["p"]),
         helper.make_node("Where", ["m", "e", "l"], ["w"]), helper.make_node("Add", ["w", "p"], ["z"])]


def check(s, folder, name):
    import onnxc
    _, kind, columns = name.split("_")
    dtype, code = (np.float32, TensorProto.FLOAT) if kind == "f32" else (np.float16, TensorProto.FLOAT16)
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 7, int(columns))).astype(dtype) + dtype([[[0]], [[1]]])
    b, m = rng.random(int(columns)).astype(dtype), rng.random(x.shape) < 0.5
    wide = [a.astype(np.float64) for a in (x, y, b)]
    want = [np.where(m, np.exp(wide[0]), np.log(wide[1])) + wide[1] ** wide[2], x > b]
    for size in (int(columns), "columns"):
        model = make(NODES, [info("x", "rows", size, dtype=code), info("y", "rows", size, dtype=code), info("b", size, dtype=code), info("m", "rows", size, dtype=TensorProto.BOOL)],
                     [info("z", None, None, dtype=code), info("above", None, None, dtype=TensorProto.BOOL)])
        for level in ("x86-64-v3", WIDEST):
            library = s.compile(model, folder, "--cpu", level, name=f"{size}_{level}")
            z, above = onnxc.load(str(library)).run({"x": x, "y": y, "b": b, "m": m})
            wrong = compare([want[0].astype(dtype), want[1]], [z, above], 1e-5 if kind == "f32" else 2e-3, 0)
            if wrong:
                return f"{size} columns, {level}: {wrong}"
    return None
