"""Random networks whose convolutions stand between transpositions, as exporters of channels-last models write them, against ONNX Runtime without its
optimisations: elementwise ops, joins, parts, pads and reductions between get another order of axes (passes/graph/MoveTranspositions.cpp)."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper
from values import peer

CASES = {f"axes_in_order_{i}": i for i in range(30)}
FORWARD, BACK = {3: [0, 2, 1], 4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}, {3: [0, 2, 1], 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}


class Network:
    """Grows from x, channels last; `values` are (name, shape) of one rank."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0
        self.rank = int(self.rng.choice([3, 4, 4, 4, 5]))
        self.x = [2, *self.rng.integers(5, 9, self.rank - 2).tolist(), int(self.rng.choice([3, 16, 20]))]
        self.values = [("x", self.x)]

    def add(self, op, inputs, results=1, **attributes):
        names = [f"v{self.count + i}" for i in range(results)]
        self.count += results
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names[0] if results == 1 else names

    def constant(self, array):
        self.weights.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def floats(self, *shape):
        return self.constant(self.rng.standard_normal(shape).astype(np.float32))

    def pick(self, like=None):
        fits = [v for v in self.values if like is None or v[1] == like]
        return fits[self.rng.integers(len(fits))]

    def conv(self, x, shape):
        c, m = shape[-1], int(self.rng.choice([shape[-1], 16, 24]))
        w = self.constant(self.rng.standard_normal((m, c, *[3] * (self.rank - 2))).astype(np.float32) / np.float32(2 * c ** 0.5))
        y = self.add("Conv", [self.add("Transpose", [x], perm=FORWARD[self.rank]), w], pads=[1] * 2 * (self.rank - 2))
        return self.add("Transpose", [y], perm=BACK[self.rank]), [*shape[:-1], m]

    def affine(self, x, shape):
        y = self.add("Mul", [x, self.floats(shape[-1])])
        return self.add("Add", [self.floats(*([1] * int(self.rng.integers(self.rank))), shape[-1]), y]), shape

    def activation(self, x, shape):
        kind = self.rng.integers(4)
        if kind == 0:
            return self.add("PRelu", [x, self.floats(shape[-1])]), shape
        if kind == 1:
            return self.add("Clip", [x, self.constant(np.float32(-0.5)), self.constant(np.float32(2))]), shape
        if kind == 2:
            return self.add("Where", [self.add("Less", [x, self.floats(shape[-2], 1)]), self.constant(np.float32([0.25])), x]), shape
        return self.add("Sigmoid", [x]), shape

    def pad(self, x, shape):
        pads = self.rng.integers(0, 3, (2, self.rank))
        pads[:, 0] = 0
        if self.rng.integers(2):
            return self.add("Pad", [x, self.constant(pads.reshape(-1))]), [int(d + p) for d, p in zip(shape, pads.sum(0))]
        pads[:, 2:-1] = 0
        y = self.add("Pad", [x, self.constant(pads[:, [-1, 1]].reshape(-1)), "", self.constant(np.int64([-1, 1]))])
        return y, [int(d + p) for d, p in zip(shape, pads.sum(0))]

    def part(self, x, shape):
        axis = int(self.rng.integers(1, self.rank))
        if shape[axis] < 4:
            return x, shape
        numbers = [self.constant(np.int64([v])) for v in (1, shape[axis], axis - self.rank * int(self.rng.integers(2)), 2)]
        return self.add("Slice", [x, *numbers]), [len(range(1, d, 2)) if i == axis else d for i, d in enumerate(shape)]

    def halves(self, x, shape):
        axis = int(self.rng.integers(1, self.rank))
        if shape[axis] % 2:
            return x, shape
        a, b = self.add("Split", [x], 2, axis=axis - self.rank * int(self.rng.integers(2)), num_outputs=2)
        shape = [d // 2 if i == axis else d for i, d in enumerate(shape)]
        self.values.append((b, shape))
        return self.add("Max", [a, b]), shape

    def join(self, x, shape):
        axis = int(self.rng.integers(1, self.rank))
        y = self.pick(like=shape)
        return self.add("Concat", [x, y[0]], axis=axis - self.rank * int(self.rng.integers(2))), [2 * d if i == axis else d for i, d in enumerate(shape)]

    def total(self, x, shape):
        return self.add("Add", [x, self.pick(like=shape)[0]]), shape

    def excite(self, x, shape):
        mean = self.add("ReduceMean", [x, self.constant(np.int64(range(1, self.rank - 1)))], keepdims=1)
        if self.rng.integers(2):
            w = self.floats(shape[-1], shape[-1], *[1] * (self.rank - 2))
            mean = self.add("Transpose", [self.add("Conv", [self.add("Transpose", [mean], perm=FORWARD[self.rank]), w])], perm=BACK[self.rank])
        return self.add("Mul", [x, self.add("Sigmoid", [mean])]), shape

    def grow(self):
        steps = [self.conv, self.conv, self.affine, self.activation, self.pad, self.part, self.halves, self.join, self.total, self.excite]
        for _ in range(14):
            name, shape = steps[self.rng.integers(len(steps))](*self.values[-1])
            if np.prod(shape) < 20000:
                self.values.append((name, shape))
        outputs = [self.values[-1][0], self.pick()[0], self.add("ReduceMax", [self.values[-1][0], self.constant(np.int64([1, 2][:self.rank - 2]))], keepdims=0),
                   self.add("Transpose", [self.pick()[0]], perm=FORWARD[self.rank])]
        for name in outputs:
            self.add("Identity", [name])

    def model(self, dynamic):
        results = [n.output[0] for n in self.nodes if n.op_type == "Identity"]
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n" if dynamic else self.x[0], *self.x[1:]])
        graph = helper.make_graph(self.nodes, "g", [x], [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) for r in results], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def check(s, folder, name):
    import onnxc
    network = Network(CASES[name])
    network.grow()
    feed = {"x": np.random.default_rng(1).standard_normal(network.x).astype(np.float32)}
    want = peer(network.model(False), optimized=False).run(None, feed)
    for dynamic in (False, True):
        got = onnxc.load(str(s.compile(network.model(dynamic), folder, name=f"{name}_{dynamic}")), num_threads=2).run(feed)
        for i, (w, g) in enumerate(zip(want, got)):
            if w.shape != g.shape:
                return f"result {i}: shape {g.shape}, want {w.shape}"
            if w.size and not np.abs(w - g).max() <= 2e-5 * np.abs(w).max():
                return f"result {i}: off by {np.abs(w - g).max() / np.abs(w).max():.1e}"
    return None
