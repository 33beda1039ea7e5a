"""``mqvitals review``: what it finds, what it could not judge, and what it says is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.store.writer import Store
from mqvitals_config.settings import Settings
from mqvitals_rules.engine import Engine
from mqvitals_rules.history import MemoryHistory
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.vocabulary.metric import Absence, Reported
from mqvitals_rules.vocabulary.tables import KINDS

RULE = """\
  - id: {id}
    title: "{title}"
    kind: {kind}
    scope: {scope}
    when: {when}
    {more}severity: {severity}
    summary: "{{name}} is like that"
    advice: Change it.
    caveat: It may be meant.
    source: {{document: Our own handbook, section: Chapter 1}}
    mqsc: DISPLAY QLOCAL({{name}})
"""


def rule(id_: str, when: str, **words: str) -> str:
    """A rule of the site about queues."""
    usual = {"title": "A queue", "kind": "review", "scope": "queue", "severity": "warning", "more": ""}
    return RULE.format(**(usual | words), id=id_, when=when)


RULES = "rules:\n" + "".join(
    (
        rule("MY-01", "max_depth > 900000"),
        rule(
            "MY-02", "max_depth > 99", title="The lesser stage", severity="info", more="family: mine\n    rank: 1\n    "
        ),
        rule("MY-03", "max_depth > 900000", title="The worse stage", more="family: mine\n    rank: 2\n    "),
        rule("MY-04", "workload == batch", severity="critical"),
        rule("MY-05", "persistent_puts > 5", kind="application"),
        rule("MY-06", "free_pct < 50", scope="buffer_pool", kind="data_quality", severity="critical"),
        rule("MY-07", "depth > 5", kind="operational", severity="critical"),
    )
)
NOW = 1_800_000_000_000


@pytest.fixture(autouse=True)
def _hundred_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Settings with the site's rules alone."""
    from mqvitals_rules.ruleset.pack import load_rules

    (tmp_path / "ours.yaml").write_text(RULES, "utf-8")
    shipped = ", ".join(str(each.id) for each in load_rules(KINDS))
    path = tmp_path / "mqvitals.yaml"
    path.write_text(f"store: {{path: store.db}}\nrules:\n  files: [ours.yaml]\n  disabled: [{shipped}]\n", "utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store of one cycle of two queue managers."""
    path = tmp_path / "store.db"
    judging = load_rule_config(Settings())
    history = MemoryHistory()
    engine = Engine(judging.rules, judging.facts, history)
    queue: dict[str, Reported] = {"max_depth": 999_999, "depth": 9}
    with Store.open(path, replay=True, source="made up", group="PRDQSG") as writer:
        told_of: dict[str, dict[ObjectName, dict[str, Reported]]] = {
            "QM01": {
                ObjectName("QM01", "queue", "LARGE"): queue,
                ObjectName("QM01", "queue", "sm`all"): queue | {"max_depth": 500},
                ObjectName("QM01", "queue", "TINY"): queue | {"max_depth": 50},
                ObjectName("QM01", "buffer_pool", "3"): {"free_pct": 40},
            },
            "QM02": {ObjectName("QM02", "queue", "TINY"): queue | {"max_depth": 50, "depth": Absence.NO_ANSWER}},
        }
        for owner, values in told_of.items():
            readings = tuple(Reading(name, KINDS[name.kind].poll, NOW, told) for name, told in values.items())
            snapshot = Snapshot(owner, False, 1, NOW, readings)
            history.add(snapshot)
            writer.write(snapshot, engine.evaluate(snapshot))
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 1) -> str:
    """What the command prints: on stdout, or on stderr when it fails."""
    assert main(["review", *words]) == code
    found = capsys.readouterr()
    return found.out if code != 2 else found.err


def told(capsys: pytest.CaptureFixture[str], config: Path, *words: str, code: int = 1) -> dict[str, dict[str, Any]]:
    """The parts of each owner, by the kind of rule."""
    text = said(capsys, "--config", str(config), "--json", *words, code=code)
    return {each["name"]: {part["kind"]: part for part in each["parts"]} for each in json.loads(text)["owners"]}


@pytest.mark.usefixtures("store")
def test_findings_for_programs(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """Each object's findings, the worst of a family, in the part of its kind; operational rules are in none."""
    parts = told(capsys, config)["QM01"]
    review = [(each["rule"], each["object"], each["severity"]) for each in parts["review"]["findings"]]
    assert review == [
        ("MY-01", "QM01/queue/LARGE", "warning"),
        ("MY-03", "QM01/queue/LARGE", "warning"),
        ("MY-02", "QM01/queue/sm`all", "info"),
    ]
    finding = parts["review"]["findings"][1]
    assert finding["figures"] == ["max_depth [999999] > 900000"]
    assert (finding["advice"], finding["caveat"], finding["also"]) == ("Change it.", "It may be meant.", ["MY-02"])
    assert finding["mqsc"] == "DISPLAY QLOCAL(LARGE)"
    assert finding["source"] == [{"document": "Our own handbook", "section": "Chapter 1"}]
    assert [each["rule"] for each in parts["data_quality"]["findings"]] == ["MY-06"]
    assert parts["review"]["right"] == {"MY-01": 2, "MY-02": 1, "MY-03": 2}
    assert "MY-07" not in json.dumps(parts)


@pytest.mark.usefixtures("store")
def test_what_could_not_be_judged(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """With the reason, what is lacking, and the facts as lines for the configuration, which end it."""
    parts = told(capsys, config)["QM01"]
    unknown = parts["review"]["unknown"]
    assert {each["object"] for each in unknown} == {"QM01/queue/LARGE", "QM01/queue/sm`all", "QM01/queue/TINY"}
    assert {(each["rule"], *each["reasons"]) for each in unknown} == {("MY-04", "not declared")}
    assert parts["review"]["lacking"] == {"not declared": ["workload"]}
    assert parts["application"]["lacking"] == {"needs SMF": ["persistent_puts"]}
    facts = parts["review"]["facts"]
    assert facts[:2] == ["facts:", "  queues:"]
    config.write_text(config.read_text() + "\n".join(facts).replace("...", "batch") + "\n", "utf-8")
    found = told(capsys, config)["QM01"]["review"]
    assert found["unknown"] == []
    assert [each["severity"] for each in found["findings"]][:3] == ["critical"] * 3


@pytest.mark.usefixtures("store")
def test_review_as_text(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """The worst queue manager first, in it the worst rule; how much is right is counted."""
    out = said(capsys, "--config", str(config), "--ascii")
    assert out.startswith("IBM MQ configuration review\n===")
    summary = [line for line in out.splitlines() if line.startswith("- ") and "checks OK" in line]
    assert [line.split()[1:3] for line in summary] == [["CRITICAL", "QM01:"], ["OK", "QM02:"]]
    assert "1 critical, 2 warning, 1 info; 5 checks OK, 6 could" in summary[0]
    places = [out.index(words) for words in ("WARNING MY-01", "WARNING MY-03", "INFO MY-02", "Quality of the data")]
    assert places == sorted(places)
    assert "5 checks of 3 rules found no fault." in out
    assert "    DISPLAY QLOCAL(LARGE)\n" in out
    assert '    - {objects: "QM01/queue/LARGE", workload: ...}' in out.replace("        - {", "    - {")
    assert out.isascii()
    assert all(len(line) <= 100 or line.startswith("    ") for line in out.splitlines())


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize("form", ["--text", "--markdown", "--json"])
def test_ascii_is_ascii(capsys: pytest.CaptureFixture[str], config: Path, form: str) -> None:
    """Also where the site's own words are not: they are written by the numbers of their characters, the lines still fit."""
    rules = config.with_name("ours.yaml")
    words = "Größe — ☠ 漢字 " * 12
    rules.write_text("rules:\n" + rule("MY-09", "max_depth > 900000", title=words), "utf-8")
    out = said(capsys, "--config", str(config), "--ascii", form)
    assert out.isascii()
    assert "MY-09" in out
    if form == "--text":
        assert "Gr\\xf6\\xdfe - \\u2620 \\u6f22\\u5b57" in out
        assert all(len(line) <= 102 or line.startswith("    ") for line in out.splitlines())


@pytest.mark.usefixtures("store")
def test_what_is_said_once(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """A figure that stands in two alternatives; and no caveat is nothing to speak of."""
    rules = config.with_name("ours.yaml")
    twice = "(max_depth > 900000 and depth > 1) or (max_depth > 900000 and depth > 2)"
    rules.write_text("rules:\n" + rule("MY-08", twice).replace("It may be meant", "None"), "utf-8")
    (finding,) = told(capsys, config)["QM01"]["review"]["findings"]
    assert finding["figures"] == ["max_depth [999999] > 900000", "depth [9] > 1", "depth [9] > 2"]
    assert "But:" not in said(capsys, "--config", str(config))


@pytest.mark.usefixtures("store")
def test_review_as_markdown(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """Names are no markup; what is to be copied stands in fences."""
    out = said(capsys, "--config", str(config), "--markdown")
    assert "## Queue manager QM01" in out
    assert "#### WARNING MY-01: A queue" in out
    assert "sm\\`all is like that" in out
    assert "```yaml\nfacts:\n  queues:\n" in out
    assert "```\nDISPLAY QLOCAL('sm`all')\n```" in out


@pytest.mark.usefixtures("store")
def test_one_queue_manager(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """Only the one that is named; nothing wrong with it is exit code 0."""
    assert set(told(capsys, config, "--queue-manager", "QM02", code=0)) == {"QM02"}
    assert "did you mean 'QM02'?" in said(capsys, "--config", str(config), "--queue-manager", "QM20", code=2)


def test_without_a_store(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """There is none, or nothing in it: a sentence."""
    assert "no store is named" in said(capsys, code=2)
    with Store.open(tmp_path / "empty.db"):
        pass
    assert "holds nothing yet" in said(capsys, "--store", str(tmp_path / "empty.db"), code=2)


def test_many_objects_are_one_pattern(capsys: pytest.CaptureFixture[str], config: Path, tmp_path: Path) -> None:
    """The facts of many objects are asked for by one line; ten findings of a rule are told one by one."""
    names = [ObjectName("QM01", "queue", f"Q{number:02d}") for number in range(30)]
    judging = load_rule_config(Settings())
    history = MemoryHistory()
    with Store.open(tmp_path / "store.db", replay=True) as writer:
        readings = tuple(Reading(name, KINDS["queue"].poll, NOW, {"max_depth": 999_999}) for name in names)
        snapshot = Snapshot("QM01", False, 1, NOW, readings)
        writer.write(snapshot, Engine(judging.rules, judging.facts, history).evaluate(snapshot))
    assert told(capsys, config)["QM01"]["review"]["facts"][3:] == ['    - {objects: "QM01/queue/*", workload: ...}']
    out = " ".join(said(capsys, "--config", str(config)).split())
    assert "And 20 more: Q10, Q11" in out
    assert "Q21 and 8 others." in out


def lacked(capsys: pytest.CaptureFixture[str], config: Path, *words: str, code: int = 1) -> dict[str, Any]:
    """What ``review --first-day`` reports to programs."""
    found: dict[str, Any] = json.loads(
        said(capsys, "--config", str(config), "--first-day", "--json", *words, code=code)
    )
    return found


@pytest.mark.usefixtures("store")
def test_first_day_names_what_would_help(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """Each remedy with the checks that lack nothing else; a silent queue manager is nobody's remedy."""
    found = lacked(capsys, config)
    remedies = {each["subject"]: each for each in found["remedies"]}
    assert set(remedies) == {"queues: workload", "START TRACE(STAT) CLASS(5)"}
    assert remedies["queues: workload"]["unlocks"] == {"MY-04": 4}
    assert remedies["START TRACE(STAT) CLASS(5)"]["unlocks"] == {"MY-05": 4}
    assert remedies["queues: workload"]["queue_managers"] == ["QM01", "QM02"]
    assert found["blind"] == {"MY-04": ["not declared"], "MY-05": ["needs SMF"]}
    # MY-07 lacks the depth of one queue only, and waits for its queue manager.
    assert (found["rules"], found["evaluated"], found["waiting"]) == (7, 5, [])


@pytest.mark.usefixtures("store")
def test_first_day_lines_unlock_the_rule(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """The lines of a remedy are lines of the configuration; with them the rule is evaluated."""
    lines = next(each["lines"] for each in lacked(capsys, config)["remedies"] if each["action"] == "declare")
    config.write_text(config.read_text() + "\n".join(lines).replace("...", "online") + "\n", "utf-8")
    found = lacked(capsys, config)
    assert [each["subject"] for each in found["remedies"]] == ["START TRACE(STAT) CLASS(5)"]
    assert "MY-04" not in found["blind"]


@pytest.mark.usefixtures("store")
def test_first_day_of_one_queue_manager_as_text(capsys: pytest.CaptureFixture[str], config: Path) -> None:
    """Only the wanted queue manager counts; the report names remedies in sentences."""
    text = " ".join(said(capsys, "--config", str(config), "--first-day", "--queue-manager", "QM02").split())
    assert "Declare workload under facts.queues (QM02): unlocks 1 check of MY-04." in text
    assert "These wait for time or for an event, and need nothing: MY-07." in text


def test_first_day_names_the_gravest_problems(capsys: pytest.CaptureFixture[str], store: Path) -> None:
    """Beside the ids stands what a remedy makes visible: titles of the most severe rules that work for no object yet."""
    shipped = {str(each.id): each for each in load_rule_config(Settings()).rules.rules}
    text = " ".join(said(capsys, "--store", str(store), "--first-day", code=1).split())
    named = re.search(r" 1\. START TRACE.*? Problems that it shows: (.*?)\. 2\. ", text)
    assert named is not None
    rules = [shipped[each] for each in re.findall(r"\((\S+)\)(?:;|$)", named[1])]
    assert len(rules) == 3
    assert all(each.title in named[1] for each in rules)
    assert {(each.kind.value, each.severity.name) for each in rules} == {("operational", "CRITICAL")}


def test_first_day_counts_rules_without_any_object(
    capsys: pytest.CaptureFixture[str], config: Path, store: Path
) -> None:
    """Applications are known from accounting records alone: without any, the trace unlocks all rules about them."""
    ours = config.parent / "ours.yaml"
    ours.write_text(RULES + rule("MY-08", "open_n > 5", scope="application", kind="application"), "utf-8")
    found = lacked(capsys, config, "--store", str(store))
    assert {"START TRACE(ACCTG) CLASS(3)": {"MY-08": 1}}.items() <= {
        each["subject"]: each["unlocks"] for each in found["remedies"]
    }.items()
    assert found["blind"]["MY-08"] == ["needs SMF"]


def test_a_refused_command_is_a_permission(capsys: pytest.CaptureFixture[str], config: Path, store: Path) -> None:
    """The remedy names the profile of the command that was refused."""
    name = ObjectName("QM03", "queue", "SECRET")
    values: dict[str, Reported] = {"max_depth": Absence.NOT_AUTHORISED, "depth": 1}
    snapshot = Snapshot("QM03", False, 1, NOW, (Reading(name, KINDS["queue"].poll, NOW, values),))
    settings = load_rule_config(Settings())
    with Store.open(store, replay=True, source="made up", group="PRDQSG") as writer:
        writer.write(snapshot, Engine(settings.rules, settings.facts, MemoryHistory()).evaluate(snapshot))
    found = lacked(capsys, config, "--queue-manager", "QM03")
    permission = next(each for each in found["remedies"] if each["action"] == "permit")
    assert permission["subject"] == "DISPLAY QUEUE on QM03"
    assert permission["unlocks"] == {"MY-01": 1, "MY-02": 1, "MY-03": 1}
    assert "PERMIT QM03.DISPLAY.QUEUE CLASS(MQCMDS) ID(<user>) ACCESS(READ)" in permission["lines"]


@pytest.mark.usefixtures("store")
def test_first_day_puts_operational_rules_and_many_rules_first(
    capsys: pytest.CaptureFixture[str], config: Path
) -> None:
    """A fact that an operational rule lacks comes before one that two rules of a review lack."""
    more = (
        rule("MY-08", "lifetime == short"),
        rule("MY-09", "lifetime == long"),
        rule("MY-10", "flow_instances > 5", kind="operational"),
    )
    (config.parent / "ours.yaml").write_text(RULES + "".join(more), "utf-8")
    subjects = [each["subject"] for each in lacked(capsys, config)["remedies"]]
    assert subjects[:2] == ["queues: flow_instances", "queues: lifetime"]
