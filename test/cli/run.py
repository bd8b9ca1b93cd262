"""The subcommands as a user types them.

usage: run.py --onnxc BIN --loader DIR       ends with `cli: N passed, N failed, N skipped`
"""
import csv
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import closeness
import custom
import folding
import inputs
import libraries
import package
import precision
import programs
import terminal
import tuning
import words
from closeness import write_set
from common import Suite, info, make, mlp_model, relu_model, save, weight
from custom import X
from tuning import conv_model

SUITE = Suite("cli", __doc__, jobs=1)
COMMANDS = ["run", "verify", "bench", "check", "inspect", "ops", "targets"]
ROOT = Path(__file__).resolve().parent.parent.parent
for check in closeness.CHECKS + custom.CHECKS + folding.CHECKS + inputs.CHECKS + libraries.CHECKS + package.CHECKS + precision.CHECKS + programs.CHECKS + terminal.CHECKS + tuning.CHECKS + words.CHECKS:
    SUITE.check(check)


@SUITE.check
def help_names_every_command(s, folder):
    text = s.onnxc("--help").stdout
    missing = [c for c in COMMANDS if f"onnxc {c} " not in text]
    return f"--help does not show {missing}" if missing else None


@SUITE.check
def every_command_has_help(s, folder):
    return next((f"{c} --help is empty" for c in COMMANDS if len(s.onnxc(c, "--help").stdout) < 80), None)


@SUITE.check
def version(s, folder):
    return None if re.match(r"onnxc \d+\.\d+", s.onnxc("--version").stdout) else "no version"


@SUITE.check
def run_model(s, folder):
    np.save(folder / "x.npy", X)
    s.onnxc("run", save(relu_model(2, 3), folder / "m.onnx"), "--input", f"x={folder}/x.npy", "--output-dir", folder / "out")
    return None if (np.load(folder / "out" / "y.npy") == np.maximum(X, 0)).all() else "wrong result"


@SUITE.check
def run_artefact(s, folder):
    np.save(folder / "x.npy", np.asfortranarray(X))
    s.onnxc("run", s.compile(relu_model(2, 3), folder), "--input", f"x={folder}/x.npy", "--output-dir", folder / "out")
    return None if (np.load(folder / "out" / "y.npy") == np.maximum(X, 0)).all() else "wrong result"


@SUITE.check
def trusted_models_read_data_outside_their_folder(s, folder):
    w = weight("w", *X.shape)
    proto = make([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", *X.shape)], [info("y", *X.shape)], [w])
    expected = X + numpy_helper.to_array(w)
    (folder / "w.bin").write_bytes(w.raw_data)
    onnx.external_data_helper.set_external_data(proto.graph.initializer[0], "../w.bin")
    proto.graph.initializer[0].ClearField("raw_data")
    (folder / "sub").mkdir()
    np.save(folder / "x.npy", X)
    model = save(proto, folder / "sub" / "m.onnx")
    s.onnxc("run", model, "--input", f"x={folder}/x.npy", "--output-dir", folder / "out", "--allow-external-outside")
    return None if (np.load(folder / "out" / "y.npy") == expected).all() else "wrong result"


@SUITE.check
def run_rejects_wrong_shape(s, folder):
    np.save(folder / "x.npy", X[:, :2])
    text = s.onnxc("run", save(relu_model(2, 3), folder / "m.onnx"), "--input", f"x={folder}/x.npy", code=1).stderr
    return None if "x" in text else f"message does not name the input: {text}"


@SUITE.check
def run_rejects_unknown_input(s, folder):
    np.save(folder / "x.npy", X)
    text = s.onnxc("run", save(relu_model(2, 3), folder / "m.onnx"), "--input", f"z={folder}/x.npy", code=2).stderr
    return None if "'z'" in text and "x" in text else f"message does not say which inputs there are: {text}"


@SUITE.check
def verify_sees_imaginary_parts(s, folder):
    node = helper.make_node("Identity", ["x"], ["y"])
    model = save(make([node], [info("x", 2, dtype=14)], [info("y", 2, dtype=14)]), folder / "m.onnx")
    x = np.array([1 + 2j, 3 - 4j], np.complex64)
    write_set(folder / "test_data_set_0", x, x + 0.5j)
    text = s.onnxc("verify", model, code=1).stdout
    return None if "2 of 2" in text and "1+2i instead of 1+2.5i" in text else text


@SUITE.check
def run_json(s, folder):
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Cast", ["x"], ["i"], to=7), helper.make_node("SequenceConstruct", ["y", "y"], ["l"])]
    items = onnx.helper.make_tensor_sequence_value_info("l", 1, [2])
    model = save(make(nodes, [info("x", 2)], [info("y", 2), info("i", 2, dtype=7), items]), folder / "m.onnx")
    np.save(folder / "x.npy", np.array([np.inf, 7654321], np.float32))
    y, i, l = json.loads(s.onnxc("run", model, "--input", f"x={folder}/x.npy", "--json").stdout)["outputs"]
    if (y["name"], y["type"], y["shape"], y["values"]) != ("y", "float32", [2], ["Infinity", 7654321]):
        return str(y)
    if i["values"][1] != 7654321 or i["type"] != "int64":
        return str(i)
    return None if l["kind"] == "sequence" and [v["values"] for v in l["items"]] == [y["values"]] * 2 else str(l)


@SUITE.check
def run_prints_integers_in_full(s, folder):
    model = save(make([helper.make_node("Identity", ["x"], ["y"])], [info("x", 1, dtype=7)], [info("y", 1, dtype=7)]), folder / "m.onnx")
    np.save(folder / "x.npy", np.array([9007199254740993], np.int64))
    text = s.onnxc("run", model, "--input", f"x={folder}/x.npy").stdout
    return None if text == "y: int64[1] = 9007199254740993\n" else text


@SUITE.check
def verify_json(s, folder):
    write_set(folder / "test_data_set_0", X, np.maximum(X, 0))
    write_set(folder / "test_data_set_1", X, np.maximum(X, 0) + 0.5)
    report = json.loads(s.onnxc("verify", save(relu_model(2, 3), folder / "m.onnx"), "--layers", "--json", code=1).stdout)
    if (report["passed"], report["failed"], report["layers"]["differ"]) != (1, 1, []):
        return str(report)
    return None if [len(v["differences"]) for v in report["sets"]] == [0, 1] else str(report)


@SUITE.check
def targets_json(s, folder):
    target, *others = json.loads(s.onnxc("targets", "--json").stdout)["targets"]
    if target["devices"] != ["cpu"] or "--device cpu " not in s.onnxc("targets").stdout:
        return f"{target['devices']}"
    names = [[c["name"] for c in t["cpus"] if c["default"]] for t in (target, *others)]
    return None if names == [["x86-64-v4", "x86-64-v3"], ["armv8-a"]] else str(names)


@SUITE.check
def devices(s, folder):
    library = s.compile(relu_model(2, 3), folder, "--device", "cpu")
    for command in (["run", library], ["bench", folder / "model.onnx"], ["check", folder / "model.onnx"]):
        text = s.onnxc(*command, "--device", "cuda", code=3).stderr
        if "--device cuda is not supported" not in text:
            return f"{command[0]}: {text}"
    before = library.read_bytes()
    return None if s.compile(relu_model(2, 3), folder).read_bytes() == before else "--device cpu gives other bytes"


@SUITE.check
def full_disk_under_results(s, folder):
    (folder / "y.npy").symlink_to("/dev/full")
    model = save(relu_model(2, 3), folder / "m.onnx")
    for command in (["run", model, "--output-dir", folder], ["bench", model, "--duration", "0.01", "--warmup", "1", "--profile", "/dev/full"]):
        text = s.onnxc(*command, code=1).stderr
        if "No space left" not in text or "onnxc: error: " not in text:
            return text
    return None


@SUITE.check
def damaged_test_data(s, folder):
    write_set(folder / "test_data_set_0", X, X)
    bad = numpy_helper.from_array(X, "x")
    bad.dims[0] = -2
    (folder / "test_data_set_0" / "input_0.pb").write_bytes(bad.SerializeToString())
    text = s.onnxc("verify", save(relu_model(2, 3), folder / "m.onnx"), code=1).stdout
    return None if "input_0.pb" in text else text


@SUITE.check
def verify_layers(s, folder):
    model = save(conv_model(), folder / "m.onnx")
    text = s.onnxc("verify", model, "--layers").stdout
    if " 0 differ" not in text or text.startswith("0 of"):
        return text
    if not text.endswith("\nnot compared: conv, add (no launch of the optimised code makes it: folded, or fused into another)\n"):
        return text
    each = s.onnxc("verify", model, "--layers", "-g").stdout
    if int(each.split()[0]) <= int(text.split()[0]):
        return "-g compares no more: " + each
    strict = s.onnxc("verify", model, "--layers", "--rtol", "0", "--atol", "0", code=1).stdout
    return None if strict.startswith("first ") and "kernel " in strict else strict


@SUITE.check
def bench_takes_inputs(s, folder):
    np.save(folder / "x.npy", np.zeros((7, 96), np.float32))
    text = s.onnxc("bench", save(mlp_model(), folder / "m.onnx"), "--duration", "0.02", "--warmUp", "1", "--json", "--input", f"x={folder}/x.npy").stdout
    facts = json.loads(text)
    weights, values = 4 * (96 * 256 + 256 + 256 * 64 + 2 * 64), 4 * 7 * (96 + 64)
    return None if 0 <= facts["model_bytes"] - weights - values < 4096 else f"{facts['model_bytes']} bytes of the model, {weights + values} expected"


@SUITE.check
def random_indices_stay_in_range(s, folder):
    model = make([helper.make_node("Gather", ["x", "i"], ["y"], name="pick")], [info("x", "n", 3), info("i", 64, dtype=7)], [info("y", 64, 3)])
    done = s.onnxc("bench", save(model, folder / "m.onnx"), "--duration", "0.02", "--warmup", "1")
    if "pick" not in done.stderr or "zeros" not in done.stderr:
        return f"no note: {done.stderr}"
    two = s.onnxc("run", folder / "m.onnx", "--symbol-size", "2").stderr
    return f"indices that fit were not kept: {two}" if "zeros" in two else None


@SUITE.check
def output_folder_must_exist(s, folder):
    text = s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "no" / "m.so", code=1).stderr
    return None if "no folder" in text and str(folder / "no") in text else text


@SUITE.check
def bench_page_without_peers(s, folder):
    model = save(mlp_model(), folder / "m.onnx")
    command = [sys.executable, ROOT / "tools" / "bench.py", "--build", Path(s.args.onnxc).parent.parent, "--shared", folder, "--threads", "1",
               "--record", folder / "r.json", model]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    row = json.loads((folder / "r.json").read_text())["1"]["m"] if done.returncode == 0 else {}
    return None if row.get("roof", {}).get("share", 0) > 0 else f"{row} {done.stdout} {done.stderr}"


@SUITE.check
def bench_page_refuses(s, folder):
    """What would measure nothing, or drop rows of the page; a model that fails is one in the exit code."""
    script = [sys.executable, str(ROOT / "tools" / "bench.py"), "--build", str(Path(s.args.onnxc).parent.parent), "--shared", str(folder), "--threads", "1"]
    model, bad = save(mlp_model(), folder / "m.onnx"), folder / "bad.onnx"
    bad.write_bytes(b"no model")
    for arguments, code, want in (([folder / "none.onnx"], 2, "none.onnx\n"), (["--only", "zz"], 2, "no model's name has 'zz'\n"), (["--only", "(("], 2, "--only: '((' is no regular expression: "), (["--write", model], 2, "--write would drop "), ([bad], 1, "FAILED is not an ONNX model")):
        done = subprocess.run([*script, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode != code or want not in done.stdout + done.stderr:
            return f"{done.returncode} {done.stdout} {done.stderr}"
    return None


@SUITE.check
def bench_knows_operations_of_symbolic_shapes(s, folder):
    model = make([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", "n", 64)], [info("y", "n", 32)], [weight("w", 64, 32)])
    text = s.onnxc("bench", save(model, folder / "m.onnx"), "--symbol-size", "10", "--duration", "0.02", "--warmup", "1",
                   "--profile", folder / "p.csv").stdout
    flops = [int(line.split(",")[-2]) for line in (folder / "p.csv").read_text().splitlines()[1:]]
    return None if sum(flops) == 2 * 64 * 32 * 10 else f"{flops} in {text}"


@SUITE.check
def bench_json(s, folder):
    text = s.onnxc("bench", save(mlp_model(), folder / "m.onnx"), "--duration", "0.2", "--warmup", "20", "--json").stdout
    report = json.loads(text)
    missing = {"median_ms", "p90_ms", "p99_ms", "kernels", "roof"} - set(report)
    return f"lacks {missing}" if missing else None


@SUITE.check
def bench_roof_is_that_of_the_level(s, folder):
    model = save(mlp_model(), folder / "m.onnx")
    roofs = [json.loads(s.onnxc("bench", model, "--cpu", level, "--duration", "0.05", "--warmup", "1", "--json").stdout)["roof"]["isa"]
             for level in ("x86-64-v3", "x86-64-v2")]
    return None if roofs == ["avx2", "scalar"] else f"{roofs}"


@SUITE.check
def inspect_model_and_artefact(s, folder):
    library = s.compile(mlp_model(), folder)
    for path in (folder / "model.onnx", library):
        report = json.loads(s.onnxc("inspect", path, "--json").stdout)
        if [i["name"] for i in report["inputs"]] != ["x"] or report["inputs"][0]["shape"] != ["batch", 96]:
            return f"{path.name}: {report['inputs']}"
    return None


@SUITE.check
def inspect_tells_origin(s, folder):
    library = s.compile(relu_model("n", 3), folder, "--no-winograd", "--define-dim", "n=2")
    text = s.onnxc("inspect", library).stdout
    missing = [w for w in ("x  float32[2,3]", "bytes beside the weights", "opset", "x86-64-v3, x86-64-v4", "--no-winograd, --define-dim n=2", "blake3:") if w not in text]
    return f"{missing} not in {text}" if missing else None


@SUITE.check
def inspect_tells_keys(s, folder):
    pair = helper.make_map_type_proto(TensorProto.STRING, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    node = helper.make_node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", classlabels_strings=["no", "yes"])
    graph = helper.make_graph([node], "zip", [info("x", "n", 2)], [helper.make_value_info("y", helper.make_sequence_type_proto(pair))])
    library = s.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]), folder)
    found = json.loads(s.onnxc("inspect", library, "--json").stdout)["outputs"][0].get("keys")
    if ", opset 20, ai.onnx.ml 3, IR" not in (text := s.onnxc("inspect", library).stdout) or "  map of string to float32\n" not in s.onnxc("run", library).stdout:
        return text
    return None if found == ["no", "yes"] and "y  sequence of maps" in s.onnxc("inspect", library).stdout else f"{found}"


@SUITE.check
def inspect_tells_where_weights_are(s, folder):
    library = s.compile(mlp_model(), folder, "--weights", "external")
    text, facts = s.onnxc("inspect", library).stdout, json.loads(s.onnxc("inspect", library, "--json").stdout)
    if facts["weights_file"] != f"{library}.weights" or facts["weight_bytes"] <= facts["file_bytes"] or facts["model"]["weights"] != "external":
        return f"{facts}"
    if f"weights   {facts['weight_bytes']} bytes in '{library}.weights'" not in text or "--weights external" not in text:
        return text
    np.save(folder / "x.npy", np.zeros((1, 96), np.float32))
    write_set(folder / "test_data_set_0", np.zeros((1, 96), np.float32), np.zeros((1, 64), np.float32))
    for flags in (["run", library], ["bench", library, "--duration", "0.02", "--warmup", "1"], ["verify", library, "--atol", "1"]):
        s.onnxc(*flags)
    report = s.onnxc(folder / "model.onnx", "-o", library, "--weights", "external", "--size-report").stderr
    if f"{facts['weight_bytes'] + 64}  file of the weights" not in report:
        return report
    Path(f"{library}.weights").unlink()
    missing = s.onnxc("run", library, code=1).stderr
    return None if f"'{library}.weights'" in missing and "No such file" in missing else missing


@SUITE.check
def cpu_names(s, folder):
    for flag, isas, tuned in (("znver4,x86-64-v3", "x86-64-v3, x86-64-v4", "--cpu znver4"), ("haswell", "x86-64-v3", "--cpu haswell"), ("x86-64-v4,x86-64-v2", "x86-64-v2, x86-64-v4", "-O3")):
        text = s.onnxc("inspect", s.compile(relu_model(2, 3), folder, "--cpu", flag)).stdout
        if f"for {isas}; " not in text or not text.rstrip().endswith(tuned):
            return f"{flag}: {text}"
    s.onnxc("run", s.compile(relu_model(2, 3), folder, "--cpu", "native"))
    text = s.onnxc(folder / "model.onnx", "-o", folder / "m.so", "--cpu", "armv9", code=2).stderr
    return None if "armv9" in text and "targets" in text else text


@SUITE.check
def check_lists_every_node(s, folder):
    nodes = [helper.make_node("Nonsense", ["x"], ["t"], name="first"), helper.make_node("Gibberish", ["t"], ["y"], name="second")]
    done = s.onnxc("check", save(make(nodes, [info("x", 2)], [info("y", 2)]), folder / "m.onnx"), code=1)
    text = done.stdout + done.stderr
    return None if "Nonsense" in text and "Gibberish" in text else text


@SUITE.check
def check_accepts_good_model(s, folder):
    text = s.onnxc("check", save(mlp_model(), folder / "m.onnx")).stdout
    return None if "every node" in text else text


@SUITE.check
def ops_json(s, folder):
    names = {(o["domain"], o["name"]) for o in json.loads(s.onnxc("ops", "--json").stdout)}
    missing = {("ai.onnx", "Conv"), ("ai.onnx.ml", "Scaler"), ("com.microsoft", "FusedConv")} - names
    return f"lacks {missing}" if missing else None


@SUITE.check
def ops_tell_types(s, folder):
    types = {(o["domain"], o["name"]): set(o["types"]) for o in json.loads(s.onnxc("ops", "--json").stdout)}
    some = {("ai.onnx", "Where"): "float", ("ai.onnx", "StringNormalizer"): "string", ("ai.onnx", "Loop"): "seq(tensor(float))", ("com.microsoft", "QLinearAdd"): "int8",
            ("com.microsoft", "MultiHeadAttention"): "float16", ("com.microsoft", "FusedConv"): "double"}
    wrong = {op: sorted(types[op]) for op, one in some.items() if one not in types[op]}
    untyped = [name for (domain, name), has in types.items() if not domain.startswith("com.microsoft") and not has]
    return f"{wrong} {untyped}" if wrong or untyped else None


@SUITE.check
def bench_knows_operations_of_transposed_convolutions(s, folder):
    """Each number of the input meets each tap once, however many taps the phases of a filter have."""
    for kernel, pads in ((3, [1, 1, 0, 0]), (2, [0] * 4)):
        node = helper.make_node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], pads=pads)
        model = make([node], [info("x", 1, 32, 16, 16)], [info("y", 1, 32, 32, 32)], [weight("w", 32, 32, kernel, kernel)])
        s.onnxc("bench", save(model, folder / "m.onnx"), "--duration", "0.02", "--warmup", "1", "--profile", folder / "p.csv")
        flops = max(int(line.split(",")[-2]) for line in (folder / "p.csv").read_text().splitlines()[1:])
        if flops != 2 * 32 * 32 * 16 * 16 * kernel * kernel:
            return f"{kernel}: {flops}"
    return None


@SUITE.check
def bench_knows_operations_of_attention(s, folder):
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]), helper.make_node("Softmax", ["s"], ["p"]), helper.make_node("MatMul", ["p", "v"], ["y"])]
    model = make(nodes, [info("q", "n", 8), info("k", 8, "m"), info("v", "m", 6)], [info("y", "n", 6)])
    s.onnxc("bench", save(model, folder / "m.onnx"), "--symbol-size", "10", "--duration", "0.02", "--warmup", "1", "--profile", folder / "p.csv")
    flops = [int(line.split(",")[-2]) for line in (folder / "p.csv").read_text().splitlines()[1:]]
    return None if sum(flops) == 2 * 10 * 10 * (8 + 6) else str(flops)


@SUITE.check
def profile_knows_work_and_traffic(s, folder):
    s.onnxc("bench", save(relu_model(2, 3), folder / "m.onnx"), "--duration", "0.05", "--warmup", "1", "--profile", folder / "trace.json")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    return None if events and all(e["ph"] == "X" and e["args"]["flops"] > 0 and e["args"]["bytes"] > 0 for e in events) else str(events)


def loop_model(turns):
    """A node with quotes and a line break in its name, in a loop."""
    body = helper.make_graph([helper.make_node("MatMul", ["v", "w"], ["p"], name='a "product",\nthe only'), helper.make_node("Identity", ["c"], ["d"])], "body",
                             [info("i", dtype=7), info("c", dtype=9), info("v", 8, 8)], [info("d", dtype=9), info("p", 8, 8)])
    constants = [numpy_helper.from_array(np.array(turns), "n"), numpy_helper.from_array(np.array(True), "on"), weight("w", 8, 8)]
    return make([helper.make_node("Loop", ["n", "on", "x"], ["y"], body=body)], [info("x", 8, 8)], [info("y", 8, 8)], constants)


@SUITE.check
def profile_sums_the_launches_of_a_run(s, folder):
    model, profile = save(loop_model(5), folder / "m.onnx"), folder / "p.csv"
    for name in (profile, folder / "p.JSON"):
        s.onnxc("bench", model, "--duration", "0.05", "--warmup", "1", "--profile", name)
    with open(profile, newline="") as file:
        rows = [r for r in csv.DictReader(file) if r["node"].endswith('a "product",\nthe only')]
    events = json.loads((folder / "p.JSON").read_text())["traceEvents"]
    want = 5 * 2 * 8 * 8 * 8
    if [(int(r["calls"]), int(r["flops"])) for r in rows] != [(5, want)] or not float(rows[0]["us"]) > 0:
        return f"{rows} {profile.read_text()}"
    return None if [e["args"]["flops"] for e in events if e["args"]["calls"] == 5 and "product" in e["name"]] == [want] else f"{events}"


@SUITE.check
def size_reports_of_archives(s, folder):
    model, sizes = save(mlp_model(), folder / "m.onnx"), {}
    for suffix in (".so", ".a", ".o"):
        report = json.loads(s.onnxc(model, "-o", folder / ("m" + suffix), "--size-report", "--json").stderr)["bytes"]
        if report["total"] != (folder / ("m" + suffix)).stat().st_size or not 0 < report["headers and padding"] < report["total"]:
            return f"{suffix}: {report}"
        sizes[suffix] = report
    return None if sizes[".a"]["headers and padding"] < sizes[".a"]["total"] / 2 else f"{sizes}"


@SUITE.check
def time_phases(s, folder):
    done = s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so", "--time-phases", "--size-report")
    report = json.loads(s.onnxc(folder / "m.onnx", "-o", folder / "m.so", "--time-phases", "--json").stderr)
    if abs(report["total_milliseconds"] - sum(report["milliseconds"].values())) > 1e-3:
        return f"{report}"
    missing = [w for w in ("import", "graph", "plan", "lowering for", "link", "total", ".text") if w not in done.stderr]
    return f"{missing} not in {done.stderr}" if missing else None


@SUITE.check
def cache_gives_the_same_bytes(s, folder):
    first = s.compile(mlp_model(), folder, "--cache", folder / "cache", name="m").read_bytes()
    files = list((folder / "cache").iterdir())
    again = s.compile(mlp_model(), folder, "--cache", folder / "cache", name="m").read_bytes()
    if not files or first != again or len(list((folder / "cache").iterdir())) != len(files):
        return f"not reused: {files}"
    for level in ("-O1", "-O2"):  # the same code
        s.compile(mlp_model(), folder, level, "--cache", folder / "cache", name="m")
        if len(list((folder / "cache").iterdir())) != len(files):
            return f"{level} makes code of its own"
    s.compile(mlp_model(), folder, "-O0", "--cache", folder / "plain", name="m")
    if {f.name for f in (folder / "plain").iterdir()} & {f.name for f in files}:
        return "-O0 takes code of -O3"
    for f in files:
        f.write_bytes(f.read_bytes()[:-1])
    if s.compile(mlp_model(), folder, "--cache", folder / "cache", name="m").read_bytes() != first:
        return "a damaged file was used"
    for f in files:
        f.unlink()
        os.mkfifo(f)  # whose reader would wait for ever
    return None if s.compile(mlp_model(), folder, "--cache", folder / "cache", name="m").read_bytes() == first else "a pipe was used"


@SUITE.check
def cache_shares_the_librarys_parts(s, folder):
    """Two models have long code of the library in common, though their kernels differ; what it is made of changes no byte."""
    cache = folder / "cache"
    for i, columns in enumerate((24, 40)):
        w = numpy_helper.from_array(np.ones((64, columns), np.int8), "w")
        model = make([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], [info("x", "n", 64, dtype=TensorProto.UINT8)], [info("y", "n", columns, dtype=TensorProto.INT32)], [w])
        plain = s.compile(model, folder, "--cpu", "x86-64-v3", name=f"m{i}").read_bytes()
        if s.compile(model, folder, "--cpu", "x86-64-v3", "--cache", cache, name=f"m{i}").read_bytes() != plain:
            return "the cache gives other bytes"
        if i == 0:
            first = {f: f.stat().st_mtime_ns for f in cache.iterdir()}
    new = [f for f in cache.iterdir() if f not in first]
    return None if len(first) > 2 and len(new) < len(first) / 2 else f"{len(first)} files, then {len(new)} more"


@SUITE.check
def parts_of_one_name_link(s, folder):
    """Tables and functions that two levels or two kernels have alike are one part of an artefact each, or none."""
    strings = [helper.make_node("StringNormalizer", ["x"], ["y"], case_change_action="LOWER"), helper.make_node("RegexFullMatch", ["x"], ["z"], pattern="a+b[A-Z]*")]
    attend = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["x", "t"], ["s"]), helper.make_node("Softmax", ["s"], ["p"], axis=-1),
              helper.make_node("MatMul", ["p", "x"], ["y"])]
    text = make(strings, [info("x", 5, dtype=TensorProto.STRING)], [info("y", 5, dtype=TensorProto.STRING), info("z", 5, dtype=TensorProto.BOOL)])
    for model in text, make(attend, [info("x", 2, 3, 37, 64)], [info("y", 2, 3, 37, 64)]):
        s.compile(model, folder)
    return None


@SUITE.check
def one_launch_a_node(s, folder):
    save(mlp_model(), folder / "m.onnx")
    counts = []
    for flags in ([], ["-g"]):
        s.onnxc("bench", folder / "m.onnx", "--duration", "0.02", "--warmup", "1", "--profile", folder / "p.json", *flags)
        counts.append(len(json.loads((folder / "p.json").read_text())["traceEvents"]))
    return None if counts[1] > counts[0] else f"{counts[0]} launches, with -g {counts[1]}"


@SUITE.check
def dump_phases(s, folder):
    s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so", "--dump-phases", folder / "dump")
    names = sorted(p.name for p in (folder / "dump").iterdir())
    return None if names[:2] == ["1-import.mlir", "1-import.mlirbc"] and any("plan" in n for n in names) else str(names)


@SUITE.check
def replayed_phase(s, folder):
    """The bytecode of a dump goes through the next phase as it did; the text lacks the weights, and says so."""
    model, dump = save(mlp_model(), folder / "m.onnx"), folder / "dump"
    s.onnxc(model, "-o", folder / "m.so", "--dump-phases", dump)
    phases = dict(line.split(": ", 1) for line in s.onnxc(model, "-o", folder / "m.so", "--print-pipeline").stdout.splitlines())
    short = [f"--mlir-elide-{what}-if-larger=16" for what in ("elementsattrs", "resource-strings")]
    again = [Path(s.args.onnxc).with_name("onnxc-opt"), f"--pass-pipeline={phases['layout']}", *short]
    done = subprocess.run([*again, dump / "3-graph.mlirbc"], capture_output=True, text=True)
    if done.returncode or done.stdout.strip() != (dump / "4-layout.mlir").read_text().strip():
        return f"exit {done.returncode}: {done.stderr or 'another program'}"
    done = subprocess.run([*again, dump / "3-graph.mlir"], capture_output=True, text=True)
    said = "value 'w1' was left out of this text: --dump-phases writes programs whole into .mlirbc files"
    return None if done.returncode == 1 and said in done.stderr else f"exit {done.returncode}: {done.stderr}"


@SUITE.check
def print_pipeline(s, folder):
    text = s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so", "--print-pipeline").stdout
    return None if "fold-shapes" in text and "form-kernels" in text and not (folder / "m.so").exists() else text


@SUITE.check
def dependency_file(s, folder):
    out = s.compile(relu_model(2, 3), folder, "-MD")
    text = Path(f"{out}.d").read_text()
    if not text.startswith(f"{out}:") or "model.onnx" not in text:
        return text
    apart = folder / "a part"
    apart.mkdir()
    model = make([helper.make_node("Add", ["x", "w"], ["y"])], [info("x", 64)], [info("y", 64)], [weight("w", 64)])
    onnx.save(model, apart / "m.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    s.onnxc(apart / "m.onnx", "-o", folder / "m.so", "-MD")
    text = (folder / "m.so.d").read_text()
    return None if text.split() == [f"{folder}/m.so:", f"{folder}/a\\", "part/m.onnx", "\\", f"{folder}/a\\", "part/w.bin"] else text


@SUITE.check
def every_kind_of_output(s, folder):
    for suffix, magic in ((".so", b"\x7fELF"), (".o", b"\x7fELF"), (".a", b"!<arch>"), ("", b"\x7fELF"), (".mlir", b""), (".ll", b""), (".s", b"")):
        out = s.compile(relu_model(2, 3), folder, suffix=suffix, name="kind")
        if not out.read_bytes().startswith(magic) or out.stat().st_size == 0:
            return f"'{suffix}' is not what it should be"


@SUITE.check
def inspect_tells_ranges(s, folder):
    bounded = ["--min-shapes", "x=2x96", "--opt-shapes", "x=8x96", "--max-shapes", "x=40x96"]
    for flags, words in ((bounded, ("\nsizes     batch 2 to 40, mostly 8\n", " bytes beside the weights, and 10240 of results, for the largest sizes", "--min-shapes x=2x96, --opt-shapes x=8x96, --max-shapes x=40x96")),
                         (["--min-shapes", "x=2x96"], ("\nsizes     batch 2 or more\n", " bytes beside the weights at the smallest sizes\n"))):
        text = s.onnxc("inspect", s.compile(mlp_model(), folder, *flags)).stdout
        if missing := [w for w in words if w not in text]:
            return f"{missing} not in {text}"
    return None


@SUITE.check
def random_inputs_have_expected_sizes(s, folder):
    library = s.compile(mlp_model(), folder, "--min-shapes", "x=2x96", "--opt-shapes", "x=8x96", "--max-shapes", "x=40x96")
    s.onnxc("run", library, "--output-dir", folder / "out")
    if np.load(folder / "out" / "y.npy").shape != (8, 64):
        return "another size than expected"
    report = json.loads(s.onnxc("bench", library, "--duration", "0.02", "--warmup", "1", "--json").stdout)
    s.onnxc("run", library, "--symbol-size", "40", "--output-dir", folder / "out")
    text = s.onnxc("run", library, "--symbol-size", "41", code=1).stderr
    if np.load(folder / "out" / "y.npy").shape != (40, 64) or "dim 0 ('batch') is 41, but the model was compiled for 2 to 40" not in text:
        return text
    values = report["model_bytes"] - s.weight_bytes(library)
    return None if values == 4 * 8 * (96 + 64) else f"bench takes {values} bytes of inputs and outputs"


@SUITE.check
def folders_are_made_for_everybody(s, folder):
    (folder / "plain").mkdir()
    s.compile(relu_model(2, 3), folder, "--emit-header", folder / "made")
    modes = [oct((folder / name).stat().st_mode) for name in ("plain", "made")]
    return None if modes[0] == modes[1] else f"mode {modes[1]} instead of {modes[0]}"


@SUITE.check
def ops_tell_generated_code(s, folder):
    how = {(o["domain"], o["name"]): o["compiled"] for o in json.loads(s.onnxc("ops", "--json").stdout)}
    wrong = {"Conv": "generated", "Add": "generated", "Softmax": "generated", "TopK": "library", "CastLike": "decomposed", "Reshape": "view", "Upsample": "upgraded"}
    wrong = {op: how["ai.onnx", op] for op, want in wrong.items() if how["ai.onnx", op] != want}
    return str(wrong) if wrong else None


if __name__ == "__main__":
    SUITE.main()
