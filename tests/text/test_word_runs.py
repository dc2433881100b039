"""Laws of cutting a text into runs: the quick way gives what the rule gives."""

from hypothesis import given

from clearformer.text.scripts import SOUND_MARKS
from clearformer.text.word_runs import _runs_told, _told_one_by_one, told
from text.samples import many_examples, nasty, raw_texts


@many_examples
@given(nasty)
def test_the_quick_way_gives_what_the_rule_gives(text: str) -> None:
    assert list(told(text)) == list(_told_one_by_one(text))


@many_examples
@given(raw_texts)
def test_so_it_does_for_any_string(text: str) -> None:
    assert list(told(text)) == list(_told_one_by_one(text))


@many_examples
@given(nasty)
def test_without_sound_marks_the_rule_is_never_needed(text: str) -> None:
    for mark in SOUND_MARKS:
        text = text.replace(mark, "")
    assert [run for run in _runs_told().findall(text) if run] == list(_told_one_by_one(text))
