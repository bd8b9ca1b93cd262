"""Fuzzing for a given time: bytes as models and as images, arguments of an artefact's API, random graphs. `./dev fuzz SECONDS` builds and runs it.

usage: run.py --build DIR --loader DIR [--seconds N] [--seed N]      ends with `fuzz: N passed, N failed, N skipped`

Seeds are made here, nothing binary lies in the tree. Corpora grow in BUILD/fuzz; what crashes is written there and becomes a regression test.
"""
import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import _image_decoder_data

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from common import info, make, mlp_model, relu_model


def seeds():
    """Small models that between them hold every kind of field the importer reads."""
    yield relu_model(2, 3)
    yield mlp_model()
    branch = helper.make_graph([helper.make_node("Neg", ["x"], ["b"])], "branch", [], [info("b", 2)])
    yield make([helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)], [info("c", dtype=TensorProto.BOOL), info("x", 2)], [info("y", 2)])
    body = helper.make_graph([helper.make_node("Add", ["s", "s"], ["t"]), helper.make_node("Identity", ["k"], ["l"])], "body",
                             [info("i", dtype=TensorProto.INT64), info("k", dtype=TensorProto.BOOL), info("s", 2)], [info("l", dtype=TensorProto.BOOL), info("t", 2)])
    yield make([helper.make_node("Loop", ["m", "", "x"], ["y"], body=body)], [info("m", dtype=TensorProto.INT64), info("x", 2)], [info("y", 2)])
    function = helper.make_function("f", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 22)])
    called = make([helper.make_node("F", ["x"], ["y"], domain="f")], [info("x", 2)], [info("y", 2)])
    called.opset_import.append(helper.make_opsetid("f", 1))
    called.functions.append(function)
    yield called
    for i, array in enumerate((np.arange(6, dtype=np.int64), np.ones(3, bool), np.array(["a", "b"], object), np.ones((2, 2), np.complex64), np.float16(1))):
        weight = numpy_helper.from_array(np.asarray(array), "w")
        yield make([helper.make_node("Identity", ["w"], ["y"])], [], [helper.make_tensor_value_info("y", weight.data_type, list(weight.dims))], [weight])
    external = relu_model(2)
    external.graph.initializer.append(TensorProto(name="w", data_type=1, dims=[2], data_location=TensorProto.EXTERNAL))
    external.graph.initializer[0].external_data.add(key="location", value="w.bin")
    yield external
    for opset in (1, 7, 11, 13):
        yield make([helper.make_node("Softmax", ["x"], ["y"], axis=1)], [info("x", 2, 3)], [info("y", 2, 3)], opset=opset)


def images():
    """The pictures of ONNX's tests of ImageDecoder, one of each format."""
    for name, value in vars(_image_decoder_data).items():
        if name.startswith("image_decoder"):
            yield value.data.tobytes()


def libfuzzer(program, folder, seconds, seed):
    """Executions and whether nothing was found."""
    corpus = folder / program.stem
    corpus.mkdir(parents=True, exist_ok=True)
    start = {"fuzz_import": lambda: (m.SerializeToString() for m in seeds()), "fuzz_image": images}.get(program.stem, list)
    for i, seed_bytes in enumerate(start()):
        (corpus / f"seed{i}").write_bytes(seed_bytes)
    env = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program, corpus, f"-max_total_time={int(seconds)}", "-timeout=20", "-rss_limit_mb=3072", "-print_final_stats=1", "-max_len=20000",
                           f"-seed={seed}", f"-artifact_prefix={folder}/crash-{program.stem}-"], capture_output=True, text=True, errors="replace", env=env)
    count = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-40:]))
    return int(count[1]) if count else 0, done.returncode == 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--loader", required=True)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--seed", type=int, default=1)
    args = p.parse_args()
    good, folder = [], args.build / "fuzz"
    for name in ("fuzz_import", "fuzz_api", "fuzz_image"):
        count, ok = libfuzzer(args.build / "bin" / name, folder, args.seconds / 4, args.seed)
        print(f"{name}: {count} executions{'' if ok else ', FOUND SOMETHING'}", flush=True)
        good.append(ok)
    done = subprocess.run([sys.executable, HERE / "differential.py", "--onnxc", args.build / "bin" / "onnxc", "--loader", args.loader, "--out", folder,
                           "--seconds", str(args.seconds / 4), "--seed", str(args.seed)])
    good.append(done.returncode == 0)
    print(f"fuzz: {sum(good)} passed, {len(good) - sum(good)} failed, 0 skipped")
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
