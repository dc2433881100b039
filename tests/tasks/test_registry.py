"""Laws of the list of tasks."""

from dataclasses import fields
from importlib import import_module

import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks import TASKS, PairTask, SequenceTask, as_sequences, task, tasks


@pytest.mark.parametrize("name", tasks())
def test_every_task_is_found_named_and_described(name):
    made = task(name)
    assert made.name == name
    assert isinstance(made, SequenceTask | PairTask)
    says = TASKS[name].says
    assert says.endswith(".")
    assert says[0].isupper()
    assert "\n" not in says


@pytest.mark.parametrize("name", tasks())
def test_every_task_has_a_limit_to_compare_with(name, rng):
    made = task(name)
    made = as_sequences(made) if isinstance(made, PairTask) else made
    assert made.chance is not None or made.best is not None
    inputs, targets = made.draw(rng, 3)
    assert inputs.shape == targets.shape == (3, made.context)
    assert inputs.max() < len(made.vocabulary)


@pytest.mark.parametrize("name", tasks())
def test_every_setting_is_described_and_has_a_default(name):
    kind = getattr(import_module(TASKS[name].module), TASKS[name].kind)
    assert task(name, **{field.name: field.default for field in fields(kind)}) == task(name)


def test_settings_are_taken():
    assert task("recall", distance=256).distance == 256
    assert task("dates", languages="ja").languages == "ja"


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("recal", {}, "there is no task 'recal'; did you mean recall? there are addition, copy,"),
        ("date", {}, "did you mean dates"),
        ("chess", {}, "there is no task 'chess'; there are addition, copy, dates,"),
        ("copy", {"size": 4}, "no setting 'size'; what may be set: least, most, symbols"),
        ("recall", {"distanse": 4}, "'distanse'; did you mean distance?; what may be set: dist"),
        ("recall", {"distance": -1}, "distance must be a whole number from 1"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_what_there_is(name, settings, told):
    with pytest.raises(ConfigurationError) as caught:
        task(name, **settings)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
