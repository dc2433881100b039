"""Pairs from the command line: train, resume, translate, be judged and be explained."""

import io
import sys

import pytest

from clearformer.runs import task_material
from clearformer.text.pairs import write_pairs
from cli.documents import only_document

PAIRS = [(f"{n} and {n % 7}", f"{n + n % 7}") for n in range(120)]

TINY = ("--embed", "8", "--context", "16", "--batch", "4", "--steps", "12")

every_kind = pytest.mark.parametrize(
    ("kind", "more"),
    [("seq2seq", ("--attention", "additive")), ("encoder-decoder", ("--heads", "2"))],
    ids=["seq2seq", "encoder-decoder"],
)


@pytest.fixture
def pair_file(tmp_path):
    write_pairs(tmp_path / "sums.tsv", PAIRS)
    return tmp_path / "sums.tsv"


@pytest.fixture
def run_of(command, tmp_path, pair_file):
    """Trains a run on pairs."""

    def train(kind="seq2seq", *more):
        path = tmp_path / kind
        shown = command("train", pair_file, "--model", kind, "--out", path, *TINY, *more, "--json")
        assert shown.status == 0, shown.err
        return path, only_document(shown.out), shown.err

    return train


class Lines(io.StringIO):
    """Standard input that is no terminal."""

    def __init__(self, raw, terminal=False):
        super().__init__()
        self.buffer = io.BytesIO(raw)
        self._terminal = terminal

    def isatty(self):
        return self._terminal


@every_kind
def test_a_run_from_beginning_to_end(command, run_of, kind, more):
    run, told, heard = run_of(kind, *more)
    assert told["steps"] == 12
    assert 0 <= told["accuracy"] <= 1
    assert "% right" in heard
    assert "→" in heard
    longer = only_document(
        command("train", "--resume", "--out", run, "--steps", "20", "--json").out
    )
    judged = only_document(command("evaluate", run, "--json").out)
    assert judged["loss"] == pytest.approx(longer["validation_loss"])
    assert judged["accuracy"] == longer["accuracy"]
    assert "of the answers are right" in command("evaluate", run).out
    page = command("explain", "--run", run, "3 and 4")
    assert page.status == 0
    assert page.out.startswith("3 and 4 →")
    assert "source →" in page.out
    stages = only_document(command("explain", "--run", run, "3 and 4", "--json").out)["stages"]
    assert any(stage["name"].endswith("weights") for stage in stages)


def test_texts_are_translated_one_a_line(command, run_of):
    run, _, _ = run_of()
    found = only_document(command("translate", run, "3 and 4", "1", "--beam", "3", "--json").out)
    assert [target["source"] for target in found["targets"]] == ["3 and 4", "1"]
    assert all(target["log_probability"] < 0 for target in found["targets"])
    plain = command("translate", run, "3 and 4", "1", "--beam", "3")
    assert plain.out.splitlines() == [target["text"] for target in found["targets"]]
    noted = command("translate", run, "3 é")
    assert "note: not in this model's vocabulary" in noted.err
    assert noted.status == 0


@pytest.mark.parametrize("raw", [b"3 and 4\n1\n", b"\xef\xbb\xbf3 and 4\r\n1"])
def test_lines_of_standard_input_are_translated(command, run_of, monkeypatch, raw):
    run, _, _ = run_of()
    expected = command("translate", run, "3 and 4", "1").out
    monkeypatch.setattr(sys, "stdin", Lines(raw))
    assert command("translate", run).out == expected


@pytest.mark.parametrize(
    ("raw", "terminal", "said"),
    [
        (b"", True, "expected a text to translate"),
        (b"", False, "nothing to translate"),
        (b"\n \n", False, "nothing to translate"),
        (b"a\xff", False, "text 1 is not UTF-8 (byte 2 of the line)"),
        (b"1\n?\n", False, "text 2"),
        (b"1\n\n", False, "text 2"),
        (b"1" * 16, False, "text 1 has 16 tokens"),
    ],
)
def test_a_document_is_whole_or_one_line(command, run_of, monkeypatch, raw, terminal, said):
    run, _, _ = run_of()
    monkeypatch.setattr(sys, "stdin", Lines(raw, terminal))
    assert said in command("translate", run, "--json").refusal()


def test_a_line_that_cannot_be_translated_costs_no_other(command, run_of, monkeypatch):
    run, _, _ = run_of()
    one, other = command("translate", run, "3 and 4", "1").out.splitlines()
    monkeypatch.setattr(sys, "stdin", Lines(b"3 and 4\n\n?\na\xff\n" + b"1" * 16 + b"\n1"))
    shown = command("translate", run)
    assert shown.status == 2
    assert shown.out.splitlines() == [one, "", "", "", "", other]
    *told, last = shown.err.splitlines()
    assert [line[:6] for line in told] == ["text 3", "text 4", "text 5"]
    assert last == "clearformer: texts that could not be translated and are left blank: 3 of 6"


def test_a_text_that_cannot_be_translated_costs_no_other(command, run_of):
    run, _, _ = run_of()
    one, other = command("translate", run, "3 and 4", "1").out.splitlines()
    shown = command("translate", run, "3 and 4", "?", "1", "1" * 16)
    assert shown.status == 2
    assert shown.out.splitlines() == [one, "", other, ""]
    *told, last = shown.err.splitlines()
    assert [line[:6] for line in told] == ["text 2", "text 4"]
    assert last == "clearformer: texts that could not be translated and are left blank: 2 of 4"
    assert "text 1" in command("translate", run, "?").refusal()
    assert "text 2" in command("translate", run, "1", "?", "--json").refusal()


def test_a_blank_line_gives_a_blank_line(command, run_of, monkeypatch):
    run, _, _ = run_of()
    monkeypatch.setattr(sys, "stdin", Lines(b"\n1\n\n"))
    shown = command("translate", run)
    assert (shown.status, shown.err) == (0, "")
    assert shown.out.splitlines() == ["", command("translate", run, "1").out.strip("\n"), ""]


def test_each_line_is_answered_before_the_next_is_read(command, run_of, monkeypatch, capsys):
    run, _, _ = run_of()
    heard = []

    class Slow(Lines):
        """Looks at what was printed before it gives the next line."""

        def __init__(self):
            super().__init__(b"")
            self.buffer = self.lines()

        def lines(self):
            yield b"1\n"
            heard.append(capsys.readouterr().out)
            yield b"2\n"

    monkeypatch.setattr(sys, "stdin", Slow())
    assert command("translate", run).status == 0
    assert heard == [command("translate", run, "1").out]


@pytest.mark.parametrize("raw", [b"", b"\n \n"])
def test_nothing_to_translate_is_a_fault(command, run_of, monkeypatch, raw):
    run, _, _ = run_of()
    monkeypatch.setattr(sys, "stdin", Lines(raw))
    shown = command("translate", run)
    assert shown.status == 2
    assert "nothing to translate" in shown.err
    assert not shown.out.strip()


def test_a_beam_that_cannot_be_is_refused(command, run_of):
    run, _, _ = run_of()
    assert "beam must be" in command("translate", run, "1", "--beam", "0").refusal()


def test_a_run_on_a_text_is_no_translator(command, trained, run_of):
    assert "clearformer generate" in command("translate", trained, "the cat").refusal()
    run, _, _ = run_of()
    assert "clearformer translate" in command("generate", run).refusal()


def test_a_task_is_learned(command, tmp_path, monkeypatch):
    monkeypatch.setattr(task_material, "TO_LEARN", 60)
    monkeypatch.setattr(task_material, "TO_BE_JUDGED", 20)
    path = tmp_path / "run"
    shown = command(
        "train", "--task", "reverse", "--model", "seq2seq", "--out", path,
        "--embed", "8", "--context", "20", "--batch", "4", "--steps", "6",
    )  # fmt: skip
    assert shown.status == 0, shown.err
    assert "What it answers after 6 steps" in shown.out
    assert f"clearformer translate {path}" in shown.out
    assert "of the answers are right" in shown.out


def test_a_line_that_is_no_pair_is_refused_with_its_number(command, pair_file, tmp_path):
    pair_file.write_text("a\tb\nc\n")
    shown = command("train", pair_file, "--model", "seq2seq", "--out", tmp_path / "run")
    assert "sums.tsv, line 2: expected two columns" in shown.refusal()
