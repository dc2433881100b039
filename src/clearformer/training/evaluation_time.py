"""How much of a run its evaluations may take: on a large text one could use up all of it."""

import math

from clearformer.engines.ranks import Alone
from clearformer.training.events import Step
from clearformer.training.options import TrainingOptions

LARGEST_SHARE = 0.25
"""Evaluations before the last are left out once they have taken, or one would take, this share of
the training time."""

LEAST = 10.0
"""Seconds that the first may always take, however short the run."""

SURE = 1.0
"""Seconds after which the part of an evaluation that is done tells how long all of it takes."""


class TooLongError(Exception):
    """An evaluation would take more of the run than it may.

    Attributes:
        seconds: that it would take.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class EvaluationTime:
    """What evaluations have taken in this session, and may still take.

    Attributes:
        taken: seconds so far.
        too_long: whether one was left because it would have taken too much.
    """

    def __init__(self, options: TrainingOptions, ranks: Alone) -> None:
        self._options, self._ranks = options, ranks
        self.taken = 0.0
        self.too_long = False

    def allows_one(self, step: Step) -> bool:
        """Whether another may begin."""
        return not self.too_long and self.taken <= LARGEST_SHARE * step.seconds

    def left(self, step: Step) -> float:
        """Seconds that one after this step may take, by the length of the whole run."""
        minutes = self._options.minutes
        whole = 60 * minutes if minutes else step.seconds / step.progress
        return max(LARGEST_SHARE * whole, LEAST) - self.taken

    def require(self, taken: float, share: float, left: float) -> None:
        """Lets an evaluation go on that has taken so long for this share of its work.

        Each of several ranks sees the share of what it computes itself, and all decide alike.

        Raises:
            TooLongError: it would take longer than is left.
        """
        if taken < SURE or left == math.inf:
            return
        whole = self._ranks.same(taken / min(share * self._ranks.ranks, 1.0))
        if whole > left:
            self.too_long = True
            raise TooLongError(whole)
