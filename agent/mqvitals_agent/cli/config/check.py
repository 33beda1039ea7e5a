"""``mqvitals config check``: reports the problems of a configuration file."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from mqvitals_agent.errors import ExitCode, Failure

if TYPE_CHECKING:
    from mqvitals_config.decoding.problem import Problem
    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.settings import Settings

_DESCRIPTION = """\
Every problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and a caret under the spot: first of
the file's form, then, when that is right, of the rules, objects and states it names, and of the secrets, folders and
files that it names, as the user who runs the command sees them. Then it shows which Python package will connect to the
queue managers, and warns of settings that this package does not support and of tuning of rules without effect. Exit
code 0 when there is no problem, with or without warnings; 1 when there is one, 2 when the file cannot be read.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``config check``."""
    parser.description = _DESCRIPTION
    add_file_argument(parser)
    parser.add_argument(
        "--no-files",
        action="store_true",
        help="do not check the secrets, folders and files that it names: they are elsewhere",
    )


def add_file_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the configuration file, which may be left out."""
    parser.add_argument(
        "file", metavar="FILE", nargs="?", help="the file (default: the one MQVITALS_CONFIG names, or that is found)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Check the file; returns the exit code. Raises Failure for one that cannot be read."""
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_config.decoding.source import UnreadableError, explained
    from mqvitals_config.load import CONFIG_VARIABLE, FileCheck, check_files, found_file, load_settings, search_path
    from mqvitals_rules.ruleset.config import ineffective_tuning

    path = arguments.file or os.environ.get(CONFIG_VARIABLE) or found_file(os.environ)
    if not path:
        searched = " and ".join(search_path(os.environ))
        raise Failure(
            "there is no file to check" + (f": looked for {searched}" if searched else ""),
            hint=f"name one, set {CONFIG_VARIABLE}, or write one with 'mqvitals config init'",
        )
    try:
        loaded = load_settings(path, os.environ, {})
    except UnreadableError as error:
        raise Failure(str(error)) from error
    except ConfigError as error:
        print(explained(error.problems))
        return ExitCode.FOUND
    if problems := _name_problems(loaded):
        print(explained(problems))
        return ExitCode.FOUND
    named = check_files(loaded.settings, loaded.origins) if not arguments.no_files else FileCheck((), ())
    if named.problems:
        print(explained((*named.problems, *named.warnings)))
        return ExitCode.FOUND
    _print_forecast(loaded, path, (*named.warnings, *ineffective_tuning(loaded.settings)))
    return ExitCode.DONE


def _print_forecast(loaded: LoadedSettings, path: str, others: tuple[Problem, ...]) -> None:
    """Print what connecting will be like, and that there is no problem.

    A warning is none: other commands work all the same.
    """
    from mqvitals_agent.connection.binding import check_connections
    from mqvitals_agent.text.terminal import safe
    from mqvitals_config.decoding.source import explained

    found = check_connections(loaded.settings, loaded.origins, os.environ)
    warnings = (*found.warnings, *others)
    if warnings:
        print(explained(warnings))
    for note in (*found.notes, *_report_notes(loaded.settings)):
        print(f"note: {safe(note)}")
    count = len(warnings)
    print(f"{path}: no problems found" + (f", {count} warning{'s' if count > 1 else ''}" if count else ""))


def _report_notes(settings: Settings) -> Iterator[str]:
    """When each report is sent next, so that a person sees whether its times are as meant."""
    if not settings.reports:
        return
    from mqvitals_agent.commandline.time_arguments import now_ms
    from mqvitals_agent.notify.report_schedule import ReportTimes
    from mqvitals_agent.text.figure import moment, times_in, zone_name

    for report in settings.reports:
        times = ReportTimes.of(report, settings.time_zone)
        upcoming = next(times.after(now_ms()), None)
        with times_in(times.zone):
            when = "never" if upcoming is None else f"next at {moment(upcoming)} {zone_name(upcoming)}"
        yield f"report {report.name} is sent {when}, to {', '.join(report.receivers)}"


def _name_problems(loaded: LoadedSettings) -> tuple[Problem, ...]:
    """What is wrong with the names that well-formed settings hold."""
    from mqvitals_agent.alerting.configured import alerting_problems
    from mqvitals_agent.notify.template import template_problems
    from mqvitals_agent.poll.queries import polling_problems
    from mqvitals_config.decoding.problem import ConfigError
    from mqvitals_rules.ruleset.config import check_settings

    settings = loaded.settings
    try:
        return tuple(
            sorted(
                (
                    *check_settings(settings),
                    *polling_problems(settings.polling),
                    *alerting_problems(settings),
                    *template_problems(settings),
                )
            )
        )
    except ConfigError as error:
        return error.problems
