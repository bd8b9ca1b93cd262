"""GreedySearch, Sampling and BeamSearch of com.microsoft against ONNX Runtime, on a decoder of one layer whose logits depend on tokens, positions, mask and past, and
behind the encoders of encoders.py.

usage: search.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `search: N passed, N failed, N skipped`
"""
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite
from values import peer
import encoders

VOCABULARY, HEADS, SIZE = 24, 2, 4
node, value = helper.make_node, helper.make_tensor_value_info
CASES = {
    "greedy": ("GreedySearch", {}, {}),
    "greedy_penalty": ("GreedySearch", {}, {"repetition_penalty": 1.3, "min_length": 8}),
    "greedy_ngrams": ("GreedySearch", {"no_repeat_ngram_size": 2}, {"vocab_mask": 1}),
    "sampling_one": ("Sampling", {"top_p": 1e-6, "min_tokens_to_keep": 1}, {}),
    "beams": ("BeamSearch", {}, {}),
    "beams_early": ("BeamSearch", {"early_stopping": 1}, {}),
    "beams_all_early": ("BeamSearch", {"early_stopping": 1, "eos_token_id": 1}, {}),
    "beams_penalties": ("BeamSearch", {"no_repeat_ngram_size": 2}, {"length_penalty": 0.5, "repetition_penalty": 1.2}),
    "beams_masked": ("BeamSearch", {}, {"num_beams": 4, "num_return_sequences": 4, "min_length": 7, "vocab_mask": 1, "length_penalty": 2.0}),
    "greedy_first_decoder": ("GreedySearch", {"init_decoder": 1}, {}),
}
# ONNX Runtime compares an entry's finished sequences with another entry's best one, but for early_stopping: a batch of one is left where that is not.
ENCODED = {
    "encoder": ("BeamSearch", "new", {"early_stopping": 1}, {}),
    "encoder_whole": ("BeamSearch", "new whole", {}, {}),
    "encoder_old": ("BeamSearch", "old", {}, {}),
    "encoder_old_hidden": ("BeamSearch", "old hidden", {"early_stopping": 1}, {}),
    "whisper": ("BeamSearch", "whisper", {"early_stopping": 1}, {}),
    "whisper_tokens": ("BeamSearch", "whisper hidden whole", {"early_stopping": 1}, {"decoder_input_ids": 3}),
    "whisper_temperature": ("WhisperBeamSearch", "whisper hidden", {}, {"temperature": 2.0}),
}
GREEDY = ["max_length", "min_length", "repetition_penalty", "vocab_mask"]
BEAM = ["max_length", "min_length", "num_beams", "num_return_sequences", "length_penalty", "repetition_penalty", "vocab_mask"]


def decoder(name):
    """logits = tanh(x + sum of the unmasked past) · w, x = token + position."""
    nodes = [node("Gather", ["embedding", "input_ids"], ["e"]), node("Gather", ["positions", "position_ids"], ["p"]), node("Add", ["e", "p"], ["x"]),
             node("Shape", ["input_ids"], ["rows"]), node("Concat", ["rows", "heads"], ["split"], axis=0), node("Reshape", ["x", "split"], ["x4"]),
             node("Transpose", ["x4"], ["by_head"], perm=[0, 2, 1, 3]), node("Unsqueeze", ["by_head", "first"], ["one"]),
             node("Concat", ["one", "one"], ["both"], axis=0), node("Concat", ["past_0", "both"], ["present_0"], axis=3),
             node("Cast", ["attention_mask"], ["m"], to=TensorProto.FLOAT), node("Unsqueeze", ["m", "around"], ["m5"]),
             node("Mul", ["present_0", "m5"], ["seen"]), node("ReduceSum", ["seen", "over"], ["sum"], keepdims=0),
             node("Reshape", ["sum", "flat"], ["context"]), node("Add", ["x", "context"], ["y"]), node("Tanh", ["y"], ["t"]),
             node("MatMul", ["t", "projection"], ["logits"])]
    ids = [value(n, TensorProto.INT32, ["b", "s"]) for n in ("input_ids", "position_ids")] + [value("attention_mask", TensorProto.INT32, ["b", "t"])]
    return helper.make_graph(nodes, name, ids + [value("past_0", TensorProto.FLOAT, [2, "b", HEADS, "past", SIZE])],
                             [value("logits", TensorProto.FLOAT, ["b", "s", VOCABULARY]), value("present_0", TensorProto.FLOAT, [2, "b", HEADS, "t", SIZE])])


def build(op, attributes, numbers):
    rng, width = np.random.default_rng(0), HEADS * SIZE
    weights = {"embedding": rng.normal(size=(VOCABULARY, width)), "positions": rng.normal(size=(64, width)) * 0.3, "projection": rng.normal(size=(width, VOCABULARY)) * 2}
    weights = {k: v.astype(np.float32) for k, v in weights.items()}
    weights |= {"heads": np.array([HEADS, SIZE]), "first": np.array([0]), "around": np.array([0, 2, 4]), "over": np.array([0, 3]), "flat": np.array([0, 1, width])}
    numbers = {"max_length": 12, "min_length": 1, "num_beams": 3, "num_return_sequences": 2, "length_penalty": 1.0, "repetition_penalty": 1.0} | numbers
    inputs = ["input_ids"]
    for name in BEAM if op == "BeamSearch" else GREEDY:
        if name == "vocab_mask" and name in numbers:
            weights[name] = (rng.random(VOCABULARY) > 0.3).astype(np.int32)
        elif name in numbers:
            weights[name] = np.array([numbers[name]], np.float32 if "penalty" in name else np.int32)
        inputs.append(name if name in weights else "")
    attributes = {"eos_token_id": 3, "pad_token_id": 0, "model_type": 0, "decoder": decoder("next")} | attributes
    if "init_decoder" in attributes:
        attributes["init_decoder"] = decoder("initial")
    outputs = [value("sequences", TensorProto.INT32, None)] + [value(n, TensorProto.FLOAT, None) for n in ("scores", "steps") if op == "BeamSearch"]
    search = node(op, inputs, [o.name for o in outputs], domain="com.microsoft", name="Search", **attributes)
    graph = helper.make_graph([search], "g", [value("input_ids", TensorProto.INT32, ["b", "s"])], outputs, [numpy_helper.from_array(v, k) for k, v in weights.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def encoded(op, form, attributes, numbers):
    numbers = {"max_length": 10, "min_length": 1, "num_beams": 3, "num_return_sequences": 2, "length_penalty": 1.0, "repetition_penalty": 1.2} | numbers
    names = ["input_ids", *BEAM[:-1], "", "", "", "decoder_input_ids" if "decoder_input_ids" in numbers else "", "", "", "", "temperature" if "temperature" in numbers else ""]
    constants = [numpy_helper.from_array(np.array([v], np.float32 if "penalty" in k or k == "temperature" else np.int32), k) for k, v in numbers.items() if k != "decoder_input_ids"]
    inputs = [encoders.value("input_ids", "b", encoders.BANDS, "e") if "whisper" in form else encoders.ids("input_ids", "e")]
    if "decoder_input_ids" in numbers:
        inputs.append(encoders.ids("decoder_input_ids", "s"))
    outputs = [value("sequences", TensorProto.INT32, None), value("scores", TensorProto.FLOAT, None), value("steps", TensorProto.FLOAT, None)]
    attributes = {"eos_token_id": 3, "pad_token_id": 0, "decoder_start_token_id": 2} | ({} if op == "WhisperBeamSearch" else {"model_type": 2 if "whisper" in form else 1}) | attributes
    while not names[-1]:
        names.pop()
    search = node(op, names, [o.name for o in outputs], domain="com.microsoft", name="Search", encoder=encoders.encoder(form), decoder=encoders.decoder(form), **attributes)
    graph = helper.make_graph([search], "g", inputs, outputs, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def differs(wanted, given, start):
    """`start`: tokens before the first step."""
    if len(given) == 3:  # ONNX Runtime leaves the steps that it does not run as its memory was, and they are 0 here
        longest = int(np.flatnonzero(wanted[0].any(axis=(0, 1))).max()) + 1 - start
        ran = int(np.flatnonzero(given[2].any(axis=(1, 2, 3))).max(initial=-1)) + 1
        if ran < longest or given[2].shape != wanted[2].shape:
            return f"scores of {ran} steps {given[2].shape}, want {longest} {wanted[2].shape}"
        wanted[2], given[2] = wanted[2][:ran], given[2][:ran]
    for want, got in zip(wanted, given):
        if not (want.shape == got.shape and np.allclose(want, got, rtol=1e-4, atol=2e-5)):
            return f"{str(got.tolist())[:2000]}, want {str(want.tolist())[:2000]}"
    return None


def compare(s, folder, name, model, feeds, start):
    import onnxc
    session = peer(model)
    for flags in ([], ["-O0"]):
        compiled = onnxc.load(str(s.compile(model, folder, *flags, name=name + "".join(flags))))
        for feed in feeds:
            wrong = differs(session.run(None, feed), [np.asarray(g) for g in compiled.run(feed)], start or feed["input_ids"].shape[1])
            if wrong:
                return f"{flags} {feed['input_ids'].shape}: {wrong}"
    return None


def check(s, folder, name):
    model, rng = build(*CASES[name]), np.random.default_rng(1)
    prompts = [rng.integers(4, VOCABULARY - 4, shape).astype(np.int32) for shape in ((1, 5), (3, 4))] + [np.array([[0, 0, 5, 7, 9], [4, 5, 6, 7, 8]], np.int32)]
    return compare(s, folder, name, model, [{"input_ids": prompt} for prompt in prompts], None)


def check_encoded(s, folder, name):
    op, form, attributes, numbers = ENCODED[name]
    rng, feeds, start = np.random.default_rng(1), [], numbers.get("decoder_input_ids", 1)
    for rows, length in ((1, 4), (1, 7), (3 if attributes else 1, 5)):
        features = rng.normal(size=(rows, encoders.BANDS, length)).astype(np.float32)
        feeds.append({"input_ids": features if "whisper" in form else rng.integers(4, VOCABULARY - 4, (rows, length)).astype(np.int32)})
        if start > 1:
            feeds[-1]["decoder_input_ids"] = rng.integers(4, VOCABULARY - 4, (rows, start)).astype(np.int32)
    return compare(s, folder, name, encoded(op, form, attributes, numbers), feeds, start)


def nucleus(logits, temperature, top_p, least):
    """The probabilities from which one token is drawn: those of the likeliest tokens that together reach top_p, at least so many of them."""
    p = np.exp((logits - logits.max()) / temperature)
    p /= p.sum()
    order = np.argsort(-p)
    kept = np.cumsum(p[order]) - p[order] < top_p
    kept[:least] = True
    q = np.zeros_like(p)
    q[order[kept]] = p[order[kept]]
    return q / q.sum()


def first_logits(prompt):
    """Of the decoder, in double precision, for a prompt that nothing went before; the past holds each token twice."""
    graph = build("Sampling", {}, {}).graph
    w = {i.name: numpy_helper.to_array(i).astype(np.float64) for i in graph.initializer}
    x = w["embedding"][prompt] + w["positions"][: len(prompt)]
    return (np.tanh(x + 2 * x.sum(axis=0)) @ w["projection"])[-1]


DRAWS = 4000
SAMPLED = {"distribution": (0.9, 1.0, 1), "distribution_narrow": (0.5, 1.0, 1), "distribution_hot": (0.8, 2.5, 1), "distribution_least": (1e-6, 1.5, 4)}


def check_distribution(s, folder, name):
    """One token for each of many equal prompts: the counts are as a chi-square test allows. The seed is fixed, and so is the outcome."""
    import onnxc
    top_p, temperature, least = SAMPLED[name]
    prompt = np.array([5, 9, 11, 6])
    model = build("Sampling", {"top_p": top_p, "temperature": temperature, "min_tokens_to_keep": least, "seed": 7}, {"max_length": 5})
    compiled = onnxc.load(str(s.compile(model, folder, name=name)))
    drawn = np.asarray(compiled.run({"input_ids": np.tile(prompt, (DRAWS, 1)).astype(np.int32)})[0])[:, -1]
    want = nucleus(first_logits(prompt), temperature, top_p, least) * DRAWS
    want[0] += want[3]  # a sequence that ends is padded from its last token on
    want[3] = 0
    counts = np.bincount(drawn, minlength=VOCABULARY)
    if (counts[want == 0] != 0).any():
        return f"tokens outside of the nucleus: {counts.tolist()}, want {want.round(1).tolist()}"
    chi, freedom = float(((counts - want)[want > 0] ** 2 / want[want > 0]).sum()), int((want > 0).sum()) - 1
    return None if chi < freedom + 4 * (2 * freedom + 1) ** 0.5 else f"chi-square {chi:.1f} of {freedom} degrees: {counts.tolist()}, want {want.round(1).tolist()}"


SUITE = Suite("search", __doc__, reuse=True)
SUITE.cases(CASES, check)
SUITE.cases(ENCODED, check_encoded)
SUITE.cases(SAMPLED, check_distribution)

if __name__ == "__main__":
    SUITE.main()
