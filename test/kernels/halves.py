"""Products whose weights --precision stores in 16 bits: equal to those of weights rounded beforehand, within what f32 sums differ by; products of weights that fewer bits than 32 hold
as they are, bit for bit those of f32. run.py beside it runs them."""
import ml_dtypes
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import WIDEST, info, make

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
CASES = {}


def product(name, rows, depth, columns, precision="bf16", ends=False):
    """`ends`: a bias, an addition and a Relu behind it."""
    for size in (rows, "n"):
        CASES[f"halves_{name}_{rows}{'_dynamic' if size == 'n' else ''}_{precision}"] = rows, size, depth, columns, precision, ends


for _precision in TYPES:
    for _rows in (1, 5, 130):
        product("product", _rows, 77, 83, _precision, ends=_rows != 5)
product("deep", 1, 1400, 37)
product("deep", 130, 1400, 37)
product("pages", 130, 1024, 48)
product("two_tiles", 20, 96, 64)


def model(size, depth, columns, ends):
    rng = np.random.default_rng(0)
    weights = {"w": (rng.standard_normal((depth, columns)) / np.sqrt(depth)).astype(np.float32)}
    inputs, node = [info("x", size, depth)], helper.make_node
    nodes = [node("MatMul", ["x", "w"], ["y"])]
    if ends:
        weights["b"] = rng.standard_normal(columns).astype(np.float32)
        inputs.append(info("r", size, columns))
        nodes = [node("MatMul", ["x", "w"], ["t"]), node("Add", ["t", "b"], ["u"]), node("Add", ["u", "r"], ["v"]), node("Relu", ["v"], ["y"])]
    return make(nodes, inputs, [info("y", size, columns)], [numpy_helper.from_array(v, k) for k, v in weights.items()]), weights


def expected(x, w, ends, feed, b):
    y = x.astype(np.float64) @ w.astype(np.float64)
    return np.maximum(y + b + feed["r"], 0) if ends else y


def check(s, folder, name):
    import onnxc
    rows, size, depth, columns, precision, ends = CASES[name]
    proto, weights = model(size, depth, columns, ends)
    rng = np.random.default_rng(1)
    feed = {"x": rng.standard_normal((rows, depth)).astype(np.float32)}
    if ends:
        feed["r"] = rng.standard_normal((rows, columns)).astype(np.float32)
    want = expected(feed["x"], weights["w"].astype(TYPES[precision]).astype(np.float32), ends, feed, weights.get("b"))
    for cpu in ("x86-64", "x86-64-v3", WIDEST):
        library = s.compile(proto, folder, "--cpu", cpu, "--precision", precision, name=f"{name}_{cpu}")
        got, one = (onnxc.load(str(library), num_threads=n).run(feed)[0] for n in (2, 1))
        error = np.abs(got - want).max() / np.abs(want).max()
        if not error <= 2e-5:
            return f"{cpu}: off by {error:.1e}"
        if not np.array_equal(got, one):
            return f"{cpu}: two threads and one differ"
    return None


CONVS = {}
for _precision in TYPES:
    CONVS |= {f"halves_conv_{name}_{form}_{_precision}": (shape, sizes, outputs, group, depthwise, _precision) for name, shape, outputs, group, depthwise in
              [("few", (2, 72, 5, 7), 75, 1, False), ("many", (2, 72, 13, 21), 200, 1, False), ("deep", (1, 720, 9, 11), 40, 1, False),
               ("groups", (1, 96, 14, 14), 192, 3, False), ("expand", (1, 64, 14, 14), 384, 1, True)]
              for form, sizes in (("static", shape), ("dynamic", ("n", shape[1], "h", "w")))}


def conv(x, w, group):
    parts = zip(np.split(x.astype(np.float64), group, 1), np.split(w.astype(np.float64), group))
    return np.concatenate([np.einsum("nchw,oc->nohw", image, filters[:, :, 0, 0]) for image, filters in parts], 1)


def check_conv(s, folder, name):
    """1x1 filters, alone or with a depthwise convolution that takes the left upper pixel of four, behind a Relu."""
    import onnxc
    shape, sizes, outputs, group, depthwise, precision = CONVS[name]
    rng, node = np.random.default_rng(0), helper.make_node
    weights = {"w": (rng.standard_normal((outputs, shape[1] // group, 1, 1)) / np.sqrt(shape[1])).astype(np.float32)}
    nodes = [node("Conv", ["x", "w"], ["t"], group=group), node("Relu", ["t"], ["y"])]
    if depthwise:
        weights["d"] = np.zeros((outputs, 1, 2, 2), np.float32)
        weights["d"][:, :, 0, 0] = 1
        nodes[1:] = [node("Relu", ["t"], ["u"]), node("Conv", ["u", "d"], ["y"], group=outputs)]
    proto = make(nodes, [info("x", *sizes)], [info("y", None, outputs, None, None)], [numpy_helper.from_array(v, k) for k, v in weights.items()])
    feed = {"x": rng.standard_normal(shape).astype(np.float32)}
    want = np.maximum(conv(feed["x"], weights["w"].astype(TYPES[precision]).astype(np.float32), group), 0)
    if depthwise:
        want = want[:, :, :-1, :-1]
    for cpu in ("x86-64-v3", WIDEST):
        library, plain = (s.compile(proto, folder, "--cpu", cpu, *flags, name=f"{name}_{cpu}{len(flags)}") for flags in (("--precision", precision), ()))
        got, one = (onnxc.load(str(library), num_threads=n).run(feed)[0] for n in (2, 1))
        error = np.abs(got - want).max() / np.abs(want).max()
        if not error <= 2e-5 or not np.array_equal(got, one):
            return f"{cpu}: off by {error:.1e}, {'equal' if np.array_equal(got, one) else 'other'} with one thread"
        if not s.weight_bytes(library) < 0.6 * s.weight_bytes(plain):
            return f"{cpu}: {s.weight_bytes(library)} bytes of {s.weight_bytes(plain)}"
    return None


def check_kept(s, folder, name):
    """Few weights, weights that the type has no normal numbers for, and -O0 keep f32."""
    import onnxc
    precision, flags, depth, scale = {"few": ("bf16", (), 50, 1), "large": ("f16", (), 96, 1e6), "small": ("f16", (), 96, 1e-7), "plain": ("bf16", ("-O0",), 96, 1)}[name.split("_")[2]]
    w = np.random.default_rng(0).uniform(-scale, scale, (depth, 64)).astype(np.float32)
    proto = make([helper.make_node("Gemm", ["x", "w"], ["y"], alpha=0.5)], [info("x", 3, depth)], [info("y", 3, 64)], [numpy_helper.from_array(w, "w")])
    feed = {"x": np.random.default_rng(1).standard_normal((3, depth)).astype(np.float32)}
    plain, half = (s.compile(proto, folder, *flags, *more, name=f"{name}{len(more)}") for more in ((), ("--precision", precision)))
    same = np.array_equal(*(onnxc.load(str(library)).run(feed)[0] for library in (plain, half)))
    return None if same and s.weight_bytes(plain) == s.weight_bytes(half) else f"results {'' if same else 'not '}equal, {s.weight_bytes(plain)} and {s.weight_bytes(half)} bytes of weights"


def check_rows(s, folder, name):
    """A table, and tied weights: rows of it, of its product with itself."""
    import onnxc
    precision, tied = name.split("_")[2], name.endswith("tied")
    w = np.random.default_rng(0).standard_normal((301, 48)).astype(np.float32)
    nodes = [helper.make_node("Gather", ["w", "i"], ["t" if tied else "y"])]
    if tied:
        nodes += [helper.make_node("Transpose", ["w"], ["v"], perm=[1, 0]), helper.make_node("MatMul", ["t", "v"], ["y"])]
    proto = make(nodes, [info("i", "n", dtype=TensorProto.INT64)], [info("y", "n", 301 if tied else 48)], [numpy_helper.from_array(w, "w")])
    half = w.astype(TYPES[precision]).astype(np.float32)
    feed = {"i": np.array([0, 300, 7, -1, 7])}
    want = half[feed["i"]] @ half.T if tied else half[feed["i"]]
    plain, library = (s.compile(proto, folder, *flags, name=f"{name}{len(flags)}") for flags in ((), ("--precision", precision)))
    error = np.abs(onnxc.load(str(library)).run(feed)[0] - want).max() / np.abs(want).max()
    if not error <= (2e-5 if tied else 0):
        return f"off by {error:.1e}"
    return None if s.weight_bytes(library) < 0.52 * s.weight_bytes(plain) else f"{s.weight_bytes(library)} bytes of {s.weight_bytes(plain)}"


def check_exact(s, folder, name):
    """Weights of bytes or halves without --precision, and the same with one that only f32 holds, in a column of its own."""
    import onnxc
    of, rows, dynamic = EXACT[name]
    rng = np.random.default_rng(0)
    w = {"i8": rng.integers(-128, 128, (600, 530)), **{k: rng.standard_normal((600, 530)).astype(t) for k, t in TYPES.items()}}[of].astype(np.float32)
    other = w.copy()
    other[5, 529] = 1 + 2**-20
    feed = {"x": rng.standard_normal((rows, 600)).astype(np.float32)}
    for cpu in ("x86-64", "x86-64-v3", WIDEST):
        libraries = [s.compile(make([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", "n" if dynamic else rows, 600)], [info("y", "n" if dynamic else rows, 530)],
                                    [numpy_helper.from_array(v, "w")]), folder, "--cpu", cpu, name=f"{name}_{cpu}{i}") for i, v in enumerate((w, other))]
        got, want = (onnxc.load(str(library), num_threads=2).run(feed)[0][:, :529] for library in libraries)
        if not np.array_equal(got, want):
            return f"{cpu}: results differ from those of f32 by {np.abs(got - want).max():.1e}"
        least, most = (s.weight_bytes(library) for library in libraries)
        if not least < most * (0.3 if of == "i8" else 0.6 if dynamic or rows < 130 else 1.1):
            return f"{cpu}: {least} bytes of {most}"
    return None


EXACT = {f"exact_{of}_{rows}{'_dynamic' if dynamic else ''}": (of, rows, dynamic) for of in ("i8", *TYPES) for rows in (1, 5, 130) for dynamic in (False, True)}
ROWS = [f"halves_rows_{precision}{tied}" for precision in TYPES for tied in ("", "_tied")]
KEPT = [f"halves_keep_{which}" for which in ("few", "large", "small", "plain")]
