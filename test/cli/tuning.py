"""Schedules: what `--tune` searches, keeps and refuses, what `--schedules` reads: checks of the suite `cli` (run.py)."""
import json

from onnx import helper

from common import info, make, relu_model, save, weight


def conv_model():
    """A blocked convolution whose bias and activation are fused."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="conv", pads=[1, 1, 1, 1]), helper.make_node("Add", ["c", "b"], ["d"], name="add"),
             helper.make_node("Sigmoid", ["d"], ["y"], name="act")]
    return make(nodes, [info("x", 1, 28, 9, 9)], [info("y", 1, 40, 9, 9)], [weight("w", 40, 28, 3, 3), weight("b", 40, 1, 1)])


def tune_writes_schedules(s, folder):
    model, library, schedules = save(conv_model(), folder / "m.onnx"), folder / "m.so", folder / "kept.json"
    schedules.write_text('{"x86-64": {"another_models": {"chunk": 7}}}')
    report = json.loads(s.onnxc(model, "-o", library, "--tune=1", "--schedules", schedules, "--json").stdout)
    written = json.loads(schedules.read_text())
    if written["x86-64"] != {"another_models": {"chunk": 7}} or report["tuned_kernels"] != sum(len(k) for k in written.values()) - 1:
        return f"{report}, {written}"
    s.onnxc("run", library)
    report = json.loads(s.onnxc(model, "-o", library, "--tune=1", "--json").stdout)
    s.onnxc(save(relu_model(2, 3), folder / "relu.onnx"), "-o", folder / "relu.so", "--tune=1")
    if json.loads((folder / "relu.so.schedules").read_text()) != {}:
        return "schedules of a model that has no kernels with any"
    s.onnxc(folder / "relu.onnx", "-o", folder / "again.so", "--schedules", folder / "relu.so.schedules")
    return None if bool(json.loads((folder / "m.so.schedules").read_text())) == (report["tuned_kernels"] > 0) else f"{report}"


def schedules_of_other_levels_are_not_listed(s, folder):
    (folder / "kept.json").write_text('{"x86-64": {"another_models": {"chunk": 7}}, "x86-64-v4": {"another_models": {"chunk": 7}}}')
    library = s.compile(conv_model(), folder, "--cpu", "x86-64-v3", "--schedules", folder / "kept.json")
    listed = json.loads(s.onnxc("inspect", library, "--json").stdout)["model"]["schedules"]
    return None if list(listed) == ["x86-64-v3"] and "another_models" not in listed["x86-64-v3"] else f"{listed}"


def tune_refuses_what_it_cannot_time(s, folder):
    model, bad = save(conv_model(), folder / "m.onnx"), folder / "bad.json"
    text = s.onnxc(model, "-o", folder / "m.so", "--tune=1", "--cpu", "x86-64", code=2).stderr
    deep = folder / "deep.json"
    deep.write_text("[" * 10**6)
    bad.write_text('{"x86-64-v3": {"k": {"chunk": "many"}}}')
    s.onnxc(model, "-o", folder / "m.so", "--tune=0.1", code=2)
    for flags, word in ((("--schedules", folder / "none.json"), "none.json"), (("--schedules", bad), "no file of schedules"), (("--schedules", deep), "no file of schedules"), (("--tune", "--schedules", bad), "no file of schedules")):
        message = s.onnxc(model, "-o", folder / "m.so", *flags, code=1).stderr
        if word not in message or (folder / "m.so").exists():
            return message
    other = s.onnxc(model, "-o", folder / "m.so", "--tune=1", "--target", "aarch64-linux-gnu", code=2).stderr
    if "this machine, which cannot run that of --target aarch64-linux-gnu\n" not in other:
        return other
    return None if "this machine" in text and "--cpu" in text else text


def tune_looks_first_where_it_writes(s, folder):
    """The folder that is not there beside a model that is not: nothing was read before."""
    text = s.onnxc("none.onnx", "--tune", "-o", folder / "m.so", "--schedules", folder / "none" / "s.json", code=1).stderr
    if text != f"onnxc: error: there is no folder '{folder}/none' for --schedules, which --tune writes\n":
        return text
    for flags, path in (("-o", folder / "m.so", "--schedules", "/sys/s.json"), "/sys/s.json"), (("-o", "/sys/m.so", "--schedules", folder / "s.json"), "/sys/m.so"):
        text = s.onnxc("none.onnx", "--tune", *flags, code=1).stderr
        if not text.startswith(f"onnxc: error: {path}: "):
            return text
    return None if not list(folder.iterdir()) else f"left {list(folder.iterdir())}"


def native_schedules(s, model, folder):
    """The level that --tune times, and the cost model's numbers for it."""
    listed = json.loads(s.onnxc("inspect", s.compile(model, folder, "--cpu", "native", name="first"), "--json").stdout)["model"]["schedules"]
    return next(iter(listed.items()))


def tune_keeps_what_is_there(s, folder):
    """Kernels that are too short to time stay as the file has them, whatever it says."""
    model = make([helper.make_node("MatMul", ["x", "w"], ["y"])], [info("x", 2, 16)], [info("y", 2, 16)], [weight("w", 16, 16)])
    kept = folder / "kept.json"
    level, chosen = native_schedules(s, model, folder)
    given = {level: {"another": {"depth": 5}, **{kernel: {name: 1 for name in numbers} for kernel, numbers in chosen.items()}}}
    kept.write_text(json.dumps(given))
    report = json.loads(s.onnxc(folder / "first.onnx", "-o", folder / "m.so", "--tune=1", "--schedules", kept, "--json").stdout)
    return None if len(given[level]) > 1 and json.loads(kept.read_text()) == given and report["tuned_kernels"] == 0 else f"{report} {given} {kept.read_text()}"


def tune_replaces_what_is_slower(s, folder):
    conv = helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1], strides=[2, 2])  # neither Winograd's nor for AMX
    model, kept = make([conv], [info("x", 1, 64, 28, 28)], [info("y", 1, 64, 14, 14)], [weight("w", 64, 64, 3, 3)]), folder / "kept.json"
    level, chosen = native_schedules(s, model, folder)
    [kernel] = chosen
    kept.write_text(json.dumps({level: {"another": {"depth": 5}, kernel: {"tile_rows": 1, "tile_panels": 1, "chunk": 3}}}))
    report = json.loads(s.onnxc(folder / "first.onnx", "-o", folder / "m.so", "--tune=2", "--schedules", kept, "--json").stdout)
    written = json.loads(kept.read_text())[level]
    good = written["another"] == {"depth": 5} and written[kernel].get("tile_rows", 1) > 1 and report["tuned_kernels"] == 1 and report["after_ms"] < report["before_ms"]
    return None if good else f"{report} {written}"


def schedules_that_say_nothing(s, folder):
    model, file, out = save(conv_model(), folder / "m.onnx"), folder / "s.json", ["-o", folder / "m.so", "--cpu", "x86-64-v3"]
    for text, want in (('{"x86-64-v9": {}}', "'x86-64-v9' is no CPU level ('onnxc targets' lists them)"),
                       ('{"x86-64-v3": {"k": {"chnk": 3}}}', "kernel 'k' of x86-64-v3: there is no number 'chnk', only tile_rows, tile_panels, chunk, group and depth"),
                       ('{"x86-64-v3": {"k": {"chunk": -3}}}', "kernel 'k' of x86-64-v3: 'chunk' must be 1 to 4294967296, and is -3"),
                       ('{"x86-64-v3": {"k": {"tile_rows": 33}}}', "kernel 'k' of x86-64-v3: 'tile_rows' must be 1 to 32, and is 33")):
        file.write_text(text)
        said = s.onnxc(model, *out, "--schedules", file, code=1).stderr
        if said != f"onnxc: error: --schedules '{file}': {want}\n":
            return said
    unused = f"onnxc: warning: --schedules '{file}' changes nothing: it has no kernel of this model for x86-64-v3; --tune adds them\n"
    for schedules, want in (({"x86-64-v3": {"k": {"chunk": 3}}, "x86-64-v4": {"l": {}}}, unused), ({}, ""), ({"x86-64-v3": {}}, "")):
        file.write_text(json.dumps(schedules))
        if (said := s.onnxc(model, *out, "--schedules", file).stderr) != want:
            return said
    [kernel] = json.loads(s.onnxc("inspect", folder / "m.so", "--json").stdout)["model"]["schedules"]["x86-64-v3"]
    file.write_text(json.dumps({"x86-64-v3": {"k": {"chunk": 3}, kernel: {"chunk": 1}}}))
    said = s.onnxc(model, *out, "--schedules", file).stderr
    return said or None


def tune_without_a_use(s, folder):
    model = save(conv_model(), folder / "m.onnx")
    for flags, want in ((["-o", folder / "m.so", "--tune="], "--tune: expected a value, got ''; see 'onnxc --help'\n"),
                        (["-o", folder / "m.so", "--tune", "-O0"], "--tune has nothing to time at -O0, whose kernels are not cut by schedules\n"),
                        (["-o", folder / "m.mlir", "--tune"], f"--tune has nothing to write into '{folder}/m.mlir', which holds no code\n")):
        text = s.onnxc(model, *flags, code=2).stderr
        if text != f"onnxc: error: {want}":
            return text
    return None


CHECKS = [tune_writes_schedules, schedules_that_say_nothing, tune_keeps_what_is_there, tune_replaces_what_is_slower, tune_without_a_use,
          schedules_of_other_levels_are_not_listed, tune_refuses_what_it_cannot_time, tune_looks_first_where_it_writes]
