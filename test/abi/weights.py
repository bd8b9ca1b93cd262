"""Artefacts whose weights are in a file of their own (--weights external): where it is found, what is refused, what is given back; run.py runs these."""
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from caller import batch, load
from common import info, make, mlp_model, relu_model

EXTERNAL = ["--weights", "external"]
STAMP = 64  # bytes in front of the weights


def beside(artefact):
    return Path(f"{artefact}.weights")


def apart(s, folder, *flags, proto=None, **options):
    """An artefact, whose weights are beside it."""
    return s.compile(proto or mlp_model(), folder, *EXTERNAL, *flags, **options)


def refusal(path, **options):
    """(code, message) of a load that must fail."""
    import onnxc
    try:
        load(path, **options)
    except onnxc.Error as e:
        return e.code, str(e)
    return 0, "no error"


def same_bits_with_external_weights(s, folder):
    """At each level of one artefact, with one thread and three; and for values that a run takes from the weights where its caller gives none."""
    cpus = ["x86-64-v2", "x86-64-v3"]
    embedded, external = (s.compile(mlp_model(), folder, *flags, "--cpu", ",".join(cpus), name=name) for name, flags in (("embedded", []), ("external", EXTERNAL)))
    for cpu in cpus:
        for threads in (1, 3):
            want, got = (load(path, cpu=cpu, num_threads=threads).run({"x": batch()})[0] for path in (embedded, external))
            if want.tobytes() != got.tobytes():
                return f"{cpu}, {threads} threads: other bits"
    weights = embedded.stat().st_size - external.stat().st_size
    if beside(embedded).exists() or not 0 <= beside(external).stat().st_size - STAMP - weights < 8192:
        return f"{embedded.stat().st_size} bytes, {external.stat().st_size} without weights, which are {beside(external).stat().st_size}"
    default = numpy_helper.from_array(np.float32([3, 4]), "d")
    proto = make([helper.make_node("Add", ["x", "d"], ["y"])], [info("x", 2), info("d", 2)], [info("y", 2)], [default])
    got = load(apart(s, folder, "--default-inputs", "all", proto=proto)).run({"x": np.float32([1, 2])})[0]
    return None if got.tolist() == [4, 6] else f"default of an input: {got}"


def same_bytes_of_external_weights(s, folder):
    (folder / "elsewhere").mkdir()
    for suffix in (".so", ".a", ".o", ""):
        one, other = (apart(s, place, suffix=suffix) for place in (folder, folder / "elsewhere"))
        if one.read_bytes() != other.read_bytes() or beside(one).read_bytes() != beside(other).read_bytes():
            return f"two compiles of '{suffix}' differ"
    return None


def weights_are_found_beside_the_library(s, folder):
    """Also when both files have got another name, by a relative path, and when the caller says where they are."""
    library = apart(s, folder)
    (folder / "sub").mkdir()
    moved, named = folder / "sub" / "renamed.so", folder / "w.bin"
    shutil.copy(library, moved)
    shutil.copy(beside(library), named)
    want = load(library).run({"x": batch()})[0].tobytes()
    if load(moved, weights=named).run({"x": batch()})[0].tobytes() != want:
        return "other bits from a named file"
    code, message = refusal(moved)
    if code != 7 or not all(word in message for word in (f"'{beside(moved)}'", "No such file", "weights_path")):
        return f"{code} for a missing file: {message}"
    named.rename(beside(moved))
    if load(moved).run({"x": batch()})[0].tobytes() != want:
        return "other bits from the file beside it"
    code = f"""import sys; sys.path.insert(0, {str(Path(s.args.loader).resolve())!r})
import os, onnxc, numpy as np
os.path.abspath = lambda path: path
print(onnxc.load("./renamed.so").run({{"x": np.zeros((1, 96), np.float32)}})[0].shape)"""
    done = subprocess.run([sys.executable, "-c", code], cwd=moved.parent, capture_output=True, text=True)
    return None if done.stdout == "(1, 64)\n" else f"by a relative path: {done.stdout}{done.stderr}"


def wrong_weights_are_refused(s, folder):
    """Before anything of them is read but their begin; each message names the file and what is wrong with it."""
    library = apart(s, folder)
    whole, other = beside(library).read_bytes(), beside(apart(s, folder, proto=relu_model(4), name="other"))
    bad = folder / "bad"
    os.mkfifo(folder / "pipe")
    for data, words in ((whole[:-1], (len(whole), len(whole) - 1)), (whole + b"x", (len(whole), len(whole) + 1)), (whole[:40], (len(whole), 40)), (b"", (len(whole), " 0 ")),
                        (other.read_bytes(), ("another model's", whole[16:24][::-1].hex(), other.read_bytes()[16:24][::-1].hex())), (library.read_bytes(), ("no weights of onnxc",))):
        bad.write_bytes(data)
        code, message = refusal(library, weights=bad)
        if code != 7 or not all(str(w) in message for w in (*words, f"'{bad}'")):
            return f"{code}: {message} instead of {words}"
    for path in (folder, folder / "pipe"):
        code, message = refusal(library, weights=path)
        if code != 7 or f"'{path}'" not in message:
            return f"{code}: {message}"
    return None if "Is a directory" in refusal(library, weights=folder)[1] else "another word for a folder"


def equal_weights_are_one_file(s, folder):
    """The stamp is of the weights: artefacts for other machines may share their file."""
    one, other = (apart(s, folder, "--cpu", cpu, name=cpu) for cpu in ("x86-64-v2", "x86-64-v3"))
    beside(other).unlink()
    return None if load(other, weights=beside(one)).run({"x": batch()})[0].shape == (5, 64) else "a wrong shape"


def external_weights_are_given_back(s, folder):
    """One mapping a model, none after its end, and none that a write could change."""
    library = apart(s, folder)

    def mappings():
        return [line.split()[1] for line in Path("/proc/self/maps").read_text().splitlines() if line.endswith(beside(library).name)]
    models = [load(library) for _ in range(3)]
    descriptors = len(os.listdir("/proc/self/fd"))
    if mappings() != ["r--p"] * 3:
        return f"{mappings()} for 3 models"
    for m in models:
        m.close()
    beside(library).write_bytes(beside(library).read_bytes()[:-1])
    for _ in range(10):
        refusal(library)
    return None if not mappings() and len(os.listdir("/proc/self/fd")) == descriptors else f"{mappings()} are left, {os.listdir('/proc/self/fd')} open"


MAIN = """
#include "onnxc/onnxc.h"
#include <stdio.h>
const onnxc_api *onnxc_get_api_part(uint32_t);
int main(int argc, char **argv) {
  const onnxc_api *api = onnxc_get_api_part(ONNXC_ABI_VERSION);
  onnxc_options options = {.struct_size = sizeof options, .weights_path = argc > 1 ? argv[1] : NULL};
  onnxc_model *model;
  onnxc_context *context;
  onnxc_error error = {0};
  static float x[96];
  int64_t shape[2] = {1, 96};
  onnxc_value in = {0, 1, {x, {1, 0}, 2, {0, 0, 0}, shape, NULL, 0}, NULL, 0}, out = {0};
  if (api->model_create(&options, &model, &error) || api->context_create(model, NULL, &context, &error) || api->run(context, &in, 1, &out, 1, &error))
    return printf("%d %s\\n", error.code, error.message), 1;
  api->context_destroy(context);
  api->model_destroy(model);
  return puts("ok"), 0;
}
"""


def weights_of_linked_models(s, folder):
    """Of an archive or object: beside the program that it has become part of, under the part's name."""
    (folder / "main.c").write_text(MAIN)
    for suffix in (".a", ".o"):
        part, program = apart(s, folder, suffix=suffix, name="part"), folder / f"bin{suffix}" / "main"
        program.parent.mkdir()
        subprocess.run(["clang-22", "-Wall", "-Wextra", "-Werror", folder / "main.c", part, f"-I{s.args.loader}/../include", "-lm", "-lpthread", "-o", program], check=True)
        missing = subprocess.run([program], capture_output=True, text=True).stdout
        if not missing.startswith("7 ") or f"'{program.parent}/part{suffix}.weights'" not in missing:
            return f"{suffix}: {missing}"
        named = subprocess.run([program, beside(part)], capture_output=True, text=True).stdout
        shutil.copy(beside(part), program.parent)
        found = subprocess.run([program], capture_output=True, text=True, cwd="/").stdout
        if named != "ok\n" or found != "ok\n":
            return f"{suffix}: {named}, {found}"
    return None


def weights_of_programs(s, folder):
    program = apart(s, folder, suffix="", name="program")
    found = subprocess.run([program], capture_output=True, text=True, cwd="/")
    named = beside(program).rename(folder / "w.bin")
    missing, given = (subprocess.run([program, *flags], capture_output=True, text=True) for flags in ([], ["--weights", named]))
    if found.returncode or given.returncode or given.stdout.splitlines()[0] != found.stdout.splitlines()[0]:
        return f"{found} and {given}"
    return None if missing.returncode == 1 and f"'{beside(program)}'" in missing.stderr else f"{missing}"


CHECKS = [same_bits_with_external_weights, same_bytes_of_external_weights, weights_are_found_beside_the_library, wrong_weights_are_refused, equal_weights_are_one_file,
          external_weights_are_given_back, weights_of_linked_models, weights_of_programs]
