import numpy as np
import pytest

from clearformer import ops
from clearformer.comparison.why.fading import Fading, awake, fading_of, gradient_norms
from clearformer.comparison.why.windows import most_written, windows_of
from clearformer.errors import TextError
from clearformer.models.kinds import build
from comparison.why.tiny import tiny


def test_norms_are_those_of_finite_differences():
    entrant = tiny()
    ids = windows_of(entrant.held_out, 7, 2)
    norms = gradient_norms(entrant.model, ids)

    def losses(vectors, row):
        shares = ops.softmax(entrant.model.from_vectors(vectors))
        return -np.log(shares[:, -1, ids[row, -1]])

    expected = np.zeros(6)
    for row in range(2):
        vectors = entrant.model.embedding(ids[row, :-1])
        moved = 1e-6 * np.eye(vectors.size).reshape(-1, *vectors.shape)
        slopes = (losses(vectors + moved, row) - losses(vectors - moved, row)) / 2e-6
        slopes = slopes.reshape(vectors.shape)
        expected += np.sqrt((slopes**2).sum(-1))[::-1] / 2
    np.testing.assert_allclose(norms, expected, rtol=1e-6)


def test_each_row_counts_as_if_it_were_alone():
    entrant = tiny()
    ids = windows_of(entrant.held_out, 7, 3)
    alone = np.mean([gradient_norms(entrant.model, row[None]) for row in ids], 0)
    np.testing.assert_allclose(gradient_norms(entrant.model, ids), alone, rtol=1e-12)


def test_a_decoder_is_looked_into_as_far_as_it_sees():
    found = fading_of(tiny(np.float32), reach=100, windows=4)
    assert found.reach == tiny().configuration.context - 1
    assert found.windows == 4
    assert all(norm is not None and norm > 0 for norm in found.trained + found.fresh)


def test_a_fresh_model_that_begins_with_zeros_is_awake():
    entrant = tiny()
    asleep = build(entrant.configuration, np.random.default_rng(0), np.float64)
    ids = windows_of(entrant.held_out, 7, 2)
    assert not gradient_norms(asleep, ids).any()
    assert gradient_norms(awake(asleep), ids).all()


def test_awake_leaves_what_is_drawn_already():
    entrant = tiny()
    again = awake(entrant.model, 9).parameters()
    assert all((again[name] == p).all() for name, p in entrant.model.parameters().items())


def test_shares_are_of_the_norm_one_step_back():
    found = Fading("rnn", (5.0, 4.0, 2.0, None), (1.0, 0.0, 1.0, 1.0), 1)
    assert found.relative(2) == 0.5
    assert found.relative(3) is None
    assert found.relative(4) is None
    assert found.relative(2, fresh=True) is None  # of nothing there is no share
    assert Fading.from_json(found.to_json()) == found


def test_stretches_lie_within_the_text_and_are_spread_over_it():
    ids = np.arange(100)
    found = windows_of(ids, 10, 4)
    assert found[0, 0] == 0 and found[-1, -1] == 99
    assert (np.diff(found, axis=1) == 1).all()
    assert windows_of(ids, 1000, 4).shape == (1, 100)


def test_rows_of_a_task_are_taken_from_their_end():
    rows = np.arange(20).reshape(2, 10)
    assert windows_of(rows, 3, 5).tolist() == [[7, 8, 9], [17, 18, 19]]


def test_ids_of_a_byte_can_be_marked_as_not_asked():
    entrant = tiny()
    ids = windows_of(entrant.held_out.astype(np.uint8), 7, 2)
    assert np.isfinite(gradient_norms(entrant.model, ids)).all()


def test_nothing_held_out_is_told():
    with pytest.raises(TextError, match="at least 2 tokens"):
        windows_of(np.arange(1), 10, 4)


def test_the_stretch_with_the_most_letters_is_shown():
    stretches = np.array([[0, 1, 1], [0, 0, 1], [0, 2, 0]])
    assert most_written(stretches, ("a", " ", "あ")).tolist() == [0, 2, 0]
