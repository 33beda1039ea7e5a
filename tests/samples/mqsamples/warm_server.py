"""The server of ``warm.py``: imports ``mqvitals``, reads the shipped packs, and forks a process for each request.

It has one thread and runs nothing of the program itself. A request is a message with four descriptors: the streams of the
new process, and a pipe into which go its id and, when it ends, its status.
"""

from __future__ import annotations

import gc
import json
import os
import select
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest

import mqvitals_agent.cli.agent
import mqvitals_agent.cli.alerts.list
import mqvitals_agent.cli.group.status
import mqvitals_agent.cli.recordings.replay
import mqvitals_agent.service.run  # noqa: F401
from mqsamples.shipped import remember
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_tui.main import main

_STATUS = struct.Struct("=q")


def serve(control: socket.socket) -> None:
    """Fork on request until the process of tests is gone."""
    running: dict[int, tuple[int, int]] = {}
    """By the descriptor of a process: its id, and where its end is told."""
    while True:
        for ready in select.select([control.fileno(), *running], [], [])[0]:
            if ready in running:
                pid, told = running.pop(ready)
                os.close(ready)
                _tell(told, os.waitpid(pid, 0)[1])
                os.close(told)
                continue
            message, descriptors, _, _ = socket.recv_fds(control, 1 << 20, 4)
            if not message:
                return
            *streams, told = descriptors
            pid = os.fork()
            if not pid:
                _become(json.loads(message), streams)
            for each in streams:
                os.close(each)
            running[os.pidfd_open(pid)] = pid, told
            _tell(told, pid)


def _tell(told: int, number: int) -> None:
    with suppress(BrokenPipeError):  # nobody waits for it any more
        os.write(told, _STATUS.pack(number))


def _become(request: dict[str, Any], streams: list[int]) -> NoReturn:
    """Run the program as the interpreter would, and end."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, 4096)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    sys.argv = ["mqvitals", *request["arguments"]]
    code: object = 70
    try:
        code = main()
    except SystemExit as ending:
        code = ending.code
    except BaseException:  # noqa: BLE001 - what the interpreter would do
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        _leave(code)


def _leave(code: object) -> NoReturn:
    """End as the interpreter does, without what the server would do at its own end."""
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]  # waits for threads, as at every end
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            code = 120
    os._exit(code if isinstance(code, int) else bool(code))


if __name__ == "__main__":
    remember(pytest.MonkeyPatch())
    load_rule_config(Settings())
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
