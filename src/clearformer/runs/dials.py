"""The dials of a run: those of its model and those of its training."""

from collections.abc import Mapping
from dataclasses import fields
from difflib import get_close_matches
from typing import Any

from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS
from clearformer.training.options import TrainingOptions

MODEL_DIALS = {name for kind in KINDS.values() for name in kind.dials}
TRAINING_DIALS = {field.name for field in fields(TrainingOptions)}


def sorted_dials(dials: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dials that were given, those of the model and those of training.

    Raises:
        ConfigurationError: there is none of that name; with one that is like it.
    """
    for name in dials:
        if name not in MODEL_DIALS | TRAINING_DIALS:
            near = get_close_matches(name, MODEL_DIALS | TRAINING_DIALS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigurationError(f"there is no dial {name!r}{hint}")
    given = {name: value for name, value in dials.items() if value is not None}
    return (
        {name: value for name, value in given.items() if name in MODEL_DIALS},
        {name: value for name, value in given.items() if name in TRAINING_DIALS},
    )
