"""The report of a comparison, written to a file."""

import os
from pathlib import Path

from clearformer.comparison.document import Comparison
from clearformer.comparison.report.page import LANGUAGES, report_of
from clearformer.errors import ConfigurationError, RunError
from clearformer.training.durable import in_one_line, replace_file


def require_language(language: str) -> None:
    """Refuses a language that there is not. Raises ConfigurationError."""
    if language not in LANGUAGES:
        raise ConfigurationError(
            f"language must be one of {', '.join(LANGUAGES)}; got {language!r:.40}"
        )


def require_place(file: Path) -> None:
    """Refuses at once what could not be written after everything was trained.

    Raises:
        RunError: the file is a folder, or its folder is missing or read-only.
    """
    if file.is_dir():
        raise RunError(f"{file} is a folder: expected the name of a file for the report")
    if not file.parent.is_dir():
        raise RunError(f"the report {file} cannot be written: there is no folder {file.parent}")
    if not os.access(file.parent, os.W_OK):
        raise RunError(f"the report {file} cannot be written: {file.parent} is read-only")


def write_report(comparison: Comparison, file: Path, language: str) -> None:
    """Writes the page, whole or not at all.

    Raises:
        RunError: it cannot be written.
    """
    page = report_of(comparison, language).encode("utf-8")
    with in_one_line("write", file, len(page)):
        replace_file(file, page)
