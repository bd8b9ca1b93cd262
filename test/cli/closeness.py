"""How close results must be to reference data, and how close `onnxc verify` says they are: checks of the suite `cli` (run.py)."""
import json

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, relu_model, save
from custom import X


def write_set(folder, x, y):
    folder.mkdir(parents=True)
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    (folder / "output_0.pb").write_bytes(numpy_helper.from_array(y, "y").SerializeToString())


def verify_passes(s, folder):
    write_set(folder / "test_data_set_0", X, np.maximum(X, 0))
    text = s.onnxc("verify", save(relu_model(2, 3), folder / "m.onnx"), "--data", folder).stdout
    return None if "1 passed" in text else text


def verify_fails(s, folder):
    write_set(folder / "test_data_set_0", X, np.maximum(X, 0) + 0.5)
    text = s.onnxc("verify", save(relu_model(2, 3), folder / "m.onnx"), "--data", folder, code=1).stdout
    return None if "y" in text and "6 of 6" in text else text


def verify_allows_a_part_of_the_largest(s, folder):
    """0.0001 of an output's largest element, where neither --rtol nor --atol is given; the line of a set tells how close it was."""
    x = np.array([[50, 1e-4, 0], [1, 2, 3]], np.float32)
    path = save(relu_model(2, 3), folder / "m.onnx")
    for name, off in (("equal", 0), ("near", 0.004), ("far", 0.006)):
        write_set(folder / name / "test_data_set_0", x, x + np.array([[0, off, 0], [0, 0, 0]], np.float32))
    for name, flags, code, words in (("equal", [], 0, "_0 (equal)\n"), ("near", [], 0, "_0 (largest difference 0.004, 8e-05 of the largest value)\n"),
                                     ("near", ["--rtol", "1e-3"], 1, "1 of 6 elements differ, first at [0,1]: 9.99999975e-05 instead of 0.0041000"),
                                     ("far", [], 1, "; largest difference 0.006, 0.00012 of the largest value\n"), ("far", ["--atol", "0.01"], 0, "(largest difference 0.006")):
        text = s.onnxc("verify", path, "--data", folder / name, *flags, code=code).stdout
        if words not in text:
            return f"{name} {flags}: {text}"
    (report,) = json.loads(s.onnxc("verify", path, "--data", folder / "near", "--json").stdout)["sets"]
    return None if np.allclose([report["largest_difference"], report["of_largest_value"]], [0.004, 8e-5], 1e-3) else f"{report}"


def verify_tells_what_is_not_finite(s, folder):
    """A number in the place of none is infinitely far from it; none in the place of none is equal."""
    path = save(relu_model(2, 3), folder / "m.onnx")
    x = np.array([[np.inf, 1, 0], [0, 0, 0]], np.float32)
    write_set(folder / "same" / "test_data_set_0", x, x)
    write_set(folder / "other" / "test_data_set_0", x, np.array([[np.nan, 1, 0], [0, 0, 0]], np.float32))
    if "(equal)" not in (text := s.onnxc("verify", path, "--data", folder / "same").stdout):
        return text
    if "; largest difference inf\n" not in (text := s.onnxc("verify", path, "--data", folder / "other", code=1).stdout):
        return text
    (report,) = json.loads(s.onnxc("verify", path, "--data", folder / "other", "--json", code=1).stdout)["sets"]
    return None if report["largest_difference"] == report["of_largest_value"] == "Infinity" else f"{report}"


def verify_measures_floats_alone(s, folder):
    """Of integers there is no distance: `--json` has none, rather than 0, where they differ."""
    x = np.array([1, 2, 3], np.int64)
    write_set(folder / "test_data_set_0", x, x)
    path = save(make([helper.make_node("Neg", ["x"], ["y"])], [info("x", 3, dtype=TensorProto.INT64)], [info("y", 3, dtype=TensorProto.INT64)]), folder / "m.onnx")
    (report,) = json.loads(s.onnxc("verify", path, "--data", folder, "--json", code=1).stdout)["sets"]
    return None if len(report["differences"]) == 1 and "largest_difference" not in report else f"{report}"


def layers_on_the_way_are_not_judged(s, folder):
    """Blocks of a convolution's operand, and a part of its sum that comes before a Resize, have its name and shape; another node finishes it."""
    w = np.random.default_rng(0).standard_normal((64, 128, 3, 3)).astype(np.float32)
    conv = [helper.make_node("Conv", ["a", "w"], ["y"], name="conv", pads=[1, 1, 1, 1]), helper.make_node("Relu", ["y"], ["z"], name="relu")]
    plain = save(make(conv, [info("a", 1, 64, 22, 22)], [info("z", 1, 64, 22, 22)], [numpy_helper.from_array(w[:, :64].copy(), "w")]), folder / "plain.onnx")
    head = [helper.make_node("Resize", ["a", "", "s"], ["u"], name="up", mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor"),
            helper.make_node("Concat", ["u", "b"], ["c"], name="cat", axis=1), helper.make_node("Conv", ["c", "w"], ["y"], name="conv"), conv[1]]
    scales = numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")
    joined = save(make(head, [info("a", 1, 64, 10, 10), info("b", 1, 64, 20, 20)], [info("z", 1, 64, 20, 20)], [numpy_helper.from_array(w[:, :, :1, :1].copy(), "w"), scales]), folder / "joined.onnx")
    for model in (plain, joined):
        if " 0 differ" not in (said := s.onnxc("verify", model, "--layers").stdout) or "at relu" not in said:
            return said
    said = s.onnxc("verify", plain, "--layers", "--rtol", "1e-9", code=1).stdout
    return None if said.startswith("first relu (") else said


CHECKS = [layers_on_the_way_are_not_judged, verify_passes, verify_fails, verify_allows_a_part_of_the_largest, verify_tells_what_is_not_finite, verify_measures_floats_alone]
