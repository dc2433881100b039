"""Answers of forty learners, written from the task texts alone: right, or with a known slip."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import clearformer as cf
from checking.answers import (
    attention_numpy,
    attention_torch,
    losses_and_steps,
    other_slips,
    other_steps,
    pieces,
    recurrent,
    slips,
)
from clearformer.checking.catalogue import find

RIGHT: dict[str, list[Any]] = {
    "self_attention": [
        attention_numpy.self_attention_by_loops,
        attention_numpy.self_attention_by_einsum,
        attention_numpy.self_attention_with_an_online_softmax,
        attention_numpy.self_attention_in_base_2,
        attention_numpy.self_attention_masked_after_and_renormalised,
        attention_numpy.self_attention_in_float32,
        attention_numpy.AttentionAsAnObject(),
        attention_torch.self_attention_fused,
        attention_torch.self_attention_of_the_lecture,
        attention_torch.self_attention_batched_only,
        attention_torch.self_attention_as_a_partial,
        attention_torch.Head,
        attention_torch.SelfAttention,
    ],
    "multi_head_attention": [
        attention_numpy.multi_head_head_by_head,
        attention_numpy.multi_head_as_a_sum,
        attention_numpy.multi_head_batched_only,
        attention_torch.CausalSelfAttention,
        attention_torch.MultiHeadedAttention,
        attention_torch.ManyHeads,
        attention_torch.multi_head_fused,
        attention_torch.multi_head_of_torch,
    ],
    "cross_attention": [
        attention_numpy.cross_attention_in_parts,
        attention_torch.cross_attention_with_einsum,
        attention_torch.CrossAttention,
    ],
    "kv_cache_step": [
        attention_numpy.cache_step_with_a_row,
        attention_numpy.cache_step_into_the_same_dict,
        attention_torch.cache_step_of_torch,
    ],
    "softmax": [
        pieces.softmax_as_a_lambda,
        pieces.softmax_by_rows,
        pieces.softmax_online,
        pieces.softmax_transposed,
        pieces.softmax_by_tanh,
        pieces.softmax_of_torch,
        partial(torch.softmax, dim=-1),
        nn.Softmax(dim=-1),
        pieces.softmax_for_lists_too,
    ],
    "layer_norm": [
        pieces.layer_norm_of_torch,
        pieces.layer_norm_by_moments,
        pieces.layer_norm_row_by_row,
        pieces.LayerNorm,
        pieces.LayerNormOfTheLecture,
    ],
    "gelu": [
        pieces.gelu_with_vectorize,
        pieces.gelu_with_erfc,
        pieces.gelu_of_torch,
        F.gelu,
        nn.GELU(),
        pieces.gelu_tanh_factored,
        pieces.gelu_from_a_distribution,
    ],
    "positional_encoding": [
        pieces.positions_by_loops,
        pieces.positions_annotated,
        pieces.positions_d2l,
        pieces.positions_complex,
    ],
    "temperature": [pieces.temperature_by_powers, pieces.temperature_after_log_softmax],
    "top_p": [pieces.top_p_one_by_one, pieces.top_p_of_transformers, pieces.top_p_by_before],
    "cross_entropy": [
        losses_and_steps.cross_entropy_by_loops,
        losses_and_steps.cross_entropy_of_torch,
        losses_and_steps.cross_entropy_by_one_hot,
        losses_and_steps.cross_entropy_in_bits_times_ln2,
        losses_and_steps.cross_entropy_fancy_and_axes_swapped,
    ],
    "perplexity": [
        losses_and_steps.perplexity_of_torch,
        losses_and_steps.perplexity_as_a_geometric_mean,
        losses_and_steps.perplexity_base_2,
    ],
    "get_batch": [
        losses_and_steps.get_batch_nanogpt,
        losses_and_steps.get_batch_by_index,
        losses_and_steps.get_batch_as_views,
    ],
    "clip_gradients": [
        losses_and_steps.clip_like_torch,
        losses_and_steps.clip_in_place,
        losses_and_steps.clip_by_one_vector,
    ],
    "adam_step": [
        losses_and_steps.adam_kingma_efficient,
        losses_and_steps.adam_by_lerp,
        losses_and_steps.adam_by_scalars,
    ],
    "skipgram_loss": [
        losses_and_steps.skipgram_with_softplus,
        losses_and_steps.skipgram_of_torch,
        losses_and_steps.skipgram_by_loops,
    ],
    "rnn_forward": [
        recurrent.rnn_by_accumulate,
        recurrent.rnn_into_a_buffer,
        recurrent.rnn_of_torch,
        recurrent.RNNLoop,
    ],
    "lstm_step": [
        recurrent.lstm_by_split,
        recurrent.lstm_by_columns,
        recurrent.lstm_of_torch,
        recurrent.LSTMOfTwoLayers,
    ],
    "gru_step": [
        recurrent.gru_plain,
        recurrent.gru_as_torch_defines_it,
        recurrent.gru_where_z_keeps_the_new,
    ],
    "seq2seq_attention": [
        recurrent.seq2seq_by_einsum,
        recurrent.seq2seq_of_torch,
        recurrent.seq2seq_word_by_word,
    ],
    "one_hot": [other_steps.one_hot_by_eye, other_steps.one_hot_by_comparison],
    "embedding": [other_steps.embedding_functional, other_steps.embedding_as_a_product],
    "embedding_gradient": [
        other_steps.embedding_gradient_with_add_at,
        other_steps.embedding_gradient_by_autograd,
    ],
    "rotary_positions": [other_steps.rotary_as_complex, other_steps.rotary_of_llama],
    "causal_mask": [other_steps.causal_mask_with_triu, other_steps.causal_mask_by_loops],
    "padding_mask": [other_steps.padding_mask_for_scores],
    "query_key_value": [other_steps.query_key_value_fused],
    "split_heads": [other_steps.split_heads_with_einops_in_mind],
    "merge_heads": [other_steps.merge_heads_by_permute],
    "rms_norm": [other_steps.RMSNorm, other_steps.rms_norm_by_length],
    "feed_forward": [
        other_steps.MLP,
        other_steps.FeedForward,
        other_steps.FeedForwardOfTheLecture,
        other_steps.LayersByName,
        other_steps.feed_forward_tanh,
    ],
    "pre_norm_block": [other_steps.pre_norm_block_of_torch],
    "attention_with_lengths": [other_steps.attention_with_a_bias],
    "top_k": [other_steps.top_k_of_the_lecture, other_steps.top_k_by_argpartition],
    "cross_entropy_gradient": [
        other_steps.cross_entropy_gradient_by_autograd,
        other_steps.cross_entropy_gradient_p_minus_y,
    ],
    "learning_rate": [other_steps.learning_rate_of_nanogpt],
    "adamw_step": [other_steps.adamw_of_torch],
    "gradient_descent": [
        other_steps.gradient_descent_by_autograd,
        other_steps.gradient_descent_by_hand,
    ],
    "teacher_forcing": [other_steps.teacher_forcing_with_lists],
    "noise_distribution": [other_steps.noise_by_exp_log],
    "encoder_state": [other_steps.encoder_state_by_gather],
    "rnn_backward": [other_steps.rnn_backward_by_autograd],
    "truncated_bptt": [other_steps.truncated_by_detach],
    "tied_gradient": [other_steps.tied_gradient_in_two_parts],
}

WRONG: list[tuple[str, Any, str]] = [
    ("self_attention", slips.attention_over_the_columns, "softmax-axis0"),
    ("self_attention", slips.attention_with_the_wrong_width, "scale-d-model"),
    ("self_attention", slips.attention_blind_to_itself, "mask-diagonal"),
    ("self_attention", slips.attention_that_multiplies_the_mask, "mask-zero-fill"),
    ("self_attention", slips.attention_unscaled_and_zeroed_late, "no-scale mask-after-softmax"),
    ("self_attention", slips.AttentionWithTheKeysOfTheQueries, "k-from-W_Q"),
    ("multi_head_attention", slips.heads_without_a_transpose, "heads-split-no-transpose"),
    ("multi_head_attention", slips.heads_glued_in_the_wrong_order, "heads-merge-no-transpose"),
    ("cross_attention", slips.values_from_the_decoder, "cross-mixed"),
    ("cross_attention", slips.cross_attention_with_a_causal_mask, "cross-causal"),
    ("kv_cache_step", slips.cache_looked_at_before_it_grows, "kv-cache-attends-before-append"),
    ("softmax", slips.softmax_without_keepdims, "softmax-keepdims"),
    ("softmax", slips.softmax_of_everything, "softmax-whole"),
    ("layer_norm", slips.layer_norm_of_a_sample, "ln-ddof1 ln-eps-outside"),
    ("layer_norm", slips.layer_norm_down_the_batch, "ln-axis"),
    ("gelu", slips.gelu_sigmoid, "gelu-sigmoid"),
    ("gelu", slips.gelu_that_forgot_the_root, "gelu-erf-no-sqrt2"),
    ("cross_entropy", slips.cross_entropy_of_a_softmax, "ce-double-softmax"),
    ("cross_entropy", slips.cross_entropy_in_bits, "ce-log2"),
    ("perplexity", slips.perplexity_with_pads_in_the_mean, "ppl-padding-denominator"),
    ("positional_encoding", slips.positions_doubled, "pe-exponent-doubled"),
    ("positional_encoding", slips.positions_with_two_frequencies, "pe-cos-own-exponent"),
    ("temperature", slips.temperature_that_multiplies, "temperature-multiplied"),
    ("top_p", slips.top_p_without_the_crossing_one, "topp-drops-crossing"),
    ("rnn_forward", slips.rnn_that_forgets, "rnn-state-not-carried"),
    ("lstm_step", slips.lstm_in_the_order_of_keras_2, "lstm-gate-order"),
    ("lstm_step", slips.lstm_without_the_last_tanh, "lstm-no-tanh-c"),
    ("gru_step", slips.gru_without_reset, "gru-no-reset"),
    ("seq2seq_attention", slips.seq2seq_over_the_batch, "attn-softmax-over-batch"),
    ("skipgram_loss", slips.skipgram_without_the_minus, "sgns-negative-sign"),
    ("clip_gradients", slips.clip_each_by_itself, "clip-per-tensor"),
    ("clip_gradients", slips.clip_by_value, "clip-value"),
    ("adam_step", slips.adam_uncorrected, "adam-no-bias-correction"),
    ("get_batch", slips.get_batch_where_y_is_x, "targets-not-shifted"),
    ("get_batch", slips.get_batch_two_ahead, "shift-2"),
    ("one_hot", other_slips.one_hot_as_columns, "onehot-side"),
    ("embedding_gradient", other_slips.embedding_gradient_overwritten, "embed-grad-overwrite"),
    ("rotary_positions", other_slips.rotary_mixed, "rope-pairing"),
    ("scaled_scores", other_slips.scores_without_a_root, "scale-not-sqrt"),
    ("causal_mask", other_slips.causal_mask_of_the_past, "mask-transposed"),
    ("rms_norm", other_slips.RMSNormWithAMean, "rms-layer-norm"),
    ("feed_forward", other_slips.FeedForwardWithRelu, "relu-for-gelu"),
    ("pre_norm_block", other_slips.block_that_adds_the_normed, "residual-normed"),
    ("top_k", other_slips.top_k_filled_with_zero, "topk-fill"),
    ("cross_entropy_gradient", other_slips.cross_entropy_gradient_not_divided, "ce-grad-scale"),
    ("learning_rate", other_slips.learning_rate_from_zero, "lr-zero-step0"),
    ("adamw_step", other_slips.adamw_with_l2, "adam-l2"),
    ("gradient_descent", other_slips.gradient_descent_without_zeroing, "grad-not-zeroed"),
    ("teacher_forcing", other_slips.teacher_forcing_unshifted, "tf-not-shifted"),
    ("rnn_backward", other_slips.rnn_backward_without_the_next, "bptt-no-next"),
    ("padded_cross_entropy", other_slips.padded_cross_entropy_over_all, "ce-padding-denominator"),
    ("attention_with_lengths", other_slips.lengths_on_the_queries, "pad-masks-queries"),
    ("cross_entropy", other_slips.cross_entropy_with_an_axis, ""),
    ("softmax", other_slips.softmax_of_squares, ""),
    ("gelu", other_slips.gelu_close_to, ""),
    ("layer_norm", other_slips.layer_norm_of_the_first_call, ""),
    ("self_attention", other_slips.attention_of_the_reference_with_noise, ""),
]


def _name(answer: Any) -> str:
    return getattr(answer, "__name__", type(answer).__name__)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [(name, answer) for name, answers in RIGHT.items() for answer in answers],
    ids=lambda part: part if isinstance(part, str) else _name(part),
)
def test_a_right_answer_in_any_style_is_accepted(exercise: str, answer: Any) -> None:
    check = cf.check(answer, exercise)
    assert check.is_right, check.message


@pytest.mark.parametrize(
    ("exercise", "answer", "keys"),
    WRONG,
    ids=lambda part: part if isinstance(part, str) else _name(part),
)
def test_a_slip_is_named(exercise: str, answer: Any, keys: str) -> None:
    check = cf.check(answer, exercise)
    assert check.verdict == "wrong", check.message
    tied = {*keys.split()}.union(*(tie for tie in find(exercise).ties if tie & {*keys.split()}))
    assert {*keys.split()} <= {*check.mistakes} <= tied, check.message


@pytest.mark.parametrize(
    ("exercise", "answer", "verdict", "status"),
    [
        ("self_attention", "attention_numpy.py:self_attention_by_einsum", "right", 0),
        ("gelu", "pieces.py:gelu_tanh_factored", "variant", 0),
        ("top_k", "other_slips.py:top_k_filled_with_zero", "wrong", 1),
        ("softmax", "attention_numpy.py:softmax", "failed", 2),
    ],
)
def test_the_command_line_says_the_same(exercise: str, answer: str, verdict: str, status: int):
    file = Path(__file__).parent / "answers" / answer
    command = [sys.executable, "-m", "clearformer", "check", exercise, str(file), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (status, verdict), done.stdout
