"""Mixtures of experts: vectors times matrices that their own scores choose, as columns and as rows; adds to what run.py beside it checks."""
import numpy as np

from cases import case, node

RNG = np.random.default_rng(0)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


# The best two of five, each token twice: more matrices than vectors that share one, rows and columns that fill no vector.
for _name, _tokens, _width, _results in (("few", 3, 21, 33), ("many", 40, 64, 300)):
    _scores = [node("MatMul", "x gate", "p"), node("TopK", "p two", "v i"), node("Reshape", "i flat", "f")]
    _weights = {"gate": floats(_width, 5), "two": np.int64([2]), "flat": np.int64([-1]), "last": np.int64([-1]), "one": np.int64([1]), "tokens": np.int64([1, 2, 1])}
    _rows = [node("Unsqueeze", "x one", "r"), node("Expand", "r tokens", "e")]
    case(f"experts_columns_{_name}", _scores + _rows + [node("Unsqueeze", "f last", "u"), node("GatherND", "w u", "g"), node("Reshape", "e column", "c"), node("MatMul", "g c", "y")],
         {"x": (_tokens, _width)}, {**_weights, "w": floats(5, _results, _width), "column": np.int64([-1, _width, 1])})
    case(f"experts_rows_{_name}", _scores + _rows + [node("Gather", "w f", "g"), node("Reshape", "e row", "c"), node("MatMul", "c g", "z"), node("Relu", "z", "y")],
         {"x": (_tokens, _width)}, {**_weights, "w": floats(5, _width, _results), "row": np.int64([-1, 1, _width])})
# One vector for all indices, one index for all vectors, and more matrices than are worth an order.
case("experts_of_one_vector", [node("ReduceMax", "x one", "m", keepdims=0), node("ArgMax", "x", "i", axis=1, keepdims=0), node("Gather", "w i", "g"), node("Reshape", "m row", "c"),
                               node("MatMul", "c g", "y")], {"x": (6, 50)}, {"one": np.int64([0]), "w": floats(50, 50, 9), "row": np.int64([1, 1, 50])})
case("experts_of_one_index", [node("Gather", "w index", "g"), node("Unsqueeze", "x one", "c"), node("MatMul", "c g", "y")], {"x": (6, 17)},
     {"one": np.int64([1]), "index": np.int64([-2]), "w": floats(3, 17, 70)})
# Einsum: a vector for two matrices that have the sum last, then one for each matrix, with a batch and tokens, in another order.
case("experts_einsum", [node("MatMul", "x gate", "p"), node("TopK", "p two", "v i"), node("Gather", "w i", "g"), node("Einsum", "x g", "t", equation="bsd,bskfd->bskf"), node("Relu", "t", "u"),
                        node("Gather", "w2 i", "g2"), node("Einsum", "g2 u", "y", equation="bskfo,bskf->kbso")], {"x": (2, 3, 21)},
     {"gate": floats(21, 5), "two": np.int64([2]), "w": floats(5, 33, 21), "w2": floats(5, 33, 18)})
