"""How a test tries an answer."""

import warnings
from copy import deepcopy

import numpy as np

from clearformer.checking.judging import judge
from clearformer.checking.record import Outcome, Raised, Record, Style
from clearformer.checking.returned import arrays


def verdict_of(function, exercise):
    """The verdict on a function that takes NumPy arrays."""
    probes, outcomes = exercise.probes(), {}
    for probe in probes:
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                value = function(**deepcopy(dict(probe.arguments)))
            outcomes[probe.name] = Outcome(arrays(value, exercise.returns))
        except Exception as error:
            outcomes[probe.name] = Outcome(raised=Raised(type(error).__name__, str(error)))
    return judge(exercise, Record(exercise.name, None, Style(), outcomes), probes)
