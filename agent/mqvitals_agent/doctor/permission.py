"""The permissions that a display-only monitor needs on z/OS, and the RACF commands that grant them.

Which one is missing the queue manager does not tell: a check can be made by profiles of the queue manager or of the
queue-sharing group, in upper-case or mixed-case classes. So what comes from here are candidates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

GROUP: Final = "<group>"
"""Stands for the queue-sharing group's name where nobody has told it."""
USER: Final = "<user>"
CHANNEL_INITIATOR_USER: Final = "<chinit user>"

_CONNECTING: Final = "MQCONN"
_QUEUES: Final = "MQQUEUE"
_QUEUES_MIXED: Final = "MXQUEUE"
_COMMANDS: Final = "MQCMDS"
_CACHED: Final = frozenset({_QUEUES, _QUEUES_MIXED})
"""Classes of which a queue manager remembers what it looked up, until it is told to forget it."""


@dataclass(frozen=True, slots=True)
class Permission:
    """Access to a profile of a class. ``profile`` begins with a queue manager's name, or its group's."""

    class_name: str
    profile: str
    access: str

    def as_json(self) -> dict[str, str]:
        """As programs read it."""
        return {"class": self.class_name, "profile": self.profile, "access": self.access}


@dataclass(frozen=True, slots=True)
class Grant:
    """Commands that grant permissions of one class: ``racf`` for the security administrator, ``mqsc`` for the queue manager."""

    class_name: str
    racf: tuple[str, ...]
    mqsc: tuple[str, ...] = ()


def prefixes(queue_manager: str, group: str | None) -> tuple[str, ...]:
    """What profiles begin with: the queue manager's name, and its group's. Group None: not known; empty: it is in none."""
    if group == "":
        return (queue_manager,)
    return (queue_manager, group or GROUP)


def to_connect(queue_manager: str, group: str | None) -> tuple[Permission, ...]:
    """To connect through the channel initiator."""
    return tuple(Permission(_CONNECTING, f"{prefix}.CHIN", "READ") for prefix in prefixes(queue_manager, group))


def to_use_queues(queue_manager: str, group: str | None, *queues: str) -> tuple[Permission, ...]:
    """To put to queues or get from them; a generic profile's name will do for one of them."""
    return tuple(
        Permission(class_name, f"{prefix}.{queue}", "UPDATE")
        for class_name in (_QUEUES, _QUEUES_MIXED)
        for prefix in prefixes(queue_manager, group)
        for queue in queues
    )


def to_display(queue_manager: str, group: str | None, keyword: str) -> tuple[Permission, ...]:
    """To run ``DISPLAY keyword``, as MQSC or as PCF."""
    return tuple(
        Permission(_COMMANDS, f"{prefix}.DISPLAY.{keyword}", "READ") for prefix in prefixes(queue_manager, group)
    )


def dynamic_profile(dynamic_name: str) -> str:
    """The generic profile, without its prefix, for dynamic queues whose names begin so: ``MQVITALS.*`` is ``MQVITALS.**``."""
    return f"{dynamic_name}*" if dynamic_name.endswith(".*") else dynamic_name


def grants(permissions: Iterable[Permission]) -> tuple[Grant, ...]:
    """The commands that grant all of these, one grant for each class, in the order in which the classes come."""
    by_class: dict[str, dict[Permission, None]] = {}
    for permission in permissions:
        by_class.setdefault(permission.class_name, {})[permission] = None
    return tuple(_grant(class_name, wanted) for class_name, wanted in by_class.items())


def _grant(class_name: str, wanted: Iterable[Permission]) -> Grant:
    racf = tuple(line for permission in wanted for line in _lines(permission))
    generic = any("*" in permission.profile for permission in wanted)
    refresh = f"SETROPTS {'GENERIC' if generic else 'RACLIST'}({class_name}) REFRESH"
    both = (refresh, f"SETROPTS RACLIST({class_name}) REFRESH") if generic else (refresh,)
    mqsc = (f"REFRESH SECURITY({class_name})",) if class_name in _CACHED else ()
    return Grant(class_name, racf + both, mqsc)


def _lines(permission: Permission) -> Iterator[str]:
    class_name, profile = permission.class_name, permission.profile
    user = CHANNEL_INITIATOR_USER if class_name == _CONNECTING else USER
    yield f"RDEFINE {class_name} {profile} UACC(NONE)"
    yield f"PERMIT {profile} CLASS({class_name}) ID({user}) ACCESS({permission.access})"
