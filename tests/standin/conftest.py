"""The stand-in built and the real bindings over it, each in a child process; skips where there is no compiler."""

from __future__ import annotations

import fcntl
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_FOLDER = str(Path(__file__).resolve().parent)
if _FOLDER not in sys.path:
    sys.path.insert(0, _FOLDER)

from mqstandin import library  # noqa: E402 - found through the line above
from mqstandin.control import StandInProcess  # noqa: E402
from mqstandin.driver import Driver  # noqa: E402
from mqstandin.orders import Orders  # noqa: E402
from mqstandin.server import StandIn, stand_in  # noqa: E402


@pytest.fixture(scope="session")
def native_library() -> Path:
    """The folder of libmqm_r.so and libmqic_r.so."""
    if library.compiler() is None:
        # A newcomer's machine may lack one.
        pytest.skip(library.NO_COMPILER)
    return library.build(_cache())


@pytest.fixture(scope="session")
def bindings(native_library: Path) -> library.Bindings:
    """The real bindings, installed once for all runs."""
    # Test processes begin at the same moment, and other checkouts may share the folder: one installs, the others wait.
    with (_cache() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return library.install_bindings(_cache(), native_library)


@pytest.fixture(scope="session", params=["ibmmq", "pymqi"])
def client(request: pytest.FixtureRequest, bindings: library.Bindings) -> Iterator[Driver]:
    """A child process with one of the real bindings; a test runs once with each."""
    binding: str = request.param
    bindings.require(binding)
    with Driver(binding, bindings) as driver:
        yield driver


@pytest.fixture
def group() -> Iterator[StandIn]:
    """Stand-in queue managers of a quiet group, in this process."""
    with stand_in("quiet", queues=400) as running:
        yield running


@pytest.fixture
def qm01(group: StandIn) -> Orders:
    """Orders to the queue manager QM01."""
    return group.at("QM01")


@pytest.fixture
def address(group: StandIn) -> str:
    """The connection name of QM01."""
    return group.address("QM01")


@pytest.fixture
def apart() -> Iterator[StandInProcess]:
    """The same in a process of its own."""
    with StandInProcess("--only", "QM01", "--only", "QM02") as running:
        yield running


def _cache() -> Path:
    named = os.environ.get("MQVITALS_STANDIN_CACHE")
    folder = Path(named) if named else Path(tempfile.gettempdir()) / f"mqvitals-standin-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
