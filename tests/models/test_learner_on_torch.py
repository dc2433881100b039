"""What the learner of PyTorch has of its own: narrow products, its threads, its memory."""

import gc
import os
from collections import deque
from contextlib import suppress
from dataclasses import replace
from itertools import count, islice, pairwise
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from clearformer.engines.dispatch import array_of
from clearformer.training.optimizers import AdamW, AdamWSettings
from models.decoders import VARIANTS, both_recipes, every_variant
from models.learners import batch, gradients, learner_of

torch = pytest.importorskip("torch", reason="the PyTorch engine needs PyTorch (extra torch)")

pytestmark = pytest.mark.usefixtures("unchecked", "torch")

MODERN = VARIANTS["the modern recipe"]


@every_variant
@pytest.mark.parametrize("workers", [1, 3])
def test_loss_and_gradients_are_those_of_numpy(configuration, workers):
    learners = [learner_of(configuration, engine, workers=workers) for engine in ("numpy", "torch")]
    losses = [learner.loss_and_gradients(*batch(configuration)) for learner in learners]
    norms = [learner.gather() for learner in learners]
    assert losses[1] == pytest.approx(losses[0], rel=1e-12)
    assert norms[1] == pytest.approx(norms[0], rel=1e-12)
    wanted, found = map(gradients, learners)
    for path, gradient in wanted.items():
        np.testing.assert_allclose(found[path], gradient, rtol=0, atol=1e-12, err_msg=path)


BFLOAT16 = 2**-8
"""The largest relative error of rounding to 8 significant bits."""


@every_variant
def test_in_bfloat16_gradients_are_close_to_those_in_float32(configuration):
    """Each goes through some ten roundings: of matrices, and of what each product gives.

    They are independent of each other, so that they add up as √10 ≈ 3 of them; a factor of 3 is
    left for gradients that are smaller than what they are the sum of. A score is wrong by the
    roundings of query and key times its size, and so is the share of its weight. Where two tokens
    weigh about the same, a little decides: so it is the median of several models that counts.
    """
    made = configuration.completed
    roundings = 9 + 2 * ((made.query_key_norm and made.largest_score) or 0)
    differences = []
    for seed in range(9):
        wide, narrow = (
            learner_of(configuration, "torch", np.float32, precision=precision, seed=seed)
            for precision in ("float32", "bfloat16")
        )
        losses = [learner.loss_and_gradients(*batch(configuration)) for learner in (wide, narrow)]
        assert losses[1] == pytest.approx(losses[0], rel=9 * BFLOAT16)
        assert losses[0] != losses[1]
        norm, _ = wide.gather(), narrow.gather()
        difference = array_of(narrow.gradients) - array_of(wide.gradients)
        differences.append(float(np.linalg.norm(difference) / norm))
    assert median(differences) < roundings * BFLOAT16
    assert min(differences) > 0.1 * BFLOAT16, "nothing was narrow"


def test_in_bfloat16_parameters_gradients_and_averages_stay_in_float32():
    learner = learner_of(MODERN, "torch", np.float32, 2, precision="bfloat16")
    optimizer = AdamW(learner, AdamWSettings())
    learner.loss_and_gradients(*batch(MODERN))
    learner.gather()
    optimizer.update(1, 1e-4)
    for buffer in (learner.parameters, learner.gradients, optimizer.first, optimizer.second):
        assert buffer.dtype == torch.float32
    for array in (*learner.named(learner.parameters).values(), *optimizer.state().values()):
        assert array.dtype == np.float32


def steps(learner, count, parts):
    """Updates from a batch in `parts`, each a fair share of it; the losses."""
    losses = []
    for _ in range(count):
        loss = 0.0
        for rows in np.array_split(np.arange(6), parts):
            arrays = [array[rows] for array in batch(MODERN, 6)]
            share = len(rows) / 6
            loss += share * learner.loss_and_gradients(*arrays, share=share)
        learner.gather()
        learner.parameters -= 0.03 * learner.gradients
        losses.append(loss)
    return losses


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("workers", [1, 2])
def test_the_narrow_copy_is_that_of_the_newest_weights_at_every_step(parts, workers):
    """A stale one would give the same loss for ever."""
    learners = [
        learner_of(MODERN, "torch", np.float32, workers, precision=precision)
        for precision in ("float32", "bfloat16")
    ]
    wide, narrow = (steps(learner, 4, parts) for learner in learners)
    assert narrow == pytest.approx(wide, rel=9 * BFLOAT16)
    assert wide[-1] < wide[0] - 0.1


def test_the_parts_of_a_step_see_the_same_copy():
    learner = learner_of(MODERN, "torch", np.float32, precision="bfloat16")
    first = learner.loss_and_gradients(*batch(MODERN))
    learner.parameters[: learner.matrices] = 0  # nobody should do that between two parts
    assert learner.loss_and_gradients(*batch(MODERN)) == first
    learner.gather()
    assert learner.loss_and_gradients(*batch(MODERN)) == pytest.approx(np.log(11), rel=1e-6)


def test_weights_that_were_put_in_are_the_ones_that_are_used():
    """As when a run goes on in bfloat16."""
    one, other = (
        learner_of(MODERN, "torch", np.float32, precision="bfloat16", workers=2) for _ in range(2)
    )
    one.parameters *= 0.5
    other.put(other.parameters, gradients(one, one.parameters))
    assert other.loss_and_gradients(*batch(MODERN)) == one.loss_and_gradients(*batch(MODERN))


@pytest.mark.parametrize("ends", ["well", "with a mistake"])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_running_gives_back_the_number_of_threads(torch, threads, ends):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        learner = learner_of(MODERN, "torch", np.float32, 2)
        with suppress(ZeroDivisionError), learner.running():
            learner.loss_and_gradients(*batch(MODERN))
            assert torch.get_num_threads() == 1
            assert learner.spread(lambda _: torch.get_num_threads(), range(4)) == [1] * 4
            if ends != "well":
                raise ZeroDivisionError
        assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)


def test_a_rate_of_dropout_draws_anew_at_each_call():
    configuration = replace(MODERN, dropout=0.5)
    learner = learner_of(configuration, "torch", np.float32)
    rng = np.random.default_rng(0)
    losses = {learner.loss_and_gradients(*batch(configuration), rngs=lambda _: rng) for _ in "123"}
    assert len(losses) == 3


def bytes_of_tensors():
    """That all tensors in this process hold."""
    gc.collect()
    held = {}
    for each in gc.get_objects():
        if type(each) in (torch.Tensor, torch.nn.Parameter):
            held[each.untyped_storage().data_ptr()] = each.untyped_storage().nbytes()
    return sum(held.values())


def trained(learner):
    """Trains for ever, and counts."""
    optimizer = AdamW(learner, AdamWSettings())
    for step in count(1):
        learner.loss_and_gradients(*batch(MODERN))
        learner.gather()
        optimizer.update(step, 1e-3)
        yield step


both_precisions = pytest.mark.parametrize("precision", ["float32", "bfloat16"])


@both_precisions
def test_steps_hold_no_more_tensors_each(precision):
    training = trained(learner_of(MODERN, "torch", np.float32, 2, precision=precision))
    held = [bytes_of_tensors() for _ in islice(training, 5)]
    assert len(set(held[1:])) == 1


STATUS = Path("/proc/self/statm")


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux tells the memory of a process so")
@both_precisions
def test_steps_need_no_more_memory_each(precision):
    """Of several stretches one grows by less than one forward pass would leave behind.

    Caches may fill, and threads start, in some of them.
    """
    learner = learner_of(MODERN, "torch", np.float32, 2, precision=precision)
    training, pages = trained(learner), []
    with learner.running():
        for _ in range(7):
            deque(islice(training, 20), maxlen=0)
            pages.append(int(STATUS.read_text().split()[1]))
    growth = min(after - before for before, after in pairwise(pages)) * os.sysconf("SC_PAGE_SIZE")
    assert growth < 20 * learner.parameters.nbytes


@both_recipes
def test_the_number_of_rows_may_change_from_step_to_step(recipe):
    configuration = VARIANTS[f"the {recipe} recipe"]
    numpys, torchs = (learner_of(configuration, engine, workers=2) for engine in ("numpy", "torch"))
    for rows in (5, 1, 2):
        arrays = batch(configuration, rows)
        found = torchs.loss_and_gradients(*arrays)
        assert found == pytest.approx(numpys.loss_and_gradients(*arrays), rel=1e-12)
        assert torchs.gather() == pytest.approx(numpys.gather(), rel=1e-12)
