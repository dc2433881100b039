"""Texts that tokenizers meet: drawn by Hypothesis, chosen by hand, and the two real ones."""

from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from clearformer.text import KINDS, Tokenizer, build_tokenizer

many_examples = settings(max_examples=200, deadline=None, derandomize=True)
"""For properties: the same examples in every run, and no limit of time on any of them."""

# What decides where a text is cut: scripts, spaces, marks, joiners, and pieces of syntax.
_TELLING = [
    *"abcI'’-_09éßяاहि्\u0301กี한글猫犬名々〆〇のねがゝーネコヽｶﾞ\u3099、。「・，！０Ａ😀👩",
    *"\u200d\ufe0f\U000e0100\u20e3\U0001f1ef𝄞𝐀𐎀𠮷\u00a0\u3000\u2028 \n\r\t<>|",
    *"\x00\x1f\x7f\x85\ufeff\ufffd\U0010ffff",
    *["  ", "\n\n", "\r\n", "<unk>", "<pad>", "<|endoftext|>"],
]

texts = st.one_of(
    st.lists(st.sampled_from(_TELLING), max_size=30).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    st.lists(st.sampled_from(["I", "like", "猫", "が", "ネコ", " ", ", ", ".\n"]), max_size=20).map(
        "".join
    ),
)
"""Any text free of lone surrogates."""

_RUNS = st.tuples(
    st.sampled_from(
        [
            *"aé猫ねネ。.!5\n \t'’ーｶ\u3099\ufe00_ก한😀-",
            "\r\n",
            "ab",
            "a ",
            " a",
            "'a",
            "ね\u3099 a",
            "猫\ufe00a",
        ]
    ),
    st.integers(1, 40),
).map(lambda run: run[0] * run[1])

nasty = st.lists(st.one_of(texts, _RUNS), min_size=1, max_size=8).map("".join).filter(bool)
"""Texts in which a border hides: long runs of one character, apostrophes, marks, no spaces."""

raw_texts = st.one_of(
    texts, st.text(max_size=20), st.text(st.characters(categories=["Cs", "Ll"]), max_size=10)
)
"""Any string that Python can hold, lone surrogates included."""

kinds = st.sampled_from(KINDS)

JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。ニャーニャー泣いていた。\n"
    * 3
)
ENGLISH = "First Citizen:\nBefore we proceed any further, hear me speak.\n\nAll:\nSpeak, speak.\n"


def tokenizers() -> list[Tokenizer]:
    """One of each kind, of a text in two languages."""
    return [build_tokenizer(kind, ENGLISH + JAPANESE) for kind in KINDS]


def real_text(name: str) -> str:
    """One of the texts that lie beside the repository; skips where they do not."""
    path = Path(__file__).parents[2].parent / "shared" / "data" / name
    if not path.is_file():
        pytest.skip(f"this proof reads {name} from ../shared/data, which is not here")
    return path.read_text(encoding="utf-8")
