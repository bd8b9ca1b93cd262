"""The figures of a model's artefact that are not speed: what compiling it costs, its size, how soon it answers, a call's own cost.

usage: figures.py --build DIR [--shared DIR] [MODEL.onnx …]
Without models: ResNet-50 and BERT-base of what lies beside the checkout, as far as it is there. Each figure stands beside its limit. A first result is taken in a
fresh process; the least of three counts, since the machine may be busy. Ends with `N figures within their limits, N beyond`.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from bench import ROOT, Bench

# One Relu of four floats, as text: 0.1 us of work, so what remains is the call.
RELU = "from onnx import helper as h, save; v = [h.make_tensor_value_info(n, 1, [4]) for n in 'xy']; save(h.make_model(h.make_graph([h.make_node('Relu', ['x'], ['y'])], 'relu', v[:1], v[1:]), opset_imports=[h.make_opsetid('', 21)], ir_version=10), {path!r})"

# Microseconds of a call of it from Python, the median.
CALLS = """
import sys, time
import numpy as np
library, loader = sys.argv[1:3]
sys.path.insert(0, loader)
import onnxc
model, feed, times = onnxc.load(library, num_threads=1), {"x": np.ones(4, np.float32)}, []
for _ in range(20000):
    start = time.perf_counter()
    model.run(feed)
    times.append(time.perf_counter() - start)
print(sorted(times)[len(times) // 2] * 1e6)
"""

FRESH = """
import json, sys, time
import numpy as np
library, loader = sys.argv[1:3]
sys.path.insert(0, loader)
import onnxc
start = time.perf_counter()
model = onnxc.load(library, num_threads=1)
context = model._acquire()
ready = time.perf_counter() - start
model._contexts.append(context)
one = lambda d: d if isinstance(d, int) else 1
feed = {i.name: np.ones([one(d) for d in i.shape], i.dtype) for i in model.inputs}
times = []
for _ in range(8):
    start = time.perf_counter()
    model.run(feed)
    times.append(time.perf_counter() - start)
print(json.dumps([ready * 1e3, times[0] * 1e3, min(times[2:]) * 1e3]))
"""


def peak_of(command):
    """Seconds and MiB of a command, its own process alone."""
    start = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return time.perf_counter() - start, usage.ru_maxrss / 1024


class Figures:
    def __init__(self):
        self.beyond = self.within = 0

    def show(self, what, value, limit, unit):
        holds = value <= limit
        self.within += holds
        self.beyond += not holds
        print(f"  {what:44} {value:10.2f} {unit:4} at most {limit:10.2f}  {'' if holds else 'BEYOND'}", flush=True)

    def model(self, onnxc, path, folder):
        print(path.stem)
        library = str(folder / (path.stem + ".so"))
        seconds, peak = peak_of([str(onnxc), str(path), "-o", library])
        weights = sum(f.stat().st_size for f in [path, *path.parent.glob(path.name + "*data")]) / 2**20
        self.show("compile", seconds, 15 if "resnet50" in path.stem else 30, "s")
        self.show("memory of the compile", peak, 1.5 * weights + 512, "MiB")
        facts = json.loads(subprocess.run([onnxc, "inspect", "--json", library], capture_output=True, text=True, check=True).stdout)
        code = (os.path.getsize(library) - facts["weight_bytes"]) / 2**20
        self.show("code, all levels", code, 1, "MiB")
        runs = [json.loads(subprocess.run([sys.executable, "-c", FRESH, library, str(ROOT / "runtime_stub" / "python")], capture_output=True, text=True, check=True).stdout) for _ in range(3)]
        ready, first, steady = (min(column) for column in zip(*runs))
        self.show("dlopen to a ready context, through Python", ready, 2, "ms")
        self.show("first result", first, steady + 15, "ms")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("models", nargs="*", type=Path, metavar="MODEL.onnx")
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    args = p.parse_args()
    bench = Bench(SimpleNamespace(models=args.models, build=args.build, shared=args.shared, only="^(resnet50|light_resnet50|bert_base)$"))
    figures = Figures()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for model in map(bench.materialised, bench.models()):
            figures.model(bench.onnxc, model, folder)
        relu, library = str(folder / "relu.onnx"), str(folder / "relu.so")
        subprocess.run([sys.executable, "-c", RELU.format(path=relu)], check=True)
        peak_of([str(bench.onnxc), relu, "-o", library])
        report = json.loads(subprocess.run([bench.onnxc, "bench", library, "--json"], capture_output=True, text=True, check=True).stdout)
        print("relu")
        figures.show("a call through the C API", report["median_ms"] * 1e3, 1, "us")
        calls = subprocess.run([sys.executable, "-c", CALLS, library, str(ROOT / "runtime_stub" / "python")], capture_output=True, text=True, check=True)
        figures.show("a call through Python", float(calls.stdout), 4, "us")
    print(f"{figures.within} figures within their limits, {figures.beyond} beyond")


if __name__ == "__main__":
    main()
