"""Times models next to ONNX Runtime and OpenVINO in one process; behind `./dev bench`.

usage: bench.py --build DIR [--shared DIR] [--threads N] [MODEL.onnx …]
Needs the comparing script that lies beside the checkout; without it `onnxc bench` times onnxc alone.
"""
import argparse
import subprocess
import sys
from pathlib import Path

import onnx.backend.test.loader as loader

ROOT = Path(__file__).resolve().parent.parent


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", type=Path, required=True)
    p.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    p.add_argument("--threads", default="1")
    p.add_argument("models", nargs="*", type=Path)
    args = p.parse_args()
    onnxc = args.build / "bin" / "onnxc"
    light = Path(loader.DATA_DIR) / "light"
    models = args.models or [light / f"light_{n}.onnx" for n in ("squeezenet", "resnet50", "densenet121", "shufflenet")]
    compare = args.shared / "tools" / "compare.py"
    if compare.exists():
        command = [sys.executable, compare, "--loader", ROOT / "runtime_stub" / "python", "--onnxc", onnxc, "--threads", args.threads, *models]
        sys.exit(subprocess.run(command).returncode)
    for model in models:
        print(f"\n{model.name}")
        subprocess.run([onnxc, "bench", model, "--threads", args.threads], check=True)


if __name__ == "__main__":
    main()
