"""Products of many f32 rows, which processors with tiles of bf16 (AMX) multiply digit by digit: rests of rows, panels and depth, parts of the depth, narrow weights, blocked images,
numbers that are not finite. As near to the products of doubles as f32 sums are, whatever multiplies them. run.py beside it runs them."""
import re

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import WIDEST, info, make

PRODUCTS = {}


def product(rows, depth, columns, stored="f32", dynamic=False, special=None, ends=()):
    """`stored`: what holds the weights, or "bf16_rows": a model of bf16, rows too; `special`: a number among the rows, or among the weights if it is a list; `ends`: ops behind the product."""
    name = f"tiles_{rows}x{depth}x{columns}" + (f"_{stored}" if stored != "f32" else "") + ("_dynamic" if dynamic else "") + (f"_{special}" if special is not None else "").replace("[", "w_").replace("]", "")
    PRODUCTS[name + "".join(f"_{op.lower()}" for op in ends)] = rows, depth, columns, stored, dynamic, special, ends


for _rows in (49, 128, 197, 300):
    product(_rows, 256, 256)
product(128, 255, 330)
product(130, 1100, 160)
product(128, 2050, 129)
product(129, 320, 1200, dynamic=True)
product(200, 300, 257, ends=("Add", "Gelu"))
for _stored in ("i8", "bf16", "f16"):
    product(100, 600, 530, _stored, dynamic=True)
product(197, 255, 272, "bf16_rows")
product(130, 1101, 150, "bf16_rows", dynamic=True)
product(128, 256, 272, "bf16_rows", special=np.inf)
for _special in ("nan in all rows", np.inf, -np.inf, np.nan, 3.4e38, 1e-40):
    product(128, 256, 272, special=_special)
for _special in ([np.inf], [np.nan], [3.4e38]):
    product(128, 256, 272, special=_special)


# Functions of the library that kernels call: few rows or windows are multiplied in vectors.
CALLS = {"tiles_49x256x256": [], "tiles_128x256x256": ["onnxc_float_tiles_F32"], "tiles_128x2050x129": ["onnxc_float_tiles_F32"], "tiles_128x256x272_w_inf": ["onnxc_float_tiles_F32"],
         "tiles_197x255x272_bf16_rows": ["onnxc_float_tiles_rounded_BF16"], "tiles_130x1101x150_bf16_rows_dynamic": ["onnxc_float_tiles_rounded_BF16"],
         "tiles_conv_few": [], "tiles_conv_3x3": ["onnxc_float_windows"], "tiles_conv_inf": ["onnxc_float_windows"]}


def unlike_calls(s, proto, folder, name):
    """What the kernels call instead of CALLS; null where the case has none, or they call that."""
    if name not in CALLS or WIDEST == "x86-64-v3":
        return None
    code = s.compile(proto, folder, "--cpu", WIDEST, name=name, suffix=".ll").read_text()
    called = sorted(set(re.findall(r"@(onnxc_float_\w+)", code)))
    return None if called == CALLS[name] else f"kernels call {called}, want {CALLS[name]}"


def to_bf16(v):
    return v.astype(ml_dtypes.bfloat16).astype(np.float32)


def check(s, folder, name):
    import onnxc
    rows, depth, columns, stored, dynamic, special, ends = PRODUCTS[name]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, depth)).astype(np.float32) * np.exp(rng.uniform(-8, 8, (rows, 1))).astype(np.float32)
    w = rng.standard_normal((depth, columns)).astype(np.float32)
    w = {"f32": w, "i8": rng.integers(-128, 128, w.shape).astype(np.float32), "bf16": to_bf16(w), "bf16_rows": to_bf16(w), "f16": w.astype(np.float16).astype(np.float32)}[stored]
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
    weights = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
    if stored == "bf16_rows":  # what is multiplied is rounded by the product alone
        x, shift = to_bf16(x), to_bf16(rng.standard_normal(depth).astype(np.float32))
        weights = [numpy_helper.from_array(v.astype(ml_dtypes.bfloat16), k) for k, v in {"w": w, "c": shift}.items()]
        nodes = [helper.make_node("Cast", ["x"], ["h"], to=TensorProto.BFLOAT16), helper.make_node("Add", ["h", "c"], ["s"]), helper.make_node("MatMul", ["s", "w"], ["p"]),
                 helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT)]
    proto = make(nodes, [info("x", size, depth), info("r", size, columns)], [info("y", size, columns)], weights)
    library = s.compile(proto, folder, "--cpu", WIDEST, name=name)
    got, *others = (onnxc.load(str(library), num_threads=n).run({"x": x, "r": r})[0] for n in (1, 2, 5))
    if not all(np.array_equal(got, o, equal_nan=True) for o in others):
        return "numbers of threads differ"
    # Only tiles round to what the model says.
    told = [unlike(got, v, w, (b, r) if ends else ()) for v in ([to_bf16(x + shift), x + shift] if stored == "bf16_rows" else [x])]
    return told[0] if all(told) else unlike_calls(s, proto, folder, name)


def unlike(got, x, w, ends):
    """How the result differs from that of doubles; null where it is as near as f32."""
    with np.errstate(all="ignore"):
        want, most = x.astype(np.float64) @ w.astype(np.float64), np.abs(x).astype(np.float64) @ np.abs(w).astype(np.float64)
        if ends:
            b, r = ends
            want, most = (want + b) * r, (most + np.abs(b)) * np.abs(r)
        single = want.astype(np.float32)
    finite = np.isfinite(single)
    if not np.array_equal(got[~finite], single[~finite], equal_nan=True):
        return f"{np.sum(got[~finite] != single[~finite])} infinities or NaN differ"
    with np.errstate(all="ignore"):
        error = (np.abs(got - want)[finite] / most[finite]).max(initial=0)
    return None if error <= 1e-6 else f"off by {error:.1e} of the sum of magnitudes"


# Shape, outputs, groups; kernel, strides, pads and dilations; whether sizes are unknown; a number of the image, or of the weights if it is a list.
CONVS = {f"tiles_conv_{name}": rest for name, *rest in [
    ("whole", (1, 160, 16, 15), 256, 1), ("rest", (2, 200, 19, 17), 250, 1), ("groups", (1, 512, 15, 16), 512, 2), ("bare", (1, 1040, 17, 9), 256, 1),
    ("stride", (2, 256, 25, 24), 144, 1, (1, 1), (2, 2)), ("3x3", (1, 64, 25, 27), 130, 1, (3, 3), (2, 2), (1, 1, 1, 1)),
    ("3x3_dilated", (2, 136, 34, 70), 144, 1, (3, 3), (2, 2), (2, 0, 1, 3), (2, 3)), ("3x2_groups", (1, 128, 23, 20), 256, 2, (3, 2), (2, 2), (0, 1, 1, 0)),
    ("3x3_unknown", (2, 64, 23, 22), 160, 1, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), True), ("column", (1, 160, 150, 1), 160, 1, (3, 1), (2, 1), (1, 0, 1, 0)),
    ("few", (1, 64, 14, 14), 128, 1, (3, 3), (2, 2), (1, 1, 1, 1)),
    ("inf", (1, 64, 25, 27), 128, 1, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, np.inf), ("nan", (1, 64, 25, 27), 128, 1, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, np.nan),
    ("w_inf", (1, 64, 25, 27), 128, 1, (3, 3), (2, 2), (1, 1, 1, 1), (1, 1), False, [-np.inf])]}


def windows(x, w, group, strides, pads, dilations):
    """The convolution in doubles; taps in the padding do not count."""
    n, channels, (kh, kw) = x.shape[0], x.shape[1] // group, w.shape[2:]
    sizes = [(x.shape[2 + i] + pads[i] + pads[2 + i] - (w.shape[2 + i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in (0, 1)]
    y = np.zeros((n, group, w.shape[0] // group, *sizes))
    parts, image = w.astype(np.float64).reshape(group, -1, channels, kh, kw), x.astype(np.float64).reshape(n, group, channels, *x.shape[2:])
    for i, j in np.ndindex(kh, kw):
        places = [np.arange(sizes[a]) * strides[a] - pads[a] + k * dilations[a] for a, k in ((0, i), (1, j))]
        rows, columns = (np.flatnonzero((p >= 0) & (p < x.shape[2 + a])) for a, p in enumerate(places))
        tap = image[:, :, :, places[0][rows]][..., places[1][columns]]
        y[np.ix_(range(n), range(group), range(y.shape[2]), rows, columns)] += np.einsum("goc,ngchw->ngohw", parts[..., i, j], tap)
    return y.reshape(n, w.shape[0], *sizes)


def check_conv(s, folder, name):
    import onnxc
    shape, outputs, group, kernel, strides, pads, dilations, unknown, special = (*CONVS[name], *((1, 1), (1, 1), (0, 0, 0, 0), (1, 1), False, None)[len(CONVS[name]) - 3:])
    rng = np.random.default_rng(0)
    channels = shape[1]
    first, w = (rng.standard_normal((channels, 1, 1, 1)).astype(np.float32), rng.standard_normal((outputs, channels // group, *kernel)).astype(np.float32))
    b, x = rng.standard_normal(outputs).astype(np.float32), rng.standard_normal(shape).astype(np.float32)
    if isinstance(special, list):
        w[70, 20, 0, 1] = special[0]
    elif special is not None:
        x[0, 9, 5, 0] = special
    t = x * first.reshape(1, -1, 1, 1)
    with np.errstate(all="ignore"):
        want, most = windows(t, w, group, strides, pads, dilations) + b.reshape(1, -1, 1, 1), windows(np.abs(t), np.abs(w), group, strides, pads, dilations)
    nodes = [helper.make_node("Conv", ["x", "f"], ["t"], group=channels), helper.make_node("Conv", ["t", "w", "b"], ["u"], group=group, strides=strides, pads=pads, dilations=dilations), helper.make_node("Neg", ["u"], ["y"])]
    weights = [numpy_helper.from_array(v, k) for k, v in {"f": first, "w": w, "b": b}.items()]
    sizes = (("n", channels, "h", "w"), ("n", outputs, "i", "j")) if unknown else (shape, want.shape)
    proto = make(nodes, [info("x", *sizes[0])], [info("y", *sizes[1])], weights)
    library = s.compile(proto, folder, "--cpu", WIDEST, name=name)
    got, *others = (-onnxc.load(str(library), num_threads=n).run({"x": x})[0] for n in (1, 2, 5))
    if not all(np.array_equal(got, o, equal_nan=True) for o in others):
        return "numbers of threads differ"
    finite = np.isfinite(want)
    if not np.array_equal(got[~finite], want[~finite].astype(np.float32), equal_nan=True):
        return f"{np.sum(got[~finite] != want[~finite])} infinities or NaN differ"
    error = (np.abs(got[finite] - want[finite]) / most[finite]).max()
    return unlike_calls(s, proto, folder, name) if error <= 1e-6 else f"off by {error:.1e} of the sum of magnitudes"
