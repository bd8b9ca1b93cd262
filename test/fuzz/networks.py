"""Random convolutional networks for the differential fuzzer: channels that are mostly no multiple of the 16 of a block, values that are split, sliced, joined,
padded and added again, one to three spatial axes, batches and sizes that only the run knows."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from graphs import Graph, Refused, model
from values import peer

CHANNELS = [1, 2, 3, 5, 8, 12, 16, 17, 20, 24, 31, 32, 33, 40, 48, 64, 96]
POINTWISE = {"Relu": {}, "LeakyRelu": {"alpha": 0.1}, "Sigmoid": {}, "Tanh": {}, "HardSwish": {}, "HardSigmoid": {"alpha": 0.2}, "Elu": {}, "Selu": {}, "Gelu": {},
             "Mish": {}, "Softplus": {}, "Erf": {}, "Neg": {}, "Abs": {}, "Softsign": {}, "Exp": {}}
STEPS = {"convolve": 6, "separable": 3, "residual": 3, "split": 2, "slice": 3, "concat": 3, "pad": 2, "pool": 2, "pointwise": 2, "normalise": 2, "scale": 2, "resize": 1,
         "shuffle": 1, "excite": 1, "attend": 1, "transposed": 1, "channels_last": 1, "global_pool": 1, "rearrange": 1}


class Network(Graph):
    TYPES = (np.float32, np.int64)
    ERROR = 2e-5  # of the largest number that a result comes from: sums of many products cancel

    def begin(self):
        r, self.hidden = self.r, set()  # values that no step takes
        self.largest = {}  # number behind each value
        self.axes = (2, 2, 2, 2, 2, 2, 1, 3)[int(r.integers(8))]
        large = self.axes == 2 and self.maybe(8)  # values between layers larger than a cache
        self.GREATEST = 800000 if large else 40000
        low, high = (48, 70) if large else (5, {1: 40, 2: 20, 3: 8}[self.axes])
        self.sizes = [int(r.integers(1, 3 if large else 4)), *(int(n) for n in r.integers(low, high, self.axes))]
        self.changes = [self.symbolic and bool(r.integers(2) or i == 0) for i in range(self.axes + 1)]
        for _ in range(int(r.integers(1, 3))):
            self.input([self.sizes[0], self.channels(), *self.sizes[1:]])

    def type(self, name, known=True):
        shape = list(self.values[name].shape)
        for i, axis in enumerate([0, *range(2, self.axes + 2)]) if name in self.feed else ():
            if self.changes[i]:
                shape[axis] = f"s{i}_{self.seed}"
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape if known else [None] * len(shape))

    def more_runs(self):
        if not self.symbolic or not self.nodes:
            return []
        runs = []
        for batch in (1, 2, 5):
            sizes = [n + int(self.r.integers(4)) * changes for n, changes in zip(self.sizes, self.changes)]
            sizes[0] = batch if self.changes[0] else sizes[0]
            feed = {name: self.r.standard_normal([sizes[0], x.shape[1], *sizes[1:]]).astype(np.float32) for name, x in self.feed.items()}
            try:
                wanted = self.replay(feed)
            except Refused:  # the graph is right for its first sizes only
                continue
            if all(np.isfinite(a).all() and a.size and np.abs(a).max() < 1e6 for a in wanted):
                runs.append((feed, wanted))
        return runs

    def replay(self, feed):
        """The results for other inputs, node by node: the peer's whole run of such graphs was found wrong."""
        values = {**{w.name: numpy_helper.to_array(w) for w in self.weights}, **feed, "": np.zeros(0, np.float32)}
        for node in self.nodes:
            values.update(zip(node.output, self.compute(node, [(n, values[n]) for n in node.input])))
        return [values[e] for e in self.ends]

    def evaluate(self, graph, feed):
        """ONNX Runtime without optimisations: ONNX's own evaluator takes the pads of pools and transposed convolutions in another order."""
        try:
            return peer(model(graph), optimized=False).run(None, feed)
        except Exception as e:  # the peer's own class for each of its codes
            raise Refused from e

    def fits(self, a):
        return super().fits(a) and (a.dtype != np.float32 or np.abs(a).max() < 200)

    def emit(self, op, inputs, results=1, **attributes):
        made = super().emit(op, inputs, results, **attributes)
        for name, a in made if results > 1 else [made]:
            self.largest[name] = max(float(np.abs(a).max()), *(self.largest.get(n, 0) for n, _ in inputs))
        return made

    def error(self, name, want):
        return super().error(name, self.largest[name])

    # ---- choices

    def channels(self):
        return CHANNELS[int(self.r.integers(len(CHANNELS)))]

    def maybe(self, n=2):
        return bool(self.r.integers(n) == 0)

    def each(self, low, high):
        return [int(n) for n in self.r.integers(low, high, self.axes)]

    def numbers(self, *shape, scale=1.0):
        return self.constant((self.r.standard_normal(shape) * scale).astype(np.float32))

    def per_channel(self, x, low=0.5, high=1.5):
        return self.constant(self.r.uniform(low, high, x[1].shape[1]).astype(np.float32))

    def images(self, test=lambda a: True):
        return [(n, a) for n, a in self.values.items() if n not in self.hidden and a.dtype == np.float32 and a.ndim == self.axes + 2 and test(a)]

    def image(self, test=lambda a: True):
        """One of the last values more often than of all."""
        found = self.images(test)
        found = found[-3:] if self.r.integers(4) else found
        if not found:
            raise Refused
        return found[int(self.r.integers(len(found)))]

    def step(self):
        names = [name for name, weight in STEPS.items() for _ in range(weight)]
        getattr(self, names[int(self.r.integers(len(names)))])(self.image())

    # ---- convolutions

    def window(self, x, kernel):
        """Attributes of a window that fits into the image."""
        r, sizes = self.r, x[1].shape[2:]
        strides = self.each(1, 3) if self.maybe(3) else [1] * self.axes
        dilations = self.each(1, 3) if self.maybe(5) else [1] * self.axes
        if self.maybe(6):
            if any(size < k for size, k in zip(sizes, kernel)):
                raise Refused
            return {"kernel_shape": kernel, "strides": strides, "auto_pad": ("SAME_UPPER", "SAME_LOWER", "VALID")[int(r.integers(3))]}
        same = self.maybe() and [(k - 1) * d // 2 for k, d in zip(kernel, dilations)] * 2
        pads = same or [int(r.integers(0, (k + 1) // 2 + 1)) for k in kernel * 2]
        for i, size in enumerate(sizes):
            if size < dilations[i]:
                raise Refused  # a window may have no pixel, whose mean evaluators differ about
            if size + pads[i] + pads[i + self.axes] < (kernel[i] - 1) * dilations[i] + 1 or max(pads[i], pads[i + self.axes]) >= kernel[i]:
                raise Refused
        return {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads}

    def conv(self, x, outputs, group=1, kernel=None):
        kernel = kernel or ([int(self.r.choice([1, 3, 3, 5]))] * self.axes if self.maybe() else self.each(1, 5))
        weights = self.numbers(outputs, x[1].shape[1] // group, *kernel, scale=(x[1].shape[1] // group * np.prod(kernel)) ** -0.5)
        bias = [self.numbers(outputs)] if self.maybe() else []
        return self.emit("Conv", [x, weights, *bias], group=group, **self.window(x, kernel))

    def convolve(self, x):
        channels = x[1].shape[1]
        groups = [g for g in (1, 2, 3, 4, 8, channels) if channels % g == 0]
        group = groups[int(self.r.integers(len(groups)))] if self.maybe(3) else 1
        self.after(self.conv(x, group * int(self.r.integers(1, 4)) if group > 1 else self.channels(), group))

    def after(self, x):
        """What often follows a convolution."""
        x = self.batch_norm(x) if self.maybe(3) else x
        return self.pointwise(x) if self.maybe() else x

    def separable(self, x):
        """Wide, depthwise, narrow, and perhaps the input again."""
        ones = [1] * self.axes
        wide = self.after(self.conv(x, self.channels(), kernel=ones) if self.maybe(4) else self.emit("Conv", [x, self.numbers(self.channels(), x[1].shape[1], *ones)]))
        deep = self.after(self.conv(wide, wide[1].shape[1], wide[1].shape[1]))
        y = self.emit("Conv", [deep, self.numbers(x[1].shape[1], deep[1].shape[1], *ones, scale=0.2)])
        if y[1].shape == x[1].shape:
            self.emit("Add", [x, y] if self.maybe() else [y, x])

    def transposed(self, x):
        kernel = self.each(1, 4)
        outputs = int(self.r.integers(1, 20))
        self.emit("ConvTranspose", [x, self.numbers(x[1].shape[1], outputs, *kernel, scale=0.2)], strides=self.each(1, 3), pads=[int(k > 1 and self.maybe()) for k in kernel * 2])

    def residual(self, x):
        y = self.image(lambda a: a.shape == x[1].shape)
        self.emit(("Add", "Add", "Mul", "Sub", "Max")[int(self.r.integers(5))], [x, y])

    # ---- parts

    def split(self, x):
        axis = 1 if self.r.integers(4) else int(self.r.integers(2, x[1].ndim))
        size = x[1].shape[axis]
        if size < 2 or (axis > 1 and self.changes[axis - 1]):
            raise Refused
        cuts = sorted({int(c) for c in self.r.integers(1, size, int(self.r.integers(1, 4)))})
        sizes = np.diff([0, *cuts, size])
        parts = self.emit("Split", [x, self.ints(*sizes)], len(sizes), axis=axis - x[1].ndim * self.maybe(4))
        if self.maybe():
            self.emit("Concat", [parts[i] for i in self.r.permutation(len(parts))], axis=axis)

    def slice(self, x):
        axis = 1 if self.maybe() else int(self.r.integers(0, x[1].ndim))
        size = x[1].shape[axis]
        start, end = sorted(int(n) for n in self.r.integers(0, size + 1, 2))
        form = int(self.r.integers(5))
        if form == 0:
            start, end = start - size, np.iinfo(np.int64).max
        if form == 1:
            self.emit("Slice", [x, self.ints(-1), self.ints(-size - 5), self.ints(axis), self.ints(-int(self.r.integers(1, 3)))])
        elif form == 2:
            self.emit("Slice", [x, self.ints(start), self.ints(end), self.ints(axis), self.ints(2)])
        else:
            self.emit("Slice", [x, self.ints(start), self.ints(end), self.ints(axis)])

    def concat(self, x):
        axis = 1 if self.r.integers(4) else int(self.r.integers(0, x[1].ndim))
        rest = np.delete(x[1].shape, axis)
        others = self.images(lambda a: (np.delete(a.shape, axis) == rest).all())
        chosen = [x, *(others[int(i)] for i in self.r.integers(0, len(others), int(self.r.integers(1, 4))))]
        self.emit("Concat", [chosen[i] for i in self.r.permutation(len(chosen))], axis=axis)

    def pad(self, x):
        mode = ("constant", "constant", "constant", "reflect", "edge", "wrap")[int(self.r.integers(6))]
        least = 3 if mode == "constant" else min(3, min(x[1].shape[2:]))
        amounts = [0, 0, *self.each(0, least)] + [0, 0, *self.each(0, least)]
        if mode == "constant" and self.maybe(4):
            amounts[1], amounts[x[1].ndim + 1] = (int(n) for n in self.r.integers(0, 20, 2))
        value = [self.constant(np.array(self.r.integers(-2, 3), np.float32))] if mode == "constant" and self.maybe() else []
        self.emit("Pad", [x, self.ints(*amounts), *value], mode=mode)

    def shuffle(self, x):
        """Channels of two or more groups alternate."""
        shape = x[1].shape
        groups = next((g for g in (4, 3, 2) if shape[1] % g == 0), None)
        if not groups or self.axes != 2:
            raise Refused
        sizes = self.emit("Slice", [self.emit("Shape", [x]), self.ints(2), self.ints(4)])
        apart = self.emit("Concat", [self.ints(0, groups, shape[1] // groups), sizes], axis=0)
        together = self.emit("Concat", [self.ints(0, shape[1]), sizes], axis=0)
        mixed = self.emit("Transpose", [self.emit("Reshape", [x, apart])], perm=[0, 2, 1, 3, 4])
        self.emit("Reshape", [mixed, together])

    def rearrange(self, x):
        if self.axes != 2:
            raise Refused
        if x[1].shape[1] % 4 == 0 and self.maybe():
            self.emit("DepthToSpace", [x], blocksize=2, mode=("DCR", "CRD")[int(self.r.integers(2))])
        elif all(n % 2 == 0 and not c for n, c in zip(x[1].shape[2:], self.changes[1:])):
            self.emit("SpaceToDepth", [x], blocksize=2)

    # ---- the rest

    def pointwise(self, x):
        if self.maybe(6):
            limits = self.r.uniform(0, 6, 2)
            return self.emit("Clip", [x, *(self.constant(np.array(n, np.float32)) for n in (-limits[0], limits[1]))])
        if self.maybe(8):
            return self.emit("PRelu", [x, self.constant(self.r.uniform(-0.5, 0.5, [x[1].shape[1]] + [1] * self.axes).astype(np.float32))])
        if self.maybe(6):
            return self.emit("Mul", [x, self.emit("Sigmoid", [x])])
        op = list(POINTWISE)[int(self.r.integers(len(POINTWISE)))]
        return self.emit(op, [x], **POINTWISE[op])

    def batch_norm(self, x):
        return self.emit("BatchNormalization", [x, self.per_channel(x), self.per_channel(x, -1, 1), self.per_channel(x, -1, 1), self.per_channel(x)])

    def normalise(self, x):
        kind, shape = int(self.r.integers(5)), x[1].shape
        if kind == 0:
            return self.batch_norm(x)
        if kind == 1:
            if np.abs(x[1]).max() > 50:
                raise Refused  # a rounding error of the exponent is one of the result
            return self.emit("Softmax", [x], axis=1)
        groups = shape[1] if kind == 2 else next(g for g in (4, 3, 2, 1) if shape[1] % g == 0)
        if x[1].reshape(shape[0] * groups, -1).std(axis=1).min() < 0.2:
            raise Refused  # would magnify rounding errors
        if kind == 2:
            return self.emit("InstanceNormalization", [x, self.per_channel(x), self.per_channel(x, -1, 1)])
        if kind == 3:
            return self.emit("GroupNormalization", [x, self.per_channel(x), self.per_channel(x, -1, 1)], num_groups=groups)
        rows = self.emit("Reshape", [x, self.constant(np.int64([0, groups, -1]))])
        rows = self.emit("InstanceNormalization", [rows, self.constant(np.ones(groups, np.float32)), self.constant(np.zeros(groups, np.float32))])
        return self.emit("Reshape", [rows, self.emit("Shape", [x])])

    def scale(self, x):
        """With one number, one for each channel, or others that broadcast."""
        channels, ones = x[1].shape[1], [1] * self.axes
        shape = ([], [1], [channels, *ones], [1, channels, *ones], [1, 1, *ones])[int(self.r.integers(5))]
        op = ("Add", "Mul", "Sub", "Div", "Max", "Min")[int(self.r.integers(6))]
        y = self.constant(np.asarray(self.r.uniform(0.5, 2, shape), np.float32))
        self.emit(op, [y, x] if op != "Div" and self.maybe(3) else [x, y])

    def pool(self, x):
        kernel = self.each(1, 4)
        window = self.window(x, kernel)
        if self.maybe():
            self.emit("MaxPool", [x], **window, ceil_mode=int(self.maybe(3) and "auto_pad" not in window))
        else:
            self.emit("AveragePool", [x], **window, count_include_pad=int(self.maybe()))

    def global_pool(self, x):
        axes = range(2, x[1].ndim)
        if self.maybe():
            return self.emit(("GlobalAveragePool", "GlobalMaxPool")[int(self.r.integers(2))], [x])
        return self.emit(("ReduceMean", "ReduceMax", "ReduceSum")[int(self.r.integers(3))], [x, self.ints(*(a - x[1].ndim * self.maybe() for a in axes))])

    def excite(self, x):
        """Channels weighted by what two small layers make of their means."""
        ones = [1] * self.axes
        few = self.numbers(int(self.r.integers(1, 20)), x[1].shape[1], *ones)
        mean = self.emit("Relu", [self.emit("Conv", [self.emit("GlobalAveragePool", [x]), few])])
        self.emit("Mul", [x, self.emit("Sigmoid", [self.emit("Conv", [mean, self.numbers(x[1].shape[1], few[1].shape[0], *ones)])])])

    def attend(self, x):
        """Pixels weighted by their mean and greatest channel."""
        both = [self.emit(op, [x, self.ints(1)], keepdims=1) for op in ("ReduceMean", "ReduceMax")]
        weights = self.numbers(1, 2, *[3] * self.axes)
        self.emit("Mul", [x, self.emit("Sigmoid", [self.emit("Conv", [self.emit("Concat", both, axis=1), weights], pads=[1] * self.axes * 2)])])

    def channels_last(self, x):
        """A product over the channels."""
        n = x[1].ndim
        last = self.emit("Transpose", [x], perm=[0, *range(2, n), 1])
        outputs = self.channels()
        y = self.emit("MatMul", [last, self.numbers(last[1].shape[-1], outputs, scale=last[1].shape[-1] ** -0.5)])
        y = self.emit("Add", [y, self.numbers(outputs)])
        self.emit("Transpose", [y], perm=[0, n - 1, *range(1, n - 1)])

    def resize(self, x):
        """Without align_corners at a scale below 1: evaluators differ on a size that is no whole number before it is cut."""
        scales = [1, 1, *(float(s) for s in self.r.choice([0.5, 1, 2, 2, 3], self.axes))]
        if self.maybe():
            form = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        else:
            modes = ["half_pixel", "asymmetric"] + ["align_corners"] * (min(scales) == 1)
            form = {"mode": "linear", "coordinate_transformation_mode": modes[int(self.r.integers(len(modes)))]}
        self.emit("Resize", [x, ("", np.zeros(0, np.float32)), self.constant(np.array(scales, np.float32))], **form)
