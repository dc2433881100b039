"""What glibc, Linux and Python are asked for."""

import gc
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from clearformer.engines.memory import OBJECTS, collecting_seldom

AFTERWARDS = """
import numpy as np
from clearformer.engines.memory import ROOM, keep_freed_memory
keep_freed_memory()
array = np.ones(3 << 20, np.uint8)
wanted, lies_in_it = array.ctypes.data + array.nbytes // 2, False
for line in open("/proc/self/smaps"):
    first, *_ = line.split()
    if not first.endswith(":"):
        begin, end = (int(place, 16) for place in first.split("-"))
        lies_in_it = begin <= wanted < end
    elif lies_in_it and first == "VmFlags:":
        print("hg" in line.split())
    elif first == "Rss:":
        assert int(line.split()[1]) * 1024 < ROOM / 4, "what is not used took memory"
"""

PAGES = Path("/sys/kernel/mm/transparent_hugepage")


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not PAGES.exists(), reason="needs glibc, and large pages"
)
def test_arrays_lie_where_large_pages_were_asked_for():
    """In a process of its own, since it holds for all of one."""
    told = subprocess.run(
        [sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True
    )
    assert told.stdout == "True\n", told.stderr


@pytest.mark.parametrize("before", [(700, 10, 10), (0, 10, 10), (10**6, 5, 3)])
def test_garbage_is_looked_for_seldom_and_no_more_than_before(before):
    usual = gc.get_threshold()
    gc.set_threshold(*before)
    try:
        with collecting_seldom():
            inside = gc.get_threshold()
        assert gc.get_threshold() == before
    finally:
        gc.set_threshold(*usual)
    assert inside == (OBJECTS if before[0] == 700 else before[0], *before[1:])
