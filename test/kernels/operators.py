"""Operators of any element type against -O0, at both x86-64 levels, with known and with symbolic sizes: what passes/graph decomposes, generated
loops and fast kernels beside the contractions. Cases alike are one model, since compiling costs more than running. run.py beside it runs them."""
import numpy as np
from onnx import helper, numpy_helper

CASES = {}  # of one model: label -> case
DOMAINS = {"ml": "ai.onnx.ml", "ms": "com.microsoft"}  # of the operators of models whose names begin so
RNG = np.random.default_rng(0)


def case(name, op, feed, weights=None, results=1, want=None, opset=21, **attributes):
    """`name`: of the model, then of the case; `feed`: operand name -> array of the run, None where absent; `weights`: constant operands behind them;
    `want`: the results where -O0 is not asked; `opset`: of the model, its first case's."""
    model, _, label = name.partition(" ")
    CASES.setdefault("op_" + model, {})[label] = (op, feed, weights or {}, results, want or [None] * results, opset, attributes)


def floats(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def whole(top, *shape, dtype=np.int64):
    return RNG.integers(0, top, shape).astype(dtype)


def extremes(dtype, *shape):
    """Many equal numbers among them, the least and greatest, those one unit apart, NaN, infinities and both zeros."""
    if np.issubdtype(dtype, np.integer):
        most, least = np.iinfo(dtype).max, np.iinfo(dtype).min
        few, any_ = np.array([least, least + 1, 0, 1, most - 1, most], dtype), RNG.integers(least, most, shape, dtype, endpoint=True)
    else:
        few, any_ = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, np.nextafter(dtype(1), dtype(2)), -1], dtype), floats(*shape).astype(dtype)
    return np.where(RNG.random(shape) < 0.5, few[RNG.integers(0, len(few), shape)], any_)


for _dtype in (np.float32, np.float64, np.float16, np.uint8):
    for _shape, _perm in (((2, 7, 9, 5), (0, 3, 1, 2)), ((1, 20, 33, 3), (0, 3, 1, 2)), ((1, 3, 33, 20), (0, 2, 3, 1)), ((2, 2500, 2), (0, 2, 1)), ((3, 7, 4), (0, 2, 1)), ((3, 37, 21, 2), (0, 2, 1, 3)), ((2, 37, 21, 4), (2, 0, 1, 3)), ((2, 17, 40), (0, 2, 1)), ((70, 4), (1, 0)),
                          ((5, 66, 19, 16), (0, 3, 1, 2)), ((130, 1100), (1, 0)), ((3, 4, 5, 6), (3, 2, 1, 0)), ((2, 129, 65), (2, 1, 0))):
        case(f"transpose_{np.dtype(_dtype).name} {'x'.join(map(str, _shape))}_{''.join(map(str, _perm))}", "Transpose",
             {"x": whole(250, *_shape).astype(_dtype)}, perm=_perm)
for _count in (2, 3, 4, 5):  # columns that take turns, and rows of a few
    for _dtype in (np.float32, np.uint8, np.int64, np.float16):
        _columns = {f"x{_i}": whole(250, 3, 41, 1).astype(_dtype) for _i in range(_count)}
        case(f"concat columns_{_count}_{np.dtype(_dtype).name}", "Concat", _columns, want=[np.concatenate(list(_columns.values()), 2)], axis=2)
        _joined = whole(250, 3, 41, _count).astype(_dtype)
        case(f"split columns_{_count}_{np.dtype(_dtype).name}", "Split", {"x": _joined}, {"s": np.int64([1] * _count)}, results=_count, want=np.split(_joined, _count, 2), axis=2)
        case(f"tile columns_{_count}_{np.dtype(_dtype).name}", "Tile", {"x": _joined}, {"r": np.int64([2, 1, _count])}, want=[np.tile(_joined, [2, 1, _count])])
_deep = floats(*[1] * 38, 2, 3)
case("deepest", "Transpose", {"x": _deep}, want=[_deep.T], perm=list(range(39, -1, -1)))
case("mean_variance", "MeanVarianceNormalization", {"x": floats(3, 5, 6, 7)})
case("mean_variance channels", "MeanVarianceNormalization", {"x": floats(2, 5, 6, 7)}, axes=[1])
case("mean_variance first", "MeanVarianceNormalization", {"x": floats(2, 5, 6, 7)}, axes=[-1, 0, 1])
for _shape, _groups in (((2, 12, 7, 9), 3), ((1, 32, 20, 20), 32), ((2, 6, 5), 2), ((3, 8), 4), ((2, 4, 3, 4, 5), 1)):
    _c = _shape[1]
    case(f"group_norm {len(_shape)}_{_groups}", "GroupNormalization", {"x": floats(*_shape)}, {"s": floats(_c), "b": floats(_c)}, num_groups=_groups, epsilon=1e-3)
case("group_norm run_time", "GroupNormalization", {"x": floats(2, 12, 7, 9), "s": floats(12), "b": floats(12)}, num_groups=4)
for _name, _shape, _attributes in (
        ("odd", (2, 21, 7, 9), {"size": 5, "alpha": 0.5}), ("even", (1, 16, 5, 6), {"size": 4, "beta": 0.6, "bias": 2.0}), ("line", (2, 40, 11), {"size": 3}),
        ("one", (1, 1, 6, 6), {"size": 1, "alpha": 1.0}), ("cube", (1, 8, 3, 4, 5), {"size": 3}), ("wide", (1, 9, 4, 4), {"size": 40}), ("base_0", (1, 9, 4, 4), {"size": 3, "bias": 0.0})):
    case(f"lrn {_name}", "LRN", {"x": floats(*_shape)}, **_attributes)
for _name, _shape, _attributes in (
        ("padded", (2, 5, 9, 23), {"kernel_shape": [3, 2], "pads": [1, 1, 1, 0], "strides": [2, 1]}), ("magnitudes", (1, 20, 7, 9), {"kernel_shape": [2, 3], "p": 1}),
        ("dilated", (1, 3, 11, 12), {"kernel_shape": [2, 2], "dilations": [2, 3], "p": 2}), ("line", (2, 4, 31), {"kernel_shape": [5], "strides": [3]}),
        ("cube", (1, 2, 5, 6, 7), {"kernel_shape": [2, 3, 2], "pads": [1, 1, 1, 1, 1, 1]}), ("third", (1, 2, 6, 7), {"kernel_shape": [2, 2], "p": 3}),
        ("ceil", (1, 3, 7, 20), {"kernel_shape": [3, 3], "strides": [2, 3], "pads": [1, 0, 0, 1], "ceil_mode": 1}), ("upper", (2, 2, 8, 9), {"kernel_shape": [3, 2], "strides": [2, 3], "auto_pad": "SAME_UPPER"}),
        ("lower", (1, 2, 8, 9), {"kernel_shape": [4, 3], "auto_pad": "SAME_LOWER", "p": 4})):
    case(f"lp_pool {_name}", "LpPool", {"x": floats(*_shape)}, **_attributes)
for _p in (1, 2, 3):
    _x = floats(2, 5, 7, 9)
    case(f"global_lp_pool {_p}", "GlobalLpPool", {"x": _x}, want=[(abs(_x.astype(float)) ** _p).sum((2, 3), keepdims=True).astype(np.float32) ** np.float32(1 / _p)], p=_p)
for _name, _mean in (("", 0), (" far", 3000)):  # from its own mean by few or by many deviations
    for _shape in ((70, 21), (2, 21, 33), (1, 21, 5, 9)):
        case(f"batch_norm{_name} {len(_shape)}", "BatchNormalization", {"x": floats(*_shape) + np.float32(_mean)},
             {"s": floats(21), "b": floats(21), "m": floats(21) + np.float32(_mean), "v": abs(floats(21)) + np.float32(0.2)})
for _op in ("Softmax", "LogSoftmax"):  # rows that lie across memory: vectors of several registers, of one, and the rest
    for _shape in ((2, 21, 13, 7), (1, 3, 64, 2), (2, 300, 5), (3, 1, 40), (2, 3000, 3)):
        case(f"softmax_across {_op}_{_shape[1]}", _op, {"x": 9 * floats(*_shape)}, axis=1)
    for _shape, _axis in (((500, 2), 1), ((2, 130, 5), -1), ((70, 16), 1), ((90, 3, 1, 1), 1), ((3, 70, 1), 2), ((40, 5, 3), 1), ((2, 90, 1, 9), 1)):  # short rows, and few columns
        case(f"softmax_short {_op}_{'x'.join(map(str, _shape))}", _op, {"x": 9 * floats(*_shape)}, axis=_axis)
        case(f"softmax_short {_op}_{'x'.join(map(str, _shape))}_doubles", _op, {"x": 9 * floats(*_shape).astype(np.float64)}, axis=_axis)
for _reduction in ("none", "sum", "mean"):
    case(f"cross_entropy {_reduction}", "SoftmaxCrossEntropyLoss", {"x": floats(9, 40), "t": whole(40, 9)}, results=2, reduction=_reduction)
case("cross_entropy weights", "SoftmaxCrossEntropyLoss", {"x": floats(3, 7, 5, 6), "t": whole(7, 3, 5, 6), "w": abs(floats(7))}, ignore_index=2)
for _name, _x, _w, _attributes in (
        ("3x3", (2, 20, 9, 11), (24, 20, 3, 3), {"pads": [1, 1, 1, 1]}), ("first", (1, 3, 17, 19), (20, 3, 3, 3), {"strides": [2, 2]}),
        ("depthwise", (1, 24, 9, 9), (24, 1, 3, 3), {"group": 24, "pads": [1, 1, 1, 1]}), ("groups", (1, 32, 9, 9), (32, 16, 3, 3), {"group": 2}),
        ("small_groups", (1, 12, 9, 9), (8, 6, 3, 3), {"group": 2}), ("1d", (2, 5, 30), (7, 5, 4), {"dilations": [2]}),
        ("narrow", (2, 3, 17, 40), (4, 3, 3, 3), {"pads": [1, 1, 1, 1]}), ("narrow_strides", (1, 2, 13, 37), (3, 2, 5, 4), {"strides": [2, 3], "dilations": [1, 2], "pads": [0, 3, 2, 1]}),
        ("narrow_groups", (2, 3, 9, 50), (3, 1, 7, 7), {"group": 3, "pads": [3, 3, 3, 3]}), ("narrow_line", (1, 1, 5000), (1, 1, 31), {"pads": [15, 15]}),
        ("narrow_two", (1, 2, 21, 150), (2, 2, 3, 3), {}), ("narrow_outside", (1, 1, 2, 3), (2, 1, 3, 3), {"pads": [4, 5, 4, 5]})):
    case(f"conv_run_time {_name}", "Conv", {"x": floats(*_x), "w": floats(*_w)}, **_attributes)
    if _name.startswith("narrow"):
        case(f"conv {_name}", "Conv", {"x": floats(*_x)}, {"w": floats(*_w), "b": floats(_w[0])}, **_attributes)
    case(f"conv_run_time {_name}_bias", "Conv", {"x": floats(*_x), "w": floats(*_w), "b": floats(_w[0])}, **_attributes)
for _name, _x, _w, _attributes in (
        ("2x2", (2, 20, 9, 11), (20, 6, 2, 2), {"strides": [2, 2]}), ("4x4", (1, 16, 7, 5), (16, 5, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("dilated", (1, 6, 7, 5), (6, 5, 3, 3), {"strides": [2, 1], "dilations": [2, 3]}), ("1d", (2, 8, 13), (8, 3, 7), {"strides": [3], "output_padding": [1]}),
        ("depthwise", (1, 32, 7, 5), (32, 1, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1], "group": 32}),
        ("depthwise_8", (1, 5, 3, 9), (5, 1, 16, 16), {"strides": [8, 8], "pads": [4, 4, 4, 4], "group": 5}),
        ("depthwise_6", (2, 3, 4, 21), (3, 1, 5, 13), {"strides": [2, 6], "pads": [1, 0, 2, 1], "output_padding": [1, 2], "group": 3}),
        ("depthwise_gaps", (1, 4, 3, 3), (4, 1, 2, 2), {"strides": [3, 3], "group": 4}), ("depthwise_1", (1, 4, 6, 19), (4, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 4}),
        ("gaps", (2, 6, 4, 5), (6, 7, 1, 2), {"strides": [2, 3], "pads": [0, 1, 0, 1], "output_padding": [1, 0]}), ("gaps_1d", (1, 4, 9), (4, 3, 1), {"strides": [2], "group": 2}),
        ("depthwise_1d", (2, 7, 30), (7, 1, 6), {"strides": [4], "pads": [5, 0], "group": 7}),
        ("groups", (1, 6, 7, 5), (6, 5, 3, 3), {"strides": [2, 2], "group": 3}), ("3d", (1, 4, 3, 5, 6), (4, 3, 2, 3, 2), {"strides": [2, 2, 1]}),
        ("sized", (1, 6, 7, 5), (6, 5, 3, 3), {"strides": [2, 2], "output_shape": [14, 10]}),
        ("sized_upper", (1, 6, 7, 5), (6, 5, 4, 3), {"strides": [2, 2], "output_shape": [13, 10], "auto_pad": "SAME_UPPER"}),
        ("sized_lower", (1, 6, 7, 5), (6, 5, 4, 3), {"strides": [2, 2], "output_shape": [13, 10], "auto_pad": "SAME_LOWER"})):
    case(f"conv_transpose_run_time {_name}", "ConvTranspose", {"x": floats(*_x), "w": floats(*_w)}, **_attributes)
    _b = floats(_w[1] * _attributes.get("group", 1))
    case(f"conv_transpose_run_time {_name}_bias", "ConvTranspose", {"x": floats(*_x), "w": floats(*_w), "b": _b}, **_attributes)
    case(f"conv_transpose {_name}", "ConvTranspose", {"x": floats(*_x)}, {"w": floats(*_w), "b": _b}, **_attributes)
for _a in (0, 1):
    for _b in (0, 1):
        _shapes = ((19, 33)[::1 - 2 * _a], (33, 21)[::1 - 2 * _b])
        case(f"gemm run_time_{_a}{_b}", "Gemm", {"x": floats(*_shapes[0]), "y": floats(*_shapes[1])}, transA=_a, transB=_b, alpha=0.5)
        case(f"gemm run_time_{_a}{_b}_bias", "Gemm", {"x": floats(*_shapes[0]), "y": floats(*_shapes[1]), "z": floats(21)}, transA=_a, transB=_b, beta=1.5)
        case(f"gemm {_a}{_b}", "Gemm", {"x": floats(*_shapes[0])}, {"y": floats(*_shapes[1])}, transA=_a, transB=_b)
for _rows, _sum, _columns in ((1, 7, 3), (1, 33, 1100), (2, 40, 37), (5, 100, 128), (13, 17, 130), (24, 33, 1040), (25, 33, 50), (3, 0, 20)):
    case(f"matmul {_rows}x{_sum}x{_columns}", "MatMul", {"x": floats(_rows, _sum), "y": floats(_sum, _columns)})
    case(f"matmul {_rows}x{_sum}x{_columns}_batch", "MatMul", {"x": floats(2, 3, _rows, _sum), "y": floats(3, _sum, _columns)})
for _rows, _sum in ((1, 300), (9, 5), (40, 8), (40, 33)):
    case(f"matmul_column {_rows}x{_sum}", "MatMul", {"x": floats(_rows, _sum), "y": floats(_sum, 1)})
    case(f"matmul_column {_rows}x{_sum}_weights", "MatMul", {"x": floats(2, _rows, _sum)}, {"y": floats(_sum, 1)})
    case(f"matmul_column {_rows}x{_sum}_vector", "MatMul", {"x": floats(2, _rows, _sum), "y": floats(_sum)})
    case(f"gemm_column {_rows}x{_sum}", "Gemm", {"x": floats(_rows, _sum)}, {"y": floats(1, _sum), "z": floats(1)}, transB=1, alpha=0.5, beta=3.0)
    case(f"gemm_column {_rows}x{_sum}_bias", "Gemm", {"x": floats(_sum, _rows)}, {"y": floats(_sum, 1), "z": floats(_rows, 1)}, transA=1)
_odd = floats(3, 7, 40)
_odd[0, 2, :5], _odd[1, 3, 7], _odd[1, 4, 8], _odd[2, :, 9] = 0, np.nan, np.inf, 0
for _axis in range(3):
    for _p in (1, 2):
        case(f"lp_normalization {_axis}_{_p}", "LpNormalization", {"x": _odd}, axis=_axis, p=_p)
    case(f"hardmax {_axis}", "Hardmax", {"x": _odd}, axis=_axis)
    for _columns in (1, 5, 16, 17, 150, 1100):
        for _flags in ({}, {"exclusive": 1, "reverse": 1}):
            _shape = [3, 4, _columns][_axis:] + [3, 4, _columns][:_axis]
            case(f"cumulative_sum {_axis}_{_columns}_{len(_flags)}", "CumSum", {"x": floats(*_shape)}, {"axis": np.int64(1)}, **_flags)
            for _type in (np.int32, np.int64, np.float64) if _columns in (17, 150) else ():
                case(f"cumulative_sum {_axis}_{_columns}_{len(_flags)}_{_type.__name__}", "CumSum", {"x": whole(1000, *_shape).astype(_type)}, {"axis": np.int64(1)}, **_flags)
for _flags in ({"exclusive": 1}, {"reverse": 1}):  # rows side by side, and those left over
    case(f"cumulative_sum rows_{'_'.join(_flags)}", "CumSum", {"x": floats(11, 37)}, {"axis": np.int64(1)}, **_flags)
for _size, _k, _axis in (((9, 17, 5), 6, 1), ((40, 3), 2, 0), ((3, 20, 70), 16, 1), ((130, 24), 12, 1), ((7, 1, 5), 1, 1)):  # blocks of 64 results, side by side or not
    _x = whole(40, *_size).astype(np.float32)
    _order = np.argsort(-_x, _axis, kind="stable").take(range(_k), _axis)
    case(f"top_k columns_{'x'.join(map(str, _size))}", "TopK", {"x": _x}, {"k": np.int64([_k])}, results=2, want=[np.take_along_axis(_x, _order, _axis), _order], axis=_axis)
    case(f"arg_max columns_{'x'.join(map(str, _size))}", "ArgMax", {"x": _x}, want=[_x.argmax(_axis)], axis=_axis, keepdims=0)
    case(f"hardmax columns_{'x'.join(map(str, _size))}", "Hardmax", {"x": _x}, want=[(np.arange(_size[_axis]).reshape([-1 if i == _axis else 1 for i in range(len(_size))])
                                                                                      == np.expand_dims(_x.argmax(_axis), _axis)).astype(np.float32)], axis=_axis)
for _dtype in (np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):  # columns, heaps, counts, sorts, sieves
    for _size, _k, _axis in (((70, 11), 3, 1), ((2, 130, 7), 7, 2), ((2, 100, 5), 6, 1), ((9, 17, 5), 6, 1), ((3, 20, 70), 16, 1), ((3, 50), 50, 1), ((2, 333), 20, 1), ((5, 130, 3), 129, 1), ((2, 700), 700, 1), ((2, 9000), 500, 1), ((2, 5001), 60, 1), ((2, 90, 37), 5, 1)):
        for _kind in ("any", "equal", "near", *(["periodic"] if _size == (2, 5001) else [])):
            _x = extremes(_dtype, *_size) if _kind == "any" else whole(3, *_size).astype(_dtype) if _kind == "equal" else np.sort(extremes(_dtype, *_size), _axis)
            if _kind == "periodic":  # classes in turn, of which one is far better: a sieve's sets are alike
                _x[:, ::64] = np.arange(_x[:, ::64].size).reshape(2, -1).astype(_dtype)
                _x[:, 1::64] = 2
            if _kind == "near" and np.issubdtype(_dtype, np.floating):  # equal but for their last bits, and one far away
                _x = (1 + whole(40, *_size) * np.finfo(_dtype).eps).astype(_dtype)
                _x.flat[5] = -np.finfo(_dtype).max
            _name, _label, _rank = np.dtype(_dtype).name, f"{'x'.join(map(str, _size))}_{_kind}", np.unique(_x, return_inverse=True)[1].reshape(_size)
            for _largest in (0, 1):
                _order = np.argsort(-_rank if _largest else _rank, _axis, kind="stable").take(range(_k), _axis)
                case(f"top_k_{_name} {_label}_{_largest}", "TopK", {"x": _x}, {"k": np.int64([_k])}, results=2, want=[np.take_along_axis(_x, _order, _axis), _order], axis=_axis, largest=_largest)
            if _kind == "near" or max(_size) > 333:
                continue
            for _op, _best in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
                for _last in (0, 1):
                    _at = _size[_axis] - 1 - _best(np.flip(_x, _axis), _axis) if _last else _best(_x, _axis)
                    case(f"arg_{_name} {_op}_{_label}_{_last}", _op, {"x": _x}, want=[_at], axis=_axis, keepdims=0, select_last_index=_last)
for _label, _x in (("numbers", whole(9, 2, 40, 1100).astype(np.float32)), ("nan", extremes(np.float32, 2, 40, 1100))):  # more columns than are kept at a time
    case(f"arg_max wide_{_label}", "ArgMax", {"x": _x}, want=[_x.argmax(1)], axis=1, keepdims=0)
    case(f"arg_min wide_{_label}", "ArgMin", {"x": _x}, want=[39 - np.flip(_x, 1).argmin(1)], axis=1, keepdims=0, select_last_index=1)
case("hardmax columns_f64", "Hardmax", {"x": extremes(np.float64, 4, 9, 70)}, axis=1)
case("hardmax short", "Hardmax", {"x": whole(3, 130, 5, dtype=np.int64).astype(np.float32)})
for _axis in range(3):  # scales of blocks, the last one shorter, side by side or for each element
    _x, _size = whole(255, 6, 10, 13, dtype=np.uint8), [6, 10, 13]
    _size[_axis] = -(-_size[_axis] // 4)
    _scale, _zero = np.abs(floats(*_size)) + np.float32(0.1), whole(255, *_size, dtype=np.uint8)
    _wide = [np.repeat(v, 4, _axis).take(range(_x.shape[_axis]), _axis) for v in (_scale, _zero)]
    case(f"dequantize_blocks {_axis}", "DequantizeLinear", {"x": _x, "s": _scale, "z": _zero}, want=[(_x.astype(np.float32) - _wide[1]) * _wide[0]], opset=21, axis=_axis, block_size=4)
    _y = floats(6, 10, 13) * 20
    case(f"quantize_blocks {_axis}", "QuantizeLinear", {"x": _y, "s": _scale, "z": _zero}, want=[np.clip(np.rint(_y / _wide[0]) + _wide[1].astype(np.float32), 0, 255).astype(np.uint8)], opset=21, axis=_axis, block_size=4)
    for _block in (2, 5):  # whole blocks of one axis each, quotients and products of floats and halves, bits for bits
        if _x.shape[_axis] % _block:
            continue
        _size[_axis] = _x.shape[_axis] // _block
        for _type in (np.float32, np.float16):
            _scales, _zeros, _many = (np.abs(floats(*_size)) + np.float32(0.1)).astype(_type), whole(255, *_size, dtype=np.uint8), floats(6, 10, 13).astype(_type) * _type(20)
            _many.flat[:4] = np.nan, np.inf, -np.inf, -0.0
            _label = f"{_axis}_{_block}_{np.dtype(_type).name}"
            case(f"quantize_whole_{_type.__name__} {_label}", "QuantizeLinear", {"x": _many, "s": _scales, "z": _zeros}, axis=_axis, block_size=_block)
            case(f"dequantize_whole_{_type.__name__} {_label}", "DequantizeLinear", {"x": _x, "s": _scales, "z": _zeros}, axis=_axis, block_size=_block)
    for _type in (np.float32, np.float16):  # scales and zero points of the run: one, and one for each index
        _many = np.concatenate([floats(6, 10, 12) * 20, np.full((6, 10, 1), np.nan, np.float32)], 2).astype(_type)
        for _shape in ((), (_x.shape[_axis],)):
            for _what, _feed in (("quantize", _many), ("dequantize", _x)):
                _scales = np.abs(floats(*_shape)).astype(_type) + _type(0.1) if _shape else _type(0.3)
                case(f"{_what}_run_{_type.__name__} {_axis}_{len(_shape)}", f"{_what.capitalize()}Linear",
                     {"x": _feed, "s": _scales, "z": whole(255, *_shape, dtype=np.uint8) if _shape else np.uint8(200)}, axis=_axis)
    case(f"rounded_halves {_axis}", ("Floor", "Ceil", "Round")[_axis], {"x": np.concatenate([floats(300) * 50, np.float32([np.nan, np.inf, -np.inf, -0.0, 0.5, -0.5, 1.5, 65504, 6e-8])]).astype(np.float16)})
for _reduction in ("Sum", "Mean", "Max", "Min", "Prod", "LogSumExp"):
    for _keep in (0, 1):
        case(f"reduce_separated {_reduction}_{_keep}", f"Reduce{_reduction}", {"x": _odd.reshape(3, 7, 5, 8)}, {"axes": np.array([0, -1, 2])}, keepdims=_keep)
        case(f"reduce_separated {_reduction}_{_keep}_two", f"Reduce{_reduction}", {"x": floats(3, 7, 5, 8)}, {"axes": np.array([2, 0])}, keepdims=_keep)
for _type in (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64):  # rows of whole vectors, pairs of them and less
    for _length in (7, 16, 64, 200, 512):
        _x = extremes(_type, 3, _length)
        for _op, _join in (("Max", np.max), ("Min", np.min), ("Sum", np.sum), ("Prod", np.prod)):
            if np.dtype(_type).itemsize > 1 or _op in ("Max", "Min"):
                _y = _join(_x, 1) if _op in ("Max", "Min") else _join(_x, 1, dtype=_type)
                case(f"reduce_rows {_op}_{_type.__name__}_{_length}", f"Reduce{_op}", {"x": _x}, {"axes": np.array([1])}, keepdims=0, want=[_y])
_x = floats(5, 37, 130, dtype=np.float64)
_x[1, 4, 5], _x[2, 3, 7] = np.nan, -np.inf
for _axis in range(3):
    for _op in ("Max", "Min", "Sum", "Mean", "L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Prod"):
        case(f"doubles_rows Reduce{_op}_{_axis}", f"Reduce{_op}", {"x": _x}, {"axes": np.array([_axis])}, keepdims=_axis % 2)
    case(f"doubles_rows Softmax_{_axis}", "Softmax", {"x": _x * 300}, axis=_axis)
    case(f"doubles_rows LogSoftmax_{_axis}", "LogSoftmax", {"x": _x}, axis=_axis)
for _op in ("Swish", "Selu", "Celu"):
    case(f"doubles_functions {_op}", _op, {"x": floats(3, 333, dtype=np.float64) * 9}, opset=24)
case("doubles_rows Sums", "ReduceSum", {"x": floats(2, 9001, dtype=np.float64)}, {"axes": np.array([1])})
case("doubles_rows LayerNormalization", "LayerNormalization", {"x": _x}, {"s": floats(130, dtype=np.float64), "b": floats(130, dtype=np.float64)}, epsilon=1e-3)
case("doubles_rows InstanceNormalization", "InstanceNormalization", {"x": _x}, {"s": floats(37, dtype=np.float64), "b": floats(37, dtype=np.float64)}, epsilon=1e-3)
for _mode in ("DCR", "CRD"):
    for _block in (2, 3, 5):
        case(f"depth_to_space {_mode}_{_block}", "DepthToSpace", {"x": floats(2, 2 * _block**2, 3, 21)}, blocksize=_block, mode=_mode)
for _kind, _z in (("signed", np.int8(-3)), ("unsigned", np.uint8(117))):
    _w = RNG.integers(0, 256, (5, 3, 3, 3)).astype(np.uint8).view(_z.dtype)
    case(f"conv_integer {_kind}", "ConvInteger", {"x": whole(256, 2, 3, 9, 11, dtype=np.uint8)}, {"w": _w, "xz": np.uint8(100), "wz": np.full(5, _z)}, pads=[1, 1, 0, 1])
    case(f"conv_integer {_kind}_run", "ConvInteger", {"x": whole(256, 2, 3, 9, 11, dtype=np.uint8), "w": _w}, {"xz": np.uint8(100), "wz": np.full(5, _z)}, pads=[1, 1, 0, 1])
    _deep = {"x": np.full((1, 4, 9, 9), 255, np.uint8), "w": np.full((2, 4, 9, 9), 127, np.uint8).view(_z.dtype)}  # sums above 2^24
    case(f"conv_integer {_kind}_run_deep", "ConvInteger", _deep, {"xz": np.uint8(0), "wz": _z})
    case(f"conv_integer {_kind}_deep", "ConvInteger", {"x": _deep["x"]}, {"w": _deep["w"], "xz": np.uint8(0), "wz": _z})
    case(f"conv_integer {_kind}_plain", "ConvInteger", {"x": whole(256, 2, 3, 9, 11, dtype=np.uint8)}, {"w": _w}, strides=[2, 1])
_keys = [int(k) for k in RNG.permutation(60)] + [3, 3]
_sparse = [k * 10**9 - 5 for k in _keys]
_words = [f"word {k}" for k in _keys]
for _n in (5, 200):  # fewer and more than a block; keys close together are indices of a table
    for _label, _list in (("close", _keys), ("sparse", _sparse)):
        _x = RNG.choice(np.array(_list + [-7, 61]), _n)
        case(f"ml_labels {_label}_{_n}", "LabelEncoder", {"x": _x}, keys_int64s=_list, values_int64s=list(range(62)), default_int64=99)
        case(f"ml_labels {_label}_{_n}_floats", "LabelEncoder", {"x": _x}, keys_int64s=_list, values_floats=[k / 2 for k in range(62)], default_float=0.25)
    _x = RNG.choice(np.array(_words + ["none"], object), _n)
    case(f"ml_labels words_{_n}", "LabelEncoder", {"x": _x}, keys_strings=_words, values_int64s=list(range(62)))
    case(f"ml_labels one_hot_{_n}", "OneHotEncoder", {"x": whole(70, _n)}, cats_int64s=_keys[:60], zeros=1)
    case(f"ml_labels one_hot_words_{_n}", "OneHotEncoder", {"x": _x}, cats_strings=_words[:60], zeros=1)
    case(f"ml_labels one_hot_floats_{_n}", "OneHotEncoder", {"x": floats(_n) * 9}, cats_int64s=_keys[:60], zeros=1)
    case(f"ml_labels mapper_words_{_n}", "CategoryMapper", {"x": _x}, cats_strings=_words[:60], cats_int64s=_sparse[:60], default_int64=-3)
    case(f"ml_labels mapper_{_n}", "CategoryMapper", {"x": RNG.choice(np.array(_sparse + [7]), _n)}, cats_strings=_words[:60], cats_int64s=_sparse[:60])
    _reals = [float(k) / 2 for k in _keys] + [float("nan"), -0.0, float("inf")]
    _x = RNG.choice(np.array(_reals + [0.0, 0.25, -1.0]), _n)
    case(f"ml_labels floats_{_n}", "LabelEncoder", {"x": _x.astype(np.float32)}, keys_floats=_reals, values_int64s=list(range(65)), default_int64=99)
    for _type in (np.float32, np.float64, np.int16):
        _list, _given = (np.array(_keys, _type), RNG.choice(np.array(_keys + [-9]), _n).astype(_type)) if _type is np.int16 else (np.array(_reals, _type), _x.astype(_type))
        case(f"ml_labels tensor_{_type.__name__}_{_n}", "LabelEncoder", {"x": _given}, keys_tensor=numpy_helper.from_array(_list),
             values_tensor=numpy_helper.from_array(np.arange(len(_list), dtype=_type)), default_tensor=numpy_helper.from_array(np.array([77], _type)))
for _type in (np.int32, np.uint32, np.int64, np.uint64):
    _all = np.iinfo(_type)
    for _rows, _inner in ((1, 40), (3, 300), (29, 300), (17, 0)):
        _x, _y = (RNG.integers(_all.min, _all.max, shape, _type, endpoint=True) for shape in ((2, _rows, _inner), (_inner, 37)))
        case(f"integer_products {_type.__name__}_{_rows}", "MatMul", {"x": _x, "y": _y})
        case(f"integer_products {_type.__name__}_{_rows}_batches", "MatMul", {"x": _x[:, None], "y": np.stack([_y, _y + _type(1)])})
    for _most in (100, 237, 5400000):  # sums that floats of their size hold, or just do not
        _x, _y = (RNG.integers(-_most if _all.min else 0, _most, shape, _type, endpoint=True) for shape in ((29, 300), (300, 37)))
        _x[0], _y[:, 0] = _most, _most
        case(f"integer_products {_type.__name__}_most_{_most}", "MatMul", {"x": _x, "y": _y}, want=[_x @ _y])
_x, _y = np.full((29, 1), 2 ** 53 + 1), np.ones((1, 37), np.int64)  # a number between two doubles
case("integer_products int64_outer", "MatMul", {"x": _x, "y": _y}, want=[_x @ _y])
for _rows in (1, 3, 29):
    case(f"doubles matmul_{_rows}", "MatMul", {"x": floats(2, _rows, 300, dtype=np.float64), "y": floats(2, 300, 37, dtype=np.float64)})
    case(f"doubles gemm_{_rows}", "Gemm", {"x": floats(_rows, 40, dtype=np.float64)}, {"y": floats(37, 40, dtype=np.float64), "z": floats(37, dtype=np.float64)}, transB=1)
for _cols in (1, 6):
    case(f"doubles narrow_{_cols}", "Gemm", {"x": floats(29, 300, dtype=np.float64)}, {"y": floats(_cols, 300, dtype=np.float64), "z": floats(_cols, dtype=np.float64)}, transB=1)
case("doubles deep", "MatMul", {"x": floats(2, 15, 1500, dtype=np.float64)}, {"y": floats(1500, 100, dtype=np.float64)})  # parts of the depth
for _rows, _cols in ((1500, 37), (40, 700)):  # threads share the longer side
    case(f"doubles shared_{_rows}", "MatMul", {"x": floats(_rows, 300, dtype=np.float64), "y": floats(300, _cols, dtype=np.float64)})
for _type in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
    _range = np.iinfo(_type)
    for _size in ("small", "any"):
        _low, _high = (max(_range.min, -1000), min(_range.max, 1000)) if _size == "small" else (_range.min, _range.max)
        _x, _y = (RNG.integers(_low, _high, (3, 301), _type, endpoint=True) for _ in range(2))
        _y[_y == 0] = 7
        _x[0, :4], _y[0, :4] = (_range.min, _range.max, 0, _range.min), (_range.max, 1, _range.max, _range.min)
        for _op, _attributes in (("Div", {}), ("Mod", {}), ("Mod", {"fmod": 1})):
            _label = f"quotients {_op}{len(_attributes)}_{_type.__name__}_{_size}"
            case(_label, _op, {"x": _x, "y": _y}, **_attributes)
            case(_label + "_by_7", _op, {"x": _x, "y": np.array(7, _type)}, **_attributes)
            case(_label + "_column", _op, {"x": _x, "y": _y[:, 5:6]}, **_attributes)
            if _range.min:
                case(_label + "_by_negative", _op, {"x": _x[1:, 4:], "y": np.array(-3, _type)}, **_attributes)
for _type, _bits in ((np.int32, (15, 31)), (np.uint32, (16, 32)), (np.int64, (30, 31, 51, 52, 62)), (np.uint64, (30, 31, 51, 52, 63))):  # beside multiples of the divisor
    for _most in _bits:
        _y = RNG.integers(1, 2 ** RNG.integers(1, _most, 1000), dtype=np.uint64)
        _x = RNG.integers(0, np.uint64(2**_most) // _y, dtype=np.uint64) * _y + RNG.integers(0, 3, 1000, np.uint64) - np.uint64(1)
        _x[_x >= 2**_most] = 0  # 0 - 1
        _x[:2], _y[:2] = (2**_most - 1, 0), (1, 5)
        for _sign in (1, -1) if np.iinfo(_type).min else (1,):
            case(f"quotients near_{_type.__name__}_{_most}_{_sign}", "Div", {"x": _x.astype(_type), "y": _y.astype(_type) * _type(_sign)}, want=[(_x // _y).astype(_type) * _type(_sign)])
            case(f"quotients mod_near_{_type.__name__}_{_most}_{_sign}", "Mod", {"x": _x.astype(_type), "y": _y.astype(_type) * _type(_sign)}, want=[_x.astype(_type) % (_y.astype(_type) * _type(_sign))])
_x, _y = (floats(3, 700) * 10.0 ** RNG.integers(-2, 3, (3, 700)) for _ in range(2))
for _type in (np.float32, np.float64, np.float16):
    case(f"quotients fmod_{_type.__name__}", "Mod", {"x": _x.astype(_type), "y": _y.astype(_type)}, fmod=1)
_odd = np.array([0, -0.0, 1, -1, 5.5, -5.5, 1e30, np.inf, -np.inf, np.nan, 1e-40, -4], np.float32)
for _part in ([0, 1, 2, 3, 4, 5, 10, 11], range(12)):
    _x, _y = np.meshgrid(_odd[_part], _odd[_part[2:] if len(_part) == 8 else _part])
    case(f"quotients fmod_odd_{len(_part)}", "Mod", {"x": _x, "y": _y}, fmod=1)
_x = extremes(np.float64, 3, 65)
for _n in (1, 2, 3, 4, -1, 0.5):  # products, a quotient, a root
    case(f"powers_of_doubles {_n}", "Pow", {"x": _x}, {"n": np.array(_n, np.float64)})
case("powers_of_doubles row", "Pow", {"x": _x}, {"n": np.full(65, 3.0)})
_channels = {n: floats(5, dtype=np.float64) for n in "som"} | {"v": np.linspace(0.5, 2, 5)}
case("normalised_doubles", "BatchNormalization", {"x": floats(2, 5, 3, 7, dtype=np.float64)}, _channels)
for _axis in (0, 1, 2):
    case(f"gather_elements {_axis}", "GatherElements", {"x": floats(4, 5, 6), "i": whole(8, 4, 5, 6) - 4}, axis=_axis)
_spread = np.concatenate([floats(300) * 10.0 ** RNG.integers(-3, 22, 300), [0, -0.0, 127.9, -0.9]])
for _from in (np.float32, np.float64, np.float16):
    for _to in (np.uint8, np.uint16, np.uint32, np.uint64):  # negative values keep the bits of the signed integer, as with numpy and ONNX Runtime
        _x = np.linspace(-120.4, 3, 41)
        case(f"cast_negative {np.dtype(_from).name}_{np.dtype(_to).name}", "Cast", {"x": _x.astype(_from)}, to=helper.np_dtype_to_tensor_dtype(np.dtype(_to)))
for _from in (np.float32, np.float64):
    for _to in (np.int8, np.int32, np.int64, np.uint8, np.uint32, np.uint64):
        _range = np.iinfo(_to)
        _x = np.clip(_spread, float(_range.min), float(_range.max)).astype(_from)
        _x = np.where(_x.astype(float) >= float(_range.max), _from(1), _x)  # what lies beyond is not defined
        case(f"cast {np.dtype(_from).name}_{np.dtype(_to).name}", "Cast", {"x": _x}, to=helper.np_dtype_to_tensor_dtype(np.dtype(_to)))
_edges = np.array([[_sign * (2.0**_power + _step) for _step in (-1, -0.75, 0, 0.5, 1)] * 8 for _power in (24, 30, 31, 32, 50, 51, 52, 53, 62) for _sign in (1, -1)])
for _to in (np.int64, np.uint64, np.uint32):  # rows of equal size: each vector as a whole is small or not
    for _from in (np.float32, np.float64):
        _x = _edges[np.abs(_edges[:, 0]) < (2**32 - 300 if _to == np.uint32 else 2**63)].astype(_from)
        _x = _x if _to == np.int64 else np.abs(_x)
        case(f"cast_edges {np.dtype(_from).name}_{np.dtype(_to).name}", "Cast", {"x": _x}, want=[_x.astype(_to)], to=helper.np_dtype_to_tensor_dtype(np.dtype(_to)))
_x = np.array([[_sign * (2**_power + _step) for _step in (-1, 0, 1, 2**27, 2**27 + 1)] * 8 for _power in (24, 31, 50, 51, 52, 53, 62) for _sign in (1, -1)] + [[-(2**63), 2**63 - 1] * 20])
for _from in (np.int64, np.uint64):
    for _to in (np.float32, np.float64):
        case(f"cast_edges {np.dtype(_from).name}_{np.dtype(_to).name}", "Cast", {"x": _x.astype(_from)}, want=[_x.astype(_from).astype(_to)], to=helper.np_dtype_to_tensor_dtype(np.dtype(_to)))
_x = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
with np.errstate(invalid="ignore", over="ignore"):
    _next = np.nextafter(_x.astype(np.float16), np.float16(np.inf)).astype(np.float64)
    _x = np.concatenate([_x, *((_x + _next) / 2 * (1 + _step) for _step in (-(2.0**-52), 0, 2.0**-52)), [1e300, -1e300, 65519.999, 65520, 2.0**-25, 1e-310]])
    case("cast_edges float64_float16", "Cast", {"x": _x}, want=[_x.astype(np.float16)], to=10)
for _type, _zero in ((np.uint8, 128), (np.uint8, 0), (np.int8, -3)):  # beside numbers halfway between two bytes, and what no byte is near
    for _scale in (0.02, 1 / 3, 0.25, 7.0, 1e-30, 0.0123456789, 3e38, 1e-39):
        with np.errstate(all="ignore"):
            _scale = np.float32(_scale)
            _x = np.float32((np.arange(-260, 260)[:, None] + 0.5) * float(_scale)) * np.ones((1, 7), np.float32)
            for _near in range(7):
                for _ in range(abs(_near - 3)):
                    _x[:, _near] = np.nextafter(_x[:, _near], np.float32(np.sign(_near - 3) * np.inf))
            _x = np.concatenate([_x.reshape(-1), np.float32([0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45])])
            _range, _y = np.iinfo(_type), np.clip(np.rint(_x / _scale) + np.float32(_zero), np.iinfo(_type).min, np.iinfo(_type).max)
            _y = np.where(np.isnan(_y), 0, _y).astype(_type)
        case(f"quantize_halfway {np.dtype(_type).name}_{_zero}_{_scale}", "QuantizeLinear", {"x": _x}, {"s": _scale, "z": _type(_zero)}, want=[_y])
        case(f"quantize_halfway {np.dtype(_type).name}_{_zero}_{_scale}_axis", "QuantizeLinear", {"x": np.tile(_x, (2, 1))}, {"s": np.float32([_scale, 0.5]), "z": np.array([_zero, _zero], _type)}, axis=0)
for _upper in (0, 1):
    for _k in (-9, -3, 0, 2, 11):
        _x = whole(9, 2, 5, 7) + 1
        case(f"triangle {_upper}_{_k}", "Trilu", {"x": _x}, {"k": np.int64(_k)}, want=[(np.triu if _upper else np.tril)(_x, _k)], upper=_upper)
for _op in ("MaxPool", "AveragePool"):
    for _size in (3, 7, 9, 14, 15, 21):  # rows of quarters, halves and whole vectors
        for _stride in (1, 2):
            case(f"pool {_op}_{_size}_{_stride}", _op, {"x": floats(2, 3, _size, _size)}, kernel_shape=[3, 3], strides=[_stride] * 2, pads=[1, 1, 1, 1])
    case(f"pool {_op}_column", _op, {"x": floats(2, 3, 41, 1)}, kernel_shape=[3, 1], strides=[2, 1], pads=[1, 0, 0, 0])
for _op in ("ReduceSumSquare", "ReduceL1", "ReduceL2", "ReduceMax", "ReduceMean"):
    case(f"reduce_separate {_op}", _op, {"x": floats(3, 4, 5, 6)}, {"axes": np.int64([0, 2, 3])}, keepdims=0)
    for _columns in (2, 3, 4, 7):
        case(f"reduce_columns {_op}_{_columns}", _op, {"x": floats(3, 96, _columns)}, {"axes": np.int64([1])}, keepdims=_columns % 2)
    case(f"reduce_columns {_op}_leading_0", _op, {"x": floats(0, 96, 3)}, {"axes": np.int64([1])})
    case(f"reduce_columns {_op}_second_0", _op, {"x": floats(2, 0, 64, 2)}, {"axes": np.int64([2])}, keepdims=0)
    if _op not in ("ReduceMax", "ReduceMean"):
        case(f"reduce_columns {_op}_of_0", _op, {"x": floats(3, 96, 0)}, {"axes": np.int64([1])})
    case(f"reduce_separate {_op}_ones", _op, {"x": floats(1, 4, 5, 1)}, {"axes": np.int64([-4, 2, 3])}, keepdims=1)
    case(f"reduce_separate {_op}_only_ones", _op, {"x": floats(1, 4, 5, 1)}, {"axes": np.int64([0, 3])}, keepdims=0)
for _op in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2"):  # rows side by side of few columns, and those left over
    for _rows, _columns in ((97, 16), (301, 24), (97, 48), (301, 63), (98, 70)):
        case(f"reduce_columns {_op}_{_rows}x{_columns}", _op, {"x": floats(2, _rows, _columns)}, {"axes": np.int64([1])})
        case(f"reduce_columns {_op}_{_rows}x{_columns}_f64", _op, {"x": floats(2, _rows, _columns).astype(np.float64)}, {"axes": np.int64([1])})
for _rows, _length in ((6, 5), (7, 70), (3, 9000)):  # NaN in vectors side by side, in the last of them, and behind
    _gaps = floats(_rows, _length)
    _gaps[0] = -np.inf
    _gaps[1, [0, -1]] = np.inf, np.nan
    _gaps[2, _length // 3 : _length // 3 + 2] = np.nan, np.inf
    for _op in ("ReduceMax", "ReduceMin", "ReduceLogSumExp"):
        case(f"reduce_nan {_op}_{_length}_along", _op, {"x": _gaps}, {"axes": np.int64([1])})
        case(f"reduce_nan {_op}_{_length}_across", _op, {"x": np.ascontiguousarray(np.tile(_gaps.T, (1, 9)))}, {"axes": np.int64([0])}, keepdims=0)
case("pool bytes", "MaxPool", {"x": whole(250, 2, 3, 9, 20, dtype=np.uint8)}, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
_holes = floats(2, 3, 9, 20)
_holes[0, 1, 3, 4:7] = np.nan
_holes[1, 0, 2, :9] = -np.inf
for _tall in (1, 40):  # planes as a whole, and row by row
    case(f"pool nan_{_tall}", "MaxPool", {"x": np.tile(_holes, (1, 1, _tall, 1))}, kernel_shape=[3, 3], strides=[2, 1], pads=[1, 0, 1, 1])
case("pool nan_global", "GlobalMaxPool", {"x": _holes})
for _op in ("MaxPool", "AveragePool"):  # windows further apart than the columns that are pooled together
    case(f"pool {_op}_apart", _op, {"x": floats(1, 2, 10007)}, kernel_shape=[2], strides=[5000])
for _order in (0, 1):
    case(f"pool_indices {_order}", "MaxPool", {"x": _holes}, results=2, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], storage_order=_order)
    case(f"pool_indices empty_{_order}", "MaxPool", {"x": floats(1, 1, 0, 4)}, results=2, kernel_shape=[2, 2], pads=[1, 1, 1, 1], storage_order=_order)
case("conv_transpose empty", "ConvTranspose", {"x": floats(1, 4, 0, 1)}, {"w": floats(4, 3, 2, 2)}, strides=[2, 2])
case("conv_transpose valid_shape", "ConvTranspose", {"x": floats(1, 1, 4)}, {"w": floats(1, 1, 4)}, strides=[2], output_shape=[8], auto_pad="VALID")
case("pool_indices 1d", "MaxPool", {"x": floats(2, 3, 1100)}, results=2, kernel_shape=[3], strides=[2], dilations=[2])
case("pool_indices 3d", "MaxPool", {"x": whole(4, 2, 3, 5, 6, 7).astype(np.float32)}, results=2, kernel_shape=[2, 2, 2], strides=[3, 1, 1])
_corner = abs(floats(2, 300, 2)) * 30
_boxes = np.concatenate([_corner, _corner + 1 + abs(floats(2, 300, 2)) * 9], 2)
_limits = {"m": np.array([20]), "i": np.array([0.4], np.float32)}
case("suppression", "NonMaxSuppression", {"b": _boxes, "s": floats(2, 3, 300)}, _limits | {"t": np.array([0.3], np.float32)})
case("suppression all", "NonMaxSuppression", {"b": _boxes, "s": np.round(floats(2, 3, 300))}, _limits)
case("suppression nothing", "NonMaxSuppression", {"b": _boxes, "s": floats(2, 3, 300)}, _limits | {"t": np.array([9], np.float32)})


def suppressed(boxes, scores, limit, threshold):
    """What NonMaxSuppression chooses of one image, one box after the other."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    area, chosen = (high - low).prod(1), []
    for scores_of in scores:
        kept = []
        for i in np.argsort(-scores_of, kind="stable"):
            common = np.maximum(np.minimum(high[kept], high[i]) - np.maximum(low[kept], low[i]), 0).prod(1)
            with np.errstate(invalid="ignore", divide="ignore"):
                if len(kept) < limit and not (common / (area[kept] + area[i] - common) > threshold).any():
                    kept.append(i)
        chosen.append(kept)
    return np.array([(0, k, i) for k, kept in enumerate(chosen) for i in kept], np.int64)


# Boxes of 90 classes side by side, some as large as all of them, some of no size: those kept are looked for where they lie, and few of many by the greatest scores alone.
_corner = abs(floats(1, 3000, 2)) * 50 + whole(90, 1, 3000, 1).astype(np.float32) * 200
_extent = abs(floats(1, 3000, 2)) * 40
_extent[0, ::500], _extent[0, 7::300] = 20000, 0
_apart, _scores = np.concatenate([_corner, _corner + _extent], 2), floats(1, 2, 3000)
for _axes, _limit in (([0, 1, 2, 3], 3000), ([3, 0, 1, 2], 3000), ([0, 1, 2, 3], 20)):
    _boxes = np.ascontiguousarray(_apart[..., _axes])
    case(f"suppression apart_{_axes[0]}_{_limit}", "NonMaxSuppression", {"b": _boxes, "s": _scores}, {"m": np.array([_limit]), "i": np.array([0.3], np.float32)},
         want=[suppressed(_boxes[0], _scores[0], _limit, np.float32(0.3))])
for _dtype in (np.int64, np.int8, np.uint8, np.uint64, np.float32, np.float64):
    _x = whole(400, 1000).astype(_dtype) - _dtype(90)
    case(f"unique {np.dtype(_dtype).name}", "Unique", {"x": _x}, results=4)
    case(f"unique {np.dtype(_dtype).name}_few", "Unique", {"x": _x[:30]}, results=4, sorted=0)
case("unique not_numbers", "Unique", {"x": np.concatenate([_holes.ravel(), [0.0, -0.0]]).astype(np.float32)}, results=4)
case("unique rows", "Unique", {"x": whole(3, 200, 2)}, results=4, axis=0)


def build(name, dynamic):
    nodes, infos, outputs, constants = [], [], [], []
    for at, (op, feed, weights, results, _, opset, attributes) in enumerate(CASES[name].values()):
        fixed = lambda n, i: i == 1 or (op in ("Conv", "ConvTranspose") and n == "w")
        shape = lambda n, a: [f"n{d}" if dynamic and not fixed(n, i) else d for i, d in enumerate(a.shape)]
        infos += [helper.make_tensor_value_info(f"{n}{at}", helper.np_dtype_to_tensor_dtype(a.dtype), shape(n, a)) for n, a in feed.items() if a is not None]
        constants += [numpy_helper.from_array(a, f"{n}{at}") for n, a in weights.items() if a is not None]
        names = [f"y{at}_{i}" for i in range(results)]
        domain = next((d for prefix, d in DOMAINS.items() if name.startswith(f"op_{prefix}_")), "")
        operands = [f"{n}{at}" if a is not None else "" for n, a in (feed | weights).items()]
        nodes.append(helper.make_node(op, operands, names, domain=domain, **attributes))
        outputs += [helper.make_empty_tensor_value_info(n) for n in names]
    return helper.make_model(helper.make_graph(nodes, "g", infos, outputs, constants), opset_imports=[helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 4), helper.make_opsetid("com.microsoft", 1)], ir_version=10)


def differ(got, want):
    """What is wrong with `got`; None: nothing."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{got.shape}, want {want.dtype}{want.shape}"
    if want.dtype.kind != "f":
        return None if np.array_equal(got, want) else f"{(got != want).sum()} elements differ"
    exact = np.array_equal(np.isnan(got), np.isnan(want)) and np.array_equal(got[np.isinf(want)], want[np.isinf(want)])
    finite = np.isfinite(want)
    most = max(float(abs(want[finite]).max(initial=0)), 1e-30)
    far = abs(got[finite].astype(float) - want[finite].astype(float)).max(initial=0) / most
    bound = {8: 1e-13, 4: 1e-5, 2: 2e-3}[want.dtype.itemsize]
    return None if exact and far <= bound else f"off by {far:.1e}" if exact else "NaN or infinity elsewhere"


def check(s, folder, name):
    import onnxc
    feed = {f"{n}{at}": a for at, c in enumerate(CASES[name].values()) for n, a in c[1].items() if a is not None}
    labels = [f"{label} result {i}" for label, c in CASES[name].items() for i in range(c[3])]
    want = [w for c in CASES[name].values() for w in c[4]]
    for mode, dynamic, flags in (("O0", False, ["-O0"]), ("v3", False, ["--cpu", "x86-64-v3"]), ("v4", False, []), ("symbolic", True, [])):
        library = s.compile(build(name, dynamic), folder, *flags, name=f"{name}_{mode}")
        got = [np.asarray(v) for v in onnxc.load(str(library), num_threads=2).run(feed)]
        want = [g if w is None else w for g, w in zip(got, want)]
        wrong = [f"{mode} {label}: {difference}" for g, w, label in zip(got, want, labels) if (difference := differ(g, w))]
        if wrong:
            return "; ".join(wrong[:5])
    return None
