"""Products of many f32 rows, which processors with tiles of bf16 (AMX) multiply digit by digit: rests of rows, panels and depth, parts of the depth, narrow weights, blocked images,
numbers that are not finite. As near to the products of doubles as f32 sums are, whatever multiplies them. run.py beside it runs them."""
import ml_dtypes
import numpy as np
from onnx import helper, numpy_helper

from common import WIDEST, info, make

PRODUCTS = {}


def product(rows, depth, columns, stored="f32", dynamic=False, special=None, ends=()):
    """`stored`: what holds the weights; `special`: a number among the rows, or among the weights if it is a list; `ends`: ops behind the product."""
    name = f"tiles_{rows}x{depth}x{columns}" + (f"_{stored}" if stored != "f32" else "") + ("_dynamic" if dynamic else "") + (f"_{special}" if special is not None else "").replace("[", "w_").replace("]", "")
    PRODUCTS[name + "".join(f"_{op.lower()}" for op in ends)] = rows, depth, columns, stored, dynamic, special, ends


for _rows in (40, 49, 128, 197, 300):
    product(_rows, 256, 256)
product(64, 129, 330)
product(130, 1100, 160)
product(70, 2050, 129)
product(270, 1200, 560)
product(129, 320, 1200, dynamic=True)
product(200, 300, 257, ends=("Add", "Gelu"))
for _stored in ("i8", "bf16", "f16"):
    product(100, 600, 530, _stored, dynamic=True)
for _special in ("nan in all rows", np.inf, -np.inf, np.nan, 3.4e38, 1e-40):
    product(60, 256, 272, special=_special)
for _special in ([np.inf], [np.nan], [3.4e38]):
    product(60, 256, 272, special=_special)


def check(s, folder, name):
    import onnxc
    rows, depth, columns, stored, dynamic, special, ends = PRODUCTS[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, depth)).astype(np.float32) * np.exp(rng.uniform(-8, 8, (rows, 1))).astype(np.float32)
    w = rng.standard_normal((depth, columns)).astype(np.float32)
    w = {"f32": w, "i8": rng.integers(-128, 128, w.shape).astype(np.float32), "bf16": w.astype(ml_dtypes.bfloat16).astype(np.float32), "f16": w.astype(np.float16).astype(np.float32)}[stored]
    if isinstance(special, list):
        w[7, 20] = special[0]
    elif special == "nan in all rows":
        x[:, 9] = np.nan
    elif special is not None:
        x[5, 9] = special
    size = "n" if dynamic else rows
    b, r = rng.standard_normal(columns).astype(np.float32), rng.standard_normal((rows, columns)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t" if ends else "y"])]
    if ends:
        nodes += [helper.make_node("Add", ["t", "b"], ["u"]), helper.make_node("Mul", ["u", "r"], ["y"])]
    proto = make(nodes, [info("x", size, depth), info("r", size, columns)], [info("y", size, columns)], [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    library = s.compile(proto, folder, "--cpu", WIDEST, name=name)
    got, *others = (onnxc.load(str(library), num_threads=n).run({"x": x, "r": r})[0] for n in (1, 2, 5))
    if not all(np.array_equal(got, o, equal_nan=True) for o in others):
        return "numbers of threads differ"
    with np.errstate(all="ignore"):
        want, most = x.astype(np.float64) @ w.astype(np.float64), np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
        if ends:
            want, most = (want + b) * r, (most + np.abs(b)) * np.abs(r)
        single = want.astype(np.float32)
    finite = np.isfinite(single)
    if not np.array_equal(got[~finite], single[~finite], equal_nan=True):
        return f"{np.sum(got[~finite] != single[~finite])} infinities or NaN differ"
    with np.errstate(all="ignore"):
        error = (np.abs(got - want)[finite] / most[finite]).max(initial=0)
    return None if error <= 1e-6 else f"off by {error:.1e} of the sum of magnitudes"


CONVS = {f"tiles_conv_{name}": rest for name, *rest in [("whole", (1, 160, 12, 11), 192, 1), ("rest", (2, 200, 9, 7), 210, 1), ("groups", (1, 256, 10, 10), 256, 2), ("bare", (1, 1040, 7, 9), 144, 1)]}


def check_conv(s, folder, name):
    import onnxc
    shape, outputs, group = CONVS[name]
    rng = np.random.default_rng(0)
    channels = shape[1]
    first, w = (rng.standard_normal((channels, 1, 1, 1)).astype(np.float32), rng.standard_normal((outputs, channels // group, 1, 1)).astype(np.float32))
    b, x = rng.standard_normal(outputs).astype(np.float32), rng.standard_normal(shape).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "f"], ["t"], group=channels), helper.make_node("Conv", ["t", "w", "b"], ["u"], group=group), helper.make_node("Relu", ["u"], ["y"])]
    weights = [numpy_helper.from_array(v, k) for k, v in {"f": first, "w": w, "b": b}.items()]
    library = s.compile(make(nodes, [info("x", *shape)], [info("y", shape[0], outputs, *shape[2:])], weights), folder, "--cpu", WIDEST, name=name)
    got, *others = (onnxc.load(str(library), num_threads=n).run({"x": x})[0] for n in (1, 2, 5))
    if not all(np.array_equal(got, o) for o in others):
        return "numbers of threads differ"
    t = (x * first.reshape(1, -1, 1, 1)).reshape(shape[0], group, channels // group, -1).astype(np.float64)
    parts = w.reshape(group, outputs // group, -1).astype(np.float64)
    want = np.maximum(np.einsum("goc,ngcp->ngop", parts, t).reshape(got.shape) + b.reshape(1, -1, 1, 1), 0)
    most = np.einsum("goc,ngcp->ngop", np.abs(parts), np.abs(t)).reshape(got.shape)
    error = (np.abs(got - want) / most).max()
    return None if error <= 1e-6 else f"off by {error:.1e} of the sum of magnitudes"
