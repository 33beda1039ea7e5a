"""Every setting stands in the example file and in the documentation."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from mqvitals_config import load
from mqvitals_config.__main__ import main
from mqvitals_config.decoding.decoder import decode, decode_located
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.schema import settings_of, settings_table, with_settings_table
from mqvitals_config.decoding.source import explained
from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "config" / "mqvitals.example.yaml"
PAGE = ROOT / "docs" / "configuration.md"


def test_a_copy_of_the_example_sets_nothing() -> None:
    """Every key is commented out, so that a copy works as it is and hides nothing."""
    assert load_settings(str(EXAMPLE), {}, {}).settings == Settings()


def test_the_example_is_right_and_complete(example_settings: str) -> None:
    """It decodes, and every setting there is stands in it with a comment above."""
    text = example_settings
    keys = {general(key) for key in decode_located(str(EXAMPLE), text, Settings).places}
    assert {entry.key for entry in settings_of(Settings)} <= keys
    lines = text.splitlines()
    documented = {
        line.strip().removeprefix("- ").partition(":")[0]
        for before, line in pairwise(lines)
        if before.strip().startswith("#") and not line.strip().startswith("#")
    }
    assert {entry.key.rpartition(".")[2] for entry in settings_of(Settings)} <= documented


def test_the_example_tells_defaults_and_variables(example_settings: str) -> None:
    """Whatever is not required names its default, and its variable where it has one."""
    text = example_settings
    lines: dict[str, int] = {}
    for key, place in decode_located(str(EXAMPLE), text, Settings).places.items():
        lines.setdefault(general(key), place.line)
    for entry in settings_of(Settings):
        if entry.form == "a mapping" and not entry.key.endswith(".intervals"):
            continue
        comment = comment_above(text, entry.key.rpartition(".")[2], lines[entry.key])
        assert "Required" in comment if entry.default == "required" else "Default: " in comment, entry.key
        assert entry.environment in comment
        assert entry.flag in comment


def general(key: str) -> str:
    """The key without the numbers of entries.

    What a queue manager says of its own connection counts as the group's, and a route's as those of the first.
    """
    key = re.sub(r"\[\d+\]", "[]", key).replace("queue_managers[].connection.", "connection.")
    return re.sub(r"route(\.routes\[\])+\.", "route.", key)


def comment_above(text: str, key: str, line: int) -> str:
    """The comment lines right above the ``key`` whose value begins on ``line``."""
    lines = text.splitlines()
    index = next(number for number in range(line - 1, -1, -1) if re.match(rf"\s*(- )?{key}:", lines[number]))
    begin = index
    while lines[begin - 1].strip().startswith("#"):
        begin -= 1
    return "\n".join(lines[begin:index])


def test_the_example_is_in_force_as_written(tmp_path: Path, example_settings: str) -> None:
    """Nothing in it contradicts anything else."""
    path = tmp_path / "mqvitals.yaml"
    path.write_text(example_settings, "utf-8")
    settings = load_settings(str(path), {}, {}).settings
    assert settings.name == "PRDQSG"
    assert settings.time_zone_of("QM04") == "-05:00"
    assert settings.facts.queues[0].role == "batch"


def test_the_page_is_up_to_date() -> None:
    """The table of docs/configuration.md is the one made from the settings."""
    page = PAGE.read_text("utf-8")
    assert page == with_settings_table(page, Settings), "run: python -m mqvitals_config docs/configuration.md"


def test_the_page_has_every_key_variable_and_flag() -> None:
    """In words, whatever made it."""
    page = PAGE.read_text("utf-8")
    for entry in settings_of(Settings):
        assert f"| `{entry.key}` | {entry.text} |" in page
        assert f"`{entry.environment}`" in page
        assert f"`{entry.flag}`" in page


def test_the_table_of_precedence_is_complete() -> None:
    """The loader's own table names every variable and flag there is."""
    assert load.__doc__ is not None
    for entry in settings_of(Settings):
        assert entry.environment in load.__doc__
        assert entry.flag in load.__doc__


def test_every_setting_is_described() -> None:
    """A sentence that ends as one, a default or that it is required."""
    for entry in settings_of(Settings):
        assert entry.text.endswith("."), entry.key
        assert entry.default or entry.form == "a mapping", entry.key
        assert "|" not in entry.text + entry.form + entry.default


def test_a_page_is_rewritten_between_its_markers(tmp_path: Path) -> None:
    """And a page without them is refused."""
    path = tmp_path / "page.md"
    path.write_text(PAGE.read_text("utf-8").replace(settings_table(Settings), "old\n"), "utf-8")
    assert main([str(path)]) == 0
    assert path.read_text("utf-8") == PAGE.read_text("utf-8")
    with pytest.raises(ValueError, match="the page has no"):
        with_settings_table("nothing", Settings)


def test_the_examples_on_the_page_are_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file it shows can be used, and the mistakes it shows are explained just so."""
    page = PAGE.read_text("utf-8")
    (example,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    assert decode("example", example, Settings).facts.queues[0].role == "batch"
    (explanation,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    Path("mqvitals.yaml").write_text(
        "name: PRDQSG\nstore:\n  path: x.db\n  mode: 0777\nrules:\n  disabled: [no]\n  treshholds: []\n"
    )
    with pytest.raises(ConfigError) as raised:
        load_settings("mqvitals.yaml", {}, {})
    assert explained(raised.value.problems) + "\n" == explanation
