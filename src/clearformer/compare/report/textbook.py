"""The textbook's table with a measured figure in every cell."""

from clearformer.compare.report.markup import Markup
from clearformer.compare.report.view import View


def textbook(view: View) -> Markup | None:
    """The table; None where no lesson was asked for."""
    return None
