"""Secrets: from files and variables only, and shown nowhere."""

from __future__ import annotations

import copy
import json
import pickle
import traceback
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

from mqvitals_config.decoding.decoder import decode
from mqvitals_config.decoding.problem import ConfigError, LocatedText, Place
from mqvitals_config.decoding.schema import SecretFile
from mqvitals_config.decoding.secret import Secret, SecretError

WORD = "hunter2-hunter2"


@dataclass(frozen=True, slots=True)
class Receiver:
    """A mapping with a secret."""

    url: str
    password_file: SecretFile | None = None


@dataclass(frozen=True, slots=True)
class Strict:
    """A mapping with a secret that must be there."""

    token_file: SecretFile


def test_a_secret_comes_from_the_file_that_is_named(tmp_path: Path) -> None:
    """Beside the configuration, without its line end, read anew each time."""
    (tmp_path / "password").write_text(WORD + "\n")
    receiver = decode(str(tmp_path / "x.yaml"), "url: http://x\npassword_file: password", Receiver)
    assert receiver.password_file is not None
    assert receiver.password_file.reveal() == WORD
    (tmp_path / "password").write_text("changed")
    assert receiver.password_file.reveal() == "changed"


def test_a_secret_is_never_written_in_the_file() -> None:
    """The sentence says what to do instead, and does not repeat the secret."""
    with pytest.raises(ConfigError) as raised:
        decode("x.yaml", f"url: http://x\npassword: {WORD}", Receiver)
    assert str(raised.value) == (
        "x.yaml:2:1: password: a secret is never written in this file; write it into a file of its own and name that as password_file"
    )


def test_a_required_secret_is_missed_by_the_key_of_its_file() -> None:
    """A person is told the key to write."""
    with pytest.raises(ConfigError, match=r"^x.yaml:1:1: token_file: this key is missing$"):
        decode("x.yaml", "{}", Strict)
    with pytest.raises(ConfigError, match=r"^x.yaml: the file is empty; it must hold token_file$"):
        decode("x.yaml", "", Strict)
    with pytest.raises(ConfigError, match=r"token_file: expected the path of a file, got the boolean no; quote it$"):
        decode("x.yaml", "token_file: no", Strict)


def test_a_secret_comes_from_a_variable(tmp_path: Path) -> None:
    """Or from the file that the variable with _FILE names, which goes first."""
    (tmp_path / "token").write_text("from the file")
    assert Secret.in_environment("MQVITALS_TOKEN", {"MQVITALS_TOKEN": WORD}).reveal() == WORD
    both = {"MQVITALS_TOKEN": WORD, "MQVITALS_TOKEN_FILE": str(tmp_path / "token")}
    assert Secret.in_environment("MQVITALS_TOKEN", both).reveal() == "from the file"


def test_a_secret_that_cannot_be_had(tmp_path: Path) -> None:
    """No file, nothing in it, or not text: a sentence that holds nothing of the secret."""
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "binary").write_bytes(WORD.encode() + b"\xff")
    place = Place(str(tmp_path / "x.yaml"))
    for name, words in (("absent", "cannot be read"), ("empty", "is empty"), ("binary", "is not UTF-8 text")):
        with pytest.raises(SecretError, match=words) as raised:
            Secret.in_file(LocatedText(name, place)).reveal()
        shown = "".join(traceback.format_exception(raised.value))
        assert str(tmp_path / name) in shown
        assert "0xff" not in shown
    with pytest.raises(SecretError, match="the secret in environment MQVITALS_TOKEN is empty"):
        Secret.in_environment("MQVITALS_TOKEN", {}).reveal()


def test_a_secret_is_not_shown(tmp_path: Path) -> None:
    """Neither by printing nor by copying it to where it could be kept."""
    secret = Secret.in_environment("MQVITALS_TOKEN", {"MQVITALS_TOKEN": WORD})
    holder = Receiver("http://x", secret)
    for shown in (
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>80}",
        repr(holder),
        str([secret]),
        format(secret, ""),
    ):
        assert WORD not in shown
        assert "<secret in environment MQVITALS_TOKEN>" in shown
    with pytest.raises(TypeError):
        json.dumps({"token": secret})
    with pytest.raises(TypeError, match="a secret is not pickled"):
        pickle.dumps(secret)
    with pytest.raises(TypeError, match="a secret is not pickled"):
        copy.deepcopy(secret)
    with pytest.raises(TypeError, match="a secret is not pickled"):
        asdict(holder)
    with pytest.raises(TypeError):
        vars(secret)


def test_secrets_are_equal_by_where_they_are_kept() -> None:
    """So that unchanged settings compare equal without looking into them."""
    one = Secret.in_file(LocatedText("a", Place("x.yaml")))
    assert one == Secret.in_file(LocatedText("a", Place("x.yaml")))
    assert hash(one) == hash(Secret.in_file(LocatedText("a", Place("x.yaml"))))
    assert one != Secret.in_file(LocatedText("b", Place("x.yaml")))
