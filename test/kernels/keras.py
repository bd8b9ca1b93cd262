"""Forms that tf2onnx gives Keras's layers: LayerNormalization by the statistics of rows, Dense behind views, Conv1D and its pools as images of one row or column;
adds to what run.py beside it checks."""
import numpy as np

from cases import case, node

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def layer_norm(axis_sizes, mean_of_squares=False):
    """From x to n: rows of the last axes as channels of one image."""
    length = int(np.prod(axis_sizes))
    nodes = [node("Shape", "x", "s"), node("Slice", "s zero rank zero", "outer"), node("ReduceProd", "outer zero", "r", keepdims=1), node("Expand", "one r", "ones"),
             node("Expand", "nil r", "zeros"), node("Reshape", "x wide", "i"), node("ReduceMean", "i across", "m", keepdims=1), node("Sub", "i m", "c")]
    if mean_of_squares:
        nodes += [node("Mul", "c c", "q"), node("ReduceMean", "q across", "v4"), node("Reshape", "v4 flat", "v")]
    else:
        nodes += [node("ReduceSumSquare", "c across", "q", keepdims=0), node("Div", "q length", "v")]
    nodes += [node("Reshape", "m flat", "mean"), node("BatchNormalization", "i ones zeros mean v", "b", epsilon=1e-3), node("Reshape", "b s", "n")]
    rank = 1 + len(axis_sizes)
    weights = {"zero": np.int64([0]), "rank": np.int64([rank - len(axis_sizes) + 1]), "one": np.float32(1), "nil": np.float32(0), "wide": np.int64([1, -1, length, 1]),
               "across": np.int64([0, 2, 3]), "length": np.float32(length), "flat": np.int64([-1])}
    return nodes, weights


for _name, _squares in (("", False), ("_of_squares", True)):
    _nodes, _weights = layer_norm([24], _squares)
    _nodes += [node("Mul", "n gamma", "g"), node("Add", "g beta", "y")]
    case(f"keras_layer_norm{_name}", _nodes, {"x": (3, 7, 24)}, {**_weights, "gamma": floats(24), "beta": floats(24)})
_nodes, _weights = layer_norm([5, 6])
case("keras_layer_norm_of_two_axes", _nodes + [node("Relu", "n", "y")], {"x": (4, 3, 5, 6)}, _weights)
_nodes = [node("Reshape", "x rows", "r"), node("MatMul", "r w", "p"), node("Reshape", "p back", "t"), node("Add", "t b", "a"), node("Tanh", "a", "g"), node("Reshape", "g hidden", "h"),
          node("MatMul", "h v", "q"), node("Reshape", "q back_v", "u"), node("Add", "u c", "d"), node("Add", "d x", "y")]
case("keras_dense", _nodes, {"x": (3, 9, 20)}, {"rows": np.int64([-1, 20]), "w": floats(20, 33), "back": np.int64([-1, 9, 33]), "b": floats(33), "hidden": np.int64([-1, 33]),
                                                "v": floats(33, 20), "back_v": np.int64([-1, 9, 20]), "c": floats(1, 1, 20)})
_nodes = [node("Unsqueeze", "x row", "i"), node("Conv", "i w", "c", pads=[0, 2, 0, 2]), node("Squeeze", "c row", "s"), node("Relu", "s", "r"), node("Unsqueeze", "r row", "j"),
          node("Conv", "j depth", "d", pads=[0, 1, 0, 1], group=20), node("Squeeze", "d row", "e"), node("Sigmoid", "e", "f"), node("Unsqueeze", "r row", "k"),
          node("Conv", "k v", "g"), node("Squeeze", "g row", "h"), node("Concat", "f h", "l", axis=1), node("Mul", "l scale", "m"), node("Reshape", "m column", "n"),
          node("AveragePool", "n", "o", kernel_shape=[3, 1], strides=[2, 1]), node("Squeeze", "o last", "p"), node("Transpose", "p", "y", perm=[0, 2, 1])]
case("keras_rows", _nodes, {"x": (2, 18, 41)}, {"row": np.int64([2]), "w": floats(20, 18, 1, 5), "depth": floats(20, 1, 1, 3), "v": floats(13, 20, 1, 1), "scale": floats(1, 33, 1),
                                                "column": np.int64([-1, 33, 41, 1]), "last": np.int64([3])})
_nodes = [node("Reshape", "x column", "n"), node("MaxPool", "n", "o", kernel_shape=[3, 1], pads=[1, 0, 1, 0]), node("Squeeze", "o last", "y")]
case("keras_pool", _nodes, {"x": (2, 5, 41)}, {"column": np.int64([0, 5, 41, 1]), "last": np.int64([3])})
