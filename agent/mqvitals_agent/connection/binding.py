"""The Python packages that call the MQ client: which are installed, which one connects, which settings it cannot apply.

None of them is imported here.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final

from mqvitals_agent.connection.route import DEFAULT_APPLICATION, CommandRoute, route_to
from mqvitals_config.decoding.problem import Place, Problem
from mqvitals_config.load import place_of
from mqvitals_config.settings import QueueManager, Settings

PACKAGES: Final = ("ibmmq", "pymqi")
"""In the order in which they are tried: IBM's is alive, and can do more."""

AUTO: Final = "auto"

INSTALL: Final = {
    "ibmmq": "install it with 'pip install mqvitals[ibmmq]', and IBM's MQ client (9.1 or later), whose libraries the loader must find",
    "pymqi": "install it with 'pip install mqvitals[pymqi]', which needs IBM's MQ client and its SDK to build",
}
"""What to do for a package that is not there."""


def is_installed(name: str) -> bool:
    """Whether Python finds a package of that name. Only importing it shows whether it is usable."""
    return importlib.util.find_spec(name) is not None


def allowed_packages(preference: str) -> tuple[str, ...]:
    """The packages that the setting ``binding`` allows, in the order in which they are tried."""
    return PACKAGES if preference == AUTO else (preference,)


def first_installed(preference: str, installed: Callable[[str], bool] = is_installed) -> str | None:
    """The package that is tried first of those that are installed; None when none of them is."""
    return next((name for name in allowed_packages(preference) if installed(name)), None)


def other_package(names: Collection[str], installed: Callable[[str], bool] = is_installed) -> str:
    """A clause about a package that is installed and not among ``names``; empty when there is none."""
    other = next((each for each in PACKAGES if each not in names and installed(each)), "")
    return f"; {other} is installed, and taken with 'binding: {other}' or 'binding: auto'" if other else ""


TABLE_VARIABLE: Final = "MQCCDTURL"
"""Where the MQ client itself finds the address of a client channel definition table."""


@dataclass(frozen=True, slots=True)
class UnsupportedSetting:
    """A setting without effect: ``sentence`` without its full stop, ``setting`` as a key under ``connection``."""

    setting: str
    sentence: str


def unsupported_settings(
    package: str, route: CommandRoute, environ: Mapping[str, str]
) -> tuple[UnsupportedSetting, ...]:
    """What of ``route`` is without effect when ``package`` connects, in the order of the settings.

    Source: pymqi's ``MQCONNX`` makes an MQCNO of version 5 itself, in which neither the address of a table (version
    6) nor the application's name (version 7) has a field. With a table no MQCD is given, and CipherSpec and peer name
    are fields of that structure alone; key repository and certificate label are MQSCO's, and hold.
    """
    found = []
    if route.ccdt_url:
        # With the variable set to the same address the client reads that table.
        if package == "pymqi" and environ.get(TABLE_VARIABLE) != route.ccdt_url:
            found.append(
                UnsupportedSetting(
                    "ccdt_url",
                    "pymqi takes a client channel definition table only from the environment: set"
                    f" {TABLE_VARIABLE} to the same address, or use ibmmq",
                )
            )
        if route.tls is not None and route.tls.cipher:
            found.append(
                UnsupportedSetting(
                    "tls.cipher",
                    "tls.cipher is not used with ccdt_url: the table's own counts, and without one there the connection"
                    " is not encrypted",
                )
            )
        if route.tls is not None and route.tls.peer_name:
            found.append(
                UnsupportedSetting(
                    "tls.peer_name",
                    "tls.peer_name is not used with ccdt_url: the table's own counts, and without one there the queue"
                    " manager's certificate may carry any name",
                )
            )
    if package == "pymqi" and route.application_name != DEFAULT_APPLICATION:
        found.append(
            UnsupportedSetting(
                "application_name",
                f"pymqi cannot give the connection an application name, so {route.application_name!r} is not shown by"
                " DISPLAY CONN; ibmmq can",
            )
        )
    return tuple(found)


@dataclass(frozen=True, slots=True)
class ConnectionCheck:
    """``warnings`` stand at their settings, in the order of the file; ``notes`` are sentences about no setting."""

    warnings: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def check_connections(
    settings: Settings,
    origins: Mapping[str, str],
    environ: Mapping[str, str],
    installed: Callable[[str], bool] = is_installed,
) -> ConnectionCheck:
    """Which package each queue manager with a connection is reached by, and what that one cannot do.

    ``origins`` says where each setting stands, as ``load_settings`` found it. A setting that several queue managers
    share is warned of once.
    """
    warned: dict[Problem, list[str]] = {}
    by_package: dict[str, list[str]] = {}
    lacking: dict[str, list[str]] = {}
    for index, queue_manager in enumerate(settings.queue_managers):
        way = settings.connection_of(queue_manager)
        if not way.is_reachable:
            continue
        name = str(queue_manager.name)
        preference = way.binding or AUTO
        package = first_installed(preference, installed)
        if package is None:
            lacking.setdefault(preference, []).append(name)
            # What neither of them can do is reported nevertheless.
            packages = allowed_packages(preference)
        else:
            by_package.setdefault(package, []).append(name)
            packages = (package,)
        found = [unsupported_settings(each, route_to(name, way, environ), environ) for each in packages]
        for shortcoming in found[0]:
            if all(shortcoming in others for others in found):
                place, key = _standing(shortcoming.setting, index, queue_manager, origins)
                warned.setdefault(Problem(place, key, shortcoming.sentence), []).append(name)
    warnings = tuple(
        Problem(each.place, each.key, f"warning: {each.message} ({', '.join(names)})")
        for each, names in sorted(warned.items())
    )
    notes = [_taking(package, names) for package, names in by_package.items()]
    notes += [_missing(preference, names, installed) for preference, names in lacking.items()]
    return ConnectionCheck(warnings, tuple(notes))


def _standing(setting: str, index: int, queue_manager: QueueManager, origins: Mapping[str, str]) -> tuple[Place, str]:
    """Where a setting of a connection stands, and its whole key: the queue manager's own one, else the group's."""
    for section in (f"queue_managers[{index}].connection", "connection"):
        key = f"{section}.{setting}"
        place = place_of(origins.get(key, ""))
        if place is not None:
            return place, key
    return queue_manager.name.place, f"queue_managers[{index}]"


def _taking(package: str, names: list[str]) -> str:
    return (
        f"{', '.join(names)}: {package} connects; it is installed, and 'mqvitals doctor' shows whether it can be used"
    )


def _missing(preference: str, names: list[str], installed: Callable[[str], bool]) -> str:
    wanted = allowed_packages(preference)
    text = f"{', '.join(names)} cannot be connected to: {' or '.join(wanted)} is not installed; {INSTALL[wanted[0]]}"
    return text + other_package(wanted, installed)
