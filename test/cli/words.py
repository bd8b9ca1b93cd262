"""Command lines with words that do not fit: checks of the suite `cli` (run.py)."""
import numpy as np
from onnx import helper

from common import info, make, relu_model, save
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
                            (["--tune", "1", model, *out], f"not expected: {model} (write --tune=1)"),
                            ([model, "--outptu", "m.so"], "not expected: --outptu m.so (did you mean --output?); --output is required; see"),
                            ([model, "m.so"], "not expected: m.so; --output is required; see"),
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
    (folder / "run=3").mkdir()
    np.save(folder / "run=3" / "x.npy", X)
    return None if "y: " in s.onnxc("run", model, "-i", f"x={folder}/run=3/x.npy").stdout else "a path with '=' is not read"


def verify_of_what_is_not_there(s, folder):
    model = save(relu_model(2, 3), folder / "m.onnx")
    for arguments, code, want in ((["none.onnx"], 1, "none.onnx: cannot be read: No such file or directory"), ([model], 2, "no test_data_set_* folder with output_0.pb in"),
                                  ([model, "--rtol", "-1"], 2, "--rtol: expected a number of at least 0, got '-1'"),
                                  ([model, "--atol", "x"], 2, "--atol: expected a number of at least 0, got 'x'")):
        if want not in (text := s.onnxc("verify", *arguments, code=code).stderr):
            return text
    return None


def random_inputs_take_given_sizes(s, folder):
    """A size with a name is the same in an input from a file and in one that nobody gives."""
    nodes = [helper.make_node("Add", ["a", "b"], ["y"])]
    model = save(make(nodes, [info("a", "n", 3), info("b", "n", 3)], [info("y", "n", 3)]), folder / "m.onnx")
    np.save(folder / "b.npy", np.ones((4, 3), np.float32))
    text = s.onnxc("run", model, "-i", f"b={folder / 'b.npy'}").stdout
    return None if text.startswith("y: float32[4,3] = ") else text


def flags_that_need_others(s, folder):
    model = save(relu_model(2, 3), folder / "m.onnx")
    for flags in (["--input", "x=x.npy"], ["--symbol-size", "3"]):
        text = s.onnxc(model, "-o", folder / "m.so", *flags, code=2).stderr
        if f"{flags[0]} requires --tune" not in text:
            return text
    text = s.onnxc(model, "-o", folder / "m.so", "-O0", "--precision", "bf16").stderr
    if text != "onnxc: warning: --precision bf16 changes nothing at -O0: weights stay as the model has them\n":
        return text
    text = s.onnxc("--print-pipeline").stdout
    return None if text.startswith("shapes: ") and s.onnxc(model, "--print-pipeline").stdout == text else text


def empty_names_of_cpus(s, folder):
    text = s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so", "--cpu", "", code=2).stderr
    return None if "--cpu '' is not known" in text else text


def data_that_is_not_there(s, folder):
    save(relu_model(2, 3), folder / "m.onnx")
    for flags, code, want in (([], 2, "no test_data_set_* folder with output_0.pb in '.'; give one with --data"), (["--data", "a", "--data", "b"], 1, "in 'a', 'b'\n")):
        text = s.onnxc("verify", "m.onnx", *flags, code=code, cwd=folder).stderr
        if want not in text:
            return text
    return None


def folders_that_keep_no_code(s, folder):
    """Said once, though verify --layers compiles twice."""
    (folder / "file").write_text("")
    model = save(relu_model(2, 3), folder / "m.onnx")
    for cache in (folder / "file", folder / "file" / "below"):
        for command in ([model, "-o", folder / "m.so"], ["verify", model, "--layers"]):
            text = s.onnxc(*command, "--cache", cache).stderr
            if text != f"onnxc: warning: --cache '{cache}': Not a directory; no code is kept\n":
                return text
    return None


CHECKS = [random_inputs_take_given_sizes, verify_of_what_is_not_there, data_that_is_not_there, empty_names_of_cpus, flags_that_need_others, folders_that_keep_no_code, inputs_that_name_no_file, unknown_command, unknown_words]
