"""Laws of the time to quality: the reference's schedule, and one loss on each side."""

import pytest

from clearformer.benchmarking import time_to_quality
from clearformer.benchmarking.time_to_quality import RATE, SMALLEST_RATE, Setting, rate_after
from clearformer.text.corpus import Corpus

TEXT = Corpus("The rain taps on the roof, and a cat sleeps on the stone.\n" * 40, ("given",), ())


def test_the_rate_of_the_reference_rises_and_falls_along_a_cosine():
    rates = [rate_after(step, 2000) for step in range(2000)]
    assert max(rates) == rates[100] == RATE
    assert rates[:101] == sorted(rates[:101])
    assert rates[100:] == sorted(rates[100:], reverse=True)
    assert rates[-1] == pytest.approx(SMALLEST_RATE, rel=1e-2)


def test_without_pytorch_nothing_is_known_of_the_reference(monkeypatch):
    monkeypatch.setattr(time_to_quality, "find_spec", lambda name: None)
    report = time_to_quality.run(Setting(TEXT, 1))
    assert report.sides == {}
    assert "PyTorch is not installed" in report.notes[0]


def test_both_sides_learn_and_are_judged():
    pytest.importorskip("torch", reason="the reference is in PyTorch")
    report = time_to_quality.run(Setting(TEXT, 1, steps=3))
    ours, theirs = (figures.median for figures in report.sides.values())
    assert 0 < ours < 10
    assert 0 < theirs < 10
    assert "3 steps" in report.about["PyTorch reference"]
