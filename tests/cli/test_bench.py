"""Laws of `clearformer bench`: a table that grows, one document, and a stop that loses nothing."""

import json

import pytest

from benchmarking.test_bench import failing, row
from clearformer.benchmarking import rows
from clearformer.benchmarking.goal import Goal
from clearformer.errors import ClearformerError
from clearformer.explanation.lines import cell_width

ROWS = (
    row("fast", clearformer=[1.0, 1.1, 1.2], peer=[2.0, 2.1, 2.2]),
    row("fast-alone", clearformer=[1.0]),
    row("start", Goal(0.25, "ours"), clearformer=[0.3], python=[0.1]),
    failing(ClearformerError("it is not there")),
)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(rows, "ROWS", ROWS)
    monkeypatch.setattr("clearformer.benchmarking.bench.busy_share", lambda: 0.0)


def test_each_row_has_its_ratio_goal_and_peer(command):
    shown = command("bench")
    assert shown.status == 0
    head, *lines = shown.out.splitlines()
    assert head.split() == ["what", "ours", "peer", "ratio", "(quartiles)", "goal"]
    assert " ".join(lines[0].split()) == "fast 1.1 2.1 s 0.52 (0.51 … 0.53) ≤ 1 yes"
    assert lines[1] == "  against peer"
    assert lines[3] == "  no peer here: get it"
    assert lines[4].endswith("≤ 0.25 s no")
    assert lines[-1] == "  could not be measured: it is not there"
    assert all(cell_width(line) <= 80 for line in shown.out.splitlines())
    assert shown.err.splitlines()[0] == "1/4 fast …"


def test_it_prints_exactly_one_document(command):
    shown = command("bench", "--json", "--only", "fast")
    document = json.loads(shown.out)
    assert [each["row"] for each in document["rows"]] == ["fast", "fast-alone"]
    assert document["rows"][0]["ratio"]["median"] == pytest.approx(0.5238, abs=1e-4)
    assert (document["interrupted"], document["text"]) == (False, ["pydoc_data.topics"])
    assert document["machine"]["clearformer"]


def test_it_speaks_japanese(command):
    shown = command("bench", "--language", "ja", "--quick")
    assert shown.out.splitlines()[0].split()[0] == "項目"
    assert "達成" in shown.out
    assert "未達" in shown.out
    assert "おおよその値" in shown.err
    assert all(cell_width(line) <= 80 for line in shown.out.splitlines())


@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["table", "json"])
def test_stopped_it_shows_what_was_measured_and_its_status_is_130(command, monkeypatch, as_json):
    monkeypatch.setattr(rows, "ROWS", (ROWS[0], failing(KeyboardInterrupt()), ROWS[2]))
    shown = command("bench", *as_json)
    assert shown.status == 130
    assert "stopped" in shown.err
    if as_json:
        document = json.loads(shown.out)
        assert [each["row"] for each in document["rows"]] == ["fast"]
        assert document["interrupted"] is True
    else:
        assert shown.out.splitlines()[1].startswith("fast ")


def test_a_record_is_the_document(command, tmp_path):
    file = tmp_path / "0.1.json"
    shown = command("bench", "--only", "start", "--record", file)
    assert str(file) in shown.out
    kept = json.loads(file.read_text("utf-8"))
    assert kept["rows"][0]["ours"]["median"] == 0.3
    command("bench", "--only", "fast", "--record", file)
    kept = json.loads(file.read_text("utf-8"))
    assert [each["row"] for each in kept["rows"]] == ["start", "fast", "fast-alone"]
    assert "expects a file" in command("bench", "--record", tmp_path / "no" / "x.json").refusal()


def test_what_is_worse_than_in_a_record_is_told_and_nothing_fails(command, tmp_path, monkeypatch):
    file = tmp_path / "before.json"
    command("bench", "--only", "fast", "--record", file)
    assert "times as bad" not in command("bench", "--against", file).err
    slower = row("fast", clearformer=[1.4, 1.4, 1.4], peer=[2.0, 2.1, 2.2])
    monkeypatch.setattr(rows, "ROWS", (slower, row("new", clearformer=[9.0], peer=[1.0])))
    shown = command("bench", "--against", file)
    assert shown.status == 0
    assert "fast: the ratio is 1.27 times as bad as in the record" in shown.err
    more = row("fast", Goal(1.0, at_least=True), clearformer=[3.0], peer=[2.0])
    monkeypatch.setattr(rows, "ROWS", (more,))
    assert "times as bad" not in command("bench", "--against", file).err
    file.write_text("[]", "utf-8")
    assert "is no record" in command("bench", "--against", file).refusal()


def test_rows_are_listed_and_an_unknown_one_is_refused(command):
    assert command("bench", "--list").out.split()[:2] == ["fast", "fast"]
    assert json.loads(command("bench", "--list", "--json").out)["rows"][0]["row"] == "fast"
    assert "there is no row 'slow'; there are fast" in command("bench", "--only", "slow").refusal()


def test_a_busy_machine_is_told(command, monkeypatch):
    monkeypatch.setattr("clearformer.benchmarking.bench.busy_share", lambda: 0.5)
    assert "others took 50%" in command("bench", "--only", "start").err


def test_a_c_program_that_cannot_be_started_is_refused_before_anything_is_measured(
    command, tmp_path
):
    shown = command("bench", "--c-program", tmp_path / "run")
    assert shown.status == 2
    assert "a file that can be started" in shown.err
    assert shown.out == ""


def test_large_ratios_stand_apart_from_the_unit(command, monkeypatch):
    large = row("large", clearformer=[9.0, 21.0, 99.0], peer=[1.0, 1.0, 1.0])
    monkeypatch.setattr(rows, "ROWS", (large,))
    assert " s 21.0 (15.0 … 60.0) ≤ 1 no" in " ".join(command("bench").out.split())
