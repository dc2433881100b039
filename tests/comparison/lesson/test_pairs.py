import numpy as np
import pytest

from clearformer.models.kinds import KINDS

if "seq2seq" not in KINDS:
    pytest.skip("there is no kind of model yet that writes a target", allow_module_level=True)

from clearformer.comparison.lesson.pairs import pair_step_of, source_norms


def configuration(**dials):
    return KINDS["seq2seq"].configuration(12, **{"embed": 8, "context": 32, **dials})


def test_attention_reaches_further_back_through_a_source_than_a_state_does():
    near, far = (source_norms(configuration(attention=kind), 24, 4) for kind in ("dot", "none"))
    assert near.shape == far.shape == (24,)
    assert near[23] / near[1] > 10 * far[23] / far[1]


def test_norms_are_the_same_again():
    first = source_norms(configuration(), 6, 2)
    np.testing.assert_array_equal(first, source_norms(configuration(), 6, 2))
    assert (first > 0).all()


def test_a_step_can_be_made_at_any_length():
    work = pair_step_of(configuration())
    for length in (3, 40):
        loss, gradients = work(length)()
        assert float(loss) > 0 and any(each.any() for each in gradients)
