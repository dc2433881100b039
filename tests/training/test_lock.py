"""Laws of the run lock: one process inside, named to the others; a dead one holds nothing."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from clearformer.errors import RunError
from clearformer.training import lock
from clearformer.training.lock import RunLock, holder_of, is_me

HOLDING = """
import sys
from pathlib import Path
from clearformer.training.lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("inside", flush=True)
    sys.stdin.read()
"""

ONE_OF_EIGHT = """
import os, sys, time
from pathlib import Path
from clearformer.errors import RunError
from clearformer.training.lock import RunLock
from clearformer.training.run_folder import RunFolder

for number in range(5):
    path = Path(sys.argv[1]) / "runs" / str(number)
    start, go = os.pipe()
    result, report = os.pipe()
    for _ in range(8):
        if os.fork() == 0:
            os.close(go)
            os.close(result)
            os.read(start, 1)  # returns when the parent lets all begin
            try:
                run = RunFolder.create(path)
                with RunLock(run.path):
                    run.write_configuration({"by": os.getpid()})
                    os.write(report, b"in %d\\n" % os.getpid())
                    time.sleep(0.2)
            except RunError as error:
                os.write(report, f"out {error}\\n".encode())
            os._exit(0)
    os.close(report)
    os.close(start)
    os.close(go)
    with os.fdopen(result) as lines:
        told = lines.read().splitlines()
    winners = [line.split()[1] for line in told if line.startswith("in ")]
    assert len(told) == 8 and len(winners) == 1, told
    assert all(f"process {winners[0]} on" in line for line in told if line[:3] == "out"), told
    assert RunFolder.open(path).configuration == {"by": int(winners[0])}
    for _ in range(8):
        os.wait()
print("one each time")
"""


@pytest.fixture
def other_process(tmp_path):
    """A process that trains in `tmp_path`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "inside\n"
        yield process
        process.kill()


def test_a_second_process_is_refused_and_told_who_is_inside(tmp_path, other_process):
    with pytest.raises(RunError) as caught, RunLock(tmp_path):
        pytest.fail("both inside")
    message = str(caught.value)
    assert f"process {other_process.pid} on {socket.gethostname()} since 20" in message
    assert str(tmp_path) in message
    assert "\n" not in message
    assert holder_of(tmp_path).pid == other_process.pid
    assert not is_me(holder_of(tmp_path))


def test_a_killed_holder_blocks_nobody(tmp_path, other_process):
    os.kill(other_process.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    other_process.wait()
    assert str(other_process.pid) in (tmp_path / "lock").read_text("utf-8")
    assert holder_of(tmp_path) is None
    with RunLock(tmp_path):
        assert is_me(holder_of(tmp_path))


def test_a_holder_that_leaves_lets_the_next_in(tmp_path):
    for _ in range(3):
        with RunLock(tmp_path):
            told = json.loads((tmp_path / "lock").read_text("utf-8"))
            assert told["pid"] == os.getpid()
        assert holder_of(tmp_path) is None
        assert (tmp_path / "lock").read_bytes() == b""


def test_an_error_inside_frees_the_lock(tmp_path):
    with pytest.raises(KeyError), RunLock(tmp_path):
        raise KeyError
    with RunLock(tmp_path):
        pass


def test_the_same_process_gets_in_only_once(tmp_path):
    with RunLock(tmp_path), pytest.raises(RunError, match=f"process {os.getpid()} on"):
        RunLock(tmp_path).__enter__()
    refused = []

    def try_it():
        try:
            RunLock(tmp_path).__enter__()
        except RunError as error:
            refused.append(error)

    with RunLock(tmp_path):
        thread = threading.Thread(target=try_it)
        thread.start()
        thread.join()
    assert len(refused) == 1


@pytest.mark.parametrize(
    "text", [b"", b"\xff", b"[]", b'{"pid": "x"}', b'{"pid": 1' + b" " * 20_000]
)
def test_a_holder_that_cannot_be_read_is_another_process(
    tmp_path, monkeypatch, other_process, text
):
    monkeypatch.setattr(lock, "PATIENCE", 0.001)
    (tmp_path / "lock").write_bytes(text)
    with pytest.raises(RunError, match="found another process"):
        RunLock(tmp_path).__enter__()
    assert holder_of(tmp_path) == "another process"


def test_a_leftover_file_of_an_old_holder_blocks_nobody(tmp_path):
    (tmp_path / "lock").write_text('{"pid": 1, "host": "x", "started": "1999"}', "utf-8")
    assert holder_of(tmp_path) is None
    with RunLock(tmp_path):
        assert is_me(holder_of(tmp_path))


def test_a_lock_file_removed_in_between_is_not_mistaken_for_the_lock(tmp_path, monkeypatch):
    take_it = lock._lock
    tries = []

    def lock_and_lose(descriptor):
        tries.append(take_it(descriptor))
        if len(tries) == 1:
            (tmp_path / "lock").unlink()
        return tries[-1]

    monkeypatch.setattr(lock, "_lock", lock_and_lose)
    with RunLock(tmp_path):
        assert tries == [True, True]
        assert (tmp_path / "lock").exists()


def test_a_folder_that_is_missing_or_cannot_be_locked_is_one_plain_error(tmp_path, monkeypatch):
    with pytest.raises(RunError, match=r"cannot lock .*missing: No such file"):
        RunLock(tmp_path / "missing").__enter__()
    assert holder_of(tmp_path / "missing") is None

    def refuse(descriptor):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(lock, "_lock", refuse)
    with pytest.raises(RunError, match=r"cannot lock .*: Operation not supported"):
        RunLock(tmp_path).__enter__()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_of_eight_that_start_at_once_exactly_one_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ONE_OF_EIGHT, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout == "one each time\n", done.stderr


def test_a_disk_too_full_to_sign_leaves_no_lock_behind(tmp_path, monkeypatch):
    def full(descriptor, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(lock.os, "write", full)
        with pytest.raises(RunError, match="No space left"):
            RunLock(tmp_path).__enter__()
    assert holder_of(tmp_path) is None
    with RunLock(tmp_path):
        pass
