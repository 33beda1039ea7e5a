"""Through decoded values, one setting at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from mqvitals_config.shape import hints_of, key_of
from mqvitals_config.wording import word_of


def walk(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every single value inside decoded dataclasses, lists and mappings, with its dotted key.

    An empty list or mapping is a value of its own.
    """
    inner: list[tuple[str, Any]] = []
    if is_dataclass(value) and not isinstance(value, type):
        hints = hints_of(type(value))
        words = ((key_of(item, hints), getattr(value, item.name)) for item in fields(value))
        inner = [(f"{key}.{word}" if key else word, item) for word, item in words]
    elif isinstance(value, Mapping):
        inner = [(f"{key}.{word_of(str(word))}" if key else word_of(str(word)), item) for word, item in value.items()]
    elif isinstance(value, tuple | list):
        inner = [(f"{key}[{index}]", item) for index, item in enumerate(value)]
    if not inner:
        yield key, value
    for inner_key, item in inner:
        yield from walk(item, inner_key)
