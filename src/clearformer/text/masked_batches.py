"""Windows of a text in which some tokens are masked, to be guessed from what stands around them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.tensor import Int
from clearformer.text.batches import IGNORED, Batches

MASKED, RANDOM = 0.8, 0.1
"""Of the tokens to be guessed so many are replaced by the mask, and by a random token; the rest
stays as it is, so that the model cannot trust what it reads (Devlin et al., 2019, section 3.1)."""


class MaskedBatches:
    """Random windows, endlessly, as `Batches` has them; in each equally many tokens are guessed.

    What is drawn depends on the key and place of the batch alone: not on what was drawn before, nor
    on how many processes share the rows.

    Attributes:
        targets: tokens that are guessed in one batch, those of all processes together.
    """

    def __init__(self, windows: Batches, *, batch: int, predicted: int, mask: int) -> None:
        """What is drawn follows from the key of `windows`.

        Args:
            windows: where to read.
            batch: windows in a batch, those of all processes together.
            predicted: tokens that are guessed in each window.
            mask: the id of the mask; those below it are tokens.
        """
        self._windows, self._batch = windows, batch
        self._predicted, self._mask = predicted, mask
        self.targets = batch * predicted

    def next(self) -> tuple[Int[np.ndarray, "batch seq"], Int[np.ndarray, "batch seq"]]:
        """What is read, and what was there where a token is to be guessed; elsewhere -100."""
        rng = np.random.default_rng(self._windows.place)
        ids, _ = self._windows.next()
        mine = self._windows.mine
        drawn = rng.random((self._batch, ids.shape[1]))[mine.start : mine.stop]
        fate = rng.random((self._batch, self._predicted))[mine.start : mine.stop]
        instead = rng.integers(self._mask, size=(self._batch, self._predicted))
        chosen = np.argsort(drawn, axis=1, kind="stable")[:, : self._predicted]
        targets = np.full_like(ids, IGNORED)
        there = np.take_along_axis(ids, chosen, 1)
        np.put_along_axis(targets, chosen, there, 1)
        read = np.where(fate < MASKED + RANDOM, instead[mine.start : mine.stop], there)
        inputs = np.array(ids)
        np.put_along_axis(inputs, chosen, np.where(fate < MASKED, self._mask, read), 1)
        return inputs, targets

    def state(self) -> dict[str, object]:
        """All that the batches to come depend on; plain JSON."""
        return self._windows.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose `state` this is, in any number of processes.

        Raises:
            TextError: the state is damaged, or of another text or context.
        """
        self._windows.restore(state)
