"""The encoder: a Transformer that predicts masked tokens from what stands on both sides."""

from dataclasses import dataclass

import numpy as np

from clearformer.models.stack import Stack
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class Encoder(Stack):
    """Blocks in which every position sees all others (Devlin et al., "BERT", 2019, section 3).

    The last row of the embedding table is that of the mask, an id of its own beyond those of the
    tokenizer. It is read, and never an answer: the scores are those of the vocabulary.
    """

    def __call__(
        self,
        ids: Int[Tensor, "batch seq"],
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The scores of every token to stand at each position, of use where there is a mask.

        Args:
            ids: token ids, and at masked positions the id behind the last of the vocabulary.
            tap: hears, and may replace, every intermediate.
            rng: draws dropout; None outside training.
        """
        return self.from_vectors(tap("embedding", self.embedding(ids)), tap, None, rng)
