"""What is imported when: the agent never loads the terminal toolkit, and a command loads only what it needs."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest


def loaded(code: str) -> set[str]:
    """The modules that are loaded after ``code`` has run in a fresh Python."""
    program = f"import sys\n{code}\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.splitlines()} | set(done.stdout.splitlines())


def test_the_agent_knows_no_toolkit() -> None:
    """Every module of the agent can be imported without textual or rich being loaded."""
    code = """
import pkgutil, importlib, mqvitals_agent
for module in pkgutil.walk_packages(mqvitals_agent.__path__, "mqvitals_agent."):
    importlib.import_module(module.name)
"""
    found = loaded(code)
    assert "mqvitals_agent.cli.recordings.replay" in found
    assert not found & {"textual", "rich", "pymqi", "ibmmq"}


def test_help_is_light() -> None:
    """The command line without a command loads neither YAML, SQLite, the vocabulary nor asyncio."""
    code = "from mqvitals_tui.main import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass"
    assert not loaded(code) & {
        "yaml",
        "sqlite3",
        "sqlite_utils",
        "asyncio",
        "textual",
        "mqvitals_rules",
        "mqvitals_config",
    }


def test_reading_needs_no_sqlite_utils() -> None:
    """sqlite-utils is imported where a schema is made, not where a store is read."""
    assert "sqlite_utils" not in loaded("import mqvitals_agent.store.reader, mqvitals_agent.cli.group.status")


def test_an_agent_that_notifies_nobody_needs_no_client() -> None:
    """Clients of HTTP and of mail servers are imported where a receiver is made."""
    assert not {"aiohttp", "aiosmtplib"} & loaded("import mqvitals_agent.service.run, mqvitals_agent.cli.agent")


# In a checkout the sources are what is imported; .ci/wheel runs this where they are away.
@pytest.mark.skipif(
    "MQVITALS_INSTALLED" not in os.environ, reason="only where the wheel is installed and the sources are away"
)
def test_the_wheel_is_what_is_tested() -> None:
    """Every package comes from site-packages; the packs came with it, and as they were decoded."""
    import mqvitals_agent
    import mqvitals_config
    import mqvitals_rules
    import mqvitals_tui
    from mqvitals_rules.ruleset.decoded_packs import decoded
    from mqvitals_rules.ruleset.pack import shipped_packs

    site = Path(sysconfig.get_paths()["purelib"])
    for package in (mqvitals_agent, mqvitals_config, mqvitals_rules, mqvitals_tui):
        assert Path(str(package.__file__)).is_relative_to(site)
    assert (site / "mqvitals_rules" / "packs" / "buffer_pools.yaml").is_file()
    assert decoded(shipped_packs())


def test_what_is_quick_needs_no_meter() -> None:
    """The library of bars is imported with the first of them, not with a command that might show one."""
    code = (
        "from mqvitals_agent.commandline.progress import Progress\n"
        "import mqvitals_agent.cli.smf.dump, mqvitals_agent.cli.store.backup\n"
        "with Progress() as progress:\n    progress.begin('copying', 2)\n    progress.at(1)"
    )
    assert not {"tqdm", "sqlite3", "concurrent.futures"} & loaded(code)
