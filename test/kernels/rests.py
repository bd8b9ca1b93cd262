"""What is left of a row behind its whole vectors, in kernels of costly functions that read or write conditions (bytes) or halves, which AVX2 has no masks for; v2 has none at all."""
import numpy as np
from onnx import TensorProto, helper

from common import WIDEST, info, make
from values import compare

NAMES = [f"rests_{kind}_{columns}" for kind in ("f32", "f16", "f32rows", "f16rows") for columns in (1, 3, 5, 12, 15, 29)]
POINTS = [helper.make_node("Greater", ["x", "b"], ["above"]), helper.make_node("Exp", ["x"], ["e"]), helper.make_node("Log", ["y"], ["l"]), helper.make_node("Pow", ["y", "b"], ["p"]),
          helper.make_node("Where", ["m", "e", "l"], ["w"]), helper.make_node("Add", ["w", "p"], ["z"])]
REDUCED = {"ReduceMax": ("Tanh", np.tanh), "ReduceMin": ("Exp", np.exp), "ReduceSumSquare": ("Sigmoid", lambda v: 1 / (1 + np.exp(-v))), "ReduceProd": ("Sqrt", np.sqrt), "ReduceLogSumExp": ("Sin", np.sin)}
ROWS = [helper.make_node("Where", ["m", "x", "b"], ["w"]), helper.make_node("Softmax", ["w"], ["soft"]), helper.make_node("Where", ["m", "y", "x"], ["v"]),
        *(helper.make_node(function, ["v"], [function]) for function, _ in REDUCED.values()),
        *(helper.make_node(op, [function], [op], axes=[-1]) for op, (function, _) in REDUCED.items())]


def reductions(w, v):
    """The results of ROWS."""
    e = np.exp(w - w.max(-1, keepdims=True))
    joins = {"ReduceMax": np.max, "ReduceMin": np.min, "ReduceSumSquare": lambda t, axis: (t * t).sum(axis), "ReduceProd": np.prod, "ReduceLogSumExp": lambda t, axis: np.log(np.exp(t).sum(axis))}
    return [e / e.sum(-1, keepdims=True), *(joins[op](f(v), -1)[:, None] for op, (_, f) in REDUCED.items())]


def check(s, folder, name):
    import onnxc
    _, kind, columns = name.split("_")
    dtype, code = (np.float32, TensorProto.FLOAT) if "f32" in kind else (np.float16, TensorProto.FLOAT16)
    rng = np.random.default_rng(0)
    x, y = rng.random((2, 7, int(columns))).astype(dtype) + dtype([[[0]], [[1]]])
    b, m = rng.random(int(columns)).astype(dtype), rng.random(x.shape) < 0.5
    wide = [a.astype(np.float64) for a in (x, y, b)]
    if "rows" in kind:
        x[2, -1] = wide[0][2, -1] = np.nan
        m[2, -1] = True
        y[3, -1] = wide[1][3, -1] = np.nan  # read, or not
        want = [a.astype(dtype) for a in reductions(np.where(m, wide[0], wide[2]), np.where(m, wide[1], wide[0]))]
        nodes, outputs = ROWS, [info(n, None, None, dtype=code) for n in ("soft", *REDUCED)]
    else:
        want = [(np.where(m, np.exp(wide[0]), np.log(wide[1])) + wide[1] ** wide[2]).astype(dtype), x > b]
        nodes, outputs = POINTS, [info("z", None, None, dtype=code), info("above", None, None, dtype=TensorProto.BOOL)]
    for size in (int(columns), "columns"):
        inputs = [info("x", "rows", size, dtype=code), info("y", "rows", size, dtype=code), info("b", size, dtype=code), info("m", "rows", size, dtype=TensorProto.BOOL)]
        for level in ("x86-64-v2", "x86-64-v3", WIDEST):
            library = s.compile(make(nodes, inputs, outputs, opset=17), folder, "--cpu", level, name=f"{size}_{level}")
            wrong = compare(want, onnxc.load(str(library)).run({"x": x, "y": y, "b": b, "m": m}), 1e-5 if "f32" in kind else 2e-3, 0)
            if wrong:
                return f"{size} columns, {level}: {wrong}"
    return None
