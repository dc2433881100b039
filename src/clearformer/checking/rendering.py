"""A verdict in words, for a terminal, a test or a notebook: at most twelve lines.

The verdict, what was found, the evidence in numbers, why it matters. Hints come one by one when
asked for: a question, the way out in words, the line of code.
"""

from collections.abc import Iterator, Sequence

from clearformer.checking.exercise import Change, Mistake
from clearformer.checking.not_judged import not_called
from clearformer.checking.running.here import NOT_CONTAINED
from clearformer.checking.verdict import Finding, Verdict
from clearformer.checking.words import Words
from clearformer.explanation.lines import Line, Segment, Style, plain, wrapped

MOST_LINES = 12
WIDTH = 88
INDENT = "  "

LABELS = {
    "right": Words("RIGHT", "正解"),
    "variant": Words("RIGHT, by another convention", "正解 (別の流儀)"),
    "wrong": Words("WRONG", "不正解"),
    "failed": Words("COULD NOT BE JUDGED", "判定できません"),
    "unwritten": Words("NOT WRITTEN YET", "まだ書かれていません"),
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
SHOW = Words("more: --show (the smallest failing input)", "もっと見る: --show (合わない最小の入力)")
PRINTED = Words("It printed {lines}; --show shows it.", "{lines}の出力があります (--show で表示)")


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
    style: Style = "strong" if verdict.status else "shape"
    label = LABELS["unwritten" if verdict.unwritten else verdict.kind]
    head: Line = (
        Segment(verdict.exercise.name, "title"),
        Segment("   "),
        Segment(label.to(language), style),
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
    yield from not_called(verdict)
    mistakes += [each.mistake for each in verdict.beside if each.mistake]
    here = NOT_CONTAINED in verdict.record.notes
    yield from _hints(mistakes, hint, "hint=" if here else "--hint ")
    if here:
        return
    if verdict.failing and not mistakes:
        yield SHOW
    if verdict.record.printed:
        count = len(verdict.record.printed.splitlines())
        lines = Words("1 line" if count == 1 else f"{count} lines", f"{count} 行")
        yield Words(PRINTED.en.format(lines=lines.en), PRINTED.ja.format(lines=lines.ja))


def _found(findings: Sequence[Finding]) -> Iterator[Words]:
    """What was found; with one named mistake also why it matters."""
    named = [each for each in findings if each.mistake]
    if len(named) > 1:
        yield BOTH.about(count=len(named))
    for index, each in enumerate(findings):
        if len(named) > 1 and each.mistake:
            lead = _number(named.index(each))
        elif each.variant and index:
            lead = BESIDE
        else:
            lead = Words("- ", "- ") if index else FOUND
        yield _led(lead, each.says)
        if each.evidence and len(named) < 2:
            yield _led(EVIDENCE, each.evidence)
    if len(named) == 1 and named[0].mistake:
        yield _led(WHY, named[0].mistake.why)


def _together(changes: Sequence[Change]) -> Words:
    mistakes_first = sorted(changes, key=lambda each: not isinstance(each, Mistake))
    says = [each.found if isinstance(each, Mistake) else each.says for each in mistakes_first]
    return Words(
        "- " + "; and ".join(s.en for s in says), "- " + "、かつ ".join(s.ja for s in says)
    )


def _number(place: int) -> Words:
    return Words(f"{place + 1}. ", f"{place + 1}. ")


def _beside(findings: Sequence[Finding], *, with_why: bool) -> Iterator[Words]:
    named = [each for each in findings if each.mistake]
    for each in findings:
        number = _number(named.index(each)) if len(named) > 1 and each.mistake else Words("", "")
        yield _led(BESIDE, _led(number, each.says))
        if each.evidence:
            yield _led(EVIDENCE, each.evidence)
        if each.mistake and with_why:
            yield _led(WHY, each.mistake.why)


def _hints(mistakes: Sequence[Mistake], hint: int, flag: str) -> Iterator[Words]:
    for place, mistake in enumerate(mistakes[:2]):
        number = _number(place) if len(mistakes) > 1 else Words("", "")
        if hint >= 1:
            yield _led(number, _led(ASK, mistake.ask))
        if hint >= 2:
            yield _led(number, _led(FIX, mistake.fix))
        if hint >= 3:
            yield _led(number, _led(CODE, Words(mistake.code, mistake.code)))
    if mistakes and hint < 3:
        yield MORE.about(flag=flag, next=hint + 1)


def _led(label: Words, words: Words) -> Words:
    return Words(label.en + words.en, label.ja + words.ja)


def _broken(text: str, width: int) -> Iterator[str]:
    """Lines of `text`; the later ones of a long one are set in a little."""
    first, *rest = wrapped(text, width)
    yield first
    yield from (INDENT + line for line in rest)
