"""Problems as a person reads them."""

from __future__ import annotations

import pytest

from mqvitals_config.decoding.problem import Place, Problem
from mqvitals_config.decoding.source import explained


def one(line: int, column: int, text: str) -> list[str]:
    """The lines that explain one problem."""
    return explained([Problem(Place("x.yaml", line, column), "key", "is wrong")], lambda _: text).split("\n")


def test_the_caret_is_under_the_spot() -> None:
    """Counting characters from 1, and cells of the terminal for wide ones."""
    assert one(2, 5, "a: 1\nb:  c d") == ["x.yaml:2:5: key: is wrong", "    2 | b:  c d", "            ^"]
    assert one(1, 4, "本番: x") == ["x.yaml:1:4: key: is wrong", "    1 | 本番: x", "             ^"]
    assert one(1, 2, "\tx") == ["x.yaml:1:2: key: is wrong", "    1 |  x", "         ^"]


def test_lines_end_where_yaml_says() -> None:
    """Every kind of line end counts."""
    text = "a\r\nb\rc\x85d\u2028e\u2029f\ng"
    assert [one(line, 1, text)[1] for line in range(1, 8)] == [
        f"    {number} | {word}" for number, word in enumerate("abcdefg", 1)
    ]


def test_a_long_line_is_cut_around_the_spot() -> None:
    """The caret stays on the screen."""
    _sentence, line, caret = one(1, 5000, "x" * 4999 + "Y" + "x" * 5000)
    assert len(line) <= 110
    assert line[caret.index("^")] == "Y"


def test_problems_without_a_line_are_their_sentence() -> None:
    """Also when the line is not in the file, or the file cannot be had."""
    assert one(0, 0, "a") == ["x.yaml: key: is wrong"]
    assert one(7, 1, "a") == ["x.yaml:7:1: key: is wrong"]
    assert explained([Problem(Place("/no/such/file", 1, 1), "", "is wrong")]) == "/no/such/file:1:1: is wrong"


def test_nothing_steers_the_terminal() -> None:
    """Control characters of the file, its name and the message are made visible."""
    shown = explained([Problem(Place("x\x1b[2J", 1, 3), "k\x07", "m\x9b")], lambda _: "a\x1b[2Jb\u202e")
    assert all(char.isprintable() or char == "\n" for char in shown)


def test_each_file_is_read_once() -> None:
    """Many problems in a file do not read it again."""
    asked: list[str] = []

    def source(path: str) -> str:
        asked.append(path)
        return "a\nb"

    explained([Problem(Place("x.yaml", line, 1), "", "is wrong") for line in (1, 2, 1)], source)
    assert asked == ["x.yaml"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\npassword: hunter2 # x\n", 2),
        ("{user: a, password: hunter2, bad: 1}\n", 1),
        ('"token" : "hunter2"\n', 1),
        ("token:\n  hunter2\n", 2),
        ("api_key: |\n  hunter2\n", 2),
        ("store_password: hunter2\n", 1),
    ],
)
def test_a_password_is_not_shown(text: str, line: int) -> None:
    """Where somebody wrote one into the file, in whatever form: of its line the key alone is shown."""
    shown = explained([Problem(Place("x.yaml", line, 3), "", "unknown key")], lambda _: text)
    assert "hunter2" not in shown
    assert "*******" in shown


def test_where_a_password_is_kept_is_shown() -> None:
    text = "password_file: /etc/pw\npassword_variable: PW\n"
    for line, kept in ((1, "/etc/pw"), (2, "PW")):
        assert kept in explained([Problem(Place("x.yaml", line, 1), "", "no")], lambda _: text)
