"""What a tenth of the time is worth: our loss after it, beside that of a textbook model.

The peer is the well-known small reference for characters: a classic decoder of 4 layers × 128 with
windows of 64 in plain PyTorch, 2,000 steps of 12 × 64 tokens, AdamW with β₂ = 0.99, a learning rate
that rises over 100 steps to 0.001 and falls along a cosine to a tenth of it. What time its steps
take is measured; then `cf.train` is given a tenth of that, with its defaults. Both are judged by
the loss over every position of the last tenth of the text. On tiny-shakespeare the reference is
known for 1.88 nats; as it is trained here, it reaches 1.79.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from clearformer.benchmarking.interleave import Side, Work
from clearformer.benchmarking.report import Report
from clearformer.models.build import build_decoder
from clearformer.models.configuration import SIZES, ModelConfiguration
from clearformer.runs.train import train
from clearformer.text.batches import windows
from clearformer.text.corpus import Corpus
from clearformer.text.split import split_text
from clearformer.text.tokenizer import build_tokenizer
from clearformer.training.optimizers import AdamWSettings

STEPS, BATCH, WARM_UP = 2_000, 12, 100
RATE, SMALLEST_RATE = 1e-3, 1e-4
SHARE = 0.1
"""Of the reference's time that we have."""

AT_ONCE = 50
"""Steps of the reference between two looks at the clock."""

ROWS = 32
"""Windows that are judged at a time."""


@dataclass(frozen=True)
class Setting:
    """What both sides are told."""

    text: Corpus
    threads: int
    steps: int = STEPS


def rate_after(step: int, steps: int) -> float:
    """The reference's learning rate in the update after `step` others."""
    warm_up = min(WARM_UP, steps // 4)
    if step < warm_up:
        return RATE * (step + 1) / (warm_up + 1)
    done = (step - warm_up) / max(steps - warm_up, 1)
    return SMALLEST_RATE + (RATE - SMALLEST_RATE) * (1 + math.cos(math.pi * done)) / 2


def reference(setting: Setting) -> Work:
    """Makes a step each time; once all are made, says its loss on the validation part."""
    import torch

    from clearformer.benchmarking import peer_torch

    torch.set_num_threads(setting.threads)
    torch.manual_seed(0)
    tokenizer = build_tokenizer("characters", setting.text.text)
    learned, judged = map(tokenizer.encode, split_text(setting.text.text))
    made = ModelConfiguration(tokenizer.vocabulary_size, recipe="classic", **SIZES["small"])
    model = peer_torch.Decoder(made)
    model.load_from(build_decoder(made, np.random.default_rng(0)))
    optimizer = peer_torch.adamw(model, RATE, AdamWSettings(beta_2=0.99))
    ids, reach = torch.from_numpy(learned.astype(np.int64)), torch.arange(made.context + 1)
    yield f"{torch.get_num_threads()} threads"
    for step in range(setting.steps):
        for group in optimizer.param_groups:
            group["lr"] = rate_after(step, setting.steps)
        block = ids[torch.randint(len(ids) - made.context, (BATCH, 1)) + reach]
        peer_torch.train_step(model, optimizer, block[:, :-1], block[:, 1:], clip=1.0)
        yield ""
    with torch.no_grad():
        while True:
            yield str(_loss(torch, peer_torch, model, judged, made.context))


def _loss(torch: Any, peer: Any, model: Any, judged: Any, context: int) -> float:
    total, tokens = 0.0, 0
    for inputs, targets, counted in windows(judged, context, ROWS):
        pair = (torch.from_numpy(part.astype(np.int64)) for part in (inputs, targets))
        total += float(peer.next_token_loss(model, *pair)) * counted
        tokens += counted
    return total / tokens


def ours(setting: Setting, seconds: float, folder: Path) -> Work:
    """A whole run of `cf.train` in so many seconds; says its loss and the seconds of its steps."""
    yield f"{setting.threads} workers"
    number = 0
    while True:
        out = folder / str(number)
        made = train(setting.text, out=out, minutes=seconds / 60, workers=setting.threads)
        found = made.summary or {}
        yield f"{found['validation_loss']} {found['seconds']} {found['parameters']}"
        number += 1


def run(setting: Setting, progress: Callable[[float], None] | None = None) -> Report:
    """The reference first, then ours in a tenth of its time."""
    told = progress or (lambda share: None)
    report = Report("time_to_quality", {"steps_of_reference": setting.steps}, "nats")
    if not find_spec("torch"):
        report.note("PyTorch is not installed, so nothing is known of the reference")
        return report
    loss, seconds = _reference_trained(setting, lambda share: told(0.9 * share))
    told(0.9)
    with TemporaryDirectory() as folder:
        side = Side(ours, setting=setting, seconds=SHARE * seconds, folder=Path(folder))
        try:
            side.take_turn(1)
            reached, taken, parameters = map(float, side.said.split())
        finally:
            side.close()
    report.take({"clearformer": [reached], "PyTorch reference": [loss]})
    report.about = {
        "clearformer": f"{taken:.1f} s of training, {parameters:,.0f} parameters",
        "PyTorch reference": f"{seconds:.1f} s of training, {setting.steps:,} steps",
    }
    report.extra = {"seconds": {"clearformer": taken, "PyTorch reference": seconds}}
    return report


def _reference_trained(setting: Setting, told: Callable[[float], None]) -> tuple[float, float]:
    """Its loss, and the seconds of its steps."""
    side, seconds = Side(reference, setting=setting), 0.0
    try:
        for done in range(0, setting.steps, AT_ONCE):
            told(done / setting.steps)
            many = min(AT_ONCE, setting.steps - done)
            seconds += many * side.take_turn(many)
        side.take_turn(1)
        return float(side.said), seconds
    finally:
        side.close()
