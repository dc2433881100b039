"""What is known of kernels without them: when a training has any, and that one is being compiled.

To compile takes seconds, once per installation, and whoever waits hears of it. Only the compiler
knows whether what it has kept is still good, so it tells; nothing here imports it. See
`engines.numpy.compiled.kernel`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

TRAINING = 60.0
"""Seconds that training is taken to last, so that it uses kernels where there are any. Whether it
does must not depend on how many steps are left, or a run gone on with would get other numbers."""

Ear = Callable[[str], None]
"""Hears a sentence for a person; may be called from any thread."""

_ears: list[Ear] = []
_told: list[str] = []


@contextmanager
def kernels_heard_by(ear: Ear) -> Iterator[None]:
    """Inside, `ear` hears of every kind of kernel that is being compiled, once of each."""
    heard: set[str] = set()

    def once(sentence: str) -> None:
        if sentence not in heard:
            heard.add(sentence)
            ear(sentence)

    _ears.append(once)
    try:
        yield
    finally:
        _ears.remove(once)


def kernels_compiled() -> int:
    """How many this process has begun to compile; more than before is where the time went."""
    return len(_told)


def tell(sentence: str) -> None:
    """Says it to everybody who is listening in this process."""
    _told.append(sentence)
    for ear in tuple(_ears):
        ear(sentence)
