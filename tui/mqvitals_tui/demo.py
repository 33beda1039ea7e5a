"""``mqvitals demo``: a small group getting ill, on one screen; nothing to configure.

A recording is made, a second process plays it faster than life into a store in a temporary folder, and this one shows the
store's status after each change. The way is the real one: PCF bytes, samples, verdicts, alerts, store, status.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from mqvitals_agent.cli.failure import ExitCode, Failure

SPEED = 20
REDRAW_S = 0.5
CLEAR = "\x1b[H\x1b[J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``mqvitals demo``."""
    parser.add_argument(
        "--speed", default=str(SPEED), metavar="N", help="times as fast as life, or max (default: %(default)s)"
    )
    parser.add_argument(
        "--keep", metavar="FOLDER", help="keep the recording and the store in this folder, for status, trend and alerts"
    )


def run(arguments: argparse.Namespace) -> int:
    """Make, play and show the recording; returns when it has been played."""
    speed = _speed(arguments.speed)
    if arguments.keep:
        folder = Path(arguments.keep)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"cannot use the folder {folder}: {error.strerror}") from error
        return _show(folder, speed)
    with tempfile.TemporaryDirectory(prefix="mqvitals-demo-") as temporary:
        return _show(Path(temporary), speed)


def _speed(word: str) -> str:
    if word == "max":
        return word
    try:
        if 0 < float(word) < float("inf"):
            return word
    except ValueError:
        pass
    raise Failure(f"--speed {word} is neither a number above 0 nor max")


def _show(folder: Path, speed: str) -> int:
    from mqvitals_agent.simulator.demonstration import write_demonstration
    from mqvitals_agent.simulator.story import CYCLES, INTERVAL_S

    recording, store = folder / "demonstration.jsonl.gz", folder / "demonstration.db"
    recording.unlink(missing_ok=True)
    # It has just happened: the store's last moment is not to lie in the future.
    write_demonstration(recording, time.time_ns() // 1_000_000 - CYCLES * INTERVAL_S * 1000)
    command = [
        sys.executable,
        "-m",
        "mqvitals_tui.main",
        "replay",
        str(recording),
        "--store",
        str(store),
        "--speed",
        speed,
        "--replace",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as player:
        try:
            shown = ""
            while player.poll() is None:
                shown = _redraw(store, shown)
                time.sleep(REDRAW_S)
        except KeyboardInterrupt:
            player.terminate()
            return ExitCode.DONE
        if player.returncode:
            raise Failure(f"the recording could not be played: {player.stderr.read().strip() if player.stderr else ''}")
    if sys.stdout.isatty():
        print(CLEAR, end="")
    print(_call("status", "--store", str(store)))
    print("What happened, worst first:\n")
    print(_call("alerts", "list", "--all", "--store", str(store)))
    print(_call("trend", "free_pct", "QM01/buffer_pool/3", "--store", str(store)))
    if folder.name.startswith("mqvitals-demo-"):
        print("Look further with: mqvitals demo --keep demo, then mqvitals status --store demo/demonstration.db")
    return ExitCode.DONE


def _redraw(store: Path, shown: str) -> str:
    """Show the status when it has changed and a person is looking."""
    if not sys.stdout.isatty() or not store.exists():
        return shown
    text = _call("status", "--store", str(store))
    if text and text != shown:
        print(CLEAR + text, end="", flush=True)
        return text
    return shown


def _call(*arguments: str) -> str:
    colour = {"MQVITALS_COLOR": "always"} if sys.stdout.isatty() and "NO_COLOR" not in os.environ else {}
    done = subprocess.run(
        [sys.executable, "-m", "mqvitals_tui.main", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **colour},
    )
    return done.stdout
