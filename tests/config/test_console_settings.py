"""Which files of console lines are followed, and how."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_agent.pcf.codepage import known_ccsids
from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import load_settings
from mqvitals_config.sections.collection import EBCDIC_PAGES


def written(folder: Path, text: str) -> str:
    path = folder / "mqvitals.yaml"
    path.write_text(text)
    return str(path)


def test_all_that_can_be_said(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "console:\n  keep: 7d\n  follow:\n    - path: QM01.log\n      carrier: joblog\n      queue_manager: QM01\n"
        "      time_zone: +01:00\n      encoding: IBM-01047\n      begin: start\n    - path: /var/log/zos\n      encoding: Latin-1\n",
    )
    console = load_settings(path, {}, {}).settings.console
    first, second = console.follow
    assert console.keep == 7 * 86_400_000
    assert (first.path, first.carrier, first.queue_manager) == (str(tmp_path / "QM01.log"), "joblog", "QM01")
    assert (first.time_zone, first.encoding, first.begin) == ("+01:00", "ibm-1047", "start")
    assert (second.path, second.carrier, second.queue_manager) == ("/var/log/zos", "auto", None)
    assert (second.time_zone, second.encoding, second.begin) == (None, "iso8859-1", "end")
    assert load_settings(None, {}, {}).settings.console.follow == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("follow: [{path: a, encoding: base64}]", "there is no encoding 'base64' here"),
        ("follow: [{path: a, encoding: utf-16}]", "there is no encoding 'utf-16' here"),
        ("follow: [{path: a, encoding: ibm-1}]", "there is no encoding 'ibm-1' here"),
        ("follow: [{path: a, encoding: cp037}]", "there is no encoding 'cp037' here"),
        ("follow: [{path: a, carrier: sys}]", "did you mean 'syslog'?"),
        ("follow: [{path: a, queue_manager: 'A B'}]", "no blank"),
        ("follow: [{path: a, time_zone: Mars}]", "there is no time zone"),
        ("follow: [{carrier: syslog}]", "path"),
        ("follow: [{path: a}, {path: ./a}]", "is followed already, by the entry on line 1"),
        ("keep: 59m", "must be 1h at least"),
        ("keep: 30", "needs a unit"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, words: str) -> None:
    """With its place."""
    path = written(tmp_path, f"console: {{{text}}}\n")
    with pytest.raises(ConfigError) as told:
        load_settings(path, {}, {})
    assert f"{path}:1:" in str(told.value)
    assert words in str(told.value)


def test_every_ebcdic_page_can_be_read() -> None:
    assert set(known_ccsids()) >= EBCDIC_PAGES
