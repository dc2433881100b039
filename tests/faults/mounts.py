"""Real file systems of a chosen size, or read-only, in a namespace that nobody else sees.

Run as a program: it makes sure that it may mount, then does what is asked in a process that ends
with all its mounts.
"""

import subprocess
import sys
from functools import cache

import pytest

from faults.conftest import ENVIRONMENT

WRAPPERS = (("unshare", "--mount"), ("unshare", "--mount", "--map-root-user"))
"""As the administrator, or as anybody where the system lets everybody have a namespace."""


@cache
def wrapper() -> tuple[str, ...] | None:
    """What a command that mounts must begin with; None where nothing may be mounted."""
    for words in WRAPPERS:
        try:
            test = ["mount", "-t", "tmpfs", "-o", "size=1M", "none", "/mnt"]
            done = subprocess.run([*words, *test], capture_output=True, check=False, timeout=30)
        except OSError:
            continue
        if done.returncode == 0:
            return words
    return None


def run_with_mounts(program: str, *arguments: object) -> str:
    """Runs a Python program that mounts; returns what it printed. Skips where it may not."""
    words = wrapper()
    if words is None:
        pytest.skip("this system lets no test mount a file system")
    done = subprocess.run(
        [*words, sys.executable, "-W", "ignore", "-c", f"{MOUNT}{program}", *map(str, arguments)],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


MOUNT = '''
import os, subprocess, sys
from pathlib import Path

def mount(folder, options):
    """A file system in memory."""
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(folder)], check=True)

def remount(folder, options):
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)

def unmount(folder):
    subprocess.run(["umount", str(folder)], check=True)
'''
