"""What commands do with a stdout that is full, closed, or cannot carry our signs."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mqvitals_agent.commandline import runner as main_module
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.errors import ExitCode
from mqvitals_agent.text.severity import Health
from mqvitals_agent.text.symbols import SIGNS, in_ascii, to_ascii

MakeStore = Callable[..., Path]
PROGRAM = (sys.executable, "-P", "-m", "mqvitals_agent.commandline.runner")
POOL = "QM01/buffer_pool/3"


def run(*words: object, shell: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own, its streams arranged by ``shell``."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("MQVITALS_", "PYTHON", "LC_"))}
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$@" {shell}', "sh", *PROGRAM, *map(str, words)],
        capture_output=True,
        check=False,
        timeout=300,
        env={**clean, **environment},
    )


def commands(store: Path) -> list[tuple[object, ...]]:
    """One of each sort, the reader's with their store."""
    look = ("--store", store)
    return [
        ("status", *look),
        ("status", "--json", *look),
        ("trend", "free_pct", POOL, *look),
        ("alerts", "list", "--all", *look),
        ("rules", "explain", "BP-03", POOL, *look),
        ("rules", "explain", "BP-03"),
        ("rules", "list"),
        ("rules", "list", "--json"),
        ("rules", "check"),
        ("metrics", "channel", "--json"),
        ("metrics", "channel"),
        ("config", "show"),
        ("--help",),
    ]


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(("shell", "words"), [(">/dev/full", b"No space left"), (">&-", b"standard output is closed")])
def test_output_that_goes_nowhere(make_store: MakeStore, soak: bool, shell: str, words: bytes, unbuffered: str) -> None:
    """One sentence on stderr, never a traceback; 2, of status 3: neither a warning nor all well.

    Each way has its part of the commands; all of them in ``make soak``.
    """
    part = slice(None) if soak else slice(2 * bool(unbuffered) + (shell == ">&-"), None, 4)
    for command in commands(make_store())[part]:
        if unbuffered and command == ("--help",):
            continue  # argparse takes no notice when nothing waits in a buffer
        done = run(*command, shell=shell, **({"PYTHONUNBUFFERED": "1"} if unbuffered else {}))
        assert done.returncode == (3 if command[0] == "status" else 2), (command, done.stderr)
        assert words in done.stderr
        assert done.stderr.count(b"\n") == 1, done.stderr


def test_closed_stderr_spoils_nothing(make_store: MakeStore) -> None:
    """What is meant for people never ends in the data, and the exit code stays."""
    done = run("status", "--json", "--store", make_store(), shell="2>&-")
    assert done.returncode == 2
    json.loads(done.stdout)
    missing = run("status", "--store", "/nowhere/x.db", shell="2>&-")
    assert (missing.returncode, missing.stdout) == (3, b"")


def test_a_reader_that_has_gone(make_store: MakeStore) -> None:
    """A closed pipe is no failure, and of status it is never "all is well"."""
    for unbuffered in ("", "1"):
        done = run("status", "--store", make_store(), shell="| true", PYTHONUNBUFFERED=unbuffered)
        assert done.stderr == b""


@pytest.mark.parametrize("environment", [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.soak),
    pytest.param({"PYTHONIOENCODING": "latin-1"}, marks=pytest.mark.soak),
])  # fmt: skip
def test_a_terminal_without_our_signs(make_store: MakeStore, soak: bool, environment: dict[str, str]) -> None:
    """Every command prints something readable; a question mark is UNKNOWN and nothing else.

    ASCII as such only in ``make soak``, and there all commands as processes.
    """
    store = make_store()
    for command in commands(store) if soak else ():
        done = run(*command, **environment)
        assert b"Traceback" not in done.stderr
        assert done.returncode in (0, 2), (command, done.stderr)
        if "--json" in command:
            json.loads(done.stdout)
    screen = run("status", "--store", store, **environment).stdout
    assert b"X CRITICAL" in screen
    assert b"! 3 warning" in screen
    assert b"i 0 info" in screen
    assert b"\n12 verdicts need SMF records" in screen
    assert b"?" not in screen
    chart = run("trend", "free_pct", POOL, "--store", store, **environment).stdout
    assert b"?" not in chart
    whole = run("trend", "free_pct", POOL, "--store", store, PYTHONIOENCODING="utf-8").stdout.decode()
    assert [len(line) for line in chart.decode("latin-1").splitlines()] == [len(line) for line in whole.splitlines()]
    # Each cell of the curve stays where it is, as the character that resembles it.
    cells = [
        (shown, in_ascii(dots))
        for line, of in zip(chart.decode("latin-1").splitlines(), whole.splitlines(), strict=True)
        for shown, dots in zip(line, of, strict=True)
        if "⠀" < dots <= "⣿"
    ]
    assert len(cells) > 10
    assert all(shown == wanted for shown, wanted in cells)
    absent = run("config", "check", "/nowhere/\u00fc\u2713.yaml", **environment)
    assert absent.returncode == 2
    assert b"cannot be read" in absent.stderr


@pytest.mark.parametrize(("encoding", "errors"), [("ascii", "surrogateescape"), ("latin-1", "strict")])
def test_every_command_on_a_stream_without_our_signs(
    make_store: MakeStore, monkeypatch: pytest.MonkeyPatch, encoding: str, errors: str
) -> None:
    """With the encodings that these environments give to stdout each command prints what it can carry, and ends well."""
    store = make_store()
    for command in commands(store):
        bytes_, complaints = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stdout", io.TextIOWrapper(bytes_, encoding, errors))
            patch.setattr(sys, "stderr", io.TextIOWrapper(complaints, encoding, "backslashreplace"))
            try:
                code = main(list(map(str, command)))
            except SystemExit as ending:
                code = int(ending.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
            printed, complained = bytes_.getvalue().decode(encoding), complaints.getvalue()
        assert code in (0, 2), (command, complained)
        assert printed, command
        assert not complained, command
        if "--json" in command:
            json.loads(printed)


def test_a_pipe_gets_the_signs_of_the_locale(make_store: MakeStore) -> None:
    """Into a pipe texts are in ASCII where a terminal would get ASCII, and JSON is the same in every locale."""
    store = make_store()
    for command, sign, written in (
        (("status", "--store", store), "●", b"X CRITICAL"),
        (("show", POOL, "--store", store), "▾", b"v Vital figures"),
    ):
        in_c = run(*command, LC_ALL="C").stdout
        assert in_c.isascii()
        assert written in in_c
        in_utf8 = run(*command, LC_ALL="C.UTF-8").stdout.decode()
        assert sign in in_utf8
        assert to_ascii(in_utf8).count("\n") == in_c.decode().count("\n")
    found = [run("status", "--json", "--store", store, LC_ALL=each).stdout for each in ("C", "C.UTF-8")]
    assert json.loads(found[0]).keys() == json.loads(found[1]).keys()


def test_signs_stay_apart() -> None:
    """The five signs of health are five in ASCII too, and every character has some form."""
    assert {in_ascii(health.glyph) if health is not Health.UNKNOWN else "?" for health in Health} == {
        *SIGNS.values(),
        "?",
    }
    assert len(SIGNS) == 4
    assert all(in_ascii(chr(code)).isascii() for code in [*range(0x80, 0x3000), 0xDC80, 0xFFFD, 0x1F600])
    assert (in_ascii("µ"), in_ascii("…"), in_ascii("–"), in_ascii("é"), in_ascii("␛")) == (
        "u",
        "...",
        "-",
        "\\xe9",
        "\\x1b",
    )


def test_a_mistake_of_our_own(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """An exception that nobody expected is 70, of status too; it is shown whole, harmless, and asked to be reported."""

    def broken(_: object) -> int:
        raise RuntimeError("\x1b[2J")

    for words, module in ((["status"], "group.status"), (["alerts", "list"], "alerts.list")):
        monkeypatch.setattr(f"mqvitals_agent.cli.{module}.run", broken)
        assert main(words) == ExitCode.BUG
        error = capsys.readouterr().err
        assert "Traceback" in error
        assert "\x1b" not in error
        assert "please report it" in error.splitlines()[-1]
    assert main_module.COMMANDS[0].failed == 3


def test_wrong_usage_of_status_is_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    """What argparse ends with 2 would mean CRITICAL."""
    for command, code in (("status", 3), ("metrics", 2)):
        with pytest.raises(SystemExit) as caught:
            main([command, "--nonsense"])
        assert caught.value.code == code
    assert "unrecognized arguments" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("locale", "ascii_alone"), [("C", True), pytest.param("POSIX", True, marks=pytest.mark.soak), ("C.UTF-8", False)]
)
def test_a_terminal_shows_what_its_locale_can(
    make_store: MakeStore, tmp_path: Path, locale: str, ascii_alone: bool
) -> None:
    """In the locale C the interpreter writes UTF-8, but the terminal gets ASCII; a file keeps the signs."""
    store = make_store()
    screen, terminal = os.openpty()
    try:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("MQVITALS_", "PYTHON", "LC_"))}
        done = subprocess.run(
            [*PROGRAM, "status", "--store", str(store)],
            stdin=subprocess.DEVNULL,
            stdout=terminal,
            stderr=subprocess.PIPE,
            check=False,
            timeout=300,
            env={**clean, "LC_ALL": locale},
        )
        os.close(terminal)
        shown = bytearray()
        while True:
            try:
                part = os.read(screen, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
    finally:
        os.close(screen)
    assert done.returncode == 2
    assert shown.isascii() is ascii_alone
    assert ("X CRITICAL" if ascii_alone else "● CRITICAL") in shown.decode()
    file = tmp_path / "status.txt"
    run("status", "--store", store, shell=f"> {file}", LC_ALL=locale)
    assert "● CRITICAL" in file.read_text()
