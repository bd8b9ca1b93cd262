"""Operators that fold, pool, sample and turn, which library kernels of f32 and bytes compute in vectors, against -O0. operators.py beside it runs them."""
import numpy as np

from operators import RNG, case, floats, whole

for _channels in (1, 3, 5, 16, 37, 64, 130):
    for _type in (np.uint8, np.int8):
        _x = whole(256, 2, 9, 11, _channels, dtype=np.uint8).view(_type)
        case(f"ms_pool {np.dtype(_type).name}_{_channels}", "NhwcMaxPool", {"x": _x}, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
case("ms_pool gaps", "NhwcMaxPool", {"x": whole(256, 1, 9, 11, 20, dtype=np.uint8)}, kernel_shape=[3, 3], dilations=[2, 3], pads=[2, 3, 2, 3])
case("ms_pool line", "NhwcMaxPool", {"x": whole(256, 2, 40, 20, dtype=np.uint8)}, kernel_shape=[5], strides=[3])
