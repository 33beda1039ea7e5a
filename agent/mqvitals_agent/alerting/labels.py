"""Labels of an alert: its own, and those that the site gives to objects. One meaning for routes, silences and payloads."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from mqvitals_rules.lifecycle.alert import Alert
from mqvitals_rules.ruleset.pattern import ObjectPattern
from mqvitals_rules.snapshot import ObjectName

Labels = Mapping[str, str]
"""Label -> value; no value is empty, since an absent label and an empty one are the same."""

_POSSESSIVE = re.compile(r"['\u2019]")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class ObjectLabels:
    """Labels for the objects that a pattern selects."""

    objects: ObjectPattern
    set: Labels


@dataclass(frozen=True, slots=True)
class Labeller:
    """Gives alerts their labels.

    ``group`` is the queue-sharing group's name, ``groups`` are the owners that are not queue managers. Where several
    entries of ``site`` select an object, the last one that sets a label counts.
    """

    group: str = ""
    groups: Collection[str] = ()
    site: Sequence[ObjectLabels] = ()

    @classmethod
    def of_store(cls, name: str | None, groups: Collection[str], site: Sequence[ObjectLabels] = ()) -> Labeller:
        """For the alerts of a store with these ``groups``. ``name`` is the group's in the settings, else it is the store's."""
        return cls(name or min(groups, default=""), groups, site)

    def labels_of(self, alert: Alert) -> Labels:
        """The labels of an alert. The site's never hide one of the alert's own."""
        about = alert.key.object
        own = {
            "alertname": alert.key.rule,
            "rule": alert.key.rule,
            "family": alert.family,
            "severity": alert.severity.name.lower(),
            "owner": about.owner,
            "queue_manager": "" if about.owner in self.groups else about.owner,
            "kind": about.kind,
            "object": str(about),
            "name": about.name,
            "instance": alert.key.instance,
            "group": self.group,
        }
        return {name: value for name, value in {**self.site_labels(about), **own}.items() if value}

    def site_labels(self, name: ObjectName) -> Labels:
        """The site's labels of an object."""
        found: dict[str, str] = {}
        for each in self.site:
            if each.objects.matches(name):
                found.update(each.set)
        return found


def alert_name(title: str, rule: str) -> str:
    """The name of an alert as Prometheus' users write it, from the title of its rule: ``QueueManagerUnreachable``.

    Without a title it is ``rule``, the rule's id.
    """
    words = _WORD.findall(_POSSESSIVE.sub("", title).replace("%", " percent "))
    return "".join(word[0].upper() + word[1:] for word in words) or rule
