"""Laws of the command line: one line for every error, the right exit status, never a traceback."""

import os
import signal
import subprocess
import sys

import click
import pytest

import clearformer
from clearformer.cli import main
from clearformer.engines.shortage import shortage_in
from clearformer.errors import (
    ClearformerError,
    ConfigurationError,
    Interrupted,
    NotFiniteError,
    RunError,
    TextError,
)
from cli.conftest import ENVIRONMENT

SIZES = ("--size", "--layers", "--heads", "--embed", "--context")
FLAGS = {
    "train": (
        *("--out", "--model", "--recipe", *SIZES, "--batch", "--steps", "--minutes", "--tokenizer"),
        *("--vocab", "--engine", "--device", "--seed", "--resume", "--encoding", "--json"),
    ),
    "prepare": ("--out", "--tokenizer", "--vocab", "--encoding", "--workers", "--verify", "--json"),
    "generate": (
        *("--prompt", "--tokens", "--temperature", "--top-k", "--top-p", "--seed", "--no-cache"),
        "--json",
    ),
    "translate": ("--beam", "--engine", "--device", "--json"),
    "compare": ("--models", "--task", "--budget", "--seeds", "--report", "--lesson", "--json"),
    "evaluate": ("--context", "--json"),
    "explain": (
        *("--run", "--embed", "--heads", "--projections", "--causal", "--no-causal", "--layer"),
        *("--head", "--seed", "--edit", "--json"),
    ),
    "check": (
        *("--hint", "--show", "--watch", "--list", "--start", "--path", "--language", "--json"),
    ),
    "words": (
        *("--near", "--analogy", "--map", "--out", "--embed", "--window", "--seed", "--engine"),
        "--json",
    ),
    "bench": (
        *("--only", "--quick", "--threads", "--record", "--against", "--list", "--language"),
        "--json",
    ),
    "verify": ("--engine", "--device", "--json"),
    "completion": (),
}
"""What the contract in the design names for the commands there are."""


def test_without_arguments_it_shows_what_there_is(command):
    shown = command()
    assert (shown.status, shown.err) == (0, "")
    for name in main.COMMANDS:
        assert name in shown.out


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_is_a_result(command, flag):
    shown = command(flag)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out == command().out


def test_the_version_is_that_of_the_package(command):
    shown = command("--version")
    assert (shown.status, shown.out) == (0, f"clearformer {clearformer.__version__}\n")


@pytest.mark.parametrize("name", main.COMMANDS)
def test_each_command_explains_itself_with_every_flag_of_the_contract(command, name):
    shown = command(name, "--help")
    assert (shown.status, shown.err) == (0, "")
    assert f"Usage: clearformer {name}" in shown.out
    for flag in FLAGS[name]:
        assert flag in shown.out
    assert f"  clearformer {name}" in shown.out, "an example of its use"


@pytest.mark.parametrize(
    "arguments",
    [
        ["words", "--map", "nowhere/map.svg"],
        ["compare", "--minutes", "3"],
        ["compare", "--task", "recall", "--task-set", "distance"],
        ["translate", "a-run"],
    ],
)
def test_what_a_command_refuses_points_to_its_own_help(command, arguments, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    assert f"(see: clearformer {arguments[0]} --help)" in command(*arguments).refusal()


@pytest.mark.parametrize("name", main.COMMANDS)
def test_the_help_of_each_command_fits_80_columns(command, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert all(len(line) <= 80 for line in command(name, "--help").out.splitlines())


def test_in_a_terminal_the_command_that_goes_on_has_a_line_of_its_own(capsys, monkeypatch):
    monkeypatch.setattr(main, "on_terminal", lambda: True)
    main._tell_stop("stopped after 2 of 9 parts; go on with: clearformer compare --out 'a  b'")
    assert capsys.readouterr().err.splitlines() == [
        "clearformer: stopped after 2 of 9 parts; go on with:",
        "    clearformer compare --out 'a  b'",
    ]


def test_the_commands_are_those_of_the_contract():
    assert list(main.COMMANDS) == list(FLAGS)


@pytest.mark.parametrize("name, meant", [("trian", "train"), ("explane", "explain"), ("xyz", "")])
def test_an_unknown_command_is_refused_with_the_nearest(command, name, meant):
    line = command(name).refusal()
    assert repr(name) in line
    assert f"did you mean {meant}" in line if meant else "there are train" in line


@pytest.mark.parametrize(
    "arguments",
    [
        ["--bogus"],
        ["train", "--bogus"],
        ["train", "--layers"],
        ["train", "--layers", "many"],
        ["train", "--layers", "1.5"],
        ["train", "--recipe", "futuristic"],
        ["train", "--tokenizer", "syllables"],
        ["train", "--model", "oracle"],
        ["train", "--engine", "abacus"],
        ["train", "--size", "huge"],
        ["generate"],
        ["generate", "--tokens", "x", "run"],
        ["generate", "run", "surplus"],
        ["evaluate"],
        ["evaluate", "a", "b", "c"],
        ["completion"],
        ["completion", "cmd.exe"],
        ["explain", "--projections", "none"],
        [""],
        ["-"],
        ["a\nb"],
        ["train", "--a\nb"],
    ],
    ids=str,
)
def test_wrong_usage_is_one_line_that_tells_where_help_is(
    command, arguments, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert "--help)" in command(*arguments).refusal()


def raising(monkeypatch, error):
    """Makes `clearformer evaluate` end in `error`."""

    def fail(**_):
        raise error

    monkeypatch.setattr("clearformer.cli.evaluate.evaluate.callback", fail)


@pytest.mark.parametrize(
    "error",
    [
        ClearformerError("it is so"),
        ConfigurationError("it is so"),
        TextError("it is so"),
        RunError("it is so"),
        NotFiniteError("it is so"),
        OSError("it is so"),
        click.ClickException("it is so"),
        RunError("it\nis\n  so"),
        click.ClickException("it\nis\nso"),
        click.UsageError("it\n\tis so"),
    ],
    ids=repr,
)
def test_each_expected_error_is_one_line_and_status_two(command, monkeypatch, error):
    raising(monkeypatch, error)
    line = command("evaluate", "run").refusal()
    assert line.startswith("clearformer: it is so")
    assert line.endswith("it is so\n") or isinstance(error, click.UsageError)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError(
            "[enforce fail at alloc_cpu.cpp:127] DefaultCPUAllocator: can't allocate memory"
        ),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    ],
    ids=repr,
)
def test_too_little_memory_is_one_line_with_advice(command, monkeypatch, error):
    raising(monkeypatch, error)
    assert "there is not enough memory" in command("evaluate", "run").refusal()


def test_a_system_that_starts_no_more_threads_is_one_line_with_advice(command, monkeypatch):
    raising(monkeypatch, RuntimeError("can't start new thread"))
    assert "starts no more threads" in command("evaluate", "run").refusal()


def test_what_pytorch_itself_says_of_memory_is_known():
    torch = pytest.importorskip("torch")
    with pytest.raises(RuntimeError) as caught:
        torch.empty(2**62, dtype=torch.uint8)
    assert shortage_in(caught.value) == "memory"


def test_a_fault_of_the_program_is_not_taken_for_one_of_the_system(command, monkeypatch):
    raising(monkeypatch, RuntimeError("sizes differ"))
    with pytest.raises(RuntimeError, match="sizes differ"):
        command("evaluate", "run")


@pytest.mark.parametrize("name", ["a\x1b[31mred", "a\x07b", "a\rb", "a\x9bb", "a\u202eb"])
def test_no_error_carries_control_characters_to_the_terminal(command, name, tmp_path, monkeypatch):
    """A name may come from `runs/*`, where anybody who made a folder chose it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_, **__: False)
    for arguments in (
        ["generate", name],
        ["evaluate", name],
        ["train", name],
        ["train", "--" + name],
    ):
        assert command(*arguments).refusal()


@pytest.mark.parametrize("number, status", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_training_that_was_stopped_tells_how_to_go_on(command, monkeypatch, number, status):
    raising(monkeypatch, Interrupted("stopped and saved; go on with: …", int(number)))
    shown = command("evaluate", "run")
    assert (shown.status, shown.out) == (status, "")
    assert shown.err.strip() == "clearformer: stopped and saved; go on with: …"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()], ids=repr)
def test_any_other_interruption_is_130_without_a_traceback(command, monkeypatch, error):
    raising(monkeypatch, error)
    shown = command("evaluate", "run")
    assert (shown.status, shown.out) == (130, "")
    assert shown.err.strip() == "clearformer: interrupted"


@pytest.mark.parametrize("module", ["clearformer.cli.main", "click"])
def test_ctrl_c_while_the_program_loads_is_130_without_a_traceback(module):
    script = (
        "import sys\n"
        "class Loading:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}: raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Loading())\n"
        "from clearformer.__main__ import start\n"
        "start()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "clearformer: interrupted"


def test_debug_shows_the_traceback_wherever_it_stands(process):
    """And the status stays: 1 would mean that the answer is "no"."""
    for arguments in (["--debug", "train", "none.txt"], ["train", "none.txt", "--debug"]):
        shown = process(*arguments)
        assert "Traceback" in shown.err
        assert "none.txt does not exist" in shown.err.splitlines()[-1]
        assert (shown.status, shown.out) == (2, "")
    assert "Traceback" not in process("train", "none.txt").refusal()


def test_it_is_the_same_program_by_either_name(process):
    """`python -m clearformer` here; the installed script calls the same `start`."""
    shown = process("--version")
    assert (shown.status, shown.out) == (0, f"clearformer {clearformer.__version__}\n")
    done = subprocess.run(
        [sys.executable, "-c", "from clearformer.__main__ import start; start()", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    assert done.stdout == shown.out.replace("\r\n", "\n")


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["train", "--help"], ["nonsense"]]
)
def test_what_needs_no_numbers_loads_nothing_heavy(arguments):
    script = (
        "import sys; from clearformer.cli.main import _run; _run(sys.argv[1:], False); "
        "heavy = {'rich', 'torch', 'tokenizers', 'safetensors', 'threadpoolctl'}; "
        "print('loaded', *sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=ENVIRONMENT,
    )
    assert done.stdout.splitlines()[-1] == "loaded"


# What else can happen to standard output.

posix = pytest.mark.skipif(os.name != "posix", reason="pipes and /dev/full are of POSIX")


def started(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, "-m", "clearformer", *map(str, arguments)],
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        **options,
    )


@posix
def test_a_reader_that_has_seen_enough_is_no_error(trained):
    """As `clearformer generate RUN | head -c 5`."""
    writer = started("generate", trained, "--tokens", 20_000, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert len(writer.stdout.read(5)) == 5
    writer.stdout.close()
    assert writer.stderr is not None
    told = writer.stderr.read().decode()
    writer.stderr.close()
    assert writer.wait(30) == 0
    assert "Traceback" not in told
    assert "BrokenPipe" not in told
    assert "Exception ignored" not in told


@posix
def test_a_full_disk_is_one_line(trained):
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        writer = started("generate", trained, "--tokens", 5, "--json", stdout=full)
        told = writer.communicate(timeout=30)[1].decode()
    assert writer.returncode == 2
    assert told.splitlines()[-1].startswith("clearformer: ")
    assert "No space left" in told
    assert "Traceback" not in told


@posix
@pytest.mark.parametrize(
    "arguments", [["--version"], ["generate", "RUN", "--tokens", "5"]], ids=str
)
def test_without_a_standard_output_it_is_quiet(trained, arguments):
    """As a scheduler may start it: `clearformer … >&-`."""
    line = [str(trained) if part == "RUN" else part for part in arguments]
    done = subprocess.run(
        ["/bin/sh", "-c", '"$0" -m clearformer "$@" >&-', sys.executable, *line],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == 0


ENCODINGS = [
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "cp932"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "POSIX", "LANG": ""},
]


@pytest.mark.parametrize("environment", ENCODINGS, ids=str)
def test_japanese_is_no_error_where_the_terminal_cannot_show_it(trained, process, environment):
    for more in ([], ["--json"]):
        shown = process(
            "generate", trained, "--prompt", "猫é—👩", "--tokens", 3, *more, **environment
        )
        assert "Traceback" not in shown.err
        assert shown.status == 0
        assert shown.out


CLOSED = """
import os, sys
for number in (1, 2):
    if str(number) in sys.argv[1]:
        os.close(number)
os.execv(sys.executable, [sys.executable, "-m", "clearformer", *sys.argv[2:]])
"""


@pytest.mark.skipif(os.name == "nt", reason="closes descriptors as a Unix shell does")
@pytest.mark.parametrize("closed", ["1", "2", "12"])
def test_streams_that_are_closed_cost_no_work(closed, tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat; the dog ran. " * 12, "utf-8")
    sizes = ("--layers", "1", "--heads", "1", "--embed", "8", "--context", "8", "--steps", "2")
    for line in (("explain",), ("train", text, "--out", tmp_path / "run", *sizes)):
        done = subprocess.run(
            [sys.executable, "-c", CLOSED, closed, *map(str, line)],
            env=ENVIRONMENT, capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done
    assert (tmp_path / "run" / "checkpoints" / "step-000002").is_dir()


@pytest.mark.skipif(os.name == "nt", reason="a pipe of Unix")
def test_progress_that_nobody_reads_does_not_end_a_training(tmp_path):
    """As in `clearformer train 2>&1 | head -1`: the run was lost, with exit status 0."""
    text = tmp_path / "text.txt"
    text.write_text("the cat sat on the mat; the dog ran. " * 12, "utf-8")
    sizes = ("--layers", "1", "--heads", "1", "--embed", "8", "--context", "8", "--steps", "9")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "clearformer", "train", text, "--out", tmp_path / "run", *sizes],
        env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=writer, check=False,
    )  # fmt: skip
    os.close(writer)
    assert done.returncode == 0
    assert (tmp_path / "run" / "checkpoints" / "step-000009").is_dir()


@pytest.mark.parametrize("name", sorted({*main.COMMANDS} - {"train"}))
def test_what_computes_in_one_process_is_refused_in_several_and_by_the_first_only(
    command, monkeypatch, name
):
    monkeypatch.setenv("WORLD_SIZE", "2")
    line = command(name).refusal()
    assert f"{name} computes in one process, and 2 were started together" in line
    monkeypatch.setenv("LOCAL_RANK", "1")
    shown = command(name)
    assert (shown.status, shown.out, shown.err) == (2, "", "")
