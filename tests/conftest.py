"""What every test shares: a fixed environment, golden files, examples of property tests, and helpers for stores."""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import threading
import time
from asyncio import AbstractEventLoop
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings

_SAMPLES = str(Path(__file__).resolve().parent / "samples")
if _SAMPLES not in sys.path:
    sys.path.insert(0, _SAMPLES)

from mqsamples.once import Once  # noqa: E402 - found through the line above
from mqvitals_agent.clock import VirtualLoop  # noqa: E402

EXAMPLE = Path(__file__).resolve().parents[1] / "config" / "mqvitals.example.yaml"
RENEW = "--renew-goldens"
REQUIRE_ALL = "MQVITALS_REQUIRE_ALL"
"""Set in the environment, as CI does, a test that is skipped fails, unless it is one of ``EXPECTED_SKIPS``."""
SWITCHES = {
    "MQVITALS_ALERTMANAGER",
    "MQVITALS_AMTOOL",
    "MQVITALS_GRAFANA_SCHEMA",
    "MQVITALS_INSTALLED",
    "MQVITALS_PROMETHEUS",
    "MQVITALS_PROMTOOL",
    REQUIRE_ALL,
    "MQVITALS_STANDIN_CACHE",
    "MQVITALS_VICTORIA_METRICS",
}
"""Variables that steer the tests, not the programs under test."""
EXPECTED_SKIPS = {
    "tests/agent/alerting/test_amtool.py": "amtool is built with Go",
    "tests/agent/cli/group/test_export_parquet.py": "pyarrow is an extra",
    "tests/agent/cli/config/test_fleet_page.py::test_amtool_takes_those_of_alertmanager": "amtool is built with Go",
    "tests/agent/cli/config/test_fleet_page.py::test_promtool_takes_those_of_prometheus": "promtool is built with Go",
    "tests/agent/dashboards/test_grafana_schema.py": "the judge of Grafana's schema is built with Go",
    "tests/agent/notify/test_real_alertmanager.py": "alertmanager is built with Go",
    "tests/agent/cli/rules/test_rules_export.py::test_promtool_finds_nothing": "promtool is built with Go",
    "tests/agent/promql/test_agreement.py": "promtool is built with Go",
    "tests/e2e/test_dashboards.py::test_every_query_answers": "prometheus comes with a package of Debian",
    "tests/e2e/test_dashboards.py::test_queries_of_records_answer": "prometheus comes with a package of Debian",
    "tests/e2e/test_imports.py::test_the_wheel_is_what_is_tested": "it runs in .ci/wheel, where the sources are away",
    "tests/e2e/test_prometheus.py::test_an_engine_is_filled_with_the_past": "prometheus comes with a package of Debian",
    "tests/e2e/test_prometheus.py::test_prometheus_scrapes_the_agent_and_shows_it_up": "prometheus comes with a package of Debian",
    "tests/e2e/test_prometheus.py::test_promtool_finds_nothing_but_three_inherited_names": "promtool is built with Go",
    "tests/e2e/test_remote_write_sites.py::test_three_sites_on_one_engine[prometheus]": "prometheus comes with a package of Debian",
    "tests/e2e/test_remote_write_sites.py::test_three_sites_on_one_engine[victoria-metrics]": "it comes with a package of Debian",
    "tests/rules/lifecycle/test_prometheus.py": "promtool is built with Go",
}
"""The tests that CI need not run, and why."""
FOREIGN = (
    "CLICOLOR", "COLORTERM", "FORCE_COLOR", "LANGUAGE", "LC_", "MQ", "NO_COLOR", "PYTHONDONTWRITEBYTECODE", "PYTHONIOENCODING",
    "PYTHONUTF8", "TEXTUAL",
)  # fmt: skip
"""How the names of variables begin that no test inherits."""
_Report = TypeVar("_Report", pytest.TestReport, pytest.CollectReport)
ENVIRONMENT = {"COLUMNS": "80", "LINES": "24", "TERM": "xterm-256color", "TZ": "UTC", "LANG": "C.UTF-8"}
# No configuration file is looked for: the developer's own must not decide a test.
ENVIRONMENT["MQVITALS_CONFIG_PATH"] = ""
# Agents of tests that run side by side would fight for the port; a test of the server names one of its own.
ENVIRONMENT["MQVITALS_LISTEN"] = "off"

# Draws the same examples everywhere, so that what passed once passes again; "soak" is the profile that searches further.
settings.register_profile(
    "project",
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.register_profile("soak", parent=settings.get_profile("project"), max_examples=2_000, derandomize=False)
settings.load_profile("project")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(RENEW, action="store_true", help="write the golden files anew instead of comparing with them")


def pytest_sessionstart(session: pytest.Session) -> None:
    """The shipped packs are read and compiled once, not by each of the thousands of commands that tests run.

    It begins before the tests are collected: modules of tests read packs too.
    """
    from mqsamples.shipped import remember

    patch = pytest.MonkeyPatch()
    remember(patch)
    session.config.add_cleanup(patch.undo)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests and cases with the marker ``soak`` run in ``make soak`` only."""
    if _is_soak(config):
        return
    left_out = [item for item in items if item.get_closest_marker("soak")]
    if left_out:
        items[:] = [item for item in items if not item.get_closest_marker("soak")]
        config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that is skipped fails where all must run."""
    return _without_skip((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """So does a module."""
    return _without_skip((yield))


def _without_skip(report: _Report) -> _Report:
    """The report, as of a failure where a skip is not expected: what a machine lacks must not go unnoticed in CI."""
    expected = hasattr(report, "wasxfail") or report.nodeid in EXPECTED_SKIPS
    if report.skipped and not expected and os.environ.get(REQUIRE_ALL):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"{REQUIRE_ALL} is set, and this cannot run: {reason}"
    return report


def pytest_collection_finish() -> None:
    """Modules and thousands of collected tests stay to the end: the garbage collector need not look at them again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _is_soak(config: pytest.Config) -> bool:
    return bool(config.getoption("--hypothesis-profile") == "soak")


@pytest.fixture(scope="session", autouse=True)
def fixed_environment() -> Iterator[None]:
    """The same environment for every test and its subprocesses, whatever terminal, locale or time zone runs them.

    No variable of mqvitals is set but the one that keeps the developer's own configuration out. A test about the width of a
    terminal, colours or a time zone sets the variable itself. Signals that the caller ignores (``nohup``, a shell's background
    job) are not ignored here, because subprocesses inherit that.
    """
    if threading.current_thread() is threading.main_thread():
        for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
            if signal.getsignal(number) == signal.SIG_IGN:
                signal.signal(number, handler)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(FOREIGN) and name not in SWITCHES:
                patch.delenv(name)
        for name, value in ENVIRONMENT.items():
            patch.setenv(name, value)
        time.tzset()
        yield
    time.tzset()


@pytest.fixture(scope="session", autouse=True)
def new_stores() -> Iterator[None]:
    """New stores begin as copies of one, not each with the hundreds of statements that make its tables."""
    from mqsamples.stored import make_tables_once

    with pytest.MonkeyPatch.context() as patch:
        make_tables_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def no_progress() -> Iterator[None]:
    """Commands take no time by the clock of their progress: how busy the machine is must not decide what they print."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mqvitals_agent.commandline.progress.steady_s", lambda: 0.0)
        yield


@pytest.fixture(scope="session")
def example_settings() -> str:
    """The example configuration with every setting in it live, as its first lines say: one # is taken away."""
    lines = EXAMPLE.read_text("utf-8").splitlines()
    return "\n".join(
        line.removeprefix("#") if (line.startswith("#") and line[1:2] != " ") or line.startswith("#  ") else line
        for line in lines
    )


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], str]:
    """Compares a text with a golden file: ``golden(path, text)`` is the first difference, or an empty string.

    With ``--renew-goldens`` the file is written anew instead: read ``git diff`` before you commit it.
    """
    renew = request.config.getoption(RENEW)

    def difference(path: Path, text: str) -> str:
        if renew:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        if not path.exists():
            return f"{path}: there is no such file; make it with {RENEW}"
        expected, got = path.read_text("utf-8"), text
        if expected == got:
            return ""
        pairs = zip_longest(expected.split("\n"), got.split("\n"), fillvalue="(nothing)")
        number, (want, have) = next((at, pair) for at, pair in enumerate(pairs, start=1) if pair[0] != pair[1])
        return f"{path}:{number}:\n  golden {want}\n  now    {have}"

    return difference


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], AbstractEventLoop]]:
    """Coroutine tests run on a loop that moves a virtual clock; without such a clock in the test it is a usual one."""
    return {"virtual": VirtualLoop}


@pytest.fixture(scope="session")
def soak(request: pytest.FixtureRequest) -> bool:
    """True in ``make soak``, where tests may be long."""
    return _is_soak(request.config)


@pytest.fixture(scope="session")
def built_once(tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Expensive samples, built once for all workers: ``built_once.built(name, build)``."""
    return Once(tmp_path_factory)


@pytest.fixture(scope="session")
def recordings(built_once: Once) -> Callable[[str], Path]:
    """Recordings of a simulated group of four queue managers: ``quiet``, 200 s, and ``incident``, 200 s full of trouble.

    Of the first each cycle is 10 s long, of the second 5 s. These files must not be changed.
    """

    def recording(name: str) -> Path:
        from mqsamples.group import EVERYTHING, batches, write_recording
        from mqvitals_agent.simulator.scenario import load_scenario

        scenario, every_ms = {"quiet": (load_scenario("quiet"), 10_000), "incident": (EVERYTHING, 5_000)}[name]

        def build(path: Path) -> None:
            write_recording(path, scenario, batches(scenario, 200_000, every_ms, connected=True), every_ms)

        return built_once.built(f"recording-{name}.jsonl.gz", build)

    return recording


@pytest.fixture(scope="session")
def replayed(recordings: Callable[[str], Path], built_once: Once) -> Callable[[str], Path]:
    """Stores into which those recordings were replayed, by name. They must not be changed, and are opened as copies only."""

    def store(name: str) -> Path:
        from mqvitals_agent.commandline.runner import main

        def build(path: Path) -> None:
            assert main(["replay", str(recordings(name)), "--speed", "max", "--store", str(path)]) == 0

        return built_once.built(f"replayed-{name}.db", build)

    return store


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
            while not done.wait(0.05):
                for wish in store.requests.waiting(now()):
                    text = answer(wish.object)
                    if text is not None:
                        store.requests.answer([wish.id], text, now())

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
