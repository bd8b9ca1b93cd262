"""Models with nodes that onnxc cannot compile: `onnxc check` lists all of them at once, each with its place, the reason and what to do.

usage: check.py --onnxc BIN --loader DIR [--filter REGEX]       ends with `check: N passed, N failed, N skipped`
"""
import json
import re
import sys
from pathlib import Path

from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite, info, make, mlp_model, relu_model, save

SUITE = Suite("check", __doc__)
NODE = helper.make_node
INT, DOUBLE = TensorProto.INT32, TensorProto.DOUBLE
BEHIND = "; pass --custom-op {0}=LIBRARY, or give it as a function of the model"


def lines(s, folder, proto, *flags, code=1):
    """What `onnxc check` says of a model, line by line, without the program's name."""
    text = s.onnxc("check", save(proto, folder / "m.onnx"), *flags, code=code).stderr
    return [line.removeprefix("onnxc: ") for line in text.splitlines()]


def strange(count):
    """A chain of `count` operators that do not exist, of two domains."""
    nodes = [NODE(f"Odd{i}", [f"x{i}"], [f"x{i + 1}"], name=f"n{i}", domain="my.ops" if i % 2 else "") for i in range(count)]
    return make(nodes, [info("x0", 2)], [info(f"x{count}", 2)], domains=["my.ops"])


def unknown(i, where="n{0} (Odd{0}, opset {1})"):
    domain, opset = ("my.ops", 1) if i % 2 else ("ai.onnx", 22)
    return where.format(i, opset), f"onnxc does not know operator Odd{i} of {domain}" + BEHIND.format(f"{domain}::Odd{i}")


@SUITE.check
def sixty_nodes(s, folder):
    got = lines(s, folder, strange(60))
    return None if got == [f"error: {': '.join(unknown(i))}" for i in range(60)] else "\n".join(got)


@SUITE.check
def sixty_nodes_as_json(s, folder):
    got = [json.loads(line) for line in lines(s, folder, strange(60), "--json")]
    return None if [(d["severity"], d["where"], d["message"]) for d in got] == [("error", *unknown(i)) for i in range(60)] else str(got)


@SUITE.check
def compiling_says_how_many_more(s, folder):
    text = s.onnxc(save(strange(60), folder / "m.onnx"), "-o", folder / "m.so", code=1).stderr.splitlines()
    return None if len(text) == 31 and text[-1] == "onnxc: note: 30 more errors; 'onnxc check' lists all" else "\n".join(text)


@SUITE.check
def many_nodes(s, folder):
    got = lines(s, folder, strange(20000))
    return None if len(got) == 20000 else f"{len(got)} lines"


@SUITE.check
def what_follows_is_not_reported(s, folder):
    """What reads an unknown value may be right."""
    branch = helper.make_graph([NODE("Inner", ["c"], ["d"], name="inner")], "then", [], [helper.make_tensor_value_info("d", 1, None)])
    other = helper.make_graph([NODE("Relu", ["x"], ["e"])], "else", [], [helper.make_tensor_value_info("e", 1, None)])
    nodes = [
        NODE("Odd", ["x"], ["a"], name="odd"),
        NODE("Tile", ["a", "n", "n"], ["b"], name="tile"),  # of opset 5: needs the rank of its input
        NODE("MatMul", ["b", "x"], ["c"], name="mm"),
        NODE("If", ["yes"], ["f"], name="if", then_branch=branch, else_branch=other),
        NODE("Add", ["f", "c"], ["y"], name="sum"),
        NODE("Add", ["x", "z"], ["w"], name="wrong"),
        NODE("MatMul", ["x", "z"], ["v"], name="wrong_too"),
        NODE("Neg", ["w"], ["u"], name="behind"),
    ]
    inputs = [info("x", 2, 3), info("z", 4, 5), info("n", dtype=TensorProto.FLOAT), info("yes", dtype=TensorProto.BOOL)]
    got = lines(s, folder, make(nodes, inputs, [info("y", 2, 3), info("u", 2, 3), info("v", 2, 3)], opset=5))
    places = [re.match(r"error: (\w+) ", line)[1] for line in got]
    return None if places == ["odd", "inner", "wrong", "wrong_too"] else "\n".join(got)


@SUITE.check
def ranks_that_only_the_run_knows(s, folder):
    """What the compiler's own shapes find is reported for every node, too, with what to do."""
    nodes = [NODE("Reshape", ["x", "s"], ["a"], name="view"), NODE("Relu", ["a"], ["y"], name="act"), NODE("Reshape", ["z", "s"], ["w"], name="other")]
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "w")]
    got = lines(s, folder, make(nodes, [info("x", 2, 3), info("z", 3, 2), info("s", "n", dtype=TensorProto.INT64)], results))
    wanted = "Reshape: rank of result depends on run-time data; declare the value's axes in the model's value_info"
    return None if len(got) == 2 and got[0].startswith(f"error: view (Reshape, opset 22): {wanted}") and got[1].startswith("error: other (") else "\n".join(got)


@SUITE.check
def rank_that_is_declared(s, folder):
    """What the message above says helps."""
    proto = make([NODE("Reshape", ["x", "s"], ["y"], name="view")], [info("x", 2, 3), info("s", "n", dtype=TensorProto.INT64)], [info("y", "a", "b")])
    return None if "every node" in s.onnxc("check", save(proto, folder / "m.onnx")).stdout else "not accepted"


@SUITE.check
def node_of_a_function(s, folder):
    """A function that is called often is wrong once."""
    calls = [NODE("F", [f"x{i}"], [f"x{i + 1}"], name=f"call{i}", domain="f") for i in range(40)]
    proto = make(calls, [info("x0", 2)], [info("x40", 2)], domains=["f"])
    body = [NODE("Relu", ["a"], ["r"]), NODE("Odd", ["r"], ["b"], name="odd")]
    proto.functions.append(helper.make_function("f", "F", ["a"], ["b"], body, [helper.make_opsetid("", 22)]))
    got = lines(s, folder, proto)
    return None if got == ["error: call0/odd (Odd, opset 22): onnxc does not know operator Odd of ai.onnx" + BEHIND.format("ai.onnx::Odd")] else "\n".join(got)


@SUITE.check
def attributes_and_operands(s, folder):
    """What the schema does not allow, beside an operator that does not exist."""
    nodes = [NODE("Relu", ["x", "x"], ["a"], name="two"), NODE("Odd", ["x"], ["b"], name="odd"), NODE("Concat", ["x"], ["c"], name="no_axis"), NODE("Add", ["b", "a"], ["y"], name="sum")]
    got = lines(s, folder, make(nodes, [info("x", 2)], [info("y", 2), info("c", 2)]))
    return None if [line.split()[1] for line in got if line.startswith("error")] == ["two", "odd", "no_axis"] else "\n".join(got)


@SUITE.check
def names_of_the_compiler_itself(s, folder):
    """Operators of the compiler's own dialect are none of a model's."""
    nodes = [NODE(op, ["x"], [f"y{i}"], name=f"n{i}") for i, op in enumerate(("packed.Attention", "Yield", "custom.Call", "ms.Gelu"))]
    got = lines(s, folder, make(nodes, [info("x", 2)], [info(f"y{i}", 2) for i in range(4)]))
    return None if len(got) == 4 and all("does not know operator" in line for line in got) else "\n".join(got)


@SUITE.check
def levels_and_targets(s, folder):
    path = save(relu_model(2), folder / "m.onnx")
    text = s.onnxc("check", path, "--cpu", "nonsense", code=2).stderr
    if "--cpu nonsense is not known" not in text:
        return text
    text = s.onnxc("check", path, "--target", "x86_64-linux-gnu", "--cpu", "znver4,x86-64-v4,icelake-server", code=2).stderr
    if "--cpu znver4 and icelake-server are both of level x86-64-v4" not in text:
        return text
    text = s.onnxc("check", path, "--target", "riscv64-linux-gnu", code=3).stderr
    return None if "riscv64-linux-gnu is not supported" in text else text


@SUITE.check
def good_model(s, folder):
    return None if "every node" in s.onnxc("check", save(mlp_model(), folder / "m.onnx")).stdout else "not accepted"


# ---- operators that the library has for other types ---------------------------------------------------------------------------------------

def microsoft(op, dtypes, shapes, **attributes):
    inputs = [info(f"x{i}", *shape, dtype=dtype) for i, (dtype, shape) in enumerate(zip(dtypes, shapes))]
    node = NODE(op, [i.name for i in inputs], ["y"], name="fused", domain="com.microsoft", **attributes)
    return make([node], inputs, [helper.make_tensor_value_info("y", dtypes[0], None)], domains=["com.microsoft"])


TYPED = {
    "FusedMatMul": ([(2, 3), (3, 4)], {"alpha": 2.0}),
    "FusedGemm": ([(2, 3), (3, 4), (2, 4)], {"activation": "Relu"}),
    "FusedConv": ([(1, 2, 5, 5), (3, 2, 3, 3)], {"activation": "Relu"}),
    "MatMulNBits": ([(2, 32), (4, 1, 16), (4,)], {"K": 32, "N": 4, "bits": 4, "block_size": 32}),
}


def no_kernel(s, folder, op):
    shapes, attributes = TYPED[op]
    dtypes = [INT, TensorProto.UINT8, INT] if op == "MatMulNBits" else [INT] * len(shapes)
    proto = microsoft(op, dtypes, shapes, **attributes)
    for flags in ([], ["-O0"]):
        got = lines(s, folder, proto, *flags, code=3)
        if len(got) != 1 or not re.match(rf"error: fused \({op}, opset 1\): no kernel of {op} takes elements of i32, only of .*f32.*--custom-op", got[0]):
            return "\n".join(got)
        if s.onnxc(folder / "m.onnx", "-o", folder / "m.so", *flags, code=3).stderr.splitlines() != [f"onnxc: {got[0]}"]:
            return "compiling says something else"
    return None


SUITE.cases(TYPED, no_kernel)

if __name__ == "__main__":
    SUITE.main()
