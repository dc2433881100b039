"""The way of a run from its first step, or its last save, to its end."""

from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.engines.ranks import Alone, command_here
from clearformer.errors import Interrupted
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.kinds import KINDS, build
from clearformer.runs.belonging import require_model
from clearformer.runs.masked_samples import filled_in
from clearformer.runs.pair_samples import answers
from clearformer.runs.run import Run
from clearformer.training import saves
from clearformer.training.checkpoint import Checkpoint, load_checkpoint, load_latest
from clearformer.training.events import Reporter, Start
from clearformer.training.judged_pairs import JudgedPairs
from clearformer.training.loop import Loop
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared
from clearformer.training.run_folder import RunFolder
from clearformer.training.session import Session
from clearformer.training.unwritten import Unwritten

SAMPLE_TOKENS = {"characters": 160, "words": 40, "bytepair": 60}  # two lines of a terminal


def go(
    folder: RunFolder,
    prepared: Prepared,
    options: TrainingOptions,
    execution: Execution,
    start: int,
    reporter: Reporter,
    ranks: Alone,
) -> Run:
    """Trains in a folder that is ready, from where it stands.

    Raises:
        NotFiniteError, RunError, Interrupted: see `train`.
    """
    for note in prepared.notes:
        reporter.note(note)
    objective = objective_of(prepared.model)
    learner = learner_of(
        execution,
        build(prepared.model, np.random.default_rng(options.seed)),
        objective.loss,
        ranks,
    )

    def sample(current: Any) -> str:
        if isinstance(prepared.validation, JudgedPairs):
            return answers(current, prepared)
        return _sample(current, prepared, start)

    written = folder if ranks.rank == 0 else Unwritten(folder.path)
    session = Session(written, prepared, options, learner, objective, reporter, sample, ranks)
    saved = _latest(folder.checkpoints, ranks)
    if saved is not None:
        for note in saved.notes:
            reporter.note(note)
        require_model(prepared.model, prepared.tokenizer, saved)
        session.restore(saved)
        reporter.note(_where_it_stands(session.loop))
    reporter.started(
        Start(
            folder=folder.path,
            model=prepared.model,
            tokenizer=prepared.tokenizer.kind,
            tokens=prepared.tokens,
            validation_tokens=prepared.validation.tokens,
            batch=options.batch,
            where=execution.where,
            step=session.loop.step,
            steps=session.loop.steps,
            minutes=options.minutes,
            progress=session.loop.progress,
        )
    )
    if execution.compiled and session.loop.progress < 1:
        reporter.waiting("compiling the model")
    stopped_by = session.run()
    if stopped_by is not None:
        raise Interrupted(
            f"stopped after step {session.loop.step:,} and saved; go on with: "
            f"{command_here()} train --resume --out {quote(str(folder.path))}",
            stopped_by,
        )
    return Run(
        learner.snapshot(),
        prepared.tokenizer,
        prepared.model,
        folder.path,
        session.loop.step,
        start,
        summary={**session.summary(), "notes": list(prepared.notes)},
    )


def _latest(folder: Path, ranks: Alone) -> Checkpoint | None:
    """The newest save that is intact, the same one for every rank; None before the first."""
    found: list[Checkpoint] = []

    def newest() -> str | None:
        if not saves.finished(folder):
            return None
        found.append(load_latest(folder))
        return str(found[0].path)

    path = ranks.first(newest)
    if path is None:
        return None
    return found[0] if found else load_checkpoint(Path(path))


def _where_it_stands(loop: Loop) -> str:
    if loop.progress < 1:
        return f"going on after step {loop.step:,}"
    return (
        f"this run is finished: it has made its {loop.step:,} steps; to go on give it more, such "
        f"as --steps {2 * loop.step}"
    )


def _sample(model: Any, prepared: Prepared, start: int) -> str:
    """A little text, always drawn with the same luck, so that samples can be compared."""
    tokens = SAMPLE_TOKENS[prepared.tokenizer.kind]
    if KINDS[prepared.model.kind].fills:
        return filled_in(model, prepared, tokens)
    ids = generate(
        model,
        [start],
        tokens,
        context=prepared.model.sees,
        sampling=Sampling(temperature=0.8),
        rng=np.random.default_rng(0),
        never=prepared.tokenizer.control_ids,
    )
    return prepared.tokenizer.decode(list(ids)).strip()
