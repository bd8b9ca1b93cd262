"""How far onnxc and the stored reference of a model are from its evaluation in double precision: the evidence behind xfail.txt.

usage: exact.py --onnxc BIN --loader DIR MODEL.onnx …       MODEL.npz beside it holds input and reference
Prints for each the largest error of both, relative to the largest exact value. Only operators that those models have are known here.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper


def padded(x, pads, value=0.0):
    half = len(pads) // 2
    return np.pad(x, list(zip(pads[:half], pads[half:])), constant_values=value)


def conv(a, x, w, b=None):
    n = w.ndim - 2
    strides, dilations = a.get("strides", [1] * n), a.get("dilations", [1] * n)
    pads, group = a.get("pads", [0] * 2 * n), a.get("group", 1)
    x = padded(x, [0, 0, *pads[:n], 0, 0, *pads[n:]])
    size = [(x.shape[i + 2] - dilations[i] * (w.shape[i + 2] - 1) - 1) // strides[i] + 1 for i in range(n)]
    parts = []
    for g in range(group):
        rows, depth = w.shape[0] // group, w.shape[1]
        y = np.zeros((x.shape[0], rows, *size))
        for tap in np.ndindex(*w.shape[2:]):
            at = tuple(slice(t * d, t * d + (s - 1) * step + 1, step) for t, d, s, step in zip(tap, dilations, size, strides))
            y += np.einsum("oc,nchw->nohw", w[(slice(g * rows, (g + 1) * rows), slice(None), *tap)], x[(slice(None), slice(g * depth, (g + 1) * depth), *at)], optimize=True)
        parts.append(y)
    y = np.concatenate(parts, axis=1)
    return y if b is None else y + b.reshape(1, -1, *[1] * n)


def conv_transpose(a, x, w, b=None):
    n = w.ndim - 2
    strides, pads, size = a.get("strides", [1] * n), a.get("pads", [0] * 2 * n), a.get("output_shape", [0] * n)
    full = [max((x.shape[i + 2] - 1) * strides[i] + w.shape[i + 2], size[i]) for i in range(n)]  # nothing falls on what a larger size adds
    y = np.zeros((x.shape[0], w.shape[1], *full))
    for tap in np.ndindex(*w.shape[2:]):
        at = tuple(slice(t, t + (s - 1) * step + 1, step) for t, s, step in zip(tap, x.shape[2:], strides))
        y[(slice(None), slice(None), *at)] += np.einsum("co,nchw->nohw", w[(slice(None), slice(None), *tap)], x, optimize=True)
    y = y[(slice(None), slice(None), *(slice(pads[i], full[i] - pads[n + i]) for i in range(n)))]
    return y if b is None else y + b.reshape(1, -1, *[1] * n)


def normalise(x, axes, scale, bias, epsilon):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(((x - mean) ** 2).mean(axis=axes, keepdims=True) + epsilon) * scale + bias


def instance_norm(a, x, scale, bias):
    across = (1, -1, *[1] * (x.ndim - 2))
    return normalise(x, tuple(range(2, x.ndim)), scale.reshape(across), bias.reshape(across), a.get("epsilon", 1e-5))


def embed_layer_norm(a, ids, segments, words, positions, kinds, scale, bias, mask=None, places=None):
    x = words[ids] + positions[np.arange(ids.shape[1]) if places is None else places] + (0 if segments is None else kinds[segments])
    return normalise(x, -1, scale, bias, a.get("epsilon", 1e-12)), None, x


def attention(a, x, w, b, *rest):
    heads, (batch, length, _) = a["num_heads"], x.shape
    q, k, v = (t.reshape(batch, length, heads, -1).transpose(0, 2, 1, 3) for t in np.split(x @ w + b, 3, axis=-1))
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    if a.get("unidirectional", 0):
        s = np.where(np.tril(np.ones((length, length), bool)), s, -np.inf)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return (p / p.sum(axis=-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(batch, length, -1)


def skip_layer_norm(a, x, skip, scale, bias=0.0, extra=0.0):
    return normalise(x + skip + (0.0 if extra is None else extra), -1, scale, 0.0 if bias is None else bias, a.get("epsilon", 1e-12))


def along(x, v, axis):
    return v.reshape([-1 if i == axis else 1 for i in range(x.ndim)]) if v.ndim == 1 and v.size > 1 else v


def quantise(a, x, scale, zero):
    low, high = np.iinfo(zero.dtype).min, np.iinfo(zero.dtype).max
    return np.clip(np.rint(x / along(x, scale, a.get("axis", 1))) + along(x, zero.astype(float), a.get("axis", 1)), low, high).astype(zero.dtype)


def dequantise(a, x, scale, zero=None):
    return (x.astype(float) - (0 if zero is None else along(x, zero.astype(float), a.get("axis", 1)))) * along(x, scale, a.get("axis", 1))


def gemm(a, x, w, b=0.0):
    return a.get("alpha", 1.0) * (x.T if a.get("transA") else x) @ (w.T if a.get("transB") else w) + a.get("beta", 1.0) * b


def crop(a, x):
    left, top, right, bottom = a["border"]
    return x[:, :, top : x.shape[2] - bottom, left : x.shape[3] - right]


def cast(a, x):
    kind = onnx.helper.tensor_dtype_to_np_dtype(a["to"])
    return x.astype(float if kind.kind == "f" else kind)


OPS = {
    "Add": lambda a, x, y: x + y, "Mul": lambda a, x, y: x * y, "MatMul": lambda a, x, y: x @ y, "Relu": lambda a, x: np.maximum(x, 0),
    "Tanh": lambda a, x: np.tanh(x), "Identity": lambda a, x: x, "Cast": cast, "Flatten": lambda a, x: x.reshape(x.shape[0], -1),
    "GlobalAveragePool": lambda a, x: x.mean(axis=(2, 3), keepdims=True), "Conv": conv, "ConvTranspose": conv_transpose,
    "InstanceNormalization": instance_norm, "EmbedLayerNormalization": embed_layer_norm, "Attention": attention, "SkipLayerNormalization": skip_layer_norm,
    "QuantizeLinear": quantise, "DequantizeLinear": dequantise, "Gemm": gemm, "Crop": crop,
    "Affine": lambda a, x: a.get("alpha", 1.0) * x + a.get("beta", 0.0),
    "ImageScaler": lambda a, x: a.get("scale", 1.0) * x + np.array(a["bias"]).reshape(1, -1, 1, 1),
    "Pad": lambda a, x: np.pad(x, list(zip(a["pads"][: x.ndim], a["pads"][x.ndim :])), **({"mode": "reflect"} if a.get("mode") == b"reflect" else {"constant_values": a.get("value", 0.0)})),
}


def wide(x):
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def evaluate(model, feed):
    values = {i.name: wide(numpy_helper.to_array(i)) for i in model.graph.initializer} | {k: wide(v) for k, v in feed.items()} | {"": None}
    waiting = list(model.graph.node)
    while waiting:  # in any order of the file
        node = waiting.pop(0)
        if any(n not in values for n in node.input):
            waiting.append(node)
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        results = OPS[node.op_type](attributes, *(values[n] for n in node.input))
        values |= zip(node.output, results if isinstance(results, tuple) else (results,))
    return values[model.graph.output[0].name]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("models", nargs="+", type=Path)
    args = p.parse_args()
    sys.path.insert(0, args.loader)
    import onnxc
    for path in args.models:
        model, stored = onnx.load(path), np.load(path.with_suffix(".npz"))
        x = stored["in0"] if "in0" in stored else (stored["in0.i8"].astype(np.float32) / 16).astype(str(stored["in0.dtype"]))
        weights = {i.name for i in model.graph.initializer}
        name = next(i.name for i in model.graph.input if i.name not in weights)
        exact = evaluate(model, {name: x})
        picked = stored["out0.idx"] if "out0.idx" in stored else np.arange(exact.size)
        reference = (stored["out0.val"] if "out0.val" in stored else stored["out0"]).ravel().astype(np.float64)
        for flags in ([], ["-O0"]):
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run([args.onnxc, path, "-o", f"{folder}/m.so", "--cpu", "native", *flags], check=True)
                ours = np.asarray(onnxc.load(f"{folder}/m.so").run({name: x})[0]).ravel()[picked].astype(np.float64)
            top, want = np.abs(exact).max(), exact.ravel()[picked]
            print(f"{path.stem} {' '.join(flags) or '-O3'}: onnxc is {np.abs(ours - want).max() / top:.2e} off, the reference {np.abs(reference - want).max() / top:.2e},"
                  f" one from the other {np.abs(ours - reference).max() / top:.2e}", flush=True)


if __name__ == "__main__":
    main()
