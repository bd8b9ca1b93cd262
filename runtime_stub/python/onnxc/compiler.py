"""compiler.py: the onnxc program."""
import os
import shutil
import subprocess

from .abi import Error


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
