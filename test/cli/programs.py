"""What a compiled program takes and says: checks of the suite `cli` (run.py), which has onnxc make executables."""
import subprocess

import numpy as np
from onnx import TensorProto, helper

from common import info, make, relu_model
from custom import X


def started(program, *arguments):
    return subprocess.run([str(c) for c in (program, *arguments)], capture_output=True, text=True, cwd=program.parent)


def program_runs(s, folder):
    np.save(folder / "x.npy", X)
    program = s.compile(relu_model(2, 3), folder, suffix="", name="program")
    done = started(program, "--input", "x=x.npy")
    return None if done.returncode == 0 and "6" in done.stdout else f"exit {done.returncode}: {done.stdout}{done.stderr}"


def program_has_help(s, folder):
    program = s.compile(relu_model(2, 3), folder, suffix="", name="program")
    for flags, code, stream in ((["--help"], 0, "stdout"), (["--frobnicate", "1"], 2, "stderr"), (["--input"], 2, "stderr")):
        done = started(program, *flags)
        text = getattr(done, stream)
        if done.returncode != code or f"usage: {program}" not in text or (code and f"'{flags[0]}'" not in text):
            return f"{flags}: exit {done.returncode}: {text}"
    return None


def program_makes_its_folder(s, folder):
    program = s.compile(relu_model(2, 3), folder, suffix="", name="program")
    np.save(folder / "x.npy", X)
    done = started(program, "--input", "x=x.npy", "--output-dir", "some/deep/folder", "--threads", "0", "--repeat", "2")
    if done.returncode or not (np.load(folder / "some" / "deep" / "folder" / "y.npy") == np.maximum(X, 0)).all():
        return f"exit {done.returncode}: {done.stderr}"
    (folder / "full").mkdir()
    (folder / "full" / "y.npy").symlink_to("/dev/full")
    for place, words in (("x.npy", "'x.npy/y.npy' cannot be written: Not a directory"), ("x.npy/in", "'x.npy/in' cannot be made: Not a directory"),
                         ("full", "'full/y.npy' cannot be written: No space left on device")):
        done = started(program, "--output-dir", place)
        if done.returncode != 1 or words not in done.stderr:
            return f"{place}: exit {done.returncode}: {done.stderr}"
    return None


def program_refuses_what_it_cannot_take(s, folder):
    program = s.compile(relu_model(2, 3), folder, suffix="", name="program")
    np.save(folder / "x.npy", X.astype(np.float64))
    (folder / "big.npy").write_bytes((folder / "x.npy").read_bytes().replace(b"<f8", b">f8"))
    numbers = [("--threads", "abc", 0), ("--threads", "-1", 0), ("--threads", "", 0), ("--threads", "2x", 0), ("--threads", "9999999999", 0), ("--repeat", "-5", 1), ("--repeat", "x", 1),
               ("--repeat", "0", 1)]
    cases = [([flag, value], 2, f"{flag}: expected a number of at least {least}, got '{value}'") for flag, value, least in numbers]
    cases += [(["--nonsense"], 2, "unknown option '--nonsense'"), (["x.npy", "1"], 2, "unknown option 'x.npy'"), (["--repeat"], 2, "'--repeat' needs a value"), (["--output-dir", ""], 2, "'--output-dir' needs a value"),
              (["--input", "x"], 2, "--input: expected NAME=FILE, got 'x'"), (["--input", "z=x.npy"], 2, "no input 'z' in the model; it has 'x'\n"),
              (["--input", "x=x.npy"], 1, "x.npy: the file holds float64, input 'x' needs float32\n"),
              (["--input", "x=big.npy"], 1, "big.npy: the file holds '>f8', input 'x' needs float32\n"),
              (["--input", "=x.npy"], 2, "--input: expected NAME=FILE, got '=x.npy'"), (["--input", "x="], 2, "--input: expected NAME=FILE, got 'x='"),
              (["--input", "x=a.npy", "--input=x=b.npy"], 2, "--input: 'x' is given twice: 'a.npy' and 'b.npy'"),
              (["--threads=x"], 2, "--threads: expected a number of at least 0, got 'x'"), (["--threads", "1", "--threads=2"], 2, "'--threads' is given twice"),
              (["--threadsx=1"], 2, "unknown option '--threadsx=1'"), (["--weights="], 2, "'--weights' needs a value"),
              (["--symbol-size", "-1"], 2, "--symbol-size: expected a number of at least 0, got '-1'"),
              (["--input", "x=."], 1, ".: cannot be read: Is a directory\n"),
              (["--input", "x=none.npy"], 1, "none.npy: cannot be read: No such file or directory\n")]
    for arguments, code, words in cases:
        done = started(program, *arguments)
        if done.returncode != code or f"error: {words}" not in done.stderr or done.stdout:
            return f"{arguments}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return None


def program_takes_sizes(s, folder):
    """Of random inputs: those of files that have them too, then --symbol-size, then what --opt-shapes said."""
    nodes = [helper.make_node("Identity", ["x"], ["y"]), helper.make_node("Concat", ["x", "z"], ["c"], axis=1)]
    proto = make(nodes, [info("x", "n", 3), info("z", "n", "m")], [info("y", "n", 3), info("c", "n", "k")])
    program = s.compile(proto, folder, "--opt-shapes", "x=4x3", suffix="", name="program")
    np.save(folder / "x.npy", X)
    for flags, n, m in (([], 4, 1), (["--symbol-size", "7"], 7, 7), (["--symbol-size=7", "--input=x=x.npy"], 2, 7), (["--input", "x=x.npy", "--threads=2"], 2, 1), (["--symbol-size=0"], 0, 0)):
        done = started(program, *flags)
        if f"y: float32 [{n}, 3]" not in done.stdout or f"c: float32 [{n}, {3 + m}]" not in done.stdout:
            return f"{flags}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return None


def program_reads_columns(s, folder):
    """Column-major files, with axes of one and without elements too."""
    proto = make([helper.make_node("Identity", ["x"], ["y"])], [info("x", *"abc", dtype=TensorProto.INT16)], [info("y", *"abc", dtype=TensorProto.INT16)])
    program = s.compile(proto, folder, suffix="", name="program")
    for shape in ((2, 3, 4), (1, 5, 1), (3, 0, 2)):
        x = np.arange(np.prod(shape), dtype=np.int16).reshape(shape)
        np.save(folder / "x.npy", np.asfortranarray(x))
        done = started(program, "--input", "x=x.npy", "--output-dir", ".")
        if done.returncode or not np.array_equal(np.load(folder / "y.npy"), x):
            return f"{shape}: exit {done.returncode}: {done.stdout}{done.stderr}"
    return None


def program_prints_every_type(s, folder):
    values = np.array([1.5, -2, 0, np.inf, 65504, 6e-8], np.float32)
    wanted = {TensorProto.FLOAT16: "float16 [6] 1.5 -2 0 inf 65504 5.96046e-08", TensorProto.BFLOAT16: "bfloat16 [6] 1.5 -2 0 inf 65536 6.00703e-08",
              TensorProto.DOUBLE: "float64 [6] 1.5 -2 0 inf 65504 6e-08", TensorProto.BOOL: "bool [6] 1 1 0 1 1 1"}
    whole = {TensorProto.INT8: "int8 [3] -5 0 7", TensorProto.INT16: "int16 [3] -5 0 7", TensorProto.INT32: "int32 [3] -5 0 7", TensorProto.INT64: "int64 [3] -5 0 7",
             TensorProto.UINT8: "uint8 [3] 251 0 7", TensorProto.UINT16: "uint16 [3] 65531 0 7", TensorProto.UINT32: "uint32 [3] 4294967291 0 7",
             TensorProto.UINT64: "uint64 [3] 18446744073709551611 0 7", TensorProto.STRING: "string [3] '-5' '0' '7'"}
    nodes = [helper.make_node("Cast", [x], [f"o{t}"], to=t) for x, types in (("x", wanted), ("n", whole)) for t in types]
    results = [info(f"o{t}", n, dtype=t) for n, types in ((6, wanted), (3, whole)) for t in types]
    program = s.compile(make(nodes, [info("x", 6), info("n", 3, dtype=TensorProto.INT64)], results), folder, suffix="", name="program")
    np.save(folder / "x.npy", values)
    np.save(folder / "n.npy", np.array([-5, 0, 7]))
    lines = started(program, "--input", "x=x.npy", "--input", "n=n.npy").stdout.splitlines()
    missing = [line for t, text in {**wanted, **whole}.items() if (line := f"o{t}: {text}") not in lines]
    return f"{missing} not in {lines}" if missing else None


def program_makes_halves(s, folder):
    """Random inputs of half precision are numbers between 0.5 and 1 of both signs."""
    for dtype in (TensorProto.FLOAT16, TensorProto.BFLOAT16):
        proto = make([helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)], [info("x", 64, dtype=dtype)], [info("y", 64)])
        done = started(s.compile(proto, folder, suffix="", name=f"program{dtype}"), "--output-dir", ".")
        y = np.load(folder / "y.npy") if done.returncode == 0 else np.zeros(1)
        if not ((0.5 <= abs(y)) & (abs(y) < 1)).all() or (y < 0).all() or (y > 0).all() or len(set(abs(y))) < 16:
            return f"{y} {done.stderr}"
    return None


def program_has_the_numbers_of_run(s, folder):
    """Inputs without a file are named, and the same as those of `onnxc run`."""
    types = {"a": TensorProto.FLOAT, "b": TensorProto.DOUBLE, "c": TensorProto.FLOAT16, "d": TensorProto.INT64, "e": TensorProto.FLOAT}
    nodes = [helper.make_node("Cast", [name], [f"{name}_out"], to=TensorProto.DOUBLE) for name in types]
    proto = make(nodes, [info(name, "n", 4, dtype=t) for name, t in types.items()], [info(f"{name}_out", "n", 4, dtype=TensorProto.DOUBLE) for name in types])
    np.save(folder / "e.npy", np.ones((5, 4), np.float32))
    flags = ["--input", f"e={folder}/e.npy", "--output-dir"]
    done = started(s.compile(proto, folder, suffix="", name="program"), *flags, folder / "program.out")
    if done.stderr != "note: random inputs: a float32 [5, 4], b float64 [5, 4], c float16 [5, 4], d int64 [5, 4]\n":
        return f"exit {done.returncode}: {done.stderr}"
    s.onnxc("run", folder / "program.onnx", *flags, folder / "run.out")
    ours, theirs = ([np.load(folder / f"{made}.out" / f"{name}_out.npy") for name in types] for made in ("program", "run"))
    return None if all(map(np.array_equal, ours, theirs)) and len({x.tobytes() for x in ours}) == len(types) else f"{ours} {theirs}"


CHECKS = [program_has_the_numbers_of_run, program_reads_columns, program_takes_sizes, program_makes_halves, program_runs, program_has_help, program_makes_its_folder, program_refuses_what_it_cannot_take, program_prints_every_type]
