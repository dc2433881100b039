"""What `clearformer train` says at its end: what was reached, and what to try next."""

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from clearformer.cli.output import in_terminal, note_of, perplexity_in_words, printable
from clearformer.engines.ranks import command_here

if TYPE_CHECKING:
    from clearformer.runs.run import Run


def show_ending(summary: dict[str, Any], sample: str, run: "Run", minutes: float | None) -> None:
    """Prints the last sample, the measures, and commands that go on from here."""
    does = "fills in" if run.fills else "answers" if run.reads == "pairs" else "writes"
    if sample:  # a finished run that was resumed has written before
        click.echo(f"\nWhat it {does} after {summary['steps']:,} steps:\n")
        for line in in_terminal(printable(sample), indent=4):
            click.echo(f"    {line}")
    if summary["validation_loss"] is not None:
        _show_measures(summary, run)
    click.echo(f"\nThe run is in {printable(str(run.path))}. Next:\n")
    longer = f"--minutes {2 * minutes:g}" if minutes else f"--steps {2 * summary['steps']}"
    for command in _commands(run, longer):
        click.echo(f"    {command}")


def _show_measures(summary: dict[str, Any], run: "Run") -> None:
    from clearformer.training.objectives import objective_of

    unseen = "sources" if run.reads == "pairs" else "text"
    click.echo(
        f"\nOn {unseen} it has not seen: loss {summary['validation_loss']:.3f} nats per token, "
        f"perplexity {perplexity_in_words(summary['validation_perplexity'])},\n"
        f"{summary['bits_per_character']:.3f} bits per character."
    )
    if summary["accuracy"] is not None:
        right = "masked tokens were guessed right" if run.fills else "answers are right"
        click.echo(f"{summary['accuracy']:.1%} of the {right}.")
    if note := objective_of(run.configuration).note:
        click.echo(note_of(note))


def _commands(run: "Run", longer: str) -> Iterator[str]:
    name, mask = quote(printable(str(run.path))), " with a <mask>" if run.fills else ""
    if run.reads == "pairs":
        yield f'clearformer translate {name} "…"'
    else:
        yield f'clearformer generate {name} --prompt "…{mask}"'
    yield f'clearformer explain --run {name} "a sentence of yours{mask}"'
    yield f"clearformer evaluate {name}"
    yield f"{command_here()} train --resume --out {name} {longer}"
