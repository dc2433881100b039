"""The learner's flat buffers: what goes out under the names of the model, and comes back."""

import numpy as np
import pytest

from clearformer.engines.dispatch import array_of
from models.decoders import VARIANTS, every_variant, random_decoder
from models.learners import batch, every_engine, gradients, learner_of

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

MODERN, CLASSIC = (VARIANTS[f"the {recipe} recipe"] for recipe in ("modern", "classic"))


@every_engine
@every_variant
def test_every_parameter_goes_out_under_its_path(engine, configuration):
    learner, model = learner_of(configuration, engine, np.float32), random_decoder(configuration)
    found = learner.named(learner.parameters)
    assert found.keys() == model.parameters().keys()
    for path, parameter in model.parameters().items():
        assert type(found[path]) is np.ndarray
        np.testing.assert_array_equal(found[path], parameter.astype(np.float32))


@every_engine
def test_what_goes_out_shares_the_memory_of_the_buffer(engine):
    """A save needs no second copy of the weights."""
    learner = learner_of(MODERN, engine)
    found = learner.named(learner.parameters)
    learner.parameters[:] = 3
    assert all((array == 3).all() for array in found.values())


@every_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_went_out_can_be_put_back(engine, dtype):
    learner, other = (learner_of(CLASSIC, engine, dtype) for _ in range(2))
    learner.parameters *= 2
    saved = gradients(learner, learner.parameters)
    shuffled = dict(sorted(saved.items(), reverse=True))  # a file keeps no order
    other.put(other.parameters, shuffled)
    assert (array_of(other.parameters) == array_of(learner.parameters)).all()
    averages = other.zeros()
    other.put(averages, saved)
    assert (array_of(averages) == array_of(learner.parameters)).all()
    loss = other.loss_and_gradients(*batch(CLASSIC))  # the workers read it, too
    assert loss == learner.loss_and_gradients(*batch(CLASSIC))


def without_one(saved):
    saved.popitem()


def one_more(saved):
    saved["another"] = np.zeros(1, np.float32)


def another_shape(saved):
    path = next(iter(saved))
    saved[path] = saved[path].T[:1]


def another_type(saved):
    path = next(iter(saved))
    saved[path] = saved[path].astype(np.float64)


@every_engine
@pytest.mark.parametrize("change", [without_one, one_more, another_shape, another_type])
def test_what_does_not_fit_is_not_put_in(engine, change):
    learner = learner_of(MODERN, engine, np.float32)
    before = np.array(array_of(learner.parameters))
    saved = gradients(learner, learner.parameters)
    change(saved)
    with pytest.raises(ValueError, match="other parameters"):
        learner.put(learner.parameters, saved)
    assert (array_of(learner.parameters) == before).all()


@every_engine
def test_a_snapshot_is_the_model_in_arrays(engine):
    learner = learner_of(CLASSIC, engine)
    learner.parameters *= 0.5
    model = learner.snapshot()
    assert {type(p) for p in model.parameters().values()} == {np.ndarray}
    ids, _ = batch(CLASSIC)
    np.testing.assert_allclose(model(ids), array_of(learner.model(ids)), rtol=0, atol=1e-12)
