import pytest

from clearformer.comparison.report.drawing import LINE, spread_out
from clearformer.comparison.report.figures import significant
from clearformer.comparison.report.lines import inside
from clearformer.comparison.report.scale import Scale, count_label, number_label, widened


@pytest.mark.parametrize("powers", [False, True])
def test_a_scale_goes_from_end_to_end(powers):
    scale = Scale(1, 100, 10, 30, powers)
    assert scale(1) == pytest.approx(10)
    assert scale(100) == pytest.approx(30)
    assert scale(10) == pytest.approx(20 if powers else 10 + 20 * 9 / 99)


def test_ticks_are_round_and_within():
    assert Scale(0.13, 1.02, 0, 1).ticks(5) == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert Scale(0, 300_000, 0, 1).ticks(4) == [0.0, 100_000.0, 200_000.0, 300_000.0]
    assert Scale(2e-9, 3, 0, 1, True).ticks(4) == pytest.approx([1e-6, 1e-3, 1])
    assert Scale(2, 9, 0, 1, True).ticks(4) == [2, 5]


def test_numbers_at_an_axis_are_short():
    assert number_label(0) == "0"
    assert number_label(0.25) == "0.25"
    assert number_label(1e-6) == "10⁻⁶"
    assert number_label(2.5e7) == "2.5·10⁷"
    assert count_label(300_000) == "300k"
    assert count_label(1_500_000) == "1.5M"


def test_small_and_large_numbers_are_powers_of_ten():
    assert significant(1.86e-6) == "1.9·10⁻⁶"
    assert significant(0.0612) == "0.0612"
    assert significant(20_486.0) == "20,500"
    assert significant(0) == "0"


def test_labels_do_not_lie_on_each_other():
    places = spread_out([50, 51, 52, 10, 99], 0, 100)
    assert all(abs(a - b) >= LINE - 1e-9 for n, a in enumerate(places) for b in places[:n])
    assert min(places) >= 0 and max(places) <= 100
    order = sorted(range(5), key=lambda number: places[number])
    assert order == [3, 0, 1, 2, 4]


def test_labels_with_room_stay_where_they_are():
    assert spread_out([10, 40, 70], 0, 100) == [10, 40, 70]
    assert spread_out([], 0, 100) == []


def test_a_line_ends_where_it_leaves_the_picture():
    across, up = Scale(0, 10, 0, 10), Scale(1e-4, 1, 0, 1, True)
    points = [(1.0, 1.0), (2.0, 1e-2), (3.0, 1e-6), (4.0, 1e-8)]
    assert inside(points, across, up) == [(1.0, 1.0), (2.0, 1e-2), (2.5, 1e-4)]


def test_a_line_that_comes_from_outside_begins_at_the_edge():
    across, up = Scale(0, 10, 0, 10), Scale(0, 2, 0, 1)
    assert inside([(0.0, 4.0), (1.0, 0.0)], across, up) == [(0.5, 2.0), (1.0, 0.0)]


def test_equal_numbers_have_room_around_them():
    assert widened([3.0, 3.0])[0] < 3 < widened([3.0, 3.0])[1]
    assert widened([0.0])[0] < 0 < widened([0.0])[1]
