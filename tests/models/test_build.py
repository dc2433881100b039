"""What a fresh decoder knows: nothing, evenly."""

from math import log, sqrt

import numpy as np
import pytest

from clearformer import ops
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from models.decoders import SIZES, VARIANTS, both_recipes, every_variant, random_ids

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked


@pytest.mark.parametrize("vocabulary", [1, 2, 65, 1000])
def test_a_fresh_modern_decoder_is_undecided_among_all_tokens(vocabulary, rng):
    configuration = ModelConfiguration(**{**SIZES, "vocabulary": vocabulary})
    model = build_decoder(configuration, rng, np.float64)
    ids = random_ids(configuration, 3, 8)
    logits = model(ids)
    assert not logits.any()
    assert float(ops.cross_entropy(logits, ids)) == pytest.approx(log(vocabulary), abs=1e-14)


@both_recipes
def test_a_fresh_decoder_is_nearly_undecided(recipe, rng):
    configuration = ModelConfiguration(100, embed=64, heads=4, recipe=recipe)
    ids = random_ids(configuration, 4, 64)
    loss = float(ops.cross_entropy(build_decoder(configuration, rng)(ids), ids[::-1]))
    assert log(100) - 0.1 < loss < log(100) + 1


@every_variant
def test_the_same_luck_gives_the_same_weights(configuration):
    first, again, other = (
        build_decoder(configuration, np.random.default_rng(seed)).parameters() for seed in (4, 4, 5)
    )
    assert all((first[name] == again[name]).all() for name in first)
    assert any((first[name] != other[name]).any() for name in first)


@every_variant
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_number_is_of_the_type_asked_for(configuration, dtype, rng):
    model = build_decoder(configuration, rng, dtype)
    assert {p.dtype for p in model.parameters().values()} == {np.dtype(dtype)}
    assert model(random_ids(configuration, 1, 3)).dtype == dtype


def test_both_types_begin_with_the_same_numbers():
    narrow, wide = (
        build_decoder(VARIANTS["the classic recipe"], np.random.default_rng(0), dtype)
        for dtype in (np.float32, np.float64)
    )
    for name, p in narrow.parameters().items():
        assert (p == wide.parameters()[name]).all()


@both_recipes
def test_no_two_matrices_begin_alike(recipe, rng):
    """Equal blocks would stay equal for ever."""
    parameters = build_decoder(VARIANTS[f"the {recipe} recipe"], rng).parameters()
    drawn = [p.tobytes() for p in parameters.values() if p.ndim == 2 and p.any()]
    assert len(set(drawn)) == len(drawn) >= 9


@both_recipes
def test_what_reads_the_stream_keeps_its_size_and_what_writes_changes_little(recipe, rng):
    sizes = {"layers": 3, "heads": 4, "embed": 256, "context": 8, "vocabulary": 300}
    model = build_decoder(ModelConfiguration(**sizes, recipe=recipe), rng)
    for name, p in model.parameters().items():
        if name.endswith(("query.weight", "key.weight", "value.weight", "expand.weight")):
            assert p.std() == pytest.approx(1 / sqrt(len(p)), rel=0.05), name
        if name.endswith(("attention.output.weight", "project.weight")):
            expected = 0 if recipe == "modern" else 1 / sqrt(len(p) * 2 * 3)
            assert p.std() == pytest.approx(expected, rel=0.05), name
        if name.endswith("gain"):
            assert (p == 1).all()
        if name.endswith("bias"):
            assert not p.any()


@both_recipes
def test_without_luck_every_matrix_is_zero(recipe):
    """A skeleton that a save fills in; nothing is drawn in vain."""
    parameters = build_decoder(VARIANTS[f"the {recipe} recipe"], None).parameters()
    assert not any(p.any() for name, p in parameters.items() if not name.endswith("gain"))
