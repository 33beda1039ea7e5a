"""``mqvitals rules test``: the tests of rules as a person or a program plays them."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset import pack
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.ruleset.pack import shipped_packs
from mqvitals_rules.testing import cases

PAGE = Path(__file__).resolve().parents[4] / "docs" / "rule-tests.md"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    """The example of the documentation: a rule and its tests."""
    rules, tests = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    (tmp_path / "ours.yaml").write_text(rules)
    path = tmp_path / "ours.test.yaml"
    path.write_text(tests)
    return path


def test_the_example_of_the_documentation(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It passes, and says so in one line."""
    assert main(["rules", "test", str(ours)]) == 0
    assert capsys.readouterr().out == "2 tests in 1 file: all passed\n"


def test_a_failure_says_where_what_and_why(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The line that the documentation shows."""
    rules = ours.with_name("ours.yaml")
    rules.write_text(rules.read_text().replace("value: 100", "value: 500"))
    assert main(["rules", "test", str(ours)]) == 1
    first, *_, last = capsys.readouterr().out.splitlines()
    (shown,) = re.findall(r"^ours\.test\.yaml:.*$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert first == f"{ours.parent}/{shown}"
    assert last == "2 tests in 1 file: 1 passed, 1 failed (2 expectations)"


def test_the_same_for_programs(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON, a failure is taken apart."""
    ours.write_text(ours.read_text().replace("severity: critical", "severity: info"))
    assert main(["rules", "test", str(ours), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert (told["passed"], told["failed"]) == (1, 1)
    (failure,) = told["tests"][0]["failures"]
    assert (failure["line"], failure["column"], failure["at_ms"]) == (10, 35, 90_000)
    assert failure["expected"] == "OUR-01 on QM01/queue/ORDERS to be info"
    assert failure["actual"] == "it is critical"
    assert failure["why"].startswith("QM01/queue/ORDERS: depth [1000] >= many [100] and")
    assert told["tests"][1] == {
        "file": str(ours),
        "line": 13,
        "name": "Nobody says who has the queue open",
        "passed": True,
        "failures": [],
    }


def test_coverage_of_the_example(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is of the rules beside the tests; what the tests leave out is listed."""
    assert main(["rules", "test", str(ours), "--coverage"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert "  OUR-01 when: never unknown: depth >= many" in out
    assert "  OUR-01 severity_if[0]: never unknown: depth >= 1000" in out
    assert not any("never true" in line or "never expected" in line for line in out)
    assert "1 rule, 1 of them expected to fire and not to; 5 conditions, 5 seen true and false, 2 unknown" in out


def test_coverage_of_what_no_test_tries(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A rule that no test names, and sides that never come up."""
    rules = ours.with_name("ours.yaml")
    second = rules.read_text().replace("OUR-01", "OUR-02").removeprefix("rules:\n")
    rules.write_text(rules.read_text() + second)
    text = ours.read_text()
    first_poll = "      - {at: 30s, not_firing: [OUR-01]}\n"
    fires = "      - {at: 1m, firing: [{rule: OUR-01}]}\n"
    begin = text[: text.index("      - {at: 30s")].replace("1000 1000 20 10", "400")
    ours.write_text(begin + first_poll + fires)
    assert main(["rules", "test", str(ours), "--coverage", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["coverage"]
    assert (told["rules"], told["both_sides"]) == (2, 1)
    first, other = told["by_rule"]
    assert (first["tests"], first["fires"], first["silent"], first["unknown"]) == (1, True, True, False)
    assert [(each["where"], each["condition"], each["true"], each["false"]) for each in first["conditions"]] == [
        ("when", "depth >= many and input_handles == 0", True, True),
        ("when", "depth >= many", True, True),
        ("when", "input_handles == 0", True, True),
        ("clear.when", "depth < many", False, True),
        ("severity_if[0]", "depth >= 1000", False, True),
    ]
    assert (other["tests"], other["fires"]) == (0, False)
    assert not any(each["true"] or each["false"] or each["unknown"] for each in other["conditions"])


def test_the_shipped_packs_pass(
    soak: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without arguments all are played; every rule is expected to fire and not to.

    All packs in ``make soak``, else two, one with a rule that is off: tests/rules/packs plays each test of each pack.
    """
    tests = cases.shipped_tests()
    assert set(tests) == {name.removesuffix(".yaml") for name, _ in shipped_packs()}
    if not soak:
        tests = {pack: tests[pack] for pack in ("agent", "security")}
        monkeypatch.setattr(cases, "shipped_tests", lambda: tests)
    assert main(["rules", "test", "--coverage", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["failed"] == 0
    assert {each["file"] for each in told["tests"]} == {path for path, _ in tests.values()}
    rules = [rule for rule in load_rule_config(Settings()).rules.rules if rule.topic in tests]
    assert told["coverage"]["both_sides"] == told["coverage"]["rules"] == len(rules) > len(tests)


def test_one_pack(capsys: pytest.CaptureFixture[str]) -> None:
    """A pack by its name."""
    assert main(["rules", "test", "queue_sharing_group", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {each["file"] for each in told["tests"]} == {"queue_sharing_group.test.yaml"}


def test_a_configuration_with_its_thresholds(ours: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A file of the site sees the configuration's rules as they are in force, and a file named twice counts once."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  files: [ours.yaml]\n  thresholds: [{rule: OUR-01, parameter: many, value: 500}]\n")
    assert main(["rules", "test", str(ours), "--config", str(config)]) == 1
    assert "many [500]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("bufer_pools", "did you mean 'buffer_pools'?"),
        ("nowhere.test.yaml", "cannot be read"),
        ("other", "the packs are"),
    ],
)
def test_what_is_not_there(name: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a pack nor a file: the tests could not be played."""
    assert main(["rules", "test", name]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("interval: 30s", "interval: thirty", "ours.test.yaml:3:15: tests[0].interval"),
        ("OUR-01", "OUR-10", "there is no rule 'OUR-10'; did you mean 'OUR-01'?"),
        ("tests:", "tests: []\nolder:", "older"),
    ],
)
def test_a_file_with_a_mistake(old: str, new: str, words: str, ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The mistake is shown in its place, and the tests could not be played."""
    ours.write_text(ours.read_text().replace(old, new, 1))
    assert main(["rules", "test", str(ours)]) == 2
    assert words in capsys.readouterr().err


def test_a_shipped_pack_with_a_mistake(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence with its place, no traceback."""
    packs = dict(shipped_packs())
    packs["logs.yaml"] = packs["logs.yaml"].replace("when: ", "when: nonsense + ", 1)
    monkeypatch.setattr(pack, "shipped_packs", lambda: tuple(packs.items()))
    assert main(["rules", "test", "logs"]) == 2
    err = capsys.readouterr().err
    assert "logs.yaml:11:11: log has no metric 'nonsense'" in err
    assert "   11 |     when: nonsense + " in err
    assert "Traceback" not in err


def test_shipped_tests_with_a_mistake(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The test command shows it in its place, the check warns of it."""
    tests = cases.shipped_tests()
    tests["logs"] = "logs.test.yaml", tests["logs"][1].replace("name:", "nme:", 1)
    monkeypatch.setattr(cases, "shipped_tests", lambda: tests)
    assert main(["rules", "test", "logs"]) == 2
    err = capsys.readouterr().err
    assert "logs.test.yaml:4:5: tests[0].nme: unknown key; did you mean 'name'?" in err
    assert "    4 |   - nme: " in err
    assert main(["rules", "check"]) == 0
    assert "logs.test.yaml: warning: these tests cannot be run" in capsys.readouterr().out


def test_the_file_of_a_shipped_pack(capsys: pytest.CaptureFixture[str]) -> None:
    """Named by its path it is that pack, not a second one with the same rules."""
    path = str(files("mqvitals_rules") / "packs" / "queue_sharing_group.yaml")
    rules = len(load_rule_config(Settings()).rules.rules)
    assert main(["rules", "check", path]) == 0
    assert capsys.readouterr().out == f"1 file: no problems found ({rules} rules in all)\n"
    assert main(["rules", "test", path.replace(".yaml", ".test.yaml")]) == 0
    assert capsys.readouterr().out.endswith("in 1 file: all passed\n")


def test_the_coverage_of_a_file_with_the_name_of_a_pack(
    ours: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is that of its own rules alone."""
    ours.rename(ours.with_name("logs.test.yaml"))
    ours.with_name("ours.yaml").rename(ours.with_name("logs.yaml"))
    monkeypatch.chdir(ours.parent)
    assert main(["rules", "test", "logs.test.yaml", "--coverage"]) == 0
    assert "\n1 rule, " in capsys.readouterr().out


def test_inserts_that_no_message_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A condition that waits for one never holds."""
    path = tmp_path / "mine.yaml"
    path.write_text(
        """\
rules:
  - id: OWN-01
    title: A structure fills
    kind: operational
    scope: log
    when: latest("CSQJ110E", "pct") > 5 or latest("CSQJ110E", "pctt") > 5 or latest_text("CSQJ111A", "x") == "5"
    severity: info
    summary: It fills
    advice: Look.
    caveat: None.
    source: {document: Our own, section: Messages}
"""
    )
    assert main(["rules", "check", str(path)]) == 0
    found = capsys.readouterr().out
    assert "mine.yaml:2:9: warning: CSQJ110E has no insert pctt; did you mean 'pct'?" in found
    assert "mine.yaml:2:9: warning: CSQJ111A has no insert x; it has " in found
    assert "insert pct;" not in found


def test_a_file_without_tests(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What tests nothing has not passed."""
    ours.write_text("tests: []\n")
    assert main(["rules", "test", str(ours)]) == 2
    assert "there are no tests" in capsys.readouterr().err


def test_the_rules_instead_of_their_tests(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever names the rules is told where their tests stand."""
    assert main(["rules", "test", str(ours.with_name("ours.yaml"))]) == 2
    assert "ours.test.yaml" in capsys.readouterr().err


def test_a_mistake_in_the_rules_beside(ours: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rules that cannot be used are told with their place."""
    rules = ours.with_name("ours.yaml")
    rules.write_text(rules.read_text().replace("scope: queue", "scope: queu"))
    assert main(["rules", "test", str(ours)]) == 2
    assert "there is no kind of object 'queu'" in capsys.readouterr().err
