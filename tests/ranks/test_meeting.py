"""How processes find each other: on which network, on which devices, and what is refused."""

import os
from datetime import timedelta

import pytest

from clearformer.engines import ranks
from clearformer.errors import ConfigurationError, ElsewhereError, RunError

dist = pytest.importorskip("torch.distributed", reason="several processes need PyTorch")

from clearformer.engines.torch import meeting  # noqa: E402

NAMES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")


@pytest.fixture
def environment(monkeypatch):
    """Sets what torchrun sets."""

    def put(**values):
        for name in (*NAMES, "MASTER_ADDR", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "RANK", "LOCAL_RANK"):
            monkeypatch.delenv(name, raising=False)
        for name, value in values.items():
            monkeypatch.setenv(name, value)

    put()
    return put


@pytest.mark.parametrize(
    ("told", "stays"),
    [
        ({"WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "this-host"}, True),
        ({"WORLD_SIZE": "4", "MASTER_ADDR": "127.0.0.1"}, True),
        ({"WORLD_SIZE": "4", "MASTER_ADDR": "localhost"}, True),
        ({"WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "MASTER_ADDR": "node-1"}, False),
        ({"WORLD_SIZE": "8", "MASTER_ADDR": "node-1"}, False),
    ],
)
def test_what_is_opened_stays_on_one_machine_unless_there_are_several(
    told, stays, environment, monkeypatch
):
    monkeypatch.setattr(meeting.sys, "platform", "linux")
    environment(**told)
    meeting._stay_on_this_machine()
    assert [os.environ.get(name) for name in NAMES] == (["lo", "lo"] if stays else [None, None])


def test_a_network_that_is_named_is_taken(environment, monkeypatch):
    monkeypatch.setattr(meeting.sys, "platform", "linux")
    environment(WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", GLOO_SOCKET_IFNAME="eth1")
    meeting._stay_on_this_machine()
    assert os.environ["GLOO_SOCKET_IFNAME"] == "eth1"


def refused(device):
    with pytest.raises(ConfigurationError) as caught:
        meeting._require_device(device)
    return str(caught.value)


def test_each_process_needs_a_gpu_of_its_own(environment, monkeypatch):
    environment(WORLD_SIZE="4", LOCAL_RANK="2")
    monkeypatch.setattr(meeting.torch.cuda, "device_count", lambda: 2)
    assert "there are 2 CUDA devices here" in refused("cuda:2")
    assert "got cuda:1 for all" in refused("cuda:1")


def test_several_processes_do_not_train_on_mps():
    assert "got mps; add --device cpu" in refused("mps")


def test_whoever_does_not_come_is_named():
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    store.set_timeout(timedelta(seconds=5))
    store.set("rank 2", "here")
    with pytest.raises(RunError, match=r"^rank 1, rank 3 of 4 did not come within 0.2 s"):
        meeting._wait_for_all(store, 0, 4, 0.2)
    with pytest.raises(ElsewhereError):
        meeting._wait_for_all(store, 2, 4, 0.2)


def test_several_processes_without_torchrun_are_refused(environment):
    environment(WORLD_SIZE="2")
    with pytest.raises(ConfigurationError, match="start them with torchrun"):
        meeting.meet("cpu")


def test_without_torchrun_there_is_one_process(environment):
    assert (ranks.processes_here(), ranks.rank_here(), ranks.place_here()) == (1, 0, 0)


def test_a_rank_without_a_number_of_ranks_means_nothing(environment):
    environment(RANK="3", LOCAL_RANK="1")
    assert (ranks.rank_here(), ranks.place_here()) == (0, 0)


def test_a_number_of_processes_that_is_none_is_refused(environment):
    environment(WORLD_SIZE="many", RANK="0")
    with pytest.raises(ConfigurationError, match="got 'many'"):
        ranks.processes_here()
    assert ranks.rank_here() == 0
