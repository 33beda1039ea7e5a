"""The vocabulary's tables are consistent in themselves."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from mqvitals_rules.snapshot import Outcome
from mqvitals_rules.vocabulary import tables
from mqvitals_rules.vocabulary.metric import Kind, Metric, MetricType
from mqvitals_rules.vocabulary.tables import KINDS

FUNCTIONS = {"rate", "delta", "avg", "min", "max", "eta", "rising", "abs"}
REFERENCES = {
    "queue.page_set", "queue.buffer_pool", "queue.cf_structure", "page_set.buffer_pool", "channel.dispatcher", "cluster_queue_manager.channel",
    "application.page_set", "application.buffer_pool",
}  # fmt: skip
UNITS = {
    "messages", "count", "number", "pct", "us", "ms", "s", "minutes", "days", "bytes", "KB", "MB", "MB/s", "per_s",
    "pages", "buffers", "blocks", "GB", "bytes/h",
}  # fmt: skip
ENDINGS = {
    "_us": "us", "_ms": "ms", "_s": "s", "_pct": "pct", "_kb": "KB", "_mb": "MB", "_bytes": "bytes", "_pages": "pages",
    "_minutes": "minutes", "_days": "days", "_msgs": "messages",
}  # fmt: skip
COLUMNS_OF_THE_STORE = {"ts", "object_id", "source", "interval_ms", "polled", "probe", "changed", "absent"}

EVERY_KIND = [pytest.param(kind, id=kind.name) for kind in KINDS.values()]


def test_each_kind_is_found_under_its_own_name() -> None:
    """The table of all kinds has no entry under another name."""
    assert all(name == found.name for name, found in KINDS.items())


def test_look_up() -> None:
    """A kind and a metric are found by name, and an unknown name is a KeyError."""
    assert tables.kind("queue") is KINDS["queue"]
    assert tables.metric("queue", "depth").pcf == "MQIA_CURRENT_Q_DEPTH"
    assert KINDS["queue"].metric("depth") is tables.metric("queue", "depth")
    assert KINDS["queue"].metric("nothing") is None
    with pytest.raises(KeyError):
        tables.kind("nothing")
    with pytest.raises(KeyError):
        tables.metric("queue", "nothing")


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_names_are_unique_in_their_kind(kind: Kind) -> None:
    """No kind has two metrics of one name."""
    names = [metric.name for metric in kind.metrics]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_names_fit_the_rule_language_and_the_store(kind: Kind) -> None:
    """A metric's name is snake case and means nothing else in a rule or in the store; only references have a kind's name."""
    for metric in kind.metrics:
        assert re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", metric.name)
        assert metric.name not in FUNCTIONS | COLUMNS_OF_THE_STORE
        assert metric.name not in {name for other in KINDS.values() for name in other.sets}
        if metric.name in KINDS:
            # The state of a queue was there before the kind.
            assert f"{kind.name}.{metric.name}" in REFERENCES | {"queue.dead_letter"}


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_units(kind: Kind) -> None:
    """Figures have a known unit, the one their name ends with; states and texts have none."""
    for metric in kind.metrics:
        if metric.type in (MetricType.STATE, MetricType.TEXT):
            assert metric.unit == ""
            continue
        assert metric.unit in UNITS
        stem = re.sub(r"_(short|long|copy[12]|defined)$", "", metric.name)
        for ending, unit in ENDINGS.items():
            if stem.endswith(ending) and not stem.endswith(f"per{ending}") and not stem.endswith("_mb_s"):
                assert metric.unit == unit


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_meanings(kind: Kind) -> None:
    """Each meaning is one plain line that fits into a table cell."""
    for metric in kind.metrics:
        assert metric.meaning
        assert metric.meaning.isprintable()
        assert metric.meaning == metric.meaning.strip()
        assert not metric.meaning.endswith(".")
        assert not set("|<>") & set(metric.meaning)


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_states(kind: Kind) -> None:
    """States have distinct names that a rule can write, and no two for one number; nothing else has values."""
    for metric in kind.metrics:
        if metric.type is not MetricType.STATE:
            assert not metric.values
            continue
        assert len(metric.values) >= 2
        assert len(set(metric.values.values())) == len(metric.values)
        for name in metric.values:
            assert re.fullmatch(r"[A-Z][A-Z0-9_]*|[a-z][a-z0-9_]*", name)
            assert kind.metric(name) is None
            assert name not in FUNCTIONS
            assert name not in KINDS or f"{kind.name}.{metric.name} {name}" == "cf_structure.type application"
        assert not set(metric.special) & set(metric.values.values())


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_sources(kind: Kind) -> None:
    """Every metric has a source: an answer that fills it, a record, or a declaration; a parameter implies its answer."""
    for metric in kind.metrics:
        only_records = metric.needs_smf or metric.needs_statistics
        assert bool(metric.command) + bool(metric.declared) + only_records == 1
        if metric.command:
            assert (
                metric.pcf
                or metric.computed
                or metric.command
                in {
                    "CONNECTION",
                    "COMMAND",
                    "STORE",
                    "RECEIVER",
                    "REMOTE_WRITE",
                    "SERVER",
                }
            )
        else:
            assert not metric.pcf
            assert not metric.mqsc
            assert not metric.computed
            assert not metric.special
        if only_records:
            assert (
                metric.platform
                == {(True, False): "zos", (True, True): "all", (False, True): "distributed"}[
                    bool(metric.smf), bool(metric.statistics)
                ]
            )
        else:
            assert not metric.statistics
        assert metric.platform in {"all", "zos", "distributed"}
        assert metric.since == 0 or 800 <= metric.since <= 999


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_a_parameter_is_read_plainly_or_has_code_of_its_own(kind: Kind) -> None:
    """One parameter, or half a pair, is read as it is; a date with its time always has code of its own."""
    for metric in kind.metrics:
        if not metric.pcf:
            continue
        if " " in metric.pcf:
            date, time = metric.pcf.split()
            assert date.endswith("_DATE")
            assert time == date[: -len("DATE")] + "TIME"
            assert metric.computed
            assert metric.name.endswith(("_ts", "_age_s")) or metric.name == "uptime_s"
        else:
            assert re.fullmatch(r"MQ[A-Z0-9_]+(\[[01]\])?", metric.pcf)
        if metric.type is MetricType.TEXT:
            assert metric.pcf.startswith("MQCA") or metric.name in {
                "archive_routing_codes",
                "routing_codes",
                "trace_classes",
            }
        elif not metric.computed:
            assert metric.pcf.startswith("MQIA")


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_declarations(kind: Kind) -> None:
    """A default stands only with what is declared, and is one of a state's numbers."""
    for metric in kind.metrics:
        if metric.default is None:
            continue
        assert metric.declared
        if metric.type is MetricType.STATE:
            assert metric.default in metric.values.values()


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_no_parameter_of_an_answer_has_two_plain_metrics(kind: Kind) -> None:
    """One parameter of one answer fills one metric, but for platforms that mean different things by it."""
    plain = [(m.command, m.pcf, m.platform) for m in kind.metrics if m.pcf and not m.computed]
    assert len(plain) == len(set(plain))


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_kinds(kind: Kind) -> None:
    """Each kind is polled by an answer that fills some of it, or told by records, and its sets hold values that exist."""
    if kind.poll.startswith("SMF "):
        assert all(metric.needs_smf or metric.declared for metric in kind.metrics)
    else:
        assert kind.poll_command in {metric.command for metric in kind.metrics}
    assert kind.meaning
    for name, (member, values) in kind.sets.items():
        assert re.fullmatch(r"[A-Z]+", name)
        state = kind.metric(member)
        assert state is not None
        assert state.type is MetricType.STATE
        assert set(values) <= set(state.values)


@pytest.mark.parametrize(
    ("kind", "single", "of_group"),
    [
        ("queue_manager", True, False), ("qsg", True, True), ("channel", False, False), ("queue", False, False),
        ("buffer_pool", False, False), ("page_set", False, False), ("cf_structure", False, True),
        ("smds", False, True), ("smds_connection", False, False), ("log", True, False), ("channel_initiator", True, False), ("agent", False, False),
    ],
)  # fmt: skip
def test_whose_objects_they_are(kind: str, *, single: bool, of_group: bool) -> None:
    """Kinds with one object an owner, and kinds of the group, are marked so."""
    assert KINDS[kind].single is single
    assert KINDS[kind].of_group is of_group


def test_pairs_come_whole() -> None:
    """Where the first half of a pair of a parameter is a metric, the second is the next one."""
    for kind in KINDS.values():
        for first, second in pairwise([*kind.metrics, Metric("end", "", MetricType.TEXT, "")]):
            if first.pcf.endswith("[0]"):
                assert second.pcf == first.pcf.replace("[0]", "[1]")


def test_purposes_are_short_or_long_lived() -> None:
    """Every purpose of a buffer pool is in SHORT or in LONG, none in both; undeclared pools are unclassified."""
    pool = KINDS["buffer_pool"]
    short, long = set(pool.sets["SHORT"][1]), set(pool.sets["LONG"][1])
    purpose = tables.metric("buffer_pool", "purpose")
    assert short | long == set(purpose.values)
    assert not short & long
    assert purpose.default == purpose.values["unclassified"]


def test_what_minus_one_means() -> None:
    """-1 is "not collected" for what monitoring fills, and a plain value for the keep-alive interval."""
    from mqvitals_rules.vocabulary.metric import Absence

    for name in ("xbatchsz_short", "nettime_us_long", "xqtime_us_short", "exittime_us_long", "xmitq_msgs"):
        assert tables.metric("channel", name).special == {-1: Absence.NOT_COLLECTED}
    for name in ("oldest_msg_age_s", "qtime_us_short", "qtime_us_long"):
        assert tables.metric("queue", name).special == {-1: Absence.NOT_COLLECTED}
    assert not tables.metric("channel", "kaint_s").special
    assert -1 not in tables.metric("queue", "qsg_disp").values.values()


def test_outcomes_are_those_of_the_snapshot() -> None:
    """History keeps the outcome's number, so the names must be the snapshot's."""
    assert tables.metric("agent", "outcome").values == {outcome.name: outcome.value for outcome in Outcome}


def test_what_only_smf_tells_needs_smf() -> None:
    """A metric whose only source is a record says so; one that a command also fills does not."""
    assert tables.metric("channel", "nettime_max_us").needs_smf
    assert tables.metric("channel_initiator", "adapters_unused").needs_smf
    assert not tables.metric("buffer_pool", "free").needs_smf
    assert not tables.metric("buffer_pool", "worst_free_pct").needs_smf
    assert not tables.metric("buffer_pool", "purpose").needs_smf
