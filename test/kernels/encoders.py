"""Encoders and decoders of one layer for search.py, in the forms that ONNX Runtime's searches know: logits depend on the token, the past and the encoder's keys and values.

A form is a string of words: `new` (the encoder gives keys and values alone), `old` (and the first logits and past too) or `whisper` (as `old`, of a spectrogram), with `hidden`
(the decoder reads the encoder's hidden states) and `whole` (the decoder reads all tokens).
"""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

VOCABULARY, HEADS, SIZE, BANDS = 24, 2, 4, 5
WIDTH = HEADS * SIZE
SELF, CROSS = ["present_key_self_0", "present_value_self_0"], ["present_key_cross_0", "present_value_cross_0"]
node = helper.make_node


def value(name, *shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def ids(name, length):
    return value(name, "b", length, dtype=TensorProto.INT32)


def cache(name):
    """ONNX Runtime shares memory between equal shapes: each length has its own name."""
    return value(name, "b", HEADS, "e" if "cross" in name else "past" if name.startswith("past") else "now", SIZE)


def by_head(x, y):
    return [node("Reshape", [x, "heads"], [y + "_4"]), node("Transpose", [y + "_4"], [y], perm=[0, 2, 1, 3])]


def step(tokens, past, cross, form):
    """logits = tanh(x + sums over time of its keys and values and of the encoder's) · w, x = embedding of `tokens`."""
    nodes = [node("Gather", ["embedding", tokens], ["x"]), *by_head("x", "k"), node("Mul", ["k", "half"], ["v"])]
    if past:
        nodes += [node("Concat", ["past_key_self_0", "k"], [SELF[0]], axis=2), node("Concat", ["past_value_self_0", "v"], [SELF[1]], axis=2)]
    else:
        nodes += [node("Identity", ["k"], [SELF[0]]), node("Identity", ["v"], [SELF[1]])]
    nodes += [node("Add", SELF, ["own"]), node("ReduceSum", ["own", "time"], ["own_sum"], keepdims=0), node("Add", cross, ["other"])]
    if "whisper" in form:
        nodes += [node("Identity", ["other"], ["seen"])]
    else:
        nodes += [node("Cast", ["encoder_attention_mask"], ["m"], to=TensorProto.FLOAT), node("Unsqueeze", ["m", "around"], ["m4"]), node("Mul", ["other", "m4"], ["seen"])]
    nodes += [node("ReduceSum", ["seen", "time"], ["other_sum"], keepdims=0), node("Add", ["own_sum", "other_sum"], ["sums"]), node("Reshape", ["sums", "flat"], ["context"]),
              node("Add", ["x", "context"], ["y"]), node("Tanh", ["y"], ["t"])]
    if past and "whole" in form:  # and of all tokens
        nodes += [node("Gather", ["embedding", "input_ids"], ["all"]), node("ReduceSum", ["all", "one"], ["bag"], keepdims=1), node("Add", ["t", "bag"], ["t_all"])]
    return nodes + [node("MatMul", [nodes[-1].output[0], "projection"], ["logits"])]


def constants():
    rng = np.random.default_rng(0)
    floats = {"embedding": rng.normal(size=(VOCABULARY, WIDTH)), "projection": rng.normal(size=(WIDTH, VOCABULARY)) * 2, "bands": rng.normal(size=(BANDS, WIDTH)), "half": np.array(0.5)}
    whole = {"heads": [0, 0, HEADS, SIZE], "time": [2], "around": [1, 3], "flat": [0, 1, WIDTH], "last": [-1], "end": [1 << 40], "one": [1]}
    return [numpy_helper.from_array(v.astype(np.float32), k) for k, v in floats.items()] + [numpy_helper.from_array(np.array(v), k) for k, v in whole.items()]


def decoder(form):
    inputs = [ids("input_ids", "s" if "whole" in form else 1)] + ([] if "whisper" in form else [ids("encoder_attention_mask", "e")])
    if "hidden" in form:
        inputs.append(value("encoder_hidden_states", "b", "e", WIDTH))
    past = [cache(n.replace("present", "past")) for n in SELF + CROSS]
    nodes = [node("Slice", ["input_ids", "last", "end", "one"], ["newest"]), *step("newest", True, [p.name for p in past[2:]], form)]
    return helper.make_graph(nodes, "decoder", inputs + past, [value("logits", "b", 1, VOCABULARY), *map(cache, SELF)], constants())


def encoder(form):
    if "whisper" in form:
        inputs = [value("encoder_input_ids", "b", BANDS, "e")]
        nodes = [node("Transpose", ["encoder_input_ids"], ["frames"], perm=[0, 2, 1]), node("MatMul", ["frames", "bands"], ["encoder_hidden_states"])]
    else:
        inputs = [ids("encoder_input_ids", "e"), ids("encoder_attention_mask", "e")]
        nodes = [node("Gather", ["embedding", "encoder_input_ids"], ["encoder_hidden_states"])]
    nodes += [*by_head("encoder_hidden_states", CROSS[0]), node("Mul", [CROSS[0], "half"], [CROSS[1]])]
    if "new" in form:
        return helper.make_graph(nodes, "encoder", inputs, list(map(cache, CROSS)), constants())
    results = [value("logits", "b", "s", VOCABULARY), value("encoder_hidden_states", "b", "e", WIDTH), *map(cache, SELF + CROSS)]
    return helper.make_graph(nodes + step("decoder_input_ids", False, CROSS, form), "encoder", [*inputs, ids("decoder_input_ids", "s")], results, constants())
