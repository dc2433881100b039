"""The proof of a name, in numbers."""

from collections.abc import Mapping

from clearformer.checking.exercise import Case, Mistake
from clearformer.checking.words import Words


def evidence_of(mistake: Mistake, cases: Mapping[str, Case], inputs: int) -> Words:
    """The mistake's own evidence where it has one that applies; else what always holds."""
    if mistake.evidence:
        try:
            found = mistake.evidence(cases)
        except (KeyError, IndexError, ValueError):  # a case that was not run, or of another shape
            found = None
        if found:
            return found
    return Words(
        "the right solution with only this changed gives the same numbers as yours, on all "
        f"{inputs} inputs.",
        "正しい解答のその 1 か所だけを変えると、"
        f"{inputs} 個の入力すべてであなたの結果と一致します。",
    )
