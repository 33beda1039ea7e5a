"""What people see of an engine: ``trend``, ``export``, and the page of an object."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mqsamples.answering import Answering, served
from mqsamples.engine import Engine
from mqvitals_agent.commandline.runner import main
from mqvitals_agent.openmetrics.names import labels_of
from mqvitals_agent.store.writer import Store
from mqvitals_agent.view.frame import DETAIL, FrameRequest
from mqvitals_agent.view.screens.object.page import detail_lines
from mqvitals_config.load import load_settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import ObjectName, Reading, Snapshot
from mqvitals_rules.timestamps import HOUR_MS, MINUTE_MS, iso
from mqvitals_tui.feed import Feed

NAME = ObjectName("QM01", "queue", "A")
NOW = 495_000 * HOUR_MS
VERDICT: Any = SimpleNamespace(transitions=(), unknown=())
SPAN = ("--from", iso(NOW - 2 * HOUR_MS), "--to", iso(NOW), "--json")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """The last hour of a queue; what was before is only in the engine."""
    path = tmp_path / "store.db"
    with Store.open(path) as written:
        for minute in range(60):
            ts = NOW - HOUR_MS + minute * MINUTE_MS
            reading = Reading(NAME, "INQUIRE_Q_STATUS", ts, {"depth": minute}, MINUTE_MS, answered=True)
            written.write(Snapshot("QM01", False, minute + 1, ts, (reading,)), VERDICT)
    return path


@pytest.fixture
def engine() -> Engine:
    labels = dict(labels_of(NAME, {})) | {"__name__": "ibmmq_queue_depth", "site": "B"}
    engine = Engine()
    engine.taken[tuple(sorted(labels.items()))] = {
        NOW - 2 * HOUR_MS + minute * MINUTE_MS: int.from_bytes(struct.pack("<d", minute), "little")
        for minute in range(120)
    }
    return engine


def config(folder: Path, url: str) -> Path:
    path = folder / "mqvitals.yaml"
    path.write_text(
        f"history: {{backend: prometheus, url: '{url}', external_labels: {{site: B}}, timeout: 2s}}\n", encoding="utf-8"
    )
    return path


@pytest.fixture
def nobody() -> str:
    """An address where no engine is."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], store: Path) -> Callable[..., tuple[list[float], str, str]]:
    """The values of ``trend``, its note, and what it said on standard error."""

    def run(*arguments: str | Path) -> tuple[list[float], str, str]:
        assert main(["trend", "depth", str(NAME), "--store", str(store), *map(str, arguments), *SPAN]) == 0
        out, said = capsys.readouterr()
        found = json.loads(out)
        return [value for _, value in found["points"]], found.get("note", ""), said

    return run


def test_trend_asks_for_what_the_store_lacks(tmp_path: Path, engine: Engine, shown: Any) -> None:
    """Or for all, where a person says so; or for nothing."""
    both = [*range(60), *range(60)]
    with served(Answering(engine)) as url:
        file = config(tmp_path, url)
        assert shown("--config", file) == (both, "", "")
        assert shown("--config", file, "--backend", "prometheus") == ([*range(120)], "", "")
        assert shown("--config", file, "--backend", "sqlite") == ([*range(60)], "", "")
        assert shown() == ([*range(60)], "", ""), "a store that is named alone is read alone"


def test_trend_says_why_it_shows_less(tmp_path: Path, nobody: str, shown: Any) -> None:
    """On standard error and in the JSON; what the store has is shown."""
    values, note, said = shown("--config", config(tmp_path, nobody))
    assert values == [*range(60)]
    assert nobody in note
    assert note in said


def test_a_backend_without_an_address(tmp_path: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A sentence, and what to write."""
    path = tmp_path / "empty.yaml"
    path.write_text("{}\n", encoding="utf-8")
    arguments = ["trend", "depth", str(NAME), "--store", str(store), "--config", str(path), "--backend", "prometheus"]
    assert main(arguments) == 2
    assert "history.url" in capsys.readouterr().err


def test_export_has_the_engines_rows(
    tmp_path: Path, store: Path, engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``trend`` has."""
    with served(Answering(engine)) as url:
        arguments = ["export", str(NAME), "--metrics", "depth", "--store", str(store), *SPAN[:4]]
        assert main([*arguments, "--config", str(config(tmp_path, url)), "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 121


def test_a_chart_of_a_screen_has_the_engines_samples_or_says_why_not(
    tmp_path: Path, store: Path, engine: Engine, nobody: str
) -> None:
    """Below it; the frame is there either way."""

    def page(url: str) -> tuple[int, str]:
        got: list[Any] = []
        settings = load_settings(str(config(tmp_path, url)), {}, {}).settings
        feed = Feed(store, load_rule_config(settings), lambda: NOW, got.append, settings=settings, machine=lambda: NOW)
        feed.request(FrameRequest(DETAIL, name=NAME, metric="depth", span_ms=2 * HOUR_MS))
        feed._check()
        feed._close()
        frame = got[-1].read.frame
        return len(frame.detail.trend.points), "\n".join(line.text for line in detail_lines(frame, 200))

    with served(Answering(engine)) as url:
        points, text = page(url)
        assert points == 120
        assert "lacks" not in text
    points, text = page(nobody)
    assert points == 60
    assert f"The history lacks what only the engine has: {nobody} cannot be reached" in text
