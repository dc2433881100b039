"""Checks everything a reviewer would: format, lint, types, tests.

    python tools/check.py            all four
    python tools/check.py -k softmax  arguments go to pytest

Each tool prints what it found, then one line says how it went. Exit status 0 if all passed, else 1.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CHECKS: dict[str, tuple[str, ...]] = {
    "format": ("ruff", "format", "--check", "."),
    "lint": ("ruff", "check", "."),
    "types": ("mypy",),
    "tests": ("pytest",),
}
"""Quick ones first; the tests last, so that their summary is what stays on the screen."""


def passes(name: str, command: tuple[str, ...]) -> bool:
    """Runs one tool with this Python and says in a line how it went."""
    print(f"== {name}: {' '.join(command)}", flush=True)
    begun = time.monotonic()
    status = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
    taken = time.monotonic() - begun
    print(f"== {name}: {'passed' if status == 0 else 'FAILED'} in {taken:.1f} s\n", flush=True)
    return status == 0


def main(arguments: list[str]) -> int:
    """Runs every check, also after one has failed; returns the exit status."""
    commands = {**CHECKS, "tests": (*CHECKS["tests"], *arguments)}
    failed = [name for name, command in commands.items() if not passes(name, command)]
    print("failed: " + ", ".join(failed) if failed else "all checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
