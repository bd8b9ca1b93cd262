"""Every error a user can cause at compile time: the exit code, the message, and that no file is left behind.

usage: run.py --onnxc BIN --loader DIR [--filter REGEX]       ends with `errors: N passed, N failed, N skipped`

A case is a function that gets a scratch folder and returns the arguments of onnxc; its decorator says what must come out.
"""
import re
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import data  # more cases
import library
import microsoft
import operands
import outputs
import shapes
from cases import CASES, F32, case, model, relu, save, tensor
from common import Suite

# ---- usage: exit 2 ------------------------------------------------------------------------------------------------------------------------

@case(2, r"--output is required; see 'onnxc --help'")
def no_output(folder):
    return save(folder, relu())[:1]


@case(2, r"model is required; see 'onnxc --help'")
def no_model(folder):
    return ["-o", folder / "out.so"]


@case(2, r"--no-such-flag")
def unknown_flag(folder):
    return save(folder, relu(), "--no-such-flag")


@case(2, r"cannot tell what .*out\.xyz.* should be from its suffix '\.xyz'")
def unknown_suffix(folder):
    return [*save(folder, relu())[:1], "-o", folder / "out.xyz"]


@case(2, r"the output .* is the input model")
def output_is_input(folder):
    path = folder / "model"
    path.write_bytes(relu().SerializeToString())
    return [path, "-o", path]


@case(2, r"expected NAME=SIZE")
def bad_define_dim(folder):
    return save(folder, relu(), "--define-dim", "batch=many")


@case(2, r"--default-inputs: expected none, data or all, got 'some'")
def bad_default_inputs(folder):
    return save(folder, relu(), "--default-inputs", "some")


@case(2, r"--weights: expected embedded or external, got 'mapped'")
def bad_weights(folder):
    return save(folder, relu(), "--weights", "mapped")


@case(2, r"--weights external needs an artefact, which '.*out\.ll' is not")
def external_weights_of_a_text(folder):
    return [*save(folder, relu())[:1], "-o", folder / "out.ll", "--weights", "external"]


@case(2, r"the output '.*out\.so\.weights' is a folder")
def folder_in_the_place_of_weights(folder):
    (folder / "out.so.weights").mkdir()
    return save(folder, relu(), "--weights", "external")


@case(2, r"the output '.*net\.weights' is the input model")
def model_in_the_place_of_weights(folder):
    (folder / "net.weights").write_bytes(relu().SerializeToString())
    return [folder / "net.weights", "-o", folder / "net", "--weights", "external"]


@case(2, r"the output '.*net\.weights' is a data file of the model")
def data_in_the_place_of_weights(folder):
    (folder / "net.weights").write_bytes(bytes(24))
    weight = numpy_helper.from_array(np.zeros((2, 3), np.float32), "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    weight.external_data.add(key="location", value="net.weights")
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", 2, 3)], [tensor("y", 2, 3)], [weight])
    return [*save(folder, proto)[:1], "-o", folder / "net", "--weights", "external"]


@case(2, r"-O")
def bad_level(folder):
    return save(folder, relu(), "-O9")


@case(2, r'^\{"message":".*--no-such-flag.*","severity":"error","where":""\}$')
def usage_as_json(folder):
    return save(folder, relu(), "--json", "--no-such-flag")


@case(2, r'^\{"message":"the output .* is a folder","severity":"error","where":""\}$')
def output_is_a_folder_as_json(folder):
    return [*save(folder, relu())[:1], "-o", folder, "--json"]


# ---- the file: exit 1 ---------------------------------------------------------------------------------------------------------------------

@case(1, r"nowhere\.onnx")
def missing_file(folder):
    return [folder / "nowhere.onnx", "-o", folder / "out.so"]


@case(1, r"model\.onnx")
def empty_file(folder):
    return save(folder, b"")


@case(1, r"model\.onnx")
def garbage(folder):
    return save(folder, bytes(range(256)) * 4)


def foreign(name, start, advice):
    def write(folder):
        return save(folder, start + bytes(300))
    write.__name__ = name
    case(1, r"model\.onnx: is not an ONNX model: .*" + advice)(write)


foreign("lfs_pointer", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", "git lfs pull")
foreign("zip_archive", b"PK\3\4", r"torch\.onnx\.export")
foreign("tflite", b"\x1c\0\0\0TFL3", "tf2onnx")
foreign("web_page", b"<!DOCTYPE html>\n<html>", "web page")


@case(1, r"model\.onnx: is not an ONNX model: it is text")
def text_as_model(folder):
    return save(folder, b'<ir_version: 8, opset_import: ["" : 17]>\ng (float[3] x) => (float[3] y) { y = Relu(x) }\n')


@case(1, r"input 'x' has 70 dims; at most 64")
def too_many_axes(folder):
    return save(folder, model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", *[1] * 70)], [tensor("y", *[1] * 70)]))


@case(1, r"input 'x' has more than 2\^42 elements")
def too_many_elements(folder):
    return save(folder, model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", *[2**16] * 5)], [tensor("y", *[2**16] * 5)]))


@case(1, r"gnd .*'batch_dims' is -7, not from 0")
def negative_batch_dims(folder):
    node = helper.make_node("GatherND", ["x", "i"], ["y"], name="gnd", batch_dims=-7)
    return save(folder, model([node], [tensor("x", 2, 3), tensor("i", 1, 1, dtype=TensorProto.INT64)], [tensor("y", None, None)]))


@case(1, r"norm .*'p' is 3, not from 1 to 2")
def norm_of_no_order(folder):
    return save(folder, model([helper.make_node("LpNormalization", ["x"], ["y"], name="norm", p=3)], [tensor("x", 2, 3)], [tensor("y", 2, 3)]))


@case(1, r"odd.*overflow")
def blocks_beyond_every_size(folder):
    node = helper.make_node("DepthToSpace", ["x"], ["y"], name="odd", blocksize=1 << 32)
    return save(folder, model([node], [tensor("x", 1, 4, 2, 2)], [tensor("y", *"abcd")]))


@case(1, r"conv .*pads \[1099511627776, 0, 0, 0\] holds 1099511627776, at most 2147483647 is allowed")
def padding_beyond_every_size(folder):
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv", pads=[1 << 40, 0, 0, 0])
    return save(folder, model([node], [tensor("x", 1, 1, 4, 4), tensor("w", 1, 1, 3, 3)], [tensor("y", None, None, None, None)]))


@case(1, r"cut .*'num_outputs' is 4611686018427387904, not from 1")
def endless_split(folder):
    return save(folder, model([helper.make_node("Split", ["x"], ["y"], name="cut", num_outputs=2**62)], [tensor("x", 2, 3)], [tensor("y", 2, 3)]))


def looping(condition, element):
    """A Loop whose body says whether to go on with the node `condition`."""
    body = helper.make_graph([condition, helper.make_node("Identity", ["s"], ["t"])], "body",
                             [tensor("i", dtype=TensorProto.INT64), tensor("k", dtype=TensorProto.BOOL), tensor("s", 2)],
                             [helper.make_tensor_value_info("l", element, None), tensor("t", 2)])
    return model([helper.make_node("Loop", ["m", "", "x"], ["y"], name="loop", body=body)], [tensor("m", dtype=TensorProto.INT64), tensor("x", 2)], [tensor("y", 2)],
                 [numpy_helper.from_array(np.zeros(0, np.int64), "none")])


@case(1, r"loop .*the body's iteration number must be int64 and its conditions bool")
def loop_with_a_number_as_condition(folder):
    return save(folder, looping(helper.make_node("Identity", ["s"], ["l"]), F32))


@case(1, r"loop .*the body's condition has 0 elements, one is needed")
def loop_without_a_condition(folder):
    return save(folder, looping(helper.make_node("Greater", ["none", "i"], ["l"]), TensorProto.BOOL))


@case(1, r"walk .*output axis 1099511627776 is outside the 2 axes of the result")
def scan_to_an_axis_that_does_not_exist(folder):
    body = helper.make_graph([helper.make_node("Neg", ["a"], ["b"])], "body", [tensor("a", 2)], [tensor("b", 2)])
    node = helper.make_node("Scan", ["x"], ["y"], name="walk", body=body, num_scan_inputs=1, scan_output_axes=[1 << 40])
    return save(folder, model([node], [tensor("x", 3, 2)], [tensor("y", None, None)]))


@case(1, r"count .*(one element|one is needed)")
def range_from_nothing(folder):
    none, one = (numpy_helper.from_array(np.array(v, np.float32), n) for n, v in (("none", []), ("one", 1)))
    return save(folder, model([helper.make_node("Range", ["none", "one", "one"], ["y"], name="count")], [], [tensor("y", None)], [none, one]))


@case(1, r"opset 99 of ai\.onnx; onnxc knows 1 to")
def opset_of_a_function(folder):
    proto = model([helper.make_node("F", ["x"], ["y"], domain="f")], [tensor("x", 2)], [tensor("y", 2)], domains=["f"])
    proto.functions.append(helper.make_function("f", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 99)]))
    return save(folder, proto)


@case(1, r"model\.onnx")
def truncated(folder):
    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", 2, 64)], [tensor("y", 2, 64)], [weights])
    return save(folder, proto.SerializeToString()[:5000])


@case(1, r"model\.onnx")
def folder_as_model(folder):
    (folder / "model.onnx").mkdir()
    return [folder / "model.onnx", "-o", folder / "out.so"]


# ---- the graph: exit 1, the node is named -------------------------------------------------------------------------------------------------

@case(1, r"Nonsense")
def unknown_operator(folder):
    return save(folder, model([helper.make_node("Nonsense", ["x"], ["y"], name="odd")], [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"(?s)Nonsense.*Gibberish|Gibberish.*Nonsense")
def all_unknown_operators_at_once(folder):
    nodes = [helper.make_node("Nonsense", ["x"], ["t"], name="first"), helper.make_node("Gibberish", ["t"], ["y"], name="second")]
    return save(folder, model(nodes, [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"my\.domain")
def unknown_domain(folder):
    node = helper.make_node("Op", ["x"], ["y"], name="custom", domain="my.domain")
    return save(folder, model([node], [tensor("x", 2)], [tensor("y", 2)], domains=["my.domain"]))


@case(1, r"sum \(Add, opset 22\): Incompatible dimensions; it reads 'x' float\[2, 3\], 'z' float\[2, 4\]")
def shapes_do_not_broadcast(folder):
    return save(folder, model([helper.make_node("Add", ["x", "z"], ["y"], name="sum")], [tensor("x", 2, 3), tensor("z", 2, 4)], [tensor("y", 2, 3)]))


@case(1, r"mm \(MatMul, opset 22\): .*; it reads 'x' float\[2, 3\], 'z' float\[4, 5\]")
def inner_dims_differ(folder):
    return save(folder, model([helper.make_node("MatMul", ["x", "z"], ["y"], name="mm")], [tensor("x", 2, 3), tensor("z", 4, 5)], [tensor("y", 2, 5)]))


@case(1, r"missing")
def undefined_value(folder):
    return save(folder, model([helper.make_node("Relu", ["missing"], ["y"], name="act")], [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"act|loop|b|cycle|order")
def cycle(folder):
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="act"), helper.make_node("Relu", ["a"], ["b"], name="loop")]
    return save(folder, model(nodes, [tensor("x", 2)], [tensor("a", 2)]))


@case(1, r"(?m)^onnxc: error: \w+ \(function\): calls itself, directly or through other functions$")
def functions_that_call_each_other(folder):
    proto = model([helper.make_node("A", ["x"], ["y"], domain="f", name="call")], [tensor("x", 2)], [tensor("y", 2)], domains=["f"])
    body = helper.make_graph([helper.make_node("B", ["x"], ["t"], domain="f")], "body", [], [helper.make_tensor_value_info("t", F32, None)])
    branch = [helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body)]
    imports = [helper.make_opsetid("", 22), helper.make_opsetid("f", 1)]
    true = helper.make_node("Constant", [], ["c"], value=helper.make_tensor("c", TensorProto.BOOL, [], [True]))
    proto.functions.append(helper.make_function("f", "A", ["x"], ["y"], [true, *branch], imports))
    proto.functions.append(helper.make_function("f", "B", ["x"], ["y"], [helper.make_node("A", ["x"], ["y"], domain="f")], imports))
    return save(folder, proto)


@case(1, r"call \(F40\): the model unfolds to more than 524288 nodes$")
def functions_that_double_forty_times(folder):
    proto = model([helper.make_node("F40", ["x"], ["y"], domain="f", name="call")], [tensor("x", 2)], [tensor("y", 2)], domains=["f"])
    imports = [helper.make_opsetid("", 22), helper.make_opsetid("f", 1)]
    for i in range(41):
        op, domain = (f"F{i - 1}", "f") if i else ("Relu", "")
        twice = [helper.make_node(op, ["x"], ["t"], domain=domain), helper.make_node(op, ["t"], ["y"], domain=domain)]
        proto.functions.append(helper.make_function("f", f"F{i}", ["x"], ["y"], twice, imports))
    return save(folder, proto)


def calling(function, inputs=("x",), outputs=("y",)):
    """A model whose one node, `call`, calls `function` of domain f."""
    node = helper.make_node(function.name, list(inputs), list(outputs), domain="f", name="call")
    proto = model([node], [tensor("x", 2)], [tensor("y", 2)], domains=["f"])
    proto.functions.append(function)
    return proto


def body(*nodes, inputs=("a",), outputs=("b",)):
    return helper.make_function("f", "F", list(inputs), list(outputs), list(nodes), [helper.make_opsetid("", 22)])


@case(1, r"call \(F, opset 1\): passes 2 inputs and takes 1 outputs; function F has 1 and 1$")
def call_with_too_many_operands(folder):
    return save(folder, calling(body(helper.make_node("Relu", ["a"], ["b"])), inputs=("x", "x")))


@case(1, r"call \(F, opset 1\): function F does not compute its output 'b'$")
def function_without_its_output(folder):
    return save(folder, calling(body(helper.make_node("Relu", ["a"], ["c"]))))


@case(1, r"call \(F, opset 1\): function F reads 'z', which it does not define$")
def function_that_reads_outside(folder):
    return save(folder, calling(body(helper.make_node("Add", ["a", "z"], ["b"]))))


@case(1, r"model\.onnx.*imports no opset")
def no_opset(folder):
    proto = relu()
    del proto.opset_import[:]
    return save(folder, proto)


@case(1, r"model\.onnx.*has the impossible ir_version -3")
def negative_ir_version(folder):
    proto = relu()
    proto.ir_version = -3
    return save(folder, proto)


@case(1, r"model\.onnx: is written in opset 9999 of ai\.onnx; onnxc knows 1 to \d+$")
def opset_of_the_future(folder):
    return save(folder, model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", 2)], [tensor("y", 2)], opset=9999))


@case(1, r"act \(Fancy\): uses domain 'com\.nowhere', which the model does not import; add it to opset_import$")
def domain_that_is_not_imported(folder):
    return save(folder, model([helper.make_node("Fancy", ["x"], ["y"], name="act", domain="com.nowhere")], [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"act \(Relu, opset 22\): .*(input|operand)")
def too_many_operands(folder):
    return save(folder, model([helper.make_node("Relu", ["x", "x"], ["y"], name="act")], [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"sum \(Add, opset 22\): .*(input|operand)")
def too_few_operands(folder):
    return save(folder, model([helper.make_node("Add", ["x"], ["y"], name="sum")], [tensor("x", 2)], [tensor("y", 2)]))


@case(1, r"old \(Cast, opset 1\): casts to the unknown type 'QUAD'$")
def old_cast_to_an_unknown_type(folder):
    return save(folder, model([helper.make_node("Cast", ["x"], ["y"], name="old", to="QUAD")], [tensor("x", 2)], [tensor("y", 2)], opset=1))


@case(2, r"the output '/dev/null' is a device, a pipe or a socket")
def device_as_output(folder):
    return [*save(folder, relu())[:1], "-o", "/dev/null"]


@case(1, r"stack \(Concat, opset 22\): axis must be in \[-rank, rank-1\]\.; it reads 'x' float\[2, 3\]")
def axis_out_of_range(folder):
    return save(folder, model([helper.make_node("Concat", ["x", "x"], ["y"], name="stack", axis=7)], [tensor("x", 2, 3)], [tensor("y", 4, 3)]))


@case(1, r"view \(Reshape, opset 22\): numbers of elements 6 and 16 differ")
def impossible_reshape(folder):
    shape = numpy_helper.from_array(np.array([4, 4], np.int64), "shape")
    return save(folder, model([helper.make_node("Reshape", ["x", "shape"], ["y"], name="view")], [tensor("x", 2, 3)], [tensor("y", 4, 4)], [shape]))


@case(1, r"no/such/folder")
def output_folder_missing(folder):
    return [*save(folder, relu())[:1], "-o", folder / "no/such/folder/out.so"]


@case(3, r"--target arm64 is not supported \(did you mean aarch64-linux-gnu\?\); `onnxc targets` lists what is")
def target_without_a_system(folder):
    return save(folder, relu(), "--target", "arm64")


@case(3, r"--target riscv64-linux-gnu is not supported; `onnxc targets` lists what is")
def unknown_target(folder):
    return save(folder, relu(), "--target", "riscv64-linux-gnu")


@case(1, r"static library")
def archive_for_a_model(folder):
    return save(folder, b"!<arch>\nrelu.o/         0           0     0     644     0         `\n")


@case(3, r"x86_64-pc-windows-msvc.*targets")
def unknown_system(folder):
    return save(folder, relu(), "--target", "x86_64-pc-windows-msvc")


@case(3, r"--device cuda is not supported by this build: cpu is; `onnxc targets` lists")
def device_of_no_code(folder):
    return save(folder, relu(), "--device", "cuda")


@case(3, r"--precision int8 is not supported.*[Qq]uantise the model.*compiled as they come")
def precision_without_scales(folder):
    return save(folder, relu(), "--precision", "int8")


@case(2, r"--precision: expected f32, bf16, f16 or int8, got 'fp16'")
def unknown_precision(folder):
    return save(folder, relu(), "--precision", "fp16")


@case(2, r"--device: expected cpu or cuda, got 'tpu'")
def unknown_device(folder):
    return save(folder, relu(), "--device", "tpu")


@case(2, r"--cpu cortex-a76 is not known for x86_64-linux-gnu, which has x86-64-v4, .*; it is one of --target aarch64-linux-gnu$")
def cpu_of_another_target(folder):
    return save(folder, relu(), "--cpu", "cortex-a76")


@case(1, r"taken")
def header_folder_is_a_file(folder):
    (folder / "taken").write_text("")
    return save(folder, relu(), "--emit-header", folder / "taken")


@case(2, r"--emit-header would write string\.h, a header of C: give the output another name")
def header_of_c(folder):
    return [save(folder, relu())[0], "-o", folder / "string.a", "--emit-header", folder]


@case(2, r"--progress: expected a number of at least 0, got '-1'")
def negative_number(folder):
    return save(folder, relu(), "--progress", "-1")


@case(2, r"--max-constant-size: expected a whole number from 0 to 9223372036854775807, got '1e999'")
def number_beyond_all(folder):
    return save(folder, relu(), "--max-constant-size", "1e999")


@case(2, r"--progress: expected a number of at least 0, got 'soon'")
def not_a_number(folder):
    return save(folder, relu(), "--progress", "soon")


@case(1, r"taken")
def header_folder_beside_weights_is_a_file(folder):
    (folder / "taken").write_text("")
    return save(folder, relu(), "--weights", "external", "--emit-header", folder / "taken")


@case(2, r"no-such-cpu")
def unknown_cpu(folder):
    return save(folder, relu(), "--cpu", "no-such-cpu")


SUITE = Suite("errors", __doc__)


def check(s, folder, name):
    code, message, function = CASES[name]
    arguments = function(folder)
    before = set(folder.rglob("*"))
    stderr = s.onnxc(*arguments, code=code).stderr
    left = {p.name for p in set(folder.rglob("*")) - before}
    if not re.search(message, stderr):
        return f"message does not match /{message}/: {stderr.strip()[:200]}"
    return f"left {', '.join(left)} behind" if left else None


SUITE.cases(CASES, check)

if __name__ == "__main__":
    SUITE.main()
