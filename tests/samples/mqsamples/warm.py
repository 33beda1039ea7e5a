"""Processes of ``mqvitals`` that need not begin at nothing: a server that has imported the program and read the rules forks them.

A ``WarmProcess`` is a ``subprocess.Popen`` in all that tests do with one: its own process with its own streams,
environment, signals and exit code. Only the start of the interpreter, the imports and the reading of the shipped packs are the
server's. Tests about these, about encodings that the interpreter chooses at its start, or about a terminal start a
process of their own.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_STATUS = struct.Struct("=q")
_SERVER = Path(__file__).with_name("warm_server.py")


_AT_START = ("PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that take effect when an interpreter starts: processes with others need another server."""


class _Server:
    """A server of this process of tests: it ends when this process does."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Its own session: what a test sends to a group of processes does not reach it.
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_SERVER), str(there.fileno())],
            pass_fds=[there.fileno()],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        there.close()
        self._socket = here
        atexit.register(self._end)

    def _end(self) -> None:
        self._socket.close()
        self._process.wait()

    def fork(self, request: dict[str, Any], streams: Sequence[int]) -> tuple[int, int]:
        """Have a process forked with these as stdin, stdout and stderr; its id, and where its end will be told."""
        reading, writing = os.pipe()
        try:
            socket.send_fds(self._socket, [json.dumps(request).encode()], [*streams, writing])
        finally:
            os.close(writing)
        pid = os.read(reading, _STATUS.size)
        if not pid:
            os.close(reading)
            raise RuntimeError("the server of processes has ended")
        return _STATUS.unpack(pid)[0], reading


_servers: dict[tuple[object, ...], _Server] = {}


def _server(environment: Mapping[str, str]) -> _Server:
    """That of this process for this environment, begun when it is first needed."""
    key = (os.getpid(), *map(environment.get, _AT_START))
    if key not in _servers:
        _servers[key] = _Server(environment)
    return _servers[key]


class WarmProcess(subprocess.Popen[Any]):
    """``mqvitals`` with these arguments, without the name of the program. Other options are those of Popen."""

    def _execute_child(self, args: Any, *rest: Any) -> None:
        # executable, preexec_fn, close_fds, pass_fds, cwd, env, startupinfo, creationflags, shell, and the ends of the pipes.
        cwd, env, pipes = rest[4], rest[5], rest[9:15]
        request: dict[str, Any] = {
            "arguments": [os.fspath(each) for each in args],
            "folder": os.fspath(cwd) if cwd is not None else str(Path.cwd()),
            "environment": dict(os.environ if env is None else env),
        }
        streams = [given if given != -1 else own for own, given in enumerate((pipes[0], pipes[3], pipes[5]))]
        try:
            self.pid, self._told = _server(request["environment"]).fork(request, streams)
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self._child_created = True

    def _ended(self, timeout: float | None) -> bool:
        if self.returncode is None:
            if not select.select([self._told], [], [], timeout)[0]:
                return False
            status = os.read(self._told, _STATUS.size)
            os.close(self._told)
            self.returncode = os.waitstatus_to_exitcode(_STATUS.unpack(status)[0])
        return True

    def _internal_poll(self, _deadstate: int | None = None, **_: Any) -> int | None:
        self._ended(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if not self._ended(timeout):
            assert timeout is not None
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode


def run_warm(
    arguments: Sequence[str], *, stdin: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``subprocess.run`` of ``mqvitals`` with these arguments: its output is captured as text, and two minutes are its limit."""
    taken, pipe = None if stdin is None else subprocess.PIPE, subprocess.PIPE
    with WarmProcess(arguments, text=True, stdin=taken, stdout=pipe, stderr=pipe, env=env) as process:
        try:
            out, err = process.communicate(stdin, timeout=120)
        except BaseException:  # raised again; the process has no other owner
            process.kill()
            raise
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)
