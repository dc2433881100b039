"""With the cache and without: the same tokens, from the same logits."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.numpy.compiled.choice import SWITCH
from clearformer.generation import generate as generation
from clearformer.generation.sampling import Sampling
from clearformer.models.attention import Attention
from clearformer.models.decoder import Decoder
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.norms import RMSNorm
from clearformer.models.part import Part
from generation.listening import heard
from models.decoders import VARIANTS, both_recipes, every_variant, random_decoder, random_ids

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_seeds all are checked

MODERN = VARIANTS["the modern recipe"]


def check(monkeypatch, model, context, prompt, tokens, tolerance, **options):
    """Compares tokens and logits; the prompt and what follows may leave the context."""
    options = {"context": context, **options}
    ids, logits = heard(monkeypatch, model, prompt, tokens, **options)
    other_ids, other_logits = heard(monkeypatch, model, prompt, tokens, cached=False, **options)
    np.testing.assert_allclose(logits, other_logits, rtol=0, atol=tolerance)
    assert ids == other_ids
    assert len(ids) == tokens


@pytest.fixture(params=["the fast way", "the compiled way", "the model's own way"])
def way(request, monkeypatch):
    """The cache is filled by the rearranged matrices, or by the model where these do not fit."""
    monkeypatch.setenv(SWITCH, "never")
    if request.param == "the compiled way":
        pytest.importorskip("numba", reason="the extra `fast` is not installed")
        monkeypatch.setenv(SWITCH, "always")
    if request.param == "the model's own way":
        monkeypatch.setattr(generation, "plan_of", lambda model: None)


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_every_decoder_agrees_with_itself(configuration, dtype, tolerance, way, monkeypatch):
    model = random_decoder(configuration, dtype)
    for length in (1, configuration.context - 1, configuration.context + 5):
        prompt = random_ids(configuration, length).tolist()
        check(monkeypatch, model, configuration.context, prompt, 14, tolerance)


@both_recipes
@pytest.mark.parametrize("context", [1, 2, 3, 4, 7])
def test_every_context_and_prompt_agrees(recipe, context, way, monkeypatch):
    """Prompts shorter than the context, equal, longer, and much longer; several jumps of it."""
    configuration = replace(VARIANTS[f"the {recipe} recipe"], context=context, key_value_heads=2)
    model = random_decoder(configuration, np.float32)
    for length in {1, max(context - 1, 1), context, context + 1, 3 * context + 1}:
        prompt = random_ids(configuration, length).tolist()
        check(monkeypatch, model, context, prompt, 3 * context + 2, 2e-5)


@both_recipes
@pytest.mark.parametrize("large", [0, 10**9])
def test_gains_beside_the_matrices_or_in_them_agree(recipe, large, way, monkeypatch):
    """Those of large matrices stay beside them."""
    monkeypatch.setattr("clearformer.generation.plan.LARGE", large)
    model = random_decoder(VARIANTS[f"the {recipe} recipe"], np.float64)
    for name, gain in model.parameters().items():
        if name.endswith("gain"):
            gain[...] = np.random.default_rng(3).uniform(0.5, 2, gain.shape)
    check(monkeypatch, model, 8, [1, 2], 20, 1e-12)


@both_recipes
def test_greedy_generation_agrees(recipe, way, monkeypatch):
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration, np.float32)
    check(monkeypatch, model, 8, [1, 2], 30, 1e-5, sampling=Sampling(temperature=0.0))


@pytest.mark.parametrize("factor", [10.0, 1e4])
def test_large_scores_agree(factor, way, monkeypatch):
    """Of queries that are not normalised, so that exp must be kept from overflowing."""
    model = random_decoder(VARIANTS["the classic recipe"], np.float64)
    for block in model.blocks:
        block.attention.query.weight[...] *= factor
    check(monkeypatch, model, 8, [1, 2], 20, 1e-9)


def test_with_the_cache_only_new_tokens_are_computed(monkeypatch):
    monkeypatch.setattr(generation, "plan_of", lambda model: None)
    lengths = []

    class Counting(Decoder):
        def __call__(self, ids, *rest, **named):
            lengths.append(ids.shape[1])
            return super().__call__(ids, *rest, **named)

    model = Counting(**vars(random_decoder(MODERN)))
    heard(monkeypatch, model, [1, 2, 3], 12, context=8)
    assert lengths == [3, 1, 1, 1, 1, 1, 5, 1, 1, 1, 5, 1]
    lengths.clear()
    heard(monkeypatch, model, [1, 2, 3], 12, context=8, cached=False)
    assert lengths == [3, 4, 5, 6, 7, 8, 5, 6, 7, 8, 5, 6]


@dataclass(frozen=True)
class LoudNorm(RMSNorm):
    """A norm of somebody's own that is a kind of ours."""

    def __call__(self, x: Any) -> Any:
        return ops.multiply(super().__call__(x), np.asarray(3.0, x.dtype))


@dataclass(frozen=True)
class Halved(Part):
    """A norm of somebody's own that is not."""

    def __call__(self, x: Any) -> Any:
        return ops.multiply(x, np.asarray(0.5, x.dtype))


@dataclass(frozen=True)
class LoudLinear(Linear):
    """A linear layer of somebody's own."""

    def __call__(self, x: Any) -> Any:
        return ops.multiply(super().__call__(x), np.asarray(3.0, x.dtype))


def loud(part: Any, name: str) -> Any:
    return replace(part, **{name: LoudLinear(**vars(getattr(part, name)))})


def with_bias(part: Any, name: str) -> Any:
    weight = getattr(part, name).weight
    return replace(part, **{name: Linear(weight, np.arange(weight.shape[1], dtype=weight.dtype))})


class Doubling(Attention):
    """An attention of somebody's own."""

    def __call__(self, x: Any, *rest: Any, **named: Any) -> Any:
        looked = super().__call__(x, *rest, **named)
        return looked + looked


class Sharpened(Decoder):
    """A decoder of somebody's own."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        return ops.multiply(super().__call__(*given, **named), np.asarray(4.0))


def gelu(x: Any) -> Any:
    """Somebody's own bend that has the name of ours."""
    return ops.multiply(x, np.asarray(0.1, x.dtype))


def in_each_block(model, change):
    return replace(model, blocks=tuple(change(block) for block in model.blocks))


OWN = {
    "a kind of norm": lambda m: in_each_block(
        m, lambda b: replace(b, norm_1=LoudNorm(b.norm_1.gain))
    ),
    "another norm": lambda m: in_each_block(m, lambda b: replace(b, norm_2=Halved())),
    "another last norm": lambda m: replace(m, norm=Halved()),
    "a kind of attention": lambda m: in_each_block(
        m, lambda b: replace(b, attention=Doubling(**vars(b.attention)))
    ),
    "a bend of the same name": lambda m: in_each_block(
        m, lambda b: replace(b, feed_forward=replace(b.feed_forward, activation=gelu))
    ),
    "a kind of expanding layer": lambda m: in_each_block(
        m, lambda b: replace(b, feed_forward=loud(b.feed_forward, "expand"))
    ),
    "a kind of projecting layer": lambda m: in_each_block(
        m, lambda b: replace(b, feed_forward=loud(b.feed_forward, "project"))
    ),
    "a kind of output": lambda m: replace(m, output=loud(m.output, "linear")),
    "a bias of the keys alone": lambda m: in_each_block(
        m, lambda b: replace(b, attention=with_bias(b.attention, "key"))
    ),
    "a bias of the queries alone": lambda m: in_each_block(
        m, lambda b: replace(b, attention=with_bias(b.attention, "query"))
    ),
    "a kind of decoder": lambda m: Sharpened(**vars(m)),
    "a block unlike the first": lambda m: replace(
        m,
        blocks=(
            m.blocks[0],
            replace(
                m.blocks[1],
                attention=replace(m.blocks[1].attention, norm=Unchanged(), positions=Unchanged()),
            ),
        ),
    ),
    "a block that turns nothing": lambda m: replace(
        m,
        blocks=(
            m.blocks[0],
            replace(m.blocks[1], attention=replace(m.blocks[1].attention, positions=Unchanged())),
        ),
    ),
}


@pytest.mark.parametrize("change", OWN.values(), ids=OWN)
def test_a_layer_of_ones_own_is_what_the_cache_is_filled_with(change, monkeypatch):
    """The fast way must not stand in for a layer that it does not know."""
    usual = random_decoder(MODERN)
    model = change(usual)
    ids = random_ids(MODERN, 1, 6)
    assert abs(model(ids) - usual(ids)).max() > 1e-3
    check(monkeypatch, model, 8, [1], 14, 1e-10)


def test_an_attention_that_the_fast_way_does_not_know_generates_without_the_cache(monkeypatch):
    @dataclass(frozen=True)
    class MeanOfThePast(Part):
        def __call__(self, x, tap=None, cache=None):
            table = np.tri(x.shape[-2], dtype=x.dtype)
            return ops.matmul(table / table.sum(-1, keepdims=True), x)

    model = in_each_block(random_decoder(MODERN), lambda b: replace(b, attention=MeanOfThePast()))
    assert generation.plan_of(model) is None
    ids, _ = heard(monkeypatch, model, [1], 10, context=8, cached=False)
    assert len(ids) == 10
