"""Going on with a run: everything as before, but for its length and for how it is computed."""

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Any

from clearformer.engines.choose import as_before
from clearformer.engines.execution import Wish
from clearformer.engines.ranks import Alone
from clearformer.errors import ConfigurationError, RunError
from clearformer.models.kinds import KINDS
from clearformer.runs.belonging import model_configuration, require_model, start_token
from clearformer.runs.document import execution_of, versions_of
from clearformer.runs.fitting import fitting
from clearformer.runs.going import go
from clearformer.runs.machine import require_the_same, settled_again
from clearformer.runs.material import material_of, material_of_run
from clearformer.runs.run import Run
from clearformer.runs.sources import require_same_text
from clearformer.text.tokenizer import load_tokenizer
from clearformer.training import saves
from clearformer.training.checkpoint import latest_state
from clearformer.training.events import Reporter
from clearformer.training.options import TrainingOptions
from clearformer.training.run_folder import RunFolder

LENGTH = ("steps", "minutes")
"""One of them says how long a run is."""


def resume(
    folder: RunFolder,
    text: Any,
    encoding: str,
    training_given: Mapping[str, Any],
    asked: Wish,
    reporter: Reporter,
    ranks: Alone,
) -> Run:
    """Goes on with a run.

    Raises:
        ConfigurationError, TextError, RunError, NotFiniteError, Interrupted: see `train`.
    """
    document, before = folder.configuration, execution_of(folder)
    tokenizer = load_tokenizer(folder.tokenizer_path)
    configuration = model_configuration(folder, tokenizer)
    try:
        options = TrainingOptions.from_json(document["training"])  # type: ignore[arg-type]
        if saves.finished(folder.checkpoints):
            require_model(configuration, tokenizer, latest_state(folder.checkpoints))
    except (KeyError, TypeError, ConfigurationError) as fault:
        raise RunError(f"{folder.path}/run.json is damaged: {fault}") from None
    likely, _ = as_before(before, replace(asked, compiled=False, ranks=ranks.ranks))
    fitting(likely, replace(options, workers=before.workers), ranks)(configuration)
    reporter.waiting("reading the text")
    reads = KINDS[configuration.kind].reads
    if text is None:
        material = material_of_run(folder, reads)
    else:
        material = material_of(text, encoding, reads)
        require_same_text(folder, material.fingerprint, material.shown)
    start = start_token(folder, tokenizer)
    longer = _lengthened(options, training_given)
    execution, notes = settled_again(asked, before, longer, configuration, ranks, reporter.waiting)
    prepared = material.prepared_again(tokenizer, configuration, notes)
    require_the_same(ranks, material.fingerprint, "another text")
    require_the_same(ranks, [longer.to_json(), configuration.to_json()], "other dials")
    del material  # its ids are enough from here on
    with folder.locked() if ranks.rank == 0 else nullcontext():
        changed = {"training": longer.to_json(), **asdict(execution)}
        changed["versions"] = versions_of(execution)

        def made_ready() -> None:
            for name in folder.remove_stale():
                reporter.note(f"{name}, left half-written, was removed")
            _refuse_shorter(folder, longer, options.minutes)
            if {**document, **changed} != document:  # so that the next resume goes on alike
                folder.write_configuration({**document, **changed})

        ranks.first(made_ready)
        return go(folder, prepared, longer, execution, start, reporter, ranks)


def refuse_changes(given: Mapping[str, Any]) -> None:
    """Nothing may change on the way but the length, and how often it saves.

    Raises:
        ConfigurationError: naming what was given.
    """
    for name, value in given.items():
        if value is not None and name not in (*LENGTH, "save_seconds"):
            raise ConfigurationError(
                "a resumed run keeps its dials; only --steps or --minutes, --save-seconds, and the "
                f"machine (--engine, --device …) can change, not --{name.replace('_', '-')}"
            )


def _refuse_shorter(folder: RunFolder, options: TrainingOptions, before: float | None) -> None:
    """`before` is the length so far, in minutes: a run that has come to its end may be resumed."""
    finished = saves.finished(folder.checkpoints)
    done = max((step for step, _ in finished), default=0)
    if finished and options.minutes is not None and options.minutes != before:
        state = latest_state(folder.checkpoints).state
        trained = (state["seconds"] + state["other_seconds"]) / 60  # type: ignore[operator]
        if options.minutes < trained:
            raise ConfigurationError(
                f"{folder.path} has trained for {trained:.3g} minutes already; got "
                f"minutes={options.minutes:g}; give more than {trained:.3g}"
            )
    if options.steps is not None and options.steps < done:
        raise ConfigurationError(
            f"{folder.path} has made {done:,} steps already; got steps={options.steps}; "
            f"give more than {done}"
        )


def _lengthened(options: TrainingOptions, given: Mapping[str, Any]) -> TrainingOptions:
    """The options of the run with another length, or saved more often or less."""
    unset = dict.fromkeys(LENGTH) if set(LENGTH) & given.keys() else {}
    return replace(options, **{**unset, **given})
