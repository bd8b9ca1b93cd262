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
def a_good_model(s, folder):
    got = [json.loads(line) for line in lines(s, folder, relu_model(2, 3), "--json", code=0)]
    return None if [(d["severity"], d["message"]) for d in got] == [("note", "onnxc compiles every node")] else str(got)


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
    wanted = "rank of result depends on run-time data; declare the value's axes in the model's value_info"
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
def operators_that_are_almost_known(s, folder):
    """By the table of the domain: its operators of every opset, those that become others, and the user's own."""
    wanted = {"Conv2D": ("", "Conv"), "Relu6": ("", "Relu"), "Softmaxx": ("", "Softmax"), "Upsampel": ("", "Upsample"), "Odd": ("", None), "FastGellu": ("com.microsoft", "FastGelu"),
              "SkipGroupNormm": ("com.microsoft", "SkipGroupNorm"), "GreedySerach": ("com.microsoft", "GreedySearch"), "ExpandDim": ("com.microsoft", "ExpandDims"),
              "LabelEncode": ("ai.onnx.ml", "LabelEncoder"), "SoftClipp": ("example.ops", "SoftClip"), "softmax": ("", "Softmax")}
    domains = sorted({domain for domain, _ in wanted.values()} - {""})
    nodes = [NODE(op, ["x"], [f"y{i}"], name=f"n{i}", domain=domain) for i, (op, (domain, _)) in enumerate(wanted.items())]
    (folder / "soft_clip.a").write_text("")
    got = lines(s, folder, make(nodes, [info("x", 2)], [info(f"y{i}", 2) for i in range(len(nodes))], domains=domains), "--custom-op", f"example.ops::SoftClip={folder}/soft_clip.a")
    for op, (domain, meant) in wanted.items():
        text = f"does not know operator {op} of {domain or 'ai.onnx'}{f' (did you mean {meant}?)' if meant else ''}; pass --custom-op"
        if not any(text in line for line in got):
            return f"{text} not in " + "\n".join(got)
    return None


@SUITE.check
def attributes_and_operands(s, folder):
    """What the schema does not allow, beside an operator that does not exist."""
    nodes = [NODE("Relu", ["x", "x"], ["a"], name="two"), NODE("Odd", ["x"], ["b"], name="odd"), NODE("Concat", ["x"], ["c"], name="no_axis"), NODE("Add", ["b", "a"], ["y"], name="sum")]
    got = lines(s, folder, make(nodes, [info("x", 2)], [info("y", 2), info("c", 2)]))
    return None if [line.split()[1] for line in got if line.startswith("error")] == ["two", "odd", "no_axis"] else "\n".join(got)


@SUITE.check
def names_of_the_compiler_itself(s, folder):
    """Operators of the compiler's own dialect are none of a model's."""
    nodes = [NODE(op, ["x"], [f"y{i}"], name=f"n{i}") for i, op in enumerate(("packed.Attention", "Yield", "custom.Call", "ms.FastGelu"))]
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


# ---- operands and attributes that the onnx library does not look at -----------------------------------------------------------------------

FLOAT, LONG, BYTE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8
SAME = "input '{}' has elements of {}, input '{}' of {}; they must be the same"
MIXED = {
    "NGramRepeatBlock": ([LONG, DOUBLE], [(2, 5), (2, 6)], {"ngram_size": 3}, "input 'scores' has elements of float64, not of float32"),
    "FusedMatMul": ([DOUBLE, FLOAT], [(2, 3), (3, 4)], {}, SAME.format("B", "float32", "A", "float64")),
    "BiasGelu": ([FLOAT, TensorProto.FLOAT16], [(2, 3), (3,)], {}, SAME.format("B", "float16", "A", "float32")),
    "QLinearConcat": ([FLOAT, BYTE, BYTE, FLOAT, BYTE, BYTE, DOUBLE, BYTE], [(), (), (2, 3), (), (), (2, 3), (), ()], {"axis": 0},
                      "input 'input_scale' has elements of float64, not of float32"),
    "MatMulNBits": ([FLOAT, INT, FLOAT], [(2, 32), (4, 1, 16), (4,)], {"K": 32, "N": 4, "bits": 4, "block_size": 32},
                    "input 'B' has elements of int32, not of uint8"),
}


def mixed(s, folder, op):
    dtypes, shapes, attributes, reason = MIXED[op]
    got = lines(s, folder, microsoft(op, dtypes, shapes, **attributes))
    return None if got == [f"error: fused ({op}, opset 1): {reason}"] else "\n".join(got)


SUITE.cases({f"mixed_{op}": op for op in MIXED}, lambda s, folder, name: mixed(s, folder, name.removeprefix("mixed_")))


@SUITE.check
def schemas_without_inference(s, folder):
    """The library types no results of these, but it says what they take."""
    node = NODE("Scaler", ["x"], ["y"], name="odd", domain="ai.onnx.ml", offset=[0.5], scale=[2.0])
    got = lines(s, folder, make([node], [info("x", 2, 3, dtype=TensorProto.STRING)], [info("y", 2, 3)], domains=["ai.onnx.ml"]))
    return None if len(got) == 1 and "odd (Scaler, opset 1): X cannot be tensor(string)" in got[0] else "\n".join(got)


RESIZED = make([NODE("Resize", ["x", "", "s"], ["y"], name="odd")], [info("x", 1, 1, 4, 4)], [info("y", 1, 1, 8, 8)],
               [helper.make_tensor("s", FLOAT, [4], [1, 1, 2, 2])])
RECURRENT = make([NODE("LSTM", ["x", "w", "r"], ["y"], name="odd", hidden_size=2)], [info("x", 3, 1, 2), info("w", 1, 8, 2), info("r", 1, 8, 2)],
                 [info("y", 3, 1, 1, 2)])
WORDS = {
    "nearest_mode": (RESIZED, "roundish", "round_prefer_floor, round_prefer_ceil, floor, ceil"),
    "coordinate_transformation_mode": (RESIZED, "halfpixel", "half_pixel, half_pixel_symmetric, pytorch_half_pixel, .*"),
    "mode": (RESIZED, "bilinear", "nearest, linear, cubic"),
    "activations": (RECURRENT, ["sigmoid", "TANH", "gelu"], "Relu, Tanh, Sigmoid, .*"),
    "activation": (microsoft("FusedConv", [FLOAT] * 2, TYPED["FusedConv"][0]), "Cube", "Relu, Tanh, .*, Clip"),
    "auto_pad": (microsoft("FusedConv", [FLOAT] * 2, TYPED["FusedConv"][0]), "SAME", "NOTSET, SAME_UPPER, SAME_LOWER, VALID"),
}


def unknown_word(s, folder, attribute):
    proto, value, allowed = WORDS[attribute]
    proto.graph.node[0].attribute.append(helper.make_attribute(attribute, value))
    bad = value if isinstance(value, str) else value[-1]
    got = lines(s, folder, proto)
    return None if len(got) == 1 and re.search(rf"(odd|fused) \(\w+, opset \d+\): attribute '{attribute}' is '{bad}'; it can be {allowed}$", got[0]) else "\n".join(got)


SUITE.cases(WORDS, unknown_word)


@SUITE.check
def values_that_nothing_defines(s, folder):
    got = lines(s, folder, make([NODE("Odd", ["x"], ["z"], name="a"), NODE("Relu", ["nowhere"], ["y"], name="b")], [info("x", 2)], [info("y", 2)]))
    if len(got) != 2 or not got[1].endswith("b (Relu, opset 22): reads 'nowhere', which nothing defines"):
        return "\n".join(got)
    branch = helper.make_graph([NODE("Add", ["x", "ghost"], ["z"], name="add")], "g", [], [info("z", 2)])
    choice = NODE("If", ["c"], ["y"], name="choose", then_branch=branch, else_branch=branch)
    got = lines(s, folder, make([choice], [info("x", 2), info("c", dtype=TensorProto.BOOL)], [info("y", 2)]))
    return None if got[0].endswith("add (Add, opset 22): reads 'ghost', which nothing defines, inside node 'choose'") else "\n".join(got)


@SUITE.check
def words_of_old_opsets(s, folder):
    """GridSample's modes were renamed in opset 20."""
    for opset, good, bad in ((16, "bilinear", "linear"), (20, "linear", "bilinear")):
        for mode, code in ((good, 0), (bad, 1)):
            node = NODE("GridSample", ["x", "g"], ["y"], name="odd", mode=mode)
            proto = make([node], [info("x", 1, 2, 5, 6), info("g", 1, 3, 4, 2)], [info("y", 1, 2, 3, 4)], opset=opset)
            got = lines(s, folder, proto, code=code)
            if code and "nearest" not in got[0]:
                return got[0]
    return None


if __name__ == "__main__":
    SUITE.main()
