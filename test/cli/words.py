"""Command lines with words that do not fit: checks of the suite `cli` (run.py)."""
import numpy as np

from common import relu_model, save
from custom import X


def unknown_command(s, folder):
    text = s.onnxc("frobnicate", code=2).stderr
    return None if "frobnicate" in text and "--help" in text else text


def unknown_words(s, folder):
    """Words come back in the order they were typed, with the flag that is meant where one is almost the same."""
    model = save(relu_model(2, 3), folder / "m.onnx")
    out = ["-o", folder / "m.so"]
    for arguments, want in ((["bench", model, "--warmUp", "3"], "not expected: --warmUp 3 (did you mean --warmup?); see 'onnxc bench --help'"),
                            (["bench", model, "--warmpu=3"], "not expected: --warmpu=3 (did you mean --warmup?)"),
                            ([model, *out, "--external-weights"], "not expected: --external-weights (did you mean --weights embedded|external?)"),
                            (["run", model, "--output", "d"], "not expected: --output d (did you mean --output-dir?)"),
                            ([model, *out, "--opt", "3"], "not expected: --opt 3; see 'onnxc --help'"),
                            ([model, *out, "--no-such-flag"], "not expected: --no-such-flag; see"),
                            ([model, *out, "--tune", "1"], "not expected: 1 (write --tune=1)"),
                            ([model, "--outptu", "m.so"], "not expected: --outptu m.so (did you mean --output?)"),
                            ([model, *out, "b.onnx", "c.onnx"], "not expected: b.onnx c.onnx; see")):
        text = s.onnxc(*arguments, code=2).stderr
        if f"error: {want}" not in text:
            return f"{text}instead of {want}"
    return None if "\n  --tune[=SECONDS]  " in s.onnxc("--help").stdout else "--help does not show how --tune takes its value"


def inputs_that_name_no_file(s, folder):
    model = save(relu_model(2, 3), folder / "m.onnx")
    np.savez(folder / "x.npz", x=X)
    for flags, code, want in ((["-i", "x_ok.npy"], 2, "--input: expected NAME=FILE, got 'x_ok.npy'; see"), (["-i", "x="], 2, "expected NAME=FILE, got 'x='"),
                              (["-i", "x=a.npy", "-i", "x=b.npy"], 2, "--input: 'x' is given twice: 'a.npy' and 'b.npy'"),
                              (["-i", f"x={folder}/x.npz"], 1, "x.npz': not a .npy file but a .npz archive of several: unpack it")):
        text = s.onnxc("run", model, *flags, code=code).stderr
        if want not in text:
            return text
    return None


CHECKS = [inputs_that_name_no_file, unknown_command, unknown_words]
