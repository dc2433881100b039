"""`clearformer`: finds the command, and turns every error into one line and an exit status."""

import io
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from clearformer.cli.output import note_of, on_terminal, printable, tell
from clearformer.engines.ranks import place_here, processes_here, rank_here
from clearformer.engines.shortage import shortage_in
from clearformer.errors import ClearformerError, ElsewhereError, Interrupted
from clearformer.version import __version__

COMMANDS = {
    "train": "Train a small language model on a text.",
    "prepare": "Turn a text larger than memory into a folder to train on.",
    "generate": "Let a trained model write.",
    "translate": "Let a model trained on pairs write the target of a source.",
    "compare": "Measure kinds of model against each other on equal terms.",
    "evaluate": "Measure how well a model predicts a text.",
    "explain": "Follow one sentence through every step of a Transformer.",
    "check": "Judge your own version of a step, and name the mistake.",
    "words": "Give each word of a text a vector; what is near a word.",
    "bench": "Measure how quick it is on this machine, beside others.",
    "verify": "Check that two engines, or a device, compute the same.",
    "completion": "Print the script that completes commands in your shell.",
}
"""Each command lives in the module of its name; it is loaded when it is called."""

FAULT, INTERRUPTED, TERMINATED = 2, 130, 143

SHORTAGES = {
    "memory": "there is not enough memory; try smaller sizes, such as --size small",
    "threads": "the system starts no more threads for this user; try --workers 1",
}
"""What is told where the system has no more to give."""


class _Commands(click.Group):
    """A group that loads a command's module only when that command is wanted."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"clearformer.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, COMMANDS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {name!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """As click does it, but stopping and a reader that is gone keep their exit status."""
        try:
            return super().invoke(ctx)
        except click.UsageError as error:
            name = ctx.invoked_subcommand
            command = self.get_command(ctx, name) if name else None
            if error.ctx is None and command:  # raised by the command itself: its help is meant
                error.ctx = click.Context(command, parent=ctx, info_name=name)
            raise
        except Interrupted as stop:
            if not rank_here():  # all processes of a run stop together
                _tell_stop(str(stop))
            return INTERRUPTED if stop.signal == INTERRUPTED - 128 else TERMINATED
        except BrokenPipeError:
            return _reader_is_gone()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="clearformer", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show where in the program an error came from.")
@click.pass_context
def clearformer(ctx: click.Context, debug: bool) -> None:
    """A Transformer with clear walls.

    Train a small language model on your own text with nothing but NumPy, let it write, and look at
    every number on the way.

    \b
      clearformer train                       learn from the documentation of Python
      clearformer train my-text.txt           learn from a text of yours
      clearformer generate runs/my-text       let the model write
      clearformer explain "I like small models"
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    elif ctx.invoked_subcommand != "train" and (processes := processes_here()) > 1:
        raise click.UsageError(
            f"{ctx.invoked_subcommand} computes in one process, and {processes} were started "
            "together; start it without torchrun, or unset WORLD_SIZE",
            ctx,
        )


def entry(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and exits: 0 done, 1 "no", 2 at fault, 130 interrupted."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    warnings.showwarning = _show_note
    warnings.simplefilter(
        "always", UserWarning
    )  # notes are results: -W must not hide or raise them
    debug = "--debug" in arguments
    # --debug is allowed anywhere, so that it can be added at the end of a line that failed
    arguments = [argument for argument in arguments if argument != "--debug"]
    for stream in (sys.stdout, sys.stderr):  # what an old encoding lacks is shown as its number
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run(arguments, debug))


def _run(arguments: list[str], debug: bool) -> int:
    try:
        status = clearformer.main(arguments, prog_name="clearformer", standalone_mode=False)
        if sys.stdout is not None:  # None where it was closed from the start
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except (KeyboardInterrupt, click.Abort):
        if not rank_here():
            _tell("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_is_gone()
    except ElsewhereError:  # another process tells of it
        return FAULT
    except (ClearformerError, click.ClickException, MemoryError, OSError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not shortage_in(error):
            raise
        if debug:
            traceback.print_exc()
        elif not (isinstance(error, click.UsageError) and place_here()):  # the first on a machine
            _tell(_in_one_line(error))
        return FAULT


def _reader_is_gone() -> int:
    """The reader, such as `head`, has seen enough; what is still to be written goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _in_one_line(error: BaseException) -> str:
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "clearformer"
        return f"{error.format_message()} (see: {command} --help)"
    if isinstance(error, click.ClickException):
        return error.format_message()
    short_of = shortage_in(error)
    return SHORTAGES[short_of] if short_of else str(error)


def _tell(line: str) -> None:
    tell(f"clearformer: {printable(' '.join(line.split()))}")


def _tell_stop(text: str) -> None:
    """The command that goes on has in a terminal a line of its own, where it can be copied."""
    before, named, command = text.partition("go on with: ")
    if named and on_terminal():
        _tell(f"{before}{named}")
        tell(f"    {printable(command)}")
    else:
        _tell(text)


def _show_note(message: Any, *_: Any, **__: Any) -> None:
    if not rank_here():
        tell(note_of(str(message)))
