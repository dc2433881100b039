"""Laws of `clearformer prepare`: what it prints, how it is stopped, what it refuses."""

import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from clearformer.cli import prepare as module
from clearformer.cli.prepare import Display
from cli.conftest import ENVIRONMENT, TEXT, TINY
from cli.documents import only_document

KEYS = {
    "data", "tokenizer", "vocabulary", "characters", "tokens", "validation_tokens", "shards",
    "reused", "bytes", "seconds", "notes",
}  # fmt: skip


def test_what_was_made_is_shown_with_what_comes_next(command, tmp_path, text_file):
    shown = command("prepare", text_file, "--out", tmp_path / "data")
    assert (shown.status, shown.err) == (0, "")
    assert "576 characters" in shown.out
    assert "518 tokens to learn from, 58 to be judged by" in shown.out
    assert shown.out.endswith(f"    clearformer train {tmp_path / 'data'}\n")
    trained = command("train", tmp_path / "data", "--out", tmp_path / "run", *TINY)
    assert trained.status == 0
    assert "518 tokens to learn from, 58 to be judged by" in trained.err


def test_the_document_has_the_keys_of_the_contract(command, tmp_path, text_file):
    line = ("prepare", text_file, "--out", tmp_path / "data", "--tokenizer", "words", "--json")
    document = only_document(command(*line).out)
    assert document.keys() == KEYS
    assert (document["tokenizer"], document["characters"]) == ("words", 576)
    assert (document["reused"], document["notes"]) == (0, [])
    again = only_document(command(*line).out)
    assert again["reused"] == again["shards"] == document["shards"]


def test_every_flag_reaches_what_is_made(command, tmp_path):
    text = tmp_path / "ja.txt"
    text.write_bytes(b"\x81\x40" + "吾輩は猫である。\r\n".encode("shift_jis") * 60)
    shown = command(
        *("prepare", text, text, "--out", tmp_path / "data", "--encoding", "shift_jis"),
        *("--tokenizer", "bytepair", "--vocab", 270, "--workers", 1),
    )
    assert shown.status == 0
    assert shown.err.count("60 Windows line ends") == 2
    document = json.loads((tmp_path / "data" / "data.json").read_text("utf-8"))
    assert (document["encoding"], document["asked"]) == ("shift_jis", 270)
    assert (document["tokenizer"], len(document["sources"])) == ("bytepair", 2)
    assert document["vocabulary"] <= 270


def test_a_run_on_data_is_that_on_the_text(command, tmp_path, text_file):
    command("prepare", text_file, "--out", tmp_path / "data", "--tokenizer", "words")
    lines = {
        "text": ("train", text_file, "--tokenizer", "words"),
        "data": ("train", tmp_path / "data"),
    }
    found = {}
    for name, line in lines.items():
        run = tmp_path / f"run-on-{name}"
        document = only_document(command(*line, "--out", run, *TINY, "--json").out)
        found[name] = {key: document[key] for key in ("train_loss", "validation_loss")}
        evaluated = only_document(command("evaluate", run, "--json").out)
        found[name] |= {key: evaluated[key] for key in ("loss", "bits_per_character", "tokens")}
    assert found["text"] == found["data"]
    line = ("evaluate", tmp_path / "run-on-text", tmp_path / "data", "--json")
    assert only_document(command(*line).out)["loss"] == found["text"]["loss"]


def test_what_is_there_can_be_verified(command, tmp_path, text_file):
    command("prepare", text_file, "--out", tmp_path / "data")
    line = ("prepare", "--verify", "--out", tmp_path / "data")
    assert command(*line).out.endswith(": all 2 shards are as they were made\n")
    assert only_document(command(*line, "--json").out) == {
        "data": str(tmp_path / "data"), "shards": 2, "verified": True
    }  # fmt: skip
    path = tmp_path / "data" / "train-00000.ids"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    assert "train-00000.ids is missing or damaged" in command(*line).refusal()
    told = command("prepare", text_file, "--out", tmp_path / "data")
    assert (told.status, told.err.count("\n")) == (0, 2)
    assert "note: train-00000.ids is missing or damaged and is made again" in told.err
    assert command(*line).status == 0


BAD = {
    "no text": ((), "expected the files of a text"),
    "text and verify": (("tiny.txt", "--verify"), "--verify reads what is in --out"),
    "a missing text": (("none.txt",), "does not exist"),
    "a folder": (("folder",), "is a folder"),
    "an unknown encoding": (("tiny.txt", "--encoding", "klingon"), "no text encoding"),
    "a small vocabulary": (("tiny.txt", "--vocab", "3"), "distinct characters"),
    "no workers": (("tiny.txt", "--workers", "0"), "workers must be between 1 and"),
    "too many workers": (("tiny.txt", "--workers", "99999999999999"), "workers must be between 1"),
    "too many tokens": (
        ("tiny.txt", "--tokenizer", "words", "--vocab", "99999999999999999999"),
        "vocab must be at most 4,294,967,296; got 99999999999999999999",
    ),
    "an unknown tokenizer": (("tiny.txt", "--tokenizer", "x"), "tokenizer"),
    "nothing to verify": (("--verify",), "is no prepared text"),
}


@pytest.mark.parametrize("line, told", BAD.values(), ids=BAD)
def test_what_cannot_be_prepared_is_refused(command, tmp_path, text_file, monkeypatch, line, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    assert told in command("prepare", *line, "--out", "data").refusal()
    assert not (tmp_path / "data").exists()


def test_a_place_to_put_it_is_needed(command, text_file):
    assert "--out" in command("prepare", text_file).refusal()


# Progress.


def set_clock(monkeypatch):
    """A clock that stands still until it is set."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(module.time, "monotonic", lambda: clock.now)
    return clock


def test_the_progress_is_shown_in_lines(capsys, monkeypatch):
    """Share, speed and the time left, as far as it is known."""
    clock = set_clock(monkeypatch)
    with Display() as display:
        display.begin("encoding", 200_000_000)
        display.show(0.0)
        for clock.now, share in ((9.0, 0.1), (10.0, 0.0), (11.0, 0.1), (20.0, 0.25)):
            display.show(share)
        display.note("a word")
    assert capsys.readouterr().err == (
        "encoding …\nencoding:  25% · 2.5 MB/s · 1:00 left\nnote: a word\n"
    )


def test_in_a_terminal_it_moves_in_one_line(capsys, monkeypatch):
    clock = set_clock(monkeypatch)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with Display() as display:
        display.begin("reading", 10_000_000)
        for clock.now, share in ((1.0, 0.5), (1.01, 0.5), (2.0, 1.0)):
            display.show(share)
    assert capsys.readouterr().err == (
        "reading:  50% · 5.0 MB/s · 0:01 left\r\x1b[Kreading: 100% · 5.0 MB/s · 0:00 left\r\x1b[K"
    )


# Signals.

ENOUGH = 60  # seconds, on a busy machine


@pytest.fixture
def large(tmp_path):
    """A text that takes some seconds."""
    path = tmp_path / "large.txt"
    path.write_text(TEXT * 8_000, "utf-8")
    return path


def begun(large, folder, **options):
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "clearformer", "prepare", str(large), "--out", str(folder)),
            *("--tokenizer", "words", "--workers", "2"),
        ],
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        **options,
    )


def wait_for(path):
    end = time.monotonic() + ENOUGH
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent to a group of processes")
def test_ctrl_c_keeps_what_is_finished(command, tmp_path, large):
    """A terminal sends it to all processes at once; one line is said, and 130 returned."""
    process = begun(large, tmp_path / "data")
    try:
        wait_for(tmp_path / "data" / "lock")
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=ENOUGH)
    finally:
        process.kill()
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"clearformer: stopped")
    assert err.count(b"\n") == 1
    assert b"the same command" in err
    assert command("prepare", large, "--out", tmp_path / "data", "--tokenizer", "words").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL on Windows")
@pytest.mark.parametrize("name", ["preparing.json", "train-00000.ids"])
def test_killed_at_any_moment_it_goes_on(command, tmp_path, large, name):
    process = begun(large, tmp_path / "data")
    try:
        wait_for(tmp_path / "data" / name)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=ENOUGH)
    finally:
        process.kill()
    line = ("prepare", large, "--out", tmp_path / "data", "--tokenizer", "words", "--json")
    document = only_document(command(*line).out)
    assert document["characters"] == len(TEXT) * 8_000
    left = {path.name for path in (tmp_path / "data").iterdir()}
    assert not any(name.endswith(".tmp") for name in left)
    assert command("prepare", "--verify", "--out", tmp_path / "data").status == 0
