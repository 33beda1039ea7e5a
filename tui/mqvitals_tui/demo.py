"""``mqvitals demo``: a small group getting ill, on one screen; nothing to configure.

A recording is made, a second process plays it faster than life into a store in a temporary folder, and this one shows the
store's status after each change. The way is the real one: PCF bytes, samples, verdicts, alerts, store, status.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mqvitals_agent.cli.failure import ExitCode, Failure
from mqvitals_agent.cli.speed_argument import speed

SPEED = 20
REDRAW_S = 0.5

_ENTER = "\x1b[?1049h\x1b[?25l"
_LEAVE = "\x1b[?25h\x1b[?1049l"
"""To the alternate screen without a cursor, and back to what was there before."""
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``mqvitals demo``."""
    parser.add_argument(
        "--speed", type=speed, default=SPEED, metavar="N", help="times as fast as life, or max (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", metavar="FOLDER", help="keep the recording and the store in this folder, for status, trend and alerts"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make, play and show the recording; returns when it has been played."""
    pace = "max" if arguments.speed is None else f"{arguments.speed:.17g}"
    if arguments.keep:
        folder = Path(arguments.keep)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot use the folder {folder}: {error.strerror}") from error
        return _show(folder, pace, kept=True)
    try:
        temporary = tempfile.TemporaryDirectory(prefix="mqvitals-demo-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Failure(
            f"there is no folder for the recording: {error.strerror}",
            hint="name one with --keep FOLDER, or with TMPDIR",
        ) from error
    with temporary as name:
        return _show(Path(name), pace, kept=False)


def _show(folder: Path, pace: str, *, kept: bool) -> int:
    recording, store = folder / "demonstration.jsonl.gz", folder / "demonstration.db"
    _record(recording)
    command = [*_PROGRAM, "replay", str(recording), "--store", str(store), "--speed", pace, "--replace"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=_environment()) as player:
        try:
            with _screen() as watched:
                _watch(player, store, watched=watched)
        except KeyboardInterrupt:
            player.terminate()
            return ExitCode.DONE
        if player.returncode:
            said = player.stderr.read().decode("utf-8", "replace").strip() if player.stderr else ""
            raise Failure(f"the recording could not be played: {said.removeprefix('mqvitals: ')}")
    print(_call("status", "--store", str(store)))
    print("What happened, worst first:\n")
    print(_call("alerts", "list", "--all", "--store", str(store)))
    print(_call("trend", "free_pct", "QM01/buffer_pool/3", "--store", str(store)))
    if not kept:
        print("Look further with: mqvitals demo --keep demo, then mqvitals status --store demo/demonstration.db")
    return ExitCode.DONE


def _record(recording: Path) -> None:
    """Make the recording. Raises Failure."""
    from mqvitals_agent.connection.header import RecordingError
    from mqvitals_agent.simulator.demonstration import write_demonstration
    from mqvitals_agent.simulator.story import CYCLES, INTERVAL_S

    hint = "free some space, or name another folder with --keep FOLDER"
    try:
        recording.unlink(missing_ok=True)
        # It has just happened: the store's last moment is not to lie in the future.
        write_demonstration(recording, time.time_ns() // 1_000_000 - CYCLES * INTERVAL_S * 1000)
    except RecordingError as error:
        raise Failure(str(error), hint=hint) from error
    except OSError as error:
        raise Failure(f"{recording} cannot be written: {error.strerror or error}", hint=hint) from error


@contextmanager
def _screen() -> Iterator[bool]:
    """A screen to draw on again and again, if there is one; what was on it before comes back, whatever happens."""
    if not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield False
        return
    print(_ENTER, end="", flush=True)
    try:
        yield True
    finally:
        print(_LEAVE, end="", flush=True)


def _watch(player: subprocess.Popen[bytes], store: Path, *, watched: bool) -> None:
    """Show the status whenever it has changed, until everything has been played."""
    shown = ""
    while player.poll() is None:
        if watched and store.exists():
            height = shutil.get_terminal_size().lines
            text = _call("status", "--store", str(store), "--lines", str(height - 1))
            if text and text != shown:
                shown = text
                print(redrawn(text, height), end="", flush=True)
        time.sleep(REDRAW_S)


def redrawn(text: str, height: int) -> str:
    """``text`` over what is on a screen of ``height`` lines, so that nothing flickers, scrolls or is left over."""
    lines = text.splitlines()[: max(height - 1, 1)]
    return _HOME + "".join(f"{line}{_REST_OF_LINE}\r\n" for line in lines) + _REST_OF_SCREEN


_PROGRAM = (sys.executable, "-m", "mqvitals_tui.main")


def _call(*arguments: str) -> str:
    """What a command prints."""
    done = subprocess.run([*_PROGRAM, *arguments], capture_output=True, check=False, env=_environment())
    return done.stdout.decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """Of our own commands: they write for this terminal, but to us."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    if sys.stdout.isatty():
        environment["COLUMNS"] = str(shutil.get_terminal_size().columns)
        if "NO_COLOR" not in os.environ:
            environment.setdefault("MQVITALS_COLOR", "always")
    return environment
