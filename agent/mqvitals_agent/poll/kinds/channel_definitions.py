"""Which channels are defined, from one cycle to the next, and what an inactive one reports: no answer about status holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.poll.kinds import channel
from mqvitals_agent.poll.probe import ChannelDefinition, CycleRows
from mqvitals_agent.poll.selection import QueryResult
from mqvitals_rules.vocabulary.metric import Absence, Reported


class ChannelDefinitions:
    """The channels that each queue manager defines, and those that it defines no more."""

    def __init__(self) -> None:
        self._defined: dict[str, dict[str, ChannelDefinition]] = {}
        self._server_connections: dict[str, dict[str, bool]] = {}
        self._undefined: dict[str, set[str]] = {}
        self._undefined_unless_reported: dict[str, set[str]] = {}

    def remember(self, owner: str, name: str) -> None:
        """A channel that existed when an earlier run ended: a whole answer without it shows it undefined."""
        self._undefined_unless_reported.setdefault(owner, set()).add(name)

    def learn(self, rows: CycleRows, asked: Mapping[str, Sequence[QueryResult]]) -> None:
        """Take in the rows of a cycle; ``asked``: by owner what its queries about definitions came to.

        A channel that a whole answer no longer holds is defined no more.
        """
        for owner, questions in asked.items():
            self._learn_of(owner, rows.channels_defined.get(owner, {}), questions)
        for owner, defined in rows.channels_defined.items():
            halves = self._server_connections.setdefault(owner, {})
            halves.update((name, each.type == mq.MQCHT_SVRCONN) for name, each in defined.items() if each.type)
        for owner, reported in rows.reported.get(channel.STATUS, {}).items():
            halves = self._server_connections.setdefault(owner, {})
            for name, row in reported.items():
                if row.instances and type(kind := row.instances[0].values["type"]) is int:
                    halves[name] = kind == mq.MQCHT_SVRCONN

    def _learn_of(
        self, owner: str, reported: Mapping[str, ChannelDefinition], questions: Sequence[QueryResult]
    ) -> None:
        defined = self._defined.setdefault(owner, {})
        undefined = self._undefined.setdefault(owner, set())
        for asked in questions:
            if asked.absence is None:
                for name in [n for n in defined if n not in reported and asked.selection.selects(n)]:
                    del defined[name]
                    undefined.add(name)
                before = self._undefined_unless_reported.get(owner, set())
                settled = {name for name in before if asked.selection.selects(name)}
                undefined.update(settled)
                before -= settled
        defined.update(reported)
        undefined.difference_update(reported)

    def of(self, owner: str) -> Mapping[str, ChannelDefinition]:
        """The channels that a queue manager defines, by name."""
        return self._defined.get(owner, {})

    def server_connections(self, owner: str) -> Mapping[str, bool]:
        """By name, whether a channel of a queue manager is a server connection, where that is known."""
        return self._server_connections.get(owner, {})

    def undefined(self, owner: str, name: str) -> bool:
        """Whether a channel was defined and is no more."""
        return name in self._undefined.get(owner, ())

    def forget(self, owner: str, name: str) -> None:
        """The channel is gone."""
        self._server_connections.get(owner, {}).pop(name, None)
        self._undefined.get(owner, set()).discard(name)


def inactive_metrics(defined: ChannelDefinition | None) -> Mapping[str, Reported]:
    """The metrics of a channel without a current instance; ``defined``: its definition, where it is known.

    Its transmission queue is the defined one: messages wait there for it to start.
    """
    values: dict[str, Reported] = dict.fromkeys(channel.STATUS.metrics, Absence.INACTIVE)
    values["status"] = mq.MQCHS_INACTIVE
    values.update(dict.fromkeys(("instances", "tls_instances", "carried_bytes", "batch_ends"), 0))
    if defined is not None and defined.type:
        values["type"] = defined.type
        if defined.type == mq.MQCHT_SVRCONN:
            values["instances_max_client"] = 0
    if defined is not None and defined.xmitq:
        values["xmitq"] = defined.xmitq
    return values
