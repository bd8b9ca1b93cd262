"""What cmake/package makes of onnxc_add_model: checks of the suite `cli` (run.py), each a project of its own."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

from common import ROOT, mlp_model, save

CMAKE = shutil.which("cmake") or Path(sys.executable).with_name("cmake")
MAIN = """#include "{name}.hpp"
#include <vector>
int main() {{
  onnxc_models::{name}::Session session;
  const std::vector<float> x(96);
  return session.run({{{{x.data(), {{1, 96}}}}}}).y.shape[1] == 64 ? 0 : 1;
}}
"""


def configured(s, folder, *lines, language="NONE", generator="Unix Makefiles"):
    """CMake's run on a project of these lines; m.onnx is its model."""
    folder.mkdir(exist_ok=True)
    save(mlp_model(), folder / "m.onnx")
    head = ["cmake_minimum_required(VERSION 3.16)", f"project(test LANGUAGES {language})", "set(CMAKE_CXX_STANDARD 17)", "find_package(onnxc REQUIRED CONFIG)"]
    (folder / "CMakeLists.txt").write_text("\n".join((*head, *lines, "")))
    return cmake(folder, "-S", ".", "-B", "build", "-G", generator, f"-Donnxc_DIR={ROOT}/cmake/package", f"-DONNXC_EXECUTABLE={s.args.onnxc}")


def cmake(folder, *arguments):
    return subprocess.run([str(CMAKE), *arguments], cwd=folder, capture_output=True, text=True)


def package_refuses_what_it_cannot_take(s, folder):
    cases = [(["onnxc_add_model(m ONNX m.onnx KIND SHARED)"], "onnxc_add_model(m): cannot take 'KIND', 'SHARED'; it takes ONNX, TYPE, TARGET, CPU and FLAGS"),
             (["onnxc_add_model(m ONNX m.onnx CPU)"], "onnxc_add_model(m): nothing follows CPU"), (["onnxc_add_model(m)"], "onnxc_add_model(m): ONNX names no file"),
             (["set(CMAKE_SYSTEM_PROCESSOR riscv64)", "onnxc_add_model(m ONNX m.onnx)"],
              "onnxc_add_model(m): which code 'riscv64' of 'Linux' runs is not known: give TARGET a triple of `onnxc targets`"),
             (["set(CMAKE_SYSTEM_NAME Windows)", "set(CMAKE_SYSTEM_PROCESSOR AMD64)", "onnxc_add_model(m ONNX m.onnx)"], "which code 'AMD64' of 'Windows' runs is not known")]
    for i, (lines, words) in enumerate(cases):
        done = configured(s, folder / str(i), *lines)
        if done.returncode == 0 or words not in " ".join(done.stderr.split()):
            return f"{lines}: exit {done.returncode}: {done.stderr}"
    return None


def package_compiles_for_the_processor(s, folder):
    """What TARGET says, else what CMake builds for."""
    for i, (processor, more, machine) in enumerate((("aarch64", "", "AArch64"), ("arm64", "", "AArch64"), ("aarch64", "FLAGS --target x86_64-linux-gnu", "X86-64"),
                                                    ("riscv64", "TARGET aarch64-linux-gnu", "AArch64"))):
        done = configured(s, folder / str(i), f"set(CMAKE_SYSTEM_PROCESSOR {processor})", f"onnxc_add_model(m ONNX m.onnx TYPE SHARED {more})", language="C")
        done = done if done.returncode else cmake(folder / str(i), "--build", "build", "--target", "m_onnxc")
        header = subprocess.run(["readelf", "-h", folder / str(i) / "build" / "m.onnxc" / "m.so"], capture_output=True, text=True).stdout
        if done.returncode or not re.search(f"Machine:.*{machine}", header):
            return f"{processor} {more}: exit {done.returncode}: {done.stderr}{header}"
    return None


def package_builds_a_program(s, folder):
    """Of a target whose name is no C identifier, and with the weights copied as docs/Use.md has it; a second build does nothing."""
    copy = re.search(r"^add_custom_command.*$", (ROOT / "docs" / "Use.md").read_text(), re.M)[0]
    for target, name, generator in (("my-model", "my_model", "Unix Makefiles"), ("3.d", "m3_d", "Ninja")):
        place = folder / name
        place.mkdir()
        (place / "main.cpp").write_text(MAIN.format(name=name))
        done = configured(s, place, f"onnxc_add_model({target} ONNX m.onnx TYPE STATIC FLAGS --weights external)", "add_executable(service main.cpp)",
                          f"target_link_libraries(service PRIVATE {target})", copy.replace("resnet50", target), language="C CXX", generator=generator)
        built = [cmake(place, "--build", "build") for _ in range(2)]
        if done.returncode or built[0].returncode or built[1].returncode:
            return f"{target}: {done.stderr}{built[0].stderr}{built[1].stderr}"
        if "Compiling model" not in built[0].stdout or "Compiling model" in built[1].stdout:
            return f"{target}: {[b.stdout for b in built]}"
        if (code := subprocess.run([place / "build" / "service"]).returncode):
            return f"{target}: the program ends with {code}"
    return None


CHECKS = [package_refuses_what_it_cannot_take, package_compiles_for_the_processor, package_builds_a_program]
