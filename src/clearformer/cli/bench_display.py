"""The table of speed while it grows."""

import click

from clearformer.benchmarking.bench import Listener
from clearformer.benchmarking.row import Finding, Progress, Row
from clearformer.cli.bench_table import head, lines
from clearformer.cli.bench_words import Words
from clearformer.cli.output import PASSING, on_terminal, printable, tell


class BenchDisplay(Listener):
    """Shows each row as soon as it is measured; how far it is, on standard error."""

    def __init__(self, words: Words, as_json: bool):
        self._words, self._as_json, self._has_head = words, as_json, False

    def begins(self, row: Row, number: int, rows: int) -> Progress:
        """Says what is measured now."""
        told = f"{number}/{rows} {row.title[self._words.language]}"
        if not on_terminal():
            tell(f"{told} …")

        def show(share: float) -> None:
            PASSING.show(f"{told} … {share:4.0%}")

        show(0.0)
        return show

    def found(self, finding: Finding) -> None:
        """Shows a row, and the head before the first."""
        PASSING.wipe()
        if self._as_json:
            return
        if not self._has_head:
            click.echo(head(self._words))
        self._has_head = True
        for line in lines(finding, self._words):
            click.echo(printable(line))
