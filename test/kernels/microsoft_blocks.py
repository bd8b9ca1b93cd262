"""Checks of microsoft.py for files that ONNX Runtime itself writes: convolutional networks saved at its highest level, with tensors in blocks of channels; and for an
operator whose kernel wants its operands bound.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import hide_cpu
from common import CACHE, Skip, info, make, save
from values import compare, peer

DOMAIN = "com.microsoft.nchwc"


class Net:
    """Nodes one behind the other, with weights that they name themselves."""

    def __init__(self):
        self.nodes, self.weights, self.rng = [], [], np.random.default_rng(3)

    def constant(self, values):
        self.weights.append(numpy_helper.from_array(np.asarray(values, np.float32), f"w{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape):
        return self.constant(self.rng.standard_normal(shape) / np.prod(shape[1:] or (4,)) ** 0.5)

    def __call__(self, op, *inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=f"{op}_{name}", **attributes))
        return name

    def conv(self, x, channels, results, size=3, group=1, bias=True, **attributes):
        pads = attributes.pop("pads", [size // 2] * 4)
        operands = [x, self.weight(results, channels // group, size, size)] + ([self.weight(results)] if bias else [])
        return self("Conv", *operands, group=group, pads=pads, **attributes)


def residual(n):
    """Channels that fill no block, a sum behind a convolution, pools, one number for each channel at the end. What is 24 wide tells the width of the blocks."""
    a = n("Relu", n.conv("x", 3, 24, bias=False))
    b = n("Relu", n("Add", n.conv(n("Relu", n.conv(a, 24, 24)), 24, 24), a))
    c = n("MaxPool", n.conv(b, 24, 32, bias=False), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    return n("GlobalAveragePool", c), n("GlobalMaxPool", c), b


def groups(n):
    """Depthwise and other groups, a scale for each channel, activations with and without parameters."""
    a = n("LeakyRelu", n.conv("x", 3, 24), alpha=0.2)
    b = n("Sigmoid", n.conv(a, 24, 24, group=24, strides=[2, 2]))
    c = n("HardSigmoid", n.conv(b, 24, 32, size=1), alpha=0.3)
    d = n("BatchNormalization", n("MaxPool", c, kernel_shape=[2, 2]), *[n.weight(32) for _ in range(3)], n.constant(np.linspace(0.5, 2, 32)), epsilon=1e-3)
    e = n("Tanh", n.conv(n("Mul", d, n("Sigmoid", n.conv(d, 32, 32, size=1))), 32, 32, group=2, dilations=[2, 2], pads=[2, 2, 2, 2]))
    return n.conv(n("Clip", e, n.constant(-0.3), n.constant(0.4)), 32, 3), a


def joined(n):
    """Blocks one behind the other, pools that count padding and such that do not, both kinds of Upsample, axes in another order around."""
    x = n("Transpose", "x", perm=[0, 3, 1, 2])
    a, b = n("Relu", n.conv(x, 16, 24)), n("Relu", n.conv(x, 16, 16))
    both = n("Concat", n("AveragePool", b, kernel_shape=[2, 2], strides=[2, 2]), n("AveragePool", b, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], count_include_pad=1), axis=1)
    sizes = n.constant([1, 1, 2, 2])
    near = n("Resize", both, "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    smooth = n("Resize", n.conv(near, 32, 16), "", sizes, mode="linear", coordinate_transformation_mode="half_pixel")
    return n("Transpose", smooth, perm=[0, 2, 3, 1]), a


def unproven(n):
    """A sum of tensors of which ONNX Runtime does not know that they have one shape; a QuickGelu that it makes."""
    a = n.conv("x", 3, 24)
    g = n("Mul", a, n("Sigmoid", a))
    b = n.conv(g, 24, 24, strides=[3, 3], pads=[1, 1, 1, 1])
    c = n.conv(g, 24, 24, size=5, strides=[3, 3], pads=[2, 2, 2, 2])
    return n("Relu", n("Add", b, n("Add", c, b))), g


NETS = {"residual": (residual, [1, 3, 13, 17], None), "groups": (groups, [2, 3, 16, 12], None), "joined": (joined, [1, 12, 16, 16], None),
        "unproven": (unproven, [2, 3, 13, 16], ["batch", 3, "height", "width"])}
CASES = {f"blocks_{name}_{block}": (name, block) for name in NETS for block in (16, 8)}


def net(name):
    make_net, sizes, names = NETS[name]
    n = Net()
    results = make_net(n)
    model = make(n.nodes, [info("x", *(names or sizes))], [info(r, *[None] * 4) for r in results], n.weights, opset=17)
    return model, {"x": np.random.default_rng(4).standard_normal(sizes).astype(np.float32)}


SAVE = """import sys, onnxruntime as o
options = o.SessionOptions()
options.optimized_model_filepath, options.log_severity_level = sys.argv[2], 4
o.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])"""


def saved(model, folder, block):
    """As ONNX Runtime writes it on a processor with AVX-512 or on one without. Skips where this one can be neither."""
    flags = set(Path("/proc/cpuinfo").read_text().split())
    more = {}
    if block == 16 and "avx512f" not in flags:
        raise Skip("no AVX-512")
    if block == 8 and "avx512f" in flags:
        if "cpuid_fault" not in flags:
            raise Skip("AVX-512 cannot be hidden")
        more = {"LD_PRELOAD": str(hide_cpu.library(CACHE)), "ONNXC_HIDE": "3"}
    plain, path = save(model, folder / "plain.onnx"), folder / f"blocks{block}.onnx"
    subprocess.run([sys.executable, "-c", SAVE, str(plain), str(path)], check=True, env={**os.environ, **more})
    return onnx.load(path)


def check(s, folder, name):
    import onnxc
    name, block = CASES[name]
    model, feed = net(name)
    want = peer(model, optimized=False).run(None, feed)
    blocks = saved(model, folder, block)
    if all(node.domain != DOMAIN for node in blocks.graph.node):
        return "ONNX Runtime has put nothing into blocks"
    for flags in ([], ["-O0"]):
        library = s.compile(blocks, folder, *flags, name=f"blocks{len(flags)}")
        problem = compare(want, [np.asarray(g) for g in onnxc.load(str(library)).run(feed)], 1e-4, 1e-5)
        if problem:
            return f"{flags}: {problem}"
    return None


def all_operators(s, folder):
    """The networks above have each operator of the domain."""
    found = {node.op_type for name in NETS for node in saved(net(name)[0], folder, 16).graph.node if node.domain == DOMAIN}
    missing = {"AveragePool", "Conv", "GlobalAveragePool", "GlobalMaxPool", "MaxPool", "ReorderInput", "ReorderOutput", "Upsample"} - found
    return f"no {missing}" if missing else None


def unknown_blocks(s, folder):
    """Where no size tells the width of the blocks there is a warning."""
    n = Net()
    y = n("GlobalAveragePool", n.conv("x", 3, 32))
    path = save(saved(make(n.nodes, [info("x", 1, 3, 8, 8)], [info(y, *[None] * 4)], n.weights, opset=17), folder, 16), folder / "same.onnx")
    said = s.onnxc(path, "-o", folder / "same.so").stderr
    return None if "does not say whether its filters are in blocks of 16 or 8 channels; onnxc takes 16" in said else said


def unnamed_result(s, folder):
    """A result that is not given lies in no blocks, though what reads no operand has its name."""
    import onnxc
    nodes = [helper.make_node("ReorderInput", ["x"], [""], name="unread", domain=DOMAIN), helper.make_node("Clip", ["x", "", "high"], ["y"], name="clip")]
    model = make(nodes, [info("x", 1, 16, 2, 2)], [info("y", *[None] * 4)], [numpy_helper.from_array(np.float32(0.5), "high")], opset=17, domains=[DOMAIN])
    x = np.random.default_rng(4).standard_normal((1, 16, 2, 2)).astype(np.float32)
    return compare([np.minimum(x, np.float32(0.5))], [np.asarray(g) for g in onnxc.load(str(s.compile(model, folder))).run({"x": x})], 0, 0)


def sparse_attention(s, folder):
    """Blocks of keys that each block of queries sees, one layout for all heads and one for each of two. The cache is written in place, which ONNX Runtime's kernel demands; of a
    batch with several lengths it takes the blocks of one for all."""
    import onnxc
    import onnxruntime
    rng, heads, kv, width, size, longest = np.random.default_rng(7), 4, 2, 16, 16, 64
    f32 = lambda *shape: rng.standard_normal(shape).astype(np.float32)
    one = np.array([[0, 1, 3, 5, 8]], np.int32), np.array([[0, 0, 1, 1, 2, 1, 2, 3]], np.int32)
    two = np.array([[0, 1, 3, 5, 8], [0, 1, 3, 6, 9]], np.int32), np.array([[0, 0, 1, 1, 2, 1, 2, 3, -1], [0, 0, 1, 0, 1, 2, 0, 2, 3]], np.int32)
    angles = f32(longest, width // 2)
    rotation = [np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)]
    for (rows, columns), rotary, steps, lengths in ((one, 0, 40, [40]), (two, 1, 50, [50, 50]), (two, 0, 1, [41, 41]), (one, 1, 1, [64])):
        batch = len(lengths)
        feed = {"query": f32(batch, steps, heads * width), "key": f32(batch, steps, kv * width), "value": f32(batch, steps, kv * width),
                "past_key": f32(batch, kv, longest, width), "past_value": f32(batch, kv, longest, width), "total": np.array([max(lengths)], np.int32),
                "lengths": np.array(lengths, np.int32)}
        constants = {"rows": rows, "columns": columns, **({"cos": rotation[0], "sin": rotation[1]} if rotary else {})}
        names = ["query", "key", "value", "past_key", "past_value", "rows", "columns", "total", "lengths", *(["cos", "sin"] if rotary else [])]
        node = helper.make_node("SparseAttention", names, ["y", "k", "v"], name="op", domain="com.microsoft", num_heads=heads, kv_num_heads=kv, sparse_block_size=size, do_rotary=rotary)
        inputs = [info(k, *a.shape, dtype=helper.np_dtype_to_tensor_dtype(a.dtype)) for k, a in feed.items()]
        model = make([node], inputs, [info(r, *[None] * n) for r, n in zip("ykv", (3, 4, 4))], [numpy_helper.from_array(a, k) for k, a in constants.items()], opset=17,
                     domains=["com.microsoft"])
        session = peer(model, optimized=False)
        binding = session.io_binding()
        for k, a in feed.items():
            value = onnxruntime.OrtValue.ortvalue_from_numpy(a.copy())
            binding.bind_ortvalue_input(k, value)
            if k.startswith("past"):
                binding.bind_ortvalue_output({"past_key": "k", "past_value": "v"}[k], value)
        binding.bind_output("y")
        session.run_with_iobinding(binding)
        bound = {o.name: v.numpy() for o, v in zip(session.get_outputs(), sorted(binding.get_outputs(), key=lambda v: len(v.shape())))}
        got = dict(zip("ykv", (np.asarray(g) for g in onnxc.load(str(s.compile(model, folder, name=f"sparse{steps}{rotary}"))).run(feed))))
        problem = compare(bound["y"], got["y"], 1e-4, 1e-5)
        for b, length in enumerate(lengths):
            problem = problem or compare([bound[r][b, :, :length] for r in "kv"], [got[r][b, :, :length] for r in "kv"], 1e-4, 1e-5)
        if problem:
            return f"{steps} {lengths}: {problem}"
    return None
