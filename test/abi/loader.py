"""What the Python loader refuses in words of its own, where the library or the system would end the process; run.py runs these."""
import numpy as np
from onnx import TensorProto, helper

from caller import batch, load
from common import info, make, mlp_model


def words(action, kind):
    """Of the error of this kind that `action` must raise."""
    try:
        action()
    except kind as e:
        return str(e)
    return "no error"


def closed_models(s, folder):
    import onnxc
    used, fresh = (load(s.compile(mlp_model(), folder, name=name)) for name in ("used", "fresh"))
    used.run({"x": batch(2)})
    for model in (used, fresh):
        model.close()
        model.close()
        for action in (lambda: model.run({"x": batch(2)}), lambda: model({"x": batch(2)}), model.arena_bytes):
            if (said := words(action, onnxc.Error)) != "the model is closed":
                return said
        if model.inputs[0].name != "x" or model.ranges or not model.isa or "x" not in repr(model):
            return "a closed model does not describe itself"
    return None


def results_that_are_kept(s, folder):
    """Large results lie where dropped ones lay; what a view is left of keeps its values, for several models' worth of runs and other shapes between."""
    model = load(s.compile(whole_numbers(), folder))
    feed = lambda value, size=4096: {"x": np.full(size, -value, np.int64)}
    kept = []
    for value in range(1, 9):
        result, = model.run(feed(value))
        kept.append((value, (result, result[10:20], memoryview(result), result.reshape(64, -1).T, np.frombuffer(result, np.int64))[value % 5]))
        del result
        if value == 5:
            kept.append((7, model.run(feed(7, 5000))[0]))
        model.run(feed(100))
    if not all((np.asarray(array) == value).all() for value, array in kept):
        return "a later run has written into a result that is in use"
    places = set()
    for value in range(8):
        result, = model.run(feed(value))  # the one before is still held
        places.add(result.ctypes.data)
    return None if len(places) == 2 and result.flags.writeable and (result == 7).all() else f"results at {len(places)} places"


def results_that_grow(s, folder):
    """A cache that each run makes longer: its size follows from the inputs' shapes, so no run copies it, and few places serve all lengths. What values decide is copied, to few places too."""
    nodes = [helper.make_node("Concat", ["past", "x"], ["present"], axis=0), helper.make_node("NonZero", ["past"], ["found"])]
    model = load(s.compile(make(nodes, [info("past", "p"), info("x", "n")], [info("present", "t"), info("found", 1, "k", dtype=TensorProto.INT64)]), folder))
    present, places, copies, kept = np.ones(8192, np.float32), set(), set(), []
    for step in range(16):
        past, x = present, np.full(1, -step, np.float32)
        present, found = model.run({"past": past, "x": x})
        if not np.array_equal(present, np.concatenate([past, x])) or found.shape != (1, np.count_nonzero(past)):
            return f"step {step}: {present.shape} and {found.shape}"
        places.add(present.ctypes.data)
        copies.add(found.ctypes.data)
        if step == 12:
            kept += (present, present.copy()), (found, found.copy())
    if not all(np.array_equal(array, copy) for array, copy in kept):
        return "a later run has written into a result that is in use"
    shapes = [model.run({"past": np.ones(n, np.float32), "x": np.zeros(2, np.float32)})[0].shape for n in (0, 9000, 3, 30000)]
    return None if shapes == [(2,), (9002,), (5,), (30002,)] and max(len(places), len(copies)) <= 5 else f"{shapes}, results at {len(places)} and {len(copies)} places"


def feeds_without_names(s, folder):
    model = load(s.compile(mlp_model(), folder))
    for feeds, name in ((batch(2), "ndarray"), ([batch(2)], "list"), (None, "NoneType")):
        if (said := words(lambda: model.run(feeds), TypeError)) != f"run takes a dict of input name -> array, not {name}":
            return said
    large = batch(3000)  # whose memory is another's as soon as it is dropped
    np.savez(folder / "large.npz", x=large)
    if not all((model.run(np.load(folder / "large.npz"))[0] == model.run({"x": large})[0]).all() for _ in range(3)):
        return "another result for a mapping that reads a file"
    np.savez(folder / "x.npz", x=batch(2))
    return None if (model.run(np.load(folder / "x.npz"))[0] == model.run({"x": batch(2)})[0]).all() else "another result for a mapping that is no dict"


def whole_numbers(dtype=TensorProto.INT64):
    x, y = (info(name, "n", dtype=dtype) for name in "xy")
    return make([helper.make_node("Abs", ["x"], ["y"])], [x], [y])


def feeds_that_do_not_fit(s, folder):
    """Numbers that the element type cannot hold are refused, not cut; a wrong name is told before a missing one."""
    import onnxc
    half, whole = load(s.compile(mlp_model(), folder)), load(s.compile(whole_numbers(), folder, name="whole"))
    cases = [(half, {"X": batch(2)}, "the model has no input 'X'; there are: 'x'"), (half, {}, "input 'x' is not given"),
             (half, {"x": None}, "input 'x': dtype object, the model needs float32"), (half, {"x": [["1"]]}, "input 'x': dtype <U1, the model needs float32"),
             (whole, {"x": [1.5, 2.5]}, "input 'x': dtype float64, the model needs int64")]
    small = load(s.compile(make([helper.make_node("Identity", ["x"], ["y"])], [info("x", "n", dtype=TensorProto.INT4)], [info("y", "n", dtype=TensorProto.INT4)]), folder, name="small"))
    if (got := small.run({"x": [-8, 7]})[0].astype(float).tolist()) != [-8, 7]:
        return f"int4: {got}"
    cases += [(small, {"x": [0, 100]}, "input 'x': dtype int64, the model needs int4"), (small, {"x": [1.5]}, "input 'x': dtype float64, the model needs int4")]
    for model, feeds, message in cases:
        if (said := words(lambda: model.run(feeds), onnxc.Error)) != message:
            return said
    if not (said := words(lambda: whole.run({"x": [[1], 2]}), onnxc.Error)).startswith("input 'x': setting an array element with a sequence"):
        return said
    unsigned = load(s.compile(whole_numbers(TensorProto.UINT64), folder, name="unsigned"))
    for model, given in ((whole, [1, 2]), (unsigned, [0, 2**63])):  # of the latter numpy makes floats
        if (got := model.run({"x": given})[0].tolist()) != given:
            return f"{given} became {got}"
    return None


def files_that_are_no_artefacts(s, folder):
    import onnxc
    library, other = s.compile(mlp_model(), folder), s.compile(mlp_model(), folder, "--target", "aarch64-linux-gnu", name="other")
    (folder / "text.so").write_text("model")
    (folder / "other.so.1").write_bytes(b"\x7fELF\1\1" + bytes(58))
    cases = [("missing.so", ": the file does not exist"), (".", ": Is a directory"), ("text.so", ": not an artefact of onnxc: it is no library"),
             ("model.onnx", ': not an artefact of onnxc: it is no library; compile the model first: onnxc.compile("model.onnx", "model.so")'),
             ("other.so.1", ": not an artefact of onnxc: wrong ELF class"),
             (other.name, ": made for AArch64, this machine is x86-64")]
    whole = library.read_bytes()
    for size in (64, 100, 4096, 60000, len(whole) // 2, len(whole) - 1):
        (folder / f"{size}.so").write_bytes(whole[:size])
        cases.append((f"{size}.so", f": is cut or damaged: {size} bytes, fewer than its header speaks of"))
    for name, message in cases:
        said = words(lambda: load(folder / name), onnxc.Error)
        if not said.startswith(str(folder / name).removesuffix("/.") + message):
            return f"{name}: {said}"
    return None


def version_of_the_loader(s, folder):
    import onnxc
    return None if f"onnxc {onnxc.__version__}\n" == (said := s.onnxc("--version").stdout) else f"{said}, the loader {onnxc.__version__}"


def levels_that_are_not_there(s, folder):
    import onnxc
    library = s.compile(mlp_model(), folder, "--cpu", "x86-64-v2,x86-64-v3")
    if (said := words(lambda: load(library, cpu="x86-64"), onnxc.Error)) != "no code for x86-64, which is asked for: the artefact has x86-64-v2, x86-64-v3":
        return said
    said = words(lambda: load(library, num_threads=-1), onnxc.Error)
    return None if said == "model_create: num_threads is -1; it must not be negative" else said


def files_that_were_replaced(s, folder):
    """A path stands for the file that lies there, whatever was loaded from it before."""
    for size in (2, 3, 2):
        model = load(s.compile(make([helper.make_node("Relu", ["x"], ["y"])], [info("x", size)], [info("y", size)]), folder))
        if (got := model.inputs[0].shape) != (size,) or len(model.run({"x": np.zeros(size, np.float32)})[0]) != size:
            return f"{got} instead of {size}"
    return None


def what_disagrees(s, folder):
    """Sizes and indices that only the run knows: the message has the two numbers."""
    import onnxc
    ids = np.array([1, -5], np.int64)
    cases = {"Add": ({"x": np.zeros(5, np.float32), "z": np.zeros(4, np.float32)}, 1, "odd (Add): shapes do not fit together: 5 and 4 differ"),
             "Gather": ({"x": np.zeros(4, np.float32), "z": ids}, 1, "odd (Gather): an index is out of range: -5 of an axis of 4"),
             "GatherElements": ({"x": np.zeros(4, np.float32), "z": ids}, 1, "odd (GatherElements): an index is out of range: -5 of an axis of 4"),
             "GatherND": ({"x": np.zeros((4, 4), np.float32), "z": ids[None]}, 1, "odd (GatherND): an index is out of range: -5 of an axis of 4")}
    for op, (feed, rank, want) in cases.items():
        inputs = [info(n, *(f"{n}{i}" for i in range(v.ndim)), dtype=helper.np_dtype_to_tensor_dtype(v.dtype)) for n, v in feed.items()]
        for flags in ((), ("-O0",)):
            model = load(s.compile(make([helper.make_node(op, ["x", "z"], ["y"], name="odd")], inputs, [info("y", *(f"r{i}" for i in range(rank)))]), folder, *flags))
            if want not in (said := words(lambda: model.run(feed), onnxc.Error)):
                return f"{op} {flags}: {said}"
    return None


CHECKS = [files_that_were_replaced, what_disagrees, levels_that_are_not_there, closed_models, results_that_are_kept, results_that_grow, feeds_without_names, feeds_that_do_not_fit, files_that_are_no_artefacts]
