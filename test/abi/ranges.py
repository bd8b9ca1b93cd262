"""Ranges of sizes (--min-shapes and its like) as callers of an artefact meet them; run.py runs these."""
import ctypes
import json
import subprocess

import numpy as np
from onnx import helper

from caller import load, refusal
from common import info, make, mlp_model, weight


def sizes_outside_their_range_are_refused(s, folder):
    proto = make([helper.make_node("Add", ["a", "b"], ["y"])], [info("a", "rows", None, 2), info("b", "rows", None, 2)], [info("y", "rows", None, 2)])
    model = load(s.compile(proto, folder, "--min-shapes", "a=2x0x2,b=2x3x2", "--max-shapes", "a=5x4x2", "--opt-shapes", "b=3x3x2"))
    if model.ranges != {"rows": (2, 3, 5), "?1": (None, None, 4), "?2": (3, 3, None)}:
        return f"{model.ranges}"
    for rows, first, second in ((2, 3, 3), (5, 4, 4), (3, 1, 9)):
        a, b = np.ones((rows, first, 2), np.float32), np.ones((rows, second, 2), np.float32)
        if first in (1, second) and not (model.run({"a": a, "b": b})[0] == 2).all():
            return f"wrong for {a.shape}"
    for a, b, words in (((1, 3, 2), (1, 3, 2), ("'a'", "dim 0 ('rows')", " 1,", "2 to 5")), ((6, 3, 2), (6, 3, 2), ("'a'", "dim 0 ('rows')", " 6,", "2 to 5")),
                        ((2, 5, 2), (2, 5, 2), ("'a'", "dim 1 is 5", "0 to 4")), ((2, 2, 2), (2, 2, 2), ("'b'", "dim 1 is 2", "3 or more"))):
        if wrong := refusal(model, {"a": np.ones(a, np.float32), "b": np.ones(b, np.float32)}, *words):
            return f"{a}, {b}: {wrong}"
    return None


def ranges_stand_at_the_end_of_the_description(s, folder):
    model = load(s.compile(mlp_model(), folder, "--min-shapes", "x=2x96", "--max-shapes", "x=40x96"))
    info = model._api.info().contents
    at = ctypes.addressof(info) + info.struct_size - ctypes.sizeof(ctypes.c_void_p)
    numbers = ctypes.cast(ctypes.c_void_p.from_address(at).value, ctypes.POINTER(ctypes.c_int64))[:3]
    symbols = json.loads(model.json)["symbols"]
    return None if numbers == [2, -1, 40] and symbols == [{"name": "batch", "min": 2, "max": 40}] else f"{numbers}, {symbols}"


def one_size_is_a_fixed_one(s, folder):
    library = s.compile(mlp_model(), folder, "--min-shapes", "x=4x96", "--max-shapes", "x=4x96", name="range")
    model = load(library)
    if model.inputs[0].shape != (4, 96) or model.outputs[0].shape != (4, 64) or model.ranges:
        return f"{model} {model.ranges}"
    x = np.random.default_rng(3).standard_normal((4, 96)).astype(np.float32)
    fixed = load(s.compile(mlp_model(), folder, "--define-dim", "batch=4", name="fixed"))
    return None if (model.run({"x": x})[0] == fixed.run({"x": x})[0]).all() else "another result than with --define-dim"


def picture_model():
    """Convolutions, pooling and a product of two run-time operands over pictures of any size and number."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]), helper.make_node("Relu", ["c"], ["r"]),
             helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2]), helper.make_node("Concat", ["p", "p"], ["d"], axis=1),
             helper.make_node("Softmax", ["d"], ["s"], axis=1), helper.make_node("Transpose", ["s"], ["t"], perm=[0, 1, 3, 2]),
             helper.make_node("MatMul", ["s", "t"], ["y"])]
    return make(nodes, [info("x", "n", 3, "h", "w")], [info("y", "n", 32, None, None)], [weight("w", 16, 3, 3, 3)])


def growing_model():
    """Sizes that the greatest operand does not make greatest: y has the sizes of whichever of a and b is not 1."""
    nodes = [helper.make_node("Softmax", ["a"], ["s"]), helper.make_node("Mul", ["s", "b"], ["m"]), helper.make_node("Softmax", ["m"], ["t"], axis=0),
             helper.make_node("Slice", ["t", "from", "to"], ["y"])]
    ends = [helper.make_tensor(name, 7, [1], [at]) for name, at in (("from", 1), ("to", 1 << 40))]
    return make(nodes, [info("a", "n", "m"), info("b", "k", "m")], [info("y", None, "m")], ends)


STEADY = (("rows", mlp_model, ["--max-shapes", "x=512x96"], (512, 3)),
          ("pictures", picture_model, ["--min-shapes", "x=8x3x8x8", "--max-shapes", "x=40x3x40x40"], (40, 9, 8)),
          ("grows", growing_model, ["--max-shapes", "a=4x300,b=300x300"], (1, 3, 4)))


def contexts_take_memory_for_the_largest_sizes(s, folder, steady):
    """No run allocates, not even the first; `inspect` tells what is taken."""
    for name, proto, flags, sizes in STEADY:
        library = s.compile(proto(), folder, *flags, name=name)
        told = json.loads(s.onnxc("inspect", library, "--json").stdout)
        taken = told["reserved_bytes"] + told["model"]["reserved_result_bytes"]
        for size in sizes:
            for threads in (1, 2):
                facts = steady(s, folder, library, threads=threads, size=size, warm=0)
                if isinstance(facts, str) or facts[0]:
                    return f"{name} of {size}, {threads} threads: {facts}"
                if threads == 1 and not taken <= facts[1] <= taken + 8192:
                    return f"{name}: allocates {facts[1]}, inspect tells {taken}"
    return None


def largest_sizes_that_no_memory_holds(s, folder):
    library = s.compile(mlp_model(), folder, "--max-shapes", f"x={1 << 35}x96")
    text = s.onnxc("run", library, code=1).stderr
    return None if "out of memory for the largest sizes that the model was compiled for" in text else text


def ranges_change_no_bit(s, folder):
    x = np.random.default_rng(5).standard_normal((8, 3, 13, 17)).astype(np.float32)
    plain = load(s.compile(picture_model(), folder, name="plain")).run({"x": x})[0]
    for flags in (["--max-shapes", "x=8x3x40x40"], ["--min-shapes", "x=4x3x4x4", "--opt-shapes", "x=8x3x13x17"]):
        library = s.compile(picture_model(), folder, *flags, name="ranges")
        again = s.compile(picture_model(), folder, *flags, name="ranges", suffix=".o")
        if not all((load(library, threads).run({"x": x})[0].view(np.uint32) == plain.view(np.uint32)).all() for threads in (1, 2)):
            return f"other bits with {flags}"
        if again.read_bytes() != s.compile(picture_model(), folder, *flags, name="ranges", suffix=".o").read_bytes():
            return f"other bytes the second time with {flags}"
    return None


def programs_take_expected_sizes(s, folder):
    for flags, size in ((["--opt-shapes", "x=5x96"], 5), (["--min-shapes", "x=3x96"], 3), (["--max-shapes", "x=7x96"], 1)):
        program = s.compile(mlp_model(), folder, *flags, suffix="", name="program")
        text = subprocess.run([program], capture_output=True, text=True, check=True).stdout
        if f"y: float32 [{size}, 64]" not in text:
            return f"{flags}: {text}"
    return None


CHECKS = [sizes_outside_their_range_are_refused, ranges_stand_at_the_end_of_the_description, one_size_is_a_fixed_one, largest_sizes_that_no_memory_holds,
          ranges_change_no_bit, programs_take_expected_sizes]
