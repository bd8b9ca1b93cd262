"""Sequences, optionals, maps and control flow with every element type of their schemas: values go through containers, branches and loop state and come back unchanged.
Also the operators of ai.onnx.ml on maps, and LabelEncoder's first version.

usage: containers.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `containers: N passed, N failed, N skipped`
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, defs, helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite
from values import compare

SUITE = Suite("containers", __doc__)

# Loop state that changes, values captured from outside, scan outputs, an optional state.
FLOW = """
  chosen = If (c) <then_branch = t () => (T[2,3] a) { a = Identity (x) }, else_branch = e () => (T[2,3] b) { b = Identity (w) }>
  last, all = Loop (n, "", x) <body = l (int64 i, bool k, T[2,3] s) => (bool k1, T[2,3] s1, T[2,3] o) { k1 = Identity (k) s1 = Identity (w) o = Identity (s) }>
  final, rows = Scan (x, pair) <num_scan_inputs = 1, body = q (T[2,3] s, T[2,3] v) => (T[2,3] s1, T[2,3] o) { s1 = Identity (v) o = Identity (s) }>
"""
FLOW_RESULTS = "T[2,3] chosen, T[2,3] last, T[N,2,3] all, T[2,3] final, T[M,2,3] rows"
FLOW_WANT = lambda x, w: [x, w, np.stack([x, w, w]), w, np.stack([x, x])]

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
    want = lambda x, w: [w, np.array(2), np.concatenate([x, w]), np.stack([x, w]), x[1:], [x, w, x], [w, w, w], [x, w], [x, w]]
    results = "T[2,3] at, int64 length, T[4,3] joined, T[2,2,3] stacked, T[1,3] part, seq(T[2,3]) picked, seq(T[2,3]) grown, seq(T[2,3]) same, seq(T[2,3]) unboxed"
    return run(s, folder, name[9:], SEQUENCE, results, ("x", "w", "c", "n"), want)


SUITE.cases([f"flow_{t}" for t in types_of("Scan")], flow)
SUITE.cases([f"optional_{t}" for t in types_of("If")], optional)
SUITE.cases([f"sequence_{t}" for t in types_of("SequenceConstruct")], sequence)


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


F32, F64, I64, TEXT = TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.INT64, TensorProto.STRING


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


if __name__ == "__main__":
    SUITE.main()
