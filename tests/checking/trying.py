"""How a test tries an answer."""

from clearformer.checking.judging import judge
from clearformer.checking.running.here import try_here
from clearformer.checking.running.probes import all_probes


def verdict_of(function, exercise):
    """The verdict on a function, tried in this process."""
    record = try_here(function, exercise)
    return judge(exercise, record, all_probes(exercise, record.style))
