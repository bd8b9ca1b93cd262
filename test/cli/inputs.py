"""What commands run on where nobody gives inputs or sizes, and what they say of it: checks of the suite `cli` (run.py)."""
import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, save, weight
from custom import X

QUICK = ["--duration", "0.02", "--warmup", "1"]


def two_inputs():
    return make([helper.make_node("Add", ["a", "b"], ["y"], name="add")], [info("a", "n", 3), info("b", "n", 3)], [info("y", "n", 3)])


def random_inputs_are_named(s, folder):
    """With their sizes, and with those that nobody gave; nothing is said where every input has a file."""
    model = save(two_inputs(), folder / "m.onnx")
    for name in "ab":
        np.save(folder / f"{name}.npy", X)
    files = {name: ["-i", f"{name}={folder}/{name}.npy"] for name in "ab"}
    assumed = "a float32[1,3], b float32[1,3]; sizes that were not given: n = 1\n"
    for command, flags, want in (("run", [], assumed), ("run", files["a"], "b float32[2,3]\n"), ("run", ["--symbol-size", "4"], "a float32[4,3], b float32[4,3]\n"),
                                 ("run", ["--opt-shapes", "a=5x3"], "a float32[5,3], b float32[5,3]\n"), ("run", files["a"] + files["b"], ""), ("verify", ["--layers"], assumed)):
        said = s.onnxc(command, model, *flags).stderr
        if said != (want and f"onnxc: note: random inputs: {want}"):
            return f"{command} {flags}: {said}"
    if f"\nrandom inputs: {assumed}" not in (said := s.onnxc("bench", model, *QUICK).stdout):
        return said
    report = json.loads(s.onnxc("bench", model, *QUICK, "--json", *files["a"]).stdout)
    return None if report["inputs"] == [{"name": name, "type": "float32[2,3]"} for name in "ab"] else f"{report['inputs']}"


def random_inputs_without_names(s, folder):
    """A size without a name is told by its place; of many inputs the first are."""
    nodes = [helper.make_node("Sum", [f"x{i}" for i in range(9)], ["y"])]
    model = save(make(nodes, [info(f"x{i}", None, 2) for i in range(9)], [info("y", None, 2)]), folder / "m.onnx")
    said = s.onnxc("run", model).stderr
    return None if "x5 float32[1,2] and 3 more; sizes that were not given: dim 0 of x0 = 1, " in said else said


def errors_of_random_inputs_say_so(s, folder):
    """A model that refuses images of 1x1 may be right: the inputs were the tool's own."""
    pool = helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[3, 3])
    model = save(make([pool], [info("x", 1, 2, "h", "w")], [info("y", 1, 2, "p", "q")]), folder / "m.onnx")
    for command in (["run", model], ["bench", model, *QUICK], ["verify", model, "--layers"], [model, "-o", folder / "m.so", "--tune=1"]):
        said = s.onnxc(*command, code=1).stderr
        if not said.endswith("; random inputs: x float32[1,2,1,1]; sizes that were not given: h = 1, w = 1; --input gives values, --symbol-size sizes\n"):
            return f"{command}: {said}"
    np.save(folder / "x.npy", np.zeros((1, 2, 1, 1), np.float32))
    said = s.onnxc("run", model, "-i", f"x={folder}/x.npy", code=1).stderr
    return said if "random" in said else None


def bytes_have_no_share_of_the_roof(s, folder):
    """The roof is that of f32, which products of bytes pass."""
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"], name="bytes")
    model = make([node, helper.make_node("MatMul", ["f", "v"], ["g"], name="floats")], [info("x", 8, 64, dtype=TensorProto.UINT8), info("f", 8, 64)],
                 [info("y", 8, 64, dtype=TensorProto.INT32), info("g", 8, 64)], [numpy_helper.from_array(np.ones((64, 64), np.int8), "w"), weight("v", 64, 64)])
    rows = {name: line for line in s.onnxc("bench", save(model, folder / "m.onnx"), *QUICK).stdout.splitlines() for name in ("bytes", "floats") if f"  {name} (" in line}
    return None if len(rows) == 2 and "%" in rows["floats"] and "%" not in rows["bytes"] else f"{rows}"


CHECKS = [bytes_have_no_share_of_the_roof, random_inputs_are_named, random_inputs_without_names, errors_of_random_inputs_say_so]
