"""What is said beside a verdict and never decides it: hard inputs, arguments written into."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from clearformer.checking.agreement import Tolerance, agree, tolerance_of
from clearformer.checking.contract import error
from clearformer.checking.differences import largest
from clearformer.checking.exercise import Case, Change, Mistake
from clearformer.checking.naming import Tried, Versions, independent
from clearformer.checking.probe import Probe
from clearformer.checking.record import Outcome, Record
from clearformer.checking.running.arrays import arrays_in
from clearformer.checking.running.probes import BATCHED
from clearformer.checking.verdict import Finding
from clearformer.checking.words import Words

CHANGED = "inplace-input"


def beside(
    record: Record,
    versions: Versions,
    probes: Sequence[Probe],
    changes: Sequence[Change],
    tolerance: Tolerance,
    *,
    stress: bool,
) -> list[Finding]:
    """Findings that go with any verdict; those of hard inputs only where the rest is right.

    Args:
        record: what happened.
        versions: of the exercise.
        probes: as they were called.
        changes: the convention by which the answer is right.
        tolerance: of the main probes.
        stress: whether to look at the hard inputs.
    """
    found = [*_written_into(record)]
    if stress:
        found += _hard(record, versions, probes, changes, tolerance)
    return found


def _written_into(record: Record) -> Iterator[Finding]:
    changed = [each for outcome in record.outcomes.values() for each in outcome.changed]
    for argument in dict.fromkeys(each.argument for each in changed):
        first = next(each for each in changed if each.argument == argument)
        where = Words("", "")
        if first.line is not None:
            source = first.source.strip()
            where = Words(f" (line {first.line}: {source})", f" ({first.line} 行目: {source})")
        yield Finding(
            Words(
                f"it writes into its argument {argument}{where.en}",
                f"引数 {argument} を書き換えています{where.ja}",
            ),
            CHANGED,
            Words(
                "work on a copy: the caller still needs it.",
                "呼び出し側がまだ使うので、コピーに書いてください。",
            ),
        )


def _hard(
    record: Record,
    versions: Versions,
    probes: Sequence[Probe],
    changes: Sequence[Change],
    tolerance: Tolerance,
) -> Iterator[Finding]:
    """What goes wrong on hard inputs: by its name where one explains it, else input by input.

    Several things may be wrong at once. A mistake is named for the inputs that it changes, if the
    answer gives on all of these what the mistake gives.
    """
    tried = []
    for probe in (each for each in probes if each.role == "stress"):
        outcome = record.outcomes.get(probe.name)
        each = Tried.of(probe, outcome, _loosest(probe, outcome, tolerance)) if outcome else None
        tried += [each] if each else []
    wrong = [each for each in tried if not _is_right(each, versions, changes)]
    right = [each for each in tried if _is_right(each, versions, changes)]
    known, left = _explaining(right, wrong, versions, changes)
    for mistake in known:
        yield _named(mistake, _shows(mistake, wrong, versions, changes), versions, changes)
    asked_for = {None, *(each.form for each in probes if each.role == "main")}
    told = [each for each in left if each.probe.form in asked_for]
    batches = [each.probe for each in told if each.probe.batched or each.probe.name == BATCHED]
    again = {probe.name for probe in batches[1:]}  # of a batch it is told once
    for each in [each for each in told if each.probe.name not in again][:2]:
        yield _unnamed(each, record, versions, changes)


def _explaining(
    right: Sequence[Tried], wrong: Sequence[Tried], versions: Versions, changes: Sequence[Change]
) -> tuple[Sequence[Mistake], Sequence[Tried]]:
    """One or two mistakes that give most of what is wrong and all that is right; what is left."""
    known = [each for each in versions.exercise.mistakes if each.beside]
    best: tuple[Sequence[Mistake], Sequence[Tried]] = (), wrong
    for some in (*combinations(known, 1), *combinations(known, 2)):
        if not independent(*some) or not all(
            versions.give(each, *changes, *some) for each in right
        ):
            continue
        left = [each for each in wrong if not versions.give(each, *changes, *some)]
        if len(left) < len(best[1]):
            best = some, left
    return best


def _loosest(probe: Probe, outcome: Outcome, tolerance: Tolerance) -> Tolerance:
    """What the numbers given or returned ask for, whichever are coarser."""
    given = {str(place): array for place, array in enumerate(arrays_in(probe.arguments))}
    found = tolerance_of(given, outcome.values or {})
    return max(found, tolerance, key=lambda each: each.relative)


def _is_right(each: Tried, versions: Versions, changes: Sequence[Change]) -> bool:
    right = versions.result(each.probe, *changes)
    return right is None or (each.mine is not None and agree(each.mine, right, each.tolerance))


def _shows(
    mistake: Mistake, wrong: Sequence[Tried], versions: Versions, changes: Sequence[Change]
) -> Tried:
    """An input on which this mistake makes the difference."""

    def differs(each: Tried) -> bool:
        theirs = versions.result(each.probe, *changes, mistake)
        right = versions.result(each.probe, *changes)
        return theirs is None or right is None or not agree(theirs, right, each.tolerance)

    return next(filter(differs, wrong), wrong[0])


def _named(
    mistake: Mistake, shown: Tried, versions: Versions, changes: Sequence[Change]
) -> Finding:
    return Finding(mistake.found, mistake.key, _shown(shown, versions, changes), mistake)


def _unnamed(each: Tried, record: Record, versions: Versions, changes: Sequence[Change]) -> Finding:
    says = each.probe.says or Words(each.probe.name, each.probe.name)
    return Finding(
        Words(f"not right with {says.en}", f"次の場合に正しくありません: {says.ja}"),
        evidence=_shown(each, versions, changes) or _raised_on(record, each.probe),
    )


def _shown(each: Tried, versions: Versions, changes: Sequence[Change]) -> Words | None:
    right = versions.result(each.probe, *changes)
    if each.mine is None or right is None:
        return None
    return largest(Case(each.probe, each.mine, right), each.tolerance)


def _raised_on(record: Record, probe: Probe) -> Words | None:
    """The exception on a probe, in one line."""
    raised = record.outcomes[probe.name].raised
    return error(raised) if raised else None
