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
import shapes
from cases import CASES, F32, case, model, relu, save, tensor
from common import Suite

# ---- usage: exit 2 ------------------------------------------------------------------------------------------------------------------------

@case(2, r"output.*required|required.*output")
def no_output(folder):
    return save(folder, relu())[:1]


@case(2, r"required")
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


def microsoft(folder, op, inputs, dtypes={}, results=("y",), **attributes):
    """`dtypes`: of the inputs at places, where they are not f32."""
    names = [f"x{i}" if shape else "" for i, shape in enumerate(inputs)]
    node = helper.make_node(op, names, results, name="fused", domain="com.microsoft", **attributes)
    graph_inputs = [helper.make_tensor_value_info(n, dtypes.get(i, F32), shape) for i, (n, shape) in enumerate(zip(names, inputs)) if n]
    return save(folder, model([node], graph_inputs, [helper.make_tensor_value_info("y", F32, None)], domains=["com.microsoft"]))


@case(1, r"fused .*needs input 'bias'")
def body_without_operand(folder):
    return microsoft(folder, "BiasAdd", [(2, 3, 4), None, (2, 3, 4)])


@case(1, r"fused .*has metric 'jaccard'; onnxc knows sqeuclidean and euclidean")
def distance_metric(folder):
    return microsoft(folder, "CDist", [(2, 3), (4, 3)], metric="jaccard")


@case(1, r"fused .*needs input 0 with a known size of axis 0|fused .*needs at least two buckets")
def relative_positions(folder):
    return microsoft(folder, "RelativePositionBias", [("n", 3), (1,), (1,)], max_distance=20)


@case(1, r"fused .*has activation 'cube'")
def expert_activation(folder):
    return microsoft(folder, "MoE", [(5, 8), (5, 2), (2, 16, 8), None, (2, 8, 16)], activation_type="cube")


@case(1, r"fused .*has attribute 'state_window'; onnxc supports only 0")
def state_window(folder):
    return microsoft(folder, "CausalConvWithState", [(2, 3, 7), (3, 1, 4)], state_window=2)


@case(1, r"fused .*has input 'cache_indirection' without 'past_key' and 'past_sequence_length'")
def indirect_cache(folder):
    return microsoft(folder, "MultiHeadAttention", [(2, 1, 16), (2, 1, 16), (2, 1, 16), None, None, None, (2, 4, 6, 4), (2, 4, 6, 4), None, (1, 2, 6)], num_heads=4)


@case(1, r"fused .*has attribute 'past_present_share_buffer' and no input 'past_sequence_length'")
def shared_buffer(folder):
    return microsoft(folder, "Attention", [(2, 1, 16), (16, 48), (48,), None, (2, 2, 4, 5, 4)], num_heads=4, past_present_share_buffer=1)


@case(1, r"fused .*has attribute 'do_rotary'; onnxc supports only 0")
def rotated_attention(folder):
    return microsoft(folder, "Attention", [(2, 6, 16), (16, 48), (48,)], num_heads=4, do_rotary=1)


@case(1, r"fused .*has attribute 'do_rotary'; onnxc supports only 0")
def rotated_bytes(folder):
    byte = {0: TensorProto.UINT8, 1: TensorProto.INT8}
    return microsoft(folder, "QAttention", [(2, 6, 16), (16, 48), (48,), (1,), (1,)], byte, num_heads=4, do_rotary=1)


QUERY_GROUPS = [(2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 5, 8), (2, 2, 5, 8), (2,), ()]


@case(1, r"fused .*has attribute 'v_quant_type' without the inputs 'past_value' and 'v_scale'")
def quantised_cache(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, v_quant_type="PER_TENSOR")


@case(1, r"fused .*input 'past_key' has bytes, and attribute 'k_quant_type' is NONE")
def cache_of_bytes(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, dtypes={3: TensorProto.INT8, 4: TensorProto.INT8})


@case(1, r"fused .*attribute 'k_quant_type' is 'PER_ROW'; it can be NONE, PER_TENSOR, PER_CHANNEL")
def cache_of_rows(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, k_quant_type="PER_ROW")


@case(1, r"fused .*has attribute 'sliding_window_cache' without 'local_window_size' or the input 'past_key'")
def sliding_cache(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, sliding_window_cache=1)


@case(1, r"fused .*has attribute 'sliding_window_cache', with which output 'output_qk' is not given")
def sliding_scores(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, results=["y", "", "", "qk"], num_heads=4, kv_num_heads=2, sliding_window_cache=1, local_window_size=4)


@case(1, r"gnd .*'batch_dims' is -7, not from 0")
def negative_batch_dims(folder):
    node = helper.make_node("GatherND", ["x", "i"], ["y"], name="gnd", batch_dims=-7)
    return save(folder, model([node], [tensor("x", 2, 3), tensor("i", 1, 1, dtype=TensorProto.INT64)], [tensor("y", None, None)]))


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


@case(1, r"sum|Add")
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


def search(op, outputs=("y",), inputs=("ids", "n"), decoder_inputs=("input_ids", "position_ids", "attention_mask", "past_0"), **attributes):
    """A token search whose decoder gives its first past back."""
    def value(name):
        return helper.make_tensor_value_info(name, F32 if name.startswith("past") else TensorProto.INT32, [2, "b", "heads", "t", 4] if "past" in name else ["b", "s"])
    cast = helper.make_node("Cast", ["input_ids"], ["logits"], to=F32)
    keep = helper.make_node("Identity", [decoder_inputs[-1]], ["present"])
    results = [helper.make_tensor_value_info(n, F32, None) for n in ("logits", "present")]
    decoder = helper.make_graph([cast, keep], "decoder", [value(n) for n in decoder_inputs], results)
    node = helper.make_node(op, list(inputs), list(outputs), domain="com.microsoft", name="search", decoder=decoder, eos_token_id=1, pad_token_id=0, **attributes)
    ids = [tensor(n, 2, 3, dtype=TensorProto.INT32) for n in inputs if n]
    return model([node], ids, [helper.make_tensor_value_info(n, TensorProto.INT32, None) for n in outputs if n], domains=["com.microsoft"])


@case(1, r"search \(GreedySearch, opset 1\): has model_type 2; onnxc knows 0 \(decoder only\) and 1 \(encoder and decoder\)$")
def search_of_unknown_kind(folder):
    return save(folder, search("GreedySearch", model_type=2))


@case(1, r"search \(GreedySearch, opset 1\): has model_type 1 and no encoder$")
def search_without_encoder(folder):
    return save(folder, search("GreedySearch", model_type=1))


@case(1, r"search \(Sampling, opset 1\): output 'filtered_logits' is not given$")
def search_for_filtered_logits(folder):
    return save(folder, search("Sampling", outputs=("y", "z")))


@case(1, r"search \(GreedySearch, opset 1\): decoder input 'past_0' is not declared as float or float16 with a number of heads and a head size$")
def search_with_unknown_heads(folder):
    return save(folder, search("GreedySearch"))


@case(1, r"search \(Sampling, opset 1\): decoder input 'cache' is not one of input_ids, position_ids, attention_mask, past_0 …$")
def search_with_odd_decoder(folder):
    return save(folder, search("Sampling", decoder_inputs=("input_ids", "position_ids", "attention_mask", "cache")))


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


@case(1, r"model\.onnx.*is written in opset 9999 of ai\.onnx")
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


@case(1, r"stack|Concat")
def axis_out_of_range(folder):
    return save(folder, model([helper.make_node("Concat", ["x", "x"], ["y"], name="stack", axis=7)], [tensor("x", 2, 3)], [tensor("y", 4, 3)]))


@case(1, r"view|Reshape")
def impossible_reshape(folder):
    shape = numpy_helper.from_array(np.array([4, 4], np.int64), "shape")
    return save(folder, model([helper.make_node("Reshape", ["x", "shape"], ["y"], name="view")], [tensor("x", 2, 3)], [tensor("y", 4, 4)], [shape]))


@case(1, r"opset|version")
def opset_from_the_future(folder):
    proto = relu()
    proto.opset_import[0].version = 999
    return save(folder, proto)


@case(1, r"no/such/folder")
def output_folder_missing(folder):
    return [*save(folder, relu())[:1], "-o", folder / "no/such/folder/out.so"]


@case(3, r"riscv|target")
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


@case(2, r"cortex-a76.*x86_64-linux-gnu, which has x86-64-v4.*targets")
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


@case(2, r"--max-constant-size: expected a number of at least 0, got '1e999'")
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
