"""Commands on finished libraries: checks of the suite `cli` (run.py)."""
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


CHECKS = [cut_libraries, verify_layers_needs_a_model]
