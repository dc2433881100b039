"""Laws of shell completion: a script that its shell accepts, and the right proposals."""

import shutil
import subprocess

import pytest

SHELLS = ["bash", "zsh", "fish"]


@pytest.mark.parametrize("shell", SHELLS)
def test_it_prints_a_script_that_asks_clearformer(command, shell):
    shown = command("completion", shell)
    assert (shown.status, shown.err) == (0, "")
    assert "clearformer" in shown.out
    assert f"_CLEARFORMER_COMPLETE={shell}_complete" in shown.out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_accepts_the_script(command, shell):
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    script = command("completion", shell).out
    done = subprocess.run(
        [program, "-n"], input=script, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "typed, proposed",
    [
        ("clearformer trai", {"train"}),
        ("clearformer e", {"evaluate", "explain"}),
        ("clearformer train --lay", {"--layers"}),
        ("clearformer generate --top", {"--top-k", "--top-p"}),
    ],
)
def test_it_proposes_commands_and_flags(process, typed, proposed):
    shown = process(
        _CLEARFORMER_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(typed.count(" "))
    )
    assert {line.removeprefix("plain,") for line in shown.out.splitlines()} == proposed


def test_it_proposes_what_a_flag_can_be(process):
    typed = "clearformer train --recipe "
    shown = process(_CLEARFORMER_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD="3")
    assert set(shown.out.split()) == {"plain,modern", "plain,classic"}
