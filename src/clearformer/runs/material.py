"""What a run is trained on: a text, or one that was prepared as a folder of ids."""

from pathlib import Path
from typing import Any, TypeAlias

from clearformer.corpora.data_folder import is_data, open_data
from clearformer.errors import ConfigurationError, RunError, TextError, TokenizerError
from clearformer.runs.data_material import DataMaterial
from clearformer.runs.sources import (
    DIRECT,
    corpus_of,
    corpus_of_run,
    is_unicode,
    require_same_text,
)
from clearformer.runs.text_material import TextMaterial
from clearformer.text.corpus import Corpus
from clearformer.training.run_folder import RunFolder

Material: TypeAlias = TextMaterial | DataMaterial
"""A text in either form; a run is the same on both."""


def material_of(text: Any, encoding: str = "utf-8") -> Material:
    """What `text` means: a folder that `prepare` has made, or what `corpus_of` makes of it.

    Raises:
        TextError: it cannot be read, or such a folder is named beside something else.
        ConfigurationError: an encoding for a folder of ids.
    """
    names = [text] if isinstance(text, str | Path) else text
    folders = [
        Path(name)
        for name in (names if isinstance(names, list | tuple) else ())
        if isinstance(name, Path) or _may_be_folder(name)
        if is_data(Path(name))
    ]
    if folders:
        if len(names) > 1:
            raise TextError(
                f"{folders[0]} is a prepared text and stands for itself; name it alone, or prepare "
                "all of the text together"
            )
        if encoding != "utf-8":
            raise ConfigurationError(
                f"{folders[0]} holds ids, which have no encoding; leave --encoding out"
            )
        return DataMaterial(open_data(folders[0]))
    corpus = corpus_of(text, encoding)
    from_files = text is not None and corpus.sources != DIRECT and not isinstance(text, Corpus)
    files = [str(Path(name).resolve()) for name in names] if from_files else []
    if not all(map(is_unicode, files)):
        files = []
    name = Path(corpus.sources[0]).stem if corpus.text and text is not None else "python-docs"
    return TextMaterial(corpus, tuple(files), encoding, name)


def material_of_run(folder: RunFolder) -> Material:
    """What a run was trained on, found again and compared with its fingerprint.

    Raises:
        RunError: it is gone or has changed.
    """
    recorded = folder.configuration.get("corpus")
    if not isinstance(recorded, dict) or "data" not in recorded:
        corpus = corpus_of_run(folder)
        return TextMaterial(corpus, (), "utf-8", "")
    path = recorded["data"]
    if not isinstance(path, str):
        raise RunError(f"{folder.path}/run.json is damaged: its data is no name of a folder")
    try:
        found = open_data(Path(path))
    except (TextError, TokenizerError) as fault:
        raise RunError(
            f"the text of {folder.path} cannot be read again: {fault}; name it yourself"
        ) from None
    material = DataMaterial(found)
    require_same_text(folder, material.fingerprint, material.shown)
    return material


def _may_be_folder(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 1024 and "\0" not in name
