"""Training a run from a text, or going on with one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clearformer.engines.choose import (
    LOADING,
    join_ranks,
    require_possible,
    takes_loading,
    where_before,
)
from clearformer.engines.execution import DROPS, DROPS_ADVICE, Wish, cannot_compile
from clearformer.engines.kernels import kernels_heard_by
from clearformer.engines.ranks import rank_here
from clearformer.errors import ConfigurationError
from clearformer.models.kind import Kind
from clearformer.models.kinds import DEFAULT, kind_named
from clearformer.runs.beginning import begin
from clearformer.runs.dials import sorted_dials
from clearformer.runs.document import execution_of
from clearformer.runs.machine import alike
from clearformer.runs.material import material_for
from clearformer.runs.resuming import refuse_changes
from clearformer.runs.resuming import resume as resume_run
from clearformer.runs.run import Run
from clearformer.runs.sources import require_use
from clearformer.text.corpus import Corpus
from clearformer.training.events import Reporter
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import brief_sizes, model_for
from clearformer.training.run_folder import RunFolder


def train(
    text: str | Path | Sequence[str | Path] | Corpus | None = None,
    *,
    task: str | None = None,
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
            for the documentation that Python carries. For a model on pairs: a file with
            source<TAB>target on each line, or those lines.
        task: instead of a text: a task whose pairs are drawn with the seed, such as dates.
        out: the run folder; `runs/NAME` unless given.
        resume: go on with the run in `out`; its text and dials are read from there.
        model: the kind of model: decoder unless given; see `models.kinds`.
        size: tiny, small (unless given), medium or large; each part can be set by itself, too. A
            decoder that has half a minute or less is shallow, unless its size is named.
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
    told, folder = reporter or Reporter(), None
    with alike():
        model_given, training_given = sorted_dials(dials)
        asked = Wish(engine, device, precision, compiled, parallel)
        require_use(encoding, text)
        if resume:
            recipe = {"model": model, "size": size, "tokenizer": tokenizer, "vocab": vocab}
            folder = _to_go_on(out, {**recipe, "task": task, **model_given, **training_given})
        else:
            kind = kind_named(model or DEFAULT)
            minutes = training_given.get("minutes") if asked.on_processor else None
            chosen = model_for(kind, size, model_given, minutes)
            notes = _told_of(kind, brief_sizes(kind, size, model_given, minutes))
            usual = {"optimizer": chosen(1).usual_optimizer}
            options = TrainingOptions(**{**usual, **training_given})
            if compiled and model_given.get("dropout"):
                raise cannot_compile(DROPS, DROPS_ADVICE)
        asked = _possible(asked, folder, told)
    with alike(ConfigurationError):
        ranks = join_ranks(asked.engine or "numpy", asked.device)
    heard = told if ranks.rank == 0 else Reporter()
    with ranks, kernels_heard_by(heard.note):
        if folder is not None:
            return resume_run(folder, text, encoding, training_given, asked, heard, ranks)
        made = {"tokenizer": tokenizer, "vocab": vocab}
        heard.waiting("reading the text")
        material = material_for(kind, text, task, encoding, options.seed)
        return begin(material, out, made, chosen, options, asked, heard, ranks, notes)


def _told_of(kind: Kind, brief: Mapping[str, Any]) -> tuple[str, ...]:
    """A note on the sizes that short time has decided, if it has."""
    if not brief:
        return ()
    here, usual = (
        ", ".join(f"{name}={sizes[name]}" for name in brief)
        for sizes in (brief, kind.sizes["small"])
    )
    return (f"time is short, so the model has {here}; for {usual} name the size: small",)


def _to_go_on(out: str | Path | None, given: Mapping[str, Any]) -> RunFolder:
    if out is None:
        raise ConfigurationError("resume needs the folder of the run: name it with --out RUN")
    refuse_changes(given)
    return RunFolder.open(Path(out))


def _possible(asked: Wish, folder: RunFolder | None, reporter: Reporter) -> Wish:
    """What is asked for, or of a run that goes on was before, once this machine can do it.

    The engine is loaded here, after everything that can be refused without it.
    """
    before = execution_of(folder) if folder else None
    if takes_loading(asked.engine or (before.engine if before else None)) and not rank_here():
        reporter.waiting(LOADING)
    if before:
        asked = where_before(before, asked)
    require_possible(asked)
    return asked
