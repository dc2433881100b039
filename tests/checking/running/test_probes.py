"""The probes as an answer is called with them."""

from dataclasses import replace

import numpy as np
import pytest

from checking.running.teachers import ATTENTION, CLIP, NORM
from clearformer.checking.probe import Probe
from clearformer.checking.record import Style
from clearformer.checking.running.probes import all_probes

STYLES = [Style("numpy"), Style("numpy", True), Style("torch"), Style("torch", True)]


def by_name(exercise, style):
    return {probe.name: probe for probe in all_probes(exercise, style)}


@pytest.mark.parametrize("style", STYLES)
def test_they_are_the_same_every_time_and_main_ones_come_first(style):
    one, other = all_probes(ATTENTION, style), all_probes(ATTENTION, style)
    for mine, theirs in zip(one, other, strict=True):
        assert mine.name == theirs.name and mine.role == theirs.role
        for name, value in mine.arguments.items():
            np.testing.assert_array_equal(value, theirs.arguments[name])
    roles = [probe.role for probe in one]
    assert roles == sorted(roles, key=["main", "stress", "clue"].index)


@pytest.mark.parametrize("style", STYLES)
def test_only_what_may_be_batched_gets_an_axis_with_other_content(style):
    plain = by_name(ATTENTION, Style(style.library))["5 tokens"].arguments
    probe = by_name(ATTENTION, style)["5 tokens"].arguments
    assert probe["W_Q"].shape == plain["W_Q"].shape
    if style.batched:
        assert probe["X"].shape == (2, *plain["X"].shape)
        np.testing.assert_array_equal(probe["X"][0], plain["X"])
        assert np.abs(probe["X"][1] - plain["X"]).max() > 0.1


def test_for_pytorch_the_numbers_are_those_of_float32_in_float64():
    for probe in all_probes(ATTENTION, Style("torch")):
        for value in probe.arguments.values():
            if isinstance(value, np.ndarray):
                assert value.dtype == np.float64
                np.testing.assert_array_equal(value, value.astype(np.float32))


def test_hard_ones_hold_the_same_values_otherwise():
    probes = by_name(ATTENTION, Style())
    base = probes["5 tokens"].arguments
    assert probes["float32"].arguments["X"].dtype == np.float32
    assert probes["batched"].arguments["X"].shape == (2, 5, 7)
    other = probes["not contiguous"].arguments
    for name in ("X", "W_Q"):
        np.testing.assert_array_equal(other[name], base[name])
        assert not other[name].flags.c_contiguous
    vector = by_name(NORM, Style())["not contiguous"].arguments["gamma"]
    assert not vector.flags.c_contiguous
    np.testing.assert_array_equal(vector, by_name(NORM, Style())["4 columns"].arguments["gamma"])


def test_a_clue_changes_one_argument_and_no_other():
    probes = by_name(ATTENTION, Style())
    for name in ("X", "W_Q", "W_K", "W_V"):
        changed = probes[f"changed {name}"]
        assert changed.role == "clue"
        different = [
            other
            for other, value in changed.arguments.items()
            if not np.array_equal(value, probes["5 tokens"].arguments[other])
        ]
        assert different == [name]


def test_what_a_clue_changes_stays_of_its_kind():
    def probe(p):
        return [Probe("one", {"p": np.array(p)})]

    def changed(p):
        other = replace(CLIP, probes=lambda: probe(p))
        return by_name(other, Style())["changed p"].arguments["p"]

    share = changed([0.5, 0.3, 0.2, 0.0])
    assert share.sum() == pytest.approx(1) and share[3] == 0 and share[0] != 0.5
    assert changed([0.0, 0.0, 0.0]).all()
    assert np.isneginf(changed([-np.inf, 1.0])[0])


def test_arrays_in_lists_are_meant_too():
    probes = by_name(CLIP, Style())
    assert probes["float32"].arguments["grads"][1].dtype == np.float32
    assert not probes["not contiguous"].arguments["grads"][0].flags.c_contiguous


def test_a_probe_of_the_exercise_goes_before_a_made_one():
    mine = Probe("float32", {"p": np.zeros(3)}, "stress")
    other = replace(CLIP, probes=lambda: [Probe("one", {"p": np.ones(3)}), mine])
    assert by_name(other, Style())["float32"] is mine
