"""Whether an exercise itself holds: its own way runs on the inputs that decide."""

import warnings
from copy import deepcopy

import numpy as np

from clearformer.checking.contract import error as in_words
from clearformer.checking.contract import place
from clearformer.checking.exercise import Exercise
from clearformer.checking.running.frames import home, raised
from clearformer.errors import ConfigurationError


def require_sound(exercise: Exercise) -> None:
    """Refuses an exercise whose right way fails, so that no answer is blamed for it.

    Raises:
        ConfigurationError: it raises on a main probe; says on which, and in which line.
    """
    right = exercise.version()
    for probe in (each for each in exercise.probes() if each.role == "main"):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                right(**deepcopy(dict(probe.arguments)))
        except Exception as error:
            what = raised(error, home(exercise.right))
            where = place(what)
            raise ConfigurationError(
                f"the exercise {exercise.name} fails itself: on {probe.name!r} its right way "
                f"stops: {in_words(what).en}{f' ({where.en})' if where else ''}"
            ) from error
