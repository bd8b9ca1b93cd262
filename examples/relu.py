"""relu.py: compiles a model and runs it from Python. usage: PYTHONPATH=runtime_stub/python relu.py RELU.onnx build/bin/onnxc"""
import sys
import tempfile

import numpy as np
import onnxc

with tempfile.TemporaryDirectory() as folder:
    path = onnxc.compile(sys.argv[1], f"{folder}/relu.so", "-O2", compiler=sys.argv[2])
    model = onnxc.load(path, num_threads=1)
    print(model.inputs, model.outputs, model.isa)
    print(model.run({"x": np.array([[-1, 2, -3]], np.float32)})[0])
    try:
        model.run({"x": np.zeros((1, 4), np.float32)})
    except onnxc.Error as error:
        print(error.node, error)
    else:
        sys.exit("a wrong shape was taken")
