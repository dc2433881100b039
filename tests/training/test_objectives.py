"""Laws of what each kind of model is trained by."""

import pytest

from clearformer.models.kinds import KINDS
from clearformer.training.objectives import objective_of


@pytest.mark.parametrize("name", KINDS)
def test_what_cannot_be_compiled_says_why(name):
    kind = KINDS[name]
    obstacle = objective_of(kind.configuration(10)).obstacle
    if kind.reads == "pairs":
        assert "of many lengths" in obstacle
    else:
        assert ("state" in obstacle) == (name in ("rnn", "lstm", "gru"))
