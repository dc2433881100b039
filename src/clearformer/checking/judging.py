"""From what happened to a verdict: the contract first, then the values, then what is known."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clearformer.checking.agreement import ROUNDED, TOLERANCES, Tolerance, tolerance_of
from clearformer.checking.beside import beside
from clearformer.checking.clues import clues
from clearformer.checking.contract import broken_contract, could_not_run, stops
from clearformer.checking.differences import counted, headline, smallest
from clearformer.checking.evidence import evidence_of
from clearformer.checking.exercise import Case, Change, Exercise, Mistake, Variant
from clearformer.checking.forms import in_one_form
from clearformer.checking.naming import Tried, Versions, fitted, name
from clearformer.checking.probe import Probe
from clearformer.checking.record import Record
from clearformer.checking.verdict import Finding, Verdict
from clearformer.checking.words import Words

BATCHED = Words("batch axes in front", "先頭にバッチの軸がある入力")
SINGLE_PRECISION = Words(
    "right to about six digits only: part of it is computed in single precision (float32)",
    "合っているのは約 6 桁までです。一部が単精度 (float32) で計算されています",
)


def judge(exercise: Exercise, record: Record, probes: Sequence[Probe]) -> Verdict:
    """What is right or wrong with an answer, as far as it can be proved.

    Args:
        exercise: what was to be written.
        record: what happened when the answer was tried.
        probes: exactly as they were called.
    """
    failed = could_not_run(exercise, record, probes)
    if failed:
        return failed
    tolerance = _tolerance(record, probes)
    verdict = _judged(exercise, record, probes, tolerance)
    if verdict.kind != "wrong" or any(each.mistake for each in verdict.findings):
        return verdict
    if tolerance == TOLERANCES["float64"]:
        rounded = _judged(exercise, record, probes, ROUNDED)
        if rounded.status == 0:
            return replace(rounded, beside=[Finding(SINGLE_PRECISION), *rounded.beside])
    beside_them = [_stress_if_batched(each) for each in probes]
    if beside_them == list(probes):
        return verdict
    loosened = _judged(exercise, record, beside_them, tolerance)
    if loosened.kind == "wrong" and _takes_batches(exercise, record, probes):
        return verdict  # what could be named without them does not explain what came of them
    return loosened


def _takes_batches(exercise: Exercise, record: Record, probes: Sequence[Probe]) -> bool:
    """Whether anything of the right shape came where there are batch axes."""
    versions = Versions(exercise, record.style.library)
    for probe in (each for each in _main(probes) if each.batched):
        mine, right = record.outcomes[probe.name].values, versions.result(probe)
        if mine and right and all(mine[name].shape == right[name].shape for name in right):
            return True
    return False


def _stress_if_batched(probe: Probe) -> Probe:
    """Beside the verdict, where batch axes are more than the answer takes."""
    hard = probe.batched and probe.role == "main"
    return replace(probe, role="stress", says=BATCHED) if hard else probe


def _judged(
    exercise: Exercise, record: Record, probes: Sequence[Probe], tolerance: Tolerance
) -> Verdict:
    """The verdict by all main probes."""
    versions = Versions(exercise, record.style.library)

    def is_right(some: Sequence[Probe]) -> bool:
        tried = _tried(record, _main(some), tolerance)
        return _convention(versions, tried, _cases(record, some, versions)) is not None

    probes = in_one_form(record, probes, is_right)
    tried = _tried(record, _main(probes), tolerance)
    cases = _cases(record, probes, versions)
    broken = broken_contract(exercise, record, probes)
    convention = _convention(versions, tried, cases)
    if isinstance(convention, tuple) and not broken:
        variant = convention[0] if convention else None
        return _good(record, versions, probes, variant, tolerance)
    named = name(versions, tried, cases)
    findings = [*broken]
    alternatives: Sequence[Sequence[Change]] = ()
    if convention is None and named.explanations:
        alternatives = named.explanations if len(named.explanations) > 1 else ()
        mistakes_first = sorted(named.explanations[0], key=lambda each: isinstance(each, Variant))
        findings += [_finding(each, cases, len(tried)) for each in mistakes_first]
    elif convention is None and not broken:
        findings += stops(record, probes)
        findings += clues(exercise, probes, cases, tolerance, named.looked_at)
    return Verdict(
        exercise,
        record,
        "wrong",
        headline(exercise, probes, record, cases, tolerance),
        findings,
        alternatives,
        beside(record, versions, probes, (), tolerance, stress=False),
        named.looked_at,
        failing=smallest(probes, cases, tolerance),
    )


def _good(
    record: Record,
    versions: Versions,
    probes: Sequence[Probe],
    variant: Variant | None,
    tolerance: Tolerance,
) -> Verdict:
    """The answer gives what is right, by the exercise's convention or by another."""
    changes = (variant,) if variant else ()
    said = beside(record, versions, probes, changes, tolerance, stress=True)
    main = _main(probes)
    judged = sum(not record.outcomes[each.name].skipped for each in main)
    equal = Words(f"{judged} of {len(main)} inputs equal", f"{counted(judged, len(main))}一致")
    findings = [Finding(variant.says, variant.key, variant=variant)] if variant else []
    return Verdict(
        versions.exercise,
        record,
        "variant" if variant else "right",
        equal,
        findings,
        beside=said,
        variant=variant,
    )


def _convention(
    versions: Versions, tried: Sequence[Tried], cases: Mapping[str, Case]
) -> tuple[Variant, ...] | None:
    """() if the answer is right, (variant,) if it is by that convention, None if it is not."""
    if not tried or any(each.mine is None for each in tried):
        return None
    if versions.explains(tried):
        return ()
    variants = fitted(versions.exercise.variants, cases)
    return next(((each,) for each in variants if versions.explains(tried, each)), None)


def _finding(change: Change, cases: Mapping[str, Case], inputs: int) -> Finding:
    if isinstance(change, Mistake):
        return Finding(change.found, change.key, evidence_of(change, cases, inputs), change)
    return Finding(change.says, change.key, variant=change)


def _tried(record: Record, probes: Sequence[Probe], tolerance: Tolerance) -> list[Tried]:
    found = [Tried.of(each, record.outcomes[each.name], tolerance) for each in probes]
    return [each for each in found if each]


def _main(probes: Sequence[Probe]) -> list[Probe]:
    return [each for each in probes if each.role == "main"]


def _tolerance(record: Record, probes: Sequence[Probe]) -> Tolerance:
    """Of the main probes: a hard one in half precision must not loosen the others."""
    found = [record.outcomes[each.name].values for each in _main(probes)]
    return tolerance_of(*(each for each in found if each is not None))


def _cases(record: Record, probes: Sequence[Probe], versions: Versions) -> dict[str, Case]:
    """Of every probe that gave values where the right way gives some, too."""
    found = {}
    for probe in probes:
        mine, right = record.outcomes[probe.name].values, versions.result(probe)
        if mine is not None and right is not None:
            found[probe.name] = Case(probe, mine, right)
    return found
