"""Options of a command made from a dataclass: its fields become flags, its docstrings the help."""

import ast
import inspect
import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

import click

from clearformer.models.kinds import KINDS

LAST = "Other options"


class Section(click.Option):
    """An option that `--help` lists under a heading of its own."""

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help groups options under headings, the plain ones last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes one list per section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None and isinstance(parameter, click.Option):
                title = getattr(parameter, "section", LAST)
                sections.setdefault(title, []).append(row)
        for title, rows in sorted(sections.items(), key=lambda section: section[0] == LAST):
            with formatter.section(title):
                formatter.write_dl(rows)


def dials(
    configuration: type,
    section: str,
    *,
    choices: Mapping[str, tuple[str, ...]] | None = None,
    leave_out: tuple[str, ...] = (),
    varying: tuple[str, ...] = (),
) -> Callable[[Any], Any]:
    """Adds a flag for each field of a dataclass; what is not given arrives as None.

    The fields `varying` have no one default to be told: their help says what it is.
    """
    helps = _docstrings(configuration)
    types_ = get_type_hints(configuration)

    def add(command: Any) -> Any:
        for field in reversed(fields(configuration)):
            if field.name in leave_out:
                continue
            flag = "--" + field.name.replace("_", "-")
            kind: Any = _plain_type(types_[field.name])
            if choices and field.name in choices:
                kind = click.Choice(choices[field.name])
            names = f"{flag}/--no-{flag[2:]}" if kind is bool else flag
            help_text = helps.get(field.name, "")
            if field.default not in (None, MISSING, False) and field.name not in varying:
                help_text += f"  [default: {field.default}]"
            command = click.option(
                names, field.name, cls=Section, section=section, type=kind, default=None,
                help=help_text,
            )(command)  # fmt: skip
        return command

    return add


def dials_of_kinds(command: Any) -> Any:
    """Adds the flags of all kinds of model, those of the first kind first, each once."""
    kinds, known = list(KINDS.values()), {"vocabulary"}
    adding = []
    for kind in kinds:
        named = "The model" if kind is kinds[0] else f"Of kind {kind.name}"
        adding.append(
            dials(kind.configuration, named, choices=kind.choices, leave_out=tuple(known))
        )
        known |= set(kind.dials)
    for add in reversed(adding):
        command = add(command)
    return command


def _plain_type(annotation: Any) -> Any:
    """`int | None` → int; a Literal → str."""
    if get_origin(annotation) in (Union, types.UnionType):
        return next(each for each in get_args(annotation) if each is not type(None))
    return annotation if isinstance(annotation, type) else str


def _docstrings(configuration: type) -> dict[str, str]:
    """The string that follows each field in the source of the class."""
    (body,) = ast.parse(inspect.getsource(configuration)).body
    found: dict[str, str] = {}
    if isinstance(body, ast.ClassDef):
        for field, after in zip(body.body, body.body[1:], strict=False):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[field.target.id] = " ".join(str(after.value.value).split())
    return found
