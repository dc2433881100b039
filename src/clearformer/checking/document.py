"""A verdict as a JSON document."""

import math
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case
from clearformer.checking.rendering import text_of
from clearformer.checking.verdict import Finding, Verdict


def document_of(verdict: Verdict, language: str = "en", hint: int = 0) -> dict[str, Any]:
    """What a program can use: keys of mistakes, evidence, and the text a person sees."""
    findings = [*verdict.findings, *verdict.beside]
    evidence = [each.evidence.to(language) for each in findings if each.evidence]
    style = verdict.record.style
    return {
        "exercise": verdict.exercise.name,
        "verdict": verdict.kind,
        "mistakes": verdict.mistakes,
        "evidence": "\n".join(evidence),
        "message": text_of(verdict, language, hint),
        "headline": verdict.headline.to(language),
        "variant": verdict.variant.key if verdict.variant else None,
        "findings": [_finding(each, language) for each in verdict.findings],
        "beside": [_finding(each, language) for each in verdict.beside],
        "alternatives": [[change.key for change in each] for each in verdict.alternatives],
        "looked_at": {"singles": verdict.looked_at[0], "pairs": verdict.looked_at[1]},
        "function": verdict.record.function,
        "file": verdict.record.file,
        "library": style.library,
        "batched": style.batched,
        "printed": verdict.record.printed,
        "failing": _case(verdict.failing) if verdict.failing else None,
    }


def _finding(finding: Finding, language: str) -> dict[str, Any]:
    return {
        "key": finding.key,
        "message": finding.says.to(language),
        "evidence": finding.evidence.to(language) if finding.evidence else None,
    }


def _case(case: Case) -> dict[str, Any]:
    return {
        "input": case.probe.name,
        "arguments": {name: _plain(each) for name, each in case.probe.arguments.items()},
        "got": {name: _plain(each) for name, each in case.mine.items()},
        "expected": {name: _plain(each) for name, each in case.right.items()},
    }


def _plain(value: Any) -> Any:
    """Lists and numbers; what JSON has no number for is written as a word."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
