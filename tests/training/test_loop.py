"""Laws of the training loop: it learns, repeats itself exactly, and never steps on NaN."""

import gc
import math
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from clearformer.engines.kernels import tell
from clearformer.errors import NotFiniteError
from clearformer.training import loop
from clearformer.training.evaluation import evaluate
from clearformer.training.events import Reporter
from clearformer.training.loop import STEPS
from clearformer.training.options import TrainingOptions
from clearformer.training.schedule import learning_rate
from training import tiny


class Listener(Reporter):
    """Keeps what was told of each step."""

    def __init__(self):
        self.steps = []

    def step(self, step):
        self.steps.append(step)


def never():
    return False


def trained(**options):
    training, heard = tiny.loop(**options), Listener()
    training.run(heard, never)
    return training, heard.steps


@pytest.mark.parametrize("recipe", ["modern", "classic"])
def test_a_step_keeps_to_the_axes_that_are_annotated(checked_shapes, recipe):
    training = tiny.loop(tiny.prepared(recipe=recipe, dropout=0.1), batch=3, accumulation=2)
    training.one_step()
    validation = tiny.prepared().validation
    assert evaluate(training.learner.model, validation, context=8).tokens == 57


def test_the_loss_falls():
    _, steps = trained(ready=tiny.prepared(layers=1), steps=120, learning_rate=0.02)
    assert steps[0].loss == pytest.approx(math.log(15), rel=0.1)
    assert sum(step.loss for step in steps[-20:]) / 20 < 0.6 * steps[0].loss


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_seed_gives_the_same_bits(workers):
    options = {"steps": 12, "seed": 3, "workers": workers}
    ready = tiny.prepared(dropout=0.2)
    (one, _), (other, _) = (trained(ready=ready, **options) for _ in range(2))
    assert tiny.state_of(one) == tiny.state_of(other)


def test_another_seed_gives_other_weights_batches_and_dropout():
    one, other = tiny.loop(seed=1), tiny.loop(seed=2)
    assert tiny.digest({"w": one.learner.parameters}) != tiny.digest(
        {"w": other.learner.parameters}
    )
    assert (one.batches.next()[0] != other.batches.next()[0]).any()
    assert one._dropout(0)(0).random() != other._dropout(0)(0).random()


def test_dropout_differs_between_steps_parts_and_workers():
    training = tiny.loop()
    drawn = {training._dropout(part)(worker).random() for part in range(3) for worker in range(3)}
    training.step = 1
    assert len(drawn | {training._dropout(0)(0).random()}) == 10


@pytest.mark.parametrize("accumulation", [2, 3, 5])
def test_a_batch_in_parts_equals_the_whole_batch(accumulation):
    """The parts are of unequal size: 5 rows in 2 or 3."""
    ready = tiny.prepared(recipe="classic")
    whole, parts = (
        trained(ready=ready, steps=4, batch=5, accumulation=number, dtype=np.float64)
        for number in (1, accumulation)
    )
    np.testing.assert_allclose(
        parts[0].learner.parameters, whole[0].learner.parameters, rtol=0, atol=1e-10
    )
    for one, other in zip(whole[1], parts[1], strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-12)
        assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-10)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_a_batch_over_several_threads_equals_the_whole_batch(workers):
    """With 7 workers for 5 rows some have nothing to do."""
    alone, shared = (
        trained(steps=4, batch=5, workers=number, dtype=np.float64) for number in (1, workers)
    )
    np.testing.assert_allclose(
        shared[0].learner.parameters, alone[0].learner.parameters, rtol=0, atol=1e-10
    )
    assert [step.loss for step in shared[1]] == pytest.approx([step.loss for step in alone[1]])


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("clip", [1e-3, 0.05, 1e6])
def test_a_gradient_is_scaled_down_to_the_largest_norm_and_never_up(clip, workers):
    training = tiny.loop(clip=clip, workers=workers, dtype=np.float64)
    _, _, told = training.one_step()
    scaled = np.linalg.norm(training.learner.gradients)
    assert scaled == pytest.approx(min(told, clip), rel=1e-9)

    unscaled = tiny.loop(clip=1e12, workers=workers, dtype=np.float64)
    unscaled.one_step()
    direction = unscaled.learner.gradients * (min(told, clip) / told)
    assert np.linalg.norm(unscaled.learner.gradients) == pytest.approx(told, rel=1e-9)
    np.testing.assert_allclose(training.learner.gradients, direction, rtol=1e-9, atol=1e-15)


def test_the_rate_of_a_step_is_that_of_its_middle_and_never_zero():
    options = TrainingOptions(steps=10, batch=4, learning_rate=0.01, warm_up=0.2)
    _, steps = trained(steps=10, learning_rate=0.01, warm_up=0.2)
    expected = [learning_rate(options, (number + 0.5) / 10) for number in range(10)]
    assert [step.learning_rate for step in steps] == expected
    assert min(expected) > 0


def test_it_makes_as_many_steps_as_asked_and_counts_them():
    training, steps = trained(steps=7, batch=3)
    assert [step.step for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert [step.tokens_seen for step in steps] == [3 * 8 * number for number in range(1, 8)]
    assert [step.progress for step in steps] == pytest.approx([n / 7 for n in range(1, 8)])
    assert training.progress == 1.0
    training.run(Listener(), never)
    assert training.step == 7


def test_without_steps_or_minutes_the_length_is_the_default():
    assert tiny.loop(steps=None).steps == STEPS


def test_minutes_end_by_the_time_that_was_spent():
    training, heard = tiny.loop(steps=None, minutes=0.1 / 60), Listener()
    training.run(heard, never)
    assert training.progress == 1.0
    assert training.seconds >= 0.1 or training.seconds + training.other_seconds >= 0.1
    assert all(0 <= one.progress <= other.progress for one, other in pairwise(heard.steps))
    rates = [step.learning_rate for step in heard.steps]
    assert max(rates) <= 3e-3
    assert rates[-1] < max(rates)


def test_a_step_in_which_a_kernel_is_compiled_takes_none_of_the_minutes(monkeypatch):
    """Else a first run of some seconds would be one step."""
    training, heard = tiny.loop(steps=None, minutes=1.0), Listener()
    now, one_step = [0.0], training.one_step
    monkeypatch.setattr(loop, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def slow_step():
        if training.step == 0:
            tell("compiling a kernel for tests")
        now[0] += 20.0 if training.step else 100.0
        return one_step()

    monkeypatch.setattr(training, "one_step", slow_step)
    training.run(heard, never)
    assert [step.seconds for step in heard.steps] == [0.0, 20.0, 40.0, 60.0]
    assert heard.steps[0].tokens_per_second == 0.0
    assert heard.steps[1].tokens_per_second == pytest.approx(4 * 8 / 20)


def test_a_pause_comes_after_a_whole_step():
    training, heard = tiny.loop(steps=100), Listener()
    training.run(heard, lambda: len(heard.steps) == 5)
    assert training.step == 5
    assert training.tokens_seen == 5 * 4 * 8


def test_a_paused_loop_goes_on_as_if_nothing_had_been():
    whole, _ = trained(steps=30)
    paused, heard = tiny.loop(steps=30), Listener()
    for stop in (1, 7, 30):
        paused.run(heard, lambda stop=stop: len(heard.steps) == stop)
    assert tiny.state_of(paused) == tiny.state_of(whole)


# What must never be learned from: each breaks a loop and names what is not finite.


def broken_weight(training, value):
    training.learner.named(training.learner.parameters)["blocks.1.attention.key.weight"][2, 3] = (
        value
    )
    return "weight", "blocks.1.attention.key.weight"


def broken_gain(training, value):
    training.learner.named(training.learner.parameters)["blocks.0.norm_2.gain"][1] = value
    return "weight", "blocks.0.norm_2.gain"


def broken_activation(training, value):
    """The activation of the first block gives what is not finite where it is asked for."""
    learner = training.learner

    def broken(x):
        return x * np.full(x.shape[-1:], value, np.float32)

    def with_broken(model):
        block = model.blocks[0]
        block = replace(block, feed_forward=replace(block.feed_forward, activation=broken))
        return replace(model, blocks=(block, *model.blocks[1:]))

    learner.model = with_broken(learner.model)
    for worker in learner._workers:
        worker._model = with_broken(worker._model)
    return "activation", "blocks.0.feed_forward.activated"


def broken_gradient(training, value):
    learner, whole = training.learner, training.learner.loss_and_gradients

    def broken(*arrays, **options):
        loss = whole(*arrays, **options)
        learner.named(learner.gradients)["blocks.0.feed_forward.project.weight"][0, 0] = value
        return loss

    learner.loss_and_gradients = broken
    return "gradient", "blocks.0.feed_forward.project.weight"


def broken_loss(training, value):
    training.learner.loss_and_gradients = lambda *arrays, **options: value
    return "loss", str(value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf], ids=str)
@pytest.mark.parametrize(
    "injure", [broken_weight, broken_gain, broken_activation, broken_gradient, broken_loss]
)
def test_what_is_not_finite_is_named_and_nothing_is_updated(injure, value):
    training, heard = tiny.loop(steps=10, workers=2), Listener()
    training.run(heard, lambda: len(heard.steps) == 3)
    kind, name = injure(training, value)
    weights = training.learner.parameters.tobytes()
    optimizer = tiny.digest(training.optimizer.state())
    with pytest.raises(NotFiniteError) as caught:
        training.run(heard, never)
    message = str(caught.value)
    assert f"first {kind} that is not finite is {name}" in message
    assert "before step 4" in message
    assert "\n" not in message
    assert training.learner.parameters.tobytes() == weights
    assert tiny.digest(training.optimizer.state()) == optimizer
    assert (training.step, training.tokens_seen, len(heard.steps)) == (3, 3 * 4 * 8, 3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_several_the_first_on_the_way_forwards_is_named():
    training = tiny.loop()
    weights = training.learner.named(training.learner.parameters)
    weights["blocks.1.norm_1.gain"][0] = math.nan
    weights["embedding.table"][:] = math.nan
    with pytest.raises(NotFiniteError, match=r"first weight .* is embedding\.table"):
        training.one_step()


def test_what_is_not_finite_makes_no_noise_beside_the_error():
    """NumPy's own warnings would stand in the terminal before the one line that matters."""
    training = tiny.loop()
    broken_weight(training, math.inf)
    with pytest.raises(NotFiniteError):
        training.one_step()


def test_memory_does_not_grow_over_steps():
    """What is kept from each step grows in every stretch of steps; a cache that fills, in one.

    One small array kept from each step would be 1,000 bytes a step.
    """
    training, heard = tiny.loop(tiny.prepared(layers=1), steps=10_000), Reporter()

    def held_after(steps):
        goal = training.step + steps
        training.run(heard, lambda: training.step == goal)
        gc.collect()
        return np.array([tracemalloc.get_traced_memory()[0], len(gc.get_objects())])

    held_after(10)
    tracemalloc.start()
    try:
        held = [held_after(40) for _ in range(6)]
    finally:
        tracemalloc.stop()
    bytes_grown, objects_grown = np.diff(held, axis=0).min(0) / 40
    assert bytes_grown < 500
    assert objects_grown < 1


def at_times(monkeypatch, *seconds):
    """Lets the steps take so long, by a clock of its own."""
    now, times = [0.0], iter(seconds)
    monkeypatch.setattr(loop.time, "monotonic", lambda: now[0])
    training, heard = tiny.loop(steps=len(seconds)), Listener()
    step = training.one_step

    def one_step():
        now[0] += next(times)
        return step()

    training.one_step = one_step
    return training, heard


def test_the_speed_is_that_of_the_last_seconds_and_the_time_left_follows_from_it(monkeypatch):
    """The first step compiled; later the machine became half as quick."""
    training, heard = at_times(monkeypatch, 60.0, *[1.0] * 40, *[2.0] * 40)
    training.run(heard, never)
    tokens = 4 * 8
    speeds = [step.tokens_per_second for step in heard.steps]
    assert speeds[0] == pytest.approx(tokens / 60)
    assert speeds[1:41] == pytest.approx([tokens] * 40)
    assert tokens / 2 < speeds[42] < tokens
    assert speeds[-1] == pytest.approx(tokens / 2, rel=0.01)
    for step in heard.steps:
        pace = tokens / step.tokens_per_second
        assert step.seconds_left == pytest.approx((81 - step.step) * pace)
    assert heard.steps[-1].seconds == pytest.approx(60 + 40 + 80)


def test_the_speed_knows_nothing_of_earlier_sessions(monkeypatch):
    training, heard = at_times(monkeypatch, 1.0, 1.0)
    training.seconds, training.tokens_seen = 1e6, 10
    training.run(heard, never)
    assert heard.steps[-1].tokens_per_second == pytest.approx(4 * 8)


def test_where_minutes_decide_the_time_left_is_that_of_the_clock():
    training, heard = tiny.loop(steps=None, minutes=0.1 / 60), Listener()
    training.other_seconds = 0.02
    training.run(heard, never)
    for step in heard.steps:
        assert step.seconds_left == pytest.approx(max(0.1 - step.seconds - 0.02, 0), abs=1e-9)
