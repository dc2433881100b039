"""Laws of Muon on a learner: matrices of blocks move orthogonally, everything else by AdamW."""

import numpy as np
import pytest

from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.models.build import build_decoder
from clearformer.models.kinds import KINDS, build
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import (
    AdamW,
    AdamWSettings,
    Muon,
    MuonSettings,
    optimizer_for,
)
from clearformer.training.options import TrainingOptions
from clearformer.verification.orthogonal import by_the_book
from training import tiny


@pytest.fixture(scope="module", params=["classic", "modern"])
def ready(request):
    """Biases and gains, or neither."""
    return tiny.prepared(recipe=request.param)


def moved(learner, optimizer, rng, steps=1, first=1, size=1.0):
    """The parameters after some steps with random gradients."""
    for step in range(first, first + steps):
        learner.gradients[:] = size * rng.standard_normal(len(learner.gradients))
        optimizer.update(step, 0.01)
    return {name: w.copy() for name, w in learner.named(learner.parameters).items()}


def test_matrices_move_as_the_formula_says(ready, rng):
    """The formula written down once more, with singular values in place of products."""
    learner = tiny.learner(ready, dtype=np.float64)
    settings = MuonSettings(momentum=0.8, size=0.3, decay=0.2, steps=2)
    optimizer = Muon(learner, settings)
    expected = {name: w.copy() for name, w in learner.named(learner.parameters).items()}
    momentum = dict.fromkeys(learner.hidden, 0.0)
    for step in range(1, 6):
        learner.gradients[:] = rng.standard_normal(len(learner.gradients))
        gradients = learner.named(learner.gradients)
        for name in learner.hidden:
            momentum[name] = 0.8 * momentum[name] + gradients[name]
            direction = by_the_book(gradients[name] + 0.8 * momentum[name], 2)
            inputs, outputs = direction.shape
            length = 0.3 * np.sqrt(max(1, outputs / inputs))
            expected[name] = expected[name] - 0.02 * (length * direction + 0.2 * expected[name])
        optimizer.update(step, 0.02)
    found = learner.named(learner.parameters)
    for name in learner.hidden:
        np.testing.assert_allclose(found[name], expected[name], 1e-11, 1e-12, err_msg=name)


def test_everything_else_moves_as_with_adamw(ready):
    one, other = tiny.learner(ready), tiny.learner(ready)
    rest = AdamWSettings(beta_1=0.8, decay=0.3)
    found = moved(one, Muon(one, rest=rest), np.random.default_rng(1), 4)
    expected = moved(other, AdamW(other, rest), np.random.default_rng(1), 4)
    assert set(found) > set(one.hidden)
    for name in found:
        assert (found[name] == expected[name]).all() == (name not in one.hidden), name


def test_an_update_has_the_size_that_the_learning_rate_says(ready, rng):
    """Whatever the shape: what goes in with numbers of mean square 1 comes out as much changed."""
    learner = tiny.learner(ready)
    before = {name: w.copy() for name, w in learner.named(learner.parameters).items()}
    settings = MuonSettings(decay=0.0, steps=8)
    after = moved(learner, Muon(learner, settings), rng)
    for name in learner.hidden:
        update = after[name] - before[name]
        comes_out = np.square(update).sum(0).mean()
        assert np.sqrt(comes_out) == pytest.approx(0.01 * settings.size, 0.1), name


@pytest.mark.parametrize("size", [1e-6, 1e-3, 1e3])
def test_the_size_of_gradients_does_not_matter(ready, size):
    one, other = tiny.learner(ready), tiny.learner(ready)
    found = moved(one, Muon(one), np.random.default_rng(1), 3)
    expected = moved(other, Muon(other), np.random.default_rng(1), 3, size=size)
    for name in one.hidden:
        np.testing.assert_allclose(found[name], expected[name], 0, 1e-6, err_msg=name)


def test_without_a_gradient_matrices_shrink_and_nothing_else_happens(ready):
    learner = tiny.learner(ready)
    before = {name: w.copy() for name, w in learner.named(learner.parameters).items()}
    learner.gradients[:] = 0
    Muon(learner, MuonSettings(decay=0.1), AdamWSettings(decay=0.1)).update(1, 0.5)
    for name, found in learner.named(learner.parameters).items():
        kept = 1 - 0.5 * 0.1 if found.ndim > 1 else 1.0
        np.testing.assert_allclose(found, kept * before[name], 1e-6, err_msg=name)


@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_nothing(ready, workers):
    alone, shared = (tiny.learner(ready, workers=number) for number in (1, workers))
    one = moved(alone, Muon(alone), np.random.default_rng(1), 5)
    other = moved(shared, Muon(shared), np.random.default_rng(1), 5)
    assert tiny.digest(one) == tiny.digest(other)


def test_a_restored_optimizer_goes_on_bit_for_bit(ready):
    learner = tiny.learner(ready)
    optimizer = Muon(learner)
    moved(learner, optimizer, np.random.default_rng(1), 3)
    kept = {name: array.copy() for name, array in optimizer.state().items()}
    weights = learner.parameters.copy()
    expected = tiny.digest(moved(learner, optimizer, np.random.default_rng(2), 3, first=4))

    other = tiny.learner(ready, seed=9)
    other.parameters[:] = weights
    fresh = Muon(other)
    fresh.restore(kept)
    assert tiny.digest(moved(other, fresh, np.random.default_rng(2), 3, first=4)) == expected


def test_its_state_has_one_array_for_a_matrix_of_a_block_and_two_for_others(ready):
    learner = tiny.learner(ready)
    shapes = {name: array.shape for name, array in learner.named(learner.parameters).items()}
    expected = {}
    for name, shape in shapes.items():
        kinds = ("momentum",) if name in learner.hidden else ("first", "second")
        expected |= {f"{kind}.{name}": shape for kind in kinds}
    state = Muon(learner).state()
    assert {name: array.shape for name, array in state.items()} == expected
    assert Muon(learner).state(keep=False) == {}


def test_the_state_of_another_optimizer_is_refused(ready):
    learner = tiny.learner(ready)
    muon, adamw = Muon(learner), AdamW(learner, AdamWSettings())
    for one, other in ((muon, adamw), (adamw, muon)):
        with pytest.raises(ValueError, match="another optimizer"):
            one.restore(other.state())
    state = muon.state()
    state.pop(next(name for name in state if name.startswith("momentum")))
    with pytest.raises(ValueError, match="another optimizer"):
        muon.restore(state)
    with pytest.raises(ValueError, match="other parameters"):
        muon.restore({**muon.state(), "first.more": np.zeros(3, np.float32)})


def test_it_needs_no_more_memory_than_adamw(ready, monkeypatch):
    learner = tiny.learner(ready)
    made = []
    right = learner.zeros
    monkeypatch.setattr(learner, "zeros", lambda: made.append(1) or right())
    Muon(learner)
    assert len(made) == 2


def test_a_model_without_such_matrices_moves_as_with_adamw():
    sizes = {"vocabulary": 9, "layers": 1, "embed": 4, "hidden": 5, "context": 6}
    ends = []
    for optimizer_of in (Muon, lambda learner: AdamW(learner, AdamWSettings())):
        model = build(KINDS["gru"].configuration(**sizes), np.random.default_rng(0))
        learner = learner_of(Execution(), model, next_token_loss)
        assert learner.hidden == ()
        optimizer = optimizer_of(learner)
        ends.append(moved(learner, optimizer, np.random.default_rng(1), 3) | optimizer.state())
    assert tiny.digest(ends[0]) == tiny.digest(ends[1])
    fresh = Muon(learner)
    fresh.restore(optimizer.state())


def test_the_options_name_it_and_its_decay():
    learner = tiny.learner()
    found = optimizer_for(learner, TrainingOptions(optimizer="muon", weight_decay=0.3))
    assert isinstance(found, Muon)
    assert found.settings == MuonSettings(decay=0.3)
    found = optimizer_for(learner, TrainingOptions(optimizer="adamw", weight_decay=0.3))
    assert isinstance(found, AdamW)
    assert found.settings == AdamWSettings(decay=0.3)


@pytest.mark.parametrize("workers", [1, 2])
def test_it_learns_faster_than_adamw(workers):
    """The last loss of a short run; both at rates that suit them."""
    last = {}
    for optimizer, rate in (("adamw", 0.01), ("muon", 0.02)):
        training = tiny.loop(
            workers=workers, steps=60, optimizer=optimizer, learning_rate=rate, decay_from=1.0
        )
        losses = [training.one_step()[0] for _ in range(60)]
        last[optimizer] = np.mean(losses[-10:])
    assert last["muon"] < last["adamw"] < 1.5


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_engines_agree_over_several_steps(ready, precision):
    pytest.importorskip("torch", reason="agreeing with PyTorch needs PyTorch (extra torch)")
    ends = []
    for execution in (Execution(workers=1), Execution("torch", "cpu", precision, workers=2)):
        model = build_decoder(ready.model, np.random.default_rng(0))
        learner = learner_of(execution, model, next_token_loss)
        optimizer = Muon(learner)
        rng = np.random.default_rng(1)
        with learner.running():
            for step in range(1, 5):
                noise = rng.standard_normal(len(learner.parameters)).astype(np.float32)
                learner.gradients[:] = learner.buffer(noise)
                optimizer.update(step, 0.01)
        ends.append(learner.named(learner.parameters))
    for name, found in ends[0].items():
        np.testing.assert_allclose(ends[1][name], found, 0, 2e-5, err_msg=name)
