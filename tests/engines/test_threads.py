"""Laws of the number of BLAS threads: one inside, as many as before when the last has left."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from clearformer.engines import threads
from clearformer.engines.numpy.learner import Learner
from clearformer.engines.threads import (
    LARGE,
    one_blas_thread,
    over_threads,
    share_out,
    threads_allowed,
    threads_for_generation,
)
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.next_token import next_token_loss
from engines.runners import needs_torch

THREADS = "clearformer.engines.threads"


def tiny_model():
    sizes = {"layers": 1, "heads": 1, "embed": 2, "context": 2}
    return build_decoder(ModelConfiguration(3, **sizes), np.random.default_rng(0))


def number() -> list[int]:
    from threadpoolctl import threadpool_info

    return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]


def test_of_several_threads_the_last_gives_back_what_the_first_took():
    before = number()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    other = threading.Thread(target=second.__enter__)
    other.start()
    other.join()
    first.__exit__(None, None, None)
    assert set(number()) <= {1}
    second.__exit__(None, None, None)
    assert number() == before


def test_a_small_model_writes_with_one_blas_thread_and_a_large_one_as_it_was():
    before = number()
    with threads_for_generation(LARGE - 1):
        assert set(number()) == {1}
    with threads_for_generation(LARGE):
        assert number() == before
    assert number() == before


@needs_torch
def test_each_thread_has_as_many_of_pytorch_as_before_once_it_has_left():
    """There each thread has a number of its own."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        first, second = one_blas_thread(), one_blas_thread()
        with ThreadPoolExecutor(1) as other:
            first.__enter__()
            other.submit(second.__enter__).result()
            assert torch.get_num_threads() == other.submit(torch.get_num_threads).result() == 1
            first.__exit__(None, None, None)
            assert torch.get_num_threads() == 3
            assert other.submit(torch.get_num_threads).result() == 1
            other.submit(second.__exit__, None, None, None).result()
            assert torch.get_num_threads() == other.submit(torch.get_num_threads).result() == 3
    finally:
        torch.set_num_threads(before)


@needs_torch
def test_who_is_inside_twice_goes_on_as_before_the_second_time():
    """Such as a model that is trained, and writes a sample on the way."""
    import torch

    before = torch.get_num_threads()
    with one_blas_thread():
        for number in (1, 2):
            torch.set_num_threads(number)
            with one_blas_thread():
                assert torch.get_num_threads() == 1
            assert torch.get_num_threads() == number
    assert torch.get_num_threads() == before


def test_who_has_not_loaded_pytorch_need_not(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with one_blas_thread():
        assert set(number()) <= {1}


def test_one_of_several_threads_starts_no_further_ones():
    with threadpool_limits(2, user_api="blas"), patch(f"{THREADS}.processors", lambda: 2):
        assert threads_allowed() == 2
        assert over_threads(lambda _: threads_allowed(), range(4)) == [1] * 4
        with Learner(tiny_model(), next_token_loss, workers=2).running():
            assert threads_allowed() == 1
        with one_blas_thread():  # the products are short; the work may be shared out all the same
            assert threads_allowed() == 2
        assert threads_allowed() == 2


def test_as_many_threads_are_allowed_as_a_product_may_use():
    with patch(f"{THREADS}.processors", lambda: 3):
        for limit, allowed in ((1, 1), (2, 2), (5, 3)):
            with threadpool_limits(limit, user_api="blas"):
                assert threads_allowed() == allowed


def test_each_job_is_done_once():
    begun, done = [], []

    def begin():
        begun.append(None)
        return done.append

    for number in (1, 2, 4):
        begun.clear()
        done.clear()
        with patch(f"{THREADS}.threads_allowed", lambda number=number: number):
            share_out(begin, range(30))
        assert sorted(done) == list(range(30))
        assert len(begun) == number


@pytest.mark.parametrize("in_the_caller", [True, False])
def test_a_mistake_in_a_job_is_raised_and_ends_the_work(in_the_caller):
    caller, both_here, made = threading.current_thread(), threading.Barrier(2), threading.Event()

    def begin():
        both_here.wait()
        return do

    def do(job):
        if (threading.current_thread() is caller) == in_the_caller:
            made.set()
            raise ValueError("a mistake")
        made.wait()

    before = number()
    with (
        patch(f"{THREADS}.threads_allowed", lambda: 2),
        pytest.raises(ValueError, match="a mistake"),
    ):
        share_out(begin, range(1000))
    assert number() == before


ENDS = """
import atexit, os, threading, time
from unittest.mock import patch

from clearformer.engines import threads

def jobs():
    done = []
    with patch("clearformer.engines.threads.processors", lambda: 2):
        threads.share_out(lambda: done.append, range(30))
    print(*sorted(done))

def late():
    while threading.main_thread().is_alive():
        time.sleep(0.01)
    jobs()

jobs()
atexit.register(jobs)
threading.Thread(target=late).start()
"""


def test_work_is_shared_out_until_the_interpreter_has_ended():
    asked = {"capture_output": True, "text": True, "timeout": 120}
    ended = subprocess.run([sys.executable, "-c", ENDS], check=True, **asked)
    assert ended.stdout == 3 * f"{' '.join(map(str, range(30)))}\n"
    assert ended.stderr == ""


FORKS = """
import os
from threading import Event, Thread

from clearformer.engines import threads

inside, leave = Event(), Event()

def other():
    with threads.one_blas_thread():
        inside.set()
        leave.wait()

before = threads._threads_of(threads._loaded_blas())
thread = Thread(target=other)
thread.start()
inside.wait()
child = os.fork()
if not child:
    alone = threads._threads_of(threads._loaded_blas()) == before
    with threads.one_blas_thread():
        alone = alone and threads._threads_of(threads._loaded_blas()) == 1
    os._exit(not alone or threads.limit.small_products)
leave.set()
thread.join()
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
def test_a_child_does_not_keep_the_limit_of_a_thread_that_it_does_not_have():
    several = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", "-c", FORKS]
    assert subprocess.run(command, env=several, timeout=120, check=False).returncode == 0


@pytest.mark.parametrize("amd", [True, False])
@pytest.mark.parametrize("architecture", ["SkylakeX", "Haswell"])
def test_small_products_pay_with_such_kernels_on_such_processors(monkeypatch, amd, architecture):
    library = SimpleNamespace(internal_api="openblas", architecture=architecture)
    monkeypatch.setattr(threads, "_blas", lambda _: SimpleNamespace(lib_controllers=[library]))
    monkeypatch.setattr(threads, "made_by_amd", lambda: amd)
    threads.small_products_pay.cache_clear()
    try:
        assert threads.small_products_pay() is (amd and architecture == "SkylakeX")
    finally:
        threads.small_products_pay.cache_clear()
