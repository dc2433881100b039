"""Making a plan: reads the text once, makes its tokenizer, and shares it out over shards."""

from pathlib import Path

from clearformer.corpora.crew import Crew, Tell
from clearformer.corpora.layout import Layout
from clearformer.corpora.place import PLAN, TOKENIZER, write_json
from clearformer.corpora.plan import Plan, PlannedShard
from clearformer.corpora.request import Request
from clearformer.corpora.sizes import Sizes
from clearformer.corpora.survey import Survey, survey
from clearformer.corpora.watch import Progress
from clearformer.text.counts import Counts
from clearformer.text.cuts import blocks
from clearformer.text.ids import id_type
from clearformer.text.split import border_of
from clearformer.text.text_files import TextFiles
from clearformer.text.tokenizer import load_tokenizer, save_tokenizer, tokenizer_class
from clearformer.training.preparation import VALIDATION, require_length

SHARES = 16
"""Shards of a text of middling size."""


def new_plan(request: Request, crew: Crew, sizes: Sizes, progress: Progress) -> Plan:
    """Plans what was asked for, saves the tokenizer and the plan.

    Raises:
        TextError: the text cannot be read, or is too short.
        ConfigurationError: it cannot have the vocabulary that is asked for.
        RunError: the disk refuses.
    """
    kind, path = request.tokenizer, request.folder / TOKENIZER
    progress.begin("reading", request.bytes)
    found = survey(request.paths, request.encoding, kind, crew, sizes, progress.done)
    border = border_of(found.characters, VALIDATION)
    require_length(found.characters, border)
    progress.begin("making the tokenizer", request.bytes)
    job = (kind, found.counts, request.vocab, path)
    ((fingerprint, vocabulary),) = crew.results(_make_tokenizer, [job])
    first = (path, request.paths, request.encoding, sizes)
    (density,) = crew.results(_characters_per_token, [first])
    crew.rest()  # learning takes more memory than encoding may
    share = _share(found.characters, density, id_type(vocabulary).itemsize, sizes)
    plan = Plan(
        tokenizer=kind,
        asked=request.vocab,
        vocabulary=vocabulary,
        fingerprint=fingerprint,
        encoding=request.encoding,
        sources=found.sources,
        characters=found.characters,
        border=border,
        text=found.text,
        notes=found.notes,
        shards=_shards(request, found, border, share, sizes),
    )
    write_json(request.folder / PLAN, plan.to_json())
    return plan


def _shards(
    request: Request, found: Survey, border: int, share: int, sizes: Sizes
) -> tuple[PlannedShard, ...]:
    cuts = tokenizer_class(request.tokenizer).cuts()
    layout = Layout(request.paths, request.encoding, cuts, found.landmarks, sizes.piece)
    return (
        *layout.shards("train", 0, border, share),
        *layout.shards("validation", border, found.characters, share),
    )


def _share(characters: int, density: float, width: int, sizes: Sizes) -> int:
    """Characters of a shard: those of `sizes.shard` bytes, or fewer, so that many can work."""
    most = int(sizes.shard * density / width)
    return min(most, max(characters // SHARES, sizes.shard // SHARES))


def _make_tokenizer(job: tuple[str, Counts, int | None, Path], tell: Tell) -> tuple[str, int]:
    """Makes and saves a tokenizer; returns its fingerprint and the size of its vocabulary."""
    kind, counts, vocab, path = job
    tokenizer = tokenizer_class(kind).from_counts(counts, vocab)
    save_tokenizer(tokenizer, path)
    return tokenizer.fingerprint, tokenizer.vocabulary_size


def _characters_per_token(job: tuple[Path, tuple[Path, ...], str, Sizes], tell: Tell) -> float:
    """Of the first block of a text."""
    path, paths, encoding, sizes = job
    tokenizer = load_tokenizer(path)
    files = TextFiles(paths, encoding, piece=sizes.piece)
    block = next(blocks(files, tokenizer_class(tokenizer.kind).cuts(), sizes.block))
    return len(block) / len(tokenizer.encode(block))
