"""Which inputs an answer was not called with, because it has no parameter for what they hold."""

from collections.abc import Iterator, Sequence

from clearformer.checking.probe import Probe
from clearformer.checking.verdict import Verdict
from clearformer.checking.words import Words

NO_PARAMETER = Words(
    "Not judged: inputs with {what}, because your function has no parameter for it.",
    "{what} の入力は、受け取る引数がないため判定していません。",
)
NOT_CALLED = Words(
    "Not judged: {inputs} of the inputs, because your answer does not take what they need.",
    "{inputs} 個の入力は、必要なものを受け取れないため判定していません。",
)


def not_called(verdict: Verdict) -> Iterator[Words]:
    """One line for each parameter that is lacking; one for what is lacking without a name."""
    if verdict.kind == "failed":
        return
    outcomes = verdict.record.outcomes
    main = [each for each in verdict.exercise.probes() if each.role == "main"]
    skipped = [each for each in main if each.name in outcomes and outcomes[each.name].skipped]
    lacks = {each.name: outcomes[each.name].lacks for each in skipped}
    for name in dict.fromkeys(lacks.values()):
        inputs = [each for each in skipped if lacks[each.name] == name]
        if name is None:
            yield NOT_CALLED.about(inputs=len(inputs))
        else:
            yield NO_PARAMETER.about(what=_values(name, inputs))


def _values(name: str, probes: Sequence[Probe]) -> str:
    """As in masked=False, or eps=0.1, 0.5; the name alone where it is not one number."""
    values = [each.arguments.get(name) for each in probes]
    if not all(isinstance(each, bool | int | float | str) for each in values):
        return name
    return f"{name}={', '.join(dict.fromkeys(repr(each) for each in values))}"
