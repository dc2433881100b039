"""Windows to learn from and windows to be judged by, which must not overlap."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Variant
from clearformer.checking.probe import Probe, whole
from clearformer.checking.words import Words


def right(step: Any, data: Any, block_size: Any, fraction: Any) -> Any:
    """The text is cut in two at fraction · n, then each part into all its windows."""
    return step.both(*step.parts(data, block_size, fraction, step))


def parts(data: Any, block_size: int, fraction: float, step: Any) -> Any:
    """First the text, then the windows."""
    border = step.border(len(data), fraction)
    return step.windows(data[:border], block_size), step.windows(data[border:], block_size)


def windows(data: Any, block_size: int) -> Any:
    """All windows, each beginning one token after the one before."""
    return np.stack([data[i : i + block_size] for i in range(len(data) - block_size + 1)])


def border(n: int, fraction: float) -> int:
    """How many tokens are learned from."""
    return int(n * fraction)


def _windows_first(data: Any, block_size: int, fraction: float, step: Any) -> Any:
    every = step.windows(data, block_size)
    place = step.border(len(every), fraction)
    return every[:place], every[place:]


def _overlapping(data: Any, block_size: int, fraction: float, step: Any) -> Any:
    place = step.border(len(data), fraction)
    return step.windows(data[:place], block_size), step.windows(
        data[place - block_size :], block_size
    )


def _whole(data: Any, block_size: int, fraction: float, step: Any) -> Any:
    return step.windows(data[: step.border(len(data), fraction)], block_size), step.windows(
        data, block_size
    )


def _from_the_end(data: Any, block_size: int, fraction: float, step: Any) -> Any:
    place = len(data) - step.border(len(data), fraction)
    return step.windows(data[place:], block_size), step.windows(data[:place], block_size)


def probes() -> Sequence[Probe]:
    """Text lengths times fraction that are not whole."""
    return (
        _of("windows of 3", whole(1, 50, 17), 3, 0.6),
        _of("windows of 4", whole(2, 9, 23), 4, 0.7),
        _of("half", whole(3, 50, 21), 5, 0.5),
        _of("numbers in order", np.arange(10, 33), 3, 0.8),
        _of("windows of 6", whole(4, 9, 41), 6, 0.75),
    )


def _of(name: str, data: Any, block_size: int, fraction: float) -> Probe:
    return Probe(name, {"data": data, "block_size": block_size, "fraction": fraction})


def _shared(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["numbers in order"].mine
    both = np.intersect1d(mine["train"], mine["test"])
    if not both.size:
        return None
    return Words(
        f"on a text without repeats {both.size} tokens are in both parts; it should be none.",
        f"繰り返しのない文章で、{both.size} 個のトークンが両方に入っています (正しくは 0 個)。",
    )


SEEN = Words(
    "what is judged must never have been seen: else copying looks like understanding.",
    "評価には見たことのない文章だけを使います。でないと丸暗記が理解に見えます。",
)
SHARE = Words(
    "is there a token in the text that stands in both parts?",
    "両方に入っているトークンはありませんか。",
)
TEXT_FIRST = Words(
    "cut the text in two first, then cut each part into windows.",
    "まず文章を 2 つに切り、それぞれを窓に切ってください。",
)
SPLIT = "train, test = windows(data[:border]), windows(data[border:])"


def _mistake(
    key: str,
    change: Mapping[str, Any],
    found: Words,
    why: Words = SEEN,
    ask: Words = SHARE,
    fix: Words = TEXT_FIRST,
) -> Mistake:
    return Mistake(key, change, found, why, ask, fix, SPLIT, _shared)


def _windows(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(
        key,
        {"windows": step},
        found,
        Words(
            "part of the text is then never learned from.", "文章の一部が学習に使われなくなります。"
        ),
        Words(
            "how many windows of 3 has a text of 5 tokens?",
            "5 トークンの文章に長さ 3 の窓はいくつありますか。",
        ),
        Words(
            "begin windows at 0 … len − block_size, both included.",
            "窓は 0 から len − block_size まで (両端を含む) で始めてください。",
        ),
        "range(len(part) - block_size + 1)",
    )


EXERCISE = Exercise(
    name="split_windows",
    title=Words("Training and test windows", "学習用と評価用の窓"),
    task=Words(
        "Divide a text into windows to learn from and windows to be judged by, so that no token "
        "is in both: the first int(fraction · n) tokens are for training, the rest for the test; "
        "each part is cut into all its windows, every one beginning one token further.\n"
        "data: (n,), ids. block_size: tokens in a window, T. fraction: between 0 and 1.\n"
        "Returns: (train, test) of shape (number of windows, T).",
        "文章を学習用と評価用の窓に分けます。同じ場所のトークンが両方に入ってはいけません。"
        "最初の int(fraction · n) トークンが学習用、残りが評価用です。"
        "それぞれを、1 トークンずつずらしたすべての窓に切ります。\n"
        "data: (n,)、id。block_size: 窓の長さ T。fraction: 0 から 1。\n"
        "返り値: (train, test)、形はどちらも (窓の数, T)。",
    ),
    right=right,
    steps={
        "parts": parts,
        "windows": windows,
        "border": border,
        "both": lambda train, test: (train, test),
    },
    probes=probes,
    mistakes=(
        _mistake(
            "split-after-windows",
            {"parts": _windows_first},
            Words(
                "windows are cut first and then divided: windows at the border overlap",
                "窓に切ってから分けているため、境目の窓が重なっています",
            ),
        ),
        _mistake(
            "split-overlap",
            {"parts": _overlapping},
            Words(
                "the test begins one window before the border, inside the training text",
                "評価用が境目より 1 窓分手前、学習用の文章の中から始まっています",
            ),
        ),
        _mistake(
            "split-test-is-all",
            {"parts": _whole},
            Words(
                "the test windows come from the whole text, training part included",
                "評価用の窓が、学習用も含む文章全体から取られています",
            ),
        ),
        _mistake(
            "split-swapped",
            {"both": lambda train, test: (test, train)},
            Words("training and test windows are exchanged", "学習用と評価用が逆です"),
            Words(
                "a model would learn from the small part and be judged by the large one.",
                "少ないほうで学習し、多いほうで評価することになります。",
            ),
            Words("which part is returned first?", "最初に返すのはどちらですか。"),
            Words("return the training part first.", "学習用を先に返してください。"),
        ),
        _windows(
            "last-window-missing",
            lambda data, n: windows(data[:-1], n),
            Words(
                "the last window of each part is missing (range ends one too early)",
                "各部分の最後の窓がありません (range が 1 つ早く終わっています)",
            ),
        ),
        _windows(
            "windows-apart",
            lambda data, n: windows(data, n)[::n],
            Words(
                "each window begins where the last one ended, not one token further",
                "窓が 1 トークンずつずれず、前の窓の終わりから始まっています",
            ),
        ),
    ),
    variants=(
        Variant(
            "split-rounded-up",
            {"border": lambda n, fraction: -int(-n * fraction // 1)},
            Words(
                "fraction · n is rounded up; here it is cut off.",
                "fraction · n を切り上げています (ここでは切り捨て)。",
            ),
        ),
        Variant(
            "split-from-the-end",
            {"parts": _from_the_end},
            Words(
                "the test is the beginning of the text, not its end.",
                "文章の終わりではなく始まりを評価用にしています。",
            ),
        ),
    ),
    returns=("train", "test"),
)
