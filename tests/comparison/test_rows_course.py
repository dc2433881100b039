"""Laws of tasks as courses: every answer counts alike, and nothing is judged that was learned."""

from itertools import pairwise

import numpy as np
import pytest

from clearformer.comparison.entrants import entrant_of
from clearformer.comparison.rows_course import RowsCourse, RowsGround, TaskRows, judged_rows
from clearformer.comparison.text_course import TextCourse
from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.errors import ConfigurationError
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import build
from clearformer.tasks import IGNORED, as_sequences, task
from clearformer.tasks.parts import part_of
from clearformer.text.corpus import Corpus
from comparison.small import TEXT

COPY = as_sequences(task("copy", least=1, most=6, symbols=3))
CONFIGURATION = ModelConfiguration(
    len(COPY.vocabulary), layers=1, heads=2, embed=8, context=COPY.context
)


def gradients(workers, cuts=(0, 12)):
    """The loss and gradient of one batch of 12 rows that ask unequally much."""
    ground = RowsGround(COPY, len(COPY.vocabulary), search=False)
    arrays = TaskRows(COPY, 12, np.random.default_rng(0)).next()
    assert len({*(arrays[1] != IGNORED).sum(1).tolist()}) > 1
    learner = learner_of(
        Execution(workers=workers), build(CONFIGURATION, np.random.default_rng(0)), ground.loss
    )
    loss = 0.0
    for begin, end in pairwise(cuts):
        share = (end - begin) / 12
        loss += share * learner.loss_and_gradients(*(a[begin:end] for a in arrays), share=share)
    learner.gather()
    return loss, learner.gradients.copy(), arrays


@pytest.mark.parametrize(("workers", "cuts"), [(5, (0, 12)), (1, (0, 1, 12)), (2, (0, 5, 12))])
def test_every_answer_weighs_alike_however_a_batch_is_shared_out(workers, cuts):
    loss, whole, _ = gradients(1)
    shared, parts, _ = gradients(workers, cuts)
    assert shared == pytest.approx(loss, rel=1e-5)
    np.testing.assert_allclose(parts, whole, atol=1e-6)


def test_the_loss_of_a_batch_is_the_mean_over_all_that_is_asked():
    loss, _, (inputs, targets, _) = gradients(3)
    logits = build(CONFIGURATION, np.random.default_rng(0))(inputs).astype(np.float64)
    chances = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    asked = targets != IGNORED
    found = np.take_along_axis(chances, np.where(asked, targets, 0)[..., None], -1)[..., 0]
    assert loss == pytest.approx(-np.log(found[asked]).mean(), rel=1e-4)


def test_judging_rows_are_the_same_each_time_and_none_of_them_is_learned_from():
    recall = task("recall", distance=4)
    learned = {row.tobytes() for row in recall.draw(np.random.default_rng(0), 500)[0]}
    rows = judged_rows(recall, False)[0]
    judged = {row.tobytes() for row in rows}
    assert not learned & judged
    assert {part_of(row.astype(np.uint16).tobytes()) for row in rows} == {"test"}
    judged_rows.cache_clear()
    assert {row.tobytes() for row in judged_rows(recall, False)[0]} == judged


def test_the_search_is_judged_by_other_rows_than_the_trials():
    recall = task("recall", distance=4)
    rows = [{row.tobytes() for row in judged_rows(recall, search)[0]} for search in (True, False)]
    assert not rows[0] & rows[1]


@pytest.mark.parametrize("dial", ["tokenizer=words", "vocab=5"])
def test_a_task_has_symbols_of_its_own(dial):
    course = RowsCourse(task("recall", distance=4))
    with pytest.raises(ConfigurationError, match="symbols of its own"):
        course.vocabulary(entrant_of(f"decoder:{dial}"))


def test_a_task_sets_the_context():
    course = RowsCourse(task("recall", distance=4))
    with pytest.raises(ConfigurationError, match="leave context out"):
        course.dials(entrant_of("decoder:context=5"))


def test_the_search_on_a_text_never_sees_what_trials_are_judged_by():
    course, entrant = TextCourse(Corpus(TEXT, ("it",), ()), context=8), entrant_of("decoder")
    full, search = (
        course.ground(entrant, CONFIGURATION, search).prepared for search in (False, True)
    )
    learned, judged = full.train, full.validation
    searched, tuned = search.train, search.validation
    decode = course.cut(entrant).tokenizer.decode
    assert decode(learned) + decode(judged.ids) == TEXT
    assert decode(searched) + decode(tuned.ids) == decode(learned)


def test_counting_sees_as_many_tokens_as_the_others_read_and_the_text_once_at_most():
    course = TextCourse(Corpus(TEXT, ("it",), ()), context=8)
    entrant = entrant_of("ngram")
    assert len(course.counted(entrant, 100).ids) == 100
    everything = course.counted(entrant, None).ids
    assert len(everything) == len(course.counted(entrant, 10**9).ids) == int(len(TEXT) * 0.9)


@pytest.mark.parametrize("name", ["copy", "recall"])
def test_a_row_counts_up_to_the_last_position_that_is_asked(name):
    course, entrant = RowsCourse(task(name)), entrant_of("decoder")
    _, targets = judged_rows(course.rows, search=False)
    for length, row in zip(course.lengths(entrant), targets, strict=True):
        assert row[length - 1] != IGNORED
        assert (row[length:] == IGNORED).all()


def test_a_text_has_no_rows_that_end():
    course = TextCourse(Corpus(TEXT, ("it",), ()), context=8)
    assert course.lengths(entrant_of("decoder")) is None
