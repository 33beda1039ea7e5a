"""``mqvitals rules check``: problems and warnings, with the spot of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mqsamples.site_rules import RULES
from mqvitals_rules.ruleset import pack
from mqvitals_rules.ruleset.pack import load_rules
from mqvitals_rules.vocabulary.tables import KINDS

Said = Callable[..., str]


TESTS = """\
tests:
  - name: It is as it should be
    interval: 10s
    series: {QM01/buffer_pool/3: {free_pct: 50}}
    expect: [{at: 0s, not_firing: [MY-01]}]
"""


def test_check_without_a_problem(said: Said, tmp_path: Path) -> None:
    """The shipped rules have none, a good file has none: a sentence, exit code 0."""
    shipped = len(load_rules(KINDS))
    assert said("check") == f"the shipped rules: no problems found ({shipped} rules in all)\n"
    file = tmp_path / "ours.yaml"
    file.write_text(RULES, "utf-8")
    (tmp_path / "ours.test.yaml").write_text(TESTS, "utf-8")
    assert said("check", str(file)) == f"1 file: no problems found ({shipped + 1} rules in all)\n"


def test_check_warns_of_a_parameter_that_nothing_uses(said: Said, tmp_path: Path) -> None:
    """A threshold that no condition and no text names is warned of; the exit code stays 0."""
    file = tmp_path / "ours.yaml"
    (tmp_path / "ours.test.yaml").write_text(TESTS, "utf-8")
    parameter = "    parameters: {limit: {value: 30, origin: default, meaning: so low}}\n"
    file.write_text(RULES + parameter, "utf-8")
    assert f"{file}:2:9: warning: MY-01 never uses its parameter limit\n" in said("check", str(file))
    for used in (RULES.replace("< 30", "< limit"), RULES.replace(": {free_pct}", " is below {limit}")):
        file.write_text(used + parameter, "utf-8")
        assert "warning" not in said("check", str(file))


def test_check_tells_line_column_and_spot(said: Said, tmp_path: Path) -> None:
    """Each problem is a sentence with its place, the line, and a caret under the spot; exit code 1."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES.replace("free_pct < 30", "fre_pct < 30").replace("kind: op", "kind: up"), "utf-8")
    out = said("check", str(file), code=1)
    assert f"{file}:4:11: rules[0].kind: 'uperational' is not one of" in out
    assert f"{file}:6:11: " in out
    assert "    6 |     when: fre_pct < 30\n                  ^" in out
    assert "did you mean 'free_pct'?" in out


def test_check_of_a_shipped_pack_with_mistakes(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistakes in expressions of several packs, each at its place; what only lists the rules does not look for them."""
    packs = dict(pack.shipped_packs())
    for name in ("logs.yaml", "queues.yaml"):
        packs[name] = packs[name].replace("when: ", "when: nonsense + ", 1)
    monkeypatch.setattr(pack, "shipped_packs", lambda: tuple(packs.items()))
    out = said("check", code=1)
    assert "logs.yaml:11:11: log has no metric 'nonsense'" in out
    assert "queues.yaml:12:22: cannot be read: invalid syntax" in out
    assert "LOG-01" in {str(rule.id) for rule in load_rules(KINDS)}


def test_check_of_a_file_that_is_not_there(said: Said, tmp_path: Path) -> None:
    """Of a file that cannot be read nothing can be said: exit code 2, as `config check` has it."""
    assert "none.yaml: cannot be read: No such file or directory" in said("check", str(tmp_path / "none.yaml"), code=2)


def test_check_of_a_configuration_that_names_no_file(said: Said, tmp_path: Path) -> None:
    """A rule file that the configuration names in vain is told at the line that names it."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  files: [nope.yaml]\n", "utf-8")
    out = said("check", "--config", str(config), code=1)
    assert f"{config}:2:11: rules.files[0]: {tmp_path / 'nope.yaml'}: cannot be read" in out
    assert "    2 |   files: [nope.yaml]" in out


def test_check_of_a_file_with_the_name_of_a_pack(said: Said, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rules are its own: those of the shipped pack are not among them."""
    (tmp_path / "logs.yaml").write_text(RULES, "utf-8")
    (tmp_path / "logs.test.yaml").write_text(TESTS, "utf-8")
    monkeypatch.chdir(tmp_path)
    rules = len(load_rules(KINDS)) + 1
    assert said("check", "logs.yaml") == f"1 file: no problems found ({rules} rules in all)\n"


def test_check_of_an_idle_comparison(said: Said, tmp_path: Path) -> None:
    """A condition that can never hold is told, though it could be run."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES.replace("free_pct < 30", "free_pct > 130"), "utf-8")
    assert "this can never hold" in said("check", str(file), code=1)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (None, "ours.yaml:2:9: warning: MY-01 has no test"),
        (TESTS.replace("MY-01", "BP-01"), "ours.yaml:2:9: warning: MY-01 has no test"),
        ("tests: 5\n", "ours.test.yaml: warning: these tests cannot be run; 'mqvitals rules test' shows why"),
    ],
)
def test_check_warns_of_a_rule_without_test(tests: str | None, words: str, said: Said, tmp_path: Path) -> None:
    """No test names it: a warning, which is no problem."""
    file = tmp_path / "ours.yaml"
    file.write_text(RULES, "utf-8")
    if tests is not None:
        (tmp_path / "ours.test.yaml").write_text(tests, "utf-8")
    out = said("check", str(file))
    assert words in out
    assert out.endswith("rules in all), 1 warning\n")


@pytest.mark.parametrize(
    ("threshold", "words"),
    [
        ("rule: BP-01, parameter: stress_pct, value: 30, objects: QM09/buffer_pool/3", "belong to QM01, QM02, PRDQSG"),
        ("rule: LOG-03, parameter: {parameter}, value: {value}, objects: QM01/log/3", "a log has no name of its own"),
        ("rule: BP-01, parameter: stress_pct, value: 31", ":7:14 says something else about the same"),
        ("rule: BP-01, parameter: stress_pct, value: 31, objects: QM0?/buffer_pool/3", ""),
    ],
)
def test_check_warns_of_a_threshold_without_effect(threshold: str, words: str, said: Said, tmp_path: Path) -> None:
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
    out = said("check", "--config", str(config))
    assert words in out
    assert (f"{config}:" in out) is bool(words)


def test_check_with_a_configuration(said: Said, tmp_path: Path) -> None:
    """Without files, the configuration's thresholds and rule files are checked."""
    config = tmp_path / "mqvitals.yaml"
    config.write_text("rules:\n  disabled: [BP_03]\n", "utf-8")
    assert "there is no rule 'BP_03'; did you mean 'BP-03'?" in said("check", "--config", str(config), code=1)
    config.write_text("rules:\n  disabled: [BP-01\n", "utf-8")
    assert "the settings cannot be used" in said("check", "--config", str(config), code=2)
