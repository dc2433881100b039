"""`clearformer train`: trains a small language model on a text."""

from pathlib import Path
from typing import Any

import click

from clearformer.cli.dials import Section, SectionedCommand, dials, dials_of_kinds
from clearformer.cli.output import json_option, show_json
from clearformer.cli.train_ending import show_ending
from clearformer.engines.execution import ENGINES, PARALLEL, PRECISIONS
from clearformer.models.configuration import SIZES
from clearformer.models.kinds import DEFAULT, KINDS
from clearformer.training.options import OPTIMIZERS, TrainingOptions


@click.command(name="train", cls=SectionedCommand)
@click.argument("text", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), cls=Section, section="The run",
    help="Folder of the run.  [default: runs/NAME-OF-TEXT]",
)  # fmt: skip
@click.option(
    "--resume", is_flag=True, cls=Section, section="The run",
    help="Go on with the run in --out, from its last save.",
)  # fmt: skip
@click.option(
    "--encoding", default="utf-8", cls=Section, section="The run",
    help="Of the files, such as shift_jis or utf-16.  [default: utf-8]",
)  # fmt: skip
@click.option(
    "--tokenizer", type=click.Choice(["characters", "words", "bytepair"]),
    cls=Section, section="The run", help="What a token is.  [default: characters]",
)  # fmt: skip
@click.option(
    "--vocab", type=int, cls=Section, section="The run", help="At most so many different tokens."
)
@click.option(
    "--model", type=click.Choice(list(KINDS)), cls=Section, section="The run",
    help=f"The kind of model.  [default: {DEFAULT}]",
)  # fmt: skip
@click.option(
    "--task", cls=Section, section="The run",
    help="Instead of TEXT: learn pairs of this task, such as dates (seq2seq, encoder-decoder).",
)  # fmt: skip
@click.option(
    "--size", type=click.Choice(list(SIZES)), cls=Section, section="The model",
    help="All sizes at once; each can be set by itself, too.  [default: small]",
)  # fmt: skip
@dials_of_kinds
@dials(TrainingOptions, "Training", choices={"optimizer": OPTIMIZERS}, varying=("optimizer",))
@click.option(
    "--engine", type=click.Choice(ENGINES), cls=Section, section="The machine",
    help="What does the arithmetic; torch needs PyTorch.  [default: numpy, or as before]",
)  # fmt: skip
@click.option(
    "--device", cls=Section, section="The machine", metavar="cpu|cuda|mps",
    help="Of PyTorch: where it does it.  [default: the best there is]",
)  # fmt: skip
@click.option(
    "--precision", type=click.Choice(PRECISIONS), cls=Section, section="The machine",
    help="Of PyTorch's products.  [default: bfloat16 where that is quicker]",
)  # fmt: skip
@click.option(
    "--compile/--no-compile", "compiled", default=None, cls=Section, section="The machine",
    help="Let PyTorch compile the model.  [default: where that pays]",
)  # fmt: skip
@click.option(
    "--parallel", type=click.Choice(PARALLEL), cls=Section, section="The machine",
    help="Under torchrun: each process has the whole model, or a part.  [default: what fits]",
)  # fmt: skip
@json_option
def train(
    text: tuple[Path, ...],
    out: Path | None,
    resume: bool,
    encoding: str,
    tokenizer: str | None,
    vocab: int | None,
    model: str | None,
    task: str | None,
    engine: str | None,
    size: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Train a small language model on TEXT, one or several files.

    TEXT can also be a folder that `prepare` has made of a text of any size. Without TEXT it learns
    from the documentation that every Python carries. By default it takes about a minute and a half:
    2,000 steps of a model with 0.8 million parameters, trained on 90 % of the text and judged on
    the rest. Ctrl-C stops and saves.

    \b
      clearformer train my-text.txt
      clearformer train my-text.txt --minutes 5 --size medium
      clearformer train novel-1.txt novel-2.txt --tokenizer bytepair --vocab 2000
      clearformer train pairs.tsv --model seq2seq
      clearformer train --resume --out runs/my-text --steps 4000
    """
    from clearformer.cli.progress import TrainingDisplay
    from clearformer.engines.ranks import rank_here
    from clearformer.runs.train import train as train_run
    from clearformer.training.objectives import objective_of

    with TrainingDisplay() as display:
        run = train_run(
            list(text) or None,
            task=task,
            out=out,
            resume=resume,
            model=model,
            size=size,
            tokenizer=tokenizer,
            vocab=vocab,
            encoding=encoding,
            engine=engine,
            reporter=display,
            **given,
        )
    if rank_here():
        return  # the first of several processes tells of the run
    summary, note = run.summary or {}, objective_of(run.configuration).note
    if note and summary["validation_loss"] is not None:
        summary = {**summary, "notes": [*summary["notes"], note]}
    if as_json:
        show_json(summary)
        return
    show_ending(summary, display.last_sample, run, given["minutes"])
