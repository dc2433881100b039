"""Streaming: the pieces together are the text, and none holds half a character."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from clearformer.generation.sampling import Sampling
from clearformer.models.decoder import Decoder
from generation.runs import TEXTS, random_run

GREEDY = Sampling(temperature=0.0)

PROMPTS = {"characters": "the q", "words": "I like", "bytepair": "吾輩は"}

SAID = [
    "犬も歩けば棒に当たる。",
    "猫😀犬👩‍💻。",
    "na\u00efve caf\u00e9",
    "e\u0301\U0001f1ef\U0001f1f5",
    "𠮷野家",
]


@dataclass(frozen=True)
class Scripted(Decoder):
    """A decoder that says what it was told: after token n of a text comes token n + 1."""

    script: tuple[int, ...] = ()

    def __call__(self, ids, *rest, **named):
        logits = np.zeros((*ids.shape, self.embedding.table.shape[0]), np.float32)
        logits[0, -1, self.script[ids.shape[1]]] = 1
        return logits


def scripted_run(kind, prompt, text):
    run = random_run(kind, context=200)
    script = tuple(int(id) for id in run.tokenizer.encode(prompt + text))
    model = Scripted(**vars(run.model), script=script)
    return replace(run, model=model), len(script) - len(run.prompt(prompt).ids)


@pytest.mark.parametrize("text", SAID)
@pytest.mark.parametrize("prompt", ["は", "cat"])
def test_no_piece_holds_half_a_character(text, prompt):
    run, tokens = scripted_run("bytepair", prompt, text)
    ids = run.tokenizer.encode(prompt + text)
    pieces = list(run.stream(run.prompt(prompt), tokens, GREEDY, cached=False))
    assert "".join(pieces) == text
    assert not any("\ufffd" in piece for piece in pieces)
    broken = [id for id in ids if "\ufffd" in run.tokenizer.decode([int(id)])]
    assert broken, "no token was half a character: nothing was proved"


def test_a_text_that_stops_within_a_character_says_so_at_its_end_only():
    run, tokens = scripted_run("bytepair", "は", "猫𠮷")
    pieces = list(run.stream(run.prompt("は"), tokens - 1, GREEDY, cached=False))
    assert "\ufffd" in pieces[-1]
    assert not any("\ufffd" in piece for piece in pieces[:-1])
    assert "".join(pieces).rstrip("\ufffd") == "猫"


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("cached", [False, True])
def test_the_pieces_together_are_what_generate_gives(kind, cached, unchecked):
    run = random_run(kind, context=64)
    prompt = PROMPTS[kind]
    pieces = run.stream(run.prompt(prompt), 50, Sampling(1.0), seed=9, cached=cached)
    text = run.generate(prompt, 50, temperature=1.0, seed=9, cached=cached)
    assert "".join(pieces) == text
    assert len(text) > 5


@pytest.mark.parametrize("kind", TEXTS)
def test_prompt_and_text_together_are_one_decoding(kind):
    """So that the space between two words, or the rest of a character, belongs to the text."""
    run = random_run(kind, context=64)
    prompt = PROMPTS[kind]
    text = run.generate(prompt, 50, temperature=1.0, seed=9)
    from clearformer.generation.generate import generate

    ids = run.prompt(prompt).ids
    new = generate(
        run.model,
        ids,
        50,
        context=64,
        sampling=Sampling(1.0),
        rng=np.random.default_rng(9),
        never=run.tokenizer.control_ids,
    )
    assert run.tokenizer.decode([*ids, *new]) == run.tokenizer.decode(list(ids)) + text


def test_a_space_between_prompt_and_first_word_belongs_to_the_text():
    run, tokens = scripted_run("words", "I like", " small models")
    pieces = list(run.stream(run.prompt("I like"), tokens, GREEDY, cached=False))
    assert pieces == [" small", " models", ""]


def test_pieces_come_while_it_is_written():
    """Each token is computed when its piece is asked for."""
    run, tokens = scripted_run("characters", "the ", "quick")
    asked = []

    class Watched(Scripted):
        def __call__(self, ids, *rest, **named):
            asked.append(ids.shape[1])
            return super().__call__(ids, *rest, **named)

    watched = replace(run, model=Watched(**vars(run.model)))
    pieces = watched.stream(watched.prompt("the "), tokens, GREEDY, cached=False)
    assert not asked
    assert next(pieces) == "q" and asked == [4]
    assert next(pieces) == "u" and asked == [4, 5]


def test_what_a_prompt_spells_stays_text():
    """The spelling of a control token is no control token."""
    run = random_run("words", context=64)
    assert 0 not in run.prompt("<pad> <unk>").ids
