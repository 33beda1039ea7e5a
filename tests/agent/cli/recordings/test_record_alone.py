"""``mqvitals record`` beside a running agent: it takes nothing from it and does nothing in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_agent.commandline.runner import main
from mqvitals_agent.service import run as service_run
from mqvitals_agent.service.run import RunOptions

SETTINGS = """
receivers: [{name: ops, url: "http://127.0.0.1:9/hook"}]
remote_write: [{name: engine, url: "http://127.0.0.1:9/api/v1/write"}]
serve: {listen: 127.0.0.1:9157}
"""


def test_a_recording_neither_notifies_nor_serves_nor_sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The agent does that, with the same settings."""
    monkeypatch.delenv("MQVITALS_LISTEN")
    config = tmp_path / "mqvitals.yaml"
    config.write_text(SETTINGS, encoding="utf-8")
    given: list[RunOptions] = []

    def run_agent(options: RunOptions) -> int:
        given.append(options)
        return 0

    monkeypatch.setattr(service_run, "run_agent", run_agent)
    arguments = ["record", str(tmp_path / "x.jsonl"), "--config", str(config), "--scenario", "quiet", "--for", "1m"]
    assert main(arguments) == 0
    (options,) = given
    settings = options.config.settings
    assert (settings.receivers, settings.remote_write, settings.serve.listen.off) == ((), (), True)
