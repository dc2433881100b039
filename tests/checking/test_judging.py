"""What is said of an answer: fewest changes first, ties as ties, never a name without proof."""

import json
import re
from itertools import combinations

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer.checking.catalogue import every, find
from clearformer.checking.document import document_of
from clearformer.checking.picture import picture_of
from clearformer.checking.rendering import MOST_LINES, text_of
from clearformer.checking.starter import page, starter
from clearformer.explanation.lines import cell_width

ATTENTION = find("self_attention")


def changed(*keys):
    return ATTENTION.version(*(ATTENTION.mistake(key).change for key in keys))


PAIRS = [
    ("k-from-W_Q", "no-scale"),
    ("v-from-W_K", "mask-peek"),
    ("scale-d-model", "softmax-axis0"),
    ("mask-ignored", "weights-transposed"),
    ("qk-swapped", "scale-multiplied"),
]


@pytest.mark.parametrize("keys", PAIRS, ids="+".join)
def test_two_mistakes_are_both_named(keys):
    verdict = verdict_of(changed(*keys), ATTENTION)
    assert set(keys) <= set(verdict.mistakes)
    assert verdict.kind == "wrong"


def test_what_computes_the_same_is_shown_as_a_tie():
    verdict = verdict_of(changed("scale-twice"), ATTENTION)
    keys = [[change.key for change in each] for each in verdict.alternatives]
    assert sorted(keys) == [["scale-not-sqrt"], ["scale-twice"]]


def test_one_mistake_is_preferred_to_two():
    verdict = verdict_of(changed("no-scale"), ATTENTION)
    assert verdict.mistakes == ["no-scale"]


def odd_scale(X, W_Q, W_K, W_V, masked=True):
    S = (X @ W_Q) @ (X @ W_K).T / W_Q.shape[1] ** 0.4
    if masked:
        S = np.where(np.tri(len(S), dtype=bool), S, -np.inf)
    E = np.exp(S - S.max(1, keepdims=True))
    return E / E.sum(1, keepdims=True) @ (X @ W_V)


def noise(X, W_Q, W_K, W_V, masked=True):
    return np.random.default_rng(0).normal(size=(len(X), W_V.shape[1]))


def forgets_keys(X, W_Q, W_K, W_V, masked=True):
    return np.tanh(X @ W_Q).sum(-1, keepdims=True) * (X @ W_V)


def all_nan(X, W_Q, W_K, W_V, masked=True):
    return np.full((len(X), W_V.shape[1]), np.nan)


def zeros(X, W_Q, W_K, W_V, masked=True):
    return np.zeros((len(X), W_V.shape[1]))


@pytest.mark.parametrize("answer", [odd_scale, noise, forgets_keys, all_nan, zeros])
def test_an_unknown_mistake_gets_no_name_but_a_place(answer):
    verdict = verdict_of(answer, ATTENTION)
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
    assert len(verdict.findings) > 1


def test_an_argument_that_is_never_used_is_told():
    assert "W_K" in text_of(verdict_of(forgets_keys, ATTENTION))


def test_it_is_told_on_which_inputs_an_unknown_mistake_shows():
    def odd_where_all_is_seen(X, W_Q, W_K, W_V, masked=True):
        right = ATTENTION.version()(X, W_Q, W_K, W_V, masked)
        return right if masked else np.tanh(right)

    text = text_of(verdict_of(odd_where_all_is_seen, ATTENTION))
    assert "right on the others; differs on those with masked=False." in text

    def odd_for_nine(X, W_Q, W_K, W_V, masked=True):
        right = ATTENTION.version()(X, W_Q, W_K, W_V, masked)
        return np.tanh(right) if len(X) == 9 else right

    text = text_of(verdict_of(odd_for_nine, ATTENTION))
    assert "right on the others; differs on “9 tokens”." in text


def test_a_flag_without_effect_is_told():
    def odd(X, W_Q, W_K, W_V, masked=True):
        return np.tanh(ATTENTION.version()(X, W_Q, W_K, W_V))

    text = text_of(verdict_of(odd, ATTENTION))
    assert "with another value for masked your output stays as it was" in text


def test_dropout_left_on_is_told_by_two_calls_that_differ():
    def with_dropout(X, W_Q, W_K, W_V, masked=True):
        right = ATTENTION.version()(X, W_Q, W_K, W_V, masked)
        return right * (np.random.random(right.shape) > 0.5) * 2  # noqa: NPY002

    verdict = verdict_of(with_dropout, ATTENTION)
    assert (verdict.kind, verdict.mistakes) == ("wrong", ["dropout-in-eval"])


def test_writing_into_an_argument_is_said_beside_a_right_verdict():
    def in_place(x):
        x -= x.max(-1, keepdims=True)
        np.exp(x, out=x)
        x /= x.sum(-1, keepdims=True)
        return x

    verdict = verdict_of(in_place, find("softmax"))
    assert (verdict.kind, verdict.mistakes) == ("right", ["inplace-input"])
    assert "x -= x.max" in text_of(verdict)


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: None,
        lambda x: "softmax",
        lambda x: [[1.0]],
        lambda x: find("softmax").version()(x).tolist(),
        lambda x: find("softmax").version()(x).astype(object),
        lambda x: find("softmax").version()(x)[None],
        lambda x: print,
    ],
    ids=["None", "text", "list", "right list", "objects", "extra axis", "function"],
)
def test_what_is_no_array_of_the_right_shape_is_never_right(answer):
    assert verdict_of(answer, find("softmax")).kind == "wrong"


def test_an_exception_on_some_inputs_is_told_with_its_line():
    def untransposed(Q, K):
        return Q @ K  # runs only where there are as many tokens as numbers in a row

    verdict = verdict_of(untransposed, find("attention_scores"))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
    text = text_of(verdict)
    assert "on 4 of 5 inputs it stops: ValueError: matmul" in text
    assert "return Q @ K" in text
    assert "values differ on 1, no result on 4 of 5 inputs" in text


@pytest.mark.parametrize(
    "answer",
    [
        lambda x: np.exp(x) / np.exp(x).sum(-1),
        lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(-1),
        lambda x: np.exp(x - x.max(-1)) / np.exp(x - x.max(-1)).sum(-1),
        lambda x: np.exp(x - x.max(-1)) / np.exp(x - x.max(-1)).sum(-1, keepdims=True),
    ],
    ids=["no maximum", "one maximum", "neither kept", "maximum not kept"],
)
def test_a_lost_axis_is_named_in_each_way_to_lose_it(answer):
    assert verdict_of(answer, find("softmax")).mistakes == ["softmax-keepdims"]


def test_an_explanation_holds_nothing_that_is_not_needed():
    def cut(grads, max_norm):
        return [np.clip(g, -max_norm, max_norm) for g in grads]

    verdict = verdict_of(cut, find("clip_gradients"))
    assert (len(verdict.mistakes), verdict.alternatives) == (1, ())


def test_an_exception_everywhere_could_not_be_judged():
    def broken(x):
        return x @ x @ np.zeros(1000)

    verdict = verdict_of(broken, find("softmax"))
    assert (verdict.kind, verdict.status) == ("failed", 2)
    assert "x @ x @ np.zeros(1000)" in text_of(verdict)


@pytest.mark.parametrize("exercise", every(), ids=lambda exercise: exercise.name)
def test_the_text_of_every_mistake_is_short_in_both_languages(exercise):
    for mistake in exercise.mistakes:
        words = (mistake.found, mistake.why, mistake.ask, mistake.fix)
        assert all(each.en and each.ja for each in words), mistake.key
        assert all(cell_width(text) <= 130 for each in words for text in each), mistake.key


@pytest.mark.parametrize("keys", [("softmax-axis0",), ("scale-twice",), *combinations(PAIRS[0], 2)])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_verdict_is_at_most_twelve_lines_and_a_document(keys, language):
    verdict = verdict_of(changed(*keys), ATTENTION)
    for hint in range(4):
        lines = text_of(verdict, language, hint).splitlines()
        assert len(lines) <= MOST_LINES
        assert all(cell_width(line) <= 100 for line in lines)
    json.dumps(document_of(verdict, language), allow_nan=False)
    picture = picture_of(verdict, "", language)
    assert "<table" in picture
    assert {"en": "Warning: it ran in this process", "ja": "注意"}[language] in picture


@pytest.mark.parametrize("language", ["en", "ja"])
def test_every_exercise_states_its_task_in_both_languages_within_eighty_columns(language):
    for exercise in every():
        read = [*page(exercise, language).splitlines(), *starter(exercise, language).splitlines()]
        read = [line for line in read if not line.lstrip().startswith("def ")]
        assert max(map(cell_width, read)) <= 80, exercise.name


def test_every_exercise_is_found_by_its_own_name():
    names = [exercise.name for exercise in every()]
    assert len(names) == len(set(names))
    assert all(find(name).name == name for name in names)


def test_single_precision_on_the_way_is_no_mistake_but_told():
    exercise = find("positional_encoding")

    def positions(n_positions, d_model):
        pairs = np.arange(0, d_model, 2, dtype=np.float32)
        angles = np.arange(n_positions, dtype=np.float32)[:, None] / 10000 ** (pairs / d_model)
        table = np.zeros((n_positions, d_model))
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
        return table

    verdict = verdict_of(positions, exercise)
    assert verdict.kind == "right" and "(float32)" in text_of(verdict)
    far = verdict_of(
        lambda n_positions, d_model: 1.00001 * positions(n_positions, d_model), exercise
    )
    assert far.kind == "wrong"


def test_an_axis_of_length_1_too_many_is_told():
    exercise = find("cross_entropy")
    verdict = verdict_of(
        lambda logits, targets: exercise.version()(logits, targets)[None], exercise
    )
    assert verdict.kind == "wrong" and "an axis of length 1" in text_of(verdict)


def test_two_numbers_that_differ_are_written_so_that_they_differ():
    exercise = find("gelu")
    said = text_of(verdict_of(lambda x: exercise.version()(x) * (1 + 1e-5), exercise))
    came, expected = re.search(r"is (\S+), expected (\S+)\.", said).groups()
    assert came != expected


def test_a_name_explains_what_came_of_batches_too():
    """Divided by the number of sentences, the sum is that of one row, but not that of several."""

    def by_sentences(logits, targets, pad_id):
        low = logits - logits.max(-1, keepdims=True)
        logs = low - np.log(np.exp(low).sum(-1, keepdims=True))
        losses = -np.take_along_axis(logs, targets[..., None], -1)[..., 0]
        return losses[targets != pad_id].sum() / len(np.atleast_2d(targets))

    verdict = verdict_of(by_sentences, find("padded_cross_entropy"))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])


def test_a_factor_is_told_only_where_it_holds_everywhere():
    def of_the_largest(logits, k):
        chosen = np.abs(logits) >= np.sort(np.abs(logits), -1)[..., -min(k, logits.shape[-1]), None]
        return find("softmax").version()(np.where(chosen, logits, -np.inf))

    said = [each.says.en for each in verdict_of(of_the_largest, find("top_k")).findings]
    assert not any("times what it should be" in each for each in said)
