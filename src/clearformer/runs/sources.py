"""Where the text of a run comes from: a string, files, the built-in text, or run.json."""

import re
from collections.abc import Sequence
from pathlib import Path

from clearformer.errors import ConfigurationError, RunError, TextError
from clearformer.text.corpus import Corpus, default_corpus, read_corpus
from clearformer.training.run_folder import RunFolder

BUILT_IN = "pydoc_data.topics"
DIRECT = ("text given directly",)
ENDING = re.compile(r"\s*\S+\.[A-Za-z0-9]{1,5}\s*")
LONGEST_NAME = 1024  # characters; a longer string is a text, not the name of a file


def corpus_of(
    text: str | Path | Sequence[str | Path] | Corpus | None, encoding: str = "utf-8"
) -> Corpus:
    """The corpus that `text` means.

    A `Path`, a list of names, or a string that names an existing file is read; any other string is
    the text itself, unless it looks like a name: one word with an ending such as .txt, or one of
    ASCII with a slash. None is the built-in text.

    Raises:
        TextError: if it cannot be read, or holds nothing.
    """
    if text is None:
        return default_corpus()
    if isinstance(text, Corpus):
        return text
    if not isinstance(text, str):
        if not isinstance(text, Path) and not _are_names(text):
            raise TextError(
                "a text is a string, a path, or a list of paths; "
                f"got {type(text).__name__}: {text!r:.40}"
            )
        return read_corpus(text, encoding)
    if _is_name(text):
        return read_corpus([text], encoding)
    if not text.strip():
        raise TextError("the text is empty; give some text or the name of a file")
    return Corpus(text, DIRECT, ())


def require_text(text: object) -> None:
    """Refuses to train on one short word: it is the name of a file, mistyped.

    Raises:
        TextError: naming the word.
    """
    short = isinstance(text, str) and text.isascii() and len(text.split()) == 1 and len(text) <= 64
    if short and not _is_name(str(text)):
        raise TextError(
            f"there is no file called {text}, and one word is no text to learn from; "
            "give the path of a text file, or more text"
        )


def require_use(encoding: str, text: object) -> None:
    """Refuses an encoding where no text is named that could be in it.

    Raises:
        ConfigurationError: it would be ignored.
    """
    if text is None and encoding != "utf-8":
        raise ConfigurationError(
            f"encoding is that of a text, and none is named; got {encoding!a}; name the text, too, "
            "or leave --encoding out"
        )


def _are_names(names: object) -> bool:
    return isinstance(names, list | tuple) and all(isinstance(name, str | Path) for name in names)


def _is_name(text: str) -> bool:
    if not text or len(text) > LONGEST_NAME or "\n" in text or "\0" in text:
        return False
    slash = text.isascii() and ("/" in text or "\\" in text)  # in Japanese prose / means "or"
    if len(text.split()) == 1 and (slash or ENDING.fullmatch(text)):
        return True
    try:
        return Path(text).exists()
    except OSError:
        return False


def corpus_of_run(folder: RunFolder) -> Corpus:
    """The text a run was trained on, read again and compared with its fingerprint.

    Raises:
        RunError: if it is gone or has changed.
    """
    recorded = folder.configuration.get("corpus")
    if not isinstance(recorded, dict):
        raise RunError(f"{folder.path}/run.json is damaged: it names no corpus")
    files, encoding = recorded.get("files"), recorded.get("encoding", "utf-8")
    try:
        if recorded.get("sources") == [BUILT_IN]:
            corpus = default_corpus()
        elif isinstance(files, list) and files and isinstance(encoding, str):
            names = [str(name) for name in files]
            for name in names:
                if Path(name).is_fifo():  # its writer may never come
                    raise TextError(f"{name} is a pipe")
            corpus = read_corpus(names, encoding)
        else:
            raise TextError("it was given directly, not as a file")
    except (TextError, ValueError) as fault:
        raise RunError(
            f"the text of {folder.path} cannot be read again: {fault}; name it yourself"
        ) from None
    require_same_text(folder, corpus.fingerprint, ", ".join(corpus.sources))
    return corpus


def require_same_text(folder: RunFolder, fingerprint: str, shown: str) -> None:
    """Refuses a text that is not the one the run was trained on; `shown` names it."""
    recorded = folder.configuration.get("corpus")
    if not isinstance(recorded, dict) or recorded.get("fingerprint") != fingerprint:
        raise RunError(
            f"the text ({shown}) is not the one {folder.path} was trained on: "
            "it has changed since, or is another; start a new run for it"
        )


def is_unicode(name: str) -> bool:
    """Whether JSON can hold a name of a file; on Linux it may be any bytes."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
