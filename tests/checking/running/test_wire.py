"""A record survives the way from one process to another; anything else is refused."""

import io

import numpy as np
import pytest

from clearformer.checking.record import Changed, Failure, Outcome, Raised, Record, Style, Warned
from clearformer.checking.running.wire import GarbageError, receive, send
from clearformer.checking.words import Words

KINDS = {"record": Record}


class Pipe(io.BytesIO):
    """Nobody may ask it for more than fits into memory."""

    def read(self, size):
        assert size <= 2**28
        return super().read(size)


def record_with(value):
    raised = Raised("ValueError", "no", 3, "x", {"X": "(3, 4)"})
    outcomes = {
        "one": Outcome({"output": value}, repeats=False, warned=(Warned("w", 4),)),
        "two": Outcome(raised=raised, changed=(Changed("X", 5, "X += 1"),)),
        "three": Outcome(unusable=Words("a list", "リスト"), skipped=True),
    }
    failure = Failure("missing", Words("no", "ない"), raised, ("near",))
    return Record("f", None, Style("torch", True), outcomes, failure, ("prints",), "あ\n\x00")


@pytest.mark.parametrize(
    "value",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6.0, dtype=">f4").reshape(2, 3).T,
        np.array(np.nan),
        np.zeros((0, 3), bool),
        np.array([1 + 2j]),
        np.array([[7]], np.uint8),
    ],
)
def test_a_record_arrives_as_it_was(value):
    pipe = io.BytesIO()
    send(pipe, "record", record_with(value))
    pipe.seek(0)
    kind, arrived = receive(pipe, KINDS)
    assert kind == "record"
    got = arrived.outcomes["one"].values["output"]
    np.testing.assert_array_equal(got, value, strict=True)
    got.flat[:1] = 0  # it can be written to
    sent = record_with(np.zeros(1))
    assert arrived.outcomes.keys() == sent.outcomes.keys()
    for name in ("two", "three"):
        assert arrived.outcomes[name] == sent.outcomes[name]
    assert (arrived.failure, arrived.printed, arrived.style) == (
        sent.failure,
        sent.printed,
        sent.style,
    )
    assert receive(pipe, KINDS) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"function": "f"', b'"function": 3'),
        (b'"function": "f", ', b""),
        (b'"kind": "missing"', b'"kind": "fine"'),
        (b'"library": "torch"', b'"library": ["torch"]'),
        (b'"line": 3', b'"line": true'),
        (b'"dtype": "<f8"', b'"dtype": "O"'),
        (b'"dtype": "<f8"', b'"dtype": "<M8[s]"'),
        (b'"shape": [2, 3]', b'"shape": [-2, -3]'),
        (b'"shape": [2, 3]', b'"shape": [2, 4]'),
        (b'"shape": [2, 3]', b'"shape": [1000000, 1000000]'),
        (b'"notes": ["prints"]', b'"notes": "prints"'),
        (b', "printed": "\\u3042\\n\\u0000"', b""),
        (b'{"kind": "record"', b'{"kind": "other"'),
        (b'{"kind": "record"', b'"kind": "record"'),
        (b'{"kind": "record"', b"\xff\xfe"),
    ],
)
def test_what_does_not_fit_is_refused(old, new):
    pipe = io.BytesIO()
    send(pipe, "record", record_with(np.zeros((2, 3))))
    sent = pipe.getvalue()
    assert old in sent
    with pytest.raises(GarbageError):
        receive(Pipe(sent.replace(old, new, 1)), KINDS)
