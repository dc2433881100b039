"""Tokens that a kernel draws and feeds back are those that are drawn from its logits one by one."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `fast` is not installed")

from clearformer.engines.numpy.compiled import decoding, decoding_kernel
from clearformer.engines.numpy.compiled.choice import SWITCH
from clearformer.errors import NotFiniteError, ShapeError
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling, draw, probabilities
from models.decoders import VARIANTS, random_decoder


@pytest.fixture(autouse=True)
def compiled(monkeypatch):
    monkeypatch.setenv(SWITCH, "always")


@pytest.fixture
def asked(monkeypatch):
    """How many tokens the kernel was asked for, each time."""
    seen, plain = [], decoding.CompiledDecoder.write

    def write(self, token, goals, *rest):
        seen.append(len(goals))
        return plain(self, token, goals, *rest)

    monkeypatch.setattr(decoding.CompiledDecoder, "write", write)
    return seen


def decoder(dtype=np.float32, scale=3.0, **sizes):
    made = replace(VARIANTS["the modern recipe"], **{"context": 24, "vocabulary": 300, **sizes})
    model = random_decoder(made, dtype)
    wide = lambda name, array: array * dtype(scale) if name.startswith("output") else array  # noqa: E731
    return model.with_parameters(wide)


def written(model, sampling, tokens=90, seed=7, never=(), prompt=(3, 1, 2)):
    rng = np.random.default_rng(seed)
    new = generate(
        model, prompt, tokens, context=24, sampling=sampling, rng=rng, never=never
    )  # fmt: skip
    return list(new), rng.random()


def one_by_one(monkeypatch, *given, **more):
    """The same with the kernel that makes one token, and NumPy that draws."""
    with monkeypatch.context() as patch:
        patch.delattr(decoding.CompiledDecoder, "write")
        return written(*given, **more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("temperature", [0.0, 1e-9, 0.5, 1.0, 3.0])
def test_they_are_those_drawn_one_by_one(temperature, dtype, asked, monkeypatch):
    """Over several jumps of the window; the generator ends where it would have."""
    model, sampling = decoder(dtype), Sampling(temperature)
    expected = one_by_one(monkeypatch, model, sampling)
    assert written(model, sampling) == expected
    assert len(set(expected[0])) > (1 if temperature < 0.1 else 5)
    assert max(asked) > 1


def test_no_more_are_drawn_than_are_wanted(asked, monkeypatch):
    model = decoder()
    for tokens in (1, 2, 15, 40):
        found = written(model, Sampling(1.0), tokens)
        assert found == one_by_one(monkeypatch, model, Sampling(1.0), tokens)
        assert len(found[0]) == tokens


@pytest.mark.parametrize("sampling", [Sampling(top_k=3), Sampling(top_p=0.5)])
def test_what_leaves_tokens_out_is_drawn_by_numpy(sampling, asked):
    written(decoder(), sampling)
    assert asked == []


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_what_is_never_written_is_not(temperature, asked, monkeypatch):
    model, sampling = decoder(), Sampling(temperature)
    likely = sorted(set(written(model, sampling)[0]))[:5]
    found = written(model, sampling, never=likely)
    assert found == one_by_one(monkeypatch, model, sampling, never=likely)
    assert not set(found[0]) & set(likely)
    assert max(asked) > 1


def test_logits_that_are_not_finite_are_refused_as_ever(monkeypatch):
    model = decoder()
    broken = model.with_parameters(
        lambda name, array: array * np.nan if name.startswith("output") else array
    )
    with pytest.raises(NotFiniteError, match="the largest of the logits must be a finite number"):
        written(broken, Sampling(1.0))


@pytest.mark.parametrize("token", [-1, 300, 10**6])
def test_a_token_that_is_none_is_refused(token):
    """Where nothing looks, a kernel would read beside the table."""
    with pytest.raises(ShapeError, match="0 … 299; got"):
        written(decoder(), Sampling(1.0), prompt=(token,))


@pytest.mark.parametrize("place", [0, 3, 7])
def test_one_logit_that_is_no_number_is_noticed(place):
    logits = np.linspace(-1, 1, 8, dtype=np.float32)
    room = np.empty(8, np.float32), np.empty(8, np.int32)
    assert decoding_kernel._drawn(logits, *room, 0.5, 1.0) >= 0
    for bad in (np.nan, np.inf):
        logits[place] = bad
        assert decoding_kernel._drawn(logits, *room, 0.5, 1.0) == -1
        assert decoding_kernel._drawn(logits, *room, 0.5, 0.0) == -1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("vocabulary", [1, 2, 65, 1000])
def test_the_kernel_draws_as_numpy_does(vocabulary, rng):
    room = np.empty(vocabulary, np.float32), np.empty(vocabulary, np.int32)

    class Goal:
        """A generator that gives one number."""

        def random(self):
            return self.goal

    goal = Goal()
    for temperature in (1e-30, 0.3, 1.0, 50.0):
        sampling = Sampling(temperature)
        for _ in range(40):
            logits = rng.normal(size=vocabulary).astype(np.float32) * 4
            for goal.goal in (0.0, rng.random(), np.nextafter(1.0, 0)):
                expected = draw(logits, sampling, goal)
                found = decoding_kernel._drawn(logits, *room, goal.goal, sampling.factor)
                assert found == expected or probabilities(logits, sampling)[found] < 1e-6
