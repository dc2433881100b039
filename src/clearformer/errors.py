"""Every error a user can meet, drawn once.

    ClearformerError            status 2, one line, no traceback (see `cli`)
    ├── ConfigurationError      an option or a combination of options
    │   └── StageError          a step of a trace that is not there (in `explanation.trace`)
    ├── TextError               a file of text, or what is in it
    ├── TokenizerError          a tokenizer that cannot be built, read or trusted
    ├── ShapeError              arrays whose axes do not fit together
    ├── RunError                a run folder: missing, taken, damaged, not writable
    ├── NotFiniteError          training met NaN or infinity and stopped before the update
    └── ElsewhereError          another process of the same run has failed, and says why
    Interrupted                 Ctrl-C while training, after everything was saved: status 130

Each message says what was expected, what arrived and what to do, in one line.
"""


class ClearformerError(Exception):
    """Base of all errors raised on purpose; `str(error)` is one line for a person to read."""


class ConfigurationError(ClearformerError, ValueError):
    """An option, or options together, that cannot work."""


class TextError(ClearformerError, ValueError):
    """A text that cannot be read or is not usable as a corpus."""


class TokenizerError(ClearformerError, ValueError):
    """A tokenizer that cannot be built, or a saved one that cannot be trusted."""


class ShapeError(ClearformerError, ValueError):
    """Arrays whose axes do not fit together."""


class RunError(ClearformerError, OSError):
    """A run folder that is missing, taken, damaged or not writable."""


class NotFiniteError(ClearformerError, ArithmeticError):
    """A loss, gradient or weight became NaN or infinite; nothing was updated with it."""


class ElsewhereError(ClearformerError):
    """Another process of the same run has failed and says why; this one has nothing to add."""


class Interrupted(KeyboardInterrupt):
    """Training was asked to stop; it finished its step and saved. `signal` is the number heard."""

    def __init__(self, message: str, signal: int):
        super().__init__(message)
        self.signal = signal
