"""Random convolutional networks of 8-bit values for the differential fuzzer: every step's result is quantised, as exporters of quantised models write it."""
import numpy as np

from graphs import Graph
from networks import Network

KEEPS = {"MaxPool", "Concat", "Slice", "Split", "Reshape", "Transpose", "DepthToSpace", "SpaceToDepth", "Pad", "Relu"}  # may do without a new scale


class Quantised(Network):
    TYPES = (np.float32, np.int64, np.uint8, np.int8)
    ERROR = 0.06  # a rounding error before a quantisation may become one of its steps, and a few layers add up
    FURTHER = 0.01  # of the elements may be further off, and FEW of a small result: those that such a step reaches through a layer of finer steps
    FEW = 4

    def begin(self):
        self.scales = {}
        self.signed, self.by_channel = self.maybe(), self.maybe()
        super().begin()
        for name in self.feed:
            self.quantised((name, self.values[name]))

    def error(self, name, want):
        return Graph.error(self, name, want)

    def differs(self, name, want, got):
        wrong = super().differs(name, want, got)
        alike = wrong and got.shape == want.shape and np.isfinite(got).all()
        return None if alike and (np.abs(got - want) > self.error(name, want)).sum() <= max(self.FURTHER * want.size, self.FEW) else wrong

    def emit(self, op, inputs, results=1, **attributes):
        if op in ("Conv", "ConvTranspose", "MatMul"):
            inputs = self.bytes_of_weights(op, inputs, attributes.get("group", 1))
        made = super().emit(op, inputs, results, **attributes)
        if op in ("Shape", "QuantizeLinear", "DequantizeLinear") or results > 1 or made[1].dtype != np.float32 or op in KEEPS and self.maybe():
            return made
        return self.quantised(made)

    def quantised(self, x):
        """x rounded to one of 256 numbers."""
        low, high = min(float(x[1].min()), 0.0), max(float(x[1].max()), 1e-3)
        scale = (high - low) / 255
        if self.signed and self.maybe(3):
            scale, zero = max(high, -low) / 127, np.int8(0)
        elif self.signed:
            zero = np.int8(np.clip(round(-128 - low / scale), -128, 127))
        else:
            zero = np.uint8(np.clip(round(-low / scale), 0, 255))
        form = [self.constant(np.array(scale, np.float32)), self.constant(np.array(zero))]
        y = super().emit("DequantizeLinear", [super().emit("QuantizeLinear", [x, *form]), *form])
        self.hidden.add(x[0])
        self.scales[y[0]] = scale
        return y

    def bytes_of_weights(self, op, inputs, group):
        """The inputs with the constant one of them, and a bias, as integers."""
        x, weights, *bias = inputs
        axis = {"Conv": 0, "ConvTranspose": 1, "MatMul": weights[1].ndim - 1}[op]
        each = self.by_channel and (op != "ConvTranspose" or group == 1)
        most = np.abs(weights[1]).max(axis=tuple(i for i in range(weights[1].ndim) if i != axis)) if each else np.abs(weights[1]).max()
        scale = np.asarray(np.maximum(most, 1e-3) / 127, np.float32)
        spread = scale.reshape([-1 if i == axis else 1 for i in range(weights[1].ndim)]) if each else scale
        name = self.constant(np.clip(np.round(weights[1] / spread), -127, 127).astype(np.int8))
        form = {"axis": axis} if each else {}
        made = [x, super().emit("DequantizeLinear", [name, self.constant(scale)], **form)]
        if bias and x[0] in self.scales and self.r.integers(4):
            step = (scale * np.float32(self.scales[x[0]])).astype(np.float32)
            whole = self.constant(np.round(bias[0][1] / step).astype(np.int32))
            bias = [super().emit("DequantizeLinear", [whole, self.constant(step)], **({"axis": 0} if each else {}))]
        return made + bias
