"""Flags over environment over file over default, and the origin of each value."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.decoding.source import UnreadableError
from mqvitals_config.load import load_settings
from mqvitals_config.settings import Settings


def written(folder: Path, text: str) -> str:
    """The path of a configuration file that holds ``text``."""
    path = folder / "mqvitals.yaml"
    path.write_text(text, "utf-8")
    return str(path)


def test_without_anything_all_is_default() -> None:
    """No file is looked for."""
    loaded = load_settings(None, {}, {})
    assert loaded.settings == Settings()
    assert loaded.path is None
    assert set(loaded.origins.values()) == {"default"}
    assert str(loaded.settings.store.mode) == "0600"


def test_precedence(tmp_path: Path) -> None:
    """A flag beats a variable, which beats the file, which beats the default."""
    path = written(tmp_path, "name: FILE\nstore:\n  path: file.db\n")
    environ = {"MQVITALS_STORE": "environment.db", "MQVITALS_NAME": "ENVIRONMENT"}

    def origin(environ: dict[str, str], flags: dict[str, object]) -> tuple[str | None, str]:
        loaded = load_settings(path, environ, flags)
        return loaded.settings.store.path, loaded.origins["store.path"]

    assert origin({}, {}) == (str(tmp_path / "file.db"), f"{path}:3:9")
    assert origin({}, {"store": None}) == (str(tmp_path / "file.db"), f"{path}:3:9")
    assert origin(environ, {}) == ("environment.db", "environment MQVITALS_STORE")
    assert origin(environ, {"store": "flag.db", "command": "status", "json": True}) == ("flag.db", "flag --store")
    loaded = load_settings(path, environ, {})
    assert (loaded.settings.name, loaded.origins["name"]) == ("ENVIRONMENT", "environment MQVITALS_NAME")


def test_every_variable(tmp_path: Path) -> None:
    """Each does what the table says; an empty one counts as not set."""
    environ = {
        "MQVITALS_NAME": "PRDQSG",
        "MQVITALS_TIME_ZONE": "+10:00",
        "MQVITALS_STORE": "x.db",
        "MQVITALS_STORE_MODE": "0660",
        "MQVITALS_STORE_GROUP": "0815",
    }
    settings = load_settings(None, environ, {}).settings
    assert (settings.name, settings.time_zone) == ("PRDQSG", "+10:00")
    assert (settings.store.path, settings.store.mode, settings.store.group) == ("x.db", 0o660, "0815")
    assert load_settings(None, dict.fromkeys(environ, ""), {}).settings == Settings()


def test_the_file_can_be_named_by_a_variable(tmp_path: Path) -> None:
    """The flag's file goes first; a file that is not there is told with who named it."""
    path = written(tmp_path, "name: PRDQSG\n")
    assert load_settings(None, {"MQVITALS_CONFIG": path}, {}).settings.name == "PRDQSG"
    assert load_settings(None, {"MQVITALS_CONFIG": path}, {}).path == path
    assert load_settings(path, {"MQVITALS_CONFIG": "/no/such/file"}, {}).settings.name == "PRDQSG"
    with pytest.raises(UnreadableError) as raised:
        load_settings(None, {"MQVITALS_CONFIG": "/no/such/file"}, {})
    assert str(raised.value) == "/no/such/file: cannot be read: No such file or directory (named by MQVITALS_CONFIG)"
    with pytest.raises(UnreadableError, match=r"^/no/such/file: cannot be read: No such file or directory$"):
        load_settings("/no/such/file", {}, {})


def test_all_problems_of_all_sources_at_once(tmp_path: Path) -> None:
    """A wrong variable does not hide what is wrong in the file, nor the other way round."""
    path = written(tmp_path, "nmae: FILE\n")
    with pytest.raises(ConfigError) as raised:
        load_settings(path, {"MQVITALS_STORE_MODE": "0777", "MQVITALS_TIME_ZONE": "Mars"}, {"store": ""})
    assert str(raised.value).split("\n") == [
        f"{path}:1:1: nmae: unknown key; did you mean 'name'?",
        "environment MQVITALS_STORE_MODE: store.mode: mode 0777 lets others write or execute the file; write 0600, 0640 or 0660",
        "environment MQVITALS_TIME_ZONE: time_zone: there is no time zone 'Mars' here; write a time zone such as Europe/Berlin, UTC or +01:00",
        "flag --store: store.path: the path is empty",
    ]


def test_contradictions_are_found_after_everything_is_put_together(tmp_path: Path) -> None:
    """The file's group is shut out by the variable's mode, or let in by it."""
    path = written(tmp_path, "store: {group: mqops}\n")
    assert load_settings(path, {"MQVITALS_STORE_MODE": "0640"}, {}).settings.store.group == "mqops"
    with pytest.raises(ConfigError, match=r"mode 0600 gives the group mqops no access; set store.mode to 0660"):
        load_settings(path, {}, {})


def test_time_zones_of_queue_managers(tmp_path: Path) -> None:
    """A queue manager's own zone goes before the group's."""
    path = written(tmp_path, "time_zone: UTC\nqueue_managers: [{name: QM01, time_zone: +10:00}, {name: QM02}]\n")
    settings = load_settings(path, {}, {}).settings
    assert [settings.time_zone_of(name) for name in ("QM01", "QM02", "QM03")] == ["+10:00", "UTC", "UTC"]
    assert Settings().time_zone_of("QM01") is None
