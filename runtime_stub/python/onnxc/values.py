"""values.py: Python values as the values of the ABI and back."""
import array as compact
import ctypes
import functools

import numpy as np

from .abi import EXTENDED, MAP, NUMBERS, OBJECT, OPTIONAL, SEQUENCE, SMALL, STRING, TENSOR, Error, Tensor, Value, View, code_of, dtype_of


def put_strings(array, keep):
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


def address_of(array, addressof=ctypes.addressof, view=ctypes.c_char.from_buffer):
    """Where a contiguous array's data lie; `array.ctypes.data`, which read-only and empty arrays need, takes five times as long."""
    try:
        return addressof(view(array))
    except (TypeError, ValueError, BufferError):
        return array.ctypes.data


def fill_tensor(value, array, code, name, keep):
    array = _canonical(array, code, name)
    value.kind, value.dtype = TENSOR, code
    value.tensor.ndim = array.ndim
    shape = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
    value.tensor.shape = shape
    keep += (array, shape)
    value.tensor.data = put_strings(array, keep) if code == STRING else array.ctypes.data


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
    value.items, value.count = children, len(items)
    keep.append(children)


def new_array(shape, dtype):
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
    return [_string(*View.from_address(at)) for at in range(address, address + 16 * count, 16)]


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
    known = {key: _string(*View.from_buffer_copy(key.ljust(16, b"\0"))) for key in set(keys)}
    texts = np.empty(len(keys), OBJECT)
    texts[:] = [known[key] for key in keys]
    flat[left] = texts


def _take_tensor(value):
    """A copy of a tensor that the context owns."""
    tensor, code = value.tensor, value.dtype
    shape = tensor.shape[: tensor.ndim] if tensor.ndim else ()
    dtype = dtype_of(code)
    result = new_array(shape, dtype)
    if not result.size:
        return result
    if code == STRING:
        _read_texts(tensor.data, result.reshape(-1))
        return result
    ctypes.memmove(address_of(result), tensor.data, result.nbytes)
    return result


def _take_list(value):
    """A list of the elements of a tensor of one axis."""
    tensor, number = value.tensor, NUMBERS.get(value.dtype)
    if tensor.ndim != 1 or not (number or value.dtype == STRING):
        return _take_tensor(value).tolist()
    count = tensor.shape[0]
    return (number * count).from_address(tensor.data)[:] if number and count else _texts(tensor.data, count) if count else []


_WORDS = ctypes.sizeof(Value) // 8
_ITEMS, _COUNT = Value.items.offset // 8, Value.count.offset // 8
_DATA, _SHAPE = ((Value.tensor.offset + at.offset) // 8 for at in (Tensor.data, Tensor.shape))


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
    dtype = dtype_of(row.dtype)
    step = (row.tensor.shape[0] if row.tensor.ndim == 1 else 0) * dtype.itemsize
    if not step or dtype == OBJECT or (maps[:, _COUNT] != 2).any() or (np.diff(maps[:, _ITEMS]) != 2 * _WORDS * 8).any():
        return None
    pairs = _memory(ctypes.addressof(keys), np.int64, (n, 2, _WORDS))
    same = pairs[:, :, [0, _SHAPE]]  # kind, element type and size
    if (same != same[0]).any() or (pairs[:, 0, _DATA] != keys.tensor.data).any() or (np.diff(pairs[:, 1, _DATA]) != step).any():
        return None
    names, rows = _take_list(keys), _memory(row.tensor.data, dtype, (n, step // dtype.itemsize))
    if len(names) > 16:
        return [dict(zip(names, values)) for values in rows.tolist()]
    return _dict_maker(len(names))(*names, zip(*rows.T.tolist()))


def take(value):
    """An onnxc_value as Python values."""
    if value.kind == TENSOR:
        return _take_tensor(value)
    if value.kind == MAP:
        return dict(zip(_take_list(value.items[0]), _take_list(value.items[1]))) if value.count == 2 else {}
    maps = _take_maps(value) if value.kind == SEQUENCE and value.count > 3 else None
    if maps is not None:
        return maps
    items = [take(value.items[i]) for i in range(value.count)]
    if value.kind == OPTIONAL:
        return items[0] if items else None
    return items
