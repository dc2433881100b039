import numpy as np
import pytest

from clearformer.comparison.entrants import entrant_of
from clearformer.comparison.rows_course import RowsCourse
from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import awake
from clearformer.comparison.why.looking import Looking, looking_of
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import build
from clearformer.models.tap import Recorder
from clearformer.tasks import task
from comparison.why.tiny import tiny


def test_the_weights_of_a_head_add_up_to_one():
    found = looking_of(tiny(), windows=5)
    assert len(found.heads) == 4
    assert found.windows == 5
    for head in found.heads:
        assert sum(head.by_distance) == pytest.approx(1, abs=1e-4)
        assert 0 <= head.distance <= len(head.by_distance) - 1


def test_they_are_those_of_the_last_position_from_near_to_far():
    entrant = tiny()
    found = looking_of(entrant, windows=1)
    ids = entrant.held_out[: entrant.configuration.context]
    recorder = Recorder()
    entrant.model(ids[None], tap=recorder)
    weights = recorder.seen["blocks.1.attention.weights"][0, 1, -1, ::-1]
    np.testing.assert_allclose(found.heads[3].by_distance, weights, atol=1e-6)


def test_of_each_layer_one_head_is_shown_token_by_token():
    found = looking_of(tiny(), shown=6)
    shown = [head for head in found.heads if head.shown]
    assert [head.layer for head in shown] == [0, 1]
    assert len(found.tokens) == 6
    for head in shown:
        assert [len(row) for row in head.shown] == [1, 2, 3, 4, 5, 6]
        assert all(sum(row) == pytest.approx(1, abs=0.01) for row in head.shown)


def test_it_is_the_most_decided_one():
    entrant = tiny()
    sharp = entrant.model.with_parameters(
        lambda name, p: np.hstack([p[:, :4], 50 * p[:, 4:]])
        if name.endswith(("query.weight", "key.weight")) else p
    )  # fmt: skip
    found = looking_of(type(entrant)(**{**vars(entrant), "model": unnormed(sharp)}), windows=2)
    assert {head.head for head in found.heads if head.shown} == {1}


def unnormed(model):
    """Without the norm of queries and keys, which would undo what is sharp."""
    from dataclasses import replace

    from clearformer.models.linear import Unchanged

    blocks = [
        replace(block, attention=replace(block.attention, norm=Unchanged()))
        for block in model.blocks
    ]
    return replace(model, blocks=tuple(blocks))


def on_pairs(name, **settings):
    """A decoder with random weights on the rows of a task of pairs."""
    course, entrant = RowsCourse(task(name, **settings)), entrant_of("decoder")
    vocabulary = course.vocabulary(entrant)
    configuration = ModelConfiguration(
        len(vocabulary), layers=1, heads=2, embed=8, **course.dials(entrant)
    )
    model = awake(build(configuration, np.random.default_rng(3), np.float64))
    return Trained(
        "decoder", configuration, model, vocabulary, None, course.held_out(entrant),
        course.lengths(entrant),
    )  # fmt: skip


def test_of_pairs_a_whole_one_is_shown_without_what_follows_it():
    found = looking_of(on_pairs("reverse"))
    source, target = "".join(found.tokens).split("⟨to⟩")
    assert len(source) >= 4 and source.isalpha()
    assert target == source[::-1]


def test_of_dates_a_whole_one_is_shown():
    date, iso = "".join(looking_of(on_pairs("dates")).tokens).split("⟨to⟩")
    assert date and [len(part) for part in iso.split("-")] == [4, 2, 2]


def test_pairs_longer_than_what_is_shown_are_shown_at_their_end():
    entrant = on_pairs("reverse", least=14)
    found = looking_of(entrant, shown=5)
    assert len(found.tokens) == 5 and "".join(found.tokens).isalpha()


def test_what_follows_a_pair_counts_in_no_mean():
    entrant = on_pairs("reverse")
    found = looking_of(entrant, windows=3)
    total = np.zeros((2, entrant.configuration.context))
    for ids, length in zip(entrant.held_out[:3], entrant.lengths, strict=False):
        recorder = Recorder()
        entrant.model(ids[None, :length], tap=recorder)  # the pair alone, without its padding
        total[:, :length] += recorder.seen["blocks.0.attention.weights"][0, :, -1, ::-1]
    for head in found.heads:
        reach = len(head.by_distance)
        assert not total[head.head, reach:].any()
        np.testing.assert_allclose(head.by_distance, total[head.head, :reach] / 3, atol=1e-6)


def test_a_model_without_attention_is_left_out():
    entrant = tiny()
    assert looking_of(type(entrant)(**{**vars(entrant), "model": object()})) is None


def test_it_comes_back_from_json():
    found = looking_of(tiny())
    assert Looking.from_json(found.to_json()) == found
