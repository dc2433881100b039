"""`check` from the command line: the exercise, a file to start from, the verdict, its status."""

import os
import subprocess
import sys
import time

import pytest

from clearformer.engines.choose import INSTALL
from cli.conftest import ENVIRONMENT
from cli.documents import only_document

RIGHT = """
import numpy as np
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
WRONG = RIGHT.replace("e.sum(axis=-1", "e.sum(axis=0")


@pytest.fixture
def answer(tmp_path):
    def write(source, name="answer.py"):
        path = tmp_path / name
        path.write_text(source, "utf-8")
        return path

    return write


def test_the_exercises_are_listed(command):
    shown = command("check", "--list")
    assert shown.status == 0
    assert "self_attention" in shown.out
    document = only_document(command("check", "--list", "--json", "--language", "ja").out)
    assert {"exercise": "softmax", "title": "softmax", "signature": "softmax(x)"} in (
        document["exercises"]
    )


def test_an_exercise_shows_its_task_and_what_to_type_next(command):
    shown = command("check", "self_attention")
    assert "def self_attention(X, W_Q, W_K, W_V, masked=True)" in shown.out
    assert "--start self_attention.py" in shown.out


def test_an_untouched_starter_file_is_never_right(command, tmp_path):
    start = tmp_path / "start.py"
    assert command("check", "softmax", "--start", start).status == 0
    shown = command("check", "softmax", start)
    assert shown.status == 2
    assert "NotImplementedError" in shown.out


def test_a_starter_file_replaces_nothing(command, answer):
    path = answer(RIGHT)
    assert "there already" in command("check", "softmax", "--start", path).refusal()
    assert path.read_text("utf-8") == RIGHT


def test_a_right_answer_has_status_0(command, answer):
    shown = command("check", "softmax", answer(RIGHT))
    assert shown.status == 0
    assert "RIGHT" in shown.out


def test_a_mistake_is_named_with_status_1(command, answer):
    shown = command("check", "softmax", answer(WRONG), "--json")
    document = only_document(shown.out)
    assert shown.status == 1
    assert (document["verdict"], document["mistakes"]) == ("wrong", ["softmax-axis0"])
    assert document["evidence"]
    assert document["message"].count("\n") < 12


def test_the_way_out_is_told_only_when_asked_for(command, answer):
    path = answer(WRONG)
    assert "keep that axis" not in command("check", "softmax", path).out
    assert "keep that axis" not in command("check", "softmax", path, "--hint", "1").out
    assert "keep that axis" in command("check", "softmax", path, "--hint", "2").out
    assert "In code:" in command("check", "softmax", path, "--hint", "3").out


def test_it_speaks_japanese(command, answer):
    shown = command("check", "softmax", answer(WRONG), "--language", "ja")
    assert "不正解" in shown.out
    assert "列方向" in shown.out


def test_the_smallest_failing_input_can_be_pasted(command, answer, tmp_path):
    path = answer(WRONG, "pasted.py")
    shown = command("check", "softmax", path, "--show").out
    script = WRONG + shown[shown.index("import numpy") :]
    (tmp_path / "again.py").write_text(script, "utf-8")
    done = subprocess.run(
        [sys.executable, tmp_path / "again.py"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("[[")


def test_what_was_printed_and_the_failing_input_are_offered(command, answer):
    shown = command("check", "softmax", answer('print("a\\nb")\n' + RIGHT)).out
    assert "It printed 2 lines; --show shows it." in shown
    assert "--show (the smallest failing input)" not in shown
    unknown = answer(RIGHT.replace("e.sum(", "1.7 + e.sum("))
    assert "--show (the smallest failing input)" in command("check", "softmax", unknown).out


def test_the_function_can_be_chosen(command, answer):
    path = answer(RIGHT.replace("def softmax", "def mine") + "\ndef other(x):\n    return x\n")
    assert command("check", "softmax", f"{path}:mine").status == 0
    missing = command("check", "softmax", f"{path}:mina")
    assert missing.status == 2
    assert "mine" in missing.out


def test_a_file_that_is_not_there_is_told_in_one_line(command, tmp_path):
    shown = command("check", "softmax", tmp_path / "none.py")
    assert shown.status == 2
    assert "there is no file" in " ".join(shown.out.split())


def test_an_unknown_exercise_is_refused_with_the_nearest(command, answer):
    line = command("check", "sofmax", answer(RIGHT)).refusal()
    assert "did you mean softmax" in line


def test_watching_judges_again_when_the_file_changes(answer, tmp_path):
    path = answer(WRONG)
    heard = tmp_path / "heard.txt"
    with heard.open("w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "clearformer", "check", "softmax", path, "--watch"],
            stdout=out,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            wait_for(heard, "WRONG")
            path.write_text(RIGHT, "utf-8")
            wait_for(heard, "RIGHT")
        finally:
            process.terminate()
            process.wait()


def test_a_module_without_pytorch_is_told_what_to_install(process, answer, tmp_path):
    none = tmp_path / "without" / "torch"
    none.mkdir(parents=True)
    says = "raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')"
    (none / "__init__.py").write_text(says, "utf-8")
    path = answer("import torch\nclass SelfAttention(torch.nn.Module):\n    pass\n")
    paths = os.pathsep.join([str(none.parent), ENVIRONMENT["PYTHONPATH"]])
    shown = process("check", "self_attention", path, "--json", PYTHONPATH=paths)
    assert shown.status == 2
    assert only_document(shown.out)["findings"][0]["message"].endswith(INSTALL)


TEACHERS = """
from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words
W = Words("a", "b")
def right(step, x):
    return step.doubled(x)
EXERCISE = Exercise("twice", W, W, right, {"doubled": lambda x: x * 2},
    lambda: [Probe("4 rows", {"x": normal(1, 4, 3)})],
    [Mistake("once", {"doubled": lambda x: x}, W, W, W, W, "x * 2")])
"""


def test_a_teachers_exercise_is_called_by_its_file_in_what_to_type_next(command, answer, tmp_path):
    exercise, start = answer(TEACHERS, "of a teacher.py"), tmp_path / "start.py"
    shown = command("check", exercise).out
    assert f"clearformer check '{exercise}' --start answer.py" in shown
    assert f"clearformer check '{exercise}' answer.py" in shown
    wrote = command("check", exercise, "--start", start).out
    assert wrote.rstrip().endswith(f"clearformer check '{exercise}' {start}")


def test_a_pupil_is_not_blamed_for_an_exercise_that_fails_itself(command, answer):
    pupil = answer("def twice(x):\n    return x * 2\n", "pupil.py")
    assert command("check", answer(TEACHERS, "good.py"), pupil).status == 0
    broken = answer(TEACHERS.replace("x * 2}", "x * 2 / none}"), "broken.py")
    line = command("check", broken, pupil).refusal()
    assert "exercise twice fails itself: on '4 rows'" in line
    assert "NameError" in line and "line 8" in line
    inputs = answer(TEACHERS.replace("normal(1, 4, 3)", "normal(1, none)"), "inputs.py")
    assert "fails itself: its inputs cannot be made: NameError" in (
        command("check", inputs, pupil).refusal()
    )
    slip = answer(TEACHERS.replace("lambda x: x}", "lambda x: none}"), "slip.py")
    line = command("check", slip, answer("def twice(x):\n    return x\n", "wrong.py")).refusal()
    assert "exercise twice fails itself: once on '4 rows': NameError" in line
    other = answer(TEACHERS.replace('"once", {"doubled"', '"once", {"double"'), "other.py")
    assert "'double', which twice does not have; did you mean doubled?" in (
        command("check", other, pupil).refusal()
    )


def test_watching_needs_a_file_to_judge(command, tmp_path):
    start = tmp_path / "new.py"
    assert "leave out" in command("check", "softmax", "--start", start, "--watch").refusal()
    assert "needs the file" in command("check", "softmax", "--watch").refusal()
    assert not start.exists()


def wait_for(file, word):
    deadline = time.monotonic() + 60
    while word not in file.read_text("utf-8"):
        assert time.monotonic() < deadline, f"no {word} in {file.read_text('utf-8')!r}"
        time.sleep(0.05)
