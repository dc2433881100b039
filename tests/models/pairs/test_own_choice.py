"""Laws of scheduled sampling: what a decoder reads where it is not told."""

import numpy as np
import pytest

from clearformer.models.pairs.own_choice import with_own_choices
from models.pairs.small import BEGIN, batch, every_model, random_model


@every_model
def test_each_choice_is_the_likeliest_after_all_that_was_read(name):
    model, (sources, lengths, inputs) = random_model(name), batch()
    given = np.random.default_rng(3).random(inputs.shape) < 0.5
    given[:, 0] = True
    read = with_own_choices(model, sources, lengths, inputs, given)
    np.testing.assert_array_equal(read[given], inputs[given])
    scores = model(sources, read, lengths=lengths).copy()
    scores[:, :, BEGIN] = -np.inf
    chosen = scores.argmax(-1)[:, :-1]
    np.testing.assert_array_equal(read[:, 1:][~given[:, 1:]], chosen[~given[:, 1:]])
    assert (read != inputs).any()


def test_where_all_is_given_nothing_is_computed():
    sources, lengths, inputs = batch()
    given = np.ones(inputs.shape, bool)
    model = random_model("gru, dot")
    assert with_own_choices(model, sources, lengths, inputs, given) is inputs


def test_both_engines_read_the_same():
    torch = pytest.importorskip("torch")
    model, (sources, lengths, inputs) = random_model("gru, dot"), batch()
    given = np.zeros(inputs.shape, bool)
    given[:, 0] = True
    theirs = model.with_parameters(lambda _, p: torch.tensor(p, requires_grad=True))
    np.testing.assert_array_equal(
        with_own_choices(theirs, sources, lengths, inputs, given),
        with_own_choices(model, sources, lengths, inputs, given),
    )
