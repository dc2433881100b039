"""The last state of each sentence, of a recurrent encoder over padded sentences."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, H: Any, lengths: Any) -> Any:
    """H[b, lengths[b] - 1]."""
    return step.taken(H, np.asarray(lengths))


def probes() -> Sequence[Probe]:
    """Short sentences, a full one, one of a single word."""
    return tuple(
        Probe(name, {"H": normal(seed, *shape), "lengths": np.array(lengths)})
        for name, seed, shape, lengths in (
            ("3 sentences", 651, (3, 5, 4), [5, 2, 3]),
            ("4 sentences", 652, (4, 6, 3), [1, 6, 4, 2]),
            ("as many as long", 653, (4, 4, 5), [4, 3, 1, 2]),
            ("padding behind all", 654, (3, 6, 4), [4, 1, 3]),
        )
    )


BEHIND = Words(
    "behind its end a sentence's state has read padding.",
    "文末より後の状態は、パディングまで読んでいます。",
)
BEFORE = Words(
    "the decoder would never hear of the words that come after it.",
    "それより後の語がデコーダに伝わりません。",
)


def _slip(key: str, step: Step, en: str, ja: str, why: Words = BEHIND) -> Mistake:
    return Mistake(
        key,
        {"taken": step},
        Words(en, ja),
        why,
        Words(
            "at which place does the last word of sentence b stand?",
            "文 b の最後の語はどこにありますか。",
        ),
        Words(
            "take the state at lengths[b] - 1 for each b.",
            "各 b について lengths[b] - 1 の状態を取ってください。",
        ),
        "H[np.arange(len(H)), lengths - 1]",
    )


def _at(H: Any, places: Any) -> Any:
    return H[np.arange(len(H)), places]


EXERCISE = Exercise(
    name="encoder_state",
    title=Words("The encoder's last state", "エンコーダの最後の状態"),
    task=Words(
        "A recurrent encoder has read a batch of padded sentences. Give the decoder the state "
        "after the last real word of each. H: (B, S, hidden), all states; lengths: whole "
        "numbers (B,), each from 1 to S. Returns: (B, hidden).",
        "再帰エンコーダが、パディングのある文のバッチを読みました。各文の最後の語を読んだ直後の"
        "状態をデコーダに渡します。H: (B, S, hidden) すべての状態、lengths: 整数 (B,)、1 から S。\n"
        "返り値: (B, hidden)。",
    ),
    right=right,
    steps={"taken": lambda H, lengths: _at(H, lengths - 1)},
    probes=probes,
    mistakes=(
        _slip(
            "enc-last-is-pad",
            lambda H, lengths: H[:, -1],
            "the state at the end of the padding is taken",
            "パディングの最後の状態を取っています",
        ),
        _slip(
            "enc-length-off-by-one",
            lambda H, lengths: _at(H, np.minimum(lengths, H.shape[1] - 1)),
            "one place too far: the state after the first padding",
            "1 つ先です。パディングを 1 つ読んだ後の状態です",
        ),
        _slip(
            "enc-before-last",
            lambda H, lengths: _at(H, np.maximum(lengths - 2, 0)),
            "one place too early: the last word is not read yet",
            "1 つ手前です。最後の語をまだ読んでいません",
            BEFORE,
        ),
        _slip(
            "enc-first-state",
            lambda H, lengths: H[:, 0],
            "the state after the first word is taken",
            "最初の語の後の状態を取っています",
            BEFORE,
        ),
        _slip(
            "enc-mean",
            lambda H, lengths: H.mean(1),
            "the mean of all states, padding included",
            "パディングも含めた全状態の平均です",
        ),
        _slip(
            "enc-longest",
            lambda H, lengths: H[:, lengths.max() - 1],
            "the longest sentence's length is used for all",
            "最も長い文の長さをすべての文に使っています",
        ),
    ),
)
