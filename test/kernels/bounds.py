"""Operands and attributes that would lead a kernel beyond its memory, or through more steps than there are data: an error that names the operator, or the answer,
within the suite's limit of time. The cases have edges.py's form."""
import re
import struct

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

# Rois of images without rows or columns; far greater than their image; with as many samples as a bin may not have.
ROI = 'y = RoiAlign <mode = "MODE", coordinate_transformation_mode = "output_half_pixel", sampling_ratio = 2> (x, r, i)'
IMAGE = {"i": np.zeros(1, np.int64)}
for _mode in ("avg", "max"):
    for _type, _name in ((F32, "float"), (np.float64, "double")):
        if _mode == "max" or _type != F32:  # the kernel for means reserves memory for a row
            case(f"roi_no_rows_{_mode}_{_name}", ROI.replace("MODE", _mode), np.zeros((1, 1, 1, 1), _type), f"{_name}[] y", x=np.zeros((1, 1, 0, 2**28), _type), r=np.array([[0, -1, 4, 0]], _type), **IMAGE)
        case(f"roi_no_columns_{_mode}_{_name}", ROI.replace("MODE", _mode), np.zeros((1, 1, 1, 1), _type), f"{_name}[] y", x=np.zeros((1, 1, 3, 0), _type), r=np.array([[-1, 0, 0, 4]], _type), **IMAGE)
    case(f"roi_far_{_mode}", ROI.replace("MODE", _mode).replace("sampling_ratio = 2", "sampling_ratio = 0"), np.full((1, 1, 1, 1), 25 if _mode == "avg" else 1e12, F32), x=np.full((1, 1, 4, 4), 1e12, F32),
         r=np.array([[-5e5, -5e5, 5e5, 5e5]], F32), **IMAGE)  # 5 x 5 of its 10^12 samples lie in the image
    refused(f"roi_samples_{_mode}", ROI.replace("MODE", _mode).replace("sampling_ratio = 2", f"sampling_ratio = {2**20 - 1}"), "RoiAlign", x=np.ones((1, 1, 4, 4), F32), r=np.array([[0, 0, 4, 4]], F32), **IMAGE)

# Rois so far that positions are rounded to hundreds of pixels: many samples lie at one place.
case("roi_rounded", ROI.replace("MODE", "max").replace("sampling_ratio = 2", "sampling_ratio = 0"), np.full((1, 1, 1, 1), 3, F32), x=np.full((1, 1, 2, 2), 3, F32), r=np.array([[-1e18, -1e18, 1e18, 1e18]], F32), **IMAGE)
# Rows of which there are none, both ways.
for _op, _gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
    case(f"no_rows_{_op}", f'y = {_op} <direction = "bidirectional", hidden_size = 4> (x, w, r)', np.zeros((5, 2, 0, 4), F32), "float[S,D,B,H] y", x=np.zeros((5, 0, 3), F32),
         w=np.zeros((2, 4 * _gates, 3), F32), r=np.zeros((2, 4 * _gates, 4), F32))

# Windows so far apart that only the first one reaches the image; rows that are no whole number of heads.
for _stride in (10**9, 2**62):
    case(f"far_windows_{_stride}", f"y = Col2Im <strides = [1, {_stride}]> (x, i, k)", np.arange(1, 10, dtype=F32).reshape(3, 3).T.reshape(1, 1, 3, 3), x=np.arange(1, 10, dtype=F32).reshape(1, 3, 3), i=np.array([3, 3]),
         k=np.array([1, 3]))
refused("rotary_rows", "y = com.microsoft.RotaryEmbedding (x, p, c, s)", "RotaryEmbedding", x=np.ones((1, 2, 10), F32), p=np.zeros((1, 2), np.int64), c=np.ones((20, 2), F32), s=np.ones((20, 2), F32))

# Blocks that fill no whole bytes, or are longer than memory; too few zero points; values of no bits.
for _bits, _block, _why in ((4, 1, "blocks of 1 values of 4 bits do not fill whole bytes"), (2, 3, "blocks of 3 values of 2 bits do not"), (4, 2**62, "MatMulNBits"), (8, FAR, "MatMulNBits")):
    refused(f"blocks_{_bits}_{_block}", f"y = com.microsoft.MatMulNBits <K = 6, N = 2, bits = {_bits}, block_size = {_block}> (x, b, s)", _why, x=np.ones((3, 6), F32), b=np.zeros((2, 0), np.uint8),
            s=np.ones(2, F32))
for _bits, _block, _zeros in ((4, 16, 1), (8, 16, 11), (0, 16, 12), (4, 0, 12), (4, FAR, 12)):
    refused(f"gather_blocks_{_bits}_{_block}_{_zeros}", f"y = com.microsoft.GatherBlockQuantized <bits = {_bits}, block_size = {_block}> (x, i, s, z)", "GatherBlockQuantized",
            x=np.zeros((12, 8 if _bits == 4 else 16), np.uint8), i=np.array([0, 11]), s=np.ones((12, 1), F32), z=np.zeros((_zeros, 1), np.uint8))


def tiff(width, height, entries, colour):
    """An image of palette colours, one for all pixels, whose directory begins with `entries` that mean nothing."""
    run = b"\x81" + bytes([colour])  # 128 equal bytes
    strip = run * (width * height // 128)
    size = 2 + 12 * (entries + 10) + 4
    tags = [(1, 3, 1, 0)] * entries + [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 32773), (262, 3, 1, 3), (273, 4, 1, 8 + size + 1536), (277, 3, 1, 1), (278, 4, 1, height),
                                       (279, 4, 1, len(strip)), (320, 3, 768, 8 + size)]
    directory = struct.pack("<H", len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4)
    return np.frombuffer(b"II*\0" + struct.pack("<I", 8) + directory + b"".join(struct.pack("<H", 256 * (c % 256)) for c in range(768)) + strip, np.uint8)


case("tiff_of_many_entries", 'y = ImageDecoder (x)', np.full((1280, 1280, 3), 77, np.uint8), "uint8[] y", x=tiff(1280, 1280, 65525, 77))

# A size that overflows where one is added to it.
case("split_far", "s = SplitToSequence (x, k)  y = ConcatFromSequence <axis = 0> (s)", np.arange(5, dtype=F32), x=np.arange(5, dtype=F32), k=np.array(FAR))

# Images too small for what slides over them or is cut from them, in a result and before one: the node and the size are named.
for _behind in ("y = Relu (v)", "u = Relu (v)  y = GlobalAveragePool (u)"):
    for _name, _words in (("Conv", "x, w"), ("MaxPool", "x"), ("AveragePool", "x")):
        for _rows, _more in ((2, ""), (4, ""), (2, ", strides = [4, 4]"), (1, ", pads = [1, 0, 1, 0]"), (2, ", dilations = [2, 1]"), (2, ', auto_pad = "VALID"'), (4, ", strides = [4, 1]")):
            _window, _padded = 9 if "dil" in _more else 5, _rows + 2 * ("pads =" in _more)
            refused(f"too_small_{_name}_{_behind[0]}_{_rows}{_more}", f"v = {_name} <kernel_shape = [5, 5]{_more}> ({_words})  {_behind}",
                    rf"_\d( \({_name}\))?: a window is larger than the padded input: {_window} and {_padded} entries|_\d \({_name}, opset 22\): a window of {_window} does not fit the {_rows} entries",
                    x=np.ones((1, 2, _rows, 7), F32), **({"w": np.ones((3, 2, 5, 5), F32)} if _name == "Conv" else {}))
    refused(f"too_small_Pad_{_behind[0]}", f"p = Constant <value_ints = [0, 0, -4, 0, 0, 0, 0, 0]> ()  v = Pad (x, p)  {_behind}",
            r"_\d \(Pad\): a size is negative or overflows: -2|_\d \(Pad, opset 22\): .*-2", x=np.ones((1, 2, 2, 7), F32))
# Videos of too few frames, of which convolutions and pools are those of images.
for _op in ("Conv", "MaxPool", "AveragePool"):
    for _frames, _window, _stride, _pad in ((1, 2, 2, 0), (2, 3, 3, 0), (1, 3, 1, 0), (1, 4, 2, 1)):
        for _channels in (8, 16):
            _more = f"kernel_shape = [{_window}, 3, 3], strides = [{_stride}, 1, 1], pads = [{_pad}, 1, 1, {_pad}, 1, 1]"
            _weights = f"s = Constant <value_ints = [16, {_channels}, {_window}, 3, 3]> ()  w = ConstantOfShape <value = float[1] {{1.0}}> (s)  "
            refused(f"too_few_frames_{_op}_{_window}_{_stride}_{_channels}", f"{_weights}y = Conv <{_more}> (x, w)" if _op == "Conv" else f"y = {_op} <{_more}> (x)",
                    rf"a window is larger than the padded input: {_window} and {_frames + 2 * _pad} entries|a window of {_window} does not fit the {_frames} entries",
                    x=np.ones((2, _channels, _frames, 10, 8), F32))
# A last window that juts out of the image, and one with nothing to slide over.
case("window_juts_out", "y = MaxPool <kernel_shape = [5, 5], strides = [4, 4], ceil_mode = 1> (x)", np.full((1, 2, 1, 2), 7, F32), x=np.full((1, 2, 2, 7), 7, F32))
case("window_of_no_rows", "y = MaxPool <kernel_shape = [1, 5]> (x)", np.zeros((1, 2, 0, 3), F32), x=np.zeros((1, 2, 0, 7), F32))

# Operands of no elements where one number is needed.
for _op, _operands, _result in (("QLinearAdd", "x, none, zero8, x, one, zero8, one, zero8", "uint8"), ("QLinearSigmoid", "x, none, zero8, one, zero8", "uint8"),
                                ("QGemm", "x, none, zero8, x, one, zero8", "float"), ("MatMulIntegerToFloat", "x, x, none, one", "float")):
    refused(f"no_number_{_op}", f"y = com.microsoft.{_op} ({_operands})", f"{_op}.*(0 elements, one is needed|0 and 1 differ)", outputs=f"{_result}[] y", x=np.ones((3, 3), np.uint8), none=np.zeros(0, F32),
            one=np.ones((), F32), zero8=np.zeros((), np.uint8))

# Values of 2^62 bytes each, whose sums 64 bits do not hold.
refused("sums_of_sizes", f"n = Shape (x)  s = Concat <axis = 0> (n, n, n, n)  m = Expand (x, s)  {'  '.join(f'p{k} = Softmax <axis = {k}> (m)' for k in range(3))}  v = Sum (p0, p1, p2)"
        "  y = ReduceMax <keepdims = 0> (v)", "memory", x=np.ones(2**15, F32))
