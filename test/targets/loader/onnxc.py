"""onnxc.py: the Python loader for artefacts of another machine: what the loader of runtime_stub/python asks of the library goes to host.c under an
emulator. Suites that take `--loader` run on the other target with this folder; ONNXC_TEST_HOST is the command that starts the host.
"""
import ctypes
import importlib.util
import json
import os
import shlex
import struct
import subprocess
import sys
from pathlib import Path

_spec = importlib.util.spec_from_file_location("onnxc_plain", Path(__file__).resolve().parents[3] / "runtime_stub" / "python" / "onnxc" / "__init__.py")
plain = sys.modules["onnxc_plain"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(plain)
abi = plain.abi


class Remote:
    """The library, as ctypes would load it, and its API: one context, in the host."""

    def __init__(self, path):
        self.path, self.keep, self.results = path, [], []
        self.onnxc_get_api = lambda version: self  # an object that takes ctypes' attributes

    contents = property(lambda self: self)

    def start(self):
        command = [*shlex.split(os.environ["ONNXC_TEST_HOST"]), self.path]
        self.host = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    # -- numbers and texts

    def get(self):
        return struct.unpack("<q", self.bytes(8))[0]

    def bytes(self, size):
        data = self.host.stdout.read(size)
        if len(data) != size:
            raise plain.Error(f"the host ended with {self.host.wait()}")
        return data

    def text(self):
        return self.bytes(self.get())

    def put(self, *numbers):
        self.host.stdin.write(struct.pack(f"<{len(numbers)}q", *numbers))

    # -- the API

    def info(self):
        self.start()
        info = abi.ModelInfo(struct_size=ctypes.sizeof(abi.ModelInfo))
        info.name, about = self.text(), json.loads(self.text())
        for port in about["outputs"]:
            port.pop("keys", None)  # get_value() puts the maps' rows anywhere, not side by side
        info.json = json.dumps(about).encode()
        symbols = [self.text() for _ in range(self.get())]
        info.num_symbols, info.symbols = len(symbols), (ctypes.c_char_p * max(len(symbols), 1))(*symbols)
        defaults = []
        info.num_inputs, info.inputs = self.ports(defaults)
        info.num_outputs, info.outputs = self.ports(None)
        info.defaults = (ctypes.c_int64 * max(len(defaults), 1))(*defaults)
        self.counts = info.num_inputs, info.num_outputs
        self.keep.append(info)
        return ctypes.pointer(info)

    def ports(self, defaults):
        ports = []
        for _ in range(self.get()):
            io = abi.IoInfo(self.text(), self.get(), self.get(), self.get(), self.get())
            dims = [self.get() for _ in range(max(io.rank, 0))]
            io.dims = (ctypes.c_int64 * max(len(dims), 1))(*dims)
            if defaults is not None:
                defaults.append(self.get())
            ports.append(io)
        return len(ports), (abi.IoInfo * max(len(ports), 1))(*ports)

    def model_create(self, options, handle, error):
        self.put(abi.Options.from_address(options).num_threads)
        self.host.stdin.flush()
        code = self.status(error)
        if not code:
            self.level = self.text()
            ctypes.c_void_p.from_address(handle).value = 1
        return code

    def context_create(self, model, options, handle, error):
        ctypes.c_void_p.from_address(handle).value = 1
        return 0

    def status(self, error):
        e = abi.ErrorInfo.from_address(error)
        e.code, e.node, e.message = self.get(), self.text(), self.text()
        return e.code

    def context_destroy(self, handle):
        pass

    def model_destroy(self, handle):
        self.host.stdin.close()
        self.host.wait()

    def isa(self, handle):
        return self.level

    def arena_bytes(self, handle):
        return 0

    def query(self, *arguments):
        return 1  # results come with their sizes

    def run(self, handle, inputs, num_inputs, outputs, num_outputs, error):
        self.put(1)
        for value in (abi.Value * num_inputs).from_address(inputs):
            self.put_value(value)
        self.host.stdin.flush()
        code = self.status(error)
        if code:
            return code
        self.results.clear()
        for value in (abi.Value * num_outputs).from_address(outputs):
            self.get_value(value)
        return 0

    # -- values

    def put_value(self, value):
        self.put(value.kind, value.dtype)
        if value.kind != abi.TENSOR:
            self.put(value.count)
            for i in range(value.count):
                self.put_value(abi.Value.from_address(value.items + i * ctypes.sizeof(abi.Value)))
            return
        if value.data is None:
            return self.put(-1)
        shape = (ctypes.c_int64 * value.ndim).from_address(value.shape)[:]
        count = 1
        for size in shape:
            count *= size
        self.put(len(shape), *shape)
        if value.dtype == abi.STRING:
            for at in range(value.data, value.data + 16 * count, 16):
                data, size = (ctypes.c_int64 * 2).from_address(at)
                self.put(size)
                self.host.stdin.write(ctypes.string_at(data, size))
            return
        data = ctypes.string_at(value.data, count * abi.dtype_of(value.dtype).itemsize)
        self.put(len(data))
        self.host.stdin.write(data)

    def get_value(self, value):
        """Into the caller's memory, where `value` has some."""
        value.kind, value.dtype = self.get(), self.get()
        if value.kind != abi.TENSOR:
            value.count = self.get()
            items = (abi.Value * max(value.count, 1))()
            self.results.append(items)
            value.items = ctypes.addressof(items)
            for i in range(value.count):
                self.get_value(items[i])
            return
        shape = [self.get() for _ in range(self.get())]
        if value.dtype == abi.STRING:
            count = 1
            for size in shape:
                count *= size
            texts = [ctypes.create_string_buffer(t, len(t) + 1) for t in (self.text() for _ in range(count))]
            data = (ctypes.c_int64 * (2 * count + 1))()
            for i, text in enumerate(texts):
                data[2 * i], data[2 * i + 1] = ctypes.addressof(text), len(text) - 1
            self.results += texts
        else:
            data = self.text()
            if value.data:
                ctypes.memmove(value.data, data, len(data))
                return
            data = ctypes.create_string_buffer(data, len(data) + 1)
        sizes = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        self.results += data, sizes
        value.ndim, value.shape, value.data = len(shape), ctypes.addressof(sizes), ctypes.addressof(data)


class _Ctypes:
    CDLL = Remote

    def __getattr__(self, name):
        return getattr(ctypes, name)


plain.model.ctypes = _Ctypes()
plain.model._bare = lambda function: lambda *arguments: function(*(ctypes.addressof(a._obj) if hasattr(a, "_obj") else a for a in arguments))  # of byref()
plain.model.check_file = lambda path: None  # it would refuse the other machine's
Error, Model, compile, load, version = plain.Error, plain.Model, plain.compile, plain.load, plain.version
