"""Which way a generation takes, and what is copied for it."""

from importlib import import_module

import numpy as np
import pytest

from clearformer.generation.plan import FAR_OFF, is_compiled, plan_of
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration


@pytest.fixture
def asked(monkeypatch):
    """The seconds about which it is asked whether kernels are worth their start."""
    seconds = []
    engine = import_module("clearformer.engines.numpy")
    monkeypatch.setattr(engine, "is_compiled", lambda plain: seconds.append(plain) or plain >= 1.5)
    return seconds


def decoder(embed, recipe="modern"):
    made = ModelConfiguration(11, layers=2, heads=2, embed=embed, context=8, recipe=recipe)
    return build_decoder(made, np.random.default_rng(0))


def test_a_model_that_fits_into_no_cache_must_write_three_times_as_long(asked, monkeypatch):
    engine = import_module("clearformer.engines.numpy")
    monkeypatch.setattr(engine, "plain_seconds", lambda layers, numbers: 0.01)
    model = decoder(16)
    assert [is_compiled(model, tokens) for tokens in (149, 151)] == [False, True]
    monkeypatch.setattr("clearformer.generation.plan.FAR_OFF", 1)
    assert [is_compiled(model, tokens) for tokens in (151, 449, 451)] == [False, False, True]
    assert asked[-1] == pytest.approx(4.51 / 3)
    assert FAR_OFF > 10_700_000  # the medium size, which gains as much as a small one


def test_a_table_is_copied_only_where_it_is_scaled():
    modern, classic = decoder(16), decoder(16, "classic")
    assert plan_of(modern).embedding is modern.embedding.table
    scaled = plan_of(classic).embedding
    np.testing.assert_array_equal(scaled, classic.embedding.table * np.float32(4))
