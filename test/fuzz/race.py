"""Artefacts under the thread sanitiser: every load and store of the runtime stub, of generated kernels and of library kernels is watched while
4 threads run one model. Part of `./dev soak`; soak.py is its neighbour without a sanitiser.

usage: race.py --onnxc BIN [--shared DIR] [--filter TEXT]      ends with `race: N passed, N failed, N skipped`

The code of a model is written as LLVM IR and instrumented; its object gives the tables and the weights. Models of its own hold every family of
kernels; real ones lie beside the checkout, where they are absent they are skipped. Also the unit tests of the stub.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from common import info, make, mlp_model, save, weight
from values import PATIENCE

LLVM = Path("/usr/lib/llvm-22/bin")
# Wide and masked accesses are split, since the sanitiser watches those of 1 to 16 bytes.
PASSES = "forceattrs,function(scalarize-masked-mem-intrin,scalarizer<load-store>),tsan-module,function(tsan)"
STUB = [str(p) for p in sorted((ROOT / "runtime_stub").glob("*.c")) if p.stem not in ("program", "codecs")]
SANITISE = ["-fsanitize=thread", "-g", "-O1", f"-I{ROOT}", f"-I{ROOT}/runtime_stub/include"]

# Real models and the size that their symbolic dims get.
REAL = {"face/mtcnn_rnet": 4, "face/blazeface_short_range": 1, "detection/ort_simplified_ssd": 1, "speech_kws/micro_kws_m_qoperator": 2, "audio/swift_f0": 2000,
        "llm_decoder/ort_gpt2_past": 3, "nlp/bert_toy_optimized": 5, "rnn/gap_mnist_gru": 2, "control_flow/ort_30_nested_loops": 1}


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=outputs.split()[0], **attributes)


def vision_model():
    """First layer, Winograd, strided, depthwise and 1x1 convolutions, pooling, a residual, Resize, transposed convolution."""
    nodes = [node("Conv", "x w0", "a", pads=[1] * 4), node("Relu", "a", "b"), node("Conv", "b w1", "c", pads=[1] * 4), node("Add", "c b", "d"),
             node("Conv", "d w2", "e", pads=[1] * 4, group=64), node("Conv", "e w3", "f", strides=[2, 2]), node("MaxPool", "f", "h", kernel_shape=[2, 2], strides=[2, 2]),
             helper.make_node("Resize", ["h", "", "s"], ["i"], name="i", mode="linear"), node("ConvTranspose", "i w4", "y", strides=[2, 2])]
    weights = [weight("w0", 64, 3, 3, 3), weight("w1", 64, 64, 3, 3, seed=1), weight("w2", 64, 1, 3, 3, seed=2), weight("w3", 32, 64, 1, 1, seed=3),
               weight("w4", 32, 8, 2, 2, seed=4), numpy_helper.from_array(np.array([1, 1, 2, 2], np.float32), "s")]
    return make(nodes, [info("x", 1, 3, 40, 40)], [info("y", 1, 8, 40, 40)], weights)


def attention_model():
    """Projections, attention over heads, normalisation, a product of run-time matrices and one row at a time."""
    nodes = [node("MatMul", "x q", "a"), node("MatMul", "x k", "b"), node("MatMul", "x v", "c"), *(node("Reshape", f"{i} shape", f"{i}4") for i in "abc"),
             node("Transpose", "a4", "at", perm=[0, 2, 1, 3]), node("Transpose", "b4", "bt", perm=[0, 2, 3, 1]), node("Transpose", "c4", "ct", perm=[0, 2, 1, 3]),
             node("MatMul", "at bt", "scores"), node("Mul", "scores scale", "scaled"), node("Softmax", "scaled", "p", axis=-1), node("MatMul", "p ct", "o"),
             node("Transpose", "o", "ot", perm=[0, 2, 1, 3]), node("Reshape", "ot back", "f"), node("Add", "f x", "r"), node("LayerNormalization", "r g", "n"),
             node("ReduceMean", "n axis", "m"), node("TopK", "m five", "y i", axis=-1)]
    weights = [weight("q", 96, 96), weight("k", 96, 96, seed=1), weight("v", 96, 96, seed=2), weight("g", 96, seed=3),
               *(numpy_helper.from_array(np.array(v, t), n) for n, v, t in (("shape", [0, -1, 4, 24], np.int64), ("back", [0, -1, 96], np.int64), ("axis", [1], np.int64),
                                                                              ("five", [5], np.int64), ("scale", 0.2, np.float32)))]
    return make(nodes, [info("x", 2, "s", 96)], [info("y", 2, 1, 5), info("i", 2, 1, 5, dtype=TensorProto.INT64)], weights)


def bytes_model():
    """Quantised products and convolutions, an LSTM, Gather, Scatter, Where, a loop."""
    body = helper.make_graph([node("Add", "state step", "next"), node("Identity", "keep", "on")], "body",
                             [info("trip", dtype=TensorProto.INT64), info("keep", dtype=TensorProto.BOOL), info("state", 8, 3, 64)],
                             [info("on", dtype=TensorProto.BOOL), info("next", 8, 3, 64)])
    nodes = [node("DynamicQuantizeLinear", "x", "xq xs xz"), node("MatMulInteger", "xq wq xz", "mi"), node("Cast", "mi", "mf", to=1), node("Mul", "mf xs", "ms"),
             node("LSTM", "ms w r", "l h", hidden_size=64), node("Squeeze", "l one", "step"), node("Loop", "three  step", "z", body=body),
             node("Transpose", "z", "t", perm=[1, 0, 2]), node("Gather", "t ids", "ga", axis=1), node("CumSum", "ga last", "cu"), node("Less", "cu zero", "le"),
             node("Where", "le cu ga", "y")]
    nodes[6].input[:] = ["three", "", "step"]
    r = np.random.default_rng(0)
    weights = [weight("w", 1, 256, 64), weight("r", 1, 256, 64, seed=1), numpy_helper.from_array(r.integers(-128, 128, (64, 64)).astype(np.int8), "wq"),
               *(numpy_helper.from_array(np.array(v, t), n) for n, v, t in (("three", 3, np.int64), ("one", [1], np.int64), ("ids", [0, 3, 1, 7], np.int64),
                                                                              ("last", 2, np.int64), ("zero", 0, np.float32)))]
    return make(nodes, [info("x", 8, 3, 64)], [info("y", 3, 4, 64)], weights)


def call(*command, **kwargs):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", **kwargs)
    if done.returncode:
        raise RuntimeError(f"{Path(str(command[0])).name}: exit {done.returncode}: {(done.stderr or done.stdout).strip()[:3000]}")
    return done.stdout


def link(args, source, folder, *flags):
    """A program of the driver, the stub and the model, all instrumented."""
    text, whole, code, tables, program = (folder / n for n in ("m.ll", "m.o", "code.bc", "tables.o", "driver"))
    call(args.onnxc, source, "-o", text, "--cpu", "x86-64-v3", *flags)
    call(args.onnxc, source, "-o", whole, "--cpu", "x86-64-v3", *flags)
    call(LLVM / "opt", text, f"-passes={PASSES}", "-force-attribute=sanitize_thread", "-o", code)
    getter = re.search(r"\bonnxc_get_api_\w+", call(LLVM / "llvm-nm", "--extern-only", "--defined-only", whole))[0]
    # What the object has of the code and of the stub gives way to the instrumented ones.
    replaced = re.findall(r"^define hidden .*?@([\w.]+)\(", text.read_text(), re.M)
    names = re.findall(r" [tT] (onnxc_\w+)$", call(LLVM / "llvm-nm", whole), re.M) + replaced
    give_way = [f"{flag}={name}" for name in names if name != getter for flag in ("--globalize-symbol", "--weaken-symbol")]
    give_way += [f"--globalize-symbol=onnxc_{name}" for name in ("the_plan", "the_info", "weights")]
    call(LLVM / "llvm-objcopy", *give_way, whole, tables)
    call(LLVM / "clang", *SANITISE, "-Wno-override-module", "-Wno-backend-plugin", "-fuse-ld=lld", "-pthread", f"-DGETTER={getter}", HERE / "RaceDriver.c", *STUB, code, tables, "-lm", "-o", program)
    return program


def check_model(args, source, size, *flags, runs=5):
    with tempfile.TemporaryDirectory() as tmp:
        program = link(args, source, Path(tmp), *flags)
        for pool in (0, 1):
            call(program, size, runs, pool, timeout=900 * PATIENCE, env={**os.environ, "TSAN_OPTIONS": "die_after_fork=0"})


def check_detects(args, source):
    """Threads that share a context race, and the reports must reach into generated code: else nothing here would prove anything."""
    with tempfile.TemporaryDirectory() as tmp:
        done = subprocess.run([link(args, source, Path(tmp)), "40", "5", "2"], capture_output=True, text=True, timeout=900 * PATIENCE)
        if "data race" not in done.stderr or not re.search(r"#0 \S+\.code ", done.stderr):
            raise RuntimeError("a race in a kernel was not found")


def check_stub():
    with tempfile.TemporaryDirectory() as tmp:
        objects = []
        for file in STUB:
            objects.append(Path(tmp) / (Path(file).stem + ".o"))
            call(LLVM / "clang", *SANITISE, "-c", file, "-o", objects[-1])
        tests = [HERE.parent / name for name in ("runtime/StubTest.cpp", "runtime/FakePlan.cpp", "CatchMain.cpp")]
        call(LLVM / "clang++", *SANITISE, "-std=c++17", "-fuse-ld=lld", "-pthread", *tests, *objects, "-o", Path(tmp) / "test")
        call(Path(tmp) / "test", timeout=900 * PATIENCE, env={**os.environ, "TSAN_OPTIONS": "die_after_fork=0"})


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--onnxc", required=True)
    p.add_argument("--shared", type=Path, default=Path("absent"))
    p.add_argument("--filter", default="")
    args = p.parse_args()
    failed = total = skipped = 0
    with tempfile.TemporaryDirectory() as tmp:
        own = {name: save(proto, Path(tmp) / f"{name}.onnx") for name, proto in
               (("mlp", mlp_model()), ("vision", vision_model()), ("attention", attention_model()), ("bytes", bytes_model()))}
        cases = {name: lambda s=source: check_model(args, s, 40) for name, source in own.items()}
        cases.update({f"{name} -O0": lambda s=source: check_model(args, s, 12, "-O0") for name, source in own.items()})
        there = {name: size for name, size in REAL.items() if (args.shared / "models" / f"{name}.onnx").exists()}
        skipped = len(REAL) - len(there)
        cases.update({name: lambda n=name, size=size: check_model(args, args.shared / "models" / f"{n}.onnx", size, runs=2) for name, size in there.items()})
        cases["detects"] = lambda: check_detects(args, own["mlp"])
        cases["stub"] = check_stub
        for name, case in cases.items():
            if args.filter not in name:
                continue
            total += 1
            try:
                case()
            except (RuntimeError, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"{name}: {e}", flush=True)
    print(f"race: {total - failed} passed, {failed} failed, {skipped} skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
