"""Random valid graphs of small tensors, grown node by node. networks.py has convolutional ones; differential.py compiles and compares them."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from values import compare

UNARY = ["Relu", "Neg", "Abs", "Sigmoid", "Tanh", "Exp", "Floor", "Sqrt", "Softplus", "Erf", "HardSigmoid", "LeakyRelu", "Identity", "Sign", "Cos"]
BINARY = ["Add", "Sub", "Mul", "Div", "Max", "Min"]
REDUCE = ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2", "ReduceLogSumExp"]


class Refused(Exception):
    """A step that is not taken."""


class Graph:
    """Grows node by node; every value keeps the array that the reference gives for it, so that only well-conditioned steps are taken."""

    GREATEST = 5000  # elements of a value
    TYPES = (np.float32,)
    ERROR = 0  # that a result may have, of its largest number

    def __init__(self, seed):
        self.r = np.random.default_rng(seed)
        self.seed = seed
        self.nodes, self.weights, self.values, self.feed = [], [], {}, {}
        self.symbolic = bool(self.r.integers(3) == 0)
        for step in [self.begin] + [self.step] * int(self.r.integers(2, 25)):
            try:
                step()
            except Refused:
                pass
        used = {i for n in self.nodes for i in n.input}
        self.ends = [o for n in self.nodes for o in n.output if o not in used and self.values[o].dtype == np.float32]
        self.runs = [(self.feed, [self.values[e] for e in self.ends]), *self.more_runs()]

    def begin(self):
        rank = int(self.r.integers(1, 5))
        for _ in range(int(self.r.integers(1, 3))):
            self.input(self.r.integers(1, 7, rank))

    def input(self, shape):
        name = f"x{len(self.feed)}_{self.seed}"
        self.feed[name] = self.values[name] = self.r.standard_normal(shape).astype(np.float32)

    def more_runs(self):
        """(feed, results) of other sizes of the same model."""
        return []

    def error(self, name, want):
        """What an element of the result may be off besides its own 2e-4."""
        return 2e-5 + self.ERROR * float(np.abs(want).max())

    def differs(self, name, want, got):
        """None, or what is wrong with a result."""
        return compare(want, got, 2e-4, self.error(name, want))

    def pick(self, test=lambda a: True):
        names = [n for n, a in self.values.items() if test(a)]
        return names[int(self.r.integers(len(names)))] if names else None

    def constant(self, array):
        name = f"c{len(self.weights)}_{self.seed}"
        self.weights.append(numpy_helper.from_array(array, name))
        return name, array

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def emit(self, op, inputs, results=1, **attributes):
        """Adds the node when its results are finite, not empty and not huge. The first of them, or a list where there are more."""
        names = [f"v{len(self.nodes)}_{self.seed}" + (f"_{i}" if i else "") for i in range(results)]
        node = helper.make_node(op, [n for n, _ in inputs], names, name=f"n{len(self.nodes)}_{self.seed}", **attributes)
        got = self.compute(node, inputs)
        if not all(self.fits(a) for a in got):
            raise Refused
        self.nodes.append(node)
        self.values.update(zip(names, got))
        return list(zip(names, got)) if results > 1 else (names[0], got[0])

    def compute(self, node, inputs):
        given = {n: np.asarray(a) for n, a in inputs if n}
        types = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in given.items()]
        graph = helper.make_graph([node], "g", types, [helper.make_empty_tensor_value_info(o) for o in node.output])
        with np.errstate(all="ignore"):
            return [np.asarray(a) for a in self.evaluate(graph, given)]

    def evaluate(self, graph, feed):
        return ReferenceEvaluator(model(graph)).run(None, feed)

    def fits(self, a):
        return a.dtype in self.TYPES and a.size and a.size < self.GREATEST and a.ndim <= 5 and np.isfinite(a).all() and np.abs(a).max() < 1e4

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


def model(graph):
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def jumps(op, a):
    """Whether a rounding error before the op may change its result by a whole step."""
    return (op == "Floor" and abs(a - np.round(a)).min() < 1e-3) or (op == "Sign" and abs(a).min() < 1e-3)


def broadcasts(a, b):
    try:
        return np.broadcast_shapes(a.shape, b.shape) is not None
    except ValueError:
        return False
