"""What several processes compute is what one computes of the same batch."""

from functools import cache

import pytest

from ranks.curves import CASES, STEPS, curve
from ranks.plans import FOUR, gone_through

pytest.importorskip("torch", reason="several processes need PyTorch (extra torch)")

TOLERANCE = {"float64": 1e-12, "float32": 1e-6, "bfloat16": 2e-2}

GROWS = {"adamw": 1, "muon": 10}
"""Where a gradient is nearly zero it is mostly rounding, and Muon makes that as large as others."""

ON_TWO = [f"{name}, {parallel}" for name in CASES for parallel in ("replicate", "shard")]
ON_FOUR = [name for name in ON_TWO if name.split(",")[0] in FOUR[0][2][0]]


def case_of(name):
    return CASES[name.split(",")[0]]


def tolerance(name):
    case = case_of(name)
    return TOLERANCE["bfloat16" if case.precision == "bfloat16" else case.dtype]


def near(name, found, times=1):
    bound = times * tolerance(name)
    return pytest.approx(found, rel=bound, abs=bound)


@cache
def curve_of_one(name):
    return curve(CASES[name])


def require_the_curve_of_one(name, results):
    alone = curve_of_one(name.split(",")[0])
    for rank in results:
        told = rank["curves"][name]
        for what in ("losses", "norms", "evaluations"):
            assert told[what] == near(name, alone[what]), what
        for found, expected in zip(told["weights"], alone["weights"], strict=True):
            assert found == near(name, expected, GROWS[case_of(name).optimizer])


@pytest.mark.parametrize("name", ON_TWO)
def test_two_processes_learn_as_one(name, two):
    require_the_curve_of_one(name, two)


@pytest.mark.parametrize("name", ON_FOUR)
def test_four_processes_learn_as_one(name, four):
    require_the_curve_of_one(name, four)


def test_every_rank_makes_equally_many_steps_and_ends_in_the_same_weights(two, four):
    for results in (two, four):
        for name, told in results[0]["curves"].items():
            for rank in results:
                assert rank["curves"][name]["steps"] == STEPS
                assert rank["curves"][name]["weights"] == told["weights"], name


def test_an_evaluation_changes_nothing(two):
    for parallel in ("replicate", "shard"):
        with_it = two[0]["curves"][f"evaluated on the way, {parallel}"]
        assert len(with_it["evaluations"]) == 1
        assert with_it["losses"] == two[0]["curves"][f"float64, {parallel}"]["losses"]


def test_a_rank_that_shards_holds_its_part_only(two, four):
    for results in (two, four):
        whole = results[0]["curves"]["float64, replicate"]["held"]
        parts = [rank["curves"]["float64, shard"]["held"] for rank in results]
        assert sum(parts) == whole
        assert max(parts) < 1.3 * whole / len(parts)  # sizes that do not divide are rounded up


@pytest.mark.long
def test_fifty_times_ranks_with_nothing_to_do_keep_in_step(tmp_path):
    cases = ["ranks without a row", "parts without a row"]
    plan = [(f"round {number}", "curves", [cases]) for number in range(50)]
    _, results = gone_through(plan, 4, tmp_path)
    for name, _, _ in plan:
        for rank in results:
            for told in rank[name].values():
                assert told["steps"] == STEPS
