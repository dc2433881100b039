"""The count of activations, against what PyTorch really saves for the way back."""

import json
from types import ModuleType

import numpy as np
import pytest

from clearformer import ops
from clearformer.models.activations import kept_by_torch
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import KINDS, build
from clearformer.training.gpu_memory import gpu_memory
from clearformer.training.next_token import next_token_loss
from models.decoders import VARIANTS

ROWS = 3

LEAST, MOST = 0.98, 1.1
"""Of what is counted to what is there. Not counted are one table of turns for all layers and, at
the peak, what an operation needs while it runs; an engine that saves a little less is no mistake.
"""

LEAST_AT_PEAK = 0.94

SMALL = {"vocabulary": 97, "layers": 2, "heads": 4, "embed": 32, "context": 16}

both_precisions = pytest.mark.parametrize("precision", ["float32", "bfloat16"])


@pytest.fixture
def torch() -> ModuleType:
    module = pytest.importorskip("torch", reason="PyTorch does the saving (extra torch)")
    module.set_num_threads(1)
    return module


def learner_of(configuration: ModelConfiguration, precision: str):
    from clearformer.engines.torch.learner import Learner

    model = build_decoder(configuration, np.random.default_rng(0))
    return Learner(model, next_token_loss, 1, precision=precision)


def batch_of(configuration: ModelConfiguration) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(configuration.vocabulary, size=(2, ROWS, configuration.context))


def drawn(worker: int) -> np.random.Generator:
    return np.random.default_rng(worker)


def saved_bytes(torch, configuration: ModelConfiguration, precision: str) -> int:
    """All memory that autograd holds when the loss is there, but for that of parameters."""
    narrow = getattr(torch, precision)
    model = build_decoder(configuration, np.random.default_rng(0)).with_parameters(
        lambda _, array: torch.tensor(
            array, dtype=narrow if array.ndim > 1 else None
        ).requires_grad_()
    )
    return kept_for_the_way_back(
        torch, model, lambda: next_token_loss(model, *batch_of(configuration), drawn(0))
    )


def kept_for_the_way_back(torch, model, run) -> int:
    """Bytes that autograd holds after a run, but for those of parameters."""
    saved = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        saved[storage.data_ptr()] = (storage.nbytes(), tensor)  # held, so that no place comes twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    for parameter in model.parameters().values():
        saved.pop(parameter.untyped_storage().data_ptr(), None)
    return sum(size for size, _ in saved.values())


@both_precisions
@pytest.mark.parametrize("dropout", [0.0, 0.1])
@pytest.mark.parametrize("variant", VARIANTS)
def test_it_is_what_autograd_saves_on_a_processor(torch, variant, dropout, precision):
    c = VARIANTS[variant]
    sizes = {**SMALL, "hidden": 24, "dropout": dropout}
    configuration = ModelConfiguration(**{**c.to_json(), **sizes})
    counted = kept_by_torch(configuration, precision, on_gpu=False).bytes(configuration, ROWS)
    assert LEAST <= counted / saved_bytes(torch, configuration, precision) <= MOST


def peak_bytes(torch, tmp_path, configuration: ModelConfiguration, precision: str) -> int:
    """The most that a step holds at once, beyond what the learner holds between steps."""
    from torch.profiler import ProfilerActivity, profile

    learner, batch = learner_of(configuration, precision), batch_of(configuration)
    learner.loss_and_gradients(*batch, rngs=drawn)  # what is made once is made now
    learner.gather()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        learner.loss_and_gradients(*batch, rngs=drawn)
    profiled.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text("utf-8"))["traceEvents"]
    changes = [
        (event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]"
    ]
    return int(np.cumsum([change for _, change in sorted(changes, key=lambda c: c[0])]).max())


@both_precisions
@pytest.mark.parametrize("recipe", ["modern", "classic"])
@pytest.mark.parametrize("vocabulary", [97, 2000])
def test_with_the_logits_it_is_the_peak_of_a_step(torch, tmp_path, vocabulary, recipe, precision):
    sizes = {**SMALL, "layers": 4, "context": 64, "vocabulary": vocabulary, "recipe": recipe}
    configuration = ModelConfiguration(**sizes)
    counted = gpu_memory(configuration, ROWS, precision, on_gpu=False).activations
    peak = peak_bytes(torch, tmp_path, configuration, precision)
    assert LEAST_AT_PEAK <= counted / peak <= MOST


def test_in_bfloat16_a_gpu_keeps_less_than_a_processor():
    for configuration in VARIANTS.values():
        here, there = (
            kept_by_torch(configuration, "bfloat16", on_gpu).bytes(configuration, ROWS)
            for on_gpu in (False, True)
        )
        assert there <= here


@pytest.mark.parametrize("dials", [{}, {"dropout": 0.1, "hidden": 64}], ids=str)
@pytest.mark.parametrize("name", [name for name in KINDS if not KINDS[name].fills])
@both_precisions
def test_no_kind_keeps_more_than_its_configuration_says(torch, name, dials, precision):
    configuration = KINDS[name].configuration(97, layers=2, embed=32, context=16, **dials)
    narrow = getattr(torch, precision)
    model = build(configuration, np.random.default_rng(0)).with_parameters(
        lambda _, array: torch.tensor(
            array, dtype=narrow if array.ndim > 1 else None
        ).requires_grad_()
    )
    ids = np.random.default_rng(1).integers(97, size=(ROWS, 16))
    given = (ids, ids) if KINDS[name].reads == "pairs" else (ids,)
    kept = kept_for_the_way_back(torch, model, lambda: ops.cross_entropy(model(*given), ids))
    counted = configuration.kept_on_torch(ROWS, precision, on_gpu=False)
    assert 0.15 * counted < kept <= counted
