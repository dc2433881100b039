"""Arguments that may come in more than one form: an answer needs to take one of them."""

from collections.abc import Callable, Sequence

from clearformer.checking.probe import Probe
from clearformer.checking.record import Record


def in_one_form(
    record: Record, probes: Sequence[Probe], is_right: Callable[[Sequence[Probe]], bool]
) -> Sequence[Probe]:
    """`probes` without those in forms that the answer need not take.

    It is judged by the first form in which it is right, else by the first in which it gives values.
    Hard inputs of a form that no main probe has stay where the answer gives values for them.
    """
    forms = list(dict.fromkeys(each.form for each in _main(probes) if each.form))

    def those_of(form: str | None) -> list[Probe]:
        return [each for each in probes if each.form in (None, form)]

    def has_values(form: str | None) -> bool:
        own = (each for each in _main(probes) if each.form == form)
        return any(record.outcomes[each.name].values is not None for each in own)

    best = next((each for each in forms if is_right(those_of(each))), None)
    best = best or next((each for each in forms if has_values(each)), next(iter(forms), None))
    return [
        each
        for each in probes
        if each.form in (None, best)
        or (each.form not in forms and record.outcomes[each.name].values is not None)
    ]


def _main(probes: Sequence[Probe]) -> list[Probe]:
    return [each for each in probes if each.role == "main"]
