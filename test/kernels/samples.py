"""Operators that fold, pool, sample and turn, which library kernels of f32 and bytes compute in vectors, against -O0. operators.py beside it runs them."""
import numpy as np

from operators import RNG, case, floats, whole

for _name, _block, _image, _attributes in (  # strides of vectors and others, taps that lie outside, gaps between taps, rows, frames
        ("plain", (3, 2), (7, 21), {}), ("strides", (4, 4), (14, 37), {"strides": [2, 2], "pads": [1, 1, 1, 1]}), ("apart", (2, 3), (11, 40), {"strides": [3, 4]}),
        ("patches", (16, 16), (32, 48), {"strides": [16, 16]}), ("dilated", (2, 3), (13, 30), {"dilations": [3, 4], "strides": [1, 3], "pads": [1, 2, 0, 3]}),
        ("outside", (3, 5), (4, 3), {"pads": [3, 4, 3, 4]}), ("line", (40,), (170,), {"strides": [13]}), ("cube", (2, 3, 2), (5, 7, 18), {"strides": [1, 2, 2], "pads": [1, 0, 1, 0, 1, 0]})):
    _n = len(_block)
    _pads, _strides, _gaps = _attributes.get("pads", [0] * 2 * _n), _attributes.get("strides", [1] * _n), _attributes.get("dilations", [1] * _n)
    _points = [(_image[i] + _pads[i] + _pads[_n + i] - (_block[i] - 1) * _gaps[i] - 1) // _strides[i] + 1 for i in range(_n)]
    case(f"col2im {_name}", "Col2Im", {"x": floats(2, 3 * int(np.prod(_block)), int(np.prod(_points)))}, {"i": np.int64(_image), "b": np.int64(_block)}, **_attributes)
for _op in ("MaxPool", "AveragePool"):  # windows further apart than two columns, in vectors; long ones, along the window
    for _size, _kernel, _stride in ((64, 4, 4), (70, 3, 4), (9, 4, 4), (41, 6, 4), (400, 75, 15), (90, 16, 3), (83, 37, 8)):
        case(f"pool_apart {_op}_{_size}_{_kernel}", _op, {"x": floats(2, 3, 2, _size)}, kernel_shape=[1, _kernel], strides=[1, _stride], pads=[0, 1, 0, 2])
for _size, _kernel, _stride in ((200, 4, 4), (30, 3, 4), (300, 70, 9)):
    for _type in (np.uint8, np.int8):
        case(f"pool_apart {np.dtype(_type).name}_{_size}", "MaxPool", {"x": whole(250, 2, 3, _size, dtype=np.uint8).view(_type)}, kernel_shape=[_kernel], strides=[_stride])
for _name, _x, _w, _attributes in (
        ("groups_8", (2, 16, 7, 19), (16, 3, 4, 4), {"strides": [2, 2], "pads": [1, 1, 1, 1], "group": 4}), ("groups_strides", (1, 6, 5, 9), (6, 2, 3, 5), {"strides": [3, 4], "group": 2, "output_padding": [1, 2]}),
        ("groups_line", (2, 8, 37), (8, 3, 8), {"strides": [4], "pads": [2, 2], "group": 4}), ("dilated_strides", (1, 4, 5, 11), (4, 3, 3, 3), {"strides": [3, 2], "dilations": [2, 2], "pads": [2, 2, 2, 2]})):
    case(f"conv_transpose_folds {_name}", "ConvTranspose", {"x": floats(*_x)}, {"w": floats(*_w), "b": floats(_w[1] * _attributes.get("group", 1))}, **_attributes)
    case(f"conv_transpose_folds {_name}_run", "ConvTranspose", {"x": floats(*_x), "w": floats(*_w)}, **_attributes)
_rois = np.array([[1, 2, 30, 25], [-4, -4, 60, 50], [10, 10, 10, 10], [5, 3, 9, 40], [90, 2, 99, 9], [30, 20, 3, 5]], np.float32)  # outside, backwards
for _ratio in (0, 1, 3):
    for _shape in ((2, 5, 20, 25), (2, 3, 1, 9)):
        case(f"roi_align_max {_ratio}_{_shape[2]}", "RoiAlign", {"x": floats(*_shape), "r": _rois, "i": np.array([0, 1, 1, 0, 0, 1])}, mode="max", output_height=7, output_width=6, spatial_scale=0.5, sampling_ratio=_ratio)
case("max_roi_pool", "MaxRoiPool", {"x": floats(2, 5, 20, 25), "r": np.concatenate([np.float32([[0], [1], [1], [0], [0], [1]]), _rois], 1)}, pooled_shape=[5, 6], spatial_scale=0.5)
_rois = np.array([[0, 0, 0, 45, 33], [1, 30, -5, 70, 4], [1, 58, 2, 61, 38], [0, -9, 36, 200, 50], [1, 70, 70, 80, 80]], np.float32)  # cells of few columns beside many, and empty ones
for _bins in ([1, 1], [2, 3], [9, 14]):
    case(f"max_roi_pool {_bins[0]}", "MaxRoiPool", {"x": floats(2, 3, 40, 62), "r": _rois}, pooled_shape=_bins)
for _half in (4, 16, 21, 32):  # pairs of whole vectors, and what is left over
    _cache = {"c": floats(30, _half), "s": floats(30, _half)}
    for _neighbours in (0, 1):
        for _name, _x, _attributes in (("heads", (2, 3, 7, 2 * _half), {}), ("tokens", (2, 7, 6 * _half), {"num_heads": 3}), ("part", (2, 3, 7, 2 * _half + 5), {"rotary_embedding_dim": 2 * _half})):
            case(f"rotary {_name}_{_half}_{_neighbours}", "RotaryEmbedding", {"x": floats(*_x)}, _cache | {"p": whole(30, 2, 7)}, opset=23, interleaved=_neighbours, **_attributes)
            for _at in (whole(30, 2, 7), whole(20, 1)):
                _order = {"x": floats(*_x), "p": _at}
                _more = {k: v for k, v in _attributes.items() if k == "num_heads"} | ({"rotary_embedding_dim": 2 * _half, "num_heads": 3} if _name == "part" else {})
                case(f"ms_rotary {_name}_{_half}_{_neighbours}_{_at.size}", "RotaryEmbedding", _order, _cache, interleaved=_neighbours, **_more)
    case(f"rotary rows_{_half}", "RotaryEmbedding", {"x": floats(2, 3, 7, 2 * _half), "c": floats(2, 7, _half), "s": floats(2, 7, _half)}, opset=23)
for _channels in (1, 3, 5, 16, 37, 64, 130):
    for _type in (np.uint8, np.int8):
        _x = whole(256, 2, 9, 11, _channels, dtype=np.uint8).view(_type)
        case(f"ms_pool {np.dtype(_type).name}_{_channels}", "NhwcMaxPool", {"x": _x}, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
case("ms_pool gaps", "NhwcMaxPool", {"x": whole(256, 1, 9, 11, 20, dtype=np.uint8)}, kernel_shape=[3, 3], dilations=[2, 3], pads=[2, 3, 2, 3])
case("ms_pool line", "NhwcMaxPool", {"x": whole(256, 2, 40, 20, dtype=np.uint8)}, kernel_shape=[5], strides=[3])
_flags = RNG.random((7, 300)) < 0.3
_flags[2:4], _flags[5, :70] = False, False
for _name, _x in (("flags", _flags), ("sparse", RNG.random((5, 9, 130)) < 0.01), ("numbers", np.where(_flags, floats(7, 300), np.float32(-0.0))), ("row", whole(2, 90)), ("all", np.ones((3, 70), np.int32)), ("number", np.float64(3)), ("columns", whole(2, 200, 2))):
    case(f"places {_name}", "NonZero", {"x": _x}, want=[np.stack(np.nonzero(_x)) if _x.ndim else np.zeros((0, 1), np.int64)])
for _axis, _shape in ((0, (2100, 3)), (1, (4, 2100)), (1, (3, 70, 5)), (None, (30, 90))):
    _x, _take = floats(*_shape), RNG.random(np.prod(_shape) if _axis is None else _shape[_axis]) < 0.4
    case(f"compress {_axis}_{len(_shape)}_{_shape[-1]}", "Compress", {"x": _x, "c": _take}, want=[np.compress(_take, _x, _axis)], **({} if _axis is None else {"axis": _axis}))
