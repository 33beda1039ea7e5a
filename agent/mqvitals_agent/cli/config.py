"""``mqvitals config``: write a configuration file, say what is wrong with one, show what is in force, print its schema.

Also the way for other commands to their settings: ``settings_in_force``.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mqvitals_agent.cli.config_init import DESCRIPTION as _INIT
from mqvitals_agent.cli.config_init import add_init_arguments, run_init
from mqvitals_agent.commandline.failure import ExitCode, Failure
from mqvitals_agent.commandline.settings import settings_in_force

if TYPE_CHECKING:
    from mqvitals_config.load import LoadedSettings
    from mqvitals_config.problem import Problem

_CHECK = """\
Every problem is printed as FILE:LINE:COLUMN: KEY: what is wrong, with the line and a caret under the spot: first of
the file's form, then, when that is right, of the rules, objects and states it names, and of the secrets, folders and files that it
names, as the user who runs the command sees them. Then it says which Python package will connect to
the queue managers, and warns of settings that this package cannot follow. Exit code 0 when there is no problem, with or without
warnings; 1 when there is one, 2 when the file cannot be read.
"""

_SCHEMA = """\
Prints the JSON Schema of a configuration file. Editors that know it complete keys and mark mistakes in YAML while it is written.
"""

_SHOW = """\
Prints every setting in force with where it came from: a flag, an environment variable, FILE:LINE:COLUMN, or the
default. Flags beat the environment, which beats the file. Secrets are never shown.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``config init``, ``check``, ``show`` and ``schema``."""
    subparsers = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    init = subparsers.add_parser("init", help="write a short configuration file", description=_INIT)
    add_init_arguments(init)
    check = subparsers.add_parser("check", help="say what is wrong with a configuration file", description=_CHECK)
    show = subparsers.add_parser("show", help="print the settings in force and their origins", description=_SHOW)
    for command in (check, show):
        command.add_argument(
            "file",
            metavar="FILE",
            nargs="?",
            help="the file (default: the one MQVITALS_CONFIG names, or that is found)",
        )
    check.add_argument(
        "--no-files",
        action="store_true",
        help="leave out the secrets, folders and files that it names: they are elsewhere",
    )
    subparsers.add_parser("schema", help="print the JSON Schema of a configuration file", description=_SCHEMA)
    show.add_argument("--json", action="store_true", help='print {"file", "settings": {KEY: {"value", "origin"}}}')


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action; returns the exit code."""
    if arguments.action == "init":
        return run_init(arguments)
    if arguments.action == "schema":
        return _schema()
    if arguments.action == "check":
        return _check(arguments.file, files=not arguments.no_files)
    return _show(arguments.file, as_json=arguments.json)


def _schema() -> int:
    import json

    from mqvitals_config.schema import json_schema
    from mqvitals_config.settings import Settings

    print(json.dumps(json_schema(Settings), indent=2))
    return ExitCode.DONE


def _check(path: str | None, *, files: bool) -> int:
    from mqvitals_config.load import CONFIG_VARIABLE, FileCheck, check_files, found_file, load_settings, search_path
    from mqvitals_config.problem import ConfigError
    from mqvitals_config.source import UnreadableError, explained

    path = path or os.environ.get(CONFIG_VARIABLE) or found_file(os.environ)
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
    if problems := _meaning(loaded):
        print(explained(problems))
        return ExitCode.FOUND
    named = check_files(loaded.settings, loaded.origins) if files else FileCheck((), ())
    if named.problems:
        print(explained((*named.problems, *named.warnings)))
        return ExitCode.FOUND
    _foretell(loaded, path, named.warnings)
    return ExitCode.DONE


def _foretell(loaded: LoadedSettings, path: str, of_files: tuple[Problem, ...]) -> None:
    """Print what connecting will be like, and that there is no problem. A warning is none: other commands work all the same."""
    from mqvitals_agent.connection.forecast import forecast
    from mqvitals_agent.text.terminal import safe
    from mqvitals_config.source import explained

    told = forecast(loaded.settings, loaded.origins, os.environ)
    warnings = (*told.warnings, *of_files)
    if warnings:
        print(explained(warnings))
    for note in told.notes:
        print(f"note: {safe(note)}")
    count = len(warnings)
    print(f"{path}: no problems found" + (f", {count} warning{'s' if count > 1 else ''}" if count else ""))


def _meaning(loaded: LoadedSettings) -> tuple[Problem, ...]:
    """What is wrong with the names that well-formed settings hold."""
    from mqvitals_agent.poll.errand import polling_problems
    from mqvitals_config.problem import ConfigError
    from mqvitals_rules.rule_config import check_settings

    try:
        return tuple(sorted((*check_settings(loaded.settings), *polling_problems(loaded.settings.polling))))
    except ConfigError as error:
        return error.problems


def _show(path: str | None, *, as_json: bool) -> int:
    loaded = settings_in_force(path, {})
    rows = shown(loaded.settings, loaded.origins)
    if as_json:
        import json

        settings = {key: {"value": value, "origin": origin} for key, value, origin in rows}
        print(json.dumps({"file": loaded.path, "settings": settings}, indent=2))
        return ExitCode.DONE
    from mqvitals_agent.text.terminal import cells, safe

    written = [(safe(key), safe(_written(value)), safe(origin)) for key, value, origin in rows]
    wide = max(len(key) for key, _, _ in written)
    widest = max(cells(value) for _, value, _ in written)
    for key, value, origin in written:
        print(f"{key:<{wide}}  {value}{' ' * (widest - cells(value))}  {origin}")
    return ExitCode.DONE


def shown(settings: Any, origins: Mapping[str, str]) -> list[tuple[str, Any, str]]:
    """Every setting as (dotted key, value that JSON can hold, origin). Of a secret only where it is kept."""
    from mqvitals_config.load import walk

    return [(key, _plain(value), origins[key]) for key, value in walk(settings)]


def _plain(value: Any) -> Any:
    from mqvitals_config.scalars import FileMode
    from mqvitals_config.secret import Secret, without_credentials

    if isinstance(value, Secret | FileMode):
        return str(value)
    if isinstance(value, str):
        return without_credentials(value)
    return [] if value == () else value


def _written(value: Any) -> str:
    if value is None:
        return "(none)"
    if value == []:
        return "[]"
    return f"{value:g}" if isinstance(value, float) else str(value)
