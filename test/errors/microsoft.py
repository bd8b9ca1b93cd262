"""What com.microsoft operators do not do, and token searches among them; run.py runs these."""
import math

from onnx import TensorProto, helper

from cases import F32, case, model, save, tensor


def microsoft(folder, op, inputs, dtypes={}, results=("y",), **attributes):
    """`dtypes`: of the inputs at places, where they are not f32."""
    names = [f"x{i}" if shape else "" for i, shape in enumerate(inputs)]
    node = helper.make_node(op, names, results, name="fused", domain="com.microsoft", **attributes)
    graph_inputs = [helper.make_tensor_value_info(n, dtypes.get(i, F32), shape) for i, (n, shape) in enumerate(zip(names, inputs)) if n]
    return save(folder, model([node], graph_inputs, [helper.make_tensor_value_info("y", F32, None)], domains=["com.microsoft"]))


LENGTHS = {5: TensorProto.INT32, 6: TensorProto.INT32}  # the types of GroupQueryAttention's


@case(1, r"fused .*needs input 'bias'")
def body_without_operand(folder):
    return microsoft(folder, "BiasAdd", [(2, 3, 4), None, (2, 3, 4)])


@case(1, r"fused .*has metric 'jaccard'; onnxc knows sqeuclidean and euclidean")
def distance_metric(folder):
    return microsoft(folder, "CDist", [(2, 3), (4, 3)], metric="jaccard")


@case(1, r"fused .*needs input 0 with a known size of axis 0|fused .*needs at least two buckets")
def relative_positions(folder):
    return microsoft(folder, "RelativePositionBias", [("n", 3), (1,), (1,)], max_distance=20)


@case(1, r"fused .*has activation 'cube'")
def expert_activation(folder):
    return microsoft(folder, "MoE", [(5, 8), (5, 2), (2, 16, 8), None, (2, 8, 16)], activation_type="cube")


@case(1, r"fused .*has attribute 'state_window'; onnxc supports only 0")
def state_window(folder):
    return microsoft(folder, "CausalConvWithState", [(2, 3, 7), (3, 1, 4)], state_window=2)


@case(1, r"fused .*has input 'cache_indirection' without 'past_key' and 'past_sequence_length'")
def indirect_cache(folder):
    return microsoft(folder, "MultiHeadAttention", [(2, 1, 16), (2, 1, 16), (2, 1, 16), None, None, None, (2, 4, 6, 4), (2, 4, 6, 4), None, (1, 2, 6)], num_heads=4)


@case(1, r"fused .*num_heads 5 does not divide the last size of the query, which is 16$")
def heads_of_no_size(folder):
    return microsoft(folder, "MultiHeadAttention", [(2, 1, 16), (2, 1, 16), (2, 1, 16)], num_heads=5)


@case(1, r"fused .*widths of query and key: 24 and 21 differ$")
def narrow_keys(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 4, 21), (1, 4, 24)], num_heads=3)


@case(1, r"fused .*widths of query and key: 24 and 30 differ$")
def wide_split_keys(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 3, 5, 10), (1, 3, 5, 10)], num_heads=3)


@case(1, r"fused .*heads of the key and num_heads: 6 and 3 differ$")
def other_heads(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 6, 5, 4), (1, 6, 5, 4)], num_heads=3)


@case(1, r"fused .*parts of a key that holds values too, and two: 3 and 2 differ$")
def three_parts(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 5, 3, 3, 8)], num_heads=3)


@case(1, r"fused .*lengths of key and value: 5 and 4 differ$")
def key_without_value(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 5, 24), (1, 4, 24)], num_heads=3)


@case(1, r"fused .*num_heads 3 does not divide the last size of the value, which is 25$")
def value_of_no_heads(folder):
    return microsoft(folder, "MultiHeadAttention", [(1, 4, 24), (1, 4, 24), (1, 4, 25)], num_heads=3)


@case(1, r"fused .*the last size of the query, 25, is no multiple of the 4 heads in it$")
def query_of_no_heads(folder):
    return microsoft(folder, "GroupQueryAttention", [(1, 4, 25), (1, 4, 12), (1, 4, 12), None, None, (1,), (1,)], LENGTHS, num_heads=4, kv_num_heads=2)


@case(1, r"fused .*num_heads is 4611686018427387904, more than a query holds$")
def heads_without_number(folder):
    return microsoft(folder, "GroupQueryAttention", [(1, 4, 24), None, None, None, None, (1,), (1,)], LENGTHS, num_heads=1 << 62, kv_num_heads=1 << 62)


@case(1, r"fused .*width of the keys' heads and of input 2: 12 and 18 differ$")
def groups_of_wide_values(folder):
    return microsoft(folder, "GroupQueryAttention", [(1, 4, 24), (1, 4, 12), (1, 4, 18), None, None, (1,), (1,)], LENGTHS, num_heads=4, kv_num_heads=2)


@case(1, r"fused .*kv_num_heads 2 does not divide num_heads, which is 3$")
def heads_of_no_groups(folder):
    return microsoft(folder, "GroupQueryAttention", [(1, 4, 24), (1, 4, 16), (1, 4, 16), None, None, (1,), (1,)], LENGTHS, num_heads=3, kv_num_heads=2)


@case(1, r"fused .*has attribute 'past_present_share_buffer' and no input 'past_sequence_length'")
def shared_buffer(folder):
    return microsoft(folder, "Attention", [(2, 1, 16), (16, 48), (48,), None, (2, 2, 4, 5, 4)], num_heads=4, past_present_share_buffer=1)


@case(1, r"fused .*has attribute 'do_rotary'; onnxc supports only 0")
def rotated_attention(folder):
    return microsoft(folder, "Attention", [(2, 6, 16), (16, 48), (48,)], num_heads=4, do_rotary=1)


@case(1, r"fused .*has attribute 'do_rotary'; onnxc supports only 0")
def rotated_bytes(folder):
    byte = {0: TensorProto.UINT8, 1: TensorProto.INT8}
    return microsoft(folder, "QAttention", [(2, 6, 16), (16, 48), (48,), (1,), (1,)], byte, num_heads=4, do_rotary=1)


QUERY_GROUPS = [(2, 1, 32), (2, 1, 16), (2, 1, 16), (2, 2, 5, 8), (2, 2, 5, 8), (2,), ()]


@case(1, r"fused .*has attribute 'v_quant_type' without the inputs 'past_value' and 'v_scale'")
def quantised_cache(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, v_quant_type="PER_TENSOR")


@case(1, r"fused .*input 'past_key' has bytes, and attribute 'k_quant_type' is NONE")
def cache_of_bytes(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, dtypes={3: TensorProto.INT8, 4: TensorProto.INT8})


@case(1, r"fused .*attribute 'k_quant_type' is 'PER_ROW'; it can be NONE, PER_TENSOR, PER_CHANNEL")
def cache_of_rows(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, k_quant_type="PER_ROW")


@case(1, r"fused .*has attribute 'sliding_window_cache' without 'local_window_size' or the input 'past_key'")
def sliding_cache(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, num_heads=4, kv_num_heads=2, sliding_window_cache=1)


@case(1, r"fused .*has attribute 'sliding_window_cache', with which output 'output_qk' is not given")
def sliding_scores(folder):
    return microsoft(folder, "GroupQueryAttention", QUERY_GROUPS, results=["y", "", "", "qk"], num_heads=4, kv_num_heads=2, sliding_window_cache=1, local_window_size=4)


def search(op, outputs=("y",), inputs=("ids", "n"), decoder_inputs=("input_ids", "position_ids", "attention_mask", "past_0"), **attributes):
    """A token search whose decoder gives its first past back."""
    def value(name):
        return helper.make_tensor_value_info(name, F32 if name.startswith("past") else TensorProto.INT32, [2, "b", "heads", "t", 4] if "past" in name else ["b", "s"])
    cast = helper.make_node("Cast", ["input_ids"], ["logits"], to=F32)
    keep = helper.make_node("Identity", [decoder_inputs[-1]], ["present"])
    results = [helper.make_tensor_value_info(n, F32, None) for n in ("logits", "present")]
    decoder = helper.make_graph([cast, keep], "decoder", [value(n) for n in decoder_inputs], results)
    node = helper.make_node(op, list(inputs), list(outputs), domain="com.microsoft", name="search", decoder=decoder, eos_token_id=1, pad_token_id=0, **attributes)
    ids = [tensor(n, 2, 3, dtype=TensorProto.INT32) for n in inputs if n]
    return model([node], ids, [helper.make_tensor_value_info(n, TensorProto.INT32, None) for n in outputs if n], domains=["com.microsoft"])


@case(1, r"search \(GreedySearch, opset 1\): has model_type 2; onnxc knows 0 \(decoder only\) and 1 \(encoder and decoder\)$")
def search_of_unknown_kind(folder):
    return save(folder, search("GreedySearch", model_type=2))


@case(1, r"search \(BeamSearch, opset 1\): has model_type 3; onnxc knows 0 \(decoder only\), 1 \(encoder and decoder\) and 2 \(Whisper\)$")
def search_by_beams_of_unknown_kind(folder):
    return save(folder, search("BeamSearch", model_type=3))


@case(1, r"search \(BeamSearch, opset 1\): uses logits_processor, which onnxc does not know$")
def search_with_processor(folder):
    return save(folder, search("BeamSearch", inputs=("ids", "n", *[""] * 9, "processor")))


@case(1, r"search \(BeamSearch, opset 1\): uses decoder_input_ids, which only models of type 2 have$")
def search_with_first_tokens(folder):
    return save(folder, search("BeamSearch", inputs=("ids", "n", *[""] * 8, "tokens")))


@case(1, r"search \(WhisperBeamSearch, opset 1\): output 'cross_qk' is not given$")
def search_for_scores_of_heads(folder):
    return save(folder, search("WhisperBeamSearch", outputs=("y", "", "", "qk"), model_type=0))


@case(1, r"search \(WhisperBeamSearch, opset 1\): has model_type 2 and no encoder$")
def search_of_whisper_without_encoder(folder):
    return save(folder, search("WhisperBeamSearch"))


@case(1, r"search \(GreedySearch, opset 1\): output 'scores' is not given$")
def search_for_scores_without_beams(folder):
    return save(folder, search("GreedySearch", outputs=("y", "", "scores")))


@case(1, r"search \(GreedySearch, opset 1\): has model_type 1 and no encoder$")
def search_without_encoder(folder):
    return save(folder, search("GreedySearch", model_type=1))


@case(1, r"search \(Sampling, opset 1\): output 'filtered_logits' is not given$")
def search_for_filtered_logits(folder):
    return save(folder, search("Sampling", outputs=("y", "z")))


@case(1, r"search \(GreedySearch, opset 1\): decoder input 'past_0' is not declared as float or float16 with a number of heads and a head size$")
def search_with_unknown_heads(folder):
    return save(folder, search("GreedySearch"))


@case(1, r"search \(Sampling, opset 1\): decoder input 'cache' is not one of input_ids, position_ids, attention_mask, past_0 …$")
def search_with_odd_decoder(folder):
    return save(folder, search("Sampling", decoder_inputs=("input_ids", "position_ids", "attention_mask", "cache")))


@case(1, r"fused .*entries of the bias and columns of the product: 3 and 4 differ")
def bias_of_other_columns(folder):
    return microsoft(folder, "DynamicQuantizeMatMul", [(2, 3), (3, 4), (1,), (1,), (3,)], dtypes={1: TensorProto.UINT8, 3: TensorProto.UINT8})


@case(1, r"fused .*size of input 4 and of the last axis: 3 and 4 differ")
def bias_of_another_last_axis(folder):
    return microsoft(folder, "SkipLayerNormalization", [(1, 2, 4), (1, 2, 4), (4,), (4,), (3,)])


def blocked(folder, filter_sizes, *behind, **attributes):
    """A convolution as ONNX Runtime saves it, and what reads it."""
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="first", domain="com.microsoft.nchwc", **attributes), *behind]
    return save(folder, model(nodes, [helper.make_tensor_value_info("x", F32, [1, 3, 8, 8])], [helper.make_tensor_value_info("y", F32, None)],
                              [helper.make_tensor("w", F32, filter_sizes, [0.0] * math.prod(filter_sizes))], domains=["com.microsoft.nchwc"]))


@case(1, r"turn .*reads 'c', which com.microsoft.nchwc leaves in blocks of channels; save the model at ONNX Runtime's level 'extended'")
def blocks_read(folder):
    return blocked(folder, (16, 3, 3, 3), helper.make_node("Transpose", ["c"], ["y"], name="turn"))


def reordered(channels, read="c"):
    return helper.make_node("ReorderOutput", [read], ["y"], name="last", domain="com.microsoft.nchwc", channels=channels)


@case(1, r"last .*takes 0 channels of 16$")
def blocks_without_channels(folder):
    return blocked(folder, (16, 3, 3, 3), reordered(0))


@case(1, r"last .*takes 99 channels of 16$")
def blocks_of_fewer_channels(folder):
    return blocked(folder, (16, 3, 3, 3), reordered(99))


@case(1, r"last .*has or reads sizes that are neither in blocks of 16 nor of 8 channels")
def blocks_cut_elsewhere(folder):
    return blocked(folder, (32, 3, 3, 3), reordered(5))


@case(1, r"first .*has a filter of 3 axes; onnxc knows blocks of images alone")
def blocks_of_rows(folder):
    return blocked(folder, (16, 3, 3), reordered(16))


@case(1, r"first .*needs input 1 with a known size of axis 3")
def blocks_of_unknown_filter(folder):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"], name="first", domain="com.microsoft.nchwc"), reordered(16)]
    inputs = [tensor("x", 1, 3, 8, 8), tensor("w", "m", 3, "h", "w")]
    return save(folder, model(nodes, inputs, [helper.make_tensor_value_info("y", F32, None)], domains=["com.microsoft.nchwc"]))


@case(1, r"first .*has or reads sizes that are neither in blocks of 16 nor of 8 channels")
def blocks_unknown(folder):
    return blocked(folder, (12, 3, 3, 3), helper.make_node("ReorderOutput", ["c"], ["y"], name="last", domain="com.microsoft.nchwc", channels=12))


@case(1, r"y .*lies in blocks of channels; a ReorderOutput has to come before it")
def blocks_given(folder):
    return blocked(folder, (16, 3, 3, 3), helper.make_node("Relu", ["c"], ["y"], name="last"))


@case(1, r"call/inner .*is in a function of the model; onnxc knows blocks of channels in graphs alone")
def blocks_in_function(folder):
    domains = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft.nchwc", 1)]
    body = helper.make_function("own", "Blocks", ["x"], ["y"], [helper.make_node("ReorderInput", ["x"], ["y"], name="inner", domain="com.microsoft.nchwc", block=16)], domains)
    whole = model([helper.make_node("Blocks", ["x"], ["y"], name="call", domain="own")], [tensor("x", 1, 16, 8, 8)], [tensor("y", 1, 16, 8, 8)], domains=["own", "com.microsoft.nchwc"])
    whole.functions.append(body)
    return save(folder, whole)


@case(1, r"first .*has activation 'Cube'")
def blocks_activation(folder):
    return blocked(folder, (16, 3, 3, 3), helper.make_node("ReorderOutput", ["c"], ["y"], name="last", domain="com.microsoft.nchwc", channels=16), activation="Cube")


@case(1, r"fused .*attribute 'mode' is 'cubic'; it can be bilinear, nearest")
def crop_mode(folder):
    return microsoft(folder, "CropAndResize", [(1, 3, 8, 8), (2, 4), (2,), (2,)], {2: TensorProto.INT32, 3: TensorProto.INT32}, mode="cubic")


@case(1, r"fused .*has the attribute reset_on_eos or the input segment_ids; onnxc looks at no boundaries between tokens")
def ngram_boundaries(folder):
    return microsoft(folder, "NGramHashMapping", [(2, 5), (3,), (4,)], dict.fromkeys(range(3), TensorProto.INT64), max_ngram_size=3, n_head_per_ngram=2, pad_id=0, reset_on_eos=1)


NGRAMS = {"dtypes": dict.fromkeys(range(4), TensorProto.INT64), "max_ngram_size": 3, "n_head_per_ngram": 2, "pad_id": 0}


@case(1, r"fused .*has 5 vocab_sizes; n-grams of up to 3 tokens with 2 heads each need 4")
def ngram_tables(folder):
    return microsoft(folder, "NGramHashMapping", [(2, 5), (3,), (5,)], **NGRAMS)


@case(1, r"fused .*has past_ids of 3 tokens; n-grams of up to 3 need 2")
def ngram_tokens_before(folder):
    return microsoft(folder, "NGramHashMapping", [(2, 5), (3,), (4,), (2, 3)], **NGRAMS)


@case(1, r"fused .*needs a max_ngram_size from 2 to 64 and a positive n_head_per_ngram of at most 31 bits")
def ngram_heads(folder):
    return microsoft(folder, "NGramHashMapping", [(2, 5), (3,), (4,)], **NGRAMS | {"n_head_per_ngram": 2**63 - 1})


@case(1, r"fused .*has 0 among its vocab_sizes, which must be positive")
def ngram_table_of_nothing(folder):
    node = helper.make_node("NGramHashMapping", ["x", "f", "v"], ["y"], name="fused", domain="com.microsoft", max_ngram_size=2, n_head_per_ngram=2, pad_id=0)
    ids = [tensor("x", 2, 5, dtype=TensorProto.INT64), tensor("f", 2, dtype=TensorProto.INT64)]
    return save(folder, model([node], ids, [helper.make_tensor_value_info("y", F32, None)], [helper.make_tensor("v", TensorProto.INT64, [2], [3, 0])], domains=["com.microsoft"]))


@case(1, r"fused .*has a past_state of 3 entries; kernel size 3 and dilation 2 need 4")
def short_past(folder):
    return microsoft(folder, "CausalConvWithState", [(2, 4, 7), (4, 1, 3), None, (2, 4, 3)], dilation=2)


@case(1, r"fused .*has a past_state of 3 entries; kernel size 1 and dilation 2 need 0")
def past_of_one_tap(folder):
    return microsoft(folder, "CausalConvWithState", [(2, 7, 4), (4, 1, 1), None, (2, 3, 4)], dilation=2, channels_last=1)


@case(1, r"fused .*has kernel size 3 and dilation 9223372036854775807, which reach too far back")
def huge_dilation(folder):
    return microsoft(folder, "CausalConvWithState", [(2, 4, 7), (4, 1, 3)], dilation=2**63 - 1)


@case(1, r"fused .*has 3 pads; an input of 4 axes needs 4")
def odd_pads(folder):
    return microsoft(folder, "ConvTransposeWithDynamicPads", [(1, 3, 5, 6), (3, 4, 3, 3), (3,)], {2: TensorProto.INT64}, kernel_shape=[3, 3])


@case(1, r"fused .*needs positive attributes sparse_block_size, of at most 31 bits, and num_heads")
def huge_blocks(folder):
    shapes = [(1, 4, 64), (1, 4, 32), (1, 4, 32), (1, 2, 32, 16), (1, 2, 32, 16), (1, 3), (1, 3), (1,), (1,)]
    return microsoft(folder, "SparseAttention", shapes, dict.fromkeys(range(5, 9), TensorProto.INT32), num_heads=4, kv_num_heads=2, sparse_block_size=2**62)
