"""What is known of a queue manager besides what it says itself."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mqvitals_agent.connection.route import Route


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known besides: the ``route`` (None: simulated), the declared time zone, what the binding cannot do.

    ``group`` is the queue-sharing group's name, empty when there is none, None when nobody has told.
    """

    route: Route | None = None
    declared_zone: str | None = None
    group: str | None = None
    binding: str = ""
    shortcomings: tuple[str, ...] = ()

    def with_group(self, group: str | None) -> Surroundings:
        """The same, with the queue-sharing group's name."""
        return replace(self, group=group)
