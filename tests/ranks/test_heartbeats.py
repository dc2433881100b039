"""Who is alive, and who tells: laws of the store that all ranks share."""

import time

import pytest

dist = pytest.importorskip("torch.distributed", reason="several processes need PyTorch")

from clearformer.engines.torch.heartbeats import Heartbeats  # noqa: E402

RANKS = 3


@pytest.fixture(scope="module")
def server():
    return dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)


@pytest.fixture
def all_ranks(server, request):
    store = dist.PrefixStore(request.node.name, server)
    return [Heartbeats(store, rank, RANKS) for rank in range(RANKS)]


def beat(*several, times=1):
    for _ in range(times):
        for one in several:
            one.beat()


def test_whoever_beats_is_not_missing(all_ranks):
    beat(*all_ranks, times=5)
    assert [one.missing(2) for one in all_ranks] == [[], [], []]


@pytest.mark.parametrize("gone", range(RANKS))
def test_whoever_falls_silent_is_missing_to_all_others(gone, all_ranks):
    beat(*all_ranks, times=2)
    left = [one for rank, one in enumerate(all_ranks) if rank != gone]
    beat(*left, times=4)
    for one in left:
        assert one.missing(3) == [gone]
        assert one.missing(6) == []


def test_whoever_was_slow_is_heard_again(all_ranks):
    beat(*all_ranks[1:], times=9)
    assert all_ranks[1].missing(5) == [0]
    beat(*all_ranks, times=2)
    assert all_ranks[1].missing(5) == []


def test_time_in_which_nobody_beats_does_not_count(all_ranks):
    """A computer that was asleep, or a whole machine that was stopped."""
    beat(*all_ranks, times=2)
    time.sleep(0.2)
    assert all(one.missing(2) == [] for one in all_ranks)


def test_one_rank_tells_and_all_hear_of_it(all_ranks):
    beat(*all_ranks)
    assert not any(one.told for one in all_ranks)
    assert [one.claim() for one in all_ranks] == [True, False, False]
    beat(*all_ranks)
    assert all(one.told for one in all_ranks)


def test_without_the_store_rank_0_tells(all_ranks):
    for one in all_ranks:
        one._store = Broken()
    assert [one.claim() for one in all_ranks] == [True, False, False]


class Broken:
    def add(self, *_):
        raise dist.DistNetworkError("connection reset")
