"""What a user sees on a terminal: checks of the suite `cli` (run.py), which have onnxc write to one."""
import os
import pty
import re
import subprocess

from onnx import helper

from common import info, make, mlp_model, save
from values import PATIENCE


def typed(s, *arguments):
    """(exit code, what onnxc wrote) with a terminal for its output."""
    terminal, end = pty.openpty()
    with subprocess.Popen([s.args.onnxc, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=end, stderr=end) as process:
        os.close(end)
        text = b""
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(terminal)
        return process.wait(300 * PATIENCE), text.decode().replace("\r\n", "\n")


def screen(text):
    """The lines that stay after everything is written."""
    lines, column = [""], 0
    for c in text:
        if c == "\n":
            lines.append("")
        elif c != "\r":
            lines[-1] = lines[-1][:column].ljust(column) + c + lines[-1][column + 1:]
        column = column + 1 if c not in "\r\n" else 0
    return [line.rstrip() for line in lines]


def progress_is_shown(s, folder):
    path = save(mlp_model(), folder / "m.onnx")
    code, text = typed(s, path, "-o", folder / "m.so", "--progress", "0")
    phases = ["reading the model", "working out shapes", "simplifying the graph", "planning kernels", r"compiling kernels, 0 of [1-9]\d*", "linking"]
    if code or not re.search("(?s)" + ".*".join(f"onnxc: {phase}, \\d+ s" for phase in phases), text):
        return f"exit {code}: {text}"
    return None if screen(text) == [""] else f"left on the screen: {screen(text)}"


def progress_gives_way(s, folder):
    """Diagnostics and reports stand on lines of their own."""
    bad = save(make([helper.make_node("Odd", ["x"], ["y"], name="n")], [info("x", 2)], [info("y", 2)]), folder / "bad.onnx")
    code, text = typed(s, bad, "-o", folder / "m.so", "--progress", "0")
    lines = screen(text)
    if code != 1 or "reading the model" not in text or len(lines) != 2 or not lines[0].startswith("onnxc: error: n (Odd, opset 22): ") or lines[1]:
        return f"exit {code}: {lines}"
    code, text = typed(s, save(mlp_model(), folder / "m.onnx"), "-o", folder / "m.so", "--progress", "0", "--time-phases", "--size-report")
    wrong = [line for line in screen(text) if line and not re.fullmatch(r" *\d+(\.\d ms)?  [\w. -]+", line)]
    return f"exit {code}: {wrong}" if code or wrong else None


def progress_is_not_asked_for(s, folder):
    path = save(mlp_model(), folder / "m.onnx")
    for flags in (["--json", "--progress", "0"], ["--progress", "1000"]):
        code, text = typed(s, path, "-o", folder / "m.so", *flags)
        if code or text:
            return f"{flags}: exit {code}: {text}"
    text = s.onnxc(path, "-o", folder / "m.so", "--progress", "0").stderr
    return f"in a pipe: {text}" if text else None


CHECKS = [progress_is_shown, progress_gives_way, progress_is_not_asked_for]
