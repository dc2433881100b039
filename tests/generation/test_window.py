"""The window: as much of the past as the model can see, or at least half of it."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as some

from clearformer.generation.generate import window_start
from engines.proofs import few_examples

contexts = some.integers(1, 70)
lengths = some.integers(1, 300)


@few_examples
@given(length=lengths, context=contexts)
def test_it_holds_at_most_a_context_and_at_least_half_of_one(length, context):
    window = length - window_start(length, context)
    assert window <= context
    if length <= context:
        assert window == length
    else:
        assert window > context / 2 or window == context == 1


@few_examples
@given(context=contexts)
def test_it_stands_still_between_jumps_and_never_goes_back(context):
    starts = [window_start(length, context) for length in range(1, 6 * context + 2)]
    jumps = {b - a for a, b in pairwise(starts)} - {0}
    assert jumps == {max(context // 2, 1)}


def test_the_window_of_a_small_context():
    assert [window_start(length, 4) for length in range(1, 12)] == [0, 0, 0, 0, 2, 2, 4, 4, 6, 6, 8]
