"""Sizes that no 64 bits hold, made from those of inputs; run.py runs these."""
import numpy as np
from onnx import helper, numpy_helper

from caller import load, refusal
from common import info, make

COPIES = ((1 << 64) + 2) // 3  # three times as many are 2 in 64 bits


def ints(name, *values):
    return numpy_helper.from_array(np.array(values, np.int64), name)


def wrapping_sizes_are_refused(s, folder):
    """A result of as many elements as the product has in 64 bits would be written past its end."""
    node = helper.make_node
    models = {
        "tiled": make([node("Tile", ["x", "r"], ["y"])], [info("x", "n")], [info("y", None)], [ints("r", COPIES)]),
        "joined": make([node("Tile", ["x", "r"], ["t"]), node("Concat", ["t", "x"], ["y"], axis=0)], [info("x", "n")], [info("y", None)], [ints("r", COPIES)]),
        "filled": make([node("Shape", ["x"], ["s"]), node("Mul", ["s", "r"], ["c"]), node("ConstantOfShape", ["c"], ["y"])], [info("x", "n")], [info("y", None)],
                       [ints("r", COPIES)]),
    }
    for name, proto in models.items():
        model = load(s.compile(proto, folder, name=name))
        if model.run({"x": np.ones(0, np.float32)})[0].shape[0]:
            return f"{name}: a result of nothing"
        if wrong := refusal(model, {"x": np.ones(3, np.float32)}, "'y'"):
            return f"{name}: {wrong}"
    return None


def made_of_sizes(nodes, last, inputs=1, weights=()):
    """y of as many elements as `nodes` make of the sizes s0, s1 … of x0, x1 …"""
    nodes = [helper.make_node("Shape", [f"x{i}"], [f"s{i}"]) for i in range(inputs)] + nodes + [helper.make_node("ConstantOfShape", [last], ["y"])]
    return make(nodes, [info(f"x{i}", f"n{i}") for i in range(inputs)], [info("y", None)], weights)


def steps(count, first, *ops):
    """`ops` (op, operand, operand, result) one after the other, `count` times: t is what the step before made, t' what this one makes."""
    name = lambda v, i: {"t": f"t{i - 1}" if i else first, "t'": f"t{i}"}.get(v, v if v[0] in "sxc" else f"{v}{i}")
    return [helper.make_node(op, [name(a, i), name(b, i)], [name(r, i)], **({"axis": 0} if op == "Concat" else {})) for i in range(count) for op, a, b, r in ops]


def sizes_that_grow_at_compile_time(s, folder):
    """A few nodes make sums of millions of products, powers of thousands of factors, quotients inside each other, and factors beyond 64 bits."""
    def quotients(n):
        for _ in range(40):
            n += n // 7
        return n

    sevenths = steps(40, "s0", ("Div", "t", "c7", "d"), ("Add", "t", "d", "t'"))
    extremes = steps(40, "s0", ("Sub", "t", "s1", "a"), ("Max", "a", "s2", "m"), ("Min", "m", "t", "q"), ("Add", "q", "a", "t'"), ("Max", "t'", "s2", "e"))
    sums = steps(19, "s0", *[("Add", "t", "sN", "t'")])
    for i, node in enumerate(sums):
        node.input[1] = f"s{i + 1}"
    power = [helper.make_node("Mul", [a, a], [b]) for a, b in (("t18", "p"), ("p", "q"), ("q", "r"))]
    doubled = steps(70, "x", ("Concat", "t", "t", "t'"))
    cases = {
        "powers": (made_of_sizes(steps(40, "s0", ("Mul", "t", "t", "t'")), "t39"), [(1,)], 1),
        "quotients": (made_of_sizes(sevenths, "t39", weights=[ints("c7", 7)]), [(20,)], quotients(20)),
        "extremes": (made_of_sizes(extremes, "t39", 3), [(0,), (0,), (0,)], 0),
        "sums": (made_of_sizes(sums + power, "r", 20), [(1,), (1,)] + [(0,)] * 18, 2 ** 8),
        "doubled": (make(doubled, [info("x", "n")], [info("t69", None)]), [(0,)], 0),
        "symbols": (make([helper.make_node("Concat", [f"x{i}" for i in range(400)], ["y"], axis=0)], [info(f"x{i}", f"n{i}") for i in range(400)], [info("y", None)]),
                    [(i % 3,) for i in range(400)], 399),
    }
    for name, (proto, shapes, want) in cases.items():
        model = load(s.compile(proto, folder, "--cpu", "x86-64-v3", name=name))
        got = model.run({i.name: np.ones(shape, np.float32) for i, shape in zip(model.inputs, shapes)})[0].shape
        if got != (want,):
            return f"{name}: {got} instead of {want}"
    return refusal(load(folder / "doubled.so"), {"x": np.ones(1, np.float32)}, "'t69'")


def scaled_sizes_round_as_scales_do(s, folder):
    """A scale of a third of a size is rounded before it multiplies another: 27 * float(7 / 3) is below 63."""
    node = helper.make_node
    nodes = [node("Shape", ["x"], ["s"], start=3), node("Cast", ["s"], ["f"], to=1), node("Div", ["f", "three"], ["third"]), node("Concat", ["ones", "third", "one"], ["scales"], axis=0),
             node("Resize", ["x", "", "scales"], ["y"], mode="nearest")]
    weights = [numpy_helper.from_array(np.array(v, np.float32), n) for n, v in (("three", [3]), ("ones", [1, 1]), ("one", [1]))]
    model = load(s.compile(make(nodes, [info("x", 1, 1, "h", "w")], [info("y", None, None, None, None)], weights), folder))
    got = model.run({"x": np.ones((1, 1, 27, 7), np.float32)})[0].shape
    return None if got == (1, 1, 62, 7) else f"{got} instead of (1, 1, 62, 7)"


CHECKS = [wrapping_sizes_are_refused, sizes_that_grow_at_compile_time, scaled_sizes_round_as_scales_do]
