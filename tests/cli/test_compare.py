"""Laws of `clearformer compare`: one JSON document, one line of refusal, a table of 80 columns."""

import json
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from clearformer.cli.compare import _lesson
from clearformer.cli.comparison_table import COLUMNS, table_of
from clearformer.comparison.compare import compare
from clearformer.comparison.document import Comparison
from clearformer.comparison.entrants import default_models
from clearformer.comparison.events import Listener
from clearformer.explanation.lines import cell_width
from cli.conftest import ENVIRONMENT, TEXT
from comparison.report.example import example
from comparison.report.example import lesson as example_lesson

DECODER = "decoder:layers=1:heads=2"

SMALL = (
    *("--models", f"ngram,{DECODER}", "--budget", "parameters=1500,tokens=320"),
    *("--seeds", "2", "--batch", "4", "--context", "8", "--workers", "1", "--no-why"),
)


@pytest.fixture
def study(tmp_path):
    return tmp_path / "study"


def test_json_is_one_document_with_the_keys_of_the_contract(command, text_file, study):
    done = command("compare", text_file, *SMALL, "--out", study, "--json")
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert {"results", "summary"} <= set(document)
    assert {result["model"] for result in document["results"]} == {"ngram", DECODER}
    assert document == json.loads((study / "comparison.json").read_text("utf-8"))
    assert (study / "report.html").read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_table_of_a_lesson_fits_a_terminal(language):
    found = replace(example(), lesson=example_lesson().to_json())
    assert max(map(cell_width, _lesson(found, language))) <= COLUMNS


def test_the_table_fits_a_terminal_and_names_every_model(command, text_file, study):
    done = command("compare", text_file, *SMALL, "--out", study)
    assert done.status == 0, done.err
    assert DECODER in done.out
    assert "ngram" in done.out
    lines = done.out.splitlines() + done.err.splitlines()
    assert max(len(line) for line in lines if str(study) not in line) <= COLUMNS


def test_what_happens_is_told_on_standard_error(command, text_file, study):
    done = command("compare", text_file, *SMALL, "--out", study)
    assert f"{DECODER}, seed 1:" in done.err
    assert f"{DECODER}, learning rate 0.003: loss" in done.err


def test_a_finished_comparison_shows_the_same_again(command, text_file, study):
    first = command("compare", text_file, *SMALL, "--out", study, "--json")
    again = command("compare", "--resume", "--out", study, "--no-why", "--json")
    assert again.out == first.out


def test_going_on_tells_only_of_what_is_new(command, text_file, study):
    first = command("compare", text_file, *SMALL, "--out", study)
    total = re.search(r"(\d+) parts at most", first.err).group(1)
    (study / "trials/02-decoder-trial-seed-1.json").unlink()
    again = command("compare", "--resume", "--out", study)
    assert f"The first {int(total) - 1} of {total} parts had ended before." in again.err
    assert again.err.count("bits per character in") == 1
    assert "seed 1:" in again.err
    assert again.out.splitlines()[-1] == first.out.splitlines()[-1]


def test_no_why_and_the_language_are_remembered(command, text_file, study):
    command("compare", text_file, *SMALL, "--out", study, "--language", "ja", "--json")
    again = command("compare", "--resume", "--out", study, "--json")
    assert json.loads(again.out)["why"] == {}
    page = study / "report.html"
    assert '<html lang="ja">' in page.read_text("utf-8")
    command("compare", "--resume", "--out", study, "--language", "en", "--json")
    assert '<html lang="en">' in page.read_text("utf-8")
    command("compare", "--resume", "--out", study, "--json")
    assert '<html lang="en">' in page.read_text("utf-8")


def test_the_number_of_parts_stays_the_same():
    heard = []

    class Counting(Listener):
        def planned(self, models, jobs):
            heard.append(jobs)

        def begun(self, job, number, jobs):
            heard.append(jobs)
            assert number <= jobs

    compare(
        TEXT, models=f"ngram,{DECODER}", budget="parameters=1500,tokens=320", seeds=1, batch=4,
        context=8, workers=1, why=False, listener=Counting(),
    )  # fmt: skip
    assert len(set(heard)) == 1


def test_without_out_it_has_the_name_of_the_text(command, text_file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("tiny", "tiny-2"):
        assert command("compare", text_file, *SMALL).status == 0
        assert (tmp_path / "comparisons" / name / "comparison.json").exists()


def test_a_task_has_settings(command, study, tmp_path):
    report = tmp_path / "page.html"
    done = command(
        "compare", "--task", "recall", "--task-set", "k=4", "--models", DECODER,
        "--budget", "parameters=2000,tokens=320", "--seeds", "1", "--batch", "4",
        "--workers", "1", "--no-why", "--out", study, "--report", report, "--language", "ja",
        "--json",
    )  # fmt: skip
    assert done.status == 0, done.err
    document = json.loads(done.out)
    assert document["task"]["settings"]["distance"] == 4
    assert document["results"][0]["accuracy"] is not None
    assert 'lang="ja"' in report.read_text("utf-8")


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--models", "transformer"], "ngram, decoder"),
        (["--models", "decoder", "--budget", "parameters=10,tokens=5"], "cannot meet the budget"),
        (["--budget", "steps=5"], "tokens or seconds; got steps"),
        (["--task", "chess"], "task must be text or one of"),
        (["--task", "recall", "--models", "decoder"], "leave the text out"),
        (["--task-set", "distance=4"], "no settings"),
        (["--task-set", "distance"], "NAME=VALUE"),
        (["--seeds", "0"], "seeds must be"),
        (["--measure", "accuracy"], "measure must be one of"),
        (["--models", "decoder,decoder:tokenizer=words", "--measure", "perplexity"], "per token"),
        (["--report", "missing/folder/page.html"], "no folder"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(command, text_file, study, flags, told):
    assert told in command("compare", text_file, "--out", study, *flags).refusal()
    assert not study.exists()


def test_a_setting_that_the_task_has_not_is_refused_with_those_it_has(command, study):
    refusal = command(
        "compare", "--task", "recall", "--task-set", "step=4", "--out", study
    ).refusal()
    assert "distance" in refusal


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--minutes", "3"], "--minutes goes with --lesson"),
        (["--lesson", "--models", "decoder"], "leave out models"),
        (["--lesson", "--task", "recall", "--no-why"], "leave out task, why"),
        (["--lesson", "--minutes", "0"], "minutes must be"),
    ],
)
def test_a_lesson_decides_by_itself(command, text_file, study, flags, told):
    assert told in command("compare", text_file, "--out", study, *flags).refusal()


@pytest.mark.parametrize("reads", ["rows", "pairs"])
def test_the_help_names_those_that_take_part_by_themselves(command, reads):
    shown = "".join(command("compare", "--help").out.split())  # it breaks at hyphens, too
    assert ",".join(default_models(reads, counting=False)) in shown


def test_resume_needs_a_folder(command):
    assert "--out" in command("compare", "--resume").refusal()


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_stopped_by_ctrl_c_it_ends_with_130_and_one_line_that_goes_on(tmp_path, text_file):
    line = [sys.executable, "-m", "clearformer", "compare"]
    endless = ["--models", f"ngram,{DECODER}", "--budget", "parameters=1500,tokens=50M",
               "--batch", "4", "--context", "8", "--workers", "1"]  # fmt: skip
    child = subprocess.Popen(
        [*line, str(text_file), *endless, "--out", "study"],
        cwd=tmp_path, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    measured = tmp_path / "study" / "trials" / "02-decoder-memory.json"
    deadline = time.monotonic() + 120
    while not measured.exists():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=120)
    assert (child.returncode, out) == (130, "")
    last = err.splitlines()[-1]
    assert last.startswith("clearformer: stopped after 2 of ")
    assert last.endswith("go on with: clearformer compare --resume --out study")
    assert "Traceback" not in err


def test_a_long_name_has_a_line_of_its_own():
    interval = {"mean": 12345.678, "low": 12000.0, "high": 12691.356, "seeds": 3}
    name = "decoder:recipe=classic:layers=12:heads=12:activation=swiglu"
    measures = ("bits_per_character", "perplexity", "seconds", "tokens_per_second", "memory")
    found = Comparison(
        results=(),
        summary={name: dict.fromkeys(measures, interval)},
        models=({"name": name, "parameters": 123_456_789, "counting": False},),
        task={"measure": "bits_per_character"},
        budget={"parameters": 123_456_789, "tokens": None, "seconds": 60.0, "within": 0.02},
        search={},
        training={"seeds": [0, 1, 2]},
        text={},
        machine={},
    )
    lines = list(table_of(found))
    assert name in lines
    assert "123,456,789 parameters within 2 % and" in " ".join(lines)


def test_a_text_shorter_than_the_context_is_refused_first(command, tmp_path, study):
    short = tmp_path / "short.txt"
    short.write_text("abc def ghi jkl mno pqr stu vwx yz.", "utf-8")
    models = ("--models", f"ngram,{DECODER}", "--budget", "parameters=1500,tokens=320")
    told = command("compare", short, *models, "--context", "28", "--out", study).refusal()
    assert f"{DECODER} cannot learn from this text" in told
    assert "context of at most 26" in told
    assert not study.exists()


def test_the_text_of_the_tests_is_long_enough():
    assert len(TEXT) * 0.9 * 0.9 > 8 * 4
