"""Products with weights of 2, 4 and 8 bits (com.microsoft's MatMulNBits): blocks that fill the 128 values of a group or not, rests, few rows and many,
zero points of each kind, activations that may be rounded. Adds to cases.CASES; run.py beside it runs them.
"""
import numpy as np
from onnx import helper

from cases import CASES

FEW_ROWS = 3  # at most, which are rounded only where weights of 4 bits lie in whole groups, and there are several; of 8 bits they may be
DOTS_ONLY = set()  # cases that are rounded only where instructions multiply bytes of any size


def product(name, rows, k, n, block, zeros=True, accuracy=0, bits=4, groups=None):
    """`zeros`: packed as the weights are, or "float", or none; `groups`: of the rows of the depth, which have an order of their own."""
    rng = np.random.default_rng(0)
    blocks = -(-k // block)
    weights = {"q": rng.integers(0, 256, (n, blocks, block * bits // 8), dtype=np.uint8), "s": rng.random(n * blocks, np.float32),
               "z": rng.integers(0, 256, n * -(-blocks * bits // 8), dtype=np.uint8), "b": rng.standard_normal(n).astype(np.float32)}
    if zeros == "float":
        weights["z"] = rng.uniform(0, 1 << bits, n * blocks).astype(np.float32)
    if not zeros:
        del weights["z"]
    if groups is not None:
        weights["g"] = rng.permutation(groups).astype(np.int32)
    nodes = [helper.make_node("MatMulNBits", ["x", "q", "s", "z" if zeros else "", "g" if groups is not None else "", "b"], ["y"], domain="com.microsoft", K=k, N=n, bits=bits, block_size=block, accuracy_level=accuracy)]
    CASES[name] = (nodes, {"x": rows + (k,)}, weights, False)


def unpacked(packed, bits, n):
    fields = [packed >> i & (1 << bits) - 1 for i in range(0, 8, bits)]
    return np.stack(fields, axis=-1).reshape(*packed.shape[:-1], -1)[..., :n].astype(np.float64)


def rounded(x, block):
    """Rows in bytes over the range of each block, as accuracy_level 4 allows."""
    padded = np.pad(x, ((0, 0), (0, -x.shape[1] % block))).reshape(len(x), -1, block)
    most = np.maximum(np.abs(padded).max(-1, keepdims=True), np.float32(1e-30))
    q = np.rint(padded * (np.float32(127) / most)).astype(np.float64) * (most / np.float32(127))
    return q.reshape(len(x), -1)[:, :x.shape[1]]


def reference(node, weights, x):
    """The definition, in doubles: ONNX Runtime refuses some blocks and may round activations to 8 bits. Many rows are rounded so here too."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    bits, block = attributes["bits"], attributes["block_size"]
    n, blocks, _ = weights["q"].shape
    zeros = np.full((n, blocks), float(1 << bits - 1))
    if "z" in weights:
        zeros = weights["z"].reshape(n, -1).astype(np.float64) if weights["z"].dtype == np.float32 else unpacked(weights["z"].reshape(n, -1), bits, blocks)
    groups = weights.get("g", np.arange(x.shape[-1]) // block)
    w = (unpacked(weights["q"].reshape(n, -1), bits, x.shape[-1]) - zeros[:, groups]) * weights["s"].reshape(n, blocks)[:, groups]
    grouped = bits == 4 and n >= 4 and x.shape[1] == blocks * block and x.shape[1] % (512 // bits) == 0
    if attributes["accuracy_level"] == 4 and len(x) > (1 if grouped else FEW_ROWS):
        x = rounded(x, block)
    return (x.astype(np.float64) @ w.T + weights["b"]).astype(np.float32)


product("four_bits_one_row", (1, 1), 640, 77, 32)
product("four_bits_no_zeros", (2,), 256, 13, 32, zeros=False)
product("four_bits_blocks_of_64", (1,), 384, 21, 64)
product("four_bits_blocks_of_128", (2,), 384, 22, 128)
product("four_bits_of_8_bits", (1,), 384, 22, 32, accuracy=4)
product("four_bits_few_columns", (1,), 128, 3, 64)
product("four_bits_blocks_of_96", (1,), 384, 8, 96)
product("four_bits_rest", (2,), 100, 37, 64)
product("four_bits_rows", (3, 7), 320, 50, 32)
product("four_bits_blocks_of_16", (1,), 384, 22, 16)
product("four_bits_blocks_of_16_rest", (3,), 176, 22, 16)
product("four_bits_blocks_of_16_no_zeros", (1,), 256, 9, 16, zeros=False)
product("four_bits_blocks_of_256", (2,), 600, 21, 256)
product("four_bits_float_zeros", (1,), 640, 77, 32, zeros="float")
product("four_bits_float_zeros_rows", (7,), 320, 50, 16, zeros="float")
product("four_bits_4_rows", (4,), 1056, 130, 32)
product("four_bits_5_rows", (5,), 512, 37, 16)
product("four_bits_16_rows", (16,), 300, 33, 64, zeros=False)
product("four_bits_33_rows_rounded", (33,), 704, 70, 16, accuracy=4)
product("four_bits_rows_rounded_rest", (8,), 600, 64, 256, zeros=False, accuracy=4)
product("four_bits_rows_rounded_few_columns", (13,), 1120, 20, 32, accuracy=4)
product("four_bits_groups_of_rows", (150,), 4096, 40, 32)
product("four_bits_64_rows", (64,), 672, 100, 96)
product("eight_bits_one_row", (1,), 640, 77, 32, bits=8)
product("eight_bits_no_zeros", (3,), 256, 13, 128, zeros=False, bits=8)
product("eight_bits_blocks_of_16", (2,), 100, 22, 16, bits=8)
product("eight_bits_float_zeros", (1,), 640, 20, 32, zeros="float", bits=8)
product("eight_bits_rows", (7,), 330, 50, 256, bits=8)
product("eight_bits_rows_no_zeros", (16,), 592, 70, 16, zeros=False, bits=8)
product("eight_bits_40_rows", (40,), 1152, 33, 128, zeros=False, bits=8)
product("eight_bits_rows_rounded", (15,), 1300, 70, 32, accuracy=4, bits=8)
product("eight_bits_rows_rounded_no_zeros", (4,), 640, 32, 128, zeros=False, accuracy=4, bits=8)
DOTS_ONLY |= {"eight_bits_rows_rounded", "eight_bits_rows_rounded_no_zeros"}
product("four_bits_groups", (2,), 72, 9, 32, groups=np.arange(72) // 32)
product("eight_bits_groups", (1,), 128, 9, 64, zeros=False, bits=8, groups=np.arange(128) // 64)
for _rows in (2, 3, 4, 5, 7, 8):  # that meet the weights by twos, threes and fours
    for _block in (32, 64, 128):
        product(f"four_bits_few_rounded_{_rows}_{_block}", (_rows,), 384, 130 if _rows == 7 else 22, _block, accuracy=4)
        if _rows <= FEW_ROWS:
            product(f"eight_bits_may_round_{_rows}_{_block}", (_rows,), 384, 22, _block, accuracy=4, bits=8)
        else:
            product(f"eight_bits_few_rounded_{_rows}_{_block}", (_rows,), 384, 22, _block, accuracy=4, bits=8, zeros=_rows != 7)
            DOTS_ONLY.add(f"eight_bits_few_rounded_{_rows}_{_block}")
product("eight_bits_of_8_bits", (1,), 256, 9, 16, accuracy=4, bits=8)
product("eight_bits_blocks_of_256", (2,), 512, 22, 256, bits=8)
product("four_bits_blocks_of_256", (3,), 512, 22, 256, zeros=False)
product("two_bits_rows_rounded", (9,), 704, 50, 64, accuracy=4, bits=2)
product("two_bits_one_row", (1,), 1100, 77, 64, bits=2)
product("two_bits_blocks_of_16", (2,), 368, 22, 16, bits=2)
product("two_bits_blocks_of_32", (3,), 352, 22, 32, zeros=False, bits=2)
product("two_bits_blocks_of_128", (1,), 2176, 22, 128, zeros="float", bits=2)
product("two_bits_rows", (7,), 660, 50, 16, bits=2)
product("two_bits_33_rows", (33,), 600, 130, 64, zeros=False, bits=2)
