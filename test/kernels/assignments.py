"""x[box] = u as PyTorch writes it, a ScatterND with an index for every element, against numpy. run.py beside it runs them."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

SHAPE = (3, 5, 9)
# The range of numbers along each axis; None: the whole axis, whose size is read from x.
BOXES = {"whole": (None, (0, 5), None), "end": (None, None, (4, 9)), "inside": (None, (1, 3), (2, 7)), "rows": (None, (2, 4)), "apart": (None, (0, 5, 2), None)}
NAMES = [f"assignment_{name}_{batch}" for name in BOXES for batch in (3, "n")]


def model(box, batch):
    u = [len(range(*(ends or (size,)))) for size, ends in zip(SHAPE, box)]
    nodes = [helper.make_node("Shape", ["x"], ["sx"]), helper.make_node("Shape", ["u"], ["su"], end=len(box))]
    weights = {"zero": np.array(0), "one": np.array(1), "last": np.array([-1])}
    for k, ends in enumerate(box):
        weights[f"s{k}"] = np.array([1] * k + [-1] + [1] * (len(box) - 1 - k))
        if ends is None:
            weights[f"k{k}"] = np.array(k)
            nodes += [helper.make_node("Gather", ["sx", f"k{k}"], [f"n{k}"]), helper.make_node("Range", ["zero", f"n{k}", "one"], [f"r{k}"])]
        else:
            weights[f"r{k}"] = np.arange(*ends)
        nodes += [helper.make_node("Reshape", [f"r{k}", f"s{k}"], [f"v{k}"]), helper.make_node("Expand", [f"v{k}", "su"], [f"e{k}"]),
                  helper.make_node("Unsqueeze", [f"e{k}", "last"], [f"i{k}"])]
    nodes += [helper.make_node("Concat", [f"i{k}" for k in range(len(box))], ["i"], axis=-1), helper.make_node("ScatterND", ["x", "i", "u"], ["y"])]
    shapes = {"x": [batch, *SHAPE[1:]], "u": [batch, *u[1:], *SHAPE[len(box):]]}
    infos = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in shapes.items()]
    graph = helper.make_graph(nodes, "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, k) for k, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def check(s, folder, name):
    import onnxc
    _, kind, batch = name.split("_")
    box = BOXES[kind]
    x, at = np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32), tuple(slice(*(ends or (None,))) for ends in box)
    want = x.copy()
    want[at] = u = np.random.default_rng(1).standard_normal(want[at].shape).astype(np.float32)
    for flags in ([], ["-O0"]):
        library = s.compile(model(box, int(batch) if batch.isdigit() else batch), folder, *flags, name=f"m{len(flags)}")
        got = onnxc.load(str(library)).run({"x": x, "u": u})[0]
        if not np.array_equal(got, want):
            return f"{flags}: {(got != want).sum()} elements differ"
    return None
