"""Laws of the table of speed: what is absent, fails or is stopped costs nothing of the rest."""

import pytest

from clearformer.benchmarking.bench import Listener, bench, chosen
from clearformer.benchmarking.goal import Goal
from clearformer.benchmarking.report import Report
from clearformer.benchmarking.row import Request, Row
from clearformer.benchmarking.rows import ROWS
from clearformer.errors import ClearformerError, ConfigurationError
from clearformer.explanation.lines import cell_width
from clearformer.text.corpus import Corpus

REQUEST = Request(Corpus("a text", ("given",), ()))


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    monkeypatch.setattr("clearformer.benchmarking.bench.busy_share", lambda: 0.0)


def row(key, goal=None, against="", **sides):
    def measure(request, progress):
        progress(0.5)
        report = Report(key, {}, "s")
        report.take({name.replace("_", " "): samples for name, samples in sides.items()})
        return report

    return Row(key, {"en": key, "ja": key}, "s", goal or Goal(1.0), "get it", measure, against)


def failing(error):
    def measure(request, progress):
        raise error

    return Row("failing", {"en": "x", "ja": "x"}, "s", Goal(1.0), "", measure)


def found(*rows):
    return bench(rows, REQUEST).document()["rows"]


def test_a_ratio_is_ours_over_the_peer_turn_by_turn():
    (told,) = found(row("a", clearformer=[1.0, 2.0, 9.0], peer=[2.0, 8.0, 9.0]))
    assert told["ratio"]["samples"] == [0.5, 0.25, 1.0]
    assert (told["ratio"]["median"], told["reached"], told["peer"]) == (0.5, True, "peer")


def test_of_several_peers_the_best_is_meant_unless_one_is_named():
    sides = {"clearformer": [3.0], "slow": [9.0], "fast": [2.0]}
    assert found(row("a", **sides))[0]["peer"] == "fast"
    assert found(row("a", against="slow", **sides))[0]["peer"] == "slow"
    more_is_better = Goal(1.0, at_least=True)
    assert found(row("a", more_is_better, **sides))[0]["peer"] == "slow"
    assert found(row("a", more_is_better, **sides))[0]["reached"] is False


def test_without_its_peer_a_row_tells_how_to_get_it_and_reaches_nothing():
    (told,) = found(row("a", clearformer=[1.0]))
    assert (told["peer"], told["ratio"], told["reached"]) == (None, None, None)
    assert told["how_to_get_the_peer"] == "get it"
    assert found(row("a", against="named", clearformer=[1.0], other=[1.0]))[0]["peer"] is None


def test_a_goal_of_our_own_needs_no_peer():
    assert found(row("a", Goal(2.0, "ours"), clearformer=[1.0]))[0]["reached"] is True
    assert found(row("a", Goal(2.0, "ours"), clearformer=[3.0], peer=[9.0]))[0]["reached"] is False


def test_a_row_that_fails_is_told_and_the_others_are_measured():
    first, second = found(failing(ClearformerError("no")), row("a", clearformer=[1.0]))
    assert (first["fault"], first["ours"], first["reached"]) == ("no", None, None)
    assert second["ours"]["median"] == 1.0


def test_stopped_in_the_middle_it_keeps_what_was_measured():
    done = bench([row("a", clearformer=[1.0]), failing(KeyboardInterrupt()), row("b")], REQUEST)
    assert done.interrupted
    assert [each.row.key for each in done.findings] == ["a"]


def test_a_listener_hears_every_row_and_how_far_it_is():
    heard = []

    class Ear(Listener):
        def begins(self, row, number, rows):
            heard.append((row.key, number, rows))
            return heard.append

        def found(self, finding):
            heard.append(finding.ours.median)

    bench([row("a", clearformer=[1.0]), row("b", clearformer=[2.0])], REQUEST, Ear())
    assert heard == [("a", 1, 2), 0.5, 1.0, ("b", 2, 2), 0.5, 2.0]


def test_rows_are_chosen_by_their_key_or_its_beginning():
    keys = [row.key for row in chosen(ROWS, ["training", "start-help"])]
    assert keys == ["training-small", "training-medium", "start-help"]
    assert chosen(ROWS, []) == list(ROWS)
    with pytest.raises(ConfigurationError, match="no row 'speed'; there are time-to-quality"):
        chosen(ROWS, ["speed"])


def test_every_row_has_a_key_and_titles_of_its_own_that_fit():
    assert len({row.key for row in ROWS}) == len(ROWS)
    for language in ("en", "ja"):
        titles = [row.title[language] for row in ROWS]
        assert len(set(titles)) == len(titles)
        assert all(cell_width(title) <= 20 for title in titles)
