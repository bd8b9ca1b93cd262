"""Writes the backend test suite of the installed onnx package as folders that test/conformance/run.py and `onnxc verify` read:

    OUT/<kind>/<case>/model.onnx, data.json {rtol, atol}, test_data_set_<n>/input_<i>.pb, output_<i>.pb

usage: dump.py OUT       (done once: OUT/done marks a complete dump)
"""
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import DATA_DIR, load_model_tests, load_node_model_tests

KINDS = ["node", "simple", "light", "pytorch-converted", "pytorch-operator"]


def to_proto(value, value_info):
    if isinstance(value, onnx.TensorProto):
        return value
    kind, name = value_info.type.WhichOneof("value"), value_info.name
    if kind == "map_type":
        return numpy_helper.from_dict(value, name)
    if kind == "sequence_type":
        return numpy_helper.from_list(value, name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def start(folder, case):
    folder.mkdir(parents=True)
    (folder / "data.json").write_text(json.dumps({"rtol": case.rtol, "atol": case.atol}))


def write_set(folder, model, inputs, outputs):
    folder.mkdir()
    for what, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for i, (value, info) in enumerate(zip(values, infos)):
            (folder / f"{what}_{i}.pb").write_bytes(to_proto(value, info).SerializeToString())


def dump_node(out):
    for case in load_node_model_tests():
        folder = out / "node" / case.name
        start(folder, case)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for n, (inputs, outputs) in enumerate(case.data_sets):
            write_set(folder / f"test_data_set_{n}", case.model, inputs, outputs)


def dump_folder(out, kind):
    for case in load_model_tests(kind=kind):
        folder = out / kind / case.name
        start(folder, case)
        for item in Path(case.model_dir).iterdir():
            (shutil.copytree if item.is_dir() else shutil.copy)(item, folder / item.name)


def dump_light(out):
    """The light models come as a graph and one output for the ramp input that onnx's own runner makes."""
    for case in load_model_tests(kind="real"):
        path = Path(DATA_DIR) / "light" / f"light_{case.model_name}.onnx"
        model = onnx.load(path)
        folder = out / "light" / f"test_{case.model_name}"
        start(folder, case)
        shutil.copy(path, folder / "model.onnx")
        weights = {i.name for i in model.graph.initializer}
        inputs = []
        for info in (i for i in model.graph.input if i.name not in weights):
            shape = [d.dim_value for d in info.type.tensor_type.shape.dim]
            n = int(np.prod(shape))
            inputs.append((np.arange(n).reshape(shape) / n).astype(np.float32))
        outputs = [onnx.load_tensor(path.with_name(f"{path.stem}_output_{i}.pb")) for i in range(len(model.graph.output))]
        write_set(folder / "test_data_set_0", model, inputs, outputs)


def main():
    out = Path(sys.argv[1])
    if (out / "done").exists():
        return
    warnings.filterwarnings("ignore")
    shutil.rmtree(out, ignore_errors=True)
    dump_node(out)
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        dump_folder(out, kind)
    dump_light(out)
    (out / "done").write_text("\n".join(f"{kind} {len(list((out / kind).iterdir()))}" for kind in KINDS) + "\n")


if __name__ == "__main__":
    main()
