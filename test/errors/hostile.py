"""Bad, malicious and nasty-but-legal models from the generator that lies beside the checkout. `./dev hostile` runs it; too long for continuous integration.

usage: hostile.py --onnxc BIN --loader DIR --shared DIR [--seed N] [--filter REGEX]      ends with `hostile: N passed, N failed, N skipped`

Every case: no signal, no assertion text, within its limits, nothing left behind on failure, and a diagnostic that names what it should.
"""
import argparse
import collections
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from values import PATIENCE, compare, forked, read_value

RUN_ADDRESS_SPACE = 4 << 30


def limit_memory(mebibytes):
    return lambda: resource.setrlimit(resource.RLIMIT_DATA, (mebibytes << 20, mebibytes << 20))


def compile_case(case, args, root, out):
    limits = {"seconds": 20, "rss_mib": 2048, **case.get("limits", {})}
    begun = time.time()
    try:
        done = subprocess.run([args.onnxc, str(root / case["file"]), "-o", str(out)], capture_output=True, timeout=limits["seconds"] * PATIENCE,
                              preexec_fn=limit_memory(limits["rss_mib"]))
    except subprocess.TimeoutExpired:
        return None, f"compile: over {limits['seconds'] * PATIENCE:.0f} s"
    if time.time() - begun > limits["seconds"]:  # only where a busy machine was given more time
        print(f"{case['name']}: took {time.time() - begun:.0f} s, its limit on a machine of its own is {limits['seconds']} s", flush=True)
    text = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1, 2, 3) or re.search(r"[Aa]ssert(ion)?\b.*failed|terminate called", text):
        return None, f"compile: crash, exit {done.returncode}: {text.strip()[:200]}"
    if done.returncode:
        if out.exists():
            return None, "compile failed and left a file"
        if not text.strip():
            return None, f"compile: exit {done.returncode} without a diagnostic"
        wanted = case.get("diagnostic_mentions_any")
        if wanted and not any(w.lower() in text.lower() for w in wanted):
            return None, f"diagnostic mentions none of {wanted}: {text.strip()[:200]}"
    return done.returncode, text


def run_case(case, root, library):
    """"ok", "status: …" for an error status of the library, or what went wrong."""
    import onnxc
    resource.setrlimit(resource.RLIMIT_AS, (RUN_ADDRESS_SPACE, RUN_ADDRESS_SPACE))
    model = onnx.load(root / case["file"], load_external_data=False) if case.get("inputs") or case.get("expected") else None
    types = {i.name: i.type for i in [*model.graph.input, *model.graph.output]} if model else {}
    feed = {i["name"]: read_value(root / i["file"], types[i["name"]]) for i in case.get("inputs", [])}
    try:
        got = onnxc.load(str(library), num_threads=2).run(feed)
    except onnxc.Error as e:
        return f"status: {e}"
    for want, value in zip(case.get("expected", []), got):
        why = compare(read_value(root / want["file"], types[want["name"]]), value, case["rtol"], case["atol"])
        if why:
            return f"output {want['name']}: {why}"
    return "ok"


def check(case, args, root):
    """None when the case is as it should be, else what is not."""
    expectation = case["expectation"]
    with tempfile.TemporaryDirectory() as tmp:
        library = Path(tmp) / "model.so"
        code, text = compile_case(case, args, root, library)
        if code is None:
            return text
        if code:
            return None if expectation in ("error", "either") else f"refused: {text.strip()[:200]}"
        if expectation == "error" and case["error_at"] == "compile":
            return "compiles, but should be refused"
        if case.get("compile_only") or not (case.get("inputs") or case.get("expected")):
            return None
        result = forked(lambda: run_case(case, root, library), int(60 * PATIENCE))
    wants_status = expectation in ("error", "compiles+runtime_error")
    if result.startswith("status: "):
        return None if wants_status or expectation == "either" else result
    return ("runs, but should be an error status" if wants_status else None) if result == "ok" else result


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--shared", required=True, type=Path)
    p.add_argument("--seed", default="7")
    p.add_argument("--filter", default="")
    args = p.parse_args()
    generator = args.shared / "hostile" / "make_hostile.py"
    if not generator.exists():
        print("hostile: 0 passed, 0 failed, 833 skipped")
        return
    sys.path.insert(0, args.loader)
    reasons, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as tmp:
        root = Path(tmp)
        subprocess.run([sys.executable, generator, root, "--seed", args.seed], check=True, stdout=subprocess.DEVNULL)
        cases = [c for c in json.loads((root / "manifest.json").read_text())["cases"] if re.search(args.filter, c["name"])]
        skipped = [c for c in cases if c.get("skip_if_root") and os.geteuid() == 0]
        cases = [c for c in cases if c not in skipped]
        for case in cases:
            wrong = check(case, args, root)
            if wrong:
                failed += 1
                reasons[case["category"]] += 1
                print(f"{case['name']}: {wrong}", flush=True)
    print(f"by category: {dict(reasons)}")
    print(f"hostile: {len(cases) - failed} passed, {failed} failed, {len(skipped)} skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
