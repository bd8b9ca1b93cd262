"""onnxc: runs artefacts of onnxc (a .so) from Python through the ABI of include/onnxc/onnxc.h, with ctypes and numpy only.

    m = onnxc.load("model.so", num_threads=1)
    outputs = m.run({"x": x})            # ndarrays in output order; lists for sequences, dicts for maps, None for an absent optional

Thread-safe: each concurrent call takes a context of its own from a pool. bfloat16, float8, 4- and 2-bit tensors are ml_dtypes arrays where that
package is installed, else arrays of their bytes (uint16, uint8, int8). Strings are object arrays of str.
"""

from .abi import Error
from .compiler import compile, version
from .model import Model, load

__version__ = "0.1.0"  # of CMakeLists.txt
__all__ = ["Error", "Model", "compile", "load", "version"]
