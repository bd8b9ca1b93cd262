"""Channels that are split, joined and padded between convolutions, in blocks of 16 or not: cases of run.py."""
import numpy as np
from onnx import helper

from cases import case


def channel_pieces(name, sizes, batch, plane):
    """Channels are split, one piece goes through a convolution, all are joined in the reverse order with the whole, and the last piece with what
    the first became; the joined are convolved, normalised and padded."""
    rng, node, n = np.random.default_rng(0), helper.make_node, sum(sizes)
    weights = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in
               {"w": (n, 3, 1, 1), "v": (sizes[0], sizes[0], 1, 1), "u": (20, 2 * n, 1, 1), "o": (20, sizes[0] + sizes[-1], 1, 1), "g": (20,), "b": (20,), "m": (20,)}.items()}
    weights |= {"sizes": np.array(sizes), "variance": np.abs(weights["m"]), "pads": np.array([0, 0, 1, 0, 0, 0, 0, 1])}
    pieces = [f"p{i}" for i in range(len(sizes))]
    nodes = [node("Conv", ["x", "w"], ["t"]), node("Split", ["t", "sizes"], pieces, axis=1), node("Conv", ["p0", "v"], ["q"]),
             node("Concat", [*reversed(pieces[1:]), "q", "t"], ["c"], axis=1), node("Conv", ["c", "u"], ["d"]), node("Concat", [pieces[-1], "q"], ["j"], axis=1), node("Conv", ["j", "o"], ["k"]),
             node("Add", ["d", "k"], ["l"]), node("Relu", ["l"], ["e"]),
             node("MaxPool", ["e"], ["f"], kernel_shape=[1, 1]), node("BatchNormalization", ["f", "g", "b", "m", "variance"], ["h"]),
             node("Pad", ["h", "pads"], ["i"]), node("AveragePool", ["i"], ["y"], kernel_shape=[2, 2])]
    case(name, nodes, {"x": (batch, 3, *plane)}, weights)


channel_pieces("pieces_in_blocks", (16, 32, 16), 1, (5, 7))
channel_pieces("halves", (16, 16), 1, (3, 5))
channel_pieces("pieces_inside_blocks", (10, 23, 7), 2, (5, 7))
channel_pieces("pieces_of_few_channels", (3, 2, 4, 1, 5, 2, 3), 1, (4, 9))
channel_pieces("pieces_of_one_pixel", (20, 12, 9), 3, (1, 1))


def more_channels(name, channels, before, after, plane, value=0.0, rank=2):
    """A convolution's channels with others before and behind them, which are added to those of the next one, pooled, and read by a third."""
    rng, node, total = np.random.default_rng(0), helper.make_node, before + channels + after
    ones = [1] * rank
    weights = {n: rng.standard_normal(shape).astype(np.float32) for n, shape in
               {"w": (channels, 3, *ones), "v": (total, channels, *ones), "u": (9, total, *ones)}.items()}
    weights |= {"pads": np.array([0, before, *[0] * rank, 0, after, *[0] * rank]), "value": np.float32(value)}
    nodes = [node("Conv", ["x", "w"], ["c"]), node("Relu", ["c"], ["r"]), node("Pad", ["r", "pads", "value"], ["p"]), node("Conv", ["r", "v"], ["d"]), node("Add", ["p", "d"], ["s"]),
             node("Relu", ["s"], ["t"]), node("MaxPool", ["p"], ["m"], kernel_shape=[2] * rank, auto_pad="SAME_UPPER"), node("Sub", ["t", "m"], ["q"]), node("Conv", ["q", "u"], ["y"])]
    case(name, nodes, {"x": (2, 3, *plane)}, weights)


more_channels("channels_in_lanes", 24, 0, 4, (7, 9))
more_channels("channels_of_a_number", 24, 0, 8, (7, 9), -1.5)
more_channels("channels_behind", 28, 0, 9, (7, 9))
more_channels("channels_around", 16, 8, 8, (6, 5))
more_channels("channels_of_blocks", 16, 16, 32, (3, 3))
more_channels("channels_outside_of_blocks", 12, 0, 8, (6, 5), 2.0)
more_channels("channels_of_a_row", 20, 3, 4, (33,), rank=1)
