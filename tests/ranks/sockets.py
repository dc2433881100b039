"""Where a process listens, as Linux tells it."""

import re
from pathlib import Path

LISTENING = "0A"

LOOPBACK = {"0100007F", "00000000000000000000000001000000"}
"""127.0.0.1 and ::1, as /proc/net writes them."""


def listening_beyond_loopback(pid: int) -> list[str]:
    """The addresses, other than of the loopback, at which a process can be reached."""
    return [address for address in listening(pid) if address.split(":")[0] not in LOOPBACK]


def listening(pid: int) -> list[str]:
    """The addresses at which a process can be reached."""
    mine = {
        match[1]
        for descriptor in Path(f"/proc/{pid}/fd").iterdir()
        if (match := re.fullmatch(r"socket:\[(\d+)\]", str(descriptor.readlink())))
    }
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENING and rest[5] in mine:
                found.append(local)
    return found
