"""Gradient of ai.onnx.preview.training against central differences in double precision, rule by rule and through a chain.

usage: gradients.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `gradients: N passed, N failed, N skipped`
"""
import sys
from pathlib import Path

import numpy as np
import onnx
import onnx.parser
from onnx.reference import ReferenceEvaluator

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite

RULES = {}
STEP = 1e-5


def rule(name, body, *shapes):
    """`body`: y from a, b, c of the shapes, in ONNX's text form."""
    RULES[name] = body, dict(zip("abc", shapes))


for op in ("Identity", "Neg", "Exp", "Log", "Sqrt", "Reciprocal", "Sin", "Cos", "Tanh", "Sigmoid", "Abs", "Relu"):
    rule(op, f"y = {op} (a)", (2, 3))
for op in ("Add", "Sub", "Mul", "Div", "MatMul"):
    rule(op, f"y = {op} (a, b)", (3, 3), (3, 3))
for op in ("Add", "Sub", "Mul", "Div"):
    rule(f"{op}_broadcast", f"y = {op} (a, b)", (2, 1, 4), (3, 1))
rule("MatMul_batch", "y = MatMul (a, b)", (2, 3, 4), (2, 4, 5))
rule("MatMul_weights", "y = MatMul (a, b)", (2, 3, 4), (4, 5))
rule("MatMul_broadcast", "y = MatMul (a, b)", (2, 1, 3, 1), (5, 1, 2))
rule("Pow", "k = Constant <value = double {3.0}> () y = Pow (a, k)", (2, 3))
rule("Reshape", "s = Constant <value_ints = [3,4]> () r = Reshape (a, s) y = Mul (r, b)", (2, 6), (3, 4))
rule("Flatten", "r = Flatten <axis = 2> (a) y = Mul (r, b)", (2, 3, 4), (6, 4))
rule("Squeeze", "s = Constant <value_ints = [1]> () r = Squeeze (a, s) y = Mul (r, b)", (2, 1, 4), (2, 4))
rule("Unsqueeze", "s = Constant <value_ints = [0]> () r = Unsqueeze (a, s) y = Mul (r, b)", (2, 4), (3, 2, 1))
rule("Transpose", "r = Transpose <perm = [2,0,1]> (a) y = Mul (r, b)", (2, 3, 4), (4, 2, 3))
rule("Transpose_plain", "r = Transpose (a) y = Mul (r, b)", (2, 3), (3, 2))
for op in ("ReduceSum", "ReduceMean"):
    rule(f"{op}_axes", f"s = Constant <value_ints = [0,-1]> () r = {op} <keepdims = 0> (a, s) y = Mul (r, b)", (2, 3, 4), (3,))
    rule(f"{op}_kept", f"s = Constant <value_ints = [1]> () r = {op} (a, s) y = Mul (r, b)", (2, 3, 4), (2, 1, 4))
    rule(f"{op}_all", f"r = {op} <keepdims = 0> (a) y = Mul (r, b)", (2, 3), (2,))
for alpha in (None, 0.3):
    rule(f"LeakyRelu_{alpha}", f"s = Constant <value = double {{1.0}}> () t = Sub (a, s) r = LeakyRelu {f'<alpha = {alpha}> ' if alpha else ''}(t) y = Mul (r, b)", (2, 3), (2, 3))
for op in ("Softmax", "LogSoftmax"):
    for axis in (-1, 1):
        rule(f"{op}_{axis}", f"r = {op} <axis = {axis}> (a) y = Mul (r, b)", (2, 3, 4), (2, 3, 4))
for op in ("Max", "Min", "Sum", "Mean"):
    rule(op, f"r = {op} (a, b, c) y = Mul (r, a)", (2, 3, 4), (3, 1), (1,))
rule("Max_equal", "t = Max (a, a) y = Mul (t, t)", (2, 3))
rule("Where", "d = Greater (a, b) y = Where (d, a, b)", (2, 3), (3,))
rule("Clip", "l = Constant <value = double {0.6}> () h = Constant <value = double {1.1}> () r = Clip (a, l, h) y = Mul (r, b)", (3, 4), (3, 4))
rule("Clip_high", 'h = Constant <value = double {0.9}> () r = Clip (a, "", h) y = Mul (r, r)', (3, 4))
rule("Clip_bounds", "l = Squeeze (b) h = Squeeze (c) r = Clip (a, l, h) y = Mul (r, a)", (3, 4), (1,), (1,))
rule("Pow_exponent", "y = Pow (a, b)", (2, 3), (3,))
for axis in (-1, 0):
    rule(f"Concat_{axis}", f"r = Concat <axis = {axis}> (a, b, a) y = Mul (r, r)", (2, 3), (2, 3))
rule("Slice", "i = Constant <value_ints = [3,0]> () j = Constant <value_ints = [-9,2]> () k = Constant <value_ints = [1,0]> () l = Constant <value_ints = [-2,1]> () r = Slice (a, i, j, k, l) y = Mul (r, r)", (3, 4))
rule("Gather", "i = Constant <value = int64[2,2] {0, -1, 0, 1}> () r = Gather <axis = 1> (a, i) y = Mul (r, b)", (2, 3), (2, 2, 2))
rule("GatherElements", "i = Constant <value = int64[2,2] {0, -1, 0, 1}> () r = GatherElements <axis = 1> (a, i) y = Mul (r, b)", (2, 3), (2, 2))
rule("Split", "r, s = Split <axis = 1, num_outputs = 2> (a) y = Mul (r, r)", (2, 4))
rule("Split_both", "r, s = Split <axis = 1, num_outputs = 2> (a) y = Mul (r, s)", (2, 4))
rule("Expand", "s = Constant <value_ints = [2,2,3]> () r = Expand (a, s) y = Mul (r, b)", (2, 1), (2, 2, 3))
rule("DepthToSpace", "r = DepthToSpace <blocksize = 2> (a) y = Mul (r, b)", (1, 4, 2, 1), (1, 1, 4, 2))
for ta in (0, 1):
    for tb in (0, 1):
        rule(f"Gemm_{ta}{tb}", f"y = Gemm <transA = {ta}, transB = {tb}, alpha = 0.5, beta = 2.0> (a, b, c)", (2, 3)[:: 1 - 2 * ta], (3, 4)[:: 1 - 2 * tb], (4,))
rule("Gemm_plain", "r = Gemm (a, b) y = Mul (r, r)", (2, 3), (3, 4))
for name, attributes, *shapes in (("plain", "group = 1", (2, 3, 5, 4), (2, 3, 3, 2), (2,)), ("strides", "strides = [2,3], pads = [1,0,2,1]", (1, 2, 6, 7), (3, 2, 3, 2), (3,)),
                                  ("groups", "group = 2, dilations = [2,1]", (2, 4, 6, 4), (6, 2, 2, 3), (6,)), ("1d", "strides = [2], dilations = [3]", (2, 2, 12), (3, 2, 3), (3,)),
                                  ("same", 'auto_pad = "SAME_UPPER", strides = [2,2]', (1, 2, 5, 6), (2, 2, 3, 3), (2,)), ("same_lower", 'auto_pad = "SAME_LOWER"', (1, 1, 4, 4), (1, 1, 2, 2), (1,)),
                                  ("depthwise", "group = 3", (1, 3, 4, 4), (3, 1, 3, 3), (3,))):
    rule(f"Conv_{name}", f"r = Conv <{attributes}> (a, b, c) y = Mul (r, r)", *shapes)
for name, attributes, shape in (("plain", "kernel_shape = [2,2]", (2, 2, 4, 5)), ("strides", "kernel_shape = [3,2], strides = [2,3], pads = [1,0,1,1]", (1, 2, 6, 7)),
                                ("same", 'kernel_shape = [3,3], strides = [2,2], auto_pad = "SAME_UPPER"', (1, 2, 5, 4))):  # ONNX's evaluator pads MaxPool alike for SAME_LOWER
    rule(f"MaxPool_{name}", f"r = MaxPool <{attributes}> (a) y = Mul (r, r)", shape)
    rule(f"AveragePool_{name}", f"r = AveragePool <{attributes}> (a) y = Mul (r, r)", shape)
    rule(f"AveragePool_{name}_padding", f"r = AveragePool <{attributes}, count_include_pad = 1> (a) y = Mul (r, r)", shape)
rule("MaxPool_ceil", "r = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (a) y = Mul (r, r)", (1, 2, 6))
rule("GlobalAveragePool", "r = GlobalAveragePool (a) y = Mul (r, b)", (2, 3, 4, 2), (2, 3, 1, 1))
rule("chain", "h = MatMul (a, b) t = Tanh (h) u = Mul (t, t) v = Add (u, c) w = Sigmoid (v) y = Mul (w, t)", (2, 3), (3, 4), (4,))
rule("twice", "p = Mul (a, a) q = Exp (a) y = Add (p, q)", (3,))


def text(body, shapes, kind, outputs):
    inputs = ", ".join(f"{kind}[{','.join(map(str, s))}] {n}" for n, s in shapes.items())
    return f'<ir_version: 10, opset_import: ["" : 22, "ai.onnx.preview.training" : 1]> g ({inputs}) => ({outputs}) {{ {body} }}'


def differences(body, shapes, feed):
    """d sum(y) / dx of every input, by central differences."""
    session = ReferenceEvaluator(onnx.parser.parse_model(text(body, shapes, "double", "double[] y")))
    value = lambda: float(np.sum(session.run(None, feed)[0]))
    result = []
    for x in feed.values():
        d = np.zeros_like(x)
        for at in np.ndindex(x.shape):
            keep = x[at]
            x[at] = keep + STEP
            more = value()
            x[at] = keep - STEP
            d[at] = (more - value()) / (2 * STEP)
            x[at] = keep
        result.append(d)
    return result


def check(s, folder, name):
    import onnxc
    body, shapes = RULES[name]
    rng = np.random.default_rng(1)
    feed = {n: rng.uniform(0.3, 1.5, shape) for n, shape in shapes.items()}
    names, results = ", ".join(f'"{n}"' for n in shapes), [f"d{n}" for n in shapes]
    whole = f'{body} {", ".join(results)} = ai.onnx.preview.training.Gradient <xs = [{names}], y = "y"> ({", ".join(shapes)})'
    want = differences(body, shapes, feed)
    for kind, dtype, step in (("double", np.float64, 1e-8), ("float", np.float32, 1e-5)):
        model = onnx.parser.parse_model(text(whole.replace("double {", f"{kind} {{"), shapes, kind, ", ".join(f"{kind}[] {r}" for r in results)))
        got = onnxc.load(str(s.compile(model, folder, "--cpu", "x86-64-v3", name=kind))).run({n: x.astype(dtype) for n, x in feed.items()})
        for n, w, g in zip(shapes, want, got):
            if g.shape != w.shape or not np.allclose(g, w, rtol=step, atol=step):
                return f"{kind} d{n}: {g.tolist()} instead of {w.tolist()}"[:400]
    return None


SUITE = Suite("gradients", __doc__, reuse=True)
SUITE.cases(RULES, check)

if __name__ == "__main__":
    SUITE.main()
