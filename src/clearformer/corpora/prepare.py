"""Prepares a text: a survey, a tokenizer, a plan, and a shard for each part of the plan.

What is finished is kept: started again with the same text and options it goes on.
"""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from clearformer.corpora.crew import Crew
from clearformer.corpora.place import DATA, PLAN, TOKENIZER, is_begun, require_room_for_data
from clearformer.corpora.plan import LARGEST_VOCABULARY
from clearformer.corpora.request import Request
from clearformer.corpora.sizes import Sizes
from clearformer.corpora.watch import Progress, StoppedError, Watch
from clearformer.corpora.work import Outcome, Work
from clearformer.engines.threads import processors
from clearformer.errors import ConfigurationError, Interrupted
from clearformer.text.text_file import require_files
from clearformer.text.tokenizer import tokenizer_class
from clearformer.training.durable import in_one_line
from clearformer.training.interrupt import Interrupt
from clearformer.training.lock import NAME as LOCK
from clearformer.training.lock import RunLock
from clearformer.training.portable_name import require_portable

SMALL = 1 << 23
"""Bytes of text for each process: fewer are not worth starting one."""

MOST_WORKERS = 61 if sys.platform == "win32" else 1024
"""What Windows can wait for at once; elsewhere far more than pay."""


def prepare(
    text: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    tokenizer: str = "characters",
    vocab: int | None = None,
    encoding: str = "utf-8",
    workers: int | None = None,
    watch: Watch | None = None,
    sizes: Sizes | None = None,
) -> Outcome:
    """Makes a folder of ids of a text of any size, to train on with `train(out)`.

    With more than one worker, a script that calls this must be guarded by
    `if __name__ == "__main__":`, as the processes begin by importing it.

    Args:
        text: a file or files, read as one text.
        out: the folder; one that was begun with the same text and options is gone on with.
        tokenizer: characters, words or bytepair.
        vocab: at most so many tokens.
        encoding: of the files.
        workers: processes; unless given as many as processors, fewer for a short text.
        watch: hears of the progress.
        sizes: of what is handled at once.

    Raises:
        ConfigurationError: an option that cannot work, or a vocabulary that this text cannot have.
        TextError: the text cannot be read, or is too short.
        RunError: the folder holds something else, is in use, or the disk refuses.
        Interrupted: on Ctrl-C; what is finished is kept.
    """
    tokenizer_class(tokenizer).check_vocabulary(vocab)
    if workers is not None and not 1 <= workers <= MOST_WORKERS:
        raise ConfigurationError(f"workers must be between 1 and {MOST_WORKERS}; got {workers}")
    if vocab is not None and vocab > LARGEST_VOCABULARY:
        raise ConfigurationError(f"vocab must be at most {LARGEST_VOCABULARY:,}; got {vocab}")
    paths = (Path(text),) if isinstance(text, str | Path) else tuple(map(Path, text))
    request = Request(paths, Path(out), tokenizer, vocab, encoding)
    require_room_for_data(request.folder)
    require_files(paths, encoding)
    count = workers or max(1, min(processors(), request.bytes // SMALL, MOST_WORKERS))
    with Interrupt() as interrupt:

        def stop() -> None:
            if interrupt.number is not None:
                raise StoppedError

        progress = Progress(watch or Watch(), stop)
        work = Work(request, sizes or Sizes(), progress)
        try:
            with _claimed(request.folder), Crew(count, progress.look) as crew:
                return work.run(crew)
        except StoppedError:
            raise Interrupted(work.where_it_stands(), interrupt.number or signal.SIGINT) from None


@contextmanager
def _claimed(folder: Path) -> Iterator[None]:
    """Makes the folder and holds its lock; a folder in which nothing was planned does not stay."""
    created = not folder.exists()
    begun, held = not created and is_begun(folder), False
    with in_one_line("make the folder", folder):
        for each in (folder, *folder.parents):
            if not each.exists():
                require_portable(each)
        folder.mkdir(parents=True, exist_ok=True)
    try:
        with RunLock(folder, "prepare a text"):
            held = True
            yield
    except BaseException:
        planned = any((folder / name).exists() for name in (DATA, PLAN))
        if (created or (begun and held)) and not planned:
            with suppress(OSError):
                for name in (TOKENIZER, LOCK):
                    (folder / name).unlink(missing_ok=True)
                folder.rmdir()
        raise
