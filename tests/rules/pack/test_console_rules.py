"""Rules about console messages: what a restart brings with it counts for nothing, and a storm is one alert."""

from __future__ import annotations

from mqvitals_rules.ruleset.pack import decode_packs
from mqvitals_rules.ruleset.ruleset import RuleSet
from mqvitals_rules.testing import run_tests
from mqvitals_rules.vocabulary.tables import KINDS

RULE = """\
  - id: {id}
    title: A message came
    kind: operational
    scope: {scope}
    when: {when}
    quiet_restarts: {quiet}
    caused_by: [{by}]
    severity: warning
    hold: {{polls: 1}}
    clear: {{polls: 1}}
    summary: "{{name}}"
    advice: Look at it.
    caveat: None.
    source: {{document: Our own handbook, section: Messages}}
"""


def rule(name: str, scope: str, when: str, quiet: str = "true", by: str = "") -> str:
    return RULE.format(id=name, scope=scope, when=when, quiet=quiet, by=by)


def rules(*texts: str) -> RuleSet:
    found, problems = decode_packs([("own.yaml", "rules:\n" + "".join(texts))], KINDS)
    assert problems == []
    return RuleSet(tuple(found), KINDS)


RESTARTS = rules(
    rule("OWN-01", "channel_initiator", 'open("CSQX234I", "CSQX023I")'),
    rule("OWN-02", "channel", 'seen("CSQX599E", "30m") or times("CSQX599E", "30m") > 5'),
    rule("OWN-03", "cf_structure", 'seen("CSQE016E", "30m")'),
    rule("OWN-04", "channel", 'seen("CSQX599E", "30m")', quiet="false"),
)
STORM = rules(
    rule(
        "OWN-01",
        "channel_initiator",
        'times("CSQX202E", "CSQX208E", "2m") > 10 and count(channel, seen("CSQX202E", "CSQX208E", "2m")) > 10',
    ),
    rule("OWN-02", "channel", 'seen("CSQX202E", "CSQX208E", "15m")', by="OWN-01"),
)
RESTART_TESTS = """\
exact: true
tests:
  - name: What a stop and a start bring with them counts for nothing, not even later
    interval: 10m
    console:
      QM01:
        - {at: 60m, id: CSQY002I}
        - {at: 61m, id: CSQX234I}
        - {at: 61m, id: CSQX599E, object: QM01/channel/A}
        - {at: 62m, id: CSQE016E, object: QSG1/cf_structure/APPL1}
        - {at: 63m, id: CSQ3104I}
        - {at: 70m, id: CSQY000I}
        - {at: 71m, id: CSQX599E, object: QM01/channel/A}
        - {at: 90m, id: CSQY022I}
        - {at: 94m, id: CSQX599E, object: QM01/channel/A}
        - {at: 96m, id: CSQX599E, object: QM01/channel/A}
    series:
      QM01/channel_initiator: {current: 1}
      QM01/channel/A: {msgs: 1}
      QSG1/cf_structure/APPL1: {entries_used: 1}
    expect:
      - {at: 70m, firing: [{rule: OWN-04, object: QM01/channel/A}]}
      - {at: 90m, firing: [{rule: OWN-04, object: QM01/channel/A}]}
      - {at: 100m, firing: [{rule: OWN-02, object: QM01/channel/A}, {rule: OWN-04, object: QM01/channel/A}]}
      - {at: 130m, firing: []}
  - name: Another member's message about the same structure counts, and what comes before and after
    interval: 1m
    console:
      QM01: [{at: 1m, id: CSQY000I}, {at: 2m, id: CSQE016E, object: QSG1/cf_structure/APPL1}]
      QM02: [{at: 3m, id: CSQE016E, object: QSG1/cf_structure/APPL2}]
    series:
      QM01/queue_manager: {command_level: 920}
      QM02/queue_manager: {command_level: 920}
      QSG1/cf_structure/APPL1: {entries_used: 1}
      QSG1/cf_structure/APPL2: {entries_used: 1}
    expect:
      - {at: 5m, firing: [{rule: OWN-03, object: QSG1/cf_structure/APPL2}]}
  - name: A message of the time before is open, and one of the start ends it
    interval: 1m
    console:
      QM01: [{at: 1m, id: CSQX234I}, {at: 4m, id: CSQY000I}, {at: 6m, id: CSQX023I}, {at: 7m, id: CSQY022I}]
    series:
      QM01/channel_initiator: {current: 1}
    expect:
      - {at: 2m, firing: [{rule: OWN-01, object: QM01/channel_initiator}]}
      - {at: 5m, firing: [{rule: OWN-01, object: QM01/channel_initiator}]}
      - {at: 6m, firing: []}
  - name: A start without an end is over after four hours
    interval: 1h
    console:
      QM01: [{at: 1h, id: CSQY000I}, {at: 4h, id: CSQX234I}, {at: 6h, id: CSQX234I}]
    series:
      QM01/channel_initiator: {current: 1}
    expect:
      - {at: 5h, firing: []}
      - {at: 6h, firing: [{rule: OWN-01, object: QM01/channel_initiator}]}
"""


def test_what_a_restart_brings_with_it() -> None:
    assert run_tests("own.test.yaml", RESTART_TESTS, RESTARTS) == []


def test_a_storm_is_one_alert() -> None:
    """More than ten channels within two minutes: one alert on the channel initiator, the channels' under it."""
    channels = [f"QM01/channel/C{n:02}" for n in range(14)]
    text = f"""\
exact: true
tests:
  - name: Fourteen channels in 90 s
    interval: 30s
    console:
      QM01:
{"".join(f"        - {{at: {100 + 6 * n}s, id: CSQX20{2 + n % 2 * 6}E, object: {name}}}{chr(10)}" for n, name in enumerate(channels))}
    series:
      QM01/channel_initiator: {{current: 1}}
{"".join(f"      {name}: {{msgs: 1}}{chr(10)}" for name in channels)}
    expect:
      - {{at: 90s, firing: []}}
      - {{at: 2m, firing: [{", ".join(f"{{rule: OWN-02, object: {name}}}" for name in channels[:4])}]}}
      - at: 3m
        firing:
          - {{rule: OWN-01, object: QM01/channel_initiator}}
{"".join(f"          - {{rule: OWN-02, object: {name}, cause: OWN-01}}{chr(10)}" for name in channels)}
      - at: 6m
        firing:
{"".join(f"          - {{rule: OWN-02, object: {name}}}{chr(10)}" for name in channels)}
"""
    assert run_tests("own.test.yaml", text, STORM) == []
    head, series = text.split("    series:")
    for name in channels[10:]:
        head = head.replace(name, channels[0])
    found = run_tests("own.test.yaml", f"{head}    series:{series}", STORM)
    assert "OWN-01 firing on QM01/channel_initiator" in [each.expected for each in found]
