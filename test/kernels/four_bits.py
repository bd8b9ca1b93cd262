"""Products with 4-bit weights (com.microsoft's MatMulNBits): blocks that fill the 128 values of a group or not, rests, few rows and many, activations
that may be rounded. Adds to cases.CASES; run.py beside it runs them.
"""
import numpy as np
from onnx import helper

from cases import CASES


def product(name, rows, k, n, block, zeros=True, accuracy=0):
    rng = np.random.default_rng(0)
    blocks = -(-k // block)
    weights = {"q": rng.integers(0, 256, (n, blocks, block // 2), dtype=np.uint8), "s": rng.random(n * blocks, np.float32),
               "z": rng.integers(0, 256, n * ((blocks + 1) // 2), dtype=np.uint8), "b": rng.standard_normal(n).astype(np.float32)}
    if not zeros:
        del weights["z"]
    nodes = [helper.make_node("MatMulNBits", ["x", "q", "s", "z" if zeros else "", "", "b"], ["y"], domain="com.microsoft", K=k, N=n, bits=4, block_size=block, accuracy_level=accuracy)]
    CASES[name] = (nodes, {"x": rows + (k,)}, weights, False)


def nibbles(packed, n):
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], -1)[..., :n].astype(np.float64)


def reference(weights, x):
    """The definition, in doubles: ONNX Runtime refuses some blocks and may round activations to 8 bits."""
    n, blocks, half = weights["q"].shape
    zeros = nibbles(weights["z"].reshape(n, -1), blocks) if "z" in weights else np.full((n, blocks), 8.0)
    w = (nibbles(weights["q"], 2 * half) - zeros[:, :, None]) * weights["s"].reshape(n, blocks, 1)
    return (x.astype(np.float64) @ w.reshape(n, -1)[:, :x.shape[-1]].T + weights["b"]).astype(np.float32)


product("four_bits_one_row", (1, 1), 640, 77, 32)
product("four_bits_no_zeros", (2,), 256, 13, 32, zeros=False)
product("four_bits_blocks_of_64", (1,), 384, 21, 64)
product("four_bits_blocks_of_128", (2,), 384, 22, 128)
product("four_bits_of_8_bits", (1,), 384, 22, 32, accuracy=4)
product("four_bits_few_columns", (1,), 128, 3, 64)
product("four_bits_blocks_of_96", (1,), 384, 8, 96)
product("four_bits_rest", (2,), 100, 37, 64)
product("four_bits_rows", (3, 7), 320, 50, 32)
