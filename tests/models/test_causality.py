"""Nobody sees the future, and nobody sees their neighbour in the batch."""

import numpy as np
import pytest

from clearformer.models.tap import Recorder
from models.decoders import VARIANTS, every_variant, random_decoder, random_ids

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

both_types = pytest.mark.parametrize(
    ("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)], ids=["float32", "float64"]
)


@every_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_token_changes_no_bit_of_the_logits_before_it(configuration, dtype):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 2, configuration.context)
    before = model(ids)
    for place in range(configuration.context):
        changed = ids.copy()
        changed[:, place] = (changed[:, place] + 1) % configuration.vocabulary
        after = model(changed)
        assert (after[:, :place] == before[:, :place]).all()
        assert (after[:, place] != before[:, place]).any()
        if place + 1 < configuration.context:
            assert (after[:, -1] != before[:, -1]).any()  # the later ones do see it


def test_a_loud_token_changes_no_bit_of_the_logits_before_it():
    """Large scores must be shifted before exp, small ones need not be.

    Wherever the limit lies, one of the factors puts it between the two.
    """
    configuration = VARIANTS["the classic recipe"]
    model = random_decoder(configuration, np.float32)
    tokens, length = range(configuration.vocabulary), configuration.context
    quiet = min(([token] * length for token in tokens), key=lambda ids: largest_score(model, ids))
    loud = max(
        ([*quiet[:-1], token] for token in tokens), key=lambda ids: largest_score(model, ids)
    )
    assert largest_score(model, loud) > 1.2 * largest_score(model, quiet)
    attention = model.blocks[0].attention
    for _ in range(30):
        attention.query.weight[...] *= 1.2
        attention.query.bias[...] *= 1.2
        assert (model(np.array([loud]))[:, :-1] == model(np.array([quiet]))[:, :-1]).all()
    assert largest_score(model, quiet) > 100


def largest_score(model, ids):
    """What no score of the first block can exceed: the longest query times the longest key."""
    listener = Recorder()
    model(np.array([ids]), tap=listener)
    query, key = (listener.seen[f"blocks.0.attention.{name}"] for name in ("query", "key"))
    lengths = np.linalg.norm(query, axis=-1).max() * np.linalg.norm(key, axis=-1).max()
    return lengths / np.sqrt(query.shape[-1])


@every_variant
@both_types
def test_a_row_does_not_depend_on_its_batch(configuration, dtype, tolerance):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 5, configuration.context)
    together = model(ids)
    for row in range(len(ids)):
        np.testing.assert_allclose(model(ids[row : row + 1])[0], together[row], 0, tolerance)
    np.testing.assert_allclose(model(ids[::-1]), together[::-1], 0, tolerance)


@every_variant
@both_types
def test_what_follows_does_not_change_what_is_said_of_the_beginning(
    configuration, dtype, tolerance
):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 2, configuration.context)
    whole = model(ids)
    for length in range(1, configuration.context):
        np.testing.assert_allclose(model(ids[:, :length]), whole[:, :length], 0, tolerance)


def test_the_order_of_the_tokens_matters():
    """Without positions a decoder of one block could not tell two orders of the past apart."""
    for configuration in VARIANTS.values():
        model = random_decoder(configuration)
        one, other = np.array([[1, 2, 3, 4]]), np.array([[2, 1, 3, 4]])
        assert abs(model(one)[0, -1] - model(other)[0, -1]).max() > 1e-3
