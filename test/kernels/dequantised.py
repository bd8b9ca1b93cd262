"""Convolutions and products between dequantised values whose bias is of floats, with what stands behind them; channels whose weights are all zero; weights of 4 bits; f32
rows times dequantised weights, few that are folded and many that stay integers; rows of dequantised tables. run.py beside it runs them."""
import ml_dtypes
import numpy as np

from cases import case, node


def contraction(name, x, w, ends, result=True, dead=(), bits=np.int8, axis=0, **attributes):
    """A Conv, or a Gemm where x has two axes, of x in 8 bits. `ends`: nodes from `t` to `u`; `result`: quantised again; `dead`: channels whose weights are zero, and so their scale."""
    rng = np.random.default_rng(0)
    n, per = w[axis], [-1] + [1] * (len(x) - 2) if len(x) > 2 else [-1]
    values, ws = rng.integers(*{np.int8: (-127, 128), ml_dtypes.int4: (-8, 8), ml_dtypes.uint4: (0, 16)}[bits], w), (rng.random(n, np.float32) + np.float32(0.5)) / np.float32(1000 if bits == np.int8 else 100)
    values[list(dead)], ws[list(dead)] = 0, 5e-9
    of = {"gamma": rng.random(n, np.float32) - np.float32(0.4), "beta": rng.standard_normal(n).astype(np.float32), "mean": rng.standard_normal(n).astype(np.float32),
          "var": rng.random(n, np.float32) + np.float32(0.5), "r": rng.standard_normal(n).astype(np.float32).reshape(per)}
    weights = {"xs": np.float32(0.02), "xz": np.array(3, np.int8), "ys": np.float32(0.037), "yz": np.array(-5, np.int8), "w": values.astype(bits), "ws": ws,
               "wz": np.full(n, 7 if bits == ml_dtypes.uint4 else 0).astype(bits), "b": (rng.standard_normal(n) * 2).astype(np.float32)}
    weights |= {k: v for k, v in of.items() if any(k in e.input for e in ends)}
    nodes = [node("QuantizeLinear", "x xs xz", "q"), node("DequantizeLinear", "q xs xz", "d"), node("DequantizeLinear", "w ws wz", "wd", axis=axis),
             node("Conv" if len(x) > 2 else "Gemm", "d wd b", "t" if ends else "u", **attributes), *ends]
    nodes += [node("QuantizeLinear", "u ys yz", "p"), node("DequantizeLinear", "p ys yz", "y")] if result else [node("Identity", "u", "y")]
    case(name, nodes, {"x": x}, weights)


NORMAL = [node("BatchNormalization", "t gamma beta mean var", "n"), node("Relu", "n", "u")]
RESIDUAL = [node("Add", "t r", "a"), node("Relu", "a", "u")]
IMAGE, PADS = (1, 19, 5, 6), {"pads": [1] * 4}
contraction("dequantised_conv_bias", IMAGE, (21, 19, 3, 3), [], result=False, **PADS)
contraction("dequantised_conv_bias_added", IMAGE, (21, 19, 3, 3), RESIDUAL, **PADS)
contraction("dequantised_conv_bias_sigmoid", (1, 3, 9, 7), (21, 3, 3, 3), [node("Sigmoid", "t", "u")], strides=[2, 2])
contraction("dequantised_conv_bias_depthwise", (2, 24, 5, 6), (24, 1, 3, 3), RESIDUAL, group=24, **PADS)
contraction("dequantised_conv_normalised", IMAGE, (21, 19, 3, 3), NORMAL, **PADS)
contraction("dequantised_conv_normalised_depthwise", (1, 24, 5, 6), (24, 1, 3, 3), NORMAL, group=24, **PADS)
contraction("dequantised_conv_normalised_float", IMAGE, (21, 19, 3, 3), NORMAL, result=False, **PADS)
contraction("dequantised_conv_dead", IMAGE, (21, 19, 3, 3), [], dead=(0, 5), **PADS)
contraction("dequantised_conv_dead_added", IMAGE, (21, 19, 3, 3), RESIDUAL, dead=(0, 5), **PADS)
contraction("dequantised_product_bias", (5, 36), (24, 36), [], result=False, transB=1)
contraction("dequantised_product_bias_tanh", (5, 36), (24, 36), [node("Tanh", "t", "u")], transB=1)
contraction("dequantised_product_dead", (5, 36), (24, 36), [], dead=(0, 5), transB=1)
contraction("dequantised_conv_4_bits", IMAGE, (21, 19, 3, 3), [], bits=ml_dtypes.int4, **PADS)
contraction("dequantised_conv_4_bits_unsigned", IMAGE, (21, 19, 3, 3), RESIDUAL, bits=ml_dtypes.uint4, **PADS)
contraction("dequantised_product_4_bits", (5, 36), (24, 36), [], bits=ml_dtypes.int4, transB=1)


def transposed(name, x, w, zero=0, bias=True, **attributes):
    """A ConvTranspose of x in 8 bits under a Relu, quantised again. `zero`: point of the weights, which are unsigned where it is one."""
    rng = np.random.default_rng(0)
    ws = (rng.random(w[1], np.float32) + np.float32(0.5)) / np.float32(100)
    weights = {"xs": np.float32(0.02), "xz": np.array(3, np.int8), "ys": np.float32(0.037), "yz": np.array(-120, np.int8), "ws": ws,
               "w": rng.integers(0, 256, w).astype(np.uint8) if zero else rng.integers(-127, 128, w).astype(np.int8),
               "wz": np.full(w[1], zero, np.uint8 if zero else np.int8), "b": rng.integers(-3000, 3000, w[1]).astype(np.int32), "bs": ws * np.float32(0.02)}
    weights = {k: v for k, v in weights.items() if bias or k not in ("b", "bs")}
    nodes = [node("QuantizeLinear", "x xs xz", "q"), node("DequantizeLinear", "q xs xz", "d"), node("DequantizeLinear", "w ws wz", "wd", axis=1)]
    nodes += [node("DequantizeLinear", "b bs", "bd", axis=0)] if bias else []
    nodes += [node("ConvTranspose", "d wd bd" if bias else "d wd", "t", **attributes), node("Relu", "t", "u"), node("QuantizeLinear", "u ys yz", "p"), node("DequantizeLinear", "p ys yz", "y")]
    case(name, nodes, {"x": x}, weights)


transposed("dequantised_transposed_apart", (2, 19, 5, 4), (19, 29, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 0])
transposed("dequantised_transposed_groups", (1, 16, 5), (16, 16, 8), strides=[4], pads=[2, 2], zero=121)
transposed("dequantised_transposed_few", (1, 19, 5, 4), (19, 3, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1], zero=121, bias=False)


def channels(name, x, kernel, clip=False):
    """A 1x1 convolution, quantised again with a scale for each channel, and one of each channel alone. `clip`: to 6, which is another step in each channel."""
    rng = np.random.default_rng(0)
    n = x[1]
    weights = {"xs": np.float32(0.02), "xz": np.array(120, np.uint8), "cs": (rng.random(n, np.float32) + np.float32(0.5)) / 20, "cz": np.zeros(n, np.uint8), "ys": np.float32(0.037),
               "yz": np.array(9, np.uint8), "w": rng.integers(-127, 128, (n, n, 1, 1), dtype=np.int8), "v": rng.integers(-127, 128, (n, 1, *kernel), dtype=np.int8),
               "ws": (rng.random(n, np.float32) + np.float32(0.5)) / 1000, "wz": np.zeros(n, np.int8), "b": rng.standard_normal(n).astype(np.float32), "low": np.float32(0), "high": np.float32(6)}
    nodes = [node("QuantizeLinear", "x xs xz", "q"), node("DequantizeLinear", "q xs xz", "d"), node("DequantizeLinear", "w ws wz", "wd", axis=0), node("Conv", "d wd b", "c"),
             node("Clip", "c low high", "k") if clip else node("Relu", "c", "k"), node("QuantizeLinear", "k cs cz", "cq", axis=1), node("DequantizeLinear", "cq cs cz", "cd", axis=1),
             node("DequantizeLinear", "v ws wz", "vd", axis=0), node("Conv", "cd vd b", "e", group=n, **PADS), node("QuantizeLinear", "e ys yz", "p"), node("DequantizeLinear", "p ys yz", "y")]
    case(name, nodes, {"x": x}, weights)


channels("dequantised_channels", (1, 40, 5, 6), (3, 3))
channels("dequantised_channels_clipped", (1, 24, 5, 6), (3, 3), clip=True)


def weights_of_bytes(name, x, shape, axis, *moves, dtype=np.int8, zero=0):
    """A product of f32 rows with 8- or 16-bit weights, dequantised along `axis` (None: by one scale), and moved."""
    rng = np.random.default_rng(0)
    channels = 1 if axis is None else shape[axis]
    limits = np.iinfo(dtype)
    weights = {"w": rng.integers(limits.min, limits.max, shape, dtype=dtype), "ws": (rng.random(channels, np.float32) + np.float32(0.5)) / limits.max, "wz": np.full(channels, zero, dtype)}
    if axis is None:
        weights = {k: v.reshape(()) if k != "w" else v for k, v in weights.items()}
    nodes = [node("DequantizeLinear", "w ws wz", "d0", axis=axis or 0)]
    nodes += [node(op, f"d{i}", f"d{i + 1}", **attributes) for i, (op, attributes) in enumerate(moves)]
    case(name, nodes + [node("MatMul", f"x d{len(moves)}", "y")], {"x": x}, weights)


_turn = "Transpose", {"perm": [1, 0]}
weights_of_bytes("weights_of_bytes_columns", (5, 70), (70, 33), 1, zero=3)
weights_of_bytes("weights_of_bytes_depth", (1, 70), (70, 33), 0, dtype=np.uint8, zero=128)
weights_of_bytes("weights_of_bytes_turned", (5, 70), (33, 70), 0, _turn)
weights_of_bytes("weights_of_bytes_one", (2, 5, 70), (33, 70), None, _turn, zero=-4)
weights_of_bytes("weights_of_bytes_batch", (2, 5, 70), (2, 70, 33), -1)
weights_of_bytes("weights_of_bytes_short", (5, 70), (33, 70), 0, _turn, dtype=np.int16)


def scaled(name, rows, bits, *, zero=None, by=None, turned=False, gemm=None, bias=False):
    """f32 rows times many weights of `bits`. `by`: the axis of the scales; `turned`: B is [N, K]; `gemm`: attributes of a Gemm, which has a bias if `bias`."""
    rng = np.random.default_rng(0)
    shape = (530, 600) if turned else (600, 530)
    low, high = {np.int8: (-128, 128), np.uint8: (0, 256), ml_dtypes.int4: (-8, 8)}[bits]
    count = 1 if by is None else shape[by]
    weights = {"w": rng.integers(low, high, shape).astype(bits), "ws": ((rng.random(count, np.float32) + np.float32(0.5)) / high).astype(np.float32)}
    if zero is not None:
        weights["wz"] = rng.integers(max(low, zero - 3), min(high, zero + 4), count).astype(bits)
    if by is None:
        weights = {k: v.reshape(()) if k != "w" else v for k, v in weights.items()}
    if bias:
        weights["b"] = rng.standard_normal(530).astype(np.float32)
    nodes = [node("DequantizeLinear", f"w ws {'wz' if zero is not None else ''}".strip(), "d", axis=by or 0)]
    nodes += [node("MatMul", "x d", "y")] if gemm is None else [node("Gemm", "x d b" if bias else "x d", "t", **gemm), node("Relu", "t", "y")]
    case(name, nodes, {"x": (rows, 600)}, weights)


for _rows in (1, 5, 130):
    scaled(f"scaled_columns_{_rows}", _rows, np.int8, by=1)
scaled("scaled_one", 3, np.int8)
scaled("scaled_zeros", 3, np.uint8, zero=120, by=1)
scaled("scaled_far_zeros", 3, np.uint8, zero=3, by=1)
scaled("scaled_4_bits", 3, ml_dtypes.int4, by=1)
scaled("scaled_depth", 3, np.int8, by=0)
scaled("scaled_gemm", 3, np.int8, by=0, turned=True, gemm={"transB": 1, "alpha": 0.5, "beta": 3.0}, bias=True)
scaled("scaled_gemm_alone", 3, np.uint8, zero=128, by=1, gemm={})


def blocks(name, rows, bits, block, *, turned=False, zeros=False, gemm=None):
    """f32 rows times weights that are dequantised in blocks of the depth. `turned`: B is [N, K] and transposed; `gemm`: attributes of a Gemm with a bias."""
    rng = np.random.default_rng(0)
    shape, axis = ((50, 256), 1) if turned else ((256, 50), 0)
    scales = tuple(n // block if i == axis else n for i, n in enumerate(shape))
    low, high = {np.int8: (-128, 128), np.uint8: (0, 256), ml_dtypes.int4: (-8, 8), ml_dtypes.uint4: (0, 16)}[bits]
    weights = {"w": rng.integers(low, high, shape).astype(bits), "ws": ((rng.random(scales, np.float32) + np.float32(0.5)) / high).astype(np.float32)}
    if zeros:
        weights["wz"] = rng.integers(low, high, scales).astype(bits)
    nodes = [node("DequantizeLinear", "w ws wz" if zeros else "w ws", "d", axis=axis, block_size=block)]
    if gemm:
        weights["b"] = rng.standard_normal(50).astype(np.float32)
        nodes.append(node("Gemm", "x d b", "y", **gemm))
    else:
        nodes += [node("Transpose", "d", "t", perm=[1, 0]), node("MatMul", "x t", "y")] if turned else [node("MatMul", "x d", "y")]
    case(name, nodes, {"x": (rows, 256)}, weights)


for _rows in (1, 20):
    blocks(f"blocks_4_bits_turned_{_rows}", _rows, ml_dtypes.uint4, 32, turned=True, zeros=True)
    blocks(f"blocks_8_bits_{_rows}", _rows, np.int8, 64)
    blocks(f"blocks_8_bits_turned_{_rows}", _rows, np.uint8, 128, turned=True, zeros=True)
    blocks(f"blocks_gemm_{_rows}", _rows, ml_dtypes.int4, 16, turned=True, gemm={"transB": 1})
blocks("blocks_8_bits_no_zeros", 5, np.uint8, 32)
blocks("blocks_gemm_scaled", 5, ml_dtypes.int4, 32, gemm={"alpha": 0.5, "beta": 2.0})


def table(name, bits, by, block=0, zeros=True):
    """Rows that Gather takes of a dequantised table, at indices of two axes."""
    rng = np.random.default_rng(0)
    shape = (50, 64)
    scales = (50, 64 // block) if block else () if by is None else (shape[by],)
    low, high = {np.int8: (-128, 128), np.uint8: (0, 256), ml_dtypes.int4: (-8, 8), ml_dtypes.uint4: (0, 16)}[bits]
    weights = {"w": rng.integers(low, high, shape).astype(bits), "ws": (rng.random(scales, np.float32) + np.float32(0.5)) / np.float32(high), "i": np.array([[3, -1, 0], [49, 7, 3]])}
    if zeros:
        weights["wz"] = rng.integers(low, high, scales).astype(bits)
    attributes = {"block_size": block} if block else {}
    case(name, [node("DequantizeLinear", "w ws wz" if zeros else "w ws", "d", axis=by or 0, **attributes), node("Gather", "d i", "g"), node("Add", "g x", "y")], {"x": (2, 3, 64)}, weights)


table("table_of_rows", np.uint8, 0)
table("table_of_rows_signed", np.int8, 0, zeros=False)
table("table_of_columns", np.uint8, 1)
table("table_of_one", np.uint8, None)
table("table_of_blocks_signed", ml_dtypes.int4, 1, block=16, zeros=False)
table("table_of_blocks", ml_dtypes.uint4, 1, block=16)

for _name, _shape, _op, _attributes in (
        ("softmax_quantised", (3, 37), "Softmax", {}), ("softmax_quantised_inner", (2, 5, 7, 9), "Softmax", {"axis": 2}), ("log_softmax_quantised", (2, 3, 70), "LogSoftmax", {}),
        ("normalised_quantised", (2, 5, 7, 9), "LayerNormalization", {"axis": 2})):  # rows whose numbers find no room in the result
    _scale = {"g": np.linspace(0.5, 2, _shape[-1] * _shape[-2], dtype=np.float32).reshape(_shape[-2:])} if _op == "LayerNormalization" else {}
    _point = 255 if _op == "LogSoftmax" else 0 if _op == "Softmax" else 120
    case(_name, [node("QuantizeLinear", "x xs xz", "q"), node("DequantizeLinear", "q xs xz", "d"), node("Mul", "d half", "h"), node(_op, "h g" if _scale else "h", "s", **_attributes),
                 node("QuantizeLinear", "s ys yz", "p"), node("DequantizeLinear", "p ys yz", "y")], {"x": _shape},
         {"xs": np.float32(0.03), "xz": np.array(110, np.uint8), "half": np.float32(0.5), "ys": np.float32(1 / 256 if _op == "Softmax" else 0.03), "yz": np.array(_point, np.uint8), **_scale})
