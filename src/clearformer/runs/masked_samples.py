"""What an encoder fills in while it is trained."""

from typing import Any

import numpy as np

from clearformer.generation.fill import fill
from clearformer.generation.sampling import Sampling
from clearformer.text.with_mask import WithMask
from clearformer.training.masked_evaluation import scattered
from clearformer.training.preparation import Prepared


def filled_in(model: Any, prepared: Prepared, tokens: int) -> str:
    """The beginning of the validation text with masks, and the same as the model fills it in.

    The masks are always the same ones, so that samples can be compared.
    """
    reader, configuration = WithMask(prepared.tokenizer), prepared.model
    source = prepared.validation.ids if prepared.validation.is_enough else prepared.train
    ids = source[: min(tokens, configuration.window)].astype(np.int64)
    hidden = scattered(len(ids), configuration.passes)[0]  # type: ignore[attr-defined]
    right = ids[hidden]
    ids[hidden] = reader.mask
    asked = reader.decode(ids)
    for position, id in fill(
        model,
        ids.tolist(),
        mask=reader.mask,
        context=configuration.window,
        sampling=Sampling(temperature=0.0),
        rng=np.random.default_rng(0),
        never=prepared.tokenizer.control_ids,
    ):
        ids[position] = id
    count = int((ids[hidden] == right).sum())
    answer = prepared.tokenizer.decode(ids)
    return f"{asked.strip()}\n→ {answer.strip()}\n({count} of {len(hidden)} as in the text)"
