"""Redaction: a recording without the names of its site, that replays to the same alerts. See ``redactor``."""
