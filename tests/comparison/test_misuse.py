"""What no comparison can be made of is told at once, in one line, before anything is trained."""

import os

import pytest

from clearformer.errors import ConfigurationError, RunError

from .small import Ears, small, small_task


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("models", 5),
        ("models", [None]),
        ("models", {"rnn": 1}),
        ("settings", 5),
        ("settings", "x"),
        ("settings", {5: 1}),
        ("budget", 5),
        ("folder", 5),
        ("folder", b"x"),
        ("report", 5),
        ("language", "fr"),
        ("language", 3),
        ("vocab", "5"),
    ],
)
def test_what_is_no_option_is_told_before_anything_is_trained(option, value):
    ears = Ears()
    with pytest.raises(ConfigurationError, match=option) as refusal:
        small(listener=ears, **{option: value})
    assert "\n" not in str(refusal.value)
    assert not ears.begun_jobs


def test_what_does_not_fit_in_memory_is_made_smaller_by_the_budget(monkeypatch):
    monkeypatch.setattr("clearformer.training.memory.machine_bytes", lambda: 1000)
    with pytest.raises(ConfigurationError, match=r"a smaller --budget of parameters$") as told:
        small(models=["rnn"])
    assert "--size" not in str(told.value)


def test_a_setting_named_twice_is_never_one_of_the_two():
    with pytest.raises(ConfigurationError, match="distance twice"):
        small_task(settings={"k": 4, "distance": 8})


def test_a_report_that_cannot_be_written_is_told_before_anything_is_trained(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    ears = Ears()
    with pytest.raises(RunError, match="read-only"):
        small(listener=ears, report=tmp_path / "page.html")
    assert not ears.begun_jobs
