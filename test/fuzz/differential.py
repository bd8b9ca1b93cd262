"""Random valid graphs, compiled at -O3 and -O0 and compared with ONNX's reference evaluator.

usage: differential.py --onnxc BIN --loader DIR --out DIR [--seconds N] [--count N] [--seed N]
       ends with `differential: N passed, N failed, N skipped`

Graphs are compiled many to a model, which is most of the speed; those of a model that fails are tried one by one.
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
BATCH = 40
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp"]


class Graph:
    """Grows node by node; every value keeps the array that the reference gives for it, so that only well-conditioned steps are taken."""

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.seed = seed
        self.nodes, self.weights, self.values = [], [], {}
        self.symbolic = bool(self.r.integers(3) == 0)
        rank = int(self.r.integers(1, 5))
        self.feed = {}
        for i in range(int(self.r.integers(1, 3))):
            x = self.r.standard_normal(self.r.integers(1, 7, rank)).astype(np.float32)
            self.feed[f"x{i}_{seed}"] = self.values[f"x{i}_{seed}"] = x
        for _ in range(int(self.r.integers(2, 25))):
            self.step()
        used = {i for n in self.nodes for i in n.input}
        self.ends = [n.output[0] for n in self.nodes if n.output[0] not in used]

    def pick(self, test=lambda a: True):
        names = [n for n, a in self.values.items() if test(a)]
        return names[int(self.r.integers(len(names)))] if names else None

    def constant(self, array):
        name = f"c{len(self.weights)}_{self.seed}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name, array

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def emit(self, op, inputs, **attributes):
        """Adds the node when its result is finite, not empty and not huge."""
        node = helper.make_node(op, [n for n, _ in inputs], [f"v{len(self.nodes)}_{self.seed}"], name=f"n{len(self.nodes)}_{self.seed}", **attributes)
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
            op = UNARY[int(r.integers(len(UNARY)))]
            if not jumps(op, a):
                self.emit(op, [x])
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

    def type(self, name, known=True):
        shape = self.values[name].shape
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [(f"d{d}" if self.symbolic else int(d)) if known else None for d in shape])


def together(graphs):
    """One model of them all."""
    def every(part):
        return [item for g in graphs for item in part(g)]
    graph = helper.make_graph(every(lambda g: g.nodes), "g", every(lambda g: [g.type(x) for x in g.feed]),
                              every(lambda g: [g.type(e, False) for e in g.ends]), every(lambda g: g.weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def jumps(op, a):
    """Whether a rounding error before the op may change its result by a whole step."""
    return (op == "Floor" and abs(a - np.round(a)).min() < 1e-3) or (op == "Sign" and abs(a).min() < 1e-3)


def broadcasts(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) is not None
    except ValueError:
        return False


def run(library, graphs):
    import onnxc
    wanted = [g.values[e] for g in graphs for e in g.ends]
    for want, got in zip(wanted, onnxc.load(str(library)).run({name: x for g in graphs for name, x in g.feed.items()})):
        wrong = compare(want, got, 2e-4, 2e-5)
        if wrong:
            return wrong
    return "ok"


def check(args, graphs, folder):
    """None, or what is wrong with these graphs as one model."""
    source, library = folder / "m.onnx", folder / "m.so"
    onnx.save(together(graphs), source)
    for level in ("-O3", "-O0"):
        done = subprocess.run([args.onnxc, source, "-o", library, level, "--cpu", "x86-64-v3"], capture_output=True, text=True, timeout=600)
        result = forked(lambda: run(library, graphs), 60) if done.returncode == 0 else f"exit {done.returncode}: {done.stderr.strip()[:200]}"
        if result != "ok":
            return f"{level}: {result}"
    return None


def find(args, graphs, folder):
    """The number of graphs that are wrong, each reported and kept; what is wrong only with all of them counts as one."""
    failed, whole = 0, check(args, graphs, folder)
    args.out.mkdir(parents=True, exist_ok=True)
    for g in graphs if whole else ():
        wrong = check(args, [g], folder)
        if wrong:
            failed += 1
            (args.out / f"{g.seed}.onnx").write_bytes((folder / "m.onnx").read_bytes())
            print(f"seed {g.seed}: {wrong}", flush=True)
    if whole and not failed:
        onnx.save(together(graphs), args.out / f"{graphs[0].seed}-together.onnx")
        print(f"seeds {graphs[0].seed} to {graphs[-1].seed} together: {whole}", flush=True)
    return failed or int(whole is not None)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--count", type=int, default=1 << 40)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    sys.path.insert(0, args.loader)
    total = failed = 0
    end = time.time() + args.seconds
    with tempfile.TemporaryDirectory() as tmp:
        while time.time() < end and total < args.count:
            graphs = [Graph(args.seed + total + i) for i in range(min(BATCH, args.count - total))]
            total += len(graphs)
            failed += find(args, [g for g in graphs if g.nodes], Path(tmp))
    print(f"differential: {total - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
