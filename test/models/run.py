"""Real models with reference outputs. They lie beside the checkout (../shared) and are not part of the project: where they are absent, all are skipped.

usage: run.py --onnxc BIN --loader DIR --shared DIR [--update]       ends with `models: N passed, N failed, N skipped`

A model listed in xfail.txt must fail; one that passes all the same fails the run. --update rewrites the list.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import REUSE

XFAIL = Path(__file__).with_name("xfail.txt")
COUNT = 89


def read_xfail():
    lines = XFAIL.read_text().splitlines() if XFAIL.exists() else []
    return {line.split("#")[0].strip() for line in lines} - {""}


def write_xfail(bad):
    """Keeps the lines, and so the reasons, of models that still fail."""
    old = XFAIL.read_text().splitlines() if XFAIL.exists() else []
    reasons = {line.split("#")[0].strip(): line for line in old}
    comments = [line for line in old if line.startswith("#")]
    XFAIL.write_text("".join(f"{line}\n" for line in [*comments, *(reasons.get(name, name) for name in sorted(bad))]))


def check(args):
    """model -> "pass" or why not, from the checker that comes with the models; a few checkers, each with some of them, compiled for this
    machine alone: test/kernels has the other levels."""
    models, results = sorted((args.shared / "models").glob("*/*.onnx")), {}
    with tempfile.TemporaryDirectory() as tmp:
        running = []
        checkers = min(len(models), len(os.sched_getaffinity(0)), 4)
        for part in (models[i::checkers] for i in range(checkers)):
            report = Path(tmp) / f"{len(running)}.json"
            command = [sys.executable, args.shared / "tools" / "check_models.py", "--onnxc", args.onnxc, "--loader", args.loader, "--flags=" + shlex.join(["--cpu", "native", *REUSE]), "--json", report, *part]
            running.append((report, subprocess.Popen([str(c) for c in command], stdout=subprocess.PIPE, text=True)))
        for report, process in running:
            print(process.communicate()[0].rstrip())
            results |= json.loads(report.read_text()) if report.exists() else {f"check_models.py {report.stem}": f"exit {process.returncode}"}
    return results


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--shared", required=True, type=Path)
    p.add_argument("--update", action="store_true")
    args = p.parse_args()
    if not (args.shared / "models").is_dir():
        print(f"skipped: there is no {args.shared}/models with the models beside the checkout")
        print(f"models: 0 passed, 0 failed, {COUNT} skipped")
        return
    results = check(args)
    bad = {name for name, result in results.items() if result != "pass"}
    if args.update:
        write_xfail(bad)
    unexpected = bad ^ read_xfail()
    for name in sorted(unexpected):
        print(f"{name}: {results.get(name, 'no such model') if name in bad or name not in results else 'passes, but xfail.txt lists it'}")
    print(f"models: {len(results) - len(unexpected)} passed, {len(unexpected)} failed, 0 skipped")
    sys.exit(bool(unexpected))


if __name__ == "__main__":
    main()
