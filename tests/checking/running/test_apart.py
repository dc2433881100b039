"""Whatever a file does, it gives a record: no hang, no traceback, never right."""

import os
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from clearformer.checking.catalogue import find
from clearformer.checking.running.apart import prepared, try_apart
from clearformer.checking.running.here import try_here
from clearformer.checking.running.process import Process
from clearformer.errors import ConfigurationError

DOUBLE = Path(__file__).with_name("double.py")
PROBES = {"4 rows", "5 rows", "6 rows", "float32", "not contiguous", "batched", "changed x"}


@pytest.fixture(scope="module")
def ready():
    """One process that loads while the test before runs."""
    ready = [Process()]
    yield ready
    ready[0].end()


@pytest.fixture
def tried(tmp_path, ready):
    def tried(code, function="double", file="answer.py", **more):
        path = tmp_path / file
        path.write_text(textwrap.dedent(code), "utf-8")
        process, ready[0] = ready[0], Process()
        return try_apart(path, function, str(DOUBLE), process=process, **more)

    return tried


def raised(record):
    return {name: each.raised for name, each in record.outcomes.items() if each.raised}


def test_apart_and_here_give_the_same_record(tried, tmp_path):
    code = "def double(x):\n    return x + x\n"
    names = {}
    exec(code, names)
    apart, here = tried(code), try_here(names["double"], find(str(DOUBLE)))
    assert apart.outcomes.keys() == here.outcomes.keys() == PROBES
    assert apart.failure is None
    for name, outcome in apart.outcomes.items():
        np.testing.assert_array_equal(
            outcome.values["output"], here.outcomes[name].values["output"], strict=True
        )


def test_an_exception_has_its_line_and_the_shapes_there(tried):
    record = tried("""
        import numpy as np
        def double(x):
            half = np.ones((2, 2))
            return x @ half
    """)
    error = record.outcomes["4 rows"].raised
    assert (error.kind, error.line, error.source) == ("ValueError", 5, "return x @ half")
    assert error.shapes == {"x": "(4, 3)", "half": "(2, 2)"}


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("exit()", "SystemExit"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("input('?')", "EOFError"),
        ("import sys; sys.stdin.read(1) or 1 / 0", "ZeroDivisionError"),
        ("return double(x)", "RecursionError"),
        ("raise BaseException('all')", "BaseException"),
        ("import torchy", "ModuleNotFoundError"),
    ],
)
def test_what_a_call_raises_is_told_for_every_probe(tried, statement, kind):
    record = tried(f"def double(x):\n    {statement}")
    assert record.failure is None
    assert {name: each.kind for name, each in raised(record).items()} == dict.fromkeys(PROBES, kind)
    assert {each.line for each in raised(record).values()} == {2}


def test_a_loop_without_end_leaves_the_other_probes_their_results(tried):
    record = tried(
        """
        def double(x):
            while len(x) == 5:
                pass
            return 2 * x
        """,
        seconds=4,
    )
    assert raised(record).keys() == {"5 rows"}
    error = record.outcomes["5 rows"].raised
    assert error.kind == "Timeout" and error.line in (3, 4)


def test_a_loop_that_catches_everything_is_ended_from_outside(tried):
    record = tried(
        """
        def double(x):
            while len(x) == 5:
                try:
                    while True:
                        pass
                except:
                    pass
            return 2 * x
        """,
        seconds=4,
    )
    assert {name: each.kind for name, each in raised(record).items()} == {"5 rows": "Timeout"}


def test_only_loops_without_end_are_a_failure(tried):
    record = tried("def double(x):\n    while True: x = x + 0", seconds=1)
    assert record.failure.kind == "timeout"
    assert record.failure.raised.line == 2
    assert record.outcomes.keys() == PROBES
    assert record.outcomes["changed x"].raised.message.startswith("not called")


def test_a_hang_in_c_ends_with_its_process_and_the_others_are_called(tried):
    record = tried(
        """
        import collections, itertools
        def double(x):
            if len(x) == 5:
                collections.deque(itertools.repeat(0), maxlen=0)
            return 2 * x
        """,
        seconds=4,
    )
    assert record.failure is None
    assert raised(record).keys() == {"5 rows"}
    error = record.outcomes["5 rows"].raised
    assert (error.kind, error.line) == ("Timeout", 5)
    assert "deque" in error.source


@pytest.mark.parametrize("ending", ["os._exit(3)", "ctypes.string_at(0)", "os.abort()"])
def test_what_ends_the_process_is_told_with_its_line(tried, ending):
    record = tried(f"""
        import ctypes, os
        def double(x):
            if len(x) == 5:
                {ending}
            return 2 * x
    """)
    assert record.failure is None
    assert raised(record).keys() == {"5 rows"}
    error = record.outcomes["5 rows"].raised
    assert error.kind == "Died"
    assert ending == "os._exit(3)" or error.line == 5


def test_what_always_ends_the_process_is_a_failure(tried):
    record = tried("import os\ndef double(x):\n    os._exit(0)")
    assert record.failure.kind == "died"
    assert "status 0" in record.failure.message.en


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is limited on Linux")
@pytest.mark.parametrize("eat", ["[bytearray(2**20) for _ in range(2**20)]", "np.ones(2**40)"])
def test_memory_without_end_meets_the_limit(tried, eat):
    record = tried(f"import numpy as np\ndef double(x):\n    return {eat}", memory=2**27)
    assert record.failure.kind == "memory"
    assert record.failure.raised.line == 3


def test_only_the_beginning_of_what_is_printed_is_kept(tried):
    record = tried("""
        import os, sys
        def double(x):
            print("first")
            os.write(1, b"second")
            for _ in range(20):
                print("x" * 1_000_000)
            return 2 * x
    """)
    assert not raised(record) and "prints" in record.notes
    assert record.printed.startswith(("first", "second"))
    assert len(record.printed) < 10_000


def test_closing_every_file_but_the_pipes_own_changes_nothing(tried):
    record = tried("""
        import os, sys
        sys.stdout.close()
        sys.stdin.close()
        os.close(1)
        os.close(0)
        def double(x):
            return 2 * x
    """)
    assert record.failure is None and not raised(record)


@pytest.mark.parametrize(
    "write",
    [
        "b'garbage\\n'",
        "b'{}\\n'",
        'b\'{"kind": "record", "content": {"function": 3}}\\n\'',
        'b\'{"kind": "died", "content": 0}\\n\'',
    ],
)
def test_garbage_in_the_pipe_is_not_believed(tried, write):
    record = tried(f"""
        import os
        def double(x):
            for pipe in range(3, 12):
                try:
                    os.write(pipe, {write})
                except OSError:
                    pass
            return 2 * x
    """)
    assert record.failure.kind == "died" and not record.outcomes


def test_a_closed_pipe_is_a_death(tried):
    record = tried("import os\ndef double(x):\n    os.closerange(3, 100)\n    return 2 * x")
    assert record.failure.kind == "died"


def test_what_is_left_running_does_not_hold_anyone_up(tried, tmp_path):
    record = tried(f"""
        import subprocess, sys, threading, time
        threading.Thread(target=time.sleep, args=(1000,)).start()
        other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
        open({str(tmp_path / "pid")!r}, "w").write(str(other.pid))
        def double(x):
            return 2 * x
    """)
    assert record.failure is None and not raised(record)
    assert {"leaves-a-thread", "leaves-a-process"} <= set(record.notes)
    other, deadline = int((tmp_path / "pid").read_text()), time.monotonic() + 60
    while is_running(other) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_running(other)


def is_running(process):
    """Whether it still does anything; one that only waits to be counted does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_copy_of_the_process_says_nothing(tried):
    record = tried("""
        import os
        mine, copies = os.getpid(), []
        def double(x):
            if not copies:
                copies.append(os.fork())
                if copies[0]:
                    os.waitpid(copies[0], 0)  # the copy is first, if it may
            return 2 * x if os.getpid() == mine else x
    """)
    assert record.failure is None and not raised(record)
    x = find(str(DOUBLE)).probes()[0].arguments["x"]
    np.testing.assert_array_equal(record.outcomes["4 rows"].values["output"], 2 * x)
    np.testing.assert_array_equal(record.outcomes["6 rows"].values["output"].shape, (6, 3))


@pytest.mark.parametrize(
    ("code", "kind", "line"),
    [
        ("def double(x:\n    pass", "import", 1),
        ("def double(x):\n  y = 1\n    z = 2", "import", 3),
        ("x = 1\nx.y", "import", 2),
        ("import nothing_like_this", "import", 1),
        ("exit(0)", "import", 1),
        ("name = input('Name? ')", "input", 1),
        ("\x00", "import", None),
        ("import os; os._exit(0)", "died", None),
        ("(" * 100_000, "import", None),
    ],
)
def test_a_file_that_does_not_run_says_where(tried, code, kind, line):
    record = tried(code)
    assert record.failure.kind == kind
    assert not record.outcomes
    if line:
        assert record.failure.raised.line == line


def test_a_file_that_trains_when_it_is_imported_is_told_so(tried, monkeypatch):
    record = tried("""
        import time
        def double(x):
            return 2 * x
        for step in range(6):
            time.sleep(0.1)
            print("step", step)
    """)
    assert {"work-at-import", "prints"} <= set(record.notes)
    assert record.failure is None


@pytest.mark.parametrize(
    ("code", "function", "nearest"),
    [
        ("def doubel(x): return 2 * x\ndef other(x): return x", None, "doubel"),
        ("def doubel(x): return 2 * x\ndef other(x): return x", "double", "doubel"),
        ("def one(x): return x\ndef two(x): return x", None, "one"),
        ("double = 3\ndef twice(x): return 2 * x", "double", "twice"),
    ],
)
def test_a_function_that_is_not_there_brings_the_nearest_names(tried, code, function, nearest):
    record = tried(code, function)
    assert record.failure.kind == "missing"
    assert nearest in record.failure.nearest


@pytest.mark.parametrize(
    "code",
    [
        "def anything(x): return 2 * x",
        "def help(x): return x\ndef double(x): return 2 * x",
        "import functools\ndouble = functools.partial(lambda two, x: two * x, 2)",
        "class Double:\n    def __call__(self, x): return 2 * x\ndouble = Double()",
        "import numpy as np\ndef _half(x): return x / 2\ndef doubled(x): return _half(x) * 4",
    ],
)
def test_without_a_name_the_only_function_is_meant(tried, code):
    record = tried(code, None)
    assert record.failure is None and not raised(record)


def test_a_file_with_the_name_of_a_library_is_no_trouble(tried):
    for name in ("numpy.py", "random.py"):
        assert tried("def double(x): return 2 * x", file=name).failure is None


def test_a_module_beside_the_file_can_be_imported(tried, tmp_path):
    (tmp_path / "beside_it.py").write_text("def twice(x): return 2 * x\n")
    record = tried("from beside_it import twice\ndef double(x): return twice(x)", None)
    assert not raised(record) and record.failure is None


def test_what_is_no_python_file_is_told(tmp_path):
    (tmp_path / "latin.py").write_bytes("# ok\n# é\n".encode("latin-1"))
    (tmp_path / "book.ipynb").write_text("{}")
    for name, said in (
        ("not-there.py", "there is no file"),
        ("", "is a folder"),
        ("latin.py", "not UTF-8: byte 0xe9 in line 2"),
        ("book.ipynb", "notebook"),
    ):
        failure = try_apart(tmp_path / name, None, "softmax").failure
        assert failure.kind == "file" and said in failure.message.en
        assert failure.message.ja


def test_an_exercise_that_is_not_there_is_the_callers_mistake(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("def double(x): return 2 * x")
    with pytest.raises(ConfigurationError, match="no exercise"):
        try_apart(file, None, "not-an-exercise")


def test_an_answer_in_pytorch_is_called_with_tensors(tried):
    record = tried("import torch\ndouble = lambda x: torch.add(x, x)")
    assert record.style.library == "torch" and not raised(record)
    assert record.outcomes["4 rows"].values["output"].dtype == np.float32


def test_plots_are_drawn_nowhere(tried):
    record = tried("import os\ndef double(x): return {'Agg': 2 * x}[os.environ['MPLBACKEND']]")
    assert not raised(record)


def test_no_process_is_left_behind(tmp_path):
    file = tmp_path / "answer.py"
    before = set(children())
    for code in ("def double(x): return 2 * x", "import os; os._exit(1)"):
        file.write_text(code)
        try_apart(file, None, str(DOUBLE))
    assert set(children()) <= before


def test_a_process_that_was_ended_while_it_waited_is_replaced(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("def double(x): return 2 * x")
    process = prepared(file)
    process.popen.kill()
    assert try_apart(file, None, str(DOUBLE), process=process).failure is None


def children():
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with a name here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    failure = try_apart(tmp_path / "pipe.py", None, "softmax").failure
    assert failure.kind == "file" and "pipe" in failure.message.en


def test_objects_that_raise_when_looked_at_end_nothing(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(
        "class Shy:\n"
        "    shape = property(lambda self: 1 / 0)\n"
        "    def __array__(self, *_, **__): raise SystemExit\n"
        "def softmax(x):\n    shy = Shy()\n    return shy\n"
    )
    record = try_apart(file, None, "softmax")
    assert record.failure is None
    assert all(each.raised or each.unusable for each in record.outcomes.values())


def test_a_callable_that_raises_when_looked_at_is_a_failure_of_the_answer(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text(
        "class Shy:\n"
        "    @property\n    def __signature__(self): return 1 / 0\n"
        "    def __call__(self, x): return x\n"
        "softmax = Shy()\n"
    )
    failure = try_apart(file, None, "softmax").failure
    assert failure.kind == "died" and "ZeroDivisionError" in failure.message.en


def test_a_message_cannot_steer_the_terminal(tmp_path):
    file = tmp_path / "answer.py"
    file.write_text("def softmax(x):\n    raise ValueError(chr(27) + '[31m red' + chr(0))\n")
    outcomes = try_apart(file, None, "softmax").outcomes.values()
    messages = {each.raised.message for each in outcomes}
    assert messages == {"\ufffd[31m red\ufffd"}
