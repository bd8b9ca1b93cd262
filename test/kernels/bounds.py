"""Operands and attributes that would lead a kernel beyond its memory, or through more steps than there are data: an error that names the operator, or the answer,
within the suite's limit of time. The cases have edges.py's form."""
import re

import numpy as np

from edges import F32, case

FAR = 2**63 - 1


def floats(n, value=1.0):
    return "[" + ", ".join([str(value)] * n) + "]"


def refused(name, body, why, **more):
    case(name, body, re.compile(why), **more)


# Numbers of vectors whose sum leaves 64 bits.
refused("vectors_of_classes", f"""l, y = ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1, 2, 3, 4], coefficients = {floats(8)}, kernel_params = [0.3, 0.0, 3.0], kernel_type = "RBF",
    rho = {floats(10)}, support_vectors = {floats(4)}, vectors_per_class = [{2**62}, {2**62}, {2**62}, {2**62}, 2]> (x)""", "SVMClassifier", outputs="int64[N] l, float[N,M] y", x=np.ones((3, 2), F32))
