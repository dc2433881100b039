"""Laws of places: where a run cannot be, is no longer, or is not ours, one plain line says so."""

import os
import shutil
import signal
import sys
from contextlib import suppress
from pathlib import PureWindowsPath

import pytest

import clearformer as cf
from clearformer.errors import RunError
from clearformer.training.checkpoint import load_latest
from clearformer.training.portable_name import fault_of
from clearformer.training.run_folder import RunFolder
from faults.children import wait_until
from faults.mounts import run_with_mounts
from faults.programs import as_nobody, command
from faults.tiny import DIALS, TEXT, files_in, fingerprint, flags, save

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs fork and permissions of POSIX")

# Names.

TAKEN_BY_ALL = (
    *("run", "my run", "it's", "$HOME", "a;b", "猫", "run.1", ".run", "-run", "x" * 255, "猫" * 85),
    *("console", "com", "com10", "auxiliary", "nul-1", "é", "e\u0301"),
)
NOT_TAKEN_BY_ALL = (
    *("CON", "con", "Con.txt", "nul", "AUX.run", "com1", "LPT9.tar.gz", "com¹", "prn .x"),
    *("run.", "run ", "run..", "...", " ", "12:30", "a:b", "C:", "a\\b", "..\\run", 'a"b', "a*b"),
    *(
        "a?b",
        "a<b",
        "a>b",
        "a|b",
        "a\nb",
        "a\tb",
        "a\x1bb",
        "a\x00b",
        "x" * 256,
        "猫" * 86,
        "\udcff",
    ),
)


@pytest.mark.parametrize("name", TAKEN_BY_ALL, ids=ascii)
def test_a_name_that_every_system_takes_is_taken(tmp_path, name):
    assert fault_of(name) is None
    assert PureWindowsPath(name).name == name
    assert not PureWindowsPath(name).is_reserved()
    RunFolder.create(tmp_path / name).write_configuration({})
    assert RunFolder.open(tmp_path / name).configuration == {}


@pytest.mark.parametrize("name", NOT_TAKEN_BY_ALL, ids=ascii)
def test_a_name_that_some_system_does_not_take_is_refused_on_all(tmp_path, name):
    for path in (tmp_path / name, tmp_path / name / "run", tmp_path / "deep" / name / "run"):
        with pytest.raises(RunError) as caught:
            cf.train(TEXT, out=path, **DIALS)
        assert "\n" not in str(caught.value)
        assert "choose" in str(caught.value)
    assert files_in(tmp_path) == {}


@pytest.mark.parametrize(
    ("there", "name"), [("Text", "text"), ("STRASSE", "straße"), ("e\u0301", "é")], ids=ascii
)
def test_a_name_that_differs_from_another_only_in_case_is_refused(tmp_path, there, name):
    RunFolder.create(tmp_path / there).write_configuration({})
    before = files_in(tmp_path)
    with pytest.raises(RunError, match="many systems take both names for the same"):
        RunFolder.create(tmp_path / name)
    assert files_in(tmp_path) == before


def test_a_run_whose_name_some_system_does_not_take_is_still_read(tmp_path):
    """It may have been renamed, or come from a version that took it."""
    cf.train(TEXT, out=tmp_path / "run", **DIALS)
    (tmp_path / "run").rename(tmp_path / "a:b.")
    assert cf.load(tmp_path / "a:b.").step == DIALS["steps"]
    assert cf.train(TEXT, out=tmp_path / "a:b.", resume=True, steps=26).step == 26


# Places that must not be written to.

READ_ONLY = """
from clearformer.cli.main import entry
import clearformer.runs.train
place, text, *flags = sys.argv[1:]
place = Path(place)
mount(place, "size=50M")

def run(arguments):
    child = os.fork()
    if child == 0:
        try:
            entry(arguments)
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

begin = ["train", text, *flags, "--out"]
assert run([*begin, str(place / "run")]) == 0
before = sorted((str(path), path.stat().st_mtime_ns) for path in place.rglob("*"))
remount(place, "ro")
assert run([*begin, str(place / "other")]) == 2
assert run([*begin, str(place / "run")]) == 2
assert run(["train", "--resume", "--out", str(place / "run"), "--steps", "30"]) == 2
assert run(["generate", str(place / "run"), "--tokens", "5"]) == 0
assert run(["evaluate", str(place / "run")]) == 0
assert before == sorted((str(path), path.stat().st_mtime_ns) for path in place.rglob("*"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="mounts as Linux does")
def test_on_a_read_only_disk_a_run_can_be_used_but_not_trained(tmp_path, text_file):
    run_with_mounts(READ_ONLY, tmp_path / "disk", text_file, *flags())


@posix
def test_a_folder_of_somebody_else_is_refused_in_one_line(tmp_path, text_file, child):
    run = tmp_path / "run"
    cf.train(text_file, out=run, **DIALS)
    tmp_path.chmod(0o755)
    before = files_in(run)
    for arguments, what in (
        (["train", str(text_file), *flags(), "--out", str(tmp_path / "other")], "other"),
        (["train", "--resume", "--out", str(run), "--steps", "30"], "run"),
    ):
        refused = child(as_nobody, tmp_path / "warm", arguments)
        assert refused.end() == 2, refused.told()
        line = refused.told().splitlines()[-1]
        assert line.startswith("clearformer: ")
        assert str(tmp_path / what) in line
        assert "ermission" in line
    assert files_in(run) == before


# Folders that go while a run is in them.


@pytest.fixture
def training(tmp_path, text_file, child):
    """A run that trains on and on, saving about every 50 ms."""
    arguments = ["train", str(text_file), *flags(steps=10**7), "--save-seconds", "0.05", "--out"]
    started = child(command, [*arguments, str(tmp_path / "run")])
    wait_until(lambda: any((tmp_path / "run" / "checkpoints").glob("step-??????")), started)
    return started


def require_refusal(training, run):
    assert training.end() == 2, training.told()
    line = training.told().splitlines()[-1]
    assert line.startswith("clearformer: ")
    assert str(run) in line
    assert "Traceback" not in training.told()


@posix
def test_a_run_whose_folder_is_removed_stops_in_one_line_and_does_not_come_back(tmp_path, training):
    (tmp_path / "run").rename(tmp_path / "gone")
    shutil.rmtree(tmp_path / "gone")
    require_refusal(training, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@posix
def test_a_run_whose_folder_is_moved_away_stops_and_is_whole_where_it_is(tmp_path, training, child):
    (tmp_path / "run").rename(tmp_path / "moved")
    require_refusal(training, tmp_path / "run")
    assert not (tmp_path / "run").exists()
    step = load_latest(tmp_path / "moved" / "checkpoints").step
    longer = ["train", "--resume", "--out", str(tmp_path / "moved"), "--steps", str(step + 2)]
    again = child(command, longer)
    assert again.end() == 0, again.told()


@posix
def test_a_run_whose_folder_was_replaced_by_another_run_writes_nothing_into_it(
    tmp_path, text_file, training
):
    """Else the other would go on from weights that are not its own: that of the highest step."""
    training.send(signal.SIGSTOP)
    shutil.rmtree(tmp_path / "run")
    cf.train(text_file, out=tmp_path / "run", **DIALS)
    expected, before = fingerprint(tmp_path / "run"), files_in(tmp_path / "run")
    training.send(signal.SIGCONT)
    require_refusal(training, tmp_path / "run")
    assert fingerprint(tmp_path / "run") == expected
    assert files_in(tmp_path / "run") == before


@posix
def test_a_run_whose_checkpoints_alone_are_removed_saves_again(tmp_path, training, child):
    shutil.rmtree(tmp_path / "run" / "checkpoints", ignore_errors=True)
    wait_until(lambda: any((tmp_path / "run" / "checkpoints").glob("step-??????")), training)
    training.send(signal.SIGTERM)
    assert training.end() in (143, 2)
    assert load_latest(tmp_path / "run" / "checkpoints").notes == ()


# Links, which could lead anywhere.


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="this system cannot refuse links")
@pytest.mark.parametrize("name", ["lock", "log.jsonl", "samples.txt"])
def test_a_link_in_a_run_of_somebody_is_not_written_through(tmp_path, name):
    cf.train(TEXT, out=tmp_path / "run", **DIALS)
    mine = tmp_path / "mine.txt"
    mine.write_text("mine\n", "utf-8")
    (tmp_path / "run" / name).unlink()
    (tmp_path / "run" / name).symlink_to(mine)
    with suppress(RunError):
        cf.train(TEXT, out=tmp_path / "run", resume=True, steps=30)
    assert mine.read_text("utf-8") == "mine\n"


def test_saves_of_another_disk_may_be_linked_to(tmp_path):
    """A person who lacks space moves the folder of saves and leaves a link."""
    cf.train(TEXT, out=tmp_path / "run", **DIALS)
    (tmp_path / "run" / "checkpoints").rename(tmp_path / "elsewhere")
    (tmp_path / "run" / "checkpoints").symlink_to(tmp_path / "elsewhere")
    assert cf.train(TEXT, out=tmp_path / "run", resume=True, steps=30).step == 30
    assert (tmp_path / "elsewhere" / "step-000030").is_dir()


def test_a_linked_save_is_read_and_never_removed(tmp_path):
    folder = tmp_path / "checkpoints"
    save(folder, 1)
    (folder / "step-000001").rename(tmp_path / "kept")
    (folder / "step-000001").symlink_to(tmp_path / "kept")
    assert load_latest(folder).step == 1
    for step in (2, 3, 4):
        save(folder, step)
    assert sorted(path.name for path in folder.iterdir()) == [
        "step-000001", "step-000003", "step-000004",
    ]  # fmt: skip
    assert len(list((tmp_path / "kept").iterdir())) == 4
