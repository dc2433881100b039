"""What a script prints of a report: a table or one JSON document; and how far it is."""

import json
import sys

from clearformer.benchmarking import report
from clearformer.benchmarking.report import Figures, readable

__all__ = ["Figures", "Report", "progress", "readable", "show"]


def show(found: report.Report, as_json: bool) -> None:
    """Prints the table, or exactly one JSON document."""
    print(json.dumps(found.document(), indent=2) if as_json else found.table())


def progress(text: str) -> None:
    """Says on standard error how far it is."""
    print(text, file=sys.stderr, flush=True)


class Report(report.Report):
    """A report that can print itself."""

    def show(self, as_json: bool) -> None:
        """Prints the table, or exactly one JSON document."""
        show(self, as_json)

    def progress(self, text: str) -> None:
        """Says on standard error how far it is."""
        progress(text)
