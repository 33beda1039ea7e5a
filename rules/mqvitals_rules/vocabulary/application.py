"""Applications, from class 3 accounting: what one job or transaction did with one queue.

Times are totals of the record's interval; divide them by the calls, as in ``get_et_us / get_n``.
"""

# fmt: off
from __future__ import annotations

from mqvitals_rules.vocabulary.metric import Kind, counter, gauge, records, state, text

CONNECTION_TYPES = {"CICS": 1, "BATCH": 2, "IMS_CONTROL": 3, "IMS": 4, "COMMAND_SERVER": 5, "CHINIT": 6, "RRS": 7, "IGQ": 8}
_INDEX = {"NONE": 0, "MSGID": 1, "CORRELID": 2, "TOKEN": 4, "GROUPID": 5}
_DISPOSITION = {"QMGR": 0, "COPY": 1, "SHARED": 2, "GROUP": 3, "PRIVATE": 4}
QUEUE_TYPES = {"LOCAL": 1, "MODEL": 2, "ALIAS": 3, "REMOTE": 6, "CLUSTER": 7, "TOPIC": 8}
GENERATED_PREFIXES = ("AMQ.", "CSQ.")
"""Default prefixes of the names of dynamic queues."""

_DECLARED = (
    text("selector", "message selector that its gets use", platform="zos", declared=True),
    gauge("properties", "count", "message properties it sets in a message", platform="zos", declared=True, needed=True),
    gauge("group_size", "messages", "messages of its message groups", platform="zos", declared=True, needed=True),
)

APPLICATION_KIND = Kind(
    name="application",
    meaning="a job or transaction and a queue that it used, written job/queue; */* is all but the 200 costliest of a day",
    poll="SMF 116-1",
    metrics=(*records(
        state("type", CONNECTION_TYPES, "how it is connected", smf="WTIDATYP"),
        text("job", "job, region or task", smf="WTIDCCN"),
        text("transaction", "CICS transaction or IMS program, blank elsewhere", smf="WTIDCORI"),
        text("via_channel", "channel that it came through, blank elsewhere", smf="WTIDCHL"),
        text("open_name", "name that was opened", smf="OBJNAME"),
        text("base_name", "queue that the name led to", smf="BASENAME"),
        state("queue_type", QUEUE_TYPES, "type of what was opened", smf="QTYPE"),
        state("indexed_by", _INDEX, "what the queue is indexed by", smf="INDXTYPE"),
        state("qsg_disp", _DISPOSITION, "where the queue lives", smf="QSGDISP"),
        gauge("page_set", "number", "page set of the queue; 0 also where none was touched", smf="NPS"),
        gauge("buffer_pool", "number", "buffer pool of the queue; 0 also where none was touched", smf="NBUFFPOOL"),
        counter("calls", "count", "all its calls for the queue", smf="OPENN+CLOSEN+GETN+PUTN+PUT1N+INQN+SETN"),
        counter("uses", "count", "uses of the queue by its tasks", smf="TOTAL_USE"),
        counter("cpu_us", "us", "processor time of all its calls for the queue, together",
              smf="OPENCT+CLOSECT+GETCT+PUTCT+PUT1CT+INQCT+SETCT"),
        counter("open_n", "count", "MQOPEN calls", smf="OPENN"),
        counter("open_et_us", "us", "elapsed time of its MQOPEN calls, together", smf="OPENET"),
        counter("open_ct_us", "us", "processor time of its MQOPEN calls, together", smf="OPENCT"),
        counter("close_n", "count", "MQCLOSE calls", smf="CLOSEN"),
        counter("close_et_us", "us", "elapsed time of its MQCLOSE calls, together", smf="CLOSEET"),
        counter("close_ct_us", "us", "processor time of its MQCLOSE calls, together", smf="CLOSECT"),
        counter("get_n", "count", "MQGET calls", smf="GETN"),
        counter("get_et_us", "us", "elapsed time of its MQGET calls, together", smf="GETET"),
        counter("get_ct_us", "us", "processor time of its MQGET calls, together", smf="GETCT"),
        counter("put_n", "count", "MQPUT calls", smf="PUTN"),
        counter("put_et_us", "us", "elapsed time of its MQPUT calls, together", smf="PUTET"),
        counter("put_ct_us", "us", "processor time of its MQPUT calls, together", smf="PUTCT"),
        counter("put1_n", "count", "MQPUT1 calls", smf="PUT1N"),
        counter("put1_et_us", "us", "elapsed time of its MQPUT1 calls, together", smf="PUT1ET"),
        counter("put1_ct_us", "us", "processor time of its MQPUT1 calls, together", smf="PUT1CT"),
        counter("inq_n", "count", "MQINQ calls", smf="INQN"),
        counter("inq_et_us", "us", "elapsed time of its MQINQ calls, together", smf="INQET"),
        counter("inq_ct_us", "us", "processor time of its MQINQ calls, together", smf="INQCT"),
        counter("set_n", "count", "MQSET calls", smf="SETN"),
        counter("set_et_us", "us", "elapsed time of its MQSET calls, together", smf="SETET"),
        counter("set_ct_us", "us", "processor time of its MQSET calls, together", smf="SETCT"),
        counter("browse_generic", "count", "browses of any message", smf="GETBRWA"),
        counter("browse_specific", "count", "browses of a certain message", smf="GETBRWS"),
        counter("get_generic", "count", "destructive gets of any message", smf="GETA"),
        counter("get_specific", "count", "destructive gets of a certain message", smf="GETS"),
        counter("get_failed", "count", "gets without data", smf="GETERR"),
        counter("get_skipped_msgs", "messages", "messages passed over in search of one", smf="GETSMSG"),
        counter("get_epages", "pages", "pages without a fitting message, passed over in search of one", smf="GETEPAGE"),
        counter("get_expired", "messages", "expired messages met by gets", smf="GETEXMSG"),
        counter("get_pset_n", "count", "reads from the page set by gets", smf="GETPSN"),
        counter("put_pset_n", "count", "accesses to the page set by puts", smf="PUTPSN"),
        counter("pset_et_us", "us", "elapsed time of its accesses to the page set, together",
              smf="GETPSET+PUTPSET+PUT1PSET"),
        counter("log_wait_us", "us", "time that its calls waited for the log to be written, together",
              smf="GETJCET+PUTJCET+PUT1JCET"),
        counter("suspend_us", "us", "time that its gets and puts were suspended, together",
              smf="GETSUSET+PUTSUSET+PUT1SUSET"),
        counter("log_waits", "count", "gets and puts that waited for the log to be written", smf="GETJCN+PUTJCN+PUT1JCN"),
        counter("open_suspend_us", "us", "time that MQOPEN was suspended", smf="OPENSUET"),
        counter("sel_count", "count", "gets with a selector", smf="SELCOUNT"),
        gauge("sel_maxlen", "bytes", "longest selector", smf="SELMAXLN"),
        counter("valid_gets", "count", "gets that returned a message", smf="VALIDGET"),
        counter("valid_puts", "count", "puts that took a message", smf="VALIDPUT"),
        counter("put_bytes", "bytes", "bytes put", smf="PUTBYTES"),
        counter("get_bytes", "bytes", "bytes got", smf="GETBYTES"),
        gauge("put_max_bytes", "bytes", "largest message put", smf="PUTMAXMS"),
        gauge("get_max_bytes", "bytes", "largest message got", smf="GETMAXMS"),
        counter("get_persistent", "messages", "persistent messages got", smf="GETPMSG"),
        counter("put_persistent", "messages", "persistent messages put by MQPUT", smf="PUTPMSG"),
        counter("put1_persistent", "messages", "persistent messages put by MQPUT1", smf="PUT1PMSG"),
        counter("latency_us", "us", "time on the queue of the messages it got, together", smf="TOTLATNT"),
        gauge("latency_max_us", "us", "longest time on the queue of a message it got", smf="MAXLATNT"),
        gauge("max_depth_seen", "messages", "deepest the queue was when it looked", smf="MAXQDPTH"),
        counter("commit_n", "count", "commits of its tasks", smf="WTASCMN"),
        counter("commit_et_us", "us", "elapsed time of its commits, together", smf="WTASCMET"),
        counter("log_force_et_us", "us", "elapsed time of forced log writes, together", smf="WTASJCET"),
        gauge("db2_max_et_us", "us", "longest Db2 request", smf="WTASDBMT"),
        counter("cf_et_us", "us", "elapsed time of coupling facility requests, together", smf="WTASSSTC+WTASMSTC"),
    ), *_DECLARED),
    facts="applications",
)
