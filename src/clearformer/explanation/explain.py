"""`explain`: one sentence through every step of a model."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from clearformer.errors import ConfigurationError, TextError
from clearformer.explanation.edits import Change, as_edits
from clearformer.explanation.lesson import lesson
from clearformer.explanation.pair_subject import pair_subject
from clearformer.explanation.subject import Subject, showing
from clearformer.explanation.trace import Trace
from clearformer.training.memory import in_words

NO_MASK = (
    "there is no <mask> here, so the prediction shown is that for the place of the last token, "
    "which the model sees; write <mask> for a token that it is to guess"
)

if TYPE_CHECKING:
    from clearformer.runs.run import Run

LARGEST_TRACE = 2**30
"""Bytes of intermediates that one trace may hold."""


def explain(
    sentence: str,
    *,
    run: "Run | str | Path | None" = None,
    embed: int | None = None,
    heads: int | None = None,
    projections: str | None = None,
    causal: bool | None = None,
    layer: int | None = None,
    head: int | None = None,
    seed: int | None = None,
    edits: Mapping[str, Change] | Iterable[tuple[str, Change] | str] | str | None = None,
) -> Trace:
    """Every intermediate of a model for one sentence, from the tokens to the next token.

    Without a run it is the walk through a first lesson: a vocabulary of the sentence's own words,
    20 sinusoidal positions and one untrained block, made from the same layers as every model. No
    norms, biases or dropout. Every token sees every other, because the whole table is easier to
    read first; `causal=True` masks what comes later, as a model that writes text must.

    Of a run on pairs the sentence is a source. The trace holds the target that the model writes,
    and how the decoder has looked at the source.

    Args:
        sentence: the text.
        run: a trained model, or the path of its run folder.
        embed: numbers per token in the lesson; 8 unless given.
        heads: attention heads of the lesson; 1 unless given.
        projections: of the lesson; "shared" (as it is without a choice): query = key = value = the
            positioned vectors; "separate": random matrices W_Q, W_K, W_V and W_O.
        causal: whether tokens of the lesson are kept from seeing later ones; no unless given.
        layer: keep the stages of this layer only; None for all.
        head: keep this head only; None for all.
        seed: of the lesson's random weights; 0 unless given.
        edits: stages to replace, as in `Trace.what_if`.

    Raises:
        ConfigurationError: for sizes, a layer, a head or edits that cannot be.
        TextError: for a sentence with nothing in it, or too long for a lesson.
        RunError: if there is no usable run at the path.

    >>> import clearformer as cf
    >>> cf.explain("I like small models")["blocks.0.attention.key_transposed"].shape
    (1, 8, 4)
    """
    if not isinstance(sentence, str):
        raise ConfigurationError(f"a sentence is a string; got {type(sentence).__name__}")
    if not sentence.strip():
        raise TextError("a sentence needs at least one word; got an empty one")
    of_lesson = {
        "embed": embed,
        "heads": heads,
        "projections": projections,
        "causal": causal,
        "seed": seed,
    }
    if run is None:
        subject = lesson(
            sentence,
            embed=8 if embed is None else embed,
            heads=1 if heads is None else heads,
            projections=projections or "shared",
            causal=bool(causal),
            seed=0 if seed is None else seed,
        )
    else:
        run = _opened(run)
        if causal is not None and causal != run.fills:  # as it is; saying so does no harm
            of_lesson["causal"] = None
        given = [name for name, value in of_lesson.items() if value is not None]
        if given:
            raise ConfigurationError(
                f"{', '.join(given)} can be chosen for the lesson only; a run has what it was "
                "trained with; leave out one or the other"
            )
        opened = _opened(run)
        if opened.reads == "pairs":
            return pair_subject(opened, sentence, layer, head).trace(as_edits(edits))
        subject = _of_run(opened, sentence)
    subject = showing(subject, layer, head)
    _require_memory(subject)
    return subject.trace(as_edits(edits))


def _opened(run: "Run | str | Path") -> "Run":
    from clearformer.runs.run import Run, load

    return run if isinstance(run, Run) else load(run)


def _of_run(run: "Run", sentence: str) -> Subject:
    if not len(run.reader.encode(sentence)):
        raise TextError("nothing in the sentence is in this model's vocabulary; try other words")
    ids, notes = run.prompt(sentence).ids, run.unknown_notes(sentence)
    context = run.configuration.sees
    if context is not None and len(ids) > context:
        notes = (
            *notes,
            f"the sentence has {len(ids)} tokens and this model sees {context} at once: explained "
            f"are the last {context}",
        )
        ids = ids[-context:]
    subject = Subject(
        run.model, run.reader, ids, sentence, notes=notes, path=run.path, step=run.step
    )
    if run.fills and not subject.masks:
        return replace(subject, notes=(*notes, NO_MASK))
    return subject


def _require_memory(subject: Subject) -> None:
    """Refuses a trace too large to be of use, in exact integers, before it is computed."""
    anatomy, seq = subject.anatomy, len(subject.ids)
    layers = anatomy.layers if subject.layer is None else 1
    needed = anatomy.bytes(seq, subject.layer, subject.head)
    if needed > LARGEST_TRACE:
        raise ConfigurationError(
            f"a trace of {seq} tokens through {layers} layers would hold {in_words(needed)}, more "
            f"than {in_words(LARGEST_TRACE)}; give a shorter sentence, or choose a layer and a head"
        )
