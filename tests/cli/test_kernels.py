"""Compiling kernels takes seconds, once per installation: the commands say so before it begins."""

import pytest

from clearformer import ops
from clearformer.engines import kernels, numpy
from clearformer.engines.numpy.compiled.choice import SWITCH
from cli.documents import only_document

SENTENCE = "compiling a kernel for trying, which takes some seconds, once per installation"

TINY = ("--layers", 1, "--embed", 8, "--hidden", 8, "--context", 8, "--batch", 4, "--steps", 3)

COMPARED = ("--models", "lstm", "--budget", "parameters=2k,tokens=2k", "--seeds", 1, "--no-why")


@pytest.fixture
def telling(monkeypatch):
    """An operation or a decoder that tells each time as if it were compiled."""
    monkeypatch.setenv(SWITCH, "never")

    def tell_in(place, name):
        usual = getattr(place, name)

        def told(*given, **named):
            kernels.tell(SENTENCE)
            return usual(*given, **named)

        monkeypatch.setattr(place, name, told)

    return tell_in


@pytest.mark.parametrize("name", ["train", "compare"])
def test_training_says_so_in_one_line(command, text_file, tmp_path, telling, name):
    telling(ops, "lstm")
    flags = ("--model", "lstm", *TINY) if name == "train" else COMPARED
    shown = command(name, text_file, *flags, "--out", tmp_path / "out", "--json")
    assert shown.status == 0, shown.err
    assert shown.err.count(f"note: {SENTENCE}\n") == 1
    only_document(shown.out)


def test_generating_says_so_before_the_text(command, trained, telling):
    plain = command("generate", trained, "--tokens", 20, "--seed", 1)
    telling(numpy, "decoder")
    shown = command("generate", trained, "--tokens", 20, "--seed", 1)
    assert shown.out == plain.out
    assert shown.err.startswith(f"note: {SENTENCE}\n")
    assert shown.err.count(SENTENCE) == 1


@pytest.mark.long
def test_a_real_kernel_is_told_of_until_it_is_kept(process, text_file, tmp_path):
    pytest.importorskip("numba", reason="the extra `fast` is not installed")
    kept = {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), SWITCH: "always"}
    for name, times in (("first", 1), ("second", 0)):
        shown = process("train", text_file, "--model", "lstm", *TINY, "--out", name, **kept)
        assert shown.status == 0, shown.err
        assert shown.err.count("note: compiling a kernel for LSTMs, ") == times
