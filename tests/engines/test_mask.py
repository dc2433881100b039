"""Who may look where."""

import numpy as np
import pytest

from clearformer.engines.mask import allowed_positions, causal_mask


@pytest.mark.parametrize(("query", "key"), [(3, 3), (2, 4), (4, 2), (1, 1), (0, 3), (3, 0)])
def test_a_position_sees_itself_and_the_past(query: int, key: int):
    table = causal_mask(query, key)
    assert table.shape == (query, key)
    assert table.dtype == bool
    for i, j in np.ndindex(query, key):
        assert table[i, j] == (j <= i)


def test_a_shared_table_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        causal_mask(2, 2)[0, 1] = True


def test_without_a_rule_everything_may_be_seen():
    assert allowed_positions(2, 3, None, False) is None


def test_mask_and_causal_rule_must_both_allow(rng):
    mask = rng.random((2, 4, 4)) < 0.5
    np.testing.assert_array_equal(allowed_positions(4, 4, mask, False), mask)
    np.testing.assert_array_equal(allowed_positions(4, 4, mask, True), np.tril(mask))
