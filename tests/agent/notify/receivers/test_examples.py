"""The examples of docs/receivers.md: each makes a receiver that shows the test alert, without reading a secret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mqvitals_agent.notify.delivery import RECEIVERS, make_receiver
from mqvitals_agent.notify.receiver import shown_test_alert
from mqvitals_config.load import load_settings

PAGE = (Path(__file__).resolve().parents[4] / "docs" / "receivers.md").read_text("utf-8")
NOW = 1_795_176_000_000


@pytest.mark.parametrize("kind", RECEIVERS)
async def test_the_example_of_a_type(tmp_path: Path, kind: str) -> None:
    """Firing and resolved."""
    (section,) = re.findall(rf"^## {kind}\n.*?(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    (example, *_) = re.findall(r"```yaml\n(.*?)```", section, re.DOTALL)
    path = tmp_path / "mqvitals.yaml"
    path.write_text(example)
    for settings in load_settings(str(path), {}, {}).settings.receivers:
        receiver = make_receiver(settings, lambda: NOW, link="https://wiki.example/{{ rule }}")
        firing, resolved = shown_test_alert(receiver, settings, NOW)
        assert "this is a test of mqvitals: nothing is" in firing.lower()
        assert firing != resolved
        await receiver.aclose()
