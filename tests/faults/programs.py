"""What other processes do in these tests; without pytest, so that they start at once."""

import os
import random
import shutil
import signal
import time
from pathlib import Path
from typing import Any

from clearformer.cli.main import entry
from clearformer.cli.progress import TrainingDisplay
from clearformer.runs.train import train
from clearformer.training import saves, session
from clearformer.training.checkpoint import load_checkpoint, load_latest, remove_stale
from clearformer.training.lock import RunLock
from faults.disk import Disk, ways_to_die
from faults.tiny import DIALS, TEXT, StopAt, leftovers, require_intact, save


def command(arguments: list[str], root: Path | None = None, fault: Any = None) -> None:
    """A command line that saves as often as `--save-seconds` says, whatever it costs.

    Args:
        arguments: the command line.
        root: a folder, to have it on a disk that fails.
        fault: arguments of that `Disk`.
    """
    session.LARGEST_SAVE_SHARE = 1e9
    if root is None:
        entry(arguments)
    else:
        with Disk(root, **(fault or {})):
            entry(arguments)


def count_calls(arguments: list[str], folder: Path) -> None:
    """Trains and writes down its calls."""
    with Disk(folder) as disk:
        try:
            command(arguments)
        finally:
            (folder.parent / "calls").write_text("\n".join(disk.calls))


def save_for_ever(folder: Path, told: Path, pause: float = 0.0) -> None:
    """Saves as fast as the disk allows, or with pauses, and writes down each step that is safe."""
    step = load_latest(folder).step if folder.exists() else 0
    report = os.open(told, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    while True:
        step += 1
        save(folder, step, size=20_000)
        os.write(report, b"%d\n" % step)
        time.sleep(pause)


BEFORE = ("nothing", "two saves", "a damaged save of step 3", "what killed saves have left")


def begin(folder: Path, before: str) -> None:
    """What is there before step 3 is saved."""
    folder.parent.mkdir(exist_ok=True)
    if before == "nothing":
        return
    for step in (1, 2):
        save(folder, step)
    if before == "a damaged save of step 3":
        (save(folder, 3, keep=3) / "state.json").write_bytes(b"{}")
    if before == "what killed saves have left":
        for name in ("step-000003.tmp", "step-000001.old.tmp"):
            shutil.copytree(folder / "step-000002", folder / name)


def die_at_each_call(before: str, folder: Path) -> None:
    """At every call of a save a process dies, and what it leaves is looked at."""
    os.fsync = lambda _: None  # a kill takes nothing from the system's memory of a file
    begin(folder / "whole", before)
    with Disk(folder) as disk:
        save(folder / "whole", 3)
    calls = disk.calls
    assert {"open", "write", "fsync", "replace"} <= {call.split()[0] for call in calls}
    assert before == "nothing" or {"unlink", "rmdir"} <= {call.split()[0] for call in calls}
    for at, moment in ways_to_die(calls, random.Random(1)):
        checkpoints = folder / f"{at} {moment}"
        begin(checkpoints, before)
        intact = intact_steps(checkpoints)
        damaged = {step for step, _ in saves.finished(checkpoints)} - {*intact}
        pid = os.fork()
        if pid == 0:
            with Disk(folder, at=at, dies=moment):
                save(checkpoints, 3)
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL
        require_survival(checkpoints, {max(intact, default=0), 3}, damaged)


def require_survival(checkpoints: Path, newest: set[int], damaged: set[int]) -> None:
    """No more than before are damaged, the newest is as expected, and saving goes on."""
    steps = intact_steps(checkpoints)
    assert {step for step, _ in saves.finished(checkpoints)} - {*steps} <= damaged
    assert max(steps, default=0) in newest
    for step in steps:
        require_intact(load_checkpoint(checkpoints / f"step-{step:06}"), step)
    if steps:
        require_intact(load_latest(checkpoints), max(steps))
    remove_stale(checkpoints)
    assert not leftovers(checkpoints)
    save(checkpoints, 4)
    require_intact(load_latest(checkpoints), 4)


def intact_steps(folder: Path) -> list[int]:
    """Steps of the saves that can be read."""
    found = []
    for path in folder.glob("step-??????"):
        try:
            found.append(load_checkpoint(path).step)
        except OSError:
            continue
    return found


def slow_command(arguments: list[str]) -> None:
    """The same on a disk that takes its time to sync: more than 50 ms for a save."""
    sync = os.fsync

    def slowly(number: int) -> None:
        time.sleep(0.01)
        sync(number)

    os.fsync = slowly
    command(arguments)


def together(go: Any, arguments: list[str]) -> None:
    """A command line that waits until all others are ready."""
    go.wait()
    command(arguments)


def hold_and_fork(folder: Path) -> None:
    """Holds the lock of a folder, and has a child of its own that does nothing."""
    with RunLock(folder):
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        (folder / "pid").write_text(str(child))
        (folder / "pid").rename(folder / "forked")
        time.sleep(600)


def at_another_time(shift: float, zone: str, arguments: list[str], stop_at: int = 0) -> None:
    """A command line for which it is `shift` seconds later, somewhere else; perhaps stopped."""
    now = time.time
    time.time = lambda: now() + shift
    os.environ["TZ"] = zone
    time.tzset()
    if stop_at:
        TrainingDisplay.step = StopAt(stop_at).step  # type: ignore[method-assign]
    command(arguments)


def with_largest_file(size: int, arguments: list[str]) -> None:
    """A command line that may write files of at most `size` bytes."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    command(arguments)


def as_nobody(folder: Path, arguments: list[str]) -> None:
    """A command line of a person who may do little; only the administrator can become one."""
    train(TEXT, out=folder, **DIALS)  # loads what that person may not read
    shutil.rmtree(folder)
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    command(arguments)
