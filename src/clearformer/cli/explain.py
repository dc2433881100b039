"""`clearformer explain`: one sentence through every step, in the terminal or as JSON."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clearformer.cli.output import (
    json_option,
    machine_options,
    note_of,
    require_place,
    show_json,
    tell,
)
from clearformer.cli.styled import show_lines

if TYPE_CHECKING:
    from clearformer.explanation.trace import Trace


@click.command(name="explain")
@click.argument("sentence", default="I like small models")
@click.option("--run", type=click.Path(path_type=Path), help="Explain this trained model.")
@click.option("--layer", type=int, help="Show this layer, counted from 0.")
@click.option("--head", type=int, help="Show this head, counted from 0.")
@click.option("--embed", type=int, help="Lesson: numbers per token.  [default: 8]")
@click.option("--heads", type=int, help="Lesson: attention heads.  [default: 1]")
@click.option(
    "--projections",
    type=click.Choice(["shared", "separate"]),
    help="Lesson: query = key = value, or a matrix for each.  [default: shared]",
)
@click.option(
    "--causal/--no-causal",
    default=None,
    help="Lesson: whether tokens are kept from seeing later ones.  [default: no-causal]",
)
@click.option("--seed", type=int, help="Lesson: of the random numbers.  [default: 0]")
@click.option(
    "--edit",
    "edits",
    multiple=True,
    metavar="NAME=VALUE",
    help="What if this step gave VALUE (a number or a JSON list)? NAME[i,j]=VALUE sets one cell. "
    "May be repeated.",
)
@click.option(
    "--picture", metavar="FILE.svg", type=click.Path(path_type=Path),
    help="Draw what attention looked at; of --layer and --head, or the first.",
)  # fmt: skip
@machine_options
@json_option
def explain(
    sentence: str,
    run: Path | None,
    picture: Path | None,
    engine: str,
    device: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Follow SENTENCE through every step of a Transformer: each with its reason, formula, shape and
    numbers.

    Without --run it is a first lesson: a small untrained model of one layer, in which every number
    can be followed by hand.

    \b
      clearformer explain "I like small models"
      clearformer explain "I like small models" --causal --projections separate
      clearformer explain "To be or not" --run runs/my-text --layer 1 --head 2

    What if the last word did not look at the first, or a layer's attention were silent?

    \b
      clearformer explain --edit "blocks.0.attention.scores[3,0]=-inf"
      clearformer explain --run runs/my-text --edit blocks.0.attention.mixed=0

    Names of steps are the titles in the output, and the keys of --json and of Python:

    \b
      clearformer explain --json | python -m json.tool | less
      python -c "import clearformer as cf; print(cf.explain('I like tea')['ids'])"
    """  # noqa: D205
    from clearformer.explanation.explain import explain as explained

    subject: Any = run
    if engine != "numpy" or device is not None:
        if run is None:
            raise click.UsageError("--engine and --device go with --run; a lesson needs neither")
        from clearformer.cli.opening import open_run

        subject = open_run(run, engine, device)
    if picture is not None:
        require_place("--picture", picture)
    trace = explained(sentence, run=subject, **options)
    if picture is not None:
        _draw(trace, picture)
    if as_json:
        for note in trace.notes:
            tell(note_of(note))
        show_json(trace.to_json())
    else:
        _show(trace)
    if picture is not None:
        tell(f"What attention looked at is drawn in {picture}; any browser shows it.")


def _draw(trace: "Trace", file: Path) -> None:
    from clearformer.comparison.report.alone import alone
    from clearformer.comparison.report.heat import heat
    from clearformer.explanation.looked import looked_at
    from clearformer.training.durable import in_one_line, replace_file

    looked = looked_at(trace)
    described = f"{trace.subject.sentence}: {looked.name}, a row for each token that looks"
    drawn = heat(looked.queries, looked.keys, looked.seen, "What attention looked at", described)
    content = alone(drawn).encode("utf-8")
    with in_one_line("write", file, len(content)):
        replace_file(file, content)


def _show(trace: "Trace") -> None:
    from clearformer.explanation.render import render

    show_lines(render(trace))
