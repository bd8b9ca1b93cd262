"""Builds and runs every example against a build of onnxc.

usage: run.py --build DIR       ends with `examples: N passed, N failed, N skipped`
       run.py --models DIR      only writes the examples' models: relu.onnx, scores.onnx, soft_clip.onnx
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parent / "runtime_stub" / "include"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]  # the headers must not disturb a strict user


def relu_model(path):
    """y = Relu(x), x: float32 [n, 3]."""
    import onnx
    from onnx import helper

    tensors = [helper.make_tensor_value_info(name, 1, ["n", 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="relu_0")], "relu", tensors[:1], tensors[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def scores_model(path):
    """y = Softmax(x w), x: float32 [n, 96], w of ones."""
    import onnx
    from onnx import helper, numpy_helper
    import numpy as np

    tensors = [helper.make_tensor_value_info("x", 1, ["n", 96]), helper.make_tensor_value_info("y", 1, ["n", 64])]
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Softmax", ["t"], ["y"])]
    graph = helper.make_graph(nodes, "scores", tensors[:1], tensors[1:], [numpy_helper.from_array(np.ones((96, 64), np.float32), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def custom_model(path):
    """y = SoftClip(Relu(x)) of the domain example.ops; y says its type and rank."""
    import onnx
    from onnx import helper

    tensors = [helper.make_tensor_value_info(name, 1, ["n", 3]) for name in "xy"]
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("SoftClip", ["r"], ["y"], domain="example.ops", limit=6.0)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("example.ops", 1)]
    onnx.save(helper.make_model(helper.make_graph(nodes, "soft_clip", tensors[:1], tensors[1:]), opset_imports=opsets, ir_version=10), path)


def write_models(folder):
    relu_model(f"{folder}/relu.onnx")
    scores_model(f"{folder}/scores.onnx")
    custom_model(f"{folder}/soft_clip.onnx")


def steps(build, folder):
    """(name, commands) of each example; all run in `folder`."""
    onnxc, cc, cxx = build / "bin" / "onnxc", shutil.which("cc") or "clang-22", shutil.which("c++") or "clang++-22"
    yield "c", [[onnxc, "relu.onnx", "-o", "relu.so"], [cc, HERE / "relu.c", f"-I{INCLUDE}", "./relu.so", "-Wl,-rpath,$ORIGIN", "-o", "c_example"], ["./c_example"]]
    yield "c++", [[onnxc, "relu.onnx", "-o", "relu.a", "--emit-header", "headers"],
                  [cxx, "-std=c++17", *WARNINGS, HERE / "relu.cpp", "-Iheaders", f"-I{INCLUDE}", "relu.a", "-lpthread", "-lm", "-o", "cpp_example"], ["./cpp_example"]]
    yield "two models", [[onnxc, "relu.onnx", "-o", "relu.a", "--emit-header", "headers"], [onnxc, "scores.onnx", "-o", "scores.a", "--emit-header", "headers"],
                         [cxx, "-std=c++17", *WARNINGS, HERE / "two.cpp", "-Iheaders", f"-I{INCLUDE}", "relu.a", "scores.a", "-lpthread", "-lm", "-o", "two_example"],
                         ["./two_example"]]
    yield "python", [[sys.executable, HERE / "relu.py", "relu.onnx", onnxc]]
    yield "program", [[onnxc, "relu.onnx", "-o", "relu"], ["./relu", "--repeat", "10", "--output-dir", "."]]
    yield "custom operator", [[cc, "-O2", "-fPIC", f"-I{INCLUDE}", "-c", HERE / "soft_clip.c", "-o", "soft_clip.o"], [shutil.which("ar") or "llvm-ar-22", "rcs", "soft_clip.a", "soft_clip.o"],
                              [onnxc, "soft_clip.onnx", "-o", "soft_clip", "--custom-op", "example.ops::SoftClip=soft_clip.a"], ["./soft_clip", "--repeat", "2", "--output-dir", "."]]
    cmake = shutil.which("cmake") or Path(sys.executable).with_name("cmake")
    models = [f"-DRELU_ONNX={folder}/relu.onnx", f"-DSCORES_ONNX={folder}/scores.onnx"]
    yield "cmake", [[cmake, "-S", HERE, "-B", "cmake", f"-Donnxc_DIR={HERE.parent / 'cmake' / 'package'}", f"-DONNXC_EXECUTABLE={onnxc}",
                     *models], [cmake, "--build", "cmake"], ["cmake/example"], [cmake, "-E", "rm", "cmake/scores.onnxc/scores.so.weights"],
                    [cmake, "--build", "cmake"], ["cmake/two"]]
    yield "installed", [[cmake, "--install", build, "--prefix", f"{folder}/to"], ["to/bin/onnxc", "--version"],
                        [cmake, "-S", HERE, "-B", "cmake2", f"-DCMAKE_PREFIX_PATH={folder}/to", *models, "-DONNXC_VERSION=0.1"],
                        [cmake, "--build", "cmake2"], ["cmake2/example"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--build", type=Path)
    what.add_argument("--models", type=Path)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.models:
        return write_models(args.models)
    passed = failed = 0
    environment = dict(os.environ, PYTHONPATH=str(HERE.parent / "runtime_stub" / "python"))
    with tempfile.TemporaryDirectory() as folder:
        write_models(folder)
        for name, commands in steps(args.build.resolve(), folder):
            for command in commands:
                done = subprocess.run([str(c) for c in command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
                if args.verbose or done.returncode:
                    print(f"{name}: {command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
                if done.returncode:
                    failed += 1
                    break
            else:
                passed += 1
    print(f"examples: {passed} passed, {failed} failed, 0 skipped")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
