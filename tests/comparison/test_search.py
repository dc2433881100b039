"""Laws of the search for a learning rate."""

import pytest

from clearformer.comparison.search import searched
from clearformer.errors import ConfigurationError


def losses(**by_rate):
    """A loss for each rate, and the rates that were asked for."""
    asked = []

    def loss_of(rate):
        asked.append(rate)
        return by_rate[f"r{rate:g}".replace(".", "_")]

    return loss_of, asked


def test_in_the_middle_nothing_more_is_tried():
    loss_of, asked = losses(r0_001=2.0, r0_003=1.0, r0_01=2.0)
    found = searched("it", loss_of)
    assert (found.chosen, found.widened, asked) == (3e-3, False, [1e-3, 3e-3, 1e-2])


@pytest.mark.parametrize(("beyond", "chosen"), [(0.5, 3e-2), (1.5, 1e-2), (None, 1e-2)])
def test_at_the_upper_edge_one_further_is_tried(beyond, chosen):
    loss_of, asked = losses(r0_001=3.0, r0_003=2.0, r0_01=1.0, r0_03=beyond)
    found = searched("it", loss_of)
    assert (found.chosen, found.widened, asked[-1]) == (chosen, True, 3e-2)
    assert found.at_the_edge is (chosen == 3e-2)


@pytest.mark.parametrize(("smaller", "chosen"), [(1.0, 3e-3), (1.02, 3e-3), (1.021, 1e-2)])
def test_of_rates_that_do_about_as_well_the_smallest_is_taken(smaller, chosen):
    loss_of, _ = losses(r0_001=2.0, r0_003=smaller, r0_01=1.0, r0_03=1.0)
    found = searched("it", loss_of)
    assert (found.chosen, found.widened) == (chosen, smaller > 1.0)


@pytest.mark.parametrize(
    ("found_losses", "chosen", "best", "at_the_edge"),
    [((2.479, 2.465, 2.438, 2.441), 1e-3, 1e-2, False), ((3.0, 2.0, 1.0, 0.99), 1e-2, 3e-2, True)],
    ids=["the smallest taken", "the best at the upper edge"],
)
def test_the_edge_is_where_the_best_lies_and_not_what_is_taken(
    found_losses, chosen, best, at_the_edge
):
    names = ("r0_001", "r0_003", "r0_01", "r0_03")
    loss_of, _ = losses(**dict(zip(names, found_losses, strict=True)))
    found = searched("it", loss_of)
    assert (found.chosen, found.best) == (chosen, best)
    assert found.at_the_edge is at_the_edge
    assert found.smallest_taken is not at_the_edge


def test_a_best_at_the_lower_edge_is_no_smallest_for_want_of_a_difference():
    loss_of, _ = losses(r0_001=1.0, r0_003=2.0, r0_01=None, r0_0003=0.5)
    found = searched("it", loss_of)
    assert (found.at_the_edge, found.smallest_taken) == (True, False)


def test_a_loss_of_nothing_is_the_best():
    loss_of, _ = losses(r0_001=1.0, r0_003=0.0, r0_01=1e-9)
    assert searched("it", loss_of).chosen == 3e-3


def test_at_the_lower_edge_one_below_is_tried():
    loss_of, asked = losses(r0_001=1.0, r0_003=2.0, r0_01=None, r0_0003=0.5)
    found = searched("it", loss_of)
    assert (found.chosen, found.widened, asked[-1]) == (3e-4, True, 3e-4)
    assert found.to_json()["trials"] == [
        {"learning_rate": 3e-4, "loss": 0.5},
        {"learning_rate": 1e-3, "loss": 1.0},
        {"learning_rate": 3e-3, "loss": 2.0},
        {"learning_rate": 1e-2, "loss": None},
    ]


def test_what_always_diverges_is_refused():
    with pytest.raises(ConfigurationError, match="it diverged with every learning rate"):
        searched("it", lambda rate: None)
