"""Copies, gathers and scatters that are large enough for threads to share them, against numpy; results of few rows, of many, and of one axis. Adds to operators.CASES."""
import numpy as np

from operators import case, floats, whole


def depth_to_space(x, b, mode):
    n, c, h, w = x.shape
    if mode == "CRD":
        return x.reshape(n, c // (b * b), b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // (b * b), h * b, w * b)
    return x.reshape(n, b, b, c // (b * b), h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // (b * b), h * b, w * b)


def space_to_depth(x, b):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)


def scattered(x, index, updates, axis, combine=np.add):
    y = x.astype(np.float64)
    for at in np.ndindex(*index.shape):
        to = list(at)
        to[axis] = index[at]
        y[tuple(to)] = combine(y[tuple(to)], updates[at])
    return y.astype(np.float32)


for _shapes, _axis in ((((1, 70001), (1, 50003)), 1), (((3, 30011), (3, 20)), 1), (((5000, 7), (5000, 9), (5000, 5)), 1), (((70000, 1), (70000, 1), (70000, 1)), 1), (((90000,), (3,)), 0)):
    _parts = {f"x{_i}": floats(*_s) for _i, _s in enumerate(_shapes)}
    _whole = np.concatenate(list(_parts.values()), _axis)
    case(f"shared_concat {_whole.shape[0]}_{_whole.shape[-1]}", "Concat", _parts, want=[_whole], axis=_axis)
    _sizes = np.int64([_s[_axis] for _s in _shapes])
    case(f"shared_split {_whole.shape[0]}_{_whole.shape[-1]}", "Split", {"x": _whole}, {"s": _sizes}, results=len(_parts), want=list(_parts.values()), axis=_axis)
_x = floats(9, 300, 61)
for _name, _starts, _ends, _steps in (("rows", (1, 2, 3), (9, 299, 60), (1, 1, 1)), ("columns", (0, 0, 0), (9, 300, 61), (1, 1, 3)), ("back", (8, 299, 60), (-99, -999, -99), (-1, -1, -1))):
    _cut = _x[tuple(slice(s, e if e > -9 else None, k) for s, e, k in zip(_starts, _ends, _steps))]
    case(f"shared_slice {_name}", "Slice", {"x": _x}, {"s": np.int64(_starts), "e": np.int64(_ends), "a": np.int64([0, 1, 2]), "k": np.int64(_steps)}, want=[_cut])
case("shared_expand rows", "Expand", {"x": whole(99, 300, 1)}, {"s": np.int64([300, 401])}, want=None)
case("shared_expand one", "Expand", {"x": whole(99, 1)}, {"s": np.int64([90001])}, want=None)
case("shared_tile rows", "Tile", {"x": floats(30, 41)}, {"r": np.int64([5, 20])})
for _b, _mode, _shape in ((2, "DCR", (1, 8, 90, 95)), (3, "CRD", (1, 9, 100, 91)), (4, "DCR", (2, 32, 33, 41)), (5, "CRD", (1, 25, 51, 49))):
    _x = floats(*_shape)
    case(f"shared_depth {_b}_{_mode}", "DepthToSpace", {"x": _x}, want=[depth_to_space(_x, _b, _mode)], blocksize=_b, mode=_mode)
for _b, _shape in ((2, (1, 3, 190, 96)), (3, (1, 2, 150, 183)), (4, (2, 1, 160, 164)), (5, (1, 1, 255, 245))):
    _x = floats(*_shape)
    case(f"shared_space {_b}", "SpaceToDepth", {"x": _x}, want=[space_to_depth(_x, _b)], blocksize=_b)
for _shape, _count, _axis in (((500, 33), 3001, 0), ((7, 500), 9001, 1), ((3, 40, 90), 400, 1)):
    _x, _index = floats(*_shape), whole(2 * _shape[_axis], _count) - _shape[_axis]
    case(f"shared_gather {_axis}_{_count}", "Gather", {"x": _x, "i": _index}, want=[np.take(_x, _index, _axis, mode="wrap")], axis=_axis)
for _shape, _axis in (((50, 900, 3), 0), ((3, 50, 900), 2), ((60, 901), 1), ((90001,), 0)):
    _x = floats(*_shape)
    _index = whole(_shape[_axis], *_shape)
    case(f"shared_gather_elements {len(_shape)}_{_axis}", "GatherElements", {"x": _x, "i": _index}, want=[np.take_along_axis(_x, _index, _axis)], axis=_axis)
    _updates = whole(9, *_shape).astype(np.float32)  # sums of integers: the order of additions is all the same
    case(f"shared_scatter_elements {len(_shape)}_{_axis}", "ScatterElements", {"x": whole(9, *_shape).astype(np.float32), "i": _index, "u": _updates}, opset=18, axis=_axis, reduction="add")
_x, _index = floats(40, 50, 13), np.stack([whole(40, 3000), whole(50, 3000)], 1)
case("shared_gather_nd", "GatherND", {"x": _x, "i": _index}, want=[_x[_index[:, 0], _index[:, 1]]])
_x, _index, _updates = whole(9, 300, 70).astype(np.float32), whole(300, 2000, 70), whole(9, 2000, 70).astype(np.float32)
for _axis in (0, 1):
    _i, _u = (_index % 70 if _axis else _index)[:300 if _axis else 2000], _updates[:300 if _axis else 2000]
    case(f"shared_scatter_add {_axis}", "ScatterElements", {"x": _x, "i": _i, "u": _u}, want=[scattered(_x, _i, _u, _axis)], opset=18, axis=_axis, reduction="add")
    for _reduction, _combine in (("min", np.minimum), ("max", np.maximum), ("mul", np.multiply)):
        _few = _u.copy() if _reduction != "mul" else np.float32(2) ** (_u - 4)  # of no rounding; a product of few
        _few[1, 3] = np.nan
        case(f"shared_scatter_{_reduction} {_axis}", "ScatterElements", {"x": _x, "i": _i, "u": _few}, want=[scattered(_x, _i, _few, _axis, _combine)], opset=18, axis=_axis, reduction=_reduction)
for _shape, _none, _axis in (((3, 5, 7), (0, 5, 7), 1), ((3, 5, 7), (3, 0, 7), 1), ((0, 5, 7), (0, 5, 7), 1), ((5, 7), (0, 7), 0), ((5, 7), (5, 0), 1)):  # nothing to share
    _x = floats(*_shape)
    for _reduction in ("none", "add"):
        case(f"shared_scatter_nothing {len(_shape)}_{_none}_{_reduction}", "ScatterElements", {"x": _x, "i": whole(1, *_none), "u": floats(*_none)}, want=[_x], opset=18, axis=_axis, reduction=_reduction)
