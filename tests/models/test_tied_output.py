"""A tied output reads the embedding table, whatever is done to it."""

from dataclasses import replace

import numpy as np
import pytest

from models.decoders import (
    VARIANTS,
    both_recipes,
    loss_and_gradients,
    random_decoder,
    random_ids,
)


@pytest.fixture
def tied(recipe):
    return replace(VARIANTS[f"the {recipe} recipe"], tied=True)


@both_recipes
def test_there_is_one_table(recipe, tied):
    names = list(random_decoder(tied).parameters())
    assert "embedding.table" in names
    assert not any(name.startswith("output") for name in names)
    assert "output.linear.weight" in random_decoder(replace(tied, tied=False)).parameters()


@both_recipes
def test_the_logits_are_products_with_the_embedding_rows(recipe, tied):
    from clearformer.models.tap import Recorder

    model, listener = random_decoder(tied), Recorder()
    model(random_ids(tied, 2, 4), tap=listener)
    wanted = listener.seen["norm"] @ model.embedding.table.T
    np.testing.assert_allclose(listener.seen["logits"], wanted, rtol=1e-12)


@both_recipes
def test_it_stays_tied_when_parameters_are_replaced(recipe, tied):
    """Adding to the row of a token that is not read changes its score and no other."""
    model, ids = random_decoder(tied), np.array([[1, 2, 3]])

    def raised(name, p):
        p = p.copy()
        if name == "embedding.table":
            p[7] += 1.0
        return p

    change = abs(model.with_parameters(raised)(ids) - model(ids)).max((0, 1))
    assert change[7] > 0.1
    assert not np.delete(change, 7).any()


@both_recipes
def test_its_gradient_comes_from_both_ends(recipe, tied):
    """It is the sum of what an untied decoder with the same numbers receives at either end."""
    model = random_decoder(tied)
    table = model.embedding.table
    parameters = model.parameters() | {"output.linear.weight": table.T.copy()}
    apart = random_decoder(replace(tied, tied=False)).with_parameters(
        lambda name, _: parameters[name]
    )
    apart = replace(apart, embedding=model.embedding)  # modern embeddings are scaled only if tied
    ids, targets = random_ids(tied, 2, 5), random_ids(tied, 2, 5, seed=2)
    loss, gradients = loss_and_gradients(model, ids, targets)
    loss_apart, ends = loss_and_gradients(apart, ids, targets)
    np.testing.assert_allclose(loss, loss_apart, rtol=1e-12)
    assert ends["embedding.table"].any() and ends["output.linear.weight"].any()
    np.testing.assert_allclose(
        gradients["embedding.table"],
        ends["embedding.table"] + ends["output.linear.weight"].T,
        rtol=0,
        atol=1e-12,
    )
