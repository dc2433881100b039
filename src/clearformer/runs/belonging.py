"""Whether what lies in a run folder belongs together: run.json, tokenizer and saves."""

from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, RunError
from clearformer.models.kind import Configuration
from clearformer.models.kinds import KINDS, build
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.checkpoint import Checkpoint
from clearformer.training.run_folder import RunFolder


def start_token(folder: RunFolder, tokenizer: Tokenizer) -> int:
    """What run.json says that generation begins with; 0 where it says nothing."""
    start = folder.configuration.get("start_token", 0)
    if type(start) is not int or not 0 <= start < tokenizer.vocabulary_size:
        raise RunError(f"{folder.path}/run.json: start_token {start!r} is not in the vocabulary")
    return start


def model_configuration(folder: RunFolder, tokenizer: Tokenizer) -> Configuration:
    """The model that run.json describes, checked against the tokenizer beside it."""
    document = folder.configuration
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise RunError(
            f"{folder.path}/run.json is of a model of kind {kind!r}; this version knows "
            f"{', '.join(KINDS)}"
        )
    try:
        configuration = KINDS[kind].configuration.from_json(document["model"])  # type: ignore[arg-type]
        fingerprint = document["tokenizer"]["fingerprint"]  # type: ignore[index]
    except (KeyError, TypeError, ConfigurationError) as fault:
        raise RunError(f"{folder.path}/run.json is damaged: {fault}") from None
    if fingerprint != tokenizer.fingerprint:
        raise RunError(
            f"{folder.tokenizer_path} is not the tokenizer this run was trained with: "
            "its fingerprint differs from that in run.json"
        )
    if configuration.vocabulary != tokenizer.vocabulary_size:
        raise RunError(
            f"{folder.path}: the model has {configuration.vocabulary} tokens and the tokenizer "
            f"{tokenizer.vocabulary_size}; the two do not belong together"
        )
    return configuration


def require_model(configuration: Configuration, tokenizer: Tokenizer, saved: Checkpoint) -> None:
    """Refuses a save of another model or tokenizer, also where all shapes are the same."""
    if saved.state.get("model") != configuration.to_json():
        raise RunError(
            f"{saved.path} is a save of another model than run.json describes; "
            "one of the two was changed"
        )
    fingerprint = saved.state.get("tokenizer", tokenizer.fingerprint)  # older saves tell none
    if fingerprint != tokenizer.fingerprint:
        raise RunError(
            f"{saved.path} was made with another tokenizer than that of this run; one of the two "
            "is from another run"
        )


def model_from(configuration: Configuration, tokenizer: Tokenizer, saved: Checkpoint) -> Any:
    """The model with the weights of a save; that they belong to it is checked before."""
    require_model(configuration, tokenizer, saved)
    if sum(array.size for array in saved.model.values()) != configuration.parameter_count:
        raise RunError(f"{saved.path} does not hold the weights of the model in run.json")
    skeleton = build(configuration, None)
    shapes = {name: array.shape for name, array in skeleton.parameters().items()}
    if {name: array.shape for name, array in saved.model.items()} != shapes:
        raise RunError(f"{saved.path} does not hold the weights of the model in run.json")
    for name, array in saved.model.items():
        if array.dtype.kind != "f" or not np.isfinite(array).all():
            raise RunError(f"{saved.path}: {name} is not made of finite floating-point numbers")
    return skeleton.with_parameters(lambda name, _: saved.model[name])
