"""Programs as receivers: their form in the settings, and what ``config check`` says of the files."""

from __future__ import annotations

from pathlib import Path

import pytest

from mqvitals_config.decoding.problem import ConfigError
from mqvitals_config.load import check_files, load_settings
from mqvitals_config.receivers.command import CommandSettings


def receiver_of(folder: Path, text: str) -> CommandSettings:
    path = folder / "mqvitals.yaml"
    path.write_text(f"receivers:\n  - {{name: a, type: command, {text}}}\n", "utf-8")
    (found,) = load_settings(str(path), {}, {}).settings.receivers
    assert isinstance(found, CommandSettings)
    return found


def test_a_program_in_full(tmp_path: Path) -> None:
    """A relative path is beside the file; arguments are kept as they are."""
    found = receiver_of(tmp_path, "command: [./page, -v, ''], env: {SITE: north}, env_files: {KEY: key}")
    assert found.command == (str(tmp_path / "page"), "-v", "")
    assert found.env == {"SITE": "north"}
    assert found.env_files["KEY"].origin == f"file {tmp_path}/key"


def test_the_path_is_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also beside a file that is named by a relative path: the program is started in another folder."""
    (tmp_path / "mqvitals.yaml").write_text("receivers: [{name: a, type: command, command: [./page]}]")
    monkeypatch.chdir(tmp_path)
    (found,) = load_settings("mqvitals.yaml", {}, {}).settings.receivers
    assert isinstance(found, CommandSettings)
    assert found.command == (str(tmp_path / "page"),)


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("timeout: 1s", "2:5", "receivers[0].command: this key is missing"),
        ("command: []", "2:39", "receivers[0].command: expected a program and its arguments"),
        ("command: /bin/page -v", "2:39", "receivers[0].command: expected a list, got"),
        (
            "command: [page]",
            "2:39",
            "receivers[0].command: the program is named by its path, such as /usr/local/bin/page",
        ),
        ("command: [/bin/page, 5]", "2:51", "receivers[0].command[1]: expected a string, got the number 5; quote it"),
        ('command: [/bin/page, "a\\0b"]', "2:51", "receivers[0].command[1]: an argument cannot hold"),
        ('command: ["/bin/pa\\nge"]', "2:39", "receivers[0].command: a path cannot hold control characters"),
        ("command: [/x], env: {a-b: x}", "2:51", "receivers[0].env.a-b: a variable's name has letters"),
        (
            "command: [/x], env: {MQVITALS_STORE: x}",
            "2:51",
            "receivers[0].env.MQVITALS_STORE: variables that begin with",
        ),
        ("command: [/x], env_files: {A: [x]}", "2:60", "receivers[0].env_files.A: expected the path of a file"),
        (
            "command: [/x], env: {A: x}, env_files: {A: x}",
            "2:5",
            "receivers[0]: the variable A stands in env and in env_files",
        ),
        ("command: [/x], url: 'http://h/'", "2:45", "receivers[0].url: unknown key"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, place: str, said: str) -> None:
    """Each with its line and column."""
    with pytest.raises(ConfigError) as raised:
        receiver_of(tmp_path, text)
    (problem,) = raised.value.problems
    assert f"{problem.key}: {problem.message}".startswith(said)
    assert str(problem.place) == f"{tmp_path}/mqvitals.yaml:{place}"


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        (0o755, None),
        (0o644, "is not executable for the user"),
        (0o757, "every user can write"),
        (None, "cannot be started"),
    ],
)
def test_the_file_is_checked(tmp_path: Path, mode: int | None, said: str | None) -> None:
    """It must be there, executable, and not everybody's to write."""
    if mode is not None:
        (tmp_path / "page").touch()
        (tmp_path / "page").chmod(mode)
    receiver_of(tmp_path, "command: [./page]")
    loaded = load_settings(str(tmp_path / "mqvitals.yaml"), {}, {})
    problems = check_files(loaded.settings, loaded.origins).problems
    assert [(each.key, str(each.place)) for each in problems] == [
        ("receivers[0].command[0]", f"{tmp_path}/mqvitals.yaml:2:40")
    ] * (said is not None)
    assert all(str(said) in each.message for each in problems)


def test_a_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receiver of type apprise needs one that is an extra."""
    (tmp_path / "urls").write_text("json://127.0.0.1\n")
    (tmp_path / "urls").chmod(0o600)
    (tmp_path / "mqvitals.yaml").write_text("receivers:\n  - {name: a, type: apprise, urls_file: urls}\n")
    loaded = load_settings(str(tmp_path / "mqvitals.yaml"), {}, {})
    assert check_files(loaded.settings, loaded.origins) == ((), ())
    monkeypatch.setattr("mqvitals_config.load.find_spec", lambda _: None)
    (problem,) = check_files(loaded.settings, loaded.origins).problems
    assert str(problem).startswith(f"{tmp_path}/mqvitals.yaml:2:21: receivers[0].type: receivers of type apprise need")
