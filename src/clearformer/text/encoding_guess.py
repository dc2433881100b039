"""Which encoding does this look like? A hint for an error message, never a silent choice."""

import codecs
import re
from io import BufferedIOBase

from clearformer.text.scripts import HIRAGANA, KANJI

SAMPLE = 1 << 20
"""Bytes that are looked at; enough to tell encodings apart."""

WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")

BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16, so it is tried first
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (codecs.BOM_UTF8, "utf-8"),
)

_JAPANESE = re.compile(f"[{KANJI}{HIRAGANA}\u30a1-\u30fe\u3000-\u303f\uff01-\uff5e]")
"""Half-width katakana are left out: text in the wrong one of two encodings is full of them."""

_KANA = re.compile(f"[{HIRAGANA}\u30a1-\u30fa]")
_ANY = re.compile("(?s:.)")
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
_PLAIN_LETTER = re.compile(b"[A-Za-z]")
_WESTERN = re.compile(
    "[\xa0\xa1\xa3\xa7\xab\xb0\xb4\xb7\xbb\xbf-\xd6\xd8-\xf6\xf8-\xff–—‘’“”„…€œŒšŠžŽŸ]"
)

_OFTEN_WIDE = re.compile("[\x00-\xff\u0370-\u06ff\u3000-\u30ff\uff00-\uffef]")
"""Frequent in every language; bytes of ASCII taken in pairs give almost none of these."""

_CONTROL = re.compile("[\x00-\x08\x0e-\x1f\x7f]")


def marked_encoding(raw: bytes) -> tuple[str, bytes] | None:
    """The encoding that a byte order mark at the start names, and the mark."""
    for mark, name in BYTE_ORDER_MARKS:
        if raw.startswith(mark):
            return name, mark
    return None


def wide_encoding(head: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, for a file that begins with `head` and has zeros in it."""
    sample = head[:SAMPLE]
    shares = {name: _share(_OFTEN_WIDE, _ANY, sample, name) for name in WIDE}
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] > 0.1 else None


def narrow_encoding(file: BufferedIOBase) -> str | None:
    """Shift_JIS, EUC-JP or Windows Latin, where the text in it would be plausible; else None."""
    file.seek(0)
    head = file.read(SAMPLE)
    if file.read(1):
        head = head[: head.rfind(b"\n") + 1] or head
    japanese = {name: _share(_JAPANESE, _BEYOND_ASCII, head, name) for name in ("cp932", "euc_jp")}
    best = max(japanese, key=lambda name: japanese[name])
    if japanese[best] > 0.9 and _KANA.search(_decoded(head, best) or ""):
        return "shift_jis" if best == "cp932" and fits(file, "shift_jis") else best
    # In Western languages plain letters are the most; in Cyrillic, read as Latin, they are few.
    accented = len(_BEYOND_ASCII.findall(_decoded(head, "cp1252") or ""))
    plain = len(_PLAIN_LETTER.findall(head))
    western = _share(_WESTERN, _BEYOND_ASCII, head, "cp1252") > 0.9
    return "cp1252" if western and plain > 2 * accented else None


def fits(file: BufferedIOBase, encoding: str) -> bool:
    """Whether all of `file` is text in `encoding`; it is read piece by piece."""
    decoder = codecs.getincrementaldecoder(encoding)()
    file.seek(0)
    try:
        while raw := file.read(SAMPLE):
            decoder.decode(raw)
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _share(plausible: re.Pattern[str], among: re.Pattern[str], raw: bytes, encoding: str) -> float:
    """Which share of the characters in `among` is plausible; 0 if `raw` is not so encoded."""
    text = _decoded(raw, encoding)
    if not text or _CONTROL.search(text):
        return 0.0
    return len(plausible.findall(text)) / max(len(among.findall(text)), 1)


def _decoded(raw: bytes, encoding: str) -> str | None:
    try:
        return raw.decode(encoding)
    except UnicodeError:
        return None
