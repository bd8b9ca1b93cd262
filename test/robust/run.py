"""Bad days of the compiler: signals, full disks, limits of the system, hostile environments and names. What an artefact stands is test/abi's.

usage: run.py --onnxc BIN --loader DIR       ends with `robust: N passed, N failed, N skipped`
"""
import fcntl
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Skip, Suite, info, make, mlp_model, relu_model, save, weight
from values import PATIENCE

SUITE = Suite("robust", __doc__, jobs=1)
X = np.array([-1, 2, -3, 4], np.float32)


def scratch(folder):
    """A folder for temporary files, and an environment that uses it."""
    (folder / "tmp").mkdir(exist_ok=True)
    return folder / "tmp", {**os.environ, "TMPDIR": str(folder / "tmp")}


def start(s, *arguments, **kwargs):
    return subprocess.Popen([s.args.onnxc, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **kwargs)


def sanitised(s):
    settings = Path(s.args.onnxc).resolve().parent.parent / "CMakeCache.txt"
    return settings.exists() and "ONNXC_SANITIZE:BOOL=ON" in settings.read_text()


def interrupted(s, folder, which, rounds):
    """Compiles that a signal meets at any moment. What is wrong, or None; the seconds of one compile are measured first."""
    tmp, env = scratch(folder)
    out, source = folder / "out" / "m.so", save(mlp_model(), folder / "m.onnx")
    out.parent.mkdir()
    begun = time.time()
    s.onnxc(source, "-o", out, env=env)
    length, whole = time.time() - begun, out.read_bytes()
    old = b"an earlier file"
    for i in range(rounds):
        out.write_bytes(old)
        p = start(s, source, "-o", out, env=env)
        time.sleep(random.Random(i).random() * length * 1.05)
        p.send_signal(which)
        p.communicate()
        if out.read_bytes() not in (old, whole):
            return "the output is neither the old file nor the new one"
        left = [*tmp.iterdir(), *(f for f in out.parent.iterdir() if f != out)]
        if which != signal.SIGKILL and left:
            return f"left {[f.name for f in left]} behind"
        for f in left:
            subprocess.run(["rm", "-rf", f])
    return None


@SUITE.check
def killed_at_any_moment(s, folder):
    return interrupted(s, folder, signal.SIGKILL, 12)


@SUITE.check
def terminated_at_any_moment(s, folder):
    return interrupted(s, folder, signal.SIGTERM, 8)


@SUITE.check
def interrupted_at_any_moment(s, folder):
    return interrupted(s, folder, signal.SIGINT, 8)


@SUITE.check
def terminated_as_a_file_appears(s, folder):
    """The first moment of each file and folder that a compile creates: whoever removes them at a signal must know them by then."""
    if sanitised(s):
        raise Skip("the sanitiser must be the first library of a program")
    tmp, env = scratch(folder)
    source, shim, log = save(mlp_model(), folder / "m.onnx"), folder / "shim.so", folder / "log"
    subprocess.run(["clang-22", "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", Path(__file__).parent / "terminate.c", "-o", shim], check=True)
    for words in (["m.so"], ["m"], ["m.o"], ["m.a"], ["m.so", "--weights", "external"]):
        for moment in range(1, 100):
            out = folder / f"out{moment}"
            out.mkdir()
            seen = {**env, "LD_PRELOAD": str(shim), "TERMINATE_AT": str(moment), "TERMINATE_LOG": str(log)}
            done = subprocess.run([s.args.onnxc, source, "--cpu", "x86-64", "-o", out / words[0], *words[1:]], capture_output=True, env=seen)
            if done.returncode == 0:
                break
            left = [f.name for f in [*tmp.iterdir(), *out.iterdir()]]
            if left:
                return f"{words}: left {left} behind as {log.read_text().splitlines()[-1]} appeared"
            out.rmdir()
        if moment < 5:
            return f"{words}: the signal came at {moment - 1} files only"
        subprocess.run(["rm", "-r", out])
    return None


@SUITE.check
def terminated_between_two_files(s, folder):
    """An artefact and its weights are of use together only."""
    tmp, env = scratch(folder)
    out, source = folder / "out" / "m.so", save(mlp_model(), folder / "m.onnx")
    out.parent.mkdir()
    begun = time.time()
    s.onnxc(source, "-o", out, "--weights", "external", env=env)
    length, whole = time.time() - begun, {f.name for f in out.parent.iterdir()}
    for i in range(12):
        for f in out.parent.iterdir():
            f.unlink()
        p = start(s, source, "-o", out, "--weights", "external", env=env)
        time.sleep((0.7 + 0.35 * random.Random(i).random()) * length)
        p.terminate()
        p.communicate()
        left = {f.name for f in out.parent.iterdir()}
        if left not in (set(), whole) or list(tmp.iterdir()):
            return f"left {left}, {list(tmp.iterdir())}"
    return None


@SUITE.check
def terminated_while_code_is_kept(s, folder):
    tmp, env = scratch(folder)
    source = save(mlp_model(), folder / "m.onnx")
    for i in range(12):
        cache = folder / f"cache{i}"
        p = start(s, source, "-o", folder / "m.so", "--cpu", "x86-64", "--cache", cache, env=env)
        while p.poll() is None and not list(cache.glob("*")):
            time.sleep(0.0002)
        p.terminate()
        p.communicate()
        left = [f.name for f in [*tmp.iterdir(), *cache.glob("*")] if f.suffix != ".code"]
        if left:
            return f"left {left} behind"
    return None


@SUITE.check
def compiles_to_one_file_at_once(s, folder):
    models = [save(mlp_model(), folder / "a.onnx"), save(relu_model(4), folder / "b.onnx")]
    out = folder / "m.so"
    wanted = []
    for m in models:
        s.onnxc(m, "-o", out)
        wanted.append(out.read_bytes())
    running = [start(s, models[i % 2], "-o", out) for i in range(8)]
    codes = [p.wait() for p in running]
    if any(codes):
        return f"exit codes {codes}"
    left = {f.name for f in folder.iterdir()} - {"a.onnx", "b.onnx", "m.so"}
    return f"left {left} behind" if left else None if out.read_bytes() in wanted else "the output is a mixture"


def while_names_wait(s, folder, body):
    """Compiles to folder/out/m.so and m.so.weights, calls `body` when only their names are missing, and returns the process's end."""
    out, source = folder / "out" / "m.so", save(mlp_model(), folder / "m.onnx")
    holder = os.open(out.parent, os.O_RDONLY)
    fcntl.flock(holder, fcntl.LOCK_EX)
    locks = lambda: [line.split()[1:] for line in Path("/proc/locks").read_text().splitlines() if f":{out.parent.stat().st_ino} " in line]
    if not locks():
        raise Skip("this system does not list its locks")
    p = start(s, source, "-o", out, "--weights", "external")
    while p.poll() is None and not any(line[0] == "->" for line in locks()):
        time.sleep(0.01)
    body(out, p.poll() is not None)
    os.close(holder)
    said = p.communicate()[1].decode()
    return p.returncode, sorted(f.name for f in out.parent.iterdir()), said


@SUITE.check
def pairs_get_their_names_together(s, folder):
    """An artefact and its weights are renamed under a lock of their folder: two compiles to one file leave no artefact of one with weights of the other."""
    early = []
    (folder / "out").mkdir()
    end = while_names_wait(s, folder, lambda out, ended: early.append(ended or out.exists() or Path(f"{out}.weights").exists()))
    return "it did not wait" if early[0] else None if end[:2] == (0, ["m.so", "m.so.weights"]) else f"{end}"


@SUITE.check
def old_weights_outlive_a_name_that_cannot_be_had(s, folder):
    (folder / "out").mkdir()
    weights = folder / "out" / "m.so.weights"
    for old in (b"earlier", None):
        def taken(out, ended):
            out.mkdir(exist_ok=True)
            if old:
                weights.write_bytes(old)
        end = while_names_wait(s, folder, taken)
        left = weights.read_bytes() if weights.exists() else None
        if end[:2] != (1, ["m.so", "m.so.weights"] if old else ["m.so"]) or left != old or "is a directory" not in end[2].lower():
            return f"{end}, {left}"
        (folder / "out" / "m.so").rmdir()
        weights.unlink(missing_ok=True)
    return None


@SUITE.check
def old_artefact_outlives_failed_companions(s, folder):
    """Headers and FILE.d are written before the artefact is replaced, and each of them whole."""
    source, out = save(mlp_model(), folder / "m.onnx"), folder / "m.so"
    everything = lambda: {f.name: f.read_bytes() for f in folder.iterdir() if f.is_file()}
    for flags in (["--weights", "external"], []):
        s.onnxc(save(relu_model(4), folder / "old.onnx"), "-o", out, *flags, "--emit-header", folder)
        (folder / "kept").unlink(missing_ok=True)
        os.link(folder / "m.h", folder / "kept")
        before = everything()
        (folder / "m.so.d").mkdir()
        s.onnxc(source, "-o", out, *flags, "-MD", code=2)
        (folder / "m.so.d").rmdir()
        s.onnxc(source, "-o", out, *flags, "--emit-header", folder / "m.h", code=1)
        (folder / "sub" / "m.hpp").mkdir(parents=True, exist_ok=True)
        s.onnxc(source, "-o", out, *flags, "--emit-header", folder / "sub", code=1)
        if everything() != before:
            return f"{flags}: {[name for name in before if everything().get(name) != before[name]]} changed"
        s.onnxc(source, "-o", out, *flags, "--emit-header", folder)
        if (folder / "kept").read_bytes() != before["m.h"] or (folder / "m.h").read_bytes() == before["m.h"]:
            return "a header is written over"
    return None


def on_own_mounts(command):
    """Runs a command where mounting disturbs nobody; it ends with 77 where it cannot mount."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode:
        raise Skip("this user has no mounts of its own")
    done = subprocess.run(["unshare", "-m", "bash", "-c", command], capture_output=True, text=True)
    if done.returncode == 77:
        raise Skip("this user cannot mount")
    return done


@SUITE.check
def full_disk(s, folder):
    source, disk = save(mlp_model(), folder / "m.onnx"), folder / "disk"
    disk.mkdir()
    for where in (["-o", disk / "m.so"], ["-o", disk / "m"], ["-o", disk / "m.ll"], ["-o", disk / "m.so", "--weights", "external"]):
        command = f"mount -t tmpfs -o size=4k none '{disk}' || exit 77; '{s.args.onnxc}' '{source}' {' '.join(map(str, where))}; c=$?; ls -A '{disk}'; exit $c"
        done = on_own_mounts(command)
        if done.returncode != 1 or "No space left" not in done.stderr:
            return f"exit {done.returncode}: {done.stderr.strip()[:200]}"
        if done.stdout.strip():
            return f"left {done.stdout.split()} behind"
    return None


@SUITE.check
def weights_beyond_every_disk(s, folder):
    """A file of holes costs its writer nothing; to copy it would fill the disk."""
    weights = numpy_helper.from_array(np.zeros(1, np.uint8), "w")
    weights.ClearField("raw_data")
    weights.dims[0] = 1 << 42
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="w.bin")
    with open(folder / "w.bin", "wb") as f:
        f.truncate(1 << 42)
    proto = make([helper.make_node("Gather", ["w", "i"], ["y"])], [info("i", dtype=TensorProto.INT64)], [info("y", dtype=TensorProto.UINT8)], [weights])
    free = os.statvfs(folder)
    if free.f_bfree * free.f_frsize > 1 << 42:
        raise Skip("this disk has room for it")
    done = s.onnxc(save(proto, folder / "m.onnx"), "-o", folder / "m.so", code=1)
    return None if "No space left" in done.stderr else done.stderr[:200]


@SUITE.check
def weights_beyond_two_gib(s, folder):
    """Three GiB of external data, mostly a hole: past every 32-bit offset between code and weights."""
    import onnxc
    free = os.statvfs(folder)
    if free.f_bavail * free.f_frsize < 5 << 30:
        raise Skip("no 5 GiB of room on this disk")
    rows, weights = 3 << 18, numpy_helper.from_array(np.zeros(1, np.float32), "w")
    weights.ClearField("raw_data")
    weights.dims[:] = [rows, 1024]
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="w.bin")
    with open(folder / "w.bin", "wb") as f:
        f.truncate(3 << 30)
        for row in (0, rows // 2, rows - 1):
            f.seek(row * 4096)
            f.write(np.full(1024, row + 1, np.float32).tobytes())
    node = helper.make_node("Gather", ["w", "i"], ["y"], name="pick")
    model = onnxc.load(str(s.compile(make([node], [info("i", "n", dtype=TensorProto.INT64)], [info("y", "n", 1024)], [weights]), folder)))
    picked = model.run({"i": np.array([rows - 1, 0, rows // 2, 1])})[0]
    return None if (picked == np.float32([[rows], [1], [rows // 2 + 1], [0]])).all() else f"{picked[:, 0]}"


@SUITE.check
def full_temporary_disk(s, folder):
    source, disk = save(mlp_model(), folder / "m.onnx"), folder / "disk"
    disk.mkdir()
    command = f"mount -t tmpfs -o size=4k none '{disk}' || exit 77; TMPDIR='{disk}' '{s.args.onnxc}' '{source}' -o '{folder}/m.so'; c=$?; ls -A '{disk}'; exit $c"
    done = on_own_mounts(command)
    if done.returncode != 1 or "No space left" not in done.stderr or (folder / "m.so").exists():
        return f"exit {done.returncode}: {done.stderr.strip()[:200]}"
    return f"left {done.stdout.split()} behind" if done.stdout.strip() else None


def limited(s, folder, what, value, codes=(0, 1)):
    source, out = save(mlp_model(), folder / "m.onnx"), folder / "out"
    tmp, env = scratch(folder)
    out.mkdir(exist_ok=True)
    done = subprocess.run([s.args.onnxc, source, "-o", out / "m.so"], capture_output=True, text=True, env=env,
                          preexec_fn=lambda: resource.setrlimit(what, (value, value)))
    if done.returncode not in codes:
        return f"limit {value}: exit {done.returncode}: {done.stderr.strip()[:200]}"
    if done.stderr.count("\n") > 1:
        return f"limit {value}: said {done.stderr!r}"
    files = [f.name for f in [*out.iterdir(), *tmp.glob("**/*.o")] if done.returncode or f.name != "m.so"]
    if done.returncode and (files or not done.stderr.strip()):
        return f"limit {value}: left {files}, said {done.stderr.strip()[:100]!r}"
    for f in out.iterdir():
        f.unlink()
    return None


@SUITE.check
def limits_of_memory(s, folder):
    """127: the dynamic loader itself found no memory. Where its image and stack alone do not fit, the system ends a program before it begins."""
    if sanitised(s):
        raise Skip("the address sanitiser takes more address space than there is memory")
    headers = subprocess.run(["readelf", "-lW", s.args.onnxc], capture_output=True, text=True, check=True).stdout.splitlines()
    loads = [line.split() for line in headers if line.split()[:1] == ["LOAD"]]
    least = max(int(f[2], 16) + int(f[5], 16) for f in loads) + (16 << 20)
    steps = [least + int((2 << 20) * 1.4**i) for i in range(16)]
    return next(filter(None, (limited(s, folder, resource.RLIMIT_AS, v, (0, 1, 127)) for v in steps)), None)


@SUITE.check
def limit_of_file_size(s, folder):
    return limited(s, folder, resource.RLIMIT_FSIZE, 4096, (1,))


@SUITE.check
def limit_of_open_files(s, folder):
    return limited(s, folder, resource.RLIMIT_NOFILE, 8) or limited(s, folder, resource.RLIMIT_NOFILE, 4)


@SUITE.check
def closed_streams(s, folder):
    source = save(relu_model(4), folder / "m.onnx")
    for redirect in (">&-", "2>&-", ">&- 2>&- <&-"):
        out = folder / "m.so"
        done = subprocess.run(["bash", "-c", f"'{s.args.onnxc}' '{source}' -o '{out}' {redirect}"], capture_output=True, timeout=60 * PATIENCE)
        if done.returncode or out.read_bytes()[:4] != b"\x7fELF":
            return f"{redirect}: exit {done.returncode}"
    return None


@SUITE.check
def environment_does_not_matter(s, folder):
    source = save(mlp_model(), folder / "m.onnx")
    s.onnxc(source, "-o", folder / "m.so")
    wanted = (folder / "m.so").read_bytes()
    odd = folder / "a b'\"$(touch PWNED)"
    odd.mkdir()
    env = {"TMPDIR": str(odd), "PATH": "", "LANG": "tr_TR.UTF-8", "LC_ALL": "de_DE.UTF-8", "CC": "sh -c", "TZ": "Pacific/Apia", "LD_BIND_NOW": "1"}
    s.onnxc(source, "-o", folder / "m.so", env=env, cwd=folder)
    if list(folder.rglob("PWNED")):
        return "a name was executed"
    return None if (folder / "m.so").read_bytes() == wanted else "other bytes"


@SUITE.check
def names_of_outputs(s, folder):
    """Names that a linker, a shell or a printf would take for something else."""
    save(relu_model(4), folder / "m.onnx")
    for name in ("@x.so", "-x.so", "$(touch PWNED).so", "a b.so", "%s%n.so", "модель.so", "q'\"q.so", "n\nl.so", "-soname.a", "@y", "n" * 200 + ".so"):
        done = subprocess.run([s.args.onnxc, "m.onnx", f"--output={name}"], cwd=folder, capture_output=True, text=True)
        if done.returncode or not (folder / name).stat().st_size:
            return f"{name!r}: exit {done.returncode}: {done.stderr.strip()[:200]}"
    return "a name was executed" if list(folder.rglob("PWNED*")) else None


def bad_headers(s, folder, name):
    """What is wrong with the headers that --emit-header wrote, in each of the languages that they are for; else None."""
    for suffix, compiler, languages in ((".h", ["clang-22", "-xc"], ("c11", "gnu17")), (".hpp", ["clang++-22", "-xc++"], ("c++17", "gnu++17", "c++20"))):
        for language in languages:
            command = [*compiler, f"-std={language}", "-fsyntax-only", f"-I{folder}", f"-I{s.args.loader}/../include", folder / (name + suffix)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                return f"{name}{suffix} is not valid {language}: {done.stderr[:200]}"
    return None


@SUITE.check
def names_in_models(s, folder):
    """Names of values, nodes and dims go through every text that is written beside the code."""
    import onnxc
    for i, name in enumerate(("a\"b", "a\nb", "$(touch PWNED)", "*/ int x; /*", "%s%n", "int", "模型", "a\\", "x" * 10000, "\u202e", "//", "#define a b")):
        node = helper.make_node("Relu", [name], [name + "'"], name=name)
        out = s.compile(make([node], [info(name, name, 2)], [info(name + "'", name, 2)], name=name), folder, "--emit-header", folder, name=f"m{i}")
        if not (onnxc.load(str(out)).run({name: X.reshape(2, 2)})[0] == np.maximum(X, 0).reshape(2, 2)).all():
            return f"{name[:20]!r}: wrong result"
        if wrong := bad_headers(s, folder, f"m{i}"):
            return f"{name[:20]!r}: {wrong}"
    return "a name was executed" if list(folder.rglob("PWNED*")) else None


KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept const consteval constexpr
constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false float for friend goto
if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed
sizeof static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
wchar_t while xor xor_eq restrict typeof _Alignas _Alignof _Atomic _Bool _Complex _Generic _Imaginary _Noreturn _Static_assert _Thread_local NULL EOF errno linux unix stdout Inputs Outputs given onnxc onnxc_string_view std int8_t
uint8_t int32_t int64_t""".split()


@SUITE.check
def keywords_as_names(s, folder):
    """Headers of a model all of whose values have names that C or C++, or the headers themselves, use; and of models with such names."""
    nodes = [helper.make_node("Relu", [name], [name + "'"]) for name in KEYWORDS] + [helper.make_node("Cast", ["int"], ["small"], to=TensorProto.FLOAT6E2M3)]
    small = info("small", 2, dtype=TensorProto.FLOAT6E2M3)
    proto = make(nodes, [info(n, 2) for n in KEYWORDS], [*(info(n + "'", 2) for n in KEYWORDS), small], opset=28)
    for name in ("switch", "onnxc", "std", "linux"):
        s.compile(proto, folder, "-O0", "--cpu", "x86-64-v3", "--emit-header", folder, name=name, suffix=".a")
        if "run(const Inputs &given)" not in (folder / f"{name}.hpp").read_text():
            return f"{name}: no typed call"
        if wrong := bad_headers(s, folder, name):
            return wrong
    return None


@SUITE.check
def names_that_are_no_text(s, folder):
    """Bytes that are no UTF-8, and a NUL, which ends the names that an artefact shows."""
    import onnxc
    for i, name in enumerate((b"A\xff\xfe\xc0", b"\xed\xa0\x80X", b"AB\0D", b"\x01\x1b[2")):
        proto = make([helper.make_node("Relu", ["QQQQ"], ["y"], name="QQQQ")], [info("QQQQ", "QQQQ", 2)], [info("y", "QQQQ", 2)], name="QQQQ")
        (folder / "m.onnx").write_bytes(proto.SerializeToString().replace(b"QQQQ", name))
        s.onnxc(folder / "m.onnx", "-o", folder / f"m{i}.so", "--emit-header", folder)
        model = onnxc.load(str(folder / f"m{i}.so"))
        if model.inputs[0].name.encode("utf-8", "surrogateescape") != name.split(b"\0")[0]:
            return f"{name}: {model.inputs[0].name!r}"
        if not (model.run({model.inputs[0].name: X.reshape(2, 2)})[0] == np.maximum(X, 0).reshape(2, 2)).all():
            return f"{name}: wrong result"
        json.loads(s.onnxc("inspect", folder / f"m{i}.so", "--json").stdout)
    return None


@SUITE.check
def outputs_that_are_no_files(s, folder):
    source = save(relu_model(4), folder / "m.onnx")
    os.mkfifo(folder / "pipe.so")
    for out in ("/dev/null", "/dev/full", folder / "pipe.so", folder):
        s.onnxc(source, "-o", out, code=2)
    (folder / "link.so").symlink_to("target.so")
    (folder / "target.so").write_text("old")
    s.onnxc(source, "-o", folder / "link.so")
    return None if (folder / "target.so").read_text() == "old" else "wrote through a link"


@SUITE.check
def read_only_folder(s, folder):
    if os.geteuid() == 0:
        raise Skip("root may write everywhere")
    source, out = save(relu_model(4), folder / "m.onnx"), folder / "out"
    out.mkdir()
    out.chmod(0o555)
    s.onnxc(source, "-o", out / "m.so", code=1)
    out.chmod(0o755)
    return f"left {list(out.iterdir())}" if list(out.iterdir()) else None


@SUITE.check
def huge_sparse_model(s, folder):
    path = folder / "m.onnx"
    with open(path, "wb") as f:
        f.truncate(3 << 30)
    begun = time.time()
    done = s.onnxc(path, "-o", folder / "m.so", code=1)
    return None if time.time() - begun < 5 * PATIENCE and "m.onnx" in done.stderr else f"{time.time() - begun:.1f} s: {done.stderr[:200]}"


@SUITE.check
def values_used_twice_over_and_over(s, folder):
    """The paths through such a graph double with each node: no pass may follow them all."""
    names = ["x", *(f"t{i}" for i in range(64))]
    for shape in ([2], [3, 40], ["n", 5]):
        proto = make([helper.make_node("Mul" if i % 2 else "Add", [a, a], [b]) for i, (a, b) in enumerate(zip(names, names[1:]))],
                     [info("x", *shape)], [info(names[-1], *shape)])
        begun = time.time()
        s.onnxc(save(proto, folder / "m.onnx"), "-o", folder / "m.so")
        if time.time() - begun > 20 * PATIENCE:
            return f"{shape}: {time.time() - begun:.1f} s"
    return None


@SUITE.check
def windows_over_very_long_rows(s, folder):
    """The time of a compile must not depend on how long a row is, nor on how much of it is padding."""
    for width, pads in ((1 << 36, [1, 1]), (64, [1 << 28, 1 << 28]), (64, [0, 1 << 30])):
        node = helper.make_node("Conv", ["x", "w"], ["y"], pads=pads, strides=[2])
        proto = make([node], [info("x", 1, 3, width)], [info("y", 1, 32, None)], [weight("w", 32, 3, 3)])
        begun = time.time()
        s.onnxc(save(proto, folder / "m.onnx"), "-o", folder / "m.so")
        if time.time() - begun > 20 * PATIENCE:
            return f"{width} and {pads}: {time.time() - begun:.1f} s"
    return None


@SUITE.check
def one_node_of_very_many_operands(s, folder):
    names = [f"x{i}" for i in range(5000)]
    proto = make([helper.make_node("Neg", ["x"], [n]) for n in names] + [helper.make_node("Concat", names, ["y"], axis=0)], [info("x", 1)], [info("y", 5000)])
    begun = time.time()
    s.onnxc(save(proto, folder / "m.onnx"), "-o", folder / "m.so")
    return None if time.time() - begun < 20 * PATIENCE else f"{time.time() - begun:.1f} s"


@SUITE.check
def reduce_leaves_the_node_that_fails(s, folder):
    source, small, bad = save(mlp_model(), folder / "m.onnx"), folder / "small.onnx", folder / "bad.onnx"
    bad.write_bytes(b"\xff" * 40)
    def reduce(model, command, output=small):
        tool = Path(__file__).parents[2] / "tools" / "reduce.py"
        return subprocess.run([sys.executable, tool, model, "--fails", command, "-o", output], capture_output=True, text=True)
    done = reduce(source, f"cd '{folder}' && ! grep -q LayerNormalization {{}}")
    nodes = [n.op_type for n in onnx.load(small).graph.node]
    if done.returncode or nodes != ["LayerNormalization"]:
        return f"{nodes}: {done.stderr}"
    for model, command, word in ((source, "true {}", "nothing to reduce"), (bad, "false", "bad.onnx: "), (folder / "none.onnx", "false", "none.onnx")):
        done = reduce(model, command)
        if done.returncode != 1 or word not in done.stderr or "Traceback" in done.stderr:
            return done.stderr
    for output in (folder, folder / "none" / "small.onnx"):
        done = reduce(source, f"touch '{folder}/begun' && false", output)
        if done.returncode != 1 or done.stderr != f"{output}: cannot be written\n" or (folder / "begun").exists():
            return done.stderr
    return None


@SUITE.check
def checks_end_with_what_they_started(s, folder):
    """The suites' own: a check that takes too long leaves no compiler running."""
    code = """
import signal, subprocess, sys
from values import forked
def starts_and_hangs():
    p = subprocess.Popen(["sleep", "1000"])
    open(sys.argv[1], "w").write(str(p.pid))
    signal.alarm(1)
    p.wait()
print(forked(starts_and_hangs, 600))
"""
    done = subprocess.run([sys.executable, "-c", code, folder / "pid"], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])})
    if done.stdout != "over 600 s\n":
        return f"{done.stdout} {done.stderr}"
    status, end = Path(f"/proc/{(folder / 'pid').read_text()}/status"), time.time() + 60
    while status.exists() and "(zombie)" not in status.read_text():
        if time.time() > end:
            return "a program is left running"
        time.sleep(0.05)  # it dies when it is next scheduled
    return None


@SUITE.check
def bytes_in_file_names(s, folder):
    path = os.fsencode(folder) + b"/bad-\xff.onnx"
    Path(os.fsdecode(path)).write_bytes(relu_model(4).SerializeToString())
    done = subprocess.run([s.args.onnxc, path, "-o", folder / "m.so"], capture_output=True)
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[:200]}"


if __name__ == "__main__":
    SUITE.main()
