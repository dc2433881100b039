"""Laws of finding a device: what is named and there, or one line that says what is."""

import numpy as np
import pytest

from clearformer.engines.dispatch import array_of
from clearformer.errors import ConfigurationError
from models.decoders import VARIANTS, random_decoder

torch = pytest.importorskip("torch", reason="devices are PyTorch's (extra torch)")

from clearformer.engines.torch import devices  # noqa: E402


@pytest.fixture(autouse=True)
def there(monkeypatch):
    """How many there are of each kind; two GPUs to begin with."""
    found = {"cpu": 1, "cuda": 2, "mps": 0}
    monkeypatch.setattr(devices, "_there", lambda: found)
    for name in ("WORLD_SIZE", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)
    return found


def test_what_is_named_is_taken():
    for name in ("cpu", "cuda", "cuda:0", "cuda:1"):
        assert devices.device_of(name) == name
        assert devices.is_here(name)


@pytest.mark.parametrize("name", ["mps", "cuda:2"])
def test_what_is_not_there_is_refused_with_what_is(name):
    with pytest.raises(ConfigurationError) as caught:
        devices.device_of(name)
    assert f"finds no device {name} here; there is: cpu, cuda:0 to cuda:1" in str(caught.value)
    assert not devices.is_here(name)


@pytest.mark.parametrize("name", ["tpu", "", "CPU", "cuda:", "cuda:x", "cuda:-1", "cuda:1:1"])
def test_what_nobody_knows_is_refused_with_what_is_known(name):
    with pytest.raises(ConfigurationError, match="must be one of cpu, cuda, cuda:N, mps"):
        devices.device_of(name)


def test_the_best_is_taken_where_none_is_named(there):
    assert devices.device_of(None) == "cuda"
    there["cuda"] = 0
    assert devices.device_of(None) == "cpu"
    there["mps"] = 1
    assert devices.device_of(None) == "mps"


def test_each_of_several_processes_has_a_gpu_of_its_own(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert devices.device_of(None) == devices.device_of("cuda") == "cuda:1"
    assert devices.device_of("cpu") == "cpu"


def test_a_process_started_alone_takes_the_first(monkeypatch):
    monkeypatch.setenv("LOCAL_RANK", "1")  # left behind by something else
    assert devices.device_of(None) == "cuda"


def test_a_model_that_is_moved_has_the_same_numbers_of_its_own(monkeypatch):
    monkeypatch.undo()
    model = random_decoder(VARIANTS["the modern recipe"], np.float32)
    moved = devices.moved(model, "cpu")
    for path, tensor in moved.parameters().items():
        assert (array_of(tensor) == model.parameters()[path]).all()
        assert not tensor.requires_grad
        tensor.add_(1)
    assert (array_of(moved.embedding.table) != model.embedding.table).all()


def test_what_this_machine_has_can_be_used(monkeypatch):
    monkeypatch.undo()
    for name, count in devices._there().items():
        for number in range(count):
            torch.ones(1, device=f"{name}:{number}" if count > 1 else name)
