"""Which encodings a file of text can be in, and how its bytes are decoded."""

import codecs
import sys
from contextlib import suppress

from clearformer.errors import ConfigurationError

UTF_8 = ("utf-8", "utf-8-sig")

MARK = "\ufeff"
"""The byte order mark as a character."""

WITH_MARK = (*UTF_8, "utf-16", "utf-32")
"""Encodings in which a mark at the start is no part of the text."""

NOT_FOR_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
"""Codecs of Python that turn bytes into text, but are not encodings of text files."""


def codec_called(encoding: str) -> codecs.CodecInfo:
    """The text encoding of that name.

    Raises:
        ConfigurationError: there is none.
    """
    with suppress(LookupError, ValueError, TypeError):
        codec = codecs.lookup(encoding)
        if codec.name not in NOT_FOR_FILES and codec.incrementaldecoder is not None:
            with suppress(UnicodeError):  # one byte is no text in UTF-16, but it is an encoding
                # Codecs such as "hex" turn bytes into bytes; `decode` refuses those before it reads
                b"a".decode(encoding)
            return codec
    raise ConfigurationError(
        f"no text encoding is called {encoding!a}; some that are: utf-8, utf-16, shift_jis, "
        "euc_jp, cp1252"
    )


def plain_codec(codec: str, mark: bytes) -> str:
    """The codec for what follows a mark: one that expects none, and knows which byte is first."""
    if codec in UTF_8:
        return "utf-8"
    if codec in WITH_MARK:
        big = mark in (codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
        return f"{codec}-{'be' if big or (not mark and sys.byteorder == 'big') else 'le'}"
    return codec
