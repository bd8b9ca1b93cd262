"""values.py: Python values as the values of the ABI and back."""
import array as compact
import ctypes
import functools
import math
import sys

import numpy as np

from .abi import EXTENDED, MAP, NUMBERS, OBJECT, OPTIONAL, SEQUENCE, SMALL, STRING, TENSOR, Error, Value, code_of, dtype_of


_MANY = 64  # texts from which on calls of numpy for all of them take less time than a few words of Python for each


def _bytes_of(array):
    """The bytes of many texts, where each begins there, and the sizes; None where only one text at a time tells."""
    kind, width = array.dtype.kind, array.dtype.itemsize
    if kind in "US" and width and array.dtype.isnative:  # texts of one width, zeros behind them
        data = np.ascontiguousarray(array).view(np.uint32 if kind == "U" else np.uint8)
        if kind == "S" or data.max() < 128:
            step = data.size // array.size
            return data.astype(np.uint8, copy=False), np.arange(0, data.size, step), np.char.str_len(array)
    texts = array.tolist()
    texts.append("")
    try:
        data = np.frombuffer(bytearray("\0".join(texts), "utf-8", "surrogateescape"), np.uint8)
    except TypeError:  # bytes among them
        return None
    ends = np.flatnonzero(data == 0)
    if ends.size != array.size:  # zeros among them
        return None
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return data, starts, ends - starts


def _bytes_head():
    """How far behind the address of a bytes object its bytes lie; 0 where objects have no such addresses, and a copy to an array (0.2 us) has."""
    head, probe = bytes.__basicsize__ - 1, bytes(b"\1probe")  # the object's size counts the zero behind its bytes
    return head if sys.implementation.name == "cpython" and ctypes.string_at(id(probe) + head, len(probe)) == probe else 0


_HEAD = _bytes_head()


def put_strings(array, keep):
    """Where the string views (pointer, size) of an array of str or bytes lie: all texts one after the other in one buffer."""
    array = array if array.ndim == 1 else array.ravel()
    many = _bytes_of(array) if array.size >= _MANY else None
    if many:
        data, starts, sizes = many
        views = np.empty((array.size, 2), np.int64)
        views[:, 0] = starts + address_of(data)
        views[:, 1] = sizes
        keep += data, views
        return views.ctypes.data
    texts = array.tolist()
    try:
        joined = "".join(texts)
    except TypeError:  # bytes among them
        joined = None
    if joined is not None and joined.isascii():  # as many bytes as characters
        data = joined.encode()
    else:
        texts = [text if isinstance(text, bytes) else str(text).encode("utf-8", "surrogateescape") for text in texts]
        data = b"".join(texts)
    if _HEAD:
        at = id(data) + _HEAD
    else:
        data = compact.array("b", data or b"\0")
        at, _ = data.buffer_info()
    pairs = []
    add = pairs.append
    for text in texts:
        size = len(text)
        add(at)
        add(size)
        at += size
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
    want = dtype_of(code)
    array = np.asarray(array) if isinstance(array, (np.ndarray, np.generic)) else _plain(array, want, name)
    if code == STRING:
        if array.dtype.kind not in "OUS":
            raise Error(f"input '{name}': dtype {array.dtype}, the model needs strings", name, 2)
        return array
    if array.dtype != want:
        carrier = code in EXTENDED and array.dtype == np.dtype(EXTENDED[code][1])
        if not carrier and array.dtype.newbyteorder("=") != want:
            raise Error(f"input '{name}': dtype {array.dtype}, the model needs {want}", name, 2)
        if not carrier:
            array = array.astype(want)
    if code in SMALL and array.dtype == want and want.kind == "V":
        array = array.astype(np.dtype(EXTENDED[code][1]))
    return array if array.flags.c_contiguous else array.copy(order="C")


def _data_words():
    """All of memory as words, so shifted that the word at an array's own address is the one that says where its data lie, a public field of
    numpy's C structure; None where objects have no such addresses."""
    probes = [np.zeros(n, np.uint8) for n in (1, 3, 0)]
    for at in range(2, 6) if sys.implementation.name == "cpython" else ():  # words of an object's head: two, more where it counts otherwise
        words = (ctypes.c_size_t * (1 << 59)).from_address(8 * at)
        if all(words[id(array) >> 3] == array.ctypes.data for array in probes):
            return words
    return None


def address_of(array, words=_data_words(), identity=id):
    """Where a contiguous array's data lie; `array.ctypes.data` takes ten times as long."""
    return words[identity(array) >> 3] if words else array.ctypes.data


def fill_tensor(value, array, code, name, keep):
    array = _canonical(array, code, name)
    value.kind, value.dtype = TENSOR, code
    value.ndim = array.ndim
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    value.shape = ctypes.addressof(shape)
    keep += (array, shape)
    value.data = put_strings(array, keep) if code == STRING else array.ctypes.data


def _array_of(items):
    """A map's keys or values as one array."""
    items = list(items)
    if all(isinstance(i, (str, bytes)) for i in items) and items:
        return np.array(items, dtype=object)
    return np.asarray(items)


def fill(value, given, kind, info, name, keep):
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
        same = info.dtype and (array.dtype == dtype_of(info.dtype) or not isinstance(given, (np.ndarray, np.generic)))
        return fill_tensor(value, given, info.dtype if same else code_of(array.dtype), name, keep)
    children = (Value * max(len(items), 1))()
    if value.kind == MAP:
        codes = (info.key_dtype or code_of(items[0].dtype), info.dtype or code_of(items[1].dtype))
        for child, item, code in zip(children, items, codes):
            converted = item.dtype != dtype_of(code) and (code != STRING or not item.size)  # an empty array has no type of its own
            fill_tensor(child, item.astype(dtype_of(code)) if converted else item, code, name, keep)
    else:
        for child, item in zip(children, items):
            fill(child, item, SEQUENCE, info, name, keep)
    value.items, value.count = ctypes.addressof(children), len(items)
    keep.append(children)


def new_array(shape, dtype):
    try:
        return np.empty(shape, dtype)
    except ValueError:  # numpy's word for sizes that no memory holds
        raise MemoryError(f"an output of shape {list(shape)}") from None


MOST_AXES = 64  # of an array of numpy 2
LARGE = 1 << 14  # bytes from which on a fresh array's pages may cost more than looking for an array that is free again


_LINE = 64  # bytes of a line of the cache


def _aligned(memory, shape, dtype):
    """An array that begins with a line of the cache, as a part of an array of bytes: vectors that cross lines take twice as long to store."""
    start = -memory.ctypes.data % _LINE
    return memory[start : start + math.prod(shape) * dtype.itemsize].view(dtype).reshape(shape)


def _holders(lent, index):
    """How many hold the memory of an array of a list; its views do. What interpreters count besides them differs, so nothing else may count for _ALONE."""
    memory = lent[index].base
    return sys.getrefcount(memory)


_ALONE = min(_holders([np.empty(1).view()], 0), 3)  # the array, the name, the argument; a tracer at work would count as well
_COUNTS = getattr(sys, "_is_gil_enabled", lambda: True)()  # without the lock a count may be an old one


def lend(lent, shape, dtype):
    """A view of an array of `lent` that no earlier view is left of, or of a new one: a process that frees several large arrays gives their pages back, and gets them anew one by one."""
    for index in range(len(lent)):
        if _holders(lent, index) == _ALONE and lent[index].shape == shape:
            return lent[index].view()
    size = math.prod(shape) * dtype.itemsize
    for index in range(len(lent)):
        room = lent[index].base.nbytes - _LINE
        if _holders(lent, index) == _ALONE and size <= room <= 2 * size:
            lent[index] = _aligned(lent[index].base, shape, dtype)
            return lent[index].view()
    growing = any(other.shape != shape for other in lent)  # as a cache of keys does: with room for some more steps
    array = _aligned(new_array(size + (size // 8 if growing else 0) + _LINE, np.uint8), shape, dtype)
    if _COUNTS:
        lent[:] = [array, *(other for other in lent[:1] if other.nbytes <= 2 * size)]  # two: a caller may hold one result while it asks for the next
    return array.view()


# All of memory as arrays of one type, which are not looked at but where a slice, a copy, is taken of them: in a third of string_at's time.
_EVERYWHERE = {kind: ((kind * ((1 << 62) // ctypes.sizeof(kind))).from_address(0), ctypes.sizeof(kind)) for kind in (ctypes.c_char, *NUMBERS.values())}
_BYTES, _ = _EVERYWHERE[ctypes.c_char]
_WORDS, _ = _EVERYWHERE[ctypes.c_int64]


def _numbers(kind, address, count):
    """A list of what lies at an address that the context owns, aligned to its elements."""
    memory, size = _EVERYWHERE[kind]
    at = (address or 0) // size
    return memory[at : at + count]


# The same for numpy, from addresses 1 and 8 on: an array at 0 would be a new one.
_FROM_1 = np.ndarray((1 << 62,), np.uint8, (ctypes.c_char * (1 << 62)).from_address(1))
_FROM_8 = np.ndarray((1 << 59,), np.int64, (ctypes.c_char * (1 << 62)).from_address(8))
_ZERO = ctypes.create_string_buffer(1)
_LONG = 64  # bytes a text, on average, from which on it takes less time to copy one at a time
_BLOCK = 1024  # texts of one copy: what it makes on its way stays in the cache


def _copied(address, count):
    """The texts of views (pointer, size) by one copy of their bytes, a zero behind each; None where that takes longer or zeros are among them."""
    views = _FROM_8[address // 8 - 1 :][: 2 * count]
    sizes = views[1::2] + 1
    ends = sizes.cumsum()
    if ends[-1] > _LONG * count:
        return None
    where = (views[::2] - ends + sizes - 1).repeat(sizes)
    where += np.arange(where.size)
    where[ends - 1] = ctypes.addressof(_ZERO) - 1
    texts = _FROM_1.take(where[:-1]).tobytes().decode("utf-8", "surrogateescape").split("\0")
    return texts if len(texts) == count else None


def _decoded(address, count):
    first = (address or 0) >> 3
    words = _WORDS[first : first + 2 * count]
    try:
        views = iter(words)
        return [_BYTES[at : at + size].decode() for at, size in zip(views, views)]
    except UnicodeDecodeError:  # seldom, and to name how takes a tenth longer
        views = iter(words)
        return [_BYTES[at : at + size].decode("utf-8", "surrogateescape") for at, size in zip(views, views)]


def _shared(address, count):
    """Texts of which equal views, as of a model's own texts, are one object."""
    words = iter(_numbers(ctypes.c_int64, address, 2 * count))
    views = list(zip(words, words))
    known = {(at, size): _BYTES[at : at + size].decode("utf-8", "surrogateescape") for at, size in set(views)}
    return [known[view] for view in views]


def _texts(address, count):
    """The texts of views (pointer, size)."""
    if count < _MANY:
        return _decoded(address, count)
    texts = []
    for first in range(0, count, _BLOCK):
        block = address + 16 * first, min(_BLOCK, count - first)
        texts += _copied(*block) or _shared(*block)
    return texts


def _take_tensor(value, lent=None):
    """A copy of a tensor that the context owns; `lent`: for large ones, see lend."""
    axes, code, at = value.ndim, value.dtype, (value.shape or 0) >> 3
    shape = _WORDS[at : at + axes]
    if code == STRING and axes == 1:
        count = shape[0]
        return np.array(_decoded(value.data, count) if count < _MANY else _texts(value.data, count), OBJECT)
    dtype = dtype_of(code)
    large = lent is not None and code != STRING and math.prod(shape) * dtype.itemsize >= LARGE
    result = lend(lent, tuple(shape), dtype) if large else new_array(shape, dtype)
    if not result.size:
        return result
    if code == STRING:
        result.reshape(-1)[:] = _texts(value.data, result.size)
        return result
    ctypes.memmove(address_of(result), value.data, result.nbytes)
    return result


def _take_list(value):
    """A list of the elements of a tensor of one axis."""
    number = NUMBERS.get(value.dtype)
    if value.ndim != 1 or not (number or value.dtype == STRING):
        return _take_tensor(value).tolist()
    (count,) = _numbers(ctypes.c_int64, value.shape, 1)
    return _numbers(number, value.data, count) if number else _texts(value.data, count)


_SIZE = ctypes.sizeof(Value)


@functools.cache
def _dict_maker(n):
    """f(key0, key1, ..., rows): a dict for each row of n values. Written out as one display, in a third of dict(zip())'s time."""
    keys, values = ([f"{letter}{i}" for i in range(n)] for letter in "kv")
    return eval(f"lambda {', '.join(keys)}, rows: [{{{', '.join(map(': '.join, zip(keys, values)))}}} for {', '.join(values)}, in rows]")


def take_rows(value, keys):
    """The dicts of an output of maps with these keys: their values are floats, rows of one matrix."""
    if not value.count:
        return []
    row = Value.from_address(Value.from_address(value.items).items + _SIZE)
    values, n = _numbers(ctypes.c_float, row.data, value.count * len(keys)), len(keys)
    if value.count == 1:
        return [dict(zip(keys, values))]
    rows = zip(*[iter(values)] * n)
    return _dict_maker(n)(*keys, rows) if n <= 16 else [dict(zip(keys, row)) for row in rows]


def take(value, lent=None):
    """An onnxc_value as Python values."""
    if value.kind == TENSOR:
        return _take_tensor(value, lent)
    at = value.items
    if value.kind == MAP:
        return dict(zip(_take_list(Value.from_address(at)), _take_list(Value.from_address(at + _SIZE)))) if value.count == 2 else {}
    items = [take(Value.from_address(at + i * _SIZE)) for i in range(value.count)]
    if value.kind == OPTIONAL:
        return items[0] if items else None
    return items
