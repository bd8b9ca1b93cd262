"""Every operator with every type its schema allows: each one-operator case of ONNX's backend suite, with its inputs cast to the type, against ONNX's reference
evaluator; operators without such a case are written here. All variants of an operator are one model.

usage: every_type.py --onnxc BIN --loader DIR --suite DIR [--filter REGEX] [--jobs N]      ends with `types: N passed, N failed, N skipped`
Passed: variants that compile, run and agree. Skipped: variants that run, but the evaluator does not (or not for this type).
"""
import argparse
import collections
import multiprocessing
import os
import pickle
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import PATIENCE, REUSE, compare, forked, read_value

TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "output_datatype")
VALUE_ATTRIBUTES = {"Constant": "value", "ConstantOfShape": "value"}  # whose type is the result's
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Dropout"}
HALVES = {TensorProto.FLOAT16: 4e-3, TensorProto.BFLOAT16: 3e-2}

# What the schema's list of types promises and its text, or another operand, does not allow: (operator, type variable, types).
IMPOSSIBLE = [
    ("Bernoulli", "T1", ".*", "without dtype the result has the input's type"),
    ("BitCast", "T[12]", ".*", "only types of equal width"),
    ("Col2Im", "T", "STRING", "strings have no sum"),
    ("DequantizeLinear", "T2", "FLOAT8E8M0|.*FLOAT16", "the output's type is the scale's or output_dtype"),
    ("GridSample", "T1", "STRING", "strings have no mean"),
    ("Imputer", "T", "FLOAT|DOUBLE", "the case's values are integers"),
    ("LabelEncoder", "T1", ".*", "the type is that of the keys"),
    ("LinearAttention", "T", ".*FLOAT16", "the state has a type of its own"),
    ("OneHotEncoder", "T", "STRING", "the categories are integers"),
    ("OptionalGetElement|OptionalHasElement", "O", ".*", "the input is an optional"),
    ("RMSNormalization", "[TV]", ".*", "the scale's type is the result's"),
    ("ScatterND", "T", "STRING|COMPLEX.*", "the case takes the greater element"),
    ("SequenceInsert", "T", ".*", "the tensor has the sequence's type"),
    ("TfIdfVectorizer", "T", "STRING", "the type is that of the pool"),
    ("TreeEnsemble", "T", ".*", "the type is that of the splits"),
]
# Where the evaluator is not the standard's word.
UNSPECIFIED = [
    ("AffineGrid", "T1", ".*", "it computes f32"),
    ("Adam|Momentum", "T1", "DOUBLE", "it lets the learning rate's type win"),
    ("Cast|CastLike", "T2", "FLOAT8E8M0", "negative numbers have no power of two"),
    ("CenterCropPad", "T", "STRING", "it pads with the text 0"),
    ("DequantizeLinear", "T1", "FLOAT[46].*", "it leaves the zero point out"),
    ("Det", "T", "BFLOAT16", "it computes f64"),
    ("GridSample", "T1", "U?INT.*|BOOL", "it interpolates in the integers"),
    ("GridSample", "T2", "BFLOAT16", "it computes places in bf16"),
    ("LinearRegressor|SVMRegressor|SVMClassifier|Scaler", "T1?", "INT.*", "it computes in the integers"),
    ("LayerNormalization", "T", ".*", "it gives the statistics the input's type"),
    ("QLinearMatMul", "T2", "FLOAT8.*", "it drops the fractions of fp8"),
    ("ReduceSumSquare", "T", "U?INT32", "it widens the sum"),
    ("Resize", "T1", "COMPLEX.*", "it drops the imaginary parts"),
    ("SplitToSequence", "T", ".*FLOAT16", "it gives f32"),
]


def listed(table, op, variable, code):
    name = TensorProto.DataType.Name(code)
    return any(re.fullmatch(o, op) and re.fullmatch(v, variable) and re.fullmatch(t, name) for o, v, t, _ in table)


# Operators without a case of one node in the suite, in ONNX's text form.
WRITTEN = [
    ("GlobalLpPool", "float[1,2,3,4] x", "float[1,2,1,1] y", "y = GlobalLpPool <p = 2> (x)"),
    ("MaxRoiPool", "float[3,2,6,6] x, float[2,5] r", "float[2,2,2,2] y", "y = MaxRoiPool <pooled_shape = [2, 2]> (x, r)"),
    ("Multinomial", "float[2,5] x", "int32[2,4] y", "y = Multinomial <sample_size = 4, dtype = 6> (x)"),
    ("RandomNormal", "", "float[2,3] y", "y = RandomNormal <shape = [2, 3], dtype = 1> ()"),
    ("RandomUniform", "", "float[2,3] y", "y = RandomUniform <shape = [2, 3], dtype = 1> ()"),
    ("RandomNormalLike", "float[2,3] x", "float[2,3] y", "y = RandomNormalLike <dtype = 1> (x)"),
    ("RandomUniformLike", "float[2,3] x", "float[2,3] y", "y = RandomUniformLike <dtype = 1> (x)"),
    ("FeatureVectorizer", "float[3,2] x, float[3,1] z", "float[3,3] y", "y = ai.onnx.ml.FeatureVectorizer <inputdimensions = [2, 1]> (x, z)"),
    ("Imputer", "int64[3,2] x", "int64[3,2] y", "y = ai.onnx.ml.Imputer <imputed_value_int64s = [5, 7], replaced_value_int64 = 0> (x)"),
    ("LinearClassifier", "float[3,2] x", "int64[3] l, float[3,2] y",
     "l, y = ai.onnx.ml.LinearClassifier <classlabels_ints = [0, 1], coefficients = [0.5, -0.5, 1.0, 2.0], intercepts = [0.1, 0.2]> (x)"),
    ("LinearRegressor", "float[3,2] x", "float[3,1] y", "y = ai.onnx.ml.LinearRegressor <coefficients = [0.5, -0.5], intercepts = [0.1]> (x)"),
    ("Normalizer", "float[3,2] x", "float[3,2] y", 'y = ai.onnx.ml.Normalizer <norm = "L2"> (x)'),
    ("OneHotEncoder", "int64[3] x", "float[3,3] y", "y = ai.onnx.ml.OneHotEncoder <cats_int64s = [0, 1, 2]> (x)"),
    ("SVMRegressor", "float[3,2] x", "float[3,1] y", 'y = ai.onnx.ml.SVMRegressor <coefficients = [0.5, -1.0], kernel_params = [0.3, 0.0, 3.0], kernel_type = "RBF", n_supports = 2, '
     "rho = [0.2], support_vectors = [1.0, 2.0, 0.5, -1.0]> (x)"),
    ("SVMClassifier", "float[3,2] x", "int64[3] l, float[3,2] y", "l, y = ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1], coefficients = [0.5, -1.0], kernel_params = [0.3, 0.0, 3.0], "
     'kernel_type = "LINEAR", rho = [0.2], support_vectors = [1.0, 2.0, 0.5, -1.0], vectors_per_class = [1, 1]> (x)'),
    ("Scaler", "float[3,2] x", "float[3,2] y", "y = ai.onnx.ml.Scaler <offset = [0.5, 1.0], scale = [2.0, 0.5]> (x)"),
]


# ---- variants -----------------------------------------------------------------------------------------------------------------------------

class Template:
    """A case of one operator."""

    def __init__(self, name, model, feed):
        self.name, self.model, self.node, self.feed = name, model, model.graph.node[0], feed
        self.opsets = {o.domain: o.version for o in model.opset_import}
        self.schema = defs.get_schema(self.node.op_type, self.opsets[self.node.domain], self.node.domain)
        self.size = sum(1000 if isinstance(v, (list, dict, type(None))) else np.asarray(v).size for v in self.feed.values())

    def bound(self, names, formals, variable):
        """The names whose formal parameter has the type variable."""
        return [n for k, n in enumerate(names) if n and formals[min(k, len(formals) - 1)].type_str == variable]


Variant = collections.namedtuple("Variant", "template variable code inputs outputs attribute")


def numbers(info):
    """Small whole numbers, which every type has."""
    shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
    return (np.arange(np.prod(shape)) % 3).reshape(shape).astype(helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type))


def templates(suite):
    table = collections.defaultdict(list)
    for folder in sorted((suite / "node").iterdir()):
        model = onnx.load(folder / "model.onnx")
        node = model.graph.node[0] if len(model.graph.node) == 1 else None
        if node is not None and not any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute):
            feed = {i.name: read_value(folder / "test_data_set_0" / f"input_{k}.pb", i.type) for k, i in enumerate(model.graph.input)}
            table[node.domain, node.op_type].append(Template(folder.name, model, feed))
    for name, inputs, outputs, node in WRITTEN:
        model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : 23, "ai.onnx.ml" : 5]> g ({inputs}) => ({outputs}) {{ {node} }}')
        table[model.graph.node[0].domain, name].append(Template("written", model, {i.name: numbers(i) for i in model.graph.input}))
    return {op: sorted(cases, key=lambda t: (-t.schema.since_version, t.size)) for op, cases in sorted(table.items())}


def code_of(text):
    found = re.fullmatch(r"tensor\((\w+)\)", text)
    return TensorProto.DataType.Value(found[1].upper()) if found else None


def variants(op, cases):
    """For each type variable of the newest case that has it and each of its types, one variant."""
    done = set()
    for t in cases:
        attribute = VALUE_ATTRIBUTES.get(op) or next((a for a in TYPE_ATTRIBUTES if a in t.schema.attributes), None)
        for c in t.schema.type_constraints:
            inputs = t.bound(t.node.input, t.schema.inputs, c.type_param_str)
            outputs = t.bound(t.node.output, t.schema.outputs, c.type_param_str)
            if any(isinstance(t.feed[n], (list, dict, type(None))) for n in inputs) or not (inputs or (outputs and attribute)):
                continue
            for code in filter(None, map(code_of, c.allowed_type_strs)):
                if (c.type_param_str, code) not in done and not listed(IMPOSSIBLE, op, c.type_param_str, code):
                    yield Variant(t, c.type_param_str, code, inputs, outputs, None if inputs else attribute)
                done.add((c.type_param_str, code))


def retype(a, code):
    a, want = np.asarray(a), helper.tensor_dtype_to_np_dtype(code)
    if a.dtype == object:
        a = (np.arange(a.size) % 2).reshape(a.shape)
    wide = a.astype(np.float64) if a.dtype.kind != "c" else a.real.astype(np.float64)
    name = TensorProto.DataType.Name(code)
    if code == TensorProto.STRING:
        return wide.astype(str).astype(object)
    if code in (TensorProto.COMPLEX64, TensorProto.COMPLEX128):
        return (wide + 0.5j * wide).astype(want)
    if "INT" in name:
        bits, unsigned = int(re.search(r"\d+", name)[0]), name[0] == "U"
        whole = np.rint(wide * 3) if a.dtype.kind not in "iub" else wide
        low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return np.clip(np.abs(whole) if unsigned else whole, max(low, -(2**53)), min(high, 2**53)).astype(np.int64).astype(want)
    return wide > 0 if code == TensorProto.BOOL else wide if code == TensorProto.DOUBLE else wide.astype(np.float32).astype(want)


def rename(info, prefix, code):
    new = onnx.ValueInfoProto()
    new.CopyFrom(info)
    new.name = prefix + info.name
    if code and new.type.WhichOneof("value") == "tensor_type":
        new.type.tensor_type.elem_type = code
    return new


def build(chosen):
    """One model of all variants; the names of variant i begin with v<i>_. Also its inputs' values."""
    nodes, inputs, outputs, feed = [], [], [], {}
    for i, v in enumerate(chosen):
        node, prefix = onnx.NodeProto(), f"v{i}_"
        node.CopyFrom(v.template.node)
        if v.attribute:
            kept = [a for a in node.attribute if a.name != v.attribute]
            value = v.code
            if op_value := next((a.t for a in node.attribute if a.name in VALUE_ATTRIBUTES.values()), None):
                value = numpy_helper.from_array(retype(numpy_helper.to_array(op_value), v.code))
            del node.attribute[:]
            node.attribute.extend([*kept, helper.make_attribute(v.attribute, value)])
        node.input[:] = [n and prefix + n for n in node.input]
        node.output[:] = [n and prefix + n for n in node.output]
        node.name = f"{v.variable}:{TensorProto.DataType.Name(v.code)}"
        nodes.append(node)
        for info in v.template.model.graph.input:
            inputs.append(rename(info, prefix, v.code if info.name in v.inputs else 0))
            value = v.template.feed[info.name]
            feed[prefix + info.name] = retype(value, v.code) if info.name in v.inputs else value
        outputs += [rename(info, prefix, v.code if info.name in v.outputs else 0) for info in v.template.model.graph.output]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(d, n) for d, n in chosen[0].template.opsets.items()], ir_version=14), feed


# ---- one operator -------------------------------------------------------------------------------------------------------------------------

def compile_and_run(chosen, folder, tag):
    """The outputs of each variant, or what went wrong."""
    model, feed = build(chosen)
    path, library, results = folder / f"{tag}.onnx", folder / f"{tag}.so", folder / f"{tag}.pickle"
    onnx.save(model, path)
    done = subprocess.run([ARGS.onnxc, path, "-o", library, "--cpu", "x86-64-v3", *REUSE], capture_output=True, text=True, timeout=300 * PATIENCE)
    if done.returncode:
        return f"compile: exit {done.returncode}: {done.stderr.strip()[:200]}"

    def run():
        import onnxc
        results.write_bytes(pickle.dumps(onnxc.load(str(library), num_threads=1).run(feed)))
        return "pass"

    why = forked(run, int(120 * PATIENCE))
    if why != "pass":
        return why
    flat = iter(pickle.loads(results.read_bytes()))
    return [[next(flat) for _ in v.template.model.graph.output] for v in chosen]


def judge(op, v, got):
    """None: right; a text: what is wrong; False: the evaluator cannot say."""
    if op in RANDOM or listed(UNSPECIFIED, op, v.variable, v.code):
        return False
    model, feed = build([v])
    try:
        with np.errstate(all="ignore"):
            want = ReferenceEvaluator(model).run(None, feed)
    except Exception:
        return False
    for k, (w, g) in enumerate(zip(want, got)):
        if v.template.node.domain == "ai.onnx.ml" and v.outputs == []:  # it gives scores the input's type, not the schema's
            w = np.asarray(w).astype(helper.tensor_dtype_to_np_dtype(model.graph.output[k].type.tensor_type.elem_type))
        narrow = not isinstance(w, list) and re.match(r"float[4-8]", np.asarray(w).dtype.name)
        step = 0.14 if narrow else HALVES.get(v.code, 1e-4)
        with np.errstate(all="ignore"):
            why = compare(w, g, step, step)
        if why:
            return f"output {k}: {why}"
    return None


def check_operator(key):
    op, cases = key[1], CASES[key]
    groups, counts, wrong = collections.defaultdict(list), collections.Counter(), []
    for v in variants(op, cases):
        groups[tuple(sorted(v.template.opsets.items()))].append(v)
    for g, chosen in enumerate(groups.values()):
        tag = f"{op}-{g}"
        got = compile_and_run(chosen, FOLDER, tag)
        if isinstance(got, str):  # one by one
            got = [(one[0] if isinstance(one, list) else one) for one in (compile_and_run([v], FOLDER, f"{tag}-{i}") for i, v in enumerate(chosen))]
        for v, outputs in zip(chosen, got):
            why = outputs if isinstance(outputs, str) else judge(op, v, outputs)
            counts["skipped" if why is False else "failed" if why else "passed"] += 1
            if why:
                wrong.append(f"{op} {v.variable} {TensorProto.DataType.Name(v.code)} ({v.template.name}): {why}")
    return counts, wrong


def main():
    global ARGS, CASES, FOLDER
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", type=Path, required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--suite", type=Path, required=True)
    p.add_argument("--filter", default="")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    ARGS = p.parse_args()
    ARGS.onnxc = ARGS.onnxc.resolve()
    sys.path.insert(0, ARGS.loader)
    warnings.filterwarnings("ignore")
    CASES = {op: cases for op, cases in templates(ARGS.suite).items() if re.search(ARGS.filter, op[1])}
    total = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="onnxc-types-") as folder:
        FOLDER = Path(folder)
        with multiprocessing.get_context("fork").Pool(ARGS.jobs) as pool:
            for counts, wrong in pool.imap_unordered(check_operator, list(CASES)):
                total += counts
                for text in wrong:
                    print(text, flush=True)
    print(f"types: {total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(total["failed"] != 0)


if __name__ == "__main__":
    main()
