"""Laws of choosing an engine: what it cannot do is refused at once, in one line."""

import sys
from dataclasses import replace

import pytest

import clearformer.engines
from clearformer.engines.choose import (
    as_before,
    choose_engine,
    join_ranks,
    require_possible,
    settle,
    version_of,
    where_before,
)
from clearformer.engines.execution import Execution, Wish, Work
from clearformer.errors import ConfigurationError
from engines.runners import needs_torch


def refusal(function, *arguments):
    """The message of a call that is refused."""
    with pytest.raises(ConfigurationError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


OF_NO_USE = [
    ({"device": "cuda"}, "device cpu only; got cuda; take --engine torch"),
    ({"device": "mps"}, "device cpu only"),
    ({"precision": "bfloat16"}, "precision float32 only"),
    ({"compiled": True}, "compiles nothing; take --engine torch, or leave out --compile"),
    ({"parallel": "shard"}, "parallel replicate only"),
]


@pytest.mark.parametrize(("asked", "told"), OF_NO_USE, ids=str)
@pytest.mark.parametrize("engine", [None, "numpy"])
def test_what_numpy_cannot_do_is_refused(engine, asked, told):
    for function in (require_possible, lambda wish: settle(wish, Work())):
        assert told in refusal(function, Wish(engine, **asked))


def test_what_numpy_does_anyway_may_be_asked_for():
    wish = Wish("numpy", "cpu", "float32", compiled=False, parallel="replicate", workers=3)
    assert settle(wish, Work()) == (Execution(workers=3), ())


UNKNOWN = {
    "engine": ["abacus", "", 1],
    "device": ["tpu", "", "cuda:x", "cuda:-1", 0],
    "precision": ["float16", "", 32],
    "compiled": [1, "yes"],
    "parallel": ["both", ""],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in UNKNOWN.items() for value in values]
)
def test_what_nobody_knows_is_refused_with_what_is_known(name, value):
    for kind in (Wish, Execution):
        told = refusal(lambda kind=kind: kind(**{name: value}))
        assert f"{name} must be one of" in told
        assert repr(value) in told


@pytest.mark.parametrize(
    "how",
    [
        *({name: None} for name in UNKNOWN),
        {"workers": 0},
        {"workers": True},
        {"ranks": 1.0},
        {"device": "cuda"},
        {"precision": "bfloat16"},
        {"compiled": True},
        {"ranks": 2},
    ],
    ids=str,
)
def test_nothing_else_is_ever_recorded(how):
    """The last four on NumPy, which has none of it."""
    refusal(lambda: Execution(**how))


@pytest.mark.parametrize(
    ("execution", "told"),
    [
        (Execution(), "NumPy on 1 processor"),
        (Execution(workers=2), "NumPy on 2 processors"),
        (Execution("torch", workers=3), "PyTorch on 3 processors"),
        (Execution("torch", "cuda:1", "bfloat16"), "PyTorch on cuda:1"),
        (Execution("torch", "cuda", ranks=8), "PyTorch on cuda, 8 processes"),
    ],
    ids=str,
)
def test_what_a_run_is_computed_on_is_told_as_it_is(execution, told):
    """With the engine; a GPU is no thread."""
    assert execution.where == told


def without_torch(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("clearformer.engines.torch")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr("clearformer.engines.torch", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)


@pytest.mark.parametrize(
    "function",
    [
        lambda: choose_engine("torch"),
        lambda: require_possible(Wish("torch")),
        lambda: settle(Wish("torch"), Work()),
        lambda: as_before(Execution("torch"), Wish()),
    ],
)
def test_without_pytorch_its_engine_says_how_to_install_it(function, monkeypatch):
    without_torch(monkeypatch)
    told = refusal(function)
    assert "not installed here" in told
    assert 'pip install ".[torch]" in the clone, or take --engine numpy' in told


def test_a_pytorch_that_cannot_be_loaded_is_told_from_none(monkeypatch):
    from importlib.machinery import ModuleSpec

    without_torch(monkeypatch)
    monkeypatch.setattr("clearformer.engines.choose.find_spec", lambda name: ModuleSpec(name, None))
    assert "PyTorch cannot be loaded" in refusal(choose_engine, "torch")


def test_a_pytorch_for_which_there_is_no_memory_is_told_in_one_line(monkeypatch):
    class Full:
        def find_spec(self, name, path=None, target=None):
            if name == "clearformer.engines.torch":
                raise SystemError("returned NULL without setting an exception")

    monkeypatch.delitem(sys.modules, "clearformer.engines.torch", raising=False)
    monkeypatch.delattr(clearformer.engines, "torch", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Full(), *sys.meta_path])
    monkeypatch.setattr("clearformer.engines.choose.find_spec", lambda name: name)
    assert "perhaps for lack of memory" in refusal(choose_engine, "torch")


def test_numpy_needs_nobody_to_join(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert join_ranks("numpy", None).ranks == 1


def test_the_version_is_that_of_the_library():
    import numpy

    assert version_of("numpy") == numpy.__version__


@needs_torch
class TestGoingOn:
    """What a run that goes on keeps."""

    BEFORE = Execution("torch", "cpu", "bfloat16", compiled=True, workers=2)

    @pytest.fixture(autouse=True)
    def machine(self, monkeypatch):
        from clearformer.engines import torch
        from clearformer.engines.torch import devices

        self.obstacle, self.there = None, {"cpu": 1, "cuda": 0, "mps": 0}
        monkeypatch.setattr(torch, "obstacle", lambda _: self.obstacle)
        monkeypatch.setattr(devices, "_there", lambda: self.there)
        monkeypatch.delenv("WORLD_SIZE", raising=False)

    def test_what_is_not_asked_for_is_as_before(self):
        kept, notes = as_before(self.BEFORE, Wish())
        assert kept == Wish("torch", "cpu", "bfloat16", compiled=True)
        assert notes == ()

    @pytest.mark.parametrize(
        "asked", [{"precision": "float32"}, {"compiled": False}, {"parallel": "shard"}], ids=str
    )
    def test_what_is_asked_for_is_taken_and_the_rest_as_before(self, asked):
        kept, _ = as_before(self.BEFORE, Wish(**asked))
        assert kept == replace(Wish("torch", "cpu", "bfloat16", compiled=True), **asked)

    def test_on_another_engine_everything_is_decided_anew(self):
        assert as_before(self.BEFORE, Wish("numpy")) == (Wish("numpy"), ())
        assert as_before(Execution(workers=3), Wish("torch")) == (Wish("torch"), ())

    def test_a_device_that_is_not_here_is_told_and_everything_decided_anew(self):
        before = replace(self.BEFORE, device="cuda")
        kept, (note,) = as_before(before, Wish())
        assert kept == Wish("torch")
        assert note == "the run was on cuda, which is not here"

    def test_what_is_asked_for_is_asked_for_elsewhere_too(self):
        before = replace(self.BEFORE, device="cuda")
        kept, _ = as_before(before, Wish(precision="float32", compiled=True))
        assert kept == Wish("torch", None, "float32", compiled=True)

    def test_a_device_that_is_asked_for_and_not_here_is_refused(self):
        kept, _ = as_before(self.BEFORE, Wish(device="cuda"))
        assert "finds no device cuda" in refusal(settle, kept, Work())

    def test_another_device_that_is_asked_for_is_taken_in_silence(self):
        before = replace(self.BEFORE, device="cuda")
        assert as_before(before, Wish(device="cpu")) == (Wish("torch", "cpu"), ())

    def test_a_compiler_that_is_not_here_is_told_and_the_rest_as_before(self):
        self.obstacle = "there is no compiler"
        kept, (note,) = as_before(self.BEFORE, Wish())
        assert kept == Wish("torch", "cpu", "bfloat16", compiled=False)
        assert "the run was compiled, which is not possible here: there is no compiler" in note

    def test_a_compiler_that_is_asked_for_and_not_here_is_refused(self, monkeypatch):
        from clearformer.engines.torch import settling

        monkeypatch.setattr(settling, "obstacle", lambda _: "there is no compiler")
        kept, notes = as_before(self.BEFORE, Wish(compiled=True))
        assert notes == ()
        assert "there is no compiler" in refusal(settle, kept, Work())

    def test_whether_to_compile_what_may_be_shared_out_is_decided_anew(self):
        """Kept, it would be refused as if somebody had asked for it."""
        for asked, kept in (
            (Wish(ranks=2, parallel="shard"), None),
            (Wish(ranks=2), None),
            (Wish(ranks=2, parallel="replicate"), True),
            (Wish(ranks=2, parallel="shard", compiled=True), True),
        ):
            wish, notes = as_before(self.BEFORE, asked)
            assert (wish.compiled, notes) == (kept, ()), asked
        kept, _ = as_before(self.BEFORE, Wish(ranks=2, parallel="shard"))
        assert not settle(kept, Work())[0].compiled

    def test_of_several_processes_each_keeps_a_gpu_of_its_own(self, monkeypatch):
        """Which one a run was on when it was alone would be the same for all of them."""
        self.there["cuda"] = 2
        before = replace(self.BEFORE, device="cuda:1")
        assert where_before(before, Wish()) == Wish("torch", "cuda:1")
        monkeypatch.setenv("WORLD_SIZE", "2")
        assert where_before(before, Wish()) == Wish("torch", "cuda")
        kept, notes = as_before(before, Wish(ranks=2, parallel="replicate"))
        assert kept == Wish("torch", "cuda", "bfloat16", True, "replicate", ranks=2)
        assert notes == ()

    def test_where_it_was_is_where_it_goes_on_though_there_is_something_better(self):
        self.there["cuda"] = 1
        assert where_before(self.BEFORE, Wish()) == Wish("torch", "cpu")
        assert where_before(self.BEFORE, Wish("numpy")) == Wish("numpy")
        assert where_before(replace(self.BEFORE, device="mps"), Wish()) == Wish("torch")

    @pytest.mark.parametrize(("ranks", "kept"), [(1, None), (2, "shard"), (4, "shard")])
    def test_several_processes_share_the_model_as_before(self, ranks, kept):
        before = replace(self.BEFORE, parallel="shard", ranks=2, compiled=False, workers=1)
        assert as_before(before, Wish(ranks=ranks))[0].parallel == kept
        before = replace(self.BEFORE, parallel="replicate", ranks=1)
        assert as_before(before, Wish(ranks=ranks))[0].parallel is None
