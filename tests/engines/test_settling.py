"""Laws of what PyTorch decides: what is asked for is done, else what pays, and it is said.

What the machine measures is replaced, so that each decision can be met.
"""

import time

import pytest

from clearformer.engines.execution import TRYING, Execution, Wish, Work
from clearformer.errors import ConfigurationError

torch = pytest.importorskip("torch", reason="settling is PyTorch's (extra torch)")

from clearformer.engines.torch import compiling, devices, settling  # noqa: E402

SPEED = 1e11
"""Operations per second of one thread of the machine in these tests."""

HOUR = Work(minutes=60)


class Machine:
    """What is here, as far as settling asks."""

    narrow = 1.0
    obstacle: str | None = None

    def __init__(self):
        self.there = {"cpu": 1, "cuda": 0, "mps": 0}
        self.tried = []

    def try_to_compile(self, device):
        self.tried.append(device)
        return self.obstacle


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A processor that is no quicker in bfloat16, and that can compile."""
    found = Machine()
    monkeypatch.setattr(settling, "_measure", lambda _: (found.narrow, SPEED))
    monkeypatch.setattr(settling, "obstacle", found.try_to_compile)
    monkeypatch.setattr(devices, "_there", lambda: found.there)
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    return found


WAITING: list[str] = []
"""What was waited for."""


def settled(wish: Wish | None = None, work: Work | None = None) -> tuple[Execution, str]:
    execution, (note,) = settling.settle(wish or Wish("torch"), work or Work(), WAITING.append)
    assert "\n" not in note
    assert execution.device in note
    return execution, note


@pytest.mark.parametrize(
    ("narrow", "expected"),
    [(0.0, "float32"), (0.3, "float32"), (1.49, "float32"), (1.5, "bfloat16"), (8.0, "bfloat16")],
)
def test_products_are_narrow_where_that_pays(machine, narrow, expected):
    machine.narrow = narrow
    execution, note = settled()
    assert execution.precision == expected
    assert f"products in {expected}" in note
    assert (f"({narrow:.1f} times as quick as float32 here)" in note) == (expected == "bfloat16")


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
@pytest.mark.parametrize("narrow", [0.3, 8.0])
def test_a_precision_that_is_asked_for_is_taken(machine, narrow, precision):
    machine.narrow = narrow
    execution, note = settled(Wish("torch", precision=precision))
    assert execution.precision == precision
    assert ("0.3 times as quick" in note) == (precision == "bfloat16" and narrow < 1)


def test_a_precision_that_the_device_lacks_is_refused(machine):
    machine.narrow = 0.0
    with pytest.raises(ConfigurationError, match="no products in bfloat16"):
        settled(Wish("torch", precision="bfloat16"))


def test_a_long_run_is_compiled_and_a_short_one_is_not(machine):
    short, said = settled(work=Work(minutes=1))
    assert not short.compiled
    assert "not compiled (that takes about 40 s and would save about 6 s)" in said
    assert machine.tried == [], "trying takes seconds"
    long, said = settled(work=HOUR)
    assert long.compiled
    assert "compiled, which takes about 40 s at the start" in said
    assert machine.tried == ["cpu"]


STEP = 1e11
"""Operations of one step: a second on one thread, were it made of nothing but quick products."""


def steps_until_compiled(machine, **wish):
    def compiled(steps):
        return settled(Wish("torch", **wish), Work(operations=steps * STEP))[0].compiled

    fewest, most = 0, 10**6
    assert compiled(most)
    assert not compiled(fewest)
    while most - fewest > 1:
        middle = (fewest + most) // 2
        fewest, most = (fewest, middle) if compiled(middle) else (middle, most)
    return most


def test_how_long_a_run_takes_follows_from_its_operations(machine):
    """A second of quick products is 1 / 0.6 seconds of a step, of which a tenth is saved."""
    assert steps_until_compiled(machine) == pytest.approx(40 / 0.1 * 0.6, abs=1)


def test_more_threads_are_done_sooner(machine):
    assert steps_until_compiled(machine, workers=4) == pytest.approx(
        4 * steps_until_compiled(machine), abs=4
    )


def test_narrow_products_are_done_sooner_but_not_the_rest(machine):
    wide = steps_until_compiled(machine)
    machine.narrow = 2.0
    assert steps_until_compiled(machine) == pytest.approx(wide / (0.3 + 0.7 / 2), abs=2)


def test_each_further_number_of_rows_is_compiled_too():
    """7 rows over 2 threads are 3 and 4."""
    assert "about 70 s" in settled(Wish("torch", workers=2), Work(minutes=60, rows=7))[1]
    assert "about 40 s" in settled(Wish("torch", workers=2), Work(minutes=60, rows=8))[1]
    assert "about 40 s" in settled(Wish("torch", workers=4), Work(minutes=60, rows=1))[1]
    assert "about 70 s" in settled(Wish("torch"), Work(minutes=60, rows=7, parts=2))[1]


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("work", [Work(minutes=0.1), HOUR])
def test_compiling_that_is_asked_for_is_done_and_what_is_not_wanted_is_not(work, compiled):
    execution, note = settled(Wish("torch", compiled=compiled), work)
    assert execution.compiled == compiled
    assert note.endswith("not compiled") == (not compiled)


def test_where_it_is_not_possible_a_long_run_is_not_compiled_and_is_told_why(machine):
    machine.obstacle = "there is no compiler"
    execution, note = settled(work=HOUR)
    assert not execution.compiled
    assert "not compiled: there is no compiler" in note


def test_whoever_waits_for_the_compiler_is_told_before(monkeypatch):
    def compiler(device):
        assert WAITING == [TRYING]

    monkeypatch.setattr(settling, "obstacle", compiler)
    WAITING.clear()
    assert settled(work=HOUR)[0].compiled
    WAITING.clear()
    settled(Wish("torch", compiled=False), HOUR)
    assert not WAITING


@pytest.mark.parametrize("work", [Work(), HOUR])
def test_where_it_is_not_possible_asking_for_it_is_refused(machine, work):
    machine.obstacle = "there is no compiler"
    with pytest.raises(ConfigurationError, match=r"there is no compiler; leave out --compile"):
        settled(Wish("torch", compiled=True), work)


def test_a_model_that_cannot_be_compiled_says_why():
    execution, note = settled(work=Work(minutes=60, obstacle="it is of paper"))
    assert not execution.compiled
    assert "it is of paper" in note
    with pytest.raises(ConfigurationError, match="it is of paper; leave out --compile"):
        settled(Wish("torch", compiled=True), Work(obstacle="it is of paper"))


def test_a_model_that_draws_is_not_compiled():
    """What is drawn while it is traced would be drawn for ever."""
    execution, note = settled(work=Work(minutes=60, draws=True))
    assert not execution.compiled
    assert "dropout" in note
    with pytest.raises(ConfigurationError, match="dropout"):
        settled(Wish("torch", compiled=True), Work(draws=True))


@pytest.mark.parametrize(
    ("there", "best"),
    [({}, "cpu"), ({"mps": 1}, "mps"), ({"cuda": 1}, "cuda"), ({"cuda": 2, "mps": 1}, "cuda")],
)
def test_the_best_device_that_is_there_is_taken(machine, there, best):
    machine.there |= there
    assert settled()[0].device == best
    assert settled(Wish("torch", device="cpu"))[0].device == "cpu"


def test_threads_share_a_batch_on_a_processor_only(machine):
    assert settled(Wish("torch", workers=3))[0].workers == 3
    machine.there["cuda"] = 1
    assert settled(Wish("torch", workers=3))[0].workers == 1
    assert settled(Wish("torch", workers=3, ranks=2, device="cpu"))[0].workers == 1


def test_alone_there_is_nobody_to_share_a_model_with():
    execution, notes = settling.settle(Wish("torch", parallel="shard"), Work(), WAITING.append)
    assert execution.parallel == "replicate"
    assert "processes" not in notes[0]
    assert notes[1:] == (settling.SHARDS_NOTHING,)


def test_a_model_that_is_shared_out_is_not_compiled():
    execution, note = settled(Wish("torch", parallel="shard", ranks=2), HOUR)
    assert (execution.parallel, execution.compiled) == ("shard", False)
    assert "2 processes, sharing the model out" in note
    with pytest.raises(ConfigurationError, match="shared out"):
        settled(Wish("torch", parallel="shard", ranks=2, compiled=True))


def test_the_measurement_is_of_this_machine(monkeypatch):
    monkeypatch.undo()
    before = torch.get_num_threads()
    begun = time.thread_time()
    narrow, speed = settling._measure("cpu")
    assert time.thread_time() - begun < 30, "a start must not wait long"
    assert narrow > 0
    assert 1e7 < speed < 1e14
    assert torch.get_num_threads() == before


def test_a_device_without_narrow_products_is_measured_too(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(settling, "_narrowed", lambda _: None)
    assert settling._measure("cpu")[0] == 0


def test_whether_it_can_compile_is_tried_once(monkeypatch):
    monkeypatch.undo()
    calls = []
    monkeypatch.setattr(compiling.torch, "compile", lambda f: calls.append(f) or f)
    monkeypatch.setattr(compiling.shutil, "which", lambda _: "/usr/bin/g++")
    compiling._tried.cache_clear()
    assert [compiling.obstacle("cpu") for _ in range(3)] == [None] * 3
    assert len(calls) == 1
    compiling._tried.cache_clear()
