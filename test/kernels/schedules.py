"""Schedules of kernels (codegen/cpu/Schedule.h): whatever numbers a file of schedules gives, results keep their bits."""
import json

import numpy as np
from onnx import helper

from common import WIDEST, info, make, weight

NODES = {
    "products": ([helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Transpose", ["h"], ["t"], perm=[0, 2, 1]),
                  helper.make_node("MatMul", ["h", "t"], ["y"])], (2, 37, 70), [weight("w", 70, 100)]),
    "pointwise": ([helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Relu", ["c"], ["y"])], (1, 40, 9, 13), [weight("w", 72, 40, 1, 1)]),
    "direct": ([helper.make_node("Conv", ["x", "w"], ["y"], pads=[2, 2, 2, 2])], (1, 33, 12, 19), [weight("w", 40, 33, 5, 5)]),
    "one_row": ([helper.make_node("Conv", ["x", "w"], ["y"], pads=[4, 4], strides=[2])], (1, 33, 333), [weight("w", 40, 33, 9)]),
    "winograd_panels": ([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], (1, 96, 14, 14), [weight("w", 208, 96, 3, 3)]),
    "winograd": ([helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], (1, 64, 22, 27), [weight("w", 72, 64, 3, 3)]),
}
NAMES = [f"schedules_{name}" for name in NODES]
NUMBERS = {"tile_rows": (1, 5, 32), "tile_panels": (3, 1, 8), "chunk": (1, 3, 1 << 32), "group": (1, 5, 1 << 32), "depth": (1, 2, 1 << 32)}


def check(s, folder, name):
    import onnxc
    nodes, shape, weights = NODES[name.removeprefix("schedules_")]
    fixed = 2 if len(weights[0].dims) == 2 else 1  # the axis that weights fix
    symbols = [d if i == fixed else f"n{i}" for i, d in enumerate(shape)]
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for sizes, level in ((symbols, "x86-64-v3"), (shape, "x86-64-v3"), (shape, WIDEST)):
        model = make(nodes, [info("x", *sizes)], [info("y", *[None] * len(shape))], weights)
        library = s.compile(model, folder, "--cpu", level)
        want = onnxc.load(str(library), num_threads=1).run({"x": x})[0]
        chosen = json.loads(s.onnxc("inspect", library, "--json").stdout)["model"]["schedules"][level]
        if not chosen or not all(set(numbers) <= set(NUMBERS) for numbers in chosen.values()):
            return f"{chosen}"
        for i, one in [(0, None), (1, None), (2, None), (0, "chunk"), (1, "group")]:
            given = {kernel: {n: NUMBERS[n][i] for n in numbers if one in (n, None)} for kernel, numbers in chosen.items()}
            (folder / "given.json").write_text(json.dumps({level: given}))
            again = s.compile(model, folder, "--cpu", level, "--schedules", folder / "given.json", name=f"{len(list(folder.iterdir()))}")
            for threads in (1, 3):
                got = onnxc.load(str(again), num_threads=threads).run({"x": x})[0]
                if not np.array_equal(got, want):
                    return f"{sizes} {level} {given}, {threads} threads: off by {np.abs(got - want).max()}"
    return None
