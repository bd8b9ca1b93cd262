"""What suites that run models need: reading ONNX test data, comparing values, running a function in a child that may die."""
import contextlib
import os
import signal
import sys
import traceback

import numpy as np
import onnx
from onnx import numpy_helper

# What limits of seconds are multiplied with; test/run.py sets it for sanitised builds.
PATIENCE = float(os.environ.get("ONNXC_TEST_PATIENCE", 1))
# Flags by which suites of many small models take up LLVM's output for a program that this compiler made before, as developers would with --cache.
REUSE = ["--cache", os.environ["ONNXC_TEST_CODE"]] if "ONNXC_TEST_CODE" in os.environ else []


def peer(model, optimized=True):
    """A quiet session of ONNX Runtime for the model, on one thread."""
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1  # suites run checks side by side; and DynamicQuantizeLSTM takes ranges of what each thread computes
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def read_value(path, type_proto):
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        proto, convert = onnx.SequenceProto(), numpy_helper.to_list
    elif kind == "optional_type":
        proto, convert = onnx.OptionalProto(), numpy_helper.to_optional
    elif kind == "map_type":
        proto, convert = onnx.MapProto(), numpy_helper.to_dict
    else:
        proto, convert = onnx.TensorProto(), numpy_helper.to_array
    proto.ParseFromString(path.read_bytes())
    return convert(proto)


def compare(want, got, rtol, atol, exact_values=True):
    """None when equal, else what differs."""
    if isinstance(want, (list, tuple)):
        if not isinstance(got, (list, tuple)) or len(want) != len(got):
            return f"a list of {len(want)} expected, got {type(got).__name__} of {len(got) if hasattr(got, '__len__') else '?'}"
        return next((d for d in (compare(w, g, rtol, atol, exact_values) for w, g in zip(want, got)) if d), None)
    if isinstance(want, dict):
        if not isinstance(got, dict) or set(want) != set(got):
            return "keys differ"
        return next((d for d in (compare(w, got[k], rtol, atol, exact_values) for k, w in want.items()) if d), None)
    if want is None or got is None:
        return None if want is got else f"{'nothing' if want is None else 'a value'} expected"
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape:
        return f"shape {list(got.shape)} instead of {list(want.shape)}"
    if want.dtype.kind in "OSU":
        return None if (want.astype(str) == got.astype(str)).all() else "strings differ"
    if want.dtype != got.dtype:
        return f"type {got.dtype} instead of {want.dtype}"
    return compare_numbers(want, got, rtol, atol) if exact_values else None


def compare_numbers(want, got, rtol, atol):
    if want.dtype.name == "bfloat16":
        rtol = max(rtol, 2.0**-6)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    if want.dtype.kind in "iu" and want.dtype.itemsize == 8 or want.dtype.kind == "b":
        return None if (want == got).all() else f"{int((want != got).sum())} of {want.size} elements differ"
    w, g = want.astype(wide), got.astype(wide)
    close = np.isclose(g, w, rtol=rtol, atol=atol, equal_nan=True)
    if close.all():
        return None
    with np.errstate(all="ignore"):
        first = np.unravel_index(np.argmin(close), close.shape)
        return f"{int((~close).sum())} of {want.size} elements differ, first at {[int(i) for i in first]}: {g[first]} instead of {w[first]}"


class Child:
    """function(), which returns a text, in a process of its own; at most `limit` seconds. What it started ends with it, children of children too:
    they are of its process group."""

    leads = True  # a group; not inside a child

    def __init__(self, function, limit):
        self.limit = limit
        reader, writer = os.pipe()
        sys.stdout.flush()  # else the child's copy is written too
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            if Child.leads:
                os.setpgid(0, 0)
            Child.leads = False
            signal.alarm(limit)
            try:
                text = function()
            except BaseException as e:  # any failure is the case's, not the harness's
                text = f"run: {type(e).__name__}: {e}" if not os.environ.get("ONNXC_TRACEBACK") else traceback.format_exc()
            os.write(writer, text.encode()[:4000])
            os._exit(0)
        if Child.leads:  # here too: kill() may come before the child has run
            with contextlib.suppress(OSError):
                os.setpgid(self.pid, self.pid)
        os.close(writer)
        self.reader = os.fdopen(reader, "rb")

    def kill(self):
        """The child, or what it left running."""
        if Child.leads:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)

    def result(self, status):
        """The text; a death or a hang becomes one too. `status`: what waiting for the process gave."""
        self.kill()  # before reading: who holds the pipe's other end ends too
        with self.reader as f:
            text = f.read().decode(errors="replace")
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            return f"over {self.limit} s" if number == signal.SIGALRM else f"run: crash, {signal.Signals(number).name}"
        return text


def forked(function, limit):
    """function()'s text from a child process; its death or a hang becomes a text too."""
    child = Child(function, limit)
    try:
        return child.result(os.waitpid(child.pid, 0)[1])
    except KeyboardInterrupt:
        child.kill()
        raise
