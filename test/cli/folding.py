"""Ops of constants that the compiler computes, and those that it leaves to the run. run.py beside it runs them."""
import re
import shutil

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, save, weight


def ops_after_folding(s, nodes, weights, folder, *flags):
    """The operators left of nodes that lead from weights to an Add with the input; None for a constant."""
    shape = [4, 3]
    model = make([*nodes, helper.make_node("Add", ["x", "c"], ["y"], name="add")], [info("x", *shape)], [info("y", *shape)], weights)
    s.onnxc(save(model, folder / "m.onnx"), "-o", folder / "m.mlir", *flags)
    return re.findall(r'"onnx\.(\w+)"', (folder / "m.mlir").read_text())


def constants_are_folded(s, folder):
    nodes = [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("Sin", ["t"], ["c"])]
    ops = ops_after_folding(s, nodes, [weight("w", 3, 4)], folder)
    kept = ops_after_folding(s, nodes, [weight("w", 3, 4)], folder, "--max-constant-size", "0")
    if "Sin" in ops or "Sin" not in kept:
        return f"left {ops}; without room {kept}"
    x = np.ones((4, 3), np.float32)
    np.save(folder / "x.npy", x)
    s.onnxc("run", folder / "m.onnx", "--input", f"x={folder}/x.npy", "--output-dir", folder)
    want = x + np.sin(numpy_helper.to_array(weight("w", 3, 4)).T)
    return None if np.allclose(np.load(folder / "y.npy"), want, 1e-6, 1e-6) else "another value than the run's"


def weights_are_folded(s, folder):
    """Weights larger than what they are made of, which a product or a Gather reads at every run; others stay."""
    w = numpy_helper.from_array(np.arange(2048, dtype=np.float32).reshape(1, 2048), "w")
    nodes = [helper.make_node("Transpose", ["w"], ["t"]), helper.make_node("Mul", ["t", "w"], ["m"])]
    for op, inputs, x in (("MatMul", ["x", "m"], (2, 2048)), ("Gather", ["m", "i"], None), ("Add", ["x", "m"], (1, 2048))):
        given = info("x", *x) if x else info("i", 3, dtype=TensorProto.INT64)
        s.onnxc(save(make([*nodes, helper.make_node(op, inputs, ["y"])], [given], [info("y", "r", 2048)], [w]), folder / "m.onnx"), "-o", folder / "m.mlir")
        folded = '"onnx.Mul"' not in (folder / "m.mlir").read_text()
        if folded != (op != "Add"):
            return f"{op}: {'folded' if folded else 'left'}"
    return None


def constants_behind_views_are_folded(s, folder):
    nodes = [helper.make_node("Sin", ["w"], ["n"]), helper.make_node("Flatten", ["n"], ["c"])]
    ops = ops_after_folding(s, nodes, [weight("w", 4, 3)], folder)
    return None if "Sin" not in ops else f"left {ops}"


def quantised_product(bytes_of_run, again=False, einsum=False):
    """Rows times 8-bit weights by columns; the rows are quantised or not. `again`: the weights are quantised from what was dequantised."""
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["d"], axis=0), helper.make_node("Transpose", ["d"], ["t"], perm=[1, 0])]
    if again:
        nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["f0"], axis=0), helper.make_node("QuantizeLinear", ["f0", "s"], ["q0"], axis=0, output_dtype=TensorProto.INT8)] + nodes
        nodes[2].input[0] = "q0"
    if bytes_of_run:
        nodes += [helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), helper.make_node("DequantizeLinear", ["q", "xs", "xz"], ["r"]), helper.make_node("Flatten", ["r"], ["f"], axis=1)]
    product, more = ("Einsum", {"equation": "ik,kj->ij"}) if einsum else ("MatMul", {})
    nodes.append(helper.make_node(product, ["f" if bytes_of_run else "x", "t"], ["y"], **more))
    weights = [numpy_helper.from_array(np.arange(-64, 64, dtype=np.int8).reshape(4, 32), "w"), numpy_helper.from_array(np.float32([0.5, 0.25, 1, 2]), "s")]
    scales = [numpy_helper.from_array(np.float32(0.125), "xs"), numpy_helper.from_array(np.int8(3), "xz")]
    return make(nodes, [info("x", 3, 32)], [info("y", 3, 4)], weights + scales * bytes_of_run, opset=21)


def dequantised_weights_are_folded(s, folder):
    s.onnxc(save(quantised_product(False), folder / "m.onnx"), "-o", folder / "m.mlir")
    ops = re.findall(r'"onnx\.(\w+)"', (folder / "m.mlir").read_text())
    if "DequantizeLinear" in ops or "Transpose" in ops:
        return f"left {ops}"
    np.save(folder / "x.npy", np.ones((3, 32), np.float32))
    s.onnxc("run", folder / "m.onnx", "--input", f"x={folder}/x.npy", "--output-dir", folder)
    want = np.arange(-64, 64).reshape(4, 32).sum(1) * np.float32([0.5, 0.25, 1, 2])
    return None if np.allclose(np.load(folder / "y.npy"), want) else "another value than the run's"


def dequantised_weights_that_are_too_large_stay(s, folder):
    nodes = [helper.make_node("DequantizeLinear", ["w", "s"], ["c"], axis=0)]
    weights = [numpy_helper.from_array(np.arange(12, dtype=np.int8).reshape(4, 3), "w"), numpy_helper.from_array(np.float32([0.5, 0.25, 1, 2]), "s")]
    ops = ops_after_folding(s, nodes, weights, folder, "--max-constant-size", "40")
    return None if "DequantizeLinear" in ops else f"left {ops}"


def weights_that_meet_bytes_stay_bytes(s, folder):
    for form in {}, {"again": True}, {"einsum": True}:
        s.onnxc(save(quantised_product(True, **form), folder / "m.onnx"), "-o", folder / "m.so", "--dump-phases", folder / "dump")
        text = (next(folder.glob("dump/*-plan.mlir"))).read_text()
        shutil.rmtree(folder / "dump")
        if "packed.LinearMatMul" not in text or "DequantizeLinear" in text:
            return f"not a product of bytes, {form}"


def random_numbers_are_not_folded(s, folder):
    ops = ops_after_folding(s, [helper.make_node("RandomNormalLike", ["w"], ["r"]), helper.make_node("Sin", ["r"], ["c"])], [weight("w", 4, 3)], folder)
    return None if "RandomNormalLike" in ops and "Sin" in ops else f"left {ops}"


def constants_that_fail_fail_at_the_run(s, folder):
    index = numpy_helper.from_array(np.array([9], np.int64), "i")
    nodes = [helper.make_node("GatherND", ["w", "i"], ["g"], name="pick"), helper.make_node("Sin", ["g"], ["c"])]
    ops = ops_after_folding(s, nodes, [weight("w", 4, 3), index], folder)
    text = s.onnxc("run", folder / "m.onnx", code=1).stderr
    return None if "GatherND" in ops and "pick" in text else f"left {ops}, said {text}"


CHECKS = [constants_are_folded, weights_are_folded, constants_behind_views_are_folded, dequantised_weights_are_folded, dequantised_weights_that_are_too_large_stay, weights_that_meet_bytes_stay_bytes, random_numbers_are_not_folded, constants_that_fail_fail_at_the_run]
