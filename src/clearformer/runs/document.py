"""run.json: what a run was made of, so that it can go on, and be understood later."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from platform import python_version
from typing import Any

import numpy as np

from clearformer.engines.choose import version_of
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError, RunError
from clearformer.text.ids import LongIds
from clearformer.text.pair_ids import PairIds
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared
from clearformer.training.run_folder import RunFolder
from clearformer.version import __version__


def document_of(
    corpus: Mapping[str, Any],
    execution: Execution,
    options: TrainingOptions,
    prepared: Prepared,
) -> dict[str, Any]:
    """What run.json holds; `corpus` is what it keeps of the text."""
    return {
        "kind": prepared.model.kind,
        "model": prepared.model.to_json(),
        "training": options.to_json(),
        **asdict(execution),
        "tokenizer": {
            "kind": prepared.tokenizer.kind,
            "vocabulary": prepared.tokenizer.vocabulary_size,
            "fingerprint": prepared.tokenizer.fingerprint,
        },
        "start_token": _start_token(prepared.tokenizer, prepared.train),
        "corpus": dict(corpus),
        "versions": versions_of(execution),
    }


def versions_of(execution: Execution) -> dict[str, str]:
    """Of what a run is computed with."""
    return {
        "clearformer": __version__,
        "numpy": np.__version__,
        execution.engine: version_of(execution.engine),
        "python": python_version(),
    }


def execution_of(folder: RunFolder) -> Execution:
    """How a run was computed; what an older run.json does not tell was then as by default.

    Raises:
        RunError: run.json is damaged.
    """
    try:
        return _execution_in(folder.configuration)
    except ConfigurationError as fault:
        raise RunError(f"{folder.path}/run.json is damaged: {fault}") from None


def _execution_in(document: dict[str, Any]) -> Execution:
    if not {"engine", "workers", "start_token"} <= document.keys():
        raise ConfigurationError("engine, workers or start_token is missing")
    names = [field.name for field in fields(Execution)]
    return Execution(**{name: document[name] for name in names if name in document})


def _start_token(tokenizer: Tokenizer, train: LongIds | PairIds) -> int:
    """What a text without a prompt begins after: a newline, or the first token of the text."""
    if isinstance(train, PairIds):
        return 0  # a target begins with a mark beyond the vocabulary
    newline = tokenizer.encode("\n")
    known = len(newline) == 1 and not tokenizer.unknown("\n")
    return int(newline[0]) if known else int(train[:1][0])
