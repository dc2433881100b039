"""Opening what a command works with; whoever waits for PyTorch is told."""

from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.cli.output import PASSING
from clearformer.engines.choose import LOADING, choose_engine, takes_loading
from clearformer.engines.execution import Wish

if TYPE_CHECKING:
    from clearformer.runs.run import Run


def load_engine(engine: str, device: str | None) -> None:
    """Loads an engine, after a device that no machine has was refused.

    Raises:
        ConfigurationError: there is no such device, or the engine is not installed.
    """
    Wish(engine, device)
    if takes_loading(engine):
        with PASSING.during(LOADING):
            choose_engine(engine)


def open_run(path: Path, engine: str, device: str | None) -> "Run":
    """Opens a run; a folder that is none is refused before the engine is loaded.

    Raises:
        ConfigurationError, RunError: see `runs.run.load`.
    """
    from clearformer.runs.run import load
    from clearformer.training.run_folder import RunFolder

    RunFolder.open(path)
    load_engine(engine, device)
    return load(path, engine=engine, device=device)
