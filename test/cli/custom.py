"""Custom operators from the user's own libraries, as a user types them; run.py runs these."""
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import info, make, save

ROOT = Path(__file__).resolve().parent.parent.parent
X = np.array([[-1, 2, -3], [4, -5, 6]], np.float32)


CUSTOM = r"""
#include <onnxc/onnxc_custom.h>
#include <string.h>
int32_t onnxc_custom_shape_my_ops_Pairs(const onnxc_custom_call *c) {
  if (c->num_inputs != 3 || c->inputs[1].rank != -1 || c->inputs[0].dims[0] != c->inputs[2].dims[0])
    return ONNXC_CUSTOM_SHAPE;
  c->outputs[0].dims[0] = 2 * c->inputs[0].dims[0];
  return 0;
}
int32_t onnxc_custom_run_my_ops_Pairs(const onnxc_custom_call *c) {
  const float *x = c->inputs[0].data, *z = c->inputs[2].data;
  float *y = c->outputs[0].data, *copy = c->allocate(c->run, 4 * c->outputs[0].dims[0]);
  const onnxc_custom_attribute *a = c->attributes;
  for (; a->name && strcmp(a->name, "scales"); ++a)
    ;
  if (!a->name || a->kind != 'F' || a->count != 2)
    return ONNXC_CUSTOM_VALUE;
  for (int64_t i = 0; i < c->inputs[0].dims[0]; ++i)
    copy[2 * i] = x[i] * ((const float *)a->data)[0], copy[2 * i + 1] = z[i] * ((const float *)a->data)[1];
  memcpy(y, copy, 4 * c->outputs[0].dims[0]);
  return 0;
}
"""


def custom_model(scales):
    """y interleaves scaled x and z."""
    node = helper.make_node("Pairs", ["x", "", "z"], ["y"], domain="my.ops", name="pairs_0", scales=scales)
    return make([node], [info("x", "n"), info("z", "m")], [info("y", "k")], domains=["my.ops"])


def custom_libraries(folder, source=CUSTOM):
    (folder / "pairs.c").write_text(source)
    include = Path(__file__).resolve().parent.parent.parent / "runtime_stub" / "include"
    compiler = shutil.which("cc") or "clang-22"
    subprocess.run([compiler, "-O1", "-fPIC", f"-I{include}", "-c", "pairs.c", "-o", "pairs.o"], cwd=folder, check=True)
    subprocess.run([shutil.which("ar") or "llvm-ar-22", "rcs", "pairs.a", "pairs.o"], cwd=folder, check=True)
    subprocess.run([compiler, "-shared", "-Wl,-soname,pairs_op.so", "pairs.o", "-o", "pairs_op.so"], cwd=folder, check=True)
    return [folder / "pairs.a", folder / "pairs_op.so"]


def custom_operator(s, folder):
    np.save(folder / "x.npy", X[0])
    np.save(folder / "z.npy", X[1])
    for library in custom_libraries(folder):
        s.onnxc(save(custom_model([2.0, 10.0]), folder / "m.onnx"), "-o", folder / "m.so", "--custom-op", f"my.ops::Pairs={library}")
        s.onnxc(folder / "m.onnx", "-o", folder / "program", "--custom-op", f"my.ops::Pairs={library}")
        inputs = ["--input", f"x={folder}/x.npy", "--input", f"z={folder}/z.npy", "--output-dir", folder / "out"]
        for run in ([s.args.onnxc, "run", folder / "m.so"], [folder / "program"]):
            (folder / "out").mkdir(exist_ok=True)
            subprocess.run([*run, *inputs], check=True, capture_output=True)
            got = np.load(folder / "out" / "y.npy")
            if got.tolist() != np.stack([X[0] * 2, X[1] * 10], 1).ravel().tolist():
                return f"{run[-1].name} with {library.name}: {got}"
            shutil.rmtree(folder / "out")
        (folder / "m.so").unlink()
    return None


# Three names that are known already: a body of com.microsoft, a function of the standard, an operator of an old opset.
KNOWN = r"""
#include <onnxc/onnxc_custom.h>
#include <string.h>
static const onnxc_custom_attribute *find(const onnxc_custom_call *c, const char *name, int64_t kind, int64_t count) {
  const onnxc_custom_attribute *a = c->attributes;
  for (; a->name && strcmp(a->name, name); ++a)
    ;
  return a->name && a->kind == kind && a->count == count ? a : 0;
}
static int32_t same(const onnxc_custom_call *c) {
  memcpy(c->outputs[0].dims, c->inputs[0].dims, sizeof(int64_t) * c->inputs[0].rank);
  return 0;
}
static int32_t add(const onnxc_custom_call *c, float v) {
  const onnxc_custom_tensor *x = &c->inputs[0];
  int64_t n = 1;
  for (int32_t i = 0; i < x->rank; ++i)
    n *= x->dims[i];
  for (int64_t i = 0; i < n; ++i)
    ((float *)c->outputs[0].data)[i] = ((const float *)x->data)[i] + v;
  return 0;
}
int32_t onnxc_custom_shape_com_microsoft_BiasAdd(const onnxc_custom_call *c) { return same(c); }
int32_t onnxc_custom_run_com_microsoft_BiasAdd(const onnxc_custom_call *c) {
  const onnxc_custom_attribute *words = find(c, "words", 'S', 2), *table = find(c, "table", 't', 1), *names = find(c, "names", 't', 1);
  if (!words || !table || !names)
    return ONNXC_CUSTOM_VALUE;
  const onnxc_custom_string *w = words->data;
  const onnxc_custom_tensor *t = table->data, *s = names->data;
  if (w[0].size != 3 || memcmp(w[0].data, "one", 3) || w[1].size != 0 || t->rank != 2 || t->dims[0] != 1 || t->dims[1] != 2 || t->dtype != 11)
    return ONNXC_CUSTOM_VALUE;
  w = s->data;
  if (s->rank != 1 || s->dims[0] != 2 || s->dtype != 8 || w[1].size != 4 || memcmp(w[1].data, "same", 4))
    return ONNXC_CUSTOM_VALUE;
  return add(c, (float)((const double *)t->data)[1]);
}
int32_t onnxc_custom_shape_ai_onnx_HardSwish(const onnxc_custom_call *c) { return same(c); }
int32_t onnxc_custom_run_ai_onnx_HardSwish(const onnxc_custom_call *c) { return add(c, 100); }
int32_t onnxc_custom_shape_ai_onnx_Clip(const onnxc_custom_call *c) { return same(c); }
int32_t onnxc_custom_run_ai_onnx_Clip(const onnxc_custom_call *c) {
  return c->num_inputs == 1 && find(c, "max", 'f', 1) ? add(c, (float)find(c, "max", 'f', 1)->f) : ONNXC_CUSTOM_VALUE;
}
"""


def custom_operator_of_a_known_name(s, folder):
    bias = helper.make_node("BiasAdd", ["x"], ["t"], domain="com.microsoft", words=["one", ""], table=numpy_helper.from_array(np.array([[1.0, 5.0]])),
                            names=numpy_helper.from_array(np.array(["same", "same"], object)))
    nodes = [bias, helper.make_node("HardSwish", ["t"], ["u"]), helper.make_node("Clip", ["u"], ["y"], max=1000.0)]
    model = make(nodes, [info("x", "n", 2)], [info("y", "n", 2)], opset=9, domains=["com.microsoft"])
    model.graph.value_info.extend(info(name, "n", 2) for name in "tu")
    archive, _ = custom_libraries(folder, KNOWN)
    flags = [f for name in ("com.microsoft::BiasAdd", "::HardSwish", "::Clip") for f in ("--custom-op", f"{name}={archive}")]
    np.save(folder / "x.npy", X[:, :2])
    for shaped in (True, False):  # without a shape y has the rank of the first input
        if not shaped:
            model.graph.output[0].type.tensor_type.ClearField("shape")
        s.onnxc(save(model, folder / "m.onnx"), "-o", folder / "m.so", *flags)
        s.onnxc("run", folder / "m.so", "--input", f"x={folder}/x.npy", "--output-dir", folder / "out")
        got = np.load(folder / "out" / "y.npy")
        if not np.array_equal(got, X[:, :2] + np.float32(1105)):
            return str(got)
    return None


# An output of fewer elements and axes than the input, one of another type; either may be left out.
FOUND = r"""
#include <onnxc/onnxc_custom.h>
static int64_t find(const onnxc_custom_call *c, float *to) {
  const onnxc_custom_tensor *x = &c->inputs[0];
  int64_t found = 0;
  for (int64_t i = 0; i < x->dims[0] * x->dims[1]; ++i)
    if (((const float *)x->data)[i] > 0) {
      if (to)
        to[found] = ((const float *)x->data)[i];
      ++found;
    }
  return found;
}
int32_t onnxc_custom_shape_my_ops_Found(const onnxc_custom_call *c) {
  if (c->num_outputs != 2)
    return ONNXC_CUSTOM_SHAPE;
  if (c->outputs[0].rank == 1)
    c->outputs[0].dims[0] = find(c, 0);
  return 0;
}
int32_t onnxc_custom_run_my_ops_Found(const onnxc_custom_call *c) {
  int64_t found = find(c, c->outputs[0].rank < 0 ? 0 : c->outputs[0].data);
  if (c->outputs[1].rank == 0)
    *(int64_t *)c->outputs[1].data = found;
  return 0;
}
"""


def custom_operator_of_other_types(s, folder):
    archive, _ = custom_libraries(folder, FOUND)
    np.save(folder / "x.npy", X)
    results = {"y": (info("y", 3), X[X > 0]), "n": (info("n", dtype=TensorProto.INT64), np.array(3))}
    for wanted in (("y", "n"), ("y", ""), ("", "n")):
        node = helper.make_node("Found", ["x"], wanted, domain="my.ops")
        for shape in ((2, 3), ("rows", "columns")):
            model = make([node], [info("x", *shape)], [results[name][0] for name in wanted if name], domains=["my.ops"])
            s.onnxc(save(model, folder / "m.onnx"), "-o", folder / "m.so", "--custom-op", f"my.ops::Found={archive}")
            s.onnxc("run", folder / "m.so", "--input", f"x={folder}/x.npy", "--output-dir", folder / "out")
            for name in filter(None, wanted):
                got = np.load(folder / "out" / f"{name}.npy")
                if got.dtype != results[name][1].dtype or not np.array_equal(got, results[name][1]):
                    return f"{wanted} of {shape}: {name} is {got}"
    return None


def custom_operator_says_what_is_wrong(s, folder):
    archive, _ = custom_libraries(folder)
    np.save(folder / "x.npy", X[0])
    np.save(folder / "z.npy", X[1, :2])
    model = save(custom_model([1.0, 1.0]), folder / "m.onnx")
    s.onnxc(model, "-o", folder / "m.so", "--custom-op", f"my.ops::Pairs={archive}")
    text = s.onnxc("run", folder / "m.so", "--input", f"x={folder}/x.npy", "--input", f"z={folder}/z.npy", code=1).stderr
    if "pairs_0" not in text or "(my_ops_Pairs)" not in text or "shapes do not fit" not in text:
        return f"a failing kernel: {text}"
    other = save(make([helper.make_node("Other", ["x"], ["y"], domain="my.ops")], [info("x", 3)], [info("y", 3)], domains=["my.ops"]), folder / "o.onnx")
    kind = helper.make_node("Pairs", ["x", "", "z"], ["y"], domain="my.ops", name="pairs_1", kind=helper.make_tensor_type_proto(1, [2]))
    typed = save(make([kind], [info("x", "n"), info("z", "m")], [info("y", "k")], domains=["my.ops"]), folder / "t.onnx")
    cases = [(["--custom-op", f"my.ops::Other={archive}"], other, 1, "onnxc_custom_"), (["--custom-op", f"my.ops::Pairs={archive}"], typed, 1, "attribute 'kind' is a graph or a type"), (["--custom-op", "Pairs=x.a"], model, 2, "DOMAIN::NAME=LIBRARY"),
             (["--custom-op", "my.ops::Pairs=x.a", "--custom-op", "my.ops::Pairs=y.a"], model, 2, "'my.ops::Pairs' cannot come from both 'x.a' and 'y.a'"),
             (["--custom-op", f"my.ops::Pairs={archive}", "--target", "aarch64-linux-gnu"], model, 1, "pairs.o) is incompatible with aarch64linux"),
             (["--custom-op", f"my.ops::Pairs={folder}/no.a"], model, 1, "no file")]
    text = s.onnxc(model, "-o", folder / "m.so", "--custom-op", f"my.ops::Pairs={archive}", "--custom-op", f"my.ops::Pair={archive}").stderr
    if text != f"onnxc: warning: {model}: --custom-op my.ops::Pair: no node of the model has this operator\n":
        return text
    for flags, path, code, word in cases:
        text = s.onnxc(path, "-o", folder / "o.so", *flags, code=code).stderr
        if word not in text:
            return f"{flags}: {text}"
    return None


CHECKS = [custom_operator, custom_operator_of_a_known_name, custom_operator_of_other_types, custom_operator_says_what_is_wrong]
