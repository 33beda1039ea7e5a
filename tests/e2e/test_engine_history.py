"""``mqvitals trend`` from real engines: point for point what the store has, and after the store has deleted it too.

For ``make soak``: it needs VictoriaMetrics and Prometheus, which come with packages of Debian (``make tools``). What it shows is
tested without them in ``tests/agent/engine_history``.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from mqsamples.patience import awaited
from mqsamples.real_engines import engine_of
from mqsamples.sent import asked
from mqsamples.tools import needed
from mqvitals_agent.engine_history.hour_means import EngineHourMeans
from mqvitals_agent.store.reader import StoreReader
from mqvitals_agent.text.figure import stamp
from mqvitals_config.load import load_settings
from mqvitals_rules.timestamps import HOUR_MS

Run = Callable[..., "subprocess.CompletedProcess[str]"]

MINUTES = 40
OF_ALL = (
    ("msgs,bytes_sent,status,last_msg_age_s", "QM0*/channel/*"),
    ("depth,oldest_msg_age_s,uncommitted", "QM0*/queue/*"),
    ("free_pct,total", "QM0*/buffer_pool/*"),
    ("used_pct,expand_count,unused_pages", "QM0*/page_set/*"),
    ("size_used_pct,status", "*/cf_structure/*"),
    ("reachable,uptime_s,connections", "QM0*/queue_manager"),
)
"""Counters, gauges, states, ages, and shares, of queue managers and of the group."""


def series(mqvitals: Run, *arguments: str | Path) -> dict[tuple[str, str], dict[str, Any]]:
    """The series of ``trend --json``, by object and metric."""
    done = mqvitals("trend", *arguments, "--since", "3h", "--json")
    assert done.stderr == ""
    return {(each["object"], each["metric"]): each for each in json.loads(done.stdout)["series"]}


@contextmanager
def lived(mqvitals: Run, which: str, folder: Path, minutes: int) -> Iterator[tuple[Path, Path]]:
    """The store and the configuration of an agent that has sent an engine all that it stored, while the engine is there."""
    needed(which)
    store, config = folder / "store.db", folder / "mqvitals.yaml"
    with engine_of(which, folder) as engine:
        config.write_text(
            f"remote_write:\n  - {{name: engine, url: '{engine.write}', external_labels: {{site: B}}}}\n"
            f"history: {{backend: prometheus, url: '{engine.base}'}}\n",
            encoding="utf-8",
        )
        agent = ("--config", config, "--store", store, "--scenario", "busy-morning", "--seed", "1")
        mqvitals("agent", *agent, "--interval", "20s", "--speed", "max", "--for", f"{minutes}m", code=None)
        assert asked(store, "SELECT missed, refused FROM remote_write") == [(0, 0)]
        assert not asked(store, "SELECT 1 FROM stored_samples WHERE number > (SELECT place FROM remote_write)")
        yield store, config


def points(found: dict[str, Any], *, absent: bool = False) -> dict[str, Any]:
    return {ts: value for ts, value in found["points"] if absent or value is not None}


@pytest.mark.soak
@pytest.mark.parametrize("which", ["victoria-metrics", "prometheus"])
def test_trend_is_the_same_from_the_engine(mqvitals: Run, tmp_path: Path, which: str) -> None:
    """Every point, and no more; once the store has deleted the first half, the engine alone has it."""
    with lived(mqvitals, which, tmp_path, MINUTES) as (store, config):
        before, count = {}, 0
        for wanted in OF_ALL:
            before[wanted] = series(mqvitals, *wanted, "--store", store, "--backend", "sqlite")
            of_engine = series(mqvitals, *wanted, "--store", store, "--config", config, "--backend", "prometheus")
            assert of_engine == before[wanted], wanted
            count += sum(len(points(each)) for each in of_engine.values())
        assert count > 5_000
        ((first, last),) = asked(store, "SELECT min(ts), max(ts) FROM snapshot")
        middle = (int(str(first)) + int(str(last))) // 2
        mqvitals("store", "prune", store, "--before", stamp(middle), "--hours")
        for wanted, expected in before.items():
            left = series(mqvitals, *wanted, "--store", store, "--backend", "sqlite")
            found = series(mqvitals, *wanted, "--store", store, "--config", config)
            assert found.keys() == expected.keys()
            for key, each in found.items():
                assert points(each) == points(expected[key]), key
                assert "kept_from" not in each or not points(each), key
            assert sum(len(points(each)) for each in left.values()) < 0.7 * sum(
                len(points(each)) for each in expected.values()
            )
    # The engine is gone: what the store has left is shown, with the reason.
    done = mqvitals("trend", "depth", "QM0*/queue/*", "--store", store, "--config", config, "--since", "3h", "--json")
    assert "cannot be reached" in done.stderr
    assert all("cannot be reached" in each["note"] for each in json.loads(done.stdout)["series"])


@pytest.mark.soak
@pytest.mark.parametrize("which", ["victoria-metrics", "prometheus"])
def test_baselines_are_nearly_the_same_from_the_engine(mqvitals: Run, tmp_path: Path, which: str) -> None:
    """The means of an hour by which the agent would compare, of every object. They are not the same to the bit: the engine weighs
    each poll alike, and extends the increase of a counter to the ends of the hour.
    """
    with lived(mqvitals, which, tmp_path, 125) as (store, config):
        ((first,),) = asked(store, "SELECT min(ts) FROM snapshot")
        hour = -(-int(str(first)) // HOUR_MS) * HOUR_MS
        further = EngineHourMeans.of(load_settings(str(config), {}, {}).settings)
        assert further is not None
        with StoreReader.open(store) as reader:
            for kind, metric in (
                ("queue", "depth"),
                ("buffer_pool", "free_pct"),
                ("page_set", "used_pct"),
                ("channel", "msgs"),
            ):
                of_store = {name: mean for name, (mean,) in reader.hour_means(kind, metric, [hour]).items()}
                assert sum(mean > 0 for mean in of_store.values()) > 3
                of_engine = awaited(partial(further.hour, kind, metric, hour))
                assert of_engine == pytest.approx(of_store, rel=0.03, abs=0.05)
        further.close()
