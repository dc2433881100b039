"""Laws of NaN: training stops before the update and names where it began; the last save stays."""

import math
import random

import numpy as np
import pytest

import clearformer as cf
from clearformer.engines.choose import choose_engine
from clearformer.errors import NotFiniteError
from clearformer.training import session
from clearformer.training.checkpoint import load_latest
from clearformer.training.events import Reporter
from faults.counts import few_or_all
from faults.tiny import DIALS, ENGINES, fingerprint

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

STEPS = 10

PLACES = ("loss", "gradient", "weight")

VALUES = (math.nan, math.inf, -math.inf)


class Injury(Reporter):
    """Puts a number that is not finite into one place of one step, as an overflow would.

    Its place of work is the learner, which every engine has: `loss_and_gradients`, `gather`, and
    the flat `gradients` and `parameters`.
    """

    def __init__(self, monkeypatch, engine, step, place, value, luck):
        self.at, self.place, self.value, self.luck = step, place, value, luck
        self.done, self.learner = 0, None
        learner = choose_engine(engine).Learner
        loss_of, gather = learner.loss_and_gradients, learner.gather

        def loss_and_gradients(made, *arguments, **options):
            self.learner = made
            loss = loss_of(made, *arguments, **options)
            return self.value if self.hits("loss") else loss

        def gathered(made):
            if self.hits("gradient"):
                made.gradients[self.luck.randrange(len(made.gradients))] = self.value
            return gather(made)

        monkeypatch.setattr(learner, "loss_and_gradients", loss_and_gradients)
        monkeypatch.setattr(learner, "gather", gathered)

    def hits(self, place):
        return place == self.place and self.done == self.at - 1

    def step(self, step):
        self.done = step.step
        if self.place == "weight" and self.done == self.at:
            weights = self.learner.parameters
            weights[self.luck.randrange(len(weights))] = self.value


@few_or_all("times", 50, 500)
@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_finite_stops_the_run_before_the_update_and_is_never_saved(
    tmp_path, text_file, engine, times
):
    luck = random.Random(times)
    dials = DIALS | {"engine": engine, "workers": 1, "save_seconds": 1e-9, "steps": STEPS}
    cf.train(text_file, out=tmp_path / "whole", **dials)
    expected = fingerprint(tmp_path / "whole")
    for number in range(times):
        run, step = tmp_path / str(number), luck.randint(2, STEPS)
        place, value = luck.choice(PLACES), luck.choice(VALUES)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "LARGEST_SAVE_SHARE", 1e9)
            injury = Injury(patch, engine, step, place, value, luck)
            with pytest.raises(NotFiniteError) as caught:
                cf.train(text_file, out=run, reporter=injury, **dials)
        require_told(str(caught.value), place)
        saved = load_latest(run / "checkpoints")
        assert saved.notes == ()
        assert saved.step == step - 1
        for name, array in {**saved.model, **saved.optimizer}.items():
            assert np.isfinite(array).all(), name
        if number % 5 == 0:
            cf.train(out=run, resume=True)
            assert fingerprint(run) == expected


def require_told(message, place):
    """One line that names the first tensor and says what to do."""
    assert "\n" not in message
    assert "not finite is " in message
    assert "try a learning rate below" in message
    name = message.partition("not finite is ")[2].partition(";")[0]
    assert name in ("nan", "inf", "-inf") if place == "loss" else "." in name or name == "logits"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_learning_rate_that_is_far_too_large_is_told_as_such(tmp_path, text_file, engine):
    """Nothing is injected here: the numbers leave the range of float32 by themselves."""
    dials = DIALS | {"engine": engine, "learning_rate": 1e12, "weight_decay": 1e3, "warm_up": 0.0}
    with pytest.raises(NotFiniteError, match="try a learning rate below"):
        cf.train(text_file, out=tmp_path / "run", **dials)
    assert not (tmp_path / "run").exists()
