"""A kernel that is being compiled is told of: not one that was kept, and once to each who hears."""

import importlib.util
from itertools import count

import pytest

from clearformer.engines.kernels import kernels_heard_by, tell

KERNELS = """
from clearformer.engines.numpy.compiled.kernel import kernel, make_ready, piece

@piece
def halved(x):
    return x / 2

@kernel("halves")
def halves(x):
    return halved(x) + halved(x)
"""


def test_each_kind_is_heard_once_and_by_everybody_inside():
    first: list[str] = []
    second: list[str] = []
    with kernels_heard_by(first.append):
        tell("one")
        with kernels_heard_by(second.append):
            tell("one")
            tell("two")
        tell("three")
    assert (first, second) == (["one", "two", "three"], ["one", "two"])


def test_nobody_hears_any_more_after_a_fault():
    heard: list[str] = []
    with pytest.raises(ZeroDivisionError), kernels_heard_by(heard.append):
        raise ZeroDivisionError
    tell("one")
    assert heard == []


@pytest.fixture
def loaded(tmp_path):
    """Reads kernels that lie in a file, each time as another process would."""
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    path, numbers = tmp_path / "halves.py", count()
    path.write_text(KERNELS, "utf-8")

    def load():
        spec = importlib.util.spec_from_file_location(f"halves_{next(numbers)}", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load


def test_what_is_compiled_is_told_with_its_purpose_and_what_was_kept_is_not(loaded):
    heard: list[str] = []
    with kernels_heard_by(heard.append):
        assert loaded().halves(3.0) == 3.0
        assert len(heard) == 1
        assert heard[0].startswith("compiling a kernel for halves, ")
        assert heard[0].endswith("once per installation")
    with kernels_heard_by(heard.append):
        assert loaded().halves(3.0) == 3.0
        assert len(heard) == 1


def test_made_ready_a_kernel_is_compiled_before_it_is_called(loaded):
    module, heard = loaded(), list[str]()
    with kernels_heard_by(heard.append):
        module.make_ready(module.halves, 0.0)
        assert len(heard) == 1
    with kernels_heard_by(heard.append):
        assert module.halves(5.0) == 5.0
        assert len(heard) == 1


def test_where_nothing_can_be_kept_it_says_so():
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    names: dict[str, object] = {}
    exec(KERNELS, names)  # without a file there is no place beside it
    heard: list[str] = []
    with kernels_heard_by(heard.append):
        assert names["halves"](3.0) == 3.0
    assert len(heard) == 1
    assert "each time" in heard[0]
    assert "NUMBA_CACHE_DIR" in heard[0]
