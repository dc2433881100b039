"""Laws of the check before the start: what was adjusted is told, what cannot work is refused."""

import re

import pytest

from clearformer.errors import ConfigurationError, TextError
from clearformer.models import kinds
from clearformer.models.configuration import BRIEF, SIZES, ModelConfiguration
from clearformer.models.kinds import kind_named
from clearformer.text.corpus import Corpus
from clearformer.text.tokenizer import KINDS
from clearformer.text.words import UNK
from clearformer.training import memory, preparation
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import BRIEF_MINUTES, SHAPE, model_for, prepare
from training import tiny


def only_note(ready):
    (note,) = ready.notes
    assert "\n" not in note
    return note


@pytest.mark.parametrize("kind", ["characters", "bytepair"])
def test_the_parts_together_are_the_text(kind):
    ready = tiny.prepared(kind=kind)
    parts = ready.tokenizer.decode(ready.train) + ready.tokenizer.decode(ready.validation.ids)
    assert parts == tiny.TEXT


@pytest.mark.parametrize("cut", range(10))
def test_of_words_only_those_at_the_border_can_be_unknown(cut):
    """A word that the border cuts in two is in no vocabulary."""
    ready = tiny.prepared(tiny.TEXT + "the dog "[:cut], kind="words")
    assert (ready.train[:-1] != UNK).all()
    assert (ready.validation.ids[1:] != UNK).all()


def test_the_last_tenth_is_kept_for_validation():
    ready = tiny.prepared()
    border = int(len(tiny.TEXT) * 0.9)
    assert ready.tokenizer.decode(ready.train) == tiny.TEXT[:border]
    assert ready.tokenizer.decode(ready.validation.ids) == tiny.TEXT[border:]
    assert ready.validation.characters == len(tiny.TEXT) - border - 1


def test_when_everything_fits_nothing_is_said():
    ready = tiny.prepared()
    assert ready.notes == ()
    assert (ready.model.context, ready.model.embed) == (8, 8)
    assert ready.model.vocabulary == ready.tokenizer.vocabulary_size


def test_notes_of_the_text_come_first():
    corpus = Corpus(tiny.TEXT, ("a.txt",), ("a.txt: a byte order mark was dropped",))
    ready = prepare(
        corpus,
        kind="characters",
        vocabulary=None,
        model=model_for(kind_named("decoder"), None, tiny.DIALS | {"context": 5000}),
        options=TrainingOptions(batch=2),
        fits=lambda _: None,
    )
    assert ready.notes[0] == corpus.notes[0]
    assert "context was cut" in ready.notes[1]


def test_a_context_longer_than_the_text_is_cut_and_told():
    ready = tiny.prepared("abcdefghij" * 2, context=64)
    assert ready.model.context == 17
    assert "from 64 to 17" in only_note(ready)
    assert "18 tokens" in only_note(ready)


def test_the_longest_context_that_fits_is_left_alone():
    assert tiny.prepared("abcdefghij" * 2, context=17).notes == ()
    assert tiny.prepared("abcdefghij" * 2, context=18).model.context == 17


def test_an_empty_validation_part_is_told():
    ready = tiny.prepared("abcdefghij", context=4)
    assert len(ready.validation.ids) == 1
    assert "validation" in only_note(ready)


@pytest.mark.parametrize("kind", ["words", "bytepair"])
def test_a_vocabulary_that_the_text_cannot_bear_is_told_with_a_better_one(kind):
    text = " ".join(f"word{number}" for number in range(3000))
    ready = tiny.prepared(text, kind=kind, vocabulary=2000)
    note = next(note for note in ready.notes if "vocabulary of" in note)
    size = ready.tokenizer.vocabulary_size
    assert f"vocabulary of {size:,} tokens" in note
    assert "--tokenizer characters" in note
    advised = re.search(r"--vocab ([\d,]+)", note)
    assert advised is None or int(advised[1].replace(",", "")) < size


def test_advice_is_never_a_larger_vocabulary():
    ready = tiny.prepared("one two three four five six. " * 8, kind="words")
    note = next(note for note in ready.notes if "vocabulary of" in note)
    assert "--tokenizer characters" in note
    assert "--vocab" not in note


def test_a_vocabulary_that_the_text_does_not_fill_is_told():
    ready = tiny.prepared(kind="words", vocabulary=500)
    assert ready.tokenizer.vocabulary_size < 500
    assert any("instead of 500: the text has no more" in note for note in ready.notes)


@pytest.mark.parametrize("text", ["a", "ab", "a" * 2])
def test_a_text_without_anything_to_predict_is_refused(text):
    with pytest.raises(TextError) as caught:
        tiny.prepared(text)
    assert f"{len(text)} character" in str(caught.value)


def test_the_shortest_text_that_can_be_trained_on_is_accepted():
    ready = tiny.prepared("abc", context=8)
    assert (ready.model.context, len(ready.train), len(ready.validation.ids)) == (1, 2, 1)


def test_a_text_of_one_word_is_refused_for_words_with_advice():
    with pytest.raises(TextError, match="--tokenizer characters"):
        tiny.prepared("supercalifragilistic", kind="words")


def test_a_vocabulary_smaller_than_the_characters_is_refused():
    with pytest.raises(ConfigurationError, match="15 distinct characters"):
        tiny.prepared(vocabulary=5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("vocabulary", [0, -1, -(10**30)])
def test_a_vocabulary_of_nothing_is_refused_by_its_name(kind, vocabulary):
    with pytest.raises(ConfigurationError) as caught:
        tiny.prepared(kind=kind, vocabulary=vocabulary)
    assert "vocabulary" in str(caught.value)
    assert str(vocabulary) in str(caught.value)


@pytest.mark.parametrize(
    "dials", [{"embed": 10_000_000, "layers": 1000, "heads": 1}, {"context": 10**9}]
)
def test_what_the_machine_cannot_hold_is_refused_before_any_work(dials, monkeypatch):
    monkeypatch.setattr(memory, "machine_bytes", lambda: 64 * 1024**3)

    def work(*_):
        raise AssertionError("the text was tokenized first")

    monkeypatch.setattr(preparation, "build_tokenizer", work)
    with pytest.raises(ConfigurationError, match=r"would need about .*iB.* has 64\.0 GiB"):
        tiny.prepared(**dials)


def test_the_vocabulary_that_was_found_counts_too(monkeypatch):
    """The dials fit by themselves; with the tokenizer of this text they do not."""
    text = "".join(chr(0x4E00 + number) for number in range(5000))
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2_000_000)
    tiny.prepared(tiny.TEXT)
    with pytest.raises(ConfigurationError, match="vocabulary=5000"):
        tiny.prepared(text)


def test_a_size_sets_all_parts_and_each_can_be_set_by_itself():
    decoder = kind_named("decoder")
    assert model_for(decoder, None, {})(9) == ModelConfiguration(9, **SIZES["small"])
    mixed = {**SIZES["tiny"], "layers": 7}
    given = {"layers": 7, "heads": None}
    assert model_for(decoder, "tiny", given)(9) == ModelConfiguration(9, **mixed)


def test_a_short_run_is_shallow_where_nobody_names_a_size():
    decoder, shallow = kind_named("decoder"), {**SIZES["small"], **BRIEF}
    assert model_for(decoder, None, {}, BRIEF_MINUTES)(9) == ModelConfiguration(9, **shallow)
    tied = ModelConfiguration(9, **shallow, tied=True)
    assert model_for(decoder, None, {"tied": True, "heads": None}, 0.1)(9) == tied
    longer = model_for(decoder, None, {}, 1.01 * BRIEF_MINUTES)
    assert longer(9) == model_for(decoder, "small", {}, 0.1)(9) == ModelConfiguration(9)


@pytest.mark.parametrize("name", SHAPE)
def test_whoever_names_a_part_of_the_shape_gets_the_rest_as_usual(name):
    given = {name: {"recipe": "classic", "key_value_heads": 2}.get(name, 8)}
    short = model_for(kind_named("decoder"), None, given, 0.1)
    assert short(9) == model_for(kind_named("decoder"), None, given)(9)


def test_other_kinds_have_no_shallow_form():
    for kind in kinds.KINDS.values():
        if kind.name != "decoder":
            assert model_for(kind, None, {}, 0.1)(9) == model_for(kind, None, {})(9)


def test_a_size_that_does_not_exist_is_refused_with_those_that_do():
    with pytest.raises(ConfigurationError, match="tiny, small, medium, large; got 'huge'"):
        model_for(kind_named("decoder"), "huge", {})


def test_a_dial_of_another_kind_is_refused_with_those_there_are():
    with pytest.raises(ConfigurationError, match="kind decoder has no order; it has layers, heads"):
        model_for(kind_named("decoder"), None, {"order": 3})
