"""Laws of notes: only what is true of this comparison, and in the language of its reader."""

from dataclasses import replace

import pytest

from clearformer.comparison.notes import notes_of
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.japanese import JAPANESE
from clearformer.comparison.search import searched

from .report.example import example


def searching(*losses):
    """An example whose decoder had these losses with 0.001, 0.003, 0.01 and, if asked, 0.03."""
    by_rate = dict(zip((1e-3, 3e-3, 1e-2, 3e-2), losses, strict=True))
    return replace(example(), search={"decoder": searched("decoder", by_rate.get).to_json()})


def test_a_best_in_the_middle_is_never_said_to_be_at_the_end():
    notes = notes_of(searching(2.479, 2.465, 2.438, 2.441))
    assert not any("lay at the end" in note for note in notes)
    (told,) = [note for note in notes if "the smallest learning rate" in note]
    assert told.endswith("decoder (0.001; best at 0.01)")


def test_at_the_end_the_best_is_named_and_not_what_was_taken():
    notes = notes_of(searching(3.0, 2.0, 1.0, 0.99))
    (told,) = [note for note in notes if "lay at the end" in note]
    assert told.endswith("decoder (0.03)")


def test_a_clear_best_in_the_middle_is_no_news():
    notes = notes_of(searching(3.0, 1.0, 3.0, 3.0))
    assert not any("learning rate" in note for note in notes)


def cut(*tokenizers):
    """An example whose models have these tokenizers."""
    models = [
        {**model, "tokenizer": kind, "vocabulary": len(kind)}
        for model, kind in zip(example().models, tokenizers, strict=False)
    ]
    return replace(example(), models=tuple(models))


@pytest.mark.parametrize("kind", ["words", "bytepair"])
def test_a_vocabulary_that_names_what_is_judged_by_is_told_beside_another(kind):
    comparison = cut("characters", kind)
    (told,) = [note for note in notes_of(comparison) if "the whole text" in note]
    assert told.endswith(f": {comparison.models[1]['name']}")


@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
def test_one_tokenizer_for_all_flatters_none(kind):
    assert not any("the whole text" in note for note in notes_of(cut(kind, kind)))


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE])
def test_every_language_tells_of_the_smallest_rate(words):
    notes = notes_of(searching(2.479, 2.465, 2.438, 2.441), words, {"decoder": "Transformer"})
    assert any("Transformer" in note and "0.001" in note for note in notes)
