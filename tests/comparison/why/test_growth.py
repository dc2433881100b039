import pytest

from clearformer.comparison.why.growth import Growth, growth_of
from clearformer.comparison.why.line import power_through
from clearformer.comparison.why.works import attention_of, step_of
from clearformer.errors import ConfigurationError
from comparison.why.tiny import tiny


class Clock:
    """Time that passes only by work."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def measured(cost, **options):
    clock = Clock()

    def work(length):
        def run():
            clock.now += cost(length)

        return run

    return growth_of("rnn", work, clock=clock, watch=clock, **options)


@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
def test_the_exponent_of_a_power_is_found_exactly(exponent):
    found = measured(lambda length: 1e-6 * length**exponent, seconds=1e9)
    assert found.exponent == pytest.approx(exponent, abs=1e-6)
    assert found.low == pytest.approx(exponent, abs=1e-4)
    assert found.high == pytest.approx(exponent, abs=1e-4)


def test_what_every_call_costs_does_not_hide_the_exponent():
    lengths = [2**power for power in range(4, 14)]
    found = measured(lambda length: 1e-3 + 1e-6 * length**2, lengths=lengths, seconds=1e9)
    assert 1.9 < found.exponent <= 2


def test_lengths_that_would_take_too_long_are_left_out():
    found = measured(lambda length: 1e-4 * length, lengths=(10, 20, 40, 80, 10**6), seconds=1.0)
    assert found.lengths == (10, 20, 40, 80)
    assert found.fitted == 4


def test_three_lengths_are_measured_whatever_they_take():
    found = measured(float, lengths=(10, 20, 40, 80), seconds=1e-9)
    assert found.lengths == (10, 20, 40)
    assert found.seconds == (10.0, 20.0, 40.0)


def test_the_interval_holds_a_disturbed_exponent():
    lengths = (100, 200, 400, 800)
    wrong = {100: 1.1, 200: 0.9, 400: 1.1, 800: 0.9}
    found = power_through(lengths, [wrong[n] * n for n in lengths])
    assert found.low < found.exponent < found.high
    assert found.low < 1 < found.high


def test_two_points_have_a_line_and_no_interval():
    found = power_through((1, 10), (2, 200))
    assert found.exponent == pytest.approx(2)
    assert found.factor == pytest.approx(2)
    assert found.low is None and found.high is None


@pytest.mark.parametrize(("x", "y"), [((1,), (1,)), ((1, 1), (1, 2)), ((1, 2), (0, 1))])
def test_no_line_goes_through_less(x, y):
    with pytest.raises(ConfigurationError, match="at least two different points"):
        power_through(x, y)


def test_real_work_can_be_timed_and_kept():
    lengths = (4, 8, 16)
    step = step_of(tiny().configuration, lengths)
    for work in (step, attention_of(4)):
        found = growth_of("decoder", work, lengths=lengths, seconds=0.1, clock=Ticks())
        assert found.lengths == lengths
        assert Growth.from_json(found.to_json()) == found


class Ticks(Clock):
    """A second at each look, so that no time is zero."""

    def __call__(self):
        self.now += 1.0
        return self.now
