import pytest

from clearformer.comparison.why.recall import Recalling, recalling_of
from clearformer.errors import ConfigurationError
from comparison.report.example import example


def by_recall(accuracy, names=("rnn", "decoder")):
    comparison = example(task={"name": "recall", "chance": 0.125}, names=names)
    for name in names:
        comparison.summary[name]["accuracy"] = {
            "mean": accuracy[name], "low": None, "high": None, "seeds": 1,
        }  # fmt: skip
    return comparison


def test_the_curve_of_each_model_goes_from_near_to_far():
    found = recalling_of(
        {64: by_recall({"rnn": 0.2, "decoder": 1.0}), 16: by_recall({"rnn": 0.9, "decoder": 1.0})}
    )
    rnn = found[0]
    assert rnn.name == "rnn" and rnn.chance == 0.125
    assert [(point.distance, point.accuracy) for point in rnn.points] == [(16, 0.9), (64, 0.2)]
    assert rnn.at(64).accuracy == 0.2
    assert rnn.at(65) is None
    assert Recalling.from_json(rnn.to_json()) == rnn


def test_of_nothing_there_is_no_curve():
    assert recalling_of({}) == ()


def test_other_tasks_and_other_models_are_refused():
    good = by_recall({"rnn": 0.9, "decoder": 1.0})
    with pytest.raises(ConfigurationError, match="recall by distance"):
        recalling_of({4: example()})
    with pytest.raises(ConfigurationError, match="the same models"):
        recalling_of({4: good, 8: by_recall({"rnn": 0.9}, names=("rnn",))})
