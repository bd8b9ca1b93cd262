"""House rules that a program can check. One test a rule; ends with `rules: N passed, N failed, N skipped`.

- a folder includes and links only what docs/Architecture.md allows it to, the runtime stub only headers of libc; that page names every pass
- sources are formatted, open with a comment and stay below 600 lines
- no machine paths or registry hosts, nothing unfinished, no tracked file over 1 MiB
- every library kernel row names an operator of the dialect
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDERS = ["compiler", "codegen", "passes", "dialects", "runtime_stub"]
# What a folder may include from the other folders. SHARED_TABLES are the tables, layouts and formulas that compiler and artefact share; Bitcode.h gives codegen the objects and bitcode that go into artefacts.
MAY_INCLUDE = {
    "compiler": {"compiler", "codegen", "passes", "dialects"},
    "codegen": {"codegen", "dialects"},
    "passes": {"passes", "dialects"},
    "dialects": {"dialects"},
    "runtime_stub": {"runtime_stub"},
}
SHARED_TABLES = re.compile(r"runtime_stub/(kernels/Library\w*\.def|kernels/(FloatTiles|FloatWindows|PackedForest|PackedKeys|PackedPool|PanelSizes|PhaseAxis|ResizePositions|SamePadding)\.h|plan\.h|Bitcode\.h|include/onnxc/onnxc\.h)$")
CODE = (".cpp", ".h", ".hpp", ".c", ".td", ".def", ".py")


def tracked():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(p) for p in out.split("\0") if p and (ROOT / p).is_file()]


def text(path):
    return (ROOT / path).read_text(errors="replace")


def code(files, *suffixes):
    return [f for f in files if f.suffix in (suffixes or CODE)]


def rule_includes(files):
    for f in code(files, ".cpp", ".h", ".c", ".td"):
        allowed = MAY_INCLUDE.get(f.parts[0])
        for name in re.findall(r'^\s*#?include "([^"]+)"', text(f), re.M) if allowed else []:
            folder = name.split("/")[0]
            if folder in FOLDERS and folder not in allowed and not SHARED_TABLES.match(name):
                yield f"{f} includes {name}: {f.parts[0]} may include {', '.join(sorted(allowed))}"


def rule_links(files):
    lists = {f: text(f) for f in files if f.name == "CMakeLists.txt" and f.parts[0] in FOLDERS}
    folder = {name: f.parts[0] for f, t in lists.items() for name in re.findall(r"onnxc_add_library\((\w+)", t)}
    for f, t in lists.items():
        for names in re.findall(r"\bLINK ([^)]*)\)", t):
            for name in names.split():
                if folder.get(name, f.parts[0]) not in MAY_INCLUDE[f.parts[0]]:
                    yield f"{f} links {name} of {folder[name]}: {f.parts[0]} may link {', '.join(sorted(MAY_INCLUDE[f.parts[0]]))}"


def rule_passes(files):
    page = text("docs/Architecture.md")
    for f in files:
        for name in re.findall(r"^def (\w+) : Pass<", text(f), re.M) if f.name == "Passes.td" else []:
            if name not in page:
                yield f"{f}: docs/Architecture.md does not name the pass {name}"


# Headers of C11 and POSIX, of compilers for one instruction set, and of the two image libraries whose decoders are carried along.
LIBC = re.compile(r"(std\w+|string|time|unistd|fcntl|signal|setjmp|sched|pthread|errno|dlfcn|locale|sys/\w+|link|cpuid|\w*intrin|arm_neon)\.h$")
IMAGE_LIBRARIES = {"webp/decode.h", "openjpeg.h"}


def rule_stub_needs_libc(files):
    for f in code(files, ".c", ".h", ".cpp"):
        for name in re.findall(r"^\s*#include <([^>]+)>", text(f), re.M) if f.parts[0] == "runtime_stub" else []:
            if not LIBC.match(name) and not (f.name == "codecs.c" and name in IMAGE_LIBRARIES):
                yield f"{f} includes <{name}>: an artefact needs nothing but libc"


def rule_size(files):
    for f in files:
        if (ROOT / f).stat().st_size > 1 << 20:
            yield f"{f} is over 1 MiB"
    for f in code(files):
        lines = text(f).count("\n")
        if lines > 600:
            yield f"{f} has {lines} lines: split it by what it does"


def rule_opening_comment(files):
    for f in code(files):
        first = text(f).lstrip()
        if first and not first.startswith(("#", '"""') if f.suffix == ".py" else ("//", "/*")):
            yield f"{f} does not open with a comment that says what it is"


def rule_paths(files):
    pattern = re.compile(r"(/wo" r"rk/|/tm" r"p/|/ro" r"ot/|https?://[^ ]*(py" r"pi|deb" r"ian))")
    for f in files:
        if f.suffix == ".md" or b"\0" in (ROOT / f).read_bytes()[:4096]:
            continue
        for n, line in enumerate(text(f).splitlines(), 1):
            if pattern.search(line):
                yield f"{f}:{n}: a path of one machine, or a registry's host"


def rule_unfinished(files):
    pattern = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|not imple" r"mented|unimple" r"mented)\b")
    for f in code(files):
        for n, line in enumerate(text(f).splitlines(), 1):
            if pattern.search(line):
                yield f"{f}:{n}: unfinished"


def rule_format(files):
    tool = shutil.which("clang-format-22")
    sources = [str(f) for f in code(files, ".cpp", ".h", ".hpp", ".c")]
    if not tool:
        yield "clang-format-22 is missing: ./dev setup"
        return
    done = subprocess.run([tool, "--dry-run", "--Werror", *sources], cwd=ROOT, capture_output=True, text=True)
    for name in sorted(set(re.findall(r"^([^:\n]+):\d+:\d+: error", done.stderr, re.M))):
        yield f"{name} is not formatted: ./dev format"


def rule_commands(files):
    if "dev test" not in text(".ci/run"):
        yield ".ci/run does not call ./dev test"
    readme = text("README.md")
    for command in ("./dev demo", "./dev test"):
        if command not in readme:
            yield f"README.md does not show {command}"


def rule_readme_example(files):
    example = text("examples/relu.cpp")  # which the suite `examples` compiles and runs
    for block in re.findall(r"```cpp\n(.*?)```", text("README.md"), re.S):
        for line in block.splitlines():
            if line.strip() not in example:
                yield f"README.md's C++ line '{line.strip()}' is not in examples/relu.cpp"


def rule_library_rows(files):
    known = set(re.findall(r'\b(?:On' r'nx_\w+|def \w+|\w+)<"([\w.]+)"', "".join(text(f) for f in files if f.parts[:2] == ("dialects", "onnx") and f.suffix == ".td")))
    for f in files:
        if re.match(r"runtime_stub/kernels/Library\w+\.def$", str(f)):
            for op in re.findall(r'ONNXC_LIBRARY\("([\w.]+)"', text(f)):
                if op.removeprefix("fast.") not in known:
                    yield f"{f}: no operator onnx.{op} in the dialect"


def main():
    files = tracked()
    rules = {name[5:]: rule for name, rule in globals().items() if name.startswith("rule_")}
    failed = 0
    for name, rule in rules.items():
        found = list(rule(files))
        failed += bool(found)
        for line in found[:20]:
            print(f"{name}: {line}")
        if len(found) > 20:
            print(f"{name}: and {len(found) - 20} more")
    print(f"rules: {len(rules) - failed} passed, {failed} failed, 0 skipped")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
