"""What a tokenizer is, how one is made from a text, and how it is kept in a file."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from clearformer.errors import ConfigurationError, TokenizerError
from clearformer.text.bytepair import BytePairs
from clearformer.text.characters import Characters
from clearformer.text.exact_json import parse_json
from clearformer.text.ids import Ids
from clearformer.text.ordinary_file import open_ordinary
from clearformer.text.words import Words

FORMAT = "clearformer tokenizer"
VERSION = 1
LARGEST_FILE = 64 * 1024 * 1024
"""Bytes; a vocabulary of a million entries needs less."""


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back.

    `decode(encode(text)) == text` for every text that has nothing unknown and no lone surrogates.
    """

    kind: str
    """One of KINDS."""

    control_ids: tuple[int, ...]
    """Ids that stand for no text of their own; a model is not asked to write them."""

    @property
    def vocabulary_size(self) -> int:
        """Ids are 0 … vocabulary_size - 1."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hexadecimal) of what determines the tokenizer; equal only if all ids are."""

    def encode(self, text: str) -> Ids:
        """Ids (tokens,), of the smallest of uint8, uint16, uint32 that holds the vocabulary."""

    def unknown(self, text: str) -> dict[str, int]:
        """Each piece of `text` that the vocabulary lacks with its count, first seen first."""

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """The text of `ids`. Raises TokenizerError for an id out of range."""

    def token_text(self, id: int) -> str:
        """What a person is shown for one token."""

    def token_bytes(self, id: int) -> bytes:
        """The bytes of UTF-8 that one token contributes; perhaps not whole characters."""

    def joint(self, previous: int, following: int) -> str:
        """The text that is implied between two tokens, as a space between two words."""

    def to_json(self) -> dict[str, object]:
        """What determines the tokenizer, without its kind."""


TokenizerClass: TypeAlias = type[Characters] | type[Words] | type[BytePairs]

_CLASSES: dict[str, TokenizerClass] = {each.kind: each for each in (Characters, Words, BytePairs)}

KINDS = tuple(_CLASSES)
"""The kinds of tokenizer, simplest first."""


def build_tokenizer(kind: str, text: str, vocabulary: int | None = None) -> Tokenizer:
    """A tokenizer of `kind` for `text`, with at most `vocabulary` ids.

    Raises:
        ConfigurationError: an unknown kind, or a vocabulary that this kind cannot have.
        TokenizerError: the text has nothing to make a vocabulary of.
    """
    made = tokenizer_class(kind)
    if not text:
        raise TokenizerError("a tokenizer needs a text to be made from; got an empty one")
    return made.of(text, vocabulary)


def tokenizer_class(kind: str) -> TokenizerClass:
    """The class of the tokenizers of `kind`: it can count a text block by block, and learn of it.

    Raises:
        ConfigurationError: an unknown kind.
    """
    if kind not in KINDS:
        raise ConfigurationError(f"a tokenizer is one of {', '.join(KINDS)}; got {kind!r}")
    return _CLASSES[kind]


def tokenizer_file(tokenizer: Tokenizer) -> bytes:
    """What a file that holds `tokenizer` consists of: one line of JSON in ASCII."""
    document = {"format": FORMAT, "version": VERSION, "kind": tokenizer.kind, **tokenizer.to_json()}
    return json.dumps(document, allow_nan=False).encode("ascii") + b"\n"


def save_tokenizer(tokenizer: Tokenizer, path: Path) -> None:
    """Writes `tokenizer` to `path` as JSON; the file is complete or absent.

    Raises:
        TokenizerError: the file cannot be written.
    """
    unfinished = path.with_name(path.name + ".tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(tokenizer_file(tokenizer))
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as fault:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise TokenizerError(f"cannot write the tokenizer {path}: {fault.strerror}") from None


def load_tokenizer(path: Path) -> Tokenizer:
    """Reads a tokenizer; nothing in the file is run or compiled.

    Raises:
        TokenizerError: the file is missing, too large, damaged, or of a newer version.
    """
    try:
        return _tokenizer_of(parse_json(_read(path)))
    except (TokenizerError, ValueError) as fault:
        raise TokenizerError(f"{path} is not a usable tokenizer: {fault}") from None


def _read(path: Path) -> bytes:
    try:
        with open_ordinary(path) as file:
            raw = file.read(LARGEST_FILE + 1)
    except OSError as fault:
        raise TokenizerError(fault.strerror or "it cannot be read") from None
    if len(raw) > LARGEST_FILE:
        raise TokenizerError(f"it is larger than {LARGEST_FILE // 2**20} MiB")
    return raw


def _tokenizer_of(document: object) -> Tokenizer:
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise TokenizerError(f'it has no "format": "{FORMAT}"')
    version, kind = document.get("version"), document.get("kind")
    if type(version) is not int or version != VERSION:
        raise TokenizerError(
            f"expected version {VERSION}, got {str(version)[:40]}; a newer clearformer may read it"
        )
    if not isinstance(kind, str) or kind not in _CLASSES:
        raise TokenizerError(f"its kind must be one of {', '.join(KINDS)}; got {str(kind)[:40]!a}")
    fields = {name: value for name, value in document.items() if name not in _ENVELOPE}
    return _CLASSES[kind].from_json(fields)


_ENVELOPE = ("format", "version", "kind")
