"""A verdict in words, for a terminal, a test or a notebook: at most twelve lines.

The verdict, what was found, the evidence in numbers, why it matters. Hints come one by one when
asked for: a question, the way out in words, the line of code.
"""

from collections.abc import Iterator, Sequence

from clearformer.checking.exercise import Change, Mistake
from clearformer.checking.running.here import NOT_CONTAINED
from clearformer.checking.verdict import Finding, Verdict
from clearformer.checking.words import Words
from clearformer.explanation.lines import Line, Segment, plain, wrapped

MOST_LINES = 12
WIDTH = 88
INDENT = "  "

LABELS = {
    "right": Words("RIGHT", "正解"),
    "variant": Words("RIGHT, by another convention", "正解 (別の流儀)"),
    "wrong": Words("WRONG", "不正解"),
    "failed": Words("COULD NOT BE JUDGED", "判定できません"),
}
FOUND = Words("Found: ", "見つかったこと: ")
EVIDENCE = Words("Evidence: ", "根拠: ")
WHY = Words("Why it matters: ", "なぜ大切か: ")
ASK = Words("Ask yourself: ", "考えてみましょう: ")
FIX = Words("What to do: ", "直し方: ")
CODE = Words("In code: ", "コード: ")
BESIDE = Words("Beside that: ", "そのほか: ")
EITHER = Words(
    "Found one of these; no input tells them apart, for they compute the same:",
    "次のどれかです。同じ計算になるので区別できません:",
)
BOTH = Words(
    "Found {count} mistakes that together give your numbers:", "間違いは {count} か所あります:"
)
MORE = Words("more: {flag}{next}", "ヒント: {flag}{next}")
NOT_CALLED = Words(
    "Not judged: {inputs} of the inputs, because your answer does not take what they need.",
    "{inputs} 個の入力は、必要なものを受け取れないため判定していません。",
)


def text_of(verdict: Verdict, language: str = "en", hint: int = 0, width: int = WIDTH) -> str:
    """The verdict as plain text."""
    return plain(lines_of(verdict, language, hint, width))


def lines_of(
    verdict: Verdict, language: str = "en", hint: int = 0, width: int = WIDTH
) -> list[Line]:
    """The verdict as styled lines.

    Args:
        verdict: what was found.
        language: en or ja.
        hint: 0 none, 1 a question, 2 the way out in words, 3 the line of code as well.
        width: columns of a line.
    """
    style = "strong" if verdict.status else "shape"
    head: Line = (
        Segment(verdict.exercise.name, "title"),
        Segment("   "),
        Segment(LABELS[verdict.kind].to(language), style),  # type: ignore[arg-type]
        Segment(f"   {verdict.headline.to(language)}"),
    )
    said = [each.to(language) for each in _said(verdict, hint)]
    lines = [INDENT + line for each in said for line in _broken(each, width - len(INDENT))]
    if len(lines) > MOST_LINES - 1:
        lines = [*lines[: MOST_LINES - 2], f"{INDENT}…"]
    return [head, *((Segment(line),) for line in lines)]


def _said(verdict: Verdict, hint: int) -> Iterator[Words]:
    if len(verdict.alternatives) > 1:
        yield EITHER
        yield from (_together(each) for each in verdict.alternatives[:4])
        mistakes = [each for each in verdict.alternatives[0] if isinstance(each, Mistake)]
    else:
        yield from _found(verdict.findings)
        mistakes = [each.mistake for each in verdict.findings if each.mistake]
    yield from _beside(verdict.beside, with_why=not mistakes)
    yield from _not_called(verdict)
    mistakes += [each.mistake for each in verdict.beside if each.mistake]
    flag = "hint=" if NOT_CONTAINED in verdict.record.notes else "--hint "
    yield from _hints(mistakes, hint, flag)


def _found(findings: Sequence[Finding]) -> Iterator[Words]:
    """What was found; with one named mistake also why it matters."""
    named = [each for each in findings if each.mistake]
    if len(named) > 1:
        yield BOTH.about(count=len(named))
    for index, each in enumerate(findings):
        bullet = Words("- ", "- ")
        yield _led(bullet if len(named) > 1 or index else FOUND, each.says)
        if each.evidence and len(named) < 2:
            yield _led(EVIDENCE, each.evidence)
    if len(named) == 1 and named[0].mistake:
        yield _led(WHY, named[0].mistake.why)


def _together(changes: Sequence[Change]) -> Words:
    says = [each.found if isinstance(each, Mistake) else each.says for each in changes]
    return Words(
        "- " + "; and ".join(s.en for s in says), "- " + "、かつ ".join(s.ja for s in says)
    )


def _beside(findings: Sequence[Finding], *, with_why: bool) -> Iterator[Words]:
    for each in findings:
        yield _led(BESIDE, each.says)
        if each.evidence:
            yield _led(EVIDENCE, each.evidence)
        if each.mistake and with_why:
            yield _led(WHY, each.mistake.why)


def _not_called(verdict: Verdict) -> Iterator[Words]:
    outcomes = verdict.record.outcomes
    main = [each.name for each in verdict.exercise.probes() if each.role == "main"]
    count = sum(outcomes[name].skipped for name in main if name in outcomes)
    if count and verdict.kind != "failed":
        yield NOT_CALLED.about(inputs=count)


def _hints(mistakes: Sequence[Mistake], hint: int, flag: str) -> Iterator[Words]:
    for mistake in mistakes[:2]:
        if hint >= 1:
            yield _led(ASK, mistake.ask)
        if hint >= 2:
            yield _led(FIX, mistake.fix)
        if hint >= 3:
            yield _led(CODE, Words(mistake.code, mistake.code))
    if mistakes and hint < 3:
        yield MORE.about(flag=flag, next=hint + 1)


def _led(label: Words, words: Words) -> Words:
    return Words(label.en + words.en, label.ja + words.ja)


def _broken(text: str, width: int) -> Iterator[str]:
    """Lines of `text`; the later ones of a long one are set in a little."""
    first, *rest = wrapped(text, width)
    yield first
    yield from (INDENT + line for line in rest)
