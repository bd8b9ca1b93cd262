"""Threads that run mixed models for minutes: results stay bit-equal to the first, memory stays flat. `./dev soak MINUTES` runs it.

usage: soak.py --onnxc BIN --loader DIR [--minutes N] [--threads N]      ends with `soak: N passed, N failed, N skipped`
"""
import argparse
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite, mlp_model, relu_model


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def worker(models, end, counts, wrong, index):
    """Each thread has contexts of its own: a loaded model belongs to one thread at a time."""
    r = np.random.default_rng(index)
    while time.time() < end and not wrong:
        model, feed, want = models[int(r.integers(len(models)))]
        got = model.run(feed)
        if any(a.tobytes() != b.tobytes() for a, b in zip(want, got)):
            wrong.append(f"thread {index}: a result differs from the first one")
        counts[index] += 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--minutes", type=float, default=10)
    p.add_argument("--threads", type=int, default=8)
    args = p.parse_args()
    sys.path.insert(0, args.loader)
    import onnxc
    tool = Suite("soak", __doc__)
    tool.args = args
    r = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as tmp:
        libraries = [(tool.compile(mlp_model(), Path(tmp), name="a"), (9, 96)), (tool.compile(mlp_model(4), Path(tmp), name="b"), (4, 96)),
                     (tool.compile(relu_model(64, 64), Path(tmp), name="c"), (64, 64))]
        feeds = [r.standard_normal(shape).astype(np.float32) for _, shape in libraries]
        sets = []
        for t in range(args.threads):
            loaded = [onnxc.load(str(path), num_threads=1 + t % 2) for path, _ in libraries]
            sets.append([(m, {"x": x}, [a.copy() for a in m.run({"x": x})]) for m, x in zip(loaded, feeds)])
        for other in sets[1:]:
            assert all(a[2][0].tobytes() == b[2][0].tobytes() for a, b in zip(sets[0], other)), "threads disagree"
        begun = time.time()
        counts, wrong, end = [0] * args.threads, [], begun + args.minutes * 60
        threads = [threading.Thread(target=worker, args=(sets[t], end, counts, wrong, t)) for t in range(args.threads)]
        for t in threads:
            t.start()
        time.sleep(min(30, args.minutes * 12))
        warm = resident()
        for t in threads:
            t.join()
        growth = resident() / warm - 1
    if growth > 0.01:
        wrong.append(f"memory grew by {growth:.1%} after the warm-up")
    print("\n".join(wrong))
    print(f"{sum(counts)} runs in {time.time() - begun:.0f} s on {args.threads} threads, memory {growth:+.2%} of {warm >> 20} MiB")
    print(f"soak: {int(not wrong)} passed, {len(wrong)} failed, 0 skipped")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
