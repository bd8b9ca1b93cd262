"""Sequences, optionals, maps and control flow with every element type of their schemas: values go through containers, branches and loop state and come back unchanged.
Also the operators of ai.onnx.ml on maps, its models in batches, LabelEncoder's first version, and the cases of edges.py.

usage: containers.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `containers: N passed, N failed, N skipped`
"""
import re
import resource
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, defs, helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite
import bounds  # adds to edges.CASES
import edges
import refusals
from values import compare, peer

SUITE = Suite("containers", __doc__, reuse=True)
F32, F64, I64, TEXT = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING

# Loop state that changes, state that is handed on, values captured from outside, scan outputs, an optional state.
FLOW = """
  chosen = If (c) <then_branch = t () => (T[2,3] a) { a = Identity (x) }, else_branch = e () => (T[2,3] b) { b = Identity (w) }>
  last, all = Loop (n, "", x) <body = l (int64 i, bool k, T[2,3] s) => (bool k1, T[2,3] s1, T[2,3] o) { k1 = Identity (k) s1 = Identity (w) o = Identity (s) }>
  same, after, each = Loop (n, "", w, x) <body = h (int64 i, bool k, T[2,3] u, T[2,3] s) => (bool k1, T[2,3] u1, T[2,3] s1, T[2,3] o) { k1 = Identity (k) u1 = Identity (u) s1 = Identity (u) o = Identity (u) }>
  final, rows = Scan (x, pair) <num_scan_inputs = 1, body = q (T[2,3] s, T[2,3] v) => (T[2,3] s1, T[2,3] o) { s1 = Identity (v) o = Identity (s) }>
"""
FLOW_RESULTS = "T[2,3] chosen, T[2,3] last, T[N,2,3] all, T[2,3] same, T[2,3] after, T[N,2,3] each, T[2,3] final, T[M,2,3] rows"
FLOW_WANT = lambda x, w: [x, w, np.stack([x, w, w]), w, w, np.stack([w, w, w]), w, np.stack([x, x])]

OPTIONAL = """
  o = Optional (x)  has = OptionalHasElement (o)  got = OptionalGetElement (o)
  none = Optional <type = seq(tensor(T))> ()  hasNone = OptionalHasElement (none)
  p = If (has) <then_branch = t () => (optional(T[2,3]) a) { a = Optional (x) }, else_branch = e () => (optional(T[2,3]) b) { b = Optional (w) }>
  through = OptionalGetElement (p)
"""

SEQUENCE = """
  zero = Constant <value_int = 0> ()  one = Constant <value_int = 1> ()
  s = SequenceConstruct (x, w)  at = SequenceAt (s, one)  erased = SequenceErase (s, zero)  front = SequenceInsert (erased, x, zero)
  length = SequenceLength (front)  joined = ConcatFromSequence <axis = 0> (front)  stacked = ConcatFromSequence <axis = 0, new_axis = 1> (front)
  parts = SplitToSequence <axis = 0> (x, one)  part = SequenceAt (parts, one)
  picked = If (c) <then_branch = t () => (seq(T[2,3]) a) { a = SequenceInsert (s, x) }, else_branch = e () => (seq(T[2,3]) b) { b = Identity (s) }>
  empty = SequenceEmpty <dtype = CODE> ()
  grown = Loop (n, "", empty) <body = l (int64 i, bool k, seq(T[2,3]) q) => (bool k1, seq(T[2,3]) q1) { k1 = Identity (k) q1 = SequenceInsert (q, w) }>
  same = SequenceMap (s) <body = m (T[2,3] v) => (T[2,3] r) { r = Identity (v) }>
  outer = SequenceMap (s) <body = m (T[2,3] v) => (T[2,3] r) { r = If (c) <then_branch = t () => (T[2,3] a) { a = Identity (w) }, else_branch = e () => (T[2,3] b) { b = Identity (v) }> }>
  boxed = Optional (s)  unboxed = OptionalGetElement (boxed)
"""


def values(name):
    """Two arrays [2, 3] of the type, with extreme values where it has some."""
    code = TensorProto.DataType.Value(name.upper())
    if name == "string":
        return np.array([["", "a", "ü"], ["b c", "\\n", "zz"]], object), np.array([["x", "y", ""], ["", "long " * 9, "0"]], object)
    dtype = helper.tensor_dtype_to_np_dtype(code)
    raw = np.random.default_rng(code).integers(0, 256, (2, 6 * dtype.itemsize)).astype(np.uint8)
    if name in ("bool", "uint4", "int4", "uint2", "int2", "float4e2m1", "float6e2m3", "float6e3m2"):
        small = {"uint4": (0, 16), "int4": (-8, 8), "uint2": (0, 4), "int2": (-2, 2)}.get(name, (0, 2))
        return tuple(np.random.default_rng(seed).integers(*small, (2, 3)).astype(np.float32).astype(dtype) for seed in (0, 1))
    with np.errstate(all="ignore"):
        return tuple(np.nan_to_num(r.view(dtype).astype(np.complex128)).astype(dtype).reshape(2, 3) if dtype.kind == "c" else r.view(dtype).reshape(2, 3) for r in raw)


def bits(value):
    """Comparable to the last bit, NaN included."""
    if isinstance(value, list):
        return [bits(v) for v in value]
    value = np.asarray(value)
    if value.dtype.name.lstrip("u") in ("int4", "int2"):
        return value.astype(np.int8)  # what lies above the bits is nobody's
    return value if value.dtype.kind in "OSUb" else np.ascontiguousarray(value).reshape(value.shape or (1,)).view(np.uint8)


def types_of(op):
    """Element types of the operator's tensors."""
    names = {t[7:-1] for c in defs.get_schema(op).type_constraints for t in c.allowed_type_strs if t.startswith("tensor(")}
    return sorted(names)


def run(s, folder, name, body, results, operands, want):
    import onnxc
    x, w = values(name)
    code = TensorProto.DataType.Value(name.upper())
    typed = lambda text: text.replace("CODE", str(code)).replace("T[", f"{name}[").replace("tensor(T)", f"{name}[]")
    kinds = ", ".join({"x": "T[2,3] x", "w": "T[2,3] w", "pair": "T[2,2,3] pair", "c": "bool c", "n": "int64 n"}[o] for o in operands)
    model = onnx.parser.parse_model(typed(f'<ir_version: 14, opset_import: ["" : 28]> g ({kinds}) => ({results}) {{ {body} }}'))
    feed = {k: v for k, v in {"x": x, "w": w, "pair": np.stack([x, w]), "c": np.array(True), "n": np.array(3)}.items() if k in operands}
    library = s.compile(model, folder, "--cpu", "x86-64-v3")
    got = onnxc.load(str(library), num_threads=1).run(feed)
    for output, a, b in zip(model.graph.output, want(x, w), got):
        wrong = compare(bits(a), bits(b), 0, 0)
        if wrong:
            return f"{output.name}: {wrong}"
    return None


def flow(s, folder, name):
    return run(s, folder, name[5:], FLOW, FLOW_RESULTS, ("x", "w", "pair", "c", "n"), FLOW_WANT)


def optional(s, folder, name):
    return run(s, folder, name[9:], OPTIONAL, "bool has, T[2,3] got, bool hasNone, T[2,3] through", ("x", "w"), lambda x, w: [np.array(True), x, np.array(False), x])


def sequence(s, folder, name):
    want = lambda x, w: [w, np.array(2), np.concatenate([x, w]), np.stack([x, w]), x[1:], [x, w, x], [w, w, w], [x, w], [w, w], [x, w]]
    results = "T[2,3] at, int64 length, T[4,3] joined, T[2,2,3] stacked, T[1,3] part, seq(T[2,3]) picked, seq(T[2,3]) grown, seq(T[2,3]) same, seq(T[2,3]) outer, seq(T[2,3]) unboxed"
    return run(s, folder, name[9:], SEQUENCE, results, ("x", "w", "c", "n"), want)


SUITE.cases([f"flow_{t}" for t in types_of("Scan")], flow)
SUITE.cases([f"optional_{t}" for t in types_of("If")], optional)
SUITE.cases([f"sequence_{t}" for t in types_of("SequenceConstruct")], sequence)


# ---- branches of different ranks -----------------------------------------------------------------------------------------------------------

PLAIN = "then_branch = t () => (float[] a) { a = Unsqueeze (x, front) }, else_branch = e () => (float[] b) { b = Identity (x) }"
# What reads the branch's result: its shape as the shape of something else, a value made between, a body that captures it, a join by Reshape.
READERS = """
  front = Constant <value_ints = [0]> ()  flat = Constant <value_ints = [-1]> ()  half = Constant <value_float = 0.5> ()
  RANKS
  between = Abs (x)
  s = Shape (r)  ones = ConstantOfShape <value = float[1] {1}> (s)  scaled = Mul (r, half)  both = Add (scaled, ones)
  kept = If (c) <then_branch = p () => (float[] u) { u = Relu (both) }, else_branch = q () => (float[] v) { v = Neg (both) }>
  joined = Reshape (kept, flat)  line = Reshape (between, flat)  y = Add (joined, line)
"""


def branches(s, folder, ranks, feeds, want, graph="float[N,3] x, bool c, bool d", readers=READERS):
    """want(x, c, d): an array, or None where the run has to fail in the node `pick`."""
    import onnxc
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 22]> g ({graph}) => (float[M] y) {{ {readers.replace("RANKS", ranks)} }}')
    for node in model.graph.node:
        node.name = "pick" if "r" in node.output else node.output[0]
    for level in ("-O0", "-O3"):
        loaded = onnxc.load(str(s.compile(model, folder, level, name="m" + level)))
        for feed in feeds:
            expected = want(*feed.values())
            try:
                got = loaded.run({k: v for k, v in feed.items() if k in [i.name for i in model.graph.input]})[0]
            except onnxc.Error as error:
                if expected is not None or error.node != "pick":
                    return f"{level}: {error.node}: {error}"
                continue
            wrong = "no error" if expected is None else compare(expected, got, 1e-6, 0)
            if wrong:
                return f"{level}: {feed}: {wrong}"
    return None


FEEDS = [{"x": np.arange(3 * n, dtype=np.float32).reshape(n, 3) - 4, "c": np.array(c), "d": np.array(d)} for n in (0, 1, 4) for c in (True, False) for d in (True, False)]


def read(x, c, d):
    both = x * np.float32(0.5) + 1
    return (np.maximum(both, 0) if c else -both).reshape(-1) + np.abs(x).reshape(-1)


@SUITE.check
def ranks_of_branches(s, folder):
    return branches(s, folder, f"r = If (c) <{PLAIN}>", FEEDS, read)


@SUITE.check
def ranks_of_items(s, folder):
    readers = """front = Constant <value_ints = [0]> ()  flat = Constant <value_ints = [-1]> ()  one = Constant <value_int = 1> ()
        RANKS  items = SequenceConstruct (r, r)  item = SequenceAt (items, one)  y = Reshape (item, flat)"""
    return branches(s, folder, f"r = If (c) <{PLAIN}>", FEEDS, lambda x, c, d: x.reshape(-1), "float[N,3] x, bool c", readers)


@SUITE.check
def ranks_in_loops(s, folder):
    """The result is read by a loop's body, and by a body of its own."""
    readers = """front = Constant <value_ints = [0]> ()  flat = Constant <value_ints = [-1]> ()  n = Constant <value_int = 2> ()  s = Shape (x)
        RANKS  sum = Loop (n, "", x) <body = l (int64 i, bool k, float[N,3] v) => (bool k1, float[N,3] v1) { k1 = Identity (k)  w = Add (v, r)  v1 = Reshape (w, s) }>
        own = Loop (n, "", sum) <body = m (int64 j, bool e, float[N,3] x2) => (bool e1, float[N,3] x3) { e1 = Identity (e)
          p = If (c) <then_branch = o () => (float[] a2) { a2 = Unsqueeze (x2, front) }, else_branch = z () => (float[] b2) { b2 = Identity (x2) }>
          q = Neg (p)  x3 = Reshape (q, s) }>
        y = Reshape (own, flat)"""
    return branches(s, folder, f"r = If (c) <{PLAIN}>", FEEDS, lambda x, c, d: (3 * x).reshape(-1), "float[N,3] x, bool c", readers)


@SUITE.check
def ranks_of_conditions(s, folder):
    """Loops as PyTorch writes `while a and b`: the branches give one truth as a scalar and as a vector."""
    readers = """flat = Constant <value_ints = [-1]> ()  no = Constant <value = bool {0}> ()  many = Constant <value_int = 9> ()  zero = Constant <value_ints = [0]> ()
        one = Constant <value_int = 1> ()  three = Constant <value_ints = [3]> ()
        RANKS  last, count = Loop (many, r, x, zero) <body = l (int64 i, bool k, float[N,3] v, int64[1] at) => (bool k1, float[N,3] v1, int64[1] at1) { v1 = Add (v, x)  at1 = Add (at, one)
          k1 = If (d) <then_branch = o () => (bool[] a2) { a2 = Less (at1, three) }, else_branch = z () => (bool[] b2) { b2 = Identity (no) }> }>
        y = Reshape (last, flat)"""
    ranks = "r = If (c) <then_branch = t () => (bool[] a) { a = Less (zero, three) }, else_branch = e () => (bool[] b) { b = Identity (no) }>"
    return branches(s, folder, ranks, FEEDS, lambda x, c, d: (x * ((4 if d else 2) if c else 1)).reshape(-1), readers=readers)


@SUITE.check
def ranks_of_nested_branches(s, folder):
    return branches(s, folder, f"r = If (d) <then_branch = o () => (float[] w) {{ w = If (c) <{PLAIN}> }}, else_branch = z () => (float[] g) {{ g = Identity (x) }}>", FEEDS, read)


@SUITE.check
def ranks_of_which_one_fits(s, folder):
    """A branch whose rank no reader takes fails when it runs, and only then."""
    readers = "front = Constant <value_ints = [0]> ()  RANKS w = Constant <value = float[3] {1, 2, 3}> ()  t = Transpose <perm = [1, 0]> (r)  y = MatMul (w, t)"
    want = lambda x, c, d: None if c else (x @ np.array([1, 2, 3], np.float32))
    return branches(s, folder, f"r = If (c) <{PLAIN}>", FEEDS, want, "float[N,3] x, bool c", readers)


# ---- models of ai.onnx.ml, row by row and in batches -------------------------------------------------------------------------------------------

FEATURES, WIDE = 5, 37


def machine(op, kernel, of=(9, 8, 4), features=FEATURES, params=(0.3, 0.5, 3.0), **more):
    """A support vector machine of vectors of three classes, which are one where it does not classify."""
    rng = np.random.default_rng(3)
    classify, count = op == "SVMClassifier", sum(of)
    given = dict(kernel_type=kernel, kernel_params=params, support_vectors=rng.standard_normal(count * features).tolist(),
                 coefficients=rng.standard_normal(count * 2 if classify else count).tolist(), rho=[0.1, -0.2, 0.3] if classify else [0.2], **more)
    return op, {**given, "vectors_per_class": of, "classlabels_ints": [4, 5, 6]} if classify else {**given, "n_supports": count}


def linear(op, targets, **more):
    rng = np.random.default_rng(targets)
    given = dict(coefficients=rng.standard_normal(targets * FEATURES).tolist(), intercepts=rng.standard_normal(targets).tolist(), **more)
    return op, {**given, "classlabels_ints": list(range(max(targets, 2)))} if op == "LinearClassifier" else {**given, "targets": targets}


def forest(op, trees, leaf, **more):
    """Trees of one test and two leaves; leaf(tree, side) lists the (target, weight) pairs of a leaf."""
    rng = np.random.default_rng(trees)
    kind = "class" if op == "TreeEnsembleClassifier" else "target"
    entries = [(t, 1 + side, *pair) for t in range(trees) for side in range(2) for pair in leaf(t, side)]
    return op, {"nodes_treeids": [t for t in range(trees) for _ in range(3)], "nodes_nodeids": [0, 1, 2] * trees, "nodes_featureids": [f for t in range(trees) for f in (t % FEATURES, 0, 0)],
                "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"] * trees, "nodes_values": [v for x in rng.standard_normal(trees).tolist() for v in (x, 0.0, 0.0)],
                "nodes_truenodeids": [1, 0, 0] * trees, "nodes_falsenodeids": [2, 0, 0] * trees, f"{kind}_treeids": [e[0] for e in entries], f"{kind}_nodeids": [e[1] for e in entries],
                f"{kind}_ids": [e[2] for e in entries], f"{kind}_weights": [e[3] for e in entries], **more}


MODELS = {f"svr_{k.lower()}": machine("SVMRegressor", k) for k in ("LINEAR", "POLY", "RBF", "SIGMOID")}
MODELS.update({f"svc_{k.lower()}": machine("SVMClassifier", k) for k in ("LINEAR", "POLY", "RBF", "SIGMOID")})
MODELS["svc_linear_probabilities"] = machine("SVMClassifier", "LINEAR", prob_a=[-1.0, -0.5, -2.0], prob_b=[0.1, 0.2, -0.1])
MODELS["svc_probabilities"] = machine("SVMClassifier", "RBF", prob_a=[-1.0, -0.5, -2.0], prob_b=[0.1, 0.2, -0.1])
# Panels of vectors four at a time and what is left of them, sums of 64 products and what is left, each degree with a loop of its own, and one without.
for _op, _kernel in (("SVMRegressor", "RBF"), ("SVMRegressor", "SIGMOID"), ("SVMClassifier", "RBF"), ("SVMClassifier", "LINEAR")):
    MODELS[f"{_op}_wide_{_kernel.lower()}"] = machine(_op, _kernel, (70, 0, 83), WIDE, (0.02, 0.5, 3.0))
MODELS.update({f"svr_poly_{d}": machine("SVMRegressor", "POLY", params=(0.02, 2.0, d)) for d in (2.0, 4.0, 2.5)})
MODELS["svc_rbf_f64"] = machine("SVMClassifier", "RBF")
MODELS.update({f"linear_{t}_{p.lower()}": linear("LinearClassifier", t, post_transform=p)
               for t, p in ((1, "NONE"), (1, "LOGISTIC"), (1, "SOFTMAX"), (3, "SOFTMAX"), (3, "LOGISTIC"), (3, "SOFTMAX_ZERO"), (9, "NONE"), (40, "SOFTMAX"))})
MODELS["linear_words"] = "LinearClassifier", {**{k: v for k, v in linear("LinearClassifier", 3)[1].items() if k != "classlabels_ints"}, "classlabels_strings": ["a", "", "c"]}
MODELS.update({f"regression_{t}": linear("LinearRegressor", t) for t in (1, 3)})
MODELS.update({f"regression_3_{p.lower()}": linear("LinearRegressor", 3, post_transform=p) for p in ("SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO")})
# Machines without vectors are linear models.
_machine = dict(kernel_type="LINEAR", kernel_params=[0.0, 0.0, 0.0], rho=[0.25])
MODELS["svr_columns"] = "SVMRegressor", {**_machine, "coefficients": linear("LinearRegressor", 1)[1]["coefficients"]}
MODELS["svc_columns"] = "SVMClassifier", {**_machine, "coefficients": linear("LinearRegressor", 3)[1]["coefficients"], "classlabels_ints": [4, 5, 6], "post_transform": "LOGISTIC"}
MODELS.update({f"normalizer_{n.lower()}": ("Normalizer", {"norm": n}) for n in ("MAX", "L1", "L2")})
MODELS["scaler"] = "Scaler", {"offset": [0.5, -1.0, 0.0, 2.0, 3.0], "scale": [2.0, 1.0, 0.5, -1.0, 4.0]}
MODELS["imputer"] = "Imputer", {"imputed_value_floats": [float(k) for k in range(FEATURES)], "replaced_value_float": float("nan")}
MODELS["imputer_one"] = "Imputer", {"imputed_value_floats": [7.0], "replaced_value_float": 1.0}
# Votes of equally many trees: in exact arithmetic no class wins.
MODELS["votes"] = forest("TreeEnsembleClassifier", 30, lambda t, side: [(0, side / 30)], classlabels_int64s=[0, 1])
MODELS["votes_f64"] = forest("TreeEnsembleClassifier", 30, lambda t, side: [(0, side / 30)], classlabels_int64s=[0, 1])
MODELS["leaves"] = forest("TreeEnsembleRegressor", 1, lambda t, side: [(0, 3.0 + side)] * 3, n_targets=1)


def graph(*nodes):
    """One tree whose nodes may have several parents: (mode, feature, value, yes, no, NaN goes to yes), leaves as their weights."""
    tests = [n if isinstance(n, tuple) else ("LEAF", 0, 0.0, 0, 0, 0) for n in nodes]
    leaves = [k for k, n in enumerate(nodes) if not isinstance(n, tuple)]
    columns = dict(zip(("modes", "featureids", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true"), map(list, zip(*tests))))
    return "TreeEnsembleRegressor", {"nodes_treeids": [0] * len(nodes), "nodes_nodeids": list(range(len(nodes))), **{f"nodes_{k}": v for k, v in columns.items()}, "n_targets": 1,
                                     "target_treeids": [0] * len(leaves), "target_nodeids": leaves, "target_ids": [0] * len(leaves), "target_weights": [nodes[k] for k in leaves]}


# LightGBM's splits by category: chains of equality tests that lead to one node.
for _name in ("categories", "categories_f64"):
    MODELS[_name] = graph(("BRANCH_EQ", 0, 1.0, 4, 1, 0), ("BRANCH_EQ", 0, -2.0, 4, 2, 1), ("BRANCH_EQ", 0, 0.0, 4, 3, 0), ("BRANCH_NEQ", 1, 2.0, 5, 6, 1),
                          ("BRANCH_NEQ", 2, 0.0, 6, 7, 0), 1.0, 2.0, 4.0)
# Many categories are searched: in no order, one of them twice; the next chain is of another column.
_tests = [("BRANCH_EQ", 0, value, 7, k + 1 + (k == 6), 0) for k, value in enumerate((3.0, -1.0, 0.0, -4.0, 1.0, 3.0, 2.0))]
MODELS["categories_many"] = graph(*_tests, ("BRANCH_LEQ", 1, 0.5, 10, 11, 1), ("BRANCH_EQ", 2, 1.0, 12, 9, 0), ("BRANCH_EQ", 2, 2.0, 12, 13, 0), 1.0, 2.0, 4.0, 8.0)
for _mode in ("LT", "GTE"):
    for _missing in (0, 1):
        MODELS[f"categories_least_{_mode}_{_missing}"] = graph(("BRANCH_" + _mode, 0, -np.inf, 1, 2, _missing), 1.0, 2.0)


def grown(op, trees, leaves, entries, missing=False, features=FEATURES, **more):
    """Trees of so many leaves each, in no order; entries(tree): the targets of one of its leaves; missing: NaN goes to some first children."""
    rng = np.random.default_rng(leaves)
    kind = "class" if op == "TreeEnsembleClassifier" else "target"
    columns, weights = {k: [] for k in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids", "missing_value_tracks_true")}, []
    for tree in range(trees):
        children = {0: None}
        while len(children) < 2 * leaves - 1:
            node = rng.choice([n for n, c in children.items() if c is None])
            children[node] = len(children), len(children) + 1
            children.update(dict.fromkeys(children[node]))
        for node, pair in children.items():
            row = (tree, node, int(rng.integers(features)), "BRANCH_LEQ" if pair else "LEAF", float(np.round(2 * rng.standard_normal()) / 2), *(pair or (0, 0)), int(missing and node % 3 == 0))
            for values, value in zip(columns.values(), row):
                values.append(int(value) if isinstance(value, np.integer) else value)
            weights += [] if pair else [(tree, node, target, float(rng.standard_normal())) for target in entries(tree)]
    lists = zip(("treeids", "nodeids", "ids", "weights"), map(list, zip(*[(t, int(n), *rest) for t, n, *rest in weights])))
    return op, {**{f"nodes_{k}": v for k, v in columns.items()}, **{f"{kind}_{k}": v for k, v in lists}, **more}


# Small trees are masks for many rows, up to 128 leaves, each 32 of which have tests of their own; rows with NaN are walked.
for _leaves in (2, 31, 32, 33, 64, 65, 97, 128, 129):
    MODELS[f"grown_{_leaves}"] = grown("TreeEnsembleRegressor", 9, _leaves, lambda tree: [0], n_targets=1)
MODELS["grown_classes"] = grown("TreeEnsembleClassifier", 12, 20, lambda tree: [tree % 3], classlabels_int64s=[0, 1, 2], post_transform="SOFTMAX")
MODELS["grown_large_classes"] = grown("TreeEnsembleClassifier", 7, 50, lambda tree: [tree % 3], classlabels_int64s=[0, 1, 2])
MODELS["grown_votes"] = grown("TreeEnsembleClassifier", 8, 13, lambda tree: [0, 1, 2], classlabels_int64s=[0, 1, 2])
for _fold in ("MIN", "MAX", "AVERAGE"):
    MODELS[f"grown_{_fold.lower()}"] = grown("TreeEnsembleRegressor", 8, 6, lambda tree: [tree % 2], n_targets=2, aggregate_function=_fold)
# One row is walked through sixteen trees at once, trees of like depths together; doubles are walked as the floats above them.
for _name in ("grown_wide", "grown_wide_f64"):
    MODELS[_name] = grown("TreeEnsembleRegressor", 37, 140, lambda tree: [tree // 20], missing=True, features=WIDE, n_targets=2)
MODELS["forest_f64"] = forest("TreeEnsembleRegressor", 40, lambda t, side: [(k, 0.1 * t + side - k) for k in range(2)], n_targets=2)


# Two regressors whose results are joined, of two targets and of one.
MODELS["joined_grown"] = "TreeEnsembleRegressor", [grown("TreeEnsembleRegressor", 5, 9, lambda tree: [tree % 2], n_targets=2)[1], grown("TreeEnsembleRegressor", 3, 40, lambda tree: [0], n_targets=1)[1]]


def ensemble(trees, **more):
    """The form of ai.onnx.ml 5: nodes 2t and 2t + 1 of a tree of three leaves, the first a test of a set, every third tree one leaf."""
    rng, inner = np.random.default_rng(trees), 2 * trees
    single = [t % 3 == 0 for t in range(trees)]
    leaf = lambda t, k: 3 * t + k
    rows = [r for t in range(trees) for r in ((leaf(t, 0), 1, leaf(t, 0), 1) if single[t] else (leaf(t, 0), 1, 2 * t + 1, 0), (leaf(t, 1), 1, leaf(t, 2), 1))]
    rows = [r for k, r in enumerate(rows) if not (k % 2 and single[k // 2])]
    place = np.cumsum([0] + [1 if s else 2 for s in single])
    columns = dict(zip(("truenodeids", "trueleafs", "falsenodeids", "falseleafs"), map(list, zip(*rows))))
    first = [k in place for k in range(len(rows))]
    columns["falsenodeids"] = [k + 1 if not done else v for k, (v, done) in enumerate(zip(columns["falsenodeids"], columns["falseleafs"]))]
    sets = [v for k, f in enumerate(first) if f for v in (0.5, float(k % 3), np.nan)]
    tensor = lambda values, kind=np.float32: onnx.numpy_helper.from_array(np.array(values, kind))
    return "TreeEnsemble", {"tree_roots": place[:-1].tolist(), "nodes_featureids": rng.integers(FEATURES, size=len(rows)).tolist(), "nodes_splits": tensor(rng.standard_normal(len(rows))),
                            "nodes_modes": tensor([6 if f else 0 for f in first], np.uint8), "membership_values": tensor(sets), "nodes_missing_value_tracks_true": [k % 2 for k in range(len(rows))],
                            "leaf_targetids": [k % 2 for k in range(3 * trees)], "leaf_weights": tensor(rng.standard_normal(3 * trees)), "n_targets": 2, **{f"nodes_{k}": v for k, v in columns.items()}, **more}


MODELS.update({f"ensemble_{fold}": ensemble(20, aggregate_function=fold) for fold in range(4)})


def batches(s, folder, name):
    import onnxc
    op, attributes = MODELS[name]
    code, features = F64 if name.endswith("f64") else F32, WIDE if "wide" in name else FEATURES
    results = [helper.make_tensor_value_info("label", TEXT if "classlabels_strings" in attributes else I64, ["N"]), helper.make_tensor_value_info("y", F32, ["N", None])] if "Classifier" in op else [helper.make_tensor_value_info("y", F32, ["N", None])]
    node = lambda names, given: helper.make_node(op, ["x"], names, domain="ai.onnx.ml", **given)
    parts = [f"y{k}" for k in range(len(attributes))]
    nodes = [node([part], given) for part, given in zip(parts, attributes)] + [helper.make_node("Concat", parts, ["y"], axis=1)] if isinstance(attributes, list) else [node([r.name for r in results], attributes)]
    model = helper.make_model(helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", code, ["N", features])], results),
                              opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 5 if op == "TreeEnsemble" else 1)], ir_version=8)
    session = peer(model)
    for level in ("-O0", "-O3"):
        loaded = onnxc.load(str(s.compile(model, folder, level, name="m" + level)))
        for rows in (0, 1, 3, 4, 13, 70):
            rng = np.random.default_rng(rows)
            x = rng.standard_normal((rows, features)).astype(helper.tensor_dtype_to_np_dtype(code))
            if name.startswith("grown"):
                x = np.where(rng.random(x.shape) < 0.01, np.nan, np.round(4 * x) / 4).astype(x.dtype)
                x *= 1 + 1e-12 * (rng.random(x.shape) - 0.5) * (x.dtype == np.float64)  # no floats
            if name.startswith(("categories", "ensemble", "imputer")):
                x = np.where(rng.random(x.shape) < 0.1, np.nan, np.round(2 * x)).astype(x.dtype)
            for result, want, got in zip(results, session.run(None, {"x": x}), loaded.run({"x": x})):
                wrong = "" if result.name == "label" and level == "-O0" else compare(want, got, 2e-5, 2e-5)  # -O0 sums in doubles: ties fall otherwise
                if wrong:
                    return f"{level}, {rows} rows, {result.name}: {wrong}"
    return None


SUITE.cases([f"model_{n}" for n in MODELS], lambda s, folder, name: batches(s, folder, name[6:]))


@SUITE.check
def deep_tree(s, folder):
    """A tree that is a list of 200,000 tests: nothing that packs it goes down it by calls of itself."""
    import onnxc
    tests = 200_000
    leaves = range(tests, 2 * tests + 1)
    columns = {"treeids": [0] * (2 * tests + 1), "nodeids": list(range(2 * tests + 1)), "featureids": [0] * (2 * tests + 1), "modes": ["BRANCH_LEQ"] * tests + ["LEAF"] * (tests + 1),
               "values": [float(tests - n) for n in range(tests)] + [0.0] * (tests + 1), "truenodeids": [n + 1 for n in range(tests)] + [0] * (tests + 1),
               "falsenodeids": [tests + 1 + n for n in range(tests)] + [0] * (tests + 1)}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, target_treeids=[0] * len(leaves), target_nodeids=list(leaves), target_ids=[0] * len(leaves),
                            target_weights=[float(n) for n in leaves], **{f"nodes_{k}": v for k, v in columns.items()})
    model = helper.make_model(helper.make_graph([node], "g", [helper.make_tensor_value_info("x", F32, ["N", 1])], [helper.make_tensor_value_info("y", F32, ["N", 1])]),
                              opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    got = onnxc.load(str(s.compile(model, folder))).run({"x": np.array([[0], [tests + 1], [tests - 0.5]] * 3, np.float32)})[0]
    return None if got.ravel()[:3].tolist() == [tests, tests + 1, tests + 2] else f"{got.ravel()}"


# ---- what a caller takes at once -----------------------------------------------------------------------------------------------------------

def zipped(s, folder, rows, keys, **attributes):
    import onnxc
    model = helper.make_model(helper.make_graph([helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **attributes)], "g", [helper.make_tensor_value_info("x", 1, ["N", len(keys)])],
                                                [helper.make_value_info("y", helper.make_sequence_type_proto(map_type(I64 if isinstance(keys[0], int) else TEXT, F32)))]),
                              opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    x = np.random.default_rng(0).standard_normal((rows, len(keys))).astype(np.float32)
    got = onnxc.load(str(s.compile(model, folder, name=f"zip{rows}"))).run({"x": x})[0]
    return None if got == [dict(zip(keys, row)) for row in x.tolist()] else f"{got[:3]}"


@SUITE.check
def zip_map_rows(s, folder):
    return zipped(s, folder, 2000, [3, -5], classlabels_int64s=[3, -5]) or zipped(s, folder, 1, [3, -5], classlabels_int64s=[3, -5])


@SUITE.check
def zip_map_words(s, folder):
    return zipped(s, folder, 700, ["a", "", "long word"], classlabels_strings=["a", "", "long word"]) or zipped(s, folder, 0, ["a"], classlabels_strings=["a"])


@SUITE.check
def texts_of_results(s, folder):
    """Few texts and many, short, long and of any characters."""
    import onnxc
    graph = 'g (int64[N] x) => (string[N] y) { y = ai.onnx.ml.LabelEncoder <keys_int64s: ints = [KEYS], values_strings: strings = [WORDS], default_string: string = "-"> (x) }'
    words = [f"w{i}" if i % 3 else "" for i in range(38)] + ["été", "long " * 200]
    text = graph.replace("KEYS", ", ".join(map(str, range(40)))).replace("WORDS", ", ".join(f'"{w}"' for w in words))
    loaded = onnxc.load(str(s.compile(onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 15, "ai.onnx.ml" : 2]> {text}'), folder)))
    for x in (np.arange(600) % 5, np.arange(900) % 41, np.arange(2100) % 39, np.array([7]), np.zeros(0, np.int64)):
        if loaded.run({"x": x})[0].tolist() != [words[i] if i < 40 else "-" for i in x]:
            return f"{len(x)} texts"
    return None


@SUITE.check
def texts_of_arrays(s, folder):
    """Every form of an array of texts, few and many, zeros and bytes that are no UTF-8 among them."""
    import onnxc
    loaded = onnxc.load(str(s.compile(onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 15]> g (string[N] x) => (string[N] y) { y = Identity (x) }'), folder)))
    for words in (["a", "", "word"], ["год", "b"], ["a\0b", "\0", "\0\0c"], ["\udc80", "x"], ["long " * 200, "s"], [""]):
        for n in (3, 64, 1030):
            x = np.array([words[i % len(words)] for i in range(n)], object)
            coded = [w.encode("utf-8", "surrogateescape") for w in x]
            fixed = np.array(x.tolist())
            for form in (x, fixed, fixed[::-1], fixed.astype(fixed.dtype.newbyteorder()), np.array(coded), np.array(coded, object)):
                want = [w.decode("utf-8", "surrogateescape") if isinstance(w, bytes) else w for w in form.tolist()]
                if loaded.run({"x": form})[0].tolist() != want:
                    return f"{n} of {words} as {form.dtype}"
    return None


@SUITE.check
def vocabulary(s, folder):
    """Compile time that grows with the square of the strings would end this one at the suite's limit."""
    import onnxc
    words = [f"word{i}" for i in range(60000)]
    model = helper.make_model(helper.make_graph([helper.make_node("Gather", ["w", "x"], ["y"])], "g", [helper.make_tensor_value_info("x", I64, ["N"])],
                                                [helper.make_tensor_value_info("y", TEXT, ["N"])], [helper.make_tensor("w", TEXT, [len(words)], [w.encode() for w in words])]),
                              opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
    got = onnxc.load(str(s.compile(model, folder))).run({"x": np.array([59999, 0, 31234])})[0].tolist()
    return None if got == [words[59999], words[0], words[31234]] else f"{got}"


@SUITE.check
def stopwords_once(s, folder):
    """Stopwords that were folded for each word would take more memory than there is."""
    import onnxc
    stop = ", ".join(f'"STOP{i}"' for i in range(2000))
    text = f'<ir_version: 8, opset_import: ["" : 15]> g (string[N] x) => (string[M] y) {{ y = StringNormalizer <case_change_action = "UPPER", stopwords = [{stop}]> (x) }}'
    loaded = onnxc.load(str(s.compile(onnx.parser.parse_model(text), folder)))
    words = np.array([f"stop{i % 2001}" for i in range(40020)], object)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 29),) * 2)
    got = loaded.run({"x": words})[0].tolist()
    return None if got == ["STOP2000"] * 20 else f"{got[:3]} of {len(got)}"


def refused(loaded, feed):
    import onnxc
    try:
        return f"a result: {loaded.run(feed)}"
    except onnxc.Error:
        return None


@SUITE.check
def items_of_items(s, folder):
    """A sequence or an optional of tensors that is given sequences: what takes an item refuses it, whatever size it expects."""
    import onnxc
    number = np.ones(1, np.float32)
    for kind, op in (("seq(float[1])", "SequenceAt (s, zero)"), ("optional(float[1])", "OptionalGetElement (s)"), ("seq(float[N])", "SequenceAt (s, zero)")):
        text = f'<ir_version: 9, opset_import: ["" : 18]> g ({kind} s) => (float[] y) {{ zero = Constant <value = int64 {{0}}> ()  y = {op} }}'
        loaded = onnxc.load(str(s.compile(onnx.parser.parse_model(text), folder, name=re.sub(r"\W", "_", kind))))
        right, wrong = ([number], [[number]]) if kind.startswith("seq") else (number, [number])
        if loaded.run({"s": right})[0].tolist() != [1]:
            return f"{kind}: a wrong item"
        if why := refused(loaded, {"s": wrong}):
            return f"{kind}: {why}"
    return None


# ---- ai.onnx.ml ---------------------------------------------------------------------------------------------------------------------------

def classic(s, folder, op, operand, kind, want, result, **attributes):
    import onnxc
    model = helper.make_model(helper.make_graph([helper.make_node(op, ["x"], ["y"], domain="ai.onnx.ml", name="op", **attributes)], "g", [helper.make_value_info("x", kind)],
                                                [helper.make_value_info("y", result)]),
                              opset_imports=[helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    return compare(want, onnxc.load(str(s.compile(model, folder))).run({"x": operand})[0], 1e-6, 0)


def tensor_type(code, *shape):
    return helper.make_tensor_type_proto(code, shape)


def map_type(key, value):
    return helper.make_map_type_proto(key, helper.make_tensor_type_proto(value, []))


@SUITE.check
def cast_map_dense(s, folder):
    return classic(s, folder, "CastMap", {2: 0.5, 7: -1.5}, map_type(I64, F32), np.array([[0.5, -1.5]], np.float32), tensor_type(F32, 1, None))


@SUITE.check
def cast_map_sparse(s, folder):
    return classic(s, folder, "CastMap", {1: 0.5, 3: 2.5}, map_type(I64, F32), np.array([[0, 0.5, 0, 2.5, 0]], np.float32), tensor_type(F32, 1, None), map_form="SPARSE", max_map=5)


@SUITE.check
def cast_map_integers(s, folder):
    return classic(s, folder, "CastMap", {0: "12", 5: "-3"}, map_type(I64, TEXT), np.array([[12, -3]]), tensor_type(I64, 1, None), cast_to="TO_INT64")


@SUITE.check
def dict_vectorizer(s, folder):
    cases = [({"a": 4, "c": 9}, map_type(TEXT, I64), np.array([4, 0, 9]), I64, {"string_vocabulary": ["a", "b", "c"]}),
             ({"b": 0.5}, map_type(TEXT, F64), np.array([0, 0.5, 0]), F64, {"string_vocabulary": ["a", "b", "c"]}),
             ({5: 1.5, 9: 2.5}, map_type(I64, F32), np.array([2.5, 0, 1.5], np.float32), F32, {"int64_vocabulary": [9, 7, 5]}),
             ({7: "q"}, map_type(I64, TEXT), np.array(["", "q"], object), TEXT, {"int64_vocabulary": [5, 7]})]
    for i, (value, kind, want, code, attributes) in enumerate(cases):
        (folder / str(i)).mkdir()
        wrong = classic(s, folder / str(i), "DictVectorizer", value, kind, want.reshape(1, -1), tensor_type(code, 1, None), **attributes)
        if wrong:
            return f"case {i}: {wrong}"
    return None


@SUITE.check
def zip_map(s, folder):
    x = np.array([[0.25, 0.75], [1, 0]], np.float32)
    for i, labels in enumerate((["a", "bb"], [7, -1])):
        (folder / str(i)).mkdir()
        want = [dict(zip(labels, map(float, row))) for row in x]
        kind = helper.make_sequence_type_proto(map_type(I64 if i else TEXT, F32))
        wrong = classic(s, folder / str(i), "ZipMap", x, tensor_type(F32, 2, 2), want, kind, **{"classlabels_int64s" if i else "classlabels_strings": labels})
        if wrong:
            return f"case {i}: {wrong}"
    return None


@SUITE.check
def label_encoder_1(s, folder):
    text, places = np.array(["b", "none", "a"], object), np.array([1, 5, 0])
    (folder / "b").mkdir()
    return (classic(s, folder, "LabelEncoder", text, tensor_type(TEXT, 3), np.array([1, -9, 0]), tensor_type(I64, 3), classes_strings=["a", "b"], default_int64=-9)
            or classic(s, folder / "b", "LabelEncoder", places, tensor_type(I64, 3), np.array(["b", "?", "a"], object), tensor_type(TEXT, 3), classes_strings=["a", "b"], default_string="?"))


SUITE.cases(edges.CASES, edges.check)
SUITE.cases(refusals.CASES, refusals.check)

if __name__ == "__main__":
    SUITE.main()
