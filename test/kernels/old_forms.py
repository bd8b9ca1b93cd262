"""Operators in the forms of old opsets: attributes that became inputs, other names, broadcasting by axis, batched scans. Each form is compiled at each opset that
has it and compared with ONNX Runtime or the reference evaluator at that opset or, where the form is given a second time, with the same said in opset 22.

usage: old_forms.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `forms: N passed, N failed, N skipped`
"""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx import helper
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import PATIENCE, REUSE, compare, peer

MODERN = 22
FORMS = []


def form(opsets, body, modern=None, output="float[] y", **operands):
    """`body`, `output` in ONNX's text form; `modern`: the same at opset 22; `operands`: arrays, or (type, *shape) or a shape of random numbers in [0.1, 1.1)."""
    FORMS.append((opsets, body, modern, output, operands))


form([1, 5], "y = BatchNormalization <consumed_inputs = [0,0,0,1,1], is_test = 1, epsilon = 0.001> (x, s, b, m, v)",
     "y = BatchNormalization <epsilon = 0.001> (x, s, b, m, v)", x=(2, 3, 4), s=(3,), b=(3,), m=(3,), v=(3,))
form([6], "y = BatchNormalization <is_test = 1, epsilon = 0.001> (x, s, b, m, v)", "y = BatchNormalization <epsilon = 0.001> (x, s, b, m, v)", x=(2, 3, 4), s=(3,), b=(3,), m=(3,), v=(3,))
form([7], "y = BatchNormalization <epsilon = 0.001, spatial = 1> (x, s, b, m, v)", x=(2, 3, 4), s=(3,), b=(3,), m=(3,), v=(3,))
# More results than Y: training, whose statistics are those of the batch.
NORM = dict(x=(2, 3, 4), s=(3,), b=(3,), m=(3,), v=(3,))
SAVED = "k = ReduceMean <keepdims = 0> (x, a)  K = ReduceMean (x, a)  c = Sub (x, K)  d = Mul (c, c)  l = ReduceMean <keepdims = 0> (d, a)"
for opset, extra in ((1, "consumed_inputs = [0,0,0,1,1], "), (5, "consumed_inputs = [0,0,0,1,1], "), (6, "is_test = 0, "), (7, "spatial = 1, "), (9, "")):
    form([opset], f"y, n, w, k, l = BatchNormalization <{extra}epsilon = 0.001, momentum = 0.7> (x, s, b, m, v)",
         f"y, n, w = BatchNormalization <epsilon = 0.001, momentum = 0.7, training_mode = 1> (x, s, b, m, v)  {SAVED}", "float[] y, float[] n, float[] w, float[] k, float[] l",
         a=np.array([0, 2]), **NORM)
form([7, 8], "y, n, w, k, l = BatchNormalization <spatial = 0> (x, s, b, m, v)",
     f"""X = Flatten (x)  S = Flatten <axis = 0> (s)  B = Flatten <axis = 0> (b)  S1 = Reshape (S, f)  B1 = Reshape (B, f)  M = Reshape (m, f)  V = Reshape (v, f)
     Y, N, W = BatchNormalization <training_mode = 1> (X, S1, B1, M, V)  q = Shape (x)  p = Shape (m)  y = Reshape (Y, q)  n = Reshape (N, p)  w = Reshape (W, p)  {SAVED}""",
     "float[] y, float[] n, float[] w, float[] k, float[] l", f=np.array([-1]), a=np.array([0]), x=(5, 3, 4), s=(3, 4), b=(3, 4), m=(3, 4), v=(3, 4))
form([7, 8], "y = BatchNormalization <spatial = 0> (x, s, b, m, v)", "c = Sub (x, m)  e = Constant <value = float {1e-5}> ()  t = Add (v, e)  r = Sqrt (t)  q = Div (c, r)  p = Mul (q, s)  y = Add (p, b)",
     x=(5, 3, 4), s=(3, 4), b=(3, 4), m=(3, 4), v=(3, 4))
form([1], 'y = Cast <to = "INT32"> (x)', "y = Cast <to = 6> (x)", "int32[] y", x=(2, 3, 4))
form([1, 5], "y = Clip <max = 0.5, min = 0.2, consumed_inputs = [0]> (x)", "y = Clip (x, l, h)", l=np.array(0.2, np.float32), h=np.array(0.5, np.float32), x=(2, 3, 4))
form([6, 10], "y = Clip <max = 0.5, min = 0.2> (x)", x=(2, 3, 4))
form([1, 10], "y = DepthToSpace <blocksize = 2> (x)", "y = DepthToSpace <blocksize = 2> (x)", x=(1, 8, 2, 3))
for op in ("Add", "Sub", "Mul", "Div", "Pow"):
    form([1, 6], f"y = {op} <broadcast = 1, axis = 1> (x, z)", f"w = Unsqueeze (z, a) y = {op} (x, w)", a=np.array([1]), x=(2, 3, 4), z=(3,))
    form([1, 6], f"y = {op} <broadcast = 1> (x, z)", f"y = {op} (x, z)", x=(2, 3, 4), z=(3, 4))
for op in ("Greater", "Less", "Equal"):
    kind = "int32" if op == "Equal" else "float"
    form([1, 6], f"y = {op} <broadcast = 1, axis = 1> (x, z)", f"w = Unsqueeze (z, a) y = {op} (x, w)", "bool[] y", a=np.array([1]), x=(kind, *(2, 3, 4)), z=(kind, *(3,)))
form([1, 6], "y = And <broadcast = 1, axis = 0> (x, z)", "w = Unsqueeze (z, a) y = And (x, w)", "bool[] y", a=np.array([1]), x=("bool", *(2, 3)), z=("bool", *(2,)))
form([1], "y = Gemm <broadcast = 1, alpha = 0.5> (x, z, c)", "y = Gemm <alpha = 0.5> (x, z, c)", x=(2, 3), z=(3, 4), c=(4,))
form([1, 6], "y = PRelu (x, s)", "w = Unsqueeze (s, a) y = PRelu (x, w)", a=np.array([1, 2]), x=(2, 3, 4, 5), s=(3,))
form([2, 11, 18, 22], "y = GlobalLpPool (x)", "y = ReduceL2 (x, a)", a=np.array([2, 3]), x=(2, 3, 4, 5))
form([1], "y = GlobalLpPool <p = 1.0> (x)", "y = ReduceL1 (x, a)", a=np.array([2, 3]), x=(2, 3, 4, 5))
form([1], "y = LpPool <p = 2.0, kernel_shape = [2,2], strides = [2,1]> (x)", "y = LpPool <p = 2, kernel_shape = [2,2], strides = [2,1]> (x)", x=(2, 3, 6, 5))
form([1, 21, 22], "y = MaxRoiPool <pooled_shape = [2,2], spatial_scale = 0.5> (x, r)", "a = Slice (x, i, j, k) y = MaxPool <kernel_shape = [2,2], strides = [2,2]> (a)",
     i=np.array([0, 0]), j=np.array([4, 4]), k=np.array([2, 3]), r=np.array([[0, 0, 0, 6, 6]], np.float32), x=(1, 2, 8, 8))
form([9, 13, 22], "y = MeanVarianceNormalization <axes = [0,2,3]> (x)", x=(2, 3, 4, 5))
form([1], "y = Pad <paddings = [0,1,0,2,0,3], value = 1.5> (x)", "y = Pad (x, p, c)", p=np.array([0, 1, 0, 2, 0, 3]), c=np.array(1.5, np.float32), x=(2, 3, 4))
form([2, 10], "y = Pad <pads = [0,1,0,2,0,3], value = 1.5> (x)", x=(2, 3, 4))
form([2, 10], 'y = Pad <pads = [0,1,2,1,0,3], mode = "reflect"> (x)', x=(2, 3, 4))
for _old, _new in (("NOTSET", "SAME_UPPER"), ("SAME_LOWER", "SAME_UPPER"), ("VALID", "SAME_UPPER"), ("SAME_UPPER", "SAME_LOWER")):  # the text of opset 1 puts the odd pad at the other end
    form([1], f'y = ConvTranspose <auto_pad = "{_old}", strides = [2,2], output_shape = [6,8]> (x, w)',
         f'y = ConvTranspose <auto_pad = "{_new}", strides = [2,2], output_shape = [6,8]> (x, w)', x=(1, 2, 3, 4), w=(2, 3, 3, 3))
for op in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
    last = 12 if op == "Sum" else 17
    form([1, 11, 12, last], f"y = Reduce{op} <axes = [0,2], keepdims = 0> (x)", f"y = Reduce{op} <keepdims = 0> (x, a)", a=np.array([0, 2]), x=(2, 3, 4))
    form([1, last], f"y = Reduce{op} (x)", f"y = Reduce{op} (x)", x=(2, 3, 4))
form([1], "y = Reshape <shape = [2,-1,2], consumed_inputs = [0]> (x)", "y = Reshape (x, s)", s=np.array([2, -1, 2]), x=(2, 3, 4))
form([10], 'y = Resize <mode = "linear"> (x, s)', s=np.array([1, 1, 2, 1.5], np.float32), x=(1, 2, 3, 4))
form([10], "y = Resize (x, s)", s=np.array([1, 1, 2, 0.5], np.float32), x=(1, 2, 3, 4))
form([10], "s = Identity (r) y = Resize (x, s)", r=np.array([1, 1, 2.5, 0.6], np.float32), x=(1, 2, 5, 4))
form([11], 'y = Resize <mode = "cubic", coordinate_transformation_mode = "align_corners"> (x, r, s)', s=np.array([1, 1, 2, 2], np.float32), x=(1, 2, 3, 4), r=(8,))
form([11], 'y = Resize <nearest_mode = "ceil"> (x, r, s, k)', k=np.array([1, 2, 5, 7]), x=(1, 2, 3, 4), r=(0,), s=(0,))
form([10], "y = RoiAlign <output_height = 2, output_width = 3, sampling_ratio = 2> (x, r, i)", r=np.array([[0, 0, 7, 7], [1, 2, 5, 6]], np.float32),
     i=np.array([0, 0]), x=(1, 2, 8, 8))
form([1, 9], "y = Slice <axes = [1], starts = [-4], ends = [100]> (x)", x=(5, 6))
form([1, 9], "y = Slice <starts = [1,2], ends = [3,-1]> (x)", x=(5, 6))
form([1, 12], "y, z = Split <axis = 1, split = [2,4]> (x)", "y, z = Split <axis = 1> (x, s)", s=np.array([2, 4]), x=(5, 6))
form([1, 11, 12], "y = Squeeze <axes = [0,2]> (x)", x=(1, 3, 1, 2))
form([11, 12], "y = Squeeze <axes = [-2]> (x)", x=(1, 3, 1, 2))
form([1, 12], "y = Squeeze (x)", x=(1, 3, 1, 2))
form([1, 11, 12], "y = Unsqueeze <axes = [0,3]> (x)", x=(3, 2))
form([11, 12], "y = Unsqueeze <axes = [-1,0]> (x)", x=(3, 2))
form([1], "t = Constant <value = float {3.0}> () a = Constant <value = float {1.0}> () y = Tile (x, t, a)", "y = Tile (x, k)", k=np.array([1, 3]), x=(3, 2))
form([1, 9], "y, z = TopK <k = 2, axis = 1> (x)", "y, z = TopK <axis = 1> (x, n)", n=np.array([2]), x=(3, 6))
form([1], 'y = Upsample <height_scale = 2.0, width_scale = 3.0, mode = "nearest"> (x)',
     'y = Resize <mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"> (x, "", s)', s=np.array([1, 1, 2, 3], np.float32), x=(1, 1, 2, 3))
form([7, 8], 'y = Upsample <scales = [1.0,1.0,2.0,3.0], mode = "nearest"> (x)', x=(1, 1, 2, 3))
form([7, 8], 'y = Upsample <scales = [1.0,1.0,2.0,2.0], mode = "linear"> (x)', x=(1, 1, 2, 3))
form([1, 12], "y = Softmax <axis = 1> (x)", "f = Flatten <axis = 1> (x) g = Softmax <axis = 1> (f) s = Shape (x) y = Reshape (g, s)", x=(2, 3, 4))
form([1, 12], "y = LogSoftmax (x)", "f = Flatten <axis = 1> (x) g = LogSoftmax <axis = 1> (f) s = Shape (x) y = Reshape (g, s)", x=(2, 3, 4))
form([1, 12], "y = Hardmax <axis = 2> (x)", "f = Flatten <axis = 2> (x) g = Hardmax <axis = 1> (f) s = Shape (x) y = Reshape (g, s)", x=(2, 3, 4))
form([1, 6, 9], "y, z = Dropout <ratio = 0.5> (x)", "y = Identity (x)", x=(2, 3))
form([1, 5], "y = AveragePool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)", "y = AveragePool <kernel_shape = [3,3], pads = [1,1,1,1]> (x)", x=(1, 2, 4, 4))
form([1, 10, 11, 13, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 28], "y = If (c) <then_branch = a () => (float[3] p) { p = Neg (x) }, else_branch = b () => (float[3] q) { q = Abs (x) }>",
     c=np.array(True), x=(3,))
form([1, 10, 11, 12, 13, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 28], "y, z = Loop (n, c, x) <body = b (int64 i, bool d, float[3] s) => (bool e, float[3] t, float[3] u) { e = Identity (d) t = Add (s, s) u = Neg (s) }>",
     output="float[3] y", n=np.array(4), c=np.array(True), x=(3,))
form([9, 10, 11, 15, 16, 18, 19, 20, 21, 22, 23, 24, 25, 28], "y, z = Scan (x, w) <num_scan_inputs = 1, body = b (float[3] s, float[3] v) => (float[3] t, float[3] u) { t = Add (s, v) u = Neg (t) }>", x=(3,), w=(5, 3))
form([8], 'y, z = Scan ("", x, w) <num_scan_inputs = 1, body = b (float[3] s, float[3] v) => (float[3] t, float[3] u) { t = Add (s, v) u = Neg (t) }>',
     "c = Transpose <perm = [1,0,2]> (w) y, z = Scan (x, c) <num_scan_inputs = 1, body = b (float[2,3] s, float[2,3] v) => (float[2,3] t, float[2,3] u) { t = Add (s, v) u = Neg (t) }>", x=(2, 3), w=(2, 5, 3))
# Of the rows of w 4 and 2 are read; the results behind them are zero.
form([8], "y, z = Scan (n, x, w) <num_scan_inputs = 1, body = b (float[3] s, float[3] v) => (float[3] t, float[3] u) { t = Add (s, v) u = Neg (t) }>",
     "m = Mul (w, k)  y1 = ReduceSum <keepdims = 0> (m, o)  y = Add (x, y1)  c = CumSum (m, o)  e = Unsqueeze (x, o)  d = Add (c, e)  g = Neg (d)  z = Mul (g, k)",
     "float[] y, float[] z", n=np.array([4, 2]), o=np.array([1]), k=np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.float32)[..., None], x=(2, 3), w=(2, 5, 3))
form([8], "y, z = Scan (n, x, w) <num_scan_inputs = 1, directions = [1], body = b (float[3] s, float[3] v) => (float[3] t, float[3] u) { t = Add (s, v) u = Neg (v) }>",
     "r = ReverseSequence <batch_axis = 0, time_axis = 1> (w, n)  f = Neg (r)  z = Mul (f, k)", "float[] z",
     n=np.array([4, 2]), k=np.array([[1, 1, 1, 1, 0], [1, 1, 0, 0, 0]], np.float32)[..., None], x=(2, 3), w=(2, 5, 3))
form([11, 22, 28], "s = SequenceConstruct (x, x) y = ConcatFromSequence <axis = 0> (s) z = SequenceAt (s, i) w = SequenceErase (s, i) l = SequenceLength (w)", i=np.array(1), x=(2, 3))
form([11, 22, 28], "e = SequenceEmpty () s = SequenceInsert (e, x) y = ConcatFromSequence <axis = 1, new_axis = 1> (s)", x=(2, 3))
form([17, 22, 28], "s = SequenceConstruct (x, x) m = SequenceMap (s) <body = b (float[2,3] v) => (float[2,3] u) { u = Neg (v) }> y = ConcatFromSequence <axis = 0> (m)", x=(2, 3))
form([15, 18, 28], "o = Optional (x) h = OptionalHasElement (o) y = OptionalGetElement (o)", "y = Identity (x)", x=(2, 3))
form([23, 24], "y, z, w = Attention (x, k, v)", "z = Identity (k)", "float[] z", x=(2, 0, 4, 8), k=(2, 3, 2, 8), v=(2, 3, 2, 8))  # no query heads: keys are kept all the same
form([10, 22], "y = NonMaxSuppression (b, s, n, i, t)", output="int64[] y",
     n=np.array(3), i=np.array(0.5, np.float32), t=np.array(0.1, np.float32), b=(1, 6, 4), s=(1, 2, 6))


# ---- models -------------------------------------------------------------------------------------------------------------------------------

def value(operand, seed):
    if isinstance(operand, np.ndarray):
        return operand
    kind, shape = (operand[0], operand[1:]) if operand and isinstance(operand[0], str) else ("float", operand)
    x = np.random.default_rng(seed).uniform(0.1, 1.1, shape).astype(np.float32)
    return x if kind == "float" else (x * 3).astype(np.int32) if kind == "int32" else x > 0.6


def model_of(body, output, opset, operands):
    """The model and its inputs' values: those operands that the body names."""
    feed = {k: value(v, seed) for seed, (k, v) in enumerate(operands.items()) if re.search(rf"\b{k}\b(?! =)", re.sub(r'"\w*"', "", body))}
    names = {np.dtype(np.float32): "float", np.dtype(np.int64): "int64", np.dtype(np.int32): "int32", np.dtype(bool): "bool"}
    inputs = ", ".join(f"{names[v.dtype]}{str(list(v.shape)) if v.ndim else ''} {k}" for k, v in feed.items())
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]> g ({inputs}) => ({output}) {{ {body} }}')
    return model, feed


def expected(model, feed, modern, output, operands):
    """Of ONNX Runtime, else of the reference evaluator."""
    if modern:
        model, feed = model_of(modern, output, MODERN, operands)
    try:
        return peer(model, optimized=False).run(None, feed)
    except Exception:
        return ReferenceEvaluator(model).run(None, feed)


def check(opset, body, modern, output, operands, folder, args):
    import onnxc
    model, feed = model_of(body, output, opset, operands)
    path, library = folder / "m.onnx", folder / f"m{len(list(folder.iterdir()))}.so"
    path.write_bytes(model.SerializeToString())
    done = subprocess.run([args.onnxc, path, "-o", library, "--cpu", "x86-64-v3", *REUSE], capture_output=True, text=True, timeout=300 * PATIENCE)
    if done.returncode:
        return f"compile: exit {done.returncode}: {done.stderr.strip()[:300]}"
    got = onnxc.load(str(library), num_threads=1).run(feed)
    return compare(expected(model, feed, modern, output, operands), got, 1e-4, 1e-5)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", type=Path, required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--filter", default="")
    args = p.parse_args()
    args.onnxc = args.onnxc.resolve()
    sys.path.insert(0, args.loader)
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix="onnxc-forms-") as folder:
        for opsets, body, *rest in FORMS:
            for opset in opsets if re.search(args.filter, body) else []:
                try:
                    why = check(opset, body, *rest, Path(folder), args)
                except Exception as e:  # a broken check is a failed check
                    why = f"{type(e).__name__}: {str(e)[:300]}"
                passed, failed = passed + (why is None), failed + (why is not None)
                if why:
                    print(f"opset {opset}: {body}: {why}", flush=True)
    print(f"forms: {passed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
