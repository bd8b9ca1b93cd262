"""Random valid graphs and networks, compiled at -O3 and -O0 and compared with an evaluator of ONNX.

usage: differential.py --onnxc BIN --loader DIR --out DIR [--seconds N] [--count N] [--seed N] [--kinds graphs networks quantised]
       ends with `differential: N passed, N failed, N skipped`

Graphs are compiled many to a model, which is most of the speed; those of a model that fails are tried one by one.
What fails stays in OUT as <seed>.onnx; tools/reduce.py makes it small.
"""
import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx
from onnx import helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import WIDEST
from graphs import Graph, model
from networks import Network
from quantised import Quantised
from values import PATIENCE, forked

BATCH = 40
KINDS = {"graphs": Graph, "networks": Network, "quantised": Quantised}


def together(graphs):
    """One model of them all."""
    def every(part):
        return [item for g in graphs for item in part(g)]
    graph = helper.make_graph(every(lambda g: g.nodes), "g", every(lambda g: [g.type(x) for x in g.feed]),
                              every(lambda g: [g.type(e, False) for e in g.ends]), every(lambda g: g.weights))
    return model(graph)


def run(library, graphs, threads):
    import onnxc
    loaded = onnxc.load(str(library), num_threads=threads)
    for turn in range(max(len(g.runs) for g in graphs)):
        feeds, wanted = zip(*(g.runs[min(turn, len(g.runs) - 1)] for g in graphs))
        results = iter(loaded.run({name: x for feed in feeds for name, x in feed.items()}))
        for g, wants in zip(graphs, wanted):
            for end, want in zip(g.ends, wants):
                wrong = g.differs(end, want, next(results))
                if wrong:
                    return f"{end}, run {turn}: {wrong}"
    return "ok"


def check(args, graphs, folder):
    """None, or what is wrong with these graphs as one model."""
    source, library, turn = folder / "m.onnx", folder / "m.so", graphs[0].seed // BATCH
    onnx.save(together(graphs), source)
    for level in ("-O3", "-O0"):
        flags = [level, "--cpu", ("x86-64-v3", WIDEST, "x86-64")[turn % 3]]
        done = subprocess.run([args.onnxc, source, "-o", library, *flags], capture_output=True, text=True, timeout=600 * PATIENCE)
        result = f"exit {done.returncode}: {done.stderr.strip()[:200]}"
        if done.returncode == 0:
            result = forked(lambda: run(library, graphs, 1 + turn % 2), int(60 * PATIENCE))
        if result != "ok":
            return f"{level}: {result}"
    return None


def find(args, graphs, folder):
    """The number of graphs that are wrong, each reported and kept; what is wrong only with all of them counts as one."""
    failed, whole = 0, check(args, graphs, folder)
    args.out.mkdir(parents=True, exist_ok=True)
    for g in graphs if whole else ():
        wrong = check(args, [g], folder)
        if wrong:
            failed += 1
            (args.out / f"{g.seed}.onnx").write_bytes((folder / "m.onnx").read_bytes())
            print(f"seed {g.seed}: {wrong}", flush=True)
    if whole and not failed:
        onnx.save(together(graphs), args.out / f"{graphs[0].seed}-together.onnx")
        print(f"seeds {graphs[0].seed} to {graphs[-1].seed} together: {whole}", flush=True)
    return failed or int(whole is not None)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--out", required=True, type=Path)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--count", type=int, default=1 << 40)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    args = p.parse_args()
    sys.path.insert(0, args.loader)
    total = failed = 0
    end = time.time() + args.seconds
    with tempfile.TemporaryDirectory() as tmp:
        while time.time() < end and total < args.count:
            kind = KINDS[args.kinds[total // BATCH % len(args.kinds)]]
            graphs = [kind(args.seed + total + i) for i in range(min(BATCH, args.count - total))]
            total += len(graphs)
            failed += find(args, [g for g in graphs if g.nodes], Path(tmp))
    print(f"differential: {total - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
