"""How far a command is: a bar on a terminal, lines elsewhere, and nothing for what is quick."""

from __future__ import annotations

import io
import re
import sqlite3
import sys
import threading
from collections.abc import Callable
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mqvitals_agent.commandline import progress as module
from mqvitals_agent.commandline.output import complain
from mqvitals_agent.commandline.progress import QUICK_S, Progress, watched
from mqvitals_agent.store.file.long_work import LongWork


class Terminal(io.StringIO):
    """A terminal of 80 columns."""

    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> str:
        """What stands on the last line."""
        return self.getvalue().rsplit("\r", 1)[-1].rstrip()


class Clock:
    """Seconds that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_is_quick_shows_nothing(clock: Clock) -> None:
    """Within two seconds nothing is written to a terminal, and the meter is not even loaded."""
    terminal = Terminal()
    with Progress(stream=terminal, clock=clock) as progress:
        progress.begin("copying", 100)
        for done in range(100):
            clock.now = 100 + done / 100 * QUICK_S * 0.999
            progress.at(done)
    assert terminal.getvalue() == ""


def test_bar_has_rate_and_remaining_time(clock: Clock) -> None:
    """After ten seconds a quarter is done: what is left takes half a minute. At the end the line is empty."""
    terminal = Terminal()
    with Progress(stream=terminal, clock=clock) as progress:
        progress.begin("copying", 1_000_000_000)
        clock.now += 10
        progress.at(250_000_000, "page 3")
        assert "copying:  25%" in terminal.shown
        assert "250M/1.00G [00:10<00:30, 25.0MB/s, page 3]" in terminal.shown
        before = terminal.getvalue()
        clock.now += 0.01
        progress.at(260_000_000)
        assert terminal.getvalue() == before  # not more often than eyes can follow
    assert terminal.shown == ""
    assert "\n" not in terminal.getvalue()


def test_message_stands_on_a_line_of_its_own(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message takes the bar off the line first; the bar comes again."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(clock=clock) as progress:
        progress.begin("replaying", 100)
        clock.now += 5
        progress.at(50)
        complain("something happened")
        clock.now += 5
        progress.at(60)
        assert "60%" in terminal.shown
    (line,) = (each for each in re.split(r"[\r\n]", terminal.getvalue()) if "something" in each)
    assert line == "something happened"
    complain("later")
    assert terminal.getvalue().endswith("\rlater\n")


def test_log_gets_plain_lines(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a terminal: a line every ten seconds, after ten minutes one a minute; no control characters."""
    with Progress(clock=clock) as progress:
        progress.begin("copying", 7200)
        for second in range(1201):
            clock.now = 100 + second
            progress.at(second)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("mqvitals: copying: 0 %, 10.0B of 7.20kB, 1.00B/s, 1:59:50 left")
    assert len(lines) == 60 + 10
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize("terminal", [Terminal(), io.StringIO()])
def test_quiet_shows_nothing(clock: Clock, terminal: io.StringIO) -> None:
    """--quiet."""
    with Progress(quiet=True, stream=terminal, clock=clock) as progress:
        progress.begin("copying", 10)
        clock.now += 1000
        progress.at(5)
    assert terminal.getvalue() == ""


def test_unknown_end(clock: Clock) -> None:
    """Without a total there is the rate, and where nothing is counted the time that it has taken."""
    terminal = Terminal()
    with Progress(stream=terminal, clock=clock) as progress:
        progress.begin("reading standard input")
        clock.now += 10
        progress.at(5_000_000)
        assert terminal.shown == "reading standard input: 5.00MB [00:10, 500kB/s]"
        progress.begin("checking")
        clock.now += 75
        progress.at(0)
        assert terminal.shown == "checking: 01:15 so far"


@example(columns=1, total=1.0, steps=[(2.0, 2.2e-311, "")], encoding="ascii")
@given(
    columns=st.integers(1, 300),
    total=st.none() | st.floats(0, 1e15),
    steps=st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e15), st.text(max_size=20)), max_size=6),
    encoding=st.sampled_from(["ascii", "utf-8"]),
)
def test_bar_fits_any_terminal(
    columns: int, total: float | None, steps: list[tuple[float, float, str]], encoding: str
) -> None:
    """Whatever is told, the bar stays on one line, leaves the last cell free, and is gone in the end."""
    terminal, clock = Terminal(), Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_width_of", lambda _: columns)
        patch.setattr(Terminal, "encoding", encoding)
        with Progress(stream=terminal, clock=clock) as progress:
            progress.begin("copying", total)
            for seconds, done, note in steps:
                clock.now += seconds
                progress.at(done, "".join(filter(str.isalnum, note)))
                assert len(terminal.shown) < max(columns, 40)
        assert terminal.shown == ""
        assert "\n" not in terminal.getvalue()


class BrokenTerminal(Terminal):
    """A terminal that is gone."""

    def write(self, text: str) -> int:
        raise OSError


def test_terminal_that_is_gone_does_not_end_the_work(clock: Clock) -> None:
    """Standard error may be closed while a command runs."""
    with Progress(stream=BrokenTerminal(), clock=clock) as progress:
        progress.begin("copying", 10)
        for done in range(10):
            clock.now += 10
            progress.at(done)


def test_work_in_another_thread_is_shown(clock: Clock) -> None:
    """The steps of the work, whose totals differ, stand on the terminal while it goes on; its result comes back."""
    terminal = Terminal()
    seen = threading.Event()

    class Seen(Terminal):
        def write(self, text: str) -> int:
            if "copying:  50%" in text:
                seen.set()
            return super().write(text)

    terminal = Seen()

    def work(long: LongWork) -> str:
        long.begin("copying", 10, done=lambda: 5)
        clock.now += 5
        while not seen.wait(0.01):
            clock.now += 1
        return "done"

    with Progress(stream=terminal, clock=clock) as progress:
        assert watched(progress, work) == "done"


def test_what_work_raises_is_raised() -> None:
    """A TimeoutError of the work itself too."""

    def work(_: LongWork) -> None:
        raise TimeoutError("of the work")

    with pytest.raises(TimeoutError, match="of the work"):
        watched(Progress(quiet=True), work)


def test_interrupt_ends_a_statement(interrupting: Callable[[threading.Event], Progress]) -> None:
    """Ctrl-C while SQLite is within one call: that ends, and the thread with it, before the interrupt is raised."""
    ended: list[str] = []
    runs = threading.Event()

    def started() -> int:
        runs.set()
        return 1

    def work(long: LongWork) -> None:
        with closing(sqlite3.connect(":memory:")) as connection, long.on(connection):
            connection.create_function("started", 0, started)
            try:
                connection.execute(
                    "WITH RECURSIVE n(x) AS (SELECT started() UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
                ).fetchone()
            except sqlite3.OperationalError as error:
                ended.append(str(error))

    with pytest.raises(KeyboardInterrupt):
        watched(interrupting(runs), work)
    assert ended == ["interrupted"]


@pytest.fixture
def interrupting() -> Callable[[threading.Event], Progress]:
    """A progress that is interrupted once something has begun, as by a signal between two looks."""

    class Interrupted(Progress):
        def __init__(self, runs: threading.Event) -> None:
            super().__init__(quiet=True)
            self._runs = runs

        def at(self, done: float, note: str = "") -> None:
            self._runs.wait()
            raise KeyboardInterrupt

    return Interrupted
