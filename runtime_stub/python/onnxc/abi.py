"""abi.py: include/onnxc/onnxc.h in ctypes, and the numpy types of its element types."""
import ctypes

import numpy as np

ABI_VERSION = 1
TENSOR, SEQUENCE, OPTIONAL, MAP = range(4)
STRING = 8
RUN_TIME = -(2**63)

_PLAIN = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16", 11: "float64",
          12: "uint32", 13: "uint64", 14: "complex64", 15: "complex128"}
# TensorProto.DataType -> (name in ml_dtypes, type of its bytes)
EXTENDED = {16: ("bfloat16", "uint16"), 17: ("float8_e4m3fn", "uint8"), 18: ("float8_e4m3fnuz", "uint8"), 19: ("float8_e5m2", "uint8"),
             20: ("float8_e5m2fnuz", "uint8"), 21: ("uint4", "uint8"), 22: ("int4", "int8"), 23: ("float4_e2m1fn", "uint8"),
             24: ("float8_e8m0fnu", "uint8"), 25: ("uint2", "uint8"), 26: ("int2", "int8"),
             27: ("float6_e2m3fn", "uint8"), 28: ("float6_e3m2fn", "uint8")}
SMALL = {21: 0x0F, 22: 0, 25: 0x03, 26: 0}  # types whose arrays may hold garbage in the high bits
_dtypes = {}
OBJECT = np.dtype(object)


class Error(Exception):
    """A refused model, argument or run. `node` names the node or value, `code` is the ABI's status."""

    def __init__(self, message, node="", code=0):
        super().__init__(message)
        self.node = node
        self.code = code


Error.__module__ = "onnxc"  # the name that callers know it by


class Value(ctypes.Structure):
    """onnxc_value with its tensor's fields among its own and pointers as numbers: ctypes makes an object of every other field that is read."""

    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
                ("items", ctypes.c_void_p), ("count", ctypes.c_int64)]


NUMBERS = {1: ctypes.c_float, 6: ctypes.c_int32, 7: ctypes.c_int64, 11: ctypes.c_double}


class ErrorInfo(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("node", ctypes.c_char * 120), ("message", ctypes.c_char * 392)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("alloc", ctypes.c_void_p), ("free", ctypes.c_void_p), ("alloc_user", ctypes.c_void_p),
                ("parallel_for", ctypes.c_void_p), ("parallel_user", ctypes.c_void_p), ("log", ctypes.c_void_p),
                ("log_user", ctypes.c_void_p), ("num_threads", ctypes.c_int32), ("cpu", ctypes.c_char_p),
                ("weights_path", ctypes.c_char_p)]


class IoInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("key_dtype", ctypes.c_int32),
                ("rank", ctypes.c_int32), ("dims", ctypes.POINTER(ctypes.c_int64))]


class ModelInfo(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("json", ctypes.c_char_p)] + [
        (n, ctypes.c_int32) for n in ("num_inputs", "num_outputs", "num_symbols", "num_sites", "num_isas")] + [
        ("inputs", ctypes.POINTER(IoInfo)), ("outputs", ctypes.POINTER(IoInfo)), ("symbols", ctypes.POINTER(ctypes.c_char_p)),
        ("weights_bytes", ctypes.c_uint64), ("defaults", ctypes.POINTER(ctypes.c_int64))]


def _function(*arguments, result=ctypes.c_int32):
    return ctypes.CFUNCTYPE(result, *arguments)


_P, _I = ctypes.c_void_p, ctypes.c_int32


class Api(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_uint32), ("abi_version", ctypes.c_uint32),
                ("info", _function(result=ctypes.POINTER(ModelInfo))),
                ("model_create", _function(_P, _P, _P)), ("model_destroy", _function(_P, result=None)),
                ("context_create", _function(_P, _P, _P, _P)), ("context_destroy", _function(_P, result=None)),
                ("query", _function(_P, _P, _I, _P, _P)), ("run", _function(_P, _P, _I, _P, _I, _P)),
                ("arena_bytes", _function(_P, result=ctypes.c_int64)), ("isa", _function(_P, result=ctypes.c_char_p)),
                ("set_tap", _function(_P, _P, _P, result=None)), ("isa_name", _function(_I, result=ctypes.c_char_p))]


def dtype_of(code):
    """The numpy type of a TensorProto.DataType."""
    found = _dtypes.get(code)
    if found is None:
        if code == STRING:
            found = OBJECT
        elif code in _PLAIN:
            found = np.dtype(_PLAIN[code])
        elif code in EXTENDED:
            name, carrier = EXTENDED[code]
            try:
                import ml_dtypes

                found = np.dtype(getattr(ml_dtypes, name, carrier))
            except ImportError:
                found = np.dtype(carrier)
        else:
            raise Error(f"element type {code} is not known to this loader")
        _dtypes[code] = found
    return found


def code_of(dtype):
    """The TensorProto.DataType of a numpy type."""
    if dtype.kind in "OUS":
        return STRING
    for code, name in _PLAIN.items():
        if dtype.name == name:
            return code
    for code, (name, _) in EXTENDED.items():
        if dtype.name == name:
            return code
    raise Error(f"numpy type {dtype} has no ONNX element type")
