"""``mqvitals report``: the handover from one shift to the next."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mqvitals_agent.errors import ExitCode

if TYPE_CHECKING:
    from mqvitals_agent.handover.report import Handover

_DESCRIPTION = """\
Writes what an operator who comes on shift asks: what is open, worst first, since when, who has it and what to do; what
fired and ended, how long and how bad; what was silenced; which definitions changed; what people did; the figures that
came nearest to the limit of a rule, with a chart each; what will be full soon; and for which times there are no data.
'mqvitals help handover' explains each part, and how an agent sends the report at set times.
"""
_USUAL: Final = "12h"
_TEXT, _MARKDOWN, _HTML, _JSON = "text", "markdown", "html", "json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``report``."""
    from mqvitals_agent.commandline.arguments import add_quiet_argument, add_store_arguments
    from mqvitals_agent.commandline.time_arguments import add_span_arguments, add_zone_argument

    parser.description = _DESCRIPTION
    add_store_arguments(parser)
    add_zone_argument(parser)
    add_span_arguments(parser, _USUAL)
    parser.add_argument(
        "--format",
        choices=(_TEXT, _MARKDOWN, _HTML, _JSON),
        help="for a terminal, a ticket, a browser (one file with charts), or programs (default: text, or what the name"
        " of --output ends in)",
    )
    parser.add_argument("--output", metavar="FILE", help="write it into this file instead of standard output")
    parser.add_argument(
        "--queue-manager",
        metavar="NAME",
        action="append",
        default=[],
        help="only this queue manager, or group; may be given more than once",
    )
    parser.add_argument(
        "--severity", choices=("critical", "warning", "info"), help="only alerts that were as severe, or worse"
    )
    parser.add_argument("--ascii", action="store_true", help="text in nothing but ASCII; charts are left out")
    add_quiet_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the report; returns the exit code, 0 also when much is open. Raises Failure and StoreError."""
    from mqvitals_agent.alerting.configured import calendar_of, site_labels
    from mqvitals_agent.alerting.labels import Labeller
    from mqvitals_agent.commandline.arguments import check_owners, open_store, refuse_empty
    from mqvitals_agent.commandline.output import only_ascii
    from mqvitals_agent.commandline.progress import Progress
    from mqvitals_agent.commandline.settings import loaded_settings, rule_config_of
    from mqvitals_agent.commandline.time_arguments import span_argument
    from mqvitals_agent.handover.reading import PARTS, HandoverRequest, read_handover
    from mqvitals_agent.new_files import write_whole
    from mqvitals_rules.lifecycle.alert import Severity

    form = _form(arguments)
    if arguments.ascii:
        only_ascii()
    settings = loaded_settings(arguments).settings
    config = rule_config_of(settings)
    with open_store(arguments) as reader:
        refuse_empty(reader, watched=True)
        check_owners(reader, arguments.queue_manager)
        least = Severity[(arguments.severity or "info").upper()]
        request = HandoverRequest(
            span_argument(reader, arguments, _USUAL), tuple(arguments.queue_manager), least, calendar_of(settings)
        )
        groups = [each.name for each in reader.owners() if each.is_group]
        labeller = Labeller.of_store(settings.name, groups, site_labels(settings.labels))
        with Progress(quiet=arguments.quiet) as progress:
            progress.begin("reading the store", len(PARTS), " parts")
            report = read_handover(reader, request, config, labeller, lambda part: progress.at(PARTS.index(part), part))
    text = _rendered(report, form, ascii_only=arguments.ascii)
    if arguments.output is None:
        print(text, end="")
    else:
        write_whole(Path(arguments.output), text, replace=True)
    return ExitCode.DONE


def _form(arguments: argparse.Namespace) -> str:
    """The form that is asked for, by its name or by that of the file."""
    if arguments.format is not None:
        return str(arguments.format)
    ends = {".html": _HTML, ".htm": _HTML, ".md": _MARKDOWN, ".json": _JSON}
    return ends.get(Path(arguments.output or "").suffix.lower(), _TEXT)


def _rendered(report: Handover, form: str, *, ascii_only: bool) -> str:
    from mqvitals_agent.commandline.output import line_width
    from mqvitals_agent.handover.blocks import handover_blocks, title_of
    from mqvitals_agent.handover.report_json import handover_json
    from mqvitals_agent.text.document import ascii_blocks, markdown_lines, plain_lines
    from mqvitals_agent.text.html import html_page

    if form == _JSON:
        return json.dumps(handover_json(report), indent=1) + "\n"
    blocks = handover_blocks(report)
    if form == _HTML:
        return html_page(blocks, title_of(report))
    if ascii_only:
        blocks = ascii_blocks(blocks)
    lines = markdown_lines(blocks) if form == _MARKDOWN else plain_lines(blocks, line_width())
    return "\n".join(lines) + "\n"
