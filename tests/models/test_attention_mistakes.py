"""What a learner gets wrong when calling attention: one line that says what to do."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError, ConfigurationError, ShapeError

pytestmark = pytest.mark.usefixtures("unchecked")

TABLE = np.arange(12.0).reshape(4, 3) / 10

ATTENTION = {
    "a mask of 0 and 1": (ConfigurationError, "astype", {"mask": np.ones((4, 4))}),
    "a mask of another size": (ShapeError, "mask", {"mask": np.ones((4, 5), bool)}),
    "a causal mask of another size": (
        ShapeError,
        "mask",
        {"mask": np.ones((4, 5), bool), "causal": True},
    ),
    "a mask with axes of its own": (ShapeError, "mask", {"mask": np.ones((2, 4, 4), bool)}),
    "two widths": (ShapeError, "width", {"key": TABLE[:, :2]}),
    "more values than keys": (ShapeError, "positions", {"value": TABLE[:3]}),
    "one axis": (ShapeError, "axis", {"query": TABLE[0]}),
    "a number": (ShapeError, "axis", {"query": np.array(1.0)}),
    "a list as query": (ShapeError, "list", {"query": TABLE.tolist()}),
    "a list as key": (ShapeError, "list", {"key": TABLE.tolist()}),
    "a list as value": (ShapeError, "list", {"value": TABLE.tolist()}),
    "leading axes that differ": (
        ShapeError,
        "query",
        {"query": np.stack([TABLE] * 2), "key": np.stack([TABLE] * 3)},
    ),
}


@pytest.mark.parametrize("shown", [False, True], ids=["fast", "weights shown"])
@pytest.mark.parametrize(("kind", "word", "given"), ATTENTION.values(), ids=ATTENTION)
def test_attention_says_in_one_line_what_is_wrong(kind, word, given, shown):
    with pytest.raises(kind) as caught:
        cf.attention(
            **{"query": TABLE, "key": TABLE, "value": TABLE, "return_weights": shown, **given}
        )
    assert "\n" not in str(caught.value)
    assert word in str(caught.value)


SELF_ATTENTION = {
    "a list as X": ("X", TABLE.tolist()),
    "a list as W_Q": ("W_Q", np.eye(3).tolist()),
    "X of one axis": ("X", TABLE[0]),
    "X without axes": ("X", np.array(1.0)),
    "W_Q for another width": ("W_Q", np.eye(4)),
    "W_K for another width": ("W_K", np.eye(2)),
    "W_V for another width": ("W_V", np.eye(4)),
    "W_V of one axis": ("W_V", np.ones(3)),
    "W_V with a leading axis": ("W_V", np.ones((1, 3, 3))),
}


@pytest.mark.parametrize(("name", "wrong"), SELF_ATTENTION.values(), ids=SELF_ATTENTION)
def test_self_attention_names_the_matrix_that_is_wrong(name, wrong):
    given = {"X": TABLE, "W_Q": np.eye(3), "W_K": np.eye(3), "W_V": np.eye(3), name: wrong}
    with pytest.raises(ShapeError) as caught:
        cf.self_attention(**given)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


def test_a_mask_given_as_a_list_is_taken_or_refused_in_both_ways_alike():
    mask = np.tri(4, dtype=bool)
    for shown in (False, True):
        try:
            result = cf.attention(TABLE, TABLE, TABLE, mask=mask.tolist(), return_weights=shown)
        except ClearformerError:
            continue
        np.testing.assert_allclose(
            result[0] if shown else result, cf.attention(TABLE, TABLE, TABLE, causal=True)
        )
