"""A stand-in in a process of its own, and orders to it over its control port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from mqstandin.orders import Orders

_HOST: Final = "127.0.0.1"
_PATIENCE_S: Final = 30.0
_FOLDER: Final = Path(__file__).resolve().parent.parent


class ControlError(Exception):
    """The stand-in did not carry out an order; the text says why."""


def send_order(port: int, queue_manager: str, name: str, arguments: dict[str, Any]) -> Any:
    """Give an order over the control port and return what comes of it. Raises ControlError."""
    with socket.create_connection((_HOST, port), _PATIENCE_S) as connection, connection.makefile("rw") as stream:
        stream.write(json.dumps({"queue_manager": queue_manager, "order": name, "arguments": arguments}) + "\n")
        stream.flush()
        line = stream.readline()
    if not line:
        raise ControlError("the stand-in is gone")
    answer = json.loads(line)
    if not answer["ok"]:
        raise ControlError(answer["error"])
    return answer["result"]


class StandInProcess:
    """A running ``python -m mqstandin.server``. Ends with its ``with``; ``arguments`` are the words after it."""

    def __init__(self, *arguments: str) -> None:
        search = os.pathsep.join(filter(None, (str(_FOLDER), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "mqstandin.server", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": search},
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            self._process.wait(_PATIENCE_S)
            raise ControlError("the stand-in did not start; it says why on standard error")
        where = json.loads(line)
        self._ports: dict[str, int] = where["queue_managers"]
        self.control_port: int = where["control"]

    def __enter__(self) -> StandInProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def queue_managers(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(self._ports)

    def address(self, queue_manager: str) -> str:
        """Its connection name, ``127.0.0.1(40001)``."""
        return f"{_HOST}({self._ports[queue_manager]})"

    def at(self, queue_manager: str) -> Orders:
        """The orders to that queue manager. They raise ControlError."""
        return Orders(lambda name, arguments: send_order(self.control_port, queue_manager, name, arguments))

    def close(self) -> None:
        """End the process, and wait for its end."""
        if self._process.stdin:
            self._process.stdin.close()
        try:
            self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_PATIENCE_S)
        if self._process.stdout:
            self._process.stdout.close()
