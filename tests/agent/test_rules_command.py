"""``mqvitals rules``: check, list, explain, as a person or a program meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.snapshot import ObjectName, Outcome, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

RULES = """\
rules:
  - id: MY-01
    title: A pool of ours
    kind: operational
    scope: buffer_pool
    when: free_pct < 30
    severity: info
    summary: "buffer pool {name}: {free_pct}"
    advice: Look at it.
    caveat: None.
    source: {document: Our own handbook, section: Buffer pools}
"""


TESTS = """\
tests:
  - name: It is as it should be
    interval: 10s
    series: {QM01/buffer_pool/3: {free_pct: 50}}
    expect: [{at: 0s, not_firing: [MY-01]}]
"""


@pytest.fixture(autouse=True)
def _hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


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


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What the command prints for these arguments, with its lines joined as one text."""
    assert main(["rules", *words]) == code
    found = capsys.readouterr()
    return found.out if code != 2 else found.err


def flat(text: str) -> str:
    return " ".join(text.split())


def test_check_without_a_problem(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The shipped rules have none, a good file has none: a sentence, exit code 0."""
    shipped = len(load_rules(KINDS))
    assert said(capsys, "check") == f"the shipped rules: no problems found ({shipped} rules in all)\n"
    file = tmp_path / "ours.yaml"
    file.write_text(RULES, "utf-8")
    (tmp_path / "ours.test.yaml").write_text(TESTS, "utf-8")
    assert said(capsys, "check", str(file)) == f"1 file: no problems found ({shipped + 1} rules in all)\n"


def test_check_warns_of_a_parameter_that_nothing_uses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A threshold that no condition and no text names is warned of; the exit code stays 0."""
    file = tmp_path / "ours.yaml"
    (tmp_path / "ours.test.yaml").write_text(TESTS, "utf-8")
    parameter = "    parameters: {limit: {value: 30, origin: default, meaning: so low}}\n"
    file.write_text(RULES + parameter, "utf-8")
    assert f"{file}:2:9: warning: MY-01 never uses its parameter limit\n" in said(capsys, "check", str(file))
    for used in (RULES.replace("< 30", "< limit"), RULES.replace(": {free_pct}", " is below {limit}")):
        file.write_text(used + parameter, "utf-8")
        assert "warning" not in said(capsys, "check", str(file))


def test_check_tells_line_column_and_spot(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Each problem is a sentence with its place, the line, and a caret under the spot; exit code 1."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES.replace("free_pct < 30", "fre_pct < 30").replace("kind: op", "kind: up"), "utf-8")
    out = said(capsys, "check", str(file), code=1)
    assert f"{file}:4:11: rules[0].kind: 'uperational' is not one of" in out
    assert f"{file}:6:11: " in out
    assert "    6 |     when: fre_pct < 30\n                  ^" in out
    assert "did you mean 'free_pct'?" in out


def test_check_of_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Of a file that cannot be read nothing can be said: exit code 2, as `config check` has it."""
    assert "none.yaml: cannot be read: No such file or directory" in said(
        capsys, "check", str(tmp_path / "none.yaml"), code=2
    )


def test_check_of_a_configuration_that_names_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A rule file that the configuration names in vain is told at the line that names it."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  files: [nope.yaml]\n", "utf-8")
    out = said(capsys, "check", "--config", str(config), code=1)
    assert f"{config}:2:11: rules.files[0]: {tmp_path / 'nope.yaml'}: cannot be read" in out
    assert "    2 |   files: [nope.yaml]" in out


def test_check_of_a_file_with_the_name_of_a_pack(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rules are its own: those of the shipped pack are not among them."""
    (tmp_path / "logs.yaml").write_text(RULES, "utf-8")
    (tmp_path / "logs.test.yaml").write_text(TESTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    rules = len(load_rules(KINDS)) + 1
    assert said(capsys, "check", "logs.yaml") == f"1 file: no problems found ({rules} rules in all)\n"


def test_check_of_an_idle_comparison(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A condition that can never hold is told, though it could be run."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES.replace("free_pct < 30", "free_pct > 130"), "utf-8")
    assert "this can never hold" in said(capsys, "check", str(file), code=1)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (None, "ours.yaml:2:9: warning: MY-01 has no test"),
        (TESTS.replace("MY-01", "BP-01"), "ours.yaml:2:9: warning: MY-01 has no test"),
        ("tests: 5\n", "ours.test.yaml: warning: these tests cannot be run; 'mqvitals rules test' shows why"),
    ],
)
def test_check_warns_of_a_rule_without_test(
    tests: str | None, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """No test names it: a warning, which is no problem."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES, "utf-8")
    if tests is not None:
        (tmp_path / "ours.test.yaml").write_text(tests, "utf-8")
    out = said(capsys, "check", str(file))
    assert words in out
    assert out.endswith("rules in all), 1 warning\n")


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        ("rule: BP-01, parameter: stress_pct, value: 30, objects: QM09/buffer_pool/3", "belong to QM01, QM02, PRDQSG"),
        ("rule: LOG-03, parameter: {parameter}, value: {value}, objects: QM01/log/3", "a log has no name of its own"),
        ("rule: BP-01, parameter: stress_pct, value: 31", ":7:14 gives another value for the same"),
        ("rule: BP-01, parameter: stress_pct, value: 31, objects: QM0?/buffer_pool/3", ""),
    ],
)
def test_check_warns_of_a_threshold_without_effect(
    threshold: str, words: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Where it is certain that no object is like that, or that a later one counts instead."""
    log = next(rule for rule in load_rules(KINDS) if rule.scope == "log" and rule.parameters)
    (parameter, *_) = log.parameters.values()
    threshold = threshold.replace("LOG-03", str(log.id)).format(parameter=parameter.name, value=parameter.value)
    config = tmp_path / "mqvitals.yaml"
    later = "" if "QM0" in threshold else "    - {rule: BP-01, parameter: stress_pct, value: 32}\n"
    config.write_text(
        "name: PRDQSG\nqueue_managers: [{name: QM01}, {name: QM02}]\nrules:\n  disabled: []\n  thresholds:\n"
        f"    - {{{threshold}}}\n{later}",
        "utf-8",
    )
    out = said(capsys, "check", "--config", str(config))
    assert words in out
    assert (f"{config}:" in out) is bool(words)


def test_check_with_a_configuration(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Without files, the configuration's thresholds and rule files are checked."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  disabled: [BP_03]\n", "utf-8")
    assert "there is no rule 'BP_03'; did you mean 'BP-03'?" in said(capsys, "check", "--config", str(config), code=1)
    config.write_text("rules:\n  disabled: [BP-01\n", "utf-8")
    assert "the settings cannot be used" in said(capsys, "check", "--config", str(config), code=2)


def listed(text: str) -> list[str]:
    """The ids of the table's rules."""
    return [line.split()[0] for line in text.partition("\n\n")[0].splitlines()[1:]]


def test_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """One line a rule, in the order of the files; what is switched off says so."""
    lines = said(capsys, "list").splitlines()
    assert lines[0].split() == ["Rule", "Severity", "Tier", "Kind", "Scope", "Title"]
    rules = listed("\n".join(lines))
    assert len(rules) == len(set(rules)) == len(load_rules(KINDS))
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  disabled: [BP-01]\n", "utf-8")
    assert said(capsys, "list", "--topic", "buffer_pools", "--config", str(config)).splitlines()[1].split()[:2] == [
        "BP-01",
        "off",
    ]


@pytest.mark.parametrize(
    ("option", "word", "there", "not_there"),
    [
        ("--topic", "queues", "Q-02", "BP-01"),
        ("--kind", "review", "CF-01", "BP-01"),
        ("--kind", "buffer_pool", "BP-01", "Q-02"),
        ("--document", "tuning AND", "BP-01", "AGENT-01"),
        ("--tier", "M", "MY-01", "PS-01"),
    ],
)
def test_list_of_some(
    option: str, word: str, there: str, not_there: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each filter lets through what it names, and nothing else."""
    config = tmp_path / "mqvitals.yaml"
    (tmp_path / "ours.yaml").write_text(RULES.replace("    title", "    tier: M+D\n    title"), "utf-8")
    config.write_text("rules:\n  files: [ours.yaml]\n", "utf-8")
    for word_of_tier in ("M", "D", "M+D") if option == "--tier" else (word,):
        rules = listed(said(capsys, "list", option, word_of_tier, "--config", str(config)))
        assert there in rules
        assert not_there not in rules


def test_list_of_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A filter that lets nothing through is told what there is."""
    assert "no rule of kind revue and document cookery" in said(
        capsys, "list", "--kind", "revue", "--document", "cookery", code=2
    )


def test_list_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers by kind, tier, document and topic: below the table, alone, and for programs."""
    found = json.loads(said(capsys, "list", "--counts", "--json"))
    rules = load_rules(KINDS)
    assert found["rules"] == sum(found["kind"].values()) == sum(found["tier"].values()) == len(rules)
    assert found["topic"]["buffer_pools"] == sum(rule.topic == "buffer_pools" for rule in rules)
    title = next(iter(found["document"]))
    assert found["document"][title] == sum(any(each.document == title for each in rule.sources) for rule in rules)
    alone = said(capsys, "list", "--counts")
    assert alone.splitlines()[0] == f"{len(rules)} rules"
    assert f"buffer_pools {found['topic']['buffer_pools']}" in " ".join(alone.split())
    assert said(capsys, "list").endswith(alone)


def test_list_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON list holds what a program needs of each rule."""
    rows = json.loads(said(capsys, "list", "--json", "--topic", "page_sets"))
    assert [row["id"] for row in rows][:2] == ["PS-01", "PS-02"]
    assert rows[0]["severity_if"] == [{"when": "used_pct >= critical_pct", "severity": "critical"}]
    assert {parameter["name"]: parameter["origin"] for parameter in rows[0]["parameters"]} == {
        "used_limit_pct": "document",
        "critical_pct": "default",
        "clear_pct": "default",
    }
    assert rows[0]["source"][0]["document"].startswith("Performance Report")


def test_explain_a_rule(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Everything the rule says of itself, with the origin of its thresholds and what the site changed."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  thresholds: [{rule: BP-01, parameter: stress_pct, value: 30}]\n", "utf-8")
    out = flat(said(capsys, "explain", "BP-01", "--config", str(config)))
    for words in (
        "purpose in SHORT and deferred_write_pct < worst_free_pct <= stress_pct",
        "stress_pct = 20 % (document)",
        f"30 % (configuration, {config}:2:",
        "clear_pct = 25 % (default)",
        "Performance Tuning and Problem Determination",
        "DISPLAY USAGE PSID(*) TYPE(PAGESET)",
    ):
        assert words in out


def test_explain_no_rule(capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt id is answered with what was probably meant."""
    assert (
        said(capsys, "explain", "BP_03", code=2) == "mqvitals: there is no rule 'BP_03'\nhint: did you mean 'BP-03'?\n"
    )


def test_explain_a_verdict(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """With an object and a store: the condition with its values, the verdict, the alert's words."""
    out = flat(said(capsys, "explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store)))
    assert "worst_free_pct [4] <= synchronous_write_pct" in out
    assert "Verdict true" in out
    assert "Severity critical" in out
    assert "buffer pool 3: 4 % free" in out
    assert "as of 2027-01-15T08:01:00.000Z" in out


def test_explain_looks_into_the_past(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """Functions over history read the store's."""
    out = flat(said(capsys, "explain", "Q-03", "QM01/queue/ORDERS", "--store", str(store)))
    assert "rising(depth, 3): true" in out
    assert "Verdict true" in out


def test_explain_tells_of_an_alert_whose_condition_is_over(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """The rise has stopped and the alert stands: the verdict is false, and beside it is said since when it fires and what ends it."""
    out = flat(said(capsys, "explain", "Q-03", "QM01/queue/Still", "--store", str(store)))
    firing = "firing since 2027-01-15T08:00:40.000Z; ends when the clear condition has held on 1 poll"
    assert (
        f"Verdict false Alert {firing} Severity warning Says queue Still: depth 15 messages, and no application" in out
    )


def test_explain_tells_of_an_alert_that_waits_or_is_none(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """An alert that waits for its hold, and one that never was."""
    out = flat(said(capsys, "explain", "Q-02", "QM01/queue/ORDERS", "--store", str(store)))
    assert "Verdict false Alert none" in out
    out = flat(said(capsys, "explain", "BP-01", "QM01/buffer_pool/4", "--store", str(store)))
    assert "Alert pending since 2027-01-15T08:01:00.000Z; fires when the condition has held for 2 polls" in out
    out = flat(said(capsys, "explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store)))
    assert "Alert firing since 2027-01-15T08:00:00.000Z; ends when the clear condition has held on 3 polls" in out


def test_explain_an_alert_that_another_brought_about(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
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
    out = flat(said(capsys, "explain", "MY-02", str(pool), "--config", str(config)))
    assert (
        "firing since 2027-01-15T08:00:00.000Z, caused by MY-01 QM01/buffer_pool/3;"
        " ends when the condition has not held for 2m"
    ) in out


def test_explain_commands_for_the_queue(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """The next command asks every member for the handles of a shared queue, and names a mixed-case queue in quotes."""
    out = flat(said(capsys, "explain", "Q-03", "QM01/queue/Still", "--store", str(store)))
    assert "Next DISPLAY QSTATUS('Still') TYPE(HANDLE) ALL Caveat" in out
    out = flat(said(capsys, "explain", "Q-03", "PRDQSG/queue/Shared", "--store", str(store)))
    assert "Next DISPLAY QSTATUS('Shared') TYPE(HANDLE) ALL CMDSCOPE(*)" in out
    out = flat(said(capsys, "explain", "Q-03"))
    assert "CMDSCOPE(*) when qsg_disp == SHARED" in out


def test_explain_an_alert_by_the_object_it_is_about(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """The alert names the queue manager: each command that it was about is explained, the one that is over too."""
    out = flat(said(capsys, "explain", "AGENT-03", "QM01/queue_manager", "--store", str(store)))
    assert "QM01/agent/INQUIRE_ARCHIVE, as of" in out
    assert "Says QM01 refused DISPLAY ARCHIVE (INQUIRE_ARCHIVE) with reason 3081" in out
    over = "none; the last one was firing from 2027-01-15T08:00:00.000Z to 2027-01-15T08:00:40.000Z"
    assert (
        f"QM01/agent/INQUIRE_LOG, as of 2027-01-15T08:01:00.000Z When outcome [OK] == REFUSED Verdict false Alert {over}"
        in out
    )
    assert "INQUIRE_USAGE" not in out
    assert out.count("Caveat") == 1


def test_explain_an_object_that_no_alert_was_about(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """Without an alert the hint names objects that the rule judges."""
    err = said(capsys, "explain", "AGENT-02", "QM01/queue_manager", "--store", str(store), code=2)
    assert "there has been no alert of AGENT-02 about QM01/queue_manager" in err
    assert "hint: such as QM01/agent/INQUIRE_ARCHIVE, QM01/agent/INQUIRE_LOG, QM01/agent/INQUIRE_USAGE" in err
    err = said(capsys, "explain", "AGENT-02", "QM09/queue_manager", "--store", str(store), code=2)
    assert "hint: the store holds none of QM09" in err


def test_explain_warns_that_a_replay_may_have_known_more(
    capsys: pytest.CaptureFixture[str], store: Path, tmp_path: Path
) -> None:
    """Of a replay, and only without a configuration, the facts of which may have been others then."""
    words = ("explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store))
    assert "Evaluated with the built-in facts and thresholds" in flat(said(capsys, *words))
    config = tmp_path / "mqvitals.yaml"
    config.write_text("name: PRDQSG\n", "utf-8")
    assert "Evaluated with" not in said(capsys, *words, "--config", str(config))


def test_explain_related_objects(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """A rule that needs the group's object finds it in the store."""
    out = flat(said(capsys, "explain", "CF-01", "PRDQSG/cf_structure/CSQ_ADMIN", "--store", str(store)))
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
def test_explain_what_is_missing(rule: str, words: str, capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """An unknown verdict names each value that is missing, why, and what would tell it."""
    out = flat(said(capsys, "explain", rule, "QM01/channel/TO.QM02", "--store", str(store)))
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
def test_explain_no_such_object(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], store: Path
) -> None:
    """An object that cannot be judged is a sentence, never a traceback."""
    assert message in said(capsys, "explain", "BP-01", *words, "--store", str(store), code=2)


def test_explain_without_a_store(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A verdict needs a store: none named, or none there, is a sentence."""
    assert "no store is named" in said(capsys, "explain", "BP-01", "QM01/buffer_pool/3", code=2)
    assert "none.db" in said(
        capsys, "explain", "BP-01", "QM01/buffer_pool/3", "--store", str(tmp_path / "none.db"), code=2
    )


def test_list_tells_overrides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program sees which thresholds the configuration changes, for which objects, and where that is written."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text(
        'rules:\n  thresholds:\n    - {rule: PS-01, parameter: used_limit_pct, value: 70, objects: "QM01/page_set/4"}\n',
        "utf-8",
    )
    assert main(["rules", "list", "--json", "--config", str(config)]) == 0
    parameters = {
        (rule["id"], each["name"]): each for rule in json.loads(capsys.readouterr().out) for each in rule["parameters"]
    }
    assert parameters["PS-01", "used_limit_pct"]["value"] == 85
    assert parameters["PS-01", "used_limit_pct"]["overrides"] == [
        {"value": 70, "objects": "QM01/page_set/4", "place": f"{config}:3:14"}
    ]
    assert parameters["BP-03", "clear_pct"]["overrides"] == []


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
    capsys: pytest.CaptureFixture[str], store: Path, with_facts: list[str], tmp_path: Path
) -> None:
    """As lines to be put into the configuration; once they are there, there is a verdict."""
    explain = ("explain", "MY-02", "QM01/queue/ORDERS", "--store", str(store), *with_facts)
    out = said(capsys, *explain)
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
    out = said(capsys, *explain)
    assert "Verdict   true" in out
    assert "Declare" not in out


def test_explain_a_fact_that_would_say_more(
    capsys: pytest.CaptureFixture[str], store: Path, with_facts: list[str]
) -> None:
    """Where there is a verdict without it."""
    out = said(capsys, "explain", "MY-03", "QM01/queue/ORDERS", "--store", str(store), *with_facts)
    assert "Verdict   false" in out
    assert "Optional  facts:" in out


def test_explain_what_can_be_declared(capsys: pytest.CaptureFixture[str], with_facts: list[str]) -> None:
    """Of a rule alone: its tier in words, and the facts that it looks at."""
    out = said(capsys, "explain", "MY-02", *with_facts)
    assert "tier P+D: answers to commands and facts that the site declares" in flat(out)
    assert "Facts     facts:" in out
    assert '- {objects: "*/queue/*", workload: ...}' in out
    assert "Facts" not in said(capsys, "explain", "PS-01")


def test_explain_tells_the_history(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """The rule's alerts about the object that are over."""
    out = flat(said(capsys, "explain", "AGENT-03", "QM01/agent/INQUIRE_LOG", "--store", str(store)))
    assert (
        "History 2027-01-15T08:00:00.000Z to 2027-01-15T08:00:40.000Z, warning; ended: the clear condition held" in out
    )
    assert "History" not in said(capsys, "explain", "BP-03", "QM01/buffer_pool/3", "--store", str(store))
