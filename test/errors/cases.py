"""The table of cases, and small models for them."""
from onnx import TensorProto, helper

CASES = {}
F32 = TensorProto.FLOAT


def case(code, message):
    """The compile must exit with `code` and print something that matches `message`."""
    def register(function):
        assert function.__name__ not in CASES, function.__name__
        CASES[function.__name__] = (code, message, function)
        return function
    return register


def tensor(name, *shape, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=(), opset=22, domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in domains)], ir_version=10)


def save(folder, proto, *flags):
    path = folder / "model.onnx"
    path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
    return [path, "-o", folder / "out.so", *flags]


def relu():
    return model([helper.make_node("Relu", ["x"], ["y"], name="act")], [tensor("x", 2, 3)], [tensor("y", 2, 3)])
