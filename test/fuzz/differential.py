"""Random valid graphs, compiled at -O3 and -O0 and compared with ONNX's reference evaluator.

usage: differential.py --onnxc BIN --loader DIR --out DIR [--seconds N] [--seed N]      ends with `differential: N passed, N failed, N skipped`

What fails stays in OUT as <seed>.onnx; tools/reduce.py makes it small.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import compare, forked

UNARY = ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Floor", "Sqrt", "Softplus", "Erf", "HardSigmoid", "LeakyRelu", "Identity", "Sign", "Cos"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp"]


class Graph:
    """Grows node by node; every value keeps the array that the reference gives for it, so that only well-conditioned steps are taken."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.nodes, self.weights, self.values = [], [], {}
        self.symbolic = bool(self.r.integers(3) == 0)
        rank = int(self.r.integers(1, 5))
        self.feed = {}
        for i in range(int(self.r.integers(1, 3))):
            x = self.r.standard_normal(self.r.integers(1, 7, rank)).astype(np.float32)
            self.feed[f"x{i}"] = self.values[f"x{i}"] = x

    def pick(self, test=lambda a: True):
        names = [n for n, a in self.values.items() if test(a)]
        return names[int(self.r.integers(len(names)))] if names else None

    def constant(self, array):
        name = f"c{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name, array

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def emit(self, op, inputs, **attributes):
        """Adds the node when its result is finite, not empty and not huge."""
        node = helper.make_node(op, [n for n, _ in inputs], [f"v{len(self.nodes)}"], name=f"n{len(self.nodes)}", **attributes)
        graph = helper.make_graph([node], "g", [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in dict(inputs).items()],
                                  [helper.make_empty_tensor_value_info(node.output[0])])
        with np.errstate(all="ignore"):
            got = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)).run(None, dict(inputs))[0]
        got = np.asarray(got)
        if got.dtype == np.float32 and got.size and got.size < 5000 and got.ndim <= 5 and np.isfinite(got).all() and np.abs(got).max() < 1e4:
            self.nodes.append(node)
            self.values[node.output[0]] = got

    def step(self):
        name = self.pick()
        a = self.values[name]
        x = (name, a)
        r = self.r
        kind = int(r.integers(10))
        if kind <= 2:
            self.emit(UNARY[int(r.integers(len(UNARY)))], [x])
        elif kind <= 4:
            other = self.pick(lambda b: broadcasts(a, b))
            y = (other, self.values[other]) if r.integers(2) else self.constant(r.standard_normal(a.shape[-1:]).astype(np.float32))
            op = BINARY[int(r.integers(len(BINARY)))]
            if op != "Div" or np.abs(y[1]).min() > 0.1:
                self.emit(op, [x, y] if r.integers(2) or op == "Div" else [y, x])
        elif kind == 5 and a.ndim:
            axes = [int(i) for i in range(a.ndim) if r.integers(2)] or [a.ndim - 1]
            self.emit(REDUCE[int(r.integers(len(REDUCE)))], [x, self.ints(*axes)], keepdims=int(r.integers(2)))
        elif kind == 6 and a.ndim:
            self.emit("Transpose", [x], perm=[int(i) for i in r.permutation(a.ndim)])
        elif kind == 7 and a.ndim:
            self.move(x)
        elif kind == 8 and a.ndim >= 2:
            self.emit("MatMul", [x, self.constant(r.standard_normal((a.shape[-1], int(r.integers(1, 20)))).astype(np.float32))])
        elif a.ndim:
            self.normalise(x)

    def move(self, x):
        a, r = x[1], self.r
        axis, kind = int(r.integers(a.ndim)), int(r.integers(4))
        if kind == 0:
            self.emit("Concat", [x, x], axis=axis)
        elif kind == 1:
            self.emit("Slice", [x, self.ints(0), self.ints(int(r.integers(1, a.shape[axis] + 1))), self.ints(axis), self.ints(int(r.integers(1, 3)))])
        elif kind == 2:
            self.emit("Gather", [x, self.ints(*r.integers(-a.shape[axis], a.shape[axis], 3))], axis=axis)
        else:
            self.emit("Unsqueeze", [x, self.ints(axis)])

    def normalise(self, x):
        a, r = x[1], self.r
        if r.integers(2):
            self.emit("Softmax", [x], axis=int(r.integers(a.ndim)))
        else:
            self.emit("LayerNormalization", [x, self.constant(r.standard_normal(a.shape[-1:]).astype(np.float32))], axis=-1, epsilon=0.01)

    def model(self):
        dims = {}
        def shape(a):
            return [dims.setdefault(int(d), f"d{d}") if self.symbolic else int(d) for d in a.shape]
        inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape(a)) for n, a in self.feed.items()]
        used = {i for n in self.nodes for i in n.input}
        ends = [n.output[0] for n in self.nodes if n.output[0] not in used]
        outputs = [helper.make_tensor_value_info(e, TensorProto.FLOAT, [None] * self.values[e].ndim) for e in ends]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), [self.values[e] for e in ends]


def broadcasts(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) is not None
    except ValueError:
        return False


def run(library, feed, wanted):
    import onnxc
    for want, got in zip(wanted, onnxc.load(str(library)).run(feed)):
        wrong = compare(want, got, 2e-4, 2e-5)
        if wrong:
            return wrong
    return "ok"


def check(args, seed, folder):
    """None, or what is wrong with the graph of this seed."""
    g = Graph(seed)
    for _ in range(int(g.r.integers(2, 25))):
        g.step()
    if not g.nodes:
        return None
    model, wanted = g.model()
    source = folder / f"{seed}.onnx"
    onnx.save(model, source)
    for level in ("-O3", "-O0"):
        library = folder / f"{seed}{level}.so"
        done = subprocess.run([args.onnxc, source, "-o", library, level, "--cpu", "x86-64-v3"], capture_output=True, text=True, timeout=120)
        result = forked(lambda: run(library, g.feed, wanted), 60) if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()[:200]}"
        if result != "ok":
            args.out.mkdir(parents=True, exist_ok=True)
            (args.out / source.name).write_bytes(source.read_bytes())
            return f"{level}: {result}"
        library.unlink()
    source.unlink()
    return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    sys.path.insert(0, args.loader)
    passed = failed = 0
    end, seed = time.time() + args.seconds, args.seed
    with tempfile.TemporaryDirectory() as tmp:
        while time.time() < end:
            wrong = check(args, seed, Path(tmp))
            passed, failed = passed + (wrong is None), failed + (wrong is not None)
            if wrong:
                print(f"seed {seed}: {wrong}", flush=True)
            seed += 1
    print(f"differential: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
