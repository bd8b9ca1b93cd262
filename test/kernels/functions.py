"""Functions of codegen/cpu/VectorMath, f32 against doubles and f64 against long doubles, over floats of both signs, all exponents, infinities and NaNs, in units of the
last place. run.py beside it runs them; test/math does the same for the library's functions.
"""
import math

import numpy as np
from onnx import TensorProto, helper

from common import WIDEST

ERF = np.frompyfunc(math.erf, 1, 1)
ERFC = np.frompyfunc(math.erfc, 1, 1)
CPUS = ("x86-64-v3", WIDEST)


def sigmoid(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / (1 + np.exp(np.minimum(x, 0))), 1 / (1 + np.exp(-np.maximum(x, 0))))


# op -> (the exact function, worst distance in ulp, attributes, a second input)
FUNCTIONS = {
    "Exp": (np.exp, 2, {}, None),
    "Log": (np.log, 3, {}, None),
    "Tanh": (np.tanh, 3, {}, None),
    "Sigmoid": (sigmoid, 5, {}, None),
    "Swish": (lambda x: np.where((x < -88.376) & np.isfinite(x), -0.0, x / (1 + np.exp(-x))), 5, {}, None),  # nothing subnormal of finite numbers
    "Erf": (lambda x: ERF(x).astype(float), 3, {}, None),
    "Elu": (lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x), 3, {}, None),
    "Softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))), 32, {}, None),
    "Gelu": (lambda x: np.where((x < -13.1463) & np.isfinite(x), -0.0, x * 0.5 * ERFC(-x / math.sqrt(2)).astype(float)), 100, {}, None),  # nothing subnormal of finite numbers
    "Mish": (lambda x: np.where((x < -86.99) & np.isfinite(x), -0.0, x * np.exp(np.minimum(x, 20)) * (np.exp(np.minimum(x, 20)) + 2) / (np.exp(np.minimum(x, 20)) * (np.exp(np.minimum(x, 20)) + 2) + 2)), 8, {}, None),
    "Sqrt": (np.sqrt, 0.5, {}, None),
    "Reciprocal": (lambda x: 1 / x, 0.5, {}, None),
    "Sin": (np.sin, 2, {}, None),
    "Cos": (np.cos, 2, {}, None),
    "Tan": (np.tan, 4, {}, None),
    "Asin": (np.arcsin, 3, {}, None),
    "Acos": (np.arccos, 3, {}, None),
    "Atan": (np.arctan, 3, {}, None),
    "Sinh": (np.sinh, 4, {}, None),
    "Cosh": (np.cosh, 3, {}, None),
    "Asinh": (np.arcsinh, 4, {}, None),
    "Acosh": (np.arccosh, 4, {}, None),
    "Atanh": (np.arctanh, 4, {}, None),
    "Pow": (np.power, 32, {}, 2.7),
}
# Of f64: op -> (the exact function of long doubles, worst distance in ulp).
DOUBLES = {
    "Exp": (np.exp, 1.1),
    "Log": (np.log, 1),
    "Tanh": (np.tanh, 3),
    "Sigmoid": (sigmoid, 3),
    "Elu": (lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x), 3),
    "Softplus": (lambda x: np.maximum(x, 0) + np.log1p(np.exp(-abs(x))), 4),
    "Sin": (np.sin, 2.5),
    "Cos": (np.cos, 2.5),
}
PLAIN = ("Sin", "Cos", "Tan")  # without fused products, whose errors near their zeros are of pi/2's parts
NAMES = [f"plain_{op.lower()}" for op in PLAIN] + [f"ulps_{op.lower()}" for op in FUNCTIONS] + [f"ulps_{op.lower()}_f64" for op in DOUBLES]


def doubles():
    rng = np.random.default_rng(0)
    quarters = np.arange(-3000, 3000) * (np.pi / 4)
    return np.concatenate([rng.integers(0, 1 << 64, 500000, np.uint64).view(np.float64), rng.standard_normal(300000) * 10.0 ** rng.integers(-4, 6, 300000), quarters,
                           [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 709.78, 709.79, -708.4, -745.1, -745.2, 5e-324, 1e-310, 65535.9, 65536.1, 1e22]])


def floats():
    bits = np.arange(0, 1 << 32, 4099, dtype=np.uint64).astype(np.uint32)
    return np.concatenate([bits.view(np.float32), np.float32([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 88.72, 89.4, -86.98, -87.1, -87.4, -87.5, -87.6, -88.4, -103.9])])


def ulps(got, exact):
    """Distances; infinite where one is NaN or infinite alone, or a zero has the other sign."""
    near = exact.astype(got.dtype)
    bits, least = (24, -149) if got.dtype == np.float32 else (53, -1074)
    _, exponent = np.frexp(near)
    distance = abs(got.astype(exact.dtype) - exact) / np.ldexp(exact.dtype.type(1), np.where(near == 0, least, np.maximum(exponent - bits, least)))
    same = (np.isnan(got) & np.isnan(near)) | (got == near)
    zeros = (exact == 0) & (got == 0) & (np.signbit(got) != np.signbit(near))
    return np.where(same & ~np.isfinite(near), 0, np.where(np.isfinite(got) & np.isfinite(near) & ~zeros, distance, np.inf))


def check_plain(s, folder, op):
    import onnxc
    x = np.concatenate([np.linspace(-4, 4, 80001), np.linspace(-8192, 8192, 80001)]).astype(np.float32)
    if op == "Tan":
        x = x[np.abs(np.cos(x)) > 0.1]
    model = helper.make_model(helper.make_graph([helper.make_node(op, ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                                                [helper.make_tensor_value_info("y", TensorProto.FLOAT, x.shape)]), opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    library = s.compile(model, folder, "--cpu", "x86-64-v2")
    want = getattr(np, op.lower())(x.astype(np.float64))
    far = np.abs(onnxc.load(str(library)).run({"x": x})[0] - want) / np.maximum(1, want * want)
    return None if far.max() < 3e-7 else f"off by {far.max()} at {x[far.argmax()]}"


def check(s, folder, name):
    if name.startswith("plain_"):
        return check_plain(s, folder, name.removeprefix("plain_").capitalize())
    wide = name.endswith("_f64")
    op = next(op for op in FUNCTIONS if name.removesuffix("_f64") == f"ulps_{op.lower()}")
    (exact, most), attributes, second = (DOUBLES[op], {}, None) if wide else (FUNCTIONS[op][:2], *FUNCTIONS[op][2:])
    x = doubles() if wide else floats()
    feed = {"x": x} if second is None else {"x": x, "p": np.float32([second])}
    kind = TensorProto.DOUBLE if wide else TensorProto.FLOAT
    graph = helper.make_graph([helper.make_node(op, list(feed), ["y"], **attributes)], "g",
                              [helper.make_tensor_value_info(n, kind, a.shape) for n, a in feed.items()], [helper.make_tensor_value_info("y", kind, x.shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)
    with np.errstate(all="ignore"):
        exactly = x.astype(np.longdouble if wide else float)
        want = exact(exactly) if second is None else exact(exactly, float(np.float32(second)))
    import onnxc
    for cpu in CPUS:
        library = s.compile(model, folder, "--cpu", cpu, name=f"{name}{cpu}")
        with np.errstate(all="ignore"):
            far = ulps(np.asarray(onnxc.load(str(library)).run(feed)[0]), want)
        if far.max() > most:
            at = int(far.argmax())
            return f"{cpu}: {far[at]:.3g} ulp at {x[at]!r} ({(far > most).sum()} beyond {most})"
    return None
