"""``mqvitals completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import argparse

from mqvitals_agent.errors import ExitCode

_DESCRIPTION = """\
Writes the completion of commands, options and files for a shell:
  bash   mqvitals completion bash > ~/.local/share/bash-completion/completions/mqvitals
  zsh    mqvitals completion zsh > ~/.zfunc/_mqvitals        (a folder that is in fpath)
"""
_FILES = frozenset({"FILE", "PATH", "FOLDER"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``completion``."""
    parser.description = _DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=("bash", "zsh"), help="the shell that is to complete")


def run(arguments: argparse.Namespace) -> int:
    """Write the completion for ``arguments.whole``, the parser with all its commands; returns the exit code."""
    import shtab

    whole: argparse.ArgumentParser = arguments.whole
    _mark_files(whole, shtab.FILE)
    print(shtab.complete(whole, arguments.shell))
    return ExitCode.DONE


def _mark_files(parser: argparse.ArgumentParser, complete: object) -> None:
    """Let what takes a file be completed by the names of files."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                _mark_files(sub, complete)
        elif action.metavar in _FILES:
            action.complete = complete  # type: ignore[attr-defined]
