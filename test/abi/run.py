"""What an artefact promises (docs/Architecture.md): what it needs and exports, that bytes and results are reproducible, that models live side by side.

usage: run.py --onnxc BIN --loader DIR       ends with `abi: N passed, N failed, N skipped`
"""
import ctypes
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import image
import loader
import process
import ranges
import sizes
import weights
from caller import batch, load, refusal, tool
from common import Skip, Suite, WIDEST, info, make, mlp_model, relu_model, weight

SUITE = Suite("abi", __doc__, jobs=1)


@SUITE.check
def loader_takes_read_only_and_empty_arrays(s, folder):
    model = load(s.compile(mlp_model(), folder))
    writable, frozen = batch(3), batch(3)
    frozen.flags.writeable = False
    name = model.inputs[0].name
    if not all((a == b).all() for a, b in zip(model.run({name: writable}), model.run({name: frozen}))):
        return "another result for a read-only array"
    return None if model.run({name: batch(0)})[0].shape[0] == 0 else "a wrong shape for an empty array"


@SUITE.check
def loader_takes_empty_maps(s, folder):
    for key, name, words in ((TensorProto.STRING, "string_vocabulary", ["b", "a"]), (TensorProto.INT64, "int64_vocabulary", [2, 1])):
        table = helper.make_value_info("x", helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, None)))
        node = helper.make_node("DictVectorizer", ["x"], ["y"], domain="ai.onnx.ml", **{name: words})
        model = load(s.compile(make([node], [table], [info("y", 1, 2)], domains=["ai.onnx.ml"]), folder, name=name))
        for given in ({}, {words[1]: 3.0}):
            got = model.run({"x": given})[0].tolist()
            if got != [[0, given.get(words[1], 0)]]:
                return f"{given} gives {got}"
    return None


def text_model(wanted):
    words = helper.make_tensor_value_info("words", TensorProto.STRING, ["n"])
    tail = helper.make_tensor("tail", TensorProto.STRING, [1], ["é!".encode()])
    result = helper.make_tensor_value_info(wanted, TensorProto.STRING if wanted == "joined" else TensorProto.BOOL, ["n"])
    nodes = {"joined": helper.make_node("StringConcat", ["words", "tail"], ["joined"]), "same": helper.make_node("Equal", ["words", "tail"], ["same"])}
    return helper.make_model(helper.make_graph([nodes[wanted]], "text", [words], [result], [tail]), opset_imports=[helper.make_opsetid("", 20)])


@SUITE.check
def loader_takes_strings_in_every_form(s, folder):
    join, same = (load(s.compile(text_model(wanted), folder, name=wanted)) for wanted in ("joined", "same"))
    for words in (["", "a", "ü" * 40], ["x"], [], ["é!", "", "é!"]):
        given = np.array(words, dtype=object)
        for form in (given, np.array(words, dtype="U"), words, np.array([w.encode() for w in words], dtype=object)):
            if join.run({"words": form})[0].tolist() != [w + "é!" for w in words]:
                return f"joins {words} wrongly"
            if same.run({"words": form})[0].tolist() != [w == "é!" for w in words]:
                return f"compares {words} wrongly"
    return None


@SUITE.check
def loader_gives_lists_of_dicts(s, folder):
    cases = ["no", "yes"], [7, -1], [b"\xff", "yes"], [f"k{i}" for i in range(17)]  # the third is no UTF-8, which JSON cannot hold
    for case, labels in enumerate(cases):
        attribute = "classlabels_int64s" if isinstance(labels[0], int) else "classlabels_strings"
        key = TensorProto.INT64 if isinstance(labels[0], int) else TensorProto.STRING
        scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["n", len(labels)])
        pair = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
        result = helper.make_value_info("byLabel", helper.make_sequence_type_proto(pair))
        node = helper.make_node("ZipMap", ["scores"], ["byLabel"], domain="ai.onnx.ml", **{attribute: labels})
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
        model = load(s.compile(helper.make_model(helper.make_graph([node], "zip", [scores], [result]), opset_imports=opsets), folder, name=f"zip{case}"))
        labels = ["\udcff" if label == b"\xff" else label for label in labels]
        if model.outputs[0].keys != (None if "\udcff" in labels else labels):
            return f"says that the keys are {model.outputs[0].keys}"
        values = np.arange(3 * len(labels), dtype=np.float32).reshape(3, -1)
        for rows in (values, values, values[:1], values[:0]):  # equal calls too: shapes are remembered
            if model.run({"scores": rows})[0] != [dict(zip(labels, row.tolist())) for row in rows]:
                return f"wrong dictionaries for {labels}"
        if model.outputs[0].dtype is not None or "byLabel" not in repr(model):
            return "an output of maps has no one numpy type"
    return None


class Origin(ctypes.Structure):
    """The end of onnxc_model_info."""
    _fields_ = [(n, ctypes.c_char_p) for n in ("compiler", "model_hash")] + [(n, ctypes.POINTER(ctypes.c_char_p)) for n in ("flags", "isas")] + [
        (n, ctypes.c_int32) for n in ("num_flags", "opset")] + [("ranges", ctypes.c_void_p)]


@SUITE.check
def describes_itself(s, folder):
    library = s.compile(session_model(), folder, "--cpu", "x86-64-v2,x86-64-v3", "--default-inputs", "all", name="objects")
    facts = json.loads(load(library).json)
    ports = {p["name"]: (p["kind"], p["type"], p["shape"], p.get("has_default"), p.get("key_type")) for p in facts["inputs"] + facts["outputs"]}
    want = {"x": ("tensor", "float32", [2], None, None), "d": ("tensor", "float32", [2], True, None), "s": ("sequence", "float32", [2], None, None),
            "o": ("optional", "float32", [2], None, None), "m": ("map", "float32", None, None, "string"), "y": ("tensor", "float32", [2], None, None),
            "has": ("tensor", "bool", [], None, None), "v": ("tensor", "float32", [1, 2], None, None)}
    if ports != want:
        return f"{ports}"
    model = load(s.compile(mlp_model(), folder, "--no-winograd", "--cpu", "x86-64-v2,x86-64-v3"))
    facts, info = json.loads(model.json), model._api.info().contents
    if [p["shape"] for p in facts["inputs"] + facts["outputs"]] != [["batch", 96], ["batch", 64]]:
        return f"shapes: {facts}"
    known = ctypes.sizeof(type(info))
    if info.struct_size != known + ctypes.sizeof(Origin):
        return f"struct_size {info.struct_size}"
    more = Origin.from_address(ctypes.addressof(info) + known)
    said = {"compiler": more.compiler.decode(), "model_hash": more.model_hash.decode(), "flags": [more.flags[i].decode() for i in range(more.num_flags)],
            "isas": [more.isas[i].decode() for i in range(info.num_isas)], "opset": more.opset}
    if said != {key: facts[key] for key in said}:
        return f"{said} and {facts}"
    return None if said["flags"] == ["-O3", "--no-winograd"] and said["opset"] == 22 and said["isas"] == ["x86-64-v2", "x86-64-v3"] else f"{said}"


@SUITE.check
def hash_of_data_files(s, folder):
    """Other weights are another model; where a file has holes does not matter."""
    outside = numpy_helper.from_array(np.zeros(1 << 20, np.float32), "w")
    outside.ClearField("raw_data")
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="w.bin")
    proto = make([helper.make_node("Gather", ["w", "i"], ["y"])], [info("i", dtype=TensorProto.INT64)], [info("y")], [outside])
    hashes = {}
    for name, at, value in (("dense", 2500000, 1), ("holes", 2500000, 1), ("moved", 2500004, 1), ("other", 2500000, 2), ("zeros", 0, 0)):
        data = np.zeros(1 << 20, np.float32)
        data[at // 4] = value
        (folder / "w.bin").unlink(missing_ok=True)
        with open(folder / "w.bin", "wb") as file:
            if name == "dense":
                file.write(data.tobytes())
            else:
                file.truncate(4 << 20)
                file.seek(at)
                file.write(np.float32(value).tobytes())
        hashes[name] = json.loads(load(s.compile(proto, folder, name=name)).json)["model_hash"]
    if hashes["dense"] != hashes["holes"]:
        return "holes make another hash"
    return None if len(set(hashes.values())) == 4 else f"other data, the same hash: {hashes}"


@SUITE.check
def same_bytes_twice(s, folder):
    (folder / "elsewhere").mkdir()
    for suffix in (".so", ".a", ".o", ""):
        one, other = (s.compile(mlp_model(), place, suffix=suffix).read_bytes() for place in (folder, folder / "elsewhere"))
        if one != other:
            return f"two compiles of '{suffix}' differ"
    return None


def steady(s, folder, library, threads=1, size=512, warm=1):
    """What steady.c tells of runs of `library`: allocations after `warm` runs, the most bytes allocated, the growth of the resident set; or a message."""
    program = folder / "steady"
    if not program.exists():
        tool("clang-22", "-O1", "-Wall", "-Wextra", "-Werror", Path(__file__).parent / "steady.c", f"-I{Path(s.args.loader).parent / 'include'}", "-o", program)
    done = subprocess.run([str(v) for v in (program, library, threads, size, warm)], capture_output=True, text=True, timeout=120)
    if done.returncode == 77:
        raise Skip("this system does not let a process forbid itself system calls")
    if done.returncode or not done.stdout.endswith(" ok\n"):
        return f"exit {done.returncode}: {done.stdout}{done.stderr}"
    return [int(n) for n in done.stdout.split()[:3]]


def wide_model(rows):
    """Weights of 4 MiB; and where rows are 512 an intermediate value of 4 MiB and a result of 1 MiB."""
    nodes = [helper.make_node("MatMul", ["x", "a"], ["t"]), helper.make_node("Softmax", ["t"], ["u"]), helper.make_node("MatMul", ["u", "b"], ["y"])]
    return make(nodes, [info("x", rows, 256)], [info("y", rows, 256)], [weight("a", 256, 2048), weight("b", 2048, 256)])


@SUITE.check
def steady_runs(s, folder):
    """Once its shapes are known a model allocates nothing and makes no call of the system but futex, sched_yield and those of affinity, and these only where it has threads."""
    nonzero = make([helper.make_node("NonZero", ["x"], ["i"]), helper.make_node("Abs", ["x"], ["y"])], [info("x", "n")], [info("i", 1, None, dtype=TensorProto.INT64), info("y", "n")])
    loop = make([helper.make_node("Relu", ["x"], ["r"]), helper.make_node("SplitToSequence", ["r"], ["q"]), helper.make_node("ConcatFromSequence", ["q"], ["y"], axis=0)],
                [info("x", 64, 3)], [info("y", 64, 3)])
    for name, proto, warm, *flags in (("fixed", wide_model(512), 1), ("dynamic", mlp_model(), 1), ("apart", mlp_model(), 1, "--weights", "external"),
                                      ("sizes", nonzero, 1), ("heap", loop, 2)):
        library = s.compile(proto, folder, *flags, name=name)
        for threads in (1, 2):
            facts = steady(s, folder, library, threads=threads, warm=warm)
            if isinstance(facts, str) or facts[0]:
                return f"{name}, {threads} threads: {facts}"
    return None


@SUITE.check
def contexts_take_memory_for_the_largest_sizes(s, folder):
    return ranges.contexts_take_memory_for_the_largest_sizes(s, folder, steady)


@SUITE.check
def peak_memory(s, folder):
    """A run takes the memory that `inspect` tells, its result and what the process maps of code."""
    library = s.compile(wide_model(512), folder)
    told = json.loads(s.onnxc("inspect", library, "--json").stdout)
    facts, result = steady(s, folder, library), 512 * 256 * 4
    if isinstance(facts, str):
        return facts
    arena, weights = told["arena_bytes"], told["weight_bytes"]
    if not (4 << 20) <= weights < (5 << 20) or arena < 4 << 20:
        return f"inspect tells {told}"
    if not arena <= facts[1] - result <= arena + 8192:
        return f"allocates {facts[1]} bytes for an arena of {arena}"
    return None if facts[2] <= weights + arena + result + (1 << 20) else f"{facts[2]} resident bytes for weights of {weights} and an arena of {arena}"


@SUITE.check
def same_bits_for_any_thread_count(s, folder):
    library = s.compile(mlp_model(), folder)
    results = [load(library, t).run({"x": batch(61)})[0] for t in (1, 2, 3, 7)]
    return None if all((r.view(np.uint32) == results[0].view(np.uint32)).all() for r in results) else "results differ"


@SUITE.check
def batches_of_every_size(s, folder):
    m = load(s.compile(mlp_model(), folder))
    whole = m.run({"x": batch(40)})[0]
    for n in (1, 3, 40, 17, 2):
        part = m.run({"x": batch(40)[:n]})[0]
        if part.shape != (n, 64) or not np.allclose(part, whole[:n], rtol=1e-5, atol=1e-6):
            return f"wrong for a batch of {n}"
    return None if m.run({"x": batch(0)})[0].shape == (0, 64) else "wrong for an empty batch"


@SUITE.check
def four_threads_share_one_model(s, folder):
    m = load(s.compile(mlp_model(), folder))
    want = m.run({"x": batch(9)})[0]
    wrong = []

    def work():
        for _ in range(50):
            if not (m.run({"x": batch(9)})[0] == want).all():
                wrong.append(1)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return "results differ between threads" if wrong else None


@SUITE.check
def two_models_in_one_process(s, folder):
    a = load(s.compile(mlp_model(), folder, name="first"))
    b = load(s.compile(relu_model(4), folder, name="second"))
    x = np.array([-1, 2, -3, 4], np.float32)
    y = a.run({"x": batch(2)})[0]
    return None if (b.run({"x": x})[0] == np.maximum(x, 0)).all() and (a.run({"x": batch(2)})[0] == y).all() else "wrong"


@SUITE.check
def runs_without_environment(s, folder):
    program = s.compile(relu_model(2, 3), folder, suffix="", name="program")
    done = subprocess.run([program], env={}, cwd="/", capture_output=True, text=True)
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stderr[:200]}"


@SUITE.check
def bad_inputs_are_errors(s, folder):
    import onnxc
    m = load(s.compile(mlp_model(), folder))
    good = batch(2)
    for what, feed in {
        "missing": {}, "unknown": {"x": good, "z": good}, "rank": {"x": good[0]}, "width": {"x": good[:, :95]}, "type": {"x": good.astype(np.float64)},
        "none": {"x": None},
    }.items():
        try:
            m.run(feed)
            return f"{what}: no error"
        except (onnxc.Error, KeyError, TypeError, ValueError):
            pass
    return None if np.isfinite(m.run({"x": good})[0]).all() else "does not recover"


@SUITE.check
def inputs_with_a_default(s, folder):
    filters = weight("k", 4, 3, 1, 1)
    shift = numpy_helper.from_array(np.float32([[1], [2]]), "d")
    nodes = [helper.make_node("Conv", ["x", "k"], ["c"]), helper.make_node("ReduceMean", ["c"], ["m"], keepdims=0), helper.make_node("Add", ["m", "d"], ["y"])]
    proto = make(nodes, [info("k", 4, 3, 1, 1), info("x", 1, 3, 2, 2), info("d", 2, 1)], [info("y", 2, 1)], [filters, shift])
    x, d = np.ones((1, 3, 2, 2), np.float32), np.float32([[5], [7]])
    sums = numpy_helper.to_array(filters).sum() / 4
    some, every = load(s.compile(proto, folder)), load(s.compile(proto, folder, "--default-inputs", "all", name="every"))
    if [(i.name, i.has_default) for i in some.inputs] != [("x", False), ("d", True)]:
        return f"inputs {some.inputs}"
    for model in (some, every):
        for feed, wanted in (({"x": x}, [[1], [2]]), ({"x": x, "d": d}, d), ({"x": x}, [[1], [2]])):
            if not np.allclose(model.run(feed)[0], sums + np.float32(wanted), atol=1e-5):
                return f"{list(feed)}: {model.run(feed)[0]}"
    if wrong := refusal(some, {"x": x, "dd": d}, "'dd'"):
        return f"a misspelt input: {wrong}"
    if abs(every.run({"x": x, "k": np.zeros((4, 3, 1, 1), np.float32)})[0][0, 0] - 1) > 1e-6:
        return "a filter given by the run is not used"
    return refusal(some, {"x": x, "d": np.zeros((3, 1), np.float32)}, "dim 0 is 3")


@SUITE.check
def inputs_of_any_rank(s, folder):
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Mul", ["r", "two"], ["y"]), helper.make_node("Greater", ["x", "y"], ["z"])]
    ports = [helper.make_tensor_value_info(n, t, None) for n, t in (("x", 1), ("y", 1), ("z", 9))]
    model = load(s.compile(make(nodes, ports[:1], ports[1:], [numpy_helper.from_array(np.float32(2), "two")]), folder))
    for shape in ((), (5,), (2, 3), (2, 0, 4), (1, 2, 3, 4, 5), (2, 3)):
        x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
        y, z = model.run({"x": x})
        if y.shape != shape or z.shape != shape or not (y == np.maximum(x, 0) * 2).all() or not (z == (x > y)).all():
            return f"{shape}: {y}, {z}"
    x = np.float32(np.arange(12)).reshape(3, 4).T
    return None if (model.run({"x": x})[0] == 2 * x).all() else "wrong for a strided array"


@SUITE.check
def scales_without_elements_are_errors(s, folder):
    sizes = {"a": (2, 4), "as": (1,), "az": (1,), "b": (4, 3), "bs": (1, 0), "bz": (1,), "ys": (1,), "yz": (1,)}
    ports = [info(n, *(size or "count" for size in d), dtype=1 if n.endswith("s") else 2) for n, d in sizes.items()]
    model = load(s.compile(make([helper.make_node("QLinearMatMul", list(sizes), ["y"], name="mm")], ports, [info("y", 2, 3, dtype=2)]), folder))
    return refusal(model, {n: np.ones(d, np.float32 if n.endswith("s") else np.uint8) for n, d in sizes.items()}, "mm", "shapes do not fit")


def session_model():
    """See session.cpp."""
    tensor, zero = helper.make_tensor_type_proto(TensorProto.FLOAT, [2]), numpy_helper.from_array(np.int64(0), "zero")
    nodes = [helper.make_node("SequenceAt", ["s", "zero"], ["t"]), helper.make_node("Sum", ["x", "d", "t"], ["y"]), helper.make_node("OptionalHasElement", ["o"], ["has"]),
             helper.make_node("DictVectorizer", ["m"], ["v"], domain="ai.onnx.ml", string_vocabulary=["a", "b"])]
    ports = [info("x", 2), info("d", 2), helper.make_value_info("s", helper.make_sequence_type_proto(tensor)), helper.make_value_info("o", helper.make_optional_type_proto(tensor)),
             helper.make_value_info("m", helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, [])))]
    results = [info("y", 2), info("has", dtype=TensorProto.BOOL), info("v", 1, 2)]
    return make(nodes, ports, results, [zero, numpy_helper.from_array(np.full(2, 10, np.float32), "d")], domains=("ai.onnx.ml",))


@SUITE.check
def sessions_of_cpp(s, folder):
    """Every kind of input through onnxc.hpp, and that no run keeps an input of the one before."""
    archive = s.compile(session_model(), folder, "--emit-header", folder, "--default-inputs", "all", suffix=".a")
    include, program = Path(s.args.loader).parent / "include", folder / "session"
    tool("clang++-22", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", Path(__file__).parent / "session.cpp", f"-I{folder}", f"-I{include}", archive,
         "-lpthread", "-lm", "-o", program)
    done = subprocess.run([program], capture_output=True, text=True)
    return None if done.returncode == 0 else f"exit {done.returncode}: {done.stdout}{done.stderr}"


@SUITE.check
def items_of_another_shape(s, folder):
    """Tensors inside sequences and optionals have the shape that the model declares, or the call is an error."""
    zero = numpy_helper.from_array(np.int64(0), "z")
    tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, None])
    sequence = helper.make_sequence_type_proto(tensor)
    pick, unwrap = helper.make_node("SequenceAt", ["s", "z"], ["y"]), helper.make_node("OptionalGetElement", ["o"], ["s"])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    good, bad = np.ones((2, 3), np.float32), [np.ones(d, np.float32) for d in ((5, 3), (2,), (), (2, 3, 4), (0, 3), (1,) * 20)]
    cases = [([pick], helper.make_value_info("s", sequence), lambda x: [x]), ([pick], helper.make_value_info("s", sequence), lambda x: [good, x]),
             ([unwrap, pick], helper.make_value_info("o", helper.make_optional_type_proto(sequence)), lambda x: [x]),
             ([helper.make_node("OptionalGetElement", ["o"], ["y"])], helper.make_value_info("o", helper.make_optional_type_proto(tensor)), lambda x: x)]
    for i, (nodes, port, wrap) in enumerate(cases):
        model = load(s.compile(make(nodes, [port], [result], [zero]), folder, name=f"m{i}"))
        if model.run({port.name: wrap(good)})[0].shape != (2, 3):
            return f"case {i}: a wrong result"
        for x in bad:
            if wrong := refusal(model, {port.name: wrap(x)}, "shape than the model's"):
                return f"case {i}, an item of shape {x.shape}: {wrong}"
    return None


@SUITE.check
def sizes_that_only_the_run_knows(s, folder):
    """Operands that are shorter than what is read from them, and amounts whose sums overflow: an error that names the node."""
    x, one = np.ones((2, 3), np.float32), np.ones(1, np.float32)
    none, channels = one[:0], {n: np.ones(3, np.float32) for n in "sbmv"}
    body = helper.make_graph([helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Identity", ["k"], ["l"])], "body",
                             [info("i", dtype=TensorProto.INT64), info("k", dtype=TensorProto.BOOL), info("a", 2, 3)], [info("l", dtype=TensorProto.BOOL), info("b", 2, 3)])
    cases = [("Range", {"a": none, "b": one, "d": one}, {}), ("Range", {"a": one, "b": none, "d": one}, {}), ("Clip", {"x": x, "low": none}, {}),
             ("Loop", {"m": np.ones(0, np.int64), "": None, "x": x}, {"body": body}), ("Pad", {"x": x, "p": np.array([-(2**63), 0, -(2**63), 0])}, {}),
             ("Trilu", {"x": x, "k": np.ones(0, np.int64)}, {})]
    cases += [("BatchNormalization", {"x": x, **channels, n: np.ones(2, np.float32)}, {}) for n in channels]
    for i, (op, feed, attributes) in enumerate(cases):
        ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), [f"{n}{a}" for a in range(v.ndim)]) for n, v in feed.items() if n]
        node = helper.make_node(op, list(feed), ["y"], name="odd", **attributes)
        model = load(s.compile(make([node], ports, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]), folder, name=f"m{i}"))
        if wrong := refusal(model, {n: v for n, v in feed.items() if n}, "odd"):
            return f"{op} {i}: {wrong}"
    return None


@SUITE.check
def operands_shorter_than_weights(s, folder):
    """Generated code reads as much of an operand as its weights are long, or are there: with sizes that only the run knows, an error that names the node."""
    rng, hidden = np.random.default_rng(1), np.ones(40, np.float32)
    floats, small = rng.standard_normal((4, 5)).astype(np.float32), rng.integers(-9, 9, (4, 5)).astype(np.int8)
    cases = [("MatMul", {"x": np.ones((3, 1), np.float32)}, {"w": floats}, ""), ("Gemm", {"x": np.ones((3, 5), np.float32)}, {"w": floats}, ""),
             ("MatMulInteger", {"x": np.ones((3, 3), np.int8)}, {"w": small}, "")]
    rows = {"x": np.ones((2, 3, 40), np.float32), "s": np.ones((2, 3, 40), np.float32), "g": hidden, "b": hidden}
    cases += [("SkipLayerNormalization", {**rows, n: v}, {}, "com.microsoft") for n, v in (("s", rows["s"][..., :7]), ("s", rows["s"][..., :1]), ("g", hidden[:4]), ("b", hidden[:1]))]
    for i, (op, feed, weights, domain) in enumerate(cases):
        ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), [f"{n}{a}" for a in range(v.ndim)]) for n, v in feed.items()]
        node = helper.make_node(op, [*feed, *weights], ["y"], name="odd", domain=domain)
        result = helper.make_tensor_value_info("y", TensorProto.INT32 if op == "MatMulInteger" else TensorProto.FLOAT, None)
        proto = make([node], ports, [result], [numpy_helper.from_array(w, n) for n, w in weights.items()], domains=("com.microsoft",))
        if wrong := refusal(load(s.compile(proto, folder, name=f"m{i}")), feed, "odd", "shapes do not fit"):
            return f"{op} {i}: {wrong}"
    return None


@SUITE.check
def microsoft_operands_of_odd_sizes(s, folder):
    """Scales, zero points, biases and sinks of which only the run knows how many there are: an error that names the node, at -O0 too."""
    f, i8, u8 = (lambda *shape, t=t: np.ones(shape, t) for t in (np.float32, np.int8, np.uint8))
    number, heads = np.array(1, np.float32), {"q": f(1, 3, 32), "k": f(1, 3, 32), "v": f(1, 3, 32), "": None, "-": None, "l": np.array([2], np.int32), "t": np.array(3, np.int32)}
    sunk = {**heads, "1": None, "2": None, "3": None, "4": None, "s": f(4)}
    bits, product = dict(K=32, N=8, bits=4, block_size=16), {"x": u8(2, 4), "w": u8(4, 5), "a": number, "s": f(5), "": None, "z": u8(5), "b": f(5)}
    cases = [("MatMulNBits", {"x": f(1, 32), "w": u8(8, 2, 8), "s": f(16), "": None, "1": None, "b": f(8)}, "b", (0, 1, 3, 20), bits),
             ("DynamicQuantizeMatMul", {"x": f(2, 4), "w": i8(4, 5), "s": f(5), "": None, "b": f(5)}, "s", (0, 3), {}),
             ("MatMulIntegerToFloat", product, "s", (0, 3), {}), ("MatMulIntegerToFloat", product, "z", (0, 3), {}),
             ("QGemm", {"x": u8(2, 4), "a": number, "z": u8(), "w": u8(4, 5), "s": f(5), "o": u8()}, "s", (0, 3), {}),
             ("GroupQueryAttention", sunk, "s", (0, 1, 5), dict(num_heads=4, kv_num_heads=4)),
             ("GroupQueryAttention", {**sunk, "5": None, "6": None, "n": f(8), "m": f(8)}, "n", (0, 7, 9), dict(num_heads=4, kv_num_heads=4))]
    for i, (op, feed, odd, counts, attributes) in enumerate(cases):
        given = {n: v for n, v in feed.items() if v is not None}
        ports = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), ["count"] if n == odd else v.shape) for n, v in given.items()]
        node = helper.make_node(op, [n if v is not None else "" for n, v in feed.items()], ["y"], name="odd", domain="com.microsoft", **attributes)
        proto = make([node], ports, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], domains=("com.microsoft",))
        for flags in ([], ["-O0"]):
            model = load(s.compile(proto, folder, *flags, name=f"m{i}{len(flags)}"))
            model.run(given)
            for count in counts:
                if wrong := refusal(model, {**given, odd: np.ones(count, given[odd].dtype)}, "odd"):
                    return f"{op} {i} with {count} {flags}: {wrong}"
    return None


@SUITE.check
def squeezed_sizes(s, folder):
    """Without axes a size of 1 that only the run knows would change the rank: an error that names the node."""
    proto = make([helper.make_node("Squeeze", ["x"], ["y"], name="tight")], [info("x", 1, "n", 2, "m")], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    for flags in ([], ["-O0"]):
        model = load(s.compile(proto, folder, *flags))
        for n, m in ((2, 3), (0, 5)):
            if (got := model.run({"x": np.ones((1, n, 2, m), np.float32)})[0].shape) != (n, 2, m):
                return f"{n}, {m}: {got}"
        for n, m in ((1, 3), (3, 1), (1, 1)):
            if wrong := refusal(model, {"x": np.ones((1, n, 2, m), np.float32)}, "tight", "shapes do not fit"):
                return f"{n}, {m}: {wrong}"
    return None


@SUITE.check
def squeezed_axes(s, folder):
    """Axes that only the run knows: one that is not there, twice the same, or not of size 1."""
    x, good, bad = np.ones((1, 3, 1), np.float32), {0: (3, 1), 2: (1, 3), -1: (1, 3)}, {1: "shapes do not fit", 3: "an index", -4: "an index", 1 << 40: "an index"}
    proto = make([helper.make_node("Squeeze", ["x", "a"], ["y"], name="tight")], [info("x", "p", "q", "r"), info("a", 1, dtype=TensorProto.INT64)], [info("y", "s", "t")])
    for flags in ([], ["-O0"]):
        model = load(s.compile(proto, folder, *flags))
        for axis, shape in good.items():
            if (got := model.run({"x": x, "a": np.array([axis])})[0].shape) != shape:
                return f"{axis}: {got}"
        for axis, reason in bad.items():
            if wrong := refusal(model, {"x": x, "a": np.array([axis])}, "tight", reason):
                return f"{axis}: {wrong}"
    return None


@SUITE.check
def places_of_a_cache(s, folder):
    """TensorScatter: one place for each of the batch, and in a circular cache any place at all."""
    node = helper.make_node("TensorScatter", ["x", "u", "w"], ["y"], name="put", mode="circular")
    ports = [info("x", "b", "t", 1), info("u", "b", "l", 1), info("w", "n", dtype=TensorProto.INT64)]
    model = load(s.compile(make([node], ports, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], opset=24), folder))
    x, u = np.zeros((2, 3, 1), np.float32), np.ones((2, 2, 1), np.float32)
    got = model.run({"x": x, "u": u, "w": np.array([(1 << 63) - 1, 2])})[0]
    if got.reshape(2, 3).tolist() != [[0, 1, 1], [1, 0, 1]]:
        return f"{got}"
    return refusal(model, {"x": x, "u": u, "w": np.array([1])}, "put")


@SUITE.check
def skips_longer_than_the_input(s, folder):
    node = helper.make_node("TfIdfVectorizer", ["x"], ["y"], mode="TF", min_gram_length=2, max_gram_length=2, max_skip_count=1 << 62, ngram_counts=[0, 0],
                            ngram_indexes=[0, 1], pool_int64s=[1, 2, 1, 4])
    model = load(s.compile(make([node], [info("x", "n", dtype=TensorProto.INT64)], [info("y", 2)]), folder))
    got = model.run({"x": np.array([1, 2, 3, 4, 2])})[0]
    return None if got.tolist() == [2, 1] else f"{got}"


@SUITE.check
def shapes_that_numpy_cannot_hold(s, folder):
    node = helper.make_node("Reshape", ["x", "shape"], ["y"], allowzero=1)
    model = load(s.compile(make([node], [info("x", 0, 3), info("shape", 2, dtype=TensorProto.INT64)], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]), folder))
    try:
        model.run({"x": np.ones((0, 3), np.float32), "shape": np.array([0, 1 << 62])})
        return "no error"
    except MemoryError as e:
        return None if "4611686018427387904" in str(e) else str(e)


@SUITE.check
def strided_inputs(s, folder):
    m = load(s.compile(mlp_model(), folder))
    wide = np.random.default_rng(3).standard_normal((5, 192)).astype(np.float32)
    view = wide[:, ::2]
    return None if (m.run({"x": view})[0] == m.run({"x": np.ascontiguousarray(view)})[0]).all() else "a strided input gives another result"


@SUITE.check
def levels_agree(s, folder):
    levels = sorted({"x86-64-v2", "x86-64-v3", WIDEST})
    results = [load(s.compile(mlp_model(), folder, "--cpu", cpu, name=cpu.replace("-", "_"))).run({"x": batch(8)})[0] for cpu in levels]
    results.append(load(s.compile(mlp_model(), folder, "-O0", name="oracle")).run({"x": batch(8)})[0])
    return None if all(np.allclose(r, results[-1], rtol=1e-4, atol=1e-6) for r in results) else "levels disagree"


for check in image.CHECKS + loader.CHECKS + process.CHECKS + ranges.CHECKS + sizes.CHECKS + weights.CHECKS:
    SUITE.check(check)

if __name__ == "__main__":
    SUITE.main()
