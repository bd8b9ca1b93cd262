"""Attention ops at sizes with several blocks of keys and tiles of queries, static and symbolic, against -O0. run.py beside it runs them."""
import numpy as np
from onnx import TensorProto, helper

MS, STD = "com.microsoft", ""
CASES = {}


def attention(name, shapes, results=1, domain=STD, ints={}, flags={}, **attributes):
    """`shapes`: of the operands in order, None where absent; `ints` and `flags`: int64 (int32 for com.microsoft) and bool operands by position."""
    CASES["attention_op_" + name] = (domain, attributes, shapes, results, ints, flags)


def heads(b, q, k, h=3, kh=3, d=24, v=24):
    return [(b, h, q, d), (b, kh, k, d), (b, kh, k, v)]


attention("plain", heads(2, 29, 29), is_causal=1)
attention("groups", heads(2, 29, 90, h=4, kh=2), scale=0.3)
attention("groups_packed", [(2, 31, 96), (2, 40, 48), (2, 40, 64)], q_num_heads=4, kv_num_heads=2, is_causal=1)
attention("scale_zero", heads(1, 5, 40), scale=0.0)
for _width in (3, 4, 8, 12, 40):  # values in lanes by keys, by columns of half and whole panels
    attention(f"narrow_{_width}", heads(2, 29, 47, d=_width, v=_width), is_causal=1)
    attention(f"narrow_{_width}_long", heads(1, 14, 600, d=_width, v=_width) + [(14, 600)])
attention("softcap", heads(1, 20, 33) + [(20, 33)], softcap=2.5)
attention("window", heads(1, 640, 640, h=1, kh=1), is_causal=1, left_window_size=37)
attention("window_right", heads(1, 30, 700, h=1, kh=1), left_window_size=5, right_window_size=600)
# Queries that share keys, few enough that no task packs all of these.
attention("shared", heads(2, 5, 300, h=8, kh=2, d=64, v=64), is_causal=1)
attention("shared_three", heads(1, 1, 200, h=6, kh=2, d=40, v=48) + [(1, 6, 1, 200)])
attention("shared_thirty", heads(2, 30, 290, d=32, v=32) + [(2, 1, 30, 290)], flags=[3])
attention("shared_forty", heads(1, 1, 400, h=40, kh=1, d=64, v=64), softcap=3.0)
attention("shared_window", heads(1, 12, 640, h=2, kh=1, d=16, v=16), is_causal=1, left_window_size=37)
attention("shared_rows", heads(1, 16, 24, h=2, kh=1, d=16, v=16), is_causal=1)
attention("shared_past", heads(2, 3, 3, h=4, kh=2, d=32, v=32) + [None, (2, 2, 260, 32), (2, 2, 260, 32)], 3, is_causal=1)
attention("window_far", heads(1, 30, 40, h=1, kh=1), left_window_size=2**63 - 1, right_window_size=2**63 - 1)
attention("window_one_query", heads(1, 1, 9) + [None, (1, 3, 600, 24), (1, 3, 600, 24)], 3, is_causal=1, left_window_size=100)
attention("short_mask", heads(2, 30, 50) + [(2, 1, 30, 37)])
attention("short_flags", heads(2, 30, 50) + [(30, 37)], flags=[3])
attention("flags", heads(2, 25, 600) + [(2, 1, 25, 600)], flags=[3], is_causal=1)
attention("past", heads(2, 30, 30) + [None, (2, 3, 50, 24), (2, 3, 50, 24)], 3, is_causal=1)
attention("past_packed", [(2, 9, 72)] * 3 + [(1, 1, 9, 40), (2, 3, 31, 24), (2, 3, 31, 24)], 3, q_num_heads=3, kv_num_heads=3)
attention("lengths", heads(3, 30, 50) + [None, None, None, (3,)], ints={6: [50, 31, 12]})
attention("lengths_causal", heads(3, 11, 50) + [(50,), None, None, (3,)], ints={6: [50, 31, 12]}, is_causal=1)
attention("ms", [(2, 30, 48), (48, 144), (144,)], domain=MS, num_heads=4, unidirectional=1)
attention("ms_lengths", [(2, 30, 48), (48, 144), (144,), (2,)], domain=MS, ints={3: [30, 11]}, num_heads=4)
attention("ms_rows", [(2, 20, 48), (48, 144), (144,), (2, 20, 20), None, (1, 4, 20, 20)], domain=MS, ints={3: None}, num_heads=4)
attention("ms_sizes", [(2, 30, 48), (48, 128), (128,)], domain=MS, num_heads=4, qkv_hidden_sizes=[48, 48, 32])
attention("ms_past", [(2, 20, 48), (48, 144), (144,), None, (2, 2, 4, 30, 12)], 2, domain=MS, num_heads=4, unidirectional=1)
attention("ms_heads", [(2, 30, 48), (2, 41, 48), (2, 41, 64), (160,), (2, 41)], domain=MS, ints={4: None}, num_heads=4)
attention("ms_heads_first", [(2, 30, 48), (2, 4, 41, 12), (2, 4, 41, 16)], domain=MS, num_heads=4)
attention("ms_heads_together", [(2, 30, 4, 3, 12)], domain=MS, num_heads=4)
attention("ms_heads_past", [(2, 30, 48), (2, 30, 48), (2, 30, 48), (144,), None, (1, 4, 30, 50), (2, 4, 20, 12), (2, 4, 20, 12)], 3, domain=MS, num_heads=4)

for kind, attributes in {"plain": {}, "window": {"local_window_size": 17}, "softcap": {"softcap": 1.5}, "sinks": {"smooth_softmax": 1}}.items():
    attention(f"gq_{kind}", [(2, 30, 96), (2, 30, 48), (2, 30, 48), None, None, (2,), ()], 3, MS, {5: [29, 18], 6: 30}, num_heads=4, kv_num_heads=2, **attributes)
    attention(f"gq_{kind}_past", [(1, 20, 192), None, None, (1, 2, 550, 24), (1, 2, 550, 24), (1,), (), (600, 12), (600, 12)], 3, MS, {5: 569, 6: 570},
              num_heads=4, kv_num_heads=2, do_rotary=1, **attributes)
attention("gq_shared", [(2, 3, 128), (2, 3, 64), (2, 3, 64), (2, 2, 150, 32), (2, 2, 150, 32), (2,), ()], 3, MS, {5: [150, 131], 6: 151}, num_heads=4, kv_num_heads=2, smooth_softmax=1)
attention("gq_decode", [(2, 1, 96), (2, 1, 48), (2, 1, 48), (2, 2, 50, 24), (2, 2, 50, 24), (2,), ()], 3, MS, {5: [50, 31], 6: 51}, num_heads=4, kv_num_heads=2)
attention("gq_bias", [(2, 30, 96), (2, 30, 48), (2, 30, 48), None, None, (2,), (), None, None, None, (1, 4, 30, 30), (4,)], 3, MS, {5: 29, 6: 30},
          num_heads=4, kv_num_heads=2)


def operands(name):
    domain, _, shapes, _, ints, flags = CASES[name]
    rng = np.random.default_rng(1)
    feed = {}
    for i, shape in enumerate(shapes):
        if shape is None:
            continue
        if i in flags:
            feed[f"x{i}"] = rng.integers(0, 4, shape) > 0
        elif i in ints:
            feed[f"x{i}"] = np.broadcast_to(np.array(ints[i] or rng.integers(0, 2, shape), np.int32 if domain else np.int64), shape).copy()
        else:
            feed[f"x{i}"] = rng.standard_normal(shape).astype(np.float32) * np.float32(0.3 if domain == MS else 1)
    return feed


def build(name, feed, dynamic):
    domain, attributes, shapes, results, _, _ = CASES[name]
    inputs = [f"x{i}" if s is not None else "" for i, s in enumerate(shapes)]
    fixed = lambda n, d: d if domain and n in ("x1", "x2", "x3") else f"n{d}" if d in (2, 20, 29, 30, 50) else d
    info = lambda n, a: helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype),
                                                      [fixed(n, d) for d in a.shape] if dynamic else a.shape)
    op = "GroupQueryAttention" if "_gq_" in name else "MultiHeadAttention" if "ms_heads" in name else "Attention"
    node = helper.make_node(op, inputs, [f"y{i}" for i in range(results)], domain=domain, **attributes)
    graph = helper.make_graph([node], "g", [info(n, a) for n, a in feed.items()],
                              [helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None) for i in range(results)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 27 if "window" in name else 24), helper.make_opsetid(MS, 1)], ir_version=10)


def check(s, folder, name):
    import onnxc
    feed = operands(name)
    want = None
    for label, dynamic, flags in (("O0", False, ["-O0"]), ("v3", False, ["--cpu", "x86-64-v3"]), ("symbolic", True, [])):
        library = s.compile(build(name, feed, dynamic), folder, *flags, name=f"{name}_{label}")
        got = onnxc.load(str(library), num_threads=2).run(feed)
        want = want or got
        for w, g in zip(want, got):
            if w.shape != g.shape or not np.abs(w - g).max() <= 1e-5 * np.abs(w).max():
                return f"{label}: off by {np.abs(w - g).max() / np.abs(w).max():.1e}" if w.shape == g.shape else f"{label}: shape {g.shape}"
    if "_shared" in name:  # rows of one entry are computed by several tasks, of which not all see the value that is no number
        if "_gq_" in name:  # rows of a cache behind what its entry says that it holds are read by none
            feed["x3"][1, :, -1] = feed["x4"][1, :, -1] = np.nan
            if not all(np.array_equal(got[0], onnxc.load(str(library), num_threads=n).run(feed)[0]) for n in (1, 3, 5)):
                return "rows behind an entry's length change its result"
        value = feed[list(feed)[2]]
        value[(0,) * (value.ndim - 2) + (value.shape[-2] // 2,)] = np.nan
        runs = [onnxc.load(str(library), num_threads=n).run(feed) for n in (1, 3, 5)]
        if not all(np.array_equal(a, b, equal_nan=True) for other in runs for a, b in zip(runs[0], other)):
            return "numbers of threads differ"
    return None
