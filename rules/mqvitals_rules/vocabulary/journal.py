"""Which metrics a journal follows: what a poll shows that is otherwise than at the poll before; by kind and command.

Attributes of definitions are not among them: their changes are recorded by ``vocabulary/changes.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class EntryKind(StrEnum):
    """The kind of an entry of the journal. The store keeps the values."""

    DEFINITION = "definition"  # an attribute of a definition has another value
    STATE = "state"  # a state has another value
    RESTART = "restart"  # a queue manager was started again
    CONNECT = "connect"  # the agent has lost or found the connection to a queue manager
    EXPANSION = "expansion"  # a page set has more pages
    LOG = "log"  # the log goes on in another data set
    USE = "use"  # the first application has opened a queue for input, or the last one closed it
    OBJECT = "object"  # an object is there for the first time, is gone, or is back
    AGENT = "agent"  # the agent has started, or uses other settings
    ALERT = "alert"  # an alert fires, changes its severity, or ends
    ACTION = "action"  # somebody acknowledged, silenced or noted something
    MESSAGE = "message"  # a console message or an event that matters


_STATE, _RESTART, _CONNECT, _LOG, _USE = (
    EntryKind.STATE,
    EntryKind.RESTART,
    EntryKind.CONNECT,
    EntryKind.LOG,
    EntryKind.USE,
)

FOLLOWED: Final[Mapping[str, Mapping[str, Mapping[str, EntryKind]]]] = {
    "queue_manager": {
        "CONNECTION": {"reachable": _CONNECT},
        "INQUIRE_Q_MGR_STATUS": {"status": _STATE, "chinit_status": _STATE, "command_server_status": _STATE},
        "INQUIRE_PUBSUB_STATUS": {"pubsub_status": _STATE},
        "INQUIRE_LOG": {"start_ts": _RESTART},
    },
    "qsg": {"INQUIRE_QSG": {"members": _STATE}},
    "channel": {"INQUIRE_CHANNEL_STATUS": {"status": _STATE}},
    "channel_initiator": {"INQUIRE_CHANNEL_INIT": {"status": _STATE, "listeners_running": _STATE}},
    "cluster_queue_manager": {"INQUIRE_CLUSTER_Q_MGR": {"status": _STATE, "suspend": _STATE}},
    "queue": {"INQUIRE_Q_STATUS": {"input_handles": _USE}},
    "page_set": {"INQUIRE_USAGE": {"status": _STATE}},
    "cf_structure": {
        "INQUIRE_CF_STRUC_STATUS": {"status": _STATE, "offload_use": _STATE, "connections_failed": _STATE}
    },
    "smds": {
        "INQUIRE_CF_STRUC_STATUS": {"data_set_status": _STATE, "access": _STATE},
        "INQUIRE_USAGE": {"status": _STATE},
    },
    "smds_connection": {"INQUIRE_SMDSCONN": {"status": _STATE, "avail": _STATE, "expand_status": _STATE}},
    "log": {"INQUIRE_LOG": {"offload_status": _STATE, "suspend": _STATE, "data_set_copy1": _LOG}},
}
"""Kind of object -> command -> metric -> the kind of entry that another value is."""

EXPANDING: Final = frozenset({("page_set", "total_pages")})
"""Recorded changes of definitions that are an expansion where the new value is greater: (kind, metric)."""

DEFINING: Final[Mapping[str, str]] = {
    "queue": "INQUIRE_Q",
    "channel": "INQUIRE_CHANNEL",
    "cf_structure": "INQUIRE_CF_STRUC",
    "page_set": "INQUIRE_USAGE",
    "buffer_pool": "INQUIRE_USAGE",
    "cluster_queue_manager": "INQUIRE_CLUSTER_Q_MGR",
}
"""Kinds whose objects come and go by what people do -> the command whose first answer shows that one is there."""
