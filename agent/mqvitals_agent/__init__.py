"""Collecting and acting: PCF, connections, probes, the store, and the headless commands. Knows no terminal toolkit."""

__version__ = "0.1.0"
