"""Training a run from a text, or going on with one."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from platform import python_version
from shlex import quote
from typing import Any

import numpy as np

from clearformer.engines.choose import choose_engine, suitable_workers
from clearformer.errors import ConfigurationError, Interrupted, RunError
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.runs.run import KIND, Run, model_configuration, require_model, start_token
from clearformer.runs.sources import (
    DIRECT,
    corpus_of,
    corpus_of_run,
    require_same_text,
    require_text,
)
from clearformer.text.corpus import Corpus
from clearformer.text.split import split_text
from clearformer.text.tokenizer import Tokenizer, load_tokenizer, save_tokenizer
from clearformer.training import saves
from clearformer.training.checkpoint import latest_model, load_latest, remove_stale
from clearformer.training.events import Reporter, Start
from clearformer.training.judged import judged
from clearformer.training.lock import RunLock
from clearformer.training.loop import Loop
from clearformer.training.memory import require_memory
from clearformer.training.objective import next_token_loss
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import VALIDATION, Prepared, model_dials, prepare
from clearformer.training.run_folder import RunFolder, default_run_path
from clearformer.training.session import Session
from clearformer.version import __version__

SAMPLE_TOKENS = {"characters": 160, "words": 40, "bytepair": 60}  # two lines of a terminal

MODEL_DIALS = {field.name for field in fields(ModelConfiguration)} - {"vocabulary"}
TRAINING_DIALS = {field.name for field in fields(TrainingOptions)}


def train(
    text: str | Path | Sequence[str | Path] | Corpus | None = None,
    *,
    out: str | Path | None = None,
    resume: bool = False,
    size: str | None = None,
    tokenizer: str | None = None,
    vocab: int | None = None,
    encoding: str = "utf-8",
    engine: str = "numpy",
    reporter: Reporter | None = None,
    **dials: Any,
) -> Run:
    """Trains a small language model on a text and returns the run.

    Args:
        text: a file, files, or the text itself; None for the documentation that Python carries.
        out: the run folder; `runs/NAME` unless given.
        resume: go on with the run in `out`; its text and dials are read from there.
        size: tiny, small, medium or large; each part can be set by itself, too.
        tokenizer: characters (unless given), words or bytepair.
        vocab: at most so many tokens.
        encoding: of the files.
        engine: numpy.
        reporter: hears of steps, evaluations, samples and saves.
        dials: fields of `ModelConfiguration` and `TrainingOptions`, such as `layers=2, steps=100`.

    Raises:
        ConfigurationError: if dials are unknown, out of range, or do not fit together.
        TextError: if the text cannot be read or cannot be trained on.
        RunError: if the run folder is taken, missing or not writable.
        NotFiniteError: if the loss or a gradient became NaN or infinite; the last save is kept.
        Interrupted: on Ctrl-C, after the step was finished and saved.
    """
    reporter = reporter or Reporter()
    model_given, training_given = _sorted(dials)
    choose_engine(engine)
    if resume:
        if out is None:
            raise ConfigurationError("resume needs the folder of the run: name it with --out RUN")
        chosen = {"size": size, "tokenizer": tokenizer, "vocab": vocab, **model_given}
        _refuse_changes({**chosen, **training_given})
        return _resume(RunFolder.open(Path(out)), text, encoding, training_given, reporter)
    options = TrainingOptions(**training_given)
    workers = options.workers or suitable_workers(options.batch)
    require_text(text)
    corpus = corpus_of(text, encoding)
    reporter.preparing(corpus.characters)
    prepared = prepare(
        corpus,
        kind=tokenizer or "characters",
        vocabulary=vocab,
        dials=model_dials(size, model_given),
        options=options,
        workers=workers,
    )
    stem = Path(corpus.sources[0]).stem if corpus.text and text is not None else "python-docs"
    folder = RunFolder.create(Path(out) if out is not None else default_run_path(stem))
    try:
        with RunLock(folder.path):
            start = _start_token(prepared.tokenizer, prepared.train)
            save_tokenizer(prepared.tokenizer, folder.tokenizer_path)
            document = _document(corpus, text, encoding, engine, options, workers, prepared, start)
            folder.write_configuration(document)
            del corpus  # its ids are enough from here on
            return _train(folder, prepared, options, workers, engine, start, reporter)
    except BaseException:
        folder.discard()  # does nothing once there is a save
        raise


def _resume(
    folder: RunFolder,
    text: Any,
    encoding: str,
    training_given: Mapping[str, Any],
    reporter: Reporter,
) -> Run:
    document = folder.configuration
    tokenizer = load_tokenizer(folder.tokenizer_path)
    configuration = model_configuration(folder, tokenizer)
    try:
        options = TrainingOptions.from_json(document["training"])  # type: ignore[arg-type]
        workers = TrainingOptions(workers=document["workers"]).workers  # type: ignore[arg-type]
        engine = document["engine"]
        if workers is None or "start_token" not in document or not isinstance(engine, str):
            raise ConfigurationError("workers, start_token or engine is missing or wrong")
        if saves.finished(folder.checkpoints):
            require_model(configuration, latest_model(folder.checkpoints))
    except (KeyError, TypeError, ConfigurationError) as fault:
        raise RunError(f"{folder.path}/run.json is damaged: {fault}") from None
    require_memory(configuration, options.batch, workers, options.accumulation)
    if text is None:
        corpus = corpus_of_run(folder)
    else:
        corpus = corpus_of(text, encoding)
        require_same_text(folder, corpus)
    start = start_token(folder, tokenizer)
    longer = _lengthened(options, training_given)
    train_text, validation_text = split_text(corpus.text, VALIDATION)
    prepared = Prepared(
        tokenizer,
        tokenizer.encode(train_text),
        judged(tokenizer, validation_text),
        configuration,
        corpus.notes,
    )
    del corpus, train_text, validation_text  # their ids are enough from here on
    with RunLock(folder.path):
        for name in remove_stale(folder.checkpoints):
            reporter.note(f"{name}, left by an interrupted save, was removed")
        _refuse_shorter(folder, longer)
        if longer != options:  # so that the next resume goes to the same end
            folder.write_configuration({**document, "training": longer.to_json()})
        return _train(folder, prepared, longer, workers, engine, start, reporter)


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
    workers: int,
    engine: str,
    start: int,
    reporter: Reporter,
) -> Run:
    for note in prepared.notes:
        reporter.note(note)
    model = build_decoder(prepared.model, np.random.default_rng(options.seed))
    learner = choose_engine(engine).Learner(model, next_token_loss, workers)

    def sample(current: Any) -> str:
        return _sample(current, prepared, start)

    session = Session(folder, prepared, options, learner, reporter, sample)
    if saves.finished(folder.checkpoints):
        saved = load_latest(folder.checkpoints)
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
            workers=workers,
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
        learner.model,
        prepared.tokenizer,
        prepared.model,
        folder.path,
        session.loop.step,
        start,
        {**session.summary(), "notes": list(prepared.notes)},
    )


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


def _document(
    corpus: Corpus,
    text: Any,
    encoding: str,
    engine: str,
    options: TrainingOptions,
    workers: int,
    prepared: Prepared,
    start: int,
) -> dict[str, Any]:
    """What run.json holds."""
    from_files = text is not None and corpus.sources != DIRECT
    files = [text] if isinstance(text, str | Path) else text
    named = from_files and not isinstance(text, Corpus)
    names = [str(Path(name).resolve()) for name in files] if named else []
    if not all(map(_is_unicode, names)):  # to be named again when the run is resumed
        names = []
    return {
        "kind": KIND,
        "model": prepared.model.to_json(),
        "training": options.to_json(),
        "workers": workers,
        "engine": engine,
        "tokenizer": {
            "kind": prepared.tokenizer.kind,
            "vocabulary": prepared.tokenizer.vocabulary_size,
            "fingerprint": prepared.tokenizer.fingerprint,
        },
        "start_token": start,
        "corpus": {
            "sources": list(corpus.sources),
            "files": names,
            "encoding": encoding,
            "characters": corpus.characters,
            "fingerprint": corpus.fingerprint,
        },
        "versions": {
            "clearformer": __version__,
            "numpy": np.__version__,
            "python": python_version(),
        },
    }


def _is_unicode(name: str | Path) -> bool:
    """Whether JSON can hold a name of a file; on Linux it may be any bytes."""
    try:
        str(name).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _start_token(tokenizer: Tokenizer, train: np.ndarray) -> int:
    """What a text without a prompt begins after: a newline, or the first token of the text."""
    newline = tokenizer.encode("\n")
    known = len(newline) == 1 and not tokenizer.unknown("\n")
    return int(newline[0]) if known else int(train[0])


def _sample(model: Any, prepared: Prepared, start: int) -> str:
    """A little text, always drawn with the same luck, so that samples can be compared."""
    ids = generate(
        model,
        [start],
        SAMPLE_TOKENS[prepared.tokenizer.kind],
        context=prepared.model.context,
        sampling=Sampling(temperature=0.8),
        rng=np.random.default_rng(0),
        never=prepared.tokenizer.control_ids,
    )
    return prepared.tokenizer.decode(list(ids)).strip()
