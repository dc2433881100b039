"""The skip-gram model: how well a word goes with a context is the product of two vectors."""

from dataclasses import dataclass

import numpy as np

from clearformer import ops
from clearformer.models.part import Part
from clearformer.tensor import Float, Int, Tensor
from clearformer.words.pairs import Pairs


@dataclass(frozen=True)
class SkipGram(Part):
    """Two vectors for each word: as a centre, and as a context (the paper's v and v')."""

    centre: Float[Tensor, "centres embed"]
    context: Float[Tensor, "contexts embed"]

    def __call__(
        self, centres: Int[np.ndarray, "group row"], contexts: Int[np.ndarray, "group column"]
    ) -> Float[Tensor, "group row column"]:
        """The product of the vector of each centre with that of each context."""
        rows = ops.embed(centres, self.centre)
        columns = ops.embed(contexts, self.context)
        return ops.matmul(rows, ops.transpose(columns))

    def loss(self, pairs: Pairs) -> Float[Tensor, ""]:
        """Negative sampling, in nats, the sum over all pairs.

        -log σ(v'_O · v_I) - k E[log σ(-v'_n · v_I)] for each pair of a word I and its context O,
        the mean being over noise n. (Mikolov et al., "Distributed Representations of Words and
        Phrases and their Compositionality", 2013, equation 4.)
        """
        scores = self(pairs.centres, pairs.contexts)
        targets = np.broadcast_to(pairs.targets, pairs.weights.shape)
        mean = ops.logistic_loss(scores, targets, pairs.weights)
        return ops.multiply(mean, float(pairs.weights.sum()))
