"""`clearformer evaluate`: measures how well a model predicts a text."""

import warnings
from pathlib import Path

import click

from clearformer.cli.output import json_option, machine_options, note_of, show_json, tell


@click.command(name="evaluate")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("text", required=False, type=click.Path(path_type=Path))
@click.option(
    "--context", type=int, help="Tokens seen at once; at most what the model was made for."
)
@click.option(
    "--stride",
    type=int,
    help="Tokens by which the window moves on. Half the context: each token is predicted from at "
    "least half a window, in twice the time.  [default: the context]",
)
@click.option("--encoding", default="utf-8", show_default=True, help="Of TEXT.")
@machine_options
@json_option
def evaluate(
    run: Path,
    text: Path | None,
    context: int | None,
    stride: int | None,
    encoding: str,
    engine: str,
    device: str | None,
    as_json: bool,
) -> None:
    """Measure the loss of the model in RUN over every position of TEXT.

    Without TEXT it is measured on the last tenth of the text the run was trained on, which the
    model has never seen.

    \b
      clearformer evaluate runs/my-text
      clearformer evaluate runs/my-text another-text.txt --context 32
      clearformer evaluate runs/my-text --stride 32
    """
    from clearformer.cli.opening import open_run
    from clearformer.cli.progress import Counter
    from clearformer.training.objectives import objective_of

    with Counter("measuring") as counter, warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        trained = open_run(run, engine, device)
        found = trained.evaluate(
            text, context=context, stride=stride, encoding=encoding, progress=counter.show
        )
    notes = [str(warning.message) for warning in heard]
    to_be_known = objective_of(trained.configuration).note
    notes += [to_be_known] if to_be_known else []
    for note in notes:
        tell(note_of(note))
    if as_json:
        show_json(
            {
                "loss": found.loss,
                "perplexity": found.perplexity,
                "bits_per_character": found.bits_per_character,
                "accuracy": found.accuracy,
                "tokens": found.tokens,
                "characters": found.characters,
                "notes": notes,
            }
        )
        return
    click.echo(f"loss                {found.loss:.4f} nats per token")
    click.echo(
        f"perplexity          {found.perplexity:,.2f}: "
        "as undecided as among so many equally likely tokens"
    )
    click.echo(f"bits per character  {found.bits_per_character:.4f}")
    if found.accuracy is not None:
        right = "masked tokens were guessed right" if trained.fills else "answers are right"
        click.echo(f"accuracy            {found.accuracy:.2%} of the {right}")
    click.echo(f"measured over       {found.tokens:,} tokens")
