"""Laws of `train`: results to one stream, progress to the other; refused without a trace."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import clearformer
from clearformer.cli.progress import TrainingDisplay
from clearformer.engines.ranks import command_here
from clearformer.training import memory
from cli.conftest import ENVIRONMENT, TEXT, TINY
from cli.documents import files_in, only_document

KEYS = {
    "run",
    "parameters",
    "vocabulary",
    "steps",
    "tokens_seen",
    "seconds",
    "train_loss",
    "validation_loss",
    "validation_perplexity",
    "bits_per_character",
}


posix = pytest.mark.skipif(os.name != "posix", reason="shells and signals are those of POSIX")


def test_json_is_one_document_with_the_keys_of_the_contract(command, tmp_path, text_file):
    shown = command("train", text_file, "--out", tmp_path / "run", *TINY, "--json")
    assert shown.status == 0
    document = only_document(shown.out)
    assert set(document) >= KEYS
    assert document["run"] == str(tmp_path / "run")
    assert (document["steps"], document["tokens_seen"]) == (12, 12 * 4 * 8)
    assert document["vocabulary"] == len(set(TEXT))
    assert document["validation_loss"] > 0


def test_progress_goes_to_standard_error_in_words(command, tmp_path, text_file):
    shown = command("train", text_file, "--out", tmp_path / "run", *TINY, "--json")
    assert "518 tokens to learn from, 58 to be judged by" in shown.err
    assert "1 layer, 2 heads" in shown.err
    assert "12 steps of 4 × 8 tokens" in shown.err
    assert "validation loss" in shown.err


def test_it_ends_with_a_sample_the_loss_and_where_the_run_lies(command, tmp_path, text_file):
    shown = command("train", text_file, "--out", tmp_path / "run", *TINY)
    assert shown.status == 0
    samples = (tmp_path / "run" / "samples.txt").read_text("utf-8")
    assert samples.split("===\n")[-1].strip() in shown.out
    assert "bits per character" in shown.out
    assert f"The run is in {tmp_path / 'run'}" in shown.out


SPELLED = """
clearformer() { for word in "$@"; do printf '%s\\0' "$word"; done; }
"""


def words_of(line):
    """What a shell makes of a command line; it runs nothing."""
    done = subprocess.run(
        ["/bin/sh", "-c", SPELLED + line], capture_output=True, text=True, check=True
    )
    return done.stdout.split("\0")[:-1]


@posix
@pytest.mark.parametrize("name", ["run", "my run", "it's", "$HOME", "a;b", "猫"])
def test_the_next_commands_it_names_work_in_a_shell(
    command, tmp_path, text_file, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    shown = command("train", text_file, "--out", name, *TINY)
    lines = [line for line in shown.out.splitlines() if line.startswith("    clearformer ")]
    commands = [words_of(line) for line in lines]
    assert {words[0] for words in commands} == {"generate", "explain", "evaluate", "train"}
    for words in commands:
        assert name in words
        assert command(*words).status == 0, words


@posix
@pytest.mark.parametrize("name", ["run", "it's mine"])
def test_the_command_it_names_when_stopped_works_in_a_shell(
    command, tmp_path, text_file, monkeypatch, name
):
    monkeypatch.chdir(tmp_path)
    step = TrainingDisplay.step

    def interrupted(self, told):
        step(self, told)
        if told.step == 3:
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(TrainingDisplay, "step", interrupted)
        shown = command("train", text_file, "--out", name, *TINY)
    assert (shown.status, shown.out) == (130, "")
    line = shown.err.splitlines()[-1]
    words = words_of(line[line.index("clearformer train") :])
    assert command(*words, "--json").status == 0
    assert clearformer.load(name).step == 12


def test_without_a_text_it_learns_from_the_documentation_of_python(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = command("train", *TINY[:-1], "2", "--json")
    assert shown.status == 0
    assert only_document(shown.out)["run"] == "runs/python-docs"
    assert "note: no text was given" in shown.err


def test_several_files_are_one_text(command, tmp_path, text_file):
    other = tmp_path / "other.txt"
    other.write_text("zzz\n" * 30, "utf-8")
    shown = command("train", text_file, other, "--out", tmp_path / "run", *TINY, "--json")
    assert only_document(shown.out)["vocabulary"] == len(set(TEXT) | set("z\n"))


def test_every_dial_reaches_the_run(command, tmp_path, text_file):
    flags = {
        "--recipe": "classic",
        "--size": "tiny",
        "--layers": 1,
        "--heads": 4,
        "--embed": 16,
        "--context": 8,
        "--hidden": 24,
        "--dropout": 0.1,
        "--batch": 3,
        "--steps": 2,
        "--learning-rate": 0.01,
        "--warm-up": 0.2,
        "--decay-from": 0.6,
        "--weight-decay": 0.3,
        "--clip": 2.0,
        "--accumulation": 3,
        "--evaluations": 2,
        "--save-seconds": 9.0,
        "--seed": 7,
        "--workers": 1,
        "--tokenizer": "bytepair",
        "--vocab": 270,
    }
    line = [str(part) for pair in flags.items() for part in pair]
    shown = command("train", text_file, "--out", tmp_path / "run", *line, "--tied", "--no-bias")
    assert shown.status == 0
    document = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    found = {**document["model"], **document["training"]}
    for flag, value in flags.items():
        name = flag[2:].replace("-", "_")
        if name in found:
            assert found[name] == value, name
    assert (found["tied"], found["bias"]) == (True, False)
    assert document["tokenizer"]["kind"] == "bytepair"
    assert document["tokenizer"]["vocabulary"] <= 270


def test_the_sizes_of_the_dial_are_what_is_built(command, tmp_path, text_file):
    command("train", text_file, "--out", tmp_path / "run", "--size", "tiny", "--steps", "1")
    found = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["model"]
    assert (found["layers"], found["heads"], found["embed"], found["context"]) == (2, 2, 64, 32)


def test_minutes_can_end_a_run_instead_of_steps(command, tmp_path, text_file):
    line = ("train", text_file, "--out", tmp_path / "run", *TINY[:-2], "--minutes", "0.003")
    shown = command(*line, "--json")
    assert only_document(shown.out)["steps"] >= 1
    assert "Train  0.003 minutes" in shown.err


def test_an_encoding_can_be_named(command, tmp_path):
    (tmp_path / "ja.txt").write_bytes(("吾輩は猫である。" * 60).encode("shift_jis"))
    assert "--encoding shift_jis" in command("train", tmp_path / "ja.txt").refusal()
    shown = command(
        "train", tmp_path / "ja.txt", "--encoding", "shift_jis", "--out", tmp_path / "run", *TINY
    )
    assert shown.status == 0


def test_what_was_adjusted_is_told_before_the_start(command, tmp_path):
    (tmp_path / "short.txt").write_bytes(b"\xef\xbb\xbfabcde\r\nfghi")
    shown = command(
        "train", tmp_path / "short.txt", "--out", tmp_path / "run", *TINY, "--context", "64"
    )
    assert shown.status == 0
    notes = [line for line in shown.err.splitlines() if line.startswith("note: ")]
    assert any("byte order mark" in note for note in notes)
    assert any("Windows line ends" in note for note in notes)
    assert any("context was cut from 64 to 8" in note for note in notes)
    assert any("validation" in note for note in notes)
    assert shown.err.index("note: ") < shown.err.index("12 steps")


# Bad input: one line, status 2, nothing left behind.


@pytest.fixture
def place(tmp_path, monkeypatch, text_file):
    """A folder with texts of every bad kind, in which nothing may change."""
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "empty.txt": b"",
        "one.txt": b"a",
        "two.txt": b"ab",
        "newlines.txt": b"\n\n\n\n",
        "blank.txt": " \t\u3000\n".encode(),
        "binary.dat": bytes(range(256)) * 4,
        "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(100),
        "latin.txt": "Fähre über die Brücke nach Köln. ".encode("cp1252") * 9,
        "wide.txt": TEXT.encode("utf-16"),
        "wide-le.txt": TEXT.encode("utf-16-le"),
        "odd.txt": f"{TEXT}.".encode(),
        "cut.txt": "吾輩は猫".encode()[:-1],
    }.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.setattr(memory, "machine_bytes", lambda: 16 * 1024**3)
    return tmp_path


OUT = ("--out", "deep/er/run")
GOOD = ("tiny.txt", *OUT, *TINY)

BAD = [
    (["empty.txt"], ["empty.txt", "empty"]),
    (["one.txt"], ["1 character"]),
    (["two.txt"], ["2 character"]),
    (["newlines.txt"], ["newlines.txt", "nothing but blanks"]),
    (["blank.txt"], ["blank.txt", "nothing but blanks"]),
    (["binary.dat"], ["binary.dat", "binary"]),
    (["picture.png"], ["picture.png", "binary"]),
    (["latin.txt"], ["latin.txt", "byte 1 (0xE4)", "--encoding cp1252"]),
    (["wide.txt"], ["wide.txt", "UTF-16", "--encoding utf-16"]),
    (["wide-le.txt"], ["wide-le.txt", "UTF-16"]),
    (["cut.txt"], ["cut.txt", "byte 9"]),
    (["none.txt"], ["none.txt does not exist"]),
    (["folder"], ["folder is a folder"]),
    (["tiny.txt", "none.txt"], ["none.txt does not exist"]),
    (["tiny.txt", "--encoding", "klingon"], ["'klingon'"]),
    (["tiny.txt", "--encoding", "\udcff"], ["no text encoding is called"]),
    (["--encoding", "utf-16"], ["encoding is that of a text, and none is named"]),
    (["--resume", "--out", "none", "--encoding", "utf-16"], ["encoding is that of a text"]),
    (["odd.txt", "--encoding", "utf-16"], ["odd.txt", "leave --encoding out"]),
    (["tiny.txt", "--encoding", "utf-16", *TINY], ["tiny.txt", "leave --encoding out"]),
    (["/dev/null"], ["/dev/null"]),
    (["a" * 5000], ["cannot be read"]),
    ([*GOOD, "--heads", "3"], ["embed must be a multiple of heads", "embed=8, heads=3"]),
    (
        [*GOOD, "--embed", "10000000", "--layers", "1000", "--heads", "4"],
        ["25.0 EiB of memory", "16.0 GiB", "embed=10000000"],
    ),
    ([*GOOD, "--context", "1000000000"], ["EiB", "16.0 GiB", "context=1000000000"]),
    ([*GOOD, "--batch", "1000000000"], ["TiB", "batch=1000000000"]),
    ([*GOOD, "--workers", "1000000000"], ["TiB", "workers=1000000000"]),
    ([*GOOD, "--hidden", "100000000000"], ["TiB", "hidden=100000000000"]),
    ([*GOOD, "--tokenizer", "words", "--vocab", "100000000000"], ["TiB", "vocab"]),
    ([*GOOD, "--layers", "1000000000000000000000000000000"], ["layers"]),
    ([*GOOD, "--vocab", "0"], ["vocabulary", "0"]),
    ([*GOOD, "--vocab", "-1"], ["vocabulary", "-1"]),
    ([*GOOD, "--tokenizer", "bytepair", "--vocab", "100"], ["vocabulary", "100"]),
    ([*GOOD, "--vocab", "3"], ["15 distinct characters", "bytepair"]),
    *(
        ([*GOOD, f"--{name}", value], [name.replace("-", "_"), value])
        for name in ("layers", "heads", "embed", "context", "hidden", "batch", "accumulation")
        for value in ("0", "-1")
    ),
    ([*GOOD, "--accumulation", "5"], ["accumulation=5, batch=4"]),
    ([*GOOD, "--key-value-heads", "3"], ["key_value_heads=3"]),
    ([*GOOD, "--steps", "0"], ["steps", "0"]),
    ([*GOOD, "--steps", "-5"], ["steps", "-5"]),
    ([*GOOD, "--minutes", "1"], ["steps or minutes, not both"]),
    *(([*GOOD[:-2], "--minutes", value], ["minutes"]) for value in ("0", "-1", "nan", "inf")),
    *(
        ([*GOOD, "--learning-rate", value], ["learning_rate"])
        for value in ("0", "-1", "nan", "inf")
    ),
    *(([*GOOD, "--dropout", value], ["dropout"]) for value in ("1", "-0.1", "nan")),
    *(([*GOOD, "--clip", value], ["clip"]) for value in ("0", "nan")),
    *(([*GOOD, "--warm-up", value], ["warm_up"]) for value in ("-1", "2", "nan")),
    ([*GOOD, "--seed", "-1"], ["seed"]),
    (["tiny.txt", *TINY, "--out", "tiny.txt/run"], ["tiny.txt/run"]),
    (["tiny.txt", *TINY, "--out", "tiny.txt"], ["tiny.txt is a file"]),
    (["tiny.txt", *TINY, "--out", "."], ["holds other files"]),
    (["tiny.txt", *TINY, "--out", "/proc/run"], ["/proc/run"]),
    (["tiny.txt", *TINY, "--out", "deep/" + "x" * 300], ["x" * 300]),
    (["--resume", *TINY], ["--out"]),
    (["--resume", "--out", "none"], ["there is no run at none"]),
    (["--resume", "--out", "folder"], ["folder is not a run"]),
    (["--resume", "--out", "tiny.txt"], ["tiny.txt is not a run"]),
]


@pytest.mark.parametrize("more", [[], ["--json"]], ids=["plain", "json"])
@pytest.mark.parametrize("arguments, words", BAD, ids=lambda value: " ".join(value)[:70])
def test_bad_input_is_one_line_and_leaves_nothing_behind(command, place, arguments, words, more):
    before = files_in(place)
    line = command("train", *arguments, *more).refusal()
    for word in words:
        assert word in line
    assert files_in(place) == before


def test_an_existing_run_is_refused_and_not_touched(command, tmp_path, text_file):
    command("train", text_file, "--out", tmp_path / "run", *TINY)
    before = files_in(tmp_path)
    line = command("train", text_file, "--out", tmp_path / "run", *TINY).refusal()
    assert "--resume" in line
    assert files_in(tmp_path) == before


def test_a_folder_that_must_not_be_written_is_refused(process, tmp_path, text_file):
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("whoever may do everything cannot be refused")
    (tmp_path / "locked").mkdir(mode=0o500)
    line = process("train", text_file, "--out", tmp_path / "locked" / "run", *TINY).refusal()
    assert "locked" in line


def test_absurd_sizes_take_neither_memory_nor_time(process, text_file):
    """In a process that could allocate little: what is refused was never asked for."""
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import resource, sys\n"
            "from clearformer.cli.main import entry\n"
            "import clearformer.runs.train\n"
            "resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))\n"
            "entry(sys.argv[1:])",
            *("train", str(text_file), "--embed", "10000000", "--layers", "1000", "--heads", "4"),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
        env=ENVIRONMENT,
    )
    assert done.returncode == 2
    assert "would need about" in done.stderr
    assert done.stderr.count("\n") == 1


# Stopped and gone on with.


def test_resume_goes_on_and_other_dials_are_refused(command, tmp_path, text_file):
    run = tmp_path / "run"
    command("train", text_file, "--out", run, *TINY)
    shown = command("train", "--resume", "--out", run, "--steps", 15, "--json")
    assert only_document(shown.out)["steps"] == 15
    assert "going on after step 12" in shown.err
    for flags in (["--layers", 2], ["--seed", 3], ["--tokenizer", "words"], ["--size", "tiny"]):
        before = files_in(tmp_path)
        line = command("train", "--resume", "--out", run, *flags).refusal()
        assert flags[0][2:] in line
        assert files_in(tmp_path) == before


def test_a_changed_text_is_refused_on_resume(command, tmp_path, text_file):
    run = tmp_path / "run"
    command("train", text_file, "--out", run, *TINY)
    text_file.write_text(TEXT + "more", "utf-8")
    for arguments in (["--steps", 15], [text_file]):
        line = command("train", "--resume", "--out", run, *arguments).refusal()
        assert "it has changed since, or is another" in line


@pytest.fixture
def begun(tmp_path, text_file):
    """Starts training processes that have made their first step; none of them outlives the test."""
    processes = []

    def begin(script=None, *more):
        program = ["-c", script] if script else ["-m", "clearformer"]
        arguments = ["train", text_file, "--out", tmp_path / "run", *TINY[:-1], "1000000", *more]
        process = subprocess.Popen(
            [sys.executable, *program, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        processes.append(process)
        wait_for(process, tmp_path / "run" / "log.jsonl")
        return process

    yield begin
    for process in processes:
        process.kill()
        process.communicate(timeout=30)


def wait_for(process, path):
    for _ in range(2000):
        if path.exists() and (path.is_dir() or path.stat().st_size):
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"{path} never came")


@posix
@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_saves_and_the_run_can_go_on(tmp_path, begun, command, number, status):
    process = begun()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (status, "")
    assert "Traceback" not in err
    last = err.splitlines()[-1]
    assert last.startswith("clearformer: stopped after step ")
    assert f"clearformer train --resume --out {tmp_path / 'run'}" in last
    stopped = clearformer.load(tmp_path / "run").step
    assert stopped >= 1
    shown = command(
        "train", "--resume", "--out", tmp_path / "run", "--steps", stopped + 2, "--json"
    )
    assert only_document(shown.out)["steps"] == stopped + 2


SLOW_SAVE = """
import signal, sys, time
from pathlib import Path
from clearformer.cli.main import entry
from clearformer.training.session import Session

def save(self):
    (self.folder.path.parent / "saving").mkdir()
    time.sleep(60)

Session.save = save
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the parent had set
entry(sys.argv[1:])
"""


@posix
def test_a_second_ctrl_c_stops_at_once_and_leaves_no_half_run(tmp_path, begun):
    process = begun(SLOW_SAVE)
    process.send_signal(signal.SIGINT)
    wait_for(process, tmp_path / "saving")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    assert "Traceback" not in err
    assert not (tmp_path / "run").exists()


@posix
def test_a_killed_run_can_go_on(tmp_path, begun, command):
    process = begun(None, "--save-seconds", "0.001")
    wait_for(process, tmp_path / "run" / "checkpoints")
    for _ in range(1000):
        if any((tmp_path / "run" / "checkpoints").glob("step-??????")):
            break
        time.sleep(0.01)
    process.kill()
    process.wait(timeout=30)
    stopped = clearformer.load(tmp_path / "run").step
    shown = command(
        "train", "--resume", "--out", tmp_path / "run", "--steps", stopped + 1, "--json"
    )
    assert only_document(shown.out)["steps"] == stopped + 1


@posix
def test_in_a_terminal_a_bar_moves_and_the_result_stays_clean(tmp_path, text_file):
    import pty

    outer, inner = pty.openpty()
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "clearformer", "train", str(text_file), "--json"),
            *("--out", str(tmp_path / "run"), *TINY[:-1], "200"),
        ],
        stdout=subprocess.PIPE,
        stderr=inner,
        text=True,
        env={**ENVIRONMENT, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(inner)
    shown = b""
    while True:
        try:
            piece = os.read(outer, 4096)
        except OSError:  # Linux says so at the end
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert only_document(out)["steps"] == 200
    told = shown.decode("utf-8", "replace")
    assert "tokens/s" in told
    assert "loss" in told
    assert "left" in told


@pytest.mark.parametrize(
    ("processes", "here", "expected"),
    [("1", "1", "clearformer"), ("4", "4", "torchrun --nproc-per-node 4 -m clearformer"),
     ("8", "4", "torchrun … -m clearformer")],
)  # fmt: skip
def test_how_to_go_on_is_told_as_the_run_was_started(monkeypatch, processes, here, expected):
    monkeypatch.setenv("WORLD_SIZE", processes)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", here)
    assert command_here() == expected
