"""The JSON Schema says of files what the decoder says, as far as a schema can."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from mqvitals_config.decoding.schema import json_schema, settings_of
from mqvitals_config.settings import Settings

SCHEMA = json_schema(Settings)
VALIDATOR = Draft202012Validator(SCHEMA)


class TextKeys(yaml.SafeLoader):
    """Takes each key for a text, as YAML 1.2 and so editors do: ``off`` is one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """The mapping of a node."""
        for key, _ in node.value:
            key.tag = "tag:yaml.org,2002:str"
        return super().construct_mapping(node, deep)


def errors(text: str) -> list[str]:
    """What the schema has against a file, as paths of keys."""
    found = yaml.load(text, TextKeys)
    return [error.json_path for error in VALIDATOR.iter_errors(found)]


def objects(schema: Any) -> Iterator[Any]:
    """The schemas of a mapping: of several, or of several types, all of them."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    if "properties" in schema:
        yield schema
    for inner in (*schema.get("anyOf", ()), *(schema[word] for word in ("then", "else") if word in schema)):
        yield from objects(inner)


def test_it_is_a_schema_and_has_every_setting() -> None:
    """Every key of the reference page is a property, with its sentence."""
    Draft202012Validator.check_schema(SCHEMA)
    for entry in settings_of(Settings):
        found: Any = SCHEMA
        for part in entry.key.split("."):
            word = part.removesuffix("[]")
            found = next(each["properties"][word] for each in objects(found) if word in each["properties"])
            assert found["description"].startswith(entry.text) or part != entry.key.rpartition(".")[2]
            found = found["items"] if part.endswith("[]") else found


def test_good_files(example_settings: str) -> None:
    """The example with everything live, an empty file, and sections left empty."""
    for text in (
        example_settings,
        "",
        "connection:\nreceivers:\nstore:\n",
        "store: {mode: 0600}\npolling: {interval: 30s}\n",
        "route: {receiver: x, routes: [{matchers: [a=b], routes: [{group_wait: 0s}]}]}",
    ):
        assert errors(text) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("nam: PRDQSG", "$"),
        ("store: {pfad: x.db}", "$.store"),
        ("queue_managers: [{time_zone: UTC}]", "$.queue_managers[0]"),
        ("connection: {binding: mqi}", "$.connection.binding"),
        ("polling: {usage: 'yes please'}", "$.polling.usage"),
        ("receivers: {name: x}", "$.receivers"),
        ("connection: {password: hunter2}", "$.connection"),
        ("route: {matchers: severity=critical}", "$.route.matchers"),
        ("route: {routes: [{routes: [{continue: 2}]}]}", "$.route.routes[0].routes[0].continue"),
    ],
)
def test_mistakes_are_found(text: str, path: str) -> None:
    """Unknown and missing keys, wrong words and types."""
    assert errors(text) == [path]


def test_the_schema_of_a_mapping_of_own_keys() -> None:
    """Labels of a receiver may have any name, and are texts."""
    receiver = "receivers: [{name: x, url: 'https://x.example', labels: {site: %s}}]"
    assert errors(receiver % "north") == []
    assert errors(receiver % "[north]") == ["$.receivers[0].labels.site"]


def test_own_schema_file_is_not_kept() -> None:
    """It is printed by a command; no copy that grows old lies in the repository."""
    root = Path(__file__).resolve().parents[2]
    assert not list(root.glob("config/**/*.schema.json"))
