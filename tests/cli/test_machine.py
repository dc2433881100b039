"""Laws of the flags that choose where things are computed, of every command that has them."""

import json
import sys

import pytest

import clearformer
from clearformer.cli import opening
from clearformer.engines import choose
from clearformer.runs import train as train_module
from clearformer.training.events import Reporter
from cli.conftest import TEXT, TINY
from cli.documents import only_document
from engines.runners import needs_torch

ON_TORCH = ("--engine", "torch", "--device", "cpu", "--precision", "float32")

MACHINE = ("--engine", "--device", "--precision", "--compile / --no-compile", "--parallel")


def test_train_lists_them_under_a_heading_of_their_own(command):
    shown = command("train", "--help").out
    section = shown[shown.index("The machine:") : shown.index("Other options:")]
    for flag in MACHINE:
        assert flag in section
    for known in ("[numpy|torch]", "cpu|cuda|mps", "[float32|bfloat16]", "[replicate|shard]"):
        assert known in section


@pytest.mark.parametrize("name", ["generate", "evaluate", "explain"])
def test_those_that_use_a_run_offer_engine_and_device(command, name):
    shown = command(name, "--help").out
    assert "--engine [numpy|torch]" in shown
    assert "--device cpu|cuda|mps" in shown


@needs_torch
def test_training_says_what_was_decided(command, tmp_path, text_file):
    shown = command("train", text_file, "--out", tmp_path / "run", *TINY, *ON_TORCH, "--json")
    assert shown.status == 0
    (note,) = [line for line in shown.err.splitlines() if "PyTorch" in line and "note" in line]
    assert note.startswith("note: PyTorch ")
    assert "on cpu: products in float32, not compiled (" in note
    document = only_document(shown.out)
    assert document["steps"] == 12
    recorded = json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))
    assert [recorded[name] for name in ("engine", "device", "precision", "compiled")] == [
        "torch", "cpu", "float32", False,
    ]  # fmt: skip


@needs_torch
def test_every_command_works_on_the_other_engine(command, tmp_path, text_file):
    """On a run of NumPy: it goes on, writes, is judged and explained by PyTorch."""
    run = tmp_path / "run"
    assert command("train", text_file, "--out", run, *TINY).status == 0
    assert command("train", "--resume", "--out", run, *ON_TORCH, "--steps", "20").status == 0
    for line in (
        ["generate", run, "--tokens", "30", "--temperature", "0", "--json"],
        ["evaluate", run, "--json"],
        ["explain", "--run", run, "the cat", "--json"],
        ["explain", "--run", run, "the cat", "--edit", "blocks.0.attention.mixed=0", "--json"],
    ):
        one, other = (
            only_document(command(*line, *how).out)
            for how in ((), ("--engine", "torch", "--device", "cpu"))
        )
        (words, numbers), (other_words, other_numbers) = map(taken_apart, (one, other))
        assert words == other_words
        assert numbers == pytest.approx(other_numbers, rel=1e-4, abs=1e-4)


def taken_apart(document):
    """What a document holds beside the time it took: everything else, and the numbers."""
    numbers = []

    def without_numbers(x):
        if isinstance(x, float):
            numbers.append(x)
            return "a number"
        if isinstance(x, dict):
            return {name: without_numbers(each) for name, each in x.items()}
        return [without_numbers(each) for each in x] if isinstance(x, list) else x

    timeless = {name: x for name, x in document.items() if "second" not in name}
    return without_numbers(timeless), numbers


@needs_torch
@pytest.mark.parametrize("device", ["cuda", "mps", "cuda:9"])
def test_a_device_that_is_not_here_is_refused(command, tmp_path, text_file, trained, device):
    from clearformer.engines.torch import devices

    if devices.is_here(device):
        pytest.skip(f"this machine has {device}")
    on = ("--engine", "torch", "--device", device)
    for line in (
        ["train", text_file, "--out", tmp_path / "run", *TINY],
        ["generate", trained],
        ["evaluate", trained],
        ["explain", "--run", trained],
    ):
        assert f"finds no device {device} here; there is: cpu" in command(*line, *on).refusal()
    assert not (tmp_path / "run").exists()


def test_a_device_that_nobody_knows_is_refused(command, tmp_path, text_file, trained):
    for line in (
        ["train", text_file, "--out", tmp_path / "run", *TINY],
        ["generate", trained],
        ["evaluate", trained],
        ["explain", "--run", trained],
    ):
        shown = command(*line, "--device", "tpu")
        assert "device must be one of cpu, cuda, cuda:N, mps; got 'tpu'" in shown.refusal()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--device", "cuda"), "the engine numpy has device cpu only"),
        (("--precision", "bfloat16"), "the engine numpy has precision float32 only"),
        (("--compile",), "the engine numpy compiles nothing"),
        (("--parallel", "shard"), "the engine numpy has parallel replicate only"),
    ],
    ids=str,
)
def test_what_numpy_cannot_do_is_refused(command, tmp_path, text_file, flags, told):
    line = command("train", text_file, "--out", tmp_path / "run", *TINY, *flags).refusal()
    assert told in line
    assert "--engine torch" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("flags", [("--engine", "torch"), ("--device", "cpu")], ids=str)
def test_a_lesson_has_no_engine_to_choose(command, flags):
    """Else somebody would believe that PyTorch had computed it."""
    assert "go with --run" in command("explain", "I like tea", *flags).refusal()


@needs_torch
@pytest.mark.parametrize("flags", [("--compile",), ("--compile", "--steps", "100000")], ids=str)
def test_without_a_compiler_asking_for_one_is_refused(
    command, tmp_path, text_file, monkeypatch, flags
):
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("CXX", raising=False)
    line = command("train", text_file, "--out", tmp_path / "run", *TINY, *ON_TORCH, *flags)
    assert "there is no C++ compiler, such as g++; leave out --compile" in line.refusal()
    assert not (tmp_path / "run").exists()


@needs_torch
def test_without_a_compiler_a_long_run_does_without_and_says_so(
    command, tmp_path, text_file, monkeypatch
):
    from clearformer.engines.torch import settling

    monkeypatch.setattr(settling, "_measure", lambda _: (1.0, 1.0))  # every run is long
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    shown = command("train", text_file, "--out", tmp_path / "run", *TINY, *ON_TORCH)
    assert shown.status == 0
    assert "not compiled: there is no C++ compiler" in shown.err


@needs_torch
def test_dropout_and_compiling_are_refused_together(command, tmp_path, text_file):
    line = command(
        "train", text_file, "--out", tmp_path / "run", *TINY, *ON_TORCH,
        "--compile", "--dropout", "0.1",
    ).refusal()  # fmt: skip
    assert "dropout is drawn anew at each step; leave out --compile or --dropout" in line


def test_without_pytorch_its_engine_says_how_to_install_it(
    command, tmp_path, text_file, trained, monkeypatch
):
    monkeypatch.setitem(sys.modules, "torch", None)
    for line in (
        ["train", text_file, "--out", tmp_path / "run", *TINY],
        ["generate", trained],
        ["evaluate", trained],
        ["explain", "--run", trained],
    ):
        told = command(*line, "--engine", "torch").refusal()
        assert 'pip install ".[torch]" in the clone' in told
    assert not (tmp_path / "run").exists()


WITHOUT_TORCH = f"""
import json, sys
import clearformer as cf
from clearformer.cli.main import entry

def status_of(*arguments):
    try:
        entry(list(arguments))
    except SystemExit as end:
        return end.code

tiny = {TINY!r}
statuses = [
    status_of("--help"),
    status_of("train", "--help"),
    status_of("train", "tiny.txt", "--out", "run", *tiny),
    status_of("generate", "run", "--tokens", "3"),
    status_of("evaluate", "run"),
    status_of("explain", "--run", "run"),
]
print(json.dumps([statuses, "torch" in sys.modules]))
"""


def test_who_does_not_ask_for_pytorch_never_loads_it(tmp_path):
    from documents import run_python

    (tmp_path / "tiny.txt").write_text(TEXT, "utf-8")
    done = run_python(["-c", WITHOUT_TORCH], tmp_path)
    statuses, loaded = json.loads(done.stdout.splitlines()[-1])
    assert statuses == [0] * 6, done.stdout
    assert not loaded
    assert clearformer.load(tmp_path / "run").step == 12


@needs_torch
@pytest.mark.parametrize(
    "line",
    [
        ["train", "{text}", *ON_TORCH, "--compile", "--dropout", "0.1"],
        ["train", "{text}", *ON_TORCH, "--batch", "0"],
        ["train", "{text}", *ON_TORCH, "--size", "tiny", "--steps", "2", "--minutes", "1"],
        ["verify", "--device", "nonsense"],
        ["generate", "{text}", "--engine", "torch"],
        ["evaluate", "{text}", "--engine", "torch", "--device", "gpu"],
    ],
    ids=" ".join,
)
def test_what_can_be_refused_without_pytorch_does_not_wait_for_it(
    command, monkeypatch, text_file, line
):
    def never(*_):
        raise AssertionError("PyTorch was loaded")

    for module in (choose, opening):
        monkeypatch.setattr(module, "choose_engine", never)
    command(*(word.format(text=text_file) for word in line)).refusal()


@needs_torch
def test_a_run_says_that_pytorch_is_loaded_only_where_it_is_not_yet(
    monkeypatch, text_file, tmp_path
):
    class Heard(Reporter):
        told = []  # noqa: RUF012

        def waiting(self, doing):
            self.told.append(doing)

    choose.choose_engine("torch")
    monkeypatch.setattr(train_module, "begin", lambda *_: None)
    train_module.train(text_file, engine="torch", reporter=Heard())
    assert choose.LOADING not in Heard.told
    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(train_module, "require_possible", lambda _: None)
    train_module.train(text_file, engine="torch", reporter=Heard())
    assert Heard.told.count(choose.LOADING) == 1
