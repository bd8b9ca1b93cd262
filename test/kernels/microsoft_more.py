"""Cases of microsoft.py for the operators that become others at import (compiler/import/Microsoft*.cpp). Where ONNX Runtime has no kernel for the CPU, what its schema
says is written in numpy here.
"""
import numpy as np


def silu(x):
    return x / (1 + np.exp(-x))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    from math import erf
    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def group_norm(x, gamma, beta, groups, epsilon):
    """x [batch, …, channels]"""
    n, c = x.shape[0], x.shape[-1]
    g = x.astype(np.float64).reshape(n, -1, groups, c // groups)
    g = (g - g.mean((1, 3), keepdims=True)) / np.sqrt(g.var((1, 3), keepdims=True) + epsilon)
    return g.reshape(x.shape) * gamma + beta


def attention(q, k, v, heads, bias=0.0):
    split = lambda t: t.astype(np.float64).reshape(t.shape[0], heads, -1).transpose(1, 0, 2)
    q, k, v = split(q), split(k), split(v)
    p = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]) + bias)
    return (p @ v).transpose(1, 0, 2).reshape(q.shape[1], -1)


def conv_last(x, w, b, stride, pad):
    """x [n, h, w, c], w [m, kh, kw, c]"""
    x = np.pad(x.astype(np.float64), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    kh, kw = w.shape[1:3]
    rows, columns = (x.shape[1] - kh) // stride + 1, (x.shape[2] - kw) // stride + 1
    y = np.zeros((x.shape[0], rows, columns, w.shape[0]))
    for i in range(rows):
        for j in range(columns):
            y[:, i, j] = np.einsum("nhwc,mhwc->nm", x[:, i * stride:i * stride + kh, j * stride:j * stride + kw], w) + b
    return y


def t5_bucket(distance, both, buckets, most):
    shift, n = (0, max(-distance, 0))
    if both:
        buckets //= 2
        shift, n = (buckets if distance > 0 else 0), abs(distance)
    exact = buckets // 2
    large = min(exact + int(np.float32(np.log(max(n, exact) / exact) / np.log(most / exact) * (buckets - exact))), buckets - 1)
    return shift + (n if n < exact else large)


def layouts(case, f32, u8, i8, ids, number):
    x, w, b = f32(2, 7, 6, 8), f32(5, 3, 3, 8), f32(5)
    y = conv_last(x, w, b, 2, 1)
    case("nhwc_conv", "NhwcConv", [x, w, b], weights=(1, 2), want=[y], pads=[1, 1, 1, 1], strides=[2, 2])
    z = f32(*y.shape)
    case("nhwc_fused_conv", "NhwcFusedConv", [x, np.ascontiguousarray(w.transpose(0, 3, 1, 2)), b, z], weights=(1, 2), want=[np.maximum(y + z, 0)],
         pads=[1, 1, 1, 1], strides=[2, 2], activation="Relu")
    x, gamma, beta = f32(2, 4, 3, 8), f32(8), f32(8)
    for act in (0, 1):
        y = group_norm(x, gamma, beta, 4, 1e-5)
        case(f"group_norm_{act}", "GroupNorm", [x, gamma, beta], weights=(1, 2), want=[silu(y) if act else y], groups=4, activation=act)
    case("group_norm_first", "GroupNorm", [np.ascontiguousarray(x.transpose(0, 3, 1, 2)), gamma, beta], want=[group_norm(x, gamma, beta, 2, 1e-3).transpose(0, 3, 1, 2)],
         groups=2, activation=0, channels_last=0, epsilon=1e-3)
    bias = f32(8)
    for name, skip in (("whole", f32(2, 4, 3, 8)), ("pixel", f32(2, 1, 1, 8)), ("row", f32(2, 8))):
        s = x + (skip[:, None, None] if skip.ndim == 2 else skip)
        case(f"skip_group_norm_{name}", "SkipGroupNorm", [x, gamma, beta, skip, bias], 2, want=[silu(group_norm(s + bias, gamma, beta, 4, 1e-5)), s + bias], groups=4, activation=1)
        case(f"skip_group_norm_{name}_plain", "SkipGroupNorm", [x, gamma, beta, skip], [1], want=[group_norm(s, gamma, beta, 4, 1e-5)], groups=4, activation=0)
    q = [u8(1, 6, 5, 4), number(0.02), number(120, np.uint8), i8(3, 4, 3, 3), number(0.01), number(0, np.int8), number(0.05), number(100, np.uint8), ids(200, 3)]
    case("qlinear_conv_last", "QLinearConv", q, weights=(1, 2, 3, 4, 5, 6, 7, 8), channels_last=1, pads=[1, 1, 1, 1])
    case("qlinear_conv", "QLinearConv", [u8(1, 4, 6, 5), *q[1:]], weights=(1, 2, 3, 4, 5, 6, 7, 8))


def elements(case, f32, u8, i8, ids, number):
    x, b, s = f32(2, 3, 8), f32(8), f32(2, 3, 8)
    case("bias_add", "BiasAdd", [x, b, s], want=[x + b + s])
    t = (x + b).astype(np.float64)
    case("bias_split_gelu", "BiasSplitGelu", [x, b], want=[t[..., :4] * gelu(t[..., 4:])])
    w = f32(8, 5)
    m = (x @ w).astype(np.float64)
    fast = lambda t: 0.5 * t * (1 + np.tanh(0.7978845608 * (t + 0.044715 * t**3)))
    case("gemm_fast_gelu", "GemmFastGelu", [x, w], weights=(1,), want=[fast(m)])
    case("gemm_fast_gelu_bias", "GemmFastGelu", [x, w, b[:5]], weights=(1, 2), want=[fast(m + b[:5])])
    scores, mask = f32(2, 3, 4, 5), f32(2, 1, 1, 5)
    case("bias_softmax", "BiasSoftmax", [scores, mask], want=[softmax(scores + mask)], axis=3, is_inner_broadcast=1)
    case("bias_softmax_two", "BiasSoftmax", [scores, mask], want=[softmax((scores + mask).reshape(6, 20)).reshape(scores.shape)], axis=2, is_inner_broadcast=1)
    a, c = f32(2, 3, 2), f32(3, 2)
    ac, cc = a[..., 0] + 1j * a[..., 1], c[..., 0] + 1j * c[..., 1]
    case("complex_mul", "ComplexMul", [a, c], want=[np.stack([(ac * cc).real, (ac * cc).imag], -1)])
    case("complex_mul_conj", "ComplexMulConj", [a, c], want=[np.stack([(ac * cc.conj()).real, (ac * cc.conj()).imag], -1)])
    case("gated_add", "GatedAdd", [x, s, f32(2, 3, 1)])
    case("gated_rms_norm", "GatedRMSNorm", [x, f32(4), s])
    case("gated_rms_norm_sigmoid", "GatedRMSNorm", [x, f32(8), s], activation="sigmoid", epsilon=1e-3)
    case("linear_attention_gate", "LinearAttentionGate", [x, f32(8), f32(8), s], 2)
    case("linear_attention_gate_decay", "LinearAttentionGate", [x, f32(8), f32(8)], [1])
    case("scaled_silu", "ScaledSiLU", [x], alpha=1.7)
    case("scaled_silu_operand", "ScaledSiLU", [x, number(0.3)])


def places(case, f32, u8, i8, ids, number):
    for metric in ("sqeuclidean", "euclidean"):
        case(f"cdist_{metric}", "CDist", [f32(5, 6), f32(7, 6)], metric=metric)
        a, b = 1000 + f32(21, 37), 1000 + f32(19, 37)  # products would cancel
        b[3] = a[5]
        squares = np.square(a[:, None].astype(np.float64) - b).sum(-1)
        case(f"cdist_{metric}_near", "CDist", [a, b], weights=(1,), want=[squares if metric == "sqeuclidean" else np.sqrt(squares)], metric=metric)
    case("matmul_integer16", "MatMulInteger16", [ids(99, 2, 3, dtype=np.int16), ids(99, 3, 4, dtype=np.int16)])
    case("gather_nd", "GatherND", [f32(4, 3, 2), ids(3, 5, 2)])
    case("unfold", "UnfoldTensor", [f32(2, 9, 3)], dim=1, size=4, step=2)
    case("unfold_last", "UnfoldTensor", [ids(99, 2, 9)], size=3)
    a = [ids(2, 3, 4).astype(bool), u8(3, 4), number(0.02), number(120, np.uint8), u8(4), number(0.03), number(100, np.uint8), number(0.025), number(110, np.uint8)]
    case("qlinear_where", "QLinearWhere", a, weights=(2, 3, 5, 6, 7, 8))
    e = [ids(9, 2, 4), ids(2, 2, 4), u8(9, 8), u8(6, 8), u8(2, 8), u8(8), u8(8), ids(2, 2, 4), *(number(v) for v in (0.01, 0.02, 0.03, 0.04, 0.05)),
         *(number(v, np.uint8) for v in (120, 121, 122, 123, 124))]
    case("qembed", "QEmbedLayerNormalization", e, 2, weights=range(8, 18))
    e = [v if i not in (1, 4, 7, 10, 15) else None for i, v in enumerate(e)]
    case("qembed_words", "QEmbedLayerNormalization", e, 2, weights=range(8, 18))
    for kind, k in ((0, 32), (1, 32), (1, 40)):
        case(f"bnb4_{kind}_{k}", "MatMulBnb4", [f32(2, 3, k), u8(3 * k), np.abs(f32((6 * k + 15) // 16))], weights=(1, 2), K=k, N=6, block_size=16, quant_type=kind)


def heads(case, f32, u8, i8, ids, number):
    b, n, h, past = 2, 2, 4, 5
    q, k, v, bias = f32(b, 1, n * h), f32(b, 1, n * h), f32(b, 1, n * h), f32(3 * n * h)
    cache = [f32(b, n, past, h), f32(b, n, past, h)]
    mask = np.array([[1, 0, 1, 1, 1, 1], [1, 1, 1, 1, 0, 1]], np.int32)
    op = "DecoderMaskedMultiHeadAttention"
    case("decoder_shared", op, [q, k, v, None, None, *cache, number([3], np.int32)], 3, num_heads=n, past_present_share_buffer=1)
    case("decoder_shared_bias", op, [q, k, v, mask[:, :4], f32(1, n, 1, 4), *cache, number([3], np.int32), None, None, bias], 3, num_heads=n, past_present_share_buffer=1, scale=0.4)
    case("decoder_cross", op, [q, f32(b, n, 6, h), f32(b, n, 6, h), mask], num_heads=n)
    rows = 4
    cache = [f32(rows, n, past, h), f32(rows, n, past, h)]
    case("decoder_beams", op, [f32(rows, 1, n * h), f32(rows, 1, n * h), f32(rows, 1, n * h), None, None, *cache, number([3], np.int32), number([2], np.int32), ids(2, 2, 2, past)], 3,
         num_heads=n, past_present_share_buffer=1)

    lengths, longest = [3, 1, 4], 4
    padded = f32(3, longest, 6)
    real = [i * longest + t for i, l in enumerate(lengths) for t in range(l)]
    rest = [i for i in range(3 * longest) if i not in real]
    offset = np.array(real + rest, np.int32).reshape(3, longest)
    cumulated = np.cumsum([0, *lengths]).astype(np.int32)
    packed = padded.reshape(-1, 6)[real]
    case("remove_padding", "RemovePadding", [padded, np.array(lengths, np.int32)], 4, want=[packed, offset, cumulated, np.array([longest], np.int32)])
    back = np.zeros((3 * longest, 6), np.float32)
    back[real] = packed
    case("restore_padding", "RestorePadding", [packed, offset], want=[back.reshape(padded.shape)])

    w, bias, extra = f32(6, 24), f32(24), f32(1, 2, longest, longest)
    parts = np.split((packed @ w + bias).astype(np.float64), 3, -1)
    spans = list(zip(cumulated, cumulated[1:]))
    mixed = lambda q, k, v, add: np.concatenate([attention(q[s:e], k[s:e], v[s:e], 2, extra[0, :, : e - s, : e - s] if add else 0.0) for s, e in spans])
    case("packed_attention", "PackedAttention", [packed, w, bias, offset, cumulated], weights=(1, 2), want=[mixed(*parts, False)], num_heads=2)
    case("packed_attention_bias", "PackedAttention", [packed, w, bias, offset, cumulated, extra], weights=(1, 2), want=[mixed(*parts, True)], num_heads=2)
    q, k, v = f32(8, 8), f32(8, 8), f32(8, 8)
    case("packed_heads", "PackedMultiHeadAttention", [q, k, v, None, offset, cumulated], want=[mixed(q, k, v, False)], num_heads=2)
    b = f32(24)
    case("packed_heads_bias", "PackedMultiHeadAttention", [q, k, v, b, offset, cumulated], want=[mixed(q + b[:8], k + b[8:16], v + b[16:], False)], num_heads=2)
    joined = np.stack([t.reshape(8, 2, 4) for t in (q, k, v)], 2)
    case("packed_heads_joined", "PackedMultiHeadAttention", [joined, None, None, None, offset, cumulated], want=[mixed(q, k, v, False)], num_heads=2)

    cache = [np.cos(f32(20, 4)), np.sin(f32(20, 4))]
    for layout, section in ((0, [2, 1, 1]), (1, [2, 1, 1])):
        case(f"mrotary_{layout}", "MRotaryEmbedding", [f32(2, 3, 16), ids(20, 3, 2, 3, dtype=np.int64), *cache], mrope_section=section, mrope_layout=layout, num_heads=2, rotary_embedding_dim=8)
    case("mrotary_heads", "MRotaryEmbedding", [f32(2, 2, 3, 8), ids(20, 3, 2, 3, dtype=np.int64), *cache], mrope_section=[1, 2, 1], interleaved=1)
    table = f32(8, 3)
    for both in (0, 1):
        y = np.array([[[[table.reshape(3, 8)[n, t5_bucket(j - i, both, 8, 20)] for j in range(30)] for i in range(30)] for n in range(3)]])
        case(f"relative_positions_{both}", "RelativePositionBias", [table, number([30], np.int64), number([30], np.int64)], weights=(0,), want=[y], is_bidirectional=both, max_distance=20)
    q, bias, rel, weight, b, eco = f32(2, 5, 8), f32(8), f32(1, 2, 5, 5), f32(4, 6), f32(6), f32(1, 2, 1, 1)
    t = ((q + bias).reshape(2, 5, 2, 4).transpose(0, 2, 1, 3) @ weight + b).reshape(2, 2, 5, 2, 3).sum(-1)
    u, r = np.split(sigmoid(t.astype(np.float64)), 2, -1)
    case("gated_positions", "GatedRelativePositionBias", [q, bias, rel, weight, b, eco], want=[(u * (r * eco - 1) + 2) * rel], num_heads=2)


def experts(case, f32, u8, i8, ids, number):
    tokens, e, d, f = 7, 4, 16, 32
    x, router = f32(tokens, d), f32(tokens, e)
    for kind in ("relu", "gelu", "silu", "identity"):
        case(f"moe_{kind}", "MoE", [x, router, f32(e, f, d), f32(e, f), f32(e, d, f), f32(e, d)], weights=(2, 3, 4, 5), k=2, activation_type=kind, normalize_routing_weights=1)
    case("moe_batch", "MoE", [x.reshape(1, 7, d), router, f32(e, f, d), None, f32(e, d, f)], weights=(2, 4), k=1)
    case("moe_most", "MoE", [x, router, f32(e, f, d), f32(e, f), f32(e, d, f), f32(e, d)], weights=(2, 3, 4, 5), k=3)  # every expert works on every token
    case("moe_row", "MoE", [f32(1, d), f32(1, e), f32(e, f, d), f32(e, f), f32(e, d, f), f32(e, d)], weights=(2, 3, 4, 5), k=2, activation_type="silu")
    case("moe_run_time", "MoE", [x, router, f32(e, f, d), f32(e, f), f32(e, d, f), f32(e, d)], k=2)
    case("moe_swiglu", "MoE", [x, router, f32(e, 2 * f, d), f32(e, 2 * f), f32(e, d, f), f32(e, d)], weights=(2, 3, 4, 5), k=2, activation_type="swiglu", swiglu_fusion=1,
         activation_alpha=1.702, activation_beta=1.0, swiglu_limit=1.5)
    for bits in (4, 8):
        per = 8 // bits
        q = [u8(e, 2 * f, d // per), np.abs(f32(e, 2 * f)) * 0.02, f32(e, 2 * f), u8(e, d, f // per), np.abs(f32(e, d)) * 0.02, f32(e, d)]
        case(f"qmoe_{bits}", "QMoE", [x, router, *q], weights=range(2, 8), k=2, expert_weight_bits=bits, activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=1)
        case(f"qmoe_{bits}_router", "QMoE", [x, router, *q], weights=range(2, 8), k=2, expert_weight_bits=bits, activation_type="swiglu", swiglu_fusion=1)
        mixing = [*[None] * 6, np.abs(f32(tokens, e))]
        for sums in (0, 1):
            case(f"qmoe_{bits}_weights_{sums}", "QMoE", [x, router, *q, *mixing], weights=range(2, 8), k=2, expert_weight_bits=bits, activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=sums)
        q[1], q[4] = np.abs(f32(e, 2 * f, 1)) * 0.02, np.abs(f32(e, d, 2)) * 0.02
        if bits == 4:  # of 8 bits in blocks ONNX Runtime rounds the activations
            case("qmoe_blocks", "QMoE", [x, router, *q], weights=range(2, 8), k=2, block_size=16, activation_type="swiglu", swiglu_fusion=1, normalize_routing_weights=1)


def renamed(case, f32, u8, i8, ids, number):
    """Operators of the standard under com.microsoft's name."""
    x = f32(3, 8)
    for kind in (np.uint8, np.int8, np.uint16, np.int16):
        case(f"quantize_{np.dtype(kind).name}", "QuantizeLinear", [x, number(0.02), number(3, kind)], weights=(1, 2))
        case(f"dequantize_{np.dtype(kind).name}", "DequantizeLinear", [ids(120, 3, 8).astype(kind), np.abs(f32(8)), ids(5, 8).astype(kind)], weights=(1, 2), axis=1)
    case("transpose_matmul", "TransposeMatMul", [x, f32(3, 5)], weights=(1,), transA=1, alpha=0.5)
    case("expand_dims", "ExpandDims", [x, number(1, np.int32)], weights=(1,))
    case("grid_sample", "GridSample", [f32(1, 2, 4, 5), f32(1, 3, 3, 2)], mode="bilinear", padding_mode="border")
    b, t, h, d = 2, 3, 2, 4
    qkv = lambda: [f32(b, t, h * d) * 0.5, f32(b, t, h * d) * 0.5, f32(b, t, h * d)]
    gate, rate = -np.abs(f32(b, t, h)), np.abs(f32(b, t, h)) * 0.3
    for rule, extra in (("linear", []), ("gated", [gate]), ("delta", [None, rate]), ("gated_delta", [gate, rate])):
        case(f"linear_attention_{rule}", "LinearAttention", [*qkv(), f32(b, h, d, d), *extra], 2, q_num_heads=h, kv_num_heads=h, update_rule=rule)
    case("causal_conv", "CausalConvWithState", [f32(2, 3, 7), f32(3, 1, 4), f32(3), f32(2, 3, 3)], 2, weights=(1, 2), activation="silu")
    for taps in (1, 4):
        for apart in (1, 2):
            w, past, form = f32(6, 1, taps), f32(2, 6, (taps - 1) * apart), {"dilation": apart, "activation": "silu"}
            case(f"causal_conv_{taps}_{apart}", "CausalConvWithState", [f32(2, 6, 7), w, f32(6), past], 2, weights=(1, 2), **form)
            case(f"causal_conv_last_{taps}_{apart}", "CausalConvWithState", [f32(2, 7, 6), w, f32(6), past.transpose(0, 2, 1).copy()], 2, weights=(1, 2), channels_last=1, **form)
            case(f"causal_conv_axes_{taps}_{apart}", "CausalConvWithState", [f32(2, 7, 3, 2), w], 2, weights=(1,), channels_last=1, dilation=apart)
            case(f"causal_conv_no_rows_{taps}_{apart}", "CausalConvWithState", [f32(0, 7, 6), w], 2, weights=(1,), channels_last=1, dilation=apart)
            case(f"causal_conv_no_steps_{taps}_{apart}", "CausalConvWithState", [f32(2, 6, 0), w, f32(6), past], 2, weights=(1, 2), **form)
    case("causal_conv_start", "CausalConvWithState", [f32(2, 3, 7), f32(3, 1, 4)], 2, weights=(1,))


def streams(case, f32, u8, i8, ids, number):
    """Residual streams and n-grams."""
    x, h, scale = f32(2, 3, 4, 8), f32(2, 3, 8), f32(4, 8)
    flat = x.reshape(2, 3, 32)
    for name, s in (("each", scale), ("row", f32(8)), ("long", f32(32)), ("none", None)):
        case(f"branchwise_{name}", "BranchwiseRMSNorm", [x] if s is None else [x, s], epsilon=1e-3)
        case(f"branchwise_flat_{name}", "BranchwiseRMSNorm", [flat] if s is None else [flat, s], num_branches=4)
    for rows in (0, 2):
        x0, gate = f32(rows, 3 - rows, 4, 8), f32(rows, 3 - rows, 4)
        flat0, h0 = x0.reshape(rows, 3 - rows, 32), f32(rows, 3 - rows, 8)
        for name, values, form in (("", x0, {}), ("_flat", flat0, {"num_branches": 4})):
            case(f"branchwise_rows{name}_{rows}", "BranchwiseRMSNorm", [values, scale], **form)
            case(f"pre_mix_rows{name}_{rows}", "HyperConnectionPreMix", [values, gate], **form)
            case(f"post_mix_rows{name}_{rows}", "HyperConnectionPostMix", [values, h0, gate, f32(rows, 3 - rows, 4, 4)], **form)
    for name, gate in (("stream", f32(2, 3, 4)), ("unit", f32(2, 3, 4, 1)), ("element", x)):
        case(f"pre_mix_{name}", "HyperConnectionPreMix", [x, gate], reduction_scale=0.5)
        case(f"pre_mix_flat_{name}", "HyperConnectionPreMix", [flat, gate.reshape(2, 3, 32) if name == "element" else gate], num_branches=4)
        case(f"post_mix_{name}", "HyperConnectionPostMix", [x, h, gate])
        case(f"post_mix_flat_{name}", "HyperConnectionPostMix", [flat, h, gate, f32(2, 3, 4, 4)], num_branches=4)
    case("engram_gate", "EngramGate", [x, f32(2, 3, 4, 8), h, scale, f32(4, 8)])
    case("engram_gate_normed", "EngramGate", [x, f32(2, 3, 4, 8), h, scale, f32(4, 8), f32(4, 8)], 2, weights=(3, 4, 5), epsilon=1e-3)
    for kind in (np.int32, np.int64):
        tokens, factors, sizes = ids(50, 2, 5, dtype=kind), np.array([3, -5, 7], kind), np.array([11, 13, 17, 19], kind)
        form = {"max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 4}
        case(f"ngrams_{kind.__name__}", "NGramHashMapping", [tokens, factors, sizes], 2, weights=(1, 2), **form)
        case(f"ngrams_past_{kind.__name__}", "NGramHashMapping", [tokens, factors, sizes, ids(50, 2, 2, dtype=kind), np.array([0, 11, 24, 41], kind)], 2, weights=(1, 2), **form)
        case(f"ngrams_end_{kind.__name__}", "NGramHashMapping", [tokens, factors, sizes, None, None, number(9, kind)], 2, **form)


def others(case, f32, u8, i8, ids, number):
    x, w = f32(2, 3, 5, 4), f32(3, 4, 3, 3)
    for name, pads in (("none", [0, 0, 0, 0]), ("some", [1, 0, 1, 2])):
        case(f"conv_transpose_pads_{name}", "ConvTransposeWithDynamicPads", [x, w, number(pads, np.int64), f32(4)], weights=(1, 2, 3), strides=[2, 2], kernel_shape=[3, 3], output_padding=[1, 0])
    for kind in ("SAME_UPPER", "SAME_LOWER", "VALID"):  # with which ONNX Runtime pads nevertheless
        case(f"conv_transpose_pads_{kind}", "ConvTransposeWithDynamicPads", [x, w, number([1, 0, 1, 0], np.int64)], weights=(1, 2), strides=[2, 2], kernel_shape=[3, 3], auto_pad=kind)
    case("sample", "SampleOp", [x])
    words = np.array([[1, 2, 3, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [1, 2, 0, 3, 4], [1, 2, 3, 4, 5], [0, 1, 2, 3, 0]], np.int32)
    case("word_embedding", "WordConvEmbedding", [words, f32(4, 1, 2, 3), f32(4), f32(6, 3)], weights=(1, 2, 3))


def add(*tools):
    for family in (layouts, elements, places, heads, experts, renamed, streams, others):
        family(*tools)
