"""``mqvitals show``: one object with all that is known of it, now or as of a past moment."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mqvitals_agent.commandline.arguments import add_store_arguments, object_name
from mqvitals_agent.commandline.as_of import add_at_argument, open_store_as_of
from mqvitals_agent.commandline.output import line_width, show_lines
from mqvitals_agent.commandline.settings import rule_config_of, settings_of
from mqvitals_agent.commandline.time_arguments import add_zone_argument, now_ms
from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_agent.store.reader import StoreReader
    from mqvitals_rules.snapshot import ObjectName

_DESCRIPTION = """\
Prints what the screen of an object shows: its state and alerts, its figures, what to do, the objects related to it and
what each rule finds. With --at as of a past moment.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``show``."""
    parser.description = _DESCRIPTION
    parser.add_argument("object", metavar="OBJECT", help="such as QM01/buffer_pool/3 or QM01/channel_initiator")
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_at_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the object; returns the exit code."""
    from mqvitals_agent.text.styled import Tone, line
    from mqvitals_agent.view.frame import DETAIL, FrameRequest, read_frame
    from mqvitals_agent.view.screens.header import as_of_words
    from mqvitals_agent.view.screens.object.page import detail_lines

    name = object_name(arguments.object)
    settings = settings_of(arguments)
    with open_store_as_of(arguments) as reader:
        _refuse_unknown(reader, name)
        frame = read_frame(
            reader, now_ms(), FrameRequest(DETAIL, name=name), rule_config_of(settings, defer=True), settings
        )
    lines = [] if frame.data.as_of is None else [line(as_of_words(frame.data.as_of, now_ms()), Tone.STRONG)]
    show_lines([*lines, *detail_lines(frame, line_width())])
    return ExitCode.DONE


def _refuse_unknown(reader: StoreReader, name: ObjectName) -> None:
    """Raises Failure for an object that the store does not know, and StoreError."""
    if not reader.has(name):
        near = ", ".join(reader.closest(str(name)))
        raise Failure(f"the store {reader.path} holds no object {name}", hint=f"did you mean {near}?" if near else "")
