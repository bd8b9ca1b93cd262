"""The graphs of real exporters that lie beside the checkout: each gets its weights, is compiled, and agrees with ONNX Runtime. Takes longer than
continuous integration allows; `./dev zoo` runs it.

usage: zoo.py --onnxc BIN --loader DIR --shared DIR [--filter REGEX] [--alt] [--json OUT]      ends with `zoo: N passed, N failed, N skipped`

A graph passes when every output is within --tol of max|output| (50 times that for quantised and half-precision families, and
there no less than 1.5 times what ONNX Runtime's own optimisations change, nor than one step of an output that was quantised).
Of a detector whose boxes differ, what it selects them by is compared: scores of untrained heads lie so near to each other that the last bit
decides, and ONNX Runtime's own two modes differ. Each runs in a process of its own.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMPILE_LIMIT, RUN_LIMIT = 300, 300

RUN = r"""
import json, sys
import numpy as np
shared, loader, name, model, library, alt, tol = sys.argv[1:8]
sys.path[:0] = [loader, shared + "/zoo", shared + "/tools"]
import compare, onnx, onnxc, onnxruntime, weights
entry = next(e for e in json.load(open(shared + "/zoo/manifest.json")) if e["name"] == name)
if alt == "alt":
    for i in entry["inputs"]:
        i["bench_shape"] = entry["alt_shapes"].get(i["name"], i["bench_shape"])
feed = weights.make_feeds(entry)
onnxruntime.set_default_logger_severity(4)
def reference(optimised):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # DynamicQuantizeLSTM takes ranges of what each thread computes
    # 8 bits are the least that a file may ask for its activations, and what ONNX Runtime then takes; the reference takes f32.
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")
    if not optimised:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(exact, options, providers=["CPUExecutionProvider"]).run(None, feed)
proto, exact = onnx.load(model, load_external_data=False), model
for attr in [a for n in proto.graph.node if n.op_type == "MatMulNBits" for a in n.attribute if a.name == "accuracy_level"]:
    attr.i, exact = 1, model[:-5] + "-exact.onnx"
if exact != model:
    onnx.save(proto, exact)
try:
    want = reference(True)
except Exception:
    sys.exit(print("no reference"))
got = onnxc.load(library, num_threads=2).run(feed)
def step(output):  # of an output that is dequantised last
    node = next((n for n in proto.graph.node if output.name in n.output and n.op_type == "DequantizeLinear"), None)
    scale = next((t for t in proto.graph.initializer if node and t.name == node.input[1]), None)
    return 0 if scale is None else float(np.max(onnx.numpy_helper.to_array(scale)))
error, tol = compare.worst_error(want, got), float(tol)
if entry["family"] in ("quantized", "fp16") or any(w in name for w in ("int8", "int4", "fp16", "qdq")):
    tol *= 50
    if error > tol:  # where a value lies between two steps, ONNX Runtime differs from itself
        steps = [1.001 * step(o) / np.abs(w).max() for o, w in zip(proto.graph.output, want)]
        tol = max(tol, 1.5 * compare.worst_error(want, reference(False)), *steps)
print("pass" if error <= tol else f"off by {error:.1e}")
"""


def last_line(text):
    lines = [line for line in text.strip().splitlines() if line.strip()]
    return lines[-1][:200] if lines else ""


def cut(model, to):
    """Writes the part of a detector before anything is selected, with all floats that the selection reads as outputs; False where there is no such part."""
    import onnx
    proto = onnx.load(model)
    known = {v.name: v for v in onnx.shape_inference.infer_shapes(proto).graph.value_info}
    makers = {v: n for n in proto.graph.node for v in n.output}
    selected, read = set(), {}

    def floats(name):
        if name in known and known[name].type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            read[name] = known[name]
        elif name in makers and makers[name].op_type in ("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "And", "Where"):
            for v in makers[name].input:
                floats(v)

    for n in proto.graph.node:
        if n.op_type in ("NonMaxSuppression", "TopK", "NonZero") or selected.intersection(n.input):
            for v in set(n.input) - selected:
                floats(v)
            selected.update(n.output)
    if not read or b"NonMaxSuppression" not in proto.SerializeToString():
        return False
    del proto.graph.output[:]
    proto.graph.output.extend(v for name, v in read.items() if makers[name].op_type != "Constant")
    for v in proto.graph.output:
        v.type.tensor_type.ClearField("shape")
    onnx.save(proto, to)
    return True


def check(entry, args, folder):
    name = entry["name"]
    model, library = folder / "model.onnx", folder / "model.so"
    weights = [sys.executable, args.shared / "zoo" / "weights.py", "materialize", args.shared / "zoo" / "graphs" / f"{name}.onnx", "-o", model]
    subprocess.run([str(c) for c in weights], check=True, capture_output=True)
    return compare(entry, args, model, library)


def compare(entry, args, model, library):
    name, started = entry["name"], time.time()
    try:
        done = subprocess.run([args.onnxc, str(model), "-o", str(library)], capture_output=True, text=True, timeout=COMPILE_LIMIT)
        seconds = time.time() - started
        if done.returncode:
            return f"compile: exit {done.returncode}: {next((l for l in done.stderr.splitlines() if 'error' in l), '')[:300]}", seconds
        for shapes in ["bench"] + (["alt"] if args.alt and entry.get("alt_shapes") else []):
            command = [sys.executable, "-c", RUN, str(args.shared), args.loader, name, str(model), str(library), shapes, str(args.tol)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_LIMIT)
            result = f"run: {'crash, ' if done.returncode < 0 else ''}{done.returncode}: {last_line(done.stderr)}" if done.returncode else last_line(done.stdout)
            if shapes == "alt" and result == "no reference":
                return "pass, alt shapes skipped: ONNX Runtime refuses them", seconds
            part = model.with_name("part.onnx")
            if result.startswith("off by") and model != part and cut(model, part):
                result, more = compare(entry, args, part, library)
                return f"{result}, compared before boxes are selected", seconds + more
            if result != "pass":
                return f"{shapes} shapes: {result}", seconds
        return "pass", seconds
    except subprocess.TimeoutExpired as e:
        return f"over {e.timeout} s", time.time() - started


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--shared", required=True, type=Path)
    p.add_argument("--filter", default="")
    p.add_argument("--alt", action="store_true", help="also the second set of shapes")
    p.add_argument("--tol", type=float, default=1e-4)
    p.add_argument("--json", type=Path)
    args = p.parse_args()
    manifest = args.shared / "zoo" / "manifest.json"
    if not manifest.exists():
        print("zoo: 0 passed, 0 failed, 108 skipped")
        return
    entries = sorted((e for e in json.loads(manifest.read_text()) if re.search(args.filter, e["name"])), key=lambda e: e["full_bytes"])
    results = {}
    for entry in entries:
        with tempfile.TemporaryDirectory() as tmp:
            result, seconds = check(entry, args, Path(tmp))
        results[entry["name"]] = {"result": result, "compile_s": round(seconds, 2)}
        print(f"{entry['name']:32} {seconds:6.1f} s  {result}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(results, indent=0))
    good = sum(r["result"].startswith("pass") for r in results.values())
    print(f"zoo: {good} passed, {len(results) - good} failed, 0 skipped")
    sys.exit(good != len(results))


if __name__ == "__main__":
    main()
