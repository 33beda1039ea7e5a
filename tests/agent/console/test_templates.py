"""The templates of console messages: inserts and object of each text that the reference has, and of hostile ones."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqvitals_agent.console.message import MOST_TEXT, JoinedMessage, MessageReader
from mqvitals_agent.console.template import TEMPLATES, inserts, named_object
from mqvitals_config.settings import Settings
from mqvitals_rules.ruleset.config import load_rule_config
from mqvitals_rules.snapshot import is_object_name
from mqvitals_rules.vocabulary.tables import KINDS

NET = "channel QM01.TO.QM02 connection mvs1 (10.1.2.3) (queue manager QM02) TRPTYPE=TCP RC=00000461"
UOW = "URID=0000000001A2 connection name=PAYBATCH"
SMDS = "SMDS(QM01) CFSTRUCT(APPL1)"
SMDSCONN = "SMDSCONN(QM02) CFSTRUCT(APPL1)"
STORAGE = "storage usage: local storage: used 1700MB, free 95MB: above bar: used 2GB, free >62GB"
USED = {"local_used": "1700", "local_free": "95", "above_used": "2048", "above_free": "63488"}
"""In MB."""
CHANNEL = ("channel", "QM01.TO.QM02")
STRUCTURE = ("cf_structure", "APPL1")
DATA_SET = ("smds", "APPL1/QM01")
CONNECTION = ("smds", "APPL1/QM02")
NONE = ("", "")


@pytest.mark.parametrize(
    ("code", "text", "about", "has"),
    [
        ("CSQI053E", "Page set 7 RBA is out of range", ("page_set", "7"), {}),
        ("CSQI053E", "RBA OUT OF RANGE, PAGESET 07 SUSPENDED", ("page_set", "7"), {}),
        ("CSQI045I", "Log RBA has reached 700000000000. Plan a log reset", NONE, {"rba": "700000000000"}),
        ("CSQI046E", "Log RBA has reached F00000000000. Perform a log reset", NONE, {"rba": "F00000000000"}),
        ("CSQI047E", "Log RBA has reached FF8000000000. Stop queue manager and reset logs", NONE, {"rba": "FF8000000000"}),
        ("CSQJ004I", "ACTIVE LOG COPY 2 INACTIVE, LOG IN SINGLE MODE, ENDRBA=00000001", NONE, {"copy": "2"}),
        ("CSQJ005I", "ACTIVE LOG COPY 2 IS ACTIVE, LOG IN DUAL MODE, STARTRBA=00000001", NONE, {"copy": "2"}),
        ("CSQJ008E", "3 OF 4 ACTIVE LOGS ARE FULL, QM01 NEEDS ARCHIVE SCRATCH", NONE, {"full": "3", "total": "4"}),
        (
            "CSQJ032E", "CRITICAL - APPROACHING END OF THE LOG RBA RANGE OF 0000FFFFFFFFFFFF. CURRENT LOG RBA IS 0000FF9000000000.",
            NONE, {"level": "CRITICAL", "max": "0000FFFFFFFFFFFF", "rba": "0000FF9000000000"},
        ),
        ("CSQJ034I", "END OF LOG RBA RANGE IS FFFFFFFFFFFFFFFF", NONE, {"max": "FFFFFFFFFFFFFFFF"}),
        (
            "CSQJ103E", "LOG ALLOCATION ERROR DSNAME=MQ.QM01.ARC.A0000001, ERROR STATUS=04A8000C, SMS REASON CODE=00000000",
            NONE, {"dsname": "MQ.QM01.ARC.A0000001", "status": "04A8000C"},
        ),
        ("CSQJ110E", "LAST COPY 1 ACTIVE LOG DATA SET IS 95 PERCENT FULL", NONE, {"copy": "1", "pct": "95"}),
        ("CSQJ111A", "OUT OF SPACE IN ACTIVE LOG DATA SETS", NONE, {}),
        ("CSQJ114I", "ERROR ON ARCHIVE DATA SET, OFFLOAD CONTINUING WITH ONLY ONE ARCHIVE DATA SET BEING GENERATED", NONE, {}),
        ("CSQJ115E", "OFFLOAD FAILED, COULD NOT ALLOCATE AN ARCHIVE DATA SET", NONE, {}),
        ("CSQJ126E", "BSDS ERROR FORCED SINGLE BSDS MODE", NONE, {}),
        ("CSQJ128E", "LOG OFF-LOAD TASK FAILED FOR ACTIVE LOG MQ.QM01.LOGCOPY1.DS02", NONE, {"dsname": "MQ.QM01.LOGCOPY1.DS02"}),
        ("CSQJ160I", f"Long-running UOW found, {UOW}", NONE, {"urid": "0000000001A2", "conn": "PAYBATCH"}),
        ("CSQJ161I", f"UOW unresolved after 3 offloads, {UOW}", NONE, {"offloads": "3", "conn": "PAYBATCH"}),
        ("CSQJ312I", "ARCHIVE LOG QUIESCE STARTED. MAXIMUM QUIESCE PERIOD IS 300 SECONDS", NONE, {"limit_s": "300"}),
        ("CSQJ372I", "Logging suspended for QM01 at RBA=0000000001A2", NONE, {"qmgr": "QM01", "rba": "0000000001A2"}),
        ("CSQJ373I", "Logging resumed for QM01", NONE, {"qmgr": "QM01"}),
        ("CSQR020I", "OLD UOW FOUND", NONE, {}),
        ("CSQR021D", "REPLY Y TO COMMIT, B TO BACKOUT OR N TO CONTINUE", NONE, {}),
        ("CSQR026I", f"Long-running UOW shunted to RBA=0000000001A9, {UOW}", NONE, {"rba": "0000000001A9", "conn": "PAYBATCH"}),
        ("CSQR027I", f"Long-running UOW shunting failed, {UOW}", NONE, {"conn": "PAYBATCH"}),
        ("CSQV086E", "QUEUE MANAGER ABNORMAL TERMINATION REASON=00D93001", NONE, {"reason": "00D93001"}),
        ("CSQV400I", "ARCHIVE LOG QUIESCE CURRENTLY ACTIVE", NONE, {}),
        ("CSQM050I", "Intra-group queuing agent starting, TCB=006D2CF8", NONE, {"tcb": "006D2CF8"}),
        ("CSQM051I", "Intra-group queuing agent stopping, TCB=006D2CF8", NONE, {"tcb": "006D2CF8"}),
        ("CSQM056E", "MQOPEN failed for queue PAY.IN, MQRC=2085 (MQRC_UNKNOWN_OBJECT_NAME)", ("queue", "PAY.IN"), {"mqrc": "2085"}),
        ("CSQN200I", "COMMAND SERVER STARTING", NONE, {}),
        ("CSQN201I", "COMMAND SERVER IS STOPPING", NONE, {}),
        ("CSQW133E", "TRACE DATA LOST, SMF NOT ACCESSIBLE RC=08", NONE, {"destination": "SMF", "rc": "08"}),
        ("CSQY000I", "IBM MQ for z/OS V9.3.3 CDR", NONE, {"version": "9.3.3", "type": "CDR"}),
        ("CSQY002I", "QUEUE MANAGER STOPPING", NONE, {}),
        ("CSQY009I", "'STOP QMGR' COMMAND ACCEPTED FROM USER(OPER1), STOP MODE(QUIESCE)", NONE, {"user": "OPER1"}),
        ("CSQY022I", "QUEUE MANAGER INITIALIZATION COMPLETE", NONE, {}),
        ("CSQY220I", f"Queue manager {STORAGE}", NONE, USED),
        ("CSQY221I", "Queue manager is short of local storage", NONE, {"what": "local storage"}),
        ("CSQY222E", "Queue manager is critically short of local storage - take action", NONE, {"what": "local storage"}),
        ("CSQY223I", "Queue manager is no longer short of local storage", NONE, {"what": "local storage"}),
        ("CSQY224I", "Queue manager is short of above bar storage", NONE, {"what": "above bar storage"}),
        ("CSQY225E", "Queue manager is critically short of above bar storage - take action", NONE, {"what": "above bar storage"}),
        ("CSQY226I", "Queue manager is no longer short of above bar storage", NONE, {"what": "above bar storage"}),
        ("CSQ3002I", "INDOUBT RECOVERY BY CICSPROD STILL IN PROGRESS", NONE, {"conn": "CICSPROD"}),
        ("CSQ3104I", "TERMINATION COMPLETE", NONE, {}),
        ("CSQ3104I", "- TERMINATION COMPLETE", NONE, {}),
        ("CSQ9016E", "'DISPLAY QUEUE' command request not authorized", NONE, {"verb": "DISPLAY QUEUE"}),
        ("CSQ2010I", "CONNECTED TO PARTNER, XCFGNAME=IMSGRP XCFMNAME=IMSA PARTNER", NONE, {"group": "IMSGRP", "member": "IMSA"}),
        ("CSQ2011I", "DISCONNECTED FROM PARTNER, XCFGNAME=IMSGRP, XCFMNAME=IMSA", NONE, {"group": "IMSGRP", "member": "IMSA"}),
        ("CSQ5001I", "Connected to DB2 DB2A", NONE, {"db2": "DB2A"}),
        ("CSQ5003A", "Connection to Db2 using DSNG pending, no active Db2", NONE, {"db2": "DSNG"}),
        ("CSQ5014I", "Connection to DB2A lost, Db2 terminating", NONE, {"db2": "DB2A"}),
        ("CSQ5015I", "Connection to DB2A lost, Db2 not active", NONE, {"db2": "DB2A"}),
        ("CSQ5038I", "Service task SERVER01 has been unresponsive since 10.33.41.000000. Check for problems with Db2", NONE, {"task": "SERVER01"}),
        ("CSQX004I", f"Channel initiator {STORAGE}", NONE, USED),
        ("CSQX004I", "Channel initiator is using 700 MB of local storage, 900 MB are free", NONE, {"local_used": "700", "local_free": "900"}),
        ("CSQX007E", "Unable to connect to queue manager QM01, MQCC=2 MQRC=2059 (MQRC_Q_MGR_NOT_AVAILABLE)", NONE, {"qmgr": "QM01", "mqrc": "2059"}),
        ("CSQX022I", "Channel initiator initialization complete", NONE, {}),
        ("CSQX023I", "Listener started, port 1424 address *, TRPTYPE=TCP INDISP=QMGR", NONE, {"port": "1424", "ip": "*", "trptype": "TCP", "indisp": "QMGR"}),
        ("CSQX100E", "Dispatcher failed to start, TCB=006D2CF8", NONE, {"what": "Dispatcher"}),
        ("CSQX140E", "Adapter failed to start", NONE, {"what": "Adapter"}),
        ("CSQX150E", "SSL server failed to start, TCB=006D2CF8", NONE, {"what": "SSL server"}),
        (
            "CSQX218E", "Listener not started - unable to bind, port 1424 address * TRPTYPE=TCP INDISP=QMGR RC=00000453",
            NONE, {"port": "1424", "rc": "00000453"},
        ),
        ("CSQX234I", "Listener stopped, TRPTYPE=TCP INDISP=QMGR", NONE, {"trptype": "TCP", "indisp": "QMGR"}),
        ("CSQX251I", "Listener started, TRPTYPE=TCP INDISP=GROUP", NONE, {"trptype": "TCP", "indisp": "GROUP"}),
        ("CSQX410I", "Repository manager started", NONE, {}),
        ("CSQX411I", "Repository manager stopped", NONE, {}),
        ("CSQX418I", "Only one repository for cluster PAYCLUS", NONE, {"cluster": "PAYCLUS"}),
        ("CSQX420I", "No repositories for cluster PAYCLUS", NONE, {"cluster": "PAYCLUS"}),
        ("CSQX448E", "Repository manager stopping because of errors. Restart in 600 seconds", NONE, {"restart_s": "600"}),
        ("CSQX449I", "Repository manager restarted", NONE, {}),
        (
            "CSQX567E", "Listener unable to register to APPC/MVS, TRPTYPE=LU62 INDISP=QMGR RC=00000008 reason=00000001",
            NONE, {"trptype": "LU62", "rc": "00000008"},
        ),
        ("CSQX202E", f"Connection or remote listener unavailable, {NET}", CHANNEL, {"rc": "00000461", "partner": "QM02"}),
        ("CSQX489E", "Maximum instance limit 200 exceeded, channel PAY.CLIENT connection 10.1.2.3", ("channel", "PAY.CLIENT"), {"limit": "200", "ip": "10.1.2.3"}),
        (
            "CSQX490E", "Maximum client instance limit 20 exceeded, channel PAY.CLIENT connection 10.1.2.3(4711)",
            ("channel", "PAY.CLIENT"), {"limit": "20", "ip": "10.1.2.3"},
        ),
        (
            "CSQX620E", "System SSL error, channel QM01.TO.QM02 connection 10.1.2.3 function 'gsk_secure_socket_init' RC=401",
            CHANNEL, {"function": "gsk_secure_socket_init", "rc": "401"},
        ),
        ("CSQX631E", "Cipher specifications differ, channel QM01.TO.QM02 connection 10.1.2.3", CHANNEL, {}),
        ("CSQX633E", "SSL certificate failed local checks, channel QM01.TO.QM02 connection 10.1.2.3", CHANNEL, {}),
        ("CSQX637E", "No certificate for SSL channel QM01.TO.QM02", CHANNEL, {}),
        ("CSQE012I", "Recovery phase 2 started for structure APPL1 connection name CSQEQSG1QM0102", STRUCTURE, {"phase": "2"}),
        ("CSQE014I", "Recovery phase 2 completed for structure APPL1 connection name CSQEQSG1QM0102", STRUCTURE, {"phase": "2"}),
        ("CSQE015I", "Recovery phase 2 not attempted for structure APPL1 connection name CSQEQSG1QM0102", STRUCTURE, {"phase": "2"}),
        ("CSQE213I", f"{SMDS} data set MQ.SMDS.QM01 is now 92% full", DATA_SET, {"pct": "92"}),
        ("CSQE241I", f"{SMDS} now has STATUS(FAILED)", DATA_SET, {"status": "FAILED"}),
        ("CSQE242I", f"{SMDS} now has ACCESS(SUSPENDED)", DATA_SET, {"access": "SUSPENDED"}),
        ("CSQE243I", f"{SMDSCONN} now has STATUS(OPENFAIL)", CONNECTION, {"connection": "OPENFAIL"}),
        ("CSQE244I", f"{SMDSCONN} now has AVAIL(STOPPED)", CONNECTION, {"avail": "STOPPED"}),
    ],
)  # fmt: skip
def test_inserts_and_object(code: str, text: str, about: tuple[str, str], has: Mapping[str, str]) -> None:
    """Each text has the inserts that it shows, names its object, and is recognised behind any head."""
    found = inserts(code, text)
    assert found is not None
    assert has.items() <= found.items()
    assert named_object(found) == about
    for head in ("QM01 CSQXABCD ", "!QM01 CSQXABCD ", "QM01 ", ""):
        read = MessageReader({"QM01"}, "QM01").read(JoinedMessage(f"{code} {head}{text}", 0))
        assert read is not None
        assert (read.kind, read.name) == about, head


WORDS = ("Structure", "channel", "PAGE SET", "3", "QM01", "SMDS(QM01)", "CFSTRUCT(A)", "is", "full", "UOW", "RBA=")


@given(
    code=st.sampled_from(sorted(TEMPLATES)),
    text=st.text(max_size=80) | st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
)
def test_any_text_has_inserts_or_none(code: str, text: str) -> None:
    """Whatever stands behind an id, an object that it names is one that there can be."""
    found = inserts(code, " ".join(text.split()))
    if found is not None:
        kind, name = named_object(found)
        assert bool(kind) is bool(name)
        assert not name or is_object_name(name)


def test_hostile_texts_take_no_time() -> None:
    """No text of the greatest length makes a template search for long: the time limit of the test is the proof."""
    begins = (
        NET,
        UOW,
        SMDS,
        STORAGE,
        "Listener stopped, port 1 ",
        "Log RBA has reached ",
        "System SSL error, channel A ",
    )
    fillers = (" ", "a", "1", "a ", "- ", ",", " RC=", "channel ", "(", "' ")
    texts = [f"{begin}{filler * MOST_TEXT}"[:MOST_TEXT] for begin in ("", *begins) for filler in fillers]
    for code in TEMPLATES:
        for text in texts:
            inserts(code, text)


@pytest.mark.parametrize(
    ("size", "mb"), [("0MB", 0), ("2047KB", 1), ("3 GB", 3072), (">2TB", 2 << 20), ("1pb", 1 << 30)]
)
def test_each_size_is_read_in_its_own_unit(size: str, mb: int) -> None:
    text = f"Queue manager storage usage: local storage: used {size}, free 1MB: above bar: used 1GB, free 1GB"
    found = inserts("CSQY220I", text)
    assert found is not None
    assert found["local_used"] == str(mb)


def test_objects_are_of_kinds_that_exist() -> None:
    texts = {"pool": "3", "psid": "4", "queue": "A", "channel": "B", "structure": "C", "xes": "QSG1D"}
    kinds = {named_object({insert: text})[0] for insert, text in texts.items()}
    assert kinds <= set(KINDS)


def test_each_insert_that_a_shipped_rule_reads_is_in_its_template() -> None:
    rules = load_rule_config(Settings()).rules
    compiled = [each for rule in rules.rules if (each := rules.compiled.get(str(rule.id))) is not None]
    assert compiled
    for each in compiled:
        read = {pair for expression in each.expressions for pair in expression.inserts} | each.summary.inserts
        for code, insert in read:
            if not code.startswith("event:"):
                assert insert in re.compile(TEMPLATES[code]).groupindex, (each.id, code, insert)


NAMING = {
    "buffer_pool": {"pool"},
    "page_set": {"psid"},
    "queue": {"queue"},
    "channel": {"channel"},
    "cf_structure": {"structure", "xes"},
    "smds": {"smds"},
}


def test_each_message_that_a_shipped_rule_waits_for_names_an_object_of_its_kind() -> None:
    """A rule about one of many objects would never see a message that names none."""
    rules = load_rule_config(Settings()).rules
    for rule in rules.rules:
        compiled = rules.compiled[str(rule.id)]
        if rule.scope in NAMING:
            for use in compiled.awaited:
                for code in use.ids | use.ends:
                    if not code.startswith("event:"):
                        assert NAMING[rule.scope] & set(re.compile(TEMPLATES[code]).groupindex), (rule.id, code)
