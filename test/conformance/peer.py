"""Writes cases of com.microsoft and ai.onnx.ml operators, for which ONNX's suite has few or none, with results of ONNX Runtime:

    OUT/peer/<op>_<n>/model.onnx, data.json {rtol, atol}, test_data_set_0/input_<i>.pb, output_<i>.pb

usage: peer.py OUT, then run.py --suite OUT --kind peer. Same cases, same numbers at every call.
"""
import itertools
import json
import shutil
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import peer

MS, ML, STD = "com.microsoft", "ai.onnx.ml", ""
OPSETS = {STD: 23, ML: 3, MS: 1}
rng = np.random.default_rng(0)
cases = []


def case(domain, op, attrs, inputs, outputs=1, rtol=1e-3, atol=1e-5, opset=None, types=None, expose=None):
    """`expose` lists which results exist; `types` their element types where they are not float."""
    cases.append((domain, op, attrs, inputs, outputs, rtol, atol, opset, types, expose))


def f32(*shape):
    return rng.normal(size=shape).astype(np.float32)


def u8(*shape):
    return rng.integers(0, 255, shape).astype(np.uint8)


def i8(*shape):
    return rng.integers(-128, 127, shape).astype(np.int8)


def scale(v):
    return np.float32(v)


def words(*text):
    return np.array(text, dtype=object)


def floats(n):
    return [float(x) for x in f32(n)]


def attention():
    b, s, n, h = 2, 3, 2, 4
    i = n * h
    key_mask = np.array([[1, 0, 1], [1, 1, 0]], np.int32)
    for causal in (0, 1):
        a = {"num_heads": n, "unidirectional": causal}
        qkv = lambda: [f32(b, s, i), f32(i, 3 * i), f32(3 * i)]
        for mask in (None, np.array([2, 3], np.int32), np.array([2, 3, 0, 1], np.int32), key_mask, rng.integers(0, 2, (b, s, s)).astype(np.int32)):
            case(MS, "Attention", a, [*qkv(), mask])
        case(MS, "Attention", a, [*qkv(), None, f32(2, b, n, 2, h)], 2)
        case(MS, "Attention", {**a, "scale": 0.3}, [*qkv(), None, None, f32(1, n, s, s)])
        case(MS, "Attention", {**a, "qkv_hidden_sizes": [8, 8, 12]}, [f32(b, s, i), f32(i, 28), f32(28)])
        q = lambda: [f32(b, s, i), f32(b, s, i), f32(b, s, i)]
        for bias in (None, f32(3 * i)):
            case(MS, "MultiHeadAttention", a, [*q(), bias])
            case(MS, "MultiHeadAttention", a, [*q(), bias, key_mask])
            case(MS, "MultiHeadAttention", a, [*q(), bias, None, f32(1, 1, s, s)])
            case(MS, "MultiHeadAttention", a, [*q(), bias, None, None, f32(b, n, 2, h), f32(b, n, 2, h)], 3)
        case(MS, "QAttention", a, [u8(b, s, i), u8(i, 3 * i), f32(3 * i), scale(0.03), scale(0.02), None, np.uint8(128), np.uint8(120)], rtol=1e-2, atol=1e-2)
    case(MS, "MultiHeadAttention", {"num_heads": n}, [f32(b, s, i), f32(b, 5, i), f32(b, 5, 12), f32(28)])


def group_query():
    s, h = 3, 16
    cos, sin = np.cos(f32(20, 8)).astype(np.float32), np.sin(f32(20, 8)).astype(np.float32)
    for rotary, extra in itertools.product((0, 1), ({}, {"local_window_size": 2}, {"softcap": 1.5}, {"smooth_softmax": 1}, {"rotary_interleaved": 1})):
        a = {"num_heads": 4, "kv_num_heads": 2, "do_rotary": rotary, **extra}
        cache = [cos, sin] if rotary else []
        prompt, decode = np.array([s - 1], np.int32), np.array([5, 5], np.int32)
        case(MS, "GroupQueryAttention", a, [f32(1, s, 4 * h), f32(1, s, 2 * h), f32(1, s, 2 * h), None, None, prompt, np.array(s, np.int32), *cache], 3)
        case(MS, "GroupQueryAttention", a, [f32(1, s, 8 * h), None, None, None, None, prompt, np.array(s, np.int32), *cache], 3)
        past = [f32(2, 2, 5, h), f32(2, 2, 5, h)]
        case(MS, "GroupQueryAttention", a, [f32(2, 1, 4 * h), f32(2, 1, 2 * h), f32(2, 1, 2 * h), *past, decode, np.array(6, np.int32), *cache], 3)
    cos, sin = cos[:, :4], sin[:, :4]
    for interleaved in (0, 1):
        a = {"interleaved": interleaved}
        case(MS, "RotaryEmbedding", a, [f32(2, s, 24), np.array([2]), cos, sin])
        case(MS, "RotaryEmbedding", a, [f32(2, 3, s, 8), rng.integers(0, 19, (2, s)), cos, sin])
        case(MS, "RotaryEmbedding", {**a, "num_heads": 2, "rotary_embedding_dim": 8}, [f32(2, s, 24), rng.integers(0, 19, (2, s)), cos, sin])


def normalisation():
    for skip in ((2, 3, 8), (1, 3, 8), (3, 8)):
        case(MS, "SkipLayerNormalization", {}, [f32(2, 3, 8), f32(*skip), f32(8), f32(8), f32(8)], 4, expose=[1, 0, 0, 1])
        case(MS, "SkipSimplifiedLayerNormalization", {"epsilon": 1e-5}, [f32(2, 3, 8), f32(*skip), f32(8), f32(8)], 4, expose=[1, 0, 0, 1])
    ids = rng.integers(0, 10, (2, 4)).astype(np.int32)
    mask = np.array([[1, 1, 0, 0], [1, 1, 1, 0]], np.int32)
    case(MS, "EmbedLayerNormalization", {}, [ids, ids % 2, f32(10, 8), f32(6, 8), f32(2, 8), f32(8), f32(8), mask], 3, types=[1, 6, 1])
    case(MS, "Gelu", {}, [f32(3, 4)])
    case(MS, "BiasGelu", {}, [f32(3, 4), f32(4)])
    case(MS, "FastGelu", {}, [f32(3, 4), f32(4)], rtol=2e-3)
    case(MS, "QuickGelu", {"alpha": 1.5}, [f32(3, 4)])


def products():
    for name, p in (("Relu", ()), ("LeakyRelu", (0.2,)), ("Clip", (-0.5, 0.7)), ("HardSigmoid", (0.3, 0.4)), ("Tanh", ()), ("Sigmoid", ())):
        a = {"activation": name, "pads": [1, 1, 1, 1], "kernel_shape": [3, 3], **({"activation_params": p} if p else {})}
        case(MS, "FusedConv", a, [f32(1, 4, 5, 5), f32(4, 4, 3, 3), f32(4)])
        a = {"activation": name, "transB": 1, "alpha": 0.5, **dict(zip(("activation_alpha", "activation_beta"), p))}
        if name != "Clip":
            case(MS, "FusedGemm", a, [f32(3, 4), f32(5, 4), f32(5)])
    case(MS, "FusedConv", {"activation": "Relu", "kernel_shape": [1, 1]}, [f32(1, 4, 5, 5), f32(4, 4, 1, 1), f32(4), f32(1, 4, 5, 5)])
    for ta, tb in itertools.product((0, 1), (0, 1)):
        a = {"alpha": 0.7, "transA": ta, "transB": tb}
        case(MS, "FusedMatMul", a, [f32(2, 4, 3) if ta else f32(2, 3, 4), f32(1, 5, 4) if tb else f32(1, 4, 5)])
        case(MS, "FusedMatMul", {**a, "transBatchA": 1}, [f32(4, 2, 3) if ta else f32(3, 2, 4), f32(2, 5, 4) if tb else f32(2, 4, 5)])
    for bits, k, zero in itertools.product((4, 8), (32, 40), (0, 1)):
        blocks = (k + 15) // 16
        zeros = u8(6, (blocks * bits + 7) // 8) if zero else None
        a = {"K": k, "N": 6, "bits": bits, "block_size": 16}
        case(MS, "MatMulNBits", a, [f32(2, 3, k), u8(6, blocks, 2 * bits), np.abs(f32(6, blocks)), zeros, None, f32(6)], atol=1e-3)
    case(MS, "MatMulIntegerToFloat", {}, [u8(2, 3, 4), u8(4, 5), scale(0.1), np.abs(f32(5)), np.uint8(100), u8(5), f32(5)])
    case(MS, "MatMulIntegerToFloat", {}, [i8(2, 3, 4), i8(4, 5), scale(0.1), scale(0.2), np.int8(10), np.int8(3)])
    case(MS, "DynamicQuantizeMatMul", {}, [f32(2, 3, 4), i8(4, 5), np.abs(f32(5)), i8(5), f32(5)])
    case(MS, "DynamicQuantizeMatMul", {}, [f32(2, 3, 4), u8(4, 5), scale(0.1), np.uint8(128)])
    bias = rng.integers(-100, 100, 5).astype(np.int32)
    for tb in (0, 1):
        a, w = {"transB": tb, "alpha": 0.5}, i8(5, 4) if tb else i8(4, 5)
        case(MS, "QGemm", a, [u8(3, 4), scale(0.1), np.uint8(120), w, scale(0.2), np.int8(3), bias, scale(3), np.uint8(128)], types=[2], atol=1)
        case(MS, "QGemm", a, [u8(3, 4), scale(0.1), np.uint8(120), w, np.abs(f32(5)), i8(5), bias])
    case(MS, "GatherBlockQuantized", {"quantize_axis": 2, "block_size": 16}, [u8(6, 3, 20), rng.integers(-6, 6, (2, 3)), f32(6, 3, 3)])
    case(MS, "GatherBlockQuantized", {"quantize_axis": 2, "block_size": 16, "bits": 8}, [u8(6, 3, 40), rng.integers(-6, 6, (2, 3)), f32(6, 3, 3), u8(6, 3, 3)])


def quantised():
    for make, zero, kind in ((u8, np.uint8, 2), (i8, np.int8, 3)):
        q = lambda op, a, inputs: case(MS, op, a, inputs, types=[kind], rtol=0, atol=1)
        x = lambda *shape: [make(*shape), scale(0.05), zero(100)]
        q("QLinearAdd", {}, [make(2, 3, 40), scale(0.1), zero(10), make(3, 1), scale(0.2), zero(5), scale(0.25), zero(7)])
        q("QLinearMul", {}, [make(2, 3, 40), scale(0.1), zero(10), make(3, 1), scale(0.2), zero(5), scale(2), zero(7)])
        q("QLinearConcat", {"axis": 1}, [scale(0.2), zero(3), make(2, 3, 4), scale(0.1), zero(10), make(2, 2, 4), scale(0.3), zero(0)])
        q("QLinearSigmoid", {}, [*x(30, 30), scale(1 / 256), zero(0)])
        q("QLinearLeakyRelu", {"alpha": 0.2}, [*x(30, 30), scale(0.05), zero(50)])
        for opset in (11, 13):
            q("QLinearSoftmax", {"axis": 1, "opset": opset}, [*x(4, 5, 6), scale(1 / 256), zero(0)])
        for last, pads in itertools.product((0, 1), (0, 1)):
            a = {"channels_last": last, "kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1], "count_include_pad": pads}
            q("QLinearAveragePool", a, [*x(2, 5, 6, 7), scale(0.03), zero(20)])
            q("QLinearGlobalAveragePool", {"channels_last": last}, [*x(2, 5, 6, 7), scale(0.03), zero(20)])
        q("NhwcMaxPool", {"kernel_shape": [3, 2], "pads": [1, 0, 1, 1], "strides": [2, 1]}, [make(2, 5, 6, 7)])


def tokens():
    case(MS, "Unique", {}, [rng.integers(0, 5, 20).astype(np.float32)], 3, types=[1, 7, 7])
    case(MS, "Inverse", {}, [f32(2, 3, 4, 4)], atol=1e-3)
    case(MS, "Trilu", {"upper": 0}, [f32(3, 4), np.array(1)])
    for n in (1, 2, 3):
        case(MS, "NGramRepeatBlock", {"ngram_size": n}, [rng.integers(0, 4, (3, 12)), f32(3, 5)])
    for k in range(6):
        source, current = rng.integers(0, 4, 9), rng.integers(0, 4, 4)
        predicted = np.append(source[2 : 2 + k], rng.integers(0, 4, 8 - k))
        a = {"min_ngram_size": 1, "max_ngram_size": 3}
        case(MS, "BifurcationDetector", a, [source, current, np.array(2), predicted if k else None], 2, types=[7, 7])
    text = words("hello, wörld foo", "a,b;;c", "", "abab")
    for a in ({"separators": [" ", ","]}, {"separators": [""], "mark": 1}, {"tokenexp": "[a-z]+", "mark": 1, "mincharnum": 2}, {"tokenexp": "a|ab"}):
        case(MS, "Tokenizer", {"pad_value": "#", "mark": 0, "mincharnum": 1, **a}, [text], types=[8])
    lengths = np.array([5, 3], np.int32)
    for op, gates, activations in (("LSTM", 4, ["HardSigmoid", "Relu", "Softsign"]), ("GRU", 3, ["HardSigmoid", "LeakyRelu"]), ("RNN", 1, ["Affine"])):
        for direction, extra in itertools.product(("forward", "reverse", "bidirectional"), ({}, {"clip": 0.3}, {"activations": activations})):
            d = 2 if direction == "bidirectional" else 1
            a = {"hidden_size": 4, "direction": direction, **extra}
            if "activations" in a:
                a = {**a, "activations": activations * d, "activation_alpha": [0.3, 0.4] * d, "activation_beta": [0.45] * d}
            state = [f32(d, 2, 4)] + ([f32(d, 2, 4), f32(d, 12)] if op == "LSTM" else [])
            weights = [f32(d, gates * 4, 3), f32(d, gates * 4, 4), f32(d, 8 * gates)]
            case(STD, op, a, [f32(5, 2, 3), *weights, lengths, *state], 3 if op == "LSTM" else 2, opset=14)


def forest(trees, depth, targets, features, branch):
    nodes = {k: [] for k in ("treeids", "nodeids", "featureids", "values", "modes", "truenodeids", "falsenodeids", "missing_value_tracks_true")}
    leaves = []
    first = 2**depth - 1
    for t, n in itertools.product(range(trees), range(2 * first + 1)):
        leaf = n >= first
        row = (t, n, 0 if leaf else int(rng.integers(features)), 0.0 if leaf else float(f32()), "LEAF" if leaf else branch,
               0 if leaf else 2 * n + 1, 0 if leaf else 2 * n + 2, 0 if leaf else int(rng.integers(2)))
        for key, value in zip(nodes, row):
            nodes[key].append(value)
        if leaf:
            leaves += [(t, n, c, float(f32())) for c in range(targets)]
    return {f"nodes_{k}": v for k, v in nodes.items()}, [list(column) for column in zip(*leaves)]


def trees():
    x = f32(40, 5)
    x[32:][rng.random((8, 5)) < 0.1] = np.nan  # blocks of 32 rows without any are walked by other code
    for branch, total, targets in itertools.product(("BRANCH_LEQ", "BRANCH_GT"), ("SUM", "AVERAGE", "MIN", "MAX"), (1, 3)):
        nodes, (tree, node, target, weight) = forest(4, 3, targets, 5, branch)
        a = {**nodes, "target_treeids": tree, "target_nodeids": node, "target_ids": target, "target_weights": weight}
        case(ML, "TreeEnsembleRegressor", {**a, "n_targets": targets, "aggregate_function": total}, [x])
    for post, labels in itertools.product(("NONE", "LOGISTIC", "SOFTMAX"), ({"classlabels_int64s": [7, -3, 12]}, {"classlabels_strings": ["a", "bb", "c"]})):
        nodes, (tree, node, target, weight) = forest(4, 2, 3, 5, "BRANCH_LT")
        a = {**nodes, "class_treeids": tree, "class_nodeids": node, "class_ids": target, "class_weights": weight, "post_transform": post}
        case(ML, "TreeEnsembleClassifier", {**a, **labels}, [x], 2, types=[7 if "classlabels_int64s" in labels else 8, 1])
    # Classes that no leaf speaks for are not chosen, however low the score of the one that has some.
    nodes, (tree, node, target, weight) = forest(4, 2, 1, 5, "BRANCH_LT")
    a = {**nodes, "class_treeids": tree, "class_nodeids": node, "class_ids": [1 for _ in target], "class_weights": [-abs(w) for w in weight], "classlabels_int64s": [7, -3, 12]}
    case(ML, "TreeEnsembleClassifier", a, [x], 2, types=[7, 1])


def vectors():
    x = f32(20, 4)
    for post in ("NONE", "LOGISTIC", "SOFTMAX"):
        case(ML, "LinearRegressor", {"coefficients": floats(12), "intercepts": floats(3), "targets": 3, "post_transform": post}, [x])
        for classes in (1, 2, 3):
            a = {"coefficients": floats(4 * classes), "intercepts": floats(classes), "post_transform": post, "classlabels_ints": [5, -1, 9][: max(classes, 2)]}
            case(ML, "LinearClassifier", a, [x], 2, types=[7, 1])
    case(ML, "LinearClassifier", {"coefficients": floats(24), "intercepts": floats(3), "classlabels_ints": [5, -1, 9]}, [x], 2, types=[7, 1])  # more coefficients than are read
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        a = {"kernel_params": [0.3, 0.5, 3.0], "kernel_type": kernel}
        case(ML, "SVMRegressor", {**a, "coefficients": floats(6), "n_supports": 6, "rho": [0.2], "support_vectors": floats(24)}, [x])
        for probability in (0, 1):
            b = {**a, "coefficients": floats(14), "rho": floats(3), "support_vectors": floats(28), "vectors_per_class": [2, 3, 2], "classlabels_ints": [5, -1, 9]}
            if probability:
                b |= {"prob_a": [-abs(v) for v in floats(3)], "prob_b": floats(3)}
            case(ML, "SVMClassifier", b, [x], 2, types=[7, 1], rtol=1e-2, atol=1e-3)
    case(ML, "Scaler", {"offset": floats(4), "scale": floats(4)}, [x])
    case(ML, "Binarizer", {"threshold": 0.3}, [x])
    case(ML, "Imputer", {"imputed_value_floats": floats(4), "replaced_value_float": 0.0}, [np.maximum(x, 0)])
    for norm in ("MAX", "L1", "L2"):
        case(ML, "Normalizer", {"norm": norm}, [x])
    text = words("a", "b", "zz", "")
    case(ML, "CategoryMapper", {"cats_strings": ["a", "zz"], "cats_int64s": [10, 20]}, [text], types=[7])
    case(ML, "OneHotEncoder", {"cats_strings": ["a", "zz"]}, [text.reshape(2, 2)])
    case(ML, "LabelEncoder", {"keys_strings": ["a", "b"], "values_floats": [0.5, 0.25]}, [text], opset=2)
    case(ML, "LabelEncoder", {"keys_int64s": [1, 2], "values_strings": ["p", "q"]}, [np.array([1, 2, 3])], types=[8], opset=2)
    case(ML, "ArrayFeatureExtractor", {}, [x, np.array([2, 0, 2])])
    case(ML, "FeatureVectorizer", {"inputdimensions": [4, 2]}, [x, f32(20, 2)])


def write(out, number, domain, op, attrs, inputs, outputs, rtol, atol, opset, types, expose):
    while inputs and inputs[-1] is None:
        inputs = inputs[:-1]
    values = {f"x{i}": np.asarray(v) for i, v in enumerate(inputs) if v is not None}
    results = [f"y{i}" if expose is None or expose[i] else "" for i in range(outputs)]
    node = helper.make_node(op, [f"x{i}" if v is not None else "" for i, v in enumerate(inputs)], results, domain=domain, **attrs)
    kind = lambda v: TensorProto.STRING if v.dtype == object else helper.np_dtype_to_tensor_dtype(v.dtype)
    infos = [helper.make_tensor_value_info(n, kind(v), v.shape) for n, v in values.items()]
    declared = [helper.make_tensor_value_info(n, t, None) for n, t in zip(results, types or [1] * outputs) if n]
    opsets = [helper.make_opsetid(d, opset if opset and d == domain else v) for d, v in OPSETS.items() if d in (STD, domain)]
    model = helper.make_model(helper.make_graph([node], op, infos, declared), opset_imports=opsets, ir_version=10)
    want = peer(model).run(None, values)
    for info, value in zip(model.graph.output, want):
        info.CopyFrom(helper.make_tensor_value_info(info.name, info.type.tensor_type.elem_type, value.shape))
    folder = out / "peer" / f"{op}_{number}"
    (folder / "test_data_set_0").mkdir(parents=True)
    (folder / "data.json").write_text(json.dumps({"rtol": rtol, "atol": atol}))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for what, arrays in (("input", values.values()), ("output", want)):
        for i, v in enumerate(arrays):
            (folder / "test_data_set_0" / f"{what}_{i}.pb").write_bytes(numpy_helper.from_array(np.asarray(v)).SerializeToString())


def main():
    out = Path(sys.argv[1])
    shutil.rmtree(out / "peer", ignore_errors=True)
    for family in (attention, group_query, normalisation, products, quantised, tokens, trees, vectors):
        family()
    for number, c in enumerate(cases):
        write(out, number, *c)
    print(f"{len(cases)} cases in {out / 'peer'}")


if __name__ == "__main__":
    main()
