"""What run.py beside it checks: name -> (nodes, inputs, weights, whether sizes are the run's). It and the modules that it imports add to them."""
from onnx import helper

CASES = {}


def node(op, inputs, outputs, **attributes):
    """Names between spaces."""
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def case(name, nodes, inputs, weights=None, dynamic=False):
    """`inputs`: name -> shape; `weights`: name -> array; the result is `y`; `dynamic`: only so (True; "batch" or "height": of that axis alone), else with known sizes too."""
    CASES[name] = (nodes, inputs, weights or {}, dynamic)
    if not dynamic:
        CASES[name + "_dynamic"] = (nodes, inputs, weights or {}, True)
