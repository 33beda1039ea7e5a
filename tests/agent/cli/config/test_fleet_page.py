"""docs/fleet.md: every configuration in it is one that its program takes as written."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from mqsamples.tools import needed
from mqvitals_agent.commandline import runner as command_line

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "fleet.md").read_text("utf-8")
BLOCKS = re.findall(r"^```yaml\n# (mqvitals|prometheus|alertmanager)\.ya?ml(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def blocks(of: str) -> list[str]:
    """The configurations of a program; the first line says what each is for."""
    return ["#" + text for program, text in BLOCKS if program == of]


def test_every_configuration_is_checked() -> None:
    """None stands there without the name of its file."""
    assert PAGE.count("```yaml") == len(BLOCKS)


@pytest.mark.parametrize("text", blocks("mqvitals"))
def test_config_check_finds_nothing_in_ours(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As ``mqvitals config check`` says it, on a machine that has none of the files."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(text, encoding="utf-8")
    code = command_line.main(["config", "check", "--no-files", str(path)])
    out, err = capsys.readouterr()
    assert code == 0, out + err


def test_promtool_takes_those_of_prometheus(tmp_path: Path) -> None:
    """With a file of rules where the page names one."""
    promtool = needed("promtool")
    rules = tmp_path / "mqvitals.rules.yml"
    rules.write_text("groups: []\n", encoding="utf-8")
    (tmp_path / "token").write_text("swordfish", encoding="utf-8")
    for text in blocks("prometheus"):
        here = text.replace("/etc/prometheus/mqvitals.rules.yml", str(rules))
        path = tmp_path / "prometheus.yml"
        path.write_text(here.replace("/etc/prometheus/mqvitals.token", str(tmp_path / "token")), encoding="utf-8")
        found = subprocess.run([promtool, "check", "config", path], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr


def test_amtool_takes_those_of_alertmanager(tmp_path: Path) -> None:
    """Routes and inhibitions too."""
    amtool = needed("amtool")
    for text in blocks("alertmanager"):
        path = tmp_path / "alertmanager.yml"
        path.write_text(text, encoding="utf-8")
        found = subprocess.run([amtool, "check-config", path], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr


def test_the_page_has_some_of_each() -> None:
    """What the checks above read."""
    assert all(blocks(program) for program in ("mqvitals", "prometheus", "alertmanager"))
