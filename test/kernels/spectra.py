"""Convolutions whose filters are windowed cosines and sines are transforms of frames; those that are nearly so stay convolutions. run.py beside it runs them."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from values import peer

CASES = {}


def basis(length, window=None, sign=-1):
    """Filters of the real and of the imaginary part, [bins, 1, length]."""
    phase = 2 * np.pi * np.outer(np.arange(length // 2 + 1), np.arange(length)) / length
    window = np.hanning(length + 1)[:-1] if window is None else window
    return [(window * part).astype(np.float32)[:, None] for part in (np.cos(phase), sign * np.sin(phase))]


def spectrum(name, filters, transforms, size=(2, 1, 700), **attributes):
    """`filters`: of one convolution each, of the same signal; `transforms`: how many of them one STFT takes the place of."""
    for steps in (size[2], "n"):
        CASES[f"spectrum_{name}_{steps}"] = ([*size[:2], steps], size, filters, transforms, attributes)


_real, _imaginary = basis(64)
_other = basis(80, window=np.linspace(0.1, 1, 80), sign=1)
_off = np.concatenate([_real, _imaginary])
_off[40, 0, 30] += np.float32(1e-3)
spectrum("both", [np.concatenate([_real, _imaginary])], 1, strides=[16])
spectrum("other_sign", [np.concatenate(_other)], 1, strides=[20])
spectrum("apart", [_imaginary, _real], 1, strides=[32])
spectrum("apart_other_sign", [_other[0], -_other[1], _other[1]], 1, strides=[7])
spectrum("real", [_real], 1)
spectrum("sines_alone", [_imaginary], 0, strides=[16])
spectrum("one_tap_off", [_off], 0, strides=[16])
spectrum("padded", [_real], 0, pads=[32, 32])
spectrum("dilated", [_real], 0, dilations=[2])
spectrum("short", [np.concatenate(basis(32))], 0)
spectrum("odd_factor", [np.concatenate(basis(98))], 0)


def check(s, folder, name):
    import onnxc
    shape, size, filters, transforms, attributes = CASES[name]
    nodes = [helper.make_node("Conv", ["x", f"w{i}"], [f"y{i}"], **attributes) for i in range(len(filters))]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
                              [helper.make_tensor_value_info(n.output[0], TensorProto.FLOAT, None) for n in nodes],
                              [numpy_helper.from_array(w, f"w{i}") for i, w in enumerate(filters)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    library = s.compile(model, folder, "--dump-phases", folder / "dump", name=name)
    x = np.random.default_rng(1).standard_normal(size).astype(np.float32)
    for want, got in zip(peer(model).run(None, {"x": x}), onnxc.load(str(library)).run({"x": x})):
        if got.shape != want.shape or not np.abs(got - want).max() <= 2e-5 * np.abs(want).max():
            return f"{got.shape}, want {want.shape}: off by {np.abs(got - want).max():.1e}" if got.shape == want.shape else f"shape {got.shape}, want {want.shape}"
    found = (folder / "dump" / "3-graph.mlir").read_text().count('"onnx.STFT"')
    return None if found == transforms else f"{found} transforms, want {transforms}"
