"""What an artefact leaves alone in the process that loads it: forks, signals, the floating-point environment, memory; run.py runs these."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import helper, numpy_helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Skip, info, make, mlp_model, relu_model


def child(s, library, code, **kwargs):
    """Runs Python `code` in a process of its own, where `lib` is the path, `x` a batch and `want` nothing yet; "ok" printed last is good."""
    head = f"import sys, os, ctypes, signal, threading, gc; sys.path.insert(0, {str(s.args.loader)!r}); import numpy as np, onnxc\n"
    head += f"lib = {str(library)!r}; x = np.random.default_rng(7).standard_normal((5, 96)).astype(np.float32)\n"
    done = subprocess.run([sys.executable, "-c", head + code], capture_output=True, text=True, timeout=120, **kwargs)
    good = done.returncode == 0 and done.stdout.strip().endswith("ok")
    return None if good else f"exit {done.returncode}: {done.stdout.strip()[-200:]} {done.stderr.strip()[-300:]}"


def works_after_fork(s, folder):
    return child(s, s.compile(mlp_model(), folder), """
m = onnxc.load(lib, num_threads=2)
want = m.run({"x": x})[0].tobytes()
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if onnxc.load(lib, num_threads=1).run({"x": x})[0].tobytes() == want else 3)
    assert os.waitpid(pid, 0)[1] == 0, "the child is wrong"
    assert m.run({"x": x})[0].tobytes() == want
print("ok")
""")


def keeps_signals_locale_and_umask(s, folder):
    return child(s, s.compile(mlp_model(), folder), """
def state():
    mask = os.umask(0); os.umask(mask)
    status = [l for l in open("/proc/self/status") if l.startswith(("Sig", "Threads"))]
    return mask, status, os.getcwd(), len(os.listdir("/proc/self/fd")), [signal.getsignal(i) for i in range(1, 65)]
onnxc.load(lib, num_threads=1).run({"x": x}); gc.collect()
before = state()
m = onnxc.load(lib, num_threads=4)
m.run({"x": x})
m.close() if hasattr(m, "close") else None
del m; gc.collect()
assert state() == before, (before, state())
print("ok")
""")


def floating_point_environment(s, folder):
    """Rounding upwards and flushed denormals in the caller change no bit of a result, and the caller's settings come back."""
    return child(s, s.compile(mlp_model(), folder), """
libm = ctypes.CDLL("libm.so.6")
m = onnxc.load(lib, num_threads=1)
want = m.run({"x": x})[0].tobytes()
for mode in (0x400, 0x800, 0xc00):
    libm.fesetround(mode)
    got = m.run({"x": x})[0].tobytes()
    assert libm.fegetround() == mode, "the rounding mode changed"
    libm.fesetround(0)
    assert got == want, "another result"
print("ok")
""")


def little_address_space(s, folder):
    """Out of memory is a status; the next run that fits works."""
    return child(s, s.compile(relu_model("n"), folder), """
import resource
m = onnxc.load(lib, num_threads=1)
big = np.ones(1 << 26, np.float32)
used = int(open("/proc/self/statm").read().split()[0]) * 4096
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20),) * 2)
try:
    m.run({"x": big})
    print("no error")
except (onnxc.Error, MemoryError) as e:
    pass
assert m.run({"x": x[0]})[0].shape == (96,)
print("ok")
""")


def load_and_unload_many_times(s, folder):
    return child(s, s.compile(mlp_model(), folder), """
rss = lambda: int(open("/proc/self/statm").read().split()[1]) * 4096
def once():
    m = onnxc.load(lib, num_threads=2)
    m.run({"x": x})
for _ in range(100): once()
gc.collect(); start = rss()
for _ in range(500): once()
gc.collect()
assert rss() - start < 1 << 20, f"grew by {rss() - start} bytes"
assert threading.active_count() == 1 and len(os.listdir("/proc/self/task")) <= 2 + (os.cpu_count() or 1) * 2, os.listdir("/proc/self/task")
print("ok")
""")


def many_models_in_one_process(s, folder):
    first = s.compile(mlp_model(), folder)
    return child(s, first, """
import shutil
paths = [f"{lib}.{i}.so" for i in range(60)]
for p in paths: shutil.copy(lib, p)
models = [onnxc.load(p, num_threads=1) for p in paths]
want = models[0].run({"x": x})[0].tobytes()
assert all(m.run({"x": x})[0].tobytes() == want for m in models)
print("ok")
""")


def exit_during_a_run(s, folder):
    return child(s, s.compile(mlp_model(), folder), """
m = onnxc.load(lib, num_threads=2)
threading.Thread(target=lambda: [m.run({"x": x}) for _ in range(100000)], daemon=True).start()
print("ok", flush=True)
""")


def cut_libraries_do_not_load(s, folder):
    import onnxc
    whole = s.compile(mlp_model(), folder).read_bytes()
    for length in (0, 10, 64):  # cut behind its headers a file is mapped by the system before anyone can look at it
        (folder / "cut.so").write_bytes(whole[:length])
        result = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(s.args.loader)!r}); import onnxc\ntry: onnxc.load({str(folder / 'cut.so')!r})\nexcept (OSError, onnxc.Error): print('ok')"], capture_output=True, text=True)
        if result.stdout.strip() != "ok":
            return f"{length} bytes: exit {result.returncode} {result.stderr[-200:]}"
    return None


def reads_nothing_behind_inputs(s, folder):
    """Rows that a tile has and the run has not, in front of a page that nobody may read: of a matrix, of numbers that rows share, of one column."""
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Mul", ["t", "r"], ["u"]), helper.make_node("Add", ["u", "s"], ["y"])]
    weights = [numpy_helper.from_array(np.ones((8, 20), np.float32), "w")]
    proto = make(nodes, [info("x", "n", 8), info("r", "n", 1), info("s", "n", 20)], [info("y", "n", 20)], weights)
    return child(s, s.compile(proto, folder), """
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
PAGE = 4096
def at_the_end(*shape):
    count = int(np.prod(shape))
    pages = -(-count * 4 // PAGE)
    start = libc.mmap(None, (pages + 1) * PAGE, 3, 0x22, -1, 0)
    assert libc.mprotect(start + pages * PAGE, PAGE, 0) == 0
    a = np.ctypeslib.as_array((ctypes.c_float * count).from_address(start + pages * PAGE - count * 4)).reshape(shape)
    a[:] = 1
    return a
m = onnxc.load(lib, num_threads=1)
for n in range(1, 45):
    y = m.run({"x": at_the_end(n, 8), "r": at_the_end(n, 1), "s": at_the_end(n, 20)})[0]
    assert (y == 9).all(), n
print("ok")
""")


def threads_keep_off_the_callers_processor(s, folder):
    """A parked thread leaves out the processor of the last run, wherever that was; what others made of its affinity, or of the process's, it keeps to."""
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("this process may use one processor only")
    if "Seccomp:\t0" not in Path("/proc/self/status").read_text():
        raise Skip("threads of a process that filters its system calls keep their affinity")
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    proto = make(nodes, [info("x", 256, 256)], [info("y", 256, 1024)], [numpy_helper.from_array(np.ones((256, 1024), np.float32), "w")])
    return child(s, s.compile(proto, folder), """
import time
x = np.ones((256, 256), np.float32)
given = os.sched_getaffinity(0)
one, other = sorted(given)[:2]
def loaded():
    m, before = onnxc.load(lib, num_threads=2), set(os.listdir("/proc/self/task"))
    m.run({"x": x})
    (thread,) = set(os.listdir("/proc/self/task")) - before
    return m, int(thread)
def run_on(processor):
    os.sched_setaffinity(0, {processor})
    m.run({"x": x})
def stays_on(processor, wanted):
    for _ in range(200):
        caller = threading.Thread(target=run_on, args=(processor,))
        caller.start(), caller.join()
        time.sleep(0.005)
        if os.sched_getaffinity(thread) == wanted:
            return
    assert False, (processor, os.sched_getaffinity(thread), wanted)
m, thread = loaded()
for processor in (one, other, one, other):
    stays_on(processor, given - {processor})
for task in os.listdir("/proc/self/task"):  # taskset -ap
    os.sched_setaffinity(int(task), {one})
for _ in range(20):
    m.run({"x": x})
    time.sleep(0.005)
    assert os.sched_getaffinity(thread) == {one}, os.sched_getaffinity(thread)
os.sched_setaffinity(0, given)
m, thread = loaded()
stays_on(one, given - {one})
os.sched_setaffinity(thread, {one})
for processor in (other, one) * 10:
    stays_on(processor, {one})
print("ok")
""", env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})


def filtered_calls_of_affinity_are_not_made(s, folder):
    """Where a filter that ends the process for sched_yield and sched_setaffinity stands before the pool is made, also on one processor."""
    import platform
    numbers = {"x86_64": (24, 203), "aarch64": (124, 122)}.get(platform.machine())
    if not numbers or len(os.sched_getaffinity(0)) < 2:
        raise Skip("no numbers of system calls for this machine, or one processor only")
    return child(s, s.compile(mlp_model(), folder), f"""
import struct
libc = ctypes.CDLL(None)
given = os.sched_getaffinity(0)
filters = [(0x20, 0, 0, 0)] + [(0x15, 2, 0, {numbers[0]}), (0x15, 1, 0, {numbers[1]}), (6, 0, 0, 0x7fff0000), (6, 0, 0, 0x80000000)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *f) for f in filters))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(filters), ctypes.addressof(code)))
def confine():
    assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
    x = np.ones((512, 96), np.float32)
    m = onnxc.load(lib, num_threads=2)
    for _ in range(20):
        m.run({{"x": x}})
    pinned.wait(), pinned.wait()
    for _ in range(300):
        m.run({{"x": x}})
    print("ok", flush=True)
pinned = threading.Barrier(2)
runs = threading.Thread(target=confine)
runs.start()
pinned.wait()
for task in os.listdir("/proc/self/task"):  # this thread is not confined
    os.sched_setaffinity(int(task), {{min(given)}})
pinned.wait()
runs.join()
""")


CHECKS = [filtered_calls_of_affinity_are_not_made, reads_nothing_behind_inputs, works_after_fork, threads_keep_off_the_callers_processor, keeps_signals_locale_and_umask, floating_point_environment, little_address_space, load_and_unload_many_times, many_models_in_one_process, exit_during_a_run, cut_libraries_do_not_load]
