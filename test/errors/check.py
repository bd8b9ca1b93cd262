"""Models with nodes that onnxc cannot compile: `onnxc check` lists all of them at once, each with its place, the reason and what to do.

usage: check.py --onnxc BIN --loader DIR [--filter REGEX]       ends with `check: N passed, N failed, N skipped`
"""
import re
import sys
from pathlib import Path

from onnx import TensorProto, helper

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from common import Suite, info, make, save

SUITE = Suite("check", __doc__)
NODE = helper.make_node
INT, DOUBLE = TensorProto.INT32, TensorProto.DOUBLE


def lines(s, folder, proto, *flags, code=1):
    """What `onnxc check` says of a model, line by line, without the program's name."""
    text = s.onnxc("check", save(proto, folder / "m.onnx"), *flags, code=code).stderr
    return [line.removeprefix("onnxc: ") for line in text.splitlines()]


def microsoft(op, dtypes, shapes, **attributes):
    inputs = [info(f"x{i}", *shape, dtype=dtype) for i, (dtype, shape) in enumerate(zip(dtypes, shapes))]
    node = NODE(op, [i.name for i in inputs], ["y"], name="fused", domain="com.microsoft", **attributes)
    return make([node], inputs, [helper.make_tensor_value_info("y", dtypes[0], None)], domains=["com.microsoft"])


TYPED = {
    "FusedMatMul": ([(2, 3), (3, 4)], {"alpha": 2.0}),
    "FusedGemm": ([(2, 3), (3, 4), (2, 4)], {"activation": "Relu"}),
    "FusedConv": ([(1, 2, 5, 5), (3, 2, 3, 3)], {"activation": "Relu"}),
    "MatMulNBits": ([(2, 32), (4, 1, 16), (4,)], {"K": 32, "N": 4, "bits": 4, "block_size": 32}),
}


def no_kernel(s, folder, op):
    shapes, attributes = TYPED[op]
    dtypes = [INT, TensorProto.UINT8, INT] if op == "MatMulNBits" else [INT] * len(shapes)
    proto = microsoft(op, dtypes, shapes, **attributes)
    for flags in ([], ["-O0"]):
        got = lines(s, folder, proto, *flags, code=3)
        if len(got) != 1 or not re.match(rf"error: fused \({op}, opset 1\): no kernel of {op} takes elements of i32, only of .*f32.*--custom-op", got[0]):
            return "\n".join(got)
        if s.onnxc(folder / "m.onnx", "-o", folder / "m.so", *flags, code=3).stderr.splitlines() != [f"onnxc: {got[0]}"]:
            return "compiling says something else"
    return None


SUITE.cases(TYPED, no_kernel)

if __name__ == "__main__":
    SUITE.main()
