"""What the pages on several processes show is what the program takes and tells."""

import re
import shlex
from pathlib import Path
from types import SimpleNamespace

import pytest

from clearformer.cli.train import train

pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"

PAGES = ("train-in-several-processes.md", "from-one-machine-to-a-cluster.md")


def commands_of(page):
    """The arguments of each `clearformer train` under torchrun."""
    text = (HOW_TO / page).read_text("utf-8").replace("\\\n", " ")
    found = re.findall(r"torchrun [^\n]*?-m clearformer train ([^\n#']*)", text)
    assert found
    return found


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_are_understood(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for command in commands_of(page):
        arguments = [argument for argument in shlex.split(command) if argument != "…"]
        train.make_context("train", arguments)


def test_the_page_shows_what_is_told_of_a_rank_that_has_ended():
    from clearformer.engines.torch.ranks import Ranks

    told = Ranks._in_words(SimpleNamespace(ranks=4), [1])
    assert f"clearformer: {told}\n" in (HOW_TO / PAGES[0]).read_text("utf-8")
