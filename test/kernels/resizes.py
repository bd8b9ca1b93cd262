"""Resize and Pad on plain and blocked operands: tables an axis, sizes known and not. run.py beside it runs them."""
import numpy as np
from onnx import helper

from cases import case

def resize(name, x, scales=None, sizes=None, **attributes):
    """Behind a convolution, whose result is blocked."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((20, x[1], 1, 1)).astype(np.float32), "s": np.array(scales, np.float32) if scales else np.array(sizes, np.int64)}
    nodes = [helper.make_node("Conv", ["x", "w"], ["t"]), helper.make_node("Resize", ["t", "", "s"] if scales else ["t", "", "", "s"], ["u"], **attributes),
             helper.make_node("Relu", ["u"], ["y"])]
    case(name, nodes, {"x": x}, weights)


def plain_resize(name, x, scales=None, sizes=None, **attributes):
    """On a plain operand: tables an axis, sizes known and not."""
    weights = {"s": np.array(scales, np.float32) if scales else np.array(sizes, np.int64)}
    case(name, [helper.make_node("Resize", ["x", "", "s"] if scales else ["x", "", "", "s"], ["y"], **attributes)], {"x": x}, weights)


def resize_like(name, x, like, **attributes):
    """To the size of another tensor by the quotient of their sizes, as exporters of opset 10 and 11 write it."""
    node = helper.make_node
    nodes = [node("Shape", ["x"], ["s"]), node("Shape", ["r"], ["t"]), node("Cast", ["s"], ["a"], to=1), node("Cast", ["t"], ["b"], to=1), node("Div", ["b", "a"], ["k"]),
             node("Resize", ["x", "", "k"], ["u"], **attributes), node("Add", ["u", "r"], ["y"])]
    case(name, nodes, {"x": x, "r": like})


def pad(name, x, pads, mode="constant"):
    weights = {"p": np.array(pads, np.int64)} | ({"c": np.array(0.5, np.float32)} if mode == "constant" else {})
    case(name, [helper.make_node("Pad", ["x", *weights], ["y"], mode=mode)], {"x": x}, weights)


def convolved(name, x, results, small, *pieces, readers=1, **attributes):
    """1x1 convolutions of a Concat of `x` and of tensors that are resized to its image; each has a bias and an activation behind it. `small`: the channels and
    image of the resized ones; `pieces`: their modes."""
    rng, node = np.random.default_rng(0), helper.make_node
    inputs, names, nodes = {"x": x}, ["x"], []
    weights = {"n": np.array([*x[:1], small[0], *x[2:]], np.int64)}
    for i, mode in enumerate(pieces):
        inputs[f"s{i}"] = (x[0], *small)
        nodes.append(node("Resize", [f"s{i}", "", "", "n"], [f"r{i}"], mode=mode, **attributes))
        names.append(f"r{i}")
    nodes.append(node("Concat", names, ["c"], axis=1))
    for i in range(readers):
        weights[f"w{i}"] = (rng.standard_normal((results, x[1] + small[0] * len(pieces), *[1] * (len(x) - 2))) / 8).astype(np.float32)
        weights[f"b{i}"] = rng.standard_normal(results).astype(np.float32)
        nodes += [node("Conv", ["c", f"w{i}", f"b{i}"], [f"t{i}"]), node("Sigmoid", [f"t{i}"], [f"y{i}"])]
    nodes.append(node("Sum", [f"y{i}" for i in range(readers)], ["y"]))
    case(name, nodes, inputs, weights)


convolved("resize_convolved", (2, 32, 18, 22), 64, (48, 9, 11), "nearest")
convolved("resize_convolved_pieces", (1, 20, 13, 9), 80, (96, 5, 4), "linear", "cubic", "nearest", coordinate_transformation_mode="align_corners")
convolved("resize_convolved_readers", (1, 32, 12, 10), 32, (128, 6, 5), "linear", readers=3)
convolved("resize_convolved_line", (2, 32, 50), 48, (64, 20), "linear")
convolved("resize_convolved_same", (1, 32, 8, 9), 32, (64, 8, 9), "linear", "nearest")
convolved("resize_convolved_down", (1, 32, 8, 9), 32, (64, 16, 18), "linear", antialias=1)
for _name, _tensor in (("batch", np.array([2, 64, 12, 12])), ("channels", np.float32([1, 1.01, 2, 2]))):  # what a convolution may not change places with, or only so
    case(f"resize_convolved_{_name}", [helper.make_node("Resize", ["x", "", "", "n"] if _name == "batch" else ["x", "", "n"], ["r"], coordinate_transformation_mode="asymmetric",
                                                        nearest_mode="floor"), helper.make_node("Conv", ["r", "w"], ["y"])],
         {"x": (1, 64, 6, 6)}, {"n": _tensor, "w": np.random.default_rng(0).standard_normal((32, 64, 1, 1)).astype(np.float32) / 8})
# Crops: of an operand's inside, and beyond it.
for _name, _region, _attributes in (("inside", [0, 0, 0.1, 0.25, 1, 1, 0.9, 1], {"mode": "linear"}), ("outside", [0, 0, -0.1, 0.25, 1, 1, 0.9, 1], {"mode": "cubic", "extrapolation_value": 0.5}),
                                   ("beyond", [0, 0, 0.3, -0.6, 1, 1, 1.65, 1.2], {"mode": "linear"}), ("picked", [0, 0, 1.5, 0.2, 1, 1, 0.4, 3], {"mode": "nearest", "extrapolation_value": 2.0})):
    case(f"resize_crop_{_name}", [helper.make_node("Resize", ["x", "r", "", "n"], ["y"], coordinate_transformation_mode="tf_crop_and_resize", **_attributes)], {"x": (2, 5, 9, 11)},
         {"r": np.array(_region, np.float32), "n": np.array([2, 5, 7, 13], np.int64)})
resize("resize_for_nn_up", (1, 16, 6, 6), sizes=[1, 20, 6, 12], mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="ceil")
resize("resize_linear", (2, 16, 7, 9), [1, 1, 2, 2], mode="linear")
resize("resize_linear_corners", (1, 16, 5, 6), sizes=[1, 20, 13, 17], mode="linear", coordinate_transformation_mode="align_corners")
resize("resize_linear_asymmetric", (1, 16, 9, 6), [1, 1, 0.6, 1.7], mode="linear", coordinate_transformation_mode="asymmetric")
resize("resize_nearest", (1, 16, 7, 9), [1, 1, 2, 3], mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
resize("resize_one_column", (1, 16, 9, 49), sizes=[1, 20, 5, 1], mode="cubic", coordinate_transformation_mode="pytorch_half_pixel")
resize("resize_for_nn", (1, 16, 7, 9), [1, 1, 2, 0.75], mode="nearest", coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor")
resize("resize_cubic", (1, 16, 8, 9), sizes=[1, 20, 19, 12], mode="cubic", coordinate_transformation_mode="pytorch_half_pixel")
resize("resize_antialias", (1, 16, 24, 33), sizes=[1, 20, 5, 12], mode="linear", antialias=1)
for _mode in ("nearest", "linear"):
    plain_resize(f"resize_plain_{_mode}_up", (2, 3, 9, 21), [1, 1, 2, 3], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_down", (2, 3, 29, 21), sizes=[2, 3, 11, 5], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_corners", (1, 5, 7, 9), sizes=[1, 5, 20, 4], mode=_mode, coordinate_transformation_mode="align_corners")
    plain_resize(f"resize_plain_{_mode}_rows", (2, 3, 9, 7), [1, 1, 2.5, 1], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_columns", (2, 3, 9, 7), [1, 1, 1, 2.5], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_channels_last", (1, 9, 11, 3), [1, 2, 3, 1], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_many_channels_last", (2, 9, 11, 19), sizes=[2, 15, 7, 19], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_3d", (1, 2, 5, 6, 7), sizes=[1, 2, 8, 11, 5], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_3d_down", (1, 2, 9, 6, 7), sizes=[1, 2, 4, 5, 13], mode=_mode)
    plain_resize(f"resize_plain_{_mode}_one_row", (1, 3, 1, 1), sizes=[1, 3, 5, 4], mode=_mode)
for _rounding in ("floor", "ceil", "round_prefer_ceil"):
    plain_resize(f"resize_plain_{_rounding}", (2, 3, 9, 21), [1, 1, 1.75, 0.625], mode="nearest", nearest_mode=_rounding, coordinate_transformation_mode="asymmetric")
resize_like("resize_like_nearest", (1, 2, 6, 5), (1, 2, 4, 10), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
resize_like("resize_like_linear", (1, 2, 6, 5), (1, 2, 9, 10), mode="linear", coordinate_transformation_mode="half_pixel")
plain_resize("resize_plain_for_nn", (2, 3, 9, 21), [1, 1, 1.75, 0.625], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="tf_half_pixel_for_nn")
plain_resize("resize_plain_cubic", (2, 3, 9, 11), [1, 1, 2.3, 0.7], mode="cubic")
plain_resize("resize_plain_cubic_inside", (2, 3, 9, 11), [1, 1, 0.8, 1.9], mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
plain_resize("resize_plain_antialias", (1, 3, 40, 50), sizes=[1, 3, 11, 17], mode="linear", antialias=1)
plain_resize("resize_plain_antialias_cubic", (1, 3, 40, 50), sizes=[1, 3, 57, 17], mode="cubic", antialias=1)
for _mode in ("constant", "edge", "reflect"):
    pad(f"pad_{_mode}", (2, 3, 7, 19), [0, 0, 2, 3, 0, 0, 1, 4], _mode)
    pad(f"pad_{_mode}_outer", (3, 4, 5), [1, 2, 0, 2, 1, 0], _mode)
    pad(f"pad_{_mode}_crop", (2, 5, 7, 19), [0, -1, 2, -3, 1, 2, -2, 4], _mode)
    pad(f"pad_{_mode}_nothing", (3, 4), [0, 0, 0, 0], _mode)
    pad(f"pad_{_mode}_one_dim", (70,), [3, 9], _mode)
pad("pad_large", (4, 40, 20, 50), [1, 0, 2, 3, 0, 0, 1, 4])
pad("pad_reflect_wave", (2, 1, 700), [0, 0, 256, 0, 0, 255], "reflect")
pad("pad_reflect_rows", (1, 3, 9, 11), [0, 0, 4, 0, 0, 0, 5, 0], "reflect")
pad("pad_wrap_again", (2, 3, 5), [0, 0, 12, 0, 0, 13], "wrap")
pad("pad_edge_cropped", (2, 9, 7), [0, -2, 3, 0, 4, -5], "edge")
pad("pad_cropped_beyond", (2, 4), [0, 3, 0, -5])
pad("pad_first", (3, 4, 5), [2, 0, 0, 1, 0, 0], "edge")
plain_resize("resize_plain_twice", (2, 3, 5, 19), [1, 1, 2, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_four_times", (2, 3, 5, 7), [1, 3, 2, 4], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_four_wide", (2, 3, 5, 37), [1, 1, 4, 4], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_unlike", (2, 3, 5, 37), [1, 1, 3, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_twice_narrow", (2, 3, 5, 13), [1, 1, 2, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_twice_tiny", (2, 3, 3, 3), [1, 1, 2, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
plain_resize("resize_plain_times_three", (2, 3, 5, 7), [1, 1, 1, 3], mode="nearest")
plain_resize("resize_plain_ceil", (2, 3, 5, 7), [1, 1, 2, 2], mode="nearest", nearest_mode="ceil")
plain_resize("resize_plain_outer", (3, 5, 4, 6), [2, 1, 2, 2], mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
