"""Values over time as the tests of rules write them: ``25 18 60+5x10 _ stale``.

A word is one poll, or several: ``4`` a value; ``RUNNING`` a state's name; ``60+5x10`` the value 60 and ten more, each 5 greater (``-`` likewise); ``4x3`` the value
4 and three more times the same; ``_`` a poll without an answer; any reason of absence by its name: ``stale``, ``needs_smf``, ``not_collected``. The last three
can be repeated too: ``_x2``. A blank text is written ``''``.
"""

from __future__ import annotations

import re

from mqvitals_rules.vocabulary.metric import Absence, Metric, MetricType, Reported

MOST_POLLS = 10_000

_BLANK = "''"

_NUMBER = r"-?\d{1,18}(?:\.\d{1,18})?"
_STEPS = re.compile(rf"(?P<first>{_NUMBER})(?P<step>[+-]\d{{1,18}}(?:\.\d{{1,18}})?)?x(?P<times>\d{{1,5}})")
_REPEAT = re.compile(r"(?P<word>.+)x(?P<times>\d{1,5})")


def parse_series(text: str, metric: Metric) -> tuple[Reported, ...]:
    """The values of a metric, one a poll. Raises ValueError with a sentence about the word that is wrong."""
    values: list[Reported] = []
    for word in text.split():
        values += _word(word, metric)
        if len(values) > MOST_POLLS:
            raise ValueError(f"more than {MOST_POLLS} polls")
    if not values:
        raise ValueError("a series needs at least one value")
    return tuple(values)


def _word(word: str, metric: Metric) -> list[Reported]:
    single = _single(word, metric)
    if single is not None:
        return [single]
    steps = _STEPS.fullmatch(word)
    if steps and metric.type is not MetricType.TEXT:
        first, step = _number(steps["first"]), _number(steps["step"] or "0")
        return [first + step * count for count in range(int(steps["times"]) + 1)]
    repeat = _REPEAT.fullmatch(word)
    single = _single(repeat["word"], metric) if repeat else None
    if repeat and single is not None:
        return [single] * (int(repeat["times"]) + 1)
    kind = f"one of {', '.join(metric.values)}" if metric.values else "a number"
    raise ValueError(
        f"{word!r} is no value of {metric.name}: expected {kind}, 60+5x10, _ or a reason of absence such as stale"
    )


def _single(word: str, metric: Metric) -> Reported | None:
    if word == "_":
        return Absence.NO_ANSWER
    if word in metric.values:
        return metric.values[word]
    if word.upper() in Absence.__members__ and word == word.lower():
        return Absence[word.upper()]
    if metric.type is MetricType.TEXT:
        return "" if word == _BLANK else word
    return _number(word) if re.fullmatch(_NUMBER, word) else None


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)
