"""Commands on finished libraries: checks of the suite `cli` (run.py)."""
import json
from pathlib import Path

import numpy as np
from onnx import numpy_helper

from common import mlp_model, relu_model

QUICK = ["--duration", "0.02", "--warmup", "1"]
COMMANDS = {"run": [], "inspect": [], "bench": QUICK, "verify": ["--data", "."]}


def cut_libraries(s, folder):
    """A library that ends early is an error that names it, wherever the cut is; the system would stop the program when it reads such pages."""
    whole = s.compile(mlp_model(), folder).read_bytes()
    path = folder / "cut.so"
    (folder / "output_0.pb").write_bytes(b"")
    for size in (10, 63, 64, 200, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        for command, flags in COMMANDS.items() if size == len(whole) // 2 else [("run", [])]:
            text = s.onnxc(command, path, *flags, code=1, cwd=folder).stderr
            if f"error: '{path}' is cut or damaged: it has {size} bytes" not in text:
                return f"{command} of {size} bytes: {text}"
    return None if text.endswith(f"bytes of {len(whole)}\n") else text


def verify_layers_needs_a_model(s, folder):
    text = s.onnxc("verify", s.compile(relu_model(2, 3), folder), "--layers", code=2).stderr
    return None if "--layers" in text and ".onnx" in text else text


def flags_of_code(s, folder):
    """What was said when a library was made cannot be said again; where it runs can."""
    library = s.compile(mlp_model(), folder)
    for command, *flags in (["run", "-O0"], ["run", "--cpu", "native"], ["bench", "--no-winograd"], ["bench", "-g"], ["inspect", "--define-dim", "batch=2"], ["inspect", "--cache", folder],
                            ["verify", "--precision", "bf16"], ["verify", "--max-shapes", "x=2x96"], ["run", "--target", "x86_64-linux-gnu"]):
        text = s.onnxc(command, library, *flags, code=2).stderr
        if f"error: {flags[0][:2] if flags[0][1] == 'O' else flags[0]} is for compiling; '{library}' is compiled already; see 'onnxc {command} --help'" not in text:
            return f"{command} {flags}: {text}"
    s.onnxc("run", library, "--device", "cpu")
    return None


def weights_elsewhere(s, folder):
    """--weights names the file of weights that does not lie beside its library; inspect needs none."""
    library = s.compile(mlp_model(), folder, "--weights", "external")
    weights = Path(f"{library}.weights").rename(folder / "elsewhere")
    np.save(folder / "x.npy", np.zeros((1, 96), np.float32))
    (folder / "input_0.pb").write_bytes(numpy_helper.from_array(np.zeros((1, 96), np.float32)).SerializeToString())
    (folder / "output_0.pb").write_bytes(numpy_helper.from_array(np.zeros((1, 64), np.float32)).SerializeToString())
    for command, *flags in (["run"], ["bench", *QUICK], ["verify", "--atol", "1"]):
        text = s.onnxc(command, library, *flags, code=1).stderr
        if f"No such file" not in text or not text.endswith(f"'{library}.weights'; options.weights_path (--weights, in Python weights=) may name their file\n"):
            return f"{command}: {text}"
        s.onnxc(command, library, *flags, "--weights", weights)
    facts, told = json.loads(s.onnxc("inspect", library, "--json").stdout), s.onnxc("inspect", library)
    if "x  float32[batch,96]" not in told.stdout or "memory" in told.stdout or (facts["arena_bytes"], facts["reserved_bytes"]) != (-1, -1):
        return f"{facts} {told.stdout}"
    if not told.stderr.startswith("onnxc: note: memory is not known without the weights: ") or not told.stderr.endswith(f"'{library}.weights'\n"):
        return told.stderr
    for path, want in ((folder / "model.onnx", "is a model"), (s.compile(mlp_model(), folder, name="whole"), "holds its own")):
        text = s.onnxc("run", path, "--weights", weights, code=2).stderr
        if f"'{path}' {want}" not in text:
            return text
    weights.write_bytes(weights.read_bytes()[:-1])
    text = s.onnxc("run", library, "--weights", weights, code=1).stderr
    return None if f"'{weights}' is cut or damaged" in text else text


def artefacts_that_are_no_libraries(s, folder):
    kinds = {"": "a program: run it itself; --help tells how", ".a": "an archive, which becomes part of a program", ".o": "an object file, which becomes part of a program"}
    made = {s.compile(relu_model(2, 3), folder, suffix=suffix, name="relu"): what for suffix, what in kinds.items()}
    made[s.compile(relu_model(2, 3), folder, name="relu").rename(folder / "relu.so.1")] = "a library, whose name has to end in .so"
    for path, what in made.items():
        for command in ("run", "inspect", "bench"):
            text = s.onnxc(command, path, code=1).stderr
            if text != f"onnxc: error: '{path}' is {what}. Give the .onnx model, or a .so that was made of it\n":
                return text
    return None


CHECKS = [artefacts_that_are_no_libraries, cut_libraries, flags_of_code, verify_layers_needs_a_model, weights_elsewhere]
