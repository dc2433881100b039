"""Laws of the number of BLAS threads: one inside, as many as before when the last has left."""

import threading

from clearformer.engines.threads import LARGE, one_blas_thread, threads_for_generation


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
