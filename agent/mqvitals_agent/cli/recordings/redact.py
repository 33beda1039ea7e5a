"""``mqvitals redact``: copies a recording without the names of its site."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.output import say
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.redact.redactor import Redactor
    from mqvitals_config.settings import Settings

_DESCRIPTION = """\
Copies a recording and replaces every name that a site has given: of queue managers, queues, channels, users, jobs,
hosts, and addresses. The replay of the copy gives the same alerts at the same times. The original names cannot be
derived from the copy: the replacements depend on a random key that is not stored. Exit code 0, or 1 when the recording
is damaged and lines were left out.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``redact``."""
    parser.description = _DESCRIPTION
    parser.add_argument("file", metavar="FILE", help="the recording: JSON lines, plain or gzip")
    parser.add_argument(
        "redacted", metavar="NEW", help="the redacted copy, a new file, compressed when its name ends in .gz"
    )


def run(arguments: argparse.Namespace) -> int:
    """Redact; returns the exit code."""
    from mqvitals_agent.connection.recording import RecordingWriter, open_recording
    from mqvitals_agent.pcf.decoder import Decoder
    from mqvitals_agent.redact.pseudonym import SALT_LENGTH, generic_lengths
    from mqvitals_agent.redact.redactor import Redactor, generic_names

    if Path(arguments.file).exists() and not Path(arguments.file).is_file():
        raise Failure(f"{arguments.file} is not a regular file", hint="it is read twice: write it into a file first")
    path = Path(arguments.redacted)
    if path.exists():
        raise Failure(f"{path} exists already", hint="choose another name")
    decoder = Decoder()
    generic: set[str] = set()
    with open_recording(arguments.file) as recording:
        # All generic names must be known before the first name is redacted.
        for exchange in recording:
            if exchange.request is not None:
                generic.update(generic_names(exchange.request, decoder))
    redactor = Redactor(secrets.token_bytes(SALT_LENGTH), generic_lengths(generic))
    with (
        open_recording(arguments.file) as recording,
        RecordingWriter(path, redactor.header(recording.header)) as writer,
    ):
        for exchange in recording:
            writer.write(redactor.exchange(exchange))
    for warning in recording.warnings:
        say(f"{recording.path.name}: {warning}")
    print_summary(redactor)
    return ExitCode.FOUND if recording.damaged else ExitCode.DONE


def redactor_of(settings: Settings) -> Redactor:
    """A redactor for what an agent with these settings asks and hears, with a salt of its own."""
    from mqvitals_agent.redact.pseudonym import SALT_LENGTH, generic_lengths
    from mqvitals_agent.redact.redactor import Redactor
    from mqvitals_config.sections.collection import parse_filter

    polling = settings.polling
    patterns = [*map(str, polling.queues.names), *map(str, polling.channels.names)]
    patterns += [str(parse_filter(where).value) for where in (polling.queues.where, polling.channels.where) if where]
    return Redactor(secrets.token_bytes(SALT_LENGTH), generic_lengths(patterns))


def print_summary(redactor: Redactor) -> None:
    """Print to standard error what was replaced, and what is still in the recording."""
    for sentence in redactor.summary():
        say(sentence)
