"""What a run is trained on: a text, one that was prepared as a folder of ids, or pairs."""

from pathlib import Path
from typing import Any, Literal, TypeAlias

from clearformer.corpora.data_folder import is_data, open_data
from clearformer.errors import ConfigurationError, RunError, TextError, TokenizerError
from clearformer.models.kind import Kind
from clearformer.models.kinds import KINDS
from clearformer.runs.data_material import DataMaterial
from clearformer.runs.pair_material import PairFilesMaterial, PairMaterial
from clearformer.runs.sources import (
    DIRECT,
    corpus_of,
    corpus_of_run,
    is_unicode,
    require_same_text,
    require_text,
)
from clearformer.runs.text_material import TextMaterial
from clearformer.text.corpus import Corpus
from clearformer.text.pairs import Pairs, pairs_in, read_pairs
from clearformer.training.run_folder import RunFolder

Material: TypeAlias = TextMaterial | DataMaterial | PairMaterial
"""A text in either form, a run is the same on both; or pairs."""

Reads = Literal["text", "pairs"]
"""What a kind of model learns from."""


def material_of(text: Any, encoding: str = "utf-8", reads: Reads = "text") -> Material:
    """What `text` means: a folder that `prepare` has made, or what `corpus_of` makes of it.

    Raises:
        TextError: it cannot be read, such a folder is named beside something else, or a line is no
            pair where pairs are read.
        ConfigurationError: an encoding for a folder of ids.
    """
    if reads == "pairs":
        return _pairs_of(text, encoding)
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


def material_for(kind: Kind, text: Any, task: str | None, encoding: str, seed: int) -> Material:
    """What a new run of a kind learns from.

    Raises:
        ConfigurationError: a text and a task, or a task for a model that reads a text.
        TextError: it cannot be read.
    """
    if task is None:
        if kind.reads == "text":
            require_text(text)
        return material_of(text, encoding, kind.reads)
    if text is not None:
        raise ConfigurationError(f"give a text or a task, not both; got a text and task={task}")
    if kind.reads != "pairs":
        on_pairs = " or ".join(each.name for each in KINDS.values() if each.reads == "pairs")
        raise ConfigurationError(
            f"train learns a task with a model on pairs, --model {on_pairs}; got "
            f"model={kind.name}, which compare can train: clearformer compare --task {task} "
            f"--models {kind.name}"
        )
    from clearformer.runs.task_material import task_material

    return task_material(task, seed)


def _pairs_of(text: Any, encoding: str) -> PairFilesMaterial:
    """Pairs in files, or in a text that was given directly."""
    if text is None:
        raise TextError(
            "this kind of model learns from pairs: name a file with source<TAB>target on each "
            "line, or a task (--task dates)"
        )
    corpus = corpus_of(text, encoding)
    if corpus.sources == DIRECT or isinstance(text, Corpus):
        found = tuple(pairs_in(corpus.text, "the text"))
        return PairFilesMaterial(Pairs(found, corpus.sources, (0,)), (), encoding)
    names = [text] if isinstance(text, str | Path) else list(text)
    files = tuple(str(Path(name).resolve()) for name in names)
    known = files if all(map(is_unicode, files)) else ()
    return PairFilesMaterial(read_pairs(names, encoding), known, encoding)


def material_of_run(folder: RunFolder, reads: Reads = "text") -> Material:
    """What a run was trained on, found again and compared with its fingerprint.

    Raises:
        RunError: it is gone or has changed.
    """
    recorded = folder.configuration.get("corpus")
    if reads == "pairs" and isinstance(recorded, dict):
        return _pairs_of_run(folder, recorded)
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


def _pairs_of_run(folder: RunFolder, recorded: dict[str, Any]) -> PairMaterial:
    """The pairs of a run, read or drawn again."""
    found: PairMaterial
    try:
        if "task" in recorded:
            from clearformer.runs.task_material import task_material_again

            found = task_material_again(recorded)
        elif recorded.get("files"):
            found = _pairs_of(recorded["files"], recorded.get("encoding", "utf-8"))
        else:
            raise TextError("they were given directly, not as a file")
    except (KeyError, TypeError, AttributeError) as fault:
        raise RunError(f"{folder.path}/run.json is damaged: its corpus is none ({fault})") from None
    except (TextError, ConfigurationError) as fault:
        raise RunError(
            f"the pairs of {folder.path} cannot be read again: {fault}; name them yourself"
        ) from None
    require_same_text(folder, found.fingerprint, found.shown)
    return found


def _may_be_folder(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= 1024 and "\0" not in name
