"""Errors of operands and attributes of one node that do not fit each other, and of what a model says twice; run.py runs these."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

from cases import F32, case, model, save, tensor

BYTE = TensorProto.UINT8


def node(folder, op, shapes, dtypes=(), domain="", **attributes):
    """A node `odd` of inputs x0, x1, … with these shapes; None: absent."""
    names = [f"x{i}" if shape is not None else "" for i, shape in enumerate(shapes)]
    kinds = [*dtypes, *[F32] * (len(shapes) - len(dtypes))]
    inputs = [tensor(n, *shape, dtype=kind) for n, shape, kind in zip(names, shapes, kinds) if n]
    result = helper.make_tensor_value_info("y", TensorProto.INT32 if "Integer" in op else kinds[0], None)
    return save(folder, model([helper.make_node(op, names, ["y"], name="odd", domain=domain, **attributes)], inputs, [result], domains=[domain] if domain else []))


@case(1, r"odd .*input 3 has 3 entries, 1 or one for each of the 4 columns is needed")
def zero_points_of_columns(folder):
    return node(folder, "MatMulInteger", [(2, 3), (3, 4), (), (3,)], [BYTE] * 4)


@case(1, r"odd .*input 2 has 3 entries, 1 or one for each of the 2 rows is needed")
def zero_points_of_rows(folder):
    return node(folder, "MatMulInteger", [(2, 3), (3, 4), (3,)], [BYTE] * 3)


@case(1, r"odd .*input 4 has 4 entries, 1 or one for each of the 5 columns is needed")
def scales_of_columns(folder):
    return node(folder, "QLinearMatMul", [(2, 3), (), (), (3, 5), (4,), (4,), (), ()], [BYTE, F32, BYTE, BYTE, F32, BYTE, F32, BYTE])


@case(1, r"odd .*input 3 has 2 entries, 1 or one for each of the 3 channels of the result is needed")
def zero_points_of_filters(folder):
    return node(folder, "ConvInteger", [(1, 2, 3, 3), (3, 2, 2, 2), (), (2,)], [BYTE] * 4)


@case(1, r"odd .*input 4 has 2 entries, 1 or one for each of the 3 channels of the result is needed")
def scales_of_filters(folder):
    return node(folder, "QLinearConv", [(1, 2, 3, 3), (), (), (3, 2, 2, 2), (2,), (3,), (), ()], [BYTE, F32, BYTE, BYTE, F32, BYTE, F32, BYTE])


def quantised_gemm(folder, sizes, *flags):
    """`sizes`: of scales and zero points of A, B and the result."""
    a, b, y = sizes
    shapes, dtypes = [(2, 3), a, a, (3, 4), b, b, (4,), y, y], [BYTE, F32, BYTE, BYTE, F32, BYTE, TensorProto.INT32, F32, BYTE]
    values = [numpy_helper.from_array(np.ones(s, helper.tensor_dtype_to_np_dtype(t)), f"x{i}") for i, (s, t) in enumerate(zip(shapes, dtypes))]
    odd = helper.make_node("QGemm", [v.name for v in values], ["y"], name="odd", domain="com.microsoft")
    return save(folder, model([odd], [tensor("x0", 2, 3, dtype=BYTE)], [helper.make_tensor_value_info("y", BYTE, None)], values[1:], domains=["com.microsoft"]), *flags)


@case(1, r"odd \(QGemm, opset 1\): input 1 has 2 elements, one is needed")
def scales_of_a_gemm(folder):
    return quantised_gemm(folder, [(2,), (), ()])


@case(1, r"odd \(QGemm, opset 1\): input 1 has 2 elements, one is needed")
def scales_of_a_gemm_as_written(folder):
    return quantised_gemm(folder, [(2,), (), ()], "-O0")


@case(1, r"odd \(QGemm, opset 1\): input 4 has 3 entries, 1 or one for each of the 4 columns is needed")
def scales_of_columns_of_a_gemm(folder):
    return quantised_gemm(folder, [(), (3,), ()], "-O0")


@case(1, r"odd \(QGemm, opset 1\): input 7 has 4 elements, one is needed")
def scales_of_results_of_a_gemm(folder):
    return quantised_gemm(folder, [(), (4,), (4,)])


def blocks(folder, *shapes):
    return node(folder, "MatMulNBits", [(2, 64), *shapes], [F32, BYTE, F32, BYTE, TensorProto.INT32], "com.microsoft", K=64, N=4, bits=4, block_size=32)


@case(1, r"odd .*B \[4, 1, 16\] has 64 entries, 128 are needed for N = 4 and 2 blocks of 32")
def blocks_of_weights(folder):
    return blocks(folder, (4, 1, 16), (8,))


@case(1, r"odd .*scales \[4\] has 4 entries, 8 are needed")
def scales_of_blocks(folder):
    return blocks(folder, (4, 2, 16), (4,))


@case(1, r"odd .*zero_points \[8\] has 8 entries, 4 are needed")
def zero_points_of_blocks(folder):
    return blocks(folder, (4, 2, 16), (8,), (8,))


@case(1, r"odd .*g_idx has 63 entries, K = 64 are needed")
def groups_of_blocks(folder):
    return blocks(folder, (4, 2, 16), (8,), None, (63,))


@case(1, r"odd .*entries of the bias and N: 5 and 4 differ")
def bias_of_blocks(folder):
    return blocks(folder, (4, 2, 16), (8,), None, None, (5,))


@case(1, r"odd .*sizes of axis 0 of the product and of it with the bias: 1 and 2 differ")
def bias_with_more_rows_than_the_product(folder):
    return node(folder, "Gemm", [(1, 3), (3, 5), (2, 5)])


@case(1, r"odd .*bias \[1, 2, 5\] has more axes than the product \[2, 5\]")
def bias_with_more_axes_than_the_product(folder):
    return node(folder, "Gemm", [(2, 3), (3, 5), (1, 2, 5)])


@case(1, r"odd .*sizes of label 'i' 1 and 3 differ")
def diagonal_of_no_square(folder):
    return node(folder, "Einsum", [(1, 3)], equation="ii->i")


@case(1, r"odd \(Split, opset 22\): attribute 'num_outputs' is 2, the node has 3 outputs$")
def number_of_parts(folder):
    parts = [helper.make_tensor_value_info(n, F32, None) for n in "abc"]
    return save(folder, model([helper.make_node("Split", ["x"], list("abc"), name="odd", num_outputs=2)], [tensor("x", 6)], parts))


def defaulted(folder, kind, *shape):
    """An initializer float[3] for the input w of this kind and shape."""
    weights = numpy_helper.from_array(np.ones(3, np.float32), "w")
    return save(folder, model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", 2, 3), tensor("w", *shape, dtype=kind)], [tensor("y", 2, 3)], [weights]))


@case(1, r"w \(initializer\): is float\[3\], the input of its name float\[n, 1\]$")
def initializer_of_another_rank(folder):
    return defaulted(folder, F32, "n", 1)


@case(1, r"w \(initializer\): is float\[3\], the input of its name float\[4\]$")
def initializer_of_another_size(folder):
    return defaulted(folder, F32, 4)


@case(1, r"w \(initializer\): is float\[3\], the input of its name double\[\?\]$")
def initializer_of_another_type(folder):
    return defaulted(folder, TensorProto.DOUBLE, None)


@case(1, r"v \(initializer\): is float\[1\], the input of its name float\[2, 3\], in a subgraph of Loop 'bad'$")
def initializer_of_another_size_in_a_body(folder):
    inputs = [tensor("i", dtype=TensorProto.INT64), tensor("go", dtype=TensorProto.BOOL), tensor("v", 2, 3)]
    nodes = [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Relu", ["v"], ["w"])]
    body = helper.make_graph(nodes, "body", inputs, [tensor("on", dtype=TensorProto.BOOL), tensor("w", 2, 3)], [numpy_helper.from_array(np.zeros(1, np.float32), "v")])
    count = numpy_helper.from_array(np.array(3), "m")
    return save(folder, model([helper.make_node("Loop", ["m", "", "x"], ["y"], name="bad", body=body)], [tensor("x", 2, 3)], [tensor("y", 2, 3)], [count]))


@case(1, r"imports opsets 22 and 13 of ai\.onnx; only one can hold$")
def two_opsets_of_a_domain(folder):
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [tensor("x", 2)], [tensor("y", 2)])
    proto.opset_import.append(helper.make_opsetid("ai.onnx", 13))
    return save(folder, proto)
