"""A new run: what it is made of is found out and written down, then it goes."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from clearformer.engines.execution import Wish
from clearformer.engines.ranks import Alone
from clearformer.runs.document import document_of
from clearformer.runs.fitting import fitting
from clearformer.runs.going import go
from clearformer.runs.machine import require_the_same, settled
from clearformer.runs.material import Material
from clearformer.runs.run import Run
from clearformer.text.tokenizer import tokenizer_file
from clearformer.training.events import Reporter
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import ModelFor
from clearformer.training.run_folder import RunFolder, default_run_path


def begin(
    material: Material,
    out: str | Path | None,
    recipe: Mapping[str, Any],
    model: ModelFor,
    options: TrainingOptions,
    asked: Wish,
    reporter: Reporter,
    ranks: Alone,
    notes: Sequence[str] = (),
) -> Run:
    """Trains a new run; `notes` are told first.

    Raises:
        ConfigurationError, TextError, RunError, NotFiniteError, Interrupted: see `train`.
    """
    require_the_same(ranks, material.fingerprint, "another text")
    reporter.preparing(material.characters_to_cut)
    prepared = material.prepared(
        recipe["tokenizer"],
        recipe["vocab"],
        model,
        options,
        fitting(asked, options, ranks),
    )
    execution, decided = settled(asked, options, prepared.model, ranks, reporter.waiting)
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
            prepared = replace(prepared, notes=(*notes, *prepared.notes, *decided))
            start = int(document["start_token"])
            return go(folder, prepared, options, execution, start, reporter, ranks)
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
