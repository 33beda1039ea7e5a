"""The binding packages from outside: none there, a broken one, and how their calls are made and their errors told."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from mqvitals_agent.commandline import runner as cli
from mqvitals_agent.connection.binding import PACKAGES
from mqvitals_agent.connection.link import BindingError, MqiError, OpenQueue, RouteError
from mqvitals_agent.connection.mqi import load_binding
from mqvitals_agent.connection.mqi_link import PutTime, ascii_field, text_field
from mqvitals_agent.connection.route import CommandRoute

PACKAGE = """
from . import ibmmqc

class Error(Exception): pass
class MQMIError(Error):
    def __init__(self, comp, reason):
        self.comp, self.reason = comp, reason
class PYIFError(Error): pass

class Structure:
    def __init__(self, **fields):
        self.Version = 1
        self.__dict__.update(fields)
    def pack(self): return bytes(364)
    def unpack(self, data): pass
CD = SCO = MD = OD = GMO = PMO = CNO = Structure

class QueueManager:
    def __init__(self, name): pass
    def connect_with_options(self, name, **options):
        if ibmmqc.connecting: raise ibmmqc.connecting
    def get_handle(self): return 7
    def inquire(self, selector): raise MQMIError(2, 2035)
    def disconnect(self): raise PYIFError('not connected')
"""
C_MODULE = """
class error(Exception): pass
connecting = None
made = []
def MQOPEN(connection, descriptor, options):
    made.append(('MQOPEN', connection, options))
    return 11, descriptor, 0, 0
def MQCLOSE(connection, handle, options):
    made.append(('MQCLOSE', connection, handle, options))
    return 0, 0
def MQINQ(connection, handle, selector):
    made.append(('MQINQ', connection, handle, selector))
    return (12, 0, 0) if handle == 11 else (0, 2, 2038)
waiting = []
def MQGET(connection, handle, descriptor, options, size):
    if waiting:
        made.append(('MQGET', handle, int.from_bytes(options[8:12], 'little'), size))
        return waiting.pop(0)
    raise error('MQMD wrong size. Given: 364, expected 400')
"""


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Writes packages of the names given, each with the text of its modules; neither is there before."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name: str, **modules: str) -> None:
        (tmp_path / name).mkdir()
        for module, text in modules.items():
            (tmp_path / name / f"{module}.py").write_text(text)
        importlib.invalidate_caches()

    yield write
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"ibmmq", "pymqi"}:
            del sys.modules[name]


WITHOUT_BINDINGS = f"""
import sys
from importlib.machinery import PathFinder


class Without(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in {PACKAGES!r} else PathFinder.find_spec(name, path, target)


sys.meta_path[:] = [Without if each is PathFinder else each for each in sys.meta_path]
"""
"""For a Python that finds neither package, whatever is installed."""


def test_without_either_binding(tmp_path: Path) -> None:
    """One sentence says what is missing and what to install; exit code 2, no traceback, for the agent and for doctor."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT_BINDINGS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MQ")}
    environment["PYTHONPATH"] = os.pathsep.join([str(tmp_path), *sys.path])
    path = tmp_path / "mqvitals.yaml"
    way = {"channel": "C", "connection_names": ["h(1414)"]}
    store = {"path": str(tmp_path / "s.db")}
    path.write_text(json.dumps({"store": store, "queue_managers": [{"name": "QM01", "connection": way}]}))
    for command in ("agent", "doctor"):
        done = subprocess.run(
            [sys.executable, "-m", cli.__name__, command, "--config", str(path)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2, done.stderr
        said = done.stderr.splitlines()[0]
        assert "no connection to queue managers without ibmmq or pymqi" in said
        assert "install it with 'pip install mqvitals[ibmmq]'" in said
        assert "Traceback" not in done.stderr


def test_the_first_cause_is_told(packages: Callable[..., None]) -> None:
    """ibmmq hides the missing library behind a second import that fails for another reason."""
    hiding = "try:\n    raise ImportError('libmqm_r.so: cannot open shared object file')\nexcept ImportError:\n    import nowhere_at_all\n"
    packages("ibmmq", __init__=hiding)
    with pytest.raises(BindingError, match=r"ibmmq: libmqm_r\.so: cannot open.*it is installed, and needs") as told:
        load_binding("ibmmq")
    assert "nowhere_at_all" not in str(told.value)


@pytest.mark.parametrize(
    "broken", ["raise SystemError('initialization failed')", "import sys; sys.nothing", "def", "", "error = 1 / None"]
)
def test_a_broken_package_is_no_traceback(packages: Callable[..., None], broken: str) -> None:
    """Whatever it does while it is imported; also when it is another package of that name."""
    packages("ibmmq", __init__=broken, ibmmqc="")
    with pytest.raises(BindingError, match="without ibmmq"):
        load_binding("ibmmq")


def test_auto_goes_on_to_the_next(packages: Callable[..., None]) -> None:
    """A broken one does not hide the other."""
    packages("ibmmq", __init__="raise ImportError('no library')")
    packages("pymqi", __init__=PACKAGE.replace("ibmmqc", "pymqe"), pymqe=C_MODULE)
    assert load_binding().name == "pymqi"
    assert load_binding().version == "of an unknown version"


def test_the_search_path_is_as_it_was(packages: Callable[..., None], tmp_path: Path) -> None:
    """Also when the import fails half way."""
    before = list(sys.path)
    packages("ibmmq", __init__="import sys; sys.path.insert(0, '/somewhere'); raise ImportError('later')")
    with pytest.raises(BindingError):
        load_binding("ibmmq")
    assert sys.path == before


@pytest.fixture
def binding(packages: Callable[..., None]) -> Any:
    """A package that does as the test wants, loaded."""
    packages("ibmmq", __init__=PACKAGE, ibmmqc=C_MODULE)
    return load_binding("ibmmq")


def calls() -> Any:
    """The C module of that package."""
    return sys.modules["ibmmq.ibmmqc"]


def test_what_is_no_reason_of_mq_is_told(binding: Any) -> None:
    """A structure of the wrong size, at connect or later, is 2195 with what the package says."""
    calls().connecting = calls().error("MQCD wrong size")
    with pytest.raises(MqiError) as failed:
        binding.connect(CommandRoute("QM01", "C", "h(1414)"))
    assert (failed.value.call, failed.value.reason, failed.value.detail) == ("MQCONNX", 2195, "MQCD wrong size")
    calls().connecting = None
    link = binding.connect(CommandRoute("QM01", "C", "h(1414)"))
    with pytest.raises(MqiError) as failed:
        link.get(OpenQueue(1, "Q"), None, 0, 10)
    assert (failed.value.call, failed.value.reason) == ("MQGET", 2195)
    assert "wrong size" in failed.value.detail


def test_a_refused_inquiry_has_its_reason(binding: Any) -> None:
    """And ending the connection raises nothing, though the package does."""
    link = binding.connect(CommandRoute("QM01", "C", "h(1414)"))
    with pytest.raises(MqiError) as failed:
        link.inquire([2015])
    assert (failed.value.call, failed.value.comp, failed.value.reason) == ("MQINQ", 2, 2035)
    link.disconnect()


def test_a_queue_of_our_own_making_is_deleted(binding: Any) -> None:
    """A model may make permanent queues: without MQCO_DELETE_PURGE each reconnect would leave one behind."""
    link = binding.connect(CommandRoute("QM01", "C", "h(1414)"))
    made, there = link.open_queue("MY.MODEL", 4, "MQVITALS.*"), link.open_queue("MY.QUEUE", 2)
    link.close(made)
    link.close(there)
    assert [call[3] for call in calls().made if call[0] == "MQCLOSE"] == [2, 0]


def test_a_name_that_cannot_be_one_is_refused(binding: Any) -> None:
    """Before MQ would look for a queue whose name is its beginning."""
    link = binding.connect(CommandRoute("QM01", "C", "h(1414)"))
    with pytest.raises(RouteError, match="the name of a queue is 49 bytes long, and MQ takes 48"):
        link.open_queue("Q" * 49, 2)


def test_fields_hold_as_much_as_they_are_long() -> None:
    """The length is that of the bytes."""
    assert ascii_field("ABC", 3, "it") == b"ABC"
    assert text_field("ä", 2, "it") == b"\xc3\xa4"
    assert text_field("\udcff", 1, "it") == b"\xff"
    with pytest.raises(RouteError, match="it is 2 bytes long, and MQ takes 1"):
        text_field("ä", 1, "it")
    with pytest.raises(RouteError, match="zero byte"):
        ascii_field("A\0B", 9, "it")


@pytest.mark.parametrize(
    ("digits", "moment"),
    [
        (b"2026112012000042", 1795176000420),
        (b"2026112012000199", 1795176001990),
        (b"                ", None),
        (b"2026113112000042", None),
        (b"20261120120000  ", None),
        (b"20261120120000", None),
        (bytes(16), None),
    ],
)
def test_put_times(digits: bytes, moment: int | None) -> None:
    """Greenwich mean time with hundredths; what is none is not known, and does not stay for the next message."""
    times = PutTime()
    assert times.moment(digits) == times.moment(digits) == moment
    assert times.moment(b"2026112012000042") == 1795176000420


def test_headers_are_browsed_and_no_body_is_read(binding: Any) -> None:
    """First, then next, no conversion, truncated on purpose; of another format nothing is kept."""
    link = binding.connect(CommandRoute("QM01"))
    package = calls()
    descriptor = bytearray(364)
    descriptor[24:32] = (785).to_bytes(4, "little") + (500).to_bytes(4, "little")
    descriptor[304:320] = b"2026112009120050"
    dead, other = bytes(descriptor), bytes(descriptor)
    dead = dead[:32] + b"MQDEAD  " + dead[40:]
    other = other[:32] + b"MQSTR   " + other[40:]
    package.waiting += [
        (b"x" * 172, dead, b"", 900, 1, 2079),
        (b"secret", other, b"", 6, 0, 0),
        (b"", other, b"", 0, 2, 2033),
    ]
    queue = OpenQueue(11, "DLQ")
    assert link.depth(queue) == 12
    found = link.browse(queue, 172, first=True, format_="MQDEAD  ")
    assert (found.data, found.encoding, found.ccsid) == (b"x" * 172, 785, 500)
    assert link.browse(queue, 172, first=False, format_="MQDEAD  ").data == b""
    with pytest.raises(MqiError) as failed:
        link.browse(queue, 172, first=False, format_="MQDEAD  ")
    assert failed.value.reason == 2033
    asked = [call for call in package.made if call[0] == "MQGET"]
    assert [call[2] for call in asked] == [4 | 8192 | 16 | 64, 4 | 8192 | 32 | 64, 4 | 8192 | 32 | 64]
    assert {call[3] for call in asked} == {172}
    with pytest.raises(MqiError, match="MQINQ"):
        link.depth(OpenQueue(99, "DLQ"))


def test_events_are_browsed_by_identifier_and_got_in_a_unit_of_work(
    binding: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message that is looked for is in the descriptor; what comes has its identifiers; MQCMIT and MQBACK end it."""
    link = binding.connect(CommandRoute("QM01"))
    package = calls()
    wanted, correlation = b"M" * 24, b"C" * 24
    descriptor = bytearray(364)
    descriptor[24:32] = (785).to_bytes(4, "little") + (500).to_bytes(4, "little")
    descriptor[32:40], descriptor[48:72], descriptor[72:96] = b"MQEVENT ", wanted, correlation
    asked: list[tuple[bytes, int, int]] = []

    def number(options: bytes, at: int) -> int:
        return int.from_bytes(options[at : at + 4], "little")

    def get(connection: int, handle: int, given: bytes, options: bytes, size: int) -> tuple[object, ...]:
        asked.append((given[48:72], number(options, 8), number(options, 72)))
        return b"event", bytes(descriptor), b"", 5, 0, 0

    ended: list[str] = []

    def commit(connection: int) -> tuple[int, int]:
        ended.append("MQCMIT")
        return 0, 0

    monkeypatch.setattr(package, "MQGET", get)
    monkeypatch.setattr(package, "MQCMIT", commit, raising=False)
    monkeypatch.setattr(package, "MQBACK", lambda connection: (2, 2003), raising=False)
    queue = OpenQueue(11, "EVENTS")
    for found in (
        link.browse(queue, 100, first=True, format_="MQEVENT ", message_id=wanted),
        link.browse(queue, 100, first=False, format_="MQEVENT "),
        link.get(queue, None, 0, 100, syncpoint=True),
    ):
        assert (found.data, found.message_id, found.correlation_id) == (b"event", wanted, correlation)
    assert link.get(queue, None, 0, 100).message_id == b"", "of replies they are not kept"
    assert asked == [
        (wanted, 4 | 8192 | 16 | 64, 1),
        (bytes(24), 4 | 8192 | 32 | 64, 0),
        (bytes(24), 2 | 8192, 0),
        (bytes(24), 4 | 8192, 0),
    ]
    link.commit()
    assert ended == ["MQCMIT"]
    with pytest.raises(MqiError) as failed:
        link.back_out()
    assert (failed.value.call, failed.value.reason) == ("MQBACK", 2003)
