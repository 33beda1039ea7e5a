"""Notifications to render, secrets in files, an authority of certificates, and published schemas."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trustme
from jsonschema import validators

from mqvitals_agent.notify.notification import Notification, NotifiedAlert
from mqvitals_config.decoding.problem import LocatedText, Place
from mqvitals_config.decoding.secret import Secret

NOW = 1_795_176_000_000
"""2026-11-20 12:00:00 UTC."""

SCHEMAS = Path(__file__).with_name("schemas")


@cache
def _validator(name: str) -> Any:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text("utf-8"))
    return validators.validator_for(schema)(schema)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """Makes certificates; keys take time, so there is one for all tests."""
    return trustme.CA()


@pytest.fixture(scope="session")
def mistakes() -> Callable[[str, Any], list[str]]:
    """What a published schema has against a payload."""

    def find(name: str, payload: Any) -> list[str]:
        return [f"{error.json_path}: {error.message[:200]}" for error in _validator(name).iter_errors(payload)]

    return find


@pytest.fixture
def secret(tmp_path: Path) -> Callable[[str, str], Secret]:
    """A secret in a file."""

    def make(name: str, text: str) -> Secret:
        (tmp_path / name).write_text(text + "\n")
        return Secret.in_file(LocatedText(name, Place(str(tmp_path / "mqvitals.yaml"))))

    return make


@pytest.fixture(scope="session")
def told() -> Callable[..., NotifiedAlert]:
    """An alert about a buffer pool, as receivers get it."""

    def make(number: int = 3, *, severity: str = "critical", ended: bool = False, **annotations: str) -> NotifiedAlert:
        return NotifiedAlert(
            {
                "alertname": "BP-03",
                "rule": "BP-03",
                "family": "bp_free",
                "severity": severity,
                "owner": "QM01",
                "queue_manager": "QM01",
                "kind": "buffer_pool",
                "object": f"QM01/buffer_pool/{number}",
                "name": str(number),
                "group": "PRDQSG",
            },
            {
                "summary": f"QM01: buffer pool {number}: 4 % free",
                "advice": "Find what fills it. Move the queue <APP.*> & co.",
                "document": "MP16",
                "section": "Buffer pools",
                "mqsc": "DISPLAY USAGE PSID(*) TYPE(BUFFPOOL)",
                "worst_value": "3 %",
                **annotations,
            },
            f"{number:016x}",
            NOW - 252_000,
            NOW if ended else None,
        )

    return make


@pytest.fixture(scope="session")
def group() -> Callable[..., Notification]:
    """A notification of a group of alerts of QM01."""

    def make(*alerts: NotifiedAlert, truncated: int = 0, repeated: bool = False, known: int = 0) -> Notification:
        labels = {"group": "PRDQSG", "owner": "QM01"}
        return Notification("ops", '{}:{group="PRDQSG", owner="QM01"}', labels, alerts, truncated, 7, repeated, known)

    return make
