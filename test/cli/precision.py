"""Weights of 16 bits, as a user asks for them; run.py runs these."""
import numpy as np
from onnx import numpy_helper

from common import mlp_model, save


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


CHECKS = [precision_of_weights]
