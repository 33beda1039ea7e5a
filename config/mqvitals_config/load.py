"""Settings put together, and where each value came from.

A flag beats an environment variable, which beats the file, which beats the default:

================  =======================  ====================
flag              environment              key in the file
================  =======================  ====================
``--config``      MQVITALS_CONFIG          (the file itself)
``--store``       MQVITALS_STORE           ``store.path``
\\                MQVITALS_STORE_MODE      ``store.mode``
\\                MQVITALS_STORE_GROUP     ``store.group``
\\                MQVITALS_STORE_KEEP      ``store.keep``
\\                MQVITALS_STORE_MAX_SIZE  ``store.max_size``
\\                MQVITALS_NAME            ``name``
\\                MQVITALS_TIME_ZONE       ``time_zone``
``--interval``    MQVITALS_INTERVAL        ``polling.interval``
``--log-format``  MQVITALS_LOG_FORMAT      ``log.format``
\\                MQVITALS_LOG_LEVEL       ``log.level``
``--smf``         MQVITALS_SMF_WATCH       ``smf.watch``
================  =======================  ====================

An empty variable counts as one that is not set. A file that nobody names is looked for where ``search_path`` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mqvitals_config.decoder import decode_located, decode_word
from mqvitals_config.problem import ConfigError, Place, Problem
from mqvitals_config.reference import Entry, entries
from mqvitals_config.settings import Settings, contradictions
from mqvitals_config.source import UnreadableError, read
from mqvitals_config.walk import walk

CONFIG_VARIABLE = "MQVITALS_CONFIG"
SEARCH_VARIABLE = "MQVITALS_CONFIG_PATH"
FILE_NAME = "mqvitals/mqvitals.yaml"
SYSTEM_FOLDER = "/etc"
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings in force; ``origins`` says for each dotted key where its value came from.

    An origin is ``flag --store``, ``environment MQVITALS_STORE``, ``mqvitals.yaml:12:3`` or ``default``. ``path`` is
    the file that was read, None without one.
    """

    settings: Settings
    origins: Mapping[str, str]
    path: str | None
    empty: bool = False
    """Whether the file that was read says nothing at all."""


def search_path(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files that are looked for, in their order, when nobody names one.

    MQVITALS_CONFIG_PATH lists them, separated by colons (set and empty: none). Without it they are
    ``$XDG_CONFIG_HOME/mqvitals/mqvitals.yaml`` (``~/.config`` where that variable is not set or not absolute) and
    ``/etc/mqvitals/mqvitals.yaml``.
    """
    listed = environ.get(SEARCH_VARIABLE)
    if listed is not None:
        return tuple(path for path in listed.split(":") if path)
    own = environ.get("XDG_CONFIG_HOME", "")
    home = environ.get("HOME", "")
    if not own.startswith("/"):
        own = f"{home}/.config" if home else ""
    return tuple(f"{folder}/{FILE_NAME}" for folder in (own, SYSTEM_FOLDER) if folder)


def found_file(environ: Mapping[str, str]) -> str | None:
    """The first file of the search path that is there."""
    return next((path for path in search_path(environ) if Path(path).exists()), None)


def place_of(origin: str) -> Place | None:
    """The place in a file that an origin of ``Loaded.origins`` names; None for a flag, a variable or a default."""
    path, line, column = (*origin.rsplit(":", 2), "", "")[:3]
    return Place(path, int(line), int(column)) if line.isdigit() and column.isdigit() else None


def load_settings(
    path: str | None, environ: Mapping[str, str], flags: Mapping[str, object], *, search: bool = False
) -> Loaded:
    """The settings of the file at ``path``, else the one MQVITALS_CONFIG names, under environment and flags.

    With ``search`` the search path comes last.

    ``flags`` are those of the command line by their names without dashes (``{"store": "x.db"}``); None means not given,
    and names that are no setting's are left alone, so that all of a command's arguments can be passed.

    Raises ConfigError with every problem; UnreadableError when the file cannot be read.
    """
    named_by_environment = not path and bool(environ.get(CONFIG_VARIABLE))
    path = path or environ.get(CONFIG_VARIABLE) or (found_file(environ) if search else None)
    problems: list[Problem] = []
    settings = Settings()
    empty = False
    origins: dict[str, str] = {}
    if path is not None:
        try:
            decoded = decode_located(path, read(path), Settings)
        except UnreadableError as error:
            if not named_by_environment:
                raise
            raise UnreadableError(
                replace(problem, message=f"{problem.message} (named by {CONFIG_VARIABLE})")
                for problem in error.problems
            ) from error
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            empty = not decoded.places
            settings = decoded.value
            origins = {key: str(place) for key, place in decoded.places.items()}
    for entry in entries(Settings):
        given = _given(entry, environ, flags)
        if given is None:
            continue
        origin, word = given
        try:
            value = decode_word(Place(origin), entry.key, word, entry.hint)
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            settings = _replaced(settings, entry.key.split("."), value)
            origins[entry.key] = origin
    problems.extend(contradictions(settings))
    if problems:
        raise ConfigError(problems)
    return Loaded(settings, {key: origins.get(key, DEFAULT) for key, _ in walk(settings)}, path, empty)


def _given(entry: Entry, environ: Mapping[str, str], flags: Mapping[str, object]) -> tuple[str, str] | None:
    """What is said about a setting outside the file: where, and the word."""
    flag = flags.get(entry.flag.lstrip("-").replace("-", "_")) if entry.flag else None
    if flag is not None:
        return f"flag {entry.flag}", str(flag)
    word = environ.get(entry.environment) if entry.environment else None
    return (f"environment {entry.environment}", word) if word else None


def _replaced(value: Any, key: list[str], new: Any) -> Any:
    """``value`` with the one setting under the dotted ``key`` replaced."""
    first, *rest = key
    return replace(value, **{first: _replaced(getattr(value, first), rest, new) if rest else new})
