"""``mqvitals rules explain``: a rule, and its verdict about an object of a store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mqsamples.site_rules import RULES
from mqvitals_agent.store.writer import Store
from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

Said = Callable[..., str]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of seven polls of a few objects."""
    path = tmp_path / "store.db"
    history = MemoryHistory()
    judging = load_rule_config(Settings())
    engine = Engine(judging.rules, judging.facts, history)
    with Store.open(path, replay=True, source="made up", group="PRDQSG") as writer:
        for cycle in range(7):
            ts = 1_800_000_000_000 + cycle * 10_000
            for owner, group, values in _cycle(cycle):
                readings = tuple(
                    Reading(name, KINDS[name.kind].poll, ts, told, 10_000 if cycle else None)
                    for name, told in values.items()
                )
                snapshot = Snapshot(owner, group, cycle + 1, ts, readings)
                history.add(snapshot)
                writer.write(snapshot, engine.evaluate(snapshot))
    return path


_REFUSED = Outcome.REFUSED.value
_COMMANDS = (
    (
        ("INQUIRE_ARCHIVE", _REFUSED, 3081, "DISPLAY ARCHIVE"),
        ("INQUIRE_LOG", _REFUSED, 3081, "DISPLAY LOG"),
        ("INQUIRE_USAGE", 0, 0, "DISPLAY USAGE"),
    ),
    (
        ("INQUIRE_ARCHIVE", _REFUSED, 3081, "DISPLAY ARCHIVE"),
        ("INQUIRE_LOG", 0, 0, "DISPLAY LOG"),
        ("INQUIRE_USAGE", 0, 0, "DISPLAY USAGE"),
    ),
)
"""What became of our commands, at first and later: form, outcome, reason, in MQSC."""


def _cycle(cycle: int) -> list[tuple[str, bool, dict[ObjectName, dict[str, Reported]]]]:
    smf = Absence.NEEDS_SMF
    return [
        (
            "QM01",
            False,
            {
                ObjectName("QM01", "buffer_pool", "3"): {"free_pct": 4, "worst_free_pct": 4, "low_pct": smf},
                ObjectName("QM01", "buffer_pool", "4"): {"worst_free_pct": 18 if cycle == 6 else 60},
                ObjectName("QM01", "channel", "TO.QM02"): {
                    "status": 3,
                    "type": 1,
                    "nettime_us_short": Absence.NOT_COLLECTED,
                    "nettime_us_long": Absence.NOT_COLLECTED,
                    "batches": 3,
                },
                ObjectName("QM01", "queue", "ORDERS"): {
                    "depth": 10 + cycle,
                    "input_handles": 0,
                    "usage": 0,
                    "get_enabled": 0,
                    "usually_read": 1,
                    "max_depth": 5000,
                },
                ObjectName("QM01", "queue", "Still"): {
                    "depth": min(10 + cycle, 15),
                    "input_handles": 0,
                    "usage": 0,
                    "get_enabled": 0,
                    "usually_read": 1,
                    "max_depth": 5000,
                    "qsg_disp": 0,
                },
                **{
                    ObjectName("QM01", "agent", form): {"outcome": outcome, "reason": reason, "mqsc": mqsc}
                    for form, outcome, reason, mqsc in _COMMANDS[cycle > 3]
                },
            },
        ),
        (
            "PRDQSG",
            True,
            {
                ObjectName("PRDQSG", "cf_structure", "CSQ_ADMIN"): {"type": 1, "entries_max": 9362, "entries_used": 53},
                ObjectName("PRDQSG", "qsg"): {"qmgr_count": 10},
                ObjectName("PRDQSG", "queue", "Shared"): {"depth": 0, "usage": 0, "qsg_disp": 2},
            },
        ),
    ]


def flat(text: str) -> str:
    return " ".join(text.split())


def test_explain_a_rule(said: Said, tmp_path: Path) -> None:
    """Everything the rule says of itself, with the origin of its thresholds and what the site changed."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  thresholds: [{rule: BP-01, parameter: stress_pct, value: 30}]\n", "utf-8")
    out = flat(said("explain", "BP-01", "--config", str(config)))
    for words in (
        "purpose in SHORT and deferred_write_pct < worst_free_pct <= stress_pct",
        "stress_pct = 20 % (document)",
        f"30 % (configuration, {config}:2:",
        "clear_pct = 25 % (default)",
        "Performance Tuning and Problem Determination",
        "DISPLAY USAGE PSID(*) TYPE(PAGESET)",
    ):
        assert words in out


def test_explain_what_is_tuned_for_an_object(
    said: Said, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts for it, with the standard value, the reason and the place; where it is off, who says so."""
    # A long path would be broken between two lines.
    monkeypatch.chdir(tmp_path)
    config = Path("mqvitals.yaml")
    config.write_text(
        "rules:\n  tuning:\n"
        "    - {rule: BP-03, objects: '*/buffer_pool/*', severity: warning, hold: 1m, reason: for tests}\n"
        "    - {family: bp_free, objects: QM01/buffer_pool/3, severity: info, reason: nobody looks}\n"
        "    - {rule: BP-01, objects: QM01/buffer_pool/3, off: true, reason: too small}\n",
        "utf-8",
    )
    words = ("--store", str(store), "--config", str(config))
    out = flat(said("explain", "BP-03", "QM01/buffer_pool/3", *words))
    assert f"severity: info, not critical (configuration, {config}:4:16): nobody looks" in out
    assert f"hold: 1m, not at once (configuration, {config}:3:14): for tests" in out
    assert "Severity info" in out
    out = flat(said("explain", "BP-01", "QM01/buffer_pool/3", *words, code=2))
    assert "BP-01 is switched off for QM01/buffer_pool/3: too small" in out
    assert f"{config}:5:14 does so" in out
    out = flat(said("explain", "BP-03", "--config", str(config)))
    assert f"severity: info for QM01/buffer_pool/3 (configuration, {config}:4:16): nobody looks" in out


def test_explain_no_rule(said: Said) -> None:
    """A misspelt id is answered with what was probably meant."""
    assert said("explain", "BP_03", code=2) == "mqvitals: there is no rule 'BP_03'\nhint: did you mean 'BP-03'?\n"


def test_explain_a_verdict(said: Said, store: Path) -> None:
    """With an object and a store: the condition with its values, the verdict, the alert's words."""
    out = flat(said("explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store)))
    assert "worst_free_pct [4] <= synchronous_write_pct" in out
    assert "Verdict true" in out
    assert "Severity critical" in out
    assert "buffer pool 3: 4 % free" in out
    assert "as of 2027-01-15T08:01:00.000Z" in out


def test_explain_looks_into_the_past(said: Said, store: Path) -> None:
    """Functions over history read the store's."""
    out = flat(said("explain", "Q-03", "QM01/queue/ORDERS", "--store", str(store)))
    assert "rising(depth, 3): true" in out
    assert "Verdict true" in out


def test_explain_tells_of_an_alert_whose_condition_is_over(said: Said, store: Path) -> None:
    """The rise has stopped and the alert stands: the verdict is false, and beside it is said since when it fires and what ends it."""
    out = flat(said("explain", "Q-03", "QM01/queue/Still", "--store", str(store)))
    firing = "firing since 2027-01-15T08:00:40.000Z; ends when the clear condition has held on 1 poll"
    assert (
        f"Verdict false Alert {firing} Severity warning Says now 15 messages, was: queue Still: depth 15 messages, and"
        in out
    )


def test_explain_tells_of_an_alert_that_waits_or_is_none(said: Said, store: Path) -> None:
    """An alert that waits for its hold, and one that never was."""
    out = flat(said("explain", "Q-02", "QM01/queue/ORDERS", "--store", str(store)))
    assert "Verdict false Alert none" in out
    out = flat(said("explain", "BP-01", "QM01/buffer_pool/4", "--store", str(store)))
    assert "Alert pending since 2027-01-15T08:01:00.000Z; fires when the condition has held for 2 polls" in out
    out = flat(said("explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store)))
    assert "Alert firing since 2027-01-15T08:00:00.000Z; ends when the clear condition has held on 3 polls" in out


def test_explain_an_alert_that_another_brought_about(said: Said, tmp_path: Path) -> None:
    """Which one that is, and for how long the condition must be over."""
    second = RULES.removeprefix("rules:\n").replace("MY-01", "MY-02") + "    caused_by: [MY-01]\n    clear: {for: 2m}\n"
    (tmp_path / "ours.yaml").write_text(RULES + second, "utf-8")
    config = tmp_path / "mqvitals.yaml"
    config.write_text("store: {path: store.db}\nrules: {files: [ours.yaml]}\n", "utf-8")
    judging = load_rule_config(load_settings(str(config), {}, {}).settings)
    engine = Engine(judging.rules, judging.facts, MemoryHistory())
    pool = ObjectName("QM01", "buffer_pool", "3")
    reading = Reading(pool, KINDS["buffer_pool"].poll, 1_800_000_000_000, {"free_pct": 20})
    with Store.open(tmp_path / "store.db", replay=True, source="made up", group="PRDQSG") as writer:
        snapshot = Snapshot("QM01", False, 1, reading.ts, (reading,))
        writer.write(snapshot, engine.evaluate(snapshot))
    out = flat(said("explain", "MY-02", str(pool), "--config", str(config)))
    assert (
        "firing since 2027-01-15T08:00:00.000Z, caused by MY-01 QM01/buffer_pool/3;"
        " ends when the condition has not held for 2m"
    ) in out


def test_explain_commands_for_the_queue(said: Said, store: Path) -> None:
    """The next command asks every member for the handles of a shared queue, and names a mixed-case queue in quotes."""
    out = flat(said("explain", "Q-03", "QM01/queue/Still", "--store", str(store)))
    assert "Next DISPLAY QSTATUS('Still') TYPE(HANDLE) ALL Caveat" in out
    out = flat(said("explain", "Q-03", "PRDQSG/queue/Shared", "--store", str(store)))
    assert "Next DISPLAY QSTATUS('Shared') TYPE(HANDLE) ALL CMDSCOPE(*)" in out
    out = flat(said("explain", "Q-03"))
    assert "CMDSCOPE(*) when qsg_disp == SHARED" in out


def test_explain_an_alert_by_the_object_it_is_about(said: Said, store: Path) -> None:
    """The alert names the queue manager: each command that it was about is explained, the one that is over too."""
    out = flat(said("explain", "AGENT-03", "QM01/queue_manager", "--store", str(store)))
    assert "QM01/agent/INQUIRE_ARCHIVE, as of" in out
    assert "Says QM01 refused DISPLAY ARCHIVE (INQUIRE_ARCHIVE) with reason 3081" in out
    over = "none; the last one was firing from 2027-01-15T08:00:00.000Z to 2027-01-15T08:00:40.000Z"
    assert (
        f"QM01/agent/INQUIRE_LOG, as of 2027-01-15T08:01:00.000Z When outcome [OK] == REFUSED Verdict false Alert {over}"
        in out
    )
    assert "INQUIRE_USAGE" not in out
    assert out.count("Caveat") == 1


def test_explain_an_object_that_no_alert_was_about(said: Said, store: Path) -> None:
    """Without an alert the hint names objects that the rule judges."""
    err = said("explain", "AGENT-02", "QM01/queue_manager", "--store", str(store), code=2)
    assert "there has been no alert of AGENT-02 about QM01/queue_manager" in err
    assert "hint: such as QM01/agent/INQUIRE_ARCHIVE, QM01/agent/INQUIRE_LOG, QM01/agent/INQUIRE_USAGE" in err
    err = said("explain", "AGENT-02", "QM09/queue_manager", "--store", str(store), code=2)
    assert "hint: the store holds none of QM09" in err


def test_explain_warns_that_a_replay_may_have_known_more(said: Said, store: Path, tmp_path: Path) -> None:
    """Of a replay, and only without a configuration, the facts of which may have been others then."""
    words = ("explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store))
    assert "Evaluated with the built-in facts and thresholds" in flat(said(*words))
    config = tmp_path / "mqvitals.yaml"
    config.write_text("name: PRDQSG\n", "utf-8")
    assert "Evaluated with" not in said(*words, "--config", str(config))


def test_explain_related_objects(said: Said, store: Path) -> None:
    """A rule that needs the group's object finds it in the store."""
    out = flat(said("explain", "CF-01", "PRDQSG/cf_structure/CSQ_ADMIN", "--store", str(store)))
    assert "qsg.qmgr_count [10]" in out
    assert "9362 entries for 10 queue managers, of which each needs 1000" in out


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("CHL-07", "nettime_max_us is only in SMF records, field QCSTNTMX"),
        ("CHL-06", "nettime_us_short needs monitoring to be on: MONQ for queues, MONCHL for channels"),
        ("CHL-06", "ping_us [not declared]: left out, not declared"),
        ("CHL-01", "xbatchsz_short has not been reported yet (INQUIRE_CHANNEL_STATUS)"),
    ],
)
def test_explain_what_is_missing(rule: str, words: str, said: Said, store: Path) -> None:
    """An unknown verdict names each value that is missing, why, and what would tell it."""
    out = flat(said("explain", rule, "QM01/channel/TO.QM02", "--store", str(store)))
    assert "Verdict unknown" in out
    assert words in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["QM01/channel/TO.QM02"],
            "BP-01 applies to objects of kind buffer_pool, and QM01/channel/TO.QM02 is a channel",
        ),
        (["QM01"], "an object is written owner/kind/name"),
        (["QM01/pool/3"], "there is no kind of object 'pool'"),
        (["QM01/buffer_pool/9"], "holds no object QM01/buffer_pool/9"),
    ],
)
def test_explain_no_such_object(words: list[str], message: str, said: Said, store: Path) -> None:
    """An object that cannot be judged is a sentence, never a traceback."""
    assert message in said("explain", "BP-01", *words, "--store", str(store), code=2)


def test_explain_without_a_store(said: Said, tmp_path: Path) -> None:
    """A verdict needs a store: none named, or none there, is a sentence."""
    assert "no store is named" in said("explain", "BP-01", "QM01/buffer_pool/3", code=2)
    assert "none.db" in said("explain", "BP-01", "QM01/buffer_pool/3", "--store", str(tmp_path / "none.db"), code=2)


FACT_RULE = """\
rules:
  - id: MY-02
    title: Batches have their queue
    tier: P+D
    kind: review
    scope: queue
    when: workload == batch
    severity: info
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Queues}
  - id: MY-03
    title: A pool and its purpose
    kind: review
    scope: queue
    when: depth > 1000 and (workload == batch or depth > 5000)
    severity: info
    summary: "{name}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Queues}
"""


@pytest.fixture
def with_facts(tmp_path: Path) -> list[str]:
    """The option that names a configuration with rules about facts."""
    (tmp_path / "ours.yaml").write_text(FACT_RULE, "utf-8")
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  files: [ours.yaml]\n", "utf-8")
    return ["--config", str(config)]


def test_explain_the_fact_that_would_turn_an_unknown_into_a_verdict(
    said: Said, store: Path, with_facts: list[str], tmp_path: Path
) -> None:
    """As lines to be put into the configuration; once they are there, there is a verdict."""
    explain = ("explain", "MY-02", "QM01/queue/ORDERS", "--store", str(store), *with_facts)
    out = said(*explain)
    assert "Verdict   unknown" in out
    lines = out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("Declare"))
    block = [line[10:] for line in lines[place : place + 4]]
    assert block[:2] == ["facts:", "  queues:"]
    assert block[2].startswith("    # workload: ")
    assert block[2].endswith(": online, batch")
    assert block[3] == '    - {objects: "QM01/queue/ORDERS", workload: ...}'
    config = tmp_path / "mqvitals.yaml"
    config.write_text(config.read_text() + "\n".join(block).replace("...", "batch") + "\n", "utf-8")
    out = said(*explain)
    assert "Verdict   true" in out
    assert "Declare" not in out


def test_explain_a_fact_that_would_say_more(said: Said, store: Path, with_facts: list[str]) -> None:
    """Where there is a verdict without it."""
    out = said("explain", "MY-03", "QM01/queue/ORDERS", "--store", str(store), *with_facts)
    assert "Verdict   false" in out
    assert "Optional  facts:" in out


def test_explain_what_can_be_declared(said: Said, with_facts: list[str]) -> None:
    """Of a rule alone: its tier in words, and the facts that it looks at."""
    out = said("explain", "MY-02", *with_facts)
    assert "tier P+D: answers to commands and facts that the site declares" in flat(out)
    assert "Facts     facts:" in out
    assert '- {objects: "*/queue/*", workload: ...}' in out
    assert "Facts" not in said("explain", "PS-01")


def test_explain_tells_the_history(said: Said, store: Path) -> None:
    """The rule's alerts about the object that are over."""
    out = flat(said("explain", "AGENT-03", "QM01/agent/INQUIRE_LOG", "--store", str(store)))
    assert (
        "History 2027-01-15T08:00:00.000Z to 2027-01-15T08:00:40.000Z, warning; ended: the clear condition held" in out
    )
    assert "History" not in said("explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store))
