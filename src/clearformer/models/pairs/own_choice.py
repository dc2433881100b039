"""Scheduled sampling: a decoder that is not always told the right token before."""

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.models.pairs.marks import begin_of
from clearformer.models.pairs.memory import Lengths, PairModel
from clearformer.tensor import Bool, Int


def with_own_choices(
    model: PairModel,
    sources: Int[np.ndarray, "batch source"],
    lengths: Lengths,
    inputs: Int[np.ndarray, "batch target"],
    given: Bool[np.ndarray, "batch target"],
) -> Int[np.ndarray, "batch target"]:
    """The inputs, with the model's own likeliest token wherever one is not given.

    What the model chooses at a step depends on what it has read before, its earlier choices among
    it. No gradient goes through a choice, so it is made in arrays, step by step, before the loss is
    computed. (Bengio et al., "Scheduled Sampling for Sequence Prediction with Recurrent Neural
    Networks", 2015, section 2.4, with the likeliest token instead of a drawn one.)
    """
    if given.all():
        return inputs
    plain: PairModel = model.with_parameters(lambda _, parameter: array_of(parameter))
    state = plain.begin(plain.encode(sources, lengths), inputs.shape[1])
    read = inputs.copy()
    for place in range(1, inputs.shape[1]):
        scores = array_of(plain.step(read[:, place - 1], state))
        scores[:, begin_of(model.vocabulary)] = -np.inf
        read[:, place] = np.where(given[:, place], inputs[:, place], scores.argmax(-1))
    return read
