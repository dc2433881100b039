"""How the processes that `torchrun` has started find each other.

Everything that they open is bound to the loopback of the machine, unless they are on several
machines or the environment names another network.
"""

import os
import sys
from datetime import timedelta
from itertools import count
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.constants import default_pg_timeout

from clearformer.engines.ranks import processes_here
from clearformer.errors import ConfigurationError, ElsewhereError, RunError

LOOPBACK = ("127.0.0.1", "localhost", "::1")

TIME_TO_COME = 300.0
"""Seconds: `torchrun` starts them together, but on a busy machine one may take its time."""

_meetings = count()


def meet(device: str) -> tuple[Any, int, int]:
    """A store that all ranks can reach, this process's rank, and how many there are.

    Raises:
        ConfigurationError: they were not started by `torchrun`, or cannot train on this device.
        RunError: some of them did not come, with their names; or they cannot reach each other.
        ElsewhereError: the same, and another rank tells of it.
    """
    _require_device(device)
    _require_rank()
    _stay_on_this_machine()
    store, rank, ranks = _met(TIME_TO_COME)
    # numbered, so that a program may train one model after another
    store = dist.PrefixStore(f"clearformer {next(_meetings)}", store)
    _wait_for_all(store, rank, ranks, TIME_TO_COME)
    return store, rank, ranks


def _met(seconds: float) -> tuple[Any, int, int]:
    """What the environment tells, and the store that rank 0 keeps, once it is there."""
    try:
        store, rank, ranks = next(
            iter(dist.rendezvous("env://", timeout=timedelta(seconds=seconds)))
        )
    except ValueError as fault:
        raise ConfigurationError(
            f"WORLD_SIZE asks for several processes, but the rest of what torchrun sets is missing "
            f"({fault}); start them with torchrun, or unset WORLD_SIZE"
        ) from None
    except RuntimeError as fault:
        place = f"{os.environ['MASTER_ADDR']}:{os.environ['MASTER_PORT']}"
        raise RunError(
            f"rank {os.environ['RANK']} could not meet the others at {place} within {seconds:g} s "
            f"({str(fault).splitlines()[0]:.160}); start all again"
        ) from None
    store.set_timeout(default_pg_timeout)
    return store, rank, ranks


def _require_rank() -> None:
    """Whoever has a rank that is none would be waited for, or would wait."""
    rank, ranks = os.environ.get("RANK", "0"), processes_here()
    if not (rank.isascii() and rank.isdigit() and int(rank[:9]) < ranks):
        raise ConfigurationError(
            f"the environment variable RANK must be a number below WORLD_SIZE={ranks}; got "
            f"{rank!a:.40}; start them with torchrun, or unset WORLD_SIZE"
        )


def _require_device(device: str) -> None:
    """Each rank trains on a device of its own; of processors there is always one."""
    kind, _, number = device.partition(":")
    if kind == "mps":
        raise ConfigurationError(
            "several processes train on cpu or cuda; got mps; add --device cpu, or start one"
        )
    if kind == "cuda":
        if number != os.environ.get("LOCAL_RANK", number):
            raise ConfigurationError(
                f"each process has a GPU of its own; got {device} for all; take --device cuda"
            )
        there = torch.cuda.device_count()
        if int(number or 0) >= there:
            raise ConfigurationError(
                f"there are {there} CUDA devices here, one for each process; got process "
                f"{number}, counted from 0; start {there} with --nproc-per-node {there}"
            )
        torch.cuda.set_device(torch.device(device))


def _stay_on_this_machine() -> None:
    here = os.environ.get("LOCAL_WORLD_SIZE") == os.environ.get("WORLD_SIZE")
    if here or os.environ.get("MASTER_ADDR") in LOOPBACK:
        loopback = {"linux": "lo", "darwin": "lo0"}.get(sys.platform)
        for name in ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"):
            if loopback:
                os.environ.setdefault(name, loopback)


def _wait_for_all(store: Any, rank: int, ranks: int, seconds: float) -> None:
    names = [f"rank {other}" for other in range(ranks)]
    store.set(names[rank], "here")
    try:
        store.wait(names, timedelta(seconds=seconds))
    except RuntimeError:
        here = {name: store.check([name]) for name in names}
        missing = ", ".join(name for name in names if not here[name])
        told = (
            f"{missing or 'a rank'} of {ranks} did not come within {seconds:g} s; start all again"
        )
        is_first = next(name for name in names if here[name]) == names[rank]
        raise (RunError(told) if is_first else ElsewhereError(told)) from None
