"""Time of one training step: batch, forward, backward, clipping, update; against PyTorch eager.

Both sides start from the same weights, learn from random ids, in float32, on the same number of
threads, and take turns. A third side does nothing but the matrix products of such a step, in NumPy:
no engine that leaves its products to BLAS can be quicker. PyTorch is not installed by this script;
without it there is no ratio.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec

import numpy as np

from clearformer.benchmarking.interleave import Side, Work, blas_limited, blas_threads, measure
from clearformer.benchmarking.report import Report
from clearformer.engines.choose import learner_of
from clearformer.engines.execution import PRECISIONS, Execution
from clearformer.engines.memory import keep_freed_memory
from clearformer.models.build import build_decoder
from clearformer.models.configuration import SIZES, ModelConfiguration, Recipe
from clearformer.models.decoder import Decoder
from clearformer.models.products import product_shapes, step_flops
from clearformer.text.batches import Batches
from clearformer.training.loop import Loop
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import optimizer_for
from clearformer.training.options import TrainingOptions

PEER = "PyTorch eager"
VOCABULARY = 65  # that of tiny-shakespeare by characters
TEXT = 100_000  # random ids to draw batches from
STEPS_OF_RUN = 1_000_000  # longer than any benchmark: the learning rate stays level


@dataclass(frozen=True)
class Size:
    """How much work a step is, and how much of it makes a turn of about a second."""

    batch: int
    steps: int
    turns: int


WORKLOADS = {"tiny": Size(12, 100, 9), "small": Size(12, 20, 15), "medium": Size(16, 1, 7)}


@dataclass(frozen=True)
class Setting:
    """What every side is told."""

    size: str
    recipe: Recipe
    batch: int
    threads: int
    optimizer: str = "adamw"

    @property
    def configuration(self) -> ModelConfiguration:
        """The model."""
        return ModelConfiguration(VOCABULARY, recipe=self.recipe, **SIZES[self.size])

    @property
    def options(self) -> TrainingOptions:
        """How it is trained: by default, with a level learning rate."""
        return TrainingOptions(
            steps=STEPS_OF_RUN,
            batch=self.batch,
            optimizer=self.optimizer,
            warm_up=0.0,
            decay_from=1.0,
            workers=self.threads,
        )

    def model(self) -> Decoder:
        """The same weights for every side."""
        return build_decoder(self.configuration, np.random.default_rng(0))

    def ids(self) -> np.ndarray:
        """A text of random tokens."""
        return np.random.default_rng(1).integers(VOCABULARY, size=TEXT, dtype=np.uint8)


def ours(setting: Setting) -> Work:
    """The training loop of clearformer on NumPy."""
    loop = training_loop(setting.model(), setting.ids(), setting.configuration, setting.options)
    with blas_limited(setting.threads), loop.learner.running():
        yield f"{setting.threads} workers, {blas_threads()}"
        while True:
            loop.one_step()
            yield ""


def ours_on_torch(setting: Setting, precision: str, compiled: bool) -> Work:
    """The same loop on PyTorch."""
    import torch

    torch.set_num_threads(setting.threads)
    how = Execution("torch", "cpu", precision, compiled, setting.threads)
    loop = training_loop(
        setting.model(), setting.ids(), setting.configuration, setting.options, how
    )
    with loop.learner.running():
        yield f"{setting.threads} workers, {precision}" + ", compiled" * compiled
        while True:
            loop.one_step()
            yield ""


def training_loop(
    model: Decoder,
    ids: np.ndarray,
    configuration: ModelConfiguration,
    options: TrainingOptions,
    execution: Execution | None = None,
) -> Loop:
    """What `cf.train` runs, without a run folder; on NumPy unless told otherwise."""
    execution = execution or Execution(workers=options.workers or 1)
    learner = learner_of(execution, model, next_token_loss)
    batches = Batches(ids, configuration.context, options.batch, np.random.default_rng(2))
    return Loop(learner, batches, optimizer_for(learner, options), options)


def pytorch(setting: Setting, keeps_memory: bool = False) -> Work:
    """The peer."""
    import torch

    from clearformer.benchmarking import peer_torch

    torch.set_num_threads(setting.threads)
    kept = keeps_memory and keep_freed_memory()
    model = peer_torch.Decoder(setting.configuration)
    model.load_from(setting.model())
    options, context = setting.options, setting.configuration.context
    optimizer = peer_torch.adamw(model, options.learning_rate)
    ids = torch.from_numpy(setting.ids().astype(np.int64))
    reach = torch.arange(context + 1)
    yield f"{torch.get_num_threads()} threads" + ", freed memory kept" * kept
    while True:
        block = ids[torch.randint(len(ids) - context, (setting.batch, 1)) + reach]
        peer_torch.train_step(model, optimizer, block[:, :-1], block[:, 1:], options.clip)
        yield ""


def products(setting: Setting) -> Work:
    """The matrix products of a step and nothing else, each into an array made once."""
    made = [_arrays(*shape) for shape in product_shapes(setting.configuration, setting.batch)]
    with blas_limited(setting.threads):
        yield blas_threads()
        while True:
            for left, right, out in made:
                np.matmul(left, right, out=out)
            yield ""


def _arrays(many: int, m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lead = (many,) if many > 1 else ()
    left, right = (np.full((*lead, *shape), 0.5, np.float32) for shape in ((m, k), (k, n)))
    return left, right, np.empty((*lead, m, n), np.float32)


def against_peer(
    setting: Setting, turns: int, steps: int, progress: Callable[[float], None] | None = None
) -> Report:
    """Our default engine against the peer, where it is installed."""
    report = _report(setting, turns, steps)
    return _filled(report, _first_two(setting), progress)


def run(
    setting: Setting, turns: int, steps: int, keeps_memory: bool, compiles: bool, muon: bool
) -> Report:
    """Measures all sides that are there."""
    report = _report(setting, turns, steps)
    sides = _first_two(setting)
    with_muon = replace(setting, optimizer="muon")
    if muon:
        sides["clearformer, Muon"] = Side(ours, setting=with_muon)
    if PEER in sides:
        for compiled in (False, True) if compiles else (False,):
            for precision in PRECISIONS:
                name = f"clearformer torch {precision}" + " compiled" * compiled
                how = {"precision": precision, "compiled": compiled}
                sides[name] = Side(ours_on_torch, setting=setting, **how)
                if muon:
                    sides[f"{name}, Muon"] = Side(ours_on_torch, setting=with_muon, **how)
        if keeps_memory:
            sides["PyTorch, memory kept"] = Side(pytorch, setting=setting, keeps_memory=True)
    sides["matrix products"] = Side(products, setting=setting)
    return _filled(report, sides)


def _report(setting: Setting, turns: int, steps: int) -> Report:
    work = step_flops(setting.configuration, setting.batch) / 1e9
    settings = {**asdict(setting), "turns": turns, "steps_per_turn": steps, "GFLOP": round(work, 2)}
    report = Report("training_step", settings, "milliseconds per step")
    report.look_around()
    return report


def _first_two(setting: Setting) -> dict[str, Side]:
    sides = {"clearformer": Side(ours, setting=setting)}
    if find_spec("torch"):
        sides[PEER] = Side(pytorch, setting=setting)
    return sides


def _filled(
    report: Report, sides: dict[str, Side], progress: Callable[[float], None] | None = None
) -> Report:
    if PEER in sides:
        report.peer = PEER
    else:
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    report.about = {name: side.about for name, side in sides.items()}
    settings = report.settings
    taken = measure(sides, settings["turns"], settings["steps_per_turn"], progress)
    report.take({name: [1e3 * seconds for seconds in taken[name]] for name in taken})
    return report
