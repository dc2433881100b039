"""Laws of flags made from a dataclass: each field is a flag, its docstring the help."""

from dataclasses import dataclass, fields

import click
import pytest
from click.testing import CliRunner

from clearformer.cli.dials import LAST, Section, SectionedCommand, dials
from clearformer.cli.train import train
from clearformer.models.configuration import CHOICES, ModelConfiguration
from clearformer.training.options import TrainingOptions


@dataclass(frozen=True)
class Example:
    """Some dials."""

    whole: int = 3
    """How many
    there are."""
    share: float | None = None
    """How much of it."""
    kind: str | None = None
    """Which one."""
    on_or_off: bool | None = None
    """Whether it is."""
    hidden_away: int = 1
    """Not for the command line."""
    silent: int = 0


@click.command(cls=SectionedCommand)
@click.option("--plain", help="An option of its own.")
@click.option("--first", cls=Section, section="Before", help="In another section.")
@dials(Example, "Dials", choices={"kind": ("red", "blue")}, leave_out=("hidden_away",))
def example(plain, first, **given):
    """An example."""
    click.echo(repr(sorted(given.items())))


def called(*arguments):
    return CliRunner().invoke(example, list(arguments))


def test_what_is_not_given_is_none():
    assert (
        called().output
        == repr(
            [
                ("kind", None),
                ("on_or_off", None),
                ("share", None),
                ("silent", None),
                ("whole", None),
            ]
        )
        + "\n"
    )


def test_what_is_given_has_the_type_of_its_field():
    found = called("--whole", "7", "--share", "0.5", "--kind", "red", "--no-on-or-off").output
    assert (
        found
        == repr(
            [("kind", "red"), ("on_or_off", False), ("share", 0.5), ("silent", None), ("whole", 7)]
        )
        + "\n"
    )


@pytest.mark.parametrize(
    "arguments", [("--whole", "1.5"), ("--share", "x"), ("--kind", "green"), ("--hidden-away", "1")]
)
def test_what_does_not_fit_a_field_is_refused(arguments):
    assert called(*arguments).exit_code == 2


def test_the_help_is_the_docstring_of_each_field_with_its_default():
    shown = " ".join(called("--help").output.split())
    assert "How many there are. [default: 3]" in shown
    assert "How much of it." in shown
    assert "[red|blue]" in shown
    assert "--on-or-off / --no-on-or-off Whether it is." in shown
    assert "hidden" not in shown


def test_sections_come_in_order_and_plain_options_last():
    shown = called("--help").output
    places = [shown.index(title) for title in ("Before:", "Dials:", f"{LAST}:")]
    assert places == sorted(places)
    assert shown.index("--plain") > places[2]
    assert places[0] < shown.index("--first") < places[1]


@pytest.mark.parametrize("configuration", [ModelConfiguration, TrainingOptions])
def test_every_field_of_a_configuration_is_a_flag_of_train_with_help(configuration):
    options = {option.name: option for option in train.params if isinstance(option, click.Option)}
    for field in fields(configuration):
        if field.name != "vocabulary":  # follows from the text; --vocab limits it
            assert "--" + field.name.replace("_", "-") in options[field.name].opts
            assert len(options[field.name].help or "") > 10, field.name


def test_what_can_only_be_one_of_a_few_is_offered_as_such():
    options = {option.name: option for option in train.params}
    for name, known in CHOICES.items():
        assert tuple(options[name].type.choices) == known
