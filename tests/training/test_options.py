"""Laws of the dials of training: checked when made, named when wrong, kept exactly."""

import json
from dataclasses import fields

import pytest

from clearformer.errors import ConfigurationError
from clearformer.training.options import OPTIMIZERS, USUAL, TrainingOptions

NAN, INFINITE = float("nan"), float("inf")

WHOLE = ("steps", "batch", "accumulation", "evaluations", "workers")
ABOVE_ZERO = ("minutes", "learning_rate", "clip", "save_seconds")
SHARES = ("warm_up", "decay_from")
AS_THE_OPTIMIZER_HAS_IT = ("learning_rate", "warm_up", "weight_decay")

WRONG = [
    *((name, value) for name in WHOLE for value in (0, -1, 2.0, 1.5, True, "3", NAN, 10**30)),
    *((name, value) for name in ABOVE_ZERO for value in (0, 0.0, -1.0, NAN, INFINITE, True, "1")),
    *((name, value) for name in SHARES for value in (-0.1, 1.1, NAN, INFINITE, True, "1")),
    *(("weight_decay", value) for value in (-0.1, NAN, INFINITE, True, "1")),
    *(("seed", value) for value in (-1, 0.5, True, None, "1")),
    *(("optimizer", value) for value in ("sgd", "Muon", "", 1, True, None)),
    ("batch", None),
    ("decay_from", None),
    ("accumulation", None),
    ("evaluations", None),
]


@pytest.mark.parametrize("name, value", WRONG, ids=str)
def test_a_wrong_value_is_refused_in_one_line_that_names_dial_and_value(name, value):
    with pytest.raises(ConfigurationError) as caught:
        TrainingOptions(**{name: value})
    message = str(caught.value)
    assert name in message
    assert str(value) in message
    assert "\n" not in message


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_what_is_not_given_is_what_the_optimizer_is_used_with(optimizer):
    usual, given = USUAL[optimizer], TrainingOptions(optimizer=optimizer, warm_up=0.3)
    for name in AS_THE_OPTIMIZER_HAS_IT:
        assert getattr(given, name) == (0.3 if name == "warm_up" else getattr(usual, name))
    assert TrainingOptions.from_json(given.to_json()) == given


def test_steps_and_minutes_exclude_each_other():
    with pytest.raises(ConfigurationError, match="steps or minutes"):
        TrainingOptions(steps=10, minutes=1.0)


def test_a_batch_cannot_be_cut_in_more_parts_than_rows():
    assert TrainingOptions(batch=3, accumulation=3).accumulation == 3
    with pytest.raises(ConfigurationError, match="accumulation=4, batch=3"):
        TrainingOptions(batch=3, accumulation=4)


def test_json_gives_back_the_same_options():
    options = TrainingOptions(steps=7, learning_rate=0.1 + 0.2, weight_decay=0.0, seed=2**53)
    again = TrainingOptions.from_json(json.loads(json.dumps(options.to_json())))
    assert again == options
    assert set(options.to_json()) == {field.name for field in fields(TrainingOptions)}


def test_a_document_from_before_there_was_a_choice_means_adamw():
    document = TrainingOptions(optimizer="muon").to_json()
    assert TrainingOptions.from_json(document).optimizer == "muon"
    document.pop("optimizer")
    assert TrainingOptions.from_json(document).optimizer == "adamw"


def test_whole_numbers_are_numbers():
    assert TrainingOptions(minutes=5, clip=2, weight_decay=0, warm_up=0, decay_from=1).minutes == 5


def test_an_unknown_key_is_refused_by_name():
    with pytest.raises(ConfigurationError, match="momentum"):
        TrainingOptions.from_json({"batch": 2, "momentum": 0.9})


def test_options_cannot_be_changed():
    with pytest.raises(AttributeError):
        TrainingOptions().batch = 3
