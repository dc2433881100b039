"""Training a run from a text, or going on with one."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, fields, replace
from difflib import get_close_matches
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from clearformer.engines.choose import (
    as_before,
    join_ranks,
    learner_of,
    require_possible,
    where_before,
)
from clearformer.engines.execution import Execution, Wish
from clearformer.engines.ranks import Alone
from clearformer.errors import ConfigurationError, Interrupted, RunError
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.kinds import DEFAULT, KINDS, build, kind_named
from clearformer.runs.document import document_of, execution_of
from clearformer.runs.fitting import fitting
from clearformer.runs.machine import alike, require_the_same, settled, settled_again
from clearformer.runs.material import material_of, material_of_run
from clearformer.runs.run import Run, model_configuration, require_model, start_token
from clearformer.runs.sources import require_same_text, require_text
from clearformer.text.corpus import Corpus
from clearformer.text.tokenizer import load_tokenizer, tokenizer_file
from clearformer.training import saves
from clearformer.training.checkpoint import (
    Checkpoint,
    latest_model,
    load_checkpoint,
    load_latest,
)
from clearformer.training.events import Reporter, Start
from clearformer.training.loop import Loop
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import ModelFor, Prepared, model_for
from clearformer.training.run_folder import RunFolder, default_run_path
from clearformer.training.session import Session
from clearformer.training.unwritten import Unwritten

SAMPLE_TOKENS = {"characters": 160, "words": 40, "bytepair": 60}  # two lines of a terminal

MODEL_DIALS = {name for kind in KINDS.values() for name in kind.dials}
TRAINING_DIALS = {field.name for field in fields(TrainingOptions)}


def train(
    text: str | Path | Sequence[str | Path] | Corpus | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    model: str | None = None,
    size: str | None = None,
    tokenizer: str | None = None,
    vocab: int | None = None,
    encoding: str = "utf-8",
    engine: str | None = None,
    device: str | None = None,
    precision: str | None = None,
    compiled: bool | None = None,
    parallel: str | None = None,
    reporter: Reporter | None = None,
    **dials: Any,
) -> Run:
    """Trains a small language model on a text and returns the run.

    Started in several processes by `torchrun`, they train one model together.

    Args:
        text: a file, files, or the text itself; a folder that `clearformer prepare` has made; None
            for the documentation that Python carries.
        out: the run folder; `runs/NAME` unless given.
        resume: go on with the run in `out`; its text and dials are read from there.
        model: the kind of model: decoder unless given; see `models.kinds`.
        size: tiny, small, medium or large; each part can be set by itself, too.
        tokenizer: characters (unless given), words or bytepair.
        vocab: at most so many tokens.
        encoding: of the files.
        engine: numpy (unless given) or torch. A run may go on with another engine than before.
        device: of PyTorch: cpu, cuda or mps; the best one there is unless given.
        precision: of PyTorch's products: float32 or bfloat16; what is quicker here unless given.
        compiled: whether PyTorch compiles the model; if that pays unless given.
        parallel: of several processes: replicate (each has the whole model) or shard (each has a
            part of it); replicate, if it fits, unless given.
        reporter: hears of steps, evaluations, samples and saves.
        dials: fields of the kind's configuration, such as `ModelConfiguration`, and of
            `TrainingOptions`, such as `layers=2, steps=100`.

    Raises:
        ConfigurationError: if dials are unknown, out of range, or do not fit together.
        TextError: if the text cannot be read or cannot be trained on.
        RunError: if the run folder is taken, missing or not writable.
        NotFiniteError: if the loss or a gradient became NaN or infinite; the last save is kept.
        Interrupted: on Ctrl-C, after the step was finished and saved.
    """
    with alike():
        model_given, training_given = _sorted(dials)
        asked = Wish(engine, device, precision, compiled, parallel)
        if resume:
            if out is None:
                raise ConfigurationError(
                    "resume needs the folder of the run: name it with --out RUN"
                )
            chosen = {
                "model": model,
                "size": size,
                "tokenizer": tokenizer,
                "vocab": vocab,
                **model_given,
            }
            _refuse_changes({**chosen, **training_given})
            folder = RunFolder.open(Path(out))
            asked = where_before(execution_of(folder), asked)
        require_possible(asked)
    with alike(ConfigurationError):
        ranks = join_ranks(asked.engine or "numpy", asked.device)
    with ranks:
        heard = reporter if reporter and ranks.rank == 0 else Reporter()
        if resume:
            return _resume(folder, text, encoding, training_given, asked, heard, ranks)
        recipe = {"tokenizer": tokenizer, "vocab": vocab}
        chosen_model = model_for(kind_named(model or DEFAULT), size, model_given)
        options = TrainingOptions(**training_given)
        return _begin(text, out, encoding, recipe, chosen_model, options, asked, heard, ranks)


def _begin(
    text: Any,
    out: str | Path | None,
    encoding: str,
    recipe: Mapping[str, Any],
    model: ModelFor,
    options: TrainingOptions,
    asked: Wish,
    reporter: Reporter,
    ranks: Alone,
) -> Run:
    """Trains a new run."""
    require_text(text)
    material = material_of(text, encoding)
    require_the_same(ranks, material.fingerprint, "another text")
    reporter.preparing(material.characters_to_cut)
    prepared = material.prepared(
        recipe["tokenizer"],
        recipe["vocab"],
        model,
        options,
        fitting(asked, options, ranks),
    )
    execution, notes = settled(asked, options, prepared.model, ranks)
    document = document_of(material.recorded(), execution, options, prepared)
    dials_of_run = [document[part] for part in ("model", "training", "tokenizer")]
    require_the_same(ranks, dials_of_run, "other dials")
    name = material.name
    del material  # its ids are enough from here on
    folder = _created(out, name, ranks)
    try:
        with folder.locked() if ranks.rank == 0 else nullcontext():
            if ranks.rank == 0:
                folder.write_tokenizer(tokenizer_file(prepared.tokenizer))
                folder.write_configuration(document)
            prepared = replace(prepared, notes=(*prepared.notes, *notes))
            start = int(document["start_token"])
            return _train(folder, prepared, options, execution, start, reporter, ranks)
    except BaseException as fault:
        another_rank_has_ended = ranks.ranks > 1 and isinstance(fault, RuntimeError)
        if ranks.rank == 0 and not another_rank_has_ended:  # else it can go on from the start
            folder.discard()  # does nothing once there is a save
        raise


def _created(out: str | Path | None, name: str, ranks: Alone) -> RunFolder:
    """The folder of a new run, which rank 0 makes."""
    made: list[RunFolder] = []

    def make() -> str:
        made.append(RunFolder.create(Path(out) if out is not None else default_run_path(name)))
        return str(made[0].path)

    path = Path(ranks.first(make))
    return made[0] if made else RunFolder(path)


def _resume(
    folder: RunFolder,
    text: Any,
    encoding: str,
    training_given: Mapping[str, Any],
    asked: Wish,
    reporter: Reporter,
    ranks: Alone,
) -> Run:
    """Goes on with a run."""
    document, before = folder.configuration, execution_of(folder)
    tokenizer = load_tokenizer(folder.tokenizer_path)
    configuration = model_configuration(folder, tokenizer)
    try:
        options = TrainingOptions.from_json(document["training"])  # type: ignore[arg-type]
        if saves.finished(folder.checkpoints):
            require_model(configuration, latest_model(folder.checkpoints))
    except (KeyError, TypeError, ConfigurationError) as fault:
        raise RunError(f"{folder.path}/run.json is damaged: {fault}") from None
    likely, _ = as_before(before, replace(asked, compiled=False, ranks=ranks.ranks))
    fitting(likely, replace(options, workers=before.workers), ranks)(configuration)
    if text is None:
        material = material_of_run(folder)
    else:
        material = material_of(text, encoding)
        require_same_text(folder, material.fingerprint, material.shown)
    start = start_token(folder, tokenizer)
    longer = _lengthened(options, training_given)
    execution, notes = settled_again(asked, before, longer, configuration, ranks)
    prepared = material.prepared_again(tokenizer, configuration, notes)
    require_the_same(ranks, material.fingerprint, "another text")
    require_the_same(ranks, [longer.to_json(), configuration.to_json()], "other dials")
    del material  # its ids are enough from here on
    with folder.locked() if ranks.rank == 0 else nullcontext():
        changed = {"training": longer.to_json(), **asdict(execution)}

        def made_ready() -> None:
            for name in folder.remove_stale():
                reporter.note(f"{name}, left half-written, was removed")
            _refuse_shorter(folder, longer)
            if {**document, **changed} != document:  # so that the next resume goes on alike
                folder.write_configuration({**document, **changed})

        ranks.first(made_ready)
        return _train(folder, prepared, longer, execution, start, reporter, ranks)


def _refuse_changes(given: Mapping[str, Any]) -> None:
    """Nothing but the length may change on the way."""
    for name, value in given.items():
        if value is not None and name not in ("steps", "minutes"):
            raise ConfigurationError(
                f"a resumed run keeps its dials; only steps or minutes can change, not {name}"
            )


def _refuse_shorter(folder: RunFolder, options: TrainingOptions) -> None:
    done = max((step for step, _ in saves.finished(folder.checkpoints)), default=0)
    if options.steps is not None and options.steps < done:
        raise ConfigurationError(
            f"{folder.path} has made {done:,} steps already; got steps={options.steps}; "
            f"give more than {done}"
        )


def _lengthened(options: TrainingOptions, given: Mapping[str, Any]) -> TrainingOptions:
    """The options of the run with another length."""
    if not given:
        return options
    return replace(options, **{"steps": None, "minutes": None, **given})


def _train(
    folder: RunFolder,
    prepared: Prepared,
    options: TrainingOptions,
    execution: Execution,
    start: int,
    reporter: Reporter,
    ranks: Alone,
) -> Run:
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
        return _sample(current, prepared, start)

    written = folder if ranks.rank == 0 else Unwritten(folder.path)
    session = Session(written, prepared, options, learner, objective, reporter, sample, ranks)
    saved = _latest(folder.checkpoints, ranks)
    if saved is not None:
        for note in saved.notes:
            reporter.note(note)
        session.restore(saved)
        reporter.note(_where_it_stands(session.loop))
    reporter.started(
        Start(
            folder=folder.path,
            model=prepared.model,
            tokenizer=prepared.tokenizer.kind,
            tokens=len(prepared.train),
            validation_tokens=len(prepared.validation.ids),
            batch=options.batch,
            where=execution.where,
            step=session.loop.step,
            steps=session.loop.steps,
            minutes=options.minutes,
        )
    )
    stopped_by = session.run()
    if stopped_by is not None:
        raise Interrupted(
            f"stopped after step {session.loop.step:,} and saved; go on with: "
            f"clearformer train --resume --out {quote(str(folder.path))}",
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


def _sorted(dials: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The dials that were given, those of the model and those of training."""
    for name in dials:
        if name not in MODEL_DIALS | TRAINING_DIALS:
            near = get_close_matches(name, MODEL_DIALS | TRAINING_DIALS, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigurationError(f"there is no dial {name!r}{hint}")
    given = {name: value for name, value in dials.items() if value is not None}
    return (
        {name: value for name, value in given.items() if name in MODEL_DIALS},
        {name: value for name, value in given.items() if name in TRAINING_DIALS},
    )


def _sample(model: Any, prepared: Prepared, start: int) -> str:
    """A little text, always drawn with the same luck, so that samples can be compared."""
    ids = generate(
        model,
        [start],
        SAMPLE_TOKENS[prepared.tokenizer.kind],
        context=prepared.model.window,
        sampling=Sampling(temperature=0.8),
        rng=np.random.default_rng(0),
        never=prepared.tokenizer.control_ids,
    )
    return prepared.tokenizer.decode(list(ids)).strip()
