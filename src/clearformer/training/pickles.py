"""Pickles: known by their names, never opened, told with how to make a safe file of one.

A pickle is a little program that its reader runs, so whoever made the file decides what happens
(Python's documentation of `pickle` warns of it; CVE-2025-32434 is one of many cases).
"""

import shlex
from collections.abc import Iterable
from pathlib import Path

ENDINGS = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle")
"""Names under which weights are passed around as pickles."""

BEGINNINGS = (b"PK\x03\x04", b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")
"""First bytes of what PyTorch writes (a zip of pickles), and of a bare pickle."""

CONVERT = (
    "import sys, torch, safetensors.torch as s;"
    " s.save_file({name: x.contiguous().clone() for name, x in"
    " torch.load(sys.argv[1], map_location='cpu', weights_only=True).items()}, sys.argv[2])"
)


def is_pickle(path: Path) -> bool:
    """Tells by its name whether a file is one."""
    return path.suffix.lower() in ENDINGS and path.is_file()


def begins_as_pickle(raw: bytes) -> bool:
    """Tells by its first bytes whether a file is one."""
    return raw.startswith(BEGINNINGS)


def first_pickle(folder: Path, stems: Iterable[str] = ()) -> Path | None:
    """Returns the first pickle that lies in `folder`, of all or of those with one of `stems`.

    Raises:
        OSError: `folder` cannot be listed.
    """
    wanted = set(stems)
    there = sorted(folder.iterdir()) if folder.is_dir() else []
    return next((x for x in there if is_pickle(x) and (not wanted or x.stem in wanted)), None)


def refusal(path: Path) -> str:
    """Says in one sentence why `path` is not opened and how to convert it."""
    names = f"{shlex.quote(str(path))} {shlex.quote(str(path.with_suffix('.safetensors')))}"
    return (
        f"{path} looks like a pickle, and reading a pickle can run code that is hidden in it, so it"
        " is never opened; if you trust it, convert it in a place where that does no harm, with:"
        f' python -c "{CONVERT}" {names}'
    )
