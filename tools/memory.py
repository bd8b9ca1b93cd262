"""Peak memory of a run next to ONNX Runtime's.

usage: memory.py --build DIR [--shared DIR] [--only REGEX] [MODEL.onnx …]
Each engine loads the model and runs it twice on one thread in a process of its own; what counts is how far the process grew beyond what it held
before it loaded the model: weights and all. Models as ./dev bench takes them. Beyond the weights means beyond the bytes of the model's file.
"""
import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from bench import ROOT, Bench, pattern, refuse_models

CHILD = """
import ctypes, gc, json, sys
from pathlib import Path
engine, model, library, loader, shared = sys.argv[1:6]
sys.path[:0] = [loader, shared + "/tools", shared + "/zoo"]
import compare, onnxruntime
manifest = Path(shared) / "zoo" / "manifest.json"
entry = next((e for e in json.loads(manifest.read_text()) if e["name"] == Path(model).stem), None) if manifest.exists() else None
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = lambda: onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
feed = compare.make_feed(Path(model), [] if entry else session().get_inputs(), entry)
held = lambda key: next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(key))
import onnxc
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # what the session that told the inputs has left
open("/proc/self/clear_refs", "w").write("5")  # the peak is now what is held
before = held("VmRSS:")
if engine == "onnxc":
    model = onnxc.load(library, num_threads=1)
    run = lambda: model.run({i.name: feed[i.name] for i in model.inputs if i.name in feed})
else:
    own = session()
    run = lambda: own.run(None, {i.name: feed[i.name] for i in own.get_inputs() if i.name in feed})
run(), run()
print(held("VmHWM:") - before)
"""


def measure(bench, model, library):
    """KiB of both engines; None where a run fails."""
    def grown(engine):
        command = [sys.executable, "-c", CHILD, engine, model, library, ROOT / "runtime_stub" / "python", bench.args.shared]
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
        return int(done.stdout) if done.returncode == 0 else None
    return grown("onnxc"), grown("ort")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    p.add_argument("--only", default="", type=pattern)
    args = p.parse_args()
    bench = Bench(SimpleNamespace(**vars(args)))
    refuse_models(p, args, bench.models())
    rows = []
    for model in map(bench.materialised, bench.models()):
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / "model.so"
            compiled = subprocess.run([bench.onnxc, model, "-o", library, "--cpu", "native"], capture_output=True, text=True)
            if compiled.returncode:
                sys.exit(compiled.stderr.strip())
            ours, theirs = measure(bench, model, library)
        if ours is None or theirs is None:
            print(f"{model.stem}: does not run with {'onnxc' if ours is None else 'ONNX Runtime'}")
            continue
        weights = model.stat().st_size // 1024
        rows.append((ours / theirs, (ours - weights) / max(1, theirs - weights)))
        print(f"{model.stem:36} weights {weights:8} KiB, ONNX Runtime {theirs:8}, onnxc {ours:8}: {rows[-1][0]:.2f}, beyond the weights {rows[-1][1]:.2f}", flush=True)
    print(f"{len(rows)} models: {sum(a <= 1 for a, _ in rows)} take no more than ONNX Runtime, {sum(b <= 0.5 for _, b in rows)} at most half beyond the weights")


if __name__ == "__main__":
    main()
