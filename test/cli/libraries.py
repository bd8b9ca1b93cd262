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


CHECKS = [cut_libraries, flags_of_code, verify_layers_needs_a_model]
