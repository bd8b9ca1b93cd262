"""Runs the test suites and ends with one line for all of them: `N passed, N failed`. Called by `./dev test`.

usage: run.py --build DIR [--update] [SUITE …]

Each suite is a function that returns Result(passed, failed, skipped); what fails is printed as it is found, or where there are several suites, which
run two at a time, when its suite ends.
"""
import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import namedtuple
from pathlib import Path

from common import ROOT, dumped_suite

TEST = ROOT / "test"
SHARED = ROOT.parent / "shared"
LOADER = ROOT / "runtime_stub" / "python"
PYTHON = sys.executable

Result = namedtuple("Result", "passed failed skipped")


def call(*command, **kwargs):
    return subprocess.run([str(c) for c in command], text=True, **kwargs)


def script(*command):
    """A suite of our own: its last line is `<name>: N passed, N failed, N skipped`."""
    done = call(PYTHON, *command, stdout=subprocess.PIPE)
    lines = done.stdout.rstrip().splitlines()
    counts = re.match(r"\w+: (\d+) passed, (\d+) failed, (\d+) skipped", lines[-1]) if lines else None
    for line in lines[:-1] if counts else lines:
        print(line)
    return Result(*map(int, counts.groups())) if counts else Result(0, 1, 0)


def finished_code(args):
    """The folder of finished code that suites may take up: what another compiler made is gone."""
    folder, compiler = args.build / "code", args.onnxc.stat()
    made_by = folder / f"{compiler.st_size}-{compiler.st_mtime_ns}"
    if not made_by.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        made_by.touch()
    return str(folder)


# ---- suites -------------------------------------------------------------------------------------------------------------------------------

def suite_rules(args):
    return script(TEST / "rules" / "rules.py")


def suite_scripts(args):
    return script(TEST / "rules" / "scripts.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_lit(args):
    report = args.build / "lit.json"
    report.unlink(missing_ok=True)  # an older one would speak for a lit that breaks off
    call("/usr/lib/llvm-22/bin/lit", "--quiet", "-o", report, f"-Dbuild={args.build}", TEST)
    tests = json.loads(report.read_text())["tests"] if report.exists() else [{"code": "FAIL"}]
    good = sum(t["code"] in ("PASS", "XFAIL") for t in tests)
    skipped = sum(t["code"] in ("UNSUPPORTED", "SKIPPED") for t in tests)
    return Result(good, len(tests) - good - skipped, skipped)


def suite_unit(args):
    passed = failed = 0
    programs = [p for p in sorted((args.build / "test" / "bin").glob("*")) if os.access(p, os.X_OK) and p.is_file()]
    if not programs:
        print(f"no test programs in {args.build}/test/bin")
        return Result(0, 1, 0)
    for program in programs:
        done = call(program, "--reporter", "compact", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=args.build)
        listed = call(program, "--list-test-names-only", stdout=subprocess.PIPE).stdout.splitlines()
        total = len([line for line in listed if line.strip()]) or 1
        bad = re.search(r"Failed (?:all )?(\d+|both) (?:of \d+ )?test case", done.stdout)
        wrong = 0 if done.returncode == 0 else min(total, int(bad[1]) if bad and bad[1].isdigit() else 1)
        if wrong:
            print(f"{program.name}: exit {done.returncode}\n" + "\n".join(done.stdout.splitlines()[-30:]))
        passed, failed = passed + total - wrong, failed + wrong
    return Result(passed, failed, 0)


def suite_errors(args):
    return script(TEST / "errors" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_check(args):
    return script(TEST / "errors" / "check.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_abi(args):
    return script(TEST / "abi" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_targets(args):
    os.environ["ONNXC_TEST_SUITE"] = str(dumped_suite())
    return script(TEST / "targets" / "run.py", "--onnxc", args.onnxc, "--loader", TEST / "targets" / "loader")


def suite_robust(args):
    return script(TEST / "robust" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_fuzz(args):
    """The fuzzers, which compile some files again, are built and run for a moment each."""
    if call("ninja", "-C", args.build, "--quiet", "fuzz").returncode:
        return Result(0, 1, 0)
    return script(TEST / "fuzz" / "run.py", "--build", args.build, "--loader", LOADER, "--seconds", 8)


def suite_cli(args):
    return script(TEST / "cli" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_kernels(args):
    return script(TEST / "kernels" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_types(args):
    return script(TEST / "kernels" / "every_type.py", "--onnxc", args.onnxc, "--loader", LOADER, "--suite", dumped_suite())


def suite_gradients(args):
    return script(TEST / "kernels" / "gradients.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_forms(args):
    return script(TEST / "kernels" / "old_forms.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_peer(args):
    call(PYTHON, TEST / "conformance" / "peer.py", args.build / "peer", check=True, stdout=subprocess.DEVNULL)
    return script(TEST / "conformance" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER, "--suite", args.build / "peer", "--kind", "peer", "--mode", "static", "O0")


def suite_containers(args):
    return script(TEST / "kernels" / "containers.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_microsoft(args):
    return script(TEST / "kernels" / "microsoft.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_search(args):
    return script(TEST / "kernels" / "search.py", "--onnxc", args.onnxc, "--loader", LOADER)


def suite_models(args):
    return script(TEST / "models" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER, "--shared", SHARED, *(["--update"] if args.update else []))


def suite_examples(args):
    return script(ROOT / "examples" / "run.py", "--build", args.build)


def suite_conformance(args):
    return script(TEST / "conformance" / "run.py", "--onnxc", args.onnxc, "--loader", LOADER, "--suite", dumped_suite(), "--json", args.build / "conformance.json",
                  "--mode", *args.mode, *(["--update"] if args.update else []))


def suite_docs(args):
    return script(ROOT / "tools" / "docs.py", "--build", args.build, "--check")


SUITES = {name[6:]: value for name, value in list(globals().items()) if name.startswith("suite_")}


def timed(name, args):
    started = time.time()
    print(f"== {name}", flush=True)
    r = SUITES[name](args)
    print(f"-- {name}: {r.passed} passed, {r.failed} failed, {r.skipped} skipped ({time.time() - started:.0f} s)", flush=True)
    return r


def two_at_a_time(names, args):
    """The suites' results. Two: some suites do one thing at a time, and a process that waits for its disk leaves its processor to another suite."""
    options = ["--build", args.build, "--mode", *args.mode, *(["--update"] if args.update else [])]
    waiting = collections.deque(sorted(names, key=lambda name: name != "conformance"))  # by far the longest
    running = {}
    try:
        while waiting or running:
            while waiting and len(running) < 2:
                log = tempfile.TemporaryFile("w+")
                name = waiting.popleft()
                child = subprocess.Popen([str(c) for c in (PYTHON, __file__, name, *options)], stdout=log, stderr=subprocess.STDOUT)
                running[child.pid] = name, log, child
            pid, _ = os.wait()
            name, log, child = running.pop(pid)
            with log:
                log.seek(0)
                text = log.read()
            report = re.search(rf"^-- {name}: (\d+) passed, (\d+) failed, (\d+) skipped .*\n", text, re.M)
            print(text[:report.end()] if report else f"{text}-- {name}: ended without a result\n", end="", flush=True)
            yield Result(*map(int, report.groups())) if report else Result(0, 1, 0)
    finally:
        for _, _, child in running.values():
            child.terminate()


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("suites", nargs="*", metavar="SUITE", help=", ".join(SUITES))
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--update", action="store_true", help="rewrite the expected-failure lists from this run")
    p.add_argument("--mode", nargs="+", default=["static", "symbolic", "O0"], help="modes of the conformance suite: static symbolic O0")
    args = p.parse_args()
    unknown = [s for s in args.suites if s not in SUITES]
    if unknown:
        p.error(f"no suite {', '.join(unknown)}; there are: {', '.join(SUITES)}")
    args.build = args.build.resolve()
    args.onnxc = args.build / "bin" / "onnxc"
    if "ONNXC_SANITIZE:BOOL=ON" in (args.build / "CMakeCache.txt").read_text():
        os.environ.setdefault("ONNXC_TEST_PATIENCE", "8")
    os.environ["ONNXC_TEST_CODE"] = finished_code(args)
    names = args.suites or list(SUITES)
    if len(names) == 1:
        total = timed(names[0], args)
    else:
        dumped_suite()  # several suites would begin to write it
        total = Result(*map(sum, zip(*two_at_a_time(names, args))))
    if total.skipped:
        print(f"{total.skipped} skipped")
    print(f"{total.passed} passed, {total.failed} failed")
    sys.exit(total.failed != 0)


if __name__ == "__main__":
    main()
