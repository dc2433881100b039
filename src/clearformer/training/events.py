"""What a training run tells while it runs; a reporter hears it."""

from dataclasses import dataclass
from pathlib import Path

from clearformer.models.kind import Configuration
from clearformer.training.evaluation import Evaluation


@dataclass(frozen=True)
class Start:
    """A run is about to make its first step, or to go on after `step`."""

    folder: Path
    model: Configuration
    tokenizer: str
    """Its kind."""
    tokens: int
    """Tokens to learn from."""
    validation_tokens: int
    batch: int
    where: str
    """Such as NumPy on 2 processors, or PyTorch on cuda:1."""
    step: int
    steps: int | None
    """How many there will be; None if the time decides."""
    minutes: float | None
    progress: float = 0.0
    """Share of the run that is done, 0 … 1."""


@dataclass(frozen=True)
class Step:
    """One update was made."""

    step: int
    """Updates made so far."""
    progress: float
    """Share of the run that is done, 0 … 1."""
    loss: float
    """Mean loss of this batch in nats per token, before the update."""
    learning_rate: float
    gradient_norm: float
    """Norm over all parameters, before clipping."""
    clipped_norm: float
    """The same after it: what the update was made with."""
    tokens_seen: int
    tokens_per_second: float
    """Over the last seconds of this session; see `Pace`."""
    seconds: float
    """Training time so far, of all sessions."""
    seconds_left: float
    """At that speed, without evaluations and saves; where minutes decide, by the clock."""


class Reporter:
    """Hears of a run. This one keeps silent; the command line shows a progress bar."""

    def started(self, start: Start) -> None:
        """Everything is ready; the first step comes next."""

    def note(self, text: str) -> None:
        """Something a person should know, in one sentence."""

    def waiting(self, doing: str) -> None:
        """Something begins that can take seconds, such as "loading PyTorch"."""

    def preparing(self, characters: int) -> None:
        """A text of so many characters was read and is now cut into tokens."""

    def evaluating(self, step: int) -> None:
        """The validation loss is about to be measured."""

    def step(self, step: Step) -> None:
        """After every update."""

    def evaluated(self, step: int, evaluation: Evaluation) -> None:
        """The validation loss was measured."""

    def sampled(self, step: int, text: str) -> None:
        """The model wrote something."""

    def saved(self, step: int) -> None:
        """The run is safe up to this step."""
