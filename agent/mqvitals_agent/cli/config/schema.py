"""``mqvitals config schema``: prints the JSON Schema of a configuration file."""

from __future__ import annotations

import argparse
import json

from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Prints the JSON Schema of a configuration file. Editors that know it complete keys and mark mistakes in YAML while it
is written.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``config schema``, which takes no arguments."""
    parser.description = _DESCRIPTION


def run(_: argparse.Namespace) -> int:
    """Print it; returns the exit code."""
    from mqvitals_config.decoding.schema import json_schema
    from mqvitals_config.settings import Settings

    print(json.dumps(json_schema(Settings), indent=2))
    return ExitCode.DONE
