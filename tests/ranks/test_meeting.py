"""How processes find each other: on which network, on which devices, and what is refused."""

import os
import socket
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
        for name in (
            *NAMES,
            "MASTER_ADDR",
            "MASTER_PORT",
            "WORLD_SIZE",
            "LOCAL_WORLD_SIZE",
            "RANK",
            "LOCAL_RANK",
        ):
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


@pytest.mark.parametrize("rank", ["2", "-1", "one", "9" * 5000])
def test_a_rank_that_is_none_is_refused_and_nobody_is_waited_for(environment, rank):
    environment(WORLD_SIZE="2", RANK=rank, MASTER_ADDR="127.0.0.1", MASTER_PORT="1")
    with pytest.raises(ConfigurationError, match="RANK must be a number below WORLD_SIZE=2"):
        meeting.meet("cpu")


def test_a_port_that_is_taken_is_told_in_one_line(environment):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        environment(WORLD_SIZE="2", RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
        with pytest.raises(RunError, match=f"rank 0 could not meet the others at 127.0.0.1:{port}"):
            meeting._met(5)


def test_a_first_rank_that_is_not_there_is_not_waited_for_for_ever(environment):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environment(WORLD_SIZE="2", RANK="1", MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    with pytest.raises(RunError, match=r"within 0\.5 s") as caught:
        meeting._met(0.5)
    assert len(str(caught.value).splitlines()) == 1


def test_without_torchrun_there_is_one_process(environment):
    assert (ranks.processes_here(), ranks.rank_here(), ranks.place_here()) == (1, 0, 0)


def test_a_rank_without_a_number_of_ranks_means_nothing(environment):
    environment(RANK="3", LOCAL_RANK="1")
    assert (ranks.rank_here(), ranks.place_here()) == (0, 0)


@pytest.mark.parametrize("told", ["many", "0", "-1", "99999999999999999999", "9" * 5000])
def test_a_number_of_processes_that_is_none_is_refused(environment, told):
    environment(WORLD_SIZE=told, RANK="0")
    with pytest.raises(ConfigurationError, match=f"got '{told}'"):
        ranks.processes_here()
    assert ranks.rank_here() == 0
