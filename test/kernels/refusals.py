"""Sizes that only the run knows and that an operator cannot have: an error that names the node, with -O0 and without. containers.py runs these."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

ONES = lambda *shape: np.ones(shape, np.float32)
CASES = {  # name -> operator, operands of the run, constants behind them, attributes, which operands have sizes that the model knows
    "refused_reshape_rest": ("Reshape", [ONES(2, 5)], [np.array([3, -1])], {}),
    "refused_reshape_copied_and_rest": ("Reshape", [ONES(2, 5)], [np.array([0, 2, -1])], {}),
    "refused_gemm_bias_rows": ("Gemm", [ONES(1, 3), ONES(3, 5), ONES(2, 5)], [], {}),
    "refused_gemm_bias_columns": ("Gemm", [ONES(2, 3), ONES(3, 1), ONES(5)], [], {}),
    "refused_gemm_bias_of_column": ("Gemm", [ONES(4, 32), ONES(32, 1), ONES(3)], [], {}, [1]),
    "refused_matmul_vector": ("MatMul", [ONES(4, 5), ONES(1)], [], {}),
    "refused_matmul_vector_of_ones": ("MatMul", [ONES(4, 1), ONES(5)], [], {}),
    "refused_conv_transpose_negative": ("ConvTranspose", [ONES(1, 3, 1, 1)], [ONES(3, 2, 3, 3)], {"strides": [2, 2], "pads": [2, 2, 2, 2]}),
}


def check(s, folder, name):
    import onnxc
    op, operands, constants, attributes, *known = CASES[name]
    names = [f"x{i}" for i in range(len(operands) + len(constants))]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape if [i] in known else [f"{n}{d}" for d in range(a.ndim)]) for i, (n, a) in enumerate(zip(names, operands))]
    weights = [numpy_helper.from_array(a, n) for n, a in zip(names[len(operands):], constants)]
    node = helper.make_node(op, names, ["y"], name="odd", **attributes)
    result = helper.make_tensor_value_info("z", TensorProto.FLOAT, None)  # of a second node: the first is not named for the model's output
    graph = helper.make_graph([node, helper.make_node("Neg", ["y"], ["z"], name="behind")], "g", inputs, [result], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    for flags in ([], ["-O0"]):
        loaded = onnxc.load(str(s.compile(model, folder, *flags, name=f"{name}{''.join(flags)}")))
        try:
            return f"{flags}: a result {loaded.run(dict(zip(names, operands)))[0].shape}"
        except onnxc.Error as e:
            if "odd" not in str(e) and "'z'" not in str(e):
                return f"{flags}: {e}"
    return None
