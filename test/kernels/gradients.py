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
