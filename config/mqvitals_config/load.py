"""Loads settings from file, environment and flags, with the origin of each value; checks the files they name.

A flag beats an environment variable, which beats the file, which beats the default:

================  =======================  ====================
flag              environment              key in the file
================  =======================  ====================
``--config``      MQVITALS_CONFIG          (the file itself)
``--store``       MQVITALS_STORE           ``store.path``
\\                MQVITALS_STORE_MODE      ``store.mode``
\\                MQVITALS_STORE_GROUP     ``store.group``
\\                MQVITALS_STORE_KEEP      ``store.keep``
\\                MQVITALS_STORE_LIMIT     ``store.limit``
\\                MQVITALS_NAME            ``name``
\\                MQVITALS_TIME_ZONE       ``time_zone``
``--interval``    MQVITALS_INTERVAL        ``polling.interval``
``--log-format``  MQVITALS_LOG_FORMAT      ``log.format``
\\                MQVITALS_LOG_LEVEL       ``log.level``
``--smf``         MQVITALS_SMF_WATCH       ``smf.watch``
``--listen``      MQVITALS_LISTEN          ``serve.listen``
``--symbols``     MQVITALS_SYMBOLS         ``tui.symbols``
================  =======================  ====================

An empty variable counts as one that is not set. Without a named file it is looked for where ``search_path`` says.
"""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from mqvitals_config.decoding.decoder import decode_located, decode_word
from mqvitals_config.decoding.problem import ConfigError, Place, Problem, word_of
from mqvitals_config.decoding.schema import Setting, key_of, settings_of
from mqvitals_config.decoding.secret import Secret, SecretError, WebAddress, checked_address
from mqvitals_config.decoding.source import UnreadableError, read
from mqvitals_config.receivers.command import CommandSettings, program_trouble
from mqvitals_config.receivers.services import APPRISE_MISSING, AppriseSettings
from mqvitals_config.settings import Settings, contradictions


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value inside decoded dataclasses, lists and mappings, with its dotted key.

    An empty list or mapping is a value of its own.
    """
    inner: list[tuple[str, Any]] = []
    if is_dataclass(value) and not isinstance(value, type):
        words = ((key_of(item), getattr(value, item.name)) for item in fields(value))
        inner = [(f"{key}.{word}" if key else word, item) for word, item in words]
    elif isinstance(value, Mapping):
        inner = [(f"{key}.{word_of(str(word))}" if key else word_of(str(word)), item) for word, item in value.items()]
    elif isinstance(value, tuple | list):
        inner = [(f"{key}[{index}]", item) for index, item in enumerate(value)]
    if not inner:
        yield key, value
    for inner_key, item in inner:
        yield from walk(item, inner_key)


CONFIG_VARIABLE = "MQVITALS_CONFIG"
SEARCH_VARIABLE = "MQVITALS_CONFIG_PATH"
FILE_NAME = "mqvitals/mqvitals.yaml"
SYSTEM_FOLDER = "/etc"
DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings in force; ``origins`` says for each dotted key where its value came from.

    An origin is ``flag --store``, ``environment MQVITALS_STORE``, ``mqvitals.yaml:12:3`` or ``default``. ``path`` is
    the file that was read, None without one.
    """

    settings: Settings
    origins: Mapping[str, str]
    path: str | None
    empty: bool = False
    """Whether the file that was read has no setting."""


def search_path(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The files that are looked for, in their order, when none is named.

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
) -> LoadedSettings:
    """The settings of the file at ``path``, else the one MQVITALS_CONFIG names, under environment and flags.

    With ``search`` the search path comes last.

    ``flags`` are those of the command line by their names without dashes (``{"store": "x.db"}``); None means not given,
    and names that belong to no setting are ignored, so that all of a command's arguments can be passed.

    Raises ConfigError with every problem; UnreadableError when the file cannot be read.
    """
    named_by_environment = not path and bool(environ.get(CONFIG_VARIABLE))
    path = path or environ.get(CONFIG_VARIABLE) or (found_file(environ) if search else None)
    problems: list[Problem] = []
    settings = Settings()
    empty = False
    places: Mapping[str, Place] = {}
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
            places = decoded.places
    origins = {key: str(place) for key, place in places.items()}
    for entry in settings_of(Settings):
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
            origins = {key: each for key, each in origins.items() if not key.startswith(f"{entry.key}.")}
            origins[entry.key] = origin
            places = {**places, entry.key: Place(origin)}
    problems.extend(contradictions(settings, places))
    if problems:
        raise ConfigError(problems)
    return LoadedSettings(settings, {key: _origin(origins, key) for key, _ in walk(settings)}, path, empty)


def _origin(origins: Mapping[str, str], key: str) -> str:
    """Where a value came from: also where one word says several values, as a short form does."""
    if key not in origins:
        for entry in settings_of(Settings):
            if entry.short and key.startswith(f"{entry.key}.") and entry.key in origins:
                further = any(other.startswith(f"{entry.key}.") for other in origins)
                return DEFAULT if further else origins[entry.key]
    return origins.get(key, DEFAULT)


def _given(entry: Setting, environ: Mapping[str, str], flags: Mapping[str, object]) -> tuple[str, str] | None:
    """The value of a setting from a flag or a variable: its origin and its text."""
    flag = flags.get(entry.flag.lstrip("-").replace("-", "_")) if entry.flag else None
    if flag is not None:
        return f"flag {entry.flag}", str(flag)
    for name in (entry.environment, entry.former_environment):
        if name and (word := environ.get(name)):
            return f"environment {name}", word
    return None


def _replaced(value: Any, key: list[str], new: Any) -> Any:
    """``value`` with the one setting under the dotted ``key`` replaced."""
    first, *rest = key
    return replace(value, **{first: _replaced(getattr(value, first), rest, new) if rest else new})


_KEY_REPOSITORY_ENDS = ("", ".kdb", ".p12", ".pfx")
"""The MQ client takes the path with or without the end of its file."""


class _FileProblem(NamedTuple):
    """What is wrong with what the setting ``key`` names."""

    key: str
    message: str
    warning: bool = False


class FileCheck(NamedTuple):
    """``problems`` keep the agent from working as it is configured; ``warnings`` may be meant so."""

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]


def check_files(settings: Settings, origins: Mapping[str, str]) -> FileCheck:
    """Look at every file, folder and group that ``settings`` name, as the user who runs this process.

    ``origins`` are those of ``load_settings``; they say where a setting stands. Nothing is written, and no secret's
    text goes into a message.
    """
    found = [
        (Problem(_place(finding.key, origins), finding.key, finding.message), finding.warning)
        for finding in (
            *_secrets(settings),
            *_store(settings),
            *_inputs(settings),
            *_connections(settings),
            *_certificates(settings),
            *_programs(settings),
        )
    ]
    return FileCheck(
        tuple(sorted(problem for problem, warning in found if not warning)),
        tuple(sorted(replace(problem, message=f"warning: {problem.message}") for problem, warning in found if warning)),
    )


def _place(key: str, origins: Mapping[str, str]) -> Place:
    """Where a setting stands: in a file, or what its origin says."""
    origin = origins.get(key, "")
    return place_of(origin) or Place(origin)


def _secrets(settings: Settings) -> Iterator[_FileProblem]:
    """Secrets that cannot be read, webhook addresses that are none, and files that every user of the
    machine can read.
    """
    for key, secret in walk(settings):
        if not isinstance(secret, Secret) or isinstance(secret, WebAddress):
            continue
        try:
            text = secret.reveal()
            if key.endswith("url_file"):
                checked_address(text)
        except SecretError as error:
            yield _FileProblem(key, str(error))
        except ValueError as error:
            yield _FileProblem(key, f"in {secret.origin}: {error}")
        path = Path(secret.origin.removeprefix("file "))
        with suppress(OSError):
            if path.is_absolute() and path.stat().st_mode & stat.S_IROTH:
                yield _open_to_all(key, path)


def _store(settings: Settings) -> Iterator[_FileProblem]:
    group = settings.store.group
    if group is not None and not _group_exists(group):
        yield _FileProblem("store.group", f"there is no group {group} on this machine")
    if settings.store.path is None:
        return
    path = Path(settings.store.path)
    if not path.parent.is_dir():
        message = f"the folder {path.parent} does not exist; make it, owned by the user who runs the agent"
    elif not os.access(path.parent, os.W_OK | os.X_OK):
        message = f"{_user()} cannot write into the folder {path.parent}; check as the user who runs the agent"
    elif path.exists() and not os.access(path, os.R_OK | os.W_OK):
        message = f"{_user()} cannot write {path}; check as the user who runs the agent"
    else:
        return
    yield _FileProblem("store.path", message)


def _inputs(settings: Settings) -> Iterator[_FileProblem]:
    """The folder of SMF data, and files of console lines."""
    if settings.smf.watch is not None:
        folder = Path(settings.smf.watch)
        if not folder.is_dir():
            yield _FileProblem("smf.watch", f"there is no folder {folder}; make it")
        elif not os.access(folder, os.R_OK | os.X_OK):
            yield _FileProblem("smf.watch", f"{_user()} cannot read the folder {folder}")
    for index, followed in enumerate(settings.console.follow):
        key, path = f"console.follow[{index}].path", Path(followed.path)
        if not path.exists():
            yield _FileProblem(key, "this file is not there yet; it is followed as soon as it is", warning=True)
        elif (why := _unreadable(path)) is not None:
            yield _FileProblem(key, why)


def _connections(settings: Settings) -> Iterator[_FileProblem]:
    """Key repositories and channel tables. The MQ client reports what is wrong in them: these are warnings."""
    for key, value in walk(settings):
        if value is None:
            continue
        if key.endswith("tls.key_repository"):
            if not any(Path(f"{value}{end}").exists() for end in _KEY_REPOSITORY_ENDS):
                yield _FileProblem(key, f"there is no key repository {value} (.kdb or .p12)", warning=True)
        elif key.endswith("ccdt_url") and str(value).startswith("file:///"):
            why = _unreadable(Path(str(value).removeprefix("file://")))
            if why is not None:
                yield _FileProblem(key, f"the client channel definition table {why}", warning=True)


def _certificates(settings: Settings) -> Iterator[_FileProblem]:
    """Certificates and keys of receivers and of the server that cannot be read, and keys that every user of the machine can
    read.
    """
    named = [
        (f"receivers[{index}].{word}", getattr(receiver, word, None), word == "client_key_file")
        for index, receiver in enumerate(settings.receivers)
        for word in ("ca_file", "client_certificate", "client_key_file")
    ]
    if (tls := settings.serve.tls) is not None:
        # Without a key of its own the certificate's file holds it.
        named += [("serve.tls.certificate", tls.certificate, tls.key is None), ("serve.tls.key", tls.key, True)]
    for key, name, is_secret in named:
        if name is None:
            continue
        path = Path(name)
        if (why := _unreadable(path)) is not None:
            yield _FileProblem(key, why)
        elif is_secret and path.stat().st_mode & stat.S_IROTH:
            yield _open_to_all(key, path)


def _programs(settings: Settings) -> Iterator[_FileProblem]:
    """Programs of receivers that are not there, cannot be started, or can be written by every user; a missing package."""
    for index, receiver in enumerate(settings.receivers):
        if isinstance(receiver, CommandSettings) and (why := program_trouble(receiver.command[0])) is not None:
            yield _FileProblem(f"receivers[{index}].command[0]", why)
        elif isinstance(receiver, AppriseSettings) and find_spec("apprise") is None:
            yield _FileProblem(f"receivers[{index}].type", APPRISE_MISSING)


def _open_to_all(key: str, path: Path) -> _FileProblem:
    return _FileProblem(key, f"every user can read {path}; take that right away: chmod o-r {path}", warning=True)


def _unreadable(path: Path) -> str | None:
    """Why the file cannot be read as one; None when it can."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    if not stat.S_ISREG(mode):
        return f"{path} is not a regular file"
    return None if os.access(path, os.R_OK) else f"{_user()} cannot read {path}"


def _user() -> str:
    return f"the user {os.environ.get('USER') or os.geteuid()}"


def _group_exists(name: str) -> bool:
    try:
        grp.getgrnam(name)
    except KeyError:
        return False
    return True
