"""Snapshots on their way into the windows, to the rules and into the store."""
