"""What the Python suites share: small models, a scratch compile, and a way to register and count checks."""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from values import PATIENCE, REUSE, Child

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("ONNXC_CACHE", Path.home() / ".cache" / "onnxc"))  # as in ./dev

# The greatest level that this machine runs of those that suites compile for.
WIDEST = "x86-64-v4" if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= set(Path("/proc/cpuinfo").read_text().split()) else "x86-64-v3"


def dumped_suite():
    """The folder of ONNX's backend suite, filled on the first use."""
    folder = CACHE / "suite-1.23.2"
    subprocess.run([sys.executable, ROOT / "test" / "conformance" / "dump.py", folder], check=True)
    return folder


def info(name, *shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def weight(name, *shape, seed=0):
    return numpy_helper.from_array(np.random.default_rng(seed).standard_normal(shape).astype(np.float32) / max(shape) ** 0.5, name)


def make(nodes, inputs, outputs, weights=(), name="g", opset=22, domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(weights))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)], ir_version=10)


def relu_model(*shape):
    return make([helper.make_node("Relu", ["x"], ["y"], name="act")], [info("x", *shape)], [info("y", *shape)])


def mlp_model(batch="batch"):
    """x[batch,96] -> Gemm -> Relu -> Gemm -> LayerNormalization -> Softmax -> y[batch,64]: every family of kernels, a symbolic dim, weights."""
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], name="up"),
        helper.make_node("Relu", ["h"], ["r"], name="act"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["o"], name="down"),
        helper.make_node("LayerNormalization", ["o", "s"], ["n"], name="norm"),
        helper.make_node("Softmax", ["n"], ["y"], name="soft"),
    ]
    weights = [weight("w1", 96, 256), weight("b1", 256, seed=1), weight("w2", 256, 64, seed=2), weight("b2", 64, seed=3), weight("s", 64, seed=4)]
    return make(nodes, [info("x", batch, 96)], [info("y", batch, 64)], weights)


def save(proto, path):
    path.write_bytes(proto.SerializeToString())
    return path


PASSED, SKIPPED = "passed", "skipped"


class Skip(Exception):
    """This machine or user cannot run the check, and why."""


class Suite:
    """Checks are functions of (suite, folder) that return None or what is wrong, or raise Skip; a scratch folder and a process each, `jobs` of them at
    a time. `reuse`: the results are what is checked, so code of the last run may be taken up."""

    LIMIT = int(600 * PATIENCE)  # seconds for one check

    def __init__(self, name, doc, jobs=os.cpu_count(), reuse=False):
        self.name, self.doc, self.jobs, self.checks, self.flags = name, doc, jobs, {}, REUSE if reuse else []

    def check(self, function):
        self.checks[function.__name__] = function
        return function

    def cases(self, names, function):
        """A check for each name: function(suite, folder, name)."""
        for name in names:
            assert name not in self.checks, name
            self.checks[name] = lambda suite, folder, name=name: function(suite, folder, name)

    def main(self):
        p = argparse.ArgumentParser(description=self.doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        p.add_argument("--onnxc", required=True)
        p.add_argument("--loader", required=True)
        p.add_argument("--filter", default="", metavar="REGEX", help="only the checks whose name matches")
        self.args = p.parse_args()
        self.args.onnxc = str(Path(self.args.onnxc).resolve())
        sys.path.insert(0, self.args.loader)
        chosen = {name: c for name, c in self.checks.items() if re.search(self.args.filter, name)}
        counts = collections.Counter()
        for name, outcome in self.outcomes(chosen):
            kind = outcome if outcome == PASSED else SKIPPED if outcome.startswith(SKIPPED) else "failed"
            counts[kind] += 1
            if kind != PASSED:
                print(f"{name}: {outcome}", flush=True)
        print(f"{self.name}: {counts[PASSED]} passed, {counts['failed']} failed, {counts[SKIPPED]} skipped")
        sys.exit(counts["failed"] != 0)

    def outcomes(self, chosen):
        """(name, outcome) of each check, as they end."""
        waiting, running = collections.deque(chosen), {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    name = waiting.popleft()
                    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
                    child = Child(lambda: self.outcome(chosen[name], Path(folder.name)), self.LIMIT)
                    running[child.pid] = name, folder, child
                pid, status = os.wait()
                name, folder, child = running.pop(pid)
                outcome = child.result(status)
                folder.cleanup()
                yield name, outcome
        finally:  # an interrupt from the terminal does not reach the groups of children
            for _, _, child in running.values():
                child.kill()

    def outcome(self, check, folder):
        try:
            return check(self, folder) or PASSED
        except Skip as e:
            return f"{SKIPPED}: {e}"
        except Exception as e:  # a broken check is a failed check
            return "".join(traceback.format_exception_only(e)).strip()[:600]

    def onnxc(self, *arguments, code=0, **kwargs):
        done = subprocess.run([self.args.onnxc, *map(str, arguments)], capture_output=True, text=True, timeout=300 * PATIENCE, **kwargs)
        if done.returncode != code:
            raise AssertionError(f"onnxc {' '.join(map(str, arguments))}: exit {done.returncode} instead of {code}: {(done.stderr or done.stdout).strip()[:400]}")
        return done

    def compile(self, proto, folder, *flags, name="model", suffix=".so"):
        out = folder / (name + suffix)
        self.onnxc(save(proto, folder / f"{name}.onnx"), "-o", out, *self.flags, *flags)
        return out

    def weight_bytes(self, library):
        return json.loads(self.onnxc("inspect", library, "--json").stdout)["weight_bytes"]
