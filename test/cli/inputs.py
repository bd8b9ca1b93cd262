"""What commands run on where nobody gives inputs or sizes, and what they say of it: checks of the suite `cli` (run.py)."""
import json
import os

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, relu_model, save, weight
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


def sizes_have_names(s, folder):
    model = save(make([helper.make_node("Relu", ["x"], ["y"])], [info("x", "batch", 3, "height", "width")], [info("y", "batch", 3, "height", "width")]), folder / "m.onnx")
    for text, want in (("height=5,width=4", "[1,3,5,4]; sizes that were not given: batch = 1\n"), ("2,width=4", "[2,3,2,4]\n"), ("width=4,2", "[2,3,2,4]\n"), ("6", "[6,3,6,6]\n")):
        if not (said := s.onnxc("run", model, "--symbol-size", text).stderr).endswith(f"x float32{want}"):
            return f"{text}: {said}"
    for text, want in (("hight=5", "no input has a symbolic size 'hight' (did you mean height?); there are: batch, height, width\n"), ("width=4,width=5", "'width' is given twice; see"),
                       ("width=x", "expected a whole number from 0 to 9223372036854775807, got 'x'; see"), ("1,2", "a size of all dimensions is given twice; see"),
                       ("width=", "expected a whole number from 0 to 9223372036854775807, got ''; see")):
        if f"error: --symbol-size: {want}" not in (said := s.onnxc("run", model, "--symbol-size", text, code=2).stderr):
            return f"{text}: {said}"
    said = s.onnxc("verify", model, "--layers", "--symbol-size", "width=9").stderr
    return None if "float32[1,3,1,9]" in said else said


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


def inspect_says_why_memory_is_unknown(s, folder):
    pool = helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[3, 3])
    model = save(make([pool], [info("x", 1, 2, "h", "w")], [info("y", 1, 2, "p", "q")]), folder / "m.onnx")
    if "\nmemory    is not known: a run when symbolic dims are 1 fails: " not in (told := s.onnxc("inspect", model).stdout) or "; compiled with --max-shapes, it is known" not in told:
        return told
    told = s.onnxc("inspect", model, "--max-shapes", "x=1x2x9x9").stdout
    return None if " of results, for the largest sizes" in told else told


def odd_numbers_are_told(s, folder):
    """More threads than processors, and sizes of none, may be meant; they are not taken in silence."""
    model, cpus = save(relu_model("n", 3), folder / "m.onnx"), os.cpu_count()
    for command, want in ((["run", model, "--threads", cpus + 1], f"note: --threads {cpus + 1}: this machine has {cpus} processors\n"),
                          (["run", model, "--symbol-size", "0"], "random inputs: x float32[0,3]\n"),
                          ([model, "-o", folder / "m.so", "--define-dim", "n=0"], "--define-dim n=0 leaves every value of that size without elements\n")):
        if want not in (said := s.onnxc(*command).stderr):
            return said
    return None


def inspect_of_other_domains(s, folder):
    """A model that imports no ai.onnx has no opset of it; a map is told with the types of its keys and values."""
    pair = helper.make_map_type_proto(TensorProto.INT64, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", int64_vocabulary=[3, 5])
    graph = helper.make_graph([node], "g", [helper.make_value_info("x", pair)], [info("y", 1, 2)])
    model = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1)]), folder / "m.onnx")
    told, facts = s.onnxc("inspect", model).stdout, json.loads(s.onnxc("inspect", model, "--json").stdout)["model"]
    if (facts["opset"], facts["opsets"]) != (0, {"ai.onnx.ml": 1}):
        return f"{facts}"
    if (said := s.onnxc("run", model).stderr) != "onnxc: note: random inputs: x map of int64 to float32\n":
        return said
    return None if "x  map of int64 to float32\n" in told and "model     g, ai.onnx.ml 1, IR " in told else told


CHECKS = [inspect_of_other_domains, odd_numbers_are_told, bytes_have_no_share_of_the_roof, random_inputs_are_named, random_inputs_without_names, errors_of_random_inputs_say_so, inspect_says_why_memory_is_unknown, sizes_have_names]
