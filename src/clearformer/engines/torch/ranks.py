"""Several processes that train one model together, started by `torchrun`.

Numbers that are decided alike (the clock, a signal, whether a save worked) travel over gloo, on the
processor; gradients over gloo or, between GPUs, NCCL. Whatever goes wrong, one of the ranks tells
of it, and all end.
"""

import json
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from clearformer.engines.ranks import Alone, Plain
from clearformer.engines.torch.devices import device_of
from clearformer.engines.torch.heartbeats import Heartbeats
from clearformer.engines.torch.meeting import meet
from clearformer.engines.torch.watch import Watch
from clearformer.errors import ClearformerError, ElsewhereError, Interrupted, RunError

FIRST_MAY_TELL = 1.0
"""Seconds in which the others let rank 0 tell of a fault that all may have met."""


def join(device: str | None) -> "Ranks":
    """Meets the other ranks, on the device that they will use.

    Raises:
        ConfigurationError: they cannot train there, or were not started by `torchrun`.
        RunError: some of them did not come.
    """
    return Ranks(device_of(device))


class Ranks(Alone):
    """This process among all of them; every method is called by every rank, in the same order."""

    def __init__(self, device: str) -> None:
        store, self.rank, self.ranks = meet(device)
        self._heartbeats = Heartbeats(store, self.rank, self.ranks)
        self._watch = Watch(self._heartbeats, self._in_words)
        self._handles_signals = threading.current_thread() is threading.main_thread()
        if self._handles_signals:  # a session, once it runs, has handlers of its own
            self._before = signal.signal(signal.SIGTERM, _stop)
        backend = "cpu:gloo,cuda:nccl" if device.startswith("cuda") else "gloo"
        try:
            dist.init_process_group(backend, store=store, rank=self.rank, world_size=self.ranks)
        except RuntimeError as fault:
            self.__exit__(type(fault), fault, None)
            raise

    def same(self, number: float) -> float:
        """The number that rank 0 gave."""
        told = torch.tensor(number, dtype=torch.float64)
        dist.broadcast(told, 0)
        return float(told)

    def total(self, number: float) -> float:
        """The sum over all ranks."""
        return _reduced(number, dist.ReduceOp.SUM)

    def added_up(self, array: np.ndarray) -> np.ndarray:
        """The sum over all ranks, number by number."""
        told = torch.tensor(array)
        dist.all_reduce(told)
        added: np.ndarray = told.numpy()
        return added

    def largest(self, number: int) -> int:
        """The largest over all ranks."""
        return int(_reduced(number, dist.ReduceOp.MAX))

    def first(self, function: Callable[[], Plain]) -> Plain:
        """What `function` returns or raises on rank 0, which alone calls it; plain JSON.

        Raises:
            ElsewhereError: on the others, when it has raised there.
        """
        told: dict[str, Any] = {}
        fault: Exception | None = None
        if self.rank == 0:
            try:
                with self._watch.writing:
                    told = {"result": function()}
            except Exception as error:
                fault, told = error, {"fault": str(error)}
        told = json.loads(_sent_by_first(json.dumps(told)))
        if fault is not None:
            raise fault
        if "fault" in told:
            raise ElsewhereError(told["fault"])
        result: Plain = told["result"]
        return result

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leaves: together with the others, or with a fault, of which one of them tells.

        Raises:
            RunError: another rank has ended; the message names it.
            ElsewhereError: there is a fault, and another rank tells of it.
        """
        if self._handles_signals:  # when the first process ends, torchrun asks the others to
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        try:
            ending = self._ending(fault)
        finally:
            if dist.is_initialized():
                dist.destroy_process_group()
            self._watch.stop()
        if self._handles_signals and ending is None:
            signal.signal(signal.SIGTERM, self._before)
        if ending is not None and ending is not fault:
            raise ending from fault

    def _ending(self, fault: BaseException | None) -> BaseException | None:
        """With what this rank leaves, given with what it would leave if it were alone."""
        if fault is None or (isinstance(fault, Interrupted) and not isinstance(fault, _Stopped)):
            try:
                self.total(0.0)  # nobody leaves before all have come so far
            except RuntimeError as broken:
                fault = fault or broken
            else:
                return fault
        self._watch.leaving()
        if isinstance(fault, RuntimeError | _Stopped):
            missing = self._watch.verdict()
            if missing and self._heartbeats.claim():
                return RunError(self._in_words(missing))
            if missing or self._heartbeats.told:
                return ElsewhereError(self._in_words(missing) if missing else str(fault))
        return self._told(fault)

    def _told(self, fault: BaseException) -> BaseException:
        """The fault itself if it is this rank that tells of it."""
        may_be_common = self.rank > 0 and isinstance(fault, Exception)
        if isinstance(fault, ElsewhereError):
            return fault
        if isinstance(fault, KeyboardInterrupt):  # Ctrl-C, which all have heard
            if self.rank == 0:
                self._heartbeats.claim()
            return fault
        if may_be_common and self._watch.is_told(FIRST_MAY_TELL):
            return ElsewhereError(str(fault))
        if not self._heartbeats.claim():
            return ElsewhereError(str(fault))
        if may_be_common and isinstance(fault, ClearformerError):
            fault.args = (f"rank {self.rank} of {self.ranks}: {fault}",)
        return fault

    def _in_words(self, missing: list[int]) -> str:
        names = ", ".join(map(str, missing))
        which = f"ranks {names} have" if len(missing) > 1 else f"rank {names} has"
        return (
            f"{which} ended, of {self.ranks} that training needs; --resume goes on from the last "
            "save, or from the start where there is none yet"
        )


class _Stopped(Interrupted):
    """Outside a session the process was asked to end: by a person, or because another has."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise _Stopped("stopped at once; what was saved before is kept", number)


def _reduced(number: float, how: Any) -> float:
    told = torch.tensor(number, dtype=torch.float64)
    dist.all_reduce(told, how)
    return float(told)


def _sent_by_first(text: str) -> str:
    """The text that rank 0 gave."""
    content = torch.from_numpy(np.frombuffer(text.encode(), np.uint8).copy())
    size = torch.tensor(len(content))
    dist.broadcast(size, 0)
    if dist.get_rank() != 0:
        content = torch.empty(int(size), dtype=torch.uint8)
    dist.broadcast(content, 0)
    return bytes(content.numpy()).decode()
