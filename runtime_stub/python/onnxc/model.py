"""model.py: an artefact in memory, its contexts and its runs."""
import ctypes
import json
import math
import os
import struct
import sys
import weakref
from collections.abc import Mapping

import numpy as np
from numpy import ndarray

from .abi import ABI_VERSION, OBJECT, OPTIONAL, RUN_TIME, SEQUENCE, SMALL, STRING, TENSOR, Api, Error, ErrorInfo, ModelInfo, Options, Value, dtype_of
from .values import LARGE, MOST_AXES, address_of, fill, fill_tensor, lend, new_array, put_strings, take, take_rows

_MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}  # e_machine of ELF
_HERE = {"x86_64": 62, "aarch64": 183}.get(os.uname().machine)


def check_file(path):
    """Refuses what dlopen has other words for, or crashes on: no file, a library for another processor, a part of one."""
    try:
        with open(path, "rb") as file:
            head, size = file.read(64), os.fstat(file.fileno()).st_size
            if head[:4] != b"\x7fELF":
                advice = '; compile the model first: onnxc.compile("model.onnx", "model.so")' if path.endswith(".onnx") else ""
                raise Error(f"{path}: not an artefact of onnxc: it is no library{advice}")
            if len(head) < 64 or head[4:6] != b"\2\1":
                return  # dlopen knows
            machine, programs, sections = *struct.unpack_from("<H", head, 18), *struct.unpack_from("<QQ", head, 32)
            program_count, section_size, section_count = struct.unpack_from("<HHH", head, 56)
            file.seek(min(programs, size))
            table = file.read(56 * program_count)
    except OSError as e:
        raise Error(f"{path}: " + ("the file does not exist" if isinstance(e, FileNotFoundError) else e.strerror), code=1) from None
    if _HERE and machine != _HERE:
        raise Error(f"{path}: made for {_MACHINES.get(machine, f'ELF machine {machine}')}, this machine is {_MACHINES[_HERE]}", code=6)
    loads = [at + length for kind, at, length in struct.iter_unpack("<I4xQ16xQ16x", table[:len(table) // 56 * 56]) if kind == 1]
    if max(programs + 56 * program_count, sections + section_size * section_count, *loads, 0) > size:
        raise Error(f"{path}: is cut or damaged: {size} bytes, fewer than its header speaks of", code=1)


def _text(name):
    """Names are whatever bytes a model holds."""
    return (name or b"").decode("utf-8", "surrogateescape")


class Port:
    """An input or output. dtype: numpy's, None for maps; shape: ints, names of symbolic sizes, None where only a run knows; None when the rank is not fixed;
    has_default: an input that need not be given; keys: of an output of maps, where all have the same that the model holds."""

    def __init__(self, info, symbols):
        self.name = _text(info.name)
        self.kind = ("tensor", "sequence", "optional", "map")[info.kind]
        self.onnx_dtype = info.dtype
        self.has_default = False
        self.keys = None
        dims = [info.dims[i] for i in range(info.rank)] if info.rank > 0 else []
        self.shape = None if info.rank < 0 else tuple(
            d if d >= 0 else None if d == RUN_TIME or -(d + 1) >= len(symbols) else symbols[-(d + 1)] or f"?{-(d + 1)}" for d in dims)

    @property
    def dtype(self):
        return dtype_of(self.onnx_dtype) if self.onnx_dtype else None  # maps have two types and name neither

    def __repr__(self):
        return f"<{self.kind} {self.name!r} {self.dtype} {self.shape}>"


def _raised(error):
    return Error(error.message.decode(errors="replace"), error.node.decode(errors="replace"), error.code)


def _bare(function):
    """A function of the library that takes what ctypes made before: to make it of numbers takes as long as a call."""
    return ctypes.CFUNCTYPE(ctypes.c_int32)(ctypes.cast(function, ctypes.c_void_p).value)


class _Context:
    """A context of the library and the argument structs of its calls."""

    def __init__(self, model):
        handle, error = ctypes.c_void_p(), ErrorInfo()
        if model._api.context_create(model._handle, None, ctypes.addressof(handle), ctypes.addressof(error)):
            raise _raised(error)
        self.handle = handle.value
        self.error = error
        self.inputs = (Value * max(len(model.inputs), 1))()
        self.outputs = (Value * max(len(model.outputs), 1))()
        self.in_values, self.out_values = list(self.inputs)[: len(model.inputs)], list(self.outputs)[: len(model.outputs)]
        self.in_shapes, self.last_shapes = [], [None] * len(model.inputs)
        for value, info in zip(self.in_values, model._in):
            value.kind, value.dtype = info.kind, info.dtype
            shape = (ctypes.c_int64 * max(info.rank, 1))()
            value.shape, value.ndim = ctypes.addressof(shape), max(info.rank, 0)
            self.in_shapes.append(shape)
        self.out_shapes = [(ctypes.c_int64 * (info.rank if info.rank >= 0 else MOST_AXES))() for info in model._out]
        self.known = [None] * len(model.outputs)  # the outputs' shapes for the last inputs' shapes; None: unknown
        self.asked = model._decided  # whether `query` has been asked for them
        self.lent = [None] * len(model.outputs)  # the arrays whose views are results, where such are large
        self.lent_copies = [[] for _ in model.outputs]  # the same of results that are copied, as only a run knows their sizes
        for index, (value, info, (shape, dtype)) in enumerate(zip(self.out_values, model._out, model._results)):
            value.kind, value.dtype = info.kind, info.dtype
            if shape is not None:
                self.know(index, shape, dtype)
        self.room = (ctypes.c_void_p * len(model.outputs))(*map(ctypes.addressof, self.out_shapes))
        opaque = ctypes.c_char.from_address(self.handle)
        self.arguments = (ctypes.byref(opaque), ctypes.byref(self.inputs), len(model.inputs), ctypes.byref(self.outputs), len(model.outputs), ctypes.byref(error))

    def know(self, index, shape, dtype):
        """From now on numpy makes the memory of output `index`."""
        self.lent[index] = None if math.prod(shape) * dtype.itemsize < LARGE else self.lent[index] or []
        memory, value = self.out_shapes[index], self.out_values[index]
        memory[: len(shape)] = shape
        value.shape, value.ndim, value.strides, value.byte_offset = ctypes.addressof(memory), len(shape), None, 0
        self.known[index] = shape

    def forget(self, model, index, shape=None):
        """Input `index` has another shape than in the last run."""
        self.last_shapes[index], self.known, self.asked = shape, list(model._static), model._decided

    def ask(self, model):
        """Finds the shapes of outputs that the inputs' shapes decide: results need no copy then. What is wrong with the inputs, the run says."""
        self.asked = True
        handle, inputs, count, _, _, error = self.arguments
        if model._api.query(handle, inputs, count, ctypes.addressof(self.room), error):
            return
        for index, (shape, (_, dtype)) in enumerate(zip(self.known, model._results)):
            if shape is None and dtype is not None:
                shape = tuple(self.out_shapes[index])
                if min(shape, default=0) >= 0 and math.prod(shape) * dtype.itemsize <= sys.maxsize:  # RUN_TIME is below, and so is a size that fails
                    self.know(index, shape, dtype)


def _destroy(api, handle, contexts):
    for context in contexts:
        api.context_destroy(context.handle)
    contexts.clear()
    api.model_destroy(handle)


_loaded = {}  # path -> (which file was loaded from it last, how many others before)


def _open(path):
    """The library that lies at `path` now. A path that was loaded before is spelled in another way where its file has been replaced: the system's
    loader knows libraries by their paths."""
    status = os.stat(path)
    identity = status.st_dev, status.st_ino
    last, others = _loaded.get(path, (identity, 0))
    others += last != identity
    _loaded[path] = identity, others
    folder, name = os.path.split(path)
    spelling = f"{others:b}".replace("1", "./").replace("0", "/") if others else ""
    return ctypes.CDLL(f"{folder}/{spelling}{name}")


class Model:
    """An artefact in memory. Made by load()."""

    def __init__(self, path, num_threads, cpu, weights):
        path = os.path.abspath(os.fspath(path))
        check_file(path)
        try:
            library = _open(path)
            get = library.onnxc_get_api
        except (OSError, AttributeError) as e:
            raise Error(f"{path}: not an artefact of onnxc: {str(e).removeprefix(f'{path}: ')}") from None
        get.restype, get.argtypes = ctypes.POINTER(Api), [ctypes.c_uint32]
        found = get(ABI_VERSION)
        if not found:
            raise Error(f"{path}: made for another version of the ABI than {ABI_VERSION}", code=1)
        self._library, self._api = library, found.contents
        info = self._api.info().contents
        symbols = [_text(info.symbols[i]) for i in range(info.num_symbols)]
        self.name = _text(info.name)
        self.json = _text(info.json)
        self._in = [info.inputs[i] for i in range(info.num_inputs)]
        self._out = [info.outputs[i] for i in range(info.num_outputs)]
        self.inputs = [Port(i, symbols) for i in self._in]
        self.outputs = [Port(i, symbols) for i in self._out]
        for i in range(info.num_inputs if info.struct_size >= ctypes.sizeof(ModelInfo) and info.defaults else 0):
            self.inputs[i].has_default = info.defaults[i] >= 0
        self._plan()
        options, handle, error = Options(struct_size=ctypes.sizeof(Options), num_threads=num_threads), ctypes.c_void_p(), ErrorInfo()
        options.cpu = cpu.encode() if cpu else None
        options.weights_path = os.fsencode(weights) if weights else None
        if self._api.model_create(ctypes.addressof(options), ctypes.addressof(handle), ctypes.addressof(error)):
            raise _raised(error)
        self._handle, self._options = handle.value, options
        self.isa = (self._api.isa(self._handle) or b"").decode()
        self._run = _bare(self._api.run)
        self._contexts = []  # list.append and list.pop are atomic: the free contexts need no other lock
        self._all = []
        self._finalizer = weakref.finalize(self, _destroy, self._api, self._handle, self._all)
        self._finalizer.atexit = False  # a daemon thread may still run the model when the interpreter ends

    def _plan(self):
        """What a call need not find out again."""
        self._fast = []  # (name, dtype) of inputs that are tensors of a numpy type; dtype None for others
        for port in self.inputs:
            plain = port.kind == "tensor" and port.onnx_dtype not in SMALL and port.shape is not None
            self._fast.append((port.name, port.dtype if plain else None))
        self._results = []  # (shape where it is fixed, dtype of tensors of numbers whose rank is)
        for port in self.outputs:
            plain = port.kind == "tensor" and port.onnx_dtype != STRING and port.shape is not None
            static = plain and all(isinstance(d, int) for d in port.shape)
            self._results.append((port.shape if static else None, port.dtype if plain else None))
        maps = any(port.kind == "sequence" and not port.onnx_dtype for port in self.outputs)
        for port, about in zip(self.outputs, json.loads(self.json)["outputs"] if maps else ()):
            port.keys = about.get("keys")
        self._static = [shape for shape, _ in self._results]
        self._decided = all(shape is not None or dtype is None for shape, dtype in self._results)  # nothing depends on the inputs' shapes

    def _need_open(self):
        if not self._finalizer.alive:
            raise Error("the model is closed", code=1)

    def _acquire(self):
        try:
            return self._contexts.pop()
        except IndexError:
            self._need_open()
            context = _Context(self)
            self._all.append(context)
            return context

    def _put_slow(self, context, index, given, keep):
        info, port = self._in[index], self.inputs[index]
        value = context.in_values[index]
        context.forget(self, index)
        if info.kind == TENSOR:
            fill_tensor(value, given, info.dtype, port.name, keep)
        elif info.kind == OPTIONAL and given is not None:
            child = (Value * 1)()
            fill(child[0], given, SEQUENCE if isinstance(given, (list, tuple)) else TENSOR, info, port.name, keep)
            value.kind, value.items, value.count = OPTIONAL, ctypes.addressof(child), 1
            keep.append(child)
        else:
            value.items, value.count = None, 0
            fill(value, given, info.kind, info, port.name, keep)
            value.kind = info.kind

    def _put(self, context, feeds, keep):
        omitted = 0
        for index, (name, dtype) in enumerate(self._fast):
            try:
                given = feeds[name]
            except KeyError:
                omitted += 1
                if self.inputs[index].has_default:
                    context.in_values[index].data = None
                    context.forget(self, index)
                    continue
                if self._in[index].kind != OPTIONAL:
                    self._refuse_strays(feeds)
                    raise Error(f"input '{name}' is not given", name, 1) from None
                given = None
            if type(given) is not ndarray or given.dtype != dtype and (dtype is not OBJECT or given.dtype.kind not in "US") or dtype is None or not given.flags.c_contiguous:
                self._put_slow(context, index, given, keep)
                continue
            value = context.in_values[index]
            shape = given.shape
            if shape != context.last_shapes[index]:
                memory = context.in_shapes[index]
                if len(shape) > len(memory):
                    memory = context.in_shapes[index] = (ctypes.c_int64 * len(shape))()
                memory[: len(shape)] = shape
                value.shape, value.ndim = ctypes.addressof(memory), len(shape)
                context.forget(self, index, shape)
            value.data = put_strings(given, keep) if dtype is OBJECT else address_of(given)
            keep.append(given)  # a mapping may make it anew at each look
        if len(feeds) + omitted > len(self._fast):
            self._refuse_strays(feeds)

    def _refuse_strays(self, feeds):
        known = [name for name, _ in self._fast]
        for stray in feeds:
            if stray not in known:
                raise Error(f"the model has no input '{stray}'; there are: " + ", ".join(f"'{name}'" for name in known), stray, 1) from None

    def _call(self, context):
        if not context.asked:
            context.ask(self)
        results, later = [], []
        for value, shape, lent, (_, dtype) in zip(context.out_values, context.known, context.lent, self._results):
            if shape is None:
                value.data = None
                later.append(len(results))
                results.append(None)
            else:
                result = new_array(shape, dtype) if lent is None else lend(lent, shape, dtype)
                value.data = address_of(result)
                results.append(result)
        if self._run(*context.arguments):
            raise _raised(context.error)
        for index in later:
            keys, value = self.outputs[index].keys, context.out_values[index]
            results[index] = take_rows(value, keys) if keys else take(value, context.lent_copies[index])
        return results

    def run(self, feeds):
        """Runs the model on {input name: array}; returns the outputs in order, large ones as views of memory that later runs take up when no view is left. Raises
        Error, with the node's name, when it fails."""
        if not isinstance(feeds, (dict, Mapping)):
            raise TypeError(f"run takes a dict of input name -> array, not {type(feeds).__name__}")
        context, keep = self._acquire(), []
        try:
            self._put(context, feeds, keep)
            return self._call(context)
        finally:
            self._contexts.append(context)

    __call__ = run

    @property
    def ranges(self):
        """{symbolic size: (least, expected, greatest)} of those that --min-shapes and its like speak of; None where they do not."""
        found = {s["name"] or f"?{i}": (s.get("min"), s.get("opt"), s.get("max")) for i, s in enumerate(json.loads(self.json)["symbols"])}
        return {name: sizes for name, sizes in found.items() if sizes != (None, None, None)}

    def arena_bytes(self):
        """Bytes of intermediate values that the contexts hold."""
        self._need_open()
        return sum(self._api.arena_bytes(c.handle) for c in list(self._all))

    def close(self):
        """Frees the model now; no call may be running, and later ones raise Error."""
        self._contexts.clear()
        self._finalizer()

    def __repr__(self):
        return f"<onnxc.Model {self.name!r} {self.inputs} -> {self.outputs}>"


def load(path, num_threads=1, cpu=None, weights=None):
    """Loads an artefact. num_threads: threads of one run, 0 is one as well (for onnxc's --threads it is all processors); cpu: one of the artefact's CPU levels (default: the best this machine can run);
    weights: where the file of an artefact with `--weights external` lies (default: <path>.weights)."""
    return Model(path, num_threads, cpu, weights)
