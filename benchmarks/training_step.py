"""Time of one training step: batch, forward, backward, clipping, AdamW; against PyTorch eager.

    python benchmarks/training_step.py
    python benchmarks/training_step.py --size medium --recipe classic --json

Both sides start from the same weights, learn from random ids, in float32, on the same number of
threads, and take turns. A third side does nothing but the matrix products of such a step, in NumPy:
no engine that leaves its products to BLAS can be quicker. PyTorch is not installed by this script;
without it there is no ratio.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec

import numpy as np
from threadpoolctl import threadpool_limits

from clearformer.engines.choose import learner_of
from clearformer.engines.execution import PRECISIONS, Execution
from clearformer.engines.memory import keep_freed_memory
from clearformer.models.build import build_decoder
from clearformer.models.configuration import RECIPES, SIZES, ModelConfiguration, Recipe
from clearformer.models.decoder import Decoder
from clearformer.models.products import product_shapes, step_flops
from clearformer.text.batches import Batches
from clearformer.training.loop import Loop
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from clearformer.training.options import TrainingOptions
from interleave import Side, Work, blas_threads, measure
from report import Report

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

    @property
    def configuration(self) -> ModelConfiguration:
        """The model."""
        return ModelConfiguration(VOCABULARY, recipe=self.recipe, **SIZES[self.size])

    @property
    def options(self) -> TrainingOptions:
        """How it is trained: by default, with a level learning rate."""
        return TrainingOptions(
            steps=STEPS_OF_RUN, batch=self.batch, warm_up=0.0, decay_from=1.0, workers=self.threads
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
    with threadpool_limits(setting.threads, user_api="blas"), loop.learner.running():
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
    optimizer = AdamW(learner, AdamWSettings(decay=options.weight_decay))
    return Loop(learner, batches, optimizer, options)


def pytorch(setting: Setting, keeps_memory: bool = False) -> Work:
    """The peer."""
    import torch

    import peer_torch

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
    with threadpool_limits(setting.threads, user_api="blas"):
        yield blas_threads()
        while True:
            for left, right, out in made:
                np.matmul(left, right, out=out)
            yield ""


def _arrays(many: int, m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lead = (many,) if many > 1 else ()
    left, right = (np.full((*lead, *shape), 0.5, np.float32) for shape in ((m, k), (k, n)))
    return left, right, np.empty((*lead, m, n), np.float32)


def run(setting: Setting, turns: int, steps: int, keeps_memory: bool, compiles: bool) -> Report:
    """Measures all sides that are there."""
    work = step_flops(setting.configuration, setting.batch) / 1e9
    settings = {**asdict(setting), "turns": turns, "steps_per_turn": steps, "GFLOP": round(work, 2)}
    report = Report("training_step", settings, "milliseconds per step")
    report.look_around()
    sides = {"clearformer": Side(ours, setting=setting)}
    if find_spec("torch"):
        report.peer = "PyTorch eager"
        sides["PyTorch eager"] = Side(pytorch, setting=setting)
        for compiled in (False, True) if compiles else (False,):
            for precision in PRECISIONS:
                name = f"clearformer torch {precision}" + " compiled" * compiled
                sides[name] = Side(
                    ours_on_torch, setting=setting, precision=precision, compiled=compiled
                )
        if keeps_memory:
            sides["PyTorch, memory kept"] = Side(pytorch, setting=setting, keeps_memory=True)
    else:
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    sides["matrix products"] = Side(products, setting=setting)
    report.about = {name: side.about for name, side in sides.items()}
    taken = measure(sides, turns, steps)
    report.take({name: [1e3 * seconds for seconds in taken[name]] for name in taken})
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=WORKLOADS, default="small", help="default: small")
    parser.add_argument("--recipe", choices=RECIPES, default="modern", help="default: modern")
    parser.add_argument(
        "--batch", type=int, help="sequences in a step; default: as the size has it"
    )
    parser.add_argument("--threads", type=int, default=2, help="of every side; default: 2")
    parser.add_argument("--turns", type=int, help="of each side; default: as the size has it")
    parser.add_argument("--steps", type=int, help="in each turn; default: as the size has it")
    parser.add_argument(
        "--keep-memory",
        action="store_true",
        help="measure PyTorch also with the glibc setting that clearformer makes for itself",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="measure clearformer's PyTorch engine also compiled, which takes a minute to start",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    size = WORKLOADS[given.size]
    setting = Setting(given.size, given.recipe, given.batch or size.batch, given.threads)
    report = run(
        setting,
        given.turns or size.turns,
        given.steps or size.steps,
        given.keep_memory,
        given.compile,
    )
    report.show(given.json)


if __name__ == "__main__":
    main()
