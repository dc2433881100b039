"""`clearformer generate`: lets a trained model write."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clearformer.cli.output import (
    json_option,
    machine_options,
    note_of,
    printable,
    show_json,
    tell,
)

if TYPE_CHECKING:
    from clearformer.generation.sampling import Sampling
    from clearformer.runs.run import Run

TOKENS = 300
"""Written unless told otherwise: about a screen of characters."""


@click.command(name="generate")
@click.argument("run", type=click.Path(path_type=Path))
@click.option(
    "--prompt",
    default="",
    help="What the text begins with; for an encoder the text whose <mask>s are filled in.",
)
@click.option("--tokens", type=int, help=f"How many tokens to write.  [default: {TOKENS}]")
@click.option(
    "--temperature",
    default=0.8,
    show_default=True,
    help="Below 1 plays safe, above 1 takes risks, 0 always takes the most likely token.",
)
@click.option("--top-k", type=int, help="Draw only among the k most likely tokens.")
@click.option(
    "--top-p", type=float, help="Draw only among the likeliest tokens that reach probability p."
)
@click.option("--seed", type=int, help="The same seed writes the same text.")
@click.option("--no-cache", is_flag=True, help="Compute everything anew for each token.")
@machine_options
@json_option
def generate(
    run: Path,
    prompt: str,
    tokens: int | None,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
    seed: int | None,
    no_cache: bool,
    engine: str,
    device: str | None,
    as_json: bool,
) -> None:
    """Let the model in RUN write, one token after another.

    \b
      clearformer generate runs/my-text --prompt "Once upon a time"
      clearformer generate runs/my-text --temperature 0 --tokens 100
      clearformer generate runs/my-text --top-p 0.9 --seed 7

    An encoder does not write on: it fills in each <mask>, the one it is surest of first. A mask
    stands for one token, so with a tokenizer of characters for one character: write <mask><mask>
    for two. \\<mask> is the text <mask> itself.

    \b
      clearformer generate runs/my-encoder --prompt "The <mask> is red"
    """
    from clearformer.cli.opening import open_run
    from clearformer.engines.kernels import kernels_heard_by
    from clearformer.engines.threads import threads_for_generation
    from clearformer.generation.sampling import Sampling

    sampling = Sampling(temperature, top_k, top_p)
    trained = open_run(run, engine, device)
    if trained.fills:
        if tokens is not None or no_cache:
            raise click.UsageError(
                "an encoder fills in as many tokens as there are masks, without a cache; leave out "
                "--tokens and --no-cache"
            )
        _fill(trained, prompt, sampling, seed, as_json)
        return
    tokens = TOKENS if tokens is None else tokens
    prepared = trained.prompt(prompt, tokens)
    begun = time.perf_counter()
    with kernels_heard_by(lambda note: tell(note_of(note))):
        pieces = trained.stream(prepared, tokens, sampling, seed=seed, cached=not no_cache)
    for note in prepared.notes:
        tell(note_of(note))
    compiled = not no_cache and trained.is_compiled(tokens)
    text = ""
    if not as_json:
        click.echo(printable(prompt), nl=False)
    with threads_for_generation(trained.configuration.parameter_count):
        for piece in pieces:
            text += piece
            if not as_json:
                click.echo(printable(piece), nl=False)
    seconds = time.perf_counter() - begun
    if as_json:
        document = _document(prompt, text, tokens, seconds, seed, prepared.notes)
        show_json({**document, "compiled": compiled})
    else:
        click.echo()
        how = " (compiled)" if compiled else ""
        tell(f"{tokens:,} tokens, {tokens / max(seconds, 1e-9):,.0f} a second{how}")


def _fill(run: "Run", text: str, sampling: "Sampling", seed: int | None, as_json: bool) -> None:
    from clearformer.runs.filling import filled

    begun = time.perf_counter()
    found = filled(run, text, sampling, seed)
    seconds = time.perf_counter() - begun
    for note in found.notes:
        tell(note_of(note))
    if as_json:
        show_json(_document(text, found.text, found.tokens, seconds, seed, found.notes))
    else:
        click.echo(printable(found.text))


def _document(
    prompt: str, text: str, tokens: int, seconds: float, seed: int | None, notes: tuple[str, ...]
) -> dict[str, object]:
    return {
        "prompt": prompt,
        "text": text,
        "tokens": tokens,
        "seconds": seconds,
        "tokens_per_second": tokens / seconds if seconds else 0.0,
        "seed": seed,
        "notes": list(notes),
    }
