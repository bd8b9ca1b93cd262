"""The project's scripts where something is missing: they do it themselves or say what is missing.

usage: scripts.py --onnxc BIN --loader DIR       ends with `scripts: N passed, N failed, N skipped`
"""
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import ROOT, Suite

SUITE = Suite("scripts", __doc__)


def script(*command, code=0, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=ROOT, env={**os.environ, **environment})
    assert done.returncode == code, f"exit {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"
    return done.stdout


@SUITE.check
def rules_without_their_tool(s, folder):
    (folder / "git").symlink_to(shutil.which("git"))
    text = script(sys.executable, "test/rules/rules.py", code=1, PATH=str(folder))
    return None if "format: clang-format-22 is missing: ./dev setup\n" in text and "1 failed" in text else text


@SUITE.check
def models_that_are_not_there(s, folder):
    text = script(sys.executable, "test/models/run.py", "--onnxc", s.args.onnxc, "--loader", s.args.loader, "--shared", folder)
    return None if text.startswith(f"skipped: there is no {folder}/models") else text


@SUITE.check
def conformance_by_its_filter_alone(s, folder):
    """As docs/Debugging.md has it."""
    text = script(sys.executable, "test/conformance/run.py", "--filter", "^test_relu$", *([] if Path(s.args.onnxc).is_relative_to(ROOT / "build") else ["--onnxc", s.args.onnxc]))
    return None if "conformance: 1 passed, 0 failed" in text else text


@SUITE.check
def suite_that_is_not_dumped(s, folder):
    """What ./dev docs and the tests read is filled on the first use. (Its dump takes long: here it is only called.)"""
    program = "import common; common.subprocess.run = lambda command, check: print(*command); print(common.dumped_suite())"
    text = script(sys.executable, "-c", program, ONNXC_CACHE=str(folder), PYTHONPATH=str(ROOT / "test"))
    return None if text == f"{sys.executable} {ROOT}/test/conformance/dump.py {folder}/suite-1.23.2\n{folder}/suite-1.23.2\n" else text


@SUITE.check
def lint_installs_its_tool(s, folder):
    """On a machine whose package manager has nothing installed."""
    for name, text in {"dpkg-query": "exit 1", "apt-get": f'echo "$@" >> {folder}/installed', "sudo": 'exec "$@"'}.items():
        (folder / name).write_text(f"#!/bin/sh\n{text}\n")
        (folder / name).chmod(0o755)
    script("./dev", "lint", PATH=f"{folder}:{os.environ['PATH']}")
    text = (folder / "installed").read_text()
    return None if " clang-format-22 " in text else text


if __name__ == "__main__":
    SUITE.main()
