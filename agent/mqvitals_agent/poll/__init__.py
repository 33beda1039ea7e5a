"""Probes, counters, time zones: from exchanges to snapshots."""
