"""Cases of containers.py at the edges of what the standard says: no elements, texts as constants, numbers beyond 63 bits, forms that few models use. Each has its
answer here, or the pattern of its error, and is compiled with known sizes, with symbolic ones and at -O0."""
import re

import numpy as np
import onnx.parser
from onnx import helper, TensorProto

from values import compare

CASES = {}
F32 = np.float32


def case(name, body, want, outputs="float[] y", opset=22, **feed):
    """`body`: in ONNX's text form; `want`: the results, or a pattern of the error; `feed`: inputs by name."""
    CASES["edge_" + name] = body, want if isinstance(want, list) else [want], outputs, opset, feed


def texts(*values):
    return np.array(values, object)


VIEWS = 'c = Constant <value_strings = [WORDS]> ()  u = Unsqueeze (c, zero)  y = StringConcat (u, x)'
for words in (("a", "b"), ("a", "a")):
    case("text_view_" + "".join(words), VIEWS.replace("WORDS", ", ".join(f'"{w}"' for w in words)), texts([f"{words[0]}1", f"{words[1]}2"], [f"{words[0]}3", f"{words[1]}4"]),
         "string[] y", x=texts(["1", "2"], ["3", "4"]))
case("text_expand", 'c = Constant <value_strings = ["a"]> ()  s = Constant <value_ints = [2, 2]> ()  e = Expand (c, s)  y = StringConcat (e, x)',
     texts(["a1", "a2"], ["a3", "a4"]), "string[] y", x=texts(["1", "2"], ["3", "4"]))
CAPITALS = "AZÀÖØÞĀĲĹŊŸŹƁƂƆƟƠƯǍȘȚɎΆΈΌΎΑΣΫϏЀАЯѠҀҊӁԱႠᎠᲐḀẠỸἈᾸⰀⱠꙀＡ𐐀𞤀"
SMALL = CAPITALS.lower()
case("text_upper", 'y = StringNormalizer <case_change_action = "UPPER"> (x)', texts(*CAPITALS, "ГОД 中文 😀", "SSS1"), "string[] y", x=texts(*SMALL, "год 中文 😀", "sſs1"))
case("text_lower", 'y = StringNormalizer <case_change_action = "LOWER"> (x)', texts(*SMALL, "год 中文 😀", "kåωß"), "string[] y", x=texts(*CAPITALS, "ГОД 中文 😀", "\u212aÅΩẞ"))
case("text_stop", 'y = StringNormalizer <case_change_action = "UPPER", stopwords = ["ÉTÉ", "год"]> (x)', texts("ÜBER"), "string[] y", x=texts("été", "über", "ГОД"))
case("text_stop_ascii", 'y = StringNormalizer <case_change_action = "UPPER", stopwords = ["King", "b", "KING"]> (x)', texts("RING", "C"), "string[] y", x=texts("king", "Ring", "\u212aING", "B", "c"))
case("text_stop_exact", 'y = StringNormalizer <is_case_sensitive = 1, stopwords = ["King", "É"]> (x)', texts("king", "é"), "string[] y", x=texts("king", "King", "é", "É"))
LETTERS = [a + b for a, b in zip(CAPITALS, SMALL)] + ["kK\u212a", "sSſ", "σΣς", "θΘϑϴ", "µμΜ", "åÅÅ", "ßẞ", "ǆǅǄ"]
for i, letters in enumerate(LETTERS):  # alone, in a range and in one that is negated
    if i % 7 == 0 or len(letters) > 2:
        lone, others = letters[0], texts(*letters, "i", "İ", "ı", letters[0] * 2)
        inside = np.array([True] * len(letters) + [False] * 4)
        case(f"regex_cases_{letters}", f'y = RegexFullMatch <pattern = "(?i){lone}"> (x)  z = RegexFullMatch <pattern = "(?i)[{lone}-{lone}]"> (x)  n = RegexFullMatch <pattern = "(?i)[^{lone}]{{1}}"> (x)',
             [inside, inside, ~inside & np.array([len(t) == 1 for t in others])], "bool[] y, bool[] z, bool[] n", x=others)
MARKS = "AΣЯaſσ9½ⅧǅǆǄ中+_\u0301\0"
for _pattern, _inside in ((r"\p{Lu}", "AΣЯǄ"), (r"\P{^Ll}", "aſσǆ"), (r"[\pN_]", "9½Ⅷ_"), (r"(?i)\p{Lt}", "ǅǆǄ"), (r"[^\p{L}\pM]", "9½Ⅷ+_\0"), ("[[:ascii:]]", "Aa9+_\0"), ("[[:cntrl:]]", "\0"), (r"\_", "_")):
    case(f"regex_class_{_pattern}", 'y = RegexFullMatch <pattern = "PATTERN"> (x)'.replace("PATTERN", _pattern.replace("\\", "\\\\")), np.array([c in _inside for c in MARKS]), "bool[] y", x=texts(*MARKS))
# A pattern of many more steps than characters.
case("regex_repeated", r"""y = RegexFullMatch <pattern = "(ab{100}){3}[[:alpha:]]{0,900}"> (x)""", np.array([True, False, True]), "bool[] y",
     x=texts(("a" + "b" * 100) * 3, ("a" + "b" * 100) * 2, ("a" + "b" * 100) * 3 + "z" * 900))

# Texts of ASCII, of other characters too, and such as need more sets of states than a table of them has room for.
LINES = ["".join("ab"[n >> k & 1] for k in range(11)) for n in range(0, 2048, 7)] + ["", "ab", "aéb", "a1-b2", "é"]
for _pattern in ("[ab]*a[ab]{8}", "a[^c]*b|ab|é", r"(\w+-?)+", r"^a.*\b"):
    case(f"regex_table_{_pattern}", 'y = RegexFullMatch <pattern = "PATTERN"> (x)'.replace("PATTERN", _pattern.replace("\\", "\\\\")),
         np.array([re.fullmatch(_pattern, line, re.ASCII) is not None for line in LINES]), "bool[] y", x=texts(*LINES))

# Pools in blocks of channels: a pixel of the first of two images is NaN.
for _kernel, _strides in (((3, 3), (1, 1)), ((3, 3), (2, 2)), ((1, 9), (1, 1)), ((6, 9), (1, 1))):
    _x = np.arange(2 * 16 * 6 * 9, dtype=F32).reshape(2, 16, 6, 9) % 101
    _x[0, :, 2, 4] = np.nan
    _want = np.lib.stride_tricks.sliding_window_view(_x, _kernel, (2, 3))[:, :, ::_strides[0], ::_strides[1]].max((-1, -2))
    case(f"pool_nan_blocks_{_kernel[0]}x{_kernel[1]}_{_strides[0]}", f"t = Conv (x, w)  y = MaxPool <kernel_shape = {list(_kernel)}, strides = {list(_strides)}> (t)", _want, x=_x, w=np.eye(16, dtype=F32)[:, :, None, None])

# Windows over padding alone.
case("empty_pool", "y = MaxPool <kernel_shape = [3, 3], pads = [2, 1, 2, 1]> (x)", np.full((1, 2, 2, 5), -np.inf, F32), x=np.zeros((1, 2, 0, 5), F32))

# An adapter of rank 0, as LoRA's before it has learnt anything.
case("empty_adapter", """e = Constant <value = float {1.0}> ()  s = Constant <value_ints = [4, 0]> ()  t = Constant <value_ints = [0, 4]> ()  a = Expand (e, s)  b = Expand (e, t)
    p = MatMul (x, a)  q = MatMul (p, b)  y = Add (q, x)  u = MatMul (r, b)  z = Add (u, x)  v = MatMul (x, p)""", [np.eye(4, dtype=F32)] * 2 + [np.zeros((4, 0), F32)],
     "float[] y, float[] z, float[] v", x=np.eye(4, dtype=F32), r=np.zeros((4, 0), F32))

# Of doubles: keys that are turned for a product, and what follows products on their sums.
_q, _k, _u, _w = (np.sin(np.arange(n * m, dtype=np.float64)).reshape(n, m) for n, m in ((19, 40), (21, 40), (1, 21), (21, 18)))
case("products_of_doubles", f"""w = Constant <value = double[21, 18] {{{", ".join(map(str, _w.flat))}}}> ()  t = Transpose <perm = [1, 0]> (k)  s = MatMul (q, t)
    a = Add (s, u)  b = Tanh (a)  c = MatMul (b, w)  r = Relu (c)  y = Mul (r, c)""", np.maximum(_c := np.tanh(_q @ _k.T + _u) @ _w, 0) * _c, "double[] y", q=_q, k=_k, u=_u)
# What a Cast has made longer is rounded with all its digits.
_some = np.array([0.25, 1.5, -1.5, 2.7, -0.5, 8388607.5, -3.49], F32)
for _op, _round in (("Floor", np.floor), ("Ceil", np.ceil), ("Round", np.rint)):
    case(f"rounded_doubles_{_op}", f"c = Cast <to = 11> (x)  y = {_op} (c)", _round(_some.astype(np.float64)), "double[] y", x=_some)


# Attention whose scores change their axes on the way: windows in the batch axis with masks of their own, heads in it outside the softmax.
def attended(q, k, v, added):
    scores = np.einsum("...id,...jd->...ij", q.astype(np.float64), k) + added
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("...ij,...jd->...id", weights / weights.sum(-1, keepdims=True), v).astype(F32)


_r = np.random.default_rng(5)
_q, _k, _v, _bias, _mask = ((0.5 * _r.standard_normal(s)).astype(F32) for s in [(2, 4, 3, 39, 8)] * 3 + [(1, 3, 39, 39), (4, 1, 39, 39)])
_mask[_mask < -0.5] = -100
case("attention_windows", """w = Constant <value_ints = [-1, 4, 3, 39, 39]> ()  r = Constant <value_ints = [-1, 3, 39, 39]> ()  t = Transpose <perm = [0, 1, 3, 2]> (k)  s = MatMul (q, t)
    a = Add (s, bias)  b = Reshape (a, w)  m = Add (b, mask)  c = Reshape (m, r)  p = Softmax (c)  o = MatMul (p, v)  y = Transpose <perm = [0, 2, 1, 3]> (o)""",
     attended(_q, _k, _v, _bias + _mask).reshape(8, 3, 39, 8).swapaxes(1, 2), q=_q.reshape(8, 3, 39, 8), k=_k.reshape(8, 3, 39, 8), v=_v.reshape(8, 3, 39, 8), bias=_bias, mask=_mask)
_scale = np.linspace(0.5, 2, 3, dtype=F32).reshape(3, 1, 1)
for _name in ("before", "after"):
    _softmax = "h = Reshape (s, heads)  d = Div (h, scale)  m = Add (d, bias)  " + ("n = Reshape (m, rows)  p = Softmax (n)" if _name == "before" else "n = Softmax (m)  p = Reshape (n, rows)")
    case(f"attention_merged_{_name}", f"""u = Constant <value_ints = [-1, 39, 8]> ()  rows = Constant <value_ints = [-1, 39, 39]> ()  heads = Constant <value_ints = [-1, 3, 39, 39]> ()
        a = Reshape (q, u)  b = Reshape (k, u)  c = Reshape (v, u)  t = Transpose <perm = [0, 2, 1]> (b)  s = MatMul (a, t)  {_softmax}  o = MatMul (p, c)
        w = Constant <value_ints = [-1, 3, 39, 8]> ()  y = Reshape (o, w)""",
         attended(_q[0] / _scale, _k[0], _v[0], _bias[0]), q=_q[0], k=_k[0], v=_v[0], bias=_bias, scale=_scale)

# Constant indices of one element on axes that count from the end.
case("gather_from_end", """i = Constant <value_ints = [0]> ()  n = Constant <value_int = -1> ()  y = Gather <axis = -1> (x, i)  z = Gather <axis = -2> (x, n)""",
     [np.arange(12, dtype=F32).reshape(3, 1, 4)[..., :1], np.arange(12, dtype=F32).reshape(3, 4)], "float[] y, float[] z", x=np.arange(12, dtype=F32).reshape(3, 1, 4))

# Constant indices with a common step, which are slices: down to the first, and one that counts from the end.
_steps = np.arange(24, dtype=F32).reshape(2, 3, 4)
case("gather_steps", """i = Constant <value_ints = [3, 2, 1, 0]> ()  n = Constant <value_ints = [0, -1]> ()  y = Gather <axis = -1> (x, i)  z = Gather <axis = 1> (x, n)""",
     [_steps[..., ::-1], _steps[:, ::2]], "float[] y, float[] z", x=_steps)

# 16 bits are integers in between also by a scale of the run: no sign of zero and no NaN passes.
case("quantised_pair_of_run", "q = QuantizeLinear <output_dtype = 5> (x, s)  d = DequantizeLinear (q, s)  one = Constant <value_float = 1.0> ()  y = Div (one, d)",
     np.array([np.inf, np.inf, np.inf, np.inf, -1 / 3], F32), x=np.array([-0.0, -0.01, 0.01, np.nan, -3], F32), s=np.array(0.05, F32))

# Many indices of elements that stand alone.
_far = np.array([[0, -1, 4, -5, 2, 2, 1, 3, -2]], np.int32)
case("gather_elements_alone", "y = Gather <axis = 1> (x, i)", np.arange(10, dtype=F32).reshape(2, 5)[:, _far], x=np.arange(10, dtype=F32).reshape(2, 5), i=_far)

# Scatters one after the other, which may write where their data lie: where nothing else reads these, as `d` reads b's.
_x, _rows = np.arange(12, dtype=F32).reshape(3, 4), np.arange(4, dtype=F32)
_a = _x + _x
_a[1] = _rows
_b = _a.copy()
_b[2, 3] = 7
_c = _b.copy()
_c[0, 1] += 5
case("scatter_chain", """t = Add (x, x)  i = Constant <value = int64[1, 4] {1, 1, 1, 1}> ()  r = Unsqueeze (rows, zero)  a = ScatterElements <axis = 0> (t, i, r)
    j = Constant <value = int64[1, 2] {2, 3}> ()  seven = Constant <value = float[1] {7}> ()  b = ScatterND (a, j, seven)
    k = Constant <value = int64[1, 2] {0, 1}> ()  five = Constant <value = float[1] {5}> ()  c = ScatterND <reduction = "add"> (b, k, five)  y = Neg (c)  d = Abs (b)""",
     [-_c, _b], "float[] y, float[] d", x=_x, rows=_rows)

# Few results of blocks that lie in the caller's memory, which may begin anywhere; of channels that were infinite beside lanes that are none.
for _shift in (1, 2, 4):
    case(f"narrow_output_{_shift}", "t = Conv (x, v)  u = Relu (t)  y = Conv (u, w)", [np.full((1, 64, 1, 1), 128, F32), np.full((1, 1, 1, 1), 8192, F32)], "float[] u, float[] y",
         x=np.ones((1, 64 * _shift, 1, 1), F32), v=np.full((64, 64 * _shift, 1, 1), 2 / _shift, F32), w=np.ones((1, 64, 1, 1), F32))
for _channels in (20, 24, 40):
    case(f"narrow_infinite_{_channels}", "low = Constant <value = float {0.0}> ()  high = Constant <value = float {6.0}> ()  w = Constant <value = float {1.0}> ()  s = Shape (z)  f = Expand (w, s)"
         "  t = Conv (x, v)  u = Clip (t, low, high)  y = Conv (u, f)", np.full((1, 2, 1, 3), 6 * _channels, F32), "float[] y", x=np.full((1, 16, 1, 3), np.inf, F32),
         v=np.ones((_channels, 16, 1, 1), F32), z=np.ones((2, _channels, 1, 1), F32))
    case(f"infinite_mask_{_channels}", "high = Constant <value = float {6.0}> ()  t = Conv (x, v)  m = Mul (t, k)  u = Min (m, high)  y = Conv (u, w)", np.full((1, 5, 1, 3), 6 * _channels, F32), "float[] y",
         x=np.ones((1, 16, 1, 3), F32), v=np.ones((_channels, 16, 1, 1), F32), k=np.full((1, 1, 1, 3), np.inf, F32), w=np.ones((5, _channels, 1, 1), F32))

# Rows as wide as their images, of images without rows, and none of them.
case("empty_whole_rows", "y = Conv <pads = [2, 0, 2, 0]> (x, w)", np.zeros((1, 8, 3, 1), F32), x=np.zeros((1, 3, 0, 5), F32), w=np.ones((8, 3, 2, 5), F32))
case("empty_whole_rows_batch", "y = Conv (x, w)", np.zeros((0, 8, 6, 1), F32), x=np.zeros((0, 3, 7, 5), F32), w=np.ones((8, 3, 2, 5), F32))

# Zero points of no rows.
case("empty_integer_rows", "y = MatMulInteger (x, w, z)", np.zeros((0, 3), np.int32), "int32[0, 3] y", x=np.zeros((0, 4), np.uint8), w=np.ones((4, 3), np.uint8), z=np.zeros(0, np.uint8))

# Bodies have constants that are computed once and images in blocks.
_image = np.random.default_rng(0).standard_normal((2, 5, 8, 6)).astype(F32)
_sums = _image.sum(1, keepdims=True)
for _flag in (True, False):
    case(f"body_convolutions_{_flag}", """y = If (c) <then_branch = g () => (t) {
        v = Constant <value = float {3.0}> ()  s = Constant <value_ints = [24, 5, 1, 1]> ()  w = Expand (v, s)  a = Conv (x, w)  r = Relu (a)  t = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (r) },
        else_branch = h () => (e) { v = Constant <value = float {-1.0}> ()  s = Constant <value_ints = [24, 5, 1, 1]> ()  w = Expand (v, s)  e = Conv <strides = [2, 2]> (x, w) }>""",
         np.repeat(np.maximum(3 * _sums, 0).reshape(2, 1, 4, 2, 3, 2).max((3, 5)) if _flag else -_sums[:, :, ::2, ::2], 24, 1), x=_image, c=np.array(_flag))

TOP = 2**64 - 1
case("natural_cast", f"c = Constant <value = uint64[2] {{{TOP}, 5}}> ()  y = Cast <to = 1> (c)", np.array([TOP, 5], F32))
case("natural_div", f"c = Constant <value = uint64 {{{TOP}}}> ()  d = Constant <value = uint64 {{2}}> ()  y = Div (c, d)", np.array(TOP // 2, np.uint64), "uint64[] y")
case("natural_max", f"c = Constant <value = uint64 {{{2**63}}}> ()  d = Constant <value = uint64 {{1}}> ()  y = Max (c, d)", np.array(2**63, np.uint64), "uint64[] y")
case("natural_fill", f"s = Shape (x)  c = ConstantOfShape <value = uint64[1] {{{TOP}}}> (s)  y = Cast <to = 1> (c)", np.full((2,), TOP, F32), x=np.zeros(2, F32))
for code in (TensorProto.UINT32, TensorProto.UINT64):
    size = np.array(2 - 5, np.int64).astype(helper.tensor_dtype_to_np_dtype(code))
    case(f"natural_difference_{code}", f"s = Shape (x)  n = Cast <to = {code}> (s)  c = Constant <value_ints = [5]> ()  d = Cast <to = {code}> (c)  e = Sub (n, d)  y = Cast <to = 1> (e)",
         np.array([size], F32), x=np.zeros(2, F32))

STACK = "float[2] o) { z = Constant <value_float = 0.0> ()  p = Greater (v, z)  o = Compress (v, p) }"  # its size is data; with no iteration the body's declaration tells it
for _n in (0, 3):
    _x = np.array([[1, -1, 2]] * _n, F32).reshape(_n, 3)
    case(f"scan_declared_{_n}", f"y = Scan <num_scan_inputs = 1, body = b (float[3] v) => ({STACK}> (x)", _x[:, ::2], x=_x)
    case(f"scan_declared_last_axis_{_n}", f"y = Scan <num_scan_inputs = 1, scan_output_axes = [1], body = b (float[3] v) => ({STACK}> (x)", _x[:, ::2].T, x=_x)
    case(f"loop_declared_{_n}", f"k, y = Loop (n, \"\", v) <body = b (int64 i, bool c, float[3] s) => (bool c1, float[3] s1, {STACK.replace('{', '{ c1 = Identity (c)  s1 = Identity (s) ', 1)}>",
         [np.array([1, -1, 2], F32), _x[:, ::2]], "float[] k, float[] y", n=np.array(_n), v=np.array([1, -1, 2], F32))

for _n in (1, 3):  # what is there before a loop that overwrites it may have any rank; one number is read with the rank that the body gives it
    case(f"loop_takes_axes_{_n}", """k, y, last = Loop (n, "", u, v, v) <body = b (int64 i, bool c, float[A,B] a, float[D] s, float[E] t) => (bool c1, float[2,3] a1, float[1] s1, float[1] t1) {
        c1 = Identity (c)  a1 = Identity (w)  o = Constant <value_floats = [1.0]> ()  s1 = Add (s, o)  h = Less (s, m)
        g = If (h) <then_branch = p () => (float[1] f) { f = Constant <value_floats = [2.0]> () }, else_branch = q () => (float[F] e) { e = Identity (m) }>
        t1 = Add (t, g) }>  all = Constant <value_ints = [-1]> ()  z = Reshape (last, all)""", [np.arange(6, dtype=F32).reshape(2, 3), np.array([_n], F32), np.array([2 if _n == 1 else 2 + 1 + 1], F32)], "float[] k, float[] y, float[] z",
         n=np.array(_n), u=np.zeros(5, F32), v=np.zeros((), F32), w=np.arange(6, dtype=F32).reshape(2, 3), m=np.array(1, F32))

_rows = np.arange(12, dtype=F32).reshape(3, 4)
case("if_rank_read_in_loop", """y = Loop (n, "", x) <body = b (int64 i, bool c, float[4] a) => (bool c1, float[4] a1) {
        c1 = Identity (c)  o = Constant <value_int = 1> ()  z = Constant <value_ints = [0]> ()  q = Less (i, o)
        v = If (q) <then_branch = p () => (int64 f) { f = Constant <value_int = 1> () }, else_branch = r () => (int64[1] e) { e = Constant <value_ints = [2]> () }>
        g = Gather (d, v)  s = ReduceSum (g, z)  t = ReduceMax <keepdims = 0> (s)  a1 = Add (a, t) }>""",
     np.full(4, 22 + 11, F32), n=np.array(2), x=np.zeros(4, F32), d=_rows)
for _m in (0, 1):  # numbers of the run are no sizes that may be assumed
    case(f"if_equal_numbers_{_m}", """z = Constant <value_int = 0> ()  q = Equal (m, z)  h = Constant <value_ints = [-1]> ()
        v = If (q) <then_branch = p () => (int64 f) { f = Constant <value_int = 1> () }, else_branch = r () => (int64[1] e) { e = Constant <value_ints = [2]> () }>
        w = Cast <to = 1> (v)  u = Reshape (w, h)  y = Add (x, u)""", np.full(4, 1 + _m, F32), m=np.array(_m), x=np.zeros(4, F32))

LEAST, MOST = 2.0**-127, 2.0**127
for mode, rounded in (("up", [2, 2, MOST]), ("down", [1, 1, MOST]), ("nearest", [1, 2, MOST])):
    for saturate in (1, 0):
        outside = [LEAST, LEAST, MOST] if saturate else [np.nan] * 3
        above = MOST if saturate or mode == "down" else np.nan
        case(f"powers_of_two_{mode}_{saturate}", f'z = Cast <to = {TensorProto.FLOAT8E8M0}, round_mode = "{mode}", saturate = {saturate}> (x)  y = Cast <to = 1> (z)',
             np.array([*rounded, *outside, above, np.nan], F32), opset=24, x=np.array([1.25, 1.5, MOST, 0, LEAST / 4, np.inf, 3e38, np.nan], F32))

for op in ("Softmax", "LogSoftmax", "Hardmax"):
    for shape, axis in (((2, 0, 4), 1), ((2, 0, 4), 2), ((0, 3, 4), 1), ((2, 3, 0), 1), ((2, 3, 0), 2), ((0, 3), 0)):
        case(f"empty_{op}_{'x'.join(map(str, shape))}_{axis}", f"y = {op} <axis = {axis}> (x)", np.zeros(shape, F32), opset=11, x=np.zeros(shape, F32))
case("empty_bias_softmax", "y = com.microsoft.BiasSoftmax <axis = 2, is_inner_broadcast = 1> (x, b)", np.zeros((2, 0, 3, 4), F32), x=np.zeros((2, 0, 3, 4), F32), b=np.zeros((2, 0, 1, 4), F32))
for stop in ("", 'stopwords = ["a"], '):
    for shape in ((0,), (1, 0)):
        case(f"empty_texts_{len(shape)}{'_stop' if stop else ''}", f'y = StringNormalizer <{stop}case_change_action = "UPPER"> (x)', texts("").reshape((1,) * len(shape)), "string[] y",
             x=np.zeros(shape, object))
for _mode, _want in (("TF", [[1, 3, 1], [0, 1, 0]]), ("IDF", [[8, 2, 4], [0, 2, 0]]), ("TFIDF", [[8, 6, 4], [0, 2, 0]])):  # weights are those of grams, not of columns
    _grams = f'<mode = "{_mode}", min_gram_length = 1, max_gram_length = 2, max_skip_count = 0, ngram_counts = [0, 2], ngram_indexes = [1, 2, 0], weights = [2.0, 4.0, 8.0], POOL>'
    case(f"gram_weights_{_mode}", f"y = TfIdfVectorizer {_grams} (x)".replace("POOL", "pool_int64s = [5, 6, 5, 6]"), np.array(_want, F32), x=np.array([[5, 6, 5, 5], [7, 7, 5, 7]]))
    case(f"gram_weights_{_mode}_texts", f"y = TfIdfVectorizer {_grams} (x)".replace("POOL", 'pool_strings = ["b", "é", "b", "é"]'), np.array(_want[0], F32), x=texts("b", "é", "b", "b"))
case("features", "y = ai.onnx.ml.FeatureVectorizer (x, z)", np.array([[1, 2, 5], [3, 4, 6]], F32), x=np.array([[1, 2], [3, 4]], F32), z=np.array([[5], [6]], F32))
case("features_of_a_row", "y = ai.onnx.ml.FeatureVectorizer (x, z)", np.array([[1, 2, 5]], F32), x=np.array([1, 2], np.int64), z=np.array([5], np.int64))

# NaN that lies first in a block of many rows stays in its row; of a region the greatest is what the order of comparisons says; halves are rounded away from zero.
_rows = np.ones((9, 128), F32)
_rows[3, 5] = np.nan
case("blocks_nan", "y = com.microsoft.MatMulNBits <K = 128, N = 2, bits = 4, block_size = 128, accuracy_level = 4> (x, b, s)", np.where(np.isnan(_rows.sum(1, keepdims=True)), np.nan, np.full((9, 2), 128, F32)).astype(F32),
     x=_rows, b=np.full((2, 1, 64), 0x99, np.uint8), s=np.ones(2, F32))
case("blocks_nan_row", "y = com.microsoft.MatMulNBits <K = 128, N = 2, bits = 4, block_size = 128, accuracy_level = 4> (x, b, s)", np.full((1, 2), np.nan, F32), x=_rows[3:4],
     b=np.full((2, 1, 64), 0x99, np.uint8), s=np.ones(2, F32))
_line = np.array([[12, 11, 10, 9, 8, 7, np.nan, 5, 4, 6, 2, 1]] * 2, F32).reshape(1, 1, 2, 12)
case("roi_nan", "y = MaxRoiPool <pooled_shape = [1, 1]> (x, r)", np.full((1, 1, 1, 1), 6, F32), x=_line, r=np.array([[0, 0, 0, 11, 1]], F32))
case("roi_half", "y = MaxRoiPool <pooled_shape = [2, 2], spatial_scale = 0.5> (x, r)", np.array([[[[16, 15], [12, 11]]]], F32), x=16 - np.arange(16, dtype=F32).reshape(1, 1, 4, 4), r=np.array([[0, -1, -1, 5, 5]], F32))

case("group_query_total", "y, pk, pv = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> (q, k, v, , , last, total)",
     [np.array([[[5, 7, 5, 7]]], F32), np.array([[[[1, 2]]]], F32), np.array([[[[5, 7]]]], F32)], "float[] y, float[] pk, float[] pv", q=np.ones((1, 1, 4), F32), k=np.array([[[1, 2]]], F32), v=np.array([[[5, 7]]], F32),
     last=np.zeros(1, np.int32), total=np.ones(1, np.int32))
for _names, _shapes in (("widths of query and key: 24 and 21 differ", ((1, 4, 24), (1, 4, 21), (1, 4, 24))), ("lengths of key and value: 5 and 4 differ", ((1, 4, 24), (1, 5, 24), (1, 4, 24)))):
    case("heads_" + _names.split()[0], "y = com.microsoft.MultiHeadAttention <num_heads = 3> (q, k, v)", re.compile(_names.replace(_names.split(":")[0], "(" + _names.split(":")[0] + "|shapes do not fit together)")), **{n: np.ones(s, F32) for n, s in zip("qkv", _shapes)})


def build(name, symbolic):
    body, _, outputs, opset, feed = CASES[name]
    codes = {n: "string" if a.dtype == object else TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(a.dtype)).lower() for n, a in feed.items()}
    shape = lambda n, a: ", ".join(f"{n}{i}" if symbolic else str(d) for i, d in enumerate(a.shape))
    inputs = ", ".join(f"{codes[n]}{f'[{shape(n, a)}]' if a.ndim else ''} {n}" for n, a in feed.items())
    zero = "zero = Constant <value_ints = [0]> ()  " if re.search(r"\bzero\b", body) else ""
    return onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}, "ai.onnx.ml" : 3, "com.microsoft" : 1]> g ({inputs}) => ({outputs}) {{ {zero}{body} }}')


def check(s, folder, name):
    import onnxc
    _, want, _, _, feed = CASES[name]
    for mode, symbolic, flags in (("static", False, []), ("symbolic", True, []), ("O0", True, ["-O0"])):
        try:
            got = onnxc.load(str(s.compile(build(name, symbolic), folder, "--cpu", "x86-64-v3", *flags, name=mode))).run(feed)
        except (AssertionError, onnxc.Error) as e:  # of the compile, of the run
            if isinstance(want[0], re.Pattern) and want[0].search(str(e)):
                continue
            raise
        wrong = f"a result: {got}" if isinstance(want[0], re.Pattern) else compare(want, got, 1e-6, 1e-6)
        if wrong:
            return f"{mode}: {wrong}"
    return None
