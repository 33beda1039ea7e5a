"""The Python packages that call the MQ client: which there are, which one is taken. Nothing of them is imported here."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Final

PACKAGES: Final = ("ibmmq", "pymqi")
"""In the order in which they are tried: IBM's is alive, and can do more."""

AUTO: Final = "auto"

INSTALL: Final = {
    "ibmmq": "install it with 'pip install mqvitals[ibmmq]', and IBM's MQ client (9.1 or later), whose libraries the loader must find",
    "pymqi": "install it with 'pip install mqvitals[pymqi]', which needs IBM's MQ client and its SDK to build",
}
"""What to do for a package that is not there."""


def is_installed(name: str) -> bool:
    """Whether Python finds a package of that name. Whether it can be used, only importing it tells."""
    return importlib.util.find_spec(name) is not None


def wished(preference: str) -> tuple[str, ...]:
    """The packages that the setting ``binding`` allows, in the order in which they are tried."""
    return PACKAGES if preference == AUTO else (preference,)


def taken(preference: str, installed: Callable[[str], bool] = is_installed) -> str | None:
    """The package that is tried first of those that are installed; None when none of them is."""
    return next((name for name in wished(preference) if installed(name)), None)
