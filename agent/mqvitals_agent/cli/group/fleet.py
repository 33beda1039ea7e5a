"""``mqvitals fleet``: several groups side by side, the worst first, one line a group."""

from __future__ import annotations

import argparse
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mqvitals_agent.commandline.arguments import add_config_argument
from mqvitals_agent.commandline.output import line_width, screen_height, show_lines
from mqvitals_agent.commandline.settings import settings_in_force
from mqvitals_agent.commandline.time_arguments import add_zone_argument, now_ms
from mqvitals_agent.errors import Failure
from mqvitals_agent.text.terminal import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mqvitals_agent.fleet.ranking import RankedGroup
    from mqvitals_config.sections.fleet import FleetGroupSettings

_BRIEF = 12
"""Lines about the worst group where the terminal has no height."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``fleet``."""
    parser.add_argument(
        "groups",
        metavar="STORE_OR_URL",
        nargs="*",
        help="the file of a store, or the address of an agent such as https://mq2.example.com:9157 (default: those under"
        " fleet in the configuration, which also has the tokens)",
    )
    add_config_argument(parser)
    parser.add_argument("--json", action="store_true", help="the same as one JSON object")
    add_zone_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    """Show the groups; returns that of the worst: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN or when it cannot be read."""
    from mqvitals_agent.fleet.lines import fleet_header, fleet_table
    from mqvitals_agent.fleet.page import group_brief
    from mqvitals_agent.fleet.ranking import ranked
    from mqvitals_agent.fleet.sources import read_fleet, sources_of
    from mqvitals_agent.text.severity import Health, exit_of, worst
    from mqvitals_agent.text.styled import line
    from mqvitals_agent.threads import run_in_loop
    from mqvitals_rules.timestamps import iso

    settings = settings_in_force(arguments.config, {}).settings
    wanted = tuple(_wanted(text, settings.fleet) for text in arguments.groups) or settings.fleet
    if not wanted:
        raise Failure(
            "no group is named", hint="name stores or agents, or list them under fleet in the configuration (--config)"
        )
    found = run_in_loop(read_fleet(sources_of(wanted, settings, now_ms), now_ms))
    now = now_ms()
    groups = ranked(each.as_of(now) for each in found)
    result = exit_of(worst(each.group.health for each in groups))
    if arguments.json:
        health = worst(each.group.health for each in groups)
        print(json.dumps({"at": iso(now), "severity": health.word, "groups": [group_json(each) for each in groups]}))
        return result.code
    width, height = line_width(), screen_height()
    lines = [*fleet_header(groups, now, width), *fleet_table(groups, now, width)]
    first = groups[0]
    if first.group.health > Health.INFO:
        room = _BRIEF if height is None else max(height - len(lines) - 1, 0)
        brief = group_brief(first, now, width, room, more=_shows_all(first.group.source))
        lines += [line(), *brief] if brief else []
    show_lines(lines)
    return result.code


def _shows_all(source: str) -> str:
    """The command that shows all of a group."""
    if "://" in source:
        return "'mqvitals status' on its machine shows all"
    return f"mqvitals status --store {shlex.quote(safe(source))}"


def _wanted(text: str, configured: Sequence[FleetGroupSettings]) -> FleetGroupSettings:
    """The group of an argument, with the token and the certificates of the settings where these name it. Raises Failure."""
    from mqvitals_config.decoding.problem import LocatedText, Place
    from mqvitals_config.decoding.scalars import resolved_path
    from mqvitals_config.sections.fleet import AgentAddress, FleetGroupSettings

    try:
        if "://" in text:
            url = AgentAddress(text)
            same = url.reveal().rstrip("/")
            known = (each for each in configured if each.url is not None and each.url.reveal().rstrip("/") == same)
            return next(known, FleetGroupSettings(url=url))
        store = resolved_path(LocatedText(text, Place("")))
        path = Path(store).resolve()
        known = (each for each in configured if each.store is not None and Path(each.store).resolve() == path)
        return next(known, FleetGroupSettings(store=store))
    except ValueError as error:
        raise Failure(f"an argument is neither the file of a store nor the address of an agent: {error}") from None


def group_json(ranked: RankedGroup) -> dict[str, Any]:
    """A group in ``mqvitals fleet --json``. What is not known is null."""
    from mqvitals_rules.lifecycle.alert import Severity
    from mqvitals_rules.timestamps import iso

    group, reason = ranked
    counts = group.counts
    return {
        "name": group.name,
        "group": group.group or None,
        "severity": group.health.word,
        "reason": reason,
        "stale": group.stale,
        "age_s": _seconds(group.age_ms),
        "problem": group.problem or None,
        "notes": list(group.notes),
        "agents": [
            {"source": each.source, "role": each.role or None, "problem": each.problem or None} for each in group.agents
        ],
        "queue_managers": [
            {
                "name": each.name,
                "severity": each.health.word,
                "reachable": each.reachable,
                "stale": each.stale,
                "age_s": _seconds(each.age_ms),
            }
            for each in group.queue_managers
        ],
        "alerts": None if counts is None else {each.name.lower(): counts.get(each, 0) for each in sorted(Severity)},
        "worst": [
            {
                "rule": each.rule,
                "object": each.object,
                "severity": each.health.word,
                "started": None if each.started is None else iso(each.started),
                "lasts_s": _seconds(each.lasts_ms),
                "summary": each.words,
                "stale": group.is_stale(each),
            }
            for each in group.alerts[:1]
        ],
    }


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else round(ms / 1000, 3)
