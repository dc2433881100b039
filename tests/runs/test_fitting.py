"""Whether a model fits is asked of where it will be trained, for what each process has to hold."""

from dataclasses import dataclass, replace

import pytest

from clearformer.engines.execution import Wish
from clearformer.errors import ConfigurationError
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import KINDS
from clearformer.runs import fitting as fitting_module
from clearformer.runs.fitting import fitting, pytorch_bytes
from clearformer.training.options import TrainingOptions

LARGE = ModelConfiguration(50_257, layers=12, heads=12, embed=768, context=1024, tied=True)
GIB = 2**30


@dataclass
class Ranks:
    ranks: int = 1


@pytest.fixture
def gpu(monkeypatch):
    """A GPU of so many bytes."""

    def of(total):
        monkeypatch.setattr(fitting_module, "memory_of", lambda _: total)

    return of


def needed(ranks=1, **options):
    wish = Wish("torch", "cuda", "bfloat16")
    return pytorch_bytes(LARGE, wish, TrainingOptions(**{"batch": 512, **options}), ranks)


def test_more_ranks_and_more_parts_need_less(gpu):
    gpu(80 * GIB)
    assert needed() > needed(accumulation=8) > needed(ranks=8, accumulation=8) > 0
    assert needed(ranks=64, accumulation=8) < 16 * GIB


def test_of_the_ways_that_are_left_open_the_smaller_counts(gpu):
    gpu(80 * GIB)
    options = TrainingOptions(batch=512)
    ways = [
        pytorch_bytes(LARGE, Wish("torch", "cuda", "float32", parallel=way), options, 8)
        for way in ("replicate", "shard", None)
    ]
    assert ways[2] == min(ways[:2])
    assert ways[1] < ways[0]


def test_of_the_precisions_that_are_left_open_the_smaller_counts(gpu):
    """A run that would be in bfloat16 anyway must not be refused for what float32 needs."""
    gpu(80 * GIB)
    wide, narrow, either = (
        pytorch_bytes(LARGE, Wish("torch", "cuda", precision), TrainingOptions(batch=64), 1)
        for precision in ("float32", "bfloat16", None)
    )
    assert either == narrow < wide


def test_what_does_not_fit_on_the_gpu_is_refused_though_the_machine_could_hold_it(gpu):
    gpu(8 * GIB)
    check = fitting(Wish("torch", "cuda"), TrainingOptions(batch=64), Ranks())
    with pytest.raises(ConfigurationError, match=r"8\.0 GiB.*batch=64.*processes=1"):
        check(LARGE)
    fitting(Wish("torch", "cuda"), TrainingOptions(batch=64, accumulation=64), Ranks())(LARGE)


def test_numpy_is_asked_for_what_numpy_needs(monkeypatch):
    monkeypatch.setattr("clearformer.training.memory.machine_bytes", lambda: 8 * GIB)
    with pytest.raises(ConfigurationError, match="workers="):
        fitting(Wish(), TrainingOptions(batch=64), Ranks())(LARGE)


def test_processes_on_one_machine_share_its_memory(monkeypatch):
    pytest.importorskip("torch", reason="asks PyTorch for its devices (extra torch)")
    monkeypatch.setattr(fitting_module, "machine_bytes", lambda: 64 * GIB)
    small = ModelConfiguration(65, layers=4, heads=4, embed=128, context=64)
    check = fitting(Wish("torch", "cpu"), TrainingOptions(batch=12), Ranks(4))
    check(small)
    monkeypatch.setattr(fitting_module, "processes_on_machine", lambda: 2**14)
    with pytest.raises(ConfigurationError, match=r"has 4\.0 MiB"):
        check(small)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_is_asked_for_by_ranks_parts_and_device(gpu, name):
    gpu(80 * GIB)
    model = KINDS[name].configuration(5000, layers=4, embed=256, context=256)
    wish = Wish("torch", "cuda", "float32")

    def needed(ranks, wish=wish, **options):
        return pytorch_bytes(model, wish, TrainingOptions(**{"batch": 256, **options}), ranks)

    shared = replace(wish, parallel="shard")
    assert needed(1) > needed(1, accumulation=8)
    assert needed(1) > needed(8) > 0
    assert needed(8, shared) < needed(8, replace(wish, parallel="replicate"))
    gpu(None)
    assert needed(1, workers=4) > needed(1, workers=1)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_kind_counts_grows_with_it(name):
    made = KINDS[name].configuration(100, layers=2, embed=64, context=32).completed
    for larger in ({"layers": 3}, {"context": 64}, {"vocabulary": 200}):
        more = replace(made, **larger)
        assert more.operations(2) > made.operations(2)
        assert more.kept_numbers(2) > made.kept_numbers(2)
        assert more.kept_on_torch(2, "bfloat16", True) > made.kept_on_torch(2, "bfloat16", True)
    assert made.in_layer == replace(made, layers=3).parameter_count - made.parameter_count
    assert 0 < made.in_matrices <= made.parameter_count
