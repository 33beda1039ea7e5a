"""``mqvitals config show``: prints the settings in force and their origins."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

from mqvitals_agent.cli.config.check import add_file_argument
from mqvitals_agent.commandline.settings import settings_in_force
from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Prints every setting in force with its origin: a flag, an environment variable, FILE:LINE:COLUMN, or the default. Flags
override the environment, which overrides the file. Secrets are never shown.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``config show``."""
    parser.description = _DESCRIPTION
    add_file_argument(parser)
    parser.add_argument("--json", action="store_true", help='print {"file", "settings": {KEY: {"value", "origin"}}}')


def run(arguments: argparse.Namespace) -> int:
    """Print the settings; returns the exit code. Raises Failure for those that cannot be used."""
    loaded = settings_in_force(arguments.file, {})
    rows = settings_rows(loaded.settings, loaded.origins)
    if arguments.json:
        settings = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        print(json.dumps({"file": loaded.path, "settings": settings}, indent=2))
        return ExitCode.DONE
    from mqvitals_agent.text.terminal import cells, safe

    written = [(safe(key), safe(_value_text(value)), safe(origin)) for key, value, origin in rows]
    wide = max(len(key) for key, _, _ in written)
    widest = max(cells(value) for _, value, _ in written)
    for key, value, origin in written:
        print(f"{key:<{wide}}  {value}{' ' * (widest - cells(value))}  {origin}")
    return ExitCode.DONE


def settings_rows(settings: Any, origins: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """Every setting as (dotted key, value that JSON can hold, origin). Of a secret only where it is kept."""
    from mqvitals_config.load import walk

    return [(key, _plain(value), origins[key]) for key, value in walk(settings)]


def _plain(value: Any) -> Any:
    from mqvitals_config.decoding.scalars import FileMode
    from mqvitals_config.decoding.secret import Secret, without_credentials

    if isinstance(value, Secret | FileMode):
        return str(value)
    if isinstance(value, str):
        return without_credentials(value)
    return [] if value == () else value


def _value_text(value: Any) -> str:
    if value is None:
        return "(none)"
    if value == []:
        return "[]"
    return f"{value:g}" if isinstance(value, float) else str(value)
