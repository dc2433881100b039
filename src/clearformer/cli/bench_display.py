"""The table of speed while it grows."""

from collections.abc import Mapping

import click

from clearformer.benchmarking.bench import Listener
from clearformer.benchmarking.record import NOISE, change
from clearformer.benchmarking.row import Finding, Progress, Row
from clearformer.cli.bench_table import head, lines
from clearformer.cli.bench_words import Words
from clearformer.cli.output import PASSING, note_of, on_terminal, printable, tell


class BenchDisplay(Listener):
    """Shows each row as soon as it is measured; how far it is, on standard error."""

    def __init__(self, words: Words, as_json: bool, before: Mapping[str, float]):
        self._words, self._as_json, self._before = words, as_json, before
        self._has_head = False

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
        worse = change(finding, self._before)
        if worse is not None and worse > NOISE:
            title = finding.row.title[self._words.language]
            tell(note_of(self._words.lost.format(title, worse)))
        if self._as_json:
            return
        if not self._has_head:
            click.echo(head(self._words))
        self._has_head = True
        for line in lines(finding, self._words):
            click.echo(printable(line))
