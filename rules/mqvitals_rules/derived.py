"""Metrics that follow from others of the same object, for values that no collector has completed."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mqvitals_rules.vocabulary.metric import Absence, Reported


def with_derived(kind: str, values: Mapping[str, Reported]) -> dict[str, Reported]:
    """``values`` and what can be worked out from them; what is there already stays as it is."""
    found = dict(values)
    for metric, derive in _DERIVED.get(kind, {}).items():
        if metric not in found:
            value = derive(values)
            if value is not None:
                found[metric] = value
    return found


def _number(values: Mapping[str, Reported], metric: str) -> float | None:
    value = values.get(metric)
    return float(value) if isinstance(value, int | float) else None


def _worst_free(values: Mapping[str, Reported]) -> Reported | None:
    known = [value for value in (_number(values, "free_pct"), _number(values, "low_pct")) if value is not None]
    if known:
        return min(known)
    return next((values[metric] for metric in ("free_pct", "low_pct") if isinstance(values.get(metric), Absence)), None)


def _share(used: str, total: str) -> Callable[[Mapping[str, Reported]], Reported | None]:
    def derive(values: Mapping[str, Reported]) -> Reported | None:
        part, whole = _number(values, used), _number(values, total)
        return 100 * part / whole if part is not None and whole else None

    return derive


def _used_pages(values: Mapping[str, Reported]) -> Reported | None:
    for metric in ("total_pages", "unused_pages"):
        told = values.get(metric)
        if told in (Absence.OFFLINE, Absence.NOT_IN_USE):
            return told
    unused, total = _number(values, "unused_pages"), _number(values, "total_pages")
    return 100 * (total - unused) / total if unused is not None and total else None


_DERIVED: Mapping[str, Mapping[str, Callable[[Mapping[str, Reported]], Reported | None]]] = {
    "buffer_pool": {"worst_free_pct": _worst_free},
    "page_set": {"used_pct": _used_pages},
    "cf_structure": {"entries_pct": _share("entries_used", "entries_max")},
}
