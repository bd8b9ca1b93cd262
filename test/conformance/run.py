"""Runs ONNX's backend suite (dumped by dump.py) through onnxc: compile each case, run it through the Python loader in a forked child, compare.

usage: run.py [--onnxc BIN] [--loader DIR] [--suite DIR] [--mode static|symbolic|O0 …] [--kind node …] [--filter REGEX] [--json OUT] [--update]

A case listed in xfail.txt for a mode must fail in it: an unexpected pass fails the run, as an unexpected failure does. --update rewrites the list.
Modes: static as the model says; symbolic with every input dim replaced by a symbol of its own; O0 static at -O0. Each compiles one level of the
processor, which halves the time; test/kernels/run.py takes turns.
A crash or a hang is one failed case. Ends with a line `conformance: N passed, N failed, N skipped`.
"""
import argparse
import collections
import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import ROOT, dumped_suite
from values import PATIENCE, REUSE, compare, forked, read_value

XFAIL = Path(__file__).with_name("xfail.txt")
MODES = {"static": ["--cpu", "native"], "symbolic": ["--cpu", "x86-64-v3"], "O0": ["--cpu", "native", "-O0"]}  # the level that a run takes alone: half the time
KINDS = ["node", "simple", "light", "pytorch-converted", "pytorch-operator"]
RANDOM_OPS = {"Bernoulli", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial"}
COMPILE_LIMIT, RUN_LIMIT = 60 * PATIENCE, int(300 * PATIENCE)


# ---- data ---------------------------------------------------------------------------------------------------------------------------------

def data_sets(folder, model):
    weights = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    for data in sorted(folder.glob("test_data_set_*")):
        feed = {info.name: read_value(data / f"input_{i}.pb", info.type) for i, info in enumerate(inputs) if (data / f"input_{i}.pb").exists()}
        want = [read_value(data / f"output_{i}.pb", info.type) for i, info in enumerate(model.graph.output)]
        yield feed, want


def tensor_type(type_proto):
    """The innermost tensor type of a value's type, or None."""
    kind = type_proto.WhichOneof("value")
    if kind == "tensor_type":
        return type_proto.tensor_type
    if kind in ("sequence_type", "optional_type"):
        return tensor_type(getattr(type_proto, kind).elem_type)
    return None


def make_symbolic(model):
    """Every input dim gets a symbol of its own; everything that was inferred from static dims is dropped."""
    weights = {i.name for i in model.graph.initializer}
    for n, info in enumerate(i for i in model.graph.input if i.name not in weights):
        t = tensor_type(info.type)
        for k, dim in enumerate(t.shape.dim if t is not None else []):
            dim.dim_param = f"s{n}_{k}"
    for info in model.graph.output:
        t = tensor_type(info.type)
        for dim in t.shape.dim if t is not None else []:
            dim.Clear()
    del model.graph.value_info[:]


# ---- one case -----------------------------------------------------------------------------------------------------------------------------

def run_model(library, feeds_and_wants, rtol, atol, random):
    import onnxc
    model = onnxc.load(library, num_threads=1)
    for feed, want in feeds_and_wants:
        got = model.run({i.name: feed[i.name] for i in model.inputs if i.name in feed})
        if len(got) != len(want):
            return f"{len(got)} outputs instead of {len(want)}"
        for k, (w, g) in enumerate(zip(want, got)):
            why = compare(w, g, rtol, atol, not random)
            if why:
                return f"output {k}: {why}"
    return "pass"


def compile_case(path, library, mode):
    command = [ARGS.onnxc, str(path), "-o", library, *MODES[mode], *REUSE, *ARGS.flag]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_LIMIT)
    except subprocess.TimeoutExpired:
        return f"compile: over {COMPILE_LIMIT:.0f} s"
    if done.returncode:
        lines = [l for l in done.stderr.splitlines() if l.strip()]
        kind = f"crash, {signal.Signals(-done.returncode).name}" if done.returncode < 0 else f"exit {done.returncode}"
        return f"compile: {kind}: {next((l for l in lines if 'error' in l), lines[0] if lines else '')[:300]}"
    return None


def run_case(job):
    mode, folder = job
    started = time.perf_counter()
    model = onnx.load(folder / "model.onnx", load_external_data=False)
    with tempfile.TemporaryDirectory(prefix="onnxc-conformance-") as tmp:
        path, library = folder / "model.onnx", str(Path(tmp) / "model.so")
        if mode == "symbolic":
            make_symbolic(model)
            path = Path(tmp) / "model.onnx"
            path.write_bytes(model.SerializeToString())
        why = compile_case(path, library, mode)
        compiled = time.perf_counter()
        if why is None:
            limits = json.loads((folder / "data.json").read_text())
            random = any(n.op_type in RANDOM_OPS for n in model.graph.node)
            sets = list(data_sets(folder, model))
            why = "no data to compare with" if not sets else forked(lambda: run_model(library, sets, limits["rtol"], limits["atol"], random), RUN_LIMIT)
    ops = sorted({(n.domain + "." if n.domain else "") + n.op_type for n in model.graph.node})
    return mode, folder.parent.name, folder.name, {"result": why, "ops": ops, "compile_s": round(compiled - started, 3)}


def worker_init(args):
    global ARGS
    ARGS = args
    warnings.filterwarnings("ignore")
    sys.path.insert(0, args.loader)
    import onnxc  # noqa: F401  so that the child of each case has it


# ---- expected failures --------------------------------------------------------------------------------------------------------------------

def read_xfail():
    """case -> set of modes"""
    return {name: modes for name, (modes, _) in xfail_lines().items()}


def xfail_lines():
    """case -> (set of modes, reason)"""
    table = {}
    for line in XFAIL.read_text().splitlines() if XFAIL.exists() else []:
        entry, _, reason = line.partition("#")
        words = entry.split()
        if words:
            table[words[0]] = set(words[1].split(",")), reason.strip()
    return table


def write_xfail(results):
    table = xfail_lines()
    for (mode, _, name), r in results.items():
        modes, _ = table.setdefault(name, (set(), ""))
        (modes.discard if r["result"] == "pass" else modes.add)(mode)
    lines = [f"{name} {','.join(m for m in MODES if m in modes)}" + (f"  # {why}" if why else "") for name, (modes, why) in sorted(table.items()) if modes]
    head = "# Cases of ONNX's backend suite that do not pass, the modes in which they fail, and why. Written by test/conformance/run.py --update.\n"
    XFAIL.write_text(head + "".join(l + "\n" for l in lines))


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", default=str(ROOT / "build" / "bin" / "onnxc"))
    p.add_argument("--loader", default=str(ROOT / "runtime_stub" / "python"))
    p.add_argument("--suite", type=Path, help="default: ONNX's, dumped on the first use")
    p.add_argument("--mode", nargs="+", choices=MODES, default=["static"])
    p.add_argument("--kind", nargs="+", choices=[*KINDS, "peer"], default=KINDS)
    p.add_argument("--filter", default="")
    p.add_argument("--flag", action="append", default=[], help="passed to onnxc")
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--json", type=Path)
    p.add_argument("--update", action="store_true")
    p.add_argument("--verbose", action="store_true", help="print every failure, expected or not")
    args = p.parse_args()
    args.suite = args.suite or dumped_suite()
    return args


def run_all(args):
    jobs = [(mode, folder) for mode in args.mode for kind in args.kind for folder in sorted((args.suite / kind).iterdir())
            if re.search(args.filter, folder.name)]
    results = {}
    with multiprocessing.get_context("fork").Pool(args.jobs, worker_init, (args,)) as pool:
        for mode, kind, name, result in pool.imap_unordered(run_case, jobs, chunksize=4):
            results[mode, kind, name] = result
    return dict(sorted(results.items()))


def report(results, xfail):
    """Prints what is unexpected and a summary of reasons; returns (as expected, unexpected)."""
    expected = unexpected = 0
    reasons = collections.Counter()
    for (mode, kind, name), r in results.items():
        passed = r["result"] == "pass"
        listed = mode in xfail.get(name, ())
        if not passed:
            reasons[re.sub(r"'[^']*'|[\w.]*\d[\w.]*", "_", r["result"])[:110]] += 1
        expected, unexpected = expected + (passed != listed), unexpected + (passed == listed)
        if passed and listed:
            print(f"{mode} {name}: passes, but xfail.txt lists it")
        elif not passed and (not listed or ARGS.verbose):
            print(f"{mode} {name}: {r['result'][:400]}")
    for why, n in reasons.most_common(12):
        print(f"  {n:5} x {why}")
    for key, count in collections.Counter((m, k) for m, k, _ in results).items():
        good = sum(r["result"] == "pass" for (m, k, _), r in results.items() if (m, k) == key)
        print(f"  {key[0]} {key[1]}: {good} of {count} pass")
    return expected, unexpected


def main():
    global ARGS
    ARGS = args = parse()
    results = run_all(args)
    table = read_xfail()
    if args.update:
        write_xfail(results)
        table = read_xfail()
    expected, unexpected = report(results, table)
    whole = not args.filter and set(args.kind) == set(KINDS)
    for name in sorted(table.keys() - {name for _, _, name in results}) if whole else []:
        print(f"{name}: xfail.txt lists it, but there is no such case")
        unexpected += 1
    if args.json:
        args.json.write_text(json.dumps([{"mode": m, "kind": k, "name": n, **r} for (m, k, n), r in results.items()], indent=0))
    print(f"conformance: {expected} passed, {unexpected} failed, 0 skipped")
    sys.exit(unexpected != 0)


if __name__ == "__main__":
    main()
