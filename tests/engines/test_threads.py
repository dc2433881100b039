"""Laws of the number of BLAS threads: one inside, as many as before when the last has left."""

import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from clearformer.engines.threads import LARGE, one_blas_thread, threads_for_generation
from engines.runners import needs_torch


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
