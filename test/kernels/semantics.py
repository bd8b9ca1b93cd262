"""Operators where ONNX Runtime, or one mode of onnxc, may have other numbers than the standard's text: cases of operators.py with results worked out here."""
import numpy as np
from onnx import helper
from onnx.reference import ReferenceEvaluator

from operators import case, floats, whole


def sampled(x, scale, out, source, pick):
    """The last axis of x at `out` positions: `source` maps those of the result to those of x, `pick` rounds."""
    at = pick(source(np.arange(out, dtype=np.float32), np.float32(scale)))  # positions are in single precision, as in ONNX Runtime
    return np.take(x, np.clip(at.astype(int), 0, x.shape[-1] - 1), -1)


half_pixel, half_down = lambda y, s: (y + 0.5) / s - 0.5, lambda p: np.ceil(p - 0.5)
for _n, _scales in ((5, (1.4, 1.8)), (10, (0.7, 0.9, 1.3, 1.4, 1.8, 1.9, 2.5)), (15, (1.4,)), (20, (0.7, 1.4)), (40, (0.9, 1.9))):
    _x = np.arange(_n, dtype=np.float32).reshape(1, 1, _n)
    for _s in _scales:  # the size is that of the product in single precision, as ONNX Runtime has it
        _want = sampled(_x, _s, int(np.float32(_n) * np.float32(_s)), half_pixel, half_down)
        _scale = np.array([1, 1, _s], np.float32)
        case(f"resize_sizes {_n}_{_s}", "Resize", {"x": _x}, {"r": None, "s": _scale}, want=[_want], mode="nearest")
        case(f"resize_sizes {_n}_{_s}_run_time", "Resize", {"x": _x, "r": None, "s": _scale}, want=[_want], mode="nearest")
        case(f"upsample_sizes {_n}_{_s}", "Upsample", {"x": _x}, {"s": _scale}, opset=9, mode="nearest",
             want=[sampled(_x, _s, _want.shape[-1], lambda y, s: y / s, np.floor if _s > 1 else np.ceil)])
for _s in (0.6, 2.5):  # tf_half_pixel_for_nn is of opset 11; tf2onnx writes it in others too
    _x = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
    for _opset in (11, 13):
        for _mode, _pick in (("floor", np.floor), ("ceil", np.ceil), ("round_prefer_floor", half_down)):
            case(f"resize_{_opset} for_nn_{_s}_{_mode}", "Resize", {"x": _x, "r": np.zeros(0, np.float32)}, {"s": np.array([1, 1, _s], np.float32)}, opset=_opset,
                 want=[sampled(_x, _s, int(np.float32(7) * np.float32(_s)), lambda y, s: (y + 0.5) / s, _pick)], mode="nearest", nearest_mode=_mode,
                 coordinate_transformation_mode="tf_half_pixel_for_nn")
_x = np.arange(49, dtype=np.float32)[None, None]
for _mode in ("linear", "cubic"):  # 1 / 49 times 49 is not 1
    _one = {"r": None, "s": None, "k": np.array([1, 1, 1])}
    case(f"resize_one {_mode}", "Resize", {"x": _x}, _one, want=[_x[..., :1]], mode=_mode, coordinate_transformation_mode="pytorch_half_pixel")
    _crop = {"r": np.array([0, 0, 0.5, 1, 1, 0.75], np.float32), "s": None, "k": np.array([1, 1, 1])}
    case(f"resize_one {_mode}_crop", "Resize", {"x": _x}, _crop, want=[_x[..., [30]]], mode=_mode, coordinate_transformation_mode="tf_crop_and_resize")
    _third = {"r": None, "s": np.array([1, 1, 0.375], np.float32)}  # a width of 1.875
    case(f"resize_one {_mode}_scale", "Resize", {"x": _x[..., :5]}, _third, want=[_x[..., :1]], mode=_mode, coordinate_transformation_mode="pytorch_half_pixel")
for _n in range(2, 50):  # the corners are hit exactly, whatever the quotient of the sizes
    _long = {"r": None, "s": None, "k": np.array([1, 1, 6 * _n - 5])}
    case(f"resize_corners {_n}", "Resize", {"x": _x[..., :_n]}, _long, want=[_x[..., np.arange(6 * _n - 5) // 6]], mode="nearest", nearest_mode="floor",
         coordinate_transformation_mode="align_corners")
_x = np.arange(5, dtype=np.float32)
for _step in (-1, -2):  # the start is clamped to the elements, the end to one before them: not numpy's
    for _start, _end, _want in ((-100, -200, [0]), (-100, -5, []), (-6, -100, [0]), (-5, -100, [0]), (100, 3, [4]), (0, -100, [0]), (-2, -100, [3, 2, 1, 0][::-_step])):
        _bounds = {"s": np.array([_start]), "e": np.array([_end]), "a": np.array([0]), "t": np.array([_step])}
        _rest = {"want": [np.array(_want, np.float32)]}
        case(f"slice_back {_start}_{_end}_{_step}", "Slice", {"x": _x}, _bounds, **_rest)
        case(f"slice_back {_start}_{_end}_{_step}_run_time", "Slice", {"x": _x, **_bounds}, **_rest)
        _rest = {"want": [np.zeros(0, np.float32)]}
        case(f"slice_back {_start}_{_end}_{_step}_empty", "Slice", {"x": _x[:0], **_bounds}, **_rest)
        case(f"slice_back {_start}_{_end}_{_step}_no_element", "Slice", {"x": _x[:0]}, _bounds, **_rest)
for _type in (np.uint8, np.float32):  # images whose channels are turned around
    for _channels in (3, 4):
        _x = np.arange(2 * 67 * _channels).astype(_type).reshape(2, 67, _channels)
        _bounds = {"s": np.array([1, -1]), "e": np.array([67, -9]), "a": np.array([1, 2]), "t": np.array([1, -1])}
        case(f"slice_back channels_{_channels}_{_type.__name__}", "Slice", {"x": _x}, _bounds, want=[_x[:, 1:, ::-1]])
_a = np.full((2, 2), 10, np.uint8)  # times the unit matrix: numbers for rows would fit columns
for _name, _rows, _columns in (("rows", (2,), (1,)), ("row_matrix", (2, 1), (1,)), ("columns", (1,), (2,)), ("column_matrix", (), (1, 2)), ("both", (2,), (2,))):
    for _results in (False, True):  # those for rows: of the result too
        _as, _bs = np.resize(np.float32([1, 10]), _rows), np.resize(np.float32([1, 0.5]), _columns)
        _ys = np.float32([2, 1]).reshape(_rows) if _results and _as.size == 2 else np.float32(1)
        _zero = lambda v: np.zeros(v.shape, np.uint8)
        _weights = {"as": _as, "az": _zero(_as), "b": np.eye(2, dtype=np.uint8), "bs": _bs, "bz": _zero(_bs), "ys": _ys, "yz": _zero(_ys) + np.uint8(3)}
        _exact = 10 * np.broadcast_to(_as.reshape(-1, 1), (2, 2)) * _bs.reshape(-1) / np.reshape(_ys, (-1, 1))
        case(f"qlinear_rows {_name}_{_results}", "QLinearMatMul", {"a": _a}, _weights, want=[np.uint8(_exact + 3)])
for _type in (np.uint8, np.int8):  # both of the run; depths whose sums f32 holds, and one beyond; no quotient lies between two steps
    for _shape, _other in (((2, 3, 7, 40), (2, 3, 40, 9)), ((7, 33), (33, 20)), ((5, 1, 6, 8), (1, 4, 8, 6)), ((2, 9, 700), (2, 700, 5))):
        _draw = np.random.default_rng(5)
        _a, _b = (_draw.integers(np.iinfo(_type).min, np.iinfo(_type).max + 1, n).astype(_type) for n in (_shape, _other))
        _numbers = {"as": np.float32(0.5), "az": _type(7), "bs": np.float32(0.25), "bz": _type(100), "ys": np.float32(1.37173 * _shape[-1]), "yz": _type(3)}
        _exact = np.round((_a.astype(int) - 7) @ (_b.astype(int) - 100) * 0.125 / float(_numbers["ys"])) + 3
        case(f"qlinear_products {_type.__name__}_{len(_shape)}_{_shape[-1]}", "QLinearMatMul", {"a": _a, "as": None, "az": None, "b": _b}, _numbers,
             want=[np.clip(_exact, np.iinfo(_type).min, np.iinfo(_type).max).astype(_type)])
_off_on = np.array([0, 1], np.float32)
for _dtype in (np.int64, np.float32):
    for _opset, _axis, _negative in ((9, -1, [0, 0, 0]), (11, -1, [0, 0, 1]), (9, 0, [0, 0, 0])):  # of opset 9 and 10 without the elements from the end
        _rows = np.array([[1, 0, 0], _negative, [0, 0, 1], [0, 0, 0], [0, 0, 0]], np.float32)
        case(f"one_hot_{_opset} {_axis}_{np.dtype(_dtype).name}", "OneHot", {"i": np.array([0, -1, 2, 3, -7]).astype(_dtype)}, {"d": np.array([3]), "v": _off_on}, opset=_opset,
             axis=_axis, want=[_rows.T if _axis == 0 else _rows])
_x = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
for _op, _want in (("MaxPool", [[6, 8], [16, 18]]), ("AveragePool", [[3, 5], [13, 15]]), ("LpPool", [[12, 20], [52, 60]])):  # VALID leaves the rest out in spite of ceil_mode
    _attributes = {"p": 1} if _op == "LpPool" else {}
    case(f"pool_valid {_op}", _op, {"x": _x}, want=[np.float32([[_want]])], kernel_shape=[2, 2], strides=[2, 2], auto_pad="VALID", ceil_mode=1, **_attributes)
_x = np.linspace(-6, 6, 1001)
for _alpha in (-1.0, -2.5, 0.75):  # below 0 the exponential grows
    _want = np.maximum(0, _x) + np.minimum(0, _alpha * np.expm1(_x / _alpha))
    case(f"celu {_alpha}", "Celu", {"x": _x.astype(np.float32)}, alpha=_alpha, want=[_want.astype(np.float32)])
_edge = np.array([1, np.inf, 2, 3]).reshape(1, 1, 2, 2)
for _dtype in (np.float32, np.float64):  # between the edge and the centre of a pixel nothing else is read
    case(f"grid_border {np.dtype(_dtype).name}", "GridSample", {"x": _edge.astype(_dtype), "g": np.array([-1, -1, -0.8, -0.6]).reshape(1, 1, 2, 2).astype(_dtype)},
         want=[np.ones((1, 1, 1, 2), _dtype)], padding_mode="border")
_grid = np.stack([np.linspace(-0.99, 0.99, 777), np.zeros(777)], -1).reshape(1, 1, 777, 2)
for _align, _at in ((0, ((_grid[..., 0] + 1) * 1001 - 1) / 2), (1, (_grid[..., 0] + 1) / 2 * 1000)):  # doubles between neighbours: positions are not rounded to floats
    case(f"grid_of_doubles {_align}", "GridSample", {"x": np.arange(1001.0).reshape(1, 1, 1, 1001), "g": _grid}, want=[_at.reshape(1, 1, 1, 777)], align_corners=_align)
    _single = np.arange(101, dtype=np.float32).reshape(1, 1, 1, 101)
    case(f"grid_of_doubles single_{_align}", "GridSample", {"x": _single, "g": _grid}, align_corners=_align,
         want=[((_grid[..., 0] + 1) / 2 * 100 if _align else ((_grid[..., 0] + 1) * 101 - 1) / 2).reshape(1, 1, 1, 777).astype(np.float32)])
_rng = np.random.default_rng(0)
for _mode, _padding in (("linear", "zeros"), ("nearest", "border"), ("cubic", "reflection")):
    for _dtype in (np.float32, np.float64):
        case(f"grid_of_doubles {_mode}_{np.dtype(_dtype).name}", "GridSample", {"x": _rng.standard_normal((2, 5, 13, 9)).astype(_dtype), "g": _rng.uniform(-1.2, 1.2, (2, 11, 17, 2))},
             mode=_mode, padding_mode=_padding)
_rows = np.float32([[3, 1], [1, 1.5]])  # scores of ONNX Runtime 1.31, which the text does not define
_curve = lambda v: 1 / (1 + np.exp(-v))
for _name, _coefficients, _score in (("signs", [1.0, -1.0], np.float32([1.5, -1])), ("positive", [1.0, 1.0], np.float32([3.5, 2]))):
    _machine = dict(kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], support_vectors=[1.0, 0.0, 0.0, 1.0], vectors_per_class=[1, 1], coefficients=_coefficients, rho=[-0.5],
                    classlabels_ints=[4, 9])
    for _post, _first in (("NONE", -_score), ("SOFTMAX", 1 - _score), ("SOFTMAX_ZERO", 1 - _score), ("LOGISTIC", _curve(-_score))):
        _second = _curve(_score) if _post == "LOGISTIC" else _score
        case(f"ml_svm {_name}_{_post}", "SVMClassifier", {"x": _rows}, results=2, want=[np.where(_score > 0, 4, 9), np.stack([_first, _second], 1)], post_transform=_post, **_machine)
for _post in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
    case(f"ml_svm one_class_{_post}", "SVMClassifier", {"x": _rows}, results=2, want=[np.array([4, 4]), np.float32([[1.5], [-1]])], post_transform=_post,
         kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], coefficients=[1.0, -1.0], rho=[-0.5], classlabels_ints=[4])
_x, _skip, _gamma = floats(2, 5, 40), floats(2, 1, 40), floats(40)  # ONNX Runtime refuses such a skip
_sum = _x + _skip
_moved = _sum - _sum.mean(-1, keepdims=True)
_want = [(_moved / np.sqrt((_moved**2).mean(-1, keepdims=True) + 1e-5) * _gamma).astype(np.float32)]
case("ms_skip_norm", "SkipLayerNormalization", {"x": _x, "skip": _skip}, {"g": _gamma}, want=_want, epsilon=1e-5)


def resized(name, dtype, shape, sizes, **attributes):
    """Whole numbers between others: the reference's doubles to the nearest, of small numbers that leave none halfway: its cubics are of single precision."""
    sizes = {"r": None, "s": None, "k": np.array(sizes)}
    node = helper.make_node("Resize", ["x", "", "", "k"], ["y"], **attributes)
    inputs = [helper.make_tensor_value_info("x", 11, shape), helper.make_tensor_value_info("k", 7, [len(shape)])]
    graph = helper.make_graph([node], "g", inputs, [helper.make_tensor_value_info("y", 11, None)])
    reference, limits, halfway = ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])), np.iinfo(dtype), True
    while halfway:
        x = max(int(limits.min), -500) + whole(min(int(limits.max) - int(limits.min), 1000) + 1, *shape)
        y = reference.run(None, {"x": x.astype(np.float64), "k": sizes["k"]})[0]
        halfway = (np.abs(y % 1 - 0.5) < 1e-4).any()
    case(name, "Resize", {"x": x.astype(dtype)}, sizes, want=[np.clip(np.rint(y), limits.min, limits.max).astype(dtype)], **attributes)


for _dtype in (np.uint8, np.int8, np.int16, np.uint16, np.int32, np.int64):
    _name = f"resize_whole_{np.dtype(_dtype).name}"
    resized(f"{_name} down", _dtype, (1, 2, 15, 41), (1, 2, 7, 19), mode="linear")
    resized(f"{_name} up", _dtype, (1, 2, 5, 7), (1, 2, 10, 23), mode="linear", coordinate_transformation_mode="align_corners")
    resized(f"{_name} cubic", _dtype, (1, 1, 9, 11), (1, 1, 7, 25), mode="cubic")
    if _dtype in (np.uint8, np.int8):
        resized(f"{_name} last", _dtype, (2, 3, 33), (2, 3, 15), mode="linear")
        resized(f"{_name} rows", _dtype, (1, 9, 3, 19), (1, 7, 3, 19), mode="linear")
        resized(f"{_name} channels_last", _dtype, (1, 11, 9, 3), (1, 7, 5, 3), mode="linear")
        resized(f"{_name} three_axes", _dtype, (1, 5, 7, 7), (1, 3, 5, 11), mode="linear")
        resized(f"{_name} antialias", _dtype, (1, 1, 23, 29), (1, 1, 5, 11), mode="linear", antialias=1)
for _seed in (0.0, 3.0, 77.0):  # numpy's generator, as the standard's reference has it
    _state = lambda: np.random.RandomState(int(_seed))
    for _size in ((1,), (37, 41)):  # a round of the generator, and several
        _x, _label = floats(*_size), f"{int(_seed)}_{len(_size)}"
        case(f"random_normal {_label}", "RandomNormalLike", {"x": _x}, want=[(0.5 + 2 * _state().standard_normal(_size)).astype(np.float32)], seed=_seed, mean=0.5, scale=2.0)
        case(f"random_normal {_label}_f64", "RandomNormalLike", {"x": _x}, want=[_state().standard_normal(_size)], seed=_seed, dtype=11)
        case(f"random_uniform {_label}", "RandomUniformLike", {"x": _x}, want=[(3 * _state().random_sample(_size) - 1).astype(np.float32)], seed=_seed, low=-1.0, high=2.0)
        case(f"random_uniform {_label}_f64", "RandomUniformLike", {"x": _x}, want=[_state().random_sample(_size)], seed=_seed, dtype=11)
