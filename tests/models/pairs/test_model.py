"""Laws of both models on pairs: padding, causality, steps, and what the configuration counts."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.kinds import build
from clearformer.models.pairs.configuration import EncoderDecoderConfiguration
from clearformer.models.tap import Recorder
from models.pairs.small import END, batch, configuration, every_model, random_model

close = {"rtol": 1e-10, "atol": 1e-12}


@every_model
def test_a_row_that_is_filled_up_gives_what_it_gives_alone(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    together = model(sources, inputs, lengths=lengths)
    for row, length in enumerate(lengths):
        alone = model(sources[row : row + 1, :length], inputs[row : row + 1])
        np.testing.assert_allclose(together[row : row + 1], alone, **close)


@every_model
def test_what_fills_a_row_up_changes_no_bit(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    others = np.where(np.arange(7) >= lengths[:, None], 3, sources)
    assert (others != sources).any()
    np.testing.assert_array_equal(
        model(sources, inputs, lengths=lengths), model(others, inputs, lengths=lengths)
    )


@every_model
def test_a_target_never_sees_what_comes_later(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    changed = inputs.copy()
    changed[:, 4:] = (inputs[:, 4:] + 1) % 11
    before, after = (model(sources, ids, lengths=lengths) for ids in (inputs, changed))
    np.testing.assert_array_equal(before[:, :4], after[:, :4])
    assert (before[:, 4:] != after[:, 4:]).any()


@every_model
def test_every_position_of_the_source_matters(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    before = model(sources, inputs, lengths=lengths)
    for place in range(4):
        changed = sources.copy()
        changed[:, place] = (changed[:, place] + 1) % 11
        assert (model(changed, inputs, lengths=lengths) != before).any(axis=(1, 2)).all(), place


@every_model
def test_step_by_step_gives_what_all_at_once_gives(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    whole = model(sources, inputs, lengths=lengths)
    state = model.begin(model.encode(sources, lengths), inputs.shape[1])
    for place in range(inputs.shape[1]):
        np.testing.assert_allclose(model.step(inputs[:, place], state), whole[:, place], **close)


@every_model
def test_rows_can_be_taken_several_times_between_steps(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    rows = np.array([2, 0, 0])
    state = model.begin(model.encode(sources, lengths), inputs.shape[1])
    model.step(inputs[:, 0], state)
    state.take(rows)
    found = model.step(inputs[rows, 1], state)
    whole = model(sources, inputs, lengths=lengths)
    np.testing.assert_allclose(found, whole[rows, 1], **close)


@every_model
def test_without_inputs_it_reads_the_begin_alone(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    np.testing.assert_allclose(
        model(sources, lengths=lengths), model(sources, inputs[:, :1], lengths=lengths), **close
    )


@every_model
def test_listening_changes_nothing(name):
    model, (sources, _, inputs) = random_model(name), batch()
    listener = Recorder()
    heard = model(sources, inputs, tap=listener)
    np.testing.assert_allclose(heard, model(sources, inputs), **close)
    for stage, values in listener.seen.items():
        if stage.endswith("weights"):
            np.testing.assert_allclose(np.asarray(values).sum(-1), 1, err_msg=stage)


@every_model
def test_no_weight_lies_on_what_fills_a_row_up(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    listener = Recorder()
    model(sources, inputs, lengths=lengths, tap=listener)
    for stage, values in listener.seen.items():
        looks_at_source = "cross.weights" in stage or stage in (
            "decoder.attention.weights", "encoder.blocks.0.attention.weights",
        )  # fmt: skip
        if looks_at_source:
            assert (np.asarray(values)[1, ..., 4:] == 0).all(), stage


@every_model
def test_the_configuration_counts_the_parameters(name):
    for dials in ({}, {"hidden": None}, {"embed": 16, "layers": 3}):
        chosen = configuration(name, **dials)
        assert build(chosen, None).parameter_count() == chosen.parameter_count
        assert chosen.completed.parameter_count == chosen.parameter_count
        assert type(chosen).from_json(chosen.to_json()) == chosen.completed


@every_model
def test_work_and_memory_grow_with_rows(name):
    chosen = configuration(name)
    for count in (chosen.operations, chosen.kept_numbers):
        assert type(count(3)) is int
        assert 0 < 3 * count(1) == count(3)


@every_model
def test_both_engines_agree(name, unchecked):
    torch = pytest.importorskip("torch")
    model, (sources, lengths, inputs) = random_model(name), batch()
    theirs = model.with_parameters(lambda _, p: torch.tensor(p))
    found = theirs(sources, inputs, lengths=lengths).numpy()
    np.testing.assert_allclose(found, model(sources, inputs, lengths=lengths), 1e-9, 1e-11)
    state = theirs.begin(theirs.encode(sources, lengths), 2)
    theirs.step(inputs[:, 0], state)
    state.take(np.array([1, 1]))
    step = theirs.step(inputs[[1, 1], 1], state).numpy()
    np.testing.assert_allclose(step, found[[1, 1], 1], 1e-9, 1e-11)


@pytest.mark.parametrize(
    "dials",
    [
        {"cell": "elman"}, {"attention": "soft"}, {"bidirectional": 1}, {"teacher_forcing": 1.5},
        {"teacher_forcing": True}, {"hidden": 0}, {"context": 0}, {"dropout": 1.0},
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(dials, unchecked):
    with pytest.raises(ConfigurationError, match=next(iter(dials))):
        configuration("gru, dot", **dials)


def test_heads_must_share_out_the_width():
    with pytest.raises(ConfigurationError, match="multiple of heads"):
        configuration("modern transformer", embed=9)


def test_a_source_ends_with_the_end():
    sources, lengths, _ = batch()
    assert (sources[np.arange(3), lengths - 1] == END).all()


@pytest.mark.parametrize(
    "name", ["lstm, both ways", "rnn, both ways", "modern transformer", "classic transformer"]
)
def test_an_encoder_of_both_sides_knows_at_the_first_position_what_comes_last(name):
    model, (sources, lengths, _) = random_model(name), batch()
    changed = sources.copy()
    changed[np.arange(3), lengths - 2] = (changed[np.arange(3), lengths - 2] + 1) % 11
    before, after = (model.encode(ids, lengths).outputs[:, 0] for ids in (sources, changed))
    assert (before != after).any(-1).all()


def test_a_transformer_saved_before_there_was_a_largest_score_has_none():
    now = EncoderDecoderConfiguration(9, embed=16, heads=2).to_json()
    earlier = {name: value for name, value in now.items() if name != "largest_score"}
    found = EncoderDecoderConfiguration.from_json(earlier)
    assert found.to_json() == earlier != now
    block = build(found, None).decoder.blocks[0]
    assert block.attention.scale is None and block.cross.scale is None
    block = build(EncoderDecoderConfiguration.from_json(now), None).decoder.blocks[0]
    assert block.attention.scale == block.cross.scale == 16 / 8
