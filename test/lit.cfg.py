# Configuration of lit: every .mlir file below test/ is a test; `./dev test lit` runs them with the build folder as the parameter `build`.
import os

import lit.formats

config.name = "onnxc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
build = lit_config.params["build"]
config.test_exec_root = os.path.join(build, "test", "lit")
bin_dir = os.path.join(build, "bin")
config.environment["PATH"] = os.pathsep.join([bin_dir, "/usr/lib/llvm-22/bin", os.environ["PATH"]])
