"""Listening changes nothing; an edit changes what follows and nothing before."""

import numpy as np
import pytest

from clearformer.models.tap import Recorder, silent, under
from models.decoders import (
    VARIANTS,
    both_recipes,
    every_variant,
    loss_and_gradients,
    random_decoder,
    random_ids,
)

ATTENTION = [
    *("query", "key", "value"),
    *("products", "scores", "masked_scores", "weights", "mixed", "output"),
]

BLOCK = [
    "norm_1",
    *(f"attention.{name}" for name in ATTENTION),
    "after_attention",
    "norm_2",
    *(f"feed_forward.{name}" for name in ("hidden", "activated", "output")),
    "after_feed_forward",
]


def contract(configuration):
    """The names that outside programs rely on, in the order in which they are computed."""
    shifted = ["shifted"] if configuration.completed.token_shift else []
    position = ["position"] if configuration.completed.positions == "sinusoidal" else []
    blocks = [f"blocks.{n}.{name}" for n in range(configuration.layers) for name in BLOCK]
    return ["embedding", *shifted, *position, "positioned", *blocks, "norm", "logits"]


def heard(model, ids, **edits):
    listener = Recorder(edits)
    model(ids, tap=listener)
    return listener.seen


@every_variant
def test_every_name_of_the_contract_is_heard_in_order(configuration):
    model = random_decoder(configuration)
    assert list(heard(model, random_ids(configuration, 2, 5))) == contract(configuration)


@every_variant
def test_the_axes_are_those_of_the_glossary(configuration):
    c, batch, seq = configuration.completed, 3, 5
    width = c.embed // c.heads
    stream = (batch, seq, c.embed)
    table = (batch, c.heads, seq, seq)
    shapes = {
        "position": (seq, c.embed),
        "query": (batch, c.heads, seq, width),
        "key": (batch, c.key_value_heads, seq, width),
        "value": (batch, c.key_value_heads, seq, width),
        **dict.fromkeys(("products", "scores", "masked_scores", "weights"), table),
        "mixed": (batch, c.heads, seq, width),
        "hidden": (batch, seq, c.hidden),
        "activated": (batch, seq, c.hidden),
        "logits": (batch, seq, c.vocabulary),
    }
    for name, x in heard(random_decoder(c), random_ids(c, batch, seq)).items():
        assert x.shape == shapes.get(name.split(".")[-1], stream), name


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_listening_changes_nothing(configuration, dtype, tolerance):
    model = random_decoder(configuration, dtype)
    ids = random_ids(configuration, 3, configuration.context)
    alone = model(ids)
    seen = heard(model, ids)
    np.testing.assert_allclose(seen["logits"], alone, rtol=0, atol=tolerance)
    assert {x.dtype for x in seen.values()} == {np.dtype(dtype)}


@both_recipes
def test_listening_changes_no_gradient(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration)
    ids, targets = random_ids(configuration, 3, 6), random_ids(configuration, 3, 6, seed=2)
    loss, gradients = loss_and_gradients(model, ids, targets)
    heard_loss, heard_gradients = loss_and_gradients(model, ids, targets, tap=Recorder())
    np.testing.assert_allclose(heard_loss, loss, rtol=1e-12)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(heard_gradients[name], gradient, 1e-9, 1e-12, err_msg=name)


@both_recipes
def test_an_edit_changes_what_follows_and_nothing_before(recipe, rng, unchecked):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration)
    ids = random_ids(configuration, 2, 5)
    usual = heard(model, ids)
    names = list(usual)
    for place, name in enumerate(names):
        replaced = usual[name] + rng.normal(size=usual[name].shape)
        seen = heard(model, ids, **{name: lambda x, replaced=replaced: replaced})
        assert list(seen) == names
        for earlier in names[:place]:
            assert (seen[earlier] == usual[earlier]).all(), f"editing {name} changed {earlier}"
        assert seen[name] is replaced
        assert (seen["logits"] != usual["logits"]).any(), f"editing {name} changed nothing"


@both_recipes
def test_an_edit_at_one_position_reaches_no_earlier_one(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration)
    ids = random_ids(configuration, 2, 6)
    usual = heard(model, ids)

    def moved(x):
        x = x.copy()
        x[..., 3, :] += 1.0
        return x

    for name in ("embedding", "blocks.0.attention.value", "blocks.1.after_attention"):
        seen = heard(model, ids, **{name: moved})
        np.testing.assert_allclose(
            seen["logits"][:, :3], usual["logits"][:, :3], rtol=0, atol=1e-12
        )
        assert (seen["logits"][:, 3] != usual["logits"][:, 3]).any()


def test_an_edit_is_given_what_was_computed():
    configuration = VARIANTS["the classic recipe"]
    model, ids = random_decoder(configuration), random_ids(configuration, 1, 4)
    given = []
    heard(model, ids, **{"blocks.1.norm_1": lambda x: given.append(x) or x})
    assert (given[0] == heard(model, ids)["blocks.1.norm_1"]).all()


def test_a_tap_inside_a_part_hears_the_whole_path(rng):
    heard_names = []
    x = rng.normal(size=(2, 2))
    outer = under(lambda name, x: heard_names.append(name) or x, "blocks.0")
    assert under(outer, "attention")("weights", x) is x
    assert heard_names == ["blocks.0.attention.weights"]


def test_a_silent_tap_stays_silent_inside_a_part():
    """Models recognise it by identity, to take the fast way."""
    assert under(silent, "blocks.0") is silent
