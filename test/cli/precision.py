"""Weights of 16 bits, as a user asks for them; run.py runs these."""
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, mlp_model, save


def npy(path, array):
    np.save(path, array)
    return path


def precision_of_weights(s, folder):
    """Halves are half as large, told by inspect, kept apart in the cache, and verify's default tolerance fits them; f32 is what no flag gives."""
    x = np.random.default_rng(0).standard_normal((9, 96)).astype(np.float32)
    model, data = save(mlp_model(), folder / "m.onnx"), folder / "test_data_set_0"
    data.mkdir()
    np.save(folder / "x.npy", x)
    plain = s.compile(mlp_model(), folder, "--cache", folder / "cache")
    before = plain.read_bytes()
    if s.compile(mlp_model(), folder, "--precision", "f32").read_bytes() != before:
        return "--precision f32 gives other bytes"
    s.onnxc("run", plain, "--input", f"x={folder / 'x.npy'}", "--output-dir", folder)
    for file, value in (("input_0.pb", x), ("output_0.pb", np.load(folder / "y.npy"))):
        (data / file).write_bytes(numpy_helper.from_array(value).SerializeToString())
    for precision in ("bf16", "f16"):
        half = s.compile(mlp_model(), folder, "--precision", precision, "--cache", folder / "cache", name=precision)
        if f"--precision {precision}" not in s.onnxc("inspect", half).stdout or not s.weight_bytes(half) < 0.53 * s.weight_bytes(plain):
            return f"{precision}: {s.weight_bytes(half)} bytes of {s.weight_bytes(plain)}"
        s.onnxc("verify", half, "--data", folder)
        s.onnxc("verify", model, "--precision", precision, "--layers")
        s.onnxc("verify", half, "--rtol", "1e-6", "--data", folder, code=1)
    s.onnxc("verify", plain, "--data", folder)
    return None


def halves_between_layers(s, folder):
    """A model of float16, which optimised code computes in f32, is compared value by value; what the optimised code did not do is said."""
    x, y = (info(name, 8, 16, dtype=TensorProto.FLOAT16) for name in "xy")
    w = numpy_helper.from_array(np.random.default_rng(0).standard_normal((16, 16)).astype(np.float16), "w")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["a"], name="mm"), helper.make_node("Softmax", ["a"], ["y"], name="soft")]
    model, data = save(make(nodes, [x], [y], [w]), folder / "m.onnx"), folder / "test_data_set_0"
    if not re.fullmatch(r"2 of 2 results of the model compared with -O0, 0 differ; most: .* of the largest value, at (mm|soft)\n", said := s.onnxc("verify", model, "--layers").stdout):
        return said
    wide = [helper.make_node("Cast", [n], [m], to=TensorProto.BFLOAT16) for n, m in (("x", "c"), ("w", "v"))]
    wide += [helper.make_node("MatMul", ["c", "v"], ["a"]), helper.make_node("MatMul", ["a", "v"], ["b"]), helper.make_node("Cast", ["b"], ["y"], to=TensorProto.FLOAT)]
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32), "w")
    widened = save(make(wide, [info("x", 8, 64)], [info("y", 8, 64)], [weights]), folder / "wide.onnx")
    if " 0 differ; most: " not in (said := s.onnxc("verify", widened, "--layers").stdout):
        return said
    data.mkdir()
    s.onnxc("run", model, "--output-dir", folder, "--input", f"x={npy(folder / 'x.npy', np.ones((8, 16), np.float16))}")
    result = np.load(folder / "y.npy").astype(np.float32)
    for off, code in ((0.002, 0), (0.01, 1)):
        for file, value in (("input_0.pb", np.ones((8, 16), np.float16)), ("output_0.pb", (result + off * result.max()).astype(np.float16))):
            (data / file).write_bytes(numpy_helper.from_array(value).SerializeToString())
        said = s.onnxc("verify", model, "--layers", "--data", folder, code=code).stdout
        if code != said.count("the optimised code does what -O0 does: look for the difference in the model or in the data"):
            return said
    return None


def precision_that_changes_nothing(s, folder):
    """A model whose matrices are all small is compiled as it is, and that is said, once."""
    node = helper.make_node("MatMul", ["x", "w"], ["y"])
    model = save(make([node], [info("x", 2, 16)], [info("y", 2, 16)], [numpy_helper.from_array(np.ones((16, 16), np.float32), "w")]), folder / "m.onnx")
    for command in ([model, "-o", folder / "m.so"], ["verify", model, "--layers"]):
        said = s.onnxc(*command, "--precision", "bf16").stderr
        if said.count("warning: --precision bf16 changes nothing: no f32 product of this model has a constant matrix of 4,096 elements") != 1:
            return said
    said = s.onnxc(save(mlp_model(), folder / "mlp.onnx"), "-o", folder / "m.so", "--precision", "f16").stderr
    return said or None


CHECKS = [precision_that_changes_nothing, precision_of_weights, halves_between_layers]
