"""Text that comes token by token, never half a character."""

import codecs

from clearformer.text.tokenizer import Tokenizer


class TextStream:
    """Turns ids into text as they arrive; the pieces together equal `decode` of all ids.

    The bytes of a character that is not complete yet are held back until it is, or until
    `finish`.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._previous: int | None = None

    def feed(self, id: int) -> str:
        """The text that has become certain with token `id`; often one word, sometimes nothing.

        Raises:
            TokenizerError: `id` is out of range.
        """
        raw = self._tokenizer.token_bytes(id)
        if self._previous is not None:
            raw = self._tokenizer.joint(self._previous, id).encode("utf-8") + raw
        self._previous = id
        return self._decoder.decode(raw)

    def finish(self) -> str:
        """What was held back (U+FFFD for an incomplete character); the stream starts afresh."""
        rest = self._decoder.decode(b"", final=True)
        self._decoder.reset()
        self._previous = None
        return rest
