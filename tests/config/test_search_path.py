"""Where a configuration file is looked for when nobody names one."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config import load
from mqvitals_config.load import load_settings, search_path


@pytest.mark.parametrize(
    ("environ", "paths"),
    [
        ({"HOME": "/home/op"}, ["/home/op/.config/mqvitals/mqvitals.yaml", "/etc/mqvitals/mqvitals.yaml"]),
        ({"HOME": "/home/op", "XDG_CONFIG_HOME": "/x"}, ["/x/mqvitals/mqvitals.yaml", "/etc/mqvitals/mqvitals.yaml"]),
        # The specification has relative paths ignored.
        ({"XDG_CONFIG_HOME": "x"}, ["/etc/mqvitals/mqvitals.yaml"]),
        ({}, ["/etc/mqvitals/mqvitals.yaml"]),
        ({"HOME": "/home/op", "MQVITALS_CONFIG_PATH": "/a.yaml::/b.yaml"}, ["/a.yaml", "/b.yaml"]),
        ({"HOME": "/home/op", "MQVITALS_CONFIG_PATH": ""}, []),
    ],
)
def test_search_path(environ: dict[str, str], paths: list[str]) -> None:
    """The user's own file comes before the machine's."""
    assert list(search_path(environ)) == paths


def test_the_first_file_that_is_there_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is named beats what is found, and nothing is looked for unless a command asks for it."""
    monkeypatch.setattr(load, "SYSTEM_FOLDER", str(tmp_path / "etc"))
    environ = {"HOME": str(tmp_path / "home")}
    own, machine = (tmp_path / "home/.config/mqvitals/mqvitals.yaml", tmp_path / "etc/mqvitals/mqvitals.yaml")
    assert load_settings(None, environ, {}, search=True).path is None
    for path, name in ((machine, "MACHINE"), (own, "OWN")):
        path.parent.mkdir(parents=True)
        path.write_text(f"name: {name}\n")
        loaded = load_settings(None, environ, {}, search=True)
        assert (loaded.settings.name, loaded.path, loaded.origins["name"]) == (name, str(path), f"{path}:1:7")
    assert load_settings(str(machine), environ, {}, search=True).settings.name == "MACHINE"
    assert load_settings(None, {**environ, "MQVITALS_CONFIG": str(machine)}, {}, search=True).settings.name == "MACHINE"
    assert load_settings(None, environ, {}).path is None
