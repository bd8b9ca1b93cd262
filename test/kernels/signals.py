"""Transforms of sequences against NumPy's: lengths of every kind of factor, of one line and of several side by side, real and complex; adds to operators.CASES."""
import numpy as np

from operators import case, floats


def parts(x):
    """Real and imaginary parts as ONNX has them, as an axis of their own."""
    return np.stack([x.real, x.imag], -1)


def dft(name, x, axis, length=None, inverse=0, onesided=0, dtype=np.float32):
    """Of x, whose last axis has one or two parts."""
    x = x.astype(dtype)
    given = x[..., 0].astype(np.float64) + 1j * (x[..., 1] if x.shape[-1] == 2 else 0)
    if inverse and onesided:
        want = np.fft.irfft(given, length, axis)[..., None]
    elif inverse:
        want = parts(np.fft.ifft(given, length, axis))
    else:
        want = np.fft.fft(given, length, axis)
        want = parts(want.take(range(want.shape[axis] // 2 + 1), axis) if onesided else want)
    weights = {"n": np.int64(length) if length else None, "axis": np.int64(axis)}
    case(f"dft_{np.dtype(dtype).name} {name}", "DFT", {"x": x}, weights, want=[want.astype(dtype)], inverse=inverse, onesided=onesided)


for _n in (1, 2, 3, 4, 5, 6, 7, 8, 12, 30, 33, 97, 98, 100, 128, 400, 1009):
    dft(f"real_{_n}", floats(1, _n, 1), 1)
    dft(f"real_{_n}_side", floats(5, _n, 1), 1, onesided=1)
    dft(f"complex_{_n}", floats(1, _n, 2), 1)
    dft(f"complex_{_n}_side", floats(9, _n, 2), 1)
    dft(f"inverse_{_n}_side", floats(6, _n, 2), 1, inverse=1)
    if _n < 200:
        dft(f"inverse_{_n}", floats(2, _n, 2), 1, inverse=1)
        dft(f"double_{_n}_side", floats(17, _n, 1), 1, dtype=np.float64)
for _axis in (0, 1, 2):
    for _length in (None, 9, 20):  # cut, and with zeros behind
        dft(f"axis_{_axis}_{_length}", floats(10, 11, 12, 1), _axis, _length, onesided=1)
        dft(f"axis_{_axis}_{_length}_complex", floats(10, 11, 12, 2), _axis, _length)
        dft(f"axis_{_axis}_{_length}_back", parts(np.fft.rfft(floats(10, 11, 12), axis=_axis)), _axis, _length or (10, 11, 12)[_axis] // 2 * 2, inverse=1, onesided=1)
dft("many", floats(3, 256, 70, 1), 1)  # shared by threads
dft("long", floats(4, 6000, 1), 1)  # one after the other


def stft(name, x, step, length, windowed, onesided):
    """The frames of x, which has one or two parts."""
    window = np.hanning(length + 2)[1:-1].astype(np.float32) if windowed else None
    given = x[..., 0].astype(np.float64) + 1j * (x[..., 1] if x.shape[-1] == 2 else 0)
    frames = np.lib.stride_tricks.sliding_window_view(given, length, 1)[:, ::step] * (window if windowed else 1)
    want = parts(np.fft.fft(frames)[..., : length // 2 + 1 if onesided else length]).astype(np.float32)
    case(f"stft {name}", "STFT", {"x": x}, {"step": np.int64(step), "window": window, "n": None if windowed else np.int64(length)}, want=[want], onesided=onesided)


for _length in (16, 25, 34, 400):
    for _windowed in (False, True):
        for _side in (0, 1):
            stft(f"{_length}_{_windowed}_{_side}", floats(2, 1000, 1), 50, _length, _windowed, _side)
    stft(f"{_length}_complex", floats(1, 1000, 2), 50, _length, True, 0)
stft("one_frame", floats(1, 64, 1), 1, 64, True, 1)
