"""What a decoder is given, and what it must predict, in training on pairs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step, Variant
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, y: Any, sos_id: Any, eos_id: Any) -> Any:
    """Inputs <sos> y_0 … y_n-1; targets y_0 … y_n-1 <eos>."""
    y = np.asarray(y)
    return step.given(y, sos_id, eos_id), step.wanted(y, sos_id, eos_id)


def between(*parts: Any) -> Any:
    """Ids in a row."""
    return np.concatenate([np.atleast_1d(part) for part in parts])


def probes() -> Sequence[Probe]:
    """Targets in which no id repeats in a way that hides a shift."""
    return (
        Probe("4 tokens", {"y": np.array([5, 3, 8, 4]), "sos_id": 1, "eos_id": 2}),
        Probe("3 tokens", {"y": np.array([7, 7, 9]), "sos_id": 0, "eos_id": 10}),
        Probe("6 tokens", {"y": np.array([3, 4, 5, 6, 7, 8]), "sos_id": 1, "eos_id": 2}),
    )


def _first(cases: Mapping[str, Case]) -> Words | None:
    """What is given and wanted at the first step."""
    mine = cases["4 tokens"].mine
    if any(mine[name].ndim != 1 or not mine[name].size for name in ("inputs", "targets")):
        return None
    given, wanted = mine["inputs"][0], mine["targets"][0]
    return Words(
        f"at the first step yours is given {given:g} and must predict {wanted:g}; y is 5, 3, 8, 4.",
        f"最初のステップで {given:g} を受け取り {wanted:g} を予測します。y は 5, 3, 8, 4 です。",
    )


COPY = Words(
    "a decoder that is given its target learns to copy it, and writes nonsense by itself.",
    "正解そのものを渡すと写すことだけを覚え、自力では意味のある文を書けません。",
)
ASK = Words(
    "what does the decoder know when it must predict y_0?",
    "y_0 を予測するとき、デコーダは何を知っていますか。",
)
FIX = Words(
    "give <sos> and y; ask for y and <eos>.", "<sos> と y を渡し、y と <eos> を当てさせてください。"
)
CODE = "inputs, targets = [sos_id, *y], [*y, eos_id]"
ALONE = Words(
    "alone, the decoder starts from <sos>, goes on from each word, and stops at <eos>.",
    "自力で書くとき、デコーダは <sos> から始め、1 トークンずつ続け、<eos> で止まります。",
)


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str, why: Words = ALONE) -> Mistake:
    return Mistake(key, change, Words(en, ja), why, ASK, FIX, CODE, _first)


EXERCISE = Exercise(
    name="teacher_forcing",
    title=Words("Teacher forcing", "教師強制"),
    task=Words(
        "In training the decoder is given the right words so far, and must predict the next:\n"
        "inputs are <sos> y_0 … y_n-1, targets y_0 … y_n-1 <eos>.\n"
        "y: whole numbers (n,). Returns: (inputs, targets), each of n + 1 whole numbers.",
        "学習ではデコーダにそこまでの正しいトークンを渡し、次を予測させます:\n"
        "入力は <sos> y_0 … y_n-1、正解は y_0 … y_n-1 <eos> です。\n"
        "y: 整数 (n,)。返り値: (inputs, targets)、どちらも整数 n + 1 個。",
    ),
    right=right,
    returns=("inputs", "targets"),
    steps={
        "given": lambda y, sos, eos: between(sos, y),
        "wanted": lambda y, sos, eos: between(y, eos),
    },
    probes=probes,
    variants=(
        Variant(
            "tf-no-eos",
            {"given": lambda y, sos, eos: between(sos, y[:-1]), "wanted": lambda y, sos, eos: y},
            Words(
                "without <eos>: <sos> y[:-1] predicts y; then y itself must end with <eos>",
                "<eos> なしの流儀です: <sos> y[:-1] から y を予測。y は <eos> で終わります",
            ),
        ),
    ),
    mistakes=(
        _slip(
            "tf-not-shifted",
            {"given": lambda y, sos, eos: between(y, eos)},
            "inputs and targets are the same: the decoder sees its own target",
            "入力と正解が同じです。デコーダが自分の正解を見ています",
            COPY,
        ),
        _slip(
            "tf-not-shifted",
            {"given": lambda y, sos, eos: y, "wanted": lambda y, sos, eos: y},
            "y is both given and wanted: the decoder sees its own target",
            "y をそのまま渡して y を当てさせています。正解が見えています",
            COPY,
        ),
        _slip(
            "tf-sos-in-target",
            {"wanted": lambda y, sos, eos: between(sos, y)},
            "the targets begin with <sos>, which is never to be predicted",
            "正解が <sos> で始まっています。<sos> は予測しません",
        ),
        _slip(
            "tf-no-sos",
            {"given": lambda y, sos, eos: y, "wanted": lambda y, sos, eos: between(y[1:], eos)},
            "nothing is learned of the first word: <sos> is missing",
            "<sos> がなく、最初のトークンが学習されません",
        ),
        _slip(
            "tf-shift-2",
            {"wanted": lambda y, sos, eos: between(y[1:], eos, eos)},
            "the targets are shifted by two: a word is left out",
            "正解が 2 つずれ、1 トークンが抜けています",
        ),
        _slip(
            "tf-eos-in-input",
            {
                "given": lambda y, sos, eos: between(sos, y, eos),
                "wanted": lambda y, sos, eos: between(y, eos, eos),
            },
            "<eos> is given to the decoder; after it there is nothing to predict",
            "<eos> を入力しています。その後に予測するものはありません",
        ),
        _slip(
            "tf-swapped",
            {
                "given": lambda y, sos, eos: between(y, eos),
                "wanted": lambda y, sos, eos: between(sos, y),
            },
            "inputs and targets are exchanged",
            "入力と正解が入れ替わっています",
        ),
        _slip(
            "tf-ends-exchanged",
            {
                "given": lambda y, sos, eos: between(eos, y),
                "wanted": lambda y, sos, eos: between(y, sos),
            },
            "<sos> and <eos> are exchanged",
            "<sos> と <eos> が入れ替わっています",
        ),
    ),
)
