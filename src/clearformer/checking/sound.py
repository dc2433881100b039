"""Whether an exercise itself holds: its own way runs on the inputs that decide."""

import warnings
from collections.abc import Sequence
from copy import deepcopy

import numpy as np

from clearformer.checking.contract import error as in_words
from clearformer.checking.contract import place
from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.running.frames import home, raised
from clearformer.errors import ConfigurationError


def require_sound(exercise: Exercise) -> None:
    """Refuses an exercise whose right way fails, so that no answer is blamed for it.

    Raises:
        ConfigurationError: it raises on a main probe, or there are none to be had; says on which,
            and in which line.
    """
    right = exercise.version()
    for probe in (each for each in _probes(exercise) if each.role == "main"):
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                right(**deepcopy(dict(probe.arguments)))
        except Exception as error:
            raise _failing(exercise, f"on {probe.name!r} its right way stops", error) from error


def _probes(exercise: Exercise) -> Sequence[Probe]:
    try:
        return exercise.probes()
    except Exception as error:
        raise _failing(exercise, "its inputs cannot be made", error) from error


def _failing(exercise: Exercise, how: str, error: Exception) -> ConfigurationError:
    what = raised(error, home(exercise.right))
    where = place(what)
    return ConfigurationError(
        f"the exercise {exercise.name} fails itself: {how}: {in_words(what).en}"
        f"{f' ({where.en})' if where else ''}"
    )
