"""``mqvitals help`` and ``completion``, and the manual page."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.cli.reference.help_topic import as_text, topics
from mqvitals_agent.commandline.runner import COMMANDS, main
from mqvitals_agent.text.terminal import cells

SOURCES = Path(__file__).parents[4]
PAGE = """\
<!-- made by
a program -->
# A page

Words of a **paragraph** with `a | code`, [another page](agent.md#the-log), [a place](#here)
and [a site](https://www.example.com/x).

![a picture](overview.svg)

| Key | Default | Meaning |
|---|---|---|
| `one` | 1 | what it `does \\| is` |
| two | | nothing |

- an item
  that goes on
- another
  1. nested

```sh
mqvitals   status    | cat
```

### Deep
    as it stands
"""
TEXT = """\
A page
======

Words of a paragraph with a | code, another page (mqvitals help agent), a
place and a site (https://www.example.com/x).

one
    Default: 1
    Meaning: what it does | is
two
    Meaning: nothing

- an item that goes on
- another
  1. nested

    mqvitals   status    | cat

Deep

    as it stands
"""


def test_a_page_as_text() -> None:
    """Headings, prose, tables, lists, code and links; pictures and comments go."""
    assert re.sub("\n\n+", "\n\n", "\n".join(as_text(PAGE, 76))).strip() == TEXT.strip()


@given(st.text(alphabet="a b|`*#-[]()\n!<>1.", max_size=300))
def test_any_text_is_shown(text: str) -> None:
    """Nothing fails, whatever marks are left open."""
    assert all("\n" not in line for line in as_text(text, 60))


@pytest.mark.parametrize("name", sorted(topics()))
def test_every_page_fits(name: str) -> None:
    """Each page of the documentation as text: nothing but code is wider than the terminal, and no mark is left."""
    lines = list(as_text(topics()[name].read_text("utf-8"), 80))
    assert len(lines) > 10
    wide = [line for line in lines if cells(line) > 80 and not line.startswith("    ")]
    assert [line for line in wide if " " in line.strip()] == []
    prose = [line for line in lines if not line.startswith("    ")]
    assert not [line for line in prose if re.search(r"\]\([^)]*\.md|^```|^\|", line)]


def test_the_pages_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """By name and title; each can be shown, also by the name of its file."""
    assert main(["help"]) == 0
    listed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert set(listed) == {path.stem for path in (SOURCES / "docs").glob("*.md")}
    assert listed["agent"] == "Running the agent"
    assert main(["help", "agent"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("Running the agent\n=====")
    assert main(["help", "docs/agent.md"]) == 0
    assert capsys.readouterr().out == shown


def test_on_a_terminal_it_is_paged(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Only there."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    paged: list[str] = []
    monkeypatch.setattr("pydoc.pager", paged.append)
    assert main(["help", "who"]) == 0
    assert (paged, capsys.readouterr().out != "") == ([], True)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert main(["help", "who"]) == 0
    assert len(paged) == 1


def test_a_page_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A near one is suggested; a command's name leads to its own help."""
    assert main(["help", "agnt"]) == 2
    assert "did you mean agent" in capsys.readouterr().err.replace("'", "")
    assert main(["help", "status"]) == 2
    assert "'mqvitals status --help'" in capsys.readouterr().err


def test_pages_that_are_named_are_there() -> None:
    """Hints, help texts and the example name pages that exist; none names a file of the sources."""
    named = set()
    for path in [
        *(SOURCES / "config").rglob("*.py"),
        *(SOURCES / "agent").rglob("*.py"),
        *(SOURCES / "tui").rglob("*.py"),
    ]:
        named |= set(re.findall(r"mqvitals help ([\w-]+)", path.read_text("utf-8")))
    named |= set(re.findall(r"mqvitals help ([\w-]+)", (SOURCES / "config/mqvitals.example.yaml").read_text("utf-8")))
    assert named - {"PAGE"} <= set(topics())
    assert len(named) > 5


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A script that the shell can read, with every command and its options."""
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(command.name in script for command in COMMANDS)
    assert "--severity" in script
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=script, text=True, check=True, timeout=60)


def test_bash_completes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A command from its beginning, an option of a command, a file where one is wanted."""
    bash = shutil.which("bash")
    if bash is None:
        # The script is bash's own language: nothing else can say what it completes.
        pytest.skip("bash is not there")
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    (tmp_path / "store.db").touch()
    function = re.findall(r"complete .*-F (\S+) mqvitals-agent", script)[-1]

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        run = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; {function}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        done = subprocess.run([bash, "-c", run], capture_output=True, text=True, check=True, timeout=60, cwd=tmp_path)
        return done.stdout.split()

    assert completed("mqvitals-agent", "stat") == ["status"]
    assert "--json" in completed("mqvitals-agent", "status", "--j")
    assert completed("mqvitals-agent", "status", "--store", "sto") == ["store.db"]
