"""Metrics over time: which are meant, read from a store; as charts, text, JSON and CSV, beside an earlier day, as tables."""
