"""The README's two commands are there for CI to run."""

import re
import subprocess

import pytest

from documents import ROOT, Block, blocks_of

README = ROOT / "README.md"
COMMANDS = ("main job", "tests")


def command(name: str) -> Block:
    (found,) = [block for block in blocks_of(README) if block.marker == name]
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_one_line(name):
    assert command(name).body.strip().count("\n") == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_makes_its_own_environment_and_upgrades_pip_first(name):
    steps = [step.strip() for step in command(name).body.split("&&")]
    assert steps[0] == "python3 -m venv .venv"
    if "--group" in command(name).body:  # needs pip 25.1
        assert "install --upgrade pip" in steps[1]
        assert "--group" in steps[2]


def test_the_test_command_checks_everything():
    assert command("tests").body.rstrip().endswith("tools/check.py")


def test_ci_runs_the_commands_of_the_readme_and_no_copies_of_them():
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for name in COMMANDS:
        assert f'run_command_of_readme "{name}"' in script
        for step in command(name).body.split("&&"):
            assert step.strip() not in script


@pytest.mark.parametrize("name", COMMANDS)
def test_ci_finds_the_commands(name):
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    function = re.search(r"^command_of_readme\(\) \{.*?^\}", script, re.M | re.S)
    assert function
    try:
        done = subprocess.run(
            ["bash", "-c", f'here="$1"\n{function[0]}\ncommand_of_readme "$2"', "bash", ROOT, name],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except FileNotFoundError:
        pytest.skip("there is no bash on this machine")
    assert done.stdout.strip() == command(name).body.strip()
