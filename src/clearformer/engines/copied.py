"""A copy of this process that does one kind of work, again and again.

Threads that make many small calls wait for the interpreter's lock; processes have one each. A copy
(`fork`) has everything that this process had when it was made, so nothing is sent to it but what
changes from call to call, and what is shared needs not be sent at all. Only where Linux is.
"""

import ctypes
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib import _bootstrap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

from clearformer.engines.signals import signals_wait
from clearformer.engines.threads import begin_as_one_of_several

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

OPEN_FILES = Path("/proc/self/fd")
"""Numbers of what this process has open."""

TIME_TO_END, LOOK = 5.0, 0.001
"""Seconds that a copy has to end by itself, when it waits for work; and how often that is seen."""

QUIET = 2.0
"""Seconds for which it is waited that no other thread imports something: a copy that wanted the
same would wait for ever."""

LATE, TIMES = 10.0, 20.0
"""A copy is stuck from which nothing comes for so many seconds and so many times as long as its
parent took, or as it took itself at most: it may wait for a lock that another thread of the parent
had."""

LONG = 65_536
"""Bytes of a message that may have to wait until it is read."""

PARENT_DEATH_SIGNAL = 1
"""Linux's name of it in `prctl`."""

GOODBYE = None
"""What a copy is told at the end."""


class Taking(Protocol):
    """Something that a copy may leave something to: see `leave`."""

    def take(self, *what: Any) -> None:
        """Takes it."""


class Copied:
    """`with Copied(work) as there:` has a copy call work(*arguments), again and again.

    `answer = there.begin(*arguments)` asks it to; answer() waits, and returns what `work` did. What
    it has written into shared memory is there then. The copy ends when this process does, however
    it ends.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        """Nothing is copied yet."""
        self._work = work
        self._process = 0
        self._connection: Connection[Any, Any] | None = None
        self._begun, self._longest, self._asked = 0.0, 0.0, 0

    def __enter__(self) -> "Copied":
        """Copies; where the system refuses, nobody will answer."""
        try:
            self._copy()
        except BaseException:  # Ctrl-C, which had to wait
            self.__exit__(True)
            raise
        return self

    def _copy(self) -> None:
        from multiprocessing import Pipe  # some milliseconds, for whoever trains

        if not _wait_for(_nobody_imports, QUIET):
            return
        parent, end_with = os.getpid(), ctypes.CDLL(None).prctl
        mine, its = Pipe()
        with its, signals_wait(), warnings.catch_warnings():
            # of threads that may hold locks: whoever waits for one of these is given up
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                self._process = os.fork()
            except (OSError, RuntimeError):  # the system, or an interpreter that ends
                mine.close()
                return
            if not self._process:
                _serve(its, self._work, lambda: _end_with(parent, end_with))
            self._connection = mine

    def __exit__(self, mistake: object, *_: object) -> None:
        """Ends it; at once after a mistake, when it may be at work."""
        if self._connection and not mistake:
            with suppress(OSError):
                self._connection.send(GOODBYE)
        self._give_up()
        if self._process:
            with suppress(ChildProcessError):  # somebody else has waited for it
                _end(self._process, 0 if mistake else TIME_TO_END)
            self._process = 0

    @property
    def is_there(self) -> bool:
        """Whether somebody will answer, as far as is known."""
        return self._connection is not None

    def begin(self, *arguments: Any) -> Callable[[], Any]:
        """Asks, and waits for nothing.

        Returns:
            A function, to be called before the next `begin`: it waits, and returns what `work` did;
            None where it failed or nobody is there. Do it here, then.
        """
        self._begun = time.monotonic()
        self._asked += 1
        if self._connection:
            try:
                self._send((self._asked, arguments))
            except OSError:
                self._give_up()
            except BaseException:  # Ctrl-C in the middle of it
                self._give_up()
                raise
        return self._answer

    def _send(self, told: Any) -> None:
        """Sends; who does not read a long message, and has not since long, is ended."""
        from multiprocessing.reduction import ForkingPickler

        connection, data = self._connection, ForkingPickler.dumps(told)
        if connection is None:
            return
        if len(data) <= LONG:
            connection.send_bytes(data)
            return
        watch = threading.Timer(LATE, os.kill, (self._process, signal.SIGKILL))
        watch.daemon = True
        watch.start()
        try:
            connection.send_bytes(data)
        finally:
            watch.cancel()

    def _answer(self) -> Any:
        if not self._connection:
            return None
        try:
            asked = 0
            while asked != self._asked:  # what nobody has waited for comes first
                if not self._comes(self._connection):
                    self._kill()
                    raise EOFError
                asked, answer, left = self._connection.recv()
            self._longest = max(self._longest, time.monotonic() - self._begun)
        except (OSError, EOFError):
            self._give_up()
            return None
        except BaseException:  # Ctrl-C in the middle of an answer
            self._give_up()
            raise
        for place, what in left:
            known = _known.get(place)
            if thing := known and known():
                thing.take(*what)
        return answer

    def _comes(self, connection: "Connection[Any, Any]") -> bool:
        """Looks for an answer second by second: time in which everything was stopped is one."""
        taken = max(time.monotonic() - self._begun, self._longest)
        patience = LATE + TIMES * taken
        return any(connection.poll(1) for _ in range(int(patience)))

    def _kill(self) -> None:
        """Ends it, and waits: from then on it writes nothing."""
        with suppress(ChildProcessError):
            _end(self._process, 0)
        self._process = 0

    def _give_up(self) -> None:
        """Nobody is there any more, or is to be."""
        if self._connection:
            self._connection.close()
        self._connection = None


_known: dict[int, "ref[Taking]"] = {}  # plain ones: at their end no code runs
_left: list[tuple[int, tuple[Any, ...]]] | None = None
"""In a copy, what it leaves to its parent with the next answer."""


def may_be_left(thing: Taking) -> None:
    """Before there are copies: they may `leave` something to this thing."""
    for place, known in list(_known.items()):
        if known() is None:
            _known.pop(place, None)
    _known[id(thing)] = ref(thing)


def leave(thing: Taking, *what: Any) -> None:
    """Calls thing.take(*what); from a copy, its parent does, when it has the answer.

    So work that a copy began and did not end has changed nothing that it reads.
    """
    if _left is None:
        thing.take(*what)
    else:
        _left.append((id(thing), what))


def _serve(
    connection: "Connection[Any, Any]", work: Callable[..., Any], prepare: Callable[[], None]
) -> None:
    """What a copy does, until nobody is at the other end any more."""
    global _left  # it is another one in each process
    try:
        prepare()
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _let_go(connection.fileno())
        begin_as_one_of_several()
        while (told := connection.recv()) is not GOODBYE:
            _left, (asked, arguments) = [], told
            try:
                answer = work(*arguments)
            except Exception:  # the parent will meet the same, and tell of it
                answer, _left = None, []
            connection.send((asked, answer, _left))
    except (OSError, EOFError):
        pass
    finally:
        os._exit(0)  # nothing that the parent has begun is ended here


def _end_with(parent: int, prctl: Any) -> None:
    """Has Linux end this process with the thread that made it, also if it waits for a lock then."""
    prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended already
        os._exit(0)


def _let_go(but: int) -> None:
    """Lets go what the parent has open, so that a lock of its is free when it has let go of it.

    The numbers stay taken, by nothing: objects that were copied too may close them yet.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in {0, 1, 2, *(int(path.name) for path in OPEN_FILES.iterdir())} - {but, nothing}:
        with suppress(OSError):
            os.dup2(nothing, number, inheritable=False)


def _end(process: int, seconds: float) -> None:
    """Waits until a child has ended; from then on does not wait for it to do so by itself."""
    if not _wait_for(lambda: bool(os.waitpid(process, os.WNOHANG)[0]), seconds):
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)


def _wait_for(is_so: Callable[[], bool], seconds: float) -> bool:
    """Whether it has become so in this time."""
    end = time.monotonic() + seconds
    while not (found := is_so()) and time.monotonic() < end:
        time.sleep(LOOK)
    return found


def _nobody_imports() -> bool:
    """Whether no other thread is in the middle of an import, as far as Python tells."""
    locks = getattr(_bootstrap, "_module_locks", {})  # its own; where it is not, nothing is known
    owners = {getattr(each(), "owner", None) for each in list(locks.values())}
    return owners <= {None, threading.get_ident()}
