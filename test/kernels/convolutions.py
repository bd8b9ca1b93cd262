"""Convolutions of f32: both ends, strides, dilations, groups, depth blocks, epilogues, windows longer than their image. run.py beside it runs them."""
import numpy as np
from onnx import helper

from cases import case, node

def conv(name, x, outputs, kernel, epilogue=(), dynamic=False, **attributes):
    rng = np.random.default_rng(0)
    group = attributes.get("group", 1)
    w = rng.standard_normal((outputs, x[1] // group, *kernel)).astype(np.float32) / np.sqrt(np.prod(kernel) * x[1] / group).astype(np.float32)
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["t0"], **attributes)]
    for i, op in enumerate(epilogue):
        nodes.append(helper.make_node(op, [f"t{i}"], [f"t{i + 1}"]))
    nodes[-1].output[0] = "y"
    case(name, nodes, {"x": x}, {"w": w, "b": rng.standard_normal(outputs).astype(np.float32)}, dynamic)


def expanded(name, x, channels, kernel, activation, ends=(), added=False, batches=False, channels_each=1, **attributes):
    """A 1x1 convolution to `channels`, one of its result in groups of `channels_each`, and the ops `ends` of that, or of both where they take two. `added`: to what
    stands between them. `batches`: how many images there are only the run knows, else all sizes or none."""
    rng, node = np.random.default_rng(0), helper.make_node
    weights = {"w": rng.standard_normal((channels, x[1], 1, 1)).astype(np.float32) / np.float32(np.sqrt(x[1])),
               "b": rng.standard_normal(channels).astype(np.float32), "d": rng.standard_normal((channels, channels_each, *kernel)).astype(np.float32)}
    nodes = [node("Conv", ["x", "w", "b"], ["t"]), node(activation, ["t"], ["u"])]
    inputs = {"x": x}
    if added:
        inputs["r"] = (x[0], channels, *x[2:])
        nodes.append(node("Add", ["u", "r"], ["s"]))
    nodes.append(node("Conv", [nodes[-1].output[0], "d"], ["v0"], group=channels // channels_each, **attributes))
    for i, op in enumerate(ends):
        nodes.append(node(op, [f"v{i}"] if op != "Add" else [f"v{i}", "u"], [f"v{i + 1}"]))
    nodes[-1].output[0] = "y"
    case(name, nodes, inputs, weights, "batch" if batches else False)


conv("conv_first_layer", (1, 3, 33, 47), 40, (7, 7), strides=[2, 2], pads=[3, 3, 3, 3], epilogue=["Relu"])
conv("conv_3x3", (2, 32, 15, 29), 64, (3, 3), pads=[1, 1, 1, 1], epilogue=["Sigmoid"])
conv("conv_3x3_odd_channels", (1, 24, 9, 13), 40, (3, 3), pads=[1, 1, 1, 1])
conv("conv_3x3_depth_blocks", (1, 256, 7, 9), 64, (3, 3), pads=[1, 1, 1, 1])
conv("conv_winograd_whole_tiles", (2, 32, 16, 20), 64, (3, 3), pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_winograd_many_parts", (1, 72, 23, 37), 200, (3, 3), pads=[0, 1, 2, 0], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_odd_panels", (1, 96, 14, 14), 208, (3, 3), pads=[1, 1, 1, 1])
conv("conv_winograd_few_outputs", (2, 40, 30, 27), 5, (3, 3), pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_winograd_few_tiles", (2, 64, 7, 6), 72, (3, 3), pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_winograd_many_tiles", (1, 48, 41, 39), 64, (3, 3), pads=[1, 1, 1, 1])
conv("conv_winograd_groups", (2, 96, 15, 18), 240, (3, 3), group=3, pads=[1, 1, 1, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_groups_together", (1, 112, 17, 14), 112, (3, 3), group=2, pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_winograd_groups_of_any_size", (2, 96, 15, 18), 144, (3, 3), group=4, pads=[1, 1, 1, 1], epilogue=["Relu"], dynamic=True)
conv("conv_winograd_5x5", (2, 64, 13, 18), 72, (5, 5), pads=[2, 2, 2, 2], epilogue=["Relu"])
conv("conv_winograd_4x4", (1, 48, 16, 19), 64, (4, 4), pads=[1, 2, 2, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_3x5", (1, 64, 17, 21), 48, (3, 5), pads=[0, 2, 1, 0])
conv("conv_winograd_rows", (2, 72, 11, 26), 64, (1, 3), pads=[0, 1, 0, 1], epilogue=["Relu"])
conv("conv_winograd_columns", (1, 64, 30, 9), 80, (5, 1), pads=[2, 0, 2, 0], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_series", (2, 96, 101), 64, (3,), pads=[1, 1], epilogue=["Relu"])
conv("conv_winograd_series_of_4", (1, 64, 200), 96, (4,), pads=[3, 0])
conv("conv_winograd_series_apart", (1, 64, 125), 64, (3,), pads=[5, 5], dilations=[5], epilogue=["Relu"])
conv("conv_winograd_apart", (1, 64, 33, 29), 64, (3, 3), pads=[3, 2, 3, 2], dilations=[3, 2], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_5x5_apart", (1, 64, 24, 24), 64, (5, 5), pads=[6, 6, 6, 6], dilations=[3, 3], epilogue=["Relu"])
conv("conv_winograd_7x7", (1, 48, 23, 26), 64, (7, 7), pads=[3, 3, 3, 3], epilogue=["Relu"])
conv("conv_winograd_row_of_7", (2, 64, 9, 35), 72, (1, 7), pads=[0, 3, 0, 3], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_3x8", (1, 72, 21, 19), 64, (3, 8), pads=[1, 4, 1, 3], dilations=[1, 2])
conv("conv_winograd_series_of_11", (1, 72, 190), 64, (11,), pads=[15, 15], dilations=[3], epilogue=["Relu"])
conv("conv_narrow", (2, 32, 9, 3), 48, (3, 3), strides=[2, 1], pads=[1, 1, 1, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_column", (2, 32, 61, 1), 48, (5, 1), strides=[2, 1], pads=[2, 0, 1, 0], dilations=[2, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_column_first_layer", (1, 3, 70, 1), 24, (3, 1), pads=[1, 0, 1, 0], epilogue=["Relu"])
conv("conv_column_groups", (1, 32, 40, 1), 64, (9, 1), group=2)
# Chunks of tiles that begin in one image and end in another.
for _dynamic in (False, "batch", True):
    conv(f"conv_winograd_images_{_dynamic}", (5, 64, 9, 11), 72, (3, 3), pads=[1, 1, 1, 1], epilogue=["Sigmoid", "Neg"], dynamic=_dynamic)
    conv(f"conv_winograd_images_apart_{_dynamic}", (3, 48, 11, 9), 64, (5, 5), pads=[4, 4, 4, 4], dilations=[2, 2], epilogue=["Relu"], dynamic=_dynamic)
# Filters that kernels transform: of any size, of groups, of an unknown size, apart, in segments.
conv("conv_winograd_large", (1, 200, 14, 15), 184, (3, 3), pads=[1, 1, 1, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_winograd_large_groups", (2, 512, 9, 10), 512, (3, 3), group=2, pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_winograd_large_unknown", (2, 192, 33, 30), 200, (3, 3), pads=[1, 1, 1, 1], epilogue=["Relu"], dynamic=True)
conv("conv_winograd_large_apart", (1, 192, 24, 26), 192, (3, 3), pads=[2, 2, 2, 2], dilations=[2, 2])
conv("conv_winograd_large_segments", (1, 100, 22, 21), 112, (6, 6), pads=[2, 3, 3, 2], epilogue=["Relu"])
conv("conv_winograd_images_deep", (4, 256, 14, 14), 272, (3, 3), pads=[1, 1, 1, 1], epilogue=["Relu"])

# Filters as wide as their images: of few channels, of blocks, of blocks for Winograd's form.
for _dynamic in (False, "batch", "height"):
    _name = f"conv_whole_rows_{_dynamic}"
    conv(_name, (2, 1, 38, 100), 3, (4, 100), epilogue=["Relu"], dynamic=_dynamic)
    conv(f"{_name}_groups", (2, 6, 19, 7), 10, (3, 7), strides=[2, 1], pads=[2, 0, 1, 0], group=2, dynamic=_dynamic)
    conv(f"{_name}_blocks", (2, 40, 41, 9), 20, (2, 9), strides=[3, 5], pads=[1, 0, 4, 0], dilations=[2, 1], epilogue=["Sigmoid", "Neg"], dynamic=_dynamic)
    conv(f"{_name}_one", (1, 32, 50, 5), 48, (1, 5), epilogue=["Relu"], dynamic=_dynamic)
    conv(f"{_name}_winograd", (2, 48, 45, 4), 64, (3, 4), pads=[1, 0, 1, 0], epilogue=["Relu"], dynamic=_dynamic)
conv("conv_long_window_column", (1, 16, 150, 3), 40, (101, 3), pads=[50, 0, 50, 0], epilogue=["Relu"])
conv("conv_column_of_wider_images", (1, 32, 30, 7), 32, (3, 5), strides=[1, 3])
# Half a block of results.
conv("conv_half_a_block", (2, 3, 23, 39), 8, (5, 5), pads=[2, 2, 2, 2], epilogue=["Relu"])
conv("conv_half_a_block_series", (1, 1, 700), 5, (80,), strides=[4], pads=[3, 0])
conv("conv_half_a_block_apart", (2, 2, 40, 28), 7, (3, 9), pads=[2, 4, 2, 4], dilations=[2, 1], epilogue=["Sigmoid", "Neg"])
conv("conv_dilated_past_the_image", (1, 16, 5, 7), 32, (3, 3), pads=[6, 6, 6, 6], dilations=[6, 6], epilogue=["Relu"])
conv("conv_first_layer_narrow", (1, 3, 12, 10), 40, (5, 5), strides=[2, 2], pads=[2, 2, 2, 2], epilogue=["Relu"])
conv("conv_winograd_deep", (1, 512, 14, 14), 48, (3, 3), pads=[1, 1, 1, 1])
conv("conv_3x3_stride_2", (1, 32, 14, 17), 48, (3, 3), strides=[2, 2], pads=[0, 1, 1, 0])
conv("conv_dilated", (1, 16, 19, 23), 32, (3, 3), pads=[2, 2, 2, 2], dilations=[2, 2])
conv("conv_1x1", (2, 48, 13, 11), 80, (1, 1), epilogue=["Relu"])
conv("conv_1x1_strips", (2, 384, 31, 33), 160, (1, 1), group=2)
conv("conv_1x1_depth_blocks", (1, 1040, 5, 5), 32, (1, 1))
conv("conv_1x1_stride_2", (1, 32, 13, 11), 32, (1, 1), strides=[2, 2])
conv("conv_groups", (1, 64, 9, 9), 32, (3, 3), pads=[1, 1, 1, 1], group=2)
conv("conv_groups_of_24", (2, 72, 9, 13), 72, (3, 3), pads=[1, 1, 1, 1], group=3, epilogue=["Relu"])
for _dynamic in (False, True):
    conv(f"conv_groups_of_40{'_dynamic' * _dynamic}", (1, 120, 9, 33), 120, (3, 3), pads=[1, 1, 1, 1], group=3, dynamic=_dynamic)
    conv(f"conv_groups_of_21{'_dynamic' * _dynamic}", (2, 63, 9, 13), 30, (3, 5), strides=[1, 2], pads=[1, 2, 1, 2], group=3, dynamic=_dynamic)
conv("conv_groups_that_grow", (1, 90, 9, 11), 120, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1], group=15)
conv("conv_groups_that_shrink", (1, 72, 9, 7), 36, (5, 5), pads=[2, 2, 2, 2], group=6)
conv("conv_groups_in_one_block", (1, 20, 9, 7), 10, (3, 3), pads=[1, 1, 1, 1], group=5)
conv("conv_groups_1x1", (3, 136, 28, 28), 136, (1, 1), group=4, epilogue=["Relu"])
conv("conv_small_groups", (1, 32, 9, 21), 32, (3, 3), pads=[1, 1, 1, 1], group=8)
for _name, _x, _outputs, _kernel, _attributes in (
        ("of_2", (2, 12, 9, 33), 12, (3, 3), {"pads": [1, 1, 1, 1], "group": 6}), ("of_4", (2, 20, 17, 31), 20, (3, 3), {"pads": [1, 1, 1, 1], "group": 5}),
        ("of_4_stride_2", (1, 32, 18, 37), 32, (5, 3), {"strides": [2, 2], "pads": [1, 2, 0, 1], "group": 8}),
        ("of_4_that_double", (1, 24, 9, 29), 48, (3, 3), {"pads": [1, 1, 1, 1], "dilations": [1, 2], "group": 6}),
        ("of_8", (2, 40, 11, 31), 40, (3, 3), {"pads": [1, 1, 1, 1], "group": 5}), ("of_8_stride_3", (1, 32, 10, 50), 32, (2, 5), {"strides": [1, 3], "group": 4}),
        ("of_8_that_double", (1, 16, 7, 9), 32, (3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2], "group": 2}), ("of_8_1x1", (1, 48, 5, 9), 48, (1, 1), {"group": 6}),
        ("of_4_1d", (2, 16, 90), 16, (7,), {"pads": [3, 3], "group": 4}), ("of_4_long", (1, 16, 3, 90), 16, (1, 9), {"pads": [0, 4, 0, 4], "group": 4}),
        ("of_8_long", (1, 24, 120), 24, (65,), {"pads": [32, 32], "group": 3}), ("of_4_that_grow_by_half", (1, 16, 7, 9), 24, (3, 3), {"group": 4})):
    conv(f"conv_groups_{_name}", _x, _outputs, _kernel, epilogue=["Sigmoid", "Neg"], **_attributes)
case("conv_groups_of_4_given", [helper.make_node("Conv", ["x", "w"], ["y"], group=5, pads=[1, 1, 1, 1])], {"x": (1, 20, 9, 17), "w": (20, 4, 3, 3)})
expanded("conv_expanded_groups_of_4", (1, 24, 56, 56), 128, (3, 3), "Relu", ["HardSwish"], channels_each=4, pads=[1, 1, 1, 1])
conv("conv_depthwise", (2, 40, 17, 31), 40, (5, 5), pads=[2, 2, 2, 2], group=40, epilogue=["HardSwish"])
conv("conv_depthwise_stride_2", (1, 32, 16, 30), 32, (3, 3), strides=[2, 2], pads=[1, 1, 1, 1], group=32)
# Branches of one operand that are added up (RepVGG, MobileOne, dilated branches): one convolution, whose weights round once more.
def branches(name, x, outputs, kernels, identity, stride=1, group=1):
    rng, node, nodes, weights, terms = np.random.default_rng(0), helper.make_node, [], {}, []
    for i, (size, dilation) in enumerate(kernels):
        weights[f"w{i}"] = rng.standard_normal((outputs, x[1] // group, size, size)).astype(np.float32) / np.float32(size * np.sqrt(x[1] // group))
        nodes.append(node("Conv", ["x", f"w{i}"], [f"c{i}"], pads=[(size - 1) * dilation // 2] * 4, dilations=[dilation] * 2, strides=[stride] * 2, group=group))
        terms.append(f"c{i}")
    if identity:
        for k, values in (("s", rng.random(outputs) + 0.5), ("o", rng.standard_normal(outputs)), ("m", rng.standard_normal(outputs)), ("v", rng.random(outputs) + 0.5)):
            weights[k] = values.astype(np.float32)
        nodes.append(node("BatchNormalization", ["x", "s", "o", "m", "v"], ["i"]))
        terms.append("i")
    for i, term in enumerate(terms[1:]):
        nodes.append(node("Add", [term, f"a{i - 1}" if i else terms[0]], [f"a{i}"]))
    case(f"conv_branches_{name}", [*nodes, node("Relu", [nodes[-1].output[0]], ["y"])], {"x": x}, weights)


branches("3x3_1x1_identity", (2, 24, 9, 11), 24, ((3, 1), (1, 1)), True)
branches("1x1_first", (1, 16, 8, 9), 32, ((1, 1), (1, 1), (3, 1)), False, stride=2)
branches("depthwise", (1, 20, 7, 12), 20, ((5, 1), (3, 2), (3, 1)), True, group=20)
branches("groups", (1, 32, 7, 12), 32, ((3, 1), (1, 1)), True, group=4)
# Rows of a width that only the run knows: less than a tile, half a tile, tiles and a rest of more or fewer pixels than a half.
for _wide in (1, 5, 7, 14, 17, 28, 37, 40):
    conv(f"conv_depthwise_row_of_{_wide}", (1, 20, 3, _wide), 20, (5, 5), pads=[2, 2, 2, 2], group=20, epilogue=["Relu"], dynamic=True)
    conv(f"conv_depthwise_row_of_{_wide}_far", (2, 16, 4, _wide), 32, (3, 3), pads=[1, 3, 1, 2], strides=[1, 2], dilations=[1, 2], group=16, dynamic=True)
    conv(f"conv_groups_of_8_row_of_{_wide}", (1, 24, 4, _wide), 24, (3, 3), pads=[1, 1, 1, 1], strides=[2, 2], group=3, epilogue=["Sigmoid", "Neg"], dynamic=True)
    for _name, _attributes in (("MaxPool", {}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1})):
        case(f"{_name}_row_of_{_wide}{'_with_pads' * len(_attributes)}", [helper.make_node("Conv", ["x", "w", "b"], ["t"]), helper.make_node(
            _name, ["t"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], ceil_mode=1, strides=[1, 2], **_attributes)], {"x": (1, 16, 3, _wide)},
            {"w": np.eye(16, dtype=np.float32)[:, :, None, None], "b": np.full(16, -9, np.float32)}, dynamic=True)
conv("conv_depthwise_multiplier", (2, 24, 17, 31), 48, (7, 7), strides=[2, 2], pads=[3, 3, 3, 3], group=24, epilogue=["Relu"])
conv("conv_depthwise_multiplier_4", (1, 12, 9, 20), 48, (3, 3), pads=[1, 1, 1, 1], group=12)
expanded("conv_expanded", (2, 24, 60, 39), 144, (3, 3), "Relu", ["HardSwish"], pads=[1, 1, 1, 1])
expanded("conv_expanded_large_plane", (1, 16, 97, 101), 72, (5, 5), "Sigmoid", pads=[2, 2, 2, 2], strides=[2, 2])
expanded("conv_expanded_deep", (1, 650, 24, 24), 656, (3, 3), "Relu", ["Sigmoid", "Neg"], pads=[0, 1, 2, 1])
expanded("conv_expanded_groups", (2, 24, 36, 36), 256, (3, 3), "Relu", pads=[1, 1, 1, 1])
expanded("conv_expanded_added", (1, 20, 50, 45), 120, (3, 3), "Sigmoid", ["Relu"], added=True, pads=[1, 1, 1, 1])
expanded("conv_expanded_batches", (3, 16, 56, 57), 96, (3, 3), "Relu", batches=True, pads=[1, 1, 1, 1], strides=[2, 2])
expanded("conv_expanded_read_twice", (1, 32, 80, 80), 64, (3, 3), "Relu", ["Add"], pads=[1, 1, 1, 1])
for _wide in (5, 14, 17, 28, 37, 40):
    for _kernel, _dilations in (((3, 3), (1, 1)), ((5, 7), (1, 1)), ((2, 3), (2, 3))):  # of stride 1: columns are joined before windows
        for _name in ("MaxPool", "AveragePool")[:1 if _dilations[0] > 1 else 2]:  # of older models an average is not dilated
            case(f"{_name}_{'x'.join(map(str, _kernel))}_in_rows_of_{_wide}{'_apart' * (_dilations[0] > 1)}", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node(
                _name, ["t"], ["y"], kernel_shape=_kernel, pads=[1, _kernel[1] // 2, 1, _kernel[1] // 2], **({"dilations": _dilations} if _dilations[0] > 1 else {}))], {"x": (1, 20, 9, _wide)},
                {"w": np.eye(20, dtype=np.float32)[:, :, None, None]}, dynamic=_wide % 2 == 1)
for _name, _x, _op in (("max", (2, 24, 60, 39), ["GlobalMaxPool"]), ("max_of_points", (3, 24, 2050), ["GlobalMaxPool", "Sigmoid"]), ("average", (1, 24, 50, 52), ["AveragePool"])):
    _ops = ["Conv", "Relu", *_op]
    case(f"conv_expanded_{_name}_pool", [helper.make_node(_o, [f"v{_i}", *(["w", "b"] if not _i else [])], ["y" if _o == _ops[-1] else f"v{_i + 1}"], **({"kernel_shape": list(_x[2:])} if _o == "AveragePool" else {}))
                                         for _i, _o in enumerate(_ops)], {"v0": _x}, {"w": np.random.default_rng(0).standard_normal((144, 24, *[1] * (len(_x) - 2))).astype(np.float32),
                                                                                      "b": np.linspace(-2, 2, 144, dtype=np.float32)}, "batch" if _x[0] == 3 else False)
conv("conv_1d", (2, 16, 50), 32, (9,), pads=[4, 4], strides=[3])
conv("conv_1d_chunks", (1, 32, 1500), 64, (9,), pads=[4, 4], strides=[2], epilogue=["Relu"])
conv("conv_1d_depth_blocks", (1, 512, 37), 32, (3,), strides=[2])
# Windows that meet the padding in too many places for code of each of them.
conv("conv_long_window", (2, 48, 150), 40, (127,), pads=[63, 63], epilogue=["Relu"])
conv("conv_long_window_groups", (1, 64, 90), 64, (128,), pads=[64, 64], group=4, epilogue=["Sigmoid", "Neg"])
conv("conv_longer_than_the_image", (1, 16, 40), 32, (255,), pads=[127, 130])
conv("conv_long_window_rows", (1, 20, 9, 170), 36, (3, 65), strides=[2, 2], pads=[1, 40, 1, 32], dilations=[1, 2])
conv("conv_long_window_chunks", (1, 16, 1500), 24, (101,), pads=[50, 50])
conv("conv_depthwise_long_window", (2, 24, 1, 200), 24, (1, 129), pads=[0, 64, 0, 64], group=24, epilogue=["Relu"])
case("max_pool_long_window", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("MaxPool", ["t"], ["y"], kernel_shape=[3, 61], pads=[1, 30, 1, 30])],
     {"x": (1, 16, 7, 150)}, {"w": np.eye(16, dtype=np.float32)[:, :, None, None]})
case("average_pool_long_window", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("AveragePool", ["t"], ["y"], kernel_shape=[2, 81], pads=[1, 40, 0, 40])],
     {"x": (1, 16, 7, 150)}, {"w": np.eye(16, dtype=np.float32)[:, :, None, None]})
# One pixel is left of each image: taps take turns.
for _height, _width in ((1, 2), (2, 3), (5, 5), (7, 7), (1, 9), (3, 30), (1, 1023)):
    for _name, _attributes in (("MaxPool", {}), ("AveragePool", {}), ("MaxPool", {"pads": [0, 1, 0, 1], "strides": [3, _width + 2]})):
        case(f"{_name}_to_a_pixel_of_{_height}x{_width}{'_padded' * len(_attributes)}", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node(
            _name, ["t"], ["y"], kernel_shape=[_height, _width], **_attributes)], {"x": (2, 20, _height, _width)}, {"w": np.eye(20, dtype=np.float32)[:, :, None, None]})
conv("conv_3d", (1, 6, 5, 9, 11), 14, (3, 3, 3), strides=[1, 2, 1], pads=[1, 1, 1, 1, 1, 1])
conv("conv_over_time", (2, 20, 6, 5, 7), 24, (3, 1, 1), strides=[2, 1, 1], pads=[1, 0, 0, 2, 0, 0], epilogue=["Relu"])
conv("conv_over_time_groups", (1, 32, 7, 4, 6), 32, (3, 1, 1), pads=[2, 0, 0, 2, 0, 0], dilations=[2, 1, 1], group=2)
conv("conv_wide", (1, 64, 5, 3000), 40, (3, 3), strides=[1, 2], pads=[1, 1, 1, 1], epilogue=["Relu"])
conv("conv_3d_one_frame", (2, 6, 1, 9, 11), 14, (1, 3, 5), strides=[1, 2, 1], pads=[0, 1, 2, 0, 1, 2])
conv("conv_3d_groups", (2, 8, 4, 6, 7), 8, (2, 3, 3), pads=[2, 1, 1, 2, 1, 1], dilations=[2, 1, 1], group=2)
conv("conv_whole_images", (9, 5, 4, 3), 21, (4, 3), epilogue=["Relu"])
conv("conv_3d_depthwise", (2, 24, 5, 9, 11), 24, (3, 5, 3), strides=[2, 1, 1], pads=[1, 2, 1, 1, 2, 1], group=24)
conv("conv_3d_depthwise_twice", (1, 8, 4, 6, 7), 16, (2, 3, 3), pads=[2, 1, 1, 2, 1, 1], dilations=[2, 1, 1], group=8)
conv("conv_3d_no_frames", (1, 6, 0, 9, 11), 14, (1, 3, 3), pads=[1, 1, 1, 1, 1, 1])
# Frames that are read where they lie: by Winograd's form and directly, with more frames of zeros than there are on one side, of several and of unknown videos.
conv("conv_3d_blocks", (2, 16, 5, 14, 15), 32, (3, 3, 3), pads=[1] * 6, epilogue=["Relu"])
conv("conv_3d_blocks_of_videos", (3, 24, 4, 13, 12), 20, (3, 3, 3), strides=[2, 1, 1], pads=[2, 1, 1, 0, 1, 1], dynamic="batch")
conv("conv_3d_blocks_strided", (2, 32, 7, 9, 11), 40, (3, 3, 3), strides=[2, 2, 2], pads=[1] * 6, epilogue=["Sigmoid"])
conv("conv_3d_blocks_deep", (1, 256, 3, 6, 7), 48, (3, 3, 2), pads=[2, 1, 1, 1, 1, 0])
conv("conv_3d_blocks_5x5", (1, 32, 3, 17, 18), 32, (2, 5, 5), pads=[1, 2, 2, 1, 2, 2])
conv("conv_3d_one_frame_of_three_taps", (2, 16, 1, 9, 8), 16, (3, 3, 3), pads=[1] * 6)
conv("conv_3d_depthwise_videos", (3, 20, 5, 9, 11), 20, (3, 3, 3), strides=[2, 2, 1], pads=[1] * 6, group=20, epilogue=["Relu"], dynamic="batch")
conv("conv_3d_depthwise_far", (1, 16, 2, 6, 7), 32, (3, 3, 3), pads=[4, 1, 1, 5, 1, 1], dilations=[2, 1, 1], group=16)
conv("conv_3d_depthwise_three_each", (1, 5, 4, 6, 7), 15, (3, 3, 3), pads=[1] * 6, group=5)
conv("conv_3d_pixels", (1, 20, 3, 5, 7), 24, (1, 1, 1), strides=[2, 1, 2], epilogue=["Relu"])
# Sizes that only the run knows, all of them: also skipped and dilated, pixels over time.
conv("conv_3d_sizes", (2, 6, 5, 9, 11), 14, (3, 3, 3), strides=[1, 2, 1], pads=[1, 1, 1, 1, 1, 1], epilogue=["Relu"], dynamic=True)
conv("conv_3d_sizes_strided", (2, 16, 8, 6, 7), 20, (3, 2, 3), strides=[2, 1, 2], pads=[2, 0, 1, 1, 1, 1], dilations=[2, 1, 1], dynamic=True)
conv("conv_3d_depthwise_sizes", (2, 20, 6, 9, 8), 40, (3, 3, 2), strides=[2, 1, 2], pads=[2, 1, 1, 1, 1, 0], dilations=[2, 1, 1], group=20, epilogue=["Relu"], dynamic=True)
conv("conv_3d_groups_sizes", (2, 12, 5, 9, 8), 18, (3, 3, 3), pads=[1] * 6, group=3, dynamic=True)
conv("conv_3d_groups_chain", (1, 4, 3, 5, 5), 4, (3, 3, 3), pads=[1] * 6, group=2, epilogue=["Sin"] * 60, dynamic=True)  # views that move far
conv("conv_3d_first", (2, 3, 5, 30, 31), 20, (3, 7, 7), strides=[2, 2, 2], pads=[1, 3, 3] * 2, epilogue=["Relu"])  # channels of frames where they lie
conv("conv_3d_first_sizes", (2, 3, 5, 13, 12), 40, (5, 3, 3), strides=[1, 2, 2], pads=[2, 1, 1] * 2, dynamic=True)
conv("conv_over_time_sizes", (2, 20, 6, 5, 7), 24, (3, 1, 1), strides=[2, 1, 1], pads=[1, 0, 0, 2, 0, 0], epilogue=["Relu"], dynamic=True)
for _batch in (1, 2):
    for _mode in ("SAME_UPPER", "SAME_LOWER"):
        conv(f"conv_3d_{_mode.lower()}_{_batch}", (_batch, 20, 6, 5, 7), 24, (3, 2, 1), strides=[2, 1, 1], auto_pad=_mode, epilogue=["Relu"])
# Padding that the run's sizes decide: one pixel, odd and even sizes; a first layer, whole blocks, lanes of one block, one axis, pools behind.
for _mode in ("SAME_UPPER", "SAME_LOWER"):
    for _plane in ((1, 1), (12, 31), (33, 18)):
        _name = f"{_mode.lower()}_{_plane[0]}x{_plane[1]}"
        conv(f"conv_{_name}_first", (2, 3, *_plane), 24, (3, 3), strides=[2, 2], auto_pad=_mode, epilogue=["Relu"], dynamic=True)
        conv(f"conv_{_name}_blocks", (1, 32, *_plane), 40, (4, 5), strides=[2, 3], auto_pad=_mode, dynamic=True)
        conv(f"conv_{_name}_depthwise", (1, 20, *_plane), 20, (5, 3), strides=[3, 2], auto_pad=_mode, group=20, dynamic=True)
        conv(f"conv_{_name}_row", (2, 20, _plane[1]), 18, (4,), strides=[2], auto_pad=_mode, dynamic=True)
        for _pool in ("MaxPool", "AveragePool"):
            case(f"{_pool}_{_name}", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node(_pool, ["t"], ["y"], kernel_shape=[3, 2], strides=[2, 2], auto_pad=_mode)],
                 {"x": (1, 3, *_plane)}, {"w": np.random.default_rng(0).standard_normal((20, 3, 1, 1)).astype(np.float32)}, True)
# Windows over frames in blocks, of padding too.
for _op, _more in (("MaxPool", {"dilations": [2, 1, 1]}), ("AveragePool", {}), ("AveragePool", {"count_include_pad": 1})):
    case(f"{_op}_frames_{len(_more)}", [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node(_op, ["t"], ["y"], kernel_shape=[3, 2, 3], strides=[1, 2, 2], pads=[1, 1, 1, 2, 0, 1], **_more)],
         {"x": (2, 24, 6, 7, 9)}, {"w": np.eye(24, dtype=np.float32)[:, :, None, None, None]})
# A network over frames: of a batch of one they stay images in blocks, padded and cut by frames, between views of five axes.
for _batch in (1, 2):
    _rng = np.random.default_rng(_batch)
    _weights = {f"w{_k}": (_rng.standard_normal(_s) * 0.3).astype(np.float32) for _k, _s in enumerate(((20, 3, 1, 3, 3), (20, 1, 3, 3, 3), (20, 20, 1, 1, 1), (20, 20, 3, 3, 3)))}
    _nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], pads=[0, 1, 1, 0, 1, 1]), helper.make_node("Relu", ["a"], ["b"]),
              helper.make_node("Conv", ["b", "w1"], ["c"], pads=[1] * 6, group=20), helper.make_node("Sigmoid", ["c"], ["s"]), helper.make_node("Mul", ["c", "s"], ["d"]),
              helper.make_node("Conv", ["d", "w2"], ["e"]), helper.make_node("Add", ["e", "b"], ["f"]), helper.make_node("Mul", ["f", "k"], ["g"]), helper.make_node("Relu", ["g"], ["h"]),
              helper.make_node("Conv", ["h", "w3"], ["i"], pads=[1, 1, 1, 1, 1, 1], strides=[2, 1, 1]), helper.make_node("GlobalAveragePool", ["h"], ["m"]),
              helper.make_node("Mul", ["i", "m"], ["y"])]
    case(f"conv_over_frames_{_batch}", _nodes, {"x": (_batch, 3, 5, 9, 11)}, {**_weights, "k": _rng.standard_normal((20, 1, 1, 1)).astype(np.float32)})
for _channels, _results, _taps in ((40, 1, 3), (64, 3, 1), (33, 4, 7)):  # of plain rows to few results: pixels in the lanes
    case(f"conv_few_results_{_channels}_{_results}_{_taps}", [helper.make_node("Conv", ["x", "w"], ["y"], pads=[_taps // 2] * 2)], {"x": (2, _channels, 83)},
         {"w": np.random.default_rng(0).standard_normal((_results, _channels, _taps)).astype(np.float32)})
# Of blocks to few results, whose channels are added up: images narrower and wider than a tile, tiles that overlap, filters longer than the image, one axis.
for _name, _x, _results, _kernel, _pads in (("1", (2, 40, 9, 37), 1, (3, 3), [1] * 4), ("2", (1, 64, 11, 150), 2, (5, 3), [2, 0, 1, 1]), ("3", (2, 17, 7, 9), 3, (1, 1), [0] * 4),
                                            ("4", (1, 33, 12, 5), 4, (3, 4), [1, 2, 1, 3]), ("1_narrow", (2, 48, 5, 3), 1, (3, 3), [1] * 4), ("2_outside", (1, 20, 2, 3), 2, (3, 5), [3, 6, 4, 7]),
                                            ("3_line", (2, 32, 301), 3, (7,), [3, 3]), ("1_causal", (1, 96, 64), 1, (4,), [3, 0]), ("4_column", (1, 32, 60, 1), 4, (5, 1), [2, 0, 2, 0])):
    _rng = np.random.default_rng(0)
    _first, _second = ((_rng.standard_normal(_s) / np.sqrt(np.prod(_s[1:]))).astype(np.float32) for _s in ((_x[1], _x[1], *[1] * len(_kernel)), (_results, _x[1], *_kernel)))
    case(f"conv_few_results_of_blocks_{_name}", [helper.make_node("Conv", ["x", "v"], ["t"]), helper.make_node("Relu", ["t"], ["u"]),
                                                 helper.make_node("Conv", ["u", "w", "b"], ["c"], pads=_pads), helper.make_node("Tanh", ["c"], ["y"])],
         {"x": _x}, {"v": _first, "w": _second, "b": _rng.standard_normal(_results).astype(np.float32)})
# Attention to pixels: what all channels have in common, of images and of series, made by reductions over whole blocks and over channels that fill none.
for _name, _x, _axis, _keep, _after in (("image", (2, 48, 7, 9), 1, 1, "Div"), ("lanes_left", (1, 40, 6, 5), -3, 1, "Mul"), ("one_block", (2, 16, 5, 4), 1, 0, "Sub"), ("series", (2, 32, 33), -2, 1, "Pow"),
                                        ("series_flat", (1, 64, 21), 1, 0, "Add")):
    _w = np.abs(np.random.default_rng(0).standard_normal((_x[1], _x[1], *[1] * (len(_x) - 2)))).astype(np.float32) / np.float32(_x[1])
    _nodes = [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("Sigmoid", ["t"], ["u"])]
    for _op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2"):
        _nodes += [helper.make_node(_op, ["u", "axes"], [_op], keepdims=_keep), helper.make_node("Unsqueeze", [_op, "one"], [_op + "m"]) if not _keep else helper.make_node("Neg", [_op], [_op + "m"])]
    _nodes += [helper.make_node("Sum", [f"{_op}m" for _op in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2")], ["m"]),
               helper.make_node(_after, ["u", "m"], ["v"]), helper.make_node("Conv", ["v", "w"], ["y"])]
    case(f"conv_pixels_{_name}", _nodes, {"x": _x}, {"w": _w, "axes": np.int64([_axis]), "one": np.int64([1])})
# Reductions over all pixels, which stay or leave no axes, of channels that fill blocks and others.
for _name, _x, _keep in (("image", (2, 32, 7, 9), 1), ("lanes_left", (1, 40, 6, 5), 1), ("image_flat", (2, 32, 5, 4), 0), ("lanes_left_flat", (2, 24, 5, 4), 0), ("series", (2, 32, 33), 1), ("series_flat", (1, 20, 21), 0)):
    _w = np.abs(np.random.default_rng(0).standard_normal((_x[1], _x[1], *[1] * (len(_x) - 2)))).astype(np.float32) / np.float32(_x[1])
    _ops = ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum", "ReduceL1", "ReduceL2", *(("GlobalAveragePool", "GlobalMaxPool") if _keep else ()))
    _nodes = [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("Tanh", ["t"], ["u"])]
    _nodes += [helper.make_node(_op, ["u"], [_op]) if _op.startswith("Global") else helper.make_node(_op, ["u", "axes"], [_op], keepdims=_keep) for _op in _ops]
    _nodes += [helper.make_node("Sum", list(_ops), ["m"]), *([helper.make_node("Mul", ["u", "m"], ["v"]), helper.make_node("Conv", ["v", "w"], ["y"])] if _keep else [helper.make_node("Neg", ["m"], ["y"])])]
    case(f"conv_all_pixels_{_name}", _nodes, {"x": _x}, {"w": _w, "axes": np.int64(range(2, len(_x)))})
# Between tokens: blocks are runs of channels that come last.
for _name, _x, _channels, _image in (("tokens", (2, 35, 32), 48, (5, 7)), ("tokens_24", (1, 12, 24), 24, (3, 4)), ("tokens_line", (2, 19, 16), 32, (19,))):
    _w = np.random.default_rng(0).standard_normal((_channels, _x[2], *[3] * len(_image))).astype(np.float32)
    _nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), helper.make_node("Reshape", ["t", "i"], ["u"]),
              helper.make_node("Conv", ["u", "w"], ["v"], pads=[1] * 2 * len(_image)), helper.make_node("Reshape", ["v", "l"], ["s"]),
              helper.make_node("Transpose", ["s"], ["r"], perm=[0, 2, 1]), helper.make_node("ReduceSum", ["s", "a"], ["m"]), helper.make_node("Mul", ["r", "m"], ["y"])]
    case(f"conv_between_{_name}", _nodes, {"x": _x}, {"i": np.array([0, _x[2], *_image]), "l": np.array([0, _channels, _x[1]]), "w": _w, "a": np.array([1, 2])})
_nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), helper.make_node("Conv", ["t", "w"], ["u"]), helper.make_node("Transpose", ["u"], ["y"], perm=[0, 2, 3, 1])]
case("conv_channels_last", _nodes, {"x": (2, 9, 11, 32)}, {"w": np.random.default_rng(0).standard_normal((16, 32, 3, 3)).astype(np.float32)})
_branch = [helper.make_graph([helper.make_node("Transpose", ["u"], [f"{_name}t"], perm=[0, 2, 3, 1]), helper.make_node(_op, [f"{_name}t"], [f"{_name}y"])], _name, [],
                             [helper.make_tensor_value_info(f"{_name}y", 1, [2, 6, 7, 16])]) for _name, _op in (("then", "Relu"), ("else", "Neg"))]
_nodes = [helper.make_node("Conv", ["x", "w"], ["u"]), helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0), helper.make_node("Greater", ["m", "zero"], ["c"]),
          helper.make_node("If", ["c"], ["y"], then_branch=_branch[0], else_branch=_branch[1])]
case("conv_read_in_branches", _nodes, {"x": (2, 16, 6, 7)}, {"w": np.eye(16, dtype=np.float32)[:, :, None, None], "zero": np.float32(0)})

# Products of rows beside a depthwise convolution, whose images they become and were (passes/graph/MoveProducts).
_rng = np.random.default_rng(3)
case("conv_between_products", [node("MatMul", "x w", "a"), node("Add", "b a", "c"), node("Transpose", "c", "d", perm=[0, 2, 1]), node("Reshape", "d image", "e"),
                               node("Conv", "e f", "g", group=48, pads=[1, 1, 1, 1]), node("Reshape", "g rows", "h"), node("Transpose", "h", "i", perm=[0, 2, 1]),
                               node("Relu", "i", "j"), node("MatMul", "j v", "y")], {"x": (2, 63, 20)},
     {"w": _rng.standard_normal((20, 48)).astype(np.float32), "b": _rng.standard_normal(48).astype(np.float32), "f": _rng.standard_normal((48, 1, 3, 3)).astype(np.float32),
      "v": _rng.standard_normal((48, 20)).astype(np.float32) / 7, "image": np.array([0, 48, 7, 9]), "rows": np.array([0, 48, -1])})
# Taps that read padding alone: of one pixel, at one end, at both behind a stride, of a dilation as large as the image, along one axis; images of one pixel as rows.
for _name, _x, _outputs, _kernel, _attributes in (
        ("one_pixel", (2, 20, 1, 1), 24, (3, 3), {"pads": [1] * 4}), ("begin", (1, 16, 2, 9), 16, (3, 3), {"strides": [2, 1], "pads": [1, 1, 0, 1]}), ("strided", (1, 16, 2, 2), 32, (5, 5), {"strides": [2, 2], "pads": [2] * 4}),
        ("dilated", (1, 20, 6, 7), 16, (3, 3), {"dilations": [6, 7], "pads": [6, 7, 6, 7]}), ("dilated_less", (1, 16, 5, 5), 16, (3, 3), {"dilations": [4, 5], "pads": [4, 5, 4, 5]}), ("depthwise", (3, 16, 1, 4), 16, (3, 3), {"pads": [1] * 4, "group": 16}),
        ("1d", (2, 16, 3), 20, (9,), {"pads": [4, 4]}), ("frames", (2, 16, 1, 3, 3), 16, (3, 3, 3), {"pads": [1] * 6}), ("far", (1, 16, 3, 3), 16, (2, 2), {"pads": [9, 0, 0, 8], "dilations": [5, 5]})):
    conv(f"conv_taps_{_name}", _x, _outputs, _kernel, ["Relu"], **_attributes)
for _images in (2, 5, 19):
    conv(f"conv_one_pixel_{_images}", (_images, 40, 1, 1), 72, (1, 1), ["Sigmoid"])
