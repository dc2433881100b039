"""The `clearformer` command, also as `python -m clearformer`."""

import sys


def start() -> None:
    """Loads the command line and runs it; Ctrl-C while it loads ends it in one line, too."""
    try:
        from clearformer.cli.main import entry

        entry()
    except KeyboardInterrupt:
        if sys.stderr is not None:  # None: closed from the start
            sys.stderr.write("clearformer: interrupted\n")
        sys.exit(130)


if __name__ == "__main__":
    start()
