"""Prompts: empty, unknown in part or in whole, and longer than the model can see."""

import warnings

import pytest

from clearformer.errors import ConfigurationError
from clearformer.generation.sampling import Sampling
from clearformer.runs.run import MOST_TOKENS
from generation.runs import TEXTS, random_run


def written(run, prompt, tokens, **options):
    """The text, and what was said while it was written."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        text = run.generate(prompt, tokens, seed=1, **options)
    return text, [str(each.message) for each in caught]


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("cached", [False, True])
def test_an_empty_prompt_begins_after_the_start_token(kind, cached):
    run = random_run(kind, context=64)
    text, said = written(run, "", 20, cached=cached)
    assert text and not said
    assert run.prompt("").ids == (run.start_token,)


def test_what_the_vocabulary_lacks_is_reported_and_left_out():
    run = random_run(context=64)
    text, said = written(run, "thXe \u3042\u3042", 10)
    assert len(said) == 1
    assert "'X'" in said[0] and "'\u3042' (2 times)" in said[0] and "does not see" in said[0]
    assert text == written(run, "the ", 10)[0]


def test_a_word_that_the_vocabulary_lacks_is_reported():
    run = random_run("words", context=64)
    _, said = written(run, "I like elephants", 5)
    assert len(said) == 1
    assert "'elephants'" in said[0]
    assert "read as unknown" in said[0]


def test_nothing_is_unknown_to_byte_pairs():
    _, said = written(
        random_run("bytepair", context=200), "\u00fcn\u011fewohnt \U0001f600 \u7121", 3
    )
    assert not said


def test_of_many_unknown_characters_a_few_are_named_and_the_rest_counted():
    _, said = written(random_run(context=64), "ABCDEFGHIJKL the", 3)
    assert len(said) == 1 and "\n" not in said[0]
    assert "'A'" in said[0] and "4 more" in said[0]


def test_a_prompt_of_unknown_characters_only_is_an_empty_one():
    run = random_run(context=64)
    text, said = written(run, "\u3042\u3044", 10)
    assert text == written(run, "", 10)[0]
    assert len(said) == 1


@pytest.mark.parametrize("tokens", [1, 12])
@pytest.mark.parametrize("cached", [False, True])
def test_a_prompt_longer_than_the_context_is_said_once(tokens, cached):
    run = random_run(context=8)
    text, said = written(run, "the lazy dog", tokens, cached=cached)
    assert len(said) == 1
    assert "12" in said[0] and "8" in said[0]
    assert len(text) == tokens


def test_sliding_is_said_once_however_often_the_window_jumps():
    run = random_run(context=8)
    text, said = written(run, "the ", 40)
    assert len(said) == 1 and "8" in said[0] and "slides" in said[0]
    assert len(text) == 40


@pytest.mark.parametrize(("tokens", "notes"), [(4, 0), (5, 0), (6, 1)])
def test_nothing_is_said_while_everything_fits(tokens, notes):
    """The last token is written and not read: after 4 of the prompt, 5 fit into a window of 8."""
    assert len(written(random_run(context=8), "the ", tokens)[1]) == notes


def test_a_long_prompt_is_read_from_its_end():
    """Two prompts that end alike are continued alike; two that end differently are not."""
    run = random_run(context=8)
    same = [written(run, start + "lazy dog", 20)[0] for start in ("the ", "fox ")]
    assert same[0] == same[1]
    assert same[0] != written(run, "the lazy fox", 20)[0]


def test_no_tokens_are_no_text():
    assert written(random_run(), "the", 0) == ("", [])


@pytest.mark.parametrize("tokens", [-1, MOST_TOKENS + 1])
def test_an_impossible_number_of_tokens_is_refused(tokens):
    run = random_run()
    with pytest.raises(ConfigurationError, match="tokens") as caught:
        written(run, "the", tokens)
    assert str(tokens) in str(caught.value)
    with pytest.raises(ConfigurationError, match="tokens"):
        list(run.stream(run.prompt("the"), tokens, Sampling()))


def test_a_setting_out_of_range_is_refused_before_anything_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ConfigurationError, match="top_p"):
            random_run(context=8).generate("the lazy dog", 5, top_p=2.0)
