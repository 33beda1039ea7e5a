"""Clients: who is connected through server-connection channels, by address and application."""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Kind, answer, gauge, text

_NOW = answer(
    "INQUIRE_CHANNEL_STATUS",
    gauge("instances", "count", "instances of the channel that it has: sockets, which MAXINST and MAXINSTC count",
          pcf="MQCACH_CONNECTION_NAME", mqsc="CONNAME RAPPLTAG",
          computed="the number of current instances from this address for this application"),
    gauge("conversations", "count", "connections over these instances; an instance that shares none is one",
          pcf="MQIACH_CURRENT_SHARING_CONVS", mqsc="CURSHCNV", computed="the sum over its instances, 0 counts as 1"),
    gauge("clients", "count", "how many clients it stands for: 1, or those that others sums up",
          computed="1, for others their number"),
    text("channel_name", "channel that it comes through",
         pcf="MQCACH_CHANNEL_NAME", mqsc="CHSTATUS", computed="the channel's name"),
    text("address", "address that it comes from, without the port",
         pcf="MQCACH_CONNECTION_NAME", mqsc="CONNAME", computed="CONNAME before the parenthesis"),
    text("remote_application", "application that it says it is",
         pcf="MQCACH_REMOTE_APPL_TAG", mqsc="RAPPLTAG", computed="as reported"),
    text("user", "user id in effect; several ones are separated by commas",
         pcf="MQCACH_MCA_USER_ID", mqsc="MCAUSER", computed="the user ids of its instances, at most three"),
)

CLIENT_KIND = Kind(
    name="client",
    meaning="an application at an address that is connected through one server-connection channel of one queue manager;"
    " of more than 500 at a queue manager the smallest are summed up as others",
    poll="INQUIRE_CHANNEL_STATUS",
    metrics=_NOW,
)
