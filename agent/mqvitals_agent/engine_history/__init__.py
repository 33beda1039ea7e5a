"""Samples read back from an engine: what the store no longer holds, as the store would give it."""
