"""Laws of writing a target: greedy and beam search against trying everything."""

from itertools import product

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.models.kinds import build
from clearformer.models.pairs.configuration import Seq2SeqConfiguration
from clearformer.models.pairs.search import log_softmax, search
from models.pairs.small import BEGIN, END, batch, every_model, random_model

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_model all are checked

LONGEST = 4


def tiny(seed, vocabulary=3):
    """A model so small that all its targets can be tried; sure enough of some."""
    rng = np.random.default_rng(seed)
    fresh = build(Seq2SeqConfiguration(vocabulary, embed=4, hidden=5, context=8), rng, np.float64)
    return fresh.with_parameters(lambda _, p: p + 1.5 * rng.standard_normal(p.shape))


def probability(model, source, target, vocabulary=3):
    """Log-probability of a target and its end, straight from the model."""
    scores = log_softmax(model(source, np.array([[vocabulary, *target]]))[0])
    return scores[np.arange(len(target) + 1), [*target, vocabulary + 1]].sum()


def all_targets(vocabulary=3):
    return [t for n in range(LONGEST) for t in product(range(vocabulary), repeat=n)]


@pytest.mark.parametrize("seed", range(6))
def test_a_wide_beam_finds_the_best_of_all_targets(seed):
    model, source = tiny(seed), np.array([[0, 2, 1, 4]])
    scores = {t: probability(model, source, t) / (len(t) + 1) for t in all_targets()}
    (found,) = search(model, source, None, longest=LONGEST, beam=200)
    assert found.ended
    assert found.ids == max(scores, key=scores.get)
    assert found.score == pytest.approx(scores[found.ids])


def test_a_beam_finds_what_the_likeliest_token_misses():
    source = np.array([[0, 2, 1, 4]])
    better = 0
    for seed in range(12):
        greedy, beam = (
            search(tiny(seed), source, None, longest=LONGEST, beam=width)[0] for width in (1, 8)
        )
        better += beam.score > greedy.score + 1e-9
    assert better


@every_model
def test_a_beam_of_one_takes_the_likeliest_token_at_each_step(name):
    model, (sources, lengths, _) = random_model(name), batch()
    found = search(model, sources, lengths, longest=8)
    for row, length in enumerate(lengths):
        written = [BEGIN]
        while len(written) <= 8 and written[-1] != END:
            scores = model(sources[row : row + 1, :length], np.array([written]))[0, -1].copy()
            scores[BEGIN] = -np.inf
            written.append(int(scores.argmax()))
        ended = written[-1] == END
        assert found[row].ended == ended
        assert [*found[row].ids] == written[1 : -1 if ended else None]


@every_model
@pytest.mark.parametrize("beam", [1, 4])
def test_sources_side_by_side_give_what_each_gives_alone(name, beam):
    model, (sources, lengths, _) = random_model(name), batch()
    together = search(model, sources, lengths, longest=7, beam=beam)
    for row, length in enumerate(lengths):
        (alone,) = search(model, sources[row : row + 1, :length], None, longest=7, beam=beam)
        assert alone.ids == together[row].ids
        assert alone.log_probability == pytest.approx(together[row].log_probability)


@pytest.mark.parametrize("seed", range(4))
def test_the_score_is_that_of_the_model(seed):
    model, source = tiny(seed), np.array([[1, 1, 4]])
    for beam in (1, 2, 5):
        (found,) = search(model, source, None, longest=LONGEST, beam=beam)
        if found.ended:
            assert found.log_probability == pytest.approx(probability(model, source, found.ids))


def test_what_is_never_to_be_written_is_not():
    model, (sources, lengths, _) = random_model("gru, dot"), batch()
    for beam in (1, 3):
        for found in search(model, sources, lengths, longest=9, beam=beam, never=(0, 1, 2, 3)):
            assert not {0, 1, 2, 3, BEGIN, END} & set(found.ids)
            assert len(found.ids) <= 9


@pytest.mark.parametrize("beam", [0, -1, 257, True, 2.0])
def test_a_beam_that_cannot_be_is_refused(beam, unchecked):
    with pytest.raises(ConfigurationError, match="beam must be"):
        search(tiny(0), np.array([[0, 4]]), None, longest=3, beam=beam)


def plainly(model, source, beam):
    """The same search for one source, as its description says it, without any state."""
    alive, ended = [((), 0.0)], []
    for _ in range(LONGEST):
        going_on = []
        for target, total in alive:
            scores = log_softmax(model(source, np.array([[3, *target]]))[0, -1:])[0]
            going_on += [((*target, t), total + scores[t]) for t in (0, 1, 2, 4)]
        going_on.sort(key=lambda one: -one[1])
        best = going_on[: beam - len(ended)]
        ended += [one for one in best if one[0][-1] == 4]
        alive = [one for one in best if one[0][-1] != 4]
    return max(ended, key=lambda one: one[1] / len(one[0]))[0][:-1] if ended else alive[0][0]


@pytest.mark.parametrize("beam", [1, 2, 3, 5])
def test_a_beam_keeps_as_many_beginnings_and_ends_as_it_is_wide(beam):
    source = np.array([[2, 0, 1, 4]])
    for seed in range(10):
        (found,) = search(tiny(seed), source, None, longest=LONGEST, beam=beam)
        assert found.ids == plainly(tiny(seed), source, beam), seed
