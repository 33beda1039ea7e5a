"""A child process with a real binding in it that carries out steps of ``steps`` one after another."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from mqstandin.library import Bindings

_PATIENCE_S: Final = 60.0
_FOLDER: Final = Path(__file__).resolve().parent.parent


class DriverError(Exception):
    """A step failed in the child, or the child did not answer in time; the text is its traceback."""


class Driver:
    """The child. ``call`` runs a function of ``mqstandin.steps`` there, or of another module: ``talk.converse``.

    Arguments and results go as JSON.
    """

    def __init__(self, binding: str, bindings: Bindings, **environment: str) -> None:
        self.binding = binding
        self._environment = bindings.environment(binding, **environment)
        self._environment["PYTHONPATH"] += os.pathsep + str(_FOLDER)
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def call(self, step: str, *arguments: Any, **named: Any) -> Any:
        """Run the step and return its result. Raises DriverError."""
        child = self._running()
        assert child.stdin
        assert child.stdout
        child.stdin.write(json.dumps([step, arguments, named]) + "\n")
        child.stdin.flush()
        late = threading.Timer(_PATIENCE_S, child.kill)
        late.start()
        try:
            line = child.stdout.readline()
        finally:
            late.cancel()
        if not line:
            self.close()
            raise DriverError(f"{step}: the child did not answer within {_PATIENCE_S:.0f} s, or died")
        answer = json.loads(line)
        if "error" in answer:
            raise DriverError(answer["error"])
        return answer["result"]

    def close(self) -> None:
        """End the child."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout):
            if stream:
                stream.close()

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", "mqstandin.driver", self.binding],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=self._environment,
            )
        return self._child


def main(binding: str) -> None:
    """Serve steps on the standard streams until the input ends."""
    import traceback

    module = importlib.import_module(binding)
    for line in sys.stdin:
        step, arguments, named = json.loads(line)
        try:
            where, _, name = step.rpartition(".")
            steps = importlib.import_module(f"mqstandin.{where or 'steps'}")
            answer = {"result": getattr(steps, name)(module, *arguments, **named)}
        except Exception:  # noqa: BLE001 - a step may raise anything: the test in the other process sees its traceback
            answer = {"error": traceback.format_exc()}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
