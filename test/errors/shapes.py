"""Errors of --min-shapes, --opt-shapes and --max-shapes, and of sizes that no memory holds; run.py runs these."""
import numpy as np
from onnx import helper, numpy_helper

from cases import case, model, save, tensor


def add(*shapes):
    """y = a + b + … of inputs with these shapes."""
    names = "abcd"[:len(shapes)]
    return model([helper.make_node("Sum", list(names), ["y"])], [tensor(n, *shape) for n, shape in zip(names, shapes)], [tensor("y", *shapes[0])])


@case(2, r"--min-shapes: expected INPUT=SIZExSIZE… with sizes of at least 0, got 'a=1xtwo'")
def size_is_no_number(folder):
    return save(folder, add(("n", 3)), "--min-shapes", "a=1x3,a=1xtwo")


@case(2, r"--max-shapes: expected INPUT=SIZExSIZE.*got 'a=-1x3'")
def negative_size(folder):
    return save(folder, add(("n", 3)), "--max-shapes", "a=-1x3")


@case(2, r"--max-shapes: expected INPUT=SIZExSIZE…, got ''; see")
def shapes_end_with_a_comma(folder):
    return save(folder, add(("n", 3)), "--max-shapes", "a=1x3,")


@case(1, r"input 'a' has more than 2\^42 elements")
def fixed_size_beyond_every_size(folder):
    return save(folder, add(("n", 3)), "--define-dim", f"n={1 << 41}")


@case(2, r"--min-shapes: the model has no input 'x'; there are: 'a', 'b'")
def shape_of_no_input(folder):
    return save(folder, add(("n", 3), ("n", 3)), "--min-shapes", "x=1x3")


@case(2, r"--max-shapes: input 'a' has 2 dims, 4x3x2 has 3")
def shape_of_another_rank(folder):
    return save(folder, add(("n", 3)), "--max-shapes", "a=4x3x2")


@case(2, r"--opt-shapes: dim 1 of input 'a' is 3 in the model, not 4")
def shape_against_a_static_size(folder):
    return save(folder, add(("n", 3)), "--opt-shapes", "a=4x4")


@case(2, r"--max-shapes: dim 0 of input 'a' is 8 in the model, not 9")
def shape_against_a_fixed_size(folder):
    return save(folder, add(("n", 3)), "--define-dim", "n=8", "--max-shapes", "a=9x3")


@case(2, r"--max-shapes: 'n' is 4 in input 'a', but 5 in input 'b'")
def two_bounds_of_one_symbol(folder):
    return save(folder, add(("n", 3), ("n", 3)), "--max-shapes", "a=4x3,b=5x3")


@case(2, r"input 'a': dim 0 \('n'\) is 5 in --min-shapes, which is more than 4 in --max-shapes")
def least_above_greatest(folder):
    return save(folder, add(("n", 3), ("n", 3)), "--min-shapes", "a=5x3", "--max-shapes", "b=4x3")


@case(2, r"input 'a': dim 0 is 4 in --opt-shapes, which is more than 3 in --max-shapes")
def expected_above_greatest(folder):
    return save(folder, add((None, 3)), "--opt-shapes", "a=4x3", "--max-shapes", "a=3x3")


@case(2, r"--max-shapes: input 'a' has more than 2\^42 elements as 4398046511104x3")
def greatest_beyond_every_size(folder):
    return save(folder, add(("n", 3)), "--max-shapes", f"a={1 << 42}x3")


@case(2, r"--min-shapes: input 'q' is no tensor")
def shape_of_a_sequence(folder):
    sequence = helper.make_tensor_sequence_value_info("q", 1, [2])
    return save(folder, model([helper.make_node("SequenceLength", ["q"], ["y"])], [sequence], [tensor("y", dtype=7)]), "--min-shapes", "q=2")


@case(2, r"model\.onnx: no input or output has the dimension 'N' of --define-dim \(did you mean n\?\); there are: n$")
def size_of_no_dimension(folder):
    return save(folder, add(("n", 3)), "--define-dim", "N=8")


@case(2, r"no input or output has the dimension 'n=2,m' of --define-dim; there are: n; give --define-dim once for each dimension$")
def two_sizes_in_one_flag(folder):
    return save(folder, add(("n", 3)), "--define-dim", "n=2,m=3")


@case(2, r"no input or output has the dimension 'n' of --define-dim; the model has none with a name$")
def size_for_a_model_without_names(folder):
    return save(folder, add((2, 3)), "--define-dim", "n=2")


@case(2, r"--define-dim: 'n' cannot be both 2 and 3;")
def two_sizes_of_a_dimension(folder):
    return save(folder, add(("n", 3)), "--define-dim", "n=2", "--define-dim", "n=2", "--define-dim", "n=3")


@case(2, r"--max-shapes: input 'a' cannot be both 4x3 and 5x3;")
def two_shapes_of_an_input(folder):
    return save(folder, add(("n", 3)), "--max-shapes", "a=4x3", "--max-shapes", "a=4x3,a=5x3")


@case(2, r"--min-shapes: input 'a' has no shape in the model, so its sizes have no range")
def shape_of_an_input_without_one(folder):
    proto = model([helper.make_node("Relu", ["a"], ["y"])], [helper.make_tensor_value_info("a", 1, None)], [helper.make_tensor_value_info("y", 1, None)])
    return save(folder, proto, "--min-shapes", "a=2")


@case(1, r"big \(Expand, opset 22\): result 0 has more than 2\^48 elements, which no memory holds$")
def result_beyond_every_memory(folder):
    sizes = numpy_helper.from_array(np.array([1 << 47, 3]), "sizes")
    nodes = [helper.make_node("Expand", ["a", "sizes"], ["e"], name="big"), helper.make_node("ReduceSum", ["e"], ["y"], keepdims=0)]
    return save(folder, model(nodes, [tensor("a", 1, "n")], [tensor("y")], [sizes]))
