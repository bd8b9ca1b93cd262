"""Errors of what a model stores: data beside it, typed and sparse data; run.py runs these."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cases import F32, case, model, save, tensor


@case(1, r"initializer 'w' external data file 'weights\.bin' cannot be read: No such file or directory \(expected at .*weights\.bin\)")
def external_data_missing(folder):
    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", 2, 64)], [tensor("y", 2, 64)], [weights])
    onnx.external_data_helper.set_external_data(proto.graph.initializer[0], "weights.bin", 0, 64 * 64 * 4)
    proto.graph.initializer[0].ClearField("raw_data")
    return save(folder, proto)


@case(1, r"^onnxc: error: [^\n]*'w0' external data file 'no\.bin' cannot be read: [^\n]*; so it is for 39 more of that file$")
def many_weights_in_one_missing_file(folder):
    weights = [numpy_helper.from_array(np.ones((2, 3), np.float32), f"w{i}") for i in range(40)]
    for w in weights:
        onnx.external_data_helper.set_external_data(w, "no.bin", 0, 24)
        w.ClearField("raw_data")
    return save(folder, model([helper.make_node("Sum", ["x", *(w.name for w in weights)], ["y"])], [tensor("x", 2, 3)], [tensor("y", 2, 3)], weights))


@case(1, r"'\.\./weights\.bin' is not a plain path inside the model's folder; --allow-external-outside lets trusted models read elsewhere")
def external_data_outside(folder):
    (folder / "sub").mkdir()
    (folder / "weights.bin").write_bytes(bytes(64 * 64 * 4))
    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", 2, 64)], [tensor("y", 2, 64)], [weights])
    onnx.external_data_helper.set_external_data(proto.graph.initializer[0], "../weights.bin", 0, 64 * 64 * 4)
    proto.graph.initializer[0].ClearField("raw_data")
    (folder / "sub" / "model.onnx").write_bytes(proto.SerializeToString())
    return [folder / "sub" / "model.onnx", "-o", folder / "out.so"]


def typed(folder, kind, values, field="int32_data"):
    """A weight whose numbers stand in a typed field."""
    tensor_proto = TensorProto(name="w", data_type=kind, dims=[len(values)])
    getattr(tensor_proto, field).extend(values)
    return save(folder, model([helper.make_node("Cast", ["w"], ["y"], to=F32)], [], [tensor("y", len(values))], [tensor_proto]))


@case(1, r"initializer 'w' holds 256 as element 1, which uint8 cannot hold")
def uint8_above_its_range(folder):
    return typed(folder, TensorProto.UINT8, [255, 256])


@case(1, r"initializer 'w' holds 200 as element 0, which int8 cannot hold")
def int8_above_its_range(folder):
    return typed(folder, TensorProto.INT8, [200, -128])


@case(1, r"initializer 'w' holds -1 as element 0, which uint16 cannot hold")
def uint16_below_its_range(folder):
    return typed(folder, TensorProto.UINT16, [-1])


@case(1, r"initializer 'w' holds 4294967296 as element 0, which uint32 cannot hold")
def uint32_above_its_range(folder):
    return typed(folder, TensorProto.UINT32, [1 << 32], "uint64_data")


@case(1, r"initializer 'w' holds 65536 as element 2, which float16 cannot hold")
def more_bits_than_a_float16(folder):
    return typed(folder, TensorProto.FLOAT16, [0xFFFF, -1, 0x10000])


def sparse(folder, indices, dims):
    values = helper.make_tensor("w", F32, [len(indices)], [1.0] * len(indices))
    where = helper.make_tensor("i", TensorProto.INT64, np.shape(indices), np.ravel(indices))
    proto = model([helper.make_node("Identity", ["w"], ["y"])], [], [tensor("y", *dims)])
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, where, dims))
    return save(folder, proto)


@case(1, r"sparse initializer 'w' has indices that are not unique and in ascending order: element 4 comes after element 4")
def sparse_index_twice(folder):
    return sparse(folder, [1, 4, 4], [6])


@case(1, r"sparse initializer 'w' has indices that are not unique and in ascending order: element 3 comes after element 4")
def sparse_indices_unsorted(folder):
    return sparse(folder, [[1, 1], [1, 0]], [2, 3])


@case(1, r"sum \(Col2Im, opset 22\): strings have no sum")
def sum_of_strings(folder):
    weights = [numpy_helper.from_array(np.array(v), n) for n, v in (("image", [5, 5]), ("block", [1, 5]))]
    string = TensorProto.STRING
    return save(folder, model([helper.make_node("Col2Im", ["x", "image", "block"], ["y"], name="sum")], [tensor("x", 1, 5, 5, dtype=string)],
                              [tensor("y", 1, 1, 5, 5, dtype=string)], weights))


@case(1, r"initializer 'w' is a sparse tensor of 1048576 elements, more than --max-constant-size 4096 bytes allow")
def sparse_constant_too_large(folder):
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], [tensor("x", 1)], [tensor("y", 1 << 20)])
    values, indices = numpy_helper.from_array(np.ones(1, np.float32), "w"), numpy_helper.from_array(np.zeros(1, np.int64), "i")
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [1 << 20]))
    return save(folder, proto, "--max-constant-size", "4096")


@case(1, r"initializer 'w' holds 100 bytes of data, its shape and type need 16384")
def initializer_too_short(folder):
    weights = numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    weights.raw_data = weights.raw_data[:100]
    return save(folder, model([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("x", 2, 64)], [tensor("y", 2, 64)], [weights]))
