"""Softmax, LogSoftmax and LayerNormalization as exporters write them in pieces: CASES of run.py's case against ONNX Runtime, and SPECIAL ones, rows of infinities and numbers whose powers
f32 does not hold, against what passes/graph/RecognizeSoftmax.cpp says of them. run.py beside it runs them."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

CASES = {}  # name -> (nodes, inputs, weights), as run.py's case takes them
SPECIAL = {}  # name -> whether the pieces take the maximum, and whether they give logarithms
node = helper.make_node


def softmax(x, y, axes="axes", most=True, log="", squeezed=False, inverse=False, log_sum=False):
    """Nodes from x to y; `log`: the form of the logarithm, `of_differences` or `of_sums`; `squeezed`: sums lose their axes, which Unsqueeze puts back; `log_sum`: by ReduceLogSumExp."""
    n = []

    def reduced(op, v, to):
        n.append(node(op, [v, axes], [f"{to}_s" if squeezed else to], keepdims=int(not squeezed)))
        if squeezed:
            n.append(node("Unsqueeze", [f"{to}_s", axes], [to]))

    name = lambda part: f"{y}_{part}"
    if log_sum:
        reduced("ReduceLogSumExp", x, name("l"))
        n.append(node("Sub", [x, name("l")], [y if log else name("d")]))
        return n if log else n + [node("Exp", [name("d")], [y])]
    d = x
    if most:
        reduced("ReduceMax", x, name("m"))
        n.append(node("Sub", [x, name("m")], [d := name("d")]))
    n.append(node("Exp", [d], [name("e")]))
    reduced("ReduceSum", name("e"), name("t"))
    if log:
        n.append(node("Log", [name("t")], [name("l")]))
        if log == "of_sums":
            n.append(node("Add", [name("m"), name("l")], [name("ml")]))
        n.append(node("Sub", [x, name("ml")] if log == "of_sums" else [d, name("l")], [y]))
    elif inverse:
        n += [node("Reciprocal", [name("t")], [name("r")]), node("Mul", [name("r"), name("e")], [y])]
    else:
        n.append(node("Div", [name("e"), name("t")], [y]))
    return n


def add(name, shape, axes, **form):
    CASES[f"pieces_{name}"] = (softmax("x", "y", **form), {"x": shape}, {"axes": np.int64(axes)})


add("softmax", (3, 37, 53), [-1])
add("softmax_squeezed", (2, 5, 131), [2], squeezed=True)
add("softmax_no_maximum", (4, 77), [1], most=False, inverse=True)
add("softmax_channels", (2, 21, 9, 13), [1], inverse=True, squeezed=True)
add("softmax_few_columns", (2, 64, 3), [1])
add("softmax_image", (2, 3, 9, 14), [2, 3])
add("softmax_inner_image", (2, 7, 9, 5), [2, 1], squeezed=True)
add("softmax_apart", (3, 6, 5), [0, 2])
add("softmax_log_sum", (5, 40), [1], log_sum=True)
add("log_softmax", (3, 37, 53), [-1], log="of_differences")
add("log_softmax_no_maximum", (7, 21), [1], log="of_differences", most=False)
add("log_softmax_sums", (2, 19, 6, 7), [1], log="of_sums", squeezed=True)
add("log_softmax_log_sum", (2, 3, 9, 14), [-1, 2], log="yes", log_sum=True, squeezed=True)

for _name, _form in {"": {}, "_no_maximum": {"most": False, "inverse": True}}.items():
    for _keys in (47, 600):
        CASES[f"pieces_attention{_name}_{_keys}"] = (
            [node("MatMul", ["q", "k"], ["s"]), node("Mul", ["s", "scale"], ["n"]), node("Add", ["n", "mask"], ["u"]), *softmax("u", "p", **_form), node("MatMul", ["p", "v"], ["y"])],
            {"q": (2, 3, 29, 24), "k": (2, 3, 24, _keys), "v": (2, 3, _keys, 24), "mask": (29, _keys)}, {"axes": np.int64([-1]), "scale": np.float32(0.2)})


def layer_norm(name, shape, squeezed=False, most="", folded=False):
    """The variance as the mean of squares less the square of the mean. `most`: what keeps it from being negative; `folded`: the scale multiplies the inverse deviation, as in Flax."""
    rng, n = np.random.default_rng(0), []
    keep = int(not squeezed)
    n += [node("ReduceMean", ["x", "axes"], ["m"], keepdims=keep), node("Mul", ["x", "x"], ["q"]), node("ReduceMean", ["q", "axes"], ["mq"], keepdims=keep),
          node("Mul", ["m", "m"], ["mm"]), node("Sub", ["mq", "mm"], ["v"])]
    v, m = "v", "m"
    if most:
        n.append(node(most, ["v"] if most == "Relu" else ["zero", "v"], [v := "v0"]))
    if squeezed:
        n += [node("Unsqueeze", [v, "axes"], ["vk"]), node("Unsqueeze", ["m", "axes"], ["mk"])]
        v, m = "vk", "mk"
    n += [node("Sub", ["x", m], ["d"]), node("Add", [v, "eps"], ["ve"]), node("Sqrt", ["ve"], ["sd"])]
    if folded:
        n += [node("Reciprocal", ["sd"], ["r"]), node("Mul", ["r", "g"], ["rg"]), node("Mul", ["d", "rg"], ["ng"])]
    else:
        n += [node("Div", ["d", "sd"], ["n"]), node("Mul", ["n", "g"], ["ng"])]
    n.append(node("Add", ["ng", "b"], ["y"]))
    width = shape[-1]
    CASES[f"pieces_layer_norm{name}"] = (n, {"x": shape}, {"axes": np.int64([-1]), "zero": np.float32(0), "eps": np.float32(1e-5), "g": rng.uniform(0.5, 2, width).astype(np.float32),
                                                           "b": rng.standard_normal(width).astype(np.float32)})


layer_norm("", (3, 7, 130))
layer_norm("_flax", (2, 9, 77), squeezed=True, most="Max", folded=True)
layer_norm("_relu", (31, 64), most="Relu")

for _log in ("", "of_differences"):
    for _most in (True, False):
        SPECIAL[f"pieces_special{'_log' if _log else ''}{'' if _most else '_no_maximum'}"] = _most, _log


def check(s, folder, name):
    import onnxc
    most, log = SPECIAL[name]
    x = np.random.default_rng(1).standard_normal((7, 40)).astype(np.float32)
    x[0], x[1, 3:9], x[2] = -np.inf, -np.inf, -np.inf
    x[2, 5] = 2
    x[3] += 200  # beyond what f32 has powers of
    x[4] -= 300
    x[5, 7] = np.nan
    x[6] *= 60
    with np.errstate(all="ignore"):
        d = x.astype(np.float64) - x.max(1, keepdims=True)
        want = d - np.log(np.exp(d).sum(1, keepdims=True))
        want = want if log else np.exp(want)
    assert np.isnan(want[[0, 5]]).all() and not np.isnan(want[[1, 2, 3, 4, 6]]).any()
    graph = helper.make_graph(softmax("x", "y", most=most, log=log), "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [numpy_helper.from_array(np.int64([1]), "axes")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    got = onnxc.load(str(s.compile(model, folder, name=name))).run({"x": x})[0]
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    with np.errstate(invalid="ignore"):
        wrong = ~same & ~(np.abs(got - want) <= 1e-5 * np.maximum(1, np.abs(want)))
    return f"{wrong.sum()} wrong, first {got[wrong][0]} for {want[wrong][0]}" if wrong.any() else None
