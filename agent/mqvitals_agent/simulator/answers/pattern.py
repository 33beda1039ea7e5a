"""Names as commands take them: an exact name, or a generic one that ends in an asterisk."""

from __future__ import annotations


def is_generic(pattern: str) -> bool:
    """True when the pattern may select several names."""
    return pattern.endswith("*")


def matches(name: str, pattern: str) -> bool:
    """True when the pattern selects the name. Only a last asterisk is generic; letter case counts, as in MQ."""
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
