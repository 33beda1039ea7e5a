"""Settings of a program of the site's own that is started for each notification."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from mqvitals_config.decoding.problem import LocatedText
from mqvitals_config.decoding.scalars import resolved_path
from mqvitals_config.decoding.schema import Doc, SecretFile
from mqvitals_config.receivers.receiver import ReceiverSettings

OWN_VARIABLES: Final = "MQVITALS_"
"""How the variables begin that mqvitals sets for the program."""

_VARIABLE = re.compile("[A-Za-z_][A-Za-z0-9_]*")


def argument(text: LocatedText) -> LocatedText:
    """An argument of a program; raises ValueError."""
    if "\0" in text:
        raise ValueError("an argument cannot hold the character of number 0")
    return text


def command_line(words: tuple[LocatedText, ...]) -> tuple[LocatedText, ...]:
    """``words`` with the path of the program in full; a relative one is beside the file. Raises ValueError."""
    if not words:
        raise ValueError("expected a program and its arguments, such as [/usr/local/bin/page, --team, mq]")
    program, *arguments = words
    if "/" not in program:
        raise ValueError(
            f"the program is named by its path, such as /usr/local/bin/{program}: it is not searched for, and no shell is used"
        )
    # It is started in another folder.
    path = str(Path(resolved_path(program)).absolute())
    return (LocatedText(path, program.place), *arguments)


def variable(text: str) -> str:
    """The name of an environment variable that a site sets; raises ValueError."""
    if not _VARIABLE.fullmatch(text):
        raise ValueError("a variable's name has letters, digits and underscores, and does not begin with a digit")
    if text.startswith(OWN_VARIABLES):
        raise ValueError(f"variables that begin with {OWN_VARIABLES} are set by mqvitals itself")
    return text


@dataclass(frozen=True, slots=True)
class CommandSettings(ReceiverSettings):
    """A program of the site's own, which gets each notification on its standard input."""

    command: Annotated[
        Annotated[tuple[Annotated[LocatedText, argument], ...], command_line],
        Doc(
            "The program by its path, and its arguments. No shell is used. A relative path is beside this file. Exit code 0:"
            " accepted; 75: try again."
        ),
    ] = field(kw_only=True)
    env: Annotated[
        Mapping[Annotated[str, variable], Annotated[LocatedText, argument]],
        Doc("Environment variables of your own for the program. Of the agent's it gets only `PATH`, `HOME` and `TZ`."),
    ] = field(default_factory=dict)
    env_files: Annotated[
        Mapping[Annotated[str, variable], SecretFile],
        Doc("The same for values that are secrets, each in a file that holds the value and nothing else."),
    ] = field(default_factory=dict)

    def __post_init__(self) -> None:
        twice = self.env.keys() & self.env_files.keys()
        if twice:
            raise ValueError(f"the variable {min(twice)} stands in env and in env_files")
        if self.template is not None:
            self.template.refuse_title()


def program_trouble(path: str) -> str | None:
    """Why the program at ``path`` is not started; None when it can be. It looks at the file, which may hang."""
    try:
        mode = Path(path).stat().st_mode
    except OSError as error:
        return f"{path} cannot be started: {error.strerror}"
    if not stat.S_ISREG(mode):
        return f"{path} is not a regular file"
    if mode & stat.S_IWOTH:
        return f"every user can write {path}, so it is not started; take that right away: chmod o-w {path}"
    if not os.access(path, os.X_OK):
        return f"{path} is not executable for the user {os.environ.get('USER') or os.geteuid()}: chmod +x {path}"
    return None
