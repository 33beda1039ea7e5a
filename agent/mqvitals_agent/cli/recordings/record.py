"""``mqvitals record``: runs the agent and records every exchange, byte for byte."""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_config_argument
from mqvitals_agent.commandline.simulation_arguments import add_simulation_arguments
from mqvitals_agent.errors import Failure

if TYPE_CHECKING:
    from mqvitals_agent.connection.connection import Exchange
    from mqvitals_agent.connection.recording import RecordingWriter
    from mqvitals_agent.connection.recording_format import RecordingHeader
    from mqvitals_agent.redact.redactor import Redactor

_DESCRIPTION = """\
Runs the agent for the time of --for and writes every exchange into a recording, a new file, compressed when its name
ends in .gz. Its replay gives the same alerts. It holds names, addresses and user ids: --redact replaces them. Without
--store the samples are written to a temporary store that is deleted at the end. Signals and exit codes are those of
the agent.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``record``."""
    parser.description = _DESCRIPTION
    parser.add_argument("file", metavar="FILE", help="the recording to write, a new file")
    parser.add_argument("--redact", action="store_true", help="replace the names of the site")
    add_config_argument(parser)
    parser.add_argument("--store", metavar="PATH", help="write the samples to this store, and keep it")
    add_simulation_arguments(parser, limited=True)
    parser.add_argument("--log-format", choices=("text", "json"), help="how the log is written (log.format)")


def run(arguments: argparse.Namespace) -> int:
    """Record; returns the exit code."""
    from mqvitals_agent.cli.agent import agent_config, run_options
    from mqvitals_agent.cli.recordings.redact import print_summary, redactor_of
    from mqvitals_agent.service.run import run_agent
    from mqvitals_config.sections.serve import ListenAddress, ServeSettings

    # The store of the settings is the running agent's: a recording leaves it alone.
    flags = argparse.Namespace(**{name: value for name, value in vars(arguments).items() if name != "store"})
    config = agent_config(flags)
    # The running agent notifies the receivers, serves, and sends to engines.
    alone = replace(config.settings, receivers=(), remote_write=(), serve=ServeSettings(ListenAddress(off=True)))
    config = replace(config, settings=alone)
    path = Path(arguments.file)
    if path.exists():
        raise Failure(f"{path} exists already", hint="choose another name")
    with tempfile.TemporaryDirectory(prefix="mqvitals-record-") as folder:
        options = run_options(arguments, config, Path(arguments.store or Path(folder) / "store.db"))
        redactor = redactor_of(config.settings) if arguments.redact else None
        with Recorder(path, redactor) as recorder:
            # A recording has one interval, so the configuration is not read again.
            code = run_agent(replace(options, record=recorder.write, reread=None))
        if redactor is not None and path.exists():
            print_summary(redactor)
        return code


class Recorder:
    """Writes a recording, whose first line is only known when the first exchange comes.

    Use it in a ``with`` statement.
    """

    def __init__(self, path: Path, redactor: Redactor | None = None) -> None:
        """``redactor`` takes the names out of what is written."""
        self._path = path
        self._redactor = redactor
        self._writer: RecordingWriter | None = None

    def write(self, exchange: Exchange, header: RecordingHeader) -> None:
        """Append an exchange. Raises RecordingError when the file exists already, or cannot be written."""
        if self._writer is None:
            from mqvitals_agent.connection.recording import RecordingWriter

            self._writer = RecordingWriter(
                self._path, header if self._redactor is None else self._redactor.header(header)
            )
        self._writer.write(exchange if self._redactor is None else self._redactor.exchange(exchange))

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()
