"""Artefacts for aarch64-linux-gnu, run under qemu-user: cases of ONNX's backend suite, kernels that the fast paths make against the oracle of this
machine (-O0), every kind of artefact, and what their files say.

usage: run.py --onnxc BIN --loader DIR [--filter REGEX]      ends with `targets: N passed, N failed, N skipped`

The suite's data are in the folder that ONNXC_TEST_SUITE names. Without qemu or the cross library everything counts as skipped.
"""
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
from common import Skip, Suite, info, make, mlp_model, relu_model, save
from values import compare, read_value

SUITE = Suite("targets", __doc__)
SYSROOT = Path("/usr/aarch64-linux-gnu")
TARGET = ["--target", "aarch64-linux-gnu"]
ORACLE = ["--cpu", "native", "-O0"]
QEMU = shutil.which("qemu-aarch64")


def module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def clang(*arguments):
    """Code for the target from C, linked to Debian's library for it: there is no compiler of GCC's to take start files from."""
    lib = SYSROOT / "lib"
    subprocess.run(["clang-22", "-target", "aarch64-linux-gnu", "-isystem", SYSROOT / "include", f"-I{ROOT}", f"-I{ROOT}/runtime_stub/include", "-O1", "-nostdlib",
                    "-fuse-ld=lld", lib / "crt1.o", lib / "crti.o", *arguments, f"-L{lib}", "-lc", "-lm", lib / "crtn.o"], check=True)


def need_emulator():
    if not QEMU:
        raise Skip("no qemu-aarch64")
    if not (SYSROOT / "lib" / "crt1.o").exists():
        raise Skip(f"no C library in {SYSROOT}")


def emulated(*command, **kwargs):
    need_emulator()
    return subprocess.run([QEMU, "-L", SYSROOT, *map(str, command)], capture_output=True, text=True, check=True, **kwargs)


def load(path, threads=1):
    """A model on the other target; HOST is built once, before the first check."""
    need_emulator()
    import onnxc
    return onnxc.load(str(path), num_threads=threads)


def load_here(path):
    return module("onnxc_here", ROOT / "runtime_stub" / "python" / "onnxc" / "__init__.py").load(str(path))


# ---- cases of the backend suite -----------------------------------------------------------------------------------------------------------

NODES = """abs add_bcast and_bcast3v1d argmax_keepdims_random attention_4d_causal attention_4d_fp16 averagepool_2d_precomputed_pads_count_include_pad
batchnorm_example bernoulli_seed cast_FLOAT16_to_FLOAT cast_FLOAT_to_BFLOAT16 cast_FLOAT_to_FLOAT8E4M3FN cast_FLOAT16_to_DOUBLE clip_example
concat_3d_axis_1 conv_with_strides_padding convtranspose_group_2 cumsum_2d_axis_0 deform_conv_with_mask_bias dequantizelinear_axis
dynamicquantizelinear einsum_batch_matmul erf exp gather_elements_0 gelu_tanh_1 gridsample_bilinear group_normalization_example gru_seq_length
if_seq image_decoder_decode_jpeg_rgb isnan layer_normalization_2d_axis0 log loop13_seq loop16_seq_none lstm_with_peepholes matmul_4d
matmulinteger maxpool_2d_dilations mod_mixed_sign_float64 nonmaxsuppression_two_batches nonzero_example optional_get_element_sequence pow
qlinearconv qlinearmatmul_3D_uint8_float32 quantizelinear_e4m3fn reduce_l2_keep_dims_random regex_full_match_basic resize_upsample_sizes_cubic
rotary_embedding scan9_sum scatternd_add sequence_map_add_2_sequences simple_rnn_with_initial_bias softmax_axis_1 split_to_sequence_1 stft
string_split_basic tanh tfidfvectorizer_tf_batch_onlybigrams_skip5 top_k transpose_all_permutations_3 unique_sorted_with_axis where_example"""
LIGHT = ["squeezenet", "shufflenet"]


def backend_case(s, folder, name):
    kind, name = name.split("_", 1)
    data = Path(os.environ["ONNXC_TEST_SUITE"]) / kind / f"test_{name}"
    model = onnx.load(data / "model.onnx", load_external_data=False)
    limits = json.loads((data / "data.json").read_text())
    library = folder / "model.so"
    s.onnxc(data / "model.onnx", "-o", library, *TARGET)
    loaded = load(library)
    weights = {i.name for i in model.graph.initializer}
    inputs = [i for i in model.graph.input if i.name not in weights]
    for files in sorted(data.glob("test_data_set_*")):
        feed = {i.name: read_value(files / f"input_{n}.pb", i.type) for n, i in enumerate(inputs) if (files / f"input_{n}.pb").exists()}
        got = loaded.run({i.name: feed[i.name] for i in loaded.inputs if i.name in feed})
        for n, output in enumerate(model.graph.output):
            want = read_value(files / f"output_{n}.pb", output.type)
            if why := compare(want, got[n], limits["rtol"], limits["atol"], name != "bernoulli_seed"):
                return f"output {n}: {why}"
    return None


SUITE.cases([f"node_{n}" for n in NODES.split()] + [f"light_{n}" for n in LIGHT], backend_case)


# ---- kernels ------------------------------------------------------------------------------------------------------------------------------

KERNELS = {}
node = helper.make_node
rng = np.random.default_rng(3)


def kernel(name, nodes, inputs, outputs=1, tolerance=2e-5, **weights):
    """`inputs`: name -> (type, shape); strings among the sizes are symbols that runs give the size 13."""
    KERNELS[name] = nodes, inputs, outputs, tolerance, weights


def normal(*shape):
    return rng.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(shape[-1] if len(shape) == 2 else np.prod(shape[1:])))


def conv(name, x, w, *more, **attributes):
    kernel(name, [node("Conv", ["x", "w", "b"], ["t"], **attributes), *(more or [node("Relu", ["t"], ["y"])])], {"x": x}, w=normal(*w), b=normal(w[0], 1)[:, 0])


F = np.float32
kernel("matmul", [node("MatMul", ["x", "w"], ["y"])], {"x": (64, 256)}, w=normal(256, 256))
kernel("matmul_rows_unknown", [node("MatMul", ["x", "w"], ["t"]), node("Gelu", ["t"], ["y"])], {"x": ("n", 70)}, w=normal(70, 43))
kernel("product", [node("Transpose", ["b"], ["t"], perm=[0, 2, 1]), node("MatMul", ["x", "t"], ["y"])], {"x": (2, 37, 50), "b": (2, 29, 50)})
conv("conv_winograd", (1, 48, 22, 27), (72, 48, 3, 3), pads=[1, 1, 1, 1])
conv("conv_winograd_large", (1, 180, 12, 13), (200, 180, 3, 3), pads=[1, 1, 1, 1])
conv("conv_direct", (2, 30, 21, 19), (40, 30, 5, 5), pads=[2, 2, 2, 2], strides=[2, 2])
conv("conv_first", (1, 3, 40, 40), (32, 3, 7, 7), node("Relu", ["t"], ["r"]), node("MaxPool", ["r"], ["y"], kernel_shape=[3, 3], strides=[2, 2]), strides=[2, 2],
     pads=[3, 3, 3, 3])
conv("conv_pointwise", (1, 64, 11, 13), (40, 64, 1, 1), node("HardSwish", ["t"], ["y"]))
conv("conv_depthwise", (1, 48, 15, 17), (48, 1, 3, 3), node("Sigmoid", ["t"], ["y"]), group=48, pads=[1, 1, 1, 1])
conv("conv_grouped", (1, 64, 9, 9), (64, 16, 3, 3), group=4, pads=[1, 1, 1, 1])
conv("conv_width_unknown", (1, 16, "h", "w"), (32, 16, 3, 3), pads=[1, 1, 1, 1])
conv("conv_over_frames", (1, 32, 3, 9, 10), (32, 32, 3, 3, 3), pads=[1] * 6)
conv("conv_over_frames_apart", ("n", 24, 4, 7, 9), (24, 1, 3, 3, 3), group=24, pads=[1] * 6, strides=[2, 1, 1])
kernel("conv_transpose", [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])], {"x": (1, 32, 9, 10)}, w=normal(32, 24, 4, 4))
kernel("pools", [node("AveragePool", ["x"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]), node("GlobalAveragePool", ["a"], ["y"])], {"x": (2, 40, 12, 13)})
kernel("functions", [node(op, ["x"], [op]) for op in ("Exp", "Tanh", "Erf", "Softplus", "Mish", "Sin", "Cos")] + [node("Sum", ["Exp", "Tanh", "Erf", "Softplus", "Mish", "Sin", "Cos"], ["y"])],
       {"x": (7, 133)})
kernel("maxima", [node("Max", ["x", "b"], ["m"]), node("Min", ["x", "b"], ["n"]), node("Clip", ["m", "low", "high"], ["c"]), node("Relu", ["n"], ["r"]), node("Sum", ["c", "r"], ["y"])],
       {"x": (3, 55), "b": (3, 55)}, low=F(-0.5), high=F(0.75))
kernel("rows", [node("Softmax", ["x"], ["s"]), node("LayerNormalization", ["s", "g"], ["l"]), node("ReduceMax", ["l", "axis"], ["m"]), node("Sub", ["l", "m"], ["y"])], {"x": (9, 301)},
       g=normal(301, 1)[:, 0], axis=np.array([-1]), tolerance=1e-4)
kernel("transposes", [node("Transpose", ["x"], ["t"], perm=[0, 3, 1, 2]), node("Transpose", ["t"], ["u"], perm=[1, 0, 3, 2]), node("Identity", ["u"], ["y"])], {"x": (2, 18, 21, 35)})
kernel("lstm", [node("LSTM", ["x", "w", "r"], ["y"], hidden_size=48, direction="bidirectional")], {"x": (11, 5, 40)}, w=normal(2, 192, 40), r=normal(2, 192, 48))
kernel("attention", [node("Attention", ["q", "k", "v"], ["y"])], {"q": (1, 4, 37, 32), "k": (1, 4, 53, 32), "v": (1, 4, 53, 32)})
kernel("halves", [node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16), node("Cast", ["x"], ["g"], to=TensorProto.BFLOAT16), node("Exp", ["h"], ["e"]), node("Sqrt", ["e"], ["s"]),
                  node("Add", ["g", "g"], ["a"]), node("Cast", ["s"], ["f"], to=TensorProto.FLOAT), node("Cast", ["a"], ["d"], to=TensorProto.FLOAT), node("Sum", ["f", "d"], ["y"])],
       {"x": (3, 77)}, tolerance=2e-3)
kernel("trees", [node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", n_targets=1, nodes_treeids=[0] * 3, nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0],
                      nodes_values=[0.1, 0.0, 0.0], nodes_hitrates=[1.0] * 3, nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0],
                      nodes_missing_value_tracks_true=[0] * 3, target_treeids=[0, 0], target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.5, -2.0])], {"x": (50, 4)})


def quantised(name, x, w, right=np.int8, **attributes):
    weights = {"w": rng.integers(-128, 128, w).astype(np.int8), "xs": F(0.02), "xz": np.uint8(117), "ws": (rng.random(w[0]) * 0.01 + 0.001).astype(F), "wz": np.zeros(w[0], np.int8),
               "ys": F(0.05), "yz": np.uint8(130)}
    nodes = [node("QuantizeLinear", ["x", "xs", "xz"], ["q"]), node("QLinearConv", ["q", "xs", "xz", "w", "ws", "wz", "ys", "yz"], ["c"], **attributes),
             node("DequantizeLinear", ["c", "ys", "yz"], ["y"])]
    kernel(name, nodes, {"x": x}, **weights)


quantised("bytes_conv", (1, 37, 14, 15), (70, 37, 3, 3), pads=[1, 1, 1, 1])
quantised("bytes_narrow", (1, 16, 9, 30), (16, 16, 1, 1))
quantised("bytes_depthwise", (1, 32, 13, 14), (32, 1, 3, 3), group=32, pads=[1, 1, 1, 1])
kernel("bytes_matmul", [node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]), node("MatMulInteger", ["q", "w", "z"], ["i"]), node("Cast", ["i"], ["f"], to=TensorProto.FLOAT),
                        node("Mul", ["f", "s"], ["y"])], {"x": (13, 75)}, w=rng.integers(-128, 128, (75, 90)).astype(np.int8))


def block_weights(name, rows, bits, block):
    kernel(name, [node("MatMulNBits", ["x", "w", "s"], ["y"], domain="com.microsoft", K=256, N=48, bits=bits, block_size=block)], {"x": (rows, 256)},
           w=rng.integers(0, 256, (48, 256 // block, block * bits // 8)).astype(np.uint8), s=(rng.random(48 * 256 // block) * 0.1).astype(F), tolerance=1e-4)


block_weights("nibbles", 2, 4, 32)
block_weights("nibbles_rows", 5, 4, 16)
block_weights("eight_bits", 1, 8, 32)
block_weights("two_bits", 1, 2, 16)


def kernel_model(name):
    nodes, inputs, outputs, tolerance, weights = KERNELS[name]
    last = [nodes[-1].output[i] for i in range(outputs)]
    results = [info(y) for y in last]
    for r in results:
        r.type.tensor_type.ClearField("shape")
    domains = sorted({n.domain for n in nodes if n.domain})
    model = make(nodes, [info(n, *shape) for n, shape in inputs.items()], results, [numpy_helper.from_array(np.asarray(w), n) for n, w in weights.items()], opset=23, domains=domains)
    feed = {n: np.random.default_rng(i).standard_normal([13 if isinstance(d, str) else d for d in shape]).astype(np.float32) for i, (n, shape) in enumerate(inputs.items())}
    return model, feed, tolerance


def kernel_case(s, folder, name):
    model, feed, tolerance = kernel_model(name.removeprefix("kernel_"))
    want = load_here(s.compile(model, folder, *ORACLE)).run(feed)
    loaded = load(s.compile(model, folder, *TARGET))
    got, again = loaded.run(feed), load(folder / "model.so", threads=3).run(feed)
    for w, g, a in zip(want, got, again):
        if g.tobytes() != a.tobytes():
            return "three threads give other bits than one"
        if why := compare(w, g, tolerance, tolerance * max(1e-6, float(np.abs(w).max()))):
            return why
    return None


SUITE.cases([f"kernel_{name}" for name in KERNELS], kernel_case)


@SUITE.check
def halves_of_weights(s, folder):
    """Weights that bf16 and f16 have exactly give what they give as f32."""
    weights = [numpy_helper.from_array(rng.integers(-99, 100, (70, 83)).astype(np.float32), "w")]
    model = make([node("MatMul", ["x", "w"], ["y"])], [info("x", "n", 70)], [info("y", "n", 83)], weights)
    plain = load(s.compile(model, folder, *TARGET, name="f32"))
    for precision in ("bf16", "f16"):
        half = load(s.compile(model, folder, *TARGET, "--precision", precision, name=precision))
        for rows in (1, 13, 90):
            x = rng.standard_normal((rows, 70)).astype(np.float32)
            if plain.run({"x": x})[0].tobytes() != half.run({"x": x})[0].tobytes():
                return f"{precision}, {rows} rows: other bits"
    return None


# ---- artefacts ----------------------------------------------------------------------------------------------------------------------------

def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@SUITE.check
def program(s, folder):
    program = s.compile(mlp_model(), folder, *TARGET, suffix="")
    x = np.random.default_rng(5).standard_normal((4, 96)).astype(np.float32)
    np.save(folder / "x.npy", x)
    emulated(program, "--input", f"x={folder}/x.npy", "--output-dir", folder, "--threads", "2")
    want = load_here(s.compile(mlp_model(), folder, *ORACLE)).run({"x": x})[0]
    return compare(want, np.load(folder / "y.npy"), 1e-5, 1e-6)


@SUITE.check
def external_weights(s, folder):
    """Beside a library and beside a program; those of the other target's artefact are the same."""
    x = np.zeros((1, 96), np.float32)
    want = load(s.compile(mlp_model(), folder, *TARGET, name="embedded")).run({"x": x})[0]
    if load(s.compile(mlp_model(), folder, *TARGET, "--weights", "external", name="apart")).run({"x": x})[0].tobytes() != want.tobytes():
        return "other bits"
    emulated(s.compile(mlp_model(), folder, *TARGET, "--weights", "external", suffix="", name="program"))
    here = s.compile(mlp_model(), folder, "--weights", "external", name="here")
    return None if Path(f"{here}.weights").read_bytes() == (folder / "apart.so.weights").read_bytes() else "other weights"


MAIN = """
#include "onnxc/onnxc.h"
#include <stdio.h>
const onnxc_api *onnxc_get_api_model(uint32_t);
int main(void) {
  const onnxc_api *api = onnxc_get_api_model(ONNXC_ABI_VERSION);
  onnxc_model *model;
  onnxc_context *context;
  float x[6] = {-1, 2, -3, 4, -5, 6};
  int64_t shape[2] = {2, 3};
  onnxc_value in = {0, 1, {x, {1, 0}, 2, {0, 0, 0}, shape, NULL, 0}, NULL, 0}, out = {0};
  if (api->model_create(NULL, &model, NULL) || api->context_create(model, NULL, &context, NULL) || api->run(context, &in, 1, &out, 1, NULL))
    return 1;
  for (int i = 0; i < 6; ++i)
    printf("%g ", ((float *)out.tensor.data)[i]);
  return 0;
}
"""


def linked(s, folder, suffix):
    need_emulator()
    part = s.compile(relu_model(2, 3), folder, *TARGET, suffix=suffix)
    (folder / "main.c").write_text(MAIN)
    clang(folder / "main.c", part, "-o", folder / "main")
    text = emulated(folder / "main").stdout
    return None if text.split() == ["0", "2", "0", "4", "0", "6"] else text


@SUITE.check
def archive(s, folder):
    return linked(s, folder, ".a")


@SUITE.check
def object_file(s, folder):
    return linked(s, folder, ".o")


@SUITE.check
def library_headers(s, folder):
    """The machine, no need but the C library's, segments that pages of 64 KiB can hold apart."""
    library = s.compile(mlp_model(), folder, *TARGET)
    needed = set(re.findall(r"NEEDED.*\[(.+?)\]", readelf("-d", library)))
    aligned = [line.split()[-1] for line in readelf("-l", library).splitlines() if line.split()[:1] == ["LOAD"]]
    if "AArch64" not in readelf("-h", library) or not needed <= {"libc.so.6", "libm.so.6"} or set(aligned) != {"0x10000"}:
        return f"needs {needed}, segments aligned to {aligned}"
    return None if "/lib/ld-linux-aarch64.so.1" in readelf("-l", s.compile(mlp_model(), folder, *TARGET, suffix="")) else "another loader"


@SUITE.check
def same_bytes(s, folder):
    first = s.compile(mlp_model(), folder, *TARGET).read_bytes()
    again = s.compile(mlp_model(), folder, *TARGET).read_bytes()
    return None if first == again else "two compiles give different bytes"


@SUITE.check
def products_take_lanes(s, folder):
    """The inner loops of a product and a convolution: FMAs by lane, and next to nothing in memory."""
    for name in ("matmul", "conv_direct"):
        text = s.compile(kernel_model(name)[0], folder, *TARGET, suffix=".s").read_text()
        blocks = [b for b in re.split(r"^\.LBB\w+:", text, flags=re.M) if b.count("fmla") >= 64]
        if not blocks:
            return f"{name}: no loop of 64 FMAs"
        for block in blocks:
            loop = re.split(r"\n\tb\.\w+", block)[0]
            if len(re.findall(r"\tq\d+, .*\[sp", loop)) * 20 > loop.count("fmla") or not re.search(r"fmla\tv\d+\.4s, v\d+\.4s, v\d+\.s\[\d\]", loop):
                return f"{name}: {loop}"
    return None


@SUITE.check
def refuses_other_targets_levels(s, folder):
    others = {"aarch64-linux-gnu": "x86_64-linux-gnu", "x86_64-linux-gnu": "aarch64-linux-gnu"}
    for flags in (["--target", "aarch64-linux-gnu", "--cpu", "x86-64-v3"], ["--target", "aarch64-linux-gnu", "--cpu", "native"], ["--target", "x86_64-linux-gnu", "--cpu", "armv8-a"]):
        text = s.onnxc(save(relu_model(2, 3), folder / "m.onnx"), "-o", folder / "m.so", *flags, code=2).stderr
        advice = "`onnxc targets` lists what is" if flags[3] == "native" else f"it is one of --target {others[flags[1]]}"
        if f"{flags[3]} is not known for {flags[1]}, which has " not in text or advice not in text:
            return text
    return None


@SUITE.check
def cannot_run_here(s, folder):
    text = s.onnxc("run", save(relu_model(2, 3), folder / "m.onnx"), *TARGET, code=2).stderr
    if "this machine cannot run" not in text:
        return text
    text = s.onnxc("bench", s.compile(relu_model(2, 3), folder, *TARGET), code=1).stderr
    return None if "is made for aarch64-linux-gnu: this machine cannot run it" in text else text


@SUITE.check
def inspects_what_cannot_run_here(s, folder):
    """A library of another machine tells what this machine's own does but what only a run shows; one that was damaged, that it was."""
    flags = ["--max-shapes", "x=40x96", "--weights", "external"]
    facts = [json.loads(s.onnxc("inspect", s.compile(mlp_model(), folder, *flags, *target), "--json").stdout) for target in ((), TARGET)]
    for key in ("inputs", "outputs", "weight_bytes", "weights_file"):
        if facts[0][key] != facts[1][key]:
            return f"{key}: {facts[0][key]}, {facts[1][key]}"
    library = folder / "model.so"
    text = s.onnxc("inspect", library).stdout
    for words in ("inputs    x  float32[batch,96]\n", "\nsizes     batch 0 to 40\n", "\nmemory    is known where the library runs: aarch64-linux-gnu\n", " for armv8-a; -O3, --max-shapes x=40x96, "):
        if words not in text:
            return f"{words} not in {text}"
    content = library.read_bytes()
    for damaged, words in ((content[:2000], "is no library made by this version of onnxc: "), (content.replace(b".onnxc.json", b".xnnxc.json"), "it does not describe itself")):
        library.write_bytes(damaged)
        text = s.onnxc("inspect", library, code=1).stderr
        if words not in text:
            return text
    return None


def main():
    if QEMU and (SYSROOT / "lib" / "crt1.o").exists():
        import tempfile
        with tempfile.TemporaryDirectory(prefix="onnxc-targets-") as folder:
            clang(HERE / "host.c", "-o", f"{folder}/host")
            os.environ["ONNXC_TEST_HOST"] = f"{QEMU} -L {SYSROOT} {folder}/host"
            SUITE.main()
    else:
        SUITE.main()


if __name__ == "__main__":
    main()
