"""What is asked: which questions the settings make, and what is wrong with them."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from mqvitals_agent.pcf import constants as mq
from mqvitals_agent.pcf.answer import TRACKED
from mqvitals_agent.pcf.decoder import Decoder
from mqvitals_agent.pcf.message import FilterValue, Message
from mqvitals_agent.pcf.names import command_name, parameter_number
from mqvitals_agent.poll.queries import (
    BACKUP,
    CLIENTS,
    DATA_SETS,
    DEFAULT_INTERVALS_MS,
    DISTRIBUTED_QUERIES,
    clients_interval_ms,
    distributed_queries,
    filter_parameter,
    polling_problems,
    zos_queries,
)
from mqvitals_agent.poll.selection import selection_of
from mqvitals_agent.simulator.answers.commands import COMMANDS
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.sections.collection import ChannelSelection, PollingSettings, QueueSelection
from mqvitals_rules.vocabulary.dead_letter import DEAD_LETTERS
from mqvitals_rules.vocabulary.tables import KINDS


def located(text: str) -> LocatedText:
    """A text of a file."""
    return LocatedText(text, Place("mqvitals.yaml", 3, 5))


def decoded(request: bytes) -> Message:
    """A request as a queue manager reads it."""
    return Decoder().decode(request, 1208)


def test_every_question_is_asked_whole() -> None:
    """Without settings there is one request a question, which selects everything, in the order of the schedule.

    Dead letters are browsed only where the settings say so.
    """
    found = zos_queries(PollingSettings())
    assert [errand.question for errand in found] == [
        name for name in DEFAULT_INTERVALS_MS if name not in DISTRIBUTED_QUERIES | {DEAD_LETTERS}
    ]
    for errand in found:
        selection = selection_of(decoded(errand.request))
        assert (selection.command, selection.name, selection.partial) == (errand.command, "*", False)


def test_only_what_is_wanted_is_asked_for() -> None:
    """Where z/OS takes a list: each attribute that the probe reads, but for those that always come; and nothing twice."""
    lists = {
        "INQUIRE_Q": mq.MQIACF_Q_ATTRS,
        "INQUIRE_Q_STATUS": mq.MQIACF_Q_STATUS_ATTRS,
        "INQUIRE_CHANNEL": mq.MQIACF_CHANNEL_ATTRS,
        "INQUIRE_CHANNEL_STATUS": mq.MQIACH_CHANNEL_INSTANCE_ATTRS,
        CLIENTS: mq.MQIACH_CHANNEL_INSTANCE_ATTRS,
    }
    for errand in zos_queries(PollingSettings()):
        if errand.question not in lists:
            continue
        values = decoded(errand.request).values
        asked = values[lists[errand.question]]
        assert isinstance(asked, tuple)
        assert len(set(asked)) == len(asked)
        assert set(asked) <= errand.parameters
        always = COMMANDS[errand.command].always
        left_out = errand.parameters - TRACKED - always - _only_distributed(errand.command) - set(asked)
        assert bool(left_out) is (errand.question == CLIENTS)
        assert errand.without_list is not None
        assert lists[errand.question] not in decoded(errand.without_list.request).values
        assert errand.without_list.question == errand.question


def _only_distributed(command: int) -> set[int]:
    """The parameters from which nothing but metrics of distributed queue managers are read."""
    found: dict[bool, set[int]] = {False: set(), True: set()}
    for kind in KINDS.values():
        for metric in kind.metrics:
            if metric.command == command_name(command):
                numbers = map(parameter_number, re.findall(r"MQ\w+", metric.pcf))
                found[metric.platform == "distributed"].update(numbers)
    return found[True] - found[False]


def test_channels_come_in_two_halves() -> None:
    """Server connections apart from the rest; together where the site's own filter takes the place of that one."""
    found = {errand.question: selection_of(decoded(errand.request)) for errand in zos_queries(PollingSettings())}
    assert (found["INQUIRE_CHANNEL_STATUS"].clients, found[CLIENTS].clients) == (False, True)
    polling = PollingSettings(channels=ChannelSelection(where=located("STATUS EQ RETRYING")))
    filtered = {errand.question: selection_of(decoded(errand.request)) for errand in zos_queries(polling)}
    assert CLIENTS not in filtered
    assert (filtered["INQUIRE_CHANNEL_STATUS"].clients, filtered["INQUIRE_CHANNEL_STATUS"].partial) == (None, True)


@pytest.mark.parametrize(
    ("channels", "wanted"), [(0, 60_000), (2_500, 60_000), (2_501, 120_000), (10_000, 240_000), (10**9, 1_920_000)]
)
def test_many_server_connections_make_the_interval_longer(channels: int, wanted: int) -> None:
    """At most 2,500 replies a minute, however many there are; an hour is the end."""
    assert clients_interval_ms(60_000, channels) == wanted


def test_backup_is_the_other_half() -> None:
    """The backup question differs from the summary in its type and has the same form."""
    (backup,) = [errand for errand in zos_queries(PollingSettings()) if errand.question == BACKUP]
    assert decoded(backup.request).values[mq.MQIACF_CF_STATUS_TYPE] == mq.MQIACF_CF_STATUS_BACKUP
    assert backup.form == "INQUIRE_CF_STRUC_STATUS"
    assert backup.of_group


def test_data_sets_are_the_other_part_of_usage() -> None:
    """Their question differs in its type, has the same form, and goes to every queue manager."""
    (found,) = [errand for errand in zos_queries(PollingSettings()) if errand.question == DATA_SETS]
    assert decoded(found.request).values[mq.MQIACF_USAGE_TYPE] == mq.MQIACF_USAGE_SMDS
    assert (found.form, found.of_group) == ("INQUIRE_USAGE", False)


def test_usage_can_be_off() -> None:
    """Usage is not asked when the settings say so."""
    names = {errand.question for errand in zos_queries(PollingSettings(usage=False))}
    assert (
        names
        == set(DEFAULT_INTERVALS_MS)
        - {"INQUIRE_USAGE", "INQUIRE_USAGE_SMDS", "INQUIRE_USAGE_DATASET", DEAD_LETTERS}
        - DISTRIBUTED_QUERIES
    )


def test_distributed_queue_managers_are_asked_what_they_know() -> None:
    """Neither what only z/OS has, nor anything of a group, nor dispositions; statistics only where a queue is named."""
    common = ["INQUIRE_Q_MGR", "INQUIRE_Q_MGR_STATUS", "INQUIRE_CHANNEL", "INQUIRE_Q"]
    common += ["INQUIRE_CHANNEL_STATUS", "INQUIRE_Q_STATUS", CLIENTS, "INQUIRE_CONNECTION", "INQUIRE_CLUSTER_Q_MGR"]
    common += ["INQUIRE_PUBSUB_STATUS", "INQUIRE_SUBSCRIPTION"]
    found = distributed_queries(PollingSettings())
    assert [errand.question for errand in found] == common
    for errand in found:
        message = decoded(errand.request)
        assert not {mq.MQIA_QSG_DISP, mq.MQCACF_COMMAND_SCOPE} & set(message.values)
        assert not selection_of(message).partial
    *same, statistics = distributed_queries(PollingSettings(), "SYSTEM.ADMIN.STATISTICS.QUEUE")
    assert same == list(found)
    assert (statistics.question, statistics.form, statistics.of_group) == ("STATISTICS", "STATISTICS_Q", False)
    message = decoded(statistics.request)
    assert (message.command, message.values) == (165, {mq.MQCA_Q_NAME: "SYSTEM.ADMIN.STATISTICS.QUEUE"})


def test_names_and_filters() -> None:
    """Each name is a request of its own, for definitions and status; a filter is for status alone."""
    queues = QueueSelection((located("APP.*"), located("PAY.*"), located("APP.*")), located("curdepth gt 0"))
    found = zos_queries(replace(PollingSettings(), queues=queues))
    status = [decoded(errand.request) for errand in found if errand.question == "INQUIRE_Q_STATUS"]
    assert [message.values[mq.MQCA_Q_NAME] for message in status] == ["APP.*", "PAY.*"]
    assert {message.values[mq.MQIA_CURRENT_Q_DEPTH] for message in status} == {FilterValue(mq.MQCFOP_GREATER, 0)}
    assert selection_of(status[0]).partial
    definitions = [decoded(errand.request) for errand in found if errand.question == "INQUIRE_Q"]
    assert [selection_of(message).partial for message in definitions] == [False, False]


def test_states_and_texts_in_filters() -> None:
    """A state is named as in MQSC, a text may be generic."""
    running = filter_parameter("STATUS NE running", "channel")
    assert running is not None
    assert running.value == FilterValue(mq.MQCFOP_NOT_EQUAL, mq.MQCHS_RUNNING)
    partner = filter_parameter("RQMNAME LK QM*", "channel")
    assert partner is not None
    assert partner.value == FilterValue(mq.MQCFOP_LIKE, "QM*")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CURDEPHT GT 0", "did you mean 'CURDEPTH'"),
        ("CURDEPTH LK A*", "CURDEPTH is a number"),
        ("CURDEPTH GT many", "many is no value of CURDEPTH"),
    ],
)
def test_filters_that_do_not_fit(text: str, said: str) -> None:
    """Mistakes in filters are told at their place, with what would be right."""
    polling = PollingSettings(queues=QueueSelection(where=located(text)))
    (problem,) = polling_problems(polling)
    assert said in problem.message
    assert str(problem).startswith("mqvitals.yaml:3:5: polling.queues.where: ")
    with pytest.raises(ValueError, match=problem.message[:20]):
        zos_queries(polling)


def test_unknown_questions() -> None:
    """An interval for a question that does not exist is told; those that exist and right filters are no problem."""
    polling = PollingSettings(
        channels=ChannelSelection(where=located("STATUS EQ RETRYING")),
        intervals={located("INQUIRE_USGAE"): 60_000, located("INQUIRE_Q"): 60_000},
    )
    (problem,) = polling_problems(polling)
    assert problem.message == "there is no question INQUIRE_USGAE; did you mean 'INQUIRE_USAGE'?"
