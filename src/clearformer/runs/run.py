"""A run: a trained model with its tokenizer, to generate from, to evaluate and to look into."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from clearformer.engines.choose import moved, require_possible
from clearformer.engines.execution import Wish
from clearformer.engines.threads import spread_of, threads_for_generation
from clearformer.errors import ConfigurationError, TextError
from clearformer.generation.generate import generate
from clearformer.generation.plan import is_compiled
from clearformer.generation.sampling import Sampling
from clearformer.models.kind import Configuration
from clearformer.models.kinds import KINDS
from clearformer.runs.belonging import model_configuration, model_from, start_token
from clearformer.runs.material import Reads, material_of, material_of_run
from clearformer.runs.pair_material import PairMaterial
from clearformer.runs.sources import require_use
from clearformer.text.stream import TextStream
from clearformer.text.tokenizer import Tokenizer, load_tokenizer
from clearformer.text.with_mask import WithMask
from clearformer.training.checkpoint import latest_model
from clearformer.training.evaluation import Evaluation
from clearformer.training.judged import Judged
from clearformer.training.judged_pairs import JudgedPairs
from clearformer.training.objectives import objective_of
from clearformer.training.pair_preparation import require_lengths
from clearformer.training.run_folder import RunFolder

if TYPE_CHECKING:
    from clearformer.explanation.trace import Trace
    from clearformer.runs.filling import Blank

MOST_TOKENS = 10_000_000
"""One call generates no more; far beyond any use, and small enough to refuse a slip."""


LONGEST_CHARACTER = 4
"""Bytes of UTF-8, so of tokens that a character can be spread over."""


@dataclass(frozen=True)
class Prompt:
    """A prompt as the model will see it."""

    ids: tuple[int, ...]
    notes: tuple[str, ...]
    """What was left out or will slide out of view, one sentence each."""


@dataclass(frozen=True, eq=False)
class Run:
    """A trained model and everything that belongs to it."""

    model: Any
    tokenizer: Tokenizer
    configuration: Configuration
    path: Path
    """The run folder."""
    step: int
    """Updates the model has seen."""
    start_token: int
    """What generation begins with when there is no prompt."""
    engine: str = "numpy"
    """Which engine's tensors the model is made of."""
    summary: dict[str, Any] | None = None
    """After `train`: what the run reached, under the names of `train --json`."""

    @property
    def reads(self) -> Reads:
        """What its model learns from: a text, or pairs."""
        return KINDS[self.configuration.kind].reads

    def generate(
        self,
        prompt: str = "",
        tokens: int = 200,
        *,
        temperature: float = 0.8,
        top_k: int | None = None,
        top_p: float | None = None,
        seed: int | None = None,
        cached: bool = True,
    ) -> str:
        """The text that follows `prompt`, `tokens` tokens long.

        From an encoder: `prompt` with a token in the place of each `<mask>`; see `fill`.

        Raises:
            ConfigurationError: if a number is out of its range.
            TextError: if there is nothing for an encoder to fill in.
        """
        sampling = Sampling(temperature, top_k, top_p)
        if self.fills:
            return self._filled(prompt, sampling, seed)
        prepared = self.prompt(prompt, tokens)
        for note in prepared.notes:
            warnings.warn(note, stacklevel=2)
        with threads_for_generation(self.configuration.parameter_count):
            return "".join(self.stream(prepared, tokens, sampling, seed=seed, cached=cached))

    def fill(self, text: str, most: int = 5) -> "tuple[Blank, ...]":
        r"""What could stand at each `<mask>` in `text`; for an encoder.

        A mask stands for one token: with a tokenizer of characters, for one character.
        `\<mask>` is the text `<mask>` itself.

        Args:
            text: with masks.
            most: so many candidates for each.

        Raises:
            ConfigurationError: if the model fills in nothing, or `most` cannot be.
            TextError: if there is no mask in the text.
        """
        from clearformer.runs.filling import candidates

        return candidates(self, text, most)

    @property
    def fills(self) -> bool:
        """Whether it fills in blanks, instead of writing on."""
        return KINDS[self.configuration.kind].fills

    @property
    def reader(self) -> Tokenizer:
        """How the model reads what a person writes: an encoder knows `<mask>` besides."""
        return WithMask(self.tokenizer) if self.fills else self.tokenizer

    def _filled(self, text: str, sampling: Sampling, seed: int | None) -> str:
        from clearformer.runs.filling import filled

        found = filled(self, text, sampling, seed)
        for note in found.notes:
            warnings.warn(note, stacklevel=3)
        return found.text

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r}, step {self.step:,}, {self.model!r})"

    def unknown_notes(self, *texts: str) -> tuple[str, ...]:
        """What of `texts` the model cannot read, in one sentence; empty if it can read all."""
        unknown: Counter[str] = Counter()
        for text in texts:
            unknown.update(self.reader.unknown(text))
        if not unknown:
            return ()
        shown = ", ".join(
            f"{piece!r}" + (f" ({count} times)" if count > 1 else "")
            for piece, count in list(unknown.items())[:8]
        )
        more = f" and {len(unknown) - 8} more" if len(unknown) > 8 else ""
        left_out = self.tokenizer.kind == "characters"
        fate = "the model does not see it" if left_out else "it is read as unknown"
        return (f"not in this model's vocabulary, so {fate}: {shown}{more}",)

    def prompt(self, text: str, tokens: int = 0) -> Prompt:
        """The ids of a prompt, and what a person should know before `tokens` more follow.

        Raises:
            ConfigurationError: if it is no text, or a number is out of its range; or the model
                writes targets of sources, and does not write on.
        """
        if not isinstance(text, str):
            raise ConfigurationError(f"a prompt is a string; got {type(text).__name__}")
        _require_number_of(tokens)
        if self.reads == "pairs":
            raise ConfigurationError(
                f"{self.path} is a model of kind {self.configuration.kind}, which writes the "
                "target of a source and does not write on; use clearformer translate"
            )
        notes = list(self.unknown_notes(text))
        ids = tuple(int(i) for i in self.reader.encode(text)) or (self.start_token,)
        context = self.configuration.sees
        if context is None:
            return Prompt(ids, tuple(notes))
        if len(ids) > context:
            notes.append(
                f"the prompt has {len(ids)} tokens and this model sees {context} at once: "
                "it reads the last of them"
            )
        elif len(ids) + tokens > context + 1:
            notes.append(
                f"this model sees {context} tokens at once: the window slides along as it writes"
            )
        return Prompt(ids, tuple(notes))

    def stream(
        self,
        prompt: Prompt,
        tokens: int,
        sampling: Sampling,
        *,
        seed: int | None = None,
        cached: bool = True,
    ) -> Iterator[str]:
        """Pieces of text as they become certain; none holds half a character.

        A kernel that must be compiled first is compiled in this call.

        Raises:
            ConfigurationError: at once, if a number is out of its range.
        """
        _require_number_of(tokens)
        if seed is not None and not (isinstance(seed, Integral) and seed >= 0):
            raise ConfigurationError(f"seed must be a whole number of at least 0; got {seed}")
        ids = generate(
            self.model,
            prompt.ids,
            tokens,
            context=self.configuration.sees,
            sampling=sampling,
            rng=np.random.default_rng(seed),
            cached=cached,
            never=self.tokenizer.control_ids,
        )
        return self._pieces(prompt, ids)

    def is_compiled(self, tokens: int) -> bool:
        """Whether `stream` makes so many tokens with a compiled kernel (extra `fast`).

        Raises:
            ConfigurationError: if CLEARFORMER_COMPILED has an unknown value, or wants what is not
                installed.
        """
        return is_compiled(self.model, tokens)

    def _pieces(self, prompt: Prompt, ids: Iterator[int]) -> Iterator[str]:
        text = TextStream(self.tokenizer)
        for id in prompt.ids[
            -LONGEST_CHARACTER:
        ]:  # what joins the prompt to the first new token belongs to the text
            text.feed(id)
        for id in ids:
            yield text.feed(id)
        yield text.finish()

    def evaluate(
        self,
        text: str | Path | Sequence[str | Path] | None = None,
        *,
        context: int | None = None,
        stride: int | None = None,
        encoding: str = "utf-8",
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation:
        """The loss over every position of `text`, or of the validation part of its own text.

        Args:
            text: a text, a file or files, or a folder that `clearformer prepare` has made, of which
                the last tenth is judged; None for the validation part of the run's own text.
            context: tokens seen at once, at most what the model was built for. A recurrent model
                remembers all that it has read unless this is given: then it forgets after so many.
            stride: tokens by which the window moves on, at most the context; all of it unless
                given. With half the context each token is predicted from at least half a window,
                as it is in generating.
            encoding: of the files.
            progress: hears the share that is done, 0 … 1.

        Raises:
            TextError: if the text cannot be read or has fewer than two known tokens; or a pair is
                longer than the model bears.
            RunError: if the run's own text is gone or has changed.
            ConfigurationError: if context or stride are out of their range, or an encoding is
                given without a text.
        """
        self._check_context(context, stride)
        require_use(encoding, text)
        if text is None:
            folder = RunFolder.open(self.path)
            found = material_of_run(folder, self.reads).validation(self.tokenizer)
        else:
            material = material_of(text, encoding, self.reads)
            for note in material.notes:
                warnings.warn(note, stacklevel=2)
            found = material.to_be_judged(self.tokenizer)
            if isinstance(found, JudgedPairs) and isinstance(material, PairMaterial):
                require_lengths(found.pairs, self.configuration.window, material.place)
        return self._evaluate(found, context, stride, progress)

    def _check_context(self, context: Any, stride: Any) -> None:
        whole = isinstance(stride, Integral)
        if stride is not None and not (whole and stride >= 1):
            raise ConfigurationError(f"stride must be a whole number of at least 1; got {stride}")
        most = self.configuration.sees
        if context is not None and self.reads == "pairs":
            raise ConfigurationError(
                f"a model on pairs reads each source whole; leave out context={context}"
            )
        whole = isinstance(context, Integral)
        if context is None or (whole and context >= 1 and (most is None or context <= most)):
            return
        limit = (
            "at least 1"
            if most is None
            else f"between 1 and the {most} tokens that this model sees"
        )
        raise ConfigurationError(f"context must be {limit}; got {context}")

    def _evaluate(
        self,
        found: Judged,
        context: int | None,
        stride: int | None,
        progress: Callable[[float], None] | None,
    ) -> Evaluation:
        if not found.is_enough and self.reads == "pairs":
            raise TextError("there are no pairs to measure a loss on; give at least one")
        if not found.is_enough:
            raise TextError(
                f"{len(found.ids)} tokens of the text are in this model's vocabulary; "
                "at least 2 are needed to measure a loss"
            )
        if found.unknown:
            left_out = self.tokenizer.kind == "characters"
            tokens = len(found.ids) + left_out * found.unknown_tokens
            shown = ", ".join(map(repr, list(found.unknown)[:8]))
            fate = (
                "the loss is that of the rest"
                if left_out
                else "it is read as <unk>, which is easy to predict and makes the loss too low"
            )
            warnings.warn(
                f"{found.unknown_tokens / tokens:.1%} of the text is not in this model's "
                f"vocabulary ({shown}): {fate}; bits per character count it, too, with 8 bits for "
                "each of its bytes",
                stacklevel=3,
            )
        with threads_for_generation(self.configuration.parameter_count):
            return objective_of(self.configuration).evaluate(
                self.model,
                found,
                context=context,
                stride=stride,
                spread=spread_of(self.model),
                progress=progress,
            )

    def translate(self, texts: Sequence[str], beam: int = 1) -> list[str]:
        """The target that the model writes for each source; for models on pairs.

        Args:
            texts: sources.
            beam: beginnings that are gone on with at once; 1 always takes the likeliest token.

        Raises:
            ConfigurationError: the model is none on pairs, or the beam cannot be.
            TextError: a source in which nothing is known, or longer than the model bears.
        """
        from clearformer.runs.translation import translate

        translated = translate(self, texts, beam)
        for note in translated.notes:
            warnings.warn(note, stacklevel=2)
        return [each.text for each in translated.targets]

    def explain(self, sentence: str, **options: Any) -> "Trace":
        """Every intermediate of the model for one sentence; see `clearformer.explain`."""
        from clearformer.explanation.explain import explain

        return explain(sentence, run=self, **options)


def load(path: str | Path, *, engine: str = "numpy", device: str | None = None) -> Run:
    """Opens the newest intact save of a run, whichever engine trained it.

    Args:
        path: the run folder.
        engine: what will do the arithmetic: numpy or torch.
        device: of PyTorch: cpu, cuda or mps; the best there is unless given.

    Raises:
        ConfigurationError: if the engine or the device is not there.
        RunError: if there is no run at `path`, or it is damaged; with what to do.
    """
    require_possible(Wish(engine, device))
    folder = RunFolder.open(Path(path))
    tokenizer = load_tokenizer(folder.tokenizer_path)
    configuration = model_configuration(folder, tokenizer)
    saved = latest_model(folder.checkpoints)
    for note in saved.notes:
        warnings.warn(note, stacklevel=2)
    start = start_token(folder, tokenizer)
    model = moved(model_from(configuration, tokenizer, saved), engine, device)
    return Run(model, tokenizer, configuration, folder.path, saved.step, start, engine)


def _require_number_of(tokens: int) -> None:
    if not (isinstance(tokens, Integral) and 0 <= tokens <= MOST_TOKENS):
        raise ConfigurationError(f"tokens must be between 0 and {MOST_TOKENS:,}; got {tokens}")
