"""The demonstration behind `./dev demo`: compiles a trained model to a library and to a program, runs both on real input, next to ONNX Runtime.

usage: demo.py --build DIR [--shared DIR]
The models lie beside the checkout; without them the onnx package's SqueezeNet graph (made-up weights) stands in.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnxruntime

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "runtime_stub" / "python"))

SEVEN = """
............................
............................
............................
............................
............................
.....################.......
....###################.....
....####################....
.....###########.######.....
.................#####......
................#####.......
................#####.......
...............#####........
...............####.........
..............#####.........
..............####..........
.............#####..........
.............####...........
............#####...........
............####............
...........#####............
...........####.............
..........#####.............
..........#####.............
..........####..............
............................
............................
............................
"""


def digit():
    return np.array([[c == "#" for c in line] for line in SEVEN.split()], np.float32).reshape(1, 1, 28, 28)


def models(shared):
    """(title, model, input array, what the output means)"""
    mnist = shared / "models/cls_cnn/mnist_cntk_opset8.onnx"
    picture = shared / "models/image2image/super_resolution_10.onnx"
    if mnist.exists():
        yield "MNIST, a trained digit classifier, on this drawing:\n" + SEVEN.replace(".", " "), mnist, digit() * 255, lambda y: f"the digit is a {y.argmax()}"
    if picture.exists():
        x = np.load(picture.with_suffix(".npz"))["in0"] if "in0" in np.load(picture.with_suffix(".npz")) else np.random.default_rng(0).random((1, 1, 224, 224), np.float32)
        yield "A trained super-resolution network, 224x224 to 672x672", picture, x, lambda y: f"a {y.shape[-1]}x{y.shape[-2]} picture, mean {y.mean():.4f}"
    if not mnist.exists() and not picture.exists():
        import onnx.backend.test.loader as loader
        path = Path(loader.DATA_DIR) / "light" / "light_squeezenet.onnx"
        x = np.random.default_rng(0).random((1, 3, 224, 224), np.float32)
        yield "SqueezeNet from the onnx package (made-up weights)", path, x, lambda y: f"class {y.argmax()}"


def median_ms(fn):
    fn()
    times = []
    end = time.perf_counter() + 0.5
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        fn()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e3


def size(path):
    n = os.path.getsize(path)
    return f"{n / 1e6:.1f} MB" if n > 1e6 else f"{n / 1e3:.0f} KB"


def compile_model(onnxc, model, out):
    start = time.perf_counter()
    subprocess.run([onnxc, model, "-o", out], check=True)
    return time.perf_counter() - start


def shown(path):
    """As it is typed where the demonstration was started."""
    return os.path.relpath(path)


def show(onnxc, title, path, x, meaning, folder):
    import onnxc as loader
    print(f"\n\033[1m{title}\033[0m")
    library, program = folder / f"{path.stem}.so", folder / path.stem
    for made in (library, program):
        seconds = compile_model(onnxc, path, made)
        print(f"  {shown(onnxc)} {shown(path)} -o {made.name}    {seconds:.2f} s, {size(made)}")
    model = loader.load(str(library), num_threads=1)
    name = model.inputs[0].name
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    ours, theirs = model.run({name: x}), session.run(None, {name: x})
    np.save(folder / "input.npy", x)
    done = subprocess.run([program, "--input", f"{name}={folder / 'input.npy'}"], capture_output=True, text=True)
    off = max(float(np.abs(a - b).max() / (np.abs(b).max() + 1e-12)) for a, b in zip(ours, theirs))
    print(f"  library       {median_ms(lambda: model.run({name: x})):9.3f} ms   {meaning(ours[0])}")
    print(f"  ONNX Runtime  {median_ms(lambda: session.run(None, {name: x})):9.3f} ms   {meaning(theirs[0])}   (1 thread each; largest difference {off:.1e})")
    lines = done.stdout.strip().splitlines()
    print(f"  program       exit {done.returncode}; it prints:")
    for line in lines[:4]:
        print(f"    {line[:140]}")
    return done.returncode == 0 and off < 1e-3


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    args = p.parse_args()
    onnxruntime.set_default_logger_severity(4)
    with tempfile.TemporaryDirectory() as tmp:
        good = [show(args.build / "bin" / "onnxc", *model, Path(tmp)) for model in models(args.shared)]
    print(f"\nNext, with a model of yours:\n  {shown(args.build / 'bin' / 'onnxc')} check model.onnx    whether everything in it can be compiled\n"
          "  docs/Use.md                          from Python, C, C++ and CMake, step by step")
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
