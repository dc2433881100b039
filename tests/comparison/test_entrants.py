"""Laws of those that take part: read as written, and refused where they do not fit."""

import pytest

from clearformer.comparison.entrants import (
    check_fits,
    default_models,
    entrant_of,
    entrants_of,
    obstacle,
)
from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS


def test_dials_arrive_in_their_types():
    entrant = entrant_of(" decoder:layers=2 : tied=true:dropout=0.1:recipe=classic")
    assert entrant.name == "decoder:layers=2:tied=true:dropout=0.1:recipe=classic"
    assert entrant.dials == {"layers": 2, "tied": True, "dropout": 0.1, "recipe": "classic"}


def test_a_tokenizer_is_no_dial_of_the_model():
    entrant = entrant_of("decoder:tokenizer=words:vocab=50")
    assert (entrant.tokenizer, entrant.vocab, dict(entrant.dials)) == ("words", 50, {})


def test_counting_has_an_order():
    assert entrant_of("ngram:order=3").dials == {"order": 3}


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("transformer", "ngram, decoder"),
        ("", "ngram, decoder"),
        ("decoder:width=3", "no dial 'width'"),
        ("decoder:vocabulary=3", "no dial"),
        ("decoder:layers", "dial=value"),
        ("decoder:layers=2:layers=3", "once"),
        ("decoder:layers=two", "whole number"),
        ("decoder:layers=0", "at least 1"),
        ("decoder:tied=perhaps", "true or false"),
        ("decoder:tokenizer=letters", "characters, words"),
        ("decoder,decoder", "twice"),
        ("decoder, decoder ", "twice"),
        ([], "name models"),
    ],
)
def test_what_cannot_take_part_is_refused(written, told):
    with pytest.raises(ConfigurationError, match=told):
        entrants_of(written)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("ngrams", "ngram"), ("decoders:layers=2", "decoder"), ("LSTM", "lstm"), ("RNNs", "rnn")],
)
def test_a_name_that_is_like_one_is_answered_with_it(written, meant):
    with pytest.raises(ConfigurationError, match=f"; did you mean {meant}\\?$"):
        entrants_of(written)


@pytest.mark.parametrize("written", ["transformer", "", []])
def test_what_can_never_take_part_is_not_offered(written):
    with pytest.raises(ConfigurationError) as refusal:
        entrants_of(written)
    offered = str(refusal.value).replace(";", ",").split(", ")
    assert "encoder" not in offered
    assert "did you mean" not in str(refusal.value)
    assert {"gru", "seq2seq", "encoder-decoder"} <= set(offered)


def test_every_kind_fits_something():
    for kind in KINDS.values():
        if not kind.fills:
            assert any(obstacle(kind, reads) is None for reads in ("text", "pairs"))


def test_what_learns_from_pairs_is_refused_on_a_text():
    for kind in KINDS.values():
        if kind.reads == "pairs":
            with pytest.raises(ConfigurationError, match=f"{kind.name} does not fit the task text"):
                check_fits(entrants_of(kind.name), "text", "text", counting=True)


def test_what_sees_what_comes_after_is_refused():
    with pytest.raises(ConfigurationError, match="encoder does not fit the task text: it sees"):
        check_fits(entrants_of("encoder"), "text", "text", counting=True)


def test_counting_is_refused_where_it_predicts_nothing():
    with pytest.raises(ConfigurationError, match="ngram does not fit the task recall"):
        check_fits(entrants_of("ngram,decoder"), "recall", "rows", counting=False)


@pytest.mark.parametrize("reads", ["text", "rows", "pairs"])
def test_the_default_models_fit(reads):
    names = default_models(reads, counting=False)
    check_fits(entrants_of(names), "it", reads, counting=False)
    assert "decoder" in names
