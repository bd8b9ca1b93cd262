"""Mistakes that the onnx library finds, in onnxc's words; run.py runs these."""
import numpy as np
from onnx import helper, numpy_helper

from cases import F32, case, model, save, tensor


def node(folder, op, inputs=("x",), weights=(), **attributes):
    """One node `n` of `x`, f32 [2, 3], and of weights w0, w1, …"""
    initializers = [numpy_helper.from_array(np.asarray(w), f"w{i}") for i, w in enumerate(weights)]
    return save(folder, model([helper.make_node(op, list(inputs), ["y"], name="n", **attributes)], [tensor("x", 2, 3)], [helper.make_tensor_value_info("y", F32, None)], initializers))


@case(1, r"n \(Add, opset 22\): has 1 input, Add of opset 14 needs 2$")
def too_few_operands_of_a_node(folder):
    return node(folder, "Add")


@case(1, r"n \(Softmax, opset 22\): has 2 inputs, Softmax of opset 13 needs 1$")
def operand_beyond_one(folder):
    return node(folder, "Softmax", ["x", "x"])


@case(1, r"n \(Clip, opset 22\): has 4 inputs, Clip of opset 13 needs 1 to 3$")
def operands_beyond_a_range(folder):
    return node(folder, "Clip", ["x"] * 4)


@case(1, r"n \(Concat, opset 22\): has 0 inputs, Concat of opset 13 needs at least 1$")
def no_operands(folder):
    return node(folder, "Concat", [], axis=0)


@case(1, r"n \(Add, opset 22\): input 1 is left out, and is needed$")
def operand_left_out(folder):
    return node(folder, "Add", ["x", ""])


@case(1, r"n \(Softmax, opset 22\): attribute 'axis' is FLOAT, it must be INT$")
def attribute_of_another_type(folder):
    return node(folder, "Softmax", axis=1.5)


@case(1, r"n \(Softmax, opset 22\): Softmax has no attribute 'axes'$")
def attribute_of_no_operator(folder):
    return node(folder, "Softmax", axes=1)


@case(1, r"n \(Gather, opset 22\): indices cannot be tensor\(float\); it reads 'x' float\[2, 3\], 'w0' float\[1\]$")
def operand_of_another_type(folder):
    return node(folder, "Gather", ["x", "w0"], [np.ones(1, np.float32)])


@case(1, r"n \(Add, opset 22\): B is tensor\(int64\), which does not agree with the other operands; it reads 'x' float\[2, 3\], 'w0' int64\[3\]$")
def operands_of_two_types(folder):
    return node(folder, "Add", ["x", "w0"], [np.ones(3, np.int64)])


@case(1, r"n \(Gemm, opset 22\): sizes 5 and 3 differ; it reads 'x' float\[2, 3\], 'w0' float\[4, 5\]$")
def factors_of_other_sizes(folder):
    return node(folder, "Gemm", ["x", "w0"], [np.ones((4, 5), np.float32)], transB=1)


@case(1, r"n \(Concat, opset 22\): sizes 3 and 2 of axis 0 differ; it reads 'x' float\[2, 3\], 'w0' float\[3, 3\]$")
def parts_of_other_sizes(folder):
    return node(folder, "Concat", ["x", "w0"], [np.ones((3, 3), np.float32)], axis=1)


@case(1, r"n \(Reshape, opset 22\): 'w0' is float, it must be int64; it reads 'x' float\[2, 3\], 'w0' float\[2\]$")
def sizes_that_are_floats(folder):
    return node(folder, "Reshape", ["x", "w0"], [np.ones(2, np.float32)])


@case(1, r"n \(Cast, opset 22\): Attribute to does not specify a valid type; it reads 'x' float\[2, 3\]$")
def name_of_the_node_once(folder):
    return node(folder, "Cast", to=99)


@case(1, r"n \(Einsum, opset 22\): has a malformed equation: 'i1->i'$")
def equation_with_a_digit(folder):
    return node(folder, "Einsum", equation="i1 -> i")
