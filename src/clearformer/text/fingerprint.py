"""What tells one text from another."""

import hashlib

AT_ONCE = 1 << 20
"""Characters that are encoded at a time."""


class Fingerprint:
    """SHA-256 of a text in UTF-8, given to it in pieces."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, text: str) -> None:
        """Takes the next piece."""
        for start in range(0, len(text), AT_ONCE):  # without a copy of a long text
            self._digest.update(text[start : start + AT_ONCE].encode("utf-8", "surrogatepass"))

    def __str__(self) -> str:
        return self._digest.hexdigest()
