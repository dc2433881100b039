"""Texts prepared in shards of some hundred ids, so that little text has many of them."""

from pathlib import Path
from typing import Any

import numpy as np

from clearformer.corpora.data_folder import Data, open_data, verify
from clearformer.corpora.prepare import Outcome, prepare
from clearformer.corpora.sizes import Sizes
from clearformer.corpora.watch import Watch
from clearformer.text import build_tokenizer, read_corpus, save_tokenizer, split_text
from clearformer.training.judged import judged

SMALL = Sizes(piece=97, block=61, shard=400, landmark=300)

TEXT = (
    "First Citizen:\nBefore we proceed any further, hear me speak — don't you?\r\n\r\n"
    "吾輩は猫である。名前はまだ無い。ニャーニャー泣いていた。\n"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n"
    "one two three four five six seven eight nine ten eleven twelve thirteen 1415926535897932 😀\n"
)


class Told(Watch):
    """Keeps what is told."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.shares: dict[str, list[float]] = {}
        self._doing = ""

    def note(self, text: str) -> None:
        self.notes.append(text)

    def begin(self, doing: str, size: int) -> None:
        self._doing = doing
        self.shares[doing] = []

    def show(self, share: float) -> None:
        self.shares[self._doing].append(share)


def written(folder: Path, text: str | bytes = TEXT * 6, name: str = "text.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def made(text: Any, out: Path, **options: Any) -> Outcome:
    return prepare(text, out, **{"workers": 1, "sizes": SMALL, **options})


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def require_equal(data: Data, paths: Any, kind: str, vocab: int | None, encoding: str) -> None:
    """A prepared text has the ids that `train` makes of it, and all else that belongs to them."""
    __tracebackhide__ = True
    corpus = read_corpus(paths, encoding)
    tokenizer = build_tokenizer(kind, corpus.text, vocab)
    train, validation = split_text(corpus.text)
    expected = judged(tokenizer, validation)
    assert (data.fingerprint, data.plan.notes) == (corpus.fingerprint, corpus.notes)
    assert (data.sources, data.plan.characters) == (corpus.sources, corpus.characters)
    again = data.path.parent / "tokenizer-of-train.json"
    save_tokenizer(tokenizer, again)
    assert (data.path / "tokenizer.json").read_bytes() == again.read_bytes()
    assert np.array_equal(data.train[:], tokenizer.encode(train))
    assert np.array_equal(data.validation.ids[:], expected.ids)
    found = data.validation
    assert (found.characters, found.spelling) == (expected.characters, expected.spelling)
    assert found.unknown_tokens == expected.unknown_tokens
    assert found.unknown.keys() <= expected.unknown.keys()


def opened(folder: Path) -> Data:
    """A prepared text of which every shard is as it was made."""
    data = open_data(folder)
    verify(data)
    return data
