"""How a verdict is put into lines."""

import numpy as np

from checking.trying import verdict_of
from clearformer.checking.catalogue import find
from clearformer.checking.rendering import MOST_LINES, text_of
from clearformer.checking.starter import starter

ATTENTION = find("self_attention")


def version(*keys):
    return ATTENTION.version(*(ATTENTION.mistake(key).change for key in keys))


def test_two_mistakes_and_their_hints_are_numbered():
    verdict = verdict_of(version("k-from-W_Q", "mask-peek"), ATTENTION)
    lines = text_of(verdict, hint=3).splitlines()
    assert [line[:5] for line in lines[2:4]] == ["  1. ", "  2. "]
    assert [line[2:4] for line in lines[4:]] == ["1."] * 3 + ["2."] * 3
    assert "1." not in text_of(verdict_of(version("mask-peek"), ATTENTION), hint=3)


def test_the_parameter_that_is_lacking_is_named_with_its_values():
    def lacks(X, W_Q, W_K, W_V):
        return ATTENTION.version()(X, W_Q, W_K, W_V)

    verdict = verdict_of(lacks, ATTENTION)
    assert verdict.kind == "right"
    assert "inputs with masked=False, because your function has no parameter" in text_of(verdict)
    unscaled = ATTENTION.version(ATTENTION.mistake("no-scale").change)

    def lacks_more(X, W_Q, W_K, W_V):
        return unscaled(X, W_Q, W_K, W_V)

    text = text_of(verdict_of(lacks_more, ATTENTION), hint=3)
    assert len(text.splitlines()) <= MOST_LINES and text.endswith("np.sqrt(Q.shape[-1])")


def test_a_convention_comes_after_the_mistake_that_is_found_with_it():
    exercise = find("feed_forward")
    changes = (exercise.variants[0].change, exercise.mistake("ff-no-b_2").change)
    text = text_of(verdict_of(exercise.version(*changes), exercise))
    assert text.index("b_2 is never used") < text.index("Beside that: the tanh form")


def test_an_untouched_starter_is_said_to_be_unwritten():
    for name in ("softmax", "lstm_step"):
        names = {}
        exec(starter(find(name)), names)
        verdict = verdict_of(names[name], find(name))
        assert verdict.status == 2
        assert text_of(verdict).startswith(f"{name}   NOT WRITTEN YET   fill in {name}")


def test_batch_axes_are_told_of_once():
    def mean(logits, targets):
        if logits.ndim > 2:
            return np.float64(0.0)
        return find("cross_entropy").version()(logits, targets)

    text = text_of(verdict_of(mean, find("cross_entropy")))
    assert text.count("batch ax") == 1, text
