"""What the files of artefacts hold: symbols, sections, segments; run.py runs these."""
import re
import sys
from pathlib import Path

from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from caller import tool
from common import info, make, mlp_model, weight


def symbols(path, *flags):
    return {line.split()[-1].split("@")[0] for line in tool("nm", *flags, path).split("\n") if line and not line.endswith(":")}


def needs_only_libc(s, folder):
    needed = set(re.findall(r"NEEDED.*\[(.+?)\]", tool("readelf", "-d", s.compile(mlp_model(), folder))))
    return None if needed <= {"libc.so.6", "libm.so.6"} else f"needs {needed}"


def products_without_fma_call_nothing(s, folder):
    """For processors that have no instruction for a product and a sum, these are two, not a call of fmaf for each element."""
    lstm = helper.make_node("LSTM", ["x", "w", "r"], ["", "y"], hidden_size=32)
    recurrent = make([lstm], [info("x", "n", 2, 48)], [info("y", 1, 2, 32)], [weight("w", 1, 128, 48), weight("r", 1, 128, 32)])
    for name, model in (("mlp", mlp_model()), ("lstm", recurrent)):
        if called := symbols(s.compile(model, folder, "--cpu", "x86-64-v2", name=name), "-D", "--undefined-only") & {"fma", "fmaf"}:
            return f"{name} calls {called}"
    return None


def exports_only_getters(s, folder):
    names = symbols(s.compile(mlp_model(), folder), "-D", "--defined-only")
    return None if names == {"onnxc_get_api", "onnxc_get_api_model"} else f"exports {names}"


def objects_need_only_libc(s, folder):
    """Archives and objects show the model's getter and want nothing that libc and libm lack; executables need these two alone."""
    known = set().union(*(symbols(tool("clang-22", f"-print-file-name={name}").strip(), "-D", "--defined-only") for name in ("libc.so.6", "libm.so.6")))
    for suffix in (".a", ".o"):
        path = s.compile(mlp_model(), folder, suffix=suffix)
        if (names := symbols(path, "-g", "--defined-only")) != {"onnxc_get_api_model"}:
            return f"{suffix} defines {names}"
        if names := symbols(path, "-u") - known - {"_GLOBAL_OFFSET_TABLE_"}:
            return f"{suffix} wants {names}"
    needed = set(re.findall(r"NEEDED.*\[(.+?)\]", tool("readelf", "-d", s.compile(mlp_model(), folder, suffix="", name="program"))))
    return None if needed <= {"libc.so.6", "libm.so.6"} else f"an executable needs {needed}"


def no_initialisers(s, folder):
    sections = tool("readelf", "-SW", s.compile(mlp_model(), folder))
    found = re.findall(r"\.(?:init_array|fini_array|ctors|dtors)\b", sections)
    return f"has {found}" if found else None


def no_variables(s, folder):
    """Nothing that one run writes and another reads, but what the loader fills in."""
    ports = [info("x", "n", 64, dtype=TensorProto.UINT8), info("w", 64, 32, dtype=TensorProto.INT8)]
    library = s.compile(make([helper.make_node("MatMulInteger", ["x", "w"], ["y"])], ports, [info("y", "n", 32, dtype=TensorProto.INT32)]), folder)
    sizes = re.findall(r" (\.t?(?:data|bss)) +\w+ +\w+ +\w+ (\w+)", tool("readelf", "-SW", library))
    found = [name for name, size in sizes if int(size, 16)]
    return f"has {found}" if found else None


def no_executable_stack_or_writable_code(s, folder):
    segments = tool("readelf", "-lW", s.compile(mlp_model(), folder))
    return "a segment is writable and executable" if re.search(r"\bRWE\b", segments) else None


def large_weights_fit_huge_pages(s, folder):
    """Their place in a huge page is the same in the file and in memory; few weights need none."""
    for size, align in ((2100, 2 << 20), (64, 4096)):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        library = s.compile(make(nodes, [info("x", 1, size)], [info("y", 1, size)], [weight("w", size, size)]), folder, "--cpu", "x86-64-v3", name=f"w{size}")
        segments = [line.split() for line in tool("readelf", "-lW", library).splitlines() if line.split()[:1] == ["LOAD"]]
        offset, address, found = (int(segments[-1][i], 16) for i in (1, 2, -1))
        if found != align or (offset - address) % align or library.stat().st_size > 4 * size * size + (1 << 20):
            return f"weights of {size}x{size}: {segments[-1]}, {library.stat().st_size} bytes"
    return None


def no_host_paths(s, folder):
    data = s.compile(mlp_model(), folder).read_bytes()
    return "holds the path of the build machine" if str(folder).encode() in data or str(Path(__file__).parent.parent).encode() in data else None


CHECKS = [needs_only_libc, products_without_fma_call_nothing, exports_only_getters, objects_need_only_libc, no_initialisers, no_variables,
          no_executable_stack_or_writable_code, large_weights_fit_huge_pages, no_host_paths]
