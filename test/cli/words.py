"""Command lines with words that do not fit: checks of the suite `cli` (run.py)."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from common import info, make, mlp_model, relu_model, save, weight
from custom import X


def unknown_command(s, folder):
    for word, want in (("frobnicate", "no command and no file 'frobnicate'; see 'onnxc --help'"), ("verfy", "no command and no file 'verfy' (did you mean verify?); see"), ("rnu", "'rnu' (did you mean run?); see"),
                       ("help", "'help' (did you mean --help?); see"), ("rum", "no file 'rum'; see")):
        text = s.onnxc(word, "m.onnx", code=2).stderr
        if want not in text:
            return text
    return None


def names_that_are_almost_right(s, folder):
    model = save(make([helper.make_node("Relu", ["image"], ["y"])], [info("image", "batch", 3)], [info("y", "batch", 3)]), folder / "m.onnx")
    out = ["-o", folder / "m.so"]
    for arguments, code, want in ((["run", model, "--input", "imagee=x.npy"], 2, "no input 'imagee' in the model (did you mean image?); it has 'image'\n"),
                                  (["run", model, "--input", "x=x.npy"], 2, "no input 'x' in the model; it has 'image'\n"),
                                  ([model, *out, "--max-shapes", "images=1x3"], 2, "--max-shapes: the model has no input 'images' (did you mean image?); there are: 'image'\n"),
                                  ([model, *out, "--define-dim", "batch=1,n=2"], 2, "the dimension 'batch=1,n' of --define-dim; there are: batch; give --define-dim once for each dimension\n"),
                                  ([model, *out, "--define-dim", "Batch=1"], 2, "has the dimension 'Batch' of --define-dim (did you mean batch?); there are: batch\n")):
        text = s.onnxc(*arguments, code=code).stderr
        if want not in text:
            return text
    return None


def unknown_words(s, folder):
    """Words come back in the order they were typed, with the flag that is meant where one is almost the same."""
    model = save(relu_model(2, 3), folder / "m.onnx")
    out = ["-o", folder / "m.so"]
    for arguments, want in ((["bench", model, "--WarmUp", "3"], "not expected: --WarmUp 3 (did you mean --warmup?); see 'onnxc bench --help'"),
                            (["bench", model, "--warmpu=3"], "not expected: --warmpu=3 (did you mean --warmup?)"),
                            ([model, *out, "--external-weights"], "not expected: --external-weights (did you mean --weights embedded|external?)"),
                            (["run", model, "--output", "d"], "not expected: --output d (did you mean --output-dir?)"),
                            ([model, *out, "--opt", "3"], "not expected: --opt 3; see 'onnxc --help'"),
                            ([model, *out, "--no-such-flag"], "not expected: --no-such-flag; see"),
                            ([model, *out, "--tune", "1"], "not expected: 1 (write --tune=1)"),
                            (["--tune", "1", model, *out], f"not expected: {model} (write --tune=1)"),
                            (["ops", "--jso"], "not expected: --jso (did you mean --json?)"), ([model, "--outptu", "m.so"], "not expected: --outptu m.so (did you mean --output?); --output is required; see"),
                            ([model, *out, "--max-shapes", "x=2x3", "x2=2x3"], "not expected: x2=2x3 (write --max-shapes x2=2x3); see"),
                            ([model, *out, "--define-dim", "n=2", "--max-shapes", "x=2x3", "x2=2x3"], "not expected: x2=2x3; see"),
                            ([model, "m.so"], "not expected: m.so; --output is required; see"),
                            ([model, *out, "b.onnx", "c.onnx"], "not expected: b.onnx c.onnx; see")):
        text = s.onnxc(*arguments, code=2).stderr
        if f"error: {want}" not in text:
            return f"{text}instead of {want}"
    text = s.onnxc("--help").stdout
    return None if "\n  --tune[=SECONDS]  " in text and "--define-dim NAME=SIZE  " in text else f"--help does not show how --tune and --define-dim take their values: {text}"


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


def exit_codes_agree(s, folder):
    """2: a command line names what the model does not have; 1: a file is missing; the same in every command."""
    model = save(relu_model("n", 3), folder / "m.onnx")
    commands = {"run": [], "bench": ["--duration", "0"], "verify": ["--layers"], "check": [], "inspect": [], "": ["-o", folder / "m.so"]}
    names = [["--define-dim", "z=2"], ["--max-shapes", "z=2x3"], ["--min-shapes", "x=2x3x4"], ["--cpu", "z"]]
    files = [["--schedules", folder / "none.json"], ["--custom-op", f"d::Op={folder}/none.a"]]
    inputs = {"run", "bench", "verify"}
    for command, more in commands.items():
        for code, cases in ((2, names + [["--input", "z=x.npy"], ["--symbol-size", "z=1"]] * (command in inputs)), (1, files + [["--input", f"x={folder}/none.npy"]] * (command in inputs))):
            for flags in cases:
                s.onnxc(*filter(None, [command]), model, *more, *flags, code=code)
    for target in (model, s.compile(relu_model(2, 3), folder)):
        s.onnxc("verify", target, code=1)
        s.onnxc("verify", target, "--data", folder / "none", code=1)
    return None


def verify_of_what_is_not_there(s, folder):
    model = save(relu_model(2, 3), folder / "m.onnx")
    for arguments, code, want in ((["none.onnx"], 1, "none.onnx: cannot be read: No such file or directory"), ([model], 1, "no test_data_set_* folder with output_0.pb in"),
                                  ([model, "--layers", "--data", folder], 1, "no test_data_set_* folder with output_0.pb in"),
                                  ([model, "--rtol", "-1"], 2, "--rtol: expected a number of at least 0, got '-1'"),
                                  ([folder], 1, ": is a folder, not a file; test data is given with --data"), ([model, "--atol", "x"], 2, "--atol: expected a number of at least 0, got 'x'")):
        if want not in (text := s.onnxc("verify", *arguments, code=code).stderr):
            return text
    return None


def random_inputs_of_huge_sizes(s, folder):
    """Said of the input before memory is asked for."""
    model = save(make([helper.make_node("Relu", ["x"], ["y"])], [info("x", "n", 1000)], [info("y", "n", 1000)]), folder / "m.onnx")
    for size, words in (("4000000000", "takes 16000000000000 bytes"), ("4000000000000000000", "takes 2^63 or more bytes")):
        for command in (["run", model], ["verify", model, "--layers"]):
            text = s.onnxc(*command, "--symbol-size", size, code=1).stderr
            if f"random input 'x', float32[{size},1000], {words}; this machine has " not in text:
                return text
    return None


def layers_of_given_inputs(s, folder):
    """--input and --symbol-size are what --layers runs on, in the place of the first set."""
    model = save(mlp_model(), folder / "m.onnx")
    for flags in (["--symbol-size", "3"], ["--input", "x=x.npy"]):
        text = s.onnxc("verify", model, *flags, code=2).stderr
        if f"{flags[0]} requires --layers" not in text:
            return text
    np.save(folder / "x.npy", np.full((3, 96), np.nan, np.float32))
    for flags, words in ((["--input", f"x={folder}/x.npy"], " 0 differ\n"), (["--symbol-size", "5"], " 0 differ; most: ")):
        text = s.onnxc("verify", model, "--layers", *flags).stdout
        if words not in text or text.startswith("0 of"):
            return text
    text = s.onnxc("verify", model, "--layers", "--input", "z=x.npy", code=2).stderr
    return None if "no input 'z' in the model; it has 'x'" in text else text


def layers_of_nothing(s, folder):
    """Neither values that only pass through nor strings can be compared; numbers beside strings are."""
    string = TensorProto.STRING
    nodes = [helper.make_node("StringConcat", ["x", "x"], ["y"]), helper.make_node("Relu", ["f"], ["g"])]
    values = [info("x", 2, dtype=string), info("f", 2)], [info("y", 2, dtype=string), info("g", 2)]
    save(make([helper.make_node("Identity", ["f"], ["g"])], [values[0][1]], [values[1][1]]), folder / "passed.onnx")
    save(make(nodes[:1], values[0][:1], values[1][:1]), folder / "strings.onnx")
    for name in ("passed", "strings"):
        text = s.onnxc("verify", folder / f"{name}.onnx", "--layers", code=1).stderr
        if "nothing was compared: --layers compares tensors of numbers" not in text:
            return text
    text = s.onnxc("verify", save(make(nodes, *values), folder / "both.onnx"), "--layers").stdout
    return None if text.startswith("1 of 1 results") else text


def layers_in_blocks(s, folder):
    """A convolution's blocks of channels meet what -O0 makes, with one spatial axis and with two."""
    for axes in (1, 2):
        nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv"), helper.make_node("Conv", ["c", "v"], ["y"], name="next")]
        weights = [weight("w", 24, 16, *[3] * axes), weight("v", 16, 24, *[3] * axes, seed=1)]
        model = save(make(nodes, [info("x", 1, 16, *[9] * axes)], [info("y", 1, 16, *[5] * axes)], weights), folder / "m.onnx")
        text = s.onnxc("verify", model, "--layers").stdout
        if not text.startswith("2 of 2 results"):
            return f"{axes} axes: {text}"
    return None


def advice_needs_the_first_set(s, folder):
    """Layers that agree on a set that passes say nothing of one that fails."""
    model = save(relu_model(2, 3), folder / "m.onnx")
    for first, second, advised in ((0, 0.5, False), (0.5, 0, True)):
        for i, off in enumerate((first, second)):
            data = folder / f"{first}" / f"test_data_set_{i}"
            data.mkdir(parents=True)
            (data / "input_0.pb").write_bytes(numpy_helper.from_array(X, "x").SerializeToString())
            (data / "output_0.pb").write_bytes(numpy_helper.from_array(np.maximum(X, 0) + np.float32(off), "y").SerializeToString())
        text = s.onnxc("verify", model, "--data", folder / f"{first}", "--layers", code=1).stdout
        if ("look for the difference in the model or in the data" in text) != advised:
            return text
    return None


def random_inputs_take_given_sizes(s, folder):
    """A size with a name is the same in an input from a file and in one that nobody gives."""
    nodes = [helper.make_node("Add", ["a", "b"], ["y"])]
    model = save(make(nodes, [info("a", "n", 3), info("b", "n", 3)], [info("y", "n", 3)]), folder / "m.onnx")
    np.save(folder / "b.npy", np.ones((4, 3), np.float32))
    text = s.onnxc("run", model, "-i", f"b={folder / 'b.npy'}").stdout
    return None if text.startswith("y: float32[4,3] = ") else text


def sizes_that_are_declared_otherwise(s, folder):
    text = s.onnxc("check", save(make([helper.make_node("Relu", ["x"], ["y"])], [info("x", 2, 3)], [info("y", 5, 3)]), folder / "m.onnx")).stderr
    return None if text.endswith("m.onnx: output 'y' is declared with sizes [5, 3] but computed with [2, 3]\n") and "warning: " in text else text


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
    model = [save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so"]
    for names, want in (("", "--cpu: expected NAME[,NAME], got ''"), ("x86-64-v9", "--cpu x86-64-v9 is not known")):
        text = s.onnxc(*model, "--cpu", names, code=2).stderr
        if want not in text:
            return text
    return None


def values_that_are_empty_or_given_twice(s, folder):
    """Neither is taken for a flag that is not given: an empty variable of a script would compile for another target. Places that cannot be written are
    said before a run."""
    model, out = save(relu_model(2, 3), folder / "m.onnx"), ["-o", folder / "m.so"]
    (folder / "file").write_text("")
    for arguments, code, want in (([model, *out, "--target", ""], 2, "--target: expected TRIPLE, got ''; see 'onnxc --help'"), ([model, *out, "--schedules", ""], 2, "--schedules: expected FILE, got ''"),
                                  (["run", ""], 2, "model: expected MODEL_OR_ARTEFACT, got ''; see 'onnxc run --help'"), (["run", model, "-o", ""], 2, "--output-dir: expected DIR, got ''"),
                                  ([model, *out, "-o", "b.so"], 2, "--output is given twice; see"), (["run", model, "--threads=1", "--threads", "2", "--threads", "3"], 2, "--threads is given 3 times; see"),
                                  (["run", model, "-o", folder / "file"], 1, "/file' is no folder\n"), (["bench", model, "--profile", folder], 1, "' is a folder\n"),
                                  (["bench", model, "--profile", folder / "none" / "p.csv"], 1, "/none' for --profile\n"),
                                  (["bench", "none.onnx", "--profile", "/proc/p.csv"], 1, "--profile '/proc/p.csv': ")):
        done = s.onnxc(*arguments, code=code)
        if f"error: {want}" not in done.stderr and not (code == 1 and want in done.stderr) or done.stdout:
            return f"{done.stdout}{done.stderr}instead of {want}"
    return None


def numbers_that_are_not_whole(s, folder):
    model = save(relu_model(2, 3), folder / "m.onnx")
    most = 2**63 - 1
    for command, flag, value, most in (("run", "--threads", "1.5", 2**31 - 1), ("run", "--threads", "99999999999", 2**31 - 1), ("run", "--symbol-size", "1e3", most), ("bench", "--rows", "-1", most),
                                       ("bench", "--rows", "x", most), ("check", "--max-constant-size", "99999999999999999999", most)):
        text = s.onnxc(command, model, flag, value, code=2).stderr
        if f"error: {flag}: expected a whole number from 0 to {most}, got '{value}'; see 'onnxc {command} --help'" not in text:
            return text
    return None


def data_that_is_not_there(s, folder):
    save(relu_model(2, 3), folder / "m.onnx")
    for name in "ab":
        (folder / name).mkdir()
    for flags, code, want in (([], 1, "no test_data_set_* folder with output_0.pb in '.'; give one with --data"), (["--data", "a", "--data", "b"], 1, "in 'a', 'b'\n"),
                              (["--data", "a", "--data", "m.onnx"], 1, "--data: there is no folder 'm.onnx'\n"), (["--data", "c"], 1, "--data: there is no folder 'c'\n")):
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
            if text.split("onnxc: note: random")[0] != f"onnxc: warning: --cache '{cache}': Not a directory; no code is kept\n":
                return text
    return None


def profiles_behind_links(s, folder):
    """A link stays one, also where its target is not there yet; nothing is opened before the profile is written, which would end a pipe."""
    (folder / "link.json").symlink_to("target.json")
    s.onnxc("bench", save(relu_model(2, 3), folder / "m.onnx"), "--duration", "0.01", "--warmup", "1", "--profile", folder / "link.json")
    return None if (folder / "link.json").is_symlink() and "traceEvents" in (folder / "target.json").read_text() else "the link is gone"


CHECKS = [exit_codes_agree, profiles_behind_links, numbers_that_are_not_whole, sizes_that_are_declared_otherwise, values_that_are_empty_or_given_twice, names_that_are_almost_right, advice_needs_the_first_set, layers_in_blocks, layers_of_given_inputs, layers_of_nothing, random_inputs_of_huge_sizes, random_inputs_take_given_sizes, verify_of_what_is_not_there, data_that_is_not_there, empty_names_of_cpus, flags_that_need_others, folders_that_keep_no_code, inputs_that_name_no_file, unknown_command, unknown_words]
