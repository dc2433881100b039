"""What must hold whatever the values are: that it runs, returns arrays, and repeats itself."""

from collections import Counter
from collections.abc import Sequence

from clearformer.checking.differences import counted
from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Failure, Outcome, Raised, Record
from clearformer.checking.verdict import Finding, Verdict
from clearformer.checking.words import Words

COULD_NOT_RUN = Words("could not run", "実行できませんでした")


UNWRITTEN = "NotImplementedError"
"""What a file to start from raises."""

FILL_IN = Words("fill in {name}", "{name} を書いてください")


def could_not_run(exercise: Exercise, record: Record, probes: Sequence[Probe]) -> Verdict | None:
    """The verdict where nothing can be judged: no file, no function, an error on every input."""
    if record.failure:
        found = Finding(failure(record.failure), evidence=place(record.failure.raised))
        return Verdict(exercise, record, "failed", COULD_NOT_RUN, [found])
    called = [each for each in _main(record, probes) if not each.skipped]
    if called and any(each.raised is None for each in called):
        return None
    raised = called[0].raised if called else None
    if raised and all(each.raised and each.raised.kind == UNWRITTEN for each in called):
        fill = FILL_IN.about(name=record.function)
        there = place(raised)
        return Verdict(
            exercise, record, "failed", fill, [Finding(there)] if there else [], unwritten=True
        )
    says = error(raised) if raised else Words("it was not called at all", "一度も呼べませんでした")
    return Verdict(
        exercise, record, "failed", COULD_NOT_RUN, [Finding(says, evidence=place(raised))]
    )


def broken_contract(exercise: Exercise, record: Record, probes: Sequence[Probe]) -> list[Finding]:
    """What the answer returns that it should not, and whether it gives the same twice."""
    main = _main(record, probes)
    found = [*_unusable(main), *_foreign(main, record)]
    if any(not each.repeats for each in main):
        found.append(
            Finding(
                Words(
                    "two calls with the same arguments gave different results",
                    "同じ引数で 2 回呼ぶと結果が違いました",
                ),
                exercise.unrepeatable,
                Words(
                    "something random, or something kept from an earlier call, is in it.",
                    "乱数か、前の呼び出しから残った状態が使われています。",
                ),
            )
        )
    return found


def stops(record: Record, probes: Sequence[Probe]) -> list[Finding]:
    """Where the answer runs on some of the inputs only: what stops it on the others."""
    called = [each for each in _main(record, probes) if not each.skipped]
    raised = [each.raised for each in called if each.raised]
    if not raised:
        return []
    what = error(raised[0])
    count, inputs = len(raised), len(called)
    says = Words(
        f"on {count} of {inputs} inputs it stops: {what.en}",
        f"{counted(count, inputs)}止まります: {what.ja}",
    )
    return [Finding(says, evidence=place(raised[0]))]


FAILURES = {
    "file": Words("the file cannot be used: {message}", "ファイルが使えません: {message}"),
    "import": Words(
        "the file stops while it is loaded: {message}", "読み込み中に止まりました: {message}"
    ),
    "missing": Words("the function is not there: {message}", "関数が見つかりません: {message}"),
    "signature": Words("its parameters do not fit: {message}", "引数が合いません: {message}"),
    "timeout": Words("it did not come to an end: {message}", "終わりませんでした: {message}"),
    "memory": Words(
        "it took more memory than allowed: {message}", "メモリの上限を超えました: {message}"
    ),
    "died": Words(
        "the process ended by itself: {message}", "プロセスが途中で終わりました: {message}"
    ),
    "output": Words("it printed without end: {message}", "出力が多すぎます: {message}"),
    "input": Words("it waits for a keyboard: {message}", "キーボード入力を待っています: {message}"),
}
"""What is said of each kind of failure."""


def failure(failure: Failure) -> Words:
    """Why nothing could be tried, in one line; with the nearest names where one was not found."""
    frame, message = FAILURES[failure.kind], failure.message
    said = Words(frame.en.format(message=message.en), frame.ja.format(message=message.ja))
    if not failure.nearest:
        return said
    near = ", ".join(failure.nearest)
    return Words(f"{said.en}; did you mean {near}?", f"{said.ja}。{near} のことですか。")


def error(raised: Raised) -> Words:
    """An exception in one line."""
    if raised.kind == "Timeout":
        return Words(
            "it did not come to an end in time; is there a loop that never stops?",
            "時間内に終わりませんでした。終わらないループはありませんか。",
        )
    if raised.kind == UNWRITTEN:
        return Words("it is still to be written", "まだ書かれていません")
    text = f"{raised.kind}: {raised.message}".rstrip(": ")
    return Words(text, text)


def place(raised: Raised | None) -> Words | None:
    """The learner's own line, and the shapes of what has a name there."""
    if raised is None or raised.line is None:
        return None
    shapes = ", ".join(f"{name} {shape}" for name, shape in raised.shapes.items())
    there = Words(f"   with {shapes}", f"   配列の形: {shapes}") if shapes else Words("", "")
    return Words(
        f"line {raised.line}: {raised.source.strip()}{there.en}",
        f"{raised.line} 行目: {raised.source.strip()}{there.ja}",
    )


def _main(record: Record, probes: Sequence[Probe]) -> list[Outcome]:
    return [record.outcomes[each.name] for each in probes if each.role == "main"]


def _unusable(main: Sequence[Outcome]) -> list[Finding]:
    """What came instead of arrays, told once."""
    came = Counter(each.unusable for each in main if each.unusable)
    return [
        Finding(Words(f"it returned {what.en}", f"返ってきたもの: {what.ja}"))
        for what, _ in came.most_common(1)
    ]


def _foreign(main: Sequence[Outcome], record: Record) -> list[Finding]:
    """Values in a wrapping that a caller cannot go on with."""
    came = Counter(each.foreign for each in main if each.foreign)
    expected = "torch.Tensor" if record.style.library == "torch" else "NumPy array"
    return [
        Finding(
            Words(
                f"it returned {what.en}, expected a {expected}",
                f"{expected} ではなく {what.ja} が返りました",
            )
        )
        for what, _ in came.most_common(1)
    ]
