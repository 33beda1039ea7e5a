"""What connecting will be like, as far as the settings and the packages installed tell. Nothing is imported or connected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mqvitals_agent.connection.package import AUTO, INSTALL, PACKAGES, is_installed, taken, wished
from mqvitals_agent.connection.routes import route
from mqvitals_agent.connection.shortcoming import shortcomings
from mqvitals_config.load import place_of
from mqvitals_config.problem import Place, Problem
from mqvitals_config.settings import QueueManager, Settings


@dataclass(frozen=True, slots=True)
class Forecast:
    """``warnings`` stand at their settings, in the order of the file; ``notes`` are sentences about no setting."""

    warnings: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


def forecast(
    settings: Settings,
    origins: Mapping[str, str],
    environ: Mapping[str, str],
    installed: Callable[[str], bool] = is_installed,
) -> Forecast:
    """Which package each queue manager with a connection is reached by, and what that one cannot do.

    ``origins`` says where each setting stands, as ``load_settings`` found it. A setting that several queue managers share
    is warned of once.
    """
    said: dict[Problem, list[str]] = {}
    by_package: dict[str, list[str]] = {}
    lacking: dict[str, list[str]] = {}
    for index, queue_manager in enumerate(settings.queue_managers):
        way = settings.connection_of(queue_manager)
        if not way.is_reachable:
            continue
        name = str(queue_manager.name)
        preference = way.binding or AUTO
        package = taken(preference, installed)
        if package is None:
            lacking.setdefault(preference, []).append(name)
            # What neither of them can do is told all the same.
            packages = wished(preference)
        else:
            by_package.setdefault(package, []).append(name)
            packages = (package,)
        found = [shortcomings(each, route(name, way, environ), environ) for each in packages]
        for shortcoming in found[0]:
            if all(shortcoming in others for others in found):
                place, key = _standing(shortcoming.setting, index, queue_manager, origins)
                said.setdefault(Problem(place, key, shortcoming.sentence), []).append(name)
    warnings = tuple(
        Problem(each.place, each.key, f"warning: {each.message} ({', '.join(names)})")
        for each, names in sorted(said.items())
    )
    notes = [_taking(package, names) for package, names in by_package.items()]
    notes += [_missing(preference, names, installed) for preference, names in lacking.items()]
    return Forecast(warnings, tuple(notes))


def _standing(setting: str, index: int, queue_manager: QueueManager, origins: Mapping[str, str]) -> tuple[Place, str]:
    """Where a setting of a connection stands, and its whole key: the queue manager's own one, else the group's."""
    for section in (f"queue_managers[{index}].connection", "connection"):
        key = f"{section}.{setting}"
        place = place_of(origins.get(key, ""))
        if place is not None:
            return place, key
    return queue_manager.name.place, f"queue_managers[{index}]"


def _taking(package: str, names: list[str]) -> str:
    return f"{', '.join(names)}: {package} is what connects; it is installed, and 'mqvitals doctor' tells whether it can be used"


def _missing(preference: str, names: list[str], installed: Callable[[str], bool]) -> str:
    wanted = wished(preference)
    text = f"{', '.join(names)} cannot be connected to: {' or '.join(wanted)} is not installed; {INSTALL[wanted[0]]}"
    others = [each for each in PACKAGES if each not in wanted and installed(each)]
    if others:
        text += f"; {others[0]} is installed, and taken with 'binding: {others[0]}' or 'binding: auto'"
    return text
