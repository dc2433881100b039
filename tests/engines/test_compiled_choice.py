"""Compiled kernels are used when they are there, wanted, and worth their start."""

import subprocess
import sys

import pytest

from clearformer.engines.numpy.compiled import choice
from clearformer.engines.numpy.compiled.choice import SWITCH, WORTH_ITS_START, is_compiled
from clearformer.errors import ConfigurationError


@pytest.fixture
def there(monkeypatch):
    """Says whether numba is installed."""

    def say(is_there: bool) -> None:
        monkeypatch.setattr(choice, "has_numba", lambda: is_there)

    monkeypatch.delenv(SWITCH, raising=False)
    say(True)
    return say


def test_long_work_is_compiled_and_short_work_is_not(there):
    assert is_compiled(WORTH_ITS_START)
    assert not is_compiled(WORTH_ITS_START / 2)


def test_without_numba_everything_is_plain(there):
    there(False)
    assert not is_compiled(1e9)


@pytest.mark.parametrize("empty", ["", "auto"])
def test_auto_is_as_if_nothing_were_said(there, monkeypatch, empty):
    monkeypatch.setenv(SWITCH, empty)
    assert is_compiled(1e9)
    assert not is_compiled(0)


def test_the_switch_decides(there, monkeypatch):
    monkeypatch.setenv(SWITCH, "never")
    assert not is_compiled(1e9)
    monkeypatch.setenv(SWITCH, "always")
    assert is_compiled(0)


def test_wanting_what_is_not_installed_is_refused(there, monkeypatch):
    there(False)
    monkeypatch.setenv(SWITCH, "always")
    with pytest.raises(ConfigurationError, match=r"needs numba.*pip install"):
        is_compiled(0)


def test_an_unknown_choice_is_refused(there, monkeypatch):
    monkeypatch.setenv(SWITCH, "yes")
    with pytest.raises(ConfigurationError, match=r"auto, never, always; got 'yes'"):
        is_compiled(0)


def test_asking_loads_no_compiler():
    code = (
        "import sys; from clearformer.engines import numpy; numpy.is_compiled(1e9); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
