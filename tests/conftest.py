"""What every test may use: the folder of shared sample data, when it is there."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "project",
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("soak", parent=settings.get_profile("project"), max_examples=2_000)
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of recordings and SMF samples: named by MQVITALS_SHARED_DATA, else beside the checkout."""
    named = os.environ.get("MQVITALS_SHARED_DATA")
    folder = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no sample data at {folder}; name the folder with MQVITALS_SHARED_DATA")
    return folder


@pytest.fixture
def ordinary_user() -> Callable[[], AbstractContextManager[None]]:
    """Within ``with ordinary_user():`` the rights of files count, also when the tests run as root, who may read everything.

    What the code under test imports must be imported before: the other user may not see this Python's folder.
    """
    return _as_nobody if os.geteuid() == 0 else nullcontext


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may enter, which pytest's own is not: what may not be read in it is the file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


@pytest.fixture
def answering() -> Callable[..., AbstractContextManager[None]]:
    """Within ``with answering(store, answer, now):`` questions put into the store are answered as an agent would.

    ``answer`` makes the text of an object's name, or None for no answer; ``now`` is the clock of those who ask.
    """
    return _answering


@contextmanager
def _answering(path: Path, answer: Callable[[Any], str | None], now: Callable[[], int]) -> Iterator[None]:
    from mqvitals_agent.store.writer import Store

    begun, done = threading.Event(), threading.Event()

    def work() -> None:
        with Store.open(path) as store:
            begun.set()
            while not done.wait(0.005):
                for wish in store.wishes(now()):
                    text = answer(wish.object)
                    if text is not None:
                        store.answer_wishes([wish.id], text, now())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert begun.wait(30)
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def _as_nobody() -> Iterator[None]:
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
