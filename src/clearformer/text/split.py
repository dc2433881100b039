"""The part of a text to learn from, and the part to be judged by."""

from clearformer.errors import ConfigurationError


def split_text(text: str, validation: float = 0.1) -> tuple[str, str]:
    """The first ⌊characters · (1 - validation)⌋ characters, and the rest.

    The end of the text, not a random sample of it: lines drawn from the whole would have their
    neighbours among the text that was learned. A part can be empty if the text is short.

    Raises:
        ConfigurationError: `validation` is not in [0, 1).
    """
    border = border_of(len(text), validation)
    return text[:border], text[border:]


def border_of(characters: int, validation: float = 0.1) -> int:
    """How many of so many characters are in the part to learn from.

    Raises:
        ConfigurationError: `validation` is not in [0, 1).
    """
    if not 0 <= validation < 1:
        raise ConfigurationError(
            f"the validation part is a share from 0 up to below 1; got {validation}; try 0.1"
        )
    return int(characters * (1 - validation))
