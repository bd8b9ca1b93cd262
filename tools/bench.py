"""Times models next to ONNX Runtime and OpenVINO and says how near the machine's roof they come; behind `./dev bench`.

usage: bench.py --build DIR [--threads 1,2] [--only REGEX] [--record FILE] [--write] [--cpu LEVEL] [--operators | MODEL.onnx …]
Without models: the graphs of real exporters and the trained models beside the checkout, else light models of the onnx package. The weights of
graphs are made once, under the cache folder. Each model is measured in a process of its own, engines taking turns (the comparing script beside
the checkout; without it onnxc alone). What --record FILE holds already is not measured again. --write puts table and chart into docs/.
--cpu x86-64-v3 shows a machine with AVX-512 how machines without it fare: artefacts of that level, and peers in a process to which cpuid shows
no more (hide_cpu.c). With --only or models, --write wants a --record that has the page's other rows. Ends with 1 where a model fails or gives other
results than its peers. --operators takes models of one operator each (operators.py) with short rounds in one process, and lists at its end those
that are behind.
"""
import argparse
import functools
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import hide_cpu
import numpy as np
import onnx
import onnx.backend.test.loader as loader
import operators

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("ONNXC_CACHE", Path.home() / ".cache" / "onnxc"))
PAGE = ROOT / "docs" / "Performance.md"
CHART = "performance.svg"
START, END = "<!-- measured: ./dev bench --write -->", "<!-- end of what was measured -->"
ALONE = 600  # seconds for one model
SHORT = 0.02  # seconds of each engine in a round, for one operator
LEVELS = {"x86-64-v3": "3", "x86-64-v2": "2"}  # what hide_cpu.c calls a level
BEHIND = 0.95  # of the fastest peer: an operator to look at
CACHED = 64 << 20  # bytes that the last cache may hold from run to run


class Bench:
    def __init__(self, args):
        self.args = args
        self.onnxc = args.build / "bin" / "onnxc"
        self.zoo = args.shared / "zoo"
        self.compare = args.shared / "tools" / "compare.py"
        manifest = self.zoo / "manifest.json"
        self.entries = {e["name"]: e for e in json.loads(manifest.read_text())} if manifest.exists() else {}
        if self.entries:
            sys.path.insert(0, str(self.zoo))

    def models(self):
        """Paths of the models; graphs get their weights when it is their turn."""
        if self.args.models:
            return self.args.models
        found = [self.zoo / "graphs" / f"{name}.onnx" for name in sorted(self.entries)]
        found += sorted((self.args.shared / "models").glob("*/*.onnx"))
        light = Path(loader.DATA_DIR) / "light"
        found = found or [light / f"light_{n}.onnx" for n in ("squeezenet", "resnet50", "densenet121", "shufflenet")]
        return [m for m in found if re.search(self.args.only, m.stem)]

    def materialised(self, model):
        if model.parent != self.zoo / "graphs":
            return model
        path = CACHE / "zoo" / model.name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.executable, self.zoo / "weights.py", "materialize", model, "-o", path], check=True, capture_output=True)
        return path

    def comparison(self, threads, seconds, out, models):
        """The command that times models beside both peers and writes their rows to `out`."""
        command = [sys.executable, self.compare, "--loader", ROOT / "runtime_stub" / "python", "--onnxc", self.onnxc, "--threads", threads,
                   "--rounds", self.args.rounds, "--seconds", seconds, "--json", out, *models]
        if self.entries:
            command += ["--manifest", self.zoo / "manifest.json"]
        if self.args.cpu:
            command += ["--flags=--cpu " + self.args.cpu]
        return [str(c) for c in command]

    def compared(self, model, threads):
        """The row that the comparing script writes: milliseconds of each engine, ratio, error."""
        if not self.compare.exists():
            return {}
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            command = self.comparison(threads, self.args.seconds, out.name, [model])
            done = subprocess.run(command, capture_output=True, text=True, timeout=ALONE, env={**os.environ, **self.hidden})
            text = Path(out.name).read_text()
        row = json.loads(text)[model.stem] if text else {"failed": (done.stderr.strip().splitlines() or ["no result"])[-1][:200]}
        return {k: v for k, v in row.items() if v is not None}

    def operators(self, threads):
        """Times the models of one operator; lines of those behind, and whether all could be compared."""
        if not self.compare.exists():
            sys.exit(f"--operators needs {self.compare}")
        with tempfile.TemporaryDirectory() as folder:
            models = operators.write(Path(folder), self.args.only)
            if not models:
                sys.exit(f"no operator's name has '{self.args.only}'")
            out = Path(folder) / "rows.json"
            subprocess.run(self.comparison(threads, SHORT, out, models), env={**os.environ, **self.hidden}, check=True)
            rows = json.loads(out.read_text())
        behind = [(r.get("ratio", 0), n) for n, r in rows.items() if not is_compared(r) or r["ratio"] < BEHIND]
        return [line(n, rows[n]) for _, n in sorted(behind)], not any(map(is_bad, rows.values()))

    @functools.cached_property
    def hidden(self):
        """The environment that shows engines a processor of the level asked for."""
        if self.args.cpu not in LEVELS or not self.compare.exists():
            return {}
        found = {"LD_PRELOAD": str(hide_cpu.library(CACHE)), "ONNXC_HIDE": LEVELS[self.args.cpu]}
        probe = subprocess.run([sys.executable, "-c", ""], env={**os.environ, **found}, capture_output=True, text=True)
        if probe.returncode:
            sys.exit(f"--cpu {self.args.cpu}: {probe.stderr.strip()}")
        return found

    def feeds(self, model):
        """The inputs that the comparing script gives; none for a model that it gives random ones."""
        if model.stem in self.entries:
            import weights  # beside the manifest
            return weights.make_feeds(self.entries[model.stem])
        npz = model.with_suffix(".npz")
        if not npz.exists():
            return {}
        data, graph = np.load(npz), onnx.load(model, load_external_data=False).graph
        stored = {t.name for t in graph.initializer}
        names = [i.name for i in graph.input if i.name not in stored]
        return {n: data[f"in{i}"] for i, n in enumerate(names) if f"in{i}" in data}

    def input_flags(self, model, folder):
        flags = []
        for i, (name, array) in enumerate(self.feeds(model).items()):
            if array.dtype.kind not in "OUS":
                np.save(f"{folder}/{i}.npy", array)
                flags += ["--input", f"{name}={folder}/{i}.npy"]
        return flags

    def roof(self, model, threads):
        """`onnxc bench --json`: kernels with operations and bytes, and the machine's roof; or what it says is wrong."""
        with tempfile.TemporaryDirectory() as folder:
            command = [self.onnxc, "bench", model, "--json", "--duration", "0.5", "--threads", threads, *self.input_flags(model, folder)]
            command += ["--cpu", self.args.cpu] if self.args.cpu else []
            done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=ALONE)
        if done.returncode == 0:
            return json.loads(done.stdout)
        said = done.stderr.strip().splitlines()
        return {"failed": json.loads(said[-1])["message"][:200] if said and said[-1].startswith("{") else f"onnxc bench ends with {done.returncode}"}

    def measure(self, model, threads):
        try:
            path = self.materialised(model)
            row = self.compared(path, threads)
            facts = self.roof(path, threads)
        except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
            return {"failed": str(error)[:200]}
        if "failed" in facts:
            return row if "ms" in row or "failed" in row else facts
        row.setdefault("ms", {"onnxc": facts["median_ms"]})
        row["roof"] = of_roof(facts, row["ms"]["onnxc"])
        return row


def of_roof(facts, milliseconds):
    """The least time that the machine's units and memory allow, as a share of the measured one: operations of all kernels at the peak, or
    weights, inputs and outputs once through memory where caches cannot hold them."""
    flops = sum(max(k["flops"], 0) for k in facts["kernels"])
    units = flops / (facts["roof"]["gflops"] * 1e6)
    memory = facts["model_bytes"] / (facts["roof"]["gigabytes_per_s"] * 1e6) if facts["model_bytes"] > CACHED else 0
    return {"share": max(units, memory) / milliseconds, "bound": "units" if units > memory else "memory", "gflops": facts["roof"]["gflops"],
            "gigabytes_per_s": facts["roof"]["gigabytes_per_s"], "isa": facts["roof"]["isa"]}


def is_bad(row):
    return "failed" in row or bool(row.get("wrong"))


def is_compared(row):
    return "ratio" in row and not row.get("wrong")


def summary(rows):
    ratios = [r["ratio"] for r in rows.values() if is_compared(r)]
    if not ratios:
        return None
    geomean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worst = min((r["ratio"], n) for n, r in rows.items() if is_compared(r))
    return {"geomean": geomean, "worst": worst[0], "worst_model": worst[1], "ahead": sum(r >= 1 for r in ratios), "models": len(ratios)}


def line(name, row):
    if "failed" in row:
        return f"{name:34} FAILED {row['failed'][:120]}"
    ms = "  ".join(f"{k} {v:.3f} ms" for k, v in row["ms"].items())
    share = f"  {100 * row['roof']['share']:3.0f} % of the roof ({row['roof']['bound']})" if "roof" in row else ""
    ratio = "WRONG" if row.get("wrong") else f"{row['ratio']:5.2f}" if "ratio" in row else "    -"
    return f"{name:34} {ratio}  {ms}{share}"


def table(record):
    """Markdown: one row a model, a column of times for each peer, and ratio and share of the roof for each number of threads."""
    threads = sorted(record, key=int)
    names = sorted({n for t in threads for n in record[t]})
    first = record[threads[0]]
    head = ["model", "onnxc ms", "ONNX Runtime", "OpenVINO"] + [f"ratio, {t} thr." for t in threads] + [f"roof, {t} thr." for t in threads]
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for name in names:
        row = first.get(name, {})
        ms = row.get("ms", {})
        cells = [name] + [f"{ms[e]:.3f}" if e in ms else "" for e in ("onnxc", "ort", "openvino")]
        for t in threads:
            r = record[t].get(name, {})
            cells.append(f"{r['ratio']:.2f}" if is_compared(r) else "wrong" if r.get("wrong") else "fails" if "failed" in r else "")
        for t in threads:
            roof = record[t].get(name, {}).get("roof")
            cells.append(f"{100 * roof['share']:.0f} %" if roof else "")
        out.append("| " + " | ".join(cells) + " |")
    return "\n".join(out)


def chart(rows, threads):
    """SVG: a bar for each model's ratio on a logarithmic axis, sorted; the line is the fastest peer."""
    bars = sorted(((r["ratio"], n) for n, r in rows.items() if is_compared(r)), reverse=True)
    left, width, step, top = 230, 560, 15, 40
    limit = math.log2(max(4.0, max((max(r, 1 / r) for r, _ in bars), default=4.0)))
    x = lambda ratio: left + width * (math.log2(ratio) + limit) / (2 * limit)
    height = top + step * len(bars) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{height}" font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="{left}" y="14">fastest peer&#8217;s time over onnxc&#8217;s, {threads} thread(s); right of 1 onnxc is ahead</text>']
    for power in range(-int(limit), int(limit) + 1):
        at = x(2.0 ** power)
        out.append(f'<line x1="{at:.1f}" y1="{top - 6}" x2="{at:.1f}" y2="{height - 8}" stroke="{"black" if power == 0 else "#ddd"}"/>')
        out.append(f'<text x="{at:.1f}" y="{top - 10}" text-anchor="middle">{2.0 ** power:g}</text>')
    for i, (ratio, name) in enumerate(bars):
        y, a, b = top + step * i, min(x(ratio), x(1)), max(x(ratio), x(1))
        out.append(f'<text x="{left - 6}" y="{y + 10}" text-anchor="end">{name}</text>')
        out.append(f'<rect x="{a:.1f}" y="{y + 1}" width="{b - a:.1f}" height="{step - 4}" fill="{"#2a7" if ratio >= 1 else "#c53"}"/>')
        out.append(f'<text x="{b + 4:.1f}" y="{y + 10}">{ratio:.2f}</text>')
    return "\n".join(out + ["</svg>", ""])


def rows_on_page():
    """Names of the models in the table of the page."""
    measured = PAGE.read_text().split(START)[1].split(END)[0]
    return set(re.findall(r"^\| (\S+) \|", measured, re.M)) - {"model"}


def pattern(text):
    """Of a command line: a regular expression."""
    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}") from None
    return text


def refuse_models(p, args, models):
    """Ends the program where there is nothing to measure."""
    if missing := [str(m) for m in args.models if not m.exists()]:
        p.error(f"no file {missing[0]}")
    if not models:
        p.error(f"no model's name has '{args.only}'" if args.only else "no models")


def check(args, models, record, p):
    """Ends the program where what is asked for cannot be done, before anything is measured."""
    refuse_models(p, args, models)
    if args.write and (args.only or args.models):
        known = {m.stem for m in models}.union(*record.values())
        if lost := sorted(rows_on_page() - known):
            p.error(f"--write would drop {len(lost)} rows of the page, {lost[0]} the first of them: give a --record that has them, or no --only and no models")


def write_page(record):
    threads = sorted(record, key=int)
    roofs = [r["roof"] for r in record[threads[0]].values() if "roof" in r]
    text = [START, ""]
    if roofs:
        gflops, gigabytes = (statistics.median(r[k] for r in roofs) for k in ("gflops", "gigabytes_per_s"))
        isas = " and ".join(sorted({r["isa"] for r in roofs}))
        text += [f"Machine: {isas}, {gflops:.0f} GFLOP/s and {gigabytes:.0f} GB/s on {threads[0]} thread(s), the median of what was measured with each model. A ratio is the "
                 "fastest peer's time over onnxc's; *roof* is", "the time that units (operations) or memory (weights, inputs, outputs once) need at least, over the measured one.", ""]
    for t in threads:
        if s := summary(record[t]):
            text += [f"- {t} thread(s): geometric mean {s['geomean']:.2f} over {s['models']} models, ahead on {s['ahead']}, worst {s['worst']:.2f} ({s['worst_model']})"]
    if any(summary(record[t]) for t in threads):
        (PAGE.parent / CHART).write_text(chart(record[threads[0]], threads[0]))
        text += ["", f"![ratios]({CHART})"]
    text += ["", table(record), "", END]
    page = PAGE.read_text()
    before, after = page.split(START)[0], page.split(END)[1]
    PAGE.write_text(before + "\n".join(text) + after)
    print(f"wrote {PAGE}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    p.add_argument("--threads", default="1,2")
    p.add_argument("--only", default="", type=pattern, help="models whose name has this regular expression")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.4, help="of each engine in a round")
    p.add_argument("--cpu", help="CPU level of the artefacts and of what the peers see: x86-64-v3, x86-64-v2; others limit artefacts alone")
    p.add_argument("--record", type=Path, help="JSON of all rows, read first and written after each model")
    p.add_argument("--write", action="store_true", help="rewrite docs/Performance.md and its chart")
    p.add_argument("--operators", action="store_true", help="time models of one operator each")
    p.add_argument("models", nargs="*", type=Path)
    args = p.parse_args()
    bench, all_good = Bench(args), True
    if args.operators:
        for threads in args.threads.split(","):
            behind, good = bench.operators(threads)
            all_good &= good
            print(f"-- behind, {threads} thread(s): {len(behind)}", *behind, sep="\n")
        sys.exit(not all_good)
    record = json.loads(args.record.read_text()) if args.record and args.record.exists() else {}
    models = bench.models()
    check(args, models, record, p)
    for threads in args.threads.split(","):
        rows = record.setdefault(threads, {})
        print(f"-- {threads} thread(s)", flush=True)
        for model in models:
            if model.stem not in rows:
                rows[model.stem] = bench.measure(model, threads)
                if args.record:
                    args.record.write_text(json.dumps(record, indent=1))
            all_good &= not is_bad(rows[model.stem])
            print(line(model.stem, rows[model.stem]), flush=True)
        if s := summary(rows):
            print(f"geometric mean {s['geomean']:.3f} over {s['models']} models, worst {s['worst']:.2f} ({s['worst_model']}), threads {threads}", flush=True)
    if args.write:
        write_page(record)
    sys.exit(not all_good)


if __name__ == "__main__":
    main()
