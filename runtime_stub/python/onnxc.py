"""onnxc.py: runs artefacts of onnxc (a .so) from Python through the ABI of include/onnxc/onnxc.h, with ctypes and numpy only.

    m = onnxc.load("model.so", num_threads=1)
    outputs = m.run({"x": x})            # ndarrays in output order; lists for sequences, dicts for maps, None for an absent optional

Thread-safe: each concurrent call takes a context of its own from a pool. bfloat16, float8, 4- and 2-bit tensors are ml_dtypes arrays where that
package is installed, else arrays of their bytes (uint16, uint8, int8). Strings are object arrays of str.
"""

import array as compact
import ctypes
import functools
import json
import os
import shutil
import struct
import subprocess
import weakref
from collections.abc import Mapping

import numpy as np

__all__ = ["Error", "Model", "compile", "load", "version"]

ABI_VERSION = 1
TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)
STRING = 8
RUN_TIME = -(2**63)

_PLAIN = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
          12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}
# TensorProto.DataType -> (name in ml_dtypes, type of its bytes)
_EXTENDED = {16: ("bfloat16", "uint16"), 17: ("float8_e4m3fn", "uint8"), 18: ("float8_e4m3fnuz", "uint8"), 19: ("float8_e5m2", "uint8"),
             20: ("float8_e5m2fnuz", "uint8"), 21: ("uint4", "uint8"), 22: ("int4", "int8"), 23: ("float4_e2m1fn", "uint8"),
             24: ("float8_e8m0fnu", "uint8"), 25: ("uint2", "uint8"), 26: ("int2", "int8"),
             27: ("float6_e2m3fn", "uint8"), 28: ("float6_e3m2fn", "uint8")}
_SMALL = {21: 0x0F, 22: 0, 25: 0x03, 26: 0}  # types whose arrays may hold garbage in the high bits
_dtypes = {}
_OBJECT = np.dtype(object)


class Error(Exception):
    """A refused model, argument or run. `node` names the node or value, `code` is the ABI's status."""

    def __init__(self, message, node="", code=0):
        super().__init__(message)
        self.node = node
        self.code = code


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class _Value(ctypes.Structure):
    pass


_Value._fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("tensor", _Tensor), ("items", ctypes.POINTER(_Value)),
                   ("count", ctypes.c_int64)]


_View = ctypes.c_int64 * 2  # of a string: pointer, size
_NUMBERS = {1: ctypes.c_float, 6: ctypes.c_int32, 7: ctypes.c_int64, 11: ctypes.c_double}


class _Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("node", ctypes.c_char * 120), ("message", ctypes.c_char * 392)]


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p), ("alloc_user", ctypes.c_void_p),
                ("parallel_for", ctypes.c_void_p), ("parallel_user", ctypes.c_void_p), ("log", ctypes.c_void_p),
                ("log_user", ctypes.c_void_p), ("num_threads", ctypes.c_int32), ("cpu", ctypes.c_char_p),
                ("weights_path", ctypes.c_char_p)]


class _IoInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("key_dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64))]


class _ModelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("json", ctypes.c_char_p)] + [
        (n, ctypes.c_int32) for n in ("num_inputs", "num_outputs", "num_symbols", "num_sites", "num_isas")] + [
        ("inputs", ctypes.POINTER(_IoInfo)), ("outputs", ctypes.POINTER(_IoInfo)), ("symbols", ctypes.POINTER(ctypes.c_char_p)),
        ("weights_bytes", ctypes.c_uint64), ("defaults", ctypes.POINTER(ctypes.c_int64))]


def _call(*arguments, result=ctypes.c_int32):
    return ctypes.CFUNCTYPE(result, *arguments)


_P, _I = ctypes.c_void_p, ctypes.c_int32


class _Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32),
                ("info", _call(result=ctypes.POINTER(_ModelInfo))),
                ("model_create", _call(_P, _P, _P)), ("model_destroy", _call(_P, result=None)),
                ("context_create", _call(_P, _P, _P, _P)), ("context_destroy", _call(_P, result=None)),
                ("query", _call(_P, _P, _I, _P, _P)), ("run", _call(_P, _P, _I, _P, _I, _P)),
                ("arena_bytes", _call(_P, result=ctypes.c_int64)), ("isa", _call(_P, result=ctypes.c_char_p)),
                ("set_tap", _call(_P, _P, _P, result=None)), ("isa_name", _call(_I, result=ctypes.c_char_p))]


def _dtype(code):
    """The numpy type of a TensorProto.DataType."""
    found = _dtypes.get(code)
    if found is None:
        if code == STRING:
            found = _OBJECT
        elif code in _PLAIN:
            found = np.dtype(_PLAIN[code])
        elif code in _EXTENDED:
            name, carrier = _EXTENDED[code]
            try:
                import ml_dtypes

                found = np.dtype(getattr(ml_dtypes, name, carrier))
            except ImportError:
                found = np.dtype(carrier)
        else:
            raise Error(f"element type {code} is not known to this loader")
        _dtypes[code] = found
    return found


def _code(dtype):
    """The TensorProto.DataType of a numpy type."""
    if dtype.kind in "OUS":
        return STRING
    for code, name in _PLAIN.items():
        if dtype.name == name:
            return code
    for code, (name, _) in _EXTENDED.items():
        if dtype.name == name:
            return code
    raise Error(f"numpy type {dtype} has no ONNX element type")


def _strings(array, keep):
    """Where the string views (pointer, size) of an array of str or bytes lie: all texts one after the other in one buffer."""
    texts = [text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape") for text in array.ravel().tolist()]
    data = compact.array("b", b"".join(texts) + b"\0")
    at, _ = data.buffer_info()
    pairs = []
    for text in texts:
        pairs += at, len(text)
        at += len(text)
    views = compact.array("q", pairs or (0, 0))
    keep += data, views
    return views.buffer_info()[0]


def _plain(given, want, name):
    """A Python number, or lists of them, as an array of type `want`: whole numbers of its range for integers, no texts for numbers."""
    try:
        found, array = np.asarray(given).dtype, np.asarray(given, dtype=want)
    except (TypeError, ValueError, OverflowError) as e:
        raise Error(f"input '{name}': {e}", name, 2) from None
    odd = array.size and want.kind in "biufc" and found.kind in ("OSU" if want.kind in "fc" else "fOSU")  # large whole numbers too
    cut = want.kind == "V" and "int" in want.name and not np.array_equal(np.asarray(given, float), array.astype(float))  # 4 and 2 bits wrap
    if cut or odd and not all(isinstance(v, (int, np.integer) if want.kind in "biu" else (int, float, complex, np.number)) for v in np.asarray(given, dtype=object).ravel()):
        raise Error(f"input '{name}': dtype {found}, the model needs {want}", name, 2)
    return array


def _canonical(array, code, name):
    """`array` as contiguous native-order memory of the element type `code`."""
    want = _dtype(code)
    array = np.asarray(array) if isinstance(array, (np.ndarray, np.generic)) else _plain(array, want, name)
    if code == STRING:
        if array.dtype.kind not in "OUS":
            raise Error(f"input '{name}': dtype {array.dtype}, the model needs strings", name, 2)
        return array
    if array.dtype != want:
        carrier = code in _EXTENDED and array.dtype == np.dtype(_EXTENDED[code][1])
        if not carrier and array.dtype.newbyteorder("=") != want:
            raise Error(f"input '{name}': dtype {array.dtype}, the model needs {want}", name, 2)
        if not carrier:
            array = array.astype(want)
    if code in _SMALL and array.dtype == want and want.kind == "V":
        array = array.astype(np.dtype(_EXTENDED[code][1]))
    return array if array.flags.c_contiguous else array.copy(order="C")


def _address(array, addressof=ctypes.addressof, view=ctypes.c_char.from_buffer):
    """Where a contiguous array's data lie; `array.ctypes.data`, which read-only and empty arrays need, takes five times as long."""
    try:
        return addressof(view(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


def _fill_tensor(value, array, code, name, keep):
    array = _canonical(array, code, name)
    value.kind, value.dtype = TENSOR, code
    value.tensor.ndim = array.ndim
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    value.tensor.shape = shape
    keep += (array, shape)
    value.tensor.data = _strings(array, keep) if code == STRING else array.ctypes.data


def _array_of(items):
    """A map's keys or values as one array."""
    items = list(items)
    if all(isinstance(i, (str, bytes)) for i in items) and items:
        return np.array(items, dtype=object)
    return np.asarray(items)


def _fill(value, given, kind, info, name, keep):
    """Writes a Python value into an onnxc_value; `keep` holds what the pointers need."""
    if isinstance(given, (list, tuple)) and kind != TENSOR:
        items = list(given)
        value.kind = SEQUENCE
    elif isinstance(given, dict):
        items = [_array_of(given.keys()), _array_of(given.values())]
        value.kind = MAP
    elif given is None:
        items, value.kind = [], OPTIONAL
    else:
        array = np.asarray(given)
        same = info.dtype and (array.dtype == _dtype(info.dtype) or not isinstance(given, (np.ndarray, np.generic)))
        return _fill_tensor(value, given, info.dtype if same else _code(array.dtype), name, keep)
    children = (_Value * max(len(items), 1))()
    if value.kind == MAP:
        codes = (info.key_dtype or _code(items[0].dtype), info.dtype or _code(items[1].dtype))
        for child, item, code in zip(children, items, codes):
            converted = item.dtype != _dtype(code) and (code != STRING or not item.size)  # an empty array has no type of its own
            _fill_tensor(child, item.astype(_dtype(code)) if converted else item, code, name, keep)
    else:
        for child, item in zip(children, items):
            _fill(child, item, SEQUENCE, info, name, keep)
    value.items, value.count = children, len(items)
    keep.append(children)


def _new(shape, dtype):
    try:
        return np.empty(shape, dtype)
    except ValueError:  # numpy's word for sizes that no memory holds
        raise MemoryError(f"an output of shape {list(shape)}") from None


def _memory(address, dtype, shape):
    """The array that lies at an address that the context owns."""
    dtype = np.dtype(dtype)
    return np.ndarray(shape, dtype, (ctypes.c_char * (int(np.prod(shape)) * dtype.itemsize)).from_address(address))


def _string(address, size):
    return ctypes.string_at(address, size).decode("utf-8", "surrogateescape") if size else ""


def _texts(address, count):
    return [_string(*_View.from_address(at)) for at in range(address, address + 16 * count, 16)]


def _read_texts(address, flat):
    """Strings from their views (pointer, size). Results often repeat a few texts that the model holds: each is made once."""
    if flat.size < 16:
        flat[:] = _texts(address, flat.size)
        return
    views = _memory(address, np.int64, (flat.size, 2))
    done, at = np.zeros(flat.size, bool), 0
    for _ in range(4):
        same = (views == views[at]).all(axis=1)
        flat[same] = _string(*views[at].tolist())
        done |= same
        at = int(done.argmin())
        if done[at]:
            return
    left = np.flatnonzero(~done)
    keys = np.ascontiguousarray(views[left]).view("S16")[:, 0].tolist()  # bytes that stand for a view
    known = {key: _string(*_View.from_buffer_copy(key.ljust(16, b"\0"))) for key in set(keys)}
    texts = np.empty(len(keys), _OBJECT)
    texts[:] = [known[key] for key in keys]
    flat[left] = texts


def _take_tensor(value):
    """A copy of a tensor that the context owns."""
    tensor, code = value.tensor, value.dtype
    shape = tensor.shape[: tensor.ndim] if tensor.ndim else ()
    dtype = _dtype(code)
    result = _new(shape, dtype)
    if not result.size:
        return result
    if code == STRING:
        _read_texts(tensor.data, result.reshape(-1))
        return result
    ctypes.memmove(_address(result), tensor.data, result.nbytes)
    return result


def _take_list(value):
    """A list of the elements of a tensor of one axis."""
    tensor, number = value.tensor, _NUMBERS.get(value.dtype)
    if tensor.ndim != 1 or not (number or value.dtype == STRING):
        return _take_tensor(value).tolist()
    count = tensor.shape[0]
    return (number * count).from_address(tensor.data)[:] if number and count else _texts(tensor.data, count) if count else []


_WORDS = ctypes.sizeof(_Value) // 8
_ITEMS, _COUNT = _Value.items.offset // 8, _Value.count.offset // 8
_DATA, _SHAPE = ((_Value.tensor.offset + at.offset) // 8 for at in (_Tensor.data, _Tensor.shape))


@functools.cache
def _dict_maker(n):
    """f(key0, key1, ..., rows): a dict for each row of n values. Written out as one display, in a third of dict(zip())'s time."""
    keys, values = ([f"{letter}{i}" for i in range(n)] for letter in "kv")
    return eval(f"lambda {', '.join(keys)}, rows: [{{{', '.join(map(': '.join, zip(keys, values)))}}} for {', '.join(values)}, in rows]")


def _take_maps(value):
    """The dicts of a sequence of maps that share their keys and whose values are rows of one matrix, as ZipMap makes them; else None."""
    n, first = value.count, value.items[0]
    if first.kind != MAP or first.count != 2:
        return None
    maps = _memory(ctypes.addressof(first), np.int64, (n, _WORDS))
    keys, row = first.items[0], first.items[1]
    dtype = _dtype(row.dtype)
    step = (row.tensor.shape[0] if row.tensor.ndim == 1 else 0) * dtype.itemsize
    if not step or dtype == _OBJECT or (maps[:, _COUNT] != 2).any() or (np.diff(maps[:, _ITEMS]) != 2 * _WORDS * 8).any():
        return None
    pairs = _memory(ctypes.addressof(keys), np.int64, (n, 2, _WORDS))
    same = pairs[:, :, [0, _SHAPE]]  # kind, element type and size
    if (same != same[0]).any() or (pairs[:, 0, _DATA] != keys.tensor.data).any() or (np.diff(pairs[:, 1, _DATA]) != step).any():
        return None
    names, rows = _take_list(keys), _memory(row.tensor.data, dtype, (n, step // dtype.itemsize))
    if len(names) > 16:
        return [dict(zip(names, values)) for values in rows.tolist()]
    return _dict_maker(len(names))(*names, zip(*rows.T.tolist()))


def _take(value):
    """An onnxc_value as Python values."""
    if value.kind == TENSOR:
        return _take_tensor(value)
    if value.kind == MAP:
        return dict(zip(_take_list(value.items[0]), _take_list(value.items[1]))) if value.count == 2 else {}
    maps = _take_maps(value) if value.kind == SEQUENCE and value.count > 3 else None
    if maps is not None:
        return maps
    items = [_take(value.items[i]) for i in range(value.count)]
    if value.kind == OPTIONAL:
        return items[0] if items else None
    return items


def _text(name):
    """Names are whatever bytes a model holds."""
    return (name or b"").decode("utf-8", "surrogateescape")


class Port:
    """An input or output. dtype: numpy's, None for maps; shape: ints, names of symbolic sizes, None where only a run knows; None when the rank is not fixed;
    has_default: an input that need not be given."""

    def __init__(self, info, symbols):
        self.name = _text(info.name)
        self.kind = ("tensor", "sequence", "optional", "map")[info.kind]
        self.onnx_dtype = info.dtype
        self.has_default = False
        dims = [info.dims[i] for i in range(info.rank)] if info.rank > 0 else []
        self.shape = None if info.rank < 0 else tuple(
            d if d >= 0 else None if d == RUN_TIME or -(d + 1) >= len(symbols) else symbols[-(d + 1)] or f"?{-(d + 1)}" for d in dims)

    @property
    def dtype(self):
        return _dtype(self.onnx_dtype) if self.onnx_dtype else None  # maps have two types and name neither

    def __repr__(self):
        return f"<{self.kind} {self.name!r} {self.dtype} {self.shape}>"


class _Context:
    """A context of the library and the argument structs of its calls."""

    def __init__(self, model):
        handle, error = ctypes.c_void_p(), _Error()
        if model._api.context_create(model._handle, None, ctypes.addressof(handle), ctypes.addressof(error)):
            raise _raised(error)
        self.handle = handle.value
        self.error = error
        self.inputs = (_Value * max(len(model.inputs), 1))()
        self.outputs = (_Value * max(len(model.outputs), 1))()
        self.in_tensors, self.in_shapes, self.last_shapes = [], [], [None] * len(model.inputs)
        for value, info in zip(self.inputs, model._in):
            value.kind, value.dtype = info.kind, info.dtype
            shape = (ctypes.c_int64 * max(info.rank, 1))()
            value.tensor.shape, value.tensor.ndim = shape, max(info.rank, 0)
            self.in_tensors.append(value.tensor)
            self.in_shapes.append(shape)
        self.out_tensors = [value.tensor for value in self.outputs[: len(model.outputs)]]
        self.out_shapes = [(ctypes.c_int64 * max(info.rank, 1))() for info in model._out]
        self.known = [None] * len(model.outputs)  # the outputs' shapes for the last inputs' shapes; None: unknown
        for index, (value, info, (shape, _, _)) in enumerate(zip(self.outputs, model._out, model._results)):
            value.kind, value.dtype = info.kind, info.dtype
            if shape is not None:
                self.know(index, shape)
        self.arguments = (self.handle, ctypes.addressof(self.inputs), len(model.inputs), ctypes.addressof(self.outputs), len(model.outputs),
                          ctypes.addressof(error))

    def know(self, index, shape):
        """From now on numpy makes the memory of output `index`."""
        memory, tensor = self.out_shapes[index], self.out_tensors[index]
        memory[: len(shape)] = shape
        tensor.shape, tensor.ndim, tensor.strides, tensor.byte_offset = memory, len(shape), None, 0
        self.known[index] = shape


def _raised(error):
    return Error(error.message.decode(errors="replace"), error.node.decode(errors="replace"), error.code)


_MACHINES = {3: "32-bit x86", 40: "32-bit ARM", 62: "x86-64", 183: "AArch64", 243: "RISC-V"}  # e_machine of ELF
_HERE = {"x86_64": 62, "aarch64": 183}.get(os.uname().machine)


def _check_file(path):
    """Refuses what dlopen has other words for, or crashes on: no file, a library for another processor, a part of one."""
    try:
        with open(path, "rb") as file:
            head, size = file.read(64), os.fstat(file.fileno()).st_size
            if len(head) < 64 or head[:6] != b"\x7fELF\2\1":
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


def _destroy(api, handle, contexts):
    for context in contexts:
        api.context_destroy(context.handle)
    contexts.clear()
    api.model_destroy(handle)


class Model:
    """An artefact in memory. Made by load()."""

    def __init__(self, path, num_threads, cpu, weights):
        path = os.path.abspath(os.fspath(path))
        _check_file(path)
        try:
            library = ctypes.CDLL(path)
            get = library.onnxc_get_api
        except (OSError, AttributeError) as e:
            raise Error(f"{path}: not an artefact of onnxc: {e}") from None
        get.restype, get.argtypes = ctypes.POINTER(_Api), [ctypes.c_uint32]
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
        for i in range(info.num_inputs if info.struct_size >= ctypes.sizeof(_ModelInfo) and info.defaults else 0):
            self.inputs[i].has_default = info.defaults[i] >= 0
        self._plan()
        options, handle, error = _Options(struct_size=ctypes.sizeof(_Options), num_threads=num_threads), ctypes.c_void_p(), _Error()
        options.cpu = cpu.encode() if cpu else None
        options.weights_path = os.fsencode(weights) if weights else None
        if self._api.model_create(ctypes.addressof(options), ctypes.addressof(handle), ctypes.addressof(error)):
            raise _raised(error)
        self._handle, self._options = handle.value, options
        self.isa = (self._api.isa(self._handle) or b"").decode()
        self._run = self._api.run
        self._contexts = []  # list.append and list.pop are atomic: the free contexts need no other lock
        self._all = []
        self._finalizer = weakref.finalize(self, _destroy, self._api, self._handle, self._all)
        self._finalizer.atexit = False  # a daemon thread may still run the model when the interpreter ends

    def _plan(self):
        """What a call need not find out again."""
        self._fast = []  # (name, dtype) of inputs that are tensors of a numpy type; dtype None for others
        for port in self.inputs:
            plain = port.kind == "tensor" and port.onnx_dtype not in _SMALL and port.shape is not None
            self._fast.append((port.name, port.dtype if plain else None))
        self._results = []  # (shape where it is fixed, dtype, whether the inputs' shapes alone decide the shape)
        for port in self.outputs:
            plain = port.kind == "tensor" and port.onnx_dtype != STRING and port.shape is not None and None not in port.shape
            static = plain and all(isinstance(d, int) for d in port.shape)
            self._results.append((port.shape if static else None, port.dtype if plain else None, plain))
        self._static = [shape for shape, _, _ in self._results]

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
        value = context.inputs[index]
        context.last_shapes[index], context.known = None, list(self._static)
        if info.kind == TENSOR:
            _fill_tensor(value, given, info.dtype, port.name, keep)
        elif info.kind == OPTIONAL and given is not None:
            child = (_Value * 1)()
            _fill(child[0], given, SEQUENCE if isinstance(given, (list, tuple)) else TENSOR, info, port.name, keep)
            value.kind, value.items, value.count = OPTIONAL, child, 1
            keep.append(child)
        else:
            value.items, value.count = None, 0
            _fill(value, given, info.kind, info, port.name, keep)
            value.kind = info.kind

    def _put(self, context, feeds, keep):
        omitted = 0
        for index, (name, dtype) in enumerate(self._fast):
            try:
                given = feeds[name]
            except KeyError:
                omitted += 1
                if self.inputs[index].has_default:
                    context.in_tensors[index].data, context.last_shapes[index], context.known = None, None, list(self._static)
                    continue
                if self._in[index].kind != OPTIONAL:
                    self._refuse_strays(feeds)
                    raise Error(f"input '{name}' is not given", name, 1) from None
                given = None
            if type(given) is not np.ndarray or given.dtype != dtype or dtype is None or not given.flags.c_contiguous:
                self._put_slow(context, index, given, keep)
                continue
            tensor = context.in_tensors[index]
            shape = given.shape
            if shape != context.last_shapes[index]:
                memory = context.in_shapes[index]
                if len(shape) > len(memory):
                    memory = context.in_shapes[index] = (ctypes.c_int64 * len(shape))()
                memory[: len(shape)] = shape
                tensor.shape, tensor.ndim = memory, len(shape)
                context.last_shapes[index], context.known = shape, list(self._static)
            tensor.data = _strings(given, keep) if dtype is _OBJECT else _address(given)
        if len(feeds) + omitted > len(self._fast):
            self._refuse_strays(feeds)

    def _refuse_strays(self, feeds):
        known = [name for name, _ in self._fast]
        for stray in feeds:
            if stray not in known:
                raise Error(f"the model has no input '{stray}'; there are: " + ", ".join(f"'{name}'" for name in known), stray, 1) from None

    def _call(self, context):
        results, later = [], False
        for tensor, shape, (_, dtype, _) in zip(context.out_tensors, context.known, self._results):
            if shape is None:
                tensor.data, later = None, True
                results.append(None)
            else:
                result = _new(shape, dtype)
                tensor.data = _address(result)
                results.append(result)
        if self._run(*context.arguments):
            raise _raised(context.error)
        if later:
            for index, result in enumerate(results):
                if result is None:
                    results[index] = result = _take(context.outputs[index])
                    if self._results[index][2]:
                        context.know(index, result.shape)
        return results

    def run(self, feeds):
        """Runs the model on {input name: array}; returns the outputs in order. Raises Error, with the node's name, when it fails."""
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


def _compiler(compiler):
    found = shutil.which(os.fspath(compiler) if compiler else "onnxc")
    if not found:
        raise Error(f"{compiler or 'onnxc'}: no such program; pass compiler=PATH or put onnxc on PATH")
    return found


def compile(model, out, *flags, compiler=None):
    """Compiles an ONNX file with the onnxc program: compile("m.onnx", "m.so", "-O2"). Returns `out`; raises Error with the diagnostics."""
    command = [_compiler(compiler), os.fspath(model), "-o", os.fspath(out), *map(str, flags)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Error(done.stderr.strip() or f"onnxc ended with {done.returncode}", code=done.returncode)
    return out


def version(compiler=None):
    """What `onnxc --version` prints."""
    return subprocess.run([_compiler(compiler), "--version"], capture_output=True, text=True, check=True).stdout.strip()
