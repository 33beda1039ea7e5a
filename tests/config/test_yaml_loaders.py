"""PyYAML comes with libyaml or without: every YAML file of the product means the same to both of its loaders."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
import yaml

from mqvitals_config.decoding import node
from mqvitals_config.decoding.node import compose

ROOT = Path(__file__).parents[2]
BAD = Path(__file__).parent / "bad"
FILES = sorted(
    path
    for folder in ("config", "rules", "agent", "tests")
    for path in (ROOT / folder).rglob("*.yaml")
    if path.parent != BAD
)
LOADERS = [getattr(yaml, name) for name in ("CSafeLoader", "SafeLoader") if hasattr(yaml, name)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_both_loaders_read_the_same(path: Path, monkeypatch: pytest.MonkeyPatch, example_settings: str) -> None:
    """The same values at the same places, and no problem. In the example all are commented out: it is read with all of them in force."""
    text = example_settings if path.name == "mqvitals.example.yaml" else path.read_text("utf-8")
    found = []
    for loader in LOADERS:
        monkeypatch.setattr(node, "_LOADER", loader)
        found.append(compose(path.name, text))
    assert found[-1][0] is not None
    assert all(each == (found[0][0], []) for each in found)


@pytest.mark.parametrize("path", sorted(BAD.glob("*.yaml")), ids=lambda path: path.stem)
def test_both_loaders_refuse_at_the_same_place(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their words for a mistake of syntax may differ, not where it is."""
    text = path.read_text("utf-8", errors="replace")
    places = []
    for loader in LOADERS:
        monkeypatch.setattr(node, "_LOADER", loader)
        places.append([problem.place for problem in compose(path.name, text)[1]])
    assert all(each == places[0] for each in places)


def test_without_libyaml_the_pure_loader_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A PyYAML that was built without libyaml has no CSafeLoader."""
    for name in ("CSafeLoader", "CLoader", "CParser"):
        monkeypatch.delattr(yaml, name, raising=False)
    specification = importlib.util.spec_from_file_location("node_without_libyaml", node.__file__)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    monkeypatch.setitem(sys.modules, specification.name, module)
    specification.loader.exec_module(module)
    root, problems = module.compose("x.yaml", "a: [1, {b: c}]")
    assert not problems
    assert root.items[0][1].items[1].items[0][1].text == "c"
