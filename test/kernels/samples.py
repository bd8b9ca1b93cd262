"""Operators that fold, pool, sample and turn, which library kernels of f32 and bytes compute in vectors, against -O0. operators.py beside it runs them."""
import numpy as np

from operators import RNG, case, floats, whole

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
