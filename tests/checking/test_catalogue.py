"""Nothing that is known of learners' mistakes is lost; exercises are found by other names."""

import pytest

from clearformer.checking.beside import CHANGED
from clearformer.checking.catalogue import every, find
from clearformer.errors import ConfigurationError

KNOWN = """
onehot-side onehot-offset embed-grad-overwrite embed-scale int-truncation pe-exponent-doubled
pe-cos-own-exponent pe-base pe-precedence pe-batch-axis pe-index-not-slice pe-starts-at-1 pe-times
rope-pairing proj-transposed k-from-W_Q v-unprojected v-from-W_K qk-swapped scores-elementwise
no-scale scale-not-sqrt scale-d-model scale-constant scale-multiplied scale-twice
scale-after-softmax mask-ignored mask-transposed mask-inverted mask-diagonal mask-peek
mask-after-softmax mask-zero-fill mask-add-01 mask-fill-tiny mask-plus-inf mask-0-times-inf
mask-fp16 pad-masks-queries pad-from-values mask-head-order mask-square mask-row-nan
dropout-before-softmax softmax-axis0 softmax-singleton softmax-whole softmax-no-max
softmax-global-max softmax-max-floor-0 softmax-keepdims softmax-bracket softmax-no-exp
weights-transposed dropout-in-eval inplace-input heads-split-no-transpose heads-merge-no-transpose
heads-interleaved heads-sliced-input heads-averaged no-W_O cross-q-kv-swapped cross-mixed
cross-causal cache-position kv-cache-attends-before-append cache-prefill-unmasked
cache-topleft-mask cache-not-reset cache-axis cache-drops-last ln-ddof1 ln-eps-outside ln-axis
ln-all-axes ln-var-not-std ln-no-affine ln-no-mean residual-missing residual-doubled
residual-source residual-normed norm-placement gelu-variant gelu-erf-no-sqrt2 gelu-sigmoid
relu-for-gelu no-activation activation-last ce-double-softmax ce-log2 ce-sum ce-no-minus
ce-grad-scale ce-log0 ce-reshape ce-padding ce-padding-denominator ppl-padding-denominator
ppl-mean-of-means ppl-base ce-1d temperature-multiplied temp-ignored temp-on-probs temp-zero
temp-twice topp-drops-crossing topp-ascending topp-order topp-one topk-fill sample-softmax-twice
rnn-state-not-carried rnn-no-detach bptt-no-next bptt-overwrite act-derivative lstm-gate-order
lstm-plus lstm-no-tanh-c lstm-candidate-sigmoid lstm-bias-copied gru-reset-after gru-no-reset
gru-z-swapped attn-softmax-over-batch attn-sees-padding tf-not-shifted enc-last-is-pad
clip-per-tensor clip-always clip-value tie-copy lr-zero-step0 lr-repeat lr-div0
adam-no-bias-correction adam-t0 adam-eps adamw-order adam-l2 grad-not-zeroed sgns-negative-sign
sgns-one-table sgns-pos-in-neg noise-power minus-power targets-not-shifted shift-2 shift-back
split-after-windows
"""
"""Keys of the mistakes that were met in public code, issues and questions."""


def test_every_known_mistake_belongs_to_an_exercise():
    named = {CHANGED} | {exercise.unrepeatable for exercise in every()}
    for exercise in every():
        named |= {each.key for each in (*exercise.mistakes, *exercise.variants)}
    assert [key for key in KNOWN.split() if key not in named] == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rope", "rotary_positions"),
        ("attention", "self_attention"),
        ("mha", "multi_head_attention"),
        ("ce", "cross_entropy"),
        ("pe", "positional_encoding"),
        ("LSTM", "lstm_step"),
        ("nucleus", "top_p"),
        ("layernorm", "layer_norm"),
        ("sofmax", "softmax"),
    ],
)
def test_an_exercise_is_offered_for_another_name_of_it(word, meant):
    with pytest.raises(ConfigurationError, match=f"did you mean .*{meant}"):
        find(word)
