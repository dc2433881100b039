"""Laws of the reporter: it hears everything in order, and by itself says nothing."""

from pathlib import Path

import pytest

from clearformer.models.configuration import ModelConfiguration
from clearformer.training.evaluation import Evaluation
from clearformer.training.events import Reporter, Start, Step

START = Start(
    folder=Path("runs/a"),
    model=ModelConfiguration(10),
    tokenizer="characters",
    tokens=90,
    validation_tokens=10,
    batch=2,
    where="1 processor",
    step=0,
    steps=5,
    minutes=None,
)
STEP = Step(
    step=1,
    progress=0.2,
    loss=2.0,
    learning_rate=0.1,
    gradient_norm=1.0,
    clipped_norm=1.0,
    tokens_seen=16,
    tokens_per_second=100.0,
    seconds=0.1,
    seconds_left=0.4,
)


def test_a_plain_reporter_keeps_silent(capfd):
    reporter = Reporter()
    reporter.started(START)
    reporter.note("context was cut")
    reporter.step(STEP)
    reporter.evaluated(1, Evaluation(loss=2.0, tokens=9, characters=9))
    reporter.sampled(1, "abc")
    reporter.saved(1)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("event", [START, STEP])
def test_what_was_told_cannot_be_changed(event):
    with pytest.raises(AttributeError):
        event.step = 3
